//! How an entry is written.

use std::io::{self, Write};

use milepost_admin::target::write_time;
use milepost_model::TransactionEnd;
use milepost_records::DecodeError;
use milepost_records::offsets::Record;
use serde_json::Value;

use super::decoded::{self, Embedded};
use super::entry::{Entry, What};
use super::field::Field;
use super::{kafka, kafka3};

/// The ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    Text,
    Json,
    Kafka,
    Kafka3,
}

impl Shape {
    /// Writes an entry and a line's end, or nothing where the shape has nothing for it.
    pub(super) fn write(self, entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Text => text(entry, out),
            Self::Json => writeln!(out, "{}", object(entry).json()),
            Self::Kafka | Self::Kafka3 => {
                let What::Record { record: Ok(record), key, value } = &entry.what else { return Ok(()) };
                let line = match self {
                    Self::Kafka3 => kafka3::line(record),
                    _ => kafka::line(record, number(*key), number(*value)),
                };
                line.map_or(Ok(()), |line| writeln!(out, "{line}"))
            }
        }
    }
}

/// The number that a key and a value begin with: the type, and the version.
fn number(bytes: Option<&[u8]>) -> i16 {
    bytes.and_then(<[u8]>::first_chunk::<2>).map_or(-1, |number| i16::from_be_bytes(*number))
}

fn text(entry: &Entry<'_>, out: &mut dyn Write) -> io::Result<()> {
    let or_unknown = |number: Option<String>| number.unwrap_or_else(|| "?".to_owned());
    let log = or_unknown(entry.log.map(|log| log.to_string()));
    let offset = or_unknown(entry.offset.map(|offset| offset.to_string()));
    write!(out, "{log}:{offset}  {}  ", entry.timestamp.map_or_else(|| "-".to_owned(), write_time))?;
    let said = match &entry.what {
        What::Record { record: Ok(Record::Unknown { record_type }), key, value } => {
            format!("unknown type {record_type}  {}", raw(*key, *value))
        }
        What::Record { record: Ok(record), value, .. } => {
            let about = decoded::key(record).map_or_else(String::new, |key| key.words());
            let said = decoded::value(record, number(*value), Embedded::Words);
            let said = said.map_or_else(|| "deleted".to_owned(), |value| value.words());
            format!("{}  {about}  ->  {said}", decoded::name(record))
        }
        What::Described { record, .. } => {
            let said =
                decoded::described_value(record).map_or_else(|| "deleted".to_owned(), |value| value.words());
            format!("{}  {}  ->  {said}", record.name, decoded::described_key(record).words())
        }
        What::Record { record: Err(error), key, value } => {
            format!("cannot be read: {error}  {}", raw(*key, *value))
        }
        What::Marker { end, coordinator_epoch } => {
            format!("transaction {}  coordinatorEpoch={coordinator_epoch}", ended(*end))
        }
        What::Control(number) => format!("control record of type {number}"),
        What::Damaged(reason) => format!("damaged: {reason}"),
    };
    out.write_all(said.as_bytes())?;
    if let Some(producer) = entry.producer {
        write!(out, "  producer {}/{}", producer.id.0, producer.epoch.0)?;
    }
    out.write_all(b"\n")
}

fn raw(key: Option<&[u8]>, value: Option<&[u8]>) -> String {
    let said = |bytes: Option<&[u8]>| bytes.map_or(Value::Null.into(), Field::bytes).json();
    format!("key_base64={} value_base64={}", said(key), said(value))
}

fn ended(end: TransactionEnd) -> &'static str {
    match end {
        TransactionEnd::Commit => "committed",
        TransactionEnd::Abort => "aborted",
    }
}

fn object(entry: &Entry<'_>) -> Field {
    let mut fields = vec![
        ("partition", entry.log.map(|log| log.0).into()),
        ("offset", entry.offset.map(|offset| offset.0).into()),
        ("timestamp", entry.timestamp.map(|timestamp| timestamp.0).into()),
    ];
    if let Some(producer) = entry.producer {
        let producer = vec![("id", producer.id.0.into()), ("epoch", producer.epoch.0.into())];
        fields.push(("producer", Field::Object(producer)));
    }
    match &entry.what {
        What::Record { record, key, value } => record_fields(record, *key, *value, &mut fields),
        What::Described { record, key, value } => {
            fields.push(("type", number(Some(key)).into()));
            fields.push(("name", record.name.into()));
            fields.push(("key", decoded::described_key(record)));
            fields.push(("version", value.map(|value| number(Some(value))).into()));
            let said = decoded::described_value(record);
            fields.push(("value", said.unwrap_or(Field::Value(Value::Null))));
        }
        What::Marker { end, coordinator_epoch } => {
            fields.push(("marker", ended(*end).into()));
            fields.push(("coordinatorEpoch", (*coordinator_epoch).into()));
        }
        What::Control(number) => fields.push(("control", (*number).into())),
        What::Damaged(reason) => fields.push(("error", reason.as_str().into())),
    }
    Field::Object(fields)
}

fn record_fields(
    record: &Result<Record<'_>, DecodeError>,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
    fields: &mut Vec<(&'static str, Field)>,
) {
    fields.push(("type", key.map(|key| number(Some(key))).into()));
    let known = record.as_ref().ok().and_then(|record| Some((record, decoded::key(record)?)));
    let Some((record, about)) = known else {
        let reason = match record {
            Ok(_) => "the type is unknown".to_owned(),
            Err(error) => error.to_string(),
        };
        fields.push(("error", reason.into()));
        fields.push(("key_base64", key.map_or(Value::Null.into(), Field::bytes)));
        fields.push(("value_base64", value.map_or(Value::Null.into(), Field::bytes)));
        return;
    };
    fields.push(("name", decoded::name(record).into()));
    fields.push(("key", about));
    fields.push(("version", value.map(|value| number(Some(value))).into()));
    let said = decoded::value(record, number(value), Embedded::Words);
    fields.push(("value", said.unwrap_or(Field::Value(Value::Null))));
}
