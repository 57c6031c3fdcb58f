//! Members of classic groups: they join, take what they are assigned, commit, fall silent, leave and come back.

use milepost_wire::ErrorCode;
use milepost_wire::messages::heartbeat::{HeartbeatRequest, HeartbeatResponse};
use milepost_wire::messages::join_group::{JoinGroupRequest, JoinGroupRequestProtocol, JoinGroupResponse};
use milepost_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberIdentity};
use milepost_wire::messages::sync_group::{SyncGroupRequest, SyncGroupRequestAssignment, SyncGroupResponse};

use super::committing::Credentials;
use super::{VERIFIER, World, group_name};
use crate::check::{Checked, Violation, promise};
use crate::client::{Asked, Committer, MustBe};

const SESSION_TIMEOUT_MS: i32 = 400;
const REBALANCE_TIMEOUT_MS: i32 = 150;
const INSTANCE_ID: &str = "static-one";

/// How far a member is.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Stage {
    Out,
    /// It waits for JoinGroup, SyncGroup or LeaveGroup.
    Waiting,
    /// It knows its generation, and if it leads it, who is in it.
    Joined {
        generation: i32,
        members: Vec<String>,
    },
    /// It has an assignment.
    Stable {
        generation: i32,
    },
}

/// A member.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    client: usize,
    group: usize,
    is_static: bool,
    id: String,
    stage: Stage,
    /// The group's disturbances when this member last joined: none since, and nobody may have moved the group.
    joined_at: u64,
    last_sent_us: u64,
}

impl Member {
    pub(super) fn new(client: usize, group: usize, is_static: bool) -> Self {
        let (id, stage) = (String::new(), Stage::Out);
        Self { client, group, is_static, id, stage, joined_at: 0, last_sent_us: 0 }
    }

    fn instance_id(&self) -> Option<&'static str> {
        self.is_static.then_some(INSTANCE_ID)
    }
}

impl World {
    /// Who was in the middle of something begins again; who was stable goes on where it was.
    pub(super) fn member_disconnected(&mut self, client: usize) {
        for member in self.members.iter_mut().filter(|member| member.client == client) {
            if !matches!(member.stage, Stage::Stable { .. }) {
                member.stage = Stage::Out;
            }
        }
    }

    /// A member that was silent for its session may be out: the group may have moved without it.
    pub(super) fn look_at_sessions(&mut self) {
        let now_us = self.now().monotonic.0;
        for member in &self.members {
            let silent_us = now_us.saturating_sub(member.last_sent_us);
            if silent_us >= u64::try_from(SESSION_TIMEOUT_MS).expect("positive") * 1000 {
                self.disturbances[member.group] += 1;
            }
        }
    }

    /// The member of this client, if it has one, shows that it is alive.
    pub(super) fn member_sends(&mut self, client: usize) {
        self.look_at_sessions();
        let now_us = self.now().monotonic.0;
        for member in self.members.iter_mut().filter(|member| member.client == client) {
            member.last_sent_us = now_us;
        }
    }

    /// After a start: sessions begin anew, and a group that nobody can have moved has its members still.
    pub(crate) fn ask_settled_members(&mut self) -> Checked<usize> {
        let mut asked = 0;
        for index in 0..self.members.len() {
            let member = self.members[index].clone();
            self.members[index].last_sent_us = self.now().monotonic.0;
            let Stage::Stable { generation } = member.stage else { continue };
            if !self.is_settled(member.group) || !self.may_send(VERIFIER) {
                continue;
            }
            self.heartbeat_by(VERIFIER, index, &member, generation, MustBe::Alive)?;
            asked += 1;
        }
        Ok(asked)
    }

    fn is_settled(&self, group: usize) -> bool {
        let recorded = self.oracle.generations.recorded(group);
        self.members.iter().filter(|member| member.group == group).all(|member| match member.stage {
            Stage::Out => member.id.is_empty(),
            Stage::Stable { generation } => {
                Some(generation) == recorded && member.joined_at == self.disturbances[group]
            }
            Stage::Waiting | Stage::Joined { .. } => false,
        })
    }

    pub(super) fn act_as_member(&mut self) -> Checked {
        let index = self.dice.content.index(self.members.len());
        let member = self.members[index].clone();
        if !self.may_send(member.client) {
            return Ok(());
        }
        match member.stage {
            Stage::Waiting => Ok(()),
            Stage::Out => self.join(index, &member),
            Stage::Joined { generation, ref members } => self.sync(index, &member, generation, members),
            Stage::Stable { generation } => match self.dice.content.below(16) {
                0 if self.in_flight(member.client) == 0 => self.leave(index, &member),
                1 => self.join(index, &member),
                2..=5 => self.heartbeat_by(member.client, index, &member, generation, MustBe::Anything),
                _ => self.commit_as_member(index, &member, generation),
            },
        }
    }

    fn join(&mut self, index: usize, member: &Member) -> Checked {
        if self.in_flight(member.client) > 0 {
            return Ok(());
        }
        self.members[index].stage = Stage::Waiting;
        self.disturbances[member.group] += 1;
        let request = JoinGroupRequest {
            group_id: &group_name(member.group),
            session_timeout_ms: SESSION_TIMEOUT_MS,
            rebalance_timeout_ms: REBALANCE_TIMEOUT_MS,
            member_id: &member.id,
            group_instance_id: member.instance_id(),
            protocol_type: "consumer",
            protocols: vec![JoinGroupRequestProtocol { name: "range", metadata: b"subscription" }],
            ..JoinGroupRequest::default()
        };
        let floor = self.oracle.generations.recorded(member.group);
        self.send(member.client, 7, &request, Asked::Join { member: index, floor })
    }

    pub(super) fn joined(
        &mut self,
        index: usize,
        floor: Option<i32>,
        response: &JoinGroupResponse<'_>,
    ) -> Checked {
        let (code, generation) = (response.error_code, response.generation_id);
        let id = response.member_id.to_owned();
        self.tell(|| format!("member {index} joins: {code}, generation {generation}, id {id}"));
        self.members[index].stage = Stage::Out;
        let group = self.members[index].group;
        match code {
            ErrorCode::None => {
                // A static member that comes back changes its id within a generation.
                let keeps_leader =
                    !self.members.iter().any(|member| member.group == group && member.is_static);
                self.oracle.generations.joined(group, generation, response.leader, floor, keeps_leader)?;
                let members = response.members.iter().map(|member| member.member_id.to_owned()).collect();
                self.members[index].id = id;
                self.members[index].joined_at = self.disturbances[group];
                self.members[index].stage = Stage::Joined { generation, members };
                Ok(())
            }
            ErrorCode::MemberIdRequired => {
                promise!(!id.is_empty(), "member {index} is to join with an id and gets none");
                self.members[index].id = id;
                Ok(())
            }
            ErrorCode::RebalanceInProgress => Ok(()),
            ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId => {
                self.disturbances[group] += 1;
                self.members[index].id.clear();
                Ok(())
            }
            code if Self::is_coordinator_trouble(code) => Ok(()),
            code => Err(Violation::new(format!("member {index} cannot join: {code}"))),
        }
    }

    fn sync(&mut self, index: usize, member: &Member, generation: i32, members: &[String]) -> Checked {
        self.members[index].stage = Stage::Waiting;
        let made: Vec<_> = members.iter().map(|id| (id, format!("{generation}/{id}"))).collect();
        let assignments = made
            .iter()
            .map(|(id, bytes)| SyncGroupRequestAssignment { member_id: id, assignment: bytes.as_bytes() })
            .collect();
        let request = SyncGroupRequest {
            group_id: &group_name(member.group),
            generation_id: generation,
            member_id: &member.id,
            group_instance_id: member.instance_id(),
            protocol_type: Some("consumer"),
            protocol_name: Some("range"),
            assignments,
        };
        self.send(member.client, 5, &request, Asked::Sync { member: index, generation })
    }

    pub(super) fn synced(
        &mut self,
        index: usize,
        generation: i32,
        response: &SyncGroupResponse<'_>,
    ) -> Checked {
        let code = response.error_code;
        self.tell(|| format!("member {index} syncs in generation {generation}: {code}"));
        self.members[index].stage = Stage::Out;
        let Member { group, id, is_static, .. } = self.members[index].clone();
        match code {
            ErrorCode::None => {
                let text = String::from_utf8_lossy(response.assignment).into_owned();
                let own = if is_static { format!("{generation}/") } else { format!("{generation}/{id}") };
                // A static member that came back keeps what it was assigned under its former id.
                let fits = if is_static { text.starts_with(&own) } else { text == own };
                promise!(fits, "member {index} ({id}) of generation {generation} is assigned {text:?}");
                self.oracle.generations.synced(group, generation, &id, response.assignment)?;
                self.members[index].stage = Stage::Stable { generation };
                Ok(())
            }
            code => self.member_must_join(index, code),
        }
    }

    fn heartbeat_by(
        &mut self,
        client: usize,
        index: usize,
        member: &Member,
        generation: i32,
        must_be: MustBe,
    ) -> Checked {
        let request = HeartbeatRequest {
            group_id: &group_name(member.group),
            generation_id: generation,
            member_id: &member.id,
            group_instance_id: member.instance_id(),
        };
        self.send(client, 4, &request, Asked::Heartbeat { member: index, must_be })
    }

    pub(super) fn heartbeat_answered(
        &mut self,
        index: usize,
        must_be: MustBe,
        response: &HeartbeatResponse,
    ) -> Checked {
        if must_be == MustBe::Alive {
            let code = response.error_code;
            promise!(
                code == ErrorCode::None,
                "member {index} was stable, and after a start it is told {code}"
            );
            self.counts.members_found += 1;
        }
        match response.error_code {
            ErrorCode::None => Ok(()),
            code => self.member_must_join(index, code),
        }
    }

    fn leave(&mut self, index: usize, member: &Member) -> Checked {
        self.members[index].stage = Stage::Waiting;
        self.disturbances[member.group] += 1;
        let identity = MemberIdentity {
            member_id: &member.id,
            group_instance_id: member.instance_id(),
            ..MemberIdentity::default()
        };
        let request = LeaveGroupRequest {
            group_id: &group_name(member.group),
            members: vec![identity],
            ..LeaveGroupRequest::default()
        };
        self.send(member.client, 4, &request, Asked::Leave { member: index })
    }

    pub(super) fn left(&mut self, index: usize, response: &LeaveGroupResponse<'_>) -> Checked {
        let code = match response.error_code {
            ErrorCode::None => response.members.first().map_or(ErrorCode::None, |member| member.error_code),
            code => code,
        };
        self.tell(|| format!("member {index} leaves: {code}"));
        self.members[index].stage = Stage::Out;
        match code {
            ErrorCode::None => {
                self.members[index].id.clear();
                Ok(())
            }
            code => self.member_must_join(index, code),
        }
    }

    fn commit_as_member(&mut self, index: usize, member: &Member, generation: i32) -> Checked {
        let recorded = self.oracle.generations.recorded(member.group);
        let fenced = recorded.is_some_and(|recorded| recorded > generation);
        let by = Committer::Member { member: index, generation, fenced };
        let credentials = Credentials {
            group: member.group,
            member_id: &member.id,
            group_instance_id: member.instance_id(),
            by,
        };
        self.commit(member.client, &credentials)
    }

    /// A member hears from its commit that it is out.
    pub(super) fn member_refused(&mut self, index: usize, generation: i32, code: ErrorCode) {
        let is_out = matches!(
            code,
            ErrorCode::UnknownMemberId
                | ErrorCode::IllegalGeneration
                | ErrorCode::RebalanceInProgress
                | ErrorCode::GroupIdNotFound
                | ErrorCode::FencedInstanceId
        );
        let member = &mut self.members[index];
        // Zombies exist: now and then one does not listen.
        if is_out && member.stage == (Stage::Stable { generation }) && !self.dice.content.chance(4) {
            member.stage = Stage::Out;
            if matches!(code, ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId) {
                self.disturbances[member.group] += 1;
                member.id.clear();
            }
        }
    }

    fn member_must_join(&mut self, index: usize, code: ErrorCode) -> Checked {
        let member = &mut self.members[index];
        match code {
            ErrorCode::UnknownMemberId | ErrorCode::FencedInstanceId => {
                self.disturbances[member.group] += 1;
                member.id.clear();
            }
            ErrorCode::RebalanceInProgress | ErrorCode::IllegalGeneration => {}
            code if Self::is_coordinator_trouble(code) => return Ok(()),
            code => return Err(Violation::new(format!("member {index} is told {code}"))),
        }
        if !matches!(member.stage, Stage::Waiting | Stage::Joined { .. }) {
            member.stage = Stage::Out;
        }
        Ok(())
    }
}
