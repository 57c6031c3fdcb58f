//! The broker: sockets, one handler file per API, topics, waiting requests, configuration.
//!
//! [`node::Node`] is the whole broker without I/O of its own; [`server`] drives it on real sockets; the simulator
//! drives the same object from one seed. Called by the command line and by `sim`. It must never know the command line.

pub mod config;
mod config_changes;
mod counters;
mod errors;
mod fetch_sessions;
mod handlers;
pub mod import;
pub mod node;
mod operations;
mod producer_ids;
mod purgatory;
pub mod random;
pub mod server;
pub mod storage;
mod topics;

pub use counters::Counters;
pub use topics::OFFSETS_TOPIC;
