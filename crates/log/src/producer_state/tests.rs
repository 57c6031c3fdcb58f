use super::*;

fn producer(epoch: i16) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(epoch) }
}

/// A state that accepted batches of two records each, with these epochs and first sequences, from offset 0 on.
fn state(batches: &[(i16, i32)], durable_end: i64) -> ProducerStates {
    let mut states = ProducerStates::default();
    for (index, (epoch, first)) in (0i64..).zip(batches) {
        let batch = ProducerBatch {
            epoch: ProducerEpoch(*epoch),
            first_sequence: *first,
            last_sequence: milepost_batch::sequence_plus(*first, 1),
            base_offset: Offset(index * 2),
            last_offset: Offset(index * 2 + 1),
            max_timestamp: Timestamp(1000 + index),
        };
        states.add(ProducerId(7), batch, Offset(durable_end));
    }
    states
}

fn check(states: &ProducerStates, epoch: i16, first: i32) -> SequenceCheck {
    states.check(producer(epoch), first, milepost_batch::sequence_plus(first, 1))
}

#[test]
fn an_unknown_producer_may_begin_anywhere() {
    assert_eq!(check(&ProducerStates::default(), 3, 17), SequenceCheck::Accept);
}

#[test]
fn only_the_next_sequence_is_accepted() {
    let states = state(&[(0, 0), (0, 2)], i64::MAX);
    assert_eq!(check(&states, 0, 4), SequenceCheck::Accept);
    assert_eq!(check(&states, 0, 5), SequenceCheck::OutOfOrder { expected: 4 });
    assert_eq!(check(&states, 0, 3), SequenceCheck::OutOfOrder { expected: 4 });
    let wrapped = state(&[(0, i32::MAX - 1)], i64::MAX);
    assert_eq!(check(&wrapped, 0, 0), SequenceCheck::Accept);
}

#[test]
fn the_last_five_batches_are_duplicates_and_the_sixth_is_a_gap() {
    let states = state(&[(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10)], i64::MAX);
    for (index, first) in (1i64..).zip([2, 4, 6, 8, 10]) {
        let SequenceCheck::Duplicate(original) = check(&states, 0, first) else { panic!("{first} is known") };
        assert_eq!(original.base_offset, Offset(index * 2));
    }
    assert_eq!(check(&states, 0, 0), SequenceCheck::OutOfOrder { expected: 12 });
    // The same first sequence with another length is not the same batch.
    assert_eq!(states.check(producer(0), 10, 10), SequenceCheck::OutOfOrder { expected: 12 });
}

#[test]
fn epochs_only_rise_and_begin_at_sequence_zero() {
    let states = state(&[(4, 0)], i64::MAX);
    assert_eq!(check(&states, 3, 2), SequenceCheck::StaleEpoch { known: ProducerEpoch(4) });
    assert_eq!(check(&states, 5, 2), SequenceCheck::OutOfOrder { expected: 0 });
    assert_eq!(check(&states, 5, 0), SequenceCheck::Accept);
    // After the bump the old epoch's batches are no duplicates any more.
    let bumped = state(&[(4, 0), (5, 0)], i64::MAX);
    assert_eq!(check(&bumped, 4, 0), SequenceCheck::StaleEpoch { known: ProducerEpoch(5) });
}

#[test]
fn what_is_durable_does_not_depend_on_what_was_accepted_since() {
    let durable = state(&[(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10)], i64::MAX);
    let mut ahead = state(&[(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10), (0, 12), (0, 14)], 0);
    let expected: Vec<_> =
        durable.durable_at(Offset(12)).map(|(id, batches)| (id, batches.to_vec())).collect();
    let found: Vec<_> = ahead.durable_at(Offset(12)).map(|(id, batches)| (id, batches.to_vec())).collect();
    assert_eq!(found, expected);
    assert_eq!(found[0].1.len(), DUPLICATE_WINDOW);
    // A bump that is not durable yet leaves the durable epoch as it was.
    let bump = ProducerBatch { epoch: ProducerEpoch(1), last_offset: Offset(17), ..found[0].1[0] };
    ahead.add(ProducerId(7), bump, Offset(12));
    let after: Vec<_> = ahead.durable_at(Offset(12)).map(|(id, batches)| (id, batches.to_vec())).collect();
    assert_eq!(after, expected);
    assert_eq!(ahead.durable_at(Offset(0)).count(), 0);
}

#[test]
fn the_memory_of_a_busy_producer_is_bounded_once_it_is_durable() {
    let batches: Vec<_> = (0..100).map(|index| (0i16, index * 2)).collect();
    let states = state(&batches, i64::MAX);
    assert_eq!(states.0[&ProducerId(7)].len(), DUPLICATE_WINDOW);
}

#[test]
fn idle_producers_expire_but_never_before_they_are_durable() {
    let mut states = state(&[(0, 0)], 0);
    states.expire(Timestamp(9000), 1000, Offset(0));
    assert_eq!(states.len(), 1);
    states.expire(Timestamp(1999), 1000, Offset(2));
    assert_eq!(states.len(), 1);
    states.expire(Timestamp(2000), 1000, Offset(2));
    assert_eq!(states.len(), 0);
}
