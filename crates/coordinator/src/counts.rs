//! What outcomes amount to, held until it is true: a write that never became durable did not happen (KAFKA-12660).

use std::collections::VecDeque;

use milepost_model::{Counts, Offset};

pub(crate) struct HeldCounts<C> {
    /// With the record each rests on, in the order of the log; one for each batch on its way to the disk.
    held: VecDeque<(Offset, C)>,
    counted: C,
}

impl<C: Counts> HeldCounts<C> {
    pub(crate) fn new() -> Self {
        Self { held: VecDeque::new(), counted: C::default() }
    }

    /// Takes what rests on the record at `until`; `None`: on nothing that is not durable. What rests on one batch, which
    /// begins at `batch_base`, becomes true together.
    pub(crate) fn add(&mut self, counts: C, until: Option<Offset>, batch_base: Offset) {
        if counts.is_empty() {
            return;
        }
        match (until, self.held.back_mut()) {
            (None, _) => self.counted.add(counts),
            (Some(until), Some((last, held))) if *last >= batch_base => {
                *last = until.max(*last);
                held.add(counts);
            }
            (Some(until), _) => self.held.push_back((until, counts)),
        }
    }

    /// Counts what rests on records below the high watermark.
    pub(crate) fn release(&mut self, high_watermark: Offset) {
        while let Some((_, counts)) = self.held.pop_front_if(|(until, _)| *until < high_watermark) {
            self.counted.add(counts);
        }
    }

    /// The shard is gone, and with it what may never have been written.
    pub(crate) fn drop_held(&mut self) {
        self.held.clear();
    }

    /// Hands over what was counted since the last call.
    pub(crate) fn take(&mut self) -> C {
        std::mem::take(&mut self.counted)
    }
}
