//! What a transactional id is doing: its producer, its state, and the partitions of its transaction.

use milepost_model::{PartitionIndex, ProducerEpoch, ProducerId, ProducerIdentity, Timestamp};

use crate::bytes::{
    Format, Reader, Tag, put_i16, put_i32, put_i64, put_length, put_string, put_unsigned_varint,
};
use crate::{DecodeError, EncodeError};

const PREVIOUS_PRODUCER_ID_TAG: u32 = 0;
const NEXT_PRODUCER_ID_TAG: u32 = 1;
const CLIENT_TRANSACTION_VERSION_TAG: u32 = 2;

/// The version of a value. Which one is written follows from the cluster's feature `transaction.version`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum ValueVersion {
    /// Without tags: neither other producer ids nor the client's transaction version.
    V0,
    /// Since Kafka 4.0, from `transaction.version` 1 on.
    V1,
}

/// The state of a transactional id, under Kafka's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum TransactionStatus {
    /// It has a producer and no transaction.
    Empty,
    /// A transaction is open.
    Ongoing,
    /// The transaction is committed, its markers are on their way.
    PrepareCommit,
    /// The transaction is aborted, its markers are on their way.
    PrepareAbort,
    /// The last transaction was committed, markers and all.
    CompleteCommit,
    /// The last transaction was aborted, markers and all.
    CompleteAbort,
    /// It is being removed. Kafka never writes it.
    Dead,
    /// Its producer is being fenced. Kafka never writes it.
    PrepareEpochFence,
}

impl TransactionStatus {
    /// Every state, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::Empty,
        Self::Ongoing,
        Self::PrepareCommit,
        Self::PrepareAbort,
        Self::CompleteCommit,
        Self::CompleteAbort,
        Self::Dead,
        Self::PrepareEpochFence,
    ];

    fn from_number(number: i8) -> Option<Self> {
        Self::ALL.get(usize::try_from(number).ok()?).copied()
    }

    fn number(self) -> u8 {
        self as u8
    }

    /// Kafka's name of it.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Empty => "Empty",
            Self::Ongoing => "Ongoing",
            Self::PrepareCommit => "PrepareCommit",
            Self::PrepareAbort => "PrepareAbort",
            Self::CompleteCommit => "CompleteCommit",
            Self::CompleteAbort => "CompleteAbort",
            Self::Dead => "Dead",
            Self::PrepareEpochFence => "PrepareEpochFence",
        }
    }
}

/// What a transactional id is doing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TransactionValue<'a> {
    /// The producer that may act for it.
    pub producer: ProducerIdentity,
    /// The producer id before the last change, from version 1 on. A record that changes nothing about the producer
    /// id repeats it here.
    pub previous_producer_id: Option<ProducerId>,
    /// The producer id that follows when the transaction is complete, from version 1 on.
    pub next_producer_id: Option<ProducerId>,
    /// How long a transaction may take, in milliseconds; the largest number for one of a two-phase commit, which may
    /// take for ever.
    pub timeout_ms: i32,
    /// The state.
    pub status: TransactionStatus,
    /// The partitions of the transaction, topic by topic in any order; `None` in the state Empty.
    pub partitions: Option<Vec<TopicPartitions<'a>>>,
    /// When this was written, by the coordinator's wall clock.
    pub last_update_timestamp: Timestamp,
    /// When the transaction began, by the coordinator's wall clock; `None` without one.
    pub start_timestamp: Option<Timestamp>,
    /// The client's transaction version (KIP-890), from version 1 on; before that it can only be 0.
    pub client_transaction_version: i16,
}

/// Some partitions of a topic.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TopicPartitions<'a> {
    /// The topic's name.
    pub topic: &'a str,
    /// The partitions.
    pub partitions: Vec<PartitionIndex>,
}

impl<'a> TransactionValue<'a> {
    /// Reads a value, versions 0 and 1.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`], or what is malformed.
    pub fn decode(value: &'a [u8]) -> Result<Self, DecodeError> {
        let mut reader = Reader::new(value);
        let format = match reader.i16("the version")? {
            0 => Format::Plain,
            1 => Format::Flexible,
            version => {
                return Err(DecodeError::UnsupportedVersion { record: "TransactionLogValue", version });
            }
        };
        let mut value = Self::read(&mut reader, format)?;
        if format == Format::Flexible {
            reader.tagged_fields(|tag, field| value.read_tag(tag, field))?;
        }
        reader.finish()?;
        Ok(value)
    }

    fn read(reader: &mut Reader<'a>, format: Format) -> Result<Self, DecodeError> {
        let id = ProducerId(reader.i64("producerId")?);
        Ok(Self {
            producer: ProducerIdentity { id, epoch: ProducerEpoch(reader.i16("producerEpoch")?) },
            previous_producer_id: None,
            next_producer_id: None,
            timeout_ms: reader.i32("transactionTimeoutMs")?,
            status: TransactionStatus::from_number(reader.i8("transactionStatus")?)
                .ok_or(DecodeError::InvalidValue("transactionStatus"))?,
            partitions: read_partitions(reader, format)?,
            last_update_timestamp: Timestamp(reader.i64("transactionLastUpdateTimestampMs")?),
            start_timestamp: Some(reader.i64("transactionStartTimestampMs")?)
                .filter(|&time| time != -1)
                .map(Timestamp),
            client_transaction_version: 0,
        })
    }

    fn read_tag(&mut self, tag: u32, field: &mut Reader<'a>) -> Result<Tag, DecodeError> {
        let id = |id: i64| (id != -1).then_some(ProducerId(id));
        match tag {
            PREVIOUS_PRODUCER_ID_TAG => self.previous_producer_id = id(field.i64("previousProducerId")?),
            NEXT_PRODUCER_ID_TAG => self.next_producer_id = id(field.i64("nextProducerId")?),
            CLIENT_TRANSACTION_VERSION_TAG => {
                self.client_transaction_version = field.i16("clientTransactionVersion")?;
            }
            _ => return Ok(Tag::Unknown),
        }
        Ok(Tag::Known)
    }

    /// Appends the value's bytes. Version 0 has no room for other producer ids and the client's transaction version,
    /// and drops them.
    ///
    /// # Errors
    /// [`EncodeError::TooLong`] when the name of a topic does not fit (version 0 only).
    pub fn encode(&self, version: ValueVersion, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        let (number, format) = match version {
            ValueVersion::V0 => (0, Format::Plain),
            ValueVersion::V1 => (1, Format::Flexible),
        };
        put_i16(out, number);
        put_i64(out, self.producer.id.0);
        put_i16(out, self.producer.epoch.0);
        put_i32(out, self.timeout_ms);
        out.push(self.status.number());
        put_length(out, format, self.partitions.as_ref().map(Vec::len), "transactionPartitions")?;
        for topic in self.partitions.iter().flatten() {
            topic.put(format, out)?;
        }
        put_i64(out, self.last_update_timestamp.0);
        put_i64(out, self.start_timestamp.map_or(-1, |time| time.0));
        if format == Format::Flexible {
            self.put_tags(out);
        }
        Ok(())
    }

    fn put_tags(&self, out: &mut Vec<u8>) {
        let ids = [
            (PREVIOUS_PRODUCER_ID_TAG, self.previous_producer_id),
            (NEXT_PRODUCER_ID_TAG, self.next_producer_id),
        ];
        let ids = ids.into_iter().filter_map(|(tag, id)| Some((tag, id?)));
        let version = Some(self.client_transaction_version).filter(|&version| version != 0);
        put_unsigned_varint(out, ids.clone().count() as u32 + u32::from(version.is_some()));
        for (tag, id) in ids {
            put_unsigned_varint(out, tag);
            put_unsigned_varint(out, 8);
            put_i64(out, id.0);
        }
        if let Some(version) = version {
            put_unsigned_varint(out, CLIENT_TRANSACTION_VERSION_TAG);
            put_unsigned_varint(out, 2);
            put_i16(out, version);
        }
    }
}

fn read_partitions<'a>(
    reader: &mut Reader<'a>,
    format: Format,
) -> Result<Option<Vec<TopicPartitions<'a>>>, DecodeError> {
    let Some(count) = reader.nullable_array_length(format, "transactionPartitions")? else {
        return Ok(None);
    };
    let mut topics = Vec::new();
    for _ in 0..count {
        let topic = reader.string(format, "topic")?;
        let mut partitions = Vec::new();
        for _ in 0..reader.array_length(format, "partitionIds")? {
            partitions.push(PartitionIndex(reader.i32("partitionIds")?));
        }
        if format == Format::Flexible {
            reader.unknown_tagged_fields()?;
        }
        topics.push(TopicPartitions { topic, partitions });
    }
    Ok(Some(topics))
}

impl TopicPartitions<'_> {
    fn put(&self, format: Format, out: &mut Vec<u8>) -> Result<(), EncodeError> {
        put_string(out, format, self.topic, "topic")?;
        put_length(out, format, Some(self.partitions.len()), "partitionIds")?;
        self.partitions.iter().for_each(|partition| put_i32(out, partition.0));
        if format == Format::Flexible {
            put_unsigned_varint(out, 0);
        }
        Ok(())
    }
}
