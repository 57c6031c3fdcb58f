//! The command lines of a scenario. tests/scenarios/README.md explains them to whoever writes one.

use milepost_groups::*;
use milepost_model::{
    DeletedTopic, Generation, LeaderEpoch, Offset, PartitionIndex, Timestamp, TopicId, TransactionEnd,
    WithoutId,
};

use super::{Machine, Step, embedded, producer_of};

/// The words of one line: the verb, the plain words after it, and the `name=value` words.
struct Words<'a> {
    plain: Vec<&'a str>,
    options: Vec<(&'a str, &'a str)>,
}

impl<'a> Words<'a> {
    fn new(words: &[&'a str]) -> Self {
        let is_option = |word: &&&str| {
            word.split_once('=')
                .is_some_and(|(name, _)| name.chars().all(|c| c.is_ascii_lowercase() || c == '-'))
        };
        let plain = words.iter().filter(|word| !is_option(word)).copied().collect();
        let options = words.iter().filter(is_option).filter_map(|word| word.split_once('=')).collect();
        Self { plain, options }
    }

    fn group(&self) -> &'a str {
        let group = self.plain.first().expect("the group is missing");
        if *group == "''" { "" } else { group }
    }

    fn get(&self, option: &str) -> Option<&'a str> {
        self.options.iter().find(|(name, _)| *name == option).map(|(_, value)| *value)
    }

    fn number(&self, option: &str) -> Option<i32> {
        self.get(option)
            .map(|value| value.parse().unwrap_or_else(|_| panic!("{option}={value} is no number")))
    }

    fn list(&self, option: &str) -> Vec<&'a str> {
        self.get(option).map(|value| value.split(',').collect()).unwrap_or_default()
    }

    fn ms(&self, option: &str) -> Option<i64> {
        self.get(option).map(duration_ms)
    }

    fn generation(&self) -> Option<Generation> {
        self.number("generation").map(Generation)
    }

    fn topic_id(&self) -> Option<TopicId> {
        let whole = self.get("topic-id").filter(|text| text.len() == 32);
        whole.map(whole_topic_id).or_else(|| self.number("topic-id").map(topic_id))
    }
}

fn topic_id(number: i32) -> TopicId {
    let mut id = [0; 16];
    id[15] = u8::try_from(number).unwrap();
    TopicId(id)
}

/// An identity as 32 digits in hex.
pub(crate) fn whole_topic_id(hex: &str) -> TopicId {
    TopicId(u128::from_str_radix(hex, 16).expect("an identity in hex").to_be_bytes())
}

/// A length of time: a number and `ms`, `s`, `m`, `h` or `d`.
pub(crate) fn duration_ms(text: &str) -> i64 {
    let digits = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
    let number: i64 = text[..digits].parse().unwrap_or_else(|_| panic!("'{text}' is no length of time"));
    number
        * match &text[digits..] {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            "d" => 86_400_000,
            unit => panic!("'{unit}' is no unit of time"),
        }
}

/// `topic:partition`.
fn place(word: &str) -> (&str, PartitionIndex) {
    let (topic, partition) = word.split_once(':').unwrap_or_else(|| panic!("'{word}' is no topic:partition"));
    (topic, PartitionIndex(partition.parse().unwrap_or_else(|_| panic!("'{word}' has no partition"))))
}

/// Runs one line. `members` counts the ids given to new members, from 1.
pub(crate) fn run(machine: &mut Machine, line: &str, members: &mut u32) -> Step {
    let all: Vec<&str> = line.split_whitespace().collect();
    let (verb, rest) = all.split_first().expect("a line has a verb");
    let words = Words::new(rest);
    match *verb {
        "join" => join(machine, &words, members),
        "sync" => sync(machine, &words),
        "heartbeat" => heartbeat(machine, &words),
        "leave" => leave(machine, &words),
        "topics" => topics(machine, &words),
        "group-config" => group_config(machine, &words),
        "consumer" => consumer(machine, &words),
        "describe-consumer" => {
            let group_id = words.group();
            let request = Request::DescribeConsumerGroup(DescribeGroup { group_id });
            machine.handle("describe", Some(group_id), request)
        }
        "commit" => commit(machine, &words),
        "txn-commit" => txn_commit(machine, &words),
        "fetch" => fetch(machine, &words),
        "list" => list(machine, &words),
        "describe" => {
            let group_id = words.group();
            machine.handle("describe", Some(group_id), Request::DescribeGroup(DescribeGroup { group_id }))
        }
        "delete" => {
            let group_ids = words.plain.clone();
            machine.handle("delete", None, Request::DeleteGroups(DeleteGroups { group_ids }))
        }
        "delete-offsets" => delete_offsets(machine, &words),
        verb if verb.starts_with("embedded-") => embedded(machine, verb, &words),
        "topic-deleted" => topic_deleted(machine, &words),
        "tick" => machine.tick(duration_ms(rest[0]).unsigned_abs()),
        "jump" => {
            let wall = machine.now.wall;
            machine.now.wall = wall.plus_ms(duration_ms(rest[0]));
            Step::default()
        }
        "restart" => machine.restart(),
        "disk" => {
            machine.is_full = rest == ["full"];
            Step::default()
        }
        "forget" => {
            machine.forget(&rest.join(" "));
            Step::default()
        }
        "old-group" => old_group(machine, &words),
        "transactional" => transactional(machine, &words),
        "marker" => {
            let end = match words.plain[0] {
                "commit" => TransactionEnd::Commit,
                "abort" => TransactionEnd::Abort,
                other => panic!("a transaction does not end with '{other}'"),
            };
            machine.marker(i64::from(words.number("producer").unwrap()), end);
            Step::default()
        }
        other => panic!("there is no command '{other}'"),
    }
}

fn join(machine: &mut Machine, words: &Words<'_>, members: &mut u32) -> Step {
    let client_id = words.get("client").unwrap_or("client");
    let topics: Vec<_> = words.list("topics").into_iter().filter(|topic| !topic.is_empty()).collect();
    let owned = words.get("owns").map(|_| words.list("owns"));
    let metadata = words.get("metadata").map_or_else(
        || embedded::subscription(&topics, owned.as_deref(), words.get("rack")),
        |text| text.as_bytes().to_vec(),
    );
    let names = words.get("protocols").unwrap_or("range");
    let version = words.number("version").unwrap_or(9);
    let is_new = words.get("member").is_none();
    let suffix = words.get("suffix").map_or_else(|| (*members + 1).to_string(), str::to_owned);
    if is_new {
        *members += 1;
    }
    let protocols = names.split(',').filter(|name| !name.is_empty());
    let request = JoinGroup {
        group_id: words.group(),
        member_id: words.get("member"),
        group_instance_id: words.get("instance"),
        client_id,
        client_host: "/127.0.0.1",
        protocol_type: words.get("type").unwrap_or("consumer"),
        protocols: protocols.map(|name| JoinProtocol { name, metadata: &metadata }).collect(),
        session_timeout_ms: i32::try_from(words.ms("session").unwrap_or(10_000)).unwrap(),
        rebalance_timeout_ms: Some(i32::try_from(words.ms("rebalance").unwrap_or(60_000)).unwrap()),
        member_id_suffix: &suffix,
        bare_member_id: &suffix,
        new_member: if version >= 4 { NewMember::JoinsAgainWithId } else { NewMember::JoinsAtOnce },
        static_leader: if version >= 9 {
            StaticLeader::CanSkipAssignment
        } else {
            StaticLeader::SeesFormerLeader
        },
        topics: std::sync::Arc::clone(&machine.topics),
    };
    let who = words.get("member").or(words.get("instance")).unwrap_or(client_id);
    machine.handle(&format!("join {who}"), Some(words.group()), Request::JoinGroup(request))
}

fn sync(machine: &mut Machine, words: &Words<'_>) -> Step {
    let member_id = words.get("member").unwrap_or_default();
    let texts = words.list("assign").into_iter().map(|word| {
        let (member_id, assignment) = word.split_once(':').expect("assign=member:text,...");
        (member_id, assignment.as_bytes().to_vec())
    });
    let partitions = words.list("gives").into_iter().map(|word| {
        let (member_id, partitions) = word.split_once(':').expect("gives=member:topic:partition+...,...");
        (member_id, embedded::assignment(partitions, words.get("user-data")))
    });
    let assigned: Vec<_> = texts.chain(partitions).collect();
    let assignments =
        assigned.iter().map(|(member_id, assignment)| MemberAssignment { member_id, assignment });
    let request = SyncGroup {
        group_id: words.group(),
        member_id,
        group_instance_id: words.get("instance"),
        generation: words.generation().unwrap_or(Generation(-1)),
        protocol_type: words.get("type"),
        protocol: words.get("protocol"),
        assignments: assignments.collect(),
        topics: std::sync::Arc::clone(&machine.topics),
    };
    machine.handle(&format!("sync {member_id}"), Some(words.group()), Request::SyncGroup(request))
}

fn heartbeat(machine: &mut Machine, words: &Words<'_>) -> Step {
    let request = Heartbeat {
        group_id: words.group(),
        member_id: words.get("member").unwrap_or_default(),
        group_instance_id: words.get("instance"),
        generation: words.generation().unwrap_or(Generation(-1)),
        topics: std::sync::Arc::clone(&machine.topics),
    };
    machine.handle("heartbeat", Some(words.group()), Request::Heartbeat(request))
}

/// `name=number:partitions` for each topic; the number is its identity.
fn topics(machine: &mut Machine, words: &Words<'_>) -> Step {
    let topics = words.options.iter().map(|(name, value)| {
        let (id, count) = value.split_once(':').expect("name=number:partitions");
        let (id, count) = (id.parse().expect("a number"), count.parse().expect("a number of partitions"));
        ((*name).into(), topic_id(id), count)
    });
    let version = machine.topics.version() + 1;
    let next = ClusterTopics::new(version, topics);
    if next.names().any(|name| machine.topics.topic(name).is_none()) {
        machine.newest_topic_at = version;
    }
    machine.topics = next.with_newest_topic_at(machine.newest_topic_at).into();
    Step::default()
}

/// What is set for a group from now on; the topics stay.
fn group_config(machine: &mut Machine, words: &Words<'_>) -> Step {
    let ms = |option: &str| words.ms(option).map(i64::unsigned_abs);
    let config = GroupConfig {
        session_ms: ms("session"),
        heartbeat_interval_ms: ms("heartbeat").map(|ms| i32::try_from(ms).unwrap()),
        assignment_interval_ms: ms("assignment-interval"),
    };
    let topics = machine.topics.names().map(|name| {
        let topic = machine.topics.topic(name).expect("it has this name");
        (std::sync::Arc::clone(name), topic.id, topic.partition_count)
    });
    let topics = ClusterTopics::new(machine.topics.version() + 1, topics)
        .with_newest_topic_at(machine.newest_topic_at);
    machine.topics = topics.with_group_configs([(words.group().into(), config)]).into();
    Step::default()
}

/// `orders:0` of the topics that there are now or by number.
fn owned(machine: &Machine, words: &[&str]) -> Assignment {
    let one = |word: &&str| {
        let (topic, partition) = place(word);
        let known = machine.topics.topic(topic).map(|topic| topic.id);
        (
            known.unwrap_or_else(|| topic_id(topic.parse().expect("a topic that exists, or a number"))),
            partition,
        )
    };
    words.iter().map(one).collect()
}

fn consumer(machine: &mut Machine, words: &Words<'_>) -> Step {
    let member_id = words.get("member").unwrap_or_default();
    let step = match words.get("epoch") {
        None | Some("0") => HeartbeatStep::Join,
        Some("leave") => HeartbeatStep::Leave(HowToLeave::ForGood),
        Some("away") => HeartbeatStep::Leave(HowToLeave::ForAWhile),
        Some(_) => HeartbeatStep::Stay(Epoch(words.number("epoch").unwrap())),
    };
    let joins = step == HeartbeatStep::Join;
    let owned = match words.get("owns") {
        Some("nothing") => Some(Assignment::default()),
        Some("unsaid") => None,
        Some(_) => Some(owned(machine, &words.list("owns"))),
        None => joins.then(Assignment::default),
    };
    let rebalance_ms = words.ms("rebalance").or(joins.then_some(60_000));
    let names = words.get("topics").map(|topics| topics.split(',').filter(|name| !name.is_empty()).collect());
    let request = ConsumerGroupHeartbeat {
        group_id: words.group(),
        member_id,
        step,
        instance_id: words.get("instance"),
        rack_id: words.get("rack"),
        client_id: words.get("client").unwrap_or("client"),
        client_host: "/127.0.0.1",
        rebalance_timeout_ms: rebalance_ms.map(|ms| i32::try_from(ms).unwrap()),
        subscribed_topics: names,
        subscribed_regex: words.get("regex"),
        server_assignor: words.get("assignor"),
        owned,
        topics: std::sync::Arc::clone(&machine.topics),
    };
    let request = Request::ConsumerGroupHeartbeat(request);
    machine.handle(&format!("consumer {member_id}"), Some(words.group()), request)
}

fn leave(machine: &mut Machine, words: &Words<'_>) -> Step {
    let mut members: Vec<LeavingMember<'_>> = Vec::new();
    for (option, value) in &words.options {
        match (*option, members.last_mut()) {
            ("member", _) => members.push(LeavingMember { member_id: Some(value), group_instance_id: None }),
            ("instance", Some(last)) if last.group_instance_id.is_none() => {
                last.group_instance_id = Some(value);
            }
            ("instance", _) => {
                members.push(LeavingMember { member_id: None, group_instance_id: Some(value) });
            }
            (other, _) => panic!("leave has no '{other}'"),
        }
    }
    let topics = std::sync::Arc::clone(&machine.topics);
    let request = LeaveGroup { group_id: words.group(), members, topics };
    machine.handle("leave", Some(words.group()), Request::LeaveGroup(request))
}

fn commit(machine: &mut Machine, words: &Words<'_>) -> Step {
    let repeated = words.number("metadata-length").map(|length| "x".repeat(usize::try_from(length).unwrap()));
    let metadata = repeated.as_deref().or(words.get("metadata")).unwrap_or_default();
    let version = words.number("version").unwrap_or(9);
    let request = OffsetCommit {
        group_id: words.group(),
        member_id: words.get("member"),
        group_instance_id: words.get("instance"),
        generation: words.generation(),
        retention_ms: words.ms("retention"),
        missing_group: if version >= 9 {
            MissingGroup::GroupIdNotFound
        } else {
            MissingGroup::IllegalGeneration
        },
        offsets: offsets_to_commit(words, metadata),
    };
    machine.handle("commit", Some(words.group()), Request::OffsetCommit(request))
}

fn txn_commit(machine: &mut Machine, words: &Words<'_>) -> Step {
    let repeated = words.number("metadata-length").map(|length| "x".repeat(usize::try_from(length).unwrap()));
    let mut offsets = offsets_to_commit(words, words.get("metadata").unwrap_or_default());
    if let (Some(metadata), Some(last)) = (repeated.as_deref(), offsets.last_mut()) {
        last.metadata = metadata;
    }
    let request = TxnOffsetCommit {
        group_id: words.group(),
        member_id: words.get("member"),
        group_instance_id: words.get("instance"),
        generation: words.generation(),
        producer: producer_of(i64::from(words.number("producer").expect("producer is missing"))),
        offsets,
    };
    machine.handle("txn-commit", Some(words.group()), Request::TxnOffsetCommit(request))
}

fn offsets_to_commit<'a>(words: &Words<'a>, metadata: &'a str) -> Vec<OffsetToCommit<'a>> {
    let offset = |word: &&'a str| {
        let (place_of, offset) = word.split_once('=').expect("topic:partition=offset");
        let (topic, partition) = place(place_of);
        OffsetToCommit {
            topic,
            topic_id: words.topic_id(),
            partition,
            offset: Offset(offset.parse().expect("an offset")),
            leader_epoch: words.number("epoch").map(LeaderEpoch),
            metadata,
        }
    };
    words.plain[1..].iter().map(offset).collect()
}

fn embedded(machine: &mut Machine, verb: &str, words: &Words<'_>) -> Step {
    let group_id = words.group();
    let repeated = words.number("metadata-length").map(|length| "x".repeat(usize::try_from(length).unwrap()));
    let metadata = repeated.as_deref().or(words.get("metadata")).unwrap_or_default();
    let request = match verb {
        "embedded-rebalance" => EmbeddedRequest::Rebalance { group_id },
        "embedded-generation" => EmbeddedRequest::Generation { group_id },
        "embedded-delete" => EmbeddedRequest::DeleteOffsets { group_id },
        "embedded-forget" => EmbeddedRequest::Forget { group_id },
        "embedded-commit" => EmbeddedRequest::Commit {
            group_id,
            generation: words.generation().expect("generation is missing"),
            offsets: offsets_to_commit(words, metadata),
        },
        other => panic!("there is no command '{other}'"),
    };
    machine.handle(verb, Some(group_id), Request::Embedded(request))
}

fn fetch(machine: &mut Machine, words: &Words<'_>) -> Step {
    let stable = words.plain.contains(&"stable");
    let asked: Vec<_> = words.plain[1..].iter().filter(|word| **word != "stable").collect();
    let partitions = if asked == [&"all"] {
        PartitionsToFetch::All
    } else {
        let named = asked.into_iter().map(|word| {
            let (topic, partition) = place(word);
            PartitionToFetch { topic, topic_id: words.topic_id(), partition }
        });
        PartitionsToFetch::Named(named.collect())
    };
    let stability = if stable { Stability::RequireStable } else { Stability::CommittedNow };
    let request = OffsetFetch {
        group_id: words.group(),
        partitions,
        stability,
        member_id: words.get("member"),
        member_epoch: words.number("epoch").map(Epoch),
    };
    machine.handle("fetch", Some(words.group()), Request::OffsetFetch(request))
}

fn list(machine: &mut Machine, words: &Words<'_>) -> Step {
    let states = words.get("states").map(|states| {
        let known = |name: &str| GroupState::ALL.into_iter().find(|state| state.name() == name);
        states.split(',').filter_map(known).collect()
    });
    let types = words.get("types").map(|types| {
        let known = |name: &str| match name {
            "classic" => Some(GroupType::Classic),
            "consumer" => Some(GroupType::Consumer),
            _ => None,
        };
        types.split(',').filter_map(known).collect()
    });
    machine.handle("list", None, Request::ListGroups(ListGroups { states, types }))
}

fn delete_offsets(machine: &mut Machine, words: &Words<'_>) -> Step {
    let partitions = words.plain[1..].iter().map(|word| {
        let (topic, partition) = place(word);
        PartitionToDelete { topic, partition }
    });
    let request = OffsetDelete { group_id: words.group(), partitions: partitions.collect() };
    machine.handle("delete-offsets", Some(words.group()), Request::OffsetDelete(request))
}

fn topic_deleted(machine: &mut Machine, words: &Words<'_>) -> Step {
    let topic = DeletedTopic {
        name: words.plain[0].to_owned(),
        id: words.topic_id().expect("topic-id is missing"),
        without_id: match words.get("name") {
            Some("taken") => WithoutId::Stays,
            _ => WithoutId::Goes,
        },
    };
    machine.topics_deleted(&[topic])
}

/// The record of an empty group as brokers before 2.1 wrote it: it does not say since when the group is empty.
fn old_group(machine: &mut Machine, words: &Words<'_>) -> Step {
    let classic = ClassicGroup {
        protocol_type: words.get("type").map(Into::into),
        generation: words.generation().expect("generation is missing"),
        ..ClassicGroup::default()
    };
    let record = GroupRecord { group: words.group().into(), classic: Some(classic.into()) };
    machine.foreign(Record::Group(record))
}

fn transactional(machine: &mut Machine, words: &Words<'_>) -> Step {
    let (place_of, offset) = words.plain[1].split_once('=').expect("topic:partition=offset");
    let (topic, partition) = place(place_of);
    let offset = Offset(offset.parse().expect("an offset"));
    let committed =
        CommittedOffset::new(offset, Timestamp(machine.now.wall.0)).with_topic_id(words.topic_id());
    let group = words.group().into();
    let record = OffsetRecord { group, topic: topic.into(), partition, committed: Some(committed) };
    machine.transactional(i64::from(words.number("producer").unwrap()), Record::Offset(record))
}
