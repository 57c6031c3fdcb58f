//! Leaving a group, so that the others need not wait for the session to run out.

use milepost_wire::messages::leave_group::{LeaveGroupRequest, LeaveGroupResponse, MemberIdentity};
use milepost_wire::{ApiKey, ErrorCode};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// From this version on one request names any number of members.
const MEMBERS_FROM: i16 = 3;

/// Leaves. That the group does not know the member any more is as good.
pub(super) fn leave(
    connection: &mut Connection,
    group: &str,
    member_id: &str,
    deadline: Deadline,
) -> Result<(), ClientError> {
    let version = connection.version(ApiKey::LeaveGroup)?;
    let mut request = LeaveGroupRequest { group_id: group, ..LeaveGroupRequest::default() };
    if version >= MEMBERS_FROM {
        request.members = vec![MemberIdentity { member_id, ..MemberIdentity::default() }];
    } else {
        request.member_id = member_id;
    }
    let answer: LeaveGroupResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let of_member = answer.members.first().map_or(ErrorCode::None, |member| member.error_code);
    let code = if answer.error_code == ErrorCode::None { of_member } else { answer.error_code };
    match code {
        ErrorCode::None | ErrorCode::UnknownMemberId => Ok(()),
        code => Err(ClientError::refused(format!("leaving group {group}"), code, None)),
    }
}
