//! Readers: fetches anywhere, and the end of a log.

use milepost_model::TopicId;
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::list_offsets::{
    ListOffsetsPartition, ListOffsetsRequest, ListOffsetsResponse, ListOffsetsTopic,
};

use super::{READER, World};
use crate::check::{Checked, Violation, promise};
use crate::client::Asked;
use crate::oracle::{Fate, PartitionKey};

/// ListOffsets: the timestamp that asks for the end.
const LATEST: i64 = -1;

/// What the last fetch said.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Reading {
    /// Where to go on; `None` when nothing was answered.
    pub(crate) next: Option<i64>,
    /// The high watermark.
    pub(crate) end: i64,
}

impl World {
    pub(super) fn fetch_somewhere(&mut self) -> Checked {
        if !self.may_send(READER) {
            return Ok(());
        }
        let Some(partition) = self.some_partition() else { return Ok(()) };
        let end = u64::try_from(self.oracle.logs.known_end(partition)).expect("not negative");
        let from = i64::try_from(self.dice.content.below(end + 2)).expect("a short log");
        let max_wait_ms = self.dice.content.pick(&[0, 10, 100]);
        let max_bytes = self.dice.content.pick(&[1, 500, 4000, 1 << 20]);
        self.fetch(READER, partition, from, max_wait_ms, max_bytes)
    }

    pub(crate) fn fetch(
        &mut self,
        client: usize,
        partition: PartitionKey,
        from: i64,
        max_wait_ms: i32,
        max_bytes: i32,
    ) -> Checked {
        let topic = self.oracle.topics.get(partition.topic).clone();
        let version = self.dice.content.pick(&[11, 12, 16]);
        let by_name = version < 13;
        let asked = FetchPartition {
            partition: partition.index,
            fetch_offset: from,
            partition_max_bytes: max_bytes,
            ..FetchPartition::default()
        };
        let fetch_topic = FetchTopic {
            topic: if by_name { &topic.name } else { "" },
            topic_id: if by_name { TopicId::ZERO } else { topic.id },
            partitions: vec![asked],
        };
        let request = FetchRequest {
            max_wait_ms,
            min_bytes: 1,
            max_bytes,
            topics: vec![fetch_topic],
            ..FetchRequest::default()
        };
        let floor = self.oracle.logs.known_end(partition);
        self.send(client, version, &request, Asked::Fetch { partition, from, floor })
    }

    pub(super) fn fetched(
        &mut self,
        partition: PartitionKey,
        from: i64,
        floor: i64,
        response: &FetchResponse<'_>,
    ) -> Checked {
        self.reading = Reading::default();
        let found: Vec<_> = response.responses.iter().flat_map(|topic| &topic.partitions).collect();
        let [data] = found.as_slice() else {
            return Err(Violation::new(format!("one partition was asked for: {response:?}")));
        };
        let bytes = data.records.unwrap_or_default();
        let (code, end) = (data.error_code, data.high_watermark);
        self.tell(|| format!("{partition:?} from {from}: {code}, {} bytes, end {end}", bytes.len()));
        match code {
            ErrorCode::None => {
                self.oracle.logs.seen_ends(partition, data.log_start_offset, end, floor)?;
                let next = self.oracle.logs.seen_bytes(partition, from, bytes, self.oracle.epoch())?;
                promise!(next <= end.max(from), "{partition:?}: records up to {next}, above the end {end}");
                self.reading = Reading { next: Some(next), end };
                Ok(())
            }
            ErrorCode::OffsetOutOfRange => {
                promise!(from > floor, "{partition:?}: {from} is out of range, and {floor} was known");
                Ok(())
            }
            ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::NotLeaderOrFollower => {
                let fate = self.oracle.topics.fate(partition.topic);
                promise!(
                    fate != Fate::Exists || self.may_lack_log(code),
                    "{partition:?} cannot be read: {code}"
                );
                Ok(())
            }
            code => {
                promise!(self.may_fail_with(code), "{partition:?} cannot be read: {code}");
                Ok(())
            }
        }
    }

    pub(super) fn list_end(&mut self) -> Checked {
        if !self.may_send(READER) {
            return Ok(());
        }
        let Some(partition) = self.some_partition() else { return Ok(()) };
        let topic = self.oracle.topics.get(partition.topic).clone();
        let asked = ListOffsetsPartition {
            partition_index: partition.index,
            timestamp: LATEST,
            ..ListOffsetsPartition::default()
        };
        let request = ListOffsetsRequest {
            replica_id: -1,
            topics: vec![ListOffsetsTopic { name: &topic.name, partitions: vec![asked] }],
            ..ListOffsetsRequest::default()
        };
        let floor = self.oracle.logs.known_end(partition);
        self.send(READER, 7, &request, Asked::ListOffsets { partition, floor })
    }

    pub(super) fn end_listed(
        &mut self,
        partition: PartitionKey,
        floor: i64,
        response: &ListOffsetsResponse<'_>,
    ) -> Checked {
        let found: Vec<_> = response.topics.iter().flat_map(|topic| &topic.partitions).collect();
        let [data] = found.as_slice() else {
            return Err(Violation::new(format!("one partition was asked for: {response:?}")));
        };
        match data.error_code {
            ErrorCode::None => self.oracle.logs.seen_ends(partition, 0, data.offset, floor),
            ErrorCode::UnknownTopicOrPartition | ErrorCode::NotLeaderOrFollower => {
                let fate = self.oracle.topics.fate(partition.topic);
                promise!(
                    fate != Fate::Exists || self.may_lack_log(data.error_code),
                    "{partition:?} has no end: {}",
                    data.error_code
                );
                Ok(())
            }
            code => {
                promise!(self.may_fail_with(code), "{partition:?} has no end: {code}");
                Ok(())
            }
        }
    }
}
