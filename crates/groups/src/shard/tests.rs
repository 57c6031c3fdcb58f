use milepost_model::{
    Atomicity, DependsOn, Generation, Instant, Now, Offset, Origin, PartitionIndex, ProducerEpoch,
    ProducerId, ProducerIdentity, Shard, Ticket, Timestamp,
};

use super::Groups;
use crate::settings::{MAX_SWEEP_GROUPS, MAX_SWEEP_RECORDS};
use crate::turn::GroupOutcome;
use crate::{
    ClassicGroup, GroupError, GroupRecord, GroupSettings, JoinGroup, JoinProtocol, ListGroups, Member,
    MissingGroup, NewMember, OffsetCommit, OffsetToCommit, Record, Reply, Request, StaticLeader,
    TxnOffsetCommit,
};

const START: Now = Now { monotonic: Instant(0), wall: Timestamp(1_700_000_000_000) };

fn later(ms: u64) -> Now {
    Now { monotonic: START.monotonic.plus_ms(ms), wall: START.wall.plus_ms(ms.cast_signed()) }
}

/// A shard and the next position of its log.
struct Driven {
    shard: Groups,
    end: i64,
}

impl Driven {
    fn new(settings: GroupSettings) -> Self {
        Self { shard: Groups::new(settings, 3), end: 0 }
    }

    fn apply(&mut self, outcome: GroupOutcome) -> GroupOutcome {
        for record in &outcome.records {
            self.shard.encode(record, &mut milepost_model::Encoded::default());
            self.shard.replay(Offset(self.end), Origin::Plain, record.clone());
            self.end += 1;
        }
        outcome
    }

    fn handle(&mut self, now: Now, request: Request<'_>) -> GroupOutcome {
        let outcome = self.shard.handle(now, Ticket(0), request);
        self.apply(outcome)
    }
}

fn commit<'a>(group_id: &'a str, offsets: Vec<OffsetToCommit<'a>>) -> Request<'a> {
    Request::OffsetCommit(OffsetCommit {
        group_id,
        member_id: None,
        group_instance_id: None,
        generation: None,
        retention_ms: None,
        missing_group: MissingGroup::GroupIdNotFound,
        offsets,
    })
}

fn to_commit(topic: &str, offset: i64) -> OffsetToCommit<'_> {
    let partition = PartitionIndex(0);
    let offset = Offset(offset);
    OffsetToCommit { topic, topic_id: None, partition, offset, leader_epoch: None, metadata: "" }
}

#[test]
fn a_commit_of_a_transaction_counts_as_fenced_like_any_other() {
    let mut driven = Driven::new(GroupSettings::default());
    let _ = driven.handle(START, commit("g", vec![to_commit("t", 1)]));
    let producer = ProducerIdentity { id: ProducerId(7), epoch: ProducerEpoch(0) };
    let asked = |member_id, generation| TxnOffsetCommit {
        group_id: "g",
        member_id,
        group_instance_id: None,
        generation,
        producer,
        offsets: vec![to_commit("t", 2)],
    };
    let stranger = asked(Some("gone"), Some(Generation(1)));
    let outcome = driven.handle(START, Request::TxnOffsetCommit(stranger));
    assert_eq!((outcome.counts.fenced_commits, outcome.counts.offset_commits), (1, 0));
    let outcome = driven.handle(START, Request::TxnOffsetCommit(asked(None, None)));
    assert_eq!((outcome.counts.fenced_commits, outcome.counts.offset_commits), (0, 1));
}

fn join<'a>(group_id: &'a str, client_id: &'a str) -> JoinGroup<'a> {
    JoinGroup {
        group_id,
        member_id: None,
        group_instance_id: None,
        client_id,
        client_host: "/10.0.0.5",
        protocol_type: "consumer",
        protocols: vec![JoinProtocol { name: "range", metadata: b"" }],
        session_timeout_ms: 10_000,
        rebalance_timeout_ms: None,
        member_id_suffix: "uuid",
        bare_member_id: "uuid",
        new_member: NewMember::JoinsAtOnce,
        static_leader: StaticLeader::CanSkipAssignment,
        topics: std::sync::Arc::default(),
    }
}

#[test]
fn a_listing_waits_for_everything() {
    let mut driven = Driven::new(GroupSettings::default());
    let listed = driven.handle(START, Request::ListGroups(ListGroups::default()));
    assert_eq!(listed.depends_on, DependsOn::ShardEnd);
}

#[test]
fn names_that_no_record_can_hold_are_refused() {
    let long = "x".repeat(40_000);
    let mut driven =
        Driven::new(GroupSettings { offset_metadata_max_units: 100_000, ..GroupSettings::default() });
    let refused = |outcome: &GroupOutcome| match &outcome.replies[0].1 {
        Reply::JoinGroup(Err(refused)) => Some(refused.error),
        Reply::OffsetCommit(Err(error)) => Some(*error),
        Reply::OffsetCommit(Ok(refused)) => refused.first().map(|refused| refused.error),
        _ => None,
    };
    let mut requests = vec![
        (Request::JoinGroup(join(&long, "c")), GroupError::InvalidGroupId),
        (Request::JoinGroup(join("g", &long)), GroupError::InvalidRequest),
        (commit(&long, vec![to_commit("t", 1)]), GroupError::InvalidGroupId),
        (commit("g", vec![to_commit(&long, 1)]), GroupError::InvalidRequest),
        (
            commit("g", vec![OffsetToCommit { metadata: &long, ..to_commit("t", 1) }]),
            GroupError::OffsetMetadataTooLarge,
        ),
    ];
    let protocols = vec![JoinProtocol { name: &long, metadata: b"" }];
    requests
        .push((Request::JoinGroup(JoinGroup { protocols, ..join("g", "c") }), GroupError::InvalidRequest));
    for (request, error) in requests {
        assert_eq!(refused(&driven.handle(START, request)), Some(error));
    }
    assert_eq!(driven.end, 0, "nothing is written");
}

#[test]
fn a_long_client_name_makes_a_member_id_that_fits() {
    let long = "ä".repeat(15_000);
    let mut driven = Driven::new(GroupSettings::default());
    let request = JoinGroup { new_member: NewMember::JoinsAgainWithId, ..join("g", &long) };
    let outcome = driven.handle(START, Request::JoinGroup(request));
    let Reply::JoinGroup(Err(refused)) = &outcome.replies[0].1 else { panic!("{outcome:?}") };
    assert_eq!(refused.error, GroupError::MemberIdRequired);
    let member_id = refused.member_id.as_deref().unwrap();
    assert!(member_id.ends_with("ä-uuid") && member_id.len() < 2_000, "{} bytes", member_id.len());
}

#[test]
fn of_one_partition_named_twice_the_last_offset_stays() {
    let mut driven = Driven::new(GroupSettings::default());
    let outcome = driven.handle(START, commit("g", vec![to_commit("t", 1), to_commit("t", 2)]));
    assert_eq!((outcome.records.len(), outcome.atomicity), (2, Atomicity::OneBatch));
    assert!(driven.shard.describe_hard_state().contains("offset: 2"));
}

#[test]
fn a_sweep_goes_in_bounded_steps() {
    let groups = MAX_SWEEP_GROUPS + 5;
    let mut driven = Driven::new(GroupSettings::default());
    let loaded = driven.shard.on_loaded(START);
    assert!(loaded.records.is_empty());
    for number in 0..groups {
        let _ = driven.handle(START, commit(&format!("g{number}"), vec![to_commit("t", 1)]));
    }
    let now = later(8 * 86_400_000);
    let mut written = 0;
    let mut expired = 0;
    let mut steps = 0;
    while driven.shard.next_deadline().is_some_and(|due| due <= now.monotonic) {
        let outcome = driven.shard.on_deadline(now);
        assert!(outcome.records.len() <= MAX_SWEEP_RECORDS + 2, "{} records", outcome.records.len());
        assert_eq!(outcome.atomicity, Atomicity::MaySplit);
        expired += outcome.counts.offset_expirations;
        written += driven.apply(outcome).records.len();
        steps += 1;
    }
    // KAFKA-18980: what is removed is counted, not what is looked at, nor the groups that go with it.
    assert_eq!(expired, groups as u64);
    assert_eq!(written, 2 * groups, "one tombstone for each offset and one for each group");
    assert!(steps >= 2);
    assert_eq!((driven.shard.group_count(), driven.shard.offset_count()), (0, 0));
}

#[test]
fn kafka_18980_what_expires_is_counted_not_what_is_looked_at() {
    let mut driven = Driven::new(GroupSettings::default());
    let _ = driven.shard.on_loaded(START);
    let _ = driven.handle(START, commit("g", vec![to_commit("old", 1)]));
    let _ = driven.handle(later(4 * 86_400_000), commit("g", vec![to_commit("a", 1), to_commit("b", 1)]));
    let outcome = driven.shard.on_deadline(later(8 * 86_400_000));
    assert_eq!((outcome.counts.offset_expirations, outcome.records.len()), (1, 1));
}

#[test]
fn a_jump_of_the_wall_clock_is_counted() {
    let mut driven = Driven::new(GroupSettings::default());
    let _ = driven.shard.on_loaded(START);
    let jumped = Now { wall: START.wall.plus_ms(86_400_000), ..later(600_000) };
    assert_eq!(driven.shard.on_deadline(jumped).counts.skipped_sweeps, 1);
    let next = Now { wall: jumped.wall.plus_ms(600_000), ..later(1_200_000) };
    assert_eq!(driven.shard.on_deadline(next).counts.skipped_sweeps, 0);
}

#[test]
fn a_group_larger_than_allowed_rebalances_when_it_is_loaded() {
    let member = |id: &str| Member {
        member_id: id.into(),
        group_instance_id: None,
        client_id: "c".into(),
        client_host: "/10.0.0.5".into(),
        rebalance_timeout_ms: 10_000,
        session_timeout_ms: 10_000,
        subscription: (*b"").into(),
        assignment: (*b"").into(),
    };
    let classic = ClassicGroup {
        protocol_type: Some("consumer".into()),
        generation: Generation(4),
        protocol: Some("range".into()),
        leader: Some("a".into()),
        state_timestamp: None,
        members: vec![member("a"), member("b"), member("c")].into(),
    };
    for (max_size, state) in [(3, "Stable"), (2, "PreparingRebalance")] {
        let mut driven = Driven::new(GroupSettings { max_size, ..GroupSettings::default() });
        let classic = Some(classic.clone().into());
        let record = Record::Group(GroupRecord { group: "g".into(), classic });
        driven.shard.replay(Offset(0), Origin::Plain, record);
        let _ = driven.shard.on_loaded(START);
        let outcome = driven.handle(START, Request::ListGroups(ListGroups::default()));
        let Reply::ListGroups(groups) = &outcome.replies[0].1 else { panic!("{outcome:?}") };
        assert_eq!(groups[0].state.name(), state);
    }
}

#[test]
fn state_made_with_another_seed_is_the_same() {
    let record = |number: i64| {
        let mut shard = Groups::new(GroupSettings::default(), 3);
        let group = format!("g{number}");
        let outcome = shard.handle(START, Ticket(0), commit(&group, vec![to_commit("t", number)]));
        outcome.records[0].clone()
    };
    let states = [1, 2].map(|seed| {
        let mut shard = Groups::new(GroupSettings::default(), seed);
        for number in 0..100 {
            shard.replay(Offset(number), Origin::Plain, record(number));
        }
        shard.describe_hard_state()
    });
    assert_eq!(states[0], states[1]);
}
