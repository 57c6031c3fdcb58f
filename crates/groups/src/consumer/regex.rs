//! Regular expressions over topic names, in the syntax of RE2, which Kafka's clients write: the whole name must match.
//!
//! The crate `regex` comes from the same family. What is written differently there is translated; what it lacks (or only
//! it has) is refused as invalid. Matching takes time linear in the name, compiling is bounded by a size.

use std::collections::BTreeSet;
use std::sync::Arc;

use regex::{Regex, RegexBuilder};

use super::topics::ClusterTopics;
use crate::GroupError;

/// The largest compiled expression, in bytes. Kafka's have no such bound; ten thousand alternatives fit.
const COMPILED_BYTES_MAX: usize = 4 << 20;
/// The deepest nesting of groups.
const NESTING_MAX: u32 = 100;

/// A pattern for whole names, in the syntax of RE2.
#[derive(Clone, Debug)]
pub struct NamePattern(Regex);

impl NamePattern {
    /// Compiles a pattern that a client sent.
    ///
    /// # Errors
    /// [`GroupError::InvalidRegularExpression`].
    pub fn compile(pattern: &str) -> Result<Self, GroupError> {
        compile(pattern).map(Self)
    }

    /// Whether the whole name matches.
    #[must_use]
    pub fn matches(&self, name: &str) -> bool {
        self.0.is_match(name)
    }
}

/// Compiles an expression that a member wants to subscribe to.
pub(super) fn compile(pattern: &str) -> Result<Regex, GroupError> {
    let translated = translate(pattern).ok_or(GroupError::InvalidRegularExpression)?;
    RegexBuilder::new(&format!(r"\A(?:{translated})\z"))
        .size_limit(COMPILED_BYTES_MAX)
        .dfa_size_limit(COMPILED_BYTES_MAX)
        .nest_limit(NESTING_MAX)
        .build()
        .map_err(|_| GroupError::InvalidRegularExpression)
}

/// The topics that an expression means. One that cannot be compiled (a foreign log may hold it) means none.
pub(super) fn resolve(pattern: &str, topics: &ClusterTopics) -> BTreeSet<Arc<str>> {
    let Ok(regex) = compile(pattern) else { return BTreeSet::new() };
    topics.names().filter(|name| regex.is_match(name)).cloned().collect()
}

/// Writes an expression of RE2 as the crate `regex` reads it. `None`: it has something that RE2 does not know.
fn translate(pattern: &str) -> Option<String> {
    let mut translated = String::with_capacity(pattern.len());
    let mut rest = pattern;
    // A parenthesis too many would end the group that stands around the whole.
    let mut depth = 0_usize;
    let mut repeated = Repeated::Not;
    while let Some(first) = rest.chars().next() {
        let (_, after) = rest.split_at(first.len_utf8());
        let counted = if first == '{' { repetition(after) } else { None };
        repeated = repeated.then(first, counted.is_some())?;
        rest = match first {
            '\\' if after.starts_with('Q') => {
                let (quoted, after) = after[1..].split_once("\\E").unwrap_or((&after[1..], ""));
                translated += &regex::escape(quoted);
                after
            }
            '\\' => {
                let escaped = after.chars().next()?;
                translated.push('\\');
                translated.push(escaped);
                is_known_escape(escaped).then_some(())?;
                &after[escaped.len_utf8()..]
            }
            '[' => translate_class(after, &mut translated)?,
            '(' => {
                depth += 1;
                check_flags(after)?;
                translated.push('(');
                after
            }
            ')' => {
                depth = depth.checked_sub(1)?;
                translated.push(')');
                after
            }
            // RE2 takes a brace that is no repetition as itself.
            '{' => {
                let Some(counted) = counted else {
                    translated += r"\{";
                    rest = after;
                    continue;
                };
                translated.push('{');
                translated += counted;
                &after[counted.len()..]
            }
            _ => {
                translated.push(first);
                after
            }
        };
    }
    Some(translated)
}

/// Whether a repetition stands right before. RE2 has no repetition of one, other than the `?` that makes it short.
#[derive(Clone, Copy)]
enum Repeated {
    Not,
    Once,
    Shortly,
}

impl Repeated {
    fn then(self, next: char, is_counted: bool) -> Option<Self> {
        let is_repetition = is_counted || matches!(next, '*' | '+' | '?');
        match (self, next) {
            (Self::Once, '?') => Some(Self::Shortly),
            (Self::Not, _) if is_repetition => Some(Self::Once),
            _ if is_repetition => None,
            _ => Some(Self::Not),
        }
    }
}

/// Letters that RE2 knows after a backslash; everything else that is a letter or a digit means something only elsewhere.
fn is_known_escape(escaped: char) -> bool {
    !escaped.is_ascii_alphanumeric() || "AaBbDdfnPprSstvWwxz".contains(escaped)
}

/// Only these flags are RE2's, beside names of groups.
fn check_flags(after: &str) -> Option<()> {
    let Some(flags) = after.strip_prefix('?') else { return Some(()) };
    if flags.starts_with("P<") || flags.starts_with('<') {
        return Some(());
    }
    let end = flags.find([':', ')'])?;
    flags[..end].chars().all(|flag| "imsU-".contains(flag)).then_some(())
}

/// What follows a brace and makes it a repetition: `3}`, `3,}` or `3,4}`.
fn repetition(after: &str) -> Option<&str> {
    let is_number = |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_digit());
    let (inside, _) = after.split_once('}')?;
    let is_one = match inside.split_once(',') {
        None => is_number(inside),
        Some((from, to)) => is_number(from) && (to.is_empty() || is_number(to)),
    };
    is_one.then(|| &after[..=inside.len()])
}

/// A class, from behind its bracket. Inside one, RE2 knows no nesting and no set operations: those characters are
/// themselves.
fn translate_class<'a>(class: &'a str, translated: &mut String) -> Option<&'a str> {
    translated.push('[');
    let mut rest = class;
    if let Some(after) = rest.strip_prefix('^') {
        translated.push('^');
        rest = after;
    }
    if let Some(after) = rest.strip_prefix(']') {
        translated.push_str(r"\]");
        rest = after;
    }
    loop {
        let first = rest.chars().next()?;
        let after = &rest[first.len_utf8()..];
        rest = match first {
            ']' => {
                translated.push(']');
                return Some(after);
            }
            '[' if after.starts_with(':') && after[1..].contains(":]") => {
                let end = after.find(":]")? + 2;
                translated.push('[');
                translated.push_str(&after[..end]);
                &after[end..]
            }
            '\\' => {
                let escaped = after.chars().next()?;
                is_known_escape(escaped).then_some(())?;
                translated.push('\\');
                translated.push(escaped);
                &after[escaped.len_utf8()..]
            }
            '-' if translated.ends_with('-') => {
                translated.push_str(r"\-");
                after
            }
            '[' | '&' | '~' => {
                translated.push('\\');
                translated.push(first);
                after
            }
            _ => {
                translated.push(first);
                after
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::compile;

    fn matches(pattern: &str, name: &str) -> bool {
        compile(pattern).unwrap_or_else(|_| panic!("{pattern} is refused")).is_match(name)
    }

    #[test]
    fn the_whole_name_must_match() {
        assert!(matches("foo.*", "foobar"));
        assert!(!matches("foo", "foobar"));
        assert!(!matches("bar", "foobar"));
        assert!(matches("a|bc", "bc") && !matches("a|bc", "ac"));
        assert!(matches("", "") && !matches("", "a"));
        assert!(matches("^foo$", "foo"));
    }

    #[test]
    fn what_re2_writes_differently_is_translated() {
        assert!(matches(r"\Qa.b\E.*", "a.bc") && !matches(r"\Qa.b\E.*", "axbc"));
        assert!(matches(r"\Qa.(", "a.("));
        assert!(matches(r"[[a]", "[") && matches(r"[[a]", "a"));
        assert!(matches(r"[a&&b]", "&") && matches("[a~~b]", "~"));
        assert!(matches(r"[+--]", ",") && !matches("[+--]", "a"));
        assert!(matches(r"[]a]", "]"));
        assert!(matches(r"[[:alpha:]_]+", "a_b") && !matches("[[:alpha:]]", "1"));
        assert!(matches("a{b", "a{b") && matches("a{2}", "aa") && matches("a{,2}", "a{,2}"));
        assert!(matches("a*?b{1,2}?", "ab"));
        assert!(matches("(?i)foo", "FOO"));
        assert!(matches(r"orders\.(eu|us)-\d+", "orders.eu-12"));
    }

    #[test]
    fn what_is_no_re2_is_refused() {
        for pattern in [
            "(", ")", "a)(b", "[", "[a", "*", "a**", "a+*", "a{2}*", "a???", "a*??", "(?=a)", "(?!a)",
            "(?<=a)", r"\1", r"\C", r"\Z", r"\u0041", "(?x)a b", "(?R)a", "a{2,1}", "a\\",
        ] {
            assert!(compile(pattern).is_err(), "{pattern} is taken");
        }
    }

    #[test]
    fn a_small_text_cannot_become_a_large_program() {
        assert!(compile("((a{1000}){1000}){1000}").is_err());
        assert!(compile(&"(".repeat(30_000)).is_err());
        assert!(compile(&format!("{}a{}", "(".repeat(10_000), ")".repeat(10_000))).is_err());
    }
}
