//! Identifiers and counters. One type each, so that a signature never holds two bare integers.

use std::fmt;

/// A position in a partition's log: the number of the record there. Never negative.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Offset(pub i64);

impl Offset {
    /// The first position of every log.
    pub const ZERO: Self = Self(0);

    /// The position `count` records further on.
    #[must_use]
    pub const fn plus(self, count: i64) -> Self {
        Self(self.0 + count)
    }
}

impl fmt::Display for Offset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The number of a partition within its topic, from 0.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PartitionIndex(pub i32);

impl fmt::Display for PartitionIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The identity of a topic, kept when a topic of the same name is deleted and created again.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicId(pub [u8; 16]);

impl TopicId {
    /// "No topic" where a format has a field that must be there.
    pub const ZERO: Self = Self([0; 16]);

    /// Whether this is the value that means "none".
    #[must_use]
    pub fn is_zero(self) -> bool {
        self == Self::ZERO
    }
}

impl fmt::Display for TopicId {
    /// Kafka's text form: base64 with the URL alphabet and no padding, 22 characters.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
        let bits = u128::from_be_bytes(self.0);
        for index in 0..22 {
            let shift = 122 - 6 * index;
            let sextet = if shift >= 0 { bits >> shift } else { bits << -shift };
            write!(f, "{}", char::from(ALPHABET[(sextet & 63) as usize]))?;
        }
        Ok(())
    }
}

/// The text is not Kafka's form of a topic's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NotATopicId;

impl std::str::FromStr for TopicId {
    type Err = NotATopicId;

    /// Reads what [`fmt::Display`] writes.
    fn from_str(text: &str) -> Result<Self, NotATopicId> {
        let sextet = |byte: u8| match byte {
            b'A'..=b'Z' => Some(byte - b'A'),
            b'a'..=b'z' => Some(byte - b'a' + 26),
            b'0'..=b'9' => Some(byte - b'0' + 52),
            b'-' => Some(62),
            b'_' => Some(63),
            _ => None,
        };
        if text.len() != 22 {
            return Err(NotATopicId);
        }
        let mut bits: u128 = 0;
        for (index, byte) in text.bytes().enumerate() {
            let value = u128::from(sextet(byte).ok_or(NotATopicId)?);
            // The last character carries the two bits that are left.
            bits = if index == 21 { bits << 2 | value >> 4 } else { bits << 6 | value };
        }
        Ok(Self(bits.to_be_bytes()))
    }
}

/// One partition of one topic, by the topic's identity.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TopicPartition {
    /// The topic.
    pub topic: TopicId,
    /// The partition of it.
    pub partition: PartitionIndex,
}

impl fmt::Display for TopicPartition {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}-{}", self.topic, self.partition)
    }
}

/// The epoch of a partition's leader. On one node it is the node's epoch, one higher at each start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LeaderEpoch(pub i32);

/// The generation of a classic group: one higher at each completed rebalance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Generation(pub i32);

impl Generation {
    /// The generation after this one; it wraps to 0 rather than becoming negative.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0.checked_add(1).unwrap_or(0))
    }
}

/// The number of a producer, unique in a cluster and never reused.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerId(pub i64);

/// How often a producer of one id was started again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerEpoch(pub i16);

/// A producer at one of its epochs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ProducerIdentity {
    /// The producer.
    pub id: ProducerId,
    /// Its epoch.
    pub epoch: ProducerEpoch,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn topic_ids_print_as_kafka_prints_them() {
        assert_eq!(TopicId::ZERO.to_string(), "AAAAAAAAAAAAAAAAAAAAAA");
        assert_eq!(TopicId([0xff; 16]).to_string(), "_____________________w");
    }

    #[test]
    fn what_is_printed_is_read_again() {
        for id in [TopicId::ZERO, TopicId([0xff; 16]), TopicId(*b"0123456789abcdef")] {
            assert_eq!(id.to_string().parse(), Ok(id));
        }
        for bad in ["", "AAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAAAA", "AAAAAAAAAAAAAAAAAAAAA+"] {
            assert_eq!(bad.parse::<TopicId>(), Err(NotATopicId));
        }
    }
}
