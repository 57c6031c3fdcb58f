//! A way to a server on which chosen requests, or the answers to them, get lost.

use std::collections::BTreeMap;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

use crate::support::Server;

/// Kafka's numbers of some APIs.
pub(crate) const OFFSET_COMMIT: i16 = 8;
pub(crate) const OFFSET_FETCH: i16 = 9;
pub(crate) const LIST_GROUPS: i16 = 16;
pub(crate) const DELETE_GROUPS: i16 = 42;
pub(crate) const OFFSET_DELETE: i16 = 47;

/// What gets lost.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Loss {
    Request,
    Answer,
}

/// Which APIs lose what, by Kafka's numbers, and how much was lost so far.
#[derive(Clone, Debug, Default)]
struct Losses {
    by_api: Arc<Mutex<BTreeMap<i16, Loss>>>,
    count: Arc<AtomicUsize>,
}

impl Losses {
    /// Whether this gets lost, which counts.
    fn take(&self, api: i16, what: Loss) -> bool {
        let is_lost = self.by_api.lock().unwrap().get(&api) == Some(&what);
        self.count.fetch_add(usize::from(is_lost), Ordering::SeqCst);
        is_lost
    }
}

/// A server that is reached through this alone.
pub(crate) struct Proxied {
    pub(crate) server: Server,
    losses: Losses,
}

impl Proxied {
    pub(crate) fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let advertised = format!("advertised.listeners=PLAINTEXT://127.0.0.1:{port}");
        let mut server = Server::start_with(tempfile::tempdir().unwrap(), &["--set", &advertised]);
        let behind = std::mem::replace(&mut server.bootstrap, format!("127.0.0.1:{port}"));
        let losses = Losses::default();
        let of_threads = losses.clone();
        thread::spawn(move || {
            for client in listener.incoming().map_while(Result::ok) {
                let Ok(server) = TcpStream::connect(&behind) else { return };
                join(client, server, &of_threads);
            }
        });
        Self { server, losses }
    }

    /// From now on.
    pub(crate) fn lose(&self, api: i16, loss: Loss) {
        self.losses.by_api.lock().unwrap().insert(api, loss);
    }

    /// How many frames were lost.
    pub(crate) fn lost(&self) -> usize {
        self.losses.count.load(Ordering::SeqCst)
    }

    pub(crate) fn lose_nothing(&self) {
        self.losses.by_api.lock().unwrap().clear();
    }
}

/// Hands frames on in both directions, until one side has enough.
fn join(client: TcpStream, server: TcpStream, losses: &Losses) {
    let asked = Arc::new(Mutex::new(BTreeMap::<i32, i16>::new()));
    let (mut from_client, mut to_server) = (client.try_clone().unwrap(), server.try_clone().unwrap());
    let (losses, losses_too, asked_too) = (losses.clone(), losses.clone(), Arc::clone(&asked));
    thread::spawn(move || {
        while let Ok(frame) = frame(&mut from_client) {
            let api = i16::from_be_bytes(frame[4..6].try_into().unwrap());
            asked.lock().unwrap().insert(number(&frame[8..12]), api);
            if !losses.take(api, Loss::Request) && to_server.write_all(&frame).is_err() {
                break;
            }
        }
        let _ = to_server.shutdown(std::net::Shutdown::Both);
    });
    let (mut from_server, mut to_client) = (server, client);
    thread::spawn(move || {
        while let Ok(frame) = frame(&mut from_server) {
            let api = asked_too.lock().unwrap().remove(&number(&frame[4..8])).unwrap();
            if !losses_too.take(api, Loss::Answer) && to_client.write_all(&frame).is_err() {
                break;
            }
        }
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
}

/// A frame with its length.
fn frame(stream: &mut impl Read) -> io::Result<Vec<u8>> {
    let mut frame = vec![0; 4];
    stream.read_exact(&mut frame)?;
    let length = usize::try_from(number(&frame)).map_err(io::Error::other)?;
    frame.resize(4 + length, 0);
    stream.read_exact(&mut frame[4..])?;
    Ok(frame)
}

fn number(bytes: &[u8]) -> i32 {
    i32::from_be_bytes(bytes.try_into().unwrap())
}
