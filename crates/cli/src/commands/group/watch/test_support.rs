//! A state as it comes about: by looks and keys.

use std::time::Duration;

use milepost_admin::watch::Coverage;
use milepost_admin::{GroupFacts, PartitionFacts, Position, Reason};
use milepost_client::TopicPartition;
use milepost_client::groups::{Committed, GroupDescription, GroupKind, MemberDescription};
use milepost_client::offsets::{Bounds, Found};
use milepost_model::{Offset, PartitionIndex};

use super::keys::Press;
use super::looker::{Ended, Said};
use super::state::{Effect, Event, Shown, State};

/// A state and its time.
pub(super) struct Played {
    pub(super) state: State,
    pub(super) now: Duration,
}

impl Played {
    /// A screen of this size, before the first look.
    pub(super) fn on_screen(width: u16, height: u16) -> Self {
        let state = State::new("127.0.0.1:9092".to_owned(), Shown::All, Duration::from_secs(2));
        let mut played = Self { state, now: Duration::ZERO };
        played.on(Event::Resized { width, height });
        played
    }

    pub(super) fn on(&mut self, event: Event) -> Option<Effect> {
        self.state.on(self.now, event)
    }

    pub(super) fn pass(&mut self, seconds: u64) -> Option<Effect> {
        self.now += Duration::from_secs(seconds);
        self.on(Event::Tick)
    }

    /// A look that is due now and shows these groups, all that there are.
    pub(super) fn look(&mut self, groups: Vec<GroupFacts>) {
        assert_eq!(self.on(Event::Tick), Some(Effect::Look));
        let at = self.now;
        self.now += Duration::from_millis(120);
        self.on(Event::Said(Said::Part { at, groups }));
        self.end(Ok(Ended { coverage: Coverage::Whole, errors: Vec::new() }));
        self.now = at;
    }

    pub(super) fn end(&mut self, ended: Result<Ended, Reason>) {
        self.on(Event::Said(Said::End(ended)));
    }

    pub(super) fn press(&mut self, press: Press) -> Option<Effect> {
        self.on(Event::Press(press))
    }

    pub(super) fn type_in(&mut self, text: &str) {
        for char in text.chars() {
            assert_eq!(self.press(Press::Char(char)), None, "{char}");
        }
    }
}

pub(super) fn refused() -> Reason {
    Reason::other("cannot connect to 127.0.0.1:9092: Connection refused (os error 111)")
}

/// A partition of the topic `orders`: what is committed, and where its log ends.
pub(super) fn partition(index: i32, committed: Option<i64>, end: i64) -> PartitionFacts {
    let found = |offset| Found { offset: Offset(offset), timestamp: None, leader_epoch: None };
    let position = committed.map_or(Position::Never, |offset| {
        Position::Committed(Committed { offset: Offset(offset), leader_epoch: None, metadata: String::new() })
    });
    PartitionFacts {
        partition: TopicPartition::new("orders", PartitionIndex(index)),
        position,
        log: Ok(Bounds { start: found(0), end: found(end), stable_end: Some(Offset(end)) }),
        member: None,
        next_record: None,
    }
}

/// A group without members, if it is `Empty`; else with one that reads everything.
pub(super) fn group(name: &str, state: &str, mut partitions: Vec<PartitionFacts>) -> GroupFacts {
    let mut members = Vec::new();
    if !["Empty", "Dead"].contains(&state) {
        for one in &mut partitions {
            one.member = Some(0);
        }
        members.push(MemberDescription {
            member_id: format!("{name}-1f2e"),
            instance_id: None,
            client_id: name.to_owned(),
            host: "/10.0.0.7".to_owned(),
            epoch: None,
            subscribed: None,
            assigned: partitions.iter().map(|one| one.partition.clone()).collect(),
            target: None,
            work: None,
        });
    }
    let description = GroupDescription {
        kind: GroupKind::Classic,
        state: state.to_owned(),
        protocol_type: "consumer".to_owned(),
        assignor: "range".to_owned(),
        epochs: None,
        topology: None,
        members,
    };
    GroupFacts { group: name.to_owned(), description: Some(Ok(description)), unknown: None, partitions }
}

/// Three groups as the look of this number shows them: one that catches up, one that falls behind, one whose commit lies
/// beyond the end.
pub(super) fn three(look: i64) -> Vec<GroupFacts> {
    let end = 10_000 + look * 100;
    vec![
        group(
            "billing",
            "Stable",
            vec![partition(0, Some(2_000 + look * 300), end), partition(1, Some(9_990), 9_990)],
        ),
        group("mail", "Empty", vec![partition(0, Some(9_000), end), partition(1, None, 9_990)]),
        group("search", "PreparingRebalance", vec![partition(2, Some(77), 5)]),
    ]
}
