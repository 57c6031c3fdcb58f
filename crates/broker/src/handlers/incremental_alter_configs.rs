//! IncrementalAlterConfigs (44), versions 0–1: single settings of a resource. What is not named stays.

use milepost_wire::ErrorCode;
use milepost_wire::messages::incremental_alter_configs::{
    AlterConfigsResourceResponse, IncrementalAlterConfigsRequest, IncrementalAlterConfigsResponse,
};

use super::{Context, Handled};
use crate::config_changes::{self, Altered, Effect, Operation, ResourceChange, SettingChange, Unnamed};
use crate::node::{Node, RequestKey, TopicWait};

pub(crate) fn handle(
    node: &mut Node,
    context: Context<'_>,
    request: &IncrementalAlterConfigsRequest<'_>,
) -> Handled {
    let resources: Vec<_> = request
        .resources
        .iter()
        .map(|resource| ResourceChange {
            resource_type: resource.resource_type,
            name: resource.resource_name,
            settings: resource
                .configs
                .iter()
                .map(|config| SettingChange {
                    name: config.name,
                    operation: Operation::from_code(config.config_operation),
                    value: config.value,
                })
                .collect(),
        })
        .collect();
    let effect = if request.validate_only { Effect::OnlyChecked } else { Effect::Carried };
    let (altered, last) = config_changes::alter(node, context.now, effect, Unnamed::Keep, &resources);
    match last {
        Some(position) => {
            node.topics.park(position, context.key, TopicWait::IncrementalAlterConfigs(altered));
        }
        None => finish(node, context.key, &altered),
    }
    Ok(())
}

/// Answers once the records are durable.
pub(crate) fn finish(node: &mut Node, key: RequestKey, altered: &[Altered]) {
    let responses = altered.iter().map(response).collect();
    let answer = IncrementalAlterConfigsResponse { responses, ..IncrementalAlterConfigsResponse::default() };
    node.connections.respond(key, &answer);
}

fn response(resource: &Altered) -> AlterConfigsResourceResponse<'_> {
    let refusal = resource.result.as_ref().err();
    AlterConfigsResourceResponse {
        error_code: refusal.map_or(ErrorCode::None, |refusal| refusal.code),
        error_message: refusal.and_then(|refusal| refusal.message.as_deref()),
        resource_type: resource.resource_type,
        resource_name: &resource.name,
    }
}
