//! Which partition of an internal topic a name lives in: a group, or a transactional id.

use crate::PartitionIndex;

/// The partition of a group or a transactional id, of `count` partitions (at least 1; 0 counts as 1). It is Java's
/// string hash, as every client and every Kafka broker computes it, so it may never change.
#[must_use]
pub fn partition_for(name: &str, count: u32) -> PartitionIndex {
    let hash =
        name.encode_utf16().fold(0_i32, |hash, unit| hash.wrapping_mul(31).wrapping_add(i32::from(unit)));
    // Kafka's own absolute value takes the one number that has none to 0.
    let hash = if hash == i32::MIN { 0 } else { hash.unsigned_abs() };
    let partition = hash % count.max(1);
    PartitionIndex(i32::try_from(partition).expect("a remainder of a number below 2^31 is below 2^31"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn groups_live_where_kafka_puts_them() {
        let vectors = [
            ("", 0),
            ("g1", 42),
            ("my-group", 12),
            ("test-group", 12),
            ("polygenelubricants", 0),
            ("é", 33),
            ("GroupA-😀", 46),
        ];
        for (group_id, partition) in vectors {
            assert_eq!(partition_for(group_id, 50), PartitionIndex(partition), "{group_id}");
        }
    }
}
