//! Asking a person before something is changed.

use std::io::{self, BufRead, IsTerminal, Write as _};

use crate::failure::Failure;
use crate::visible::visible;

/// Asks on the terminal, and takes nothing but `yes` for yes.
///
/// # Errors
/// A usage error where there is no terminal to ask on, and a failure with `otherwise` when the answer is another.
pub(crate) fn ask(question: &str, otherwise: &str) -> Result<(), Failure> {
    let stdin = io::stdin();
    if !stdin.is_terminal() {
        return Err(Failure::Usage(format!("{question} Say --yes, since there is no terminal to ask on")));
    }
    let unasked = |error: io::Error| Failure::Failed(format!("cannot ask on the terminal: {error}"));
    let mut stderr = io::stderr();
    write!(stderr, "{} Type yes: ", visible(question)).map_err(unasked)?;
    stderr.flush().map_err(unasked)?;
    let mut answer = String::new();
    stdin.lock().read_line(&mut answer).map_err(unasked)?;
    match answer.trim() {
        "yes" => Ok(()),
        _ => Err(Failure::Failed(otherwise.to_owned())),
    }
}
