//! The metadata log: which topics there are, the cluster's id, and how far producer ids were handed out.
//!
//! It is one more internal, compacted log, with its own replay. [`MetadataImage`] is the state that its records say,
//! pure; [`MetadataLog`] keeps the image of what is durable and carries proposals there. Requests see the durable
//! image only, so that no client ever learns of a topic that a crash could take back.
//!
//! It must never decide what a topic may be called or how many partitions it gets: the broker does, and proposes. Only
//! the topic every folder has is made here (`first_records`), because the embedded library makes it too.

mod first_records;
mod image;
mod metadata_log;

pub use first_records::{
    DEFAULT_OFFSETS_PARTITIONS, DEFAULT_OFFSETS_SEGMENT_BYTES, FirstRecords, OFFSETS_TOPIC,
    new_offsets_topic, offsets_partition_config, random_uuid,
};
pub use image::{GroupConfigs, InvalidRecord, MetadataChange, MetadataImage, MetadataRecord, Topic};
pub use metadata_log::{
    LoadError, MAX_PENDING_PROPOSALS, METADATA_DIRECTORY, METADATA_PARTITION, MetadataLog, ProposeError,
};
