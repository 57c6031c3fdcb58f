//! After a start: everything that was ever acknowledged or shown must be there.

use crate::check::{Checked, Violation, promise};
use crate::oracle::PartitionKey;
use crate::world::{GROUPS, Question, VERIFIER, World};

/// How often the node may be stepped for one answer that waits for nothing but the disk.
const STEPS_MAX: usize = 500;
/// How often the node may be stepped until it has loaded everything.
const LOAD_STEPS_MAX: usize = 10_000;
/// Small, so that a partition is read in pieces.
const READ_BYTES: i32 = 3000;

/// Whether something was seen to its end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Wholly,
    /// The power went.
    Interrupted,
}

/// Leaves the function when the power went.
macro_rules! or_interrupted {
    ($seen:expr) => {
        if $seen? == Seen::Interrupted {
            return Ok(Seen::Interrupted);
        }
    };
}

impl World {
    /// Holds a node that just started against everything that is known.
    pub(crate) fn verify_after_start(&mut self) -> Checked<Seen> {
        or_interrupted!(self.load());
        self.ask_metadata(VERIFIER)?;
        or_interrupted!(self.wait_for_answers());
        let Some(listed) = self.listed.take() else {
            return Err(Violation::new("Metadata was answered without topics".to_owned()));
        };
        self.oracle.topics.listed_after_start(&listed)?;
        self.ask_settled_members()?;
        or_interrupted!(self.wait_for_answers());
        for topic in self.oracle.topics.existing() {
            for index in 0..self.oracle.topics.get(topic).partitions {
                or_interrupted!(self.read_whole(PartitionKey { topic, index }));
            }
        }
        for group in 0..GROUPS {
            or_interrupted!(self.check_offsets(group));
        }
        Ok(Seen::Wholly)
    }

    /// Lets the node load until it has nothing to do.
    fn load(&mut self) -> Checked<Seen> {
        for _ in 0..LOAD_STEPS_MAX {
            if !self.has_power() {
                return Ok(Seen::Interrupted);
            }
            if !self.step() && self.may_send(VERIFIER) {
                return Ok(Seen::Wholly);
            }
        }
        Err(Violation::new("a node that was started does not get ready".to_owned()))
    }

    fn wait_for_answers(&mut self) -> Checked<Seen> {
        for _ in 0..STEPS_MAX {
            self.collect()?;
            if self.in_flight(VERIFIER) == 0 {
                return Ok(Seen::Wholly);
            }
            if !self.has_power() {
                return Ok(Seen::Interrupted);
            }
            self.step();
            self.pass_ms(1);
        }
        Err(Violation::new("an answer does not come".to_owned()))
    }

    fn read_whole(&mut self, partition: PartitionKey) -> Checked<Seen> {
        self.oracle.logs.begin_whole_read(partition);
        let mut from = 0;
        loop {
            self.fetch(VERIFIER, partition, from, 0, READ_BYTES)?;
            or_interrupted!(self.wait_for_answers());
            let Some(next) = self.reading.next else {
                promise!(!self.has_power(), "{partition:?} cannot be read from {from}");
                return Ok(Seen::Interrupted);
            };
            if next >= self.reading.end {
                self.oracle.logs.end_whole_read(partition, next)?;
                return Ok(Seen::Wholly);
            }
            promise!(next > from, "{partition:?}: nothing at {from}, and the end is {}", self.reading.end);
            from = next;
        }
    }

    fn check_offsets(&mut self, group: usize) -> Checked<Seen> {
        for question in Question::ALL {
            self.ask_offsets(VERIFIER, group, question)?;
            or_interrupted!(self.wait_for_answers());
            for (key, offset) in self.fetched_offsets.clone() {
                self.oracle.offsets.settle_after_start(key, offset);
            }
        }
        Ok(Seen::Wholly)
    }
}
