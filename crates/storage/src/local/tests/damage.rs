//! Torn ends against damage to acknowledged data; recycled and forged bytes; versions.

use super::frame::{
    FRAME_ALIGNMENT_BYTES, FileHeader, FileIdentity, Filled, FramePlace, HEADER_BLOCK_BYTES, encode_frame,
};
use super::*;
use crate::StreamId;
use crate::conformance::{commit, entry, wait_checkpoint};

const FIRST_FILE: &str = "journal/00000000000000000001.journal";
const SECOND_FILE: &str = "journal/00000000000000000002.journal";
/// Where the stream of a frame's first entry, and its payload, lie in the frame.
const STREAM_AT: usize = 56;
const PAYLOAD_AT: usize = 81;

/// Where a round lies when all rounds are small.
fn at(round: usize) -> usize {
    HEADER_BLOCK_BYTES + (round - 1) * FRAME_ALIGNMENT_BYTES
}

/// A folder with five small rounds, each of its own stream.
fn five_rounds() -> SimulatedFileSystem {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    for round in 1..=5 {
        commit(&mut *engine.journal, vec![entry(round, round, &[round; 100])]);
    }
    system
}

fn flip(system: &SimulatedFileSystem, path: &str, at: usize) {
    system.tamper(path, at, |byte| *byte ^= 0x10);
}

fn numbers(engine: &Engine) -> Vec<u64> {
    engine.replay.rounds.iter().map(|round| round.number.0).collect()
}

fn accepting() -> LocalSettings {
    LocalSettings { loss: LossPolicy::Accept, ..LocalSettings::small() }
}

fn corrupt(result: Result<Engine, AcquireError>) -> (String, String) {
    match result {
        Err(AcquireError::Corrupt { place, reason }) => (place, reason),
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it opened"),
    }
}

#[test]
fn a_damaged_payload_below_the_line_names_its_streams_and_the_rest_is_read() {
    let system = five_rounds();
    flip(&system, FIRST_FILE, at(3) + PAYLOAD_AT);
    for start in 0..3_u8 {
        let mut engine = open(&system).unwrap();
        let damaged = &engine.replay.damaged;
        assert_eq!(damaged.len(), 1);
        assert_eq!((damaged[0].number, &damaged[0].streams), (RoundNumber(3), &vec![StreamId([3; 20])]));
        assert!(
            damaged[0].place.contains(FIRST_FILE) && damaged[0].place.contains("5120"),
            "{}",
            damaged[0].place
        );
        let expected: Vec<u64> = [1, 2, 4, 5].into_iter().chain(6..6 + u64::from(start)).collect();
        assert_eq!((numbers(&engine), engine.replay.torn_tail.clone()), (expected, None));
        commit(&mut *engine.journal, vec![entry(1, 1, b"more")]);
    }
    let mut engine = open(&system).unwrap();
    engine.journal.trim(RoundNumber(9));
    drop(engine);
    assert_eq!(open(&system).unwrap().replay.damaged, []);
}

#[test]
fn a_damaged_header_below_the_line_is_refused_until_the_loss_is_accepted() {
    for place in [0, 20, STREAM_AT] {
        let system = five_rounds();
        flip(&system, FIRST_FILE, at(3) + place);
        for _ in 0..2 {
            let (place, reason) = corrupt(open(&system));
            assert!(place.contains(FIRST_FILE) && place.contains(&at(3).to_string()), "{place}");
            assert!(reason.contains("round 3") && reason.contains("--accept-loss"), "{reason}");
        }
        let mut engine = open_with(&system, accepting()).unwrap();
        assert_eq!(numbers(&engine), [1, 2]);
        assert!(engine.replay.torn_tail.is_some());
        assert_eq!(commit(&mut *engine.journal, vec![entry(1, 1, b"after")]), RoundNumber(3));
        drop(engine);
        let engine = open(&system).unwrap();
        assert_eq!((numbers(&engine), engine.replay.torn_tail.clone()), (vec![1, 2, 3], None));
        assert_eq!(engine.replay.rounds[2].entries, [entry(1, 1, b"after")]);
    }
}

#[test]
fn a_damaged_last_round_is_a_torn_end_once_and_its_number_is_used_again() {
    for place in [0, 20, STREAM_AT, PAYLOAD_AT] {
        let system = five_rounds();
        flip(&system, FIRST_FILE, at(5) + place);
        let mut engine = open(&system).unwrap();
        assert_eq!(numbers(&engine), [1, 2, 3, 4]);
        let torn = engine.replay.torn_tail.clone().unwrap();
        assert!(torn.place.contains(&at(5).to_string()) && torn.bytes >= 100, "{torn:?}");
        assert_eq!(commit(&mut *engine.journal, vec![entry(1, 1, b"after")]), RoundNumber(5));
        // What was cut stays cut, even if it should read well again.
        flip(&system, FIRST_FILE, at(5) + place);
        drop(engine);
        let engine = open(&system).unwrap();
        assert_eq!((numbers(&engine), engine.replay.torn_tail.clone()), (vec![1, 2, 3, 4, 5], None));
        assert_eq!(engine.replay.rounds[4].entries, [entry(1, 1, b"after")]);
    }
}

#[test]
fn a_last_round_that_a_later_start_relied_on_is_no_torn_end() {
    let system = five_rounds();
    drop(open(&system).unwrap());
    flip(&system, FIRST_FILE, at(5) + PAYLOAD_AT);
    assert_eq!(open(&system).unwrap().replay.damaged[0].number, RoundNumber(5));
    flip(&system, FIRST_FILE, at(5));
    assert!(corrupt(open(&system)).1.contains("round 5"));
}

#[test]
fn a_damaged_file_header_is_refused_until_the_loss_is_accepted() {
    let system = five_rounds();
    let mut engine = open(&system).unwrap();
    commit(&mut *engine.journal, vec![entry(6, 6, b"six")]);
    drop(engine);
    flip(&system, SECOND_FILE, 24);
    assert!(corrupt(open(&system)).0.contains(SECOND_FILE));
    let mut engine = open_with(&system, accepting()).unwrap();
    assert_eq!(numbers(&engine), [1, 2, 3, 4, 5]);
    assert_eq!(engine.journal.epoch(), 3, "the epoch of the damaged file is not used again");
    commit(&mut *engine.journal, vec![entry(7, 7, b"another six")]);
    drop(engine);
    let engine = open(&system).unwrap();
    assert_eq!(numbers(&engine), [1, 2, 3, 4, 5, 6]);
    assert!(system.files().contains_key("journal/00000000000000000002.damaged"));
}

#[test]
fn a_journal_file_that_is_gone_is_noticed() {
    let system = five_rounds();
    for round in 6..=7 {
        commit(&mut *open(&system).unwrap().journal, vec![entry(round, 1, b"x")]);
    }
    let remove = |path: &str| FileSystem::remove(&system, path).unwrap();
    remove(SECOND_FILE);
    let (place, reason) = corrupt(open(&system));
    assert!(place.contains("1.journal") && reason.contains("round 6 is missing"), "{place}: {reason}");
    remove(FIRST_FILE);
    let engine = open(&system).unwrap();
    assert_eq!((engine.replay.begins_at, numbers(&engine)), (RoundNumber(7), vec![7]));
}

#[test]
fn another_version_is_named() {
    let system = five_rounds();
    let header =
        FileHeader { number: 1, epoch: 1, first_round: 1, durable: 0, chain: 0, filled: Filled::Zeros };
    let (mut bytes, _) = header.encode();
    bytes[8] = 2;
    let crc = crc32c::crc32c(&bytes[..45]);
    bytes[45..49].copy_from_slice(&crc.to_le_bytes());
    for (at, new) in bytes.into_iter().enumerate() {
        system.tamper(FIRST_FILE, at, |byte| *byte = new);
    }
    let refused = open(&system).err().unwrap();
    assert!(
        matches!(&refused, AcquireError::Version { found, .. } if found.contains("version 2")),
        "{refused}"
    );
}

#[test]
fn a_damaged_checkpoint_is_refused_whatever_is_accepted() {
    let system = five_rounds();
    let mut engine = open(&system).unwrap();
    engine.segments.begin_checkpoint(&[], b"the document".to_vec());
    wait_checkpoint(&mut *engine.segments);
    drop(engine);
    for (at, part) in [(0, "begin"), (13, "length"), (20, "checksum"), (30, "checksum")] {
        flip(&system, "checkpoint", at);
        let (place, reason) = corrupt(open_with(&system, accepting()));
        assert!(place.contains("checkpoint") && reason.contains(part), "{place}: {reason}");
        flip(&system, "checkpoint", at);
    }
    flip(&system, "checkpoint", 8);
    assert!(matches!(open(&system), Err(AcquireError::Version { .. })));
    flip(&system, "checkpoint", 8);
    assert_eq!(open(&system).unwrap().checkpoint.as_deref(), Some(&b"the document"[..]));
}

#[test]
fn old_frames_in_recycled_files_are_never_taken_for_new_ones() {
    let system = SimulatedFileSystem::new(1);
    let mut written = 0_u64;
    let mut recycled = 0;
    for start in 0..12 {
        let mut engine = open(&system).unwrap();
        assert_eq!(engine.replay.torn_tail, None, "start {start}");
        assert_eq!(engine.replay.begins_at.0 + engine.replay.rounds.len() as u64, written + 1);
        for round in &engine.replay.rounds {
            assert_eq!(round.entries, [entry(1, 1, &round.number.0.to_be_bytes())]);
        }
        // All frames have one size, so that old ones begin exactly where new ones would.
        for _ in 0..230 + start {
            written += 1;
            commit(&mut *engine.journal, vec![entry(1, 1, &written.to_be_bytes())]);
            // Within one start too, so that old frames have the epoch of the new ones.
            engine.journal.trim(RoundNumber(written.saturating_sub(5)));
        }
        recycled += system.files().keys().filter(|path| path.ends_with(".spare")).count();
    }
    assert!(recycled > 0, "files were recycled");
    let sizes = system.files().into_iter().filter(|(path, _)| path.starts_with("journal/"));
    assert!(sizes.count() <= 5, "trimmed files are not kept");
}

#[test]
fn a_frame_forged_in_a_payload_proves_nothing() {
    let system = SimulatedFileSystem::new(1);
    let mut engine = open(&system).unwrap();
    let mut payload = vec![1; FRAME_ALIGNMENT_BYTES - PAYLOAD_AT];
    let mut forged = Vec::new();
    let file = FileIdentity { number: 1, epoch: 1, salt: 0 };
    let place = FramePlace { round: 9, durable: 9, chain: 0 };
    encode_frame(&mut forged, file, place, &[entry(1, 1, b"forged")]).unwrap();
    payload.extend_from_slice(&forged);
    commit(&mut *engine.journal, vec![entry(1, 1, &payload)]);
    drop(engine);
    flip(&system, FIRST_FILE, at(1) + 20);
    let engine = open(&system).unwrap();
    assert!(engine.replay.rounds.is_empty() && engine.replay.torn_tail.is_some());
}

#[test]
fn rounds_acknowledged_before_their_sync_survive_as_a_prefix_that_covers_the_checkpoint() {
    let settings = LocalSettings { durability: Durability::Os, ..LocalSettings::small() };
    let mut shorter = 0;
    for seed in 0..200 {
        let system = SimulatedFileSystem::new(seed);
        let mut written: Vec<Vec<crate::Entry>> = Vec::new();
        for life in 0..3_u64 {
            let mut engine = open_with(&system, settings).unwrap();
            let found: Vec<_> = engine.replay.rounds.iter().map(|round| round.entries.clone()).collect();
            assert_eq!(engine.replay.damaged, []);
            assert!(found.len() <= written.len() && found[..] == written[..found.len()]);
            shorter += usize::from(found.len() < written.len());
            if let Some(document) = &engine.checkpoint {
                assert!(usize::from(document[0]) <= found.len(), "the checkpoint is ahead of the journal");
            }
            written.truncate(found.len());
            for index in 0..30 + seed % 20 {
                let payload =
                    vec![u8::try_from(index + 1).unwrap(); usize::try_from(index * 61 % 2500).unwrap()];
                written.push(vec![entry(1, u8::try_from(life).unwrap(), &payload)]);
                commit(&mut *engine.journal, written[written.len() - 1].clone());
                if index == 20 {
                    engine.segments.begin_checkpoint(&[], vec![u8::try_from(written.len()).unwrap()]);
                    wait_checkpoint(&mut *engine.segments);
                }
            }
            drop(engine);
            system.crash(seed + life);
        }
    }
    assert!(shorter > 0, "some crashes lost something");
}

#[test]
fn one_flipped_bit_anywhere_never_changes_a_round_or_hides_one_that_was_relied_on() {
    let system = SimulatedFileSystem::new(1);
    let mut written = Vec::new();
    for start in 0..4_u64 {
        let mut engine = open(&system).unwrap();
        for index in 0..25 + start * 10 {
            let size = usize::try_from((index * 131 + start) % 2000).unwrap();
            written.push(vec![entry(1, 1, &vec![7; size]), entry(2, 2, &written.len().to_be_bytes())]);
            commit(&mut *engine.journal, written[written.len() - 1].clone());
        }
        if start == 2 {
            engine.journal.trim(RoundNumber(60));
        }
    }
    let files: Vec<_> = system.files().into_iter().filter(|(path, _)| path.ends_with(".journal")).collect();
    assert!(files.len() > 3);
    let (mut corrupt, mut damaged, mut torn, mut unharmed) = (0, 0, 0, 0);
    for step in 0..1500_usize {
        let (path, content) = &files[step % files.len()];
        let at = step * 7919 % content.len();
        let copy = system.copy();
        copy.tamper(path, at, |byte| *byte ^= 1 << (step % 8));
        let replay = match open(&copy) {
            Ok(engine) => engine.replay,
            Err(AcquireError::Corrupt { .. }) => {
                corrupt += 1;
                continue;
            }
            Err(other) => panic!("{path} at {at}: {other}"),
        };
        let mut numbers: Vec<_> = replay.rounds.iter().map(|round| round.number.0).collect();
        for round in &replay.rounds {
            assert!(round.entries == written[usize::try_from(round.number.0 - 1).unwrap()], "{path} at {at}");
        }
        numbers.extend(replay.damaged.iter().map(|round| round.number.0));
        numbers.sort_unstable();
        let last = replay.begins_at.0 + numbers.len() as u64 - 1;
        assert_eq!(numbers, (replay.begins_at.0..=last).collect::<Vec<_>>(), "{path} at {at}");
        assert!(
            replay.begins_at <= RoundNumber(60) && last + 1 >= written.len() as u64,
            "{path} at {at}: {last}"
        );
        torn += usize::from(last < written.len() as u64);
        damaged += replay.damaged.len();
        unharmed += usize::from(replay.damaged.is_empty() && last == written.len() as u64);
    }
    assert!(
        corrupt > 20 && damaged > 100 && torn > 0 && unharmed > 100,
        "{corrupt} {damaged} {torn} {unharmed}"
    );
}
