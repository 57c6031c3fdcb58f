//! Reading as a member of a group. What was written to standard output and flushed is committed, nothing else.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use milepost_client::Polled;
use milepost_client::offsets;
use milepost_client::start::Start;
use milepost_client::{
    ClientError, Cluster, CommitOutcome, GroupEvent, GroupMember, GroupOptions, Isolation, ResetPolicy,
    TopicPartition, explain,
};
use milepost_model::Offset;

use super::Consume;
use super::printer::{Appetite, Printer};
use crate::failure::{self, Failure};

/// How long to wait for records before looking at the group again.
const WAIT: Duration = Duration::from_millis(500);
/// How often is committed while records come.
const COMMIT_INTERVAL: Duration = Duration::from_secs(1);
/// How long the last commit and the leaving may take.
const FINISH: Duration = Duration::from_secs(5);

/// A member at work.
struct Work<'a> {
    consume: &'a Consume,
    cluster: Cluster,
    member: GroupMember,
    printer: Printer<'a>,
    /// Where this member's partitions ended when it got them, if that is where to stop.
    ends: BTreeMap<TopicPartition, Offset>,
    committed_at: Instant,
}

pub(super) fn run(consume: &Consume, group: &str) -> Result<(), Failure> {
    let reset = match consume.from {
        Start::Earliest => ResetPolicy::Earliest,
        Start::Latest => ResetPolicy::Latest,
        _ => {
            return Err(Failure::Usage(
                "with --group, --from is earliest or latest: the group's committed offsets say where to begin".to_owned(),
            ));
        }
    };
    let mut cluster = consume.cluster.connect()?;
    let options = GroupOptions { reset, isolation: consume.isolation.into(), ..GroupOptions::new(group) };
    let member = GroupMember::new(&mut cluster, options, &consume.topics)?;
    let printer = Printer::new(&consume.format, consume.count);
    let mut work =
        Work { consume, cluster, member, printer, ends: BTreeMap::new(), committed_at: Instant::now() };
    let outcome = match work.go_on_until_done() {
        Err(Failure::Stopped) => consume.stopped(),
        outcome => outcome,
    };
    // However it ended, what was written is committed, and the others need not wait for this member's session to end.
    let finished = work.finish();
    outcome.and(finished)
}

impl Work<'_> {
    fn go_on_until_done(&mut self) -> Result<(), Failure> {
        loop {
            match self.member.poll(&mut self.cluster, WAIT)? {
                GroupEvent::Records(polled) => {
                    if self.take(&polled)? == Appetite::Enough {
                        return Ok(());
                    }
                }
                GroupEvent::Assigned(positions) => self.note_ends(&positions)?,
                GroupEvent::Rebalancing => self.commit()?,
                GroupEvent::Lost(code) => {
                    self.printer.take_written();
                    failure::say(&format!(
                        "the group has gone on without this member, which joins again; what it had not committed is \
                         read again: {}",
                        explain(code, None)
                    ));
                }
            }
        }
    }

    fn take(&mut self, polled: &Polled) -> Result<Appetite, Failure> {
        let appetite = self.printer.print(polled)?;
        if self.committed_at.elapsed() >= COMMIT_INTERVAL {
            self.commit()?;
        }
        let at_end = self.consume.until_end && self.member.has_reached(&self.ends);
        Ok(if at_end { Appetite::Enough } else { appetite })
    }

    fn note_ends(&mut self, positions: &BTreeMap<TopicPartition, Offset>) -> Result<(), Failure> {
        if self.consume.until_end {
            let asked = positions
                .keys()
                .map(|one| (one.clone(), Isolation::from(self.consume.isolation).end()))
                .collect();
            let ends = offsets::list(&mut self.cluster, &asked)?;
            self.ends = ends.into_iter().filter_map(|(one, end)| Some((one, end?))).collect();
        }
        Ok(())
    }

    fn commit(&mut self) -> Result<(), Failure> {
        self.committed_at = Instant::now();
        let written = self.printer.take_written();
        match self.member.commit(&mut self.cluster, &written)? {
            CommitOutcome::Stored => {}
            CommitOutcome::Fenced(code) => failure::say(&format!(
                "what was read last is not committed, and is read again: {}",
                explain(code, None)
            )),
        }
        Ok(())
    }

    fn finish(mut self) -> Result<(), Failure> {
        self.cluster.finish_within(FINISH);
        let committed = self.commit();
        let left = self.member.leave(&mut self.cluster);
        committed?;
        match left {
            // The session then runs out by itself.
            Err(ClientError::Refused { .. }) | Ok(()) => Ok(()),
            Err(error) => Err(error.into()),
        }
    }
}
