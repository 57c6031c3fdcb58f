//! Which leader epoch wrote which offsets of a partition.

use milepost_model::{LeaderEpoch, Offset};

/// One epoch and the first offset it wrote (or would have written).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EpochStart {
    /// The epoch.
    pub epoch: LeaderEpoch,
    /// Its first offset.
    pub start_offset: Offset,
}

/// The epochs of a partition; both numbers ascend strictly.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LeaderEpochs(Vec<EpochStart>);

impl LeaderEpochs {
    pub(crate) fn from_entries(entries: Vec<EpochStart>) -> Self {
        Self(entries)
    }

    pub(crate) fn entries(&self) -> &[EpochStart] {
        &self.0
    }

    /// Notes that `epoch` begins at `start_offset`. An epoch that is already the last changes nothing, an older one
    /// neither; epochs that wrote nothing before this one are dropped.
    pub(crate) fn assign(&mut self, epoch: LeaderEpoch, start_offset: Offset) {
        if self.0.last().is_some_and(|last| last.epoch >= epoch) {
            return;
        }
        while self.0.last().is_some_and(|last| last.start_offset >= start_offset) {
            self.0.pop();
        }
        self.0.push(EpochStart { epoch, start_offset });
    }

    /// The entries that have records below `end`.
    pub(crate) fn below(&self, end: Offset) -> &[EpochStart] {
        let count = self.0.partition_point(|entry| entry.start_offset < end);
        &self.0[..count]
    }

    /// Drops epochs that ended at or before the log start; the one that covers it stays, with its offset raised.
    pub(crate) fn cut_front(&mut self, log_start: Offset) {
        let covering = self.0.partition_point(|entry| entry.start_offset <= log_start);
        if covering > 1 {
            self.0.drain(..covering - 1);
        }
        if let Some(first) = self.0.first_mut() {
            first.start_offset = first.start_offset.max(log_start);
        }
    }

    /// The epoch that wrote the record at `offset`.
    pub(crate) fn epoch_at(&self, offset: Offset) -> Option<LeaderEpoch> {
        let count = self.0.partition_point(|entry| entry.start_offset <= offset);
        self.0[..count].last().map(|entry| entry.epoch)
    }

    /// The largest known epoch not above `epoch`, and where it ended; for the last epoch that is `end`. `None` above
    /// the last epoch or when none is known.
    pub(crate) fn end_offset_for(&self, epoch: LeaderEpoch, end: Offset) -> Option<(LeaderEpoch, Offset)> {
        let last = self.0.last()?;
        if epoch > last.epoch {
            return None;
        }
        if epoch == last.epoch {
            return Some((epoch, end));
        }
        let next = self.0.partition_point(|entry| entry.epoch <= epoch);
        let start_of_next = self.0[next].start_offset;
        // Kafka answers the asked epoch itself when it is older than everything known.
        let known = if next == 0 { epoch } else { self.0[next - 1].epoch };
        Some((known, start_of_next))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn epochs(entries: &[(i32, i64)]) -> LeaderEpochs {
        let mut all = LeaderEpochs::default();
        for (epoch, offset) in entries {
            all.assign(LeaderEpoch(*epoch), Offset(*offset));
        }
        all
    }

    #[test]
    fn an_epoch_that_wrote_nothing_is_replaced() {
        let all = epochs(&[(1, 0), (2, 10), (3, 10), (3, 15), (2, 20)]);
        let expected = [(1, 0), (3, 10)];
        let found: Vec<_> = all.entries().iter().map(|entry| (entry.epoch.0, entry.start_offset.0)).collect();
        assert_eq!(found, expected);
    }

    #[test]
    fn end_offsets_are_those_kafka_answers() {
        let all = epochs(&[(2, 0), (5, 10), (7, 25)]);
        let ask = |epoch| all.end_offset_for(LeaderEpoch(epoch), Offset(40)).map(|(e, o)| (e.0, o.0));
        assert_eq!(ask(1), Some((1, 0)));
        assert_eq!(ask(2), Some((2, 10)));
        assert_eq!(ask(4), Some((2, 10)));
        assert_eq!(ask(5), Some((5, 25)));
        assert_eq!(ask(6), Some((5, 25)));
        assert_eq!(ask(7), Some((7, 40)));
        assert_eq!(ask(8), None);
        assert_eq!(LeaderEpochs::default().end_offset_for(LeaderEpoch(0), Offset(0)), None);
    }

    #[test]
    fn the_front_keeps_the_entry_that_covers_the_log_start() {
        let mut all = epochs(&[(1, 0), (2, 10), (3, 20)]);
        all.cut_front(Offset(15));
        assert_eq!(all, epochs(&[(2, 15), (3, 20)]));
        assert_eq!(all.epoch_at(Offset(14)), None);
        assert_eq!(all.epoch_at(Offset(19)), Some(LeaderEpoch(2)));
        assert_eq!(all.below(Offset(20)), epochs(&[(2, 15)]).entries());
    }
}
