//! How long a round takes beside a bare sync. Prints; run with `--ignored --nocapture`.

use std::fs::File;
use std::os::unix::fs::FileExt;
use std::time::{Duration, Instant};

use super::*;
use crate::conformance::{commit, entry};

fn median(mut times: Vec<Duration>) -> Duration {
    times.sort_unstable();
    times[times.len() / 2]
}

#[test]
#[ignore = "it measures, and prints what it measured"]
fn a_round_of_ten_kilobytes_takes_about_one_sync() {
    let folder = tempfile::tempdir_in(std::env::current_dir().unwrap()).unwrap();
    let bytes = vec![7; 10_000];
    let bare = File::create(folder.path().join("bare")).unwrap();
    bare.write_all_at(&vec![0; 16 << 20], 0).unwrap();
    bare.sync_data().unwrap();
    let mut times = Vec::new();
    for index in 0..1000 {
        let begin = Instant::now();
        bare.write_all_at(&bytes, index * 10_240).unwrap();
        bare.sync_data().unwrap();
        times.push(begin.elapsed());
    }
    println!("bare write and sync {:?}", median(times));
    for flush in [FlushMode::Inline, FlushMode::Thread] {
        let settings = LocalSettings { flush, ..LocalSettings::default() };
        let path = folder.path().join(format!("{flush:?}"));
        let mut engine = LocalEngine::open_folder(&path, settings).unwrap().engine;
        std::thread::sleep(Duration::from_millis(500));
        let payload = entry(1, 1, &bytes);
        let mut times = Vec::new();
        let mut space = Vec::new();
        for _ in 0..3000 {
            let begin = Instant::now();
            engine.journal.submit(vec![payload.clone()]);
            while engine.journal.poll() == crate::JournalState::InFlight {
                std::thread::yield_now();
            }
            times.push(begin.elapsed());
            let begin = Instant::now();
            engine.journal.space();
            space.push(begin.elapsed());
        }
        let longest = times.iter().max().copied();
        println!("{flush:?}: round {:?}, longest {longest:?}, space {:?}", median(times), median(space));
        commit(&mut *engine.journal, vec![payload]);
    }
}
