//! Every message against the `kafka-protocol` crate, which was made from Kafka's schemas by other hands: it
//! must read what is written here, see the same values under the same names, and write the same bytes again,
//! which must be read here to the same values.

use bytes::Bytes;
use kafka_protocol::protocol::{Decodable, Encodable, Message};

use super::{Decoded, cases};
use crate::testing::{Random, Sketch};

/// Seeds for each message and version.
const SEEDS: u64 = 100;

/// Fields of InitProducerId 6, which is not stable and not served, and the other crate's own bag of unknown
/// tags.
const NOT_HERE: &[&str] = &[
    "enable_2_pc",
    "keep_prepared_txn",
    "ongoing_txn_producer_id",
    "ongoing_txn_producer_epoch",
    "unknown_tagged_fields",
];

/// A field of TxnOffsetCommit that Kafka has given another name since: the other crate's and ours.
const RENAMED: (&str, &str) = ("generation_id", "generation_id_or_member_epoch");

/// What the other crate reads from a body, and what it writes of that.
pub(super) fn reference<M>(body: &[u8], version: i16) -> Option<Decoded>
where
    M: Message + Decodable + Encodable + std::fmt::Debug,
{
    if version < M::VERSIONS.min || version > M::VERSIONS.max {
        return None;
    }
    let mut rest = Bytes::copy_from_slice(body);
    let message = M::decode(&mut rest, version).expect("the other crate reads it");
    assert!(rest.is_empty(), "the other crate leaves {} bytes", rest.len());
    let mut again = Vec::new();
    message.encode(&mut again, version).expect("the other crate writes it");
    Some((parse(&format!("{message:?}")), again))
}

#[test]
fn another_implementation_reads_and_writes_the_same() {
    let mut compared = 0;
    for case in cases() {
        for version in case.versions() {
            for seed in 0..SEEDS {
                let (body, value) = (case.arbitrary)(&mut Random(seed), version);
                let Some((seen, again)) = (case.reference)(&body, version) else { continue };
                compared += 1;
                let place = format!("{} v{version} seed {seed}", case.name);
                assert_same(&place, &value, &seen);
                assert_eq!(body, again, "{place}");
                let (decoded, _) = (case.decode)(&again, version).expect("its bytes are read");
                assert_eq!(value, decoded, "{place}");
            }
        }
    }
    // All but ApiVersions 5, ListOffsets 11, OffsetCommit 10, OffsetFetch 10, DeleteGroups 3, DescribeLogDirs 5,
    // TxnOffsetCommit 6, WriteTxnMarkers 2, StreamsGroupDescribe and DescribeShareGroupOffsets 1, of which the other crate
    // knows two responses. Golden frames cover those.
    let all: usize = cases().iter().map(|case| case.versions().count()).sum();
    assert_eq!(compared, (all - 20) as u64 * SEEDS);
}

/// Every field that the other implementation knows must be here under the same name with the same value.
fn assert_same(place: &str, ours: &Sketch, theirs: &Sketch) {
    match (ours, theirs) {
        (Sketch::Structure(ours), Sketch::Structure(theirs)) => {
            for (name, their_value) in theirs.iter().filter(|(name, _)| !NOT_HERE.contains(&name.as_str())) {
                let place = format!("{place} {name}");
                let named = |wanted: &str| ours.iter().find(|(our_name, _)| our_name == wanted);
                let renamed = || named(RENAMED.1).filter(|_| name == RENAMED.0);
                let ours = named(name).or_else(renamed);
                let (_, our_value) = ours.unwrap_or_else(|| panic!("{place} is missing"));
                assert_same(&place, our_value, their_value);
            }
        }
        (Sketch::Array(ours), Sketch::Array(theirs)) => {
            assert_eq!(ours.len(), theirs.len(), "{place}");
            for (our_element, their_element) in ours.iter().zip(theirs) {
                assert_same(place, our_element, their_element);
            }
        }
        _ => assert_eq!(ours, theirs, "{place}"),
    }
}

/// Reads the output of a derived `Debug`. Wrappers such as `GroupId("g")` and `Some(…)` are seen through.
fn parse(text: &str) -> Sketch {
    let mut parser = Parser { rest: text };
    let sketch = parser.value();
    assert_eq!(parser.rest, "");
    sketch
}

struct Parser<'a> {
    rest: &'a str,
}

impl Parser<'_> {
    fn skip(&mut self, token: &str) -> bool {
        let rest = self.rest.trim_start();
        let found = rest.strip_prefix(token);
        self.rest = found.unwrap_or(rest);
        found.is_some()
    }

    fn word(&mut self) -> String {
        let end =
            self.rest.find(|c: char| !(c.is_alphanumeric() || "_-".contains(c))).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest;
        word.to_owned()
    }

    fn quoted(&mut self) -> String {
        let start = self.rest.find('"').expect("a quote") + 1;
        let mut escaped = false;
        let length = self.rest[start..].find(|c| {
            let end = c == '"' && !escaped;
            escaped = c == '\\' && !escaped;
            end
        });
        let (quoted, rest) = self.rest.split_at(start + length.expect("an end of the quote") + 1);
        self.rest = rest;
        quoted.to_owned()
    }

    fn value(&mut self) -> Sketch {
        if self.skip("[") {
            let mut elements = Vec::new();
            while !self.skip("]") {
                elements.push(self.value());
                self.skip(",");
            }
            return if elements.is_empty() { Sketch::Empty } else { Sketch::Array(elements) };
        }
        if self.rest.starts_with('"') || self.rest.starts_with("b\"") {
            return Sketch::text(self.quoted());
        }
        let word = self.word();
        if self.skip("(") {
            let inner = self.value();
            assert!(self.skip(")"), "{}", self.rest);
            return inner;
        }
        if self.skip("{") {
            let mut fields = Vec::new();
            while !self.skip("}") {
                let name = self.word();
                assert!(self.skip(":"), "{}", self.rest);
                self.skip(" ");
                fields.push((name, self.value()));
                self.skip(",");
            }
            return Sketch::Structure(fields);
        }
        match word.as_str() {
            "None" => Sketch::Empty,
            _ if word.len() == 36 => Sketch::Scalar(word.replace('-', "")),
            _ => Sketch::Scalar(word),
        }
    }
}
