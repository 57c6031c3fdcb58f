//! How records become batches.

use milepost_batch::{Codec, TimestampType};
use milepost_log::PartitionConfig;
use milepost_model::Offset;
use milepost_storage::Space;

use super::counters::{Reply, Request};
use super::rig::{Rig, SHARD, small};
use crate::{Answer, DEADLINE_RETRY_MS, Refusal, Settings};

/// A batch of this many bytes holds a few of the toy's records.
const SMALL: usize = 300;

fn rig_with_small_batches() -> Rig {
    Rig::with_config(1, Settings::default(), small(SMALL))
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|index| format!("name-{index:02}")).collect()
}

fn borrowed(names: &[String]) -> Vec<&str> {
    names.iter().map(String::as_str).collect()
}

#[test]
fn a_batch_is_what_kafkas_coordinator_writes() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a", "b"]));
    rig.submit(Request::Add(&["c"]));
    rig.round();
    let now = rig.now.wall;
    let looked_at = rig.with_batches(|batch| {
        assert!(batch.crc_matches());
        assert_eq!(batch.base_sequence(), Some(0));
        assert_eq!(batch.producer(), None);
        assert_eq!(batch.codec(), Ok(Codec::None));
        assert_eq!(batch.timestamp_type(), TimestampType::CreateTime);
        assert!(!batch.is_transactional() && !batch.is_control());
        let records = batch.records().unwrap();
        for record in &records {
            let record = record.unwrap();
            assert_eq!(record.timestamp, now);
            assert_eq!(record.headers.count(), 0);
        }
        batch.record_count()
    });
    assert_eq!(looked_at, [3]);
}

#[test]
fn batches_are_compressed_if_asked_for() {
    let mut rig = Rig::new(1, Settings { codec: Codec::Zstd, ..Settings::default() });
    rig.submit(Request::Add(&["a", "b"]));
    rig.round();
    assert_eq!(rig.with_batches(|batch| batch.codec()), [Ok(Codec::Zstd)]);
    let live = rig.hard();
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert_eq!(rig.hard(), live);
}

#[test]
fn an_outcome_that_may_be_split_is_and_none_of_its_batches_is_too_large() {
    let mut rig = rig_with_small_batches();
    let names = names(40);
    let ticket = rig.submit(Request::AddMaySplit(&borrowed(&names)));
    rig.round();
    assert_eq!(rig.answers(), [(ticket, Answer::Reply(Reply::Added))]);
    let batches = rig.with_batches(|batch| (batch.size_bytes(), batch.record_count()));
    assert!(batches.len() > 1 && batches.iter().all(|(size_bytes, _)| *size_bytes <= SMALL));
    assert_eq!(batches.iter().map(|(_, count)| count).sum::<i32>(), 40);
    assert_eq!(rig.hard().counters["name-39"], (1, Offset(39)));
}

#[test]
fn an_atomic_outcome_begins_a_batch_if_it_does_not_fit_behind_others() {
    let mut rig = rig_with_small_batches();
    let three = ["a", "b", "c"];
    for _ in 0..4 {
        rig.submit(Request::Add(&three));
    }
    rig.round();
    let counts = rig.with_batches(|batch| batch.record_count());
    assert!(counts.len() > 1, "{counts:?}");
    assert!(counts.iter().all(|count| count % 3 == 0), "{counts:?} tears an outcome apart");
    assert_eq!(rig.hard().counters["c"], (4, Offset(11)));
}

#[test]
fn an_atomic_outcome_that_never_fits_is_refused_and_not_replayed() {
    let mut rig = rig_with_small_batches();
    let before = rig.submit(Request::Add(&["a"]));
    let names = names(40);
    let refused = rig.submit(Request::Add(&borrowed(&names)));
    let huge = "x".repeat(SMALL);
    let refused_too = rig.submit(Request::AddMaySplit(&["b", &huge]));
    let too_large = |ticket| (ticket, Answer::Refused(Refusal::TooLarge));
    assert_eq!(rig.answers(), [too_large(refused), too_large(refused_too)]);
    assert_eq!(rig.hard().counters.len(), 1);
    let after = rig.submit(Request::Add(&["a"]));
    rig.round();
    let added = |ticket| (ticket, Answer::Reply(Reply::Added));
    assert_eq!(rig.answers(), [added(before), added(after)]);
    assert_eq!(rig.hard().counters["a"], (2, Offset(1)));
}

#[test]
fn kafka_19760_what_fits_a_batch_once_compressed_is_taken() {
    let names: Vec<String> = (0..40).map(|index| format!("a-long-name-{index:02}")).collect();
    let config = small(600);
    for (codec, is_taken) in [(Codec::None, false), (Codec::Zstd, true)] {
        let settings = Settings { codec, ..Settings::default() };
        let mut rig = Rig::with_config(1, settings, config.clone());
        rig.submit(Request::Add(&["before"]));
        let large = rig.submit(Request::Add(&borrowed(&names)));
        rig.submit(Request::Add(&["after"]));
        rig.round();
        let answers = rig.answers();
        let expected =
            if is_taken { Answer::Reply(Reply::Added) } else { Answer::Refused(Refusal::TooLarge) };
        assert!(answers.contains(&(large, expected)), "{codec:?}: {answers:?}");
        let batches = rig.with_batches(|batch| (batch.record_count(), batch.size_bytes()));
        assert!(batches.iter().all(|(_, size_bytes)| *size_bytes <= 600), "{batches:?}");
        let counts: Vec<_> = batches.iter().map(|(count, _)| *count).collect();
        assert_eq!(counts, if is_taken { vec![1, 40, 1] } else { vec![2] });
        let live = rig.hard();
        let mut rig = rig.restart(settings);
        rig.load();
        assert_eq!(rig.hard(), live);
    }
}

#[test]
fn kafka_20845_a_large_write_leaves_no_empty_batch_and_state_that_the_log_has() {
    let mut rig = rig_with_small_batches();
    let large = names(8);
    for _ in 0..3 {
        // Each of them fills a batch: what is open before is appended first, if there is anything in it.
        rig.submit(Request::Add(&borrowed(&large)));
        rig.round();
        rig.submit(Request::Add(&["a"]));
        rig.submit(Request::Add(&borrowed(&large)));
    }
    rig.round();
    assert!(rig.with_batches(|batch| batch.record_count()).iter().all(|count| *count > 0));
    let live = rig.hard();
    let mut rig = rig.restart(Settings::default());
    rig.load();
    assert_eq!(rig.hard(), live);
}

#[test]
fn kafka_16770_requests_that_wait_for_one_disk_share_a_batch() {
    let mut rig = Rig::single();
    for index in 0..100 {
        rig.submit(Request::Add(&[&format!("name-{index}")]));
    }
    rig.round();
    assert_eq!(rig.with_batches(|batch| batch.record_count()), [100]);
}

#[test]
fn a_full_disk_refuses_writes_answers_reads_and_heals() {
    let mut rig = Rig::single();
    rig.submit(Request::Add(&["a"]));
    rig.round();
    rig.answers();
    rig.set_space(Space::Full);
    let refused = rig.submit(Request::Add(&["a"]));
    let read = rig.submit(Request::Get("a"));
    let value = |ticket, value| (ticket, Answer::Reply(Reply::Value(Some(value))));
    assert_eq!(rig.answers(), [(refused, Answer::Refused(Refusal::NoSpace)), value(read, 1)]);
    rig.set_space(Space::Ready);
    rig.submit(Request::Add(&["a"]));
    let read = rig.submit(Request::Get("a"));
    rig.round();
    assert_eq!(rig.answers()[1], value(read, 2));
}

#[test]
fn a_deadline_whose_records_are_refused_is_tried_again_and_not_at_once() {
    let mut rig = Rig::single();
    let at = rig.now.monotonic.plus_ms(10);
    rig.submit(Request::Alarm(at, "a"));
    assert_eq!(rig.shards.next_deadline(), Some(at));
    rig.set_space(Space::Full);
    rig.pass_ms(10);
    assert_eq!(rig.shards.next_deadline(), Some(at.plus_ms(DEADLINE_RETRY_MS)));
    rig.set_space(Space::Ready);
    rig.pass_ms(DEADLINE_RETRY_MS - 1);
    assert!(rig.hard().counters.is_empty());
    rig.pass_ms(1);
    assert_eq!(rig.hard().counters["a"].0, 1);
    assert_eq!(rig.shards.next_deadline(), None);
    rig.round();
    assert_eq!(rig.high_watermark(SHARD), Offset(1));
}

#[test]
fn a_batch_fits_a_segment_too() {
    let config = PartitionConfig { segment_bytes: SMALL as u64, ..PartitionConfig::default() };
    let mut rig = Rig::with_config(1, Settings::default(), config);
    let names = names(40);
    let refused = rig.submit(Request::Add(&borrowed(&names)));
    let split = rig.submit(Request::AddMaySplit(&borrowed(&names)));
    rig.round();
    let expected = [(refused, Answer::Refused(Refusal::TooLarge)), (split, Answer::Reply(Reply::Added))];
    assert_eq!(rig.answers(), expected);
}

#[test]
fn the_room_of_a_large_record_is_given_back() {
    let mut rig = Rig::single();
    let large = "x".repeat(100_000);
    rig.submit(Request::Add(&["small", &large]));
    rig.round();
    let kept_bytes: usize = rig.shards.shards().map(crate::ShardRuntime::kept_room_bytes).sum();
    assert!(kept_bytes > 0 && kept_bytes < 2_000, "{kept_bytes} bytes are kept");
    assert_eq!(rig.answers().len(), 1);
}
