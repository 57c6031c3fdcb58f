//! The sessions against a model that is as simple as can be: lists, searched from the front.

use milepost_model::Instant;
use milepost_wire::ErrorCode;
use milepost_wire::messages::fetch::FetchPartition;

use super::*;

/// What a partition of these topics takes.
const SIZE_BYTES: usize = 202;

fn topic(number: u64) -> TopicKey {
    TopicKey::Name(format!("t{number}").into())
}

fn asked(partition: i32, offset: i64) -> FetchPartition {
    FetchPartition { partition, fetch_offset: offset, ..FetchPartition::default() }
}

fn quiet(high_watermark: i64) -> Seen {
    Seen { has_records: false, high_watermark, log_start_offset: 0, is_trouble: false }
}

fn partitions(count: i32) -> Vec<(SessionPartition, Seen)> {
    (0..count).map(|index| (SessionPartition { topic: topic(0), asked: asked(index, 0) }, quiet(0))).collect()
}

fn create(sessions: &mut FetchSessions, now_ms: u64, size: i32) -> Option<SessionId> {
    let mut next = 0;
    sessions.create(Instant(0).plus_ms(now_ms), TopicKeys::Names, partitions(size), || {
        next += 1;
        next
    })
}

fn update(id: SessionId, epoch: i32) -> Update<'static> {
    Update { id, epoch, topic_keys: TopicKeys::Names, partitions: Vec::new(), forgotten: Vec::new() }
}

#[test]
fn the_turn_of_a_request_is_checked() {
    let mut sessions = FetchSessions::new(10);
    let id = create(&mut sessions, 0, 2).expect("there is room");
    let now = Instant(0);
    let unknown = update(SessionId(id.0 + 1), 1);
    assert_eq!(sessions.update(now, &unknown), Err(ErrorCode::FetchSessionIdNotFound));
    assert_eq!(sessions.update(now, &update(id, 2)), Err(ErrorCode::InvalidFetchSessionEpoch));
    let by_id = Update { topic_keys: TopicKeys::Ids, ..update(id, 1) };
    assert_eq!(sessions.update(now, &by_id), Err(ErrorCode::FetchSessionTopicIdError));
    assert_eq!(sessions.update(now, &update(id, 1)), Ok(Updated::Continues));
    assert_eq!(sessions.answer(id, 1, &[quiet(0), quiet(1)]), Ok(vec![false, true]));
    assert_eq!(sessions.update(now, &update(id, 1)), Err(ErrorCode::InvalidFetchSessionEpoch), "once");
    assert_eq!(sessions.update(now, &update(id, 2)), Ok(Updated::Continues));
    assert_eq!(sessions.answer(id, 1, &[]), Err(ErrorCode::InvalidFetchSessionEpoch), "a late answer");
    let forgotten = (0..2).map(|index| (topic(0), index)).collect();
    assert_eq!(sessions.update(now, &Update { forgotten, ..update(id, 3) }), Ok(Updated::Closed));
    assert_eq!(sessions.update(now, &update(id, 4)), Err(ErrorCode::FetchSessionIdNotFound));
    assert_eq!(sessions.size_bytes, 0);
}

#[test]
fn epochs_go_round() {
    assert_eq!(next_epoch(1), 2);
    assert_eq!(next_epoch(i32::MAX), 1);
}

#[test]
fn who_makes_room() {
    let mut sessions = FetchSessions::new(2);
    let small = create(&mut sessions, 0, 1).expect("there is room");
    let large = create(&mut sessions, 50_000, 5).expect("there is room");
    assert_eq!(create(&mut sessions, 120_000, 9), None, "both are young and in use");
    // The small one was used just now, but has lived for long and is smaller.
    assert_eq!(sessions.update(Instant(0).plus_ms(119_000), &update(small, 1)), Ok(Updated::Continues));
    assert_eq!(create(&mut sessions, 120_001, 1), None, "it is not smaller");
    let newer = create(&mut sessions, 120_001, 2).expect("the smaller one makes room");
    assert_eq!(sessions.partitions(small).count(), usize::from(newer == small) * 2);
    // Two minutes later whoever was idle for longest goes, whatever its size.
    let newest = create(&mut sessions, 170_001, 1).expect("the idle one makes room");
    assert!(newest == large || sessions.partitions(large).count() == 0);
    assert_eq!(sessions.size_bytes, 3 * SIZE_BYTES);
    assert_eq!(create(&mut FetchSessions::new(0), 0, 1), None, "no slots, no sessions");
}

#[test]
fn a_session_is_bounded_when_it_begins_and_while_it_grows() {
    let mut sessions = FetchSessions::new(10);
    let max = i32::try_from(SESSION_BYTES_MAX / SIZE_BYTES).unwrap();
    assert_eq!(create(&mut sessions, 0, max + 1), None);
    let id = create(&mut sessions, 0, max).expect("there is room");
    let one_more = asked(max, 0);
    let grown = Update { partitions: vec![(topic(0), &one_more)], ..update(id, 1) };
    assert_eq!(sessions.update(Instant(0), &grown), Err(ErrorCode::FetchSessionIdNotFound));
    assert_eq!((sessions.sessions.len(), sessions.by_use.len(), sessions.size_bytes), (0, 0, 0));
}

#[test]
fn all_sessions_together_are_bounded() {
    let mut sessions = FetchSessions::new(usize::MAX);
    let max = i32::try_from(SESSION_BYTES_MAX / SIZE_BYTES).unwrap();
    let mut next = 0;
    let mut create = || {
        sessions.create(Instant(0), TopicKeys::Names, partitions(max), || {
            next += 1;
            next
        })
    };
    let made = (0..).take_while(|_| create().is_some()).count();
    assert_eq!(made, ALL_BYTES_MAX / (usize::try_from(max).unwrap() * SIZE_BYTES));
}

#[test]
fn long_names_take_more_room() {
    let mut sessions = FetchSessions::new(10);
    let name = TopicKey::Name("x".repeat(30_000).into());
    let partition = SessionPartition { topic: name, asked: asked(0, 0) };
    let many = (0..SESSION_BYTES_MAX / 30_000 + 1).map(|index| {
        let asked = asked(i32::try_from(index).unwrap(), 0);
        (SessionPartition { asked, ..partition.clone() }, quiet(0))
    });
    let (few, many): (Vec<_>, Vec<_>) = (many.clone().take(3).collect(), many.collect());
    assert!(sessions.create(Instant(0), TopicKeys::Names, many, || 1).is_none());
    assert!(sessions.create(Instant(0), TopicKeys::Names, few, || 1).is_some());
}

/// What the client heard and fetches, in a list.
#[derive(Clone)]
struct Known {
    key: (TopicKey, i32),
    offset: i64,
    heard: Option<(i64, i64)>,
}

struct Numbers(u64);

impl Numbers {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }

    fn key(&mut self) -> (TopicKey, i32) {
        (topic(self.below(3)), i32::try_from(self.below(4)).unwrap())
    }

    fn seen(&mut self) -> Seen {
        Seen {
            has_records: self.below(4) == 0,
            high_watermark: i64::try_from(self.below(2)).unwrap(),
            log_start_offset: i64::try_from(self.below(2)).unwrap(),
            is_trouble: self.below(6) == 0,
        }
    }
}

/// The model's answer: which are named, and the line afterwards.
fn model_answer(line: &mut Vec<Known>, seen: &[Seen]) -> Vec<bool> {
    let mut named = Vec::new();
    let mut stay = Vec::new();
    let mut to_the_end = Vec::new();
    for (mut known, seen) in std::mem::take(line).into_iter().zip(seen) {
        let now = (seen.high_watermark, seen.log_start_offset);
        named.push(seen.has_records || seen.is_trouble || known.heard != Some(now));
        known.heard = (!seen.is_trouble).then_some(now);
        if seen.has_records { to_the_end.push(known) } else { stay.push(known) }
    }
    stay.extend(to_the_end);
    *line = stay;
    named
}

#[test]
fn a_session_answers_as_the_model_does() {
    for seed in 0..300 {
        let mut numbers = Numbers(seed);
        let mut sessions = FetchSessions::new(1);
        let mut line: Vec<Known> = Vec::new();
        let mut first = Vec::new();
        for _ in 0..=numbers.below(6) {
            let (key, seen) = (numbers.key(), numbers.seen());
            if line.iter().any(|known| known.key == key) {
                continue;
            }
            first.push((SessionPartition { topic: key.0.clone(), asked: asked(key.1, 0) }, seen));
            let heard = (!seen.is_trouble).then_some((seen.high_watermark, seen.log_start_offset));
            line.push(Known { key, offset: 0, heard });
        }
        let id = sessions.create(Instant(0), TopicKeys::Names, first, || 7).expect("there is room");
        for epoch in 1..40 {
            let changed: Vec<_> = (0..numbers.below(3))
                .map(|_| {
                    let key = numbers.key();
                    (key.0, asked(key.1, i64::try_from(numbers.below(100)).unwrap()))
                })
                .collect();
            let forgotten: Vec<_> = (0..numbers.below(2)).map(|_| numbers.key()).collect();
            for (topic, asked) in &changed {
                let key = (topic.clone(), asked.partition);
                match line.iter_mut().find(|known| known.key == key) {
                    Some(known) => known.offset = asked.fetch_offset,
                    None => line.push(Known { key, offset: asked.fetch_offset, heard: None }),
                }
            }
            line.retain(|known| !forgotten.contains(&known.key));
            let partitions = changed.iter().map(|(topic, asked)| (topic.clone(), asked)).collect();
            let update = Update { partitions, forgotten, ..update(id, epoch) };
            let expected = if line.is_empty() { Updated::Closed } else { Updated::Continues };
            assert_eq!(sessions.update(Instant(0), &update), Ok(expected), "seed {seed}");
            if expected == Updated::Closed {
                break;
            }
            let ours: Vec<_> = sessions
                .partitions(id)
                .map(|one| (one.topic.clone(), one.asked.partition, one.asked.fetch_offset))
                .collect();
            let theirs: Vec<_> =
                line.iter().map(|known| (known.key.0.clone(), known.key.1, known.offset)).collect();
            assert_eq!(ours, theirs, "seed {seed}, epoch {epoch}");
            assert_eq!(sessions.size_bytes, line.len() * SIZE_BYTES);
            let seen: Vec<_> = line.iter().map(|_| numbers.seen()).collect();
            let named = sessions.answer(id, epoch, &seen).expect("its turn");
            assert_eq!(named, model_answer(&mut line, &seen), "seed {seed}, epoch {epoch}");
        }
    }
}
