//! The simulated disk keeps what was synced, loses what it may, and repeats itself.

use std::collections::BTreeSet;

use super::*;
use crate::file_system::{read_full, write_all};

#[test]
fn what_was_synced_survives_every_crash_and_what_was_not_survives_in_every_way() {
    let mut seen = BTreeSet::new();
    for seed in 0..200 {
        let system = SimulatedFileSystem::new(seed);
        let file = system.open("a", OpenMode::Emptied).unwrap();
        write_all(&*file, &[1; 2048], 0).unwrap();
        file.sync_data().unwrap();
        system.sync_directory("").unwrap();
        write_all(&*file, &[2; 1024], 512).unwrap();
        system.crash(seed);
        assert!(file.length().is_err(), "a handle does not survive");
        let content = system.files().remove("a").unwrap();
        assert_eq!((content[0], content[2047], content.len()), (1, 1, 2048));
        assert!(content.chunks(SECTOR_BYTES).all(|sector| sector.iter().all(|byte| *byte == sector[0])));
        seen.insert((content[512], content[1024]));
    }
    assert_eq!(seen.len(), 4, "both, the first, the second, none: {seen:?}");
}

#[test]
fn a_name_is_durable_only_with_its_folder() {
    let mut seen = BTreeSet::new();
    for seed in 0..100 {
        let system = SimulatedFileSystem::new(seed);
        system.create_directory("d").unwrap();
        for name in ["d/a", "d/b"] {
            let file = system.open(name, OpenMode::Emptied).unwrap();
            write_all(&*file, b"x", 0).unwrap();
            file.sync_data().unwrap();
        }
        system.sync_directory("d").unwrap();
        system.rename("d/a", "d/c").unwrap();
        system.crash(seed);
        seen.insert(system.files().into_keys().collect::<Vec<_>>());
    }
    let name = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<Vec<_>>();
    let all = [name(&[]), name(&["d/a", "d/b"]), name(&["d/b", "d/c"])];
    assert_eq!(seen, all.into_iter().collect(), "the folder itself was never synced into its parent");
}

#[test]
fn a_sync_after_a_failed_sync_does_not_bring_the_lost_sectors_back() {
    let lost = (0..100).any(|seed| {
        let system = SimulatedFileSystem::new(seed);
        let file = system.open("a", OpenMode::Emptied).unwrap();
        system.sync_directory("").unwrap();
        write_all(&*file, &[1; 512], 0).unwrap();
        system.fail(Operation::Sync, "a", 0, io::ErrorKind::Other);
        assert!(file.sync_data().is_err());
        assert!(file.sync_data().is_ok());
        system.crash(seed);
        system.files()["a"].iter().all(|byte| *byte == 0)
    });
    assert!(lost);
}

#[test]
fn pieces_full_disks_locks_and_power_cuts_do_as_told() {
    let system = SimulatedFileSystem::new(3);
    system.write_in_pieces();
    let file = system.open("a", OpenMode::Emptied).unwrap();
    for at in 0..64 {
        write_all(&*file, &[at; 100], u64::from(at) * 100).unwrap();
    }
    let mut content = vec![0; 7000];
    assert_eq!(read_full(&*file, &mut content, 0).unwrap(), 6400);
    assert!((0..6400).all(|at| usize::from(content[at]) == at / 100));
    assert!(system.count(Operation::Write) > 64, "some writes were short");
    system.set_capacity(Some(6500));
    assert_eq!(system.free_bytes().unwrap(), 100);
    assert_eq!(write_all(&*file, &[0; 200], 6400).unwrap_err().kind(), io::ErrorKind::StorageFull);
    let lock = system.lock("l").unwrap();
    assert!(lock.is_some() && system.lock("l").unwrap().is_none());
    drop(lock);
    assert!(system.lock("l").unwrap().is_some());
    system.power_off_after(1);
    assert!(file.sync_data().is_err() && system.is_off());
    assert!(system.list("").is_err());
    system.crash(1);
    assert!(system.list("").is_ok());
}
