//! When it is time to look, and what is to be said of the last looks.

use std::time::Duration;

use milepost_admin::Reason;

use super::looker::Ended;
use crate::commands::group::words;
use crate::palette::Tone;
use crate::table::Cell;

/// How long an answer may take before it is said that there is none.
const SILENCE: Duration = Duration::from_secs(3);

/// The looks. There is never more than one on the way.
#[derive(Debug)]
pub(super) struct Looks {
    interval: Duration,
    /// When the look began that is on the way.
    began: Option<Duration>,
    /// When the next one is due.
    next: Duration,
    /// When the last one ended that did not fail, and how long it took.
    last: Option<(Duration, Duration)>,
    /// What was wrong with the last one.
    wrong: Option<Reason>,
    pub(super) paused: bool,
}

impl Looks {
    pub(super) fn every(interval: Duration) -> Self {
        Self { interval, began: None, next: Duration::ZERO, last: None, wrong: None, paused: false }
    }

    /// Whether there was one that did not fail.
    pub(super) fn have_shown(&self) -> bool {
        self.last.is_some()
    }

    /// Whether one is to begin now because it is time.
    pub(super) fn is_due(&mut self, now: Duration) -> bool {
        !self.paused && now >= self.next && self.begin(now)
    }

    /// Whether one is to begin now because somebody wants it: not while another is on the way.
    pub(super) fn begin(&mut self, now: Duration) -> bool {
        if self.began.is_some() {
            return false;
        }
        self.began = Some(now);
        self.next = now + self.interval;
        true
    }

    pub(super) fn end(&mut self, now: Duration, ended: Result<&Ended, &Reason>) {
        let began = self.began.take().unwrap_or(now);
        match ended {
            Ok(ended) => {
                self.last = Some((now, now.saturating_sub(began)));
                self.wrong = ended.errors.first().cloned();
            }
            Err(reason) => {
                self.wrong = Some(reason.clone());
                self.next = now + self.interval;
            }
        }
    }

    /// The line that says how current the figures are.
    pub(super) fn status(&self, now: Duration) -> Cell {
        let age = match self.last {
            Some((ended, _)) => format!("the figures are {} old", span(now.saturating_sub(ended))),
            None => "there are no figures yet".to_owned(),
        };
        if let Some(reason) = &self.wrong {
            return Cell::toned(format!("{age}: {reason}"), Tone::Bad);
        }
        let silence = self.began.map(|began| now.saturating_sub(began)).filter(|silence| *silence >= SILENCE);
        if let Some(silence) = silence {
            return Cell::toned(format!("{age}: no answer for {}", span(silence)), Tone::Warning);
        }
        if self.paused {
            return Cell::toned(format!("paused; {age}"), Tone::Warning);
        }
        match self.last {
            Some((_, took)) => format!("the last look took {}", span(took)).into(),
            None => "looking …".into(),
        }
    }

    /// How often, for the title.
    pub(super) fn words(&self) -> String {
        if self.paused { "paused".to_owned() } else { format!("every {}", span(self.interval)) }
    }
}

fn span(span: Duration) -> String {
    words::duration(i64::try_from(span.as_millis()).unwrap_or(i64::MAX))
}
