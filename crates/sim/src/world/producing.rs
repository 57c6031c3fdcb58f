//! Producers: numbered ones that send a batch again until it is acknowledged, and plain ones that never do.

use std::collections::{BTreeMap, VecDeque};

use milepost_batch::{BatchBuilder, BatchOptions, Codec};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity};
use milepost_wire::ErrorCode;
use milepost_wire::messages::init_producer_id::{InitProducerIdRequest, InitProducerIdResponse};
use milepost_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};

use super::{FIRST_PLAIN_PRODUCER, PRODUCERS, World};
use crate::check::{Checked, Violation, promise};
use crate::client::{Asked, IN_FLIGHT};
use crate::oracle::{BatchId, Fate, PartitionKey};

/// A record larger than a journal file of the simulated engine.
const LARGE_RECORD_BYTES: usize = 40_000;
const PRODUCE_TIMEOUT_MS: i32 = 2000;
/// Kafka's limit for numbered producers: as many batches as the broker remembers.
const UNACKNOWLEDGED_MAX: usize = 5;

#[derive(Debug)]
struct Unacknowledged {
    batch: BatchId,
    sequence: i32,
    in_flight: bool,
    is_again: bool,
}

/// What a producer has for one partition.
#[derive(Debug, Default)]
struct Lane {
    next_sequence: i32,
    unacknowledged: VecDeque<Unacknowledged>,
    has_acknowledged: bool,
    /// A batch was refused before any was acknowledged. As in Kafka, a broker that knows nothing of a producer takes
    /// whatever number comes first; so the next batch may have landed, and the refused one never will.
    was_refused_first: bool,
}

/// A numbered producer.
#[derive(Debug)]
pub(crate) struct Producer {
    client: usize,
    identity: Option<ProducerIdentity>,
    lanes: BTreeMap<PartitionKey, Lane>,
}

impl Producer {
    pub(super) fn new(client: usize) -> Self {
        Self { client, identity: None, lanes: BTreeMap::new() }
    }
}

impl World {
    pub(super) fn producer_disconnected(&mut self, client: usize) {
        let producers = self.producers.iter_mut().filter(|producer| producer.client == client);
        let storage_may_fail = self.storage_may_fail;
        for lane in producers.flat_map(|producer| producer.lanes.values_mut()) {
            // A refusal may be among the answers that are lost.
            lane.was_refused_first |= storage_may_fail && !lane.has_acknowledged;
            lane.unacknowledged.iter_mut().for_each(|waiting| waiting.in_flight = false);
        }
    }

    /// Some partition of some topic that exists.
    pub(super) fn some_partition(&mut self) -> Option<PartitionKey> {
        let topics = self.oracle.topics.existing();
        if topics.is_empty() {
            return None;
        }
        let topic = self.dice.content.pick(&topics);
        let count = u64::try_from(self.oracle.topics.get(topic).partitions).expect("a few");
        let index = i32::try_from(self.dice.content.below(count)).expect("a few");
        Some(PartitionKey { topic, index })
    }

    fn fillers(&mut self) -> Vec<usize> {
        if self.has_large_records && self.dice.content.chance(60) {
            return vec![LARGE_RECORD_BYTES];
        }
        let count = 1 + self.dice.content.below(4);
        (0..count).map(|_| self.dice.content.index(250)).collect()
    }

    pub(super) fn produce_plain(&mut self) -> Checked {
        let client = FIRST_PLAIN_PRODUCER + self.dice.content.index(PRODUCERS);
        if !self.may_send(client) {
            return Ok(());
        }
        let Some(partition) = self.some_partition() else { return Ok(()) };
        let fillers = self.fillers();
        let batch = self.oracle.logs.new_batch(partition, false, &fillers);
        self.send_batch(client, None, partition, batch)
    }

    pub(super) fn produce_numbered(&mut self) -> Checked {
        let producer = self.dice.content.index(PRODUCERS);
        let client = self.producers[producer].client;
        if !self.may_send(client) {
            return Ok(());
        }
        if self.producers[producer].identity.is_none() {
            return self.ask_producer_id(producer);
        }
        let Some(partition) = self.some_partition() else { return Ok(()) };
        let lane = self.producers[producer].lanes.entry(partition).or_default();
        if lane.unacknowledged.iter().any(|waiting| !waiting.in_flight) {
            return self.send_again(producer, partition);
        }
        if lane.unacknowledged.len() >= UNACKNOWLEDGED_MAX {
            return Ok(());
        }
        let fillers = self.fillers();
        let batch = self.oracle.logs.new_batch(partition, true, &fillers);
        let lane = self.producers[producer].lanes.entry(partition).or_default();
        let sequence = lane.next_sequence;
        lane.next_sequence += i32::try_from(fillers.len()).expect("a few");
        lane.unacknowledged.push_back(Unacknowledged { batch, sequence, in_flight: true, is_again: false });
        self.send_batch(client, Some((producer, sequence)), partition, batch)
    }

    /// Sends everything that is not acknowledged again, in order, once nothing of it is in flight any more.
    fn send_again(&mut self, producer: usize, partition: PartitionKey) -> Checked {
        let client = self.producers[producer].client;
        let room = IN_FLIGHT - self.in_flight(client);
        let lane = self.producers[producer].lanes.entry(partition).or_default();
        if lane.unacknowledged.iter().any(|waiting| waiting.in_flight) || lane.unacknowledged.len() > room {
            return Ok(());
        }
        for waiting in &mut lane.unacknowledged {
            (waiting.in_flight, waiting.is_again) = (true, true);
        }
        let again: Vec<_> =
            lane.unacknowledged.iter().map(|waiting| (waiting.batch, waiting.sequence)).collect();
        for (batch, sequence) in again {
            self.send_batch(client, Some((producer, sequence)), partition, batch)?;
        }
        Ok(())
    }

    fn ask_producer_id(&mut self, producer: usize) -> Checked {
        let client = self.producers[producer].client;
        if self.in_flight(client) > 0 {
            return Ok(());
        }
        self.send(client, 4, &InitProducerIdRequest::default(), Asked::ProducerId { producer })
    }

    pub(super) fn producer_id_given(
        &mut self,
        producer: usize,
        response: &InitProducerIdResponse,
    ) -> Checked {
        match response.error_code {
            ErrorCode::None => {
                self.oracle.producer_id(response.producer_id)?;
                let (id, epoch) = (ProducerId(response.producer_id), ProducerEpoch(response.producer_epoch));
                self.producers[producer].identity = Some(ProducerIdentity { id, epoch });
                Ok(())
            }
            ErrorCode::CoordinatorNotAvailable if self.storage_may_fail => Ok(()),
            code => Err(Violation::new(format!("no producer id: {code}"))),
        }
    }

    /// The batch as bytes; the same record bytes whenever it is sent.
    fn batch_bytes(&mut self, numbered: Option<(usize, i32)>, batch: BatchId) -> Vec<u8> {
        let codec = [Codec::None, Codec::None, Codec::Lz4, Codec::Snappy][(batch.0 % 4) as usize];
        let identity = numbered.and_then(|(producer, _)| self.producers[producer].identity);
        let base_sequence = numbered.map(|(_, sequence)| sequence);
        let options = BatchOptions { codec, producer: identity, base_sequence, ..BatchOptions::default() };
        let mut builder = BatchBuilder::new(options);
        let at = self.now().wall;
        for value in self.oracle.logs.values(batch) {
            builder.append(at, Some(&value[..8]), Some(value), &[]).expect("small records fit");
        }
        builder.build(Offset::ZERO)
    }

    fn send_batch(
        &mut self,
        client: usize,
        numbered: Option<(usize, i32)>,
        partition: PartitionKey,
        batch: BatchId,
    ) -> Checked {
        let bytes = self.batch_bytes(numbered, batch);
        let topic = self.oracle.topics.get(partition.topic).clone();
        let version = self.dice.content.pick(&[9, 13]);
        let data = PartitionProduceData { index: partition.index, records: Some(&bytes) };
        let by_name = version < 13;
        let topic_data = TopicProduceData {
            name: if by_name { &topic.name } else { "" },
            topic_id: if by_name { milepost_model::TopicId::ZERO } else { topic.id },
            partition_data: vec![data],
        };
        let request = ProduceRequest {
            acks: if numbered.is_some() { -1 } else { self.dice.content.pick(&[-1, 1]) },
            timeout_ms: PRODUCE_TIMEOUT_MS,
            topic_data: vec![topic_data],
            ..ProduceRequest::default()
        };
        let producer = numbered.map(|(producer, _)| producer);
        self.send(client, version, &request, Asked::Produce { producer, partition, batch })
    }

    pub(super) fn produced(
        &mut self,
        producer: Option<usize>,
        partition: PartitionKey,
        batch: BatchId,
        response: &ProduceResponse<'_>,
    ) -> Checked {
        let results: Vec<_> =
            response.responses.iter().flat_map(|topic| &topic.partition_responses).collect();
        let [result] = results.as_slice() else {
            return Err(Violation::new(format!("one batch was sent: {response:?}")));
        };
        let (code, base_offset) = (result.error_code, result.base_offset);
        self.tell(|| format!("{batch:?} of {partition:?}: {code} at {base_offset}"));
        let is_first = producer.is_none_or(|producer| self.is_first(producer, partition, batch));
        let topic_is_there = self.oracle.topics.fate(partition.topic) == Fate::Exists;
        let lacks_log = self.may_lack_log(code);
        if code != ErrorCode::None && self.is_given_up(producer, partition, batch) {
            return Ok(());
        }
        match code {
            ErrorCode::None => {
                self.oracle.logs.acknowledged_at(batch, base_offset)?;
                self.forget_batch(producer, partition, batch);
                return Ok(());
            }
            ErrorCode::RequestTimedOut => {}
            ErrorCode::OutOfOrderSequenceNumber if self.may_have_gap(producer, partition) => {
                self.begin_anew(producer);
                return Ok(());
            }
            ErrorCode::OutOfOrderSequenceNumber => {
                promise!(
                    producer.is_some() && !is_first,
                    "{batch:?} of {partition:?}: every batch before it was acknowledged, and it is out of order"
                );
            }
            ErrorCode::UnknownTopicOrPartition
            | ErrorCode::UnknownTopicId
            | ErrorCode::NotLeaderOrFollower => {
                promise!(
                    !topic_is_there || lacks_log,
                    "{batch:?} of {partition:?}: {code}, and the topic exists"
                );
                self.refused_first(producer, partition);
                self.oracle.logs.refused(batch);
            }
            code => {
                self.counts.storage_refusals += 1;
                self.refused_first(producer, partition);
                promise!(self.may_fail_with(code), "{batch:?} of {partition:?}: {result:?}");
                self.oracle.logs.refused(batch);
            }
        }
        self.not_acknowledged(producer, partition, batch);
        Ok(())
    }

    fn refused_first(&mut self, producer: Option<usize>, partition: PartitionKey) {
        let lane = producer.and_then(|producer| self.producers[producer].lanes.get_mut(&partition));
        if let Some(lane) = lane {
            lane.was_refused_first |= !lane.has_acknowledged;
        }
    }

    /// Whether the producer gave this batch up when it took another identity.
    fn is_given_up(&self, producer: Option<usize>, partition: PartitionKey, batch: BatchId) -> bool {
        producer.is_some_and(|producer| {
            let lane = self.producers[producer].lanes.get(&partition);
            !lane.is_some_and(|lane| lane.unacknowledged.iter().any(|waiting| waiting.batch == batch))
        })
    }

    fn may_have_gap(&self, producer: Option<usize>, partition: PartitionKey) -> bool {
        let lane = producer.and_then(|producer| self.producers[producer].lanes.get(&partition));
        lane.is_some_and(|lane| lane.was_refused_first)
    }

    /// What clients do when their numbers are beyond repair: another identity, and what was not acknowledged is given
    /// up.
    fn begin_anew(&mut self, producer: Option<usize>) {
        let Some(producer) = producer else { return };
        self.producers[producer].identity = None;
        self.producers[producer].lanes.clear();
    }

    fn is_first(&self, producer: usize, partition: PartitionKey, batch: BatchId) -> bool {
        let lane = self.producers[producer].lanes.get(&partition);
        lane.and_then(|lane| lane.unacknowledged.front()).is_some_and(|first| first.batch == batch)
    }

    fn forget_batch(&mut self, producer: Option<usize>, partition: PartitionKey, batch: BatchId) {
        let Some(producer) = producer else { return };
        if let Some(lane) = self.producers[producer].lanes.get_mut(&partition) {
            lane.has_acknowledged = true;
            let again =
                lane.unacknowledged.iter().filter(|waiting| waiting.batch == batch && waiting.is_again);
            self.counts.batches_again += again.count() as u64;
            lane.unacknowledged.retain(|waiting| waiting.batch != batch);
        }
    }

    fn not_acknowledged(&mut self, producer: Option<usize>, partition: PartitionKey, batch: BatchId) {
        let Some(producer) = producer else { return };
        let lane = self.producers[producer].lanes.entry(partition).or_default();
        for waiting in lane.unacknowledged.iter_mut().filter(|waiting| waiting.batch == batch) {
            waiting.in_flight = false;
        }
    }
}
