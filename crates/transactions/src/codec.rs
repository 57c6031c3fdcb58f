//! Records as bytes and back, over `records`. Ids that the state already knows are shared, not copied.

use std::collections::BTreeSet;
use std::sync::Arc;

use milepost_model::{Corrupt, Encoded};
use milepost_records::transactions::{self, TopicPartitions, TransactionKey, TransactionValue, ValueVersion};

use crate::hard::Hard;
use crate::{
    Record, Transaction, TransactionPartition, TransactionSettings, TransactionState, TransactionVersion,
};

#[cfg(test)]
mod tests;

/// Why encoding cannot fail: handlers refuse names that do not fit, and decoded ones did fit.
const FITS: &str = "handlers refuse names that are longer than a record can hold";

/// Reads a record. Unknown types and versions are passed over, as Kafka does.
pub(crate) fn decode(
    hard: &Hard,
    key: Option<&[u8]>,
    value: Option<&[u8]>,
) -> Result<Option<Record>, Corrupt> {
    match transactions::Record::decode(key, value).map_err(|error| Corrupt(error.to_string()))? {
        transactions::Record::Transaction { key, value } => Ok(Some(Record {
            transactional_id: hard.shared_id(key.transactional_id),
            transaction: value.map(|value| transaction(&value).map(Arc::new)).transpose()?,
        })),
        transactions::Record::UnknownValue { .. } | transactions::Record::Unknown { .. } => Ok(None),
    }
}

fn transaction(value: &TransactionValue<'_>) -> Result<Transaction, Corrupt> {
    let state = TransactionState::from_status(value.status)
        .ok_or_else(|| Corrupt(format!("a transaction in the state {}", value.status.name())))?;
    let partitions = match (&value.partitions, state) {
        (_, TransactionState::Empty) => BTreeSet::new(),
        (Some(topics), _) => partitions(topics),
        (None, _) => {
            return Err(Corrupt(format!("a transaction in the state {} without partitions", state.name())));
        }
    };
    Ok(Transaction {
        producer: value.producer,
        previous_producer_id: value.previous_producer_id,
        next_producer_id: value.next_producer_id,
        timeout_ms: value.timeout_ms,
        state,
        partitions: Arc::new(partitions),
        last_update: value.last_update_timestamp,
        start: value.start_timestamp,
        client_version: TransactionVersion(value.client_transaction_version),
    })
}

fn partitions(topics: &[TopicPartitions<'_>]) -> BTreeSet<TransactionPartition> {
    let mut partitions = BTreeSet::new();
    for topic in topics {
        let name: Arc<str> = topic.topic.into();
        let of_topic = topic.partitions.iter();
        partitions
            .extend(of_topic.map(|&partition| TransactionPartition { topic: Arc::clone(&name), partition }));
    }
    partitions
}

pub(crate) fn encode(settings: &TransactionSettings, record: &Record, into: &mut Encoded) {
    TransactionKey { transactional_id: &record.transactional_id }.encode(into.new_key()).expect(FITS);
    let Some(transaction) = &record.transaction else {
        into.value = None;
        return;
    };
    let version = if settings.transaction_version >= TransactionVersion::V1 {
        ValueVersion::V1
    } else {
        ValueVersion::V0
    };
    TransactionValue {
        producer: transaction.producer,
        previous_producer_id: transaction.previous_producer_id,
        next_producer_id: transaction.next_producer_id,
        timeout_ms: transaction.timeout_ms,
        status: transaction.state.status(),
        partitions: (transaction.state != TransactionState::Empty).then(|| topics(&transaction.partitions)),
        last_update_timestamp: transaction.last_update,
        start_timestamp: transaction.start,
        client_transaction_version: transaction.client_version.0,
    }
    .encode(version, into.new_value())
    .expect(FITS);
}

fn topics(partitions: &BTreeSet<TransactionPartition>) -> Vec<TopicPartitions<'_>> {
    let mut topics: Vec<TopicPartitions<'_>> = Vec::new();
    for TransactionPartition { topic, partition } in partitions {
        match topics.last_mut() {
            Some(last) if *last.topic == **topic => last.partitions.push(*partition),
            _ => topics.push(TopicPartitions { topic, partitions: vec![*partition] }),
        }
    }
    topics
}
