//! What is done with topics: made, looked at, deleted.

mod configs;
mod create;
mod delete;
mod describe;

pub use configs::TopicConfig;
pub use create::{NewTopic, create};
pub use delete::delete;
pub use describe::{Described, PartitionDescription, TopicDescription, describe, list};
