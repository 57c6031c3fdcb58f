//! One line of input, made into a record.

use milepost_client::OutgoingRecord;
use milepost_model::{PartitionIndex, Timestamp};
use serde_json::{Map, Value};

use crate::cluster_flags::Format;
use crate::json;

/// How lines are to be read.
#[derive(Debug)]
pub(super) struct LineRules {
    /// What ends the key in a line of text.
    pub(super) key_separator: Option<String>,
    /// Headers for every record.
    pub(super) headers: Vec<(String, String)>,
    /// Text or JSON.
    pub(super) format: Format,
}

/// A record, and its partition if the line names one.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Input {
    pub(super) partition: Option<PartitionIndex>,
    pub(super) record: OutgoingRecord,
}

/// Reads a line. The error says what is wrong with it.
pub(super) fn parse(line: &[u8], rules: &LineRules, now: Timestamp) -> Result<Input, String> {
    let mut input = match rules.format {
        Format::Text => text(line, rules.key_separator.as_deref())?,
        Format::Json => object(line)?,
    };
    if input.record.timestamp == UNSAID {
        input.record.timestamp = now;
    }
    let added =
        rules.headers.iter().map(|(key, value)| (key.clone().into_bytes(), Some(value.clone().into_bytes())));
    input.record.headers.extend(added);
    Ok(input)
}

/// Stands for a time that the line does not say; no record has it.
const UNSAID: Timestamp = Timestamp(i64::MIN);

fn text(line: &[u8], separator: Option<&str>) -> Result<Input, String> {
    let (key, value) = match separator {
        None => (None, line.to_vec()),
        Some(separator) => {
            let at = line.windows(separator.len()).position(|window| window == separator.as_bytes());
            let at = at.ok_or_else(|| format!("there is no {separator:?} in it"))?;
            (Some(line[..at].to_vec()), line[at + separator.len()..].to_vec())
        }
    };
    let record = OutgoingRecord { timestamp: UNSAID, key, value: Some(value), headers: Vec::new() };
    Ok(Input { partition: None, record })
}

fn object(line: &[u8]) -> Result<Input, String> {
    let value: Value = serde_json::from_slice(line).map_err(|error| format!("no JSON: {error}"))?;
    let Value::Object(mut object) = value else { return Err("no JSON object".to_owned()) };
    let record = OutgoingRecord {
        timestamp: integer(&mut object, "timestamp")?.map_or(UNSAID, Timestamp),
        key: json::take_bytes(&mut object, "key")?,
        value: json::take_bytes(&mut object, "value")?,
        headers: headers(&mut object)?,
    };
    let partition = integer(&mut object, "partition")?
        .map(|number| i32::try_from(number).map_err(|_| "partition is too large".to_owned()))
        .transpose()?;
    for ignored in ["topic", "offset"] {
        object.remove(ignored);
    }
    match object.keys().next() {
        Some(name) => Err(format!("unknown field {name:?}")),
        None => Ok(Input { partition: partition.map(PartitionIndex), record }),
    }
}

fn integer(object: &mut Map<String, Value>, name: &str) -> Result<Option<i64>, String> {
    match object.remove(name) {
        None | Some(Value::Null) => Ok(None),
        Some(value) => match value.as_i64().filter(|number| *number >= 0) {
            Some(number) => Ok(Some(number)),
            None => Err(format!("{name} is no number from 0 on")),
        },
    }
}

type Headers = Vec<(Vec<u8>, Option<Vec<u8>>)>;

fn headers(object: &mut Map<String, Value>) -> Result<Headers, String> {
    let wrong = || "headers is no array of {\"key\", \"value\"}".to_owned();
    let Some(value) = object.remove("headers") else { return Ok(Vec::new()) };
    let Value::Array(values) = value else { return Err(wrong()) };
    let header = |value| {
        let Value::Object(mut header) = value else { return Err(wrong()) };
        let key = json::take_bytes(&mut header, "key")?.ok_or_else(wrong)?;
        let value = json::take_bytes(&mut header, "value")?;
        if header.is_empty() { Ok((key, value)) } else { Err(wrong()) }
    };
    values.into_iter().map(header).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp(7);

    fn rules(format: Format, separator: Option<&str>) -> LineRules {
        LineRules { key_separator: separator.map(str::to_owned), headers: Vec::new(), format }
    }

    fn record(key: Option<&[u8]>, value: Option<&[u8]>) -> OutgoingRecord {
        let bytes = |bytes: Option<&[u8]>| bytes.map(<[u8]>::to_vec);
        OutgoingRecord { timestamp: NOW, key: bytes(key), value: bytes(value), headers: Vec::new() }
    }

    #[test]
    fn a_line_of_text_is_a_value_or_a_key_and_a_value() {
        let parse =
            |line, separator| parse(line, &rules(Format::Text, separator), NOW).map(|input| input.record);
        assert_eq!(parse(b"a:b", None), Ok(record(None, Some(b"a:b"))));
        assert_eq!(parse(b"a:b:c", Some(":")), Ok(record(Some(b"a"), Some(b"b:c"))));
        assert_eq!(parse(b"a->b", Some("->")), Ok(record(Some(b"a"), Some(b"b"))));
        assert_eq!(parse(b":", Some(":")), Ok(record(Some(b""), Some(b""))));
        assert_eq!(parse(b"ab", Some(":")), Err("there is no \":\" in it".to_owned()));
        assert_eq!(parse(b"\xff", None), Ok(record(None, Some(b"\xff"))));
    }

    #[test]
    fn a_line_of_json_says_all_that_a_record_has() {
        let line = br#"{"topic": "t", "offset": 4, "partition": 3, "timestamp": 12, "key": null, "value_base64": "/w==",
            "headers": [{"key": "a", "value": "1"}, {"key": "a", "value": null}]}"#;
        let input = parse(line, &rules(Format::Json, None), NOW).unwrap();
        assert_eq!(input.partition, Some(PartitionIndex(3)));
        let headers = vec![(b"a".to_vec(), Some(b"1".to_vec())), (b"a".to_vec(), None)];
        let expected = OutgoingRecord { timestamp: Timestamp(12), headers, ..record(None, Some(b"\xff")) };
        assert_eq!(input.record, expected);
        let empty = parse(b"{}", &rules(Format::Json, None), NOW).unwrap();
        assert_eq!(empty, Input { partition: None, record: record(None, None) });
    }

    #[test]
    fn json_that_is_no_record_is_refused() {
        let refused: [&[u8]; 8] = [
            b"",
            b"[]",
            br#"{"vlaue": "typo"}"#,
            br#"{"value": 1}"#,
            br#"{"partition": -1}"#,
            br#"{"partition": 4294967296}"#,
            br#"{"headers": {"a": "b"}}"#,
            br#"{"headers": [{"value": "b"}]}"#,
        ];
        for line in refused {
            assert!(parse(line, &rules(Format::Json, None), NOW).is_err(), "{}", line.escape_ascii());
        }
    }
}
