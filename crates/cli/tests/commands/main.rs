//! The program as people run it: real processes, a real server on a free port.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod completing;
mod consuming;
mod demo;
mod doctored;
mod doctored_history;
mod grouped;
mod groups;
mod groups_changed;
mod groups_kept;
mod importing;
mod meant;
mod offsets_dumped;
mod offsets_kept;
mod peeked;
mod producing;
mod proxy;
mod reaching;
mod scale;
mod support;
mod topics;
mod unanswered;
mod unanswered_writes;
mod watching;
