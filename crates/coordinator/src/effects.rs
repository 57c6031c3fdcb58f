//! What a shard wants done outside of it, held until what it rests on is durable.
//!
//! Unlike an answer an effect has nobody who could give up on it: it waits as long as the disk takes, and goes when the
//! shard is thrown away, which asks for it again once it is loaded.

use milepost_model::Offset;

pub(crate) struct Effects<E> {
    /// With the record each rests on, in the order in which they were asked for. There are no more of them than
    /// outcomes that wait for the disk, which the open tickets bound, and what one deadline may decide.
    held: Vec<(Offset, E)>,
    released: Vec<E>,
}

impl<E> Effects<E> {
    pub(crate) fn new() -> Self {
        Self { held: Vec::new(), released: Vec::new() }
    }

    /// Takes effects that rest on the record at `until`; `None`: on nothing that is not durable.
    pub(crate) fn add(&mut self, effects: Vec<E>, until: Option<Offset>) {
        match until {
            None => self.released.extend(effects),
            Some(until) => self.held.extend(effects.into_iter().map(|effect| (until, effect))),
        }
    }

    /// Lets go of what rests on records below the high watermark.
    pub(crate) fn release(&mut self, high_watermark: Offset) {
        self.released
            .extend(self.held.extract_if(.., |(until, _)| *until < high_watermark).map(|(_, effect)| effect));
    }

    /// The shard is gone, and with it what it asked for and may never have been written.
    pub(crate) fn drop_held(&mut self) {
        self.held.clear();
    }

    /// Hands over what may be done now.
    pub(crate) fn drain(&mut self) -> std::vec::Drain<'_, E> {
        self.released.drain(..)
    }
}
