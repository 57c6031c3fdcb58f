//! Reads the log of committed offsets for those who need to know when and how often something was committed.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use milepost_admin::Reason;
use milepost_admin::ledger::Ledger;
use milepost_batch::BatchView;
use milepost_client::{ClientError, Cluster, Deadline, TopicPartition, offsets};
use milepost_model::{Offset, PartitionIndex};

use super::log::{self, Reached, Sink, TOPIC, Until};
use crate::progress::Progress;

/// How many partitions are read at the same time. Only those that were read to the end count, so a time that is too short
/// for all of them is better spent on some.
const PARTITIONS_AT_ONCE: usize = 8;

/// What was read.
#[derive(Default)]
pub(in crate::commands) struct History {
    pub(in crate::commands) ledger: Ledger,
    /// The partitions that were read to the end.
    pub(in crate::commands) whole: BTreeSet<PartitionIndex>,
    /// What there is nothing of, and why.
    pub(in crate::commands) unseen: Vec<(String, Reason)>,
}

/// Reads these partitions, for at most this long if that is said.
///
/// # Errors
/// When nobody can be asked, or a stop is set.
pub(in crate::commands) fn read(
    cluster: &mut Cluster,
    partitions: &BTreeSet<PartitionIndex>,
    time: Option<Duration>,
) -> Result<History, ClientError> {
    let mut history = History::default();
    let until = time.map_or(Until::End, |time| Until::EndOr(Deadline::after(time)));
    let (mut starts, mut ends) = (BTreeMap::new(), BTreeMap::new());
    for (one, bounds) in
        offsets::bounds(cluster, partitions.iter().map(|index| TopicPartition::new(TOPIC, *index)))?
    {
        match bounds {
            Ok(bounds) => {
                starts.insert(one.clone(), bounds.start.offset);
                ends.insert(one, bounds.end.offset);
            }
            Err(error) => history.unseen.push((one.to_string(), Reason::from(error))),
        }
    }
    let offsets = ends.iter().map(|(one, end)| end.0 - starts[one].0);
    let progress =
        Progress::new("what was committed", usize::try_from(offsets.sum::<i64>()).unwrap_or_default());
    let mut reading = Reading { ledger: Ledger::default(), progress, damaged: BTreeMap::new() };
    let readable: Vec<TopicPartition> = ends.keys().cloned().collect();
    for part in readable.chunks(PARTITIONS_AT_ONCE) {
        let from = part.iter().map(|one| (one.clone(), starts[one])).collect();
        match log::read_partitions(cluster, &from, &ends, until, &mut reading) {
            Ok(Reached::End) => history.whole.extend(part.iter().map(|one| one.partition)),
            Ok(Reached::Deadline) => break,
            Err(ClientError::Stopped) => return Err(ClientError::Stopped),
            Err(error) => {
                let is_refused = error.code().is_some();
                history.unseen.push((TOPIC.to_owned(), Reason::from(error)));
                // What one partition may not be read for, the others may not either.
                if is_refused {
                    break;
                }
            }
        }
    }
    history.sum_up(reading, readable.len(), time);
    Ok(history)
}

impl History {
    fn sum_up(&mut self, reading: Reading, readable: usize, time: Option<Duration>) {
        let left = readable - self.whole.len();
        if let Some(time) = time
            && left > 0
            && self.unseen.iter().all(|(_, reason)| reason.code().is_none())
        {
            self.miss(format!(
                "{left} of {readable} partitions of {TOPIC} were not read within {} s; --history gives it more time",
                time.as_secs_f64()
            ));
        }
        for (log, reason) in reading.damaged {
            self.miss(format!("{TOPIC}-{log}: passed over: {reason}"));
        }
        if reading.ledger.left_out() > 0 {
            let count = reading.ledger.left_out();
            self.miss(format!(
                "{count} commits of {TOPIC}: there are more positions than are kept; name some groups"
            ));
        }
        self.ledger = reading.ledger;
    }

    fn miss(&mut self, words: String) {
        self.unseen.push((TOPIC.to_owned(), Reason::other(words)));
    }
}

struct Reading {
    ledger: Ledger,
    progress: Progress,
    /// The last batch of each partition that could not be opened.
    damaged: BTreeMap<PartitionIndex, String>,
}

impl Sink for Reading {
    type Error = ClientError;

    fn batch(
        &mut self,
        log: Option<PartitionIndex>,
        _: Offset,
        batch: &BatchView<'_>,
    ) -> Result<(), ClientError> {
        let log = log.unwrap_or_default();
        self.progress.advance(usize::try_from(batch.last_offset_delta()).unwrap_or_default() + 1);
        match self.ledger.take(log, batch) {
            Ok(()) => Ok(()),
            Err(error) => self.damaged(Some(log), &format!("the batch at {}: {error}", batch.base_offset())),
        }
    }

    fn damaged(&mut self, log: Option<PartitionIndex>, reason: &str) -> Result<(), ClientError> {
        self.damaged.insert(log.unwrap_or_default(), reason.to_owned());
        Ok(())
    }

    fn pause(&mut self) -> Result<(), ClientError> {
        Ok(())
    }
}
