//! Producer ids: handed out from blocks that the metadata log reserved, so that none is ever given twice.
//!
//! A block is durable before its first id leaves; what a crash leaves unused of it is lost, never reused.

use milepost_model::{Offset, ProducerId};

/// Ids in a block, as in Kafka.
pub(crate) const BLOCK_LENGTH: i64 = 1000;

/// The ids that may be handed out now.
#[derive(Debug, Default)]
pub(crate) struct ProducerIds {
    next: i64,
    end: i64,
    /// The metadata record that the next block waits for.
    reserving: Option<Offset>,
}

impl ProducerIds {
    /// The next id, if the block has one.
    pub(crate) fn take(&mut self) -> Option<ProducerId> {
        (self.next < self.end).then(|| {
            self.next += 1;
            ProducerId(self.next - 1)
        })
    }

    /// The record of a block that is on its way.
    pub(crate) fn reserving(&self) -> Option<Offset> {
        self.reserving
    }

    /// A block was asked for in this record.
    pub(crate) fn begin_reserving(&mut self, record: Offset) {
        self.reserving = Some(record);
    }

    /// The block that ends before `end` is durable.
    pub(crate) fn reserved(&mut self, end: ProducerId) {
        self.next = end.0 - BLOCK_LENGTH;
        self.end = end.0;
        self.reserving = None;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_id_is_given_twice_and_none_before_its_block_is_durable() {
        let mut ids = ProducerIds::default();
        assert_eq!(ids.take(), None);
        ids.begin_reserving(Offset(7));
        assert_eq!((ids.take(), ids.reserving()), (None, Some(Offset(7))), "the block is not durable yet");
        ids.reserved(ProducerId(3000));
        let given: Vec<i64> = std::iter::from_fn(|| ids.take()).map(|id| id.0).collect();
        assert_eq!(given, (2000..3000).collect::<Vec<_>>());
        assert_eq!(ids.reserving(), None);
    }
}
