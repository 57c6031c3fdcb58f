//! Randomness as a parameter. Only ids are random: topic ids, the cluster id, member ids.

use milepost_model::TopicId;

/// A source of random bytes.
pub trait Random {
    /// Fills the slice.
    fn fill(&mut self, bytes: &mut [u8]);
}

/// A random (version 4) UUID, as Kafka makes topic ids.
pub(crate) fn uuid(random: &mut dyn Random) -> TopicId {
    let mut bytes = [0; 16];
    random.fill(&mut bytes);
    milepost_log::metadata::random_uuid(bytes)
}

/// A UUID in its hyphenated text form, as Kafka appends it to the names of classic members to make their ids.
pub(crate) fn hyphenated(uuid: TopicId) -> String {
    let hex: String = uuid.0.iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}-{}-{}-{}-{}", &hex[..8], &hex[8..12], &hex[12..16], &hex[16..20], &hex[20..])
}
