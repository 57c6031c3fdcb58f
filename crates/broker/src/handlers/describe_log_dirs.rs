//! DescribeLogDirs (35), versions 1–5: how large the logs are, and how much room their device has.

use std::collections::{BTreeMap, BTreeSet};

use milepost_log::LogSet;
use milepost_log::metadata::{MetadataImage, Topic};
use milepost_wire::messages::describe_log_dirs::{
    DescribeLogDirsPartition, DescribeLogDirsRequest, DescribeLogDirsResponse, DescribeLogDirsResult,
    DescribeLogDirsTopic,
};

use super::{Context, Handled};
use crate::node::Node;
use crate::topics;

/// The partitions of one topic that are wanted.
enum Wanted {
    All,
    Some(BTreeSet<i32>),
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DescribeLogDirsRequest<'_>) -> Handled {
    let device = node.logs.device();
    let bytes = |known: Option<u64>| known.and_then(|bytes| i64::try_from(bytes).ok()).unwrap_or(-1);
    let result = DescribeLogDirsResult {
        log_dir: &device.path,
        topics: sizes_of_topics(node.metadata.image(), &node.logs, request),
        total_bytes: bytes(device.total_bytes),
        usable_bytes: bytes(device.usable_bytes),
        ..DescribeLogDirsResult::default()
    };
    let response = DescribeLogDirsResponse { results: vec![result], ..DescribeLogDirsResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

/// The logs that are asked for and are there, in the order of their topics.
fn sizes_of_topics<'a>(
    image: &'a MetadataImage,
    logs: &LogSet,
    request: &DescribeLogDirsRequest<'a>,
) -> Vec<DescribeLogDirsTopic<'a>> {
    let Some(asked) = &request.topics else {
        return image.topics().filter_map(|topic| sizes(logs, topic, &Wanted::All)).collect();
    };
    let mut wanted: BTreeMap<&str, BTreeSet<i32>> = BTreeMap::new();
    for topic in asked {
        wanted.entry(topic.topic).or_default().extend(&topic.partitions);
    }
    let found = wanted.into_iter().filter_map(|(name, partitions)| Some((image.topic(name)?, partitions)));
    found.filter_map(|(topic, partitions)| sizes(logs, topic, &Wanted::Some(partitions))).collect()
}

fn sizes<'a>(logs: &LogSet, topic: &'a Topic, wanted: &Wanted) -> Option<DescribeLogDirsTopic<'a>> {
    let one = |index: i32| {
        let log = logs.log(topics::partition(topic, index)?)?;
        Some(DescribeLogDirsPartition {
            partition_index: index,
            partition_size: i64::try_from(log.size_bytes()).unwrap_or(i64::MAX),
            offset_lag: 0,
            is_future_key: false,
        })
    };
    let partitions: Vec<_> = match wanted {
        Wanted::All => (0..topic.partition_count).filter_map(one).collect(),
        Wanted::Some(indices) => indices.iter().copied().filter_map(one).collect(),
    };
    (!partitions.is_empty()).then_some(DescribeLogDirsTopic { name: &topic.name, partitions })
}
