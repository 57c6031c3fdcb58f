//! Gathers what the rules of `doctor` look at. It needs rights to describe and no more, and says what it could not see.

use std::collections::{BTreeMap, BTreeSet};

use milepost_client::groups::{self, GroupDescription, GroupKind, Pending};
use milepost_client::topics::{self, Settings};
use milepost_client::{ClientError, Cluster, Metadata, TopicPartition};
use milepost_doctor as doctor;
use milepost_model::{PartitionIndex, partition_for};

use crate::collect::{self, Detail, GROUPS_AT_ONCE};
use crate::facts::{GroupFacts, PartitionFacts, Position};
use crate::lag::Standing;
use crate::ledger::Ledger;
use crate::reason::{Cause, Reason};

const OFFSETS_TOPIC: &str = "__consumer_offsets";
/// How brokers refuse an offset that an open transaction is about to change.
const UNSTABLE: &str = "UNSTABLE_OFFSET_COMMIT";
/// How they refuse whoever may not look at a topic.
const FORBIDDEN_TOPIC: &str = "TOPIC_AUTHORIZATION_FAILED";
const MINUTE_MS: i64 = 60_000;
/// How much of what one broker was asked about is named when it does not answer.
const NAMES_SHOWN: usize = 5;

/// What was gathered.
#[derive(Debug, Default)]
pub struct Checkup {
    /// What is known.
    pub facts: doctor::Facts,
    /// What could not be seen for another reason than that a broker does not answer, each once and in the order in which it
    /// came: by the words, its place, and Kafka's name of the error.
    refused: BTreeMap<String, (usize, Cause)>,
    /// Groups that are not there.
    pub absent: BTreeSet<String>,
    /// By how a broker failed to answer: what it was asked about.
    unanswered: BTreeMap<String, BTreeSet<String>>,
}

/// Looks at a cluster and these groups, and changes nothing.
///
/// # Errors
/// When nobody can be asked.
pub fn gather(cluster: &mut Cluster, names: &[String]) -> Result<Checkup, ClientError> {
    let mut checkup = Checkup::default();
    checkup.look_at_cluster(cluster)?;
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    for part in names.chunks(GROUPS_AT_ONCE) {
        checkup.look_at_groups(cluster, part)?;
    }
    checkup.look_at_topics(cluster)?;
    Ok(checkup)
}

impl Checkup {
    /// Notes that this could not be seen.
    pub fn miss(&mut self, what: &str, reason: Reason) {
        match reason.cause {
            Cause::Unreachable => {
                self.unanswered.entry(reason.words).or_default().insert(what.to_owned());
            }
            Cause::Refused(_) | Cause::Other => {
                let place = self.refused.len();
                self.refused.entry(reason.words).or_insert((place, reason.cause));
            }
        }
    }

    /// What could not be seen, and why. What one broker keeps from being seen is one reason, however much it is.
    #[must_use]
    pub fn unseen(&self) -> Vec<Reason> {
        let mut refused: Vec<_> = self.refused.iter().collect();
        refused.sort_by_key(|(_, (place, _))| *place);
        let reason = |(words, (_, cause)): (&String, &(usize, Cause))| Reason {
            words: words.clone(),
            cause: cause.clone(),
        };
        let mut unseen: Vec<Reason> = refused.into_iter().map(reason).collect();
        for (words, what) in &self.unanswered {
            let named: Vec<&str> = what.iter().map(String::as_str).take(NAMES_SHOWN).collect();
            let more = match what.len() - named.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let words = format!("{}{more}: {words}", named.join(", "));
            unseen.push(Reason { words, cause: Cause::Unreachable });
        }
        unseen
    }

    fn look_at_cluster(&mut self, cluster: &mut Cluster) -> Result<(), ClientError> {
        let metadata = cluster.metadata(Some(&[OFFSETS_TOPIC]))?;
        let broker = metadata.brokers.first();
        let facts = &mut self.facts.cluster;
        facts.brokers = metadata.brokers.len();
        facts.address = broker.map(|broker| broker.address.to_string()).unwrap_or_default();
        let settings = match topics::settings_of_a_broker(cluster, &metadata.brokers) {
            Some(Ok(settings)) => settings,
            Some(Err(ClientError::Stopped)) => return Err(ClientError::Stopped),
            Some(Err(error)) => {
                self.miss("the settings of brokers", Reason::from(error));
                Settings::new()
            }
            None => Settings::new(),
        };
        // A topic that is not there yet is no secret.
        if let Some(error) = metadata.partitions_of(OFFSETS_TOPIC).err().map(Reason::from)
            && !error.is_gone()
        {
            self.miss(OFFSETS_TOPIC, error);
        }
        let facts = &mut self.facts.cluster;
        let number = |name: &str| settings.get(name).and_then(|value| value.parse::<i64>().ok());
        facts.offsets_retention_ms =
            number("offsets.retention.minutes").map(|minutes| minutes.saturating_mul(MINUTE_MS));
        facts.metadata_max_bytes = number("offset.metadata.max.bytes");
        facts.offsets_partitions =
            number("offsets.topic.num.partitions").and_then(|count| usize::try_from(count).ok());
        self.facts.cluster.offsets_topic =
            self.topics(cluster, &[OFFSETS_TOPIC], &metadata)?.remove(OFFSETS_TOPIC);
        Ok(())
    }

    fn look_at_groups(&mut self, cluster: &mut Cluster, names: &[&str]) -> Result<(), ClientError> {
        let mut stable = groups::committed(cluster, names, Pending::Refused)?;
        for group in collect::groups(cluster, names, Detail::Members)? {
            let pending: BTreeSet<_> = match stable.remove(&group.group) {
                Some(Ok(commits)) => {
                    let is_pending = |error: &ClientError| Reason::from(error).code() == Some(UNSTABLE);
                    let refused =
                        commits.into_iter().filter(|(_, commit)| commit.as_ref().is_err_and(is_pending));
                    refused.map(|(one, _)| one).collect()
                }
                // The same is said of the group below.
                Some(Err(_)) | None => BTreeSet::new(),
            };
            let description = group.description.as_ref().and_then(|description| description.as_ref().err());
            for reason in group.unknown.iter().chain(description) {
                self.miss(&group.group, reason.clone());
            }
            if group.known().is_some_and(|description| !description.exists()) {
                self.miss(&group.group, Reason::no_such_group(&group.group));
                self.absent.insert(group.group);
                continue;
            }
            for one in &group.partitions {
                let log =
                    one.log.as_ref().err().filter(|reason| group.unknown.is_none() && !reason.is_gone());
                match log {
                    // What one may not see of a topic, one may not see of all its partitions.
                    Some(reason) if reason.code() == Some(FORBIDDEN_TOPIC) => {
                        let words = reason.words.replace(&one.partition.to_string(), &one.partition.topic);
                        self.miss(&one.partition.topic, Reason { words, cause: reason.cause.clone() });
                    }
                    Some(reason) => self.miss(&one.partition.to_string(), reason.clone()),
                    None => {}
                }
            }
            let partitions = group.partitions.iter();
            let partitions = partitions.map(|one| partition(one, pending.contains(&one.partition))).collect();
            self.facts.groups.push(of_group(&group, partitions));
        }
        Ok(())
    }

    /// The partitions of the log of committed offsets in which the groups that were looked at live.
    #[must_use]
    pub fn homes(&self) -> BTreeSet<PartitionIndex> {
        let home = self.home();
        self.facts.groups.iter().filter_map(|group| Some((home.as_ref()?)(&group.group))).collect()
    }

    /// Where a group lives, if the log of committed offsets can be seen.
    fn home(&self) -> Option<impl Fn(&str) -> PartitionIndex + use<>> {
        let partitions = self.facts.cluster.offsets_topic.as_ref()?.partitions.len();
        let count = u32::try_from(partitions).ok().filter(|count| *count > 0)?;
        Some(move |group: &str| partition_for(group, count))
    }

    /// Adds what was seen this long before.
    pub fn note_earlier(&mut self, before: Self, ms: i64) {
        self.facts.earlier = Some(doctor::Earlier::new(ms, before.facts.groups));
    }

    /// Adds what the log of committed offsets tells, of which these partitions were read whole.
    pub fn note(&mut self, ledger: &Ledger, whole: &BTreeSet<PartitionIndex>) {
        let Some(home) = self.home() else { return };
        for group in &mut self.facts.groups {
            if !whole.contains(&home(&group.group)) {
                continue;
            }
            let rounds = ledger.rounds(&group.group);
            (group.empty_since, group.rounds_without_progress) =
                (rounds.empty_since, rounds.without_progress);
            for one in &mut group.partitions {
                let partition = TopicPartition::new(one.topic.as_str(), one.partition);
                one.commits = ledger.commit(&group.group, &partition).copied();
            }
        }
        self.facts.logs = ledger.logs(home);
        self.facts.logs.retain(|log| whole.contains(&log.partition));
    }

    /// Topics that groups have committed for and that are there.
    fn look_at_topics(&mut self, cluster: &mut Cluster) -> Result<(), ClientError> {
        let partitions = self.facts.groups.iter().flat_map(|group| &group.partitions);
        let names: BTreeSet<String> =
            partitions.filter(|one| one.log != doctor::Log::Gone).map(|one| one.topic.clone()).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        if !names.is_empty() {
            let metadata = cluster.metadata(Some(&names))?;
            self.facts.topics = self.topics(cluster, &names, &metadata)?;
        }
        Ok(())
    }

    fn topics(
        &mut self,
        cluster: &mut Cluster,
        names: &[&str],
        metadata: &Metadata,
    ) -> Result<BTreeMap<String, doctor::TopicFacts>, ClientError> {
        let present: Vec<&str> = names
            .iter()
            .copied()
            .filter(|name| metadata.topic(name).is_some_and(|topic| !topic.partitions.is_empty()))
            .collect();
        let mut found = BTreeMap::new();
        for (name, settings) in topics::settings_of_topics(cluster, &present)? {
            let settings = settings.unwrap_or_else(|error| {
                self.miss(&name, Reason::from(error));
                Settings::new()
            });
            let partitions = metadata.topic(&name).into_iter().flat_map(|topic| &topic.partitions);
            let partitions = partitions.map(|one| doctor::Replicas {
                partition: one.index,
                all: one.replicas.len(),
                in_sync: one.in_sync.len(),
            });
            let facts = doctor::TopicFacts {
                cleanup_policy: settings.get("cleanup.policy").cloned(),
                retention_ms: settings.get("retention.ms").and_then(|value| value.parse().ok()),
                min_in_sync: settings.get("min.insync.replicas").and_then(|value| value.parse().ok()),
                segment_bytes: settings.get("segment.bytes").and_then(|value| value.parse().ok()),
                partitions: partitions.collect(),
            };
            found.insert(name, facts);
        }
        Ok(found)
    }
}

fn of_group(group: &GroupFacts, partitions: Vec<doctor::PartitionFacts>) -> doctor::GroupFacts {
    let known = group.known();
    doctor::GroupFacts {
        group: group.group.clone(),
        state: known.map(|description| description.state.clone()),
        members: known.map(|description| description.members.len()),
        subscribed: known.and_then(GroupDescription::subscribed),
        kind: known.and_then(kind),
        epoch: known.and_then(|description| description.epochs).map(|epochs| epochs.group),
        members_behind: known.map(members_behind).unwrap_or_default(),
        partitions,
        ..doctor::GroupFacts::default()
    }
}

/// Members that have not followed the group into its epoch. One that is away for a while has an epoch below 0.
fn members_behind(description: &GroupDescription) -> BTreeMap<String, i32> {
    let Some(epochs) = description.epochs else { return BTreeMap::new() };
    let behind = description.members.iter().filter_map(|member| {
        let epoch = member.epoch.filter(|epoch| (0..epochs.group).contains(epoch))?;
        Some((member.member_id.clone(), epoch))
    });
    behind.collect()
}

/// Of what kind a group is, where that says how its offsets expire.
fn kind(description: &GroupDescription) -> Option<doctor::GroupKind> {
    match (&description.kind, description.protocol_type.as_str()) {
        (GroupKind::Classic, "") => Some(doctor::GroupKind::OffsetsOnly),
        (GroupKind::Classic, "consumer") => Some(doctor::GroupKind::Classic),
        (GroupKind::Classic, "connect") => Some(doctor::GroupKind::Connect),
        (GroupKind::Classic, _) => Some(doctor::GroupKind::ClassicOther),
        (GroupKind::Consumer | GroupKind::Streams, _) => Some(doctor::GroupKind::Consumer),
        (GroupKind::Share | GroupKind::Other(_), _) => None,
    }
}

fn partition(one: &PartitionFacts, is_pending: bool) -> doctor::PartitionFacts {
    let position = match &one.position {
        _ if is_pending => doctor::Position::Pending,
        Position::Committed(committed) => doctor::Position::Committed {
            offset: committed.offset,
            leader_epoch: committed.leader_epoch,
            metadata: committed.metadata.clone(),
        },
        Position::Never => doctor::Position::Never,
        // The rules are about committed offsets.
        Position::Share(_) | Position::Unknown(_) => doctor::Position::Unknown,
    };
    let log = match &one.log {
        _ if one.standing() == Standing::Gone => doctor::Log::Gone,
        Ok(log) => doctor::Log::Ends {
            start: log.start.offset,
            end: log.end.offset,
            leader_epoch: log.end.leader_epoch,
        },
        Err(_) => doctor::Log::Unknown,
    };
    doctor::PartitionFacts {
        topic: one.partition.topic.to_string(),
        partition: one.partition.partition,
        position,
        log,
        has_reader: one.member.is_some(),
        commits: None,
    }
}
