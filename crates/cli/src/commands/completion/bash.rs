//! Bash takes a line apart at colons and equals signs too, so that `host:9092` comes as three words. They are put together
//! again, and what is answered is the part of a name that bash is about to replace. Words come as they were typed, with quotes
//! and backslashes, and bash puts what is answered into the line as it is: a name that means something to a shell is quoted here.

use std::ffi::OsString;
use std::io::{self, Write};
use std::path::Path;

use clap::Command;
use clap_complete::engine;
use clap_complete::env::{self, EnvCompleter};

use super::line;
use super::typed::{self, Quotes, Typed};

/// Which word the cursor is in, counted from 0; set by the script.
const INDEX_VARIABLE: &str = "_CLAP_COMPLETE_INDEX";
/// What the key was; set by the script, and by none of another shell.
const TYPE_VARIABLE: &str = "_CLAP_COMPLETE_COMP_TYPE";
/// What the script wants between two names.
const SEPARATOR_VARIABLE: &str = "_CLAP_IFS";

/// How the script takes the word that is completed: without the quote that is still open before it.
const WORD_AS_GIVEN: &str = r#"words[COMP_CWORD]="$2""#;
/// The same with that quote.
const WORD_WITH_QUOTE: &str = r#"words[COMP_CWORD]="$2"
        if [[ "$2" != [\"\']* && "${COMP_WORDS[COMP_CWORD]}" == [\"\']* ]]; then
            words[COMP_CWORD]="${COMP_WORDS[COMP_CWORD]:0:1}$2"
        fi"#;

/// Whether it is bash that asks.
pub(super) fn is_asking() -> bool {
    std::env::var_os(TYPE_VARIABLE).is_some()
}

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
        let mut made = Vec::new();
        env::Bash.write_registration(variable, name, program, completer, &mut made)?;
        let made = String::from_utf8(made).map_err(io::Error::other)?;
        if !made.contains(WORD_AS_GIVEN) {
            return Err(io::Error::other("the script does not say which word is completed"));
        }
        script.write_all(made.replace(WORD_AS_GIVEN, WORD_WITH_QUOTE).as_bytes())
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
        let words: Vec<Typed> = words.iter().map(|word| typed::read(word)).collect();
        let (open, kept) = words.get(index).map_or((Quotes::None, 0), |word| (word.open, word.kept));
        let words = words.into_iter().map(|word| OsString::from(word.text)).collect();
        let candidates = engine::complete(command, words, index, folder)?;
        let ends: Vec<String> = candidates
            .iter()
            .map(|candidate| candidate.get_value().to_string_lossy())
            .filter_map(|name| typed::write(name.get(kept..).unwrap_or_default(), open))
            .collect();
        answer.write_all(ends.join(&separator).as_bytes())
    }
}
