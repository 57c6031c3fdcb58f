//! Share groups (KIP-932).

use milepost_wire::ApiKey;
use milepost_wire::messages::share_group_describe::{
    DescribedShareGroup, DescribedShareGroupMember, ShareGroupDescribeRequest, ShareGroupDescribeResponse,
};

use super::{GROUPS_A_REQUEST, GroupDescription, GroupEpochs, MemberDescription, consumer, note, sorted};
use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;
use crate::groups::GroupKind;
use crate::groups::each::PerGroup;

/// What a listing says that its members speak.
const SHARE: &str = "share";

pub(super) fn ask(
    connection: &mut Connection,
    groups: &[&str],
    deadline: Deadline,
    found: &mut PerGroup<GroupDescription>,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::ShareGroupDescribe)?;
    let requests = groups.chunks(GROUPS_A_REQUEST).map(|part| ShareGroupDescribeRequest {
        group_ids: part.to_vec(),
        include_authorized_operations: false,
    });
    connection.pipeline(requests, version, deadline, |answer| {
        let answer: ShareGroupDescribeResponse<'_> = answer.decode()?;
        for one in &answer.groups {
            note(found, one.group_id, (one.error_code, one.error_message), || share(one));
        }
        Ok(())
    })
}

fn share(one: &DescribedShareGroup<'_>) -> GroupDescription {
    GroupDescription {
        kind: GroupKind::Share,
        state: one.group_state.to_owned(),
        protocol_type: SHARE.to_owned(),
        assignor: one.assignor_name.to_owned(),
        epochs: Some(GroupEpochs { group: one.group_epoch, assignment: one.assignment_epoch }),
        topology: None,
        members: sorted(one.members.iter().map(member)),
    }
}

fn member(one: &DescribedShareGroupMember<'_>) -> MemberDescription {
    MemberDescription {
        member_id: one.member_id.to_owned(),
        instance_id: None,
        client_id: one.client_id.to_owned(),
        host: one.client_host.to_owned(),
        epoch: Some(one.member_epoch),
        subscribed: Some(one.subscribed_topic_names.iter().map(|name| (*name).to_owned()).collect()),
        assigned: consumer::assigned(&one.assignment),
        target: None,
        work: None,
    }
}
