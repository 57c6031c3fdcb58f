//! A broker that a test plays, byte by byte.

use std::io::{Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::thread::JoinHandle;

use milepost_client::Address;
use milepost_wire::messages::api_versions::{ApiVersion, ApiVersionsResponse};
use milepost_wire::{ApiKey, RequestBody, decode_request, encode_response};

/// Plays a broker on one connection: the answer to ApiVersions, and then what `play` does.
pub(crate) fn broker(
    versions: Vec<(ApiKey, i16, i16)>,
    play: impl FnOnce(&mut TcpStream) + Send + 'static,
) -> (Address, JoinHandle<()>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap().to_string().parse().unwrap();
    let thread = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let frame = read_frame(&mut stream).unwrap();
        let (header, body) = decode_request(&frame).unwrap();
        assert!(matches!(body, RequestBody::ApiVersions(_)), "{body:?}");
        let api_keys = versions.into_iter().map(|(api, min_version, max_version)| ApiVersion {
            api_key: api.code(),
            min_version,
            max_version,
        });
        let answer = ApiVersionsResponse { api_keys: api_keys.collect(), ..ApiVersionsResponse::default() };
        let mut out = Vec::new();
        encode_response(&mut out, &answer, header.api_version, header.correlation_id).unwrap();
        stream.write_all(&out).unwrap();
        play(&mut stream);
    });
    (address, thread)
}

/// The next request; `None` when the client has closed.
pub(crate) fn read_frame(stream: &mut TcpStream) -> Option<Vec<u8>> {
    let mut length = [0; 4];
    stream.read_exact(&mut length).ok()?;
    let mut frame = vec![0; u32::from_be_bytes(length) as usize];
    stream.read_exact(&mut frame).ok()?;
    Some(frame)
}
