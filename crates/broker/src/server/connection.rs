//! One socket: frames in, bytes out. Bounds what a peer can make us hold before it has said anything useful.

use std::cell::{Cell, RefCell};
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::task::Poll;
use std::time::Duration;

use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::net::tcp::{OwnedReadHalf, OwnedWriteHalf};
use tokio::sync::Notify;
use tokio::time::{Instant, Sleep};

use super::{PanicGuard, Shared};
use crate::node::{Admission, ConnectionId, Node};

/// How much is asked of the socket at once. A larger frame grows its buffer as its bytes arrive.
const READ_BYTES: usize = 64 * 1024;
/// A buffer that grew beyond this for one large frame is given back when it is empty.
const KEEP_BUFFER_BYTES: usize = 256 * 1024;

/// The sending half of a connection, shared by its task and the driver.
pub(super) struct Wire {
    id: ConnectionId,
    stream: OwnedWriteHalf,
    unsent: RefCell<Vec<u8>>,
    /// Wakes the writer when a socket did not take everything.
    blocked: Notify,
    /// Wakes the reader when the node takes more.
    resume: Notify,
    /// Wakes the reader when the connection ends.
    ended: Notify,
    drained: Notify,
    closed: Cell<bool>,
}

impl Wire {
    /// Takes the node's output for this connection and sends as much as the socket takes now.
    pub(super) fn send(&self, node: &mut Node) {
        loop {
            // What the socket does not take yet stays with the node, which bounds it.
            if self.unsent.borrow().is_empty() {
                node.take_output(self.id, &mut self.unsent.borrow_mut());
            }
            if self.unsent.borrow().is_empty() {
                if node.is_closing(self.id) {
                    self.close();
                }
                break;
            }
            if self.push().is_err() {
                self.close();
                break;
            }
            if !self.unsent.borrow().is_empty() {
                self.blocked.notify_one();
                break;
            }
        }
        self.wake_reader();
    }

    /// The node may take more of this connection's requests than before.
    pub(super) fn wake_reader(&self) {
        self.resume.notify_one();
    }

    fn push(&self) -> io::Result<()> {
        let mut unsent = self.unsent.borrow_mut();
        let mut sent = 0;
        let result = loop {
            if sent == unsent.len() {
                break Ok(());
            }
            match self.stream.try_write(&unsent[sent..]) {
                Ok(0) => break Err(io::ErrorKind::WriteZero.into()),
                Ok(count) => sent += count,
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => break Ok(()),
                Err(error) => break Err(error),
            }
        };
        unsent.drain(..sent);
        if unsent.is_empty() {
            if unsent.capacity() > KEEP_BUFFER_BYTES {
                *unsent = Vec::new();
            }
            self.drained.notify_waiters();
        }
        result
    }

    fn close(&self) {
        self.closed.set(true);
        self.resume.notify_one();
        self.ended.notify_one();
        self.blocked.notify_one();
        self.drained.notify_waiters();
    }

    /// Resolves when everything is sent or the connection is gone.
    pub(super) async fn flushed(&self) {
        while !self.closed.get() && !self.unsent.borrow().is_empty() {
            self.drained.notified().await;
        }
    }
}

/// Takes a new connection in, or closes it when there are too many.
pub(super) fn open(shared: &Rc<Shared>, stream: TcpStream, peer: SocketAddr) {
    let mut node = shared.node.borrow_mut();
    if node.connection_count() >= shared.connections_max {
        tracing::warn!(
            "closing a new connection from {peer}: max.connections ({}) are open",
            shared.connections_max
        );
        return;
    }
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!("no TCP_NODELAY for {peer}: {error}");
    }
    // Kafka writes a client's host as Java prints an address without a name: a slash, then the address.
    let id = node.connect(format!("/{}", peer.ip()));
    drop(node);
    let (mut reader, writer) = stream.into_split();
    let wire = Rc::new(Wire {
        id,
        stream: writer,
        unsent: RefCell::default(),
        blocked: Notify::new(),
        resume: Notify::new(),
        ended: Notify::new(),
        drained: Notify::new(),
        closed: Cell::new(false),
    });
    shared.wires.borrow_mut().insert(id, Rc::clone(&wire));
    tokio::task::spawn_local(write_blocked(Rc::clone(shared), Rc::clone(&wire)));
    let shared = Rc::clone(shared);
    tokio::task::spawn_local(async move {
        let _guard = PanicGuard(Rc::clone(&shared));
        if let Err(reason) = read(&shared, &wire, &mut reader).await {
            tracing::info!("closing the connection from {peer}: {reason}");
            // What was answered before goes out: the client may still want it.
            wire.send(&mut shared.node.borrow_mut());
        }
        wire.close();
        shared.wires.borrow_mut().remove(&id);
        shared.node.borrow_mut().disconnect(id);
    });
}

/// Sends the rest whenever the socket takes more again.
async fn write_blocked(shared: Rc<Shared>, wire: Rc<Wire>) {
    let _guard = PanicGuard(Rc::clone(&shared));
    loop {
        wire.blocked.notified().await;
        while !wire.closed.get() && !wire.unsent.borrow().is_empty() {
            if wire.stream.writable().await.is_err() {
                wire.close();
            } else {
                wire.send(&mut shared.node.borrow_mut());
            }
        }
        if wire.closed.get() {
            return;
        }
    }
}

async fn read(shared: &Rc<Shared>, wire: &Rc<Wire>, reader: &mut OwnedReadHalf) -> Result<(), String> {
    let mut buffer: Vec<u8> = Vec::new();
    let mut idle = Idle::new(shared.idle_max_ms);
    loop {
        while !wire.closed.get() && !takes_more(shared, wire) {
            let idle = Duration::from_millis(shared.idle_max_ms);
            let resumed = tokio::time::timeout(idle, wire.resume.notified()).await;
            if resumed.is_err() && !wire.unsent.borrow().is_empty() {
                return Err(format!(
                    "no answer was taken for connections.max.idle.ms ({} ms)",
                    shared.idle_max_ms
                ));
            }
        }
        if wire.closed.get() {
            return Ok(());
        }
        // Frames that were read already come first: the line may have been full when they arrived.
        if admit_frames(shared, wire, &mut buffer)? {
            shared.work.notify_one();
            continue;
        }
        if !receive(shared, wire, reader, &mut idle, &mut buffer).await? {
            return Ok(());
        }
    }
}

fn takes_more(shared: &Shared, wire: &Wire) -> bool {
    wire.unsent.borrow().len() < crate::node::OUTPUT_BYTES_MAX && shared.node.borrow().accepts_more(wire.id)
}

/// How long a connection has said nothing. One timer for its whole life: it is only moved when it fires.
struct Idle {
    max: Duration,
    heard: Instant,
    timer: Pin<Box<Sleep>>,
}

impl Idle {
    fn new(max_ms: u64) -> Self {
        let max = Duration::from_millis(max_ms);
        Self { max, heard: Instant::now(), timer: Box::pin(tokio::time::sleep(max)) }
    }

    fn heard(&mut self) {
        self.heard = Instant::now();
    }

    /// Resolves when nothing was heard for so long.
    async fn elapsed(&mut self) {
        loop {
            self.timer.as_mut().await;
            let end = self.heard + self.max;
            if end <= Instant::now() {
                return;
            }
            self.timer.as_mut().reset(end);
        }
    }
}

/// Reads once. `false`: the peer is done.
async fn receive(
    shared: &Shared,
    wire: &Wire,
    reader: &mut OwnedReadHalf,
    idle: &mut Idle,
    buffer: &mut Vec<u8>,
) -> Result<bool, String> {
    loop {
        tokio::select! {
            ready = reader.readable() => ready.map_err(|error| error.to_string())?,
            () = wire.ended.notified() => return Ok(false),
            () = idle.elapsed() => {
                if shared.node.borrow().owes_answers(wire.id) {
                    idle.heard();
                    continue;
                }
                return Err(format!("nothing was said for connections.max.idle.ms ({} ms)", shared.idle_max_ms));
            }
        }
        // Only now, so that a connection that says nothing holds no buffer.
        buffer.reserve(READ_BYTES);
        let was_empty = buffer.is_empty();
        // Unlike `try_read`, this notes that a read which did not fill the buffer left nothing behind, so that the
        // socket is not asked a second time for each request.
        let once = {
            let mut reading = pin!(reader.read_buf(buffer));
            std::future::poll_fn(|context| Poll::Ready(reading.as_mut().poll(context))).await
        };
        match once {
            Poll::Pending => {}
            Poll::Ready(Ok(0)) if was_empty => return Ok(false),
            Poll::Ready(Ok(0)) => return Err("the peer went in the middle of a request".to_owned()),
            Poll::Ready(Ok(_)) => {
                idle.heard();
                return Ok(true);
            }
            // A client that was killed, or left with answers untaken: nothing that people need to be told.
            Poll::Ready(Err(error)) if error.kind() == io::ErrorKind::ConnectionReset => return Ok(false),
            Poll::Ready(Err(error)) => return Err(error.to_string()),
        }
    }
}

/// Hands complete frames to the node while it takes them. Returns whether there were any.
fn admit_frames(shared: &Shared, wire: &Wire, buffer: &mut Vec<u8>) -> Result<bool, String> {
    let mut node = shared.node.borrow_mut();
    let mut used = 0;
    while node.accepts_more(wire.id) {
        let rest = &buffer[used..];
        let Some(length) = rest.first_chunk::<4>().map(|bytes| i32::from_be_bytes(*bytes)) else { break };
        let length = usize::try_from(length).map_err(|_| format!("a frame announced {length} bytes"))?;
        if length > shared.request_max_bytes {
            return Err(format!(
                "a frame announced {length} bytes, above socket.request.max.bytes ({})",
                shared.request_max_bytes
            ));
        }
        let Some(frame) = rest.get(4..4 + length) else { break };
        match node.admit(shared.clock.now(), wire.id, frame) {
            Admission::Admitted => used += 4 + length,
            Admission::Close(reason) => return Err(reason),
        }
    }
    buffer.drain(..used);
    if buffer.is_empty() && buffer.capacity() > KEEP_BUFFER_BYTES {
        *buffer = Vec::new();
    }
    Ok(used > 0)
}
