//! What bytes travel over: TCP, with or without TLS. Nothing above this file knows which.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{TcpStream, ToSocketAddrs};
use std::time::Duration;

use rustls::pki_types::ServerName;
use rustls::{AlertDescription, ClientConnection, Error as TlsError, StreamOwned};

use crate::address::Address;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::options::Options;
use crate::security::Tls;
use crate::stop::Stop;

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
    /// TLS over TCP. Boxed, since it is large and most connections are plain.
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Transport {
    /// Connects to the first of the host's numbers that answers, and agrees on keys where TLS is wanted. Asking what
    /// numbers a name has is the system's business and has the system's own timeout.
    pub(crate) fn connect(
        address: &Address,
        options: &Options,
        deadline: Deadline,
    ) -> Result<Self, ClientError> {
        let failed =
            |source: io::Error| ClientError::Connect { address: address.clone(), source: source.into() };
        let numbers = (address.host.as_str(), address.port).to_socket_addrs().map_err(failed)?;
        let mut last = io::Error::new(ErrorKind::NotFound, "the name has no address");
        for number in numbers {
            let Some(left) = deadline.left() else {
                last = ErrorKind::TimedOut.into();
                break;
            };
            match TcpStream::connect_timeout(&number, left) {
                Ok(stream) => {
                    let stream = sliced(stream).map_err(failed)?;
                    let kind = match &options.security.tls {
                        None => Kind::Plain(stream),
                        Some(tls) => encrypted(stream, tls, address, (deadline, &options.stop))?,
                    };
                    return Ok(Self { kind, slice: SLICE });
                }
                Err(error) => last = error,
            }
        }
        Err(failed(last))
    }

    /// Lets reads block for `wait` at most, and never longer than a slice.
    pub(crate) fn read_for(&mut self, wait: Duration) -> io::Result<()> {
        let slice = wait.clamp(SHORTEST, SLICE);
        if slice != self.slice {
            let stream = match &self.kind {
                Kind::Plain(stream) => stream,
                Kind::Tls(stream) => &stream.sock,
            };
            stream.set_read_timeout(Some(slice))?;
            self.slice = slice;
        }
        Ok(())
    }
}

fn sliced(stream: TcpStream) -> io::Result<TcpStream> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(Some(SLICE))?;
    stream.set_write_timeout(Some(SLICE))?;
    Ok(stream)
}

/// Shakes hands at once rather than with the first request, so that a certificate that is not trusted is said to be
/// the reason.
fn encrypted(
    mut stream: TcpStream,
    tls: &Tls,
    address: &Address,
    (deadline, stop): (Deadline, &Stop),
) -> Result<Kind, ClientError> {
    let failed = |source: io::Error| ClientError::Connect { address: address.clone(), source: source.into() };
    let name = ServerName::try_from(address.host.clone())
        .map_err(|_| failed(io::Error::new(ErrorKind::InvalidInput, "TLS knows no such host name")))?;
    let mut connection =
        ClientConnection::new(tls.config(), name).map_err(|error| ClientError::Tls(error.to_string()))?;
    while connection.is_handshaking() {
        match connection.complete_io(&mut stream) {
            Ok(_) => {}
            Err(error) if is_pause(&error) => {
                if stop.is_set() {
                    return Err(ClientError::Stopped);
                }
                if deadline.left().is_none() {
                    return Err(ClientError::TimedOut { address: address.clone(), after: deadline.whole() });
                }
            }
            Err(error) => return Err(disliked(address, &error).unwrap_or_else(|| failed(error))),
        }
    }
    Ok(Kind::Tls(Box::new(StreamOwned::new(connection, stream))))
}

/// What is to be said when the broker has ended the connection because of this side's certificate. With TLS 1.3 that shows
/// only when the first answer is awaited.
pub(crate) fn disliked(address: &Address, error: &io::Error) -> Option<ClientError> {
    let alert = match error.get_ref()?.downcast_ref::<TlsError>()? {
        TlsError::AlertReceived(alert) => *alert,
        _ => return None,
    };
    let is_about_it = matches!(
        alert,
        AlertDescription::CertificateRequired
            | AlertDescription::BadCertificate
            | AlertDescription::UnsupportedCertificate
            | AlertDescription::CertificateRevoked
            | AlertDescription::CertificateExpired
            | AlertDescription::CertificateUnknown
            | AlertDescription::UnknownCA
            | AlertDescription::AccessDenied
    );
    let why = format!(
        "the broker wants a certificate of this side that it trusts, and was shown none or another \
         (ssl.certificate.location with ssl.key.location, or ssl.keystore.location) [{alert:?}]"
    );
    is_about_it.then(|| ClientError::Authentication { address: address.clone(), why })
}

/// Whether a read or write only ran into the end of its time slice.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

impl Read for Transport {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.read(into),
            Kind::Tls(stream) => stream.read(into),
        }
    }
}

impl Write for Transport {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.write(bytes),
            Kind::Tls(stream) => stream.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.kind {
            Kind::Plain(stream) => stream.flush(),
            Kind::Tls(stream) => stream.flush(),
        }
    }
}
