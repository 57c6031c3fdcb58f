//! `milepost group peek`.

use serde_json::json;

use crate::groups::{commit, server};

#[test]
fn the_records_around_a_position_are_shown() {
    let server = server();
    commit(&server, "g", &[(0, 4, None, ""), (1, 0, None, "")]);
    let peek = |flags: &[&str]| {
        let arguments =
            [&["group", "peek", "g", "--format", "csv", "--columns", "offset,place,value"], flags].concat();
        server.run(&arguments).lines()
    };
    assert_eq!(
        peek(&[]),
        ["OFFSET,PLACE,VALUE", "2,read,2", "3,read,3", "4,next,4", "5,ahead,5", "6,ahead,6"]
    );
    assert_eq!(peek(&["--before", "0", "--after", "1", "--topic", "t:0"])[1..], ["4,next,4"]);
    assert_eq!(peek(&["--topic", "t:1"]).len(), 1, "there is nothing in it");

    commit(&server, "g", &[(0, 10, None, "")]);
    assert_eq!(peek(&[])[1..], ["8,read,8", "9,read,9"]);
    commit(&server, "g", &[(0, 40, None, "")]);
    assert_eq!(peek(&[])[1..], ["8,read,8", "9,read,9"]);

    let shown = server.run(&["group", "peek", "g", "--before", "1", "--format", "json"]).json();
    let first = &shown["partitions"][0];
    assert_eq!((&first["position"], &first["records"][0]["value"]), (&json!(40), &json!("9")));
    assert_eq!((&first["standing"], &first["log_end"]), (&json!("beyond end"), &json!(10)));
    let ran = server.run(&["group", "peek", "g"]);
    assert_eq!(ran.stderr, "milepost: t-0: the group is at 40, beyond the end of the log at 10\n");
    let nothing = server.run(&["group", "peek", "nobody"]);
    assert!(nothing.code == 1 && nothing.stderr.contains("has committed nothing"), "{nothing:?}");
}
