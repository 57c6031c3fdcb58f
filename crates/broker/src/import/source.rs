//! What a folder of a Kafka broker holds: which partitions of which topics, and under which identities.
//!
//! It reads names and the small text files beside the segments, and changes nothing.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use milepost_model::{Offset, PartitionIndex, TopicId};

use super::{ImportError, Scope, Unclean};
use crate::topics::{self, OFFSETS_TOPIC};

/// Topics of Kafka's own that are not moved in.
const LEFT_OUT: [&str; 3] = ["__cluster_metadata", "__transaction_state", "__share_group_state"];
/// No text file beside the segments is ever bigger.
const TEXT_FILE_BYTES_MAX: u64 = 64 << 20;

/// What was found.
pub(super) struct Source {
    pub(super) cluster_id: Option<String>,
    pub(super) offsets: SourceTopic,
    /// Users' topics, by name.
    pub(super) topics: Vec<SourceTopic>,
    /// Topics of Kafka's own that stay where they are.
    pub(super) left_out: Vec<String>,
}

/// A topic with all its partitions.
pub(super) struct SourceTopic {
    pub(super) name: String,
    /// `None`: from before topics had identities.
    pub(super) id: Option<TopicId>,
    /// In order, from 0, none missing.
    pub(super) partitions: Vec<SourcePartition>,
}

/// A partition's folder.
pub(super) struct SourcePartition {
    pub(super) path: PathBuf,
    /// What was cut off its beginning (DeleteRecords), as far as the broker's checkpoint says.
    pub(super) log_start: Option<Offset>,
}

impl Source {
    /// Every topic to be moved, that of committed offsets first.
    pub(super) fn all(&self) -> impl Iterator<Item = &SourceTopic> {
        std::iter::once(&self.offsets).chain(&self.topics)
    }
}

/// Whether a folder looks like one of a Kafka broker, which a server cannot be started on.
#[must_use]
pub fn is_brokers_folder(folder: &Path) -> bool {
    !folder.join("milepost.format").exists()
        && (folder.join("meta.properties").exists() || folder.join("__consumer_offsets-0").exists())
}

/// Looks through a folder.
pub(super) fn find(folder: &Path, scope: Scope, unclean: Unclean) -> Result<Source, ImportError> {
    if folder.join("milepost.format").exists() {
        return Err(ImportError::Ours(folder.to_owned()));
    }
    let cluster_id = cluster_id(folder)?;
    // A folder of partitions alone does not say how its broker ended.
    if cluster_id.is_some() && unclean == Unclean::Refuse && !folder.join(".kafka_cleanshutdown").exists() {
        return Err(ImportError::Unclean(folder.to_owned()));
    }
    let log_starts = log_starts(folder)?;
    let mut found: BTreeMap<String, BTreeMap<i32, SourcePartition>> = BTreeMap::new();
    for entry in fs::read_dir(folder).map_err(ImportError::read(folder))? {
        let entry = entry.map_err(ImportError::read(folder))?;
        let file_name = entry.file_name();
        let Some((topic, index)) = file_name.to_str().and_then(partition_of) else { continue };
        if entry.path().is_dir() {
            let log_start = log_starts.get(&(topic.to_owned(), index)).copied();
            let partition = SourcePartition { path: entry.path(), log_start };
            found.entry(topic.to_owned()).or_default().insert(index, partition);
        }
    }
    let offsets = found.remove(OFFSETS_TOPIC).ok_or_else(|| ImportError::NoOffsets(folder.to_owned()))?;
    let offsets = topic_of(OFFSETS_TOPIC.to_owned(), offsets)?;
    let is_left_out = |name: &str| LEFT_OUT.contains(&name);
    let left_out = found.keys().filter(|name| is_left_out(name)).cloned().collect();
    found.retain(|name, _| !is_left_out(name));
    if scope == Scope::OffsetsOnly {
        found.clear();
    }
    let topics = found.into_iter().map(|(name, partitions)| topic_of(name, partitions));
    Ok(Source { cluster_id, offsets, topics: topics.collect::<Result<_, _>>()?, left_out })
}

/// `topic-7`; what a deletion or a move left (`….…-delete`, `-future`, `-stray`) is no partition.
fn partition_of(folder: &str) -> Option<(&str, i32)> {
    let (topic, index) = folder.rsplit_once('-')?;
    let is_number = !index.is_empty() && index.bytes().all(|byte| byte.is_ascii_digit());
    (is_number && topics::check_name(topic).is_ok()).then_some(())?;
    Some((topic, index.parse().ok()?))
}

fn topic_of(name: String, found: BTreeMap<i32, SourcePartition>) -> Result<SourceTopic, ImportError> {
    let last = found.last_key_value().map_or(0, |(last, _)| *last);
    if let Some(missing) = (0..=last).find(|index| !found.contains_key(index)) {
        let (missing, last) = (PartitionIndex(missing), PartitionIndex(last));
        return Err(ImportError::MissingPartition { topic: name, missing, last });
    }
    let partitions: Vec<_> = found.into_values().collect();
    let mut id = None;
    for (index, partition) in partitions.iter().enumerate() {
        let path = partition.path.join("partition.metadata");
        let present = topic_id(&path)?;
        if index > 0 && present != id {
            let reason = format!("not all partitions of {name} have the same topic id");
            return Err(ImportError::TopicId { path, reason });
        }
        id = present;
    }
    Ok(SourceTopic { name, id, partitions })
}

/// The topic id in a file `partition.metadata`; `None` if there is no such file.
fn topic_id(path: &Path) -> Result<Option<TopicId>, ImportError> {
    let Some(text) = read_text(path)? else { return Ok(None) };
    let id = text.lines().find_map(|line| line.strip_prefix("topic_id:"));
    let id = id.and_then(|id| id.trim().parse::<TopicId>().ok()).filter(|id| !id.is_zero());
    let reason = || "it does not say a topic id".to_owned();
    id.map(Some).ok_or_else(|| ImportError::TopicId { path: path.to_owned(), reason: reason() })
}

/// The cluster's id, if the folder says it.
fn cluster_id(folder: &Path) -> Result<Option<String>, ImportError> {
    let text = read_text(&folder.join("meta.properties"))?.unwrap_or_default();
    let id = text.lines().find_map(|line| line.trim().strip_prefix("cluster.id="));
    Ok(id.map(|id| id.trim().to_owned()).filter(|id| !id.is_empty()))
}

/// The file `log-start-offset-checkpoint`: a version, a count, then a line for each partition.
fn log_starts(folder: &Path) -> Result<BTreeMap<(String, i32), Offset>, ImportError> {
    let path = folder.join("log-start-offset-checkpoint");
    let text = read_text(&path)?.unwrap_or_default();
    let lines = text.lines().skip(2).filter(|line| !line.trim().is_empty());
    let mut position = 0;
    lines
        .map(|line| {
            position += line.len() as u64 + 1;
            let words: Vec<&str> = line.split_whitespace().collect();
            let [topic, index, offset] = words[..] else { return Err(line) };
            let (Ok(index), Ok(offset)) = (index.parse(), offset.parse()) else { return Err(line) };
            Ok(((topic.to_owned(), index), Offset(offset)))
        })
        .collect::<Result<_, _>>()
        .map_err(|line| ImportError::damaged(&path, position, format!("{line:?} is no start of a log")))
}

fn read_text(path: &Path) -> Result<Option<String>, ImportError> {
    match fs::metadata(path) {
        Ok(file) if file.len() > TEXT_FILE_BYTES_MAX => {
            Err(ImportError::damaged(path, TEXT_FILE_BYTES_MAX, "no such file is that big"))
        }
        Ok(_) => fs::read_to_string(path).map(Some).map_err(ImportError::read(path)),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(ImportError::read(path)(error)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_of_partitions_are_told_by_their_last_dash() {
        assert_eq!(partition_of("a-b-12"), Some(("a-b", 12)));
        assert_eq!(partition_of("__consumer_offsets-0"), Some((OFFSETS_TOPIC, 0)));
        for other in
            ["", "a", "a-", "-1", "a-x", "t-0.0123456789abcdef0123456789abcdef-delete", "a b-1", "a-+1"]
        {
            assert_eq!(partition_of(other), None, "{other}");
        }
    }
}
