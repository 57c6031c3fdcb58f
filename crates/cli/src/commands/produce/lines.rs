//! Lines of standard input, read ahead by a thread of their own, so that a record that is there is not kept waiting
//! for one that is not.

use std::io::{self, BufRead, BufReader, Read};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::time::Duration;

/// The longest line. A record could not be larger either.
const LINE_BYTES_MAX: u64 = 64 << 20;
/// Lines are handed on in chunks of about this many bytes, or as many as there are.
const CHUNK_BYTES: usize = 256 << 10;
/// How many chunks are read ahead.
const CHUNKS: usize = 8;

type Chunk = Result<Vec<Vec<u8>>, String>;

/// What comes next.
pub(super) enum Next {
    /// A line without its end, and its number, from 1.
    Line { number: u64, bytes: Vec<u8> },
    /// Nothing for now.
    Nothing,
    /// Nothing any more.
    End,
    /// The input cannot be read, for this reason.
    Failed(String),
}

/// The lines.
pub(super) struct Lines {
    chunks: Receiver<Chunk>,
    chunk: std::vec::IntoIter<Vec<u8>>,
    number: u64,
}

impl Lines {
    /// Starts reading standard input.
    pub(super) fn of_stdin() -> Self {
        let (sender, chunks) = sync_channel(CHUNKS);
        std::thread::spawn(move || read(BufReader::with_capacity(CHUNK_BYTES, io::stdin()), &sender));
        Self { chunks, chunk: Vec::new().into_iter(), number: 0 }
    }

    /// The next line, waiting up to `wait` for it.
    pub(super) fn next(&mut self, wait: Duration) -> Next {
        loop {
            if let Some(bytes) = self.chunk.next() {
                self.number += 1;
                return Next::Line { number: self.number, bytes };
            }
            match self.chunks.recv_timeout(wait) {
                Ok(Ok(lines)) => self.chunk = lines.into_iter(),
                Ok(Err(why)) => return Next::Failed(why),
                Err(RecvTimeoutError::Timeout) => return Next::Nothing,
                Err(RecvTimeoutError::Disconnected) => return Next::End,
            }
        }
    }
}

/// Reads to the end, or until nobody takes the chunks any more.
fn read(mut input: BufReader<impl Read>, chunks: &SyncSender<Chunk>) {
    loop {
        let chunk = read_chunk(&mut input);
        let is_last = chunk.as_ref().map_or(true, Vec::is_empty);
        let is_end = chunk.as_ref().is_ok_and(Vec::is_empty);
        if is_end || chunks.send(chunk).is_err() || is_last {
            return;
        }
    }
}

/// At least one line, and those behind it that need no waiting; none at the end.
fn read_chunk(input: &mut BufReader<impl Read>) -> Chunk {
    let mut lines = Vec::new();
    let mut bytes = 0;
    while lines.is_empty() || (bytes < CHUNK_BYTES && input.buffer().contains(&b'\n')) {
        let mut line = Vec::new();
        let taken = input
            .by_ref()
            .take(LINE_BYTES_MAX + 1)
            .read_until(b'\n', &mut line)
            .map_err(|error| format!("standard input cannot be read: {error}"))?;
        if taken == 0 {
            break;
        }
        if line.last() == Some(&b'\n') {
            line.pop();
        }
        if line.len() as u64 > LINE_BYTES_MAX {
            return Err(format!("a line is longer than {LINE_BYTES_MAX} bytes"));
        }
        bytes += line.len();
        lines.push(line);
    }
    Ok(lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(input: &[u8]) -> Vec<Vec<u8>> {
        let (sender, chunks) = sync_channel(1000);
        read(BufReader::with_capacity(8, input), &sender);
        drop(sender);
        chunks.into_iter().flat_map(Result::unwrap).collect()
    }

    #[test]
    fn lines_are_what_stands_between_their_ends() {
        assert_eq!(lines(b""), Vec::<Vec<u8>>::new());
        assert_eq!(
            lines(b"a\n\nlonger than the buffer\r\nno end"),
            [b"a".as_slice(), b"", b"longer than the buffer\r", b"no end"]
        );
    }
}
