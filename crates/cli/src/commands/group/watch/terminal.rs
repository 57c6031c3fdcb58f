//! The terminal as long as it is drawn on. However that ends, it is as it was before: by the end of [`Screen`], which
//! also comes with an error or a panic, and by the panic's own hook, so that its message can be read.

use std::io::{self, BufWriter, Stdout, Write as _};
use std::panic;
use std::sync::Once;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use crossterm::cursor::Show;
use crossterm::event::{self, Event};
use crossterm::terminal::{
    Clear, ClearType, EnterAlternateScreen, LeaveAlternateScreen, disable_raw_mode, enable_raw_mode,
};
use crossterm::{execute, queue};
use ratatui::backend::CrosstermBackend;
use ratatui::{Frame, Terminal};
use signal_hook::consts::SIGTSTP;

use crate::failure::Failure;

/// Whether the terminal is ours. A panic in another thread gives it back too, and after that nobody draws on what it says.
static IS_OURS: AtomicBool = AtomicBool::new(false);

type Drawn = Terminal<CrosstermBackend<BufWriter<Stdout>>>;

/// The screen of a terminal.
pub(super) struct Screen {
    terminal: Drawn,
}

impl Screen {
    /// Takes the terminal over.
    pub(super) fn open() -> Result<Self, Failure> {
        restore_before_a_panic_is_told();
        Ok(Self { terminal: take_over()? })
    }

    /// Gives the terminal back, stops as other programs do at Ctrl-Z, and takes it over again when told to go on.
    pub(super) fn suspend(&mut self) -> Result<(), Failure> {
        restore();
        signal_hook::low_level::raise(SIGTSTP).map_err(|error| failed(&error))?;
        self.terminal = take_over()?;
        Ok(())
    }

    pub(super) fn size(&self) -> Result<(u16, u16), Failure> {
        let size = self.terminal.size().map_err(|error| Failure::output(&error))?;
        Ok((size.width, size.height))
    }

    pub(super) fn draw(&mut self, draw: impl FnOnce(&mut Frame<'_>)) -> Result<(), Failure> {
        if !IS_OURS.load(Ordering::SeqCst) {
            return Ok(());
        }
        self.terminal.draw(draw).map(drop).map_err(|error| Failure::output(&error))
    }

    /// The next event, if one comes within that time.
    pub(super) fn event(within: Duration) -> Result<Option<Event>, Failure> {
        let read = || if event::poll(within)? { event::read().map(Some) } else { Ok(None) };
        match read() {
            // A signal; whoever waits for it looks at its flag.
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(None),
            other => other.map_err(|error| Failure::Failed(format!("keys cannot be read: {error}"))),
        }
    }
}

impl Drop for Screen {
    fn drop(&mut self) {
        restore();
    }
}

fn take_over() -> Result<Drawn, Failure> {
    IS_OURS.store(true, Ordering::SeqCst);
    let begin = || {
        enable_raw_mode()?;
        execute!(io::stdout(), EnterAlternateScreen, Clear(ClearType::All))?;
        Terminal::new(CrosstermBackend::new(BufWriter::new(io::stdout())))
    };
    begin().map_err(|error| {
        restore();
        failed(&error)
    })
}

fn failed(error: &io::Error) -> Failure {
    Failure::Failed(format!("the terminal cannot be drawn on: {error}"))
}

/// Puts the terminal back, once. What goes wrong has nobody left to be told.
fn restore() {
    if !IS_OURS.swap(false, Ordering::SeqCst) {
        return;
    }
    let mut stdout = io::stdout();
    let _ = queue!(stdout, LeaveAlternateScreen, Show);
    let _ = stdout.flush();
    let _ = disable_raw_mode();
}

fn restore_before_a_panic_is_told() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let tell = panic::take_hook();
        panic::set_hook(Box::new(move |panic| {
            restore();
            tell(panic);
        }));
    });
}
