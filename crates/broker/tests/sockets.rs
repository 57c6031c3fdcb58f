//! The server on real sockets: who connects too early, who does not read, who talks nonsense, and a stop by signal.
//! One test, because signals are the whole process's.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use milepost_batch::{BatchBuilder, BatchOptions};
use milepost_broker::config::{Endpoint, Loader};
use milepost_broker::node::Node;
use milepost_broker::random::Random;
use milepost_broker::server::{Bound, ServeError, SystemClock, SystemRandom};
use milepost_broker::storage::log_settings;
use milepost_model::{Offset, Timestamp};
use milepost_storage::{MemoryDisk, MemoryEngine, Pace};
use milepost_wire::messages::api_versions::{ApiVersionsRequest, ApiVersionsResponse};
use milepost_wire::messages::create_topics::{CreatableTopic, CreateTopicsRequest, CreateTopicsResponse};
use milepost_wire::messages::fetch::{FetchPartition, FetchRequest, FetchResponse, FetchTopic};
use milepost_wire::messages::join_group::JoinGroupRequest;
use milepost_wire::messages::produce::{
    PartitionProduceData, ProduceRequest, ProduceResponse, TopicProduceData,
};
use milepost_wire::{ErrorCode, Request, Response, decode_response, encode_request};

/// Long enough for a busy machine; only a failure waits for it.
const PATIENCE: Duration = Duration::from_secs(60);

struct Connection {
    stream: TcpStream,
    next: i32,
}

impl Connection {
    fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).expect("the server listens");
        stream.set_read_timeout(Some(PATIENCE)).expect("a timeout that is not zero");
        Self { stream, next: 0 }
    }

    fn send<'a, R: Request<'a>>(&mut self, version: i16, request: &R) -> i32 {
        self.next += 1;
        let mut frame = Vec::new();
        encode_request(&mut frame, request, version, self.next, Some("test")).expect("a request");
        self.stream.write_all(&frame).expect("the server reads");
        self.next
    }

    /// The next frame, without its size; `None` at the end.
    fn receive(&mut self) -> Option<Vec<u8>> {
        let mut size = [0; 4];
        self.stream.read_exact(&mut size).ok()?;
        let mut frame = vec![0; u32::from_be_bytes(size) as usize];
        self.stream.read_exact(&mut frame).expect("a whole frame");
        Some(frame)
    }

    fn ask<'a, R: Request<'a>>(&mut self, version: i16, request: &R) -> Vec<u8> {
        self.send(version, request);
        self.receive().expect("an answer")
    }
}

fn read<'a, R: Response<'a>>(frame: &'a [u8], version: i16) -> (i32, R) {
    decode_response(frame, version).expect("an answer is what its version says")
}

/// Random bytes until a member id is asked for: then a bug.
struct Treacherous(SystemRandom, u32);

impl Random for Treacherous {
    fn fill(&mut self, bytes: &mut [u8]) {
        /// Two hash seeds, and the ids of the cluster and of the topic of offsets.
        const AT_START: u32 = 4;
        self.1 += 1;
        assert!(self.1 <= AT_START, "a bug");
        self.0.fill(bytes);
    }
}

type Served = std::thread::JoinHandle<Result<(), ServeError>>;

fn serve(disk: &MemoryDisk, random: impl Random + Send + 'static) -> (u16, Served) {
    let disk = disk.clone();
    let (tell, told) = std::sync::mpsc::channel();
    let thread = std::thread::spawn(move || {
        let mut loader = Loader::default();
        loader.flag("offsets.topic.num.partitions=2").expect("a known setting");
        let settings = loader.finish().expect("settings that fit");
        let bound = Bound::listen(&Endpoint { host: "127.0.0.1".to_owned(), port: 0 }).expect("a free port");
        tell.send(bound.endpoint().port).expect("the test waits");
        let engine = MemoryEngine::open(&disk).expect("nobody else has the disk");
        let (logs, clock) = (log_settings(&settings), SystemClock::default());
        let endpoint = bound.endpoint().clone();
        let started = Node::start(engine, settings, logs, endpoint, Box::new(random), clock.now());
        let (node, _) = started.expect("the node starts");
        bound.serve(node, clock)
    });
    (told.recv().expect("a port"), thread)
}

fn produce_request(batch: &[u8]) -> ProduceRequest<'_> {
    let data = PartitionProduceData { index: 0, records: Some(batch) };
    let topic = TopicProduceData { name: "t", partition_data: vec![data], ..TopicProduceData::default() };
    ProduceRequest { acks: -1, timeout_ms: 30_000, topic_data: vec![topic], ..ProduceRequest::default() }
}

fn fetch_request(max_wait_ms: i32, fetch_offset: i64) -> FetchRequest<'static> {
    let partition =
        FetchPartition { fetch_offset, partition_max_bytes: i32::MAX, ..FetchPartition::default() };
    FetchRequest {
        max_wait_ms,
        min_bytes: 1,
        topics: vec![FetchTopic { topic: "t", partitions: vec![partition], ..FetchTopic::default() }],
        ..FetchRequest::default()
    }
}

#[test]
fn the_server_on_real_sockets() {
    let disk = MemoryDisk::new();
    disk.set_pace(Pace::Held);
    let (port, server) = serve(&disk, SystemRandom);

    // Who connects before the first metadata is durable is served as soon as it is.
    let mut early = Connection::open(port);
    early.send(0, &ApiVersionsRequest::default());
    early.stream.set_read_timeout(Some(Duration::from_millis(200))).expect("a timeout");
    assert!(early.receive().is_none(), "nothing is durable yet");
    early.stream.set_read_timeout(Some(PATIENCE)).expect("a timeout");
    disk.set_pace(Pace::AtOnce);
    disk.complete();
    let frame = early.receive().expect("an answer");
    assert_eq!(read::<ApiVersionsResponse<'_>>(&frame, 0).1.error_code, ErrorCode::None);

    let topic =
        CreatableTopic { name: "t", num_partitions: 1, replication_factor: 1, ..CreatableTopic::default() };
    let frame = early.ask(7, &CreateTopicsRequest { topics: vec![topic], ..CreateTopicsRequest::default() });
    assert_eq!(read::<CreateTopicsResponse<'_>>(&frame, 7).1.topics[0].error_code, ErrorCode::None);
    let mut builder = BatchBuilder::new(BatchOptions::default());
    builder.append(Timestamp(0), None, Some(&vec![b'x'; 1_000_000]), &[]).expect("one record");
    let batch = builder.build(Offset(0));
    for _ in 0..5 {
        let frame = early.ask(9, &produce_request(&batch));
        let (_, response) = read::<ProduceResponse<'_>>(&frame, 9);
        assert_eq!(response.responses[0].partition_responses[0].error_code, ErrorCode::None);
    }
    nonsense_ends_its_own_connection_only(port, &mut early);
    a_client_that_does_not_read_gets_everything_later(port, &mut early);
    a_bug_ends_the_server_and_not_only_its_connection();

    // A stop answers who waits, and ends.
    let mut waiting = Connection::open(port);
    waiting.send(12, &fetch_request(i32::MAX, 5));
    early.ask(0, &ApiVersionsRequest::default());
    let killed = std::process::Command::new("kill").args(["-TERM", &std::process::id().to_string()]).status();
    assert!(killed.expect("kill is there").success());
    let frame = waiting.receive().expect("the stop answers it");
    let (_, response) = read::<FetchResponse<'_>>(&frame, 12);
    assert_eq!(response.responses[0].partitions[0].high_watermark, 5);
    server.join().expect("no panic").expect("a graceful stop");
    assert!(early.receive().is_none(), "its connections are closed");
}

fn a_bug_ends_the_server_and_not_only_its_connection() {
    let (port, server) = serve(&MemoryDisk::new(), Treacherous(SystemRandom, 0));
    let mut connection = Connection::open(port);
    connection.ask(0, &ApiVersionsRequest::default());
    connection.send(0, &JoinGroupRequest { group_id: "g", ..JoinGroupRequest::default() });
    assert!(connection.receive().is_none());
    assert!(matches!(server.join().expect("only a task panicked"), Err(ServeError::Panicked)));
}

fn nonsense_ends_its_own_connection_only(port: u16, other: &mut Connection) {
    let nonsense: [&[u8]; 4] = [
        b"GET / HTTP/1.1\r\nHost: example.test\r\n\r\n",
        &[0x7f, 0xff, 0xff, 0xff],
        &[0xff, 0xff, 0xff, 0xff],
        &[0, 0, 0, 2, 0, 0],
    ];
    for bytes in nonsense {
        let mut connection = Connection::open(port);
        // What came before the nonsense is answered.
        let correlation_id = connection.send(0, &ApiVersionsRequest::default());
        connection.stream.write_all(bytes).expect("the server reads");
        let frame = connection.receive().expect("an answer to the first request");
        assert_eq!(read::<ApiVersionsResponse<'_>>(&frame, 0).0, correlation_id);
        assert!(connection.receive().is_none(), "{bytes:02x?}");
    }
    // Half a request and then silence, and one that is only half of its size.
    let mut silent = [Connection::open(port), Connection::open(port)];
    silent[0].stream.write_all(&[0, 0, 1, 0, 0, 3]).expect("the server reads");
    silent[1].stream.write_all(&[0, 0]).expect("the server reads");
    other.ask(0, &ApiVersionsRequest::default());
}

fn a_client_that_does_not_read_gets_everything_later(port: u16, other: &mut Connection) {
    const REQUESTS: i32 = 60;
    let mut slow = Connection::open(port);
    for _ in 0..REQUESTS {
        slow.send(12, &fetch_request(0, 0));
    }
    // Meanwhile others are served.
    for _ in 0..10 {
        other.ask(0, &ApiVersionsRequest::default());
        std::thread::sleep(Duration::from_millis(10));
    }
    for expected in 1..=REQUESTS {
        let frame = slow.receive().expect("an answer");
        let (correlation_id, response) = read::<FetchResponse<'_>>(&frame, 12);
        assert_eq!(correlation_id, expected);
        let records = response.responses[0].partitions[0].records.expect("never null");
        assert!(records.len() >= 1_000_000, "at least the first batch");
    }
}
