use milepost_model::{
    Counts, Instant, LeaderEpoch, Now, Offset, Origin, PartitionIndex, ProducerEpoch, ProducerId,
    ProducerIdentity, Shard, Ticket, Timestamp,
};

use super::Transactions;
use crate::settings::{MAX_SWEEP_IDS, MAX_SWEEP_RECORDS};
use crate::{
    AddPartitions, Effect, InitProducerId, OpenTransaction, PartitionToAdd, Request, TransactionCounts,
    TransactionSettings, TransactionVersion, TwoPhaseCommit,
};

const START: Now = Now { monotonic: Instant(0), wall: Timestamp(1_700_000_000_000) };

/// A shard and the next position of its log.
struct Driven {
    shard: Transactions,
    end: i64,
}

impl Driven {
    fn new() -> Self {
        let mut shard = Transactions::new(TransactionSettings::default(), LeaderEpoch(1), 3);
        let loaded = shard.on_loaded(START);
        assert!(loaded.records.is_empty() && loaded.effects.is_empty());
        Self { shard, end: 0 }
    }

    fn apply(&mut self, records: Vec<crate::Record>) -> usize {
        let count = records.len();
        for record in records {
            self.shard.replay(Offset(self.end), Origin::Plain, record);
            self.end += 1;
        }
        count
    }

    fn handle(&mut self, request: Request<'_>) {
        let outcome = self.shard.handle(START, Ticket(0), request);
        assert_eq!(self.apply(outcome.records), 1);
    }

    /// So many transactional ids, each in a transaction.
    fn with_open_transactions(count: i64) -> Self {
        let mut driven = Self::new();
        for number in 0..count {
            let id = format!("t{number:05}");
            driven.handle(Request::InitProducerId(InitProducerId {
                transactional_id: &id,
                timeout_ms: 60_000,
                current: None,
                two_phase_commit: TwoPhaseCommit::No,
                open_transaction: OpenTransaction::Abort,
                fresh_producer_id: Some(ProducerId(number)),
            }));
            driven.handle(Request::AddPartitions(AddPartitions {
                transactional_id: &id,
                producer: ProducerIdentity { id: ProducerId(number), epoch: ProducerEpoch(0) },
                version: TransactionVersion::V2,
                partitions: vec![PartitionToAdd { topic: "a", partition: PartitionIndex(0) }],
            }));
        }
        driven
    }
}

/// After a pause in which nobody looked at timeouts, all of them are due at once.
#[test]
fn a_sweep_goes_in_bounded_steps_until_it_is_through() {
    let count = 2 * MAX_SWEEP_IDS as i64 + 10;
    let mut driven = Driven::with_open_transactions(count);
    let mut now = START;
    let (mut aborted, mut asked) = (0, 0);
    let mut counts = TransactionCounts::default();
    while aborted < count as usize {
        let due = driven.shard.next_deadline().unwrap();
        if due > now.monotonic {
            now =
                Now { monotonic: due, wall: START.wall.plus_ms(due.ms_since(START.monotonic).cast_signed()) };
        }
        assert!(now.monotonic <= START.monotonic.plus_ms(70_000), "only {aborted} were aborted in time");
        let outcome = driven.shard.on_deadline(now);
        assert!(outcome.records.len() <= MAX_SWEEP_RECORDS);
        asked += outcome.effects.iter().filter(|effect| matches!(effect, Effect::WriteMarkers(_))).count();
        counts.add(outcome.counts);
        aborted += driven.apply(outcome.records);
    }
    assert_eq!(asked, aborted);
    let all = count.cast_unsigned();
    assert_eq!(counts, TransactionCounts { aborted: all, timed_out: all, ..TransactionCounts::default() });
    assert_eq!(driven.shard.transactional_id_count(), aborted);
}

#[test]
fn a_skipped_sweep_is_counted() {
    let mut driven = Driven::with_open_transactions(1);
    let due = driven.shard.next_deadline().unwrap();
    let jumped = Now { monotonic: due, wall: START.wall.plus_ms(86_400_000) };
    let outcome = driven.shard.on_deadline(jumped);
    assert!(outcome.records.is_empty() && outcome.effects.is_empty());
    assert_eq!(outcome.counts, TransactionCounts { skipped_sweeps: 1, ..TransactionCounts::default() });
}
