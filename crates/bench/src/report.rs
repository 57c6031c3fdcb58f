//! The figures as text: one line a figure, its name in front.

use std::fmt::Write;
use std::time::Duration;

use crate::generator::Shares;
use crate::tally::Tally;

/// What a subcommand found out.
#[derive(Debug)]
pub(crate) struct Report {
    /// For standard output.
    pub(crate) text: String,
    /// Whether the server answered with errors.
    pub(crate) server_errors: bool,
}

/// Adds a line.
pub(crate) fn line(text: &mut String, name: &str, figure: &str) {
    writeln!(text, "{name:<11} {figure}").expect("a string takes everything");
}

/// Adds a rate: so many a second.
pub(crate) fn rate(text: &mut String, name: &str, count: u64, time: Duration, what: &str) {
    let per_second = count as f64 / time.as_secs_f64();
    line(text, name, &format!("{per_second:.0} /s   ({count} in {:.2} s{what})", time.as_secs_f64()));
}

/// Adds what is said of any load: latency, errors, and the generator's own share.
pub(crate) fn load(text: &mut String, tally: &Tally, shares: Shares) {
    let latency = format!(
        "p50 {:.3} ms   p99 {:.3} ms   max {:.3} ms",
        tally.latency_ms(50.0),
        tally.latency_ms(99.0),
        tally.latency_ms(100.0)
    );
    line(text, "latency", &latency);
    let errors: Vec<String> =
        tally.errors().iter().map(|(code, count)| format!("{} × {count}", code.name())).collect();
    line(text, "errors", &if errors.is_empty() { "none".to_owned() } else { errors.join(", ") });
    let percent = |share: f64| format!("{:.0} %", share * 100.0);
    let queued = shares.queued.map_or_else(|| "unknown".to_owned(), percent);
    let generator = format!(
        "{} of one core, waiting for a core {queued}, waiting for the server {}",
        percent(shares.busy),
        percent(shares.idle())
    );
    line(text, "generator", &generator);
    if shares.is_limit() {
        line(text, "", "the generator itself is the limit: the server may be able to do more");
    }
}
