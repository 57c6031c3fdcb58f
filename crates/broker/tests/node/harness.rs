//! A node on a disk in memory, a clock that stands still until it is told, and clients that check what every answer
//! must keep: frames whole, correlation ids in the order of the requests.

use std::collections::{BTreeMap, VecDeque};

use milepost_batch::{BatchBuilder, BatchOptions};
use milepost_broker::Counters;
use milepost_broker::config::{BrokerSettings, Endpoint, Loader};
use milepost_broker::node::{Admission, ConnectionId, Node, Phase};
use milepost_broker::random::Random;
use milepost_broker::storage::log_settings;
use milepost_log::metadata::MetadataLog;
use milepost_log::{AppendOrigin, LogSet};
use milepost_model::{
    Instant, Now, Offset, PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp, TopicId,
    TopicPartition,
};
use milepost_storage::{MemoryDisk, MemoryEngine, Space};
use milepost_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest, CreateTopicsResponse};
use milepost_wire::messages::describe_log_dirs::{DescribeLogDirsRequest, DescribeLogDirsResponse};
use milepost_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use milepost_wire::{ApiKey, ErrorCode, Request, Response, decode_response, encode_request};

/// The wall clock at the start.
pub(crate) const START_MS: i64 = 1_750_000_000_000;
/// More steps in a row than anything needs; a node that would go on longer spins.
const STEPS_MAX: usize = 10_000;

/// The lowest, a middle and the highest version of an API.
pub(crate) fn versions(api: ApiKey) -> [i16; 3] {
    let range = api.range();
    [range.min_served, i16::midpoint(range.min_served, range.max), range.max]
}

/// Every version of an API.
pub(crate) fn all_versions(api: ApiKey) -> std::ops::RangeInclusive<i16> {
    api.range().min_served..=api.range().max
}

/// Operations by their numbers in Kafka, as the field for authorised operations holds them.
pub(crate) fn operations(numbers: &[i32]) -> i32 {
    numbers.iter().map(|number| 1 << number).sum()
}

/// One client's connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Client(ConnectionId);

/// One answer.
pub(crate) struct Frame {
    version: i16,
    bytes: Vec<u8>,
}

impl Frame {
    pub(crate) fn read<'a, R: Response<'a>>(&'a self) -> R {
        decode_response(&self.bytes, self.version).expect("an answer is what its version says").1
    }
}

#[derive(Default)]
struct Line {
    asked: VecDeque<(i32, i16)>,
    received: Vec<u8>,
    next_correlation_id: i32,
}

/// Bytes that look random and are the same in every run.
struct Bytes(u64);

impl Random for Bytes {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *byte = (self.0 >> 56) as u8;
        }
    }
}

/// A broker and the world around it.
pub(crate) struct Broker {
    pub(crate) disk: MemoryDisk,
    node: Option<Node>,
    settings: BrokerSettings,
    now: Now,
    starts: u64,
    lines: BTreeMap<ConnectionId, Line>,
    main: Option<Client>,
}

impl Broker {
    /// Starts on an empty disk.
    pub(crate) fn start(settings: &[&str]) -> Self {
        let mut loader = Loader::default();
        loader.flag("offsets.topic.num.partitions=3").expect("a known setting");
        for pair in settings {
            loader.flag(pair).expect("a known setting");
        }
        let mut broker = Self {
            disk: MemoryDisk::new(),
            node: None,
            settings: loader.finish().expect("settings that fit"),
            now: Now { monotonic: Instant(0), wall: Timestamp(START_MS) },
            starts: 0,
            lines: BTreeMap::new(),
            main: None,
        };
        broker.open();
        broker.settle();
        broker
    }

    fn open(&mut self) {
        let engine = MemoryEngine::open(&self.disk).expect("nobody else has the disk");
        self.starts += 1;
        let endpoint = Endpoint { host: "broker.test".to_owned(), port: 9092 };
        let (settings, logs) = (self.settings.clone(), log_settings(&self.settings));
        let random = Box::new(Bytes(self.starts));
        let (node, _) =
            Node::start(engine, settings, logs, endpoint, random, self.now).expect("the node starts");
        self.node = Some(node);
        self.lines.clear();
        self.main = Some(self.connect());
    }

    /// The process is killed and started again, and has not loaded anything yet.
    pub(crate) fn restart_unloaded(&mut self) {
        self.node = None;
        self.open();
    }

    fn node(&mut self) -> &mut Node {
        self.node.as_mut().expect("the node runs")
    }

    pub(crate) fn now(&self) -> Now {
        self.now
    }

    pub(crate) fn main(&self) -> Client {
        self.main.expect("there is one while the node runs")
    }

    pub(crate) fn connect(&mut self) -> Client {
        let id = self.node().connect("/10.1.2.3".to_owned());
        self.lines.insert(id, Line::default());
        Client(id)
    }

    pub(crate) fn disconnect(&mut self, client: Client) {
        self.node().disconnect(client.0);
        self.lines.remove(&client.0);
    }

    /// Hands a frame in without waiting for anything.
    pub(crate) fn admit(&mut self, client: Client, frame: &[u8]) -> Admission {
        let now = self.now;
        self.node().admit(now, client.0, frame)
    }

    pub(crate) fn accepts_more(&mut self, client: Client) -> bool {
        self.node().accepts_more(client.0)
    }

    /// Sends a request and does not wait.
    pub(crate) fn send<'a, R: Request<'a>>(&mut self, client: Client, version: i16, request: &R) {
        let admission = self.send_as(client, "test", version, request);
        assert_eq!(admission, Admission::Admitted);
    }

    /// Sends a request under a client id; the node may close the connection.
    pub(crate) fn send_as<'a, R: Request<'a>>(
        &mut self,
        client: Client,
        client_id: &str,
        version: i16,
        request: &R,
    ) -> Admission {
        let line = self.lines.get_mut(&client.0).expect("an open connection");
        line.next_correlation_id += 1;
        let correlation_id = line.next_correlation_id;
        line.asked.push_back((correlation_id, version));
        let mut frame = Vec::new();
        encode_request(&mut frame, request, version, correlation_id, Some(client_id))
            .expect("the version can say this");
        self.admit(client, &frame[4..])
    }

    /// Sends a frame made by hand, whose answer will have this version.
    pub(crate) fn send_raw(&mut self, client: Client, version: i16, frame: impl FnOnce(i32) -> Vec<u8>) {
        let line = self.lines.get_mut(&client.0).expect("an open connection");
        line.next_correlation_id += 1;
        let correlation_id = line.next_correlation_id;
        line.asked.push_back((correlation_id, version));
        assert_eq!(self.admit(client, &frame(correlation_id)), Admission::Admitted);
    }

    /// Sends a request that gets no answer.
    pub(crate) fn send_unanswered<'a, R: Request<'a>>(
        &mut self,
        client: Client,
        version: i16,
        request: &R,
    ) -> Admission {
        let admission = self.send_as(client, "test", version, request);
        self.lines.get_mut(&client.0).expect("an open connection").asked.pop_back();
        admission
    }

    /// The next answer of a connection, if it is there.
    pub(crate) fn answer(&mut self, client: Client) -> Option<Frame> {
        let line = self.lines.get_mut(&client.0).expect("an open connection");
        let size = line.received.first_chunk::<4>().map(|size| u32::from_be_bytes(*size) as usize)?;
        assert!(line.received.len() >= 4 + size, "answers are handed over whole");
        let bytes: Vec<u8> = line.received.drain(..4 + size).skip(4).collect();
        let (correlation_id, version) = line.asked.pop_front().expect("nobody asked for this answer");
        assert_eq!(bytes.first_chunk(), Some(&correlation_id.to_be_bytes()), "answers come in request order");
        Some(Frame { version, bytes })
    }

    /// Asks and waits for the answer.
    pub(crate) fn ask<'a, R: Request<'a>>(&mut self, version: i16, request: &R) -> Frame {
        let client = self.main();
        self.ask_on(client, version, request)
    }

    pub(crate) fn ask_on<'a, R: Request<'a>>(&mut self, client: Client, version: i16, request: &R) -> Frame {
        self.send(client, version, request);
        self.settle();
        self.answer(client).expect("an answer without time passing")
    }

    /// Lets the node do all it can do now.
    pub(crate) fn settle(&mut self) {
        let now = self.now;
        for _ in 0..STEPS_MAX {
            let goes_on = self.node().step(now);
            self.collect();
            if !goes_on {
                return;
            }
        }
        panic!("the node spins");
    }

    /// One step, whatever it says.
    pub(crate) fn step(&mut self) -> bool {
        let now = self.now;
        let goes_on = self.node().step(now);
        self.collect();
        goes_on
    }

    fn collect(&mut self) {
        let node = self.node.as_mut().expect("the node runs");
        for id in node.take_with_output() {
            if let Some(line) = self.lines.get_mut(&id) {
                node.take_output(id, &mut line.received);
            }
        }
    }

    /// Time passes at once, then the node acts.
    pub(crate) fn pass_ms(&mut self, ms: u64) {
        self.now.monotonic = self.now.monotonic.plus_ms(ms);
        self.now.wall = Timestamp(self.now.wall.0 + i64::try_from(ms).expect("a short time"));
        self.settle();
    }

    pub(crate) fn is_closing(&mut self, client: Client) -> bool {
        self.node().is_closing(client.0)
    }

    pub(crate) fn phase(&mut self) -> Phase {
        self.node().phase()
    }

    pub(crate) fn next_deadline(&mut self) -> Option<Instant> {
        self.node().next_deadline()
    }

    /// The power goes and comes back.
    pub(crate) fn crash(&mut self) {
        self.disk.crash();
        self.node = None;
        self.open();
        self.settle();
    }

    /// The process is killed and started again; the disk keeps its power.
    pub(crate) fn kill(&mut self) {
        self.node = None;
        self.open();
        self.settle();
    }

    /// What the node has counted.
    pub(crate) fn counters(&mut self) -> Counters {
        self.node().counters()
    }

    /// The output taken so far left when so much time had passed.
    pub(crate) fn sent_after_ms(&mut self, ms: u64) {
        self.now.monotonic = self.now.monotonic.plus_ms(ms);
        let now = self.now;
        self.node().note_sent(|| now);
    }

    /// Bytes of all logs of committed offsets, as DescribeLogDirs tells them.
    pub(crate) fn offsets_bytes(&mut self) -> i64 {
        let request = DescribeLogDirsRequest { topics: None };
        let frame = self.ask(4, &request);
        let response: DescribeLogDirsResponse<'_> = frame.read();
        let topics = response.results.iter().flat_map(|folder| &folder.topics);
        let offsets = topics.filter(|topic| topic.name == milepost_broker::OFFSETS_TOPIC);
        offsets.flat_map(|topic| &topic.partitions).map(|partition| partition.partition_size).sum()
    }

    /// Only the wall clock moves.
    pub(crate) fn set_wall_clock_ahead_ms(&mut self, ms: i64) {
        self.now.wall = self.now.wall.plus_ms(ms);
    }

    /// While the server is down somebody writes a record into a partition of `__consumer_offsets`. It is started again
    /// and has loaded what it can.
    pub(crate) fn with_foreign_record(&mut self, partition: i32, key: &[u8], value: Option<&[u8]>) {
        self.node = None;
        let engine = MemoryEngine::open(&self.disk).expect("nobody else has the disk");
        let (mut logs, _) =
            LogSet::open(engine, log_settings(&self.settings), self.now).expect("the logs open");
        let metadata = MetadataLog::load(&mut logs).expect("the metadata is whole");
        let topic = metadata.image().topic(milepost_broker::OFFSETS_TOPIC).expect("it is there").id;
        let id = TopicPartition { topic, partition: PartitionIndex(partition) };
        let mut builder = BatchBuilder::new(BatchOptions::coordinator(None));
        builder.append(self.now.wall, Some(key), value, &[]).expect("a small record");
        logs.append(id, &builder.build(Offset(0)), AppendOrigin::Coordinator, self.now)
            .expect("there is room");
        logs.begin_round(self.now);
        logs.poll(self.now);
        drop(logs);
        self.kill();
    }

    /// Tells the node to stop and lets it do so.
    pub(crate) fn stop(&mut self) {
        self.node().begin_stop();
        for _ in 0..STEPS_MAX {
            self.step();
            if self.phase() == Phase::Stopped {
                return;
            }
            self.now.monotonic = self.now.monotonic.plus_ms(10);
        }
        panic!("the node does not stop");
    }

    pub(crate) fn begin_stop(&mut self) {
        self.node().begin_stop();
    }

    /// Starts again with another setting; why it does not, if so.
    pub(crate) fn restart_with(&mut self, setting: &str) -> Result<(), String> {
        self.node = None;
        let mut loader = Loader::default();
        loader.flag(setting).expect("a known setting");
        let settings = loader.finish().expect("settings that fit");
        let engine = MemoryEngine::open(&self.disk).expect("nobody else has the disk");
        let endpoint = Endpoint { host: "broker.test".to_owned(), port: 9092 };
        let logs = log_settings(&settings);
        let started = Node::start(engine, settings, logs, endpoint, Box::new(Bytes(9)), self.now);
        started.map(drop).map_err(|error| error.to_string())
    }

    /// Starts again after [`Broker::stop`].
    pub(crate) fn start_again(&mut self) {
        self.node = None;
        self.open();
        self.settle();
    }

    /// The disk is full from now on, or has room again; the node notices when it next looks.
    pub(crate) fn set_space(&mut self, space: Space) {
        self.disk.set_space(space);
        self.pass_ms(600);
    }

    /// Creates a topic and gives its id.
    pub(crate) fn create_topic(&mut self, name: &str, partitions: i32) -> TopicId {
        let topic = CreatableTopic {
            name,
            num_partitions: partitions,
            replication_factor: 1,
            ..CreatableTopic::default()
        };
        let request = CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() };
        let frame = self.ask(7, &request);
        let response: CreateTopicsResponse<'_> = frame.read();
        assert_eq!(response.topics[0].error_code, ErrorCode::None);
        response.topics[0].topic_id
    }

    /// Appends a batch with acks=all; its base offset, or the code.
    pub(crate) fn produce(&mut self, topic: &str, partition: i32, batch: &[u8]) -> Result<i64, ErrorCode> {
        let frame = self.ask(9, &produce_request(topic, partition, batch));
        let response: ProduceResponse<'_> = frame.read();
        let answer = &response.responses[0].partition_responses[0];
        if answer.error_code == ErrorCode::None { Ok(answer.base_offset) } else { Err(answer.error_code) }
    }
}

/// A produce of one batch with acks=all.
pub(crate) fn produce_request<'a>(topic: &'a str, partition: i32, batch: &'a [u8]) -> ProduceRequest<'a> {
    let data = PartitionProduceData { index: partition, records: Some(batch) };
    ProduceRequest {
        acks: -1,
        timeout_ms: 30_000,
        topic_data: vec![TopicProduceData {
            name: topic,
            partition_data: vec![data],
            ..TopicProduceData::default()
        }],
        ..ProduceRequest::default()
    }
}

/// A batch of these values, without keys.
pub(crate) fn batch(values: &[&str]) -> Vec<u8> {
    batch_with(BatchOptions::default(), values)
}

pub(crate) fn batch_with(options: BatchOptions, values: &[&str]) -> Vec<u8> {
    let mut builder = BatchBuilder::new(options);
    for value in values {
        builder.append(Timestamp(START_MS), None, Some(value.as_bytes()), &[]).expect("a small record");
    }
    builder.build(Offset(0))
}

/// A batch of an idempotent producer.
pub(crate) fn numbered_batch(producer_id: i64, epoch: i16, sequence: i32, values: &[&str]) -> Vec<u8> {
    let producer = ProducerIdentity { id: ProducerId(producer_id), epoch: ProducerEpoch(epoch) };
    let options =
        BatchOptions { producer: Some(producer), base_sequence: Some(sequence), ..BatchOptions::default() };
    batch_with(options, values)
}
