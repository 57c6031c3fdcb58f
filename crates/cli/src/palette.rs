//! Colours, for people at a terminal and for nobody else.

use std::io::{self, IsTerminal as _};

use anstyle::{AnsiColor, Style};

/// What a colour is to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tone {
    /// Nothing.
    Plain,
    /// The name of a column.
    Heading,
    /// All is well.
    Good,
    /// Worth a look.
    Warning,
    /// Wrong.
    Bad,
}

/// Whether there are colours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Palette {
    Plain,
    Coloured,
}

impl Palette {
    /// Coloured if standard output is a terminal and `NO_COLOR` does not forbid it (<https://no-color.org>).
    pub(crate) fn of_stdout() -> Self {
        let forbidden = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty());
        let dumb = std::env::var_os("TERM").is_some_and(|terminal| terminal == "dumb");
        if io::stdout().is_terminal() && !forbidden && !dumb { Self::Coloured } else { Self::Plain }
    }

    pub(crate) fn paint(self, text: &str, tone: Tone) -> String {
        let style = match (self, tone) {
            (Self::Plain, _) | (_, Tone::Plain) => return text.to_owned(),
            (Self::Coloured, Tone::Heading) => Style::new().bold(),
            (Self::Coloured, Tone::Good) => AnsiColor::Green.on_default(),
            (Self::Coloured, Tone::Warning) => AnsiColor::Yellow.on_default(),
            (Self::Coloured, Tone::Bad) => AnsiColor::Red.on_default(),
        };
        format!("{style}{text}{style:#}")
    }
}
