//! The program as people run it: real processes, a real server on a free port.

mod support;
mod topics;
