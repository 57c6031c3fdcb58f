//! The store on disks that lose power, with many threads and tasks, and beside a server.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

mod compaction;
mod crashes;
mod fencing;
mod server;
mod sharing;
mod support;
mod waiting;
