//! Bytes in JSON: text where they are text, else base64 under a name of its own, so that nothing is lost.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use serde_json::{Map, Value};

/// What follows a field's name when its value is base64.
const BASE64_SUFFIX: &str = "_base64";

/// Puts bytes into an object: `name` with the text or null, or `name_base64` where they are not UTF-8.
pub(crate) fn put_bytes(object: &mut Map<String, Value>, name: &str, bytes: Option<&[u8]>) {
    match bytes.map(std::str::from_utf8) {
        None => object.insert(name.to_owned(), Value::Null),
        Some(Ok(text)) => object.insert(name.to_owned(), text.into()),
        Some(Err(_)) => {
            object.insert(format!("{name}{BASE64_SUFFIX}"), BASE64.encode(bytes.unwrap_or_default()).into())
        }
    };
}

/// Takes bytes out of an object, as [`put_bytes`] puts them in. A field that is not there is null.
pub(crate) fn take_bytes(object: &mut Map<String, Value>, name: &str) -> Result<Option<Vec<u8>>, String> {
    let coded = format!("{name}{BASE64_SUFFIX}");
    match (object.remove(name), object.remove(&coded)) {
        (Some(_), Some(_)) => Err(format!("both {name} and {coded} are there")),
        (None | Some(Value::Null), None) => Ok(None),
        (Some(Value::String(text)), None) => Ok(Some(text.into_bytes())),
        (Some(_), None) => Err(format!("{name} is neither text nor null")),
        (None, Some(Value::String(text))) => {
            BASE64.decode(&text).map(Some).map_err(|_| format!("{coded} is not base64"))
        }
        (None, Some(_)) => Err(format!("{coded} is not text")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_come_back_as_they_were() {
        for bytes in [None, Some(b"".as_slice()), Some(b"text"), Some(&[0xff, 0, 1])] {
            let mut object = Map::new();
            put_bytes(&mut object, "key", bytes);
            assert_eq!(object.len(), 1);
            assert_eq!(take_bytes(&mut object, "key").unwrap().as_deref(), bytes);
            assert!(object.is_empty());
        }
    }

    #[test]
    fn what_is_not_bytes_is_refused() {
        for text in [r#"{"key": 1}"#, r#"{"key_base64": 1}"#, r#"{"key": "a", "key_base64": ""}"#] {
            let mut object = serde_json::from_str(text).unwrap();
            assert!(take_bytes(&mut object, "key").is_err(), "{text}");
        }
    }
}
