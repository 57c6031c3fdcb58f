//! Looks at the cluster, in a thread of its own for as long as the screen is there.

use std::sync::mpsc::{Receiver, Sender, SyncSender, TryRecvError, channel, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

use milepost_admin::collect::{self, Detail, GROUPS_AT_ONCE};
use milepost_admin::plan::Presence;
use milepost_admin::watch::Coverage;
use milepost_admin::{GroupFacts, Reason, TopicFilter};
use milepost_client::{ClientError, Cluster};

use crate::commands::group::select::Selection;
use crate::commands::group::silent::Silent;
use crate::failure::Failure;

/// How many groups are watched at most: what is kept of so many still fits beside other programs.
const GROUPS_MAX: usize = 50_000;
/// How many parts of a look wait to be taken in; the thread waits before it asks for another.
const PARTS_WAITING_MAX: usize = 2;

/// What is looked at.
#[derive(Clone, Debug)]
pub(super) struct Subject {
    pub(super) selection: Selection,
    pub(super) topics: Vec<TopicFilter>,
}

/// How a look ended that did not fail: whether it showed every group, and what else was wrong.
#[derive(Debug)]
pub(super) struct Ended {
    pub(super) coverage: Coverage,
    pub(super) errors: Vec<Reason>,
}

/// What a look says.
#[derive(Debug)]
pub(super) enum Said {
    /// Of some of the groups.
    Part { at: Duration, groups: Vec<GroupFacts> },
    /// That it is over.
    End(Result<Ended, Reason>),
}

/// Looks once. Hands the groups over by some hundred, with the time at which these were asked about.
pub(super) fn look(
    cluster: &mut Cluster,
    subject: &Subject,
    begin: Instant,
    mut each: impl FnMut(Duration, Vec<GroupFacts>),
) -> Result<Ended, ClientError> {
    let (mut names, refused) = subject.selection.names_or_all(cluster)?;
    let coverage = if refused.is_empty() { Coverage::Whole } else { Coverage::Partial };
    let mut errors: Vec<Reason> = refused.iter().map(Reason::from).collect();
    if names.len() > GROUPS_MAX {
        errors.push(Reason::other(format!(
            "of {} groups only the first {GROUPS_MAX} are watched; --match chooses others",
            names.len()
        )));
        names.truncate(GROUPS_MAX);
    }
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let mut silent = Silent::default();
    for part in names.chunks(GROUPS_AT_ONCE) {
        let at = begin.elapsed();
        let mut groups = collect::groups(cluster, part, Detail::Members)?;
        if subject.selection.is_by_name() {
            let absent = groups.iter().filter(|group| {
                group.partitions.is_empty() && Presence::of(group.description.as_ref()) == Presence::Absent
            });
            errors.extend(absent.map(|group| Reason::no_such_group(&group.group)));
        }
        for group in &mut groups {
            silent.note_whole(group);
            group.partitions.retain(|one| {
                subject.topics.is_empty() || subject.topics.iter().any(|topic| topic.takes(&one.partition))
            });
        }
        each(at, groups);
    }
    errors.extend(silent.reasons());
    Ok(Ended { coverage, errors })
}

/// The thread.
pub(super) struct Looker {
    wanted: Sender<()>,
    said: Receiver<Said>,
}

impl Looker {
    /// Starts it; it looks only when told to. It ends when this is dropped or the cluster's stop is set.
    pub(super) fn start(cluster: Cluster, subject: Subject, begin: Instant) -> Self {
        let (wanted, wants) = channel();
        let (says, said) = sync_channel(PARTS_WAITING_MAX);
        thread::spawn(move || serve(cluster, &subject, begin, &wants, &says));
        Self { wanted, said }
    }

    /// Asks for a look. Whoever asks waits for its end before the next.
    pub(super) fn ask(&self) {
        // If the thread has ended, the next call of `said` says so.
        let _ = self.wanted.send(());
    }

    /// What it has to say, if it has.
    pub(super) fn said(&self) -> Result<Option<Said>, Failure> {
        match self.said.try_recv() {
            Ok(said) => Ok(Some(said)),
            Err(TryRecvError::Empty) => Ok(None),
            Err(TryRecvError::Disconnected) => {
                Err(Failure::Failed("the thread that looks at the cluster has ended".to_owned()))
            }
        }
    }
}

fn serve(
    mut cluster: Cluster,
    subject: &Subject,
    begin: Instant,
    wants: &Receiver<()>,
    says: &SyncSender<Said>,
) {
    while wants.recv().is_ok() {
        let ended = look(&mut cluster, subject, begin, |at, groups| {
            // Nobody listens any more once the screen is gone.
            let _ = says.send(Said::Part { at, groups });
        });
        if says.send(Said::End(ended.map_err(Reason::from))).is_err() {
            return;
        }
    }
}
