//! The shard under the real runtime, over real logs on a disk in memory: what is asked for outside is asked for when the
//! decision is durable, and again after a crash.

#![allow(clippy::unwrap_used, reason = "a test that cannot go on may panic, in its helpers too")]

use milepost_coordinator::{Answer, Coordinators, Settings};
use milepost_log::{LogKind, LogSet, LogSettings, PartitionConfig};
use milepost_model::{
    Instant, LeaderEpoch, Now, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Ticket,
    Timestamp, TopicId, TopicPartition, TransactionEnd,
};
use milepost_storage::{MemoryDisk, MemoryEngine, Pace};
use milepost_transactions::{
    AddPartitions, DescribeTransaction, Effect, EndTransaction, InitProducerId, OpenTransaction,
    PartitionToAdd, Reply, Request, TransactionSettings, TransactionState, TransactionVersion, Transactions,
    TwoPhaseCommit, WriteMarkers,
};

const TOPIC: TopicId = TopicId([9; 16]);
const SHARD: PartitionIndex = PartitionIndex(0);
const FIRST: ProducerIdentity = ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(0) };
const SECOND: ProducerIdentity = ProducerIdentity { epoch: ProducerEpoch(1), ..FIRST };

struct Rig {
    disk: MemoryDisk,
    logs: LogSet,
    shards: Coordinators<Transactions>,
    now: Now,
    tickets: u64,
}

impl Rig {
    fn new() -> Self {
        let disk = MemoryDisk::new();
        let now = Now { monotonic: Instant(1_000_000), wall: Timestamp(1_700_000_000_000) };
        let mut logs = open(&disk, now);
        let id = TopicPartition { topic: TOPIC, partition: SHARD };
        let directory = "__transaction_state-0";
        logs.create_partition(id, directory, LogKind::Internal, PartitionConfig::default()).unwrap();
        let mut rig = Self { disk, logs, shards: shards(LeaderEpoch(1)), now, tickets: 0 };
        rig.round();
        rig.load();
        rig
    }

    /// The power goes, and the server starts again with the next epoch.
    fn crash(self) -> Self {
        let Self { disk, logs, now, tickets, .. } = self;
        disk.crash();
        drop(logs);
        let mut logs = open(&disk, now);
        let id = TopicPartition { topic: TOPIC, partition: SHARD };
        logs.configure(id, LogKind::Internal, PartitionConfig::default());
        let mut rig = Self { disk, logs, shards: shards(LeaderEpoch(2)), now, tickets };
        rig.load();
        rig
    }

    fn load(&mut self) {
        while self.shards.has_load_work() {
            self.shards.load_step(&mut self.logs, self.now, 1 << 20);
        }
    }

    fn submit(&mut self, request: Request<'_>) {
        self.tickets += 1;
        self.shards.submit(&mut self.logs, self.now, SHARD, Ticket(self.tickets), request);
    }

    fn round(&mut self) {
        self.shards.flush(&mut self.logs, self.now);
        self.logs.begin_round(self.now);
        self.poll();
    }

    fn poll(&mut self) {
        let progress = self.logs.poll(self.now);
        self.shards.on_durable(&self.logs, &progress.advanced);
    }

    fn replies(&mut self) -> Vec<Reply> {
        let reply = |(_, answer)| match answer {
            Answer::Reply(reply) => reply,
            Answer::Refused(refusal) => panic!("{refusal:?}"),
        };
        self.shards.drain_answers().map(reply).collect()
    }

    fn markers(&mut self) -> Vec<WriteMarkers> {
        let markers = |effect| match effect {
            Effect::WriteMarkers(markers) => markers,
            Effect::TakeProducerId { .. } => panic!("nobody runs out of epochs here"),
        };
        self.shards.drain_effects().map(markers).collect()
    }

    fn state(&mut self) -> TransactionState {
        self.submit(Request::Describe(DescribeTransaction { transactional_id: "t" }));
        self.round();
        match self.replies().as_slice() {
            [Reply::Describe(Ok(described))] => described.state,
            other => panic!("{other:?}"),
        }
    }

    /// A transaction of one partition, up to its durable end.
    fn begin(&mut self) {
        self.submit(Request::InitProducerId(InitProducerId {
            transactional_id: "t",
            timeout_ms: 60_000,
            current: None,
            two_phase_commit: TwoPhaseCommit::No,
            open_transaction: OpenTransaction::Abort,
            fresh_producer_id: Some(FIRST.id),
        }));
        self.submit(Request::AddPartitions(AddPartitions {
            transactional_id: "t",
            producer: FIRST,
            version: TransactionVersion::V2,
            partitions: vec![PartitionToAdd { topic: "a", partition: PartitionIndex(3) }],
        }));
        self.round();
        assert_eq!(self.replies(), [Reply::InitProducerId(Ok(FIRST)), Reply::AddPartitions(Ok(()))]);
    }

    fn commit(&mut self) {
        self.submit(Request::EndTransaction(EndTransaction {
            transactional_id: "t",
            producer: FIRST,
            end: TransactionEnd::Commit,
            version: TransactionVersion::V2,
            fresh_producer_id: None,
        }));
    }
}

fn open(disk: &MemoryDisk, now: Now) -> LogSet {
    LogSet::open(MemoryEngine::open(disk).unwrap(), LogSettings::default(), now).unwrap().0
}

fn shards(epoch: LeaderEpoch) -> Coordinators<Transactions> {
    let settings = TransactionSettings::default();
    Coordinators::new(TOPIC, 1, Settings::default(), move |_| Transactions::new(settings.clone(), epoch, 1))
}

#[test]
fn markers_are_asked_for_when_the_decision_is_durable() {
    let mut rig = Rig::new();
    rig.begin();
    rig.disk.set_pace(Pace::Held);
    rig.commit();
    rig.round();
    assert!(rig.replies().is_empty() && rig.markers().is_empty(), "in flight");
    rig.disk.complete();
    rig.poll();
    assert_eq!(rig.replies(), [Reply::EndTransaction(Ok(SECOND))]);
    let markers = rig.markers();
    assert_eq!(markers.len(), 1);
    assert_eq!((markers[0].producer, markers[0].coordinator_epoch), (SECOND, LeaderEpoch(1)));

    rig.disk.set_pace(Pace::AtOnce);
    assert_eq!(rig.state(), TransactionState::Prepare(TransactionEnd::Commit));
    rig.submit(Request::MarkersWritten(&markers[0]));
    rig.round();
    assert_eq!(rig.replies(), [Reply::Noted]);
    assert_eq!(rig.state(), TransactionState::Complete(TransactionEnd::Commit));
    let rig = &mut rig.crash();
    assert_eq!(rig.state(), TransactionState::Complete(TransactionEnd::Commit));
    assert!(rig.markers().is_empty());
}

#[test]
fn a_crash_before_the_markers_asks_for_them_again() {
    let mut rig = Rig::new();
    rig.begin();
    rig.commit();
    rig.round();
    let before = rig.markers();
    let mut rig = rig.crash();
    let after = rig.markers();
    // The same markers, by a coordinator of the next epoch.
    let same: Vec<_> = before
        .into_iter()
        .map(|markers| WriteMarkers { coordinator_epoch: LeaderEpoch(2), ..markers })
        .collect();
    assert_eq!(after, same);
    rig.submit(Request::MarkersWritten(&after[0]));
    rig.round();
    assert_eq!(rig.replies(), [Reply::Noted]);
    assert_eq!(rig.state(), TransactionState::Complete(TransactionEnd::Commit));
}

#[test]
fn a_crash_before_the_decision_was_durable_leaves_the_transaction_open() {
    let mut rig = Rig::new();
    rig.begin();
    rig.disk.set_pace(Pace::Held);
    rig.commit();
    rig.round();
    let mut rig = rig.crash();
    rig.disk.set_pace(Pace::AtOnce);
    assert!(rig.markers().is_empty());
    assert_eq!(rig.state(), TransactionState::Ongoing);
}
