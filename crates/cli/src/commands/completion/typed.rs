//! Words as they stand in a line of bash: with backslashes and quotes, the last of which may still be open.

use crate::visible::is_obeyed;

/// In which quotes a word stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quotes {
    None,
    Single,
    Double,
}

/// A word that bash will read as something else than it looks like.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Typed {
    /// As bash will read it.
    pub(super) text: String,
    /// The quotes at its beginning, if they are still open: bash puts what completes it behind these.
    pub(super) open: Quotes,
    /// How much of the text bash leaves alone: what stands up to the last colon or equals sign outside of quotes.
    pub(super) kept: usize,
}

/// Reads a word. What bash would substitute in it is not looked at.
pub(super) fn read(word: &str) -> Typed {
    let (mut text, mut quotes, mut kept) = (String::new(), Quotes::None, 0);
    let mut letters = word.chars();
    while let Some(letter) = letters.next() {
        match (quotes, letter) {
            (Quotes::None, '\'') => quotes = Quotes::Single,
            (Quotes::None, '"') => quotes = Quotes::Double,
            (Quotes::Single, '\'') | (Quotes::Double, '"') => quotes = Quotes::None,
            (Quotes::None, '\\') => text.extend(letters.next()),
            (Quotes::Double, '\\') => match letters.next() {
                Some(next @ ('$' | '`' | '"' | '\\')) => text.push(next),
                other => {
                    text.push('\\');
                    text.extend(other);
                }
            },
            (quotes, letter) => {
                text.push(letter);
                if quotes == Quotes::None && matches!(letter, ':' | '=') {
                    kept = text.len();
                }
            }
        }
    }
    Typed { text, open: quotes, kept }
}

/// Text as it has to be typed in such quotes. `None` where it cannot be, or should not be seen.
pub(super) fn write(text: &str, quotes: Quotes) -> Option<String> {
    if text.contains(is_obeyed) {
        return None;
    }
    let mut typed = String::with_capacity(text.len());
    for (index, letter) in text.char_indices() {
        match quotes {
            Quotes::Single if letter == '\'' => typed.push_str("'\\''"),
            Quotes::Single => typed.push(letter),
            Quotes::Double => {
                if "$`\"\\".contains(letter) {
                    typed.push('\\');
                }
                typed.push(letter);
            }
            Quotes::None => {
                let is_plain = letter.is_alphanumeric() || !letter.is_ascii();
                let is_home = index == 0 && letter == '~';
                if !is_plain && (is_home || !"-_./:,@+=%~".contains(letter)) {
                    typed.push('\\');
                }
                typed.push(letter);
            }
        }
    }
    Some(typed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_read_as_bash_reads_them() {
        let known = [
            ("blank\\ g", "blank g", Quotes::None, 0),
            ("'blank g", "blank g", Quotes::Single, 0),
            ("\"a\\$b\\n", "a$b\\n", Quotes::Double, 0),
            ("'it'\\''s' \"x\"", "it's x", Quotes::None, 0),
            ("team:b\\:c=d", "team:b:c=d", Quotes::None, 9),
            ("\"team:b", "team:b", Quotes::Double, 0),
        ];
        for (word, text, open, kept) in known {
            assert_eq!(read(word), Typed { text: text.to_owned(), open, kept }, "{word}");
        }
    }

    #[test]
    fn what_is_written_is_read_as_it_was() {
        for text in ["blank group", "$(touch x) `y` \"z\" it's \\ ! #", "~home", "Zähler;|&<>*?[a]{b}"] {
            assert_eq!(read(&write(text, Quotes::None).unwrap()).text, text);
            assert_eq!(read(&format!("'{}'", write(text, Quotes::Single).unwrap())).text, text);
            assert_eq!(read(&format!("\"{}\"", write(text, Quotes::Double).unwrap())).text, text);
        }
        assert_eq!(write("team:books-1.x", Quotes::None).unwrap(), "team:books-1.x");
        assert_eq!(write("line\nline", Quotes::None), None);
    }
}
