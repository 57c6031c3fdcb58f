//! On the operating system's files: the same contract, with and without threads.

use std::sync::atomic::{AtomicU32, Ordering};

use super::*;
use crate::conformance::{commit, entry, name, wait_checkpoint};
use crate::{CheckpointState, JournalState};

fn conforms(settings: LocalSettings) {
    crate::conformance::check(|| {
        let folder = tempfile::tempdir().unwrap();
        Box::new(move || {
            LocalEngine::open_folder(&folder.path().join("a/b"), settings).map(|start| start.engine)
        })
    });
}

#[test]
fn it_conforms_flushed_by_the_caller() {
    conforms(LocalSettings::small());
}

#[test]
fn it_conforms_flushed_by_a_thread() {
    conforms(LocalSettings { flush: FlushMode::Thread, ..LocalSettings::small() });
}

#[test]
fn it_conforms_without_waiting_for_the_device() {
    conforms(LocalSettings { durability: Durability::Os, ..LocalSettings::small() });
}

#[test]
fn it_conforms_as_it_comes() {
    conforms(LocalSettings::default());
}

#[test]
fn threads_tell_the_wakers() {
    let folder = tempfile::tempdir().unwrap();
    let settings = LocalSettings { flush: FlushMode::Thread, ..LocalSettings::small() };
    let start = LocalEngine::open_folder(folder.path(), settings).unwrap();
    assert_eq!(start.flushed_by, FlushedBy::Thread);
    let mut engine = start.engine;
    let rounds = Arc::new(AtomicU32::new(0));
    let checkpoints = Arc::new(AtomicU32::new(0));
    let (round, checkpoint) = (Arc::clone(&rounds), Arc::clone(&checkpoints));
    engine.journal.set_waker(Arc::new(move || _ = round.fetch_add(1, Ordering::SeqCst)));
    engine.segments.set_waker(Arc::new(move || _ = checkpoint.fetch_add(1, Ordering::SeqCst)));
    for _ in 0..50 {
        commit(&mut *engine.journal, vec![entry(1, 1, &[7; 2000])]);
    }
    let file = engine.segments.create(&name("t-0", "0.log")).unwrap();
    engine.segments.begin_checkpoint(&[file], b"document".to_vec());
    wait_checkpoint(&mut *engine.segments);
    drop(engine);
    assert_eq!((rounds.load(Ordering::SeqCst), checkpoints.load(Ordering::SeqCst)), (50, 1));
}

#[test]
fn a_folder_that_is_not_ours_is_refused_untouched() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("orders-0")).unwrap();
    let refused = LocalEngine::open_folder(folder.path(), LocalSettings::small()).err().unwrap();
    assert!(
        matches!(&refused, AcquireError::Version { found, .. } if found.contains("orders-0")),
        "{refused}"
    );
    std::fs::remove_dir(folder.path().join("orders-0")).unwrap();
    std::fs::write(folder.path().join("milepost.format"), "milepost data folder, format 2\n").unwrap();
    let refused = LocalEngine::open_folder(folder.path(), LocalSettings::small()).err().unwrap();
    assert!(
        matches!(&refused, AcquireError::Version { found, .. } if found.contains("format 2")),
        "{refused}"
    );
    assert!(!folder.path().join("journal").exists());
}

#[test]
fn a_path_that_is_a_file_is_refused_with_its_name() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    std::fs::write(&path, "x").unwrap();
    let refused = LocalEngine::open_folder(&path, LocalSettings::small()).err().unwrap();
    assert!(matches!(refused, AcquireError::Io { .. }) && refused.to_string().contains("data"), "{refused}");
}

#[test]
fn a_journal_without_its_folder_is_poisoned_and_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("data");
    let mut engine = LocalEngine::open_folder(&path, LocalSettings::small()).unwrap().engine;
    // The keeper's spare must not be on its way while the folder goes.
    while !std::fs::read_dir(path.join("journal"))
        .unwrap()
        .any(|entry| entry.unwrap().file_name().to_string_lossy().ends_with(".spare"))
    {
        std::thread::yield_now();
    }
    std::fs::rename(path.join("journal"), path.join("gone")).unwrap();
    for _ in 0..40 {
        engine.journal.submit(vec![entry(1, 1, &[7; 2000])]);
    }
    assert!(matches!(engine.journal.poll(), JournalState::Poisoned(reason) if reason.contains("journal")));
    assert!(engine.segments.create(&name("t-0", "0.log")).is_err());
    engine.segments.begin_checkpoint(&[], Vec::new());
    while engine.segments.poll_checkpoint() == CheckpointState::Running {}
    assert!(matches!(engine.journal.poll(), JournalState::Poisoned(_)));
}

#[test]
fn a_first_start_is_quick() {
    let folder = tempfile::tempdir().unwrap();
    let begin = std::time::Instant::now();
    let start = LocalEngine::open_folder(folder.path(), LocalSettings::default()).unwrap();
    let took = begin.elapsed();
    println!("first start {took:?}, sync {:?} us, {:?}", start.sync_time_us, start.flushed_by);
    // The goal is a tenth of a second; a busy machine gets more before the test complains.
    assert!(took.as_millis() < 2000, "{took:?}");
}
