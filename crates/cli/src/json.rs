//! Bytes in JSON: text where they are text, else base64 under a name of its own, so that nothing is lost.

use serde_json::{Map, Value};

const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
/// What follows a field's name when its value is base64.
const BASE64_SUFFIX: &str = "_base64";

/// Puts bytes into an object: `name` with the text or null, or `name_base64` where they are not UTF-8.
pub(crate) fn put_bytes(object: &mut Map<String, Value>, name: &str, bytes: Option<&[u8]>) {
    match bytes.map(std::str::from_utf8) {
        None => object.insert(name.to_owned(), Value::Null),
        Some(Ok(text)) => object.insert(name.to_owned(), text.into()),
        Some(Err(_)) => {
            object.insert(format!("{name}{BASE64_SUFFIX}"), encode_base64(bytes.unwrap_or_default()).into())
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
            decode_base64(&text).map(Some).ok_or_else(|| format!("{coded} is not base64"))
        }
        (None, Some(_)) => Err(format!("{coded} is not text")),
    }
}

fn encode_base64(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let at = |index: usize| u32::from(chunk.get(index).copied().unwrap_or(0));
        let bits = at(0) << 16 | at(1) << 8 | at(2);
        for position in 0..4 {
            let sextet = bits >> (18 - 6 * position) & 63;
            let letter = if position <= chunk.len() { ALPHABET[sextet as usize] } else { b'=' };
            text.push(char::from(letter));
        }
    }
    text
}

fn decode_base64(text: &str) -> Option<Vec<u8>> {
    let text = text.trim_end_matches('=').as_bytes();
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3 + 2);
    for chunk in text.chunks(4) {
        if chunk.len() == 1 {
            return None;
        }
        let mut bits = 0_u32;
        for letter in chunk {
            let sextet = ALPHABET.iter().position(|known| known == letter)?;
            bits = bits << 6 | u32::try_from(sextet).ok()?;
        }
        bits <<= 6 * (4 - chunk.len());
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_that_of_rfc_4648() {
        let known = [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foob", "Zm9vYg==")];
        for (plain, coded) in known {
            assert_eq!(encode_base64(plain.as_bytes()), coded);
            assert_eq!(decode_base64(coded).as_deref(), Some(plain.as_bytes()));
        }
        assert_eq!(encode_base64(&[0xff, 0xfe]), "//4=");
        assert_eq!(decode_base64("Z"), None);
        assert_eq!(decode_base64("Z-8="), None);
    }

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
