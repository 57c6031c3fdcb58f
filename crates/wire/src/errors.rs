//! What can go wrong between bytes and messages.

use crate::frame::RequestHeader;

/// Why bytes are not the message they were taken for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// The bytes end inside a field.
    #[error("the message ends inside a field")]
    Truncated,
    /// Bytes are left after the last field of a message or of a tagged field.
    #[error("bytes are left over after the last field")]
    TrailingBytes,
    /// A length below zero that does not mean null.
    #[error("a length is negative")]
    NegativeLength,
    /// Null in a field that this version does not allow to be null.
    #[error("a field that must have a value is null")]
    UnexpectedNull,
    /// A string of more than 32,767 bytes, which Kafka refuses in every version.
    #[error("a string is longer than 32767 bytes")]
    StringTooLong,
    /// An array of more elements than the rest of the message could hold.
    #[error("an array claims more elements than the message can hold")]
    ArrayTooLong,
    /// A string that is not UTF-8.
    #[error("a string is not valid UTF-8")]
    InvalidUtf8,
    /// A variable-length number of more than 32 bits.
    #[error("a variable-length number does not fit 32 bits")]
    VarintTooLong,
    /// A version that has no schema here.
    #[error("the version is not served")]
    UnsupportedVersion,
}

/// Why a message has no bytes in the version asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EncodeError {
    /// A string of more than 32,767 bytes.
    #[error("a string is longer than 32767 bytes")]
    StringTooLong,
    /// An array, a byte field or the whole frame with a length above 2³¹−1.
    #[error("the message is larger than 2 GiB")]
    TooLarge,
    /// A version that has no schema here.
    #[error("the version is not served")]
    UnsupportedVersion,
    /// The named field says something that the version cannot carry and that must not be lost in silence.
    #[error("the version cannot carry the value of {0}")]
    NotInVersion(&'static str),
}

/// Why a request frame gives no request. The broker answers only [`RequestError::UnsupportedVersion`] of
/// ApiVersions; in all other cases it closes the connection, as Kafka does.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError<'a> {
    /// The frame names an API that is not served.
    #[error("API key {0} is not served")]
    UnknownApi(i16),
    /// The API is known, its version is not served. The body was not looked at.
    #[error("version {} of {:?} is not served", .0.api_version, .0.api_key)]
    UnsupportedVersion(RequestHeader<'a>),
    /// Header or body are not what their version says.
    #[error("malformed request: {0}")]
    Malformed(#[from] DecodeError),
}
