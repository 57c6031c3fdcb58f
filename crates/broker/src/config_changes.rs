//! Changes of settings while the broker runs, as AlterConfigs and IncrementalAlterConfigs ask for them.
//!
//! A change of a topic or of a group is a record in the metadata log, and in force once that is durable. What was set
//! wrongly is refused here, before anything is written: each resource is changed whole or not at all. Settings of the
//! broker do not change while it runs, and other resources have none.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use milepost_log::metadata::{GroupConfigs, MetadataRecord, Topic};
use milepost_model::{Now, Offset};
use milepost_wire::ErrorCode;

use crate::config::{
    Kind, TOPIC_SETTINGS, TopicSetting, TopicSettings, check_group_configs, check_topic_configs,
};
use crate::errors::{self, Refusal};
use crate::node::Node;
use crate::topics;

/// What kind of resource has settings, as Kafka numbers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ResourceType {
    Topic,
    Broker,
    BrokerLogger,
    ClientMetrics,
    Group,
}

impl ResourceType {
    /// Every kind, in the order of their numbers.
    pub(crate) const ALL: [Self; 5] =
        [Self::Topic, Self::Broker, Self::BrokerLogger, Self::ClientMetrics, Self::Group];

    /// The number on the wire.
    pub(crate) const fn code(self) -> i8 {
        match self {
            Self::Topic => 2,
            Self::Broker => 4,
            Self::BrokerLogger => 8,
            Self::ClientMetrics => 16,
            Self::Group => 32,
        }
    }

    /// The kind with this number.
    pub(crate) fn from_code(code: i8) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.code() == code)
    }
}

/// What shall happen to one setting.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operation {
    Set,
    Delete,
    Append,
    Subtract,
}

impl Operation {
    /// The operation with this number on the wire.
    pub(crate) fn from_code(code: i8) -> Result<Self, i8> {
        match code {
            0 => Ok(Self::Set),
            1 => Ok(Self::Delete),
            2 => Ok(Self::Append),
            3 => Ok(Self::Subtract),
            unknown => Err(unknown),
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Set => "SET",
            Self::Delete => "DELETE",
            Self::Append => "APPEND",
            Self::Subtract => "SUBTRACT",
        }
    }
}

/// One setting of a request.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SettingChange<'a> {
    pub(crate) name: &'a str,
    /// What shall happen, or the number that means nothing.
    pub(crate) operation: Result<Operation, i8>,
    pub(crate) value: Option<&'a str>,
}

/// What becomes of the settings that a request does not name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unnamed {
    /// They go back to their defaults.
    Reset,
    /// They stay.
    Keep,
}

/// One resource of a request.
#[derive(Clone, Debug)]
pub(crate) struct ResourceChange<'a> {
    pub(crate) resource_type: i8,
    pub(crate) name: &'a str,
    pub(crate) settings: Vec<SettingChange<'a>>,
}

/// What became of one resource, until the answer leaves.
#[derive(Debug)]
pub(crate) struct Altered {
    pub(crate) resource_type: i8,
    pub(crate) name: String,
    pub(crate) result: Result<(), Refusal>,
}

/// Whether a request is carried out or only checked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effect {
    Carried,
    OnlyChecked,
}

/// Checks every resource and writes the changes. Returns what became of each, and the position of the last record
/// that the answer must wait for.
pub(crate) fn alter(
    node: &mut Node,
    now: Now,
    effect: Effect,
    unnamed: Unnamed,
    resources: &[ResourceChange<'_>],
) -> (Vec<Altered>, Option<Offset>) {
    let mut seen = BTreeSet::new();
    let identity = |resource: &ResourceChange<'_>| (resource.resource_type, resource.name.to_owned());
    let repeated: BTreeSet<_> =
        resources.iter().map(identity).filter(|id| !seen.insert(id.clone())).collect();
    let mut last = None;
    let mut altered = Vec::new();
    let mut done = BTreeSet::new();
    for resource in resources.iter().filter(|resource| done.insert(identity(resource))) {
        let result = if repeated.contains(&identity(resource)) {
            Err(invalid_request("Each resource must appear at most once."))
        } else {
            alter_one(node, now, effect, unnamed, resource, &mut last)
        };
        altered.push(Altered {
            resource_type: resource.resource_type,
            name: resource.name.to_owned(),
            result,
        });
    }
    (altered, last)
}

fn invalid_request(why: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::with_message(ErrorCode::InvalidRequest, why)
}

fn invalid_config(why: impl Into<std::borrow::Cow<'static, str>>) -> Refusal {
    Refusal::with_message(ErrorCode::InvalidConfig, why)
}

fn alter_one(
    node: &mut Node,
    now: Now,
    effect: Effect,
    unnamed: Unnamed,
    resource: &ResourceChange<'_>,
    last: &mut Option<Offset>,
) -> Result<(), Refusal> {
    check_values_are_there(resource)?;
    match ResourceType::from_code(resource.resource_type) {
        Some(ResourceType::Topic) => alter_topic(node, now, effect, unnamed, resource, last),
        Some(ResourceType::Broker) => refuse_broker(node.settings.node_id, resource),
        Some(ResourceType::BrokerLogger) => {
            Err(invalid_request("The levels of this broker's loggers are set when it starts."))
        }
        Some(ResourceType::ClientMetrics) => {
            Err(invalid_request("This broker takes no metrics of clients, so there is nothing to set."))
        }
        Some(ResourceType::Group) => alter_group(node, now, effect, unnamed, resource, last),
        None => Err(invalid_request(format!("Unknown resource type {}", resource.resource_type))),
    }
}

fn check_values_are_there(resource: &ResourceChange<'_>) -> Result<(), Refusal> {
    let needs_value = |setting: &&SettingChange<'_>| setting.operation != Ok(Operation::Delete);
    let missing: Vec<&str> = resource
        .settings
        .iter()
        .filter(needs_value)
        .filter(|setting| setting.value.is_none())
        .map(|setting| setting.name)
        .collect();
    if missing.is_empty() {
        return Ok(());
    }
    Err(invalid_request(format!("Null value not supported for : {}", missing.join(", "))))
}

/// Every setting of the broker is read when it starts.
fn refuse_broker(node_id: i32, resource: &ResourceChange<'_>) -> Result<(), Refusal> {
    if !resource.name.is_empty() && resource.name != node_id.to_string() {
        let why = format!("Unexpected broker id, expected {node_id}, but received {}", resource.name);
        return Err(invalid_request(why));
    }
    if resource.settings.is_empty() {
        return Ok(());
    }
    let names: Vec<&str> = resource.settings.iter().map(|setting| setting.name).collect();
    Err(invalid_request(format!("Cannot update these configs dynamically: [{}]", names.join(", "))))
}

fn alter_topic(
    node: &mut Node,
    now: Now,
    effect: Effect,
    unnamed: Unnamed,
    resource: &ResourceChange<'_>,
    last: &mut Option<Offset>,
) -> Result<(), Refusal> {
    let present = node.metadata.image().topic(resource.name).cloned();
    let own = present.as_ref().map(|topic| topic.configs.clone()).unwrap_or_default();
    let values = &node.settings.values;
    let present_list = |name: &str| find_list(name).map(|list| TopicSettings::new(&own, values).get(list));
    let changed = apply(&own, unnamed, &resource.settings, present_list)?;
    if resource.name.is_empty() {
        return Err(invalid_request("Default topic resources are not allowed."));
    }
    topics::check_name(resource.name)
        .map_err(|why| Refusal::with_message(ErrorCode::InvalidTopicException, why))?;
    check_topic_configs(&changed, values).map_err(|error| invalid_config(error.0))?;
    let Some(topic) = present else {
        let why = format!("The topic '{}' does not exist.", resource.name);
        return Err(Refusal::with_message(ErrorCode::UnknownTopicOrPartition, why));
    };
    check_offsets_are_kept(&topic, &TopicSettings::new(&changed, values))?;
    if effect == Effect::OnlyChecked {
        return Ok(());
    }
    // Also where nothing changes: the answer must not run ahead of an earlier change that is not durable yet.
    topics::check_not_changing(node, topic.id)?;
    if changed == own {
        return Ok(());
    }
    let topic = Topic { configs: changed, ..Topic::clone(&topic) };
    let position = node
        .metadata
        .propose(&mut node.logs, vec![MetadataRecord::Topic(Arc::new(topic))], now)
        .map_err(|error| errors::of_proposal(&error))?;
    *last = Some(position);
    Ok(())
}

/// How many groups may have settings of their own. Each is kept in memory, and none of them need exist.
const GROUPS_WITH_CONFIGS_MAX: usize = 100_000;

fn alter_group(
    node: &mut Node,
    now: Now,
    effect: Effect,
    unnamed: Unnamed,
    resource: &ResourceChange<'_>,
    last: &mut Option<Offset>,
) -> Result<(), Refusal> {
    let image = node.metadata.image();
    let own = image.configs_of_group(resource.name).map(|set| set.configs.clone()).unwrap_or_default();
    let changed = apply(&own, unnamed, &resource.settings, |_| None)?;
    if resource.name.is_empty() {
        return Err(invalid_request("Default group resources are not allowed."));
    }
    check_group_configs(&changed, &node.settings.values).map_err(invalid_config)?;
    if own.is_empty() && !changed.is_empty() && image.group_configs().count() >= GROUPS_WITH_CONFIGS_MAX {
        return Err(invalid_request(format!("{GROUPS_WITH_CONFIGS_MAX} groups have settings of their own")));
    }
    if effect == Effect::OnlyChecked {
        return Ok(());
    }
    // Also where nothing changes: the answer must not run ahead of an earlier change that is not durable yet.
    if node.metadata.is_group_pending(resource.name) {
        let why = "the group is being changed; try again";
        return Err(Refusal::with_message(ErrorCode::NotController, why));
    }
    if changed == own {
        return Ok(());
    }
    let set = GroupConfigs { group: resource.name.to_owned(), configs: changed };
    let position = node
        .metadata
        .propose(&mut node.logs, vec![MetadataRecord::GroupConfigs(Arc::new(set))], now)
        .map_err(|error| errors::of_proposal(&error))?;
    *last = Some(position);
    Ok(())
}

/// A Kafka broker lets committed offsets be deleted by age; each consumer would then begin anew, in silence.
fn check_offsets_are_kept(topic: &Topic, changed: &TopicSettings<'_>) -> Result<(), Refusal> {
    let is_compacted_only =
        changed.has_word("cleanup.policy", "compact") && !changed.has_word("cleanup.policy", "delete");
    if !topic.is_internal || is_compacted_only {
        return Ok(());
    }
    Err(invalid_config(format!(
        "The cleanup.policy of {} is compact and stays so, because positions would be lost without it.",
        topic.name
    )))
}

/// The settings of a resource after a change; not yet checked. `present_list` is the value in force of a setting that is a
/// list.
fn apply<'v>(
    own: &BTreeMap<String, String>,
    unnamed: Unnamed,
    settings: &[SettingChange<'_>],
    present_list: impl Fn(&str) -> Option<&'v str>,
) -> Result<BTreeMap<String, String>, Refusal> {
    let mut names = BTreeSet::new();
    if !settings.iter().all(|setting| names.insert(setting.name)) {
        return Err(invalid_request("Error due to duplicate config keys"));
    }
    let mut changed = match unnamed {
        Unnamed::Reset => BTreeMap::new(),
        Unnamed::Keep => own.clone(),
    };
    for setting in settings {
        let operation = setting.operation.map_err(|code| {
            invalid_request(format!("Unknown config operation {code} for {}", setting.name))
        })?;
        let value = setting.value.unwrap_or_default();
        let value = match operation {
            Operation::Delete => {
                changed.remove(setting.name);
                continue;
            }
            Operation::Set => value.to_owned(),
            Operation::Append | Operation::Subtract => {
                let present =
                    present_list(setting.name).ok_or_else(|| not_a_list(operation, setting.name))?;
                edit_list(operation, present, value)
            }
        };
        changed.insert(setting.name.to_owned(), value);
    }
    Ok(changed)
}

fn find_list(name: &str) -> Option<&'static TopicSetting> {
    TOPIC_SETTINGS.iter().find(|setting| setting.name == name && matches!(setting.kind, Kind::List(_)))
}

fn not_a_list(operation: Operation, name: &str) -> Refusal {
    let operation = operation.name();
    invalid_config(format!("Can't {operation} to key {name} because its type is not LIST."))
}

/// The list with the words of `change` added behind, each once, or taken out.
fn edit_list(operation: Operation, present: &str, change: &str) -> String {
    let mut words: Vec<&str> = present.split(',').map(str::trim).filter(|word| !word.is_empty()).collect();
    for word in change.split(',').map(str::trim).filter(|word| !word.is_empty()) {
        let at = words.iter().position(|present| *present == word);
        match (operation, at) {
            (Operation::Subtract, Some(at)) => drop(words.remove(at)),
            (Operation::Append, None) => words.push(word),
            _ => {}
        }
    }
    words.join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_added_once_and_taken_out() {
        assert_eq!(edit_list(Operation::Append, "delete", "compact"), "delete,compact");
        assert_eq!(edit_list(Operation::Append, "delete", "delete, compact"), "delete,compact");
        assert_eq!(edit_list(Operation::Append, "", "compact"), "compact");
        assert_eq!(edit_list(Operation::Subtract, "delete,compact", "delete"), "compact");
        assert_eq!(edit_list(Operation::Subtract, "compact", "delete"), "compact");
        assert_eq!(edit_list(Operation::Subtract, "compact", "compact"), "");
    }

    #[test]
    fn kinds_and_operations_have_kafkas_numbers() {
        for kind in ResourceType::ALL {
            assert_eq!(ResourceType::from_code(kind.code()), Some(kind));
        }
        assert_eq!(ResourceType::from_code(1), None);
        assert_eq!((0..5).map(Operation::from_code).filter(Result::is_ok).count(), 4);
    }
}
