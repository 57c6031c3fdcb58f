//! The settings that a topic has of its own.

use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResponse,
};
use milepost_wire::{ApiKey, ErrorCode};

use crate::connection::Connection;
use crate::deadline::Deadline;
use crate::error::ClientError;

/// How the wire numbers topics among the things that have settings.
const TOPIC: i8 = 2;
/// How the wire says that a value was given to this very topic.
const SET_ON_THE_TOPIC: i8 = 1;

/// A setting of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicConfig {
    /// Kafka's name.
    pub name: String,
    /// Its value; `None` where the broker keeps it to itself.
    pub value: Option<String>,
}

/// The settings that were given to the topics themselves, in the order of `topics`; those that hold by default are
/// left out.
pub(crate) fn set_on(
    connection: &mut Connection,
    topics: &[&str],
    deadline: Deadline,
) -> Result<Vec<Vec<TopicConfig>>, ClientError> {
    let version = connection.version(ApiKey::DescribeConfigs)?;
    let resource = |name| DescribeConfigsResource {
        resource_type: TOPIC,
        resource_name: name,
        configuration_keys: None,
    };
    let request = DescribeConfigsRequest {
        resources: topics.iter().map(|name| resource(*name)).collect(),
        ..DescribeConfigsRequest::default()
    };
    let answer: DescribeConfigsResponse<'_> = connection.call(&request, version, deadline)?.decode()?;
    let of_topic = |name: &&str| {
        let Some(result) = answer.results.iter().find(|one| one.resource_name == *name) else {
            let lacks = (*name).to_owned();
            return Err(ClientError::Incomplete { what: "DescribeConfigs".to_owned(), lacks });
        };
        if result.error_code != ErrorCode::None {
            let what = format!("the settings of {name}");
            return Err(ClientError::refused(what, result.error_code, result.error_message));
        }
        let own = result.configs.iter().filter(|config| config.config_source == SET_ON_THE_TOPIC);
        let mut own: Vec<TopicConfig> = own
            .map(|config| TopicConfig {
                name: config.name.to_owned(),
                value: config.value.map(str::to_owned).filter(|_| !config.is_sensitive),
            })
            .collect();
        own.sort_by(|left, right| left.name.cmp(&right.name));
        Ok(own)
    };
    topics.iter().map(of_topic).collect()
}
