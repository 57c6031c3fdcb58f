//! Deterministic simulation of the whole broker under faults.
//!
//! [`run`] plays one seed: clients talk to a real [`milepost_broker::node::Node`] over connections in memory, on a
//! real engine over a folder that loses power, with a clock and randomness of its own; the node dies and comes back
//! several times, and a model of what was acknowledged (`oracle`) is held against everything the node says. The same
//! seed gives the same run, to the byte.
//!
//! Nothing depends on this room, and it must never look inside the node: it knows what clients know, and the folder.

mod bugs;
mod check;
mod client;
mod life;
mod oracle;
mod rng;
mod slow;
mod trace;
mod verify;
mod world;

pub use bugs::PlantedBug;
pub use check::Violation;
pub use life::{Report, run};
pub use world::Counts;
