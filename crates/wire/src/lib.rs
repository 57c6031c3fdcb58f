//! Bytes to Kafka requests and responses and back, for every version that is advertised.
//!
//! Each message is described once, in the notation that `schema.rs` explains, and both directions of every
//! version come from that description; [`messages`] has them all. This room must never read a clock, do I/O,
//! or let a length on the wire size an allocation that the frame could not fill. The broker decodes requests
//! and encodes responses with it; clients, the simulator and the tests go the other way.

#[macro_use]
mod schema;

mod api;
mod error_code;
mod errors;
mod field;
mod frame;
pub mod messages;
mod reader;

#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;

pub use api::{ADVERTISED, ApiKey, ApiVersionRange, KNOWN, RequestBody};
pub use error_code::ErrorCode;
pub use errors::{DecodeError, EncodeError, RequestError};
pub use frame::{
    RequestHeader, decode_header, decode_request, decode_response, encode_request, encode_response,
};
pub use reader::Reader;
pub use schema::{Message, Request, Response};
