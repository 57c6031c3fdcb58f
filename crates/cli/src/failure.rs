//! Why a command ended without having done what it was told, and how that is said.

use std::io::{self, Write as _};
use std::process::ExitCode;

use milepost_admin::{Cause, Reason};
use milepost_client::ClientError;
use milepost_doctor::Severity;

use crate::exit_code;
use crate::visible::{visible, visible_lines};

/// A reason. Each kind has an exit code of its own.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The flags contradict each other, or say something that is none of what can be said.
    Usage(String),
    /// It could not be done.
    Failed(String),
    /// The cluster cannot be reached or does not answer.
    Unreachable(String),
    /// It was done, and what was looked for was found, the worst of it this bad.
    Found(Severity),
    /// A signal came first.
    Stopped,
    /// Whoever read standard output has gone. That is their way of saying that they have enough.
    NobodyReads,
}

impl From<ClientError> for Failure {
    fn from(error: ClientError) -> Self {
        match error {
            ClientError::Stopped => Self::Stopped,
            ClientError::BadAddress { .. } | ClientError::Tls(_) => Self::Usage(error.to_string()),
            error if error.is_connection() => Self::Unreachable(error.to_string()),
            error => Self::Failed(error.to_string()),
        }
    }
}

impl From<Reason> for Failure {
    fn from(reason: Reason) -> Self {
        match reason.cause {
            Cause::Unreachable => Self::Unreachable(reason.words),
            Cause::Refused(_) | Cause::Other => Self::Failed(reason.words),
        }
    }
}

impl Failure {
    /// Some of what was asked for could not be done. Every reason is said; the last of them decides the exit code.
    pub(crate) fn of_some(refused: Vec<ClientError>) -> Result<(), Self> {
        let mut outcome = Ok(());
        for error in refused {
            let before = std::mem::replace(&mut outcome, Err(Self::from(error)));
            if let Err(Self::Failed(reason) | Self::Unreachable(reason)) = before {
                say(&reason);
            }
        }
        outcome
    }

    /// As [`Failure::of_some`], for reasons that are told apart only by their words.
    pub(crate) fn of_reasons(reasons: Vec<Reason>) -> Result<(), Self> {
        let mut outcome = Ok(());
        for reason in reasons {
            if let Err(Self::Failed(words) | Self::Unreachable(words)) =
                std::mem::replace(&mut outcome, Err(Self::from(reason)))
            {
                say(&words);
            }
        }
        outcome
    }

    /// A stop came in between. What is not done, or may not be, is said.
    pub(crate) fn stopped_because(reasons: &[Reason]) -> Self {
        reasons.iter().for_each(|reason| say(&reason.words));
        Self::Stopped
    }

    /// A write to standard output that failed.
    pub(crate) fn output(error: &io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::BrokenPipe => Self::NobodyReads,
            _ => Self::Failed(format!("cannot write to standard output: {error}")),
        }
    }
}

/// Says the reason, if there is one to say, and gives the exit code.
pub(crate) fn exit(outcome: Result<(), Failure>) -> ExitCode {
    let (message, code) = match outcome {
        Ok(()) | Err(Failure::NobodyReads) => return exit_code::SUCCESS,
        Err(Failure::Stopped) => return exit_code::stopped(),
        Err(Failure::Found(worst)) => return exit_code::found(worst),
        Err(Failure::Usage(message)) => {
            // Where a configuration file is wrong is shown below it.
            say_written(&visible_lines(&message));
            return exit_code::bad_configuration();
        }
        Err(Failure::Failed(message)) => (message, exit_code::failure()),
        Err(Failure::Unreachable(message)) => (message, exit_code::unreachable()),
    };
    say(&message);
    code
}

/// A line on standard error that the next one is written over, for progress on a terminal.
pub(crate) fn say_over(message: &str) {
    let _ = write!(io::stderr(), "\rmilepost: {}", visible(message));
}

/// Ends such a line.
pub(crate) fn end_line() {
    let _ = writeln!(io::stderr());
}

/// A line on standard error.
pub(crate) fn say(message: &str) {
    say_written(&visible(message));
}

/// A line on standard error, and below it a table or what else was made for people.
pub(crate) fn say_above(message: &str, made: &str) {
    say_written(&format!("{}\n{made}", visible(message)));
}

/// If nobody can read it there is nobody left to tell.
fn say_written(text: &str) {
    let _ = writeln!(io::stderr(), "milepost: {text}");
}
