//! One folder, the library and the server in turn: each shows and continues what the other wrote.

use std::sync::Arc;

use milepost::{Error, Generation};
use milepost_broker::config::{Endpoint, Loader};
use milepost_broker::node::{Admission, Node};
use milepost_broker::random::Random;
use milepost_broker::storage::log_settings;
use milepost_log::metadata::{MetadataLog, OFFSETS_TOPIC, Topic};
use milepost_log::{LogSet, LogSettings};
use milepost_model::{Instant, Now, Timestamp};
use milepost_storage::{Engine, LocalEngine, LocalSettings, SimulatedFileSystem};
use milepost_wire::messages::consumer_group_heartbeat::{
    ConsumerGroupHeartbeatRequest, ConsumerGroupHeartbeatResponse,
};
use milepost_wire::messages::delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};
use milepost_wire::messages::list_groups::{ListGroupsRequest, ListGroupsResponse};
use milepost_wire::messages::offset_commit::{
    OffsetCommitRequest, OffsetCommitRequestPartition, OffsetCommitRequestTopic, OffsetCommitResponse,
};
use milepost_wire::messages::offset_fetch::{
    OffsetFetchRequest, OffsetFetchRequestGroup, OffsetFetchResponse,
};
use milepost_wire::{ErrorCode, Request, Response, decode_response, encode_request};

use crate::support::{at, commit, committed, open};

/// More steps than the loading of fifty empty shards needs.
const STEPS_MAX: usize = 1_000;

struct Bytes(u8);

impl Random for Bytes {
    fn fill(&mut self, bytes: &mut [u8]) {
        for byte in bytes {
            self.0 = self.0.wrapping_mul(5).wrapping_add(113);
            *byte = self.0;
        }
    }
}

fn engine(system: &SimulatedFileSystem) -> Engine {
    LocalEngine::open(Arc::new(system.clone()), LocalSettings::small()).unwrap().engine
}

fn now() -> Now {
    Now { monotonic: Instant(0), wall: Timestamp(1_750_000_000_000) }
}

struct Server {
    node: Node,
}

impl Server {
    fn start(system: &SimulatedFileSystem) -> Self {
        let settings = Loader::default().finish().unwrap();
        let logs = log_settings(&settings);
        let endpoint = Endpoint { host: "broker.test".to_owned(), port: 9092 };
        let started = Node::start(engine(system), settings, logs, endpoint, Box::new(Bytes(7)), now());
        let (node, _) = started.expect("the server opens the folder");
        let mut server = Self { node };
        server.settle();
        server
    }

    fn settle(&mut self) {
        assert!((0..STEPS_MAX).any(|_| !self.node.step(now())), "the node goes on and on");
    }

    fn ask<'a, R: Request<'a>>(&mut self, version: i16, request: &R) -> Vec<u8> {
        let id = self.node.connect("/127.0.0.1".to_owned());
        let mut frame = Vec::new();
        encode_request(&mut frame, request, version, 1, Some("test")).unwrap();
        assert_eq!(self.node.admit(now(), id, &frame[4..]), Admission::Admitted);
        self.settle();
        let mut answer = Vec::new();
        self.node.take_output(id, &mut answer);
        answer.split_off(4)
    }

    /// The groups, each with its state and protocol type.
    fn groups(&mut self) -> Vec<[String; 3]> {
        let bytes = self.ask(4, &ListGroupsRequest::default());
        let response: ListGroupsResponse<'_> = read(&bytes, 4);
        assert_eq!(response.error_code, ErrorCode::None);
        let words =
            response.groups.iter().map(|group| [group.group_id, group.group_state, group.protocol_type]);
        words.map(|words| words.map(str::to_owned)).collect()
    }

    /// Everything a group committed: topic, partition, offset, leader epoch, metadata.
    fn committed(&mut self, group_id: &str) -> Vec<(String, i32, i64, i32, String)> {
        let group = OffsetFetchRequestGroup { group_id, topics: None, ..OffsetFetchRequestGroup::default() };
        let request = OffsetFetchRequest { groups: vec![group], ..OffsetFetchRequest::default() };
        let bytes = self.ask(8, &request);
        let response: OffsetFetchResponse<'_> = read(&bytes, 8);
        let of_topics = response.groups[0].topics.iter().flat_map(|topic| {
            topic.partitions.iter().map(|one| {
                let metadata = one.metadata.unwrap_or_default().to_owned();
                let (offset, epoch) = (one.committed_offset, one.committed_leader_epoch);
                (topic.name.to_owned(), one.partition_index, offset, epoch, metadata)
            })
        });
        of_topics.collect()
    }

    /// Commits from outside group management.
    fn commit(&mut self, group_id: &str, offset: i64) -> ErrorCode {
        let partitions =
            vec![OffsetCommitRequestPartition { committed_offset: offset, ..Default::default() }];
        let topics = vec![OffsetCommitRequestTopic { name: OFFSETS_TOPIC, partitions, ..Default::default() }];
        let request = OffsetCommitRequest { group_id, topics, ..OffsetCommitRequest::default() };
        let bytes = self.ask(8, &request);
        let response: OffsetCommitResponse<'_> = read(&bytes, 8);
        response.topics[0].partitions[0].error_code
    }
}

fn read<'a, R: Response<'a>>(bytes: &'a [u8], version: i16) -> R {
    decode_response(bytes, version).expect("an answer is what its version says").1
}

/// The topic of committed offsets, with an identity that can be compared, and whether the cluster has an id.
fn first_records(system: &SimulatedFileSystem) -> (Topic, bool) {
    let (mut logs, _) = LogSet::open(engine(system), LogSettings::default(), now()).unwrap();
    let metadata = MetadataLog::load(&mut logs).unwrap();
    let mut topic = Topic::clone(metadata.image().topic(OFFSETS_TOPIC).unwrap());
    assert_eq!(logs.partitions().filter(|id| id.topic == topic.id).count(), 50);
    topic.id = milepost_model::TopicId::ZERO;
    (topic, metadata.image().cluster_id().is_some())
}

#[test]
fn a_folder_made_by_the_library_begins_as_one_made_by_the_server() {
    let (ours, theirs) = (SimulatedFileSystem::new(1), SimulatedFileSystem::new(2));
    drop(open(&ours));
    drop(Server::start(&theirs));
    assert_eq!(first_records(&ours), first_records(&theirs));
    assert!(first_records(&ours).1);
}

#[test]
fn the_server_shows_what_the_library_wrote() {
    let system = SimulatedFileSystem::new(3);
    let store = open(&system);
    let generation = store.rebalance("billing").unwrap();
    let words = at(1, 8).with_metadata("half way").with_leader_epoch(milepost::LeaderEpoch(4));
    store.commit("billing", generation, [at(0, 7), words]).unwrap();
    drop(store);

    let mut server = Server::start(&system);
    assert_eq!(server.groups(), [["billing", "Empty", ""].map(str::to_owned)]);
    let expected = [
        ("orders".to_owned(), 0, 7, -1, String::new()),
        ("orders".to_owned(), 1, 8, 4, "half way".to_owned()),
    ];
    assert_eq!(server.committed("billing"), expected);
}

#[test]
fn the_library_goes_on_where_the_server_stopped() {
    let system = SimulatedFileSystem::new(4);
    let store = open(&system);
    let zombie = store.rebalance("g").unwrap();
    let current = store.rebalance("g").unwrap();
    commit(&store, "g", current, 1).unwrap();
    drop(store);

    let mut server = Server::start(&system);
    assert_eq!(server.commit("g", 5), ErrorCode::None);
    assert_eq!(server.commit("another", 6), ErrorCode::None);
    drop(server);

    let store = open(&system);
    let all = store.committed_all("g").unwrap();
    let all: Vec<_> = all.iter().map(|one| (&*one.topic, one.committed.offset().0)).collect();
    assert_eq!(all, [(OFFSETS_TOPIC, 5), ("orders", 1)]);
    assert_eq!(commit(&store, "g", zombie, 9), Err(Error::StaleGeneration { current }));
    commit(&store, "g", current, 2).unwrap();
    assert_eq!(committed(&store, "g", 0), Some(2));
    // A group that only has offsets has no generation yet.
    assert_eq!(store.generation("another"), Ok(None));
    assert_eq!(store.rebalance("another"), Ok(Generation(1)));
}

/// One heartbeat of the only member of a consumer group.
fn beat(server: &mut Server, member_epoch: i32) -> ErrorCode {
    let request = ConsumerGroupHeartbeatRequest {
        group_id: "modern",
        member_id: "m",
        member_epoch,
        rebalance_timeout_ms: 60_000,
        subscribed_topic_names: Some(vec![OFFSETS_TOPIC]),
        topic_partitions: Some(Vec::new()),
        ..ConsumerGroupHeartbeatRequest::default()
    };
    let bytes = server.ask(1, &request);
    read::<ConsumerGroupHeartbeatResponse<'_>>(&bytes, 1).error_code
}

/// The names of the groups.
fn names(server: &mut Server) -> Vec<String> {
    server.groups().into_iter().map(|[name, ..]| name).collect()
}

#[test]
fn a_deleted_group_stays_deleted_through_a_crash_and_through_compaction() {
    let system = SimulatedFileSystem::new(11);
    let mut server = Server::start(&system);
    for offset in 0..20 {
        assert_eq!(server.commit("simple", offset), ErrorCode::None);
        assert_eq!(server.commit("kept", offset), ErrorCode::None);
    }
    // A consumer group has records of every type; its last member leaves.
    assert_eq!((beat(&mut server, 0), beat(&mut server, -1)), (ErrorCode::None, ErrorCode::None));
    assert_eq!(server.commit("modern", 5), ErrorCode::None);
    let groups_names = vec!["simple", "modern"];
    let bytes = server.ask(2, &DeleteGroupsRequest { groups_names });
    let response: DeleteGroupsResponse<'_> = read(&bytes, 2);
    assert!(response.results.iter().all(|result| result.error_code == ErrorCode::None));
    drop(server);
    system.crash(1);

    let mut server = Server::start(&system);
    assert_eq!(names(&mut server), ["kept"]);
    drop(server);
    // What compaction leaves: first the tombstones alone, then the log without what they deleted.
    for round in 0..3 {
        let store = open(&system);
        store.compact().unwrap();
        store.close().unwrap();
        let mut server = Server::start(&system);
        assert_eq!(names(&mut server), ["kept"], "after {} compactions", round + 1);
        assert!(server.committed("simple").is_empty() && server.committed("modern").is_empty());
        assert_eq!(server.committed("kept")[0].2, 19);
    }
    // The names are free again.
    let mut server = Server::start(&system);
    assert_eq!(server.commit("modern", 9), ErrorCode::None);
    assert_eq!(server.committed("modern")[0].2, 9);
}
