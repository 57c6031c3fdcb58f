//! `milepost offsets dump`.

use serde_json::Value;

use crate::groups::{commit, server};
use crate::support::run_alone;

fn lines(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_clusters_log_is_shown_and_filtered() {
    let server = server();
    commit(&server, "a", &[(0, 4, Some(0), "m"), (1, 0, None, "")]);
    commit(&server, "b", &[(0, 5, None, "")]);
    server.run(&["group", "delete", "b", "--yes"]).ok();
    let dumped = lines(&server.run(&["offsets", "dump", "--format", "json"]).ok());
    let of_a = |one: &&Value| one["name"] == "OffsetCommit" && one["key"]["group"] == "a";
    let of_a: Vec<&Value> = dumped.iter().filter(of_a).collect();
    assert_eq!(of_a.len(), 2, "{dumped:?}");
    assert_eq!((&of_a[0]["value"]["offset"], &of_a[0]["value"]["leaderEpoch"]), (&4.into(), &0.into()));
    assert_eq!(of_a[0]["version"], 4);

    let of_b =
        server.run(&["offsets", "dump", "--group", "b", "--only", "offsets", "--format", "kafka3"]).lines();
    assert!(
        of_b[0].starts_with("[b,t,0]::OffsetAndMetadata(offset=5, leaderEpoch=Optional.empty, metadata=, ")
    );
    assert_eq!(of_b[1], "[b,t,0]::NULL");
    assert_eq!(of_b.len(), 2);
    let kafka =
        lines(&server.run(&["offsets", "dump", "-g", "b", "--only", "offsets", "--format", "kafka"]).ok());
    assert_eq!(kafka[1]["value"], Value::Null);
    assert_eq!(kafka[0]["key"]["type"], 1);
    assert!(server.run(&["offsets", "dump", "--topic", "other"]).ok().is_empty());
}

#[test]
fn what_is_written_meanwhile_follows_until_it_is_stopped() {
    let server = server();
    commit(&server, "a", &[(0, 4, None, "")]);
    let mut dump = server.spawn(&["offsets", "dump", "--follow", "--topic", "t", "--format", "kafka3"]);
    assert!(dump.line().starts_with("[a,t,0]::OffsetAndMetadata(offset=4,"));
    commit(&server, "a", &[(0, 6, None, "")]);
    assert!(dump.line().starts_with("[a,t,0]::OffsetAndMetadata(offset=6,"));
    dump.signal("INT");
    dump.end().ok();
}

#[test]
fn files_say_what_the_cluster_says_and_damage_hides_nothing_else() {
    let server = server();
    commit(&server, "a", &[(0, 4, Some(0), "m")]);
    let folder = tempfile::tempdir().unwrap();
    let of_cluster = server.run(&["offsets", "dump", "--group", "a", "--format", "json"]).ok();
    let partition = lines(&of_cluster)[0]["partition"].to_string();
    // Reading has written the segment.
    let from = server.folder.path().join(format!("data/__consumer_offsets-{partition}"));
    let copy = folder.path().join(format!("__consumer_offsets-{partition}"));
    std::fs::create_dir(&copy).unwrap();
    let mut segment = None;
    for file in std::fs::read_dir(from).unwrap() {
        let file = file.unwrap().path();
        let to = copy.join(file.file_name().unwrap());
        std::fs::copy(&file, &to).unwrap();
        segment = segment.or(Some(to).filter(|path| path.extension().is_some_and(|end| end == "log")));
    }
    let segment = segment.unwrap();
    let dump = |path: &std::path::Path, flags: &[&str]| {
        let arguments = [&["offsets", "dump", path.to_str().unwrap(), "--format", "json"], flags].concat();
        run_alone(&arguments, folder.path()).ok()
    };
    for path in [folder.path(), &copy, &segment] {
        assert_eq!(dump(path, &["--group", "a"]), of_cluster, "{path:?}");
    }

    // The first batch has another byte at its end, and the last is torn.
    let mut bytes = std::fs::read(&segment).unwrap();
    let whole = bytes.clone();
    let first = usize::try_from(u32::from_be_bytes(bytes[8..12].try_into().unwrap())).unwrap() + 12;
    bytes[first - 1] ^= 0xff;
    let again = whole[..first].to_vec();
    // What follows has the next offsets, or it would not follow on.
    let next = lines(&dump(&segment, &[])).last().unwrap()["offset"].as_i64().unwrap() + 1;
    bytes.extend(next.to_be_bytes());
    bytes.extend(&again[8..]);
    bytes.extend(b"torn");
    std::fs::write(&segment, bytes).unwrap();
    let dumped = lines(&dump(&segment, &[]));
    assert!(dumped[0]["error"].as_str().unwrap().contains("checksum"), "{dumped:?}");
    assert!(dumped.last().unwrap()["error"].as_str().unwrap().contains("no whole batch"), "{dumped:?}");
    assert!(dumped.iter().any(|one| one["offset"] == next), "{dumped:?}");
    assert_eq!(
        run_alone(&["offsets", "dump", folder.path().join("no").to_str().unwrap()], folder.path()).code,
        1
    );
}
