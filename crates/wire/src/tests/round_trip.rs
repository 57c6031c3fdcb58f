//! What is encoded decodes to the same, and the table of versions is what Kafka 4.4 advertises.

use super::{arbitrary_request, cases};
use crate::testing::Random;
use crate::{ADVERTISED, ApiKey, KNOWN, RequestError, decode_request};

#[test]
fn every_version_of_every_message_comes_back_as_it_was() {
    for case in cases() {
        for version in case.versions() {
            for seed in 0..200 {
                let (body, value) = (case.arbitrary)(&mut Random(seed), version);
                let (decoded, again) = (case.decode)(&body, version)
                    .unwrap_or_else(|error| panic!("{} v{version} seed {seed}: {error}", case.name));
                assert_eq!(value, decoded, "{} v{version} seed {seed}", case.name);
                assert_eq!(body, again, "{} v{version} seed {seed}", case.name);
            }
        }
    }
}

#[test]
fn every_api_of_the_table_has_a_request_and_a_response_under_test() {
    for range in ADVERTISED.iter().chain(KNOWN) {
        for is_request in [true, false] {
            let found =
                cases().iter().filter(|case| case.api == range.key && case.is_request == is_request).count();
            assert_eq!(found, 1, "{}", range.key);
        }
    }
}

#[test]
fn whole_requests_decode_to_the_body_of_their_api() {
    for case in cases().iter().filter(|case| case.is_request && case.is_served()) {
        for version in case.versions() {
            let frame = arbitrary_request(case, &mut Random(7), version);
            let (header, body) = decode_request(&frame).expect("a valid frame");
            assert_eq!((header.api_key, header.api_version), (case.api, version));
            assert_eq!(header.client_id, Some("me"));
            assert_eq!(body.api(), case.api);
        }
    }
}

#[test]
fn versions_on_either_side_of_what_is_served_give_the_header_alone() {
    for range in ADVERTISED {
        for version in [range.min_served - 1, range.max + 1, i16::MIN, i16::MAX] {
            let mut frame = range.key.code().to_be_bytes().to_vec();
            frame.extend_from_slice(&version.to_be_bytes());
            frame.extend_from_slice(&[0, 0, 0, 9, 0xff, 0xff]);
            if range.key.is_flexible(version) {
                frame.push(0);
            }
            frame.extend_from_slice(b"a body that no one may read");
            let Err(RequestError::UnsupportedVersion(header)) = decode_request(&frame) else {
                panic!("{} v{version} was served", range.key);
            };
            assert_eq!((header.api_key, header.api_version, header.correlation_id), (range.key, version, 9));
            assert_eq!(header.client_id, None);
        }
    }
}

/// Key, advertised minimum, served minimum, maximum, first flexible version, as Kafka 4.4's broker listener
/// has them.
#[test]
fn the_table_is_that_of_kafka_4_4() {
    let expected = [
        (0, 0, 3, 13, Some(9)),
        (1, 4, 4, 18, Some(12)),
        (2, 1, 1, 11, Some(6)),
        (3, 0, 0, 13, Some(9)),
        (8, 2, 2, 10, Some(8)),
        (9, 1, 1, 10, Some(6)),
        (10, 0, 0, 6, Some(3)),
        (11, 0, 0, 9, Some(6)),
        (12, 0, 0, 4, Some(4)),
        (13, 0, 0, 5, Some(4)),
        (14, 0, 0, 5, Some(4)),
        (15, 0, 0, 6, Some(5)),
        (16, 0, 0, 5, Some(3)),
        (18, 0, 0, 5, Some(3)),
        (19, 2, 2, 7, Some(5)),
        (20, 1, 1, 6, Some(4)),
        (21, 0, 0, 2, Some(2)),
        (22, 0, 0, 5, Some(2)),
        (23, 2, 2, 4, Some(4)),
        (24, 0, 0, 5, Some(3)),
        (25, 0, 0, 4, Some(3)),
        (26, 0, 0, 5, Some(3)),
        (27, 1, 1, 2, Some(1)),
        (28, 0, 0, 6, Some(3)),
        (32, 1, 1, 4, Some(4)),
        (33, 0, 0, 2, Some(2)),
        (35, 1, 1, 5, Some(2)),
        (37, 0, 0, 3, Some(2)),
        (42, 0, 0, 3, Some(2)),
        (43, 0, 0, 2, Some(2)),
        (44, 0, 0, 1, Some(1)),
        (47, 0, 0, 0, None),
        (60, 0, 0, 2, Some(0)),
        (61, 0, 0, 0, Some(0)),
        (65, 0, 0, 0, Some(0)),
        (66, 0, 0, 2, Some(0)),
        (68, 0, 0, 1, Some(0)),
        (69, 0, 0, 1, Some(0)),
        (74, 0, 0, 1, Some(0)),
        (75, 0, 0, 0, Some(0)),
    ];
    let table: Vec<_> = ADVERTISED
        .iter()
        .map(|range| {
            (range.key.code(), range.min_advertised, range.min_served, range.max, range.flexible_from)
        })
        .collect();
    assert_eq!(table, expected);
    for range in ADVERTISED {
        assert_eq!(range.key.range(), range);
        assert_eq!(ApiKey::from_code(range.key.code()), Some(range.key));
    }
}

#[test]
fn what_is_only_known_is_not_served() {
    let expected = [
        (17, 0, 1, None),
        (36, 0, 2, Some(2)),
        (77, 1, 1, Some(0)),
        (89, 0, 1, Some(0)),
        (90, 0, 1, Some(0)),
    ];
    let table: Vec<_> = KNOWN
        .iter()
        .map(|range| (range.key.code(), range.min_served, range.max, range.flexible_from))
        .collect();
    assert_eq!(table, expected);
    for case in cases().iter().filter(|case| case.is_request && !case.is_served()) {
        assert!(KNOWN.contains(case.api.range()), "{}", case.api);
        for version in case.versions() {
            let frame = arbitrary_request(case, &mut Random(7), version);
            assert_eq!(decode_request(&frame), Err(RequestError::UnknownApi(case.api.code())));
        }
    }
}
