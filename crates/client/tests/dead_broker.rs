//! A cluster one broker of which takes connections and says nothing.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod played;

use std::io::Write as _;
use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::{Sender, channel};
use std::time::Duration;

use milepost_client::groups::{self, Pending};
use milepost_client::{ClientError, Cluster, Options};
use milepost_wire::messages::find_coordinator::{Coordinator, FindCoordinatorResponse};
use milepost_wire::messages::offset_fetch::{OffsetFetchResponse, OffsetFetchResponseGroup};
use milepost_wire::{ApiKey, ErrorCode, RequestBody, Response, decode_request, encode_response};
use played::{broker, read_frame};

const TIMEOUT: Duration = Duration::from_millis(300);

/// Coordinates the groups whose names begin with `here`, sends those that begin with `there` to the silent broker, and lets
/// nobody look at others. Tells which groups it is asked about.
fn play(stream: &mut TcpStream, silent_port: i32, asked: &Sender<String>) {
    let port = i32::from(stream.local_addr().unwrap().port());
    while let Some(frame) = read_frame(stream) {
        let (header, body) = decode_request(&frame).unwrap();
        let reply = (header.api_version, header.correlation_id);
        match body {
            RequestBody::FindCoordinator(request) => {
                let coordinator = |key: &&'_ str| {
                    asked.send((*key).to_owned()).unwrap();
                    let (port, error_code) = match *key {
                        "here" => (port, ErrorCode::None),
                        "there" => (silent_port, ErrorCode::None),
                        _ => (-1, ErrorCode::GroupAuthorizationFailed),
                    };
                    let key = (*key).to_owned();
                    (key, port, error_code)
                };
                let said: Vec<_> = request.coordinator_keys.iter().map(coordinator).collect();
                let coordinators = said.iter().map(|(key, port, error_code)| Coordinator {
                    key,
                    node_id: 1,
                    host: "127.0.0.1",
                    port: *port,
                    error_code: *error_code,
                    error_message: None,
                });
                let found =
                    FindCoordinatorResponse { coordinators: coordinators.collect(), ..Default::default() };
                answer(stream, &found, reply);
            }
            RequestBody::OffsetFetch(request) => {
                let group = |group_id| OffsetFetchResponseGroup { group_id, ..Default::default() };
                let groups = request.groups.iter().map(|one| group(one.group_id)).collect();
                answer(stream, &OffsetFetchResponse { groups, ..Default::default() }, reply);
            }
            other => panic!("{other:?} was not expected"),
        }
    }
}

fn answer<'r>(stream: &mut TcpStream, response: &impl Response<'r>, (version, id): (i16, i32)) {
    let mut out = Vec::new();
    encode_response(&mut out, response, version, id).unwrap();
    stream.write_all(&out).unwrap();
}

#[test]
fn it_is_waited_for_once_and_hides_nobody() {
    // The system takes connections for it, and nobody answers.
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let silent_port = i32::from(silent.local_addr().unwrap().port());
    let (tell, asked) = channel();
    let versions = vec![(ApiKey::FindCoordinator, 4, 4), (ApiKey::OffsetFetch, 8, 8)];
    let (address, thread) = broker(versions, move |stream| play(stream, silent_port, &tell));
    let options = Options { timeout: TIMEOUT, ..Options::default() };
    let mut cluster = Cluster::connect(vec![address], options).unwrap();
    let groups = ["here", "secret", "there"];
    let look = |cluster: &mut Cluster| groups::committed(cluster, &groups, Pending::Passed).unwrap();

    for _ in 0..3 {
        let mut found = look(&mut cluster);
        assert!(found.remove("here").unwrap().unwrap().is_empty());
        let refused = found.remove("secret").unwrap().unwrap_err();
        assert_eq!(refused.code(), Some(ErrorCode::GroupAuthorizationFailed));
        let silence = found.remove("there").unwrap().unwrap_err();
        assert!(matches!(silence, ClientError::TimedOut { .. }), "{silence}");
    }
    drop(cluster);
    thread.join().unwrap();
    // A refusal is an answer, so each look asked about that group once.
    assert_eq!(asked.iter().filter(|group| group == "secret").count(), 3);
    // Only the first look went there, however often it tried.
    silent.set_nonblocking(true).unwrap();
    let tries = std::iter::from_fn(|| silent.accept().ok()).count();
    assert_eq!(tries, 1, "it took all the time there was");
}
