//! `milepost completion`: the script that lets a shell complete the words of this program.
//!
//! The script asks this program at every press of the key, by an environment variable; `main` calls [`answer`] before it
//! looks at anything else. Names of groups and topics come from the cluster that the line is about.

mod bash;
mod line;
mod names;
mod typed;

use clap::{Arg, Args, Command};
use clap_complete::CompleteEnv;
use clap_complete::engine::ArgValueCompleter;
use clap_complete::env::{Elvish, Fish, Powershell, Shells, Zsh};

use crate::failure::Failure;
use crate::output;

/// Set by the script, to the name of the shell.
const VARIABLE: &str = "_MILEPOST_COMPLETE";
const SHELLS: Shells<'static> = Shells(&[&bash::Bash, &Elvish, &Fish, &Powershell, &Zsh]);

const HELP: &str = "\
bash, in ~/.bashrc:                        source <(milepost completion bash)
zsh, in ~/.zshrc:                          source <(milepost completion zsh)
fish, in ~/.config/fish/completions/milepost.fish:
                                           milepost completion fish | source
Names of groups, topics, snapshots and profiles are completed too. Those of groups and topics come from the cluster that
the line names, or else the one that MILEPOST_PROFILE or MILEPOST_BOOTSTRAP names.";

/// The flags of `completion`.
#[derive(Debug, Args)]
#[command(after_help = HELP)]
pub(crate) struct Completion {
    /// The shell.
    #[arg(value_parser = clap::builder::PossibleValuesParser::new(SHELLS.names()))]
    shell: String,
}

/// Prints the script.
pub(crate) fn run(completion: &Completion) -> Result<(), Failure> {
    let unknown = || Failure::Usage(format!("{} is no shell that is known here", completion.shell));
    let shell = SHELLS.completer(&completion.shell).ok_or_else(unknown)?;
    let mut script = Vec::new();
    shell
        .write_registration(VARIABLE, "milepost", "milepost", "milepost", &mut script)
        .map_err(|error| Failure::Failed(format!("the script cannot be made: {error}")))?;
    output::print(&String::from_utf8_lossy(&script))
}

/// If a shell's script asks what a line may go on with: tells it, and ends the program.
pub(crate) fn answer(program: fn() -> Command) {
    CompleteEnv::with_factory(|| with_names(program())).var(VARIABLE).shells(SHELLS).complete();
}

/// Every argument that is a name of something that is already there knows where such names are found: by what its help
/// calls it.
fn with_names(command: Command) -> Command {
    command.mut_args(with_completer).mut_subcommands(with_names)
}

fn with_completer(argument: Arg) -> Arg {
    let Some([name]) = argument.get_value_names() else { return argument };
    let completer = match name.as_str() {
        "GROUP" | "FROM" | "TO" => ArgValueCompleter::new(names::groups),
        "TOPIC" | "TOPIC[:P,P]" => ArgValueCompleter::new(names::topics),
        "TARGET" => ArgValueCompleter::new(names::targets),
        "SNAPSHOT" | "OLD" | "NEW" => ArgValueCompleter::new(names::snapshots),
        "PROFILE" => ArgValueCompleter::new(names::profiles),
        _ => return argument,
    };
    argument.add(completer)
}
