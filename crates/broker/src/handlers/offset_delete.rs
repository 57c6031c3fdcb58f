//! OffsetDelete (47), version 0: committed offsets of partitions are deleted.

use std::rc::Rc;

use milepost_groups::{GroupError, OffsetDelete, PartitionToDelete, Reply, Request};
use milepost_model::PartitionIndex;
use milepost_wire::ErrorCode;
use milepost_wire::messages::offset_delete::{
    OffsetDeleteRequest, OffsetDeleteResponse, OffsetDeleteResponsePartition, OffsetDeleteResponseTopic,
};

use super::{Context, Handled};
use crate::errors;
use crate::node::{GroupAnswer, GroupResult, Node, RequestKey};

/// What the answer repeats: topics and partitions, each with its code if it was refused at the edge.
#[derive(Debug)]
pub(crate) struct Asked(Rc<Vec<AskedTopic>>);

#[derive(Debug)]
struct AskedTopic {
    name: String,
    partitions: Vec<(i32, Option<ErrorCode>)>,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &OffsetDeleteRequest<'_>) -> Handled {
    let image = node.metadata.image();
    let topics: Vec<AskedTopic> = request
        .topics
        .iter()
        .map(|topic| {
            let count = image.topic(topic.name).map_or(0, |found| found.partition_count);
            let refused =
                |index| (!(0..count).contains(&index)).then_some(ErrorCode::UnknownTopicOrPartition);
            let partitions =
                topic.partitions.iter().map(|p| (p.partition_index, refused(p.partition_index))).collect();
            AskedTopic { name: topic.name.to_owned(), partitions }
        })
        .collect();
    let topics = Rc::new(topics);
    let partitions: Vec<PartitionToDelete<'_>> = topics
        .iter()
        .flat_map(|topic| {
            let exist = topic.partitions.iter().filter(|(_, refused)| refused.is_none());
            exist
                .map(|(index, _)| PartitionToDelete { topic: &topic.name, partition: PartitionIndex(*index) })
        })
        .collect();
    if partitions.is_empty() {
        // Nothing is left to ask the coordinator about, so it is not asked, as in Kafka.
        drop(partitions);
        respond(node, context.key, &Asked(topics), Vec::new());
        return Ok(());
    }
    let answer = GroupAnswer::OffsetDelete(Asked(Rc::clone(&topics)));
    let delete = OffsetDelete { group_id: request.group_id, partitions };
    node.ask(context.now, context.key, answer, request.group_id, Request::OffsetDelete(delete));
    Ok(())
}

pub(crate) fn finish(node: &mut Node, key: RequestKey, asked: &Asked, result: GroupResult) {
    let results = match result {
        Ok(Reply::OffsetDelete(Ok(results))) => results,
        Ok(Reply::OffsetDelete(Err(error))) => return refuse(node, key, errors::of_group(error)),
        Ok(other) => panic!("a coordinator answered OffsetDelete with {other:?}"),
        Err(refusal) => return refuse(node, key, errors::of_runtime(refusal)),
    };
    respond(node, key, asked, results);
}

fn respond(node: &mut Node, key: RequestKey, asked: &Asked, results: Vec<Result<(), GroupError>>) {
    let mut results = results.into_iter();
    let mut partition = |(partition_index, refused): &(i32, Option<ErrorCode>)| {
        let error_code = refused.unwrap_or_else(|| {
            let result = results.next().expect("one result for each partition asked");
            result.err().map_or(ErrorCode::None, errors::of_group)
        });
        OffsetDeleteResponsePartition { partition_index: *partition_index, error_code }
    };
    let topics = asked
        .0
        .iter()
        .map(|topic| OffsetDeleteResponseTopic {
            name: &topic.name,
            partitions: topic.partitions.iter().map(&mut partition).collect(),
        })
        .collect();
    node.connections.respond(key, &OffsetDeleteResponse { topics, ..OffsetDeleteResponse::default() });
}

fn refuse(node: &mut Node, key: RequestKey, error_code: ErrorCode) {
    node.connections.respond(key, &OffsetDeleteResponse { error_code, ..OffsetDeleteResponse::default() });
}
