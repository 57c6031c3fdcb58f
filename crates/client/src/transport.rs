//! What bytes travel over. One kind so far; TLS is to become another, and nothing above this file will know.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// How long one read or write may block. Between two, a stop and the deadline are looked at.
const SLICE: Duration = Duration::from_millis(100);

/// The shortest wait that systems keep apart from "for ever".
const SHORTEST: Duration = Duration::from_millis(1);

/// An open way to a broker.
#[derive(Debug)]
pub(crate) struct Transport {
    kind: Kind,
    /// How long a read may block now.
    slice: Duration,
}

#[derive(Debug)]
enum Kind {
    /// TCP as it is.
    Plain(TcpStream),
}

impl Transport {
    /// Connects to the first of the host's numbers that answers. Asking what numbers a name has is the system's
    /// business and has the system's own timeout.
    pub(crate) fn connect(address: &Address, deadline: Deadline) -> Result<Self, ClientError> {
        let failed = |source| ClientError::Connect { address: address.clone(), source };
        let numbers = (address.host.as_str(), address.port).to_socket_addrs().map_err(failed)?;
        let mut last = io::Error::new(io::ErrorKind::NotFound, "the name has no address");
        for number in numbers {
            let Some(left) = deadline.left() else { break };
            match TcpStream::connect_timeout(&number, left) {
                Ok(stream) => return Self::plain(stream).map_err(failed),
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    fn plain(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(SLICE))?;
        stream.set_write_timeout(Some(SLICE))?;
        Ok(Self { kind: Kind::Plain(stream), slice: SLICE })
    }

    /// Lets reads block for `wait` at most, and never longer than a slice.
    pub(crate) fn read_for(&mut self, wait: Duration) -> io::Result<()> {
        let slice = wait.clamp(SHORTEST, SLICE);
        if slice != self.slice {
            match &self.kind {
                Kind::Plain(stream) => stream.set_read_timeout(Some(slice))?,
            }
            self.slice = slice;
        }
        Ok(())
    }
}

impl Read for Transport {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.read(into),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.flush(),
        }
    }
}
