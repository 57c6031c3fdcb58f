//! Asking a person before something is changed.

use std::io::{self, BufRead, IsTerminal, Write as _};

use milepost_client::Stop;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::io::Errno;

use crate::failure::Failure;
use crate::visible::visible;

/// How long is waited for an answer before looking whether it is still wanted.
const GLANCE: Timespec = Timespec { tv_sec: 0, tv_nsec: 50_000_000 };

/// Asks on the terminal, and takes nothing but `yes` for yes.
///
/// # Errors
/// A usage error where there is no terminal to ask on, and a failure with `otherwise` when the answer is another.
pub(crate) fn ask(question: &str, otherwise: &str, stop: &Stop) -> Result<(), Failure> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Usage(format!("{question} Say --yes, since there is no terminal to ask on")));
    }
    let unasked = |error: io::Error| Failure::Failed(format!("cannot ask on the terminal: {error}"));
    let mut stderr = io::stderr();
    write!(stderr, "{} Type yes: ", visible(question)).map_err(unasked)?;
    stderr.flush().map_err(unasked)?;
    // A signal that is caught does not end a read, so nothing is read before it is there.
    while !is_ready(&stdin).map_err(|error| unasked(error.into()))? {
        if stop.is_set() {
            writeln!(stderr).map_err(unasked)?;
            return Err(Failure::Stopped);
        }
    }
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(unasked)?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::Failed(otherwise.to_owned())),
    }
}

/// Whether a line is there, or the end.
fn is_ready(stdin: &io::Stdin) -> Result<bool, Errno> {
    let mut watched = [PollFd::new(stdin, PollFlags::IN)];
    match poll(&mut watched, Some(&GLANCE)) {
        Ok(ready) => Ok(ready > 0),
        // A signal, perhaps the one that is looked for.
        Err(Errno::INTR) => Ok(false),
        Err(error) => Err(error),
    }
}
