//! The thin shell around the [`Node`]: one tokio runtime on one thread, sockets, clocks, signals.
//!
//! Every connection task reads frames and hands them to the node; the driver task lets all ready connections do so,
//! then takes one step of the node and sends every answer that is ready with one write a connection. Nothing here
//! decides anything about Kafka, and nothing here touches the disk.

mod clock;
mod connection;
mod driver;
mod random;

use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::io;
use std::rc::Rc;
use std::sync::Arc;

use tokio::net::TcpListener;
use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio::sync::Notify;

pub use clock::SystemClock;
pub use random::SystemRandom;

use crate::config::Endpoint;
use crate::node::{ConnectionId, Node};
use connection::Wire;

/// What all tasks of a server share. One thread, so a `RefCell` is enough; no borrow is held across an await.
pub(crate) struct Shared {
    node: RefCell<Node>,
    wires: RefCell<BTreeMap<ConnectionId, Rc<Wire>>>,
    clock: SystemClock,
    /// Wakes the driver; also from the journal's thread.
    work: Arc<Notify>,
    request_max_bytes: usize,
    connections_max: usize,
    idle_max_ms: u64,
    /// A task panicked with the node in its hands.
    panicked: Cell<bool>,
}

/// Ends the server when the task that holds it panics: tokio would only end the task, and a node that was left in the
/// middle of something must not acknowledge anything any more.
struct PanicGuard(Rc<Shared>);

impl Drop for PanicGuard {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.panicked.set(true);
            self.0.work.notify_one();
        }
    }
}

/// Why a server ended.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The address cannot be listened on.
    #[error("cannot listen on {endpoint}: {source}")]
    Listen {
        /// The address.
        endpoint: String,
        /// The system's words.
        source: io::Error,
    },
    /// Storage failed in a way that must not be retried. What was acknowledged is safe and is recovered at the next start.
    #[error(
        "storage failed and the server stopped taking writes: {0}; acknowledged data is recovered at the next start"
    )]
    Poisoned(String),
    /// A bug. What was acknowledged is safe.
    #[error("a panic ended the server (see above); acknowledged data is recovered at the next start")]
    Panicked,
    /// The runtime cannot be built.
    #[error("cannot start the runtime: {0}")]
    Runtime(io::Error),
}

/// A bound listener, before anyone is served.
pub struct Bound {
    runtime: tokio::runtime::Runtime,
    listener: TcpListener,
    endpoint: Endpoint,
    signals: Option<StopSignals>,
}

/// SIGTERM and SIGINT.
struct StopSignals {
    terminate: Signal,
    interrupt: Signal,
}

impl StopSignals {
    /// Begins to catch them. To be called before anyone is told that the server is ready, so that a stop that comes at
    /// once is graceful too.
    fn catch() -> io::Result<Self> {
        Ok(Self { terminate: signal(SignalKind::terminate())?, interrupt: signal(SignalKind::interrupt())? })
    }

    async fn one(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

impl Bound {
    /// Binds. Port 0 picks a free one.
    ///
    /// # Errors
    /// [`ServeError::Listen`] when the address is taken or not ours.
    pub fn listen(endpoint: &Endpoint) -> Result<Self, ServeError> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .map_err(ServeError::Runtime)?;
        let fail = |source| ServeError::Listen { endpoint: endpoint.to_string(), source };
        let listener =
            runtime.block_on(TcpListener::bind((endpoint.host.as_str(), endpoint.port))).map_err(fail)?;
        let port = listener.local_addr().map_err(fail)?.port();
        let entered = runtime.enter();
        let signals = StopSignals::catch()
            .inspect_err(|error| {
                tracing::error!("signals cannot be caught, a stop will not be graceful: {error}");
            })
            .ok();
        drop(entered);
        Ok(Self { runtime, listener, endpoint: Endpoint { host: endpoint.host.clone(), port }, signals })
    }

    /// The address in use, with the real port.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Serves until SIGTERM or SIGINT; then answers what waits, writes a checkpoint and returns.
    ///
    /// # Errors
    /// [`ServeError::Poisoned`], [`ServeError::Panicked`].
    pub fn serve(self, node: Node, clock: SystemClock) -> Result<(), ServeError> {
        let settings = node.settings();
        let shared = Rc::new(Shared {
            request_max_bytes: settings.request_max_bytes,
            connections_max: settings.max_connections,
            idle_max_ms: settings.connections_max_idle_ms,
            node: RefCell::new(node),
            wires: RefCell::default(),
            clock,
            work: Arc::new(Notify::new()),
            panicked: Cell::new(false),
        });
        let work = Arc::clone(&shared.work);
        shared.node.borrow_mut().set_waker(Arc::new(move || work.notify_one()));
        let local = tokio::task::LocalSet::new();
        local.block_on(&self.runtime, async move {
            let accepting = tokio::task::spawn_local(accept(Rc::clone(&shared), self.listener));
            if let Some(signals) = self.signals {
                tokio::task::spawn_local(stop_on_signal(Rc::clone(&shared), signals));
            }
            let end = driver::drive(&shared).await;
            accepting.abort();
            end
        })
    }
}

async fn accept(shared: Rc<Shared>, listener: TcpListener) {
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => connection::open(&shared, stream, peer),
            Err(error) => {
                // Out of descriptors, or the peer went already: neither may end the listener or spin.
                tracing::warn!("cannot accept a connection: {error}");
                tokio::time::sleep(std::time::Duration::from_millis(50)).await;
            }
        }
    }
}

async fn stop_on_signal(shared: Rc<Shared>, mut signals: StopSignals) {
    signals.one().await;
    tracing::info!("stopping: answering what waits, then writing a checkpoint");
    shared.node.borrow_mut().begin_stop();
    shared.work.notify_one();
}
