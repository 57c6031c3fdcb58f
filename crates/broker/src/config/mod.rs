//! Configuration: every setting by its Kafka name, from flags, environment and file, checked before anything starts.
//!
//! `settings.rs` is the one table of broker settings, `topic.rs` the one of topic settings, `group.rs` that of groups; a setting that is not in
//! a table does not exist, and saying it is an error that names the nearest one. `unserved.rs` has those of Kafka's that
//! are refused for a reason, or have no effect. [`BrokerSettings`] is what the rest
//! of the broker reads: typed, in the units of its field names.

mod group;
mod load;
mod partition;
mod settings;
mod topic;
mod typed;
mod unserved;
mod value;

pub use group::{GROUP_SETTINGS, GroupSetting, GroupSettings, check_group_configs};
pub use load::{ConfigError, Loader};
pub(crate) use partition::partition_config;
pub use settings::{BROKER_SETTINGS, Setting, broker_setting};
pub use topic::{InvalidTopicConfig, TOPIC_SETTINGS, TopicSetting, TopicSettings, check_topic_configs};
pub use typed::{BrokerSettings, Endpoint};
pub use unserved::{UNSERVED_SETTINGS, Unserved, UnservedSetting};
pub use value::{Kind, Source, Values};
