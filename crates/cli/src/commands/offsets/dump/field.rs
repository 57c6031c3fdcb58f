//! JSON whose fields stay in the order of Kafka's schemas.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde::{Serialize, Serializer};
use serde_json::Value;

/// A value, or something with values in it.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Field {
    Value(Value),
    Object(Vec<(&'static str, Field)>),
    List(Vec<Field>),
}

impl Field {
    pub(super) fn bytes(bytes: &[u8]) -> Self {
        Self::Value(BASE64.encode(bytes).into())
    }

    pub(super) fn list<T>(items: impl IntoIterator<Item = T>, field: impl Fn(T) -> Self) -> Self {
        Self::List(items.into_iter().map(field).collect())
    }

    /// For people: `a=1 b=x c=[…]`.
    pub(super) fn words(&self) -> String {
        match self {
            Self::Object(fields) => {
                let word = |(name, field): &(&'static str, Self)| match field {
                    Self::Value(Value::String(text)) if is_plain(text) => format!("{name}={text}"),
                    field => format!("{name}={}", field.json()),
                };
                fields.iter().map(word).collect::<Vec<_>>().join(" ")
            }
            other => other.json(),
        }
    }

    /// On one line.
    pub(super) fn json(&self) -> String {
        serde_json::to_string(self).expect("there is no key but text in it, and nothing that fails")
    }
}

fn is_plain(text: &str) -> bool {
    !text.is_empty()
        && text.chars().all(|letter| !letter.is_whitespace() && !letter.is_control() && letter != '"')
}

impl<T: Into<Value>> From<T> for Field {
    fn from(value: T) -> Self {
        Self::Value(value.into())
    }
}

impl Serialize for Field {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Value(value) => value.serialize(serializer),
            Self::Object(fields) => serializer.collect_map(fields.iter().map(|(name, field)| (name, field))),
            Self::List(fields) => serializer.collect_seq(fields),
        }
    }
}
