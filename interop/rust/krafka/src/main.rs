//! A member that is krafka, a client without C code. Its tasks go on between two words, in a runtime of threads.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use krafka::admin::{
    AdminClient, AlterConsumerGroupOffsetsOptions, CreateTopicsOptions, DeleteConsumerGroupOffsetsOptions,
    DeleteConsumerGroupsOptions, DeleteTopicsOptions, DescribeConsumerGroupsOptions, DescribeTopicsOptions,
    ListConsumerGroupOffsetsOptions, ListConsumerGroupsOptions, NewTopic,
};
use krafka::consumer::{
    AutoOffsetReset, Consumer, ConsumerRebalanceListener, OffsetAndMetadata, PartitionAssignmentStrategy,
    TopicPartition,
};
use krafka::producer::Acks;
use krafka::{Compression, Kafka, KrafkaError};
use puppet::{Answer, Arguments, Committed, Failure, LOOK, Options, Record};
use tokio::runtime::Runtime;

/// What was taken away since a story asked last.
#[derive(Default)]
struct Revoked(Mutex<Vec<i32>>);

impl Revoked {
    fn add(&self, partitions: &[TopicPartition]) {
        let mut revoked = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        revoked.extend(partitions.iter().map(|one| one.partition));
    }

    fn take(&self) -> Vec<i32> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl ConsumerRebalanceListener for Revoked {
    async fn on_partitions_assigned(&self, _: &[TopicPartition]) {}

    async fn on_partitions_revoked(&self, partitions: &[TopicPartition]) {
        self.add(partitions);
    }

    async fn on_partitions_lost(&self, partitions: &[TopicPartition]) {
        self.add(partitions);
    }
}

struct Member {
    runtime: Runtime,
    kafka: Kafka,
    group: String,
    consumer: Option<Arc<Consumer>>,
    revoked: Arc<Revoked>,
}

impl Member {
    fn new(options: &Options) -> Result<Self, Failure> {
        let runtime = Runtime::new().map_err(|error| Failure::own(error.to_string()))?;
        let kafka = runtime.block_on(Kafka::builder(options.bootstrap.as_str()).connect()).map_err(failed)?;
        let revoked = Arc::new(Revoked::default());
        let consumer = match &options.group {
            None => None,
            Some(group) => {
                let made = consumer(&kafka, group, options, &revoked)?;
                Some(Arc::new(runtime.block_on(made.build()).map_err(failed)?))
            }
        };
        let group = options.group.clone().unwrap_or_default();
        Ok(Self { runtime, kafka, group, consumer, revoked })
    }

    fn consumer(&self) -> Result<&Arc<Consumer>, Failure> {
        self.consumer.as_ref().ok_or_else(|| Failure::own("this member has no group"))
    }

    fn commit(&mut self, with: &Arguments) -> Result<Answer, Failure> {
        let consumer = Arc::clone(self.consumer()?);
        let mut positions = Vec::new();
        for (topic, partitions) in self.runtime.block_on(consumer.assignment()) {
            for partition in partitions {
                let Some(offset) = self.runtime.block_on(consumer.position(&topic, partition)) else {
                    continue;
                };
                let mut position = OffsetAndMetadata::with_metadata(offset, with.text("metadata")?);
                position.leader_epoch = with.optional_number("epoch")?;
                positions.push((TopicPartition::new(topic.clone(), partition), position));
            }
        }
        // Every commit of this client is awaited. An asynchronous one is a task, while the member goes on polling.
        let committing = self.runtime.spawn(async move { consumer.commit_offsets(positions).await });
        while with.text("mode")? == "async" && !committing.is_finished() {
            puppet::poll_nothing(self)?;
        }
        let ended = self.runtime.block_on(committing).map_err(|error| Failure::own(error.to_string()))?;
        ended.map(|()| vec![]).map_err(failed)
    }

    fn produce(&self, with: &Arguments) -> Result<Answer, Failure> {
        let compression = match with.text("compression")? {
            "gzip" => Compression::Gzip,
            "snappy" => Compression::Snappy,
            "lz4" => Compression::Lz4,
            "zstd" => Compression::Zstd,
            _ => Compression::None,
        };
        let (topic, partition, values) = (with.text("topic")?, with.number("partition")?, with.values()?);
        self.runtime
            .block_on(async {
                let producer = self.kafka.producer().acks(Acks::All).linger(Duration::from_millis(5));
                let producer = producer.compression(compression).build().await?;
                let mut sent = Vec::new();
                for value in values {
                    sent.push(
                        producer.enqueue(krafka::Record::new(topic, value).partition(partition)).await?,
                    );
                }
                let mut offsets = Vec::new();
                for one in sent {
                    offsets.push(one.await?.offset);
                }
                producer.close().await?;
                Ok(puppet::produced(&offsets))
            })
            .map_err(failed)
    }

    fn administer(&self, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure> {
        let admin = self.kafka.admin();
        let answer = self.runtime.block_on(administer(&admin, verb, with));
        self.runtime.block_on(admin.close()).map_err(failed)?;
        answer
    }
}

fn consumer(
    kafka: &Kafka,
    group: &str,
    options: &Options,
    revoked: &Arc<Revoked>,
) -> Result<krafka::consumer::ConsumerBuilder, Failure> {
    let mut made = kafka.consumer(group).rebalance_listener(Arc::clone(revoked));
    for (key, value) in &options.settings {
        let milliseconds = options.milliseconds(key);
        made = match key.as_str() {
            "session.timeout.ms" => made.session_timeout(milliseconds?.unwrap_or_default()),
            "heartbeat.interval.ms" => made.heartbeat_interval(milliseconds?.unwrap_or_default()),
            "auto.commit.interval.ms" => made.auto_commit_interval(milliseconds?.unwrap_or_default()),
            "enable.auto.commit" => made.enable_auto_commit(value == "true"),
            "group.instance.id" => made.group_instance_id(value),
            "max.poll.records" => {
                made.max_poll_records(value.parse().map_err(|_| Failure::own("max.poll.records"))?)
            }
            "auto.offset.reset" => made.auto_offset_reset(match value.as_str() {
                "earliest" => AutoOffsetReset::Earliest,
                "none" => AutoOffsetReset::None,
                _ => AutoOffsetReset::Latest,
            }),
            "partition.assignment.strategy" if value == "cooperative-sticky" => {
                made.partition_assignment_strategy(PartitionAssignmentStrategy::CooperativeSticky)
            }
            _ => return Err(Failure::own(format!("the client has no setting {key}={value}"))),
        };
    }
    Ok(made)
}

async fn administer(admin: &AdminClient, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure> {
    let done = |results: Vec<Result<(), KrafkaError>>| {
        results.into_iter().collect::<Result<(), _>>().map(|()| Some(vec![])).map_err(failed)
    };
    match verb {
        "create-topic" => {
            let wanted = NewTopic::new(with.text("topic")?, with.number("partitions")?, 1).map_err(failed)?;
            let made = admin.create_topics([wanted], CreateTopicsOptions::default()).await;
            done(made.map_err(failed)?.into_values().collect())
        }
        "delete-topic" => {
            let gone = admin.delete_topics([with.text("topic")?], DeleteTopicsOptions::default()).await;
            done(gone.map_err(failed)?.into_values().collect())
        }
        "describe-topic" => {
            let found = admin.describe_topics([with.text("topic")?], DescribeTopicsOptions::default()).await;
            let one = only(found.map_err(failed)?)?;
            Ok(Some(vec![("partitions", one.partitions.len().to_string())]))
        }
        "list-groups" => {
            let listed = admin.list_consumer_groups(ListConsumerGroupsOptions::default()).await;
            let mut names = Vec::new();
            for groups in listed.map_err(failed)?.into_values() {
                names.extend(groups.map_err(failed)?.into_iter().map(|one| one.group_id));
            }
            Ok(Some(vec![("groups", names.join(","))]))
        }
        "describe-group" => {
            let options = DescribeConsumerGroupsOptions::default();
            let found = admin.describe_consumer_groups([with.text("group")?], options).await;
            let one = only(found.map_err(failed)?)?;
            Ok(Some(vec![("state", one.state), ("members", one.members.len().to_string())]))
        }
        "delete-group" => {
            let options = DeleteConsumerGroupsOptions::default();
            let gone = admin.delete_consumer_groups([with.text("group")?], options).await;
            done(gone.map_err(failed)?.into_values().collect())
        }
        "alter-offset" => {
            let target = TopicPartition::new(with.text("topic")?, with.number("partition")?);
            let wanted = [(target, with.number("offset")?)];
            let options = AlterConsumerGroupOffsetsOptions::default();
            let altered = admin.alter_consumer_group_offsets(with.text("group")?, wanted, options).await;
            done(altered.map_err(failed)?.into_values().collect())
        }
        "delete-offsets" => {
            let options = DeleteConsumerGroupOffsetsOptions::default();
            let gone =
                admin.delete_consumer_group_offsets(with.text("group")?, partitions(with)?, options).await;
            done(gone.map_err(failed)?.into_values().collect())
        }
        "list-offsets" => committed_of(admin, with.text("group")?, with).await.map(Some),
        _ => Ok(None),
    }
}

async fn committed_of(admin: &AdminClient, group: &str, with: &Arguments) -> Result<Answer, Failure> {
    let asked = partitions(with)?;
    let options = ListConsumerGroupOffsetsOptions::default().partitions(asked.clone());
    let mut known = admin.list_consumer_group_offsets(group, options).await.map_err(failed)?;
    let mut found = Vec::new();
    for one in asked {
        let answer = known.remove(&one).ok_or_else(|| Failure::own("no answer for a partition"))?;
        let answer = answer.map_err(failed)?;
        let metadata = answer.metadata.unwrap_or_default();
        found.push(Committed { partition: one.partition, offset: answer.offset, metadata });
    }
    Ok(puppet::committed(&found))
}

fn partitions(with: &Arguments) -> Result<Vec<TopicPartition>, Failure> {
    let topic = with.text("topic")?;
    Ok(with.partitions()?.into_iter().map(|partition| TopicPartition::new(topic, partition)).collect())
}

fn only<T>(results: HashMap<String, Result<T, KrafkaError>>) -> Result<T, Failure> {
    let first = results.into_values().next().ok_or_else(|| Failure::own("no answer"))?;
    first.map_err(failed)
}

impl puppet::Member for Member {
    /// The client decides how many records it hands over at once: `max.poll.records`.
    fn poll_some(&mut self, _: usize) -> Result<Vec<Record>, Failure> {
        let consumer = self.consumer()?;
        let records = self.runtime.block_on(consumer.poll(LOOK)).map_err(failed)?;
        let told = |one: krafka::ConsumerRecord| Record {
            partition: one.partition,
            offset: one.offset,
            value: one.value_str().unwrap_or_default().to_owned(),
        };
        Ok(records.into_iter().map(told).collect())
    }

    fn assignment(&mut self) -> Result<Vec<i32>, Failure> {
        let assigned = self.runtime.block_on(self.consumer()?.assignment());
        Ok(assigned.into_values().flatten().collect())
    }

    fn obey(&mut self, verb: &str, with: &Arguments) -> Result<Option<Answer>, Failure> {
        match verb {
            "version" => puppet::version(include_str!("../../Cargo.lock"), "krafka"),
            "subscribe" => {
                let topic = with.text("topic")?;
                self.runtime.block_on(self.consumer()?.subscribe([topic])).map_err(failed)?;
                Ok(vec![])
            }
            "rebalances" => Ok(puppet::revoked(self.revoked.take())),
            "commit" => self.commit(with),
            "committed" => self.runtime.block_on(committed_of(&self.kafka.admin(), &self.group, with)),
            "produce" => self.produce(with),
            "close" => {
                if let Some(consumer) = self.consumer.take() {
                    self.runtime.block_on(consumer.close()).map_err(failed)?;
                }
                Ok(vec![])
            }
            _ => return self.administer(verb, with),
        }
        .map(Some)
    }
}

fn failed(error: KrafkaError) -> Failure {
    let code = match &error {
        KrafkaError::Broker { code, .. } => Some(i32::from(code.to_i16())),
        _ => None,
    };
    let said = format!("{error:?}");
    let name = said.split([' ', '(', '{']).next().unwrap_or_default().to_owned();
    Failure { name, code, text: error.to_string() }
}

fn main() -> Result<(), Failure> {
    puppet::run(&mut Member::new(&Options::parse()?)?);
    Ok(())
}
