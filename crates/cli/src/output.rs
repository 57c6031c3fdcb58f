//! Standard output: buffered, and honest about whether anybody reads it.

use std::io::{self, BufWriter, Stdout, Write};

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::failure::Failure;

/// Where a command writes what it was asked for.
pub(crate) struct Output {
    out: BufWriter<Stdout>,
}

impl Output {
    pub(crate) fn new() -> Self {
        Self { out: BufWriter::with_capacity(64 << 10, io::stdout()) }
    }

    /// Lets `write` write, into the buffer for now.
    pub(crate) fn write(
        &mut self,
        write: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<(), Failure> {
        write(&mut self.out).map_err(|error| Failure::output(&error))
    }

    /// When it returns, whoever reads has it.
    pub(crate) fn flush(&mut self) -> Result<(), Failure> {
        self.out.flush().map_err(|error| Failure::output(&error))
    }

    /// Whether the other end of a pipe was closed. Without it a reader that goes away would be noticed only at the next
    /// record.
    pub(crate) fn is_abandoned(&self) -> bool {
        let stdout = io::stdout();
        let mut watched = [PollFd::new(&stdout, PollFlags::empty())];
        let at_once = Timespec { tv_sec: 0, tv_nsec: 0 };
        poll(&mut watched, Some(&at_once)).is_ok_and(|ready| ready > 0)
            && watched[0].revents().intersects(PollFlags::ERR | PollFlags::NVAL)
    }
}

/// Writes a whole answer.
pub(crate) fn print(text: &str) -> Result<(), Failure> {
    let mut output = Output::new();
    output.write(|out| out.write_all(text.as_bytes()))?;
    output.flush()
}

/// Writes a JSON document, and a line's end after it.
pub(crate) fn print_json(value: &serde_json::Value) -> Result<(), Failure> {
    print(&format!("{value:#}\n"))
}
