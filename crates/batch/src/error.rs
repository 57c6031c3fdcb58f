//! Why bytes are not a batch, or cannot be read as records.

use crate::Codec;

/// What is wrong with a batch's bytes. The variants are what a caller decides by: more bytes needed, damaged, or of a
/// kind this version does not read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BatchError {
    /// The bytes end before the batch does: a header needs 61, or the declared length says more.
    #[error("the batch needs {needed} bytes and {available} are there")]
    Truncated {
        /// Bytes of the whole batch as far as known.
        needed: usize,
        /// Bytes that were there.
        available: usize,
    },
    /// The declared length is smaller than a header or negative.
    #[error("the declared batch length {0} is smaller than a batch header")]
    BadLength(i32),
    /// Not format 2. Formats 0 and 1 are refused by Kafka 4 as well (KIP-724).
    #[error("record format {0} is not supported, only 2 is")]
    UnsupportedMagic(i8),
    /// The attributes name a codec that does not exist.
    #[error("compression codec number {0} does not exist")]
    UnknownCodec(u8),
    /// The compressed part cannot be decoded.
    #[error("the records cannot be decompressed with {codec}: {reason}")]
    Undecodable {
        /// The codec of the batch.
        codec: Codec,
        /// What the decoder said.
        reason: String,
    },
    /// The records decompress to more than the bound the caller gave.
    #[error("the records decompress to more than {max_bytes} bytes")]
    DecompressesTooLarge {
        /// The bound.
        max_bytes: usize,
    },
    /// The records are not what the header says they are.
    #[error("record {index} is malformed: {reason}")]
    Record {
        /// Which record of the batch, from 0. Equal to the record count when bytes are left over behind the last.
        index: u32,
        /// What is wrong with it.
        reason: Malformed,
    },
}

/// What is wrong with one record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformed {
    /// The batch's record count is negative.
    #[error("the record count is negative")]
    NegativeCount,
    /// The bytes end inside the record.
    #[error("the bytes end inside it")]
    Ends,
    /// A variable-length integer is longer than its type allows.
    #[error("a variable-length integer is too long")]
    Varint,
    /// A length is negative where that means nothing.
    #[error("a length is negative")]
    NegativeLength,
    /// The fields take fewer or more bytes than the record's length says.
    #[error("its fields do not fill its declared length exactly")]
    LengthMismatch,
    /// The offset delta is outside the batch or not above the one before.
    #[error("its offset delta is out of order")]
    OffsetDelta,
    /// Bytes follow the last record.
    #[error("bytes follow the last record")]
    Trailing,
    /// A control record's key or value is too short or of a negative version.
    #[error("it is not a control record")]
    Control,
}
