//! How far long work has come, on standard error, for people at a terminal.

use indicatif::{ProgressBar, ProgressStyle};

/// A bar. It goes when it is dropped.
pub(crate) struct Progress(ProgressBar);

impl Progress {
    /// For that many steps. Where standard error is no terminal nothing is ever shown.
    pub(crate) fn new(what: &'static str, steps: usize) -> Self {
        let bar = ProgressBar::new(u64::try_from(steps).unwrap_or(u64::MAX)).with_message(what);
        let style = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} {eta}");
        Self(style.map_or(bar.clone(), |style| bar.with_style(style)))
    }

    /// So many steps more are done.
    pub(crate) fn advance(&self, steps: usize) {
        self.0.inc(u64::try_from(steps).unwrap_or(u64::MAX));
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        self.0.finish_and_clear();
    }
}
