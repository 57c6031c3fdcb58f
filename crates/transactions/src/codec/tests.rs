use milepost_model::{
    Encoded, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TransactionEnd,
};

use super::{decode, encode};
use crate::hard::Hard;
use crate::{
    Record, Transaction, TransactionPartition, TransactionSettings, TransactionState, TransactionVersion,
};

fn prepared() -> Record {
    let partition = |topic: &str, partition| TransactionPartition {
        topic: topic.into(),
        partition: PartitionIndex(partition),
    };
    let transaction = Transaction {
        producer: ProducerIdentity { id: ProducerId(1000), epoch: ProducerEpoch(32767) },
        previous_producer_id: Some(ProducerId(1000)),
        next_producer_id: Some(ProducerId(2000)),
        timeout_ms: 60_000,
        state: TransactionState::Prepare(TransactionEnd::Commit),
        partitions: [partition("b", 0), partition("a", 10), partition("a", 9)]
            .into_iter()
            .collect::<std::collections::BTreeSet<_>>()
            .into(),
        last_update: Timestamp(1_700_000_000_002),
        start: Some(Timestamp(1_700_000_000_001)),
        client_version: TransactionVersion::V2,
    };
    Record { transactional_id: "t".into(), transaction: Some(transaction.into()) }
}

fn encoded(record: &Record, transaction_version: TransactionVersion) -> Encoded {
    let settings = TransactionSettings { transaction_version, ..TransactionSettings::default() };
    let mut into = Encoded::default();
    encode(&settings, record, &mut into);
    into
}

fn decoded(key: &[u8], value: Option<&[u8]>) -> Result<Option<Record>, String> {
    decode(&Hard::new(1), Some(key), value).map_err(|corrupt| corrupt.0)
}

#[test]
fn a_record_is_what_its_bytes_say() {
    for version in [TransactionVersion::V1, TransactionVersion::V2] {
        let Encoded { key, value } = encoded(&prepared(), version);
        assert_eq!(value.as_ref().unwrap()[..2], [0, 1]);
        assert_eq!(decoded(&key, value.as_deref()), Ok(Some(prepared())));
    }
    let tombstone = Record { transaction: None, ..prepared() };
    let Encoded { key, value } = encoded(&tombstone, TransactionVersion::V2);
    assert_eq!((decoded(&key, None), value), (Ok(Some(tombstone)), None));
}

#[test]
fn a_cluster_without_transaction_version_writes_version_0() {
    let Encoded { key, value } = encoded(&prepared(), TransactionVersion::V0);
    assert_eq!(value.as_ref().unwrap()[..2], [0, 0]);
    let read = decoded(&key, value.as_deref()).unwrap().unwrap().transaction.unwrap();
    let written = prepared().transaction.unwrap();
    assert_eq!(read.partitions, written.partitions);
    assert_eq!((read.next_producer_id, read.client_version), (None, TransactionVersion::V0));
}

#[test]
fn what_is_not_known_is_passed_over_and_what_cannot_be_stops_the_load() {
    let Encoded { key, value } = encoded(&prepared(), TransactionVersion::V2);
    let value = value.unwrap();
    assert_eq!(decoded(&[0, 9, 1, 2], Some(b"anything")), Ok(None));
    assert_eq!(decoded(&key, Some(&[0, 2, 1, 2, 3])), Ok(None));
    assert!(decode(&Hard::new(1), None, Some(&value)).is_err());
    assert!(decoded(&key, Some(&value[..10])).is_err());
    // States that Kafka has and never writes.
    for state in [6, 7] {
        let mut never_written = value.clone();
        never_written[16] = state;
        assert!(decoded(&key, Some(&never_written)).is_err());
    }
    let no_partitions = [&value[..17], &[0; 18]].concat();
    assert_eq!(
        decoded(&key, Some(&no_partitions)),
        Err("a transaction in the state PrepareCommit without partitions".to_owned())
    );
}
