//! How a record is written.

use std::io::{self, Write};

use milepost_client::Record;
use serde_json::{Map, Value};

use crate::json;

/// A way of writing records.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Template {
    /// One JSON object a line.
    Json,
    /// These parts, one after the other.
    Parts(Vec<Part>),
}

/// A piece of a line.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Part {
    Text(String),
    Topic,
    Partition,
    Offset,
    Timestamp,
    Key,
    Value,
    Headers,
}

/// Reads what `--format` says.
pub(super) fn parse(said: &str) -> Result<Template, String> {
    match said {
        "text" => Ok(Template::Parts(vec![Part::Value])),
        "json" => Ok(Template::Json),
        _ if said.contains('%') => parts(said).map(Template::Parts),
        _ => Err("neither text nor json nor a template with a % in it".to_owned()),
    }
}

fn parts(said: &str) -> Result<Vec<Part>, String> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut letters = said.chars();
    while let Some(letter) = letters.next() {
        let part = match letter {
            '%' => match letters.next() {
                Some('%') => {
                    text.push('%');
                    continue;
                }
                Some('t') => Part::Topic,
                Some('p') => Part::Partition,
                Some('o') => Part::Offset,
                Some('T') => Part::Timestamp,
                Some('k') => Part::Key,
                Some('v') => Part::Value,
                Some('h') => Part::Headers,
                Some(other) => return Err(format!("%{other} means nothing; %t %p %o %T %k %v %h %% do")),
                None => return Err("a % at the end; %% is a percent sign".to_owned()),
            },
            '\\' => {
                text.push(match letters.next() {
                    Some('n') => '\n',
                    Some('t') => '\t',
                    Some('\\') => '\\',
                    Some(other) => return Err(format!("\\{other} means nothing; \\n \\t \\\\ do")),
                    None => return Err("a \\ at the end; \\\\ is a backslash".to_owned()),
                });
                continue;
            }
            other => {
                text.push(other);
                continue;
            }
        };
        if !text.is_empty() {
            parts.push(Part::Text(std::mem::take(&mut text)));
        }
        parts.push(part);
    }
    if !text.is_empty() {
        parts.push(Part::Text(text));
    }
    Ok(parts)
}

impl Template {
    /// Writes a record, and a line's end.
    pub(super) fn write(&self, record: &Record<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Json => write!(out, "{}", object(record))?,
            Self::Parts(parts) => {
                for part in parts {
                    part.write(record, out)?;
                }
            }
        }
        out.write_all(b"\n")
    }
}

impl Part {
    fn write(&self, record: &Record<'_>, out: &mut dyn Write) -> io::Result<()> {
        match self {
            Self::Text(text) => out.write_all(text.as_bytes()),
            Self::Topic => write!(out, "{}", record.partition.topic),
            Self::Partition => write!(out, "{}", record.partition.partition),
            Self::Offset => write!(out, "{}", record.offset),
            // Kafka's word for a record without a time.
            Self::Timestamp => write!(out, "{}", record.timestamp.map_or(-1, |timestamp| timestamp.0)),
            Self::Key => out.write_all(record.key.unwrap_or_default()),
            Self::Value => out.write_all(record.value.unwrap_or_default()),
            Self::Headers => {
                for (index, header) in record.headers.enumerate() {
                    let comma: &[u8] = if index > 0 { b"," } else { b"" };
                    for bytes in [comma, header.key, b"=", header.value.unwrap_or_default()] {
                        out.write_all(bytes)?;
                    }
                }
                Ok(())
            }
        }
    }
}

fn object(record: &Record<'_>) -> Value {
    let mut object = Map::new();
    object.insert("topic".to_owned(), (*record.partition.topic).into());
    object.insert("partition".to_owned(), record.partition.partition.0.into());
    object.insert("offset".to_owned(), record.offset.0.into());
    object.insert("timestamp".to_owned(), record.timestamp.map(|timestamp| timestamp.0).into());
    json::put_bytes(&mut object, "key", record.key);
    json::put_bytes(&mut object, "value", record.value);
    let header = |header: milepost_batch::Header<'_>| {
        let mut object = Map::new();
        json::put_bytes(&mut object, "key", Some(header.key));
        json::put_bytes(&mut object, "value", header.value);
        Value::Object(object)
    };
    object.insert("headers".to_owned(), record.headers.map(header).collect());
    Value::Object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn templates_are_read() {
        assert_eq!(parse("text"), Ok(Template::Parts(vec![Part::Value])));
        assert_eq!(parse("json"), Ok(Template::Json));
        let text = |text: &str| Part::Text(text.to_owned());
        let expected = vec![text("a% "), Part::Topic, text("\t"), Part::Key, Part::Value, text("\\n\n")];
        assert_eq!(parse(r"a%% %t\t%k%v\\n\n"), Ok(Template::Parts(expected)));
        assert_eq!(
            parse("%p%o%T%h").map(|template| matches!(template, Template::Parts(parts) if parts.len() == 4)),
            Ok(true)
        );
    }

    #[test]
    fn what_is_no_template_is_refused() {
        for said in ["", "yaml", "%x", "100%", r"%v\", r"%v\x"] {
            assert!(parse(said).is_err(), "{said}");
        }
    }
}
