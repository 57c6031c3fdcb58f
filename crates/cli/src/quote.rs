//! Words for a shell.

use std::fmt::Write as _;

use crate::visible::is_obeyed;

/// Text as a shell has to be given it. What a terminal would obey is written in ANSI-C quotes, which bash, zsh and ksh know.
pub(crate) fn quoted(text: &str) -> String {
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_./:,@+=".contains(letter);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    if text.contains(is_obeyed) {
        return ansi_quoted(text);
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

fn ansi_quoted(text: &str) -> String {
    let mut quoted = "$'".to_owned();
    for letter in text.chars() {
        match letter {
            '\\' | '\'' => quoted.extend(['\\', letter]),
            // Bytes: how a shell writes a code point depends on its locale.
            _ if is_obeyed(letter) => {
                for byte in letter.encode_utf8(&mut [0; 4]).bytes() {
                    let _ = write!(quoted, "\\{byte:03o}");
                }
            }
            _ => quoted.push(letter),
        }
    }
    quoted.push('\'');
    quoted
}

/// A flag and what it is given, with a blank before them. What begins with a dash would be taken for a flag.
pub(crate) fn flag(name: &str, value: &str) -> String {
    let between = if value.starts_with('-') { '=' } else { ' ' };
    format!(" {name}{between}{}", quoted(value))
}

/// A command of this program. `flags` begin with a blank, and stand behind the operands as long as none of these would be taken
/// for a flag itself.
pub(crate) fn command<'a>(
    name: &str,
    operands: impl IntoIterator<Item = &'a str, IntoIter: Clone>,
    flags: &str,
) -> String {
    let operands = operands.into_iter();
    let words: String = operands.clone().map(|operand| format!(" {}", quoted(operand))).collect();
    if operands.into_iter().any(|operand| operand.starts_with('-')) {
        format!("milepost {name}{flags} --{words}")
    } else {
        format!("milepost {name}{words}{flags}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_quoted_for_a_shell_where_they_have_to_be() {
        assert_eq!(quoted("a:9092,b:9092"), "a:9092,b:9092");
        assert_eq!(quoted("it's"), "'it'\\''s'");
        assert_eq!(quoted(""), "''");
    }

    #[test]
    fn a_shell_reads_a_quoted_word_as_it_was() {
        for word in ["it's\n\\n \u{1b}[31m$(no)", "\u{202e}é数\u{9b}", "$(no) `no` $no \"x\"", "\u{7f}7"] {
            let quoted = quoted(word);
            assert!(!quoted.contains(is_obeyed), "{quoted:?}");
            let script = format!("printf %s {quoted}");
            let printed = std::process::Command::new("bash").args(["-c", &script]).output().unwrap();
            assert_eq!(String::from_utf8(printed.stdout).unwrap(), word, "{quoted}");
        }
    }

    #[test]
    fn what_looks_like_a_flag_is_told_apart() {
        assert_eq!(command("group reset", ["g", "+0"], " --all"), "milepost group reset g +0 --all");
        assert_eq!(command("group reset", ["-g", "+0"], " --all"), "milepost group reset --all -- -g +0");
        assert_eq!(flag("--topic", "a b"), " --topic 'a b'");
        assert_eq!(flag("--topic", "-t:0"), " --topic=-t:0");
    }
}
