//! Bash takes a line apart at colons and equals signs too, so that `host:9092` comes as three words. They are put together
//! again, and what is answered is the part of a name that bash is about to replace.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::{self, EnvCompleter};

use super::line;

/// Which word the cursor is in, counted from 0; set by the script.
const INDEX_VARIABLE: &str = "_CLAP_COMPLETE_INDEX";
/// What the script wants between two names.
const SEPARATOR_VARIABLE: &str = "_CLAP_IFS";

/// Bash.
pub(super) struct Bash;

impl EnvCompleter for Bash {
    fn name(&self) -> &'static str {
        env::Bash.name()
    }

    fn is(&self, name: &str) -> bool {
        env::Bash.is(name)
    }

    fn write_registration(
        &self,
        variable: &str,
        name: &str,
        program: &str,
        completer: &str,
        script: &mut dyn Write,
    ) -> io::Result<()> {
        env::Bash.write_registration(variable, name, program, completer, script)
    }

    fn write_complete(
        &self,
        command: &mut Command,
        words: Vec<OsString>,
        folder: Option<&Path>,
        answer: &mut dyn Write,
    ) -> io::Result<()> {
        let index = std::env::var(INDEX_VARIABLE).ok().and_then(|said| said.parse().ok()).unwrap_or_default();
        let separator = std::env::var(SEPARATOR_VARIABLE).unwrap_or_else(|_| "\n".to_owned());
        let words: Vec<String> = words.iter().map(|word| word.to_string_lossy().into_owned()).collect();
        let (words, index) = line::join(&words, index);
        let kept = words.get(index).map_or(0, |word| word.rfind([':', '=']).map_or(0, |at| at + 1));
        let words = words.into_iter().map(OsString::from).collect();
        let candidates = engine::complete(command, words, index, folder)?;
        let ends: Vec<String> = candidates
            .iter()
            .map(|candidate| candidate.get_value().to_string_lossy())
            .map(|name| name.get(kept..).unwrap_or_default().to_owned())
            .collect();
        answer.write_all(ends.join(&separator).as_bytes())
    }
}
