//! Text of others for people. Names of groups, members and topics, metadata, and what brokers say may have characters in
//! them that a terminal obeys in place of showing them.

use std::borrow::Cow;

/// The text with such characters as escapes, on one line. What is for programs stays as it is.
pub(crate) fn visible(text: &str) -> Cow<'_, str> {
    escape(text, is_obeyed)
}

/// The same for text that has lines of its own.
pub(crate) fn visible_lines(text: &str) -> Cow<'_, str> {
    escape(text, |letter| letter != '\n' && is_obeyed(letter))
}

/// Whether a terminal obeys it: control characters, ends of lines, and what turns the direction of writing around.
pub(crate) fn is_obeyed(letter: char) -> bool {
    letter.is_control()
        || matches!(letter, '\u{200e}' | '\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

fn escape(text: &str, is_escaped: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.contains(&is_escaped) {
        return Cow::Borrowed(text);
    }
    let mut escaped = String::with_capacity(text.len());
    for letter in text.chars() {
        if is_escaped(letter) {
            escaped.extend(letter.escape_default());
        } else {
            escaped.push(letter);
        }
    }
    Cow::Owned(escaped)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_terminal_would_obey_is_shown() {
        assert_eq!(visible("red \u{1b}[31m\nline\r\u{9b}"), "red \\u{1b}[31m\\nline\\r\\u{9b}");
        assert_eq!(visible("turned\u{202e}around"), "turned\\u{202e}around");
        assert_eq!(visible("Zähler 数 \\n"), "Zähler 数 \\n");
        assert_eq!(visible_lines("two\nlines\u{7}"), "two\nlines\\u{7}");
    }
}
