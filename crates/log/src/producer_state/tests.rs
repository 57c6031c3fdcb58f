use super::*;

fn producer(epoch: i16) -> ProducerIdentity {
    ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(epoch) }
}

fn step(epoch: i16, first: i32, base: i64) -> ProducerStep {
    ProducerStep {
        epoch: ProducerEpoch(epoch),
        sequences: Some((first, milepost_batch::sequence_plus(first, 1))),
        base_offset: Offset(base),
        last_offset: Offset(base + 1),
        timestamp: Timestamp(1000 + base / 2),
        coordinator_epoch: None,
        transaction_start: None,
    }
}

/// A state that accepted batches of two records each, with these epochs and first sequences, from offset 0 on.
fn state(batches: &[(i16, i32)], durable_end: i64) -> ProducerStates {
    let mut states = ProducerStates::default();
    for (index, (epoch, first)) in (0i64..).zip(batches) {
        states.add(ProducerId(7), step(*epoch, *first, index * 2), Offset(durable_end));
    }
    states
}

fn check(states: &ProducerStates, epoch: i16, first: i32) -> ProducerCheck {
    let sequences = (first, milepost_batch::sequence_plus(first, 1));
    states.check_client(producer(epoch), sequences, BelongsTo::None)
}

fn durable(states: &ProducerStates, end: i64) -> Vec<ProducerStep> {
    let all: Vec<_> = states.durable_at(Offset(end)).collect();
    all.iter().flat_map(|(_, producer)| producer.batches().copied()).collect()
}

#[test]
fn an_unknown_producer_may_begin_anywhere() {
    assert_eq!(check(&ProducerStates::default(), 3, 17), ProducerCheck::Accept);
}

#[test]
fn only_the_next_sequence_is_accepted() {
    let states = state(&[(0, 0), (0, 2)], i64::MAX);
    assert_eq!(check(&states, 0, 4), ProducerCheck::Accept);
    assert_eq!(check(&states, 0, 5), ProducerCheck::OutOfOrder { expected: 4 });
    assert_eq!(check(&states, 0, 3), ProducerCheck::OutOfOrder { expected: 4 });
    let wrapped = state(&[(0, i32::MAX - 1)], i64::MAX);
    assert_eq!(check(&wrapped, 0, 0), ProducerCheck::Accept);
}

#[test]
fn the_last_five_batches_are_duplicates_and_the_sixth_is_a_gap() {
    let states = state(&[(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10)], i64::MAX);
    for (index, first) in (1i64..).zip([2, 4, 6, 8, 10]) {
        let ProducerCheck::Duplicate(original) = check(&states, 0, first) else { panic!("{first} is known") };
        assert_eq!(original.base_offset, Offset(index * 2));
    }
    assert_eq!(check(&states, 0, 0), ProducerCheck::OutOfOrder { expected: 12 });
    // The same first sequence with another length is not the same batch.
    let longer = states.check_client(producer(0), (10, 10), BelongsTo::None);
    assert_eq!(longer, ProducerCheck::OutOfOrder { expected: 12 });
}

#[test]
fn epochs_only_rise_and_begin_at_sequence_zero() {
    let states = state(&[(4, 0)], i64::MAX);
    assert_eq!(check(&states, 3, 2), ProducerCheck::StaleEpoch { known: ProducerEpoch(4) });
    assert_eq!(check(&states, 5, 2), ProducerCheck::OutOfOrder { expected: 0 });
    assert_eq!(check(&states, 5, 0), ProducerCheck::Accept);
    // After the bump the old epoch's batches are no duplicates any more.
    let bumped = state(&[(4, 0), (5, 0)], i64::MAX);
    assert_eq!(check(&bumped, 4, 0), ProducerCheck::StaleEpoch { known: ProducerEpoch(5) });
}

#[test]
fn what_is_durable_does_not_depend_on_what_was_accepted_since() {
    let all = [(0, 0), (0, 2), (0, 4), (0, 6), (0, 8), (0, 10), (0, 12), (0, 14)];
    let expected = durable(&state(&all[..6], i64::MAX), 12);
    let mut ahead = state(&all, 0);
    assert_eq!(durable(&ahead, 12), expected);
    assert_eq!(expected.len(), DUPLICATE_WINDOW);
    // A bump that is not durable yet leaves the durable epoch as it was.
    ahead.add(ProducerId(7), step(1, 0, 16), Offset(12));
    assert_eq!(durable(&ahead, 12), expected);
    assert_eq!(ahead.durable_at(Offset(0)).count(), 0);
}

#[test]
fn the_memory_of_a_busy_producer_is_bounded_once_it_is_durable() {
    let batches: Vec<_> = (0..100).map(|index| (0i16, index * 2)).collect();
    let mut states = state(&batches, i64::MAX);
    assert!(states.steps[&ProducerId(7)].len() <= 2 * DUPLICATE_WINDOW);
    // Markers are remembered only as far as they say how the producer stands.
    for marker in 0..100 {
        let marker = ProducerStep { sequences: None, ..step(0, 0, 200 + 2 * marker) };
        states.add(ProducerId(7), marker, Offset(i64::MAX));
    }
    assert!(states.steps[&ProducerId(7)].len() <= 2 * DUPLICATE_WINDOW);
    assert_eq!(durable(&states, i64::MAX).len(), DUPLICATE_WINDOW);
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

#[test]
fn a_producer_with_an_open_transaction_does_not_expire() {
    let mut states = ProducerStates::default();
    let open = ProducerStep { transaction_start: Some(Offset(0)), ..step(0, 0, 0) };
    states.add(ProducerId(7), open, Offset(2));
    states.expire(Timestamp(i64::MAX), 1000, Offset(2));
    assert_eq!(states.len(), 1);
    let marker = ProducerStep { sequences: None, transaction_start: None, ..step(0, 0, 2) };
    states.add(ProducerId(7), marker, Offset(2));
    states.expire(Timestamp(i64::MAX), 1000, Offset(2));
    assert_eq!(states.len(), 1, "its end is not durable");
    states.expire(Timestamp(i64::MAX), 1000, Offset(4));
    assert_eq!(states.len(), 0);
}

#[test]
fn markers_are_judged_by_both_epochs() {
    let mut states = state(&[(3, 0)], i64::MAX);
    let marker = |states: &ProducerStates, epoch, coordinator_epoch, rule| {
        states.check_marker(producer(epoch), coordinator_epoch, rule)
    };
    let stale = ProducerCheck::StaleEpoch { known: ProducerEpoch(3) };
    let at_least = MarkerEpoch::AtLeastKnown;
    let above = MarkerEpoch::AboveKnown;
    assert_eq!(marker(&ProducerStates::default(), 0, 0, above), ProducerCheck::Accept);
    assert_eq!(marker(&states, 2, 5, at_least), stale);
    assert_eq!(marker(&states, 3, 5, at_least), ProducerCheck::Accept);
    assert_eq!(marker(&states, 3, 5, above), ProducerCheck::Accept, "nothing is open: it came twice");
    let open =
        ProducerStep { transaction_start: Some(Offset(2)), coordinator_epoch: Some(5), ..step(3, 2, 2) };
    states.add(ProducerId(7), open, Offset(4));
    assert_eq!(marker(&states, 3, 5, at_least), ProducerCheck::Accept);
    assert_eq!(marker(&states, 3, 5, above), stale, "it is one of an earlier transaction");
    assert_eq!(marker(&states, 4, 5, above), ProducerCheck::Accept);
    let fenced = ProducerCheck::StaleCoordinatorEpoch { known: 5 };
    assert_eq!(marker(&states, 4, 4, above), fenced);
    // A batch outside of the transaction is refused, one of an older epoch before that.
    let outside = states.check_client(producer(3), (4, 4), BelongsTo::None);
    assert_eq!(outside, ProducerCheck::OutsideTransaction);
    assert_eq!(states.check_coordinator(producer(3), BelongsTo::None), ProducerCheck::OutsideTransaction);
    assert_eq!(states.check_coordinator(producer(2), BelongsTo::ATransaction), stale);
    assert_eq!(states.check_coordinator(producer(3), BelongsTo::ATransaction), ProducerCheck::Accept);
}

#[test]
fn after_a_marker_of_a_new_epoch_sequences_begin_at_zero() {
    let mut states = state(&[(3, 0)], i64::MAX);
    let marker = ProducerStep { sequences: None, ..step(4, 0, 2) };
    states.add(ProducerId(7), marker, Offset(0));
    assert_eq!(check(&states, 4, 2), ProducerCheck::OutOfOrder { expected: 0 });
    assert_eq!(check(&states, 4, 0), ProducerCheck::Accept);
    assert_eq!(check(&states, 3, 0), ProducerCheck::StaleEpoch { known: ProducerEpoch(4) });
    // One of the same epoch leaves them as they were.
    let mut kept = state(&[(3, 0)], i64::MAX);
    kept.add(ProducerId(7), ProducerStep { sequences: None, ..step(3, 0, 2) }, Offset(0));
    assert_eq!(check(&kept, 3, 2), ProducerCheck::Accept);
}

#[test]
fn what_is_forgotten_never_changes_what_is_durable() {
    let mut all = ProducerStates::default();
    let mut pruned = ProducerStates::default();
    let known = |states: &ProducerStates, end: Offset| {
        let view = states.one_durable_at(ProducerId(7), end)?;
        Some((*view.last, view.batches().copied().collect::<Vec<_>>()))
    };
    for index in 0..100 {
        // Transactions of two batches, and now and then a marker that comes twice; a new epoch after fifty steps.
        let epoch = i16::from(index >= 50);
        let batch = step(epoch, i32::try_from(index % 50).unwrap() * 2, index * 2);
        let next = match index % 7 {
            2 | 5 | 6 => ProducerStep { sequences: None, coordinator_epoch: Some(1), ..batch },
            _ => ProducerStep { transaction_start: Some(Offset(index / 3 * 6)), ..batch },
        };
        // All but the step itself is durable.
        let durable_end = next.base_offset;
        all.add(ProducerId(7), next, Offset::ZERO);
        pruned.add(ProducerId(7), next, durable_end);
        assert_eq!(known(&pruned, durable_end), known(&all, durable_end), "after step {index}");
        assert_eq!(known(&pruned, next.last_offset.plus(1)), known(&all, next.last_offset.plus(1)));
    }
    assert!(pruned.steps[&ProducerId(7)].len() < 20);
}
