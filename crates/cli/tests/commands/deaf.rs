//! A broker that leaves some kinds of requests unanswered: a relay in front of a real one, which swallows them.

use std::collections::BTreeSet;
use std::io::{self, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};

use crate::groups::fill;
use crate::support::Server;

/// A number of Kafka's for a kind of request.
pub(crate) const OFFSET_FETCH: i16 = 9;
/// The same for listing groups.
pub(crate) const LIST_GROUPS: i16 = 16;

/// The kinds of requests that are swallowed now.
#[derive(Clone, Default)]
pub(crate) struct Swallowed(Arc<Mutex<BTreeSet<i16>>>);

impl Swallowed {
    /// Swallows this kind, and no other.
    pub(crate) fn only(&self, kind: i16) {
        *self.0.lock().unwrap() = BTreeSet::from([kind]);
    }

    /// Lets everything pass.
    pub(crate) fn none(&self) {
        self.0.lock().unwrap().clear();
    }

    fn takes(&self, kind: i16) -> bool {
        self.0.lock().unwrap().contains(&kind)
    }
}

/// A server as [`crate::groups::server`] is one, reached through a relay and in no other way.
pub(crate) fn server() -> (Server, Swallowed) {
    let relay = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = relay.local_addr().unwrap().to_string();
    let advertised = format!("advertised.listeners={address}");
    let mut server = Server::start_with(tempfile::tempdir().unwrap(), &["--set", &advertised]);
    let broker = std::mem::replace(&mut server.bootstrap, address);
    let swallowed = Swallowed::default();
    let of_relay = swallowed.clone();
    std::thread::spawn(move || {
        for client in relay.incoming() {
            let (Ok(client), Ok(broker)) = (client, TcpStream::connect(&broker)) else { return };
            connect(client, broker, of_relay.clone());
        }
    });
    fill(&server);
    (server, swallowed)
}

/// Either end may go at any time, which ends the other's half too.
fn connect(mut client: TcpStream, mut broker: TcpStream, swallowed: Swallowed) {
    let (mut from_broker, mut to_client) = (broker.try_clone().unwrap(), client.try_clone().unwrap());
    std::thread::spawn(move || {
        let _ = io::copy(&mut from_broker, &mut to_client);
        let _ = to_client.shutdown(std::net::Shutdown::Both);
    });
    std::thread::spawn(move || {
        while let Ok(request) = request(&mut client) {
            if !swallowed.takes(i16::from_be_bytes([request[4], request[5]]))
                && broker.write_all(&request).is_err()
            {
                break;
            }
        }
        let _ = broker.shutdown(std::net::Shutdown::Both);
    });
}

/// A whole request, with its length before it.
fn request(client: &mut TcpStream) -> io::Result<Vec<u8>> {
    let mut length = [0; 4];
    client.read_exact(&mut length)?;
    let mut whole = vec![0; 4 + u32::from_be_bytes(length) as usize];
    whole[..4].copy_from_slice(&length);
    client.read_exact(&mut whole[4..])?;
    Ok(whole)
}
