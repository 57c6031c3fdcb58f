//! What a step brought, as the lines of a scenario.

use milepost_model::{ProducerIdentity, TransactionEnd};
use milepost_transactions::{
    DescribedTransaction, Effect, Record, Reply, TransactionError, TransactionPartition,
};

use super::{START, Step};

pub(crate) fn lines(step: &Step) -> Vec<String> {
    let mut lines: Vec<String> = step.records.iter().map(record).collect();
    lines.extend(step.effects.iter().map(effect));
    lines.extend(step.replies.iter().map(|(label, answer)| format!("{label}: {}", reply(answer))));
    lines.extend(step.refused.iter().map(|label| format!("{label}: refused, nothing was written")));
    lines
}

fn record(record: &Record) -> String {
    let Some(transaction) = &record.transaction else { return format!("- {}", record.transactional_id) };
    let mut line = format!(
        "+ {} {} {}",
        record.transactional_id,
        transaction.state.name(),
        producer(transaction.producer)
    );
    for partition in transaction.partitions.iter() {
        line += &place(partition);
    }
    if let Some(previous) = transaction.previous_producer_id.filter(|id| *id != transaction.producer.id) {
        line += &format!(" previous={}", previous.0);
    }
    if let Some(next) = transaction.next_producer_id {
        line += &format!(" next={}", next.0);
    }
    line + &format!(" version={}", transaction.client_version.0)
}

fn effect(effect: &Effect) -> String {
    match effect {
        Effect::WriteMarkers(markers) => {
            let end = match markers.end {
                TransactionEnd::Commit => "commit",
                TransactionEnd::Abort => "abort",
            };
            let places: String = markers.partitions.iter().map(place).collect();
            format!("> {} {end} {}{places}", markers.transactional_id, producer(markers.producer))
        }
        Effect::TakeProducerId { transactional_id, producer: present } => {
            format!("> {transactional_id} producer-id {}", producer(*present))
        }
    }
}

fn producer(producer: ProducerIdentity) -> String {
    format!("{}/{}", producer.id.0, producer.epoch.0)
}

fn place(partition: &TransactionPartition) -> String {
    format!(" {}:{}", partition.topic, partition.partition)
}

fn reply(reply: &Reply) -> String {
    match reply {
        Reply::InitProducerId(result) | Reply::EndTransaction(result) => {
            result_of(result, |id| producer(*id))
        }
        Reply::AddPartitions(result) => result_of(result, |()| "ok".to_owned()),
        Reply::VerifyPartitions(result) => result_of(result, |partitions| {
            let each = partitions.iter().map(|result| result_of(result, |()| "ok".to_owned()));
            each.collect::<Vec<_>>().join(" | ")
        }),
        Reply::Describe(result) => result_of(result, described),
        Reply::List(listed) if listed.is_empty() => "nothing".to_owned(),
        Reply::List(listed) => {
            let each = listed.iter().map(|listed| {
                format!("{} {} {}", listed.transactional_id, listed.producer_id.0, listed.state.name())
            });
            each.collect::<Vec<_>>().join(" | ")
        }
        Reply::Noted => "noted".to_owned(),
    }
}

fn described(described: &DescribedTransaction) -> String {
    let start = described.start.map_or("none".to_owned(), |start| format!("{}ms", start.0 - START.wall.0));
    let places: String = described.partitions.iter().map(place).collect();
    let DescribedTransaction { state, timeout_ms, .. } = described;
    format!("{} {} timeout={timeout_ms}ms start={start}{places}", state.name(), producer(described.producer))
}

fn result_of<T>(result: &Result<T, TransactionError>, print: impl Fn(&T) -> String) -> String {
    match result {
        Ok(value) => print(value),
        Err(error) => format!("{error:?}"),
    }
}
