use super::*;

/// Records as a Kafka broker wrote them, and as Kafka itself writes them down.
const KAFKA: &str = include_str!("kafka-4.4.txt");

fn bytes(hex: &str) -> Vec<u8> {
    let digits: Vec<u32> = hex.chars().filter_map(|digit| digit.to_digit(16)).collect();
    digits.chunks(2).map(|pair| u8::try_from(pair[0] * 16 + pair[1]).unwrap()).collect()
}

/// Each record's key, value, and what Kafka writes of both.
fn records() -> impl Iterator<Item = (Vec<u8>, Option<Vec<u8>>, &'static str, &'static str)> {
    let lines: Vec<&str> = KAFKA.lines().filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
    lines
        .chunks(4)
        .map(<[&str]>::to_vec)
        .collect::<Vec<_>>()
        .into_iter()
        .map(|lines| (bytes(lines[0]), (lines[1] != "-").then(|| bytes(lines[1])), lines[2], lines[3]))
}

fn json(value: &Value<'_>) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Number(number) => number.to_string(),
        Value::Text(text) => format!("{text:?}"),
        Value::Id(id) => format!("\"{id}\""),
        Value::List(list) => format!("[{}]", list.iter().map(json).collect::<Vec<_>>().join(",")),
        Value::Structure(fields) => {
            let fields = fields.iter().map(|(name, value)| format!("\"{name}\":{}", json(value)));
            format!("{{{}}}", fields.collect::<Vec<_>>().join(","))
        }
    }
}

#[test]
fn every_type_says_what_kafka_says() {
    let mut types = std::collections::BTreeSet::new();
    for (key, value, about, said) in records() {
        types.insert(key[1]);
        let record = DescribedRecord::decode(&key, value.as_deref()).unwrap().unwrap();
        let member = record.member.map_or_else(String::new, |member| format!(",\"memberId\":\"{member}\""));
        assert_eq!(format!("{{\"groupId\":\"{}\"{member}}}", record.group), about);
        assert_eq!(
            record.value.map_or_else(|| "null".to_owned(), |value| json(&Value::Structure(value))),
            said
        );
    }
    assert_eq!(types.into_iter().collect::<Vec<_>>(), [10, 11, 12, 13, 14, 15, 17, 19, 20, 21, 22, 23]);
}

#[test]
fn whoever_replays_the_log_skips_them_whatever_they_hold() {
    for (key, ..) in records() {
        let record = crate::offsets::Record::decode(Some(&key), Some(b"\0\x63 of the future"));
        assert!(matches!(record, Ok(crate::offsets::Record::Unknown { .. })));
    }
}

#[test]
fn what_is_cut_short_or_newer_or_of_another_type_is_told_apart() {
    for (key, value, ..) in records() {
        let Some(value) = value else { continue };
        for length in 0..value.len() {
            assert!(DescribedRecord::decode(&key, Some(&value[..length])).is_err());
        }
        let newer = [b"\0\x01", &value[2..]].concat();
        let refused = DescribedRecord::decode(&key, Some(&newer));
        assert!(matches!(refused, Err(DecodeError::UnsupportedVersion { version: 1, .. })));
        let longer = [&value, b"x".as_slice()].concat();
        assert_eq!(DescribedRecord::decode(&key, Some(&longer)), Err(DecodeError::TrailingBytes(1)));
    }
    for code in (0..10).chain([16, 18, 24, -1]) {
        let key = [&i16::to_be_bytes(code)[..], b"\0\x01g"].concat();
        assert_eq!(DescribedRecord::decode(&key, None), Ok(None), "{code}");
    }
    assert!(DescribedRecord::decode(b"\0", None).is_err());
}

#[test]
fn a_tagged_field_of_the_future_is_passed_over() {
    let of_future = b"\0\0\0\0\0\x07\x02\x00\x08\0\0\0\0\0\0\0\x09\x7f\x02xy";
    let record = DescribedRecord::decode(b"\0\x0c\0\x01g", Some(of_future)).unwrap().unwrap();
    let fields = vec![("assignmentEpoch", Value::Number(7)), ("assignmentTimestamp", Value::Number(9))];
    assert_eq!(record.value, Some(fields));
}
