//! The batches of `__consumer_offsets`, in the order of each partition: from a cluster, or from a broker's files.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use milepost_batch::BatchView;
use milepost_broker::import::Batches;
use milepost_client::offsets::{self, Moment};
use milepost_client::start::{self, Start};
use milepost_client::{ClientError, Cluster, Deadline, Isolation, Reader, TopicPartition};
use milepost_model::{Offset, PartitionIndex};

use crate::failure::{Failure, say};

pub(crate) const TOPIC: &str = "__consumer_offsets";
/// How long to wait for records before looking at whether anybody still reads.
const WAIT: Duration = Duration::from_millis(500);

/// What takes batches, one partition's in order.
pub(crate) trait Sink {
    /// Why it may not go on.
    type Error: From<ClientError>;

    /// A whole batch with a right checksum. Records before `from` were not asked for.
    fn batch(
        &mut self,
        log: Option<PartitionIndex>,
        from: Offset,
        batch: &BatchView<'_>,
    ) -> Result<(), Self::Error>;

    /// Something that is no such batch, and was passed over.
    fn damaged(&mut self, log: Option<PartitionIndex>, reason: &str) -> Result<(), Self::Error>;

    /// Nothing more is there for the moment.
    fn pause(&mut self) -> Result<(), Self::Error>;
}

/// Whether reading ends where the log ended when it began.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Until {
    /// It does.
    End,
    /// It does, unless this comes first.
    EndOr(Deadline),
    /// It goes on until somebody ends it.
    Stopped,
}

/// Where reading ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reached {
    /// Where the log ended when reading began, or where somebody stopped it who was allowed to.
    End,
    /// Before that: the time was over.
    Deadline,
}

/// Reads a cluster's log, or one partition of it.
pub(super) fn read_cluster<E: From<ClientError>>(
    cluster: &mut Cluster,
    only: Option<PartitionIndex>,
    from: Start,
    until: Until,
    sink: &mut dyn Sink<Error = E>,
) -> Result<(), E> {
    let partitions = start::partitions(cluster, &[TOPIC.to_owned()], only)?;
    let positions = start::positions(cluster, &partitions, from)?;
    let asked = partitions.iter().map(|one| (one.clone(), Moment::Latest)).collect();
    let ends: BTreeMap<TopicPartition, Offset> =
        offsets::list(cluster, &asked)?.into_iter().filter_map(|(one, end)| Some((one, end?))).collect();
    read_partitions(cluster, &positions, &ends, until, sink).map(drop)
}

/// Reads these partitions of the log from these offsets on.
pub(crate) fn read_partitions<E: From<ClientError>>(
    cluster: &mut Cluster,
    positions: &BTreeMap<TopicPartition, Offset>,
    ends: &BTreeMap<TopicPartition, Offset>,
    until: Until,
    sink: &mut dyn Sink<Error = E>,
) -> Result<Reached, E> {
    let goes_on = matches!(until, Until::Stopped);
    let mut reader = Reader::new(cluster.options(), Isolation::ReadUncommitted);
    reader.assign(positions.clone());
    while goes_on || !reader.has_reached(ends) {
        if let Until::EndOr(deadline) = until
            && deadline.left().is_none()
        {
            return Ok(Reached::Deadline);
        }
        let polled = match reader.poll(cluster, WAIT) {
            Ok(polled) => polled,
            Err(ClientError::Stopped) if goes_on => return Ok(Reached::End),
            Err(error) => return Err(error.into()),
        };
        for moved in &polled.moved {
            say(&format!("{}: records from {} on are no longer there", moved.partition, moved.from));
        }
        for fetched in &polled.fetched {
            let one = fetched.partition();
            let from = positions.get(one).copied().unwrap_or(Offset::ZERO);
            for batch in fetched.batches() {
                sink.batch(Some(one.partition), from, &batch)?;
            }
        }
        sink.pause()?;
    }
    Ok(Reached::End)
}

/// Reads segments, folders of partitions, and folders that hold folders of partitions.
pub(super) fn read_files(
    paths: &[PathBuf],
    only: Option<PartitionIndex>,
    sink: &mut dyn Sink<Error = Failure>,
) -> Result<(), Failure> {
    for path in paths {
        if path.is_file() {
            let log = path.parent().and_then(partition_of);
            read_batches(Batches::of_file(path), log, sink)?;
            continue;
        }
        for (log, folder) in folders(path)? {
            if only.is_none() || only == log {
                let batches =
                    Batches::of_folder(&folder).map_err(|error| Failure::Failed(error.to_string()))?;
                read_batches(batches, log, sink)?;
            }
        }
    }
    sink.pause()
}

fn read_batches(
    mut batches: Batches,
    log: Option<PartitionIndex>,
    sink: &mut dyn Sink<Error = Failure>,
) -> Result<(), Failure> {
    loop {
        let damage = match batches.next_batch() {
            Ok(Some((batch, _))) => {
                sink.batch(log, Offset::ZERO, &batch)?;
                continue;
            }
            Ok(None) => break,
            Err(error) => error.to_string(),
        };
        sink.damaged(log, &damage)?;
        batches.pass_over();
    }
    match batches.torn() {
        None => Ok(()),
        Some(torn) => {
            let reason = format!("{} from byte {} on is no whole batch", torn.path.display(), torn.position);
            sink.damaged(log, &reason)
        }
    }
}

/// The folders of partitions that a path means: itself, or those in it.
fn folders(path: &Path) -> Result<Vec<(Option<PartitionIndex>, PathBuf)>, Failure> {
    let unread = |error: std::io::Error| Failure::Failed(format!("cannot read {}: {error}", path.display()));
    let mut inside = Vec::new();
    let mut segments = 0;
    for entry in fs::read_dir(path).map_err(unread)? {
        let entry = entry.map_err(unread)?.path();
        segments += usize::from(entry.extension().is_some_and(|extension| extension == "log"));
        if let Some(log) = partition_of(&entry).filter(|_| entry.is_dir()) {
            inside.push((Some(log), entry));
        }
    }
    inside.sort();
    match (inside.is_empty(), segments) {
        (false, _) => Ok(inside),
        (true, 0) => Err(Failure::Failed(format!(
            "{} holds neither segments nor folders of partitions of {TOPIC}",
            path.display()
        ))),
        (true, _) => Ok(vec![(partition_of(path), path.to_owned())]),
    }
}

/// Which partition a folder is of, by its name.
fn partition_of(folder: &Path) -> Option<PartitionIndex> {
    let index = folder.file_name()?.to_str()?.strip_prefix(TOPIC)?.strip_prefix('-')?;
    index.parse().ok().map(PartitionIndex)
}
