//! `milepost group watch` where there is no terminal. What it draws on one is told by the stories.

use serde_json::{Value, json};

use crate::groups::{commit, server};

const LOOK: [&str; 8] = ["group", "watch", "--format", "json", "--interval", "0.1s", "--count", "1"];

#[test]
fn a_line_has_every_group_with_what_is_known_of_it() {
    let server = server();
    commit(&server, "behind", &[(0, 4, None, ""), (1, 0, None, "")]);
    commit(&server, "lost", &[(0, 25, None, "")]);
    let look = server.run(&LOOK).json();
    let [behind, lost] = look["groups"].as_array().unwrap().as_slice() else { panic!("{look}") };
    assert_eq!(
        (&behind["group"], &behind["lag"], &behind["members"]),
        (&json!("behind"), &json!(6), &json!(0))
    );
    assert_eq!(behind["worst"], json!({ "topic": "t", "partition": 0 }));
    assert_eq!(behind["partitions"][1]["catch_up"], "even");
    // One look makes no rate, and a commit beyond the end no lag.
    assert_eq!((&behind["catch_up"], &behind["consumed_per_second"]), (&Value::Null, &Value::Null));
    assert_eq!((&lost["lag"], &lost["totals"]["beyond_end"]), (&Value::Null, &json!(1)));
    let partition = &lost["partitions"][0];
    assert_eq!((&partition["standing"], &partition["lag"]), (&json!("beyond end"), &json!(-15)));
}

#[test]
fn groups_are_chosen_as_elsewhere() {
    let server = server();
    commit(&server, "behind", &[(0, 4, None, ""), (1, 0, None, "")]);
    commit(&server, "even", &[(0, 10, None, "")]);
    let watched = |flags: &[&str]| {
        let look = server.run(&[&LOOK, flags].concat()).json();
        let groups = look["groups"].as_array().unwrap();
        let shown = groups.iter().map(|one| {
            let partitions = one["partitions"].as_array().unwrap().len();
            format!("{} {partitions}", one["group"].as_str().unwrap())
        });
        shown.collect::<Vec<_>>()
    };
    assert_eq!(watched(&[]), ["behind 2", "even 1"]);
    assert_eq!(watched(&["--only-with-lag"]), ["behind 2"]);
    assert_eq!(watched(&["even"]), ["even 1"]);
    assert_eq!(watched(&["--match", "^b", "--topic", "t:1"]), ["behind 1"]);
    assert_eq!(watched(&["--state", "Stable"]), Vec::<String>::new());
}

#[test]
fn what_cannot_be_done_is_said_before_anything_is_asked() {
    let folder = tempfile::tempdir().unwrap();
    let known = [
        (["group", "watch", "--bootstrap", "127.0.0.1:1"].as_slice(), "is no terminal"),
        (&["group", "watch", "--count", "2"], "--count is for --format json"),
        (&["group", "watch", "g", "--match", "g", "--format", "json"], "not both"),
        (&["group", "watch", "--interval", "0.01"], "shorter than 0.1 s"),
    ];
    for (arguments, reason) in known {
        let ran = crate::support::run_alone(arguments, folder.path());
        assert_eq!((ran.code, ran.stdout.as_str()), (2, ""), "{arguments:?}");
        assert!(ran.stderr.contains(reason), "{}", ran.stderr);
    }
    let ran = crate::support::run_alone(
        &[&LOOK, ["--bootstrap", "127.0.0.1:1"].as_slice()].concat(),
        folder.path(),
    );
    assert_eq!((ran.code, ran.stdout.as_str()), (4, ""));
}

#[test]
fn a_group_that_is_named_and_not_there_is_an_error() {
    let server = server();
    commit(&server, "there", &[(0, 4, None, "")]);
    let ran = server.run(&[&LOOK, ["there", "no-such-group"].as_slice()].concat());
    assert_eq!(
        (ran.code, ran.stderr.as_str()),
        (1, "milepost: no-such-group: there is no such group [GROUP_ID_NOT_FOUND]\n")
    );
    let look: Value = serde_json::from_str(&ran.stdout).unwrap();
    assert_eq!(look["errors"][0]["code"], "GROUP_ID_NOT_FOUND");
    assert_eq!(look["groups"].as_array().unwrap().len(), 2, "what the cluster says of it stays");
}
