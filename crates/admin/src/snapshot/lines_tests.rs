use super::*;

fn place(partition: i32, committed: Option<Committed>) -> Option<Place> {
    Some(Place {
        partition: TopicPartition::new("orders", PartitionIndex(partition)),
        topic_id: Some("AAAAAAAAAAAAAAAAAAAAAQ".to_owned()),
        committed,
        commit_time: None,
        expire_time: None,
        log_start: Some(Offset(3)),
        log_end: Some(Offset(9)),
        record_time: Some(Timestamp(1_700_000_000_000)),
    })
}

fn snapshot() -> Snapshot {
    let committed =
        Committed { offset: Offset(5), leader_epoch: Some(LeaderEpoch(2)), metadata: "m \"q\"".to_owned() };
    let row = |group: &str, place| Row {
        group: group.to_owned(),
        kind: Some("classic".to_owned()),
        state: Some("Empty".to_owned()),
        captured: Captured::Group,
        place,
    };
    Snapshot {
        header: Header {
            name: "before".to_owned(),
            label: Some("incident 7".to_owned()),
            created: Timestamp(1_700_000_000_001),
            cluster_id: Some("c".to_owned()),
        },
        rows: vec![
            row("billing", place(0, Some(committed))),
            row("billing", place(1, None)),
            row("new", None),
        ],
    }
}

#[test]
fn the_lines_are_these() {
    let mut out = Vec::new();
    write(&mut out, &snapshot()).unwrap();
    let text = String::from_utf8(out).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(
        lines[0],
        r#"{"format":"milepost-offsets","version":1,"name":"before","label":"incident 7","created_ms":1700000000001,"cluster_id":"c"}"#
    );
    assert_eq!(
        lines[1],
        r#"{"cluster_id":"c","group":"billing","group_type":"classic","state":"Empty","captured":"group","topic":"orders","topic_id":"AAAAAAAAAAAAAAAAAAAAAQ","partition":0,"offset":5,"leader_epoch":2,"metadata":"m \"q\"","commit_time_ms":null,"expire_time_ms":null,"log_start":3,"log_end":9,"record_time_ms":1700000000000}"#
    );
    assert_eq!(read(&mut text.as_bytes()), Ok(snapshot()));
}

#[test]
fn fields_of_the_future_and_fields_that_are_missing_are_no_hindrance() {
    let text = "{\"format\":\"milepost-offsets\",\"version\":1,\"name\":\"n\",\"created_ms\":0,\"mood\":1}\n\
                {\"group\":\"g\",\"topic\":\"t\",\"partition\":0,\"offset\":1,\"weather\":\"fine\"}\n";
    let rows = read(&mut text.as_bytes()).unwrap().rows;
    assert_eq!(rows[0].place.as_ref().unwrap().committed.as_ref().unwrap().offset, Offset(1));
}

#[test]
fn what_is_no_snapshot_is_refused_with_the_line() {
    const HEADER: &str = "{\"format\":\"milepost-offsets\",\"version\":1,\"name\":\"n\",\"created_ms\":0}\n";
    let bad = [
        (String::new(), "the file is empty"),
        ("hello\n".to_owned(), "line 1: not the header"),
        (HEADER.replace("\"version\":1", "\"version\":2"), "line 1: the file is milepost-offsets 2"),
        (format!("{HEADER}{{\"topic\":\"t\"}}\n"), "line 2: missing field `group`"),
        (format!("{HEADER}\n{{\"group\":\"g\",\"topic\":\"t\"}}\n"), "line 3: a topic and a partition"),
        (
            format!("{HEADER}{{\"group\":\"g\",\"topic\":\"t\",\"partition\":0,\"offset\":-1}}\n"),
            "line 2: -1 is no",
        ),
        (
            format!(
                "{HEADER}{}",
                [5, 6]
                    .map(|offset| format!(
                        "{{\"group\":\"g\",\"topic\":\"t\",\"partition\":0,\"offset\":{offset}}}\n"
                    ))
                    .concat()
            ),
            "two rows of g t-0 say different things",
        ),
    ];
    for (text, words) in bad {
        let error = read(&mut text.as_bytes()).unwrap_err();
        assert!(error.starts_with(words), "{error}");
    }
    let endless = format!("{HEADER}{}", " ".repeat(2 << 20));
    assert!(read(&mut endless.as_bytes()).unwrap_err().contains("longer than"));
}
