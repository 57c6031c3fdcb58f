//! DescribeConfigs (32), versions 1–4: the settings of topics, of groups and of this broker, and where each value comes
//! from.

use std::collections::{BTreeMap, BTreeSet};

use milepost_log::metadata::MetadataImage;
use milepost_wire::ErrorCode;
use milepost_wire::messages::describe_configs::{
    DescribeConfigsRequest, DescribeConfigsResource, DescribeConfigsResourceResult, DescribeConfigsResponse,
    DescribeConfigsResult, DescribeConfigsSynonym,
};

use super::{Context, Handled};
use crate::config::{
    BROKER_SETTINGS, BrokerSettings, GROUP_SETTINGS, GroupSetting, Kind, Setting, Source, TOPIC_SETTINGS,
    TopicSetting, TopicSettings, Values, broker_setting,
};
use crate::config_changes::ResourceType;
use crate::node::Node;
use crate::topics;

const SOURCE_TOPIC: i8 = 1;
const SOURCE_STATIC_BROKER: i8 = 4;
const SOURCE_DEFAULT: i8 = 5;
const SOURCE_GROUP: i8 = 8;

/// Which parts of each entry the client wants.
#[derive(Clone, Copy)]
struct Wish {
    synonyms: bool,
    documentation: bool,
}

/// Where the values are.
#[derive(Clone, Copy)]
struct Broker<'a> {
    settings: &'a BrokerSettings,
    image: &'a MetadataImage,
}

pub(crate) fn handle(node: &mut Node, context: Context<'_>, request: &DescribeConfigsRequest<'_>) -> Handled {
    let wish = Wish { synonyms: request.include_synonyms, documentation: request.include_documentation };
    let all_known =
        request.resources.iter().all(|resource| ResourceType::from_code(resource.resource_type).is_some());
    let broker = Broker { settings: &node.settings, image: node.metadata.image() };
    // Once is enough: a short request must not ask for the same long answer a million times.
    let mut seen = BTreeSet::new();
    let results = request
        .resources
        .iter()
        .filter(|resource| seen.insert((resource.resource_type, resource.resource_name)))
        .map(|resource| {
            let described =
                if all_known { describe(broker, resource, wish) } else { Err(ErrorCode::InvalidRequest) };
            let (error_code, configs) = match described {
                Ok(configs) => (ErrorCode::None, configs),
                Err(code) => (code, Vec::new()),
            };
            DescribeConfigsResult {
                error_code,
                error_message: (error_code != ErrorCode::None).then(|| error_code.name()),
                resource_type: resource.resource_type,
                resource_name: resource.resource_name,
                configs,
            }
        })
        .collect();
    let response = DescribeConfigsResponse { results, ..DescribeConfigsResponse::default() };
    node.connections.respond(context.key, &response);
    Ok(())
}

fn describe<'a>(
    broker: Broker<'a>,
    resource: &DescribeConfigsResource<'_>,
    wish: Wish,
) -> Result<Vec<DescribeConfigsResourceResult<'a>>, ErrorCode> {
    let asked = resource.configuration_keys.as_deref().filter(|keys| !keys.is_empty());
    let wanted = |name: &str| asked.is_none_or(|keys| keys.contains(&name));
    let values = &broker.settings.values;
    let kind = ResourceType::from_code(resource.resource_type).ok_or(ErrorCode::InvalidRequest)?;
    if matches!(kind, ResourceType::ClientMetrics | ResourceType::Group) && resource.resource_name.is_empty()
    {
        return Err(ErrorCode::InvalidRequest);
    }
    if kind == ResourceType::ClientMetrics {
        // There are none here; in Kafka, too, they need not exist.
        return Ok(Vec::new());
    }
    if kind == ResourceType::Group {
        // The group need not exist.
        let own = broker.image.configs_of_group(resource.resource_name).map(|set| &set.configs);
        let settings = GROUP_SETTINGS.iter().filter(|setting| wanted(setting.name));
        return Ok(settings.map(|setting| group_entry(values, own, setting, wish)).collect());
    }
    if kind == ResourceType::Topic {
        topics::check_name(resource.resource_name).map_err(|_| ErrorCode::InvalidTopicException)?;
        let topic = broker.image.topic(resource.resource_name).ok_or(ErrorCode::UnknownTopicOrPartition)?;
        let settings = TOPIC_SETTINGS.iter().filter(|setting| wanted(setting.name));
        return Ok(settings.map(|setting| topic_entry(values, &topic.configs, setting, wish)).collect());
    }
    if kind == ResourceType::Broker && resource.resource_name.is_empty() {
        // The cluster-wide dynamic defaults, of which there are none.
        return Ok(Vec::new());
    }
    if resource.resource_name != broker.settings.node_id.to_string() {
        return Err(ErrorCode::InvalidRequest);
    }
    if kind == ResourceType::BrokerLogger {
        // Loggers have no names that clients could know.
        return Ok(Vec::new());
    }
    let settings = BROKER_SETTINGS.iter().filter(|setting| wanted(setting.name));
    Ok(settings.map(|setting| broker_entry(values, setting, wish)).collect())
}

fn topic_entry<'a>(
    values: &'a Values,
    own: &'a BTreeMap<String, String>,
    setting: &'static TopicSetting,
    wish: Wish,
) -> DescribeConfigsResourceResult<'a> {
    let mut synonyms = Vec::new();
    if wish.synonyms {
        if let Some(value) = own.get(setting.name) {
            synonyms.push(DescribeConfigsSynonym {
                name: setting.name,
                value: Some(value),
                source: SOURCE_TOPIC,
            });
        }
        match setting.synonym.map(broker_setting) {
            Some(broker) => synonyms.extend(broker_synonyms(values, broker)),
            None => synonyms.push(DescribeConfigsSynonym {
                name: setting.name,
                value: Some(setting.default),
                source: SOURCE_DEFAULT,
            }),
        }
    }
    DescribeConfigsResourceResult {
        name: setting.name,
        value: Some(TopicSettings::new(own, values).get(setting)),
        read_only: false,
        config_source: topic_source(values, own, setting),
        is_sensitive: false,
        synonyms,
        config_type: type_code(setting.kind),
        documentation: wish.documentation.then_some(setting.documentation),
    }
}

fn group_entry<'a>(
    values: &'a Values,
    own: Option<&'a BTreeMap<String, String>>,
    setting: &'static GroupSetting,
    wish: Wish,
) -> DescribeConfigsResourceResult<'a> {
    let broker = broker_setting(setting.synonym);
    let set = own.and_then(|own| own.get(setting.name)).map(String::as_str);
    let mut synonyms = Vec::new();
    if wish.synonyms {
        let own = set.map(|value| DescribeConfigsSynonym {
            name: setting.name,
            value: Some(value),
            source: SOURCE_GROUP,
        });
        synonyms = own.into_iter().chain(broker_synonyms(values, broker)).collect();
    }
    DescribeConfigsResourceResult {
        name: setting.name,
        value: Some(set.unwrap_or(values.get(broker).0)),
        read_only: false,
        config_source: if set.is_some() { SOURCE_GROUP } else { broker_source(values, broker) },
        is_sensitive: false,
        synonyms,
        config_type: type_code(setting.kind),
        documentation: wish.documentation.then_some(setting.documentation),
    }
}

fn broker_entry<'a>(
    values: &'a Values,
    setting: &'static Setting,
    wish: Wish,
) -> DescribeConfigsResourceResult<'a> {
    DescribeConfigsResourceResult {
        name: setting.name,
        value: Some(values.get(setting).0),
        read_only: true,
        config_source: broker_source(values, setting),
        is_sensitive: false,
        synonyms: if wish.synonyms { broker_synonyms(values, setting) } else { Vec::new() },
        config_type: type_code(setting.kind),
        documentation: wish.documentation.then_some(setting.documentation),
    }
}

/// The value that was set, if one was, and then the default.
fn broker_synonyms<'a>(values: &'a Values, setting: &'static Setting) -> Vec<DescribeConfigsSynonym<'a>> {
    let default =
        DescribeConfigsSynonym { name: setting.name, value: Some(setting.default), source: SOURCE_DEFAULT };
    match values.get(setting) {
        (_, Source::Default) => vec![default],
        (value, _) => vec![
            DescribeConfigsSynonym { name: setting.name, value: Some(value), source: SOURCE_STATIC_BROKER },
            default,
        ],
    }
}

/// Where a topic's value comes from, as Kafka numbers it.
pub(crate) fn topic_source(values: &Values, own: &BTreeMap<String, String>, setting: &TopicSetting) -> i8 {
    if own.contains_key(setting.name) {
        return SOURCE_TOPIC;
    }
    setting.synonym.map_or(SOURCE_DEFAULT, |name| broker_source(values, broker_setting(name)))
}

fn broker_source(values: &Values, setting: &Setting) -> i8 {
    if values.get(setting).1 == Source::Default { SOURCE_DEFAULT } else { SOURCE_STATIC_BROKER }
}

fn type_code(kind: Kind) -> i8 {
    match kind {
        Kind::Boolean => 1,
        Kind::Text | Kind::OneOf(_) => 2,
        Kind::Int { .. } => 3,
        Kind::Long { .. } => 5,
        Kind::Ratio => 6,
        Kind::List(_) => 7,
    }
}
