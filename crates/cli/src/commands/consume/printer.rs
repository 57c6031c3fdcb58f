//! Writes records, counts them, and knows which offsets lie behind those that were written.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use milepost_client::groups::Committed;
use milepost_client::{Fetched, Moved, Polled, TopicPartition};

use super::template::Template;
use crate::failure::{self, Failure};
use crate::output::Output;

/// Whether more is wanted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Appetite {
    More,
    Enough,
}

/// Writes to standard output.
pub(super) struct Printer<'a> {
    template: &'a Template,
    output: Output,
    /// How many records are still wanted, if there is a bound.
    left: Option<u64>,
    /// What to commit behind what was written, since somebody last took it.
    written: BTreeMap<TopicPartition, Committed>,
}

impl<'a> Printer<'a> {
    pub(super) fn new(template: &'a Template, count: Option<u64>) -> Self {
        Self { template, output: Output::new(), left: count, written: BTreeMap::new() }
    }

    /// Writes what came, up to the bound, and flushes it: when it returns, whoever reads has it.
    pub(super) fn print(&mut self, polled: &Polled) -> Result<Appetite, Failure> {
        if self.output.is_abandoned() {
            return Err(Failure::NobodyReads);
        }
        polled.moved.iter().for_each(say_moved);
        let mut written = BTreeMap::new();
        for fetched in &polled.fetched {
            let appetite = self.write(fetched, &mut written)?;
            if appetite == Appetite::Enough {
                break;
            }
        }
        self.output.flush()?;
        // Only now: what lies in a buffer is not written.
        self.written.extend(written);
        Ok(if self.left == Some(0) { Appetite::Enough } else { Appetite::More })
    }

    fn write(
        &mut self,
        fetched: &Fetched,
        written: &mut BTreeMap<TopicPartition, Committed>,
    ) -> Result<Appetite, Failure> {
        let partition = fetched.partition();
        let ended = fetched.each(|record| {
            if self.left == Some(0) {
                return Ok(ControlFlow::Break(()));
            }
            self.output.write(|out| self.template.write(record, out))?;
            self.left = self.left.map(|left| left - 1);
            written.insert(partition.clone(), record.next());
            Ok::<_, Failure>(ControlFlow::Continue(()))
        })?;
        if ended.is_break() {
            return Ok(Appetite::Enough);
        }
        // Markers and records that compaction removed lie behind the last record too.
        written.insert(partition.clone(), fetched.next());
        Ok(Appetite::More)
    }

    /// What was written and flushed since this was last asked for, as what to commit of each partition.
    pub(super) fn take_written(&mut self) -> BTreeMap<TopicPartition, Committed> {
        std::mem::take(&mut self.written)
    }
}

fn say_moved(moved: &Moved) {
    failure::say(&format!(
        "{}: the records from {} to {} are no longer there; going on at {}",
        moved.partition,
        moved.from,
        moved.to.0 - 1,
        moved.to
    ));
}
