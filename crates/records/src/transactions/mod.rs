//! The records of `__transaction_state`, as Kafka 4.x reads and writes them.
//!
//! There is one type: the transaction of a transactional id. A key is an `i16` record type and the id; a value an `i16`
//! schema version (0 without, 1 with what KIP-890 needs) and the struct; a tombstone is a key without a value. Unlike
//! those of `__consumer_offsets`, a value of an unknown version is passed over too ([`Record::UnknownValue`]): so does
//! Kafka.

mod value;

#[cfg(test)]
mod tests;

pub use value::{TopicPartitions, TransactionStatus, TransactionValue, ValueVersion};

use crate::bytes::{Format, Reader, put_i16, put_string};
use crate::{DecodeError, EncodeError};

const TYPE: i16 = 0;

/// Which transactional id.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionKey<'a> {
    /// The transactional id.
    pub transactional_id: &'a str,
}

impl TransactionKey<'_> {
    /// Appends the key's bytes.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when the id has more than [`crate::MAX_STRING_BYTES`].
    pub fn encode(&self, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_i16(out, TYPE);
        put_string(out, Format::Plain, self.transactional_id, "transactionalId")
    }
}

/// A whole record.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Record<'a> {
    /// Type 0: a transaction.
    Transaction {
        /// Whose.
        key: TransactionKey<'a>,
        /// What of it; `None` removes the transactional id.
        value: Option<TransactionValue<'a>>,
    },
    /// Type 0 with a value that this version cannot read; to be skipped.
    UnknownValue {
        /// The version of the value.
        version: i16,
    },
    /// A type this version does not know; to be skipped.
    Unknown {
        /// The type.
        record_type: i16,
    },
}

impl<'a> Record<'a> {
    /// Reads a record of the log.
    ///
    /// # Errors
    /// [`DecodeError::MissingKey`] without a key; the others when the bytes are not what their type and version say.
    pub fn decode(key: Option<&'a [u8]>, value: Option<&'a [u8]>) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(key.ok_or(DecodeError::MissingKey)?);
        let record_type = reader.i16("the record type")?;
        if record_type != TYPE {
            return Ok(Self::Unknown { record_type });
        }
        let key = TransactionKey { transactional_id: reader.string(Format::Plain, "transactionalId")? };
        reader.finish()?;
        match value.map(TransactionValue::decode).transpose() {
            Ok(value) => Ok(Self::Transaction { key, value }),
            Err(DecodeError::UnsupportedVersion { version, .. }) => Ok(Self::UnknownValue { version }),
            Err(error) => Err(error),
        }
    }
}
