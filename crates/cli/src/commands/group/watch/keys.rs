//! What a key means, before anybody knows what it is pressed for.

use crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// A key.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Press {
    Up,
    Down,
    PageUp,
    PageDown,
    Home,
    End,
    Enter,
    Escape,
    Backspace,
    /// Ctrl-C, which is no signal while keys are read one by one.
    Interrupt,
    /// Ctrl-Z, likewise.
    Suspend,
    Char(char),
}

/// The key of an event, if it is one of these.
pub(super) fn press(event: KeyEvent) -> Option<Press> {
    if event.kind == KeyEventKind::Release {
        return None;
    }
    let with = |modifier| event.modifiers.contains(modifier);
    Some(match event.code {
        KeyCode::Char('c') if with(KeyModifiers::CONTROL) => Press::Interrupt,
        KeyCode::Char('z') if with(KeyModifiers::CONTROL) => Press::Suspend,
        KeyCode::Char(_) if with(KeyModifiers::CONTROL) || with(KeyModifiers::ALT) => return None,
        KeyCode::Char(char) => Press::Char(char),
        KeyCode::Up => Press::Up,
        KeyCode::Down => Press::Down,
        KeyCode::PageUp => Press::PageUp,
        KeyCode::PageDown => Press::PageDown,
        KeyCode::Home => Press::Home,
        KeyCode::End => Press::End,
        KeyCode::Enter => Press::Enter,
        KeyCode::Esc => Press::Escape,
        KeyCode::Backspace => Press::Backspace,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_with_control_are_no_letters() {
        let pressed = |code, modifiers| press(KeyEvent::new(code, modifiers));
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::NONE), Some(Press::Char('c')));
        assert_eq!(pressed(KeyCode::Char('G'), KeyModifiers::SHIFT), Some(Press::Char('G')));
        assert_eq!(pressed(KeyCode::Char('c'), KeyModifiers::CONTROL), Some(Press::Interrupt));
        assert_eq!(pressed(KeyCode::Char('z'), KeyModifiers::CONTROL), Some(Press::Suspend));
        assert_eq!(pressed(KeyCode::Char('q'), KeyModifiers::CONTROL), None);
        assert_eq!(pressed(KeyCode::F(1), KeyModifiers::NONE), None);
    }
}
