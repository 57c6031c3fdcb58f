//! Batches compressed otherwise than they came.

use milepost_batch::{
    BatchBuilder, BatchError, BatchOptions, BatchView, Codec, Compression, Header, TimestampType, recompress,
};
use milepost_model::{Offset, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};

const CODECS: [Codec; 5] = [Codec::None, Codec::Gzip, Codec::Snappy, Codec::Lz4, Codec::Zstd];

fn batch(codec: Codec) -> Vec<u8> {
    let options = BatchOptions {
        codec,
        producer: Some(ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(2) }),
        base_sequence: Some(40),
        ..BatchOptions::default()
    };
    let mut builder = BatchBuilder::new(options);
    for number in 0..50 {
        let value = format!("a value that compresses well, number {number}");
        let header = Header { key: b"name", value: Some(b"header") };
        let key = (number % 2 == 0).then_some(b"key".as_slice());
        builder
            .append(Timestamp(1000 + number), key, Some(value.as_bytes()), &[header])
            .expect("a small record");
    }
    builder.build(Offset(0))
}

/// Everything that a reader sees of a batch, apart from how it is compressed.
fn content(bytes: &[u8]) -> Vec<String> {
    let (view, rest) = BatchView::parse(bytes).expect("a batch");
    assert!(rest.is_empty() && view.crc_matches());
    assert_eq!(view.timestamp_type(), TimestampType::CreateTime);
    let header = format!(
        "{:?} {:?} {:?} {:?} {:?} {:?} {:?}",
        view.base_offset(),
        view.last_offset(),
        view.producer(),
        view.base_sequence(),
        view.base_timestamp(),
        view.max_timestamp(),
        view.record_count()
    );
    let records = view.records().expect("it opens");
    std::iter::once(header)
        .chain(records.iter().map(|record| format!("{:?}", record.expect("a record"))))
        .collect()
}

#[test]
fn every_codec_becomes_every_other_and_nothing_else_changes() {
    for from in CODECS {
        let original = batch(from);
        let (view, _) = BatchView::parse(&original).unwrap();
        for to in CODECS {
            let recoded = recompress(&view, to.into()).unwrap();
            assert_eq!(BatchView::parse(&recoded).unwrap().0.codec(), Ok(to));
            assert_eq!(content(&recoded), content(&original), "{from} to {to}");
            assert_eq!(recoded, batch(to), "as if it had been built so");
        }
    }
}

#[test]
fn a_level_is_what_the_codec_tries() {
    let original = batch(Codec::None);
    let (view, _) = BatchView::parse(&original).unwrap();
    for codec in [Codec::Gzip, Codec::Zstd] {
        let at = |level| recompress(&view, Compression { codec, level: Some(level) }).unwrap();
        let (little, much) = (at(1), at(9));
        assert_ne!(little, much, "{codec}");
        assert_eq!(content(&little), content(&much));
    }
}

#[test]
fn what_cannot_be_opened_is_an_error() {
    let mut broken = batch(Codec::Zstd);
    let last = broken.len() - 1;
    broken.truncate(last);
    let length = i32::try_from(broken.len() - 12).unwrap();
    broken[8..12].copy_from_slice(&length.to_be_bytes());
    let (view, _) = BatchView::parse(&broken).unwrap();
    let refused = recompress(&view, Codec::None.into());
    assert!(matches!(refused, Err(BatchError::Undecodable { codec: Codec::Zstd, .. })), "{refused:?}");
}
