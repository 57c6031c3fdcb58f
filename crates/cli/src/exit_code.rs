//! What an exit code of the program means. Flags that cannot be understood end with 2, as clap does it.

use std::process::ExitCode;

use milepost_doctor::Severity;

/// The codes, for `--help`. README.md has them too.
pub(crate) const HELP: &str = "\
Exit codes:
  0    done
  1    it could not be done, or not all of it; the reason is on standard error
  2    the flags or the configuration were refused before anything started
  3    serve: storage failed, and the server stopped taking writes
  4    the cluster could not be reached, or did not answer in time
  10   doctor: the worst that was found is a notice
  11   doctor: the worst that was found is a warning
  12   doctor: something critical was found
  130  stopped (Ctrl-C, SIGTERM) before it was done";

/// The command did what it was told.
pub(crate) const SUCCESS: ExitCode = ExitCode::SUCCESS;

/// The command could not be done; the reason is on standard error.
pub(crate) fn failure() -> ExitCode {
    ExitCode::from(1)
}

/// The flags or the configuration were refused before anything started.
pub(crate) fn bad_configuration() -> ExitCode {
    ExitCode::from(2)
}

/// Storage failed while serving and the process stopped taking writes.
pub(crate) fn storage_failed() -> ExitCode {
    ExitCode::from(3)
}

/// The cluster could not be reached, or did not answer in time.
pub(crate) fn unreachable() -> ExitCode {
    ExitCode::from(4)
}

/// Something was found that is this bad.
pub(crate) fn found(worst: Severity) -> ExitCode {
    ExitCode::from(match worst {
        Severity::Notice => 10,
        Severity::Warning => 11,
        Severity::Critical => 12,
    })
}

/// The number with which a program ends that Ctrl-C ended.
pub(crate) const STOPPED: u8 = 130;

/// A signal ended the command before it was done.
pub(crate) fn stopped() -> ExitCode {
    ExitCode::from(STOPPED)
}

#[cfg(test)]
mod tests {
    use super::*;

    const README: &str = include_str!("../../../README.md");

    #[test]
    fn the_readme_has_the_same_codes() {
        let of_help: Vec<&str> =
            HELP.lines().skip(1).filter_map(|line| line.split_whitespace().next()).collect();
        let table = README.lines().skip_while(|line| *line != "| code | meaning |").skip(2);
        let of_readme: Vec<&str> = table
            .take_while(|line| line.starts_with('|'))
            .filter_map(|line| line.split('|').nth(1).map(str::trim))
            .collect();
        assert_eq!(of_readme, of_help);
    }
}
