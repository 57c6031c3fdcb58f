//! The shape of Kafka 4's formatters: an object with the key's type and the value's version beside the data.

use milepost_records::offsets::Record;
use serde_json::Value;

use super::decoded::{self, Embedded};
use super::field::Field;

/// One object, on one line. Nothing for types that have no formatter.
pub(super) fn line(record: &Record<'_>, record_type: i16, version: i16) -> Option<String> {
    if !matches!(record, Record::OffsetCommit { .. } | Record::GroupMetadata { .. }) {
        return None;
    }
    let key = Field::Object(vec![("type", record_type.into()), ("data", decoded::key(record)?)]);
    let value = decoded::value(record, version, Embedded::Bytes);
    let value = value.map_or(Field::Value(Value::Null), |data| {
        Field::Object(vec![("version", version.into()), ("data", data)])
    });
    Some(Field::Object(vec![("key", key), ("value", value)]).json())
}
