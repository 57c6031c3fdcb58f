//! Which partition a record goes to.

use milepost_model::PartitionIndex;

/// Who decides about the partition of a record that does not name one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Partitioning {
    /// Records of one key go to one partition, the same that Kafka's Java client chooses; records without a key take
    /// turns.
    #[default]
    ByKey,
    /// All go to this one.
    Fixed(PartitionIndex),
}

/// The partition of a key, out of `count`, as Kafka's Java client has it: the hash without its sign, modulo the number
/// of partitions.
pub(super) fn of_key(key: &[u8], count: i32) -> PartitionIndex {
    PartitionIndex((murmur2(key) & i32::MAX) % count.max(1))
}

/// MurmurHash2 by Austin Appleby (public domain), with the seed that Kafka uses.
fn murmur2(bytes: &[u8]) -> i32 {
    const SEED: u32 = 0x9747_b28c;
    const M: u32 = 0x5bd1_e995;
    const R: u32 = 24;
    let mut hash = SEED ^ bytes.len() as u32;
    let (words, rest) = bytes.as_chunks::<4>();
    for word in words {
        let mut k = u32::from_le_bytes(*word).wrapping_mul(M);
        k ^= k >> R;
        hash = hash.wrapping_mul(M) ^ k.wrapping_mul(M);
    }
    if !rest.is_empty() {
        for (index, byte) in rest.iter().enumerate() {
            hash ^= u32::from(*byte) << (8 * index);
        }
        hash = hash.wrapping_mul(M);
    }
    hash ^= hash >> 13;
    hash = hash.wrapping_mul(M);
    (hash ^ (hash >> 15)) as i32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hashes_are_those_of_the_java_client() {
        // The values that Kafka's own tests of its hash expect.
        let known: [(&[u8], i32); 7] = [
            (b"21", -973_932_308),
            (b"foobar", -790_332_482),
            (b"a-little-bit-long-string", -985_981_536),
            (b"a-little-bit-longer-string", -1_486_304_829),
            (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58_897_971),
            (b"abc", 479_470_107),
            (b"", 275_646_681),
        ];
        for (key, hash) in known {
            assert_eq!(murmur2(key), hash, "{key:?}");
        }
        assert_eq!(of_key(b"abc", 10), PartitionIndex(7));
        assert!((0..7).contains(&of_key(b"21", 7).0));
    }
}
