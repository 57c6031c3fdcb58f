//! A member that is rust-rdkafka, the Rust face of librdkafka.

use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use futures_executor::block_on;
use puppet::{Answer, Arguments, Committed, Failure, LOOK, Options, Record};
use rdkafka::admin::{AdminClient, AdminOptions, NewTopic, TopicReplication};
use rdkafka::client::DefaultClientContext;
use rdkafka::config::ClientConfig;
use rdkafka::consumer::{BaseConsumer, CommitMode, Consumer, ConsumerContext, Rebalance};
use rdkafka::error::{KafkaError, RDKafkaErrorCode};
use rdkafka::message::Message;
use rdkafka::producer::{FutureProducer, FutureRecord};
use rdkafka::{ClientContext, Offset, TopicPartitionList};

const PATIENCE: Duration = Duration::from_secs(20);

/// What was taken away since a story asked last.
#[derive(Default)]
struct Heard(Mutex<Vec<i32>>);

impl ClientContext for Heard {}

impl ConsumerContext for Heard {
    fn pre_rebalance(&self, _: &BaseConsumer<Self>, rebalance: &Rebalance<'_>) {
        if let Rebalance::Revoke(partitions) = rebalance {
            let mut revoked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
            revoked.extend(partitions.elements().iter().map(|one| one.partition()));
        }
    }
}

struct Member {
    base: ClientConfig,
    group: String,
    admin: AdminClient<DefaultClientContext>,
    consumer: Option<BaseConsumer<Heard>>,
}

impl Member {
    fn new(options: &Options) -> Result<Self, Failure> {
        let mut base = ClientConfig::new();
        base.set("bootstrap.servers", &options.bootstrap);
        let consumer = options.group.as_ref().map(|group| {
            let mut config = base.clone();
            config.set("group.id", group);
            for (key, value) in &options.settings {
                match (key.as_str(), value.as_str()) {
                    // librdkafka has another word, or none.
                    ("auto.offset.reset", "none") => config.set(key, "error"),
                    ("max.poll.records", _) => &mut config,
                    _ => config.set(key, value),
                };
            }
            config.create_with_context(Heard::default())
        });
        let admin = base.create().map_err(failed)?;
        let group = options.group.clone().unwrap_or_default();
        Ok(Self { base, group, admin, consumer: consumer.transpose().map_err(failed)? })
    }

    fn consumer(&self) -> Result<&BaseConsumer<Heard>, Failure> {
        self.consumer.as_ref().ok_or_else(|| Failure::own("this member has no group"))
    }

    fn commit(&self, with: &Arguments) -> Result<Answer, Failure> {
        let consumer = self.consumer()?;
        let mut positions = TopicPartitionList::new();
        for one in consumer.position().map_err(failed)?.elements() {
            if let Offset::Offset(_) = one.offset() {
                let mut entry = positions.add_partition(one.topic(), one.partition());
                entry.set_offset(one.offset()).map_err(failed)?;
                entry.set_metadata(with.text("metadata")?);
            }
        }
        if with.text("mode")? != "sync" {
            return Err(Failure::own("nobody hears how an asynchronous commit ended"));
        }
        consumer.commit(&positions, CommitMode::Sync).map_err(failed)?;
        Ok(vec![])
    }

    fn produce(&self, with: &Arguments) -> Result<Answer, Failure> {
        let mut config = self.base.clone();
        config.set("acks", "all").set("linger.ms", "5").set("compression.type", with.text("compression")?);
        let producer: FutureProducer = config.create().map_err(failed)?;
        let (topic, partition) = (with.text("topic")?, with.number("partition")?);
        let mut sent = Vec::new();
        for value in with.values()? {
            let record = FutureRecord::<(), _>::to(topic).partition(partition).payload(&value);
            sent.push(producer.send_result(record).map_err(|(error, _)| failed(error))?);
        }
        let mut offsets = Vec::new();
        for one in sent {
            let report = block_on(one).map_err(|_| Failure::own("the producer forgot a record"))?;
            offsets.push(report.map_err(|(error, _)| failed(error))?.offset);
        }
        Ok(puppet::produced(&offsets))
    }

    /// The committed offsets of any group, as a consumer that has its name and is not a member.
    fn committed_of(&self, group: &str, with: &Arguments) -> Result<Answer, Failure> {
        let reader: BaseConsumer = self.base.clone().set("group.id", group).create().map_err(failed)?;
        let mut asked = TopicPartitionList::new();
        for partition in with.partitions()? {
            asked.add_partition(with.text("topic")?, partition);
        }
        let mut found = Vec::new();
        for one in reader.committed_offsets(asked, PATIENCE).map_err(failed)?.elements() {
            one.error().map_err(failed)?;
            let offset = if let Offset::Offset(offset) = one.offset() { Some(offset) } else { None };
            found.push(Committed { partition: one.partition(), offset, metadata: one.metadata().to_owned() });
        }
        Ok(puppet::committed(&found))
    }

    fn list_groups(&self) -> Result<Answer, Failure> {
        let listed = self.admin.inner().fetch_group_list(None, PATIENCE).map_err(failed)?;
        let names: Vec<_> = listed.groups().iter().map(|one| one.name()).collect();
        Ok(vec![("groups", names.join(","))])
    }

    fn describe_group(&self, group: &str) -> Result<Answer, Failure> {
        let listed = self.admin.inner().fetch_group_list(Some(group), PATIENCE).map_err(failed)?;
        let one = listed.groups().first().ok_or_else(|| Failure::own("the group is not described"))?;
        Ok(vec![("state", one.state().to_owned()), ("members", one.members().len().to_string())])
    }

    fn describe_topic(&self, topic: &str) -> Result<Answer, Failure> {
        let found = self.admin.inner().fetch_metadata(Some(topic), PATIENCE).map_err(failed)?;
        let one = found.topics().first().ok_or_else(|| Failure::own("the topic is not described"))?;
        match one.error() {
            Some(error) => Err(coded(RDKafkaErrorCode::from(error))),
            None => Ok(vec![("partitions", one.partitions().len().to_string())]),
        }
    }

    fn administer(&self, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure> {
        let options = AdminOptions::new().request_timeout(Some(PATIENCE));
        let results = match verb {
            "create-topic" => {
                let partitions = with.number("partitions")?;
                let wanted = NewTopic::new(with.text("topic")?, partitions, TopicReplication::Fixed(1));
                block_on(self.admin.create_topics(&[wanted], &options))
            }
            "delete-topic" => block_on(self.admin.delete_topics(&[with.text("topic")?], &options)),
            "delete-group" => block_on(self.admin.delete_groups(&[with.text("group")?], &options)),
            "describe-topic" => return self.describe_topic(with.text("topic")?).map(Some),
            "list-groups" => return self.list_groups().map(Some),
            "describe-group" => return self.describe_group(with.text("group")?).map(Some),
            _ => return Ok(None),
        };
        for one in results.map_err(failed)? {
            one.map_err(|(_, code)| coded(code))?;
        }
        Ok(Some(vec![]))
    }
}

impl puppet::Member for Member {
    fn poll_some(&mut self, most: usize) -> Result<Vec<Record>, Failure> {
        let consumer = self.consumer()?;
        let deadline = Instant::now() + LOOK;
        let mut records = Vec::new();
        while records.len() < most {
            let Some(polled) = consumer.poll(deadline.saturating_duration_since(Instant::now())) else {
                break;
            };
            let message = match polled {
                Ok(message) => message,
                // The server is away, which the client gets over by itself.
                Err(KafkaError::MessageConsumption(
                    RDKafkaErrorCode::AllBrokersDown | RDKafkaErrorCode::BrokerTransportFailure,
                )) => break,
                Err(error) => return Err(failed(error)),
            };
            let value = message.payload().map(String::from_utf8_lossy).unwrap_or_default().into_owned();
            records.push(Record { partition: message.partition(), offset: message.offset(), value });
        }
        Ok(records)
    }

    fn assignment(&mut self) -> Result<Vec<i32>, Failure> {
        let assigned = self.consumer()?.assignment().map_err(failed)?;
        Ok(assigned.elements().iter().map(|one| one.partition()).collect())
    }

    fn obey(&mut self, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure> {
        match verb {
            "version" => puppet::version(include_str!("../../Cargo.lock"), "rdkafka"),
            "subscribe" => {
                self.consumer()?.subscribe(&[with.text("topic")?]).map_err(failed)?;
                Ok(vec![])
            }
            "rebalances" => {
                let heard = &self.consumer()?.context().0;
                Ok(puppet::revoked(std::mem::take(
                    &mut *heard.lock().unwrap_or_else(PoisonError::into_inner),
                )))
            }
            "commit" => self.commit(with),
            "committed" => self.committed_of(&self.group, with),
            "list-offsets" => self.committed_of(with.text("group")?, with),
            "produce" => self.produce(with),
            "close" => {
                // Dropping a consumer closes it.
                self.consumer = None;
                Ok(vec![])
            }
            _ => return self.administer(verb, with),
        }
        .map(Some)
    }
}

fn failed(error: KafkaError) -> Failure {
    let code = match error {
        KafkaError::AdminOp(code) => Some(code),
        _ => error.rdkafka_error_code(),
    };
    Failure { text: error.to_string(), ..code.map_or_else(|| Failure::own(""), coded) }
}

fn coded(code: RDKafkaErrorCode) -> Failure {
    // librdkafka's own errors are negative; Kafka's are the broker's.
    let number = code as i32;
    Failure { name: format!("{code:?}"), code: (number >= 0).then_some(number), text: code.to_string() }
}

fn main() -> Result<(), Failure> {
    puppet::run(&mut Member::new(&Options::parse()?)?);
    Ok(())
}
