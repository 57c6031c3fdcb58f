//! Reading partitions: one Fetch on the way to each leader, batches handed out as they came.
//!
//! The connections are the reader's own, because a Fetch waits at the broker and would hold up everything else. At
//! most [`ANSWER_BYTES`] of records are asked for at a time from each leader. Whether records of transactions are handed
//! out that were not committed is the [`Isolation`]; markers are not records and are passed over.

pub(crate) mod answer;
mod fetched;

use std::collections::BTreeMap;
use std::time::Duration;

use milepost_model::Offset;
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchTopic};
use milepost_wire::{ApiKey, ErrorCode};

pub use fetched::{Fetched, Record};

use crate::address::Address;
use crate::backoff::Backoff;
use crate::cluster::Cluster;
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::isolation::Isolation;
use crate::offsets;
use crate::options::Options;
use crate::topic_partition::{TopicPartition, by_topic};
use answer::Verdict;

/// How long a broker may wait for records before it answers with none. A stop is noticed meanwhile.
const WAIT_MS: i32 = 500;
/// The most bytes of records in one answer, except that a first batch is always whole.
const ANSWER_BYTES: i32 = 8 << 20;
/// The most of them from one partition.
const PARTITION_BYTES: i32 = 1 << 20;
/// The first version of Fetch that knows readers of committed data.
const ISOLATION_FROM: i16 = 4;
/// How long one leader is looked at before the next, where there are several.
const GLANCE: Duration = Duration::from_millis(5);
/// How long a broker may take to answer a Fetch beyond what it was asked to wait.
const ANSWER_TIMEOUT: Duration = Duration::from_secs(30);

/// A partition whose next record was no longer there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moved {
    /// The partition.
    pub partition: TopicPartition,
    /// What was to be read next.
    pub from: Offset,
    /// The first offset that is still there, where reading goes on.
    pub to: Offset,
}

/// What one look for records gave. Both may be empty.
#[derive(Debug, Default)]
pub struct Polled {
    /// Records, partition by partition.
    pub fetched: Vec<Fetched>,
    /// Partitions of which records were missed, because they had been deleted.
    pub moved: Vec<Moved>,
}

impl Polled {
    fn is_empty(&self) -> bool {
        self.fetched.is_empty() && self.moved.is_empty()
    }
}

#[derive(Debug)]
struct Position {
    next: Offset,
    /// Who leads the partition, as far as known.
    leader: Option<Address>,
}

#[derive(Debug)]
struct Fetcher {
    connection: Connection,
    /// When the Fetch that is on the way must have been answered.
    on_the_way: Option<Deadline>,
}

/// Reads partitions from given offsets on.
#[derive(Debug)]
pub struct Reader {
    options: Options,
    isolation: Isolation,
    positions: BTreeMap<TopicPartition, Position>,
    fetchers: BTreeMap<Address, Fetcher>,
    /// Which partition is asked for first changes from Fetch to Fetch, so that none starves.
    turn: usize,
    backoff: Backoff,
    /// When to give up, while nothing succeeds.
    failing_until: Option<Deadline>,
}

impl Reader {
    /// One that reads nothing yet.
    #[must_use]
    pub fn new(options: &Options, isolation: Isolation) -> Self {
        Self {
            options: options.clone(),
            isolation,
            positions: BTreeMap::new(),
            fetchers: BTreeMap::new(),
            turn: 0,
            backoff: Backoff::default(),
            failing_until: None,
        }
    }

    /// Reads these partitions from these offsets on, and no others.
    pub fn assign(&mut self, positions: impl IntoIterator<Item = (TopicPartition, Offset)>) {
        let position = |(one, next)| (one, Position { next, leader: None });
        self.positions = positions.into_iter().map(position).collect();
        // What is on the way belongs to the partitions of before.
        self.fetchers.retain(|_, fetcher| fetcher.on_the_way.is_none());
    }

    /// Whether everything before these offsets was handed out, of the partitions that are read.
    #[must_use]
    pub fn has_reached(&self, ends: &BTreeMap<TopicPartition, Offset>) -> bool {
        self.positions.iter().all(|(one, position)| ends.get(one).is_none_or(|end| position.next >= *end))
    }

    /// Looks for records, and waits up to `wait` for some.
    ///
    /// # Errors
    /// When a partition is gone or its records are damaged, and when its leader was not reached for as long as an
    /// operation may take.
    pub fn poll(&mut self, cluster: &mut Cluster, wait: Duration) -> Result<Polled, ClientError> {
        let deadline = Deadline::after(wait);
        match self.poll_once(cluster, deadline) {
            Ok(polled) => {
                self.backoff = Backoff::default();
                self.failing_until = None;
                Ok(polled)
            }
            Err(error) if error.is_transient() => {
                for position in self.positions.values_mut() {
                    position.leader = None;
                }
                let timeout = self.options.timeout;
                let until = *self.failing_until.get_or_insert_with(|| Deadline::after(timeout));
                self.backoff.wait(until, &self.options.stop, error)?;
                Ok(Polled::default())
            }
            Err(error) => Err(error),
        }
    }

    fn poll_once(&mut self, cluster: &mut Cluster, deadline: Deadline) -> Result<Polled, ClientError> {
        self.find_leaders(cluster)?;
        self.send_fetches()?;
        loop {
            let addresses: Vec<Address> = self.fetchers.keys().cloned().collect();
            let glance = if addresses.len() > 1 { deadline.or_after(GLANCE) } else { deadline };
            for address in &addresses {
                let verdicts = self.look(address, glance)?;
                let polled = self.judge(cluster, verdicts)?;
                if !polled.is_empty() {
                    return Ok(polled);
                }
            }
            if self.options.stop.is_set() {
                return Err(ClientError::Stopped);
            }
            if addresses.is_empty() {
                let pause = deadline.left().unwrap_or_default();
                crate::backoff::sleep(pause, &self.options.stop)?;
            }
            if deadline.left().is_none() || self.positions.values().any(|one| one.leader.is_none()) {
                return Ok(Polled::default());
            }
            self.send_fetches()?;
        }
    }

    fn find_leaders(&mut self, cluster: &mut Cluster) -> Result<(), ClientError> {
        if self.positions.values().all(|position| position.leader.is_some()) {
            return Ok(());
        }
        let mut names: Vec<&str> = self.positions.keys().map(|one| &*one.topic).collect();
        names.dedup();
        let metadata = cluster.metadata(Some(&names))?;
        for (one, position) in &mut self.positions {
            position.leader = Some(metadata.leader(&one.topic, one.partition)?.clone());
        }
        let leads = |address: &Address| {
            self.positions.values().any(|position| position.leader.as_ref() == Some(address))
        };
        self.fetchers.retain(|address, fetcher| leads(address) && fetcher.connection.is_usable());
        Ok(())
    }

    /// Sends a Fetch to every leader that has none.
    fn send_fetches(&mut self) -> Result<(), ClientError> {
        let mut by_leader: BTreeMap<&Address, Vec<(&TopicPartition, Offset)>> = BTreeMap::new();
        for (one, position) in &self.positions {
            if let Some(leader) = &position.leader {
                by_leader.entry(leader).or_default().push((one, position.next));
            }
        }
        self.turn = self.turn.wrapping_add(1);
        for (leader, mut partitions) in by_leader {
            if !self.fetchers.contains_key(leader) {
                let deadline = Deadline::after(self.options.timeout);
                let connection = Connection::open(leader, &self.options, deadline)?;
                self.fetchers.insert(leader.clone(), Fetcher { connection, on_the_way: None });
            }
            let Some(fetcher) = self.fetchers.get_mut(leader) else { continue };
            if fetcher.on_the_way.is_none() {
                let first = self.turn % partitions.len();
                partitions.rotate_left(first);
                let sent = fetcher.send(&partitions, self.isolation);
                if sent.is_err() {
                    self.fetchers.remove(leader);
                }
                sent?;
            }
        }
        Ok(())
    }

    /// Whether a leader has answered.
    fn look(&mut self, address: &Address, deadline: Deadline) -> Result<Vec<Verdict>, ClientError> {
        let Some(fetcher) = self.fetchers.get_mut(address) else { return Ok(Vec::new()) };
        let outcome = fetcher.look(deadline);
        if outcome.is_err() {
            self.fetchers.remove(address);
        }
        outcome
    }

    /// Moves the positions behind what was fetched, and mends what can be.
    fn judge(&mut self, cluster: &mut Cluster, verdicts: Vec<Verdict>) -> Result<Polled, ClientError> {
        let mut polled = Polled::default();
        let mut transient = None;
        for verdict in verdicts {
            match verdict {
                Verdict::Records { partition, bytes, aborted } => {
                    let Some(position) = self.positions.get_mut(&partition) else { continue };
                    if let Some(fetched) = Fetched::new(partition, position.next, bytes)? {
                        position.next = fetched.next_offset();
                        polled.fetched.push(fetched.without(&aborted));
                    }
                }
                Verdict::Refused { partition, code: ErrorCode::OffsetOutOfRange } => {
                    polled.moved.extend(self.move_up(cluster, &partition)?);
                }
                Verdict::Refused { partition, code } => {
                    let error = ClientError::refused(partition.to_string(), code, None);
                    // A partition that is unknown to this broker may have moved to another.
                    if !error.is_transient() && code != ErrorCode::UnknownTopicOrPartition {
                        return Err(error);
                    }
                    if let Some(position) = self.positions.get_mut(&partition) {
                        position.leader = None;
                    }
                    let code = ErrorCode::NotLeaderOrFollower;
                    transient = Some(ClientError::refused(partition.to_string(), code, None));
                }
            }
        }
        match transient {
            Some(error) if polled.is_empty() => Err(error),
            _ => Ok(polled),
        }
    }

    /// Goes on where the log begins, if that is what was missed.
    fn move_up(
        &mut self,
        cluster: &mut Cluster,
        partition: &TopicPartition,
    ) -> Result<Option<Moved>, ClientError> {
        let Some(position) = self.positions.get_mut(partition) else { return Ok(None) };
        let ends = offsets::ends(cluster, std::slice::from_ref(partition))?;
        let Some(&(start, end)) = ends.get(partition) else { return Ok(None) };
        let from = position.next;
        if from > end {
            return Err(ClientError::OutOfRange {
                partition: partition.to_string(),
                asked: from.0,
                start: start.0,
                end: end.0,
            });
        }
        position.next = from.max(start);
        Ok((from < start).then(|| Moved { partition: partition.clone(), from, to: start }))
    }
}

impl Fetcher {
    fn send(
        &mut self,
        partitions: &[(&TopicPartition, Offset)],
        isolation: Isolation,
    ) -> Result<(), ClientError> {
        let version = self.connection.version(ApiKey::Fetch)?;
        if isolation == Isolation::ReadCommitted && version < ISOLATION_FROM {
            let what = format!("reading what is committed, from {}", self.connection.address());
            return Err(ClientError::refused(what, ErrorCode::UnsupportedVersion, None));
        }
        let topics = by_topic(partitions.iter().map(|(one, offset)| (*one, *offset)));
        let partition = |(index, offset): (milepost_model::PartitionIndex, Offset)| FetchPartition {
            partition: index.0,
            fetch_offset: offset.0,
            partition_max_bytes: PARTITION_BYTES,
            ..FetchPartition::default()
        };
        let topics = topics.into_iter().map(|(topic, of_it)| FetchTopic {
            topic,
            partitions: of_it.into_iter().map(partition).collect(),
            ..FetchTopic::default()
        });
        let request = FetchRequest {
            max_wait_ms: WAIT_MS,
            min_bytes: 1,
            max_bytes: ANSWER_BYTES,
            isolation_level: isolation.on_the_wire(),
            topics: topics.collect(),
            ..FetchRequest::default()
        };
        let deadline = Deadline::after(ANSWER_TIMEOUT);
        self.connection.send(&request, version, deadline)?;
        self.on_the_way = Some(deadline);
        Ok(())
    }

    fn look(&mut self, deadline: Deadline) -> Result<Vec<Verdict>, ClientError> {
        let Some(must_answer) = self.on_the_way else { return Ok(Vec::new()) };
        let address = self.connection.address().clone();
        match self.connection.receive_if_there(deadline)? {
            Some(answer) => {
                let verdicts = answer::read(answer)?;
                self.on_the_way = None;
                Ok(verdicts)
            }
            None if must_answer.left().is_none() => {
                Err(ClientError::TimedOut { address, after: ANSWER_TIMEOUT })
            }
            None => Ok(Vec::new()),
        }
    }
}
