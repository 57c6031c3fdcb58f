//! `milepost group list`, `describe`, `members` and `state`.

use milepost_client::groups::{Committed, alter};
use milepost_client::{Cluster, Options, TopicPartition};
use milepost_model::{LeaderEpoch, Offset, PartitionIndex};
use serde_json::{Value, json};

use crate::support::{Server, eventually};

/// A server with the topic `t` of two partitions, ten records in the first.
pub(crate) fn server() -> Server {
    let server = Server::start();
    fill(&server);
    server
}

/// Makes that topic.
pub(crate) fn fill(server: &Server) {
    server.run(&["topic", "create", "t", "--partitions", "2"]).ok();
    let input: String = (0..10).map(|number| format!("{number}\n")).collect();
    server.run_with(&["produce", "t", "--partition", "0"], &input).ok();
}

/// Commits as no command does: any offset, any metadata.
pub(crate) fn commit(server: &Server, group: &str, offsets: &[(i32, i64, Option<i32>, &str)]) {
    let mut cluster = Cluster::connect(vec![server.bootstrap.parse().unwrap()], Options::default()).unwrap();
    let offsets = offsets.iter().map(|(partition, offset, epoch, metadata)| {
        let committed = Committed {
            offset: Offset(*offset),
            leader_epoch: epoch.map(LeaderEpoch),
            metadata: (*metadata).to_owned(),
        };
        (TopicPartition::new("t", PartitionIndex(*partition)), committed)
    });
    for (one, result) in alter(&mut cluster, group, &offsets.collect()).unwrap() {
        result.unwrap_or_else(|error| panic!("{one}: {error}"));
    }
}

/// The partitions of a group, as a description shows them.
pub(crate) fn partitions(server: &Server, group: &str) -> Vec<Value> {
    let described = server.run(&["group", "describe", group, "--format", "json"]).json();
    described["groups"][0]["partitions"].as_array().unwrap().clone()
}

#[test]
fn zero_never_and_beyond_are_told_apart() {
    let server = server();
    commit(&server, "even", &[(0, 10, Some(0), "m"), (1, 0, None, "")]);
    commit(&server, "lost", &[(0, 25, None, "")]);
    let table = server.run(&["group", "describe", "even", "lost"]).lines();
    assert_eq!(
        table,
        [
            "GROUP  TOPIC  PARTITION  COMMITTED  END  LAG  STANDING    MEMBER",
            "even   t      0          10         10   0    ok          -",
            "even   t      1          0          0    0    ok          -",
            "lost   t      0          25         10   -15  beyond end  -",
        ]
    );
    let even = &partitions(&server, "even")[0];
    assert_eq!(
        (&even["leader_epoch"], &even["metadata"], &even["lag"], &even["stable_lag"]),
        (&json!(0), &json!("m"), &json!(0), &json!(0))
    );
    let totals = server.run(&["group", "describe", "--all", "--by", "group", "--format", "csv"]).lines();
    assert_eq!(totals[1..], ["even,Empty,2,0,0,0,0,0", "lost,Empty,1,-,-,0,1,0"]);
    let listed = server.run(&["group", "list", "--only-with-lag", "--columns", "group,beyond-end"]).lines();
    assert_eq!(listed, ["GROUP  BEYOND-END", "lost   1"]);
    // Where no lag is known the sum is none either.
    let listed = server.run(&["group", "list", "--lag", "--no-headers", "--columns", "group,lag"]).lines();
    assert_eq!(listed, ["even  0", "lost  -"]);
    let listed = server.run(&["group", "list", "--lag", "--match", "lost", "--format", "json"]).json();
    assert_eq!(listed["groups"][0]["totals"]["lag"], Value::Null);
}

#[test]
fn members_and_what_they_have_to_read_are_shown() {
    let server = server();
    let mut member = server.spawn(&["consume", "t", "--group", "live"]);
    assert_eq!(member.line(), "0");
    eventually("the commit", || {
        partitions(&server, "live").iter().any(|one| one["partition"] == 0 && one["offset"] == 10)
    });
    let shown = partitions(&server, "live");
    // The second partition has a reader and no commit: nothing is known to be 0.
    let second = &shown[1];
    assert_eq!((&second["offset"], &second["lag"]), (&Value::Null, &Value::Null), "{shown:?}");
    assert_eq!(second["standing"], "never committed");
    assert_eq!(second["member"]["client_id"], "milepost");

    let members = server.run(&["group", "members", "live", "--format", "json"]).json();
    let one = &members["groups"][0]["members"][0];
    assert_eq!((&one["assigned"], &one["subscribed"]), (&json!({ "t": [0, 1] }), &json!(["t"])));
    let state = server.run(&["group", "state", "live", "--format", "json"]).json();
    let state = &state["groups"][0];
    assert_eq!(
        (&state["state"], &state["type"], &state["assignor"], &state["members"]),
        (&json!("Stable"), &json!("classic"), &json!("range"), &json!(1))
    );
    assert_eq!(state["coordinator"], server.bootstrap.as_str());
    member.signal("TERM");
    member.end().ok();
}

#[test]
fn what_members_have_to_read_counts_before_they_commit() {
    let server = server();
    let member = server.spawn(&["consume", "t", "--group", "live", "--from", "latest"]);
    let list = |flags: &[&str]| {
        let columns = "group,partitions,lag,never";
        server.run(&[&["group", "list", "--no-headers", "--columns", columns], flags].concat()).lines()
    };
    eventually("the assignment", || list(&["--lag"]) == ["live  2  -  2"]);
    assert_eq!(list(&["--only-with-lag"]), ["live  2  -  2"]);
    let described = server.run(&["group", "describe", "live", "--only-with-lag", "--format", "json"]).json();
    let shown = described["groups"][0]["partitions"].as_array().unwrap().clone();
    assert_eq!((shown.len(), &shown[0]["partition"]), (1, &json!(0)), "the other partition has no records");
    member.signal("TERM");
    member.end().ok();
}

#[test]
fn groups_are_chosen_by_what_they_are_like() {
    let server = server();
    for (group, offset) in [("billing-a", 4), ("billing-b", 10), ("search", 0)] {
        commit(&server, group, &[(0, offset, None, "")]);
    }
    let names = |flags: &[&str]| {
        let arguments = [&["group", "list", "--no-headers", "--columns", "group"], flags].concat();
        server.run(&arguments).lines()
    };
    assert_eq!(names(&[]), ["billing-a", "billing-b", "search"]);
    assert_eq!(names(&["--match", "^billing"]), ["billing-a", "billing-b"]);
    assert_eq!(names(&["--sort", "lag"]), ["search", "billing-a", "billing-b"]);
    assert_eq!(names(&["--only-with-lag"]), ["billing-a", "search"]);
    assert_eq!(names(&["--state", "stable"]), Vec::<String>::new());
    assert_eq!(names(&["--type", "consumer"]), Vec::<String>::new());
    assert_eq!(names(&["--type", "classic", "--state", "Empty", "--idle"]).len(), 3);
    // What chooses nothing because it is mistyped, or everything because a variable is not set, is refused.
    let wrong: [&[&str]; 4] = [
        &["group", "list", "--state", "Emty"],
        &["group", "delete", "--type", "connectt", "--yes"],
        &["group", "delete", "--match", "", "--yes"],
        &["group", "copy", "search", "", "--yes"],
    ];
    for arguments in wrong {
        assert_eq!(server.run(arguments).code, 2, "{arguments:?}");
    }
    assert_eq!(names(&[]).len(), 3);
    let listed = server.run(&["group", "list", "--lag", "--match", "^billing-a$", "--format", "json"]).json();
    assert_eq!(
        listed["groups"][0]["totals"],
        json!({ "partitions": 1, "lag": 6, "stable_lag": 6, "never_committed": 0, "beyond_end": 0, "unknown": 0, "below_start": 0 })
    );
    assert_eq!((&listed["version"], &listed["errors"]), (&json!(1), &json!([])));
}

#[test]
fn a_group_that_is_not_there_hides_no_other_and_is_an_error() {
    let server = server();
    commit(&server, "there", &[(0, 4, None, "")]);
    for verb in ["describe", "members", "state"] {
        let ran = server.run(&["group", verb, "gone", "there", "--format", "json"]);
        let shown: Value = serde_json::from_str(&ran.stdout).unwrap();
        assert_eq!(ran.code, 1, "{ran:?}");
        let names: Vec<&str> =
            shown["groups"].as_array().unwrap().iter().filter_map(|one| one["group"].as_str()).collect();
        assert!(names.contains(&"there"), "{names:?}");
        assert_eq!(ran.stderr, "milepost: gone: there is no such group [GROUP_ID_NOT_FOUND]\n");
        assert_eq!(shown["errors"][0]["code"], "GROUP_ID_NOT_FOUND");
    }
    let ran = server.run(&["group", "describe"]);
    assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "a wide scope has to be asked for");
}
