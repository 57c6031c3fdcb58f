//! What of a line that is not finished matters: the flags that say which cluster is meant, and where snapshots are.

use std::ffi::OsString;

use clap::{Args, Command, FromArgMatches};

use super::{bash, typed};
use crate::cluster_flags::ClusterFlags;
use crate::commands::group::StoreFlags;

/// How long the cluster may take. Nobody waits longer for a completion.
const TIMEOUT_SECONDS: &str = "3";
/// The flags that are looked for, as they are written, with a value behind them.
const FLAGS: [&str; 5] = ["--bootstrap", "-b", "--profile", "--client-config", "--snapshots"];

/// The flags of both kinds.
#[derive(Debug, Args)]
pub(super) struct Line {
    #[command(flatten)]
    pub(super) cluster: ClusterFlags,
    #[command(flatten)]
    pub(super) store: StoreFlags,
}

/// Those flags of the line that is being completed. `None` where they contradict each other.
pub(super) fn read() -> Option<Line> {
    // As the scripts call this program: what it is called, whatever the shell has to say, --, and the words.
    let words = std::env::args_os().skip_while(|word| word != "--").skip(1);
    let words: Vec<String> = words.filter_map(|word| word.into_string().ok()).collect();
    let words = join(&words, 0).0.into_iter();
    // Bash gives words as they were typed.
    parse(words.map(|word| if bash::is_asking() { typed::read(&word).text } else { word }))
}

fn parse(words: impl IntoIterator<Item = String>) -> Option<Line> {
    let mut found: Vec<OsString> = vec!["milepost".into(), "--timeout".into(), TIMEOUT_SECONDS.into()];
    let mut words = words.into_iter();
    while let Some(word) = words.next() {
        let (flag, value) = match word.split_once('=') {
            Some((flag, value)) => (flag.to_owned(), Some(value.to_owned())),
            None => (word, None),
        };
        if FLAGS.contains(&flag.as_str())
            && let Some(value) = value.or_else(|| words.next())
        {
            found.extend([flag.into(), value.into()]);
        }
    }
    let command = Line::augment_args(Command::new("milepost"));
    Line::from_arg_matches(&command.try_get_matches_from(found).ok()?).ok()
}

/// The words as they stand between blanks, and which of them the cursor is in. Where a colon had blanks around it cannot
/// be seen; nobody writes one so.
pub(super) fn join(words: &[String], index: usize) -> (Vec<String>, usize) {
    let breaks = |word: &str| !word.is_empty() && word.chars().all(|letter| matches!(letter, ':' | '='));
    let mut joined: Vec<String> = Vec::with_capacity(words.len());
    let mut cursor = 0;
    for (number, word) in words.iter().enumerate() {
        let goes_on = number > 1 && (breaks(word) || breaks(&words[number - 1]));
        match joined.last_mut() {
            Some(last) if goes_on => last.push_str(word),
            _ => joined.push(word.clone()),
        }
        if number <= index {
            cursor = joined.len() - 1;
        }
    }
    (joined, cursor)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str) -> Option<String> {
        let line = parse(line.split(' ').map(str::to_owned))?;
        Some(line.cluster.words())
    }

    #[test]
    fn the_cluster_is_found_in_a_line_that_is_not_finished() {
        assert_eq!(words("milepost group describe g --lag-over").unwrap(), "");
        assert_eq!(words("milepost group -b a:1 --nonsense describe ").unwrap(), " --bootstrap a:1");
        assert_eq!(words("milepost topic list --bootstrap=a:1,b:2 x").unwrap(), " --bootstrap a:1,b:2");
        assert_eq!(words("milepost --profile p group list -b").unwrap(), " --profile p");
        // Which file counts cannot be told.
        assert_eq!(words("milepost --profile p --client-config f"), None);
    }

    fn joined(words: &[&str], index: usize) -> (Vec<String>, usize) {
        join(&words.iter().map(|word| (*word).to_owned()).collect::<Vec<_>>(), index)
    }

    #[test]
    fn what_bash_took_apart_is_put_together() {
        let (words, index) = joined(&["milepost", "topic", "-b", "a", ":", "1,b", ":", "2", "li"], 8);
        assert_eq!((words.join(" ").as_str(), index), ("milepost topic -b a:1,b:2 li", 4));
        let (words, index) = joined(&["milepost", "--bootstrap", "=", "a", ":", "1", "group", ""], 7);
        assert_eq!((words.join(" ").as_str(), index), ("milepost --bootstrap=a:1 group ", 3));
        // The cursor behind a colon is in the word that the colon is part of.
        let (words, index) = joined(&["milepost", "group", "reset", "g", "group", ":", "", "--yes"], 6);
        assert_eq!((words.join(" ").as_str(), index), ("milepost group reset g group: --yes", 4));
    }
}
