//! The program as people run it: real processes, a real server on a free port.

#![allow(clippy::unwrap_used, reason = "a failed step fails the test")]

mod consuming;
mod demo;
mod grouped;
mod producing;
mod support;
mod topics;
