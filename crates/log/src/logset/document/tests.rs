use super::*;
use crate::partition::PartitionLog;
use crate::segment::Segment;
use crate::settings::PartitionConfig;

fn id() -> TopicPartition {
    TopicPartition { topic: TopicId(*b"0123456789abcdef"), partition: PartitionIndex(3) }
}

fn extent() -> Extent {
    Extent {
        log_bytes: 300,
        index_entries: 2,
        time_entries: 1,
        abort_entries: 3,
        unindexed_bytes: 70,
        last_time_entry: Some(Timestamp(1000)),
        first_timestamp: None,
        max_timestamp: Some((Timestamp(1001), Offset(12))),
    }
}

/// A partition that holds offsets up to 20 durably, and has accepted more.
fn partition() -> PartitionLog {
    let mut partition = PartitionLog::new(id(), "t-3".into(), LogKind::User, PartitionConfig::default());
    partition.created = true;
    partition.offline = Some("why".into());
    partition.log_start = Offset(5);
    partition.high_watermark = Offset(20);
    partition.log_end = Offset(30);
    let segment = SegmentId { base_offset: Offset(10), generation: 1 };
    partition.segments.push_back(Segment::recovered(segment, Timestamp(0), extent()));
    let not_durable = SegmentId { base_offset: Offset(20), generation: 0 };
    partition.segments.push_back(Segment::new(not_durable, Timestamp(0)));
    partition.epochs.assign(LeaderEpoch(1), Offset(0));
    partition.epochs.assign(LeaderEpoch(2), Offset(20));
    let mut steps = steps();
    // A batch that is not durable yet.
    steps.push(ProducerStep { last_offset: Offset(21), transaction_start: None, ..steps[1] });
    partition.producers.restore(ProducerId(77), steps);
    partition
}

/// A numbered batch, and then a marker of a coordinator whose successor has begun another transaction.
fn steps() -> Vec<ProducerStep> {
    let batch = ProducerStep {
        epoch: ProducerEpoch(4),
        sequences: Some((6, 7)),
        base_offset: Offset(10),
        last_offset: Offset(11),
        timestamp: Timestamp(1001),
        coordinator_epoch: None,
        transaction_start: None,
    };
    let state = ProducerStep {
        sequences: None,
        base_offset: Offset(12),
        last_offset: Offset(12),
        timestamp: Timestamp(1002),
        coordinator_epoch: Some(3),
        transaction_start: Some(Offset(9)),
        ..batch
    };
    vec![batch, state]
}

fn image() -> PartitionImage {
    PartitionImage {
        id: id(),
        kind: LogKind::User,
        offline: Some("why".into()),
        directory: "t-3".into(),
        log_start: Offset(5),
        end_offset: Offset(20),
        segments: vec![(SegmentId { base_offset: Offset(10), generation: 1 }, extent())],
        epochs: vec![EpochStart { epoch: LeaderEpoch(1), start_offset: Offset(0) }],
        producers: vec![(ProducerId(77), steps())],
    }
}

fn document() -> Vec<u8> {
    let mut writer = DocumentWriter::new(RoundNumber(9));
    writer.add(&partition());
    writer.finish()
}

#[test]
fn a_document_says_what_is_durable_and_nothing_else() {
    let expected = Document { covered: RoundNumber(9), partitions: vec![image()] };
    assert_eq!(Document::decode(&document()).expect("decodes"), expected);
}

/// These bytes are on users' disks: another version needs another number and a reader of this one.
#[test]
fn the_bytes_of_version_two_never_change() {
    let golden = concat!(
        "0002",
        "0000000000000009",
        "00000001",
        "30313233343536373839616263646566",
        "00000003",
        "01",
        "01",
        "0003776879",
        "0003742d33",
        "0000000000000005",
        "0000000000000014",
        "00000001",
        "000000000000000a",
        "00000001",
        "000000000000012c",
        "00000002",
        "00000001",
        "0000000000000046",
        "0100000000000003e8",
        "000000000000000000",
        "0100000000000003e9",
        "000000000000000c",
        "00000003",
        "00000001",
        "00000001",
        "0000000000000000",
        "00000001",
        "000000000000004d",
        "0004",
        "000000000000000c",
        "00000000000003ea",
        "0100000003",
        "010000000000000009",
        "00000001",
        "00000007",
        "000000000000000a",
        "000000000000000b",
        "00000000000003e9",
    );
    let hex: String = document().iter().map(|byte| format!("{byte:02x}")).collect();
    assert_eq!(hex, golden);
}

/// The bytes of version 1, of the same partition without its transactions.
#[test]
fn version_one_is_still_read() {
    let golden = concat!(
        "0001",
        "0000000000000009",
        "00000001",
        "30313233343536373839616263646566",
        "00000003",
        "01",
        "01",
        "0003776879",
        "0003742d33",
        "0000000000000005",
        "0000000000000014",
        "00000001",
        "000000000000000a",
        "00000001",
        "000000000000012c",
        "00000002",
        "00000001",
        "0000000000000046",
        "0100000000000003e8",
        "000000000000000000",
        "0100000000000003e9",
        "000000000000000c",
        "00000001",
        "00000001",
        "0000000000000000",
        "00000001",
        "000000000000004d",
        "00000001",
        "0004",
        "00000007",
        "000000000000000a",
        "000000000000000b",
        "00000000000003e9",
    );
    let bytes: Vec<u8> = (0..golden.len())
        .step_by(2)
        .map(|at| u8::from_str_radix(&golden[at..at + 2], 16).expect("hexadecimal"))
        .collect();
    let mut expected = image();
    expected.segments[0].1.abort_entries = 0;
    expected.producers[0].1.pop();
    let expected = Document { covered: RoundNumber(9), partitions: vec![expected] };
    assert_eq!(Document::decode(&bytes).expect("decodes"), expected);
}

#[test]
fn a_version_of_the_future_is_refused_with_both_named() {
    let refused = Document::decode(&[0, 3]);
    assert!(matches!(refused, Err(OpenError::Version { found: 3, expected: 2 })), "{refused:?}");
}

#[test]
fn a_cut_or_longer_document_is_refused() {
    let whole = document();
    for end in 0..whole.len() {
        assert!(Document::decode(&whole[..end]).is_err(), "cut at {end}");
    }
    let mut longer = whole;
    longer.push(0);
    assert!(matches!(Document::decode(&longer), Err(OpenError::Checkpoint(_))));
}

#[test]
fn an_empty_document_holds_nothing() {
    let document = Document::decode(&DocumentWriter::new(RoundNumber(3)).finish()).expect("decodes");
    assert_eq!(document, Document { covered: RoundNumber(3), partitions: Vec::new() });
}
