//! Deleting groups with all that they have committed.

use milepost_wire::ApiKey;
use milepost_wire::messages::delete_groups::{DeleteGroupsRequest, DeleteGroupsResponse};

use super::each::{PerGroup, each_group};
use crate::cluster::Cluster;
use crate::error::ClientError;

/// How many groups one request deletes. All of one coordinator partition are one batch in its log.
const GROUPS_A_REQUEST: usize = 50;

/// Deletes groups. What is wrong with one is in its own result.
///
/// # Errors
/// When nobody can be asked.
pub fn delete(cluster: &mut Cluster, groups: &[&str]) -> Result<PerGroup<()>, ClientError> {
    each_group(cluster, groups, |connection, of_it, deadline, found| {
        let version = connection.version(ApiKey::DeleteGroups)?;
        let requests =
            of_it.chunks(GROUPS_A_REQUEST).map(|part| DeleteGroupsRequest { groups_names: part.to_vec() });
        connection.pipeline(requests, version, deadline, |answer| {
            let answer: DeleteGroupsResponse<'_> = answer.decode()?;
            for one in &answer.results {
                let outcome = ClientError::of_code(one.group_id, one.error_code, one.error_message);
                found.insert(one.group_id.to_owned(), outcome);
            }
            Ok(())
        })
    })
}
