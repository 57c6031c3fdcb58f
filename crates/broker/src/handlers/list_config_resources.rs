//! ListConfigResources (74), versions 0–1: the resources whose settings can be asked for. Version 0 asks for client
//! metrics only, of which there are none here.

use std::collections::BTreeSet;

use milepost_wire::ErrorCode;
use milepost_wire::messages::list_config_resources::{
    ConfigResource, ListConfigResourcesRequest, ListConfigResourcesResponse,
};

use super::{Context, Handled};
use crate::config_changes::ResourceType;
use crate::node::Node;

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &ListConfigResourcesRequest) -> Handled {
    let asked = asked(context.key.version, request);
    let node_id = node.settings.node_id.to_string();
    let resource = |kind: ResourceType| {
        move |resource_name| ConfigResource { resource_name, resource_type: kind.code() }
    };
    let mut config_resources = Vec::new();
    for kind in asked.iter().flatten().copied() {
        match kind {
            ResourceType::Topic => {
                let names = node.metadata.image().topics().map(|topic| topic.name.as_str());
                config_resources.extend(names.map(resource(kind)));
            }
            ResourceType::Broker | ResourceType::BrokerLogger => {
                config_resources.push(resource(kind)(node_id.as_str()));
            }
            ResourceType::Group => {
                let groups = node.metadata.image().group_configs().map(|set| set.group.as_str());
                config_resources.extend(groups.map(resource(kind)));
            }
            ResourceType::ClientMetrics => {}
        }
    }
    let error_code = asked.err().unwrap_or(ErrorCode::None);
    let response = ListConfigResourcesResponse {
        error_code,
        config_resources,
        ..ListConfigResourcesResponse::default()
    };
    node.connections.respond(context.key, &response);
    Ok(())
}

/// The kinds asked for, each once.
fn asked(version: i16, request: &ListConfigResourcesRequest) -> Result<Vec<ResourceType>, ErrorCode> {
    if version == 0 {
        return Ok(vec![ResourceType::ClientMetrics]);
    }
    if request.resource_types.is_empty() {
        return Ok(ResourceType::ALL.to_vec());
    }
    let codes: BTreeSet<i8> = request.resource_types.iter().copied().collect();
    codes.into_iter().map(|code| ResourceType::from_code(code).ok_or(ErrorCode::UnsupportedVersion)).collect()
}
