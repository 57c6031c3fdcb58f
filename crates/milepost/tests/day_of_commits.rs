//! A day's worth of commits: each log of committed offsets stays within twice its live bytes or 16 MiB.
//!
//! The shards, their logs and the cleaner are the real ones, driven as the server drives them: what came in is flushed
//! as one round, and after each round the cleaner takes a step of the server's size. Time is simulated.

use milepost_coordinator::{Coordinators, Settings};
use milepost_groups::{EmbeddedRequest, GroupSettings, Groups, OffsetToCommit, Request, partition_for};
use milepost_log::metadata::{new_offsets_topic, offsets_partition_config};
use milepost_log::{LogKind, LogSet, LogSettings};
use milepost_model::{Generation, Instant, Now, Offset, PartitionIndex, Ticket, Timestamp, TopicId};
use milepost_storage::{MemoryDisk, MemoryEngine};

const SHARDS: i32 = 2;
const BOUND_BYTES: u64 = 16 << 20;
/// What the server's steps clean.
const CLEAN_STEP_BYTES: usize = 256 << 10;
/// Consumers commit this often by themselves, unless told otherwise.
const COMMIT_INTERVAL_MS: u64 = 5_000;
const DAY_MS: u64 = 86_400_000;
const GROUPS: usize = 30;
const PARTITIONS: i32 = 10;

struct World {
    logs: LogSet,
    coordinators: Coordinators<Groups>,
    now: Now,
    next_ticket: u64,
    largest_bytes: u64,
}

impl World {
    fn new() -> Self {
        let disk = MemoryDisk::new();
        let now = Now { monotonic: Instant(0), wall: Timestamp(1_750_000_000_000) };
        let engine = MemoryEngine::open(&disk).expect("a new disk");
        let (mut logs, _) = LogSet::open(engine, LogSettings::default(), now).expect("opens");
        let topic = new_offsets_topic(TopicId([1; 16]), SHARDS, "104857600");
        for (id, directory) in topic.partitions() {
            let config = offsets_partition_config(&topic);
            logs.create_partition(id, &directory, LogKind::Internal, config).expect("creates");
        }
        let make = |_| Groups::new(GroupSettings::default(), 7);
        let coordinators = Coordinators::new(topic.id, SHARDS, Settings::default(), make);
        let mut world = Self { logs, coordinators, now, next_ticket: 0, largest_bytes: 0 };
        world.round();
        while world.coordinators.has_load_work() {
            world.coordinators.load_step(&mut world.logs, now, 1 << 20);
        }
        world
    }

    fn ask(&mut self, group: &str, request: EmbeddedRequest<'_>) {
        self.next_ticket += 1;
        let (ticket, shard) = (Ticket(self.next_ticket), partition_for(group, SHARDS.unsigned_abs()));
        self.coordinators.submit(&mut self.logs, self.now, shard, ticket, Request::Embedded(request));
    }

    /// What one turn of the server does.
    fn round(&mut self) {
        self.coordinators.flush(&mut self.logs, self.now);
        self.logs.begin_round(self.now);
        let progress = self.logs.poll(self.now);
        assert_eq!(progress.poisoned, None);
        self.coordinators.on_durable(&self.logs, &progress.advanced);
        self.coordinators.drain_answers().for_each(drop);
        self.logs.clean(self.now, CLEAN_STEP_BYTES);
        self.largest_bytes = self.largest_bytes.max(self.sizes().max().unwrap_or(0));
    }

    fn sizes(&self) -> impl Iterator<Item = u64> {
        self.logs.partitions().filter_map(|id| self.logs.log(id)).map(milepost_log::PartitionLog::size_bytes)
    }

    /// The ends of all logs together: how many records were ever written.
    fn ends(&self) -> u64 {
        let logs = self.logs.partitions().filter_map(|id| self.logs.log(id));
        logs.map(|log| u64::try_from(log.high_watermark().0).expect("an offset")).sum()
    }

    fn pass_ms(&mut self, ms: u64) {
        self.now.monotonic = self.now.monotonic.plus_ms(ms);
        self.now.wall = Timestamp(self.now.wall.0 + i64::try_from(ms).expect("a short time"));
    }

    /// The largest log when only what is live is left.
    fn live_bytes(&mut self) -> u64 {
        for id in self.logs.partitions().collect::<Vec<_>>() {
            self.logs.request_cleaning(id, self.now);
        }
        for _ in 0..10_000 {
            self.round();
            let mut logs = self.logs.partitions().filter_map(|id| self.logs.log(id));
            if !logs.any(milepost_log::PartitionLog::is_cleaning_wanted) {
                return self.sizes().max().unwrap_or(0);
            }
        }
        panic!("it does not get clean");
    }
}

/// What one consumer commits: its place in each of its partitions.
fn offsets(topic: &str, offset: i64) -> Vec<OffsetToCommit<'_>> {
    (0..PARTITIONS)
        .map(|partition| OffsetToCommit {
            topic,
            topic_id: None,
            partition: PartitionIndex(partition),
            offset: Offset(offset),
            leader_epoch: None,
            metadata: "",
        })
        .collect()
}

#[test]
fn logs_of_committed_offsets_stay_within_their_bound_for_a_day() {
    let groups: Vec<String> = (0..GROUPS).map(|number| format!("group-{number}")).collect();
    let mut world = World::new();
    let mut passed_ms = 0;
    let mut committed_records = 0;
    while passed_ms < DAY_MS {
        for group in &groups {
            if passed_ms == 0 {
                world.ask(group, EmbeddedRequest::Rebalance { group_id: group });
            }
            let offsets = offsets("orders", i64::try_from(passed_ms).expect("a day"));
            world.ask(group, EmbeddedRequest::Commit { group_id: group, generation: Generation(1), offsets });
        }
        let before: u64 = world.ends();
        world.round();
        committed_records += world.ends() - before;
        world.pass_ms(COMMIT_INTERVAL_MS);
        passed_ms += COMMIT_INTERVAL_MS;
    }
    let largest_bytes = world.largest_bytes;
    let live_bytes = world.live_bytes();
    let bound_bytes = (2 * live_bytes).max(BOUND_BYTES);
    assert!(committed_records > 5_000_000, "{committed_records} records were written");
    assert!(largest_bytes <= bound_bytes, "{largest_bytes} bytes, {live_bytes} of them live");
}

/// As quickly as a disk allows, into one shard.
#[test]
fn a_flood_of_commits_does_not_outrun_the_cleaner() {
    const ROUNDS: i64 = 600;
    const COMMITS_PER_ROUND: i64 = 200;
    let mut world = World::new();
    world.ask("flood", EmbeddedRequest::Rebalance { group_id: "flood" });
    for round in 0..ROUNDS {
        for commit in 0..COMMITS_PER_ROUND {
            let offsets = offsets("orders", round * COMMITS_PER_ROUND + commit);
            let generation = Generation(1);
            world.ask("flood", EmbeddedRequest::Commit { group_id: "flood", generation, offsets });
        }
        world.round();
        world.pass_ms(2);
    }
    let written = world.ends();
    assert!(written > 1_000_000, "{written} records were written");
    assert!(world.largest_bytes <= BOUND_BYTES, "{} bytes", world.largest_bytes);
}
