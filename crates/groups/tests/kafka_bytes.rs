//! The scripts of tests/kafka_bytes leave the records that a real Kafka broker left, byte for byte and in the same order.
//!
//! The machine is given the ids that the broker chose, so only what is listed in [`without_own`] is made equal before.
//! interop/stories/test_kafka_bytes.py tells the same scripts to the server, over the wire.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]
#![allow(clippy::disallowed_methods, reason = "the scripts are files")]

#[allow(dead_code, reason = "this test needs only a part of it")]
mod harness;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use harness::{Entry, Machine, command};
use milepost_groups::{ClusterTopics, GroupSettings};
use milepost_model::{Timestamp, TopicId};
use milepost_records::offsets::consumer_group::ConsumerGroupRecord;
use milepost_records::offsets::{Key, Record};

/// The length of a UUID, which the id of a member of a classic group ends with. In a consumer group it is an id of its own.
const SUFFIX_BYTES: usize = 36;

type Records = Vec<(Vec<u8>, Option<Vec<u8>>)>;

/// A file: what is said, and what a broker did with it.
struct Script {
    lines: Vec<String>,
    topics: BTreeMap<String, TopicId>,
    members: Vec<String>,
    groups: BTreeMap<String, Records>,
}

impl Script {
    fn read(path: &Path) -> Self {
        let text = fs::read_to_string(path).unwrap();
        let (said, captured) = text.split_once("\n== Kafka ").unwrap_or((&text, ""));
        let is_said = |line: &&str| !line.is_empty() && !line.starts_with('#');
        let lines: Vec<_> = said.lines().filter(is_said).map(str::to_owned).collect();
        let (topics, members, groups) = Default::default();
        let mut script = Self { lines, topics, members, groups };
        let mut group = String::new();
        for line in captured.lines().skip(1) {
            let words: Vec<_> = line.split_whitespace().collect();
            match words[..] {
                ["id", name, id] => drop(script.topics.insert(name.into(), command::whole_topic_id(id))),
                ["member", id] => script.members.push(id.into()),
                ["group", name] => group = name.into(),
                [key, value] => {
                    let value = (value != "-").then(|| bytes(value));
                    script.groups.entry(group.clone()).or_default().push((bytes(key), value));
                }
                _ => panic!("{}: {line}", path.display()),
            }
        }
        script
    }

    fn settings(&self) -> GroupSettings {
        let mut settings = GroupSettings { initial_rebalance_delay_ms: 0, ..GroupSettings::default() };
        for line in self.lines.iter().filter_map(|line| line.strip_prefix("set ")) {
            let (key, value) = line.split_once('=').unwrap();
            let number: i64 = value.parse().unwrap();
            match key {
                "group.consumer.assignment.interval.ms" => {
                    settings.consumer_assignment_interval_ms = number.unsigned_abs();
                }
                "group.initial.rebalance.delay.ms" => assert_eq!(number, 0, "that is what it is here"),
                "offsets.retention.minutes" => settings.offsets_retention_ms = number * 60_000,
                "offsets.retention.check.interval.ms" => {
                    settings.offsets_retention_check_interval_ms = number.unsigned_abs();
                }
                other => panic!("there is no setting '{other}' here"),
            }
        }
        settings
    }

    /// Tells the machine what was told to the broker, with the ids that the broker chose.
    fn tell(&self, machine: &mut Machine) {
        let mut new_members = 0;
        let is_told = |line: &&String| !line.starts_with("set ") && !line.starts_with("needs ");
        for line in self.lines.iter().filter(is_told) {
            let mut line = line.trim_end_matches(" waits").to_owned();
            for (index, member) in self.members.iter().enumerate() {
                line = line.replace(&format!("${}", index + 1), member);
            }
            match line.split_once(' ').unwrap() {
                ("answered", _) => continue,
                ("topics", topics) => {
                    self.set_topics(machine, topics);
                    continue;
                }
                ("join", _) if !line.contains(" member=") => {
                    let member = &self.members[usize::try_from(new_members).unwrap()];
                    line += &format!(" suffix={}", &member[member.len().saturating_sub(SUFFIX_BYTES)..]);
                }
                ("commit" | "transactional", _) => line += &self.topic_id_of(&line),
                ("topic-deleted", name) => {
                    let id = self.topics[name];
                    line += &topic_id_option(id);
                }
                _ => {}
            }
            command::run(machine, &line, &mut new_members);
        }
    }

    /// The broker looks the topic's id up; each commit here is of one topic.
    fn topic_id_of(&self, line: &str) -> String {
        let is_offset = |word: &&str| word.split_once('=').is_some_and(|(place, _)| place.contains(':'));
        let place = line.split_whitespace().find(is_offset).expect("a commit has an offset");
        topic_id_option(self.topics[place.split_once(':').unwrap().0])
    }

    fn set_topics(&self, machine: &mut Machine, words: &str) {
        let topics = words.split_whitespace().map(|word| {
            let (name, numbers) = word.split_once('=').unwrap();
            (name.into(), self.topics[name], numbers.split_once(':').unwrap().1.parse().unwrap())
        });
        machine.topics = ClusterTopics::new(1, topics).into();
    }
}

fn topic_id_option(id: TopicId) -> String {
    format!(" topic-id={:032x}", u128::from_be_bytes(id.0))
}

fn bytes(hex: &str) -> Vec<u8> {
    let pairs = hex.as_bytes().chunks(2);
    pairs.map(|pair| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap()).collect()
}

/// Takes out what is the broker's own, and nothing else:
/// - times: each is set to 1, so that it must still be there; an expiry keeps its distance from the commit;
/// - the version in a regular expression's record, which is a position in the broker's own log;
/// - the order of members in a classic group's record, which in Kafka is that of a hash of their ids.
fn without_own(key: &[u8], value: Option<&[u8]>) -> Option<Vec<u8>> {
    let value = value?;
    let mut again = Vec::new();
    match Record::decode(Some(key), Some(value)).unwrap() {
        Record::OffsetCommit { value: Some(mut offset), .. } => {
            offset.encode(&mut again).unwrap();
            assert_eq!(again, value, "what was read is written again");
            let kept_ms = offset.expire_timestamp.map(|expire| expire.0 - offset.commit_timestamp.0);
            offset.commit_timestamp = Timestamp(1);
            offset.expire_timestamp = kept_ms.map(Timestamp);
            again.clear();
            offset.encode(&mut again).unwrap();
        }
        Record::GroupMetadata { value: Some(mut group), .. } => {
            group.encode(&mut again).unwrap();
            assert_eq!(again, value, "what was read is written again");
            group.current_state_timestamp = group.current_state_timestamp.map(|_| Timestamp(1));
            group.members.sort_by_key(|member| member.member_id);
            again.clear();
            group.encode(&mut again).unwrap();
        }
        Record::ConsumerGroup { value: Some(mut record), .. } => {
            record.encode(&mut again).unwrap();
            assert_eq!(again, value, "what was read is written again");
            match &mut record {
                ConsumerGroupRecord::TargetAssignmentMetadata(target) => {
                    target.assignment_timestamp = target.assignment_timestamp.map(|_| Timestamp(1));
                }
                ConsumerGroupRecord::RegularExpression(resolved) => {
                    resolved.timestamp = Timestamp(1);
                    resolved.version = 1;
                }
                _ => {}
            }
            again.clear();
            record.encode(&mut again).unwrap();
        }
        other => panic!("a record that nobody expects: {other:?}"),
    }
    Some(again)
}

fn group_of(key: &[u8]) -> &str {
    match Key::decode(key).unwrap() {
        Key::LegacyOffsetCommit(key) | Key::OffsetCommit(key) => key.group,
        Key::GroupMetadata(key) => key.group,
        Key::ConsumerGroup(key) => key.group,
        Key::Unknown { record_type, .. } => panic!("a record of type {record_type}"),
    }
}

/// The records of each group, in order.
fn written(machine: &Machine) -> BTreeMap<String, Records> {
    let mut groups: BTreeMap<String, Records> = BTreeMap::new();
    for entry in &machine.log {
        let Entry::Record { key, value, .. } = entry else { continue };
        groups.entry(group_of(key).to_owned()).or_default().push((key.clone(), value.clone()));
    }
    groups
}

fn scripts() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/kafka_bytes");
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut scripts: Vec<_> =
        entries.filter(|path| path.extension().is_some_and(|extension| extension == "txt")).collect();
    scripts.sort();
    scripts
}

#[test]
fn every_script_leaves_the_records_that_kafka_leaves() {
    let mut compared = 0;
    for path in scripts() {
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let script = Script::read(&path);
        let mut machine = Machine::new(script.settings());
        script.tell(&mut machine);
        let ours = written(&machine);
        assert!(ours.keys().eq(script.groups.keys()), "{name}: {:?}", ours.keys());
        for (group, kafkas) in &script.groups {
            for (number, (our, kafka)) in ours[group].iter().zip(kafkas).enumerate() {
                assert_eq!(our.0, kafka.0, "{name}: the key of record {number} of {group}");
                let (our, kafka) =
                    (without_own(&our.0, our.1.as_deref()), without_own(&kafka.0, kafka.1.as_deref()));
                assert_eq!(our, kafka, "{name}: the value of record {number} of {group}");
                compared += 1;
            }
            assert_eq!(ours[group].len(), kafkas.len(), "{name}: the number of records of {group}");
        }
    }
    assert!(compared > 200, "{compared} records were compared");
}
