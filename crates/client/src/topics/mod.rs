//! What is done with topics: made, looked at, deleted.

mod configs;
mod create;
mod delete;
mod describe;

pub use configs::{Settings, TopicConfig, settings_of_a_broker, settings_of_topics};
pub use create::{NewTopic, create};
pub use delete::delete;
pub use describe::{Described, PartitionDescription, TopicDescription, describe, list};
