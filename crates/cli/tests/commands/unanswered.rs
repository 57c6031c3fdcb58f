//! What is not known because a broker does not answer is never taken for nothing.

use crate::groups::{commit, fill, partitions};
use crate::proxy::{LIST_GROUPS, Loss, OFFSET_FETCH, Proxied};
use crate::support::{Ran, Server};

/// How long the program waits for answers that do not come.
const SOON: [&str; 2] = ["--timeout", "0.5"];

fn run(server: &Server, arguments: &[&str]) -> Ran {
    server.run(&[arguments, &SOON].concat())
}

#[track_caller]
fn assert_unanswered(ran: &Ran) {
    assert_eq!(ran.code, 4, "{ran:?}");
    assert!(ran.stderr.contains("did not answer within"), "{ran:?}");
}

#[test]
fn what_could_not_be_read_is_not_kept_as_if_it_were_nothing() {
    let proxied = Proxied::start();
    let server = &proxied.server;
    fill(server);
    commit(server, "g", &[(0, 4, None, "")]);
    proxied.lose(OFFSET_FETCH, Loss::Request);
    assert_unanswered(&run(server, &["group", "snapshot", "create", "g", "--name", "s"]));
    let ran = run(server, &["group", "export", "g"]);
    assert_unanswered(&ran);
    assert_eq!(ran.stdout, "");
    proxied.lose_nothing();
    proxied.lose(LIST_GROUPS, Loss::Request);
    assert_unanswered(&run(server, &["group", "snapshot", "create", "--all", "--name", "s"]));
    assert!(server.run(&["group", "snapshot", "list", "--no-headers"]).lines().is_empty());
    // The name is still free.
    proxied.lose_nothing();
    let kept = server.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    assert!(kept.starts_with("kept 1 groups, 1 rows"), "{kept}");
}

#[test]
fn a_group_that_could_not_be_read_has_not_committed_nothing() {
    let proxied = Proxied::start();
    let server = &proxied.server;
    fill(server);
    commit(server, "g", &[(0, 4, None, "")]);
    server.run(&["group", "snapshot", "create", "g", "--name", "s"]).ok();
    let file = server.folder.path().join("offsets.csv");
    std::fs::write(&file, "g,t,0,7\n").unwrap();
    let file = file.to_str().unwrap();
    proxied.lose(OFFSET_FETCH, Loss::Request);
    for verb in [
        ["reset", "g", "latest", "--all"].as_slice(),
        &["reset", "g", "latest", "--topic", "t"],
        &["import", file],
        &["copy", "g", "other"],
        &["snapshot", "restore", "s"],
        &["reset", "other", "group:g", "--all"],
    ] {
        let ran = run(server, &[&["group"], verb, &["--yes"]].concat());
        assert_unanswered(&ran);
        assert!(!ran.stderr.contains("committed nothing"), "{ran:?}");
    }
    proxied.lose_nothing();
    assert_eq!(partitions(server, "g")[0]["offset"], 4, "what would be written over was not known");
}
