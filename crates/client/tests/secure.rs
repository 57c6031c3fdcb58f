//! A connection with TLS and SASL, against a broker that is played by the test.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

use std::io::{Read as _, Write as _};
use std::net::TcpListener;
use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use milepost_client::{
    Address, ClientError, Connection, Deadline, Login, Mechanism, NameCheck, Options, Roots, Security, Tls,
    TlsOptions,
};
use milepost_wire::messages::api_versions::{ApiVersion, ApiVersionsResponse};
use milepost_wire::messages::sasl_authenticate::SaslAuthenticateResponse;
use milepost_wire::messages::sasl_handshake::SaslHandshakeResponse;
use milepost_wire::{ApiKey, ErrorCode, Response, encode_response};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};

const CA: &[u8] = include_bytes!("fixtures/ca.pem");
const CERTIFICATE: &[u8] = include_bytes!("fixtures/server.pem");
const KEY: &[u8] = include_bytes!("fixtures/server-key.pem");
const PATIENCE: Duration = Duration::from_secs(30);

/// What a frame of a request says before its body: the API and the correlation id.
struct Asked {
    api: i16,
    version: i16,
    correlation_id: i32,
    frame: Vec<u8>,
}

/// Plays a broker that answers ApiVersions, and PLAIN with whatever `verdict` says of the token. Gives what it was told.
fn broker(verdict: ErrorCode) -> (u16, JoinHandle<Option<Vec<u8>>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let certificates =
            CertificateDer::pem_slice_iter(CERTIFICATE).collect::<Result<Vec<_>, _>>().unwrap();
        let config = ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(certificates, PrivateKeyDer::from_pem_slice(KEY).unwrap())
            .unwrap();
        let (stream, _) = listener.accept().unwrap();
        let mut stream = StreamOwned::new(ServerConnection::new(Arc::new(config)).unwrap(), stream);
        let mut token = None;
        while let Some(asked) = read(&mut stream) {
            let out = match asked.api {
                18 => answer(&asked, &versions()),
                17 => {
                    answer(&asked, &SaslHandshakeResponse { mechanisms: vec!["PLAIN"], ..Default::default() })
                }
                _ => {
                    token = Some(asked.frame.clone());
                    answer(&asked, &SaslAuthenticateResponse { error_code: verdict, ..Default::default() })
                }
            };
            if stream.write_all(&out).is_err() {
                break;
            }
        }
        token
    });
    (port, thread)
}

fn versions() -> ApiVersionsResponse<'static> {
    let one = |api: ApiKey, max_version| ApiVersion { api_key: api.code(), min_version: 0, max_version };
    ApiVersionsResponse {
        api_keys: vec![one(ApiKey::SaslHandshake, 1), one(ApiKey::SaslAuthenticate, 1)],
        ..ApiVersionsResponse::default()
    }
}

fn answer<'a>(asked: &Asked, response: &impl Response<'a>) -> Vec<u8> {
    let mut out = Vec::new();
    encode_response(&mut out, response, asked.version, asked.correlation_id).unwrap();
    out
}

fn read(stream: &mut impl std::io::Read) -> Option<Asked> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut frame).ok()?;
    let number = |at: usize| i16::from_be_bytes([frame[at], frame[at + 1]]);
    let correlation_id = i32::from_be_bytes([frame[4], frame[5], frame[6], frame[7]]);
    Some(Asked { api: number(0), version: number(2), correlation_id, frame })
}

fn open(host: &str, port: u16, tls: &TlsOptions) -> Result<Connection, ClientError> {
    let login =
        Login { mechanism: Mechanism::Plain, user: "alice".to_owned(), password: "secret".to_owned() };
    let security = Security { tls: Some(Tls::new(tls).unwrap()), login: Some(login) };
    let options = Options { security, ..Options::default() };
    let address = Address { host: host.to_owned(), port };
    Connection::open(&address, &options, Deadline::after(PATIENCE))
}

fn trusting() -> TlsOptions {
    TlsOptions { roots: Roots::Pem(CA.to_vec()), ..TlsOptions::default() }
}

#[test]
fn a_broker_that_is_trusted_is_told_who_is_asking() {
    let (port, broker) = broker(ErrorCode::None);
    drop(open("localhost", port, &trusting()).unwrap());
    let token = broker.join().unwrap().unwrap();
    assert!(token.ends_with(b"\0alice\0secret"), "{}", token.escape_ascii());
}

#[test]
fn a_refusal_is_said_with_its_code() {
    let (port, broker) = broker(ErrorCode::SaslAuthenticationFailed);
    let error = open("localhost", port, &trusting()).unwrap_err();
    assert!(matches!(error, ClientError::Authentication { .. }), "{error}");
    assert!(error.to_string().contains("[SASL_AUTHENTICATION_FAILED]"), "{error}");
    broker.join().unwrap();
}

#[test]
fn a_broker_of_another_name_gets_no_password() {
    let (port, broker) = broker(ErrorCode::None);
    let error = open("127.0.0.1", port, &trusting()).unwrap_err();
    assert!(matches!(error, ClientError::Connect { .. }), "{error}");
    assert_eq!(broker.join().unwrap(), None);
}

#[test]
fn the_name_is_not_looked_at_where_that_was_said_and_the_signature_still_is() {
    let any_name = TlsOptions { name_check: NameCheck::Skipped, ..trusting() };
    let (port, trusted) = broker(ErrorCode::None);
    drop(open("127.0.0.1", port, &any_name).unwrap());
    trusted.join().unwrap().unwrap();
    // An authority that has signed nothing of this broker's: its own certificate.
    let (port, stranger) = broker(ErrorCode::None);
    let others = TlsOptions { roots: Roots::Pem(CERTIFICATE.to_vec()), ..any_name };
    assert!(open("localhost", port, &others).is_err());
    assert_eq!(stranger.join().unwrap(), None);
}

#[test]
fn what_is_no_certificate_is_refused() {
    for pem in [b"".as_slice(), b"no", KEY] {
        let options = TlsOptions { roots: Roots::Pem(pem.to_vec()), ..TlsOptions::default() };
        assert!(matches!(Tls::new(&options), Err(ClientError::Tls(_))));
    }
}

#[test]
fn a_broker_without_tls_is_not_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut some = [0; 16];
        let _ = stream.read(&mut some);
        // A broker that takes the hello for the length of a frame closes.
    });
    let error = open("localhost", port, &trusting()).unwrap_err();
    assert!(error.is_connection(), "{error}");
    thread.join().unwrap();
}
