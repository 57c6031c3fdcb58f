//! The loop of the screen: keys and answers in, frames and questions out.

use std::time::{Duration, Instant};

use crossterm::event::Event as Input;
use milepost_client::{Cluster, Stop};

use super::Watch;
use super::draw::draw;
use super::keys;
use super::looker::{Looker, Subject};
use super::state::{Effect, Event, Shown, State};
use super::terminal::Screen;
use crate::failure::Failure;
use crate::palette::Palette;

/// How long to wait for a key before looking at everything else.
const WAIT: Duration = Duration::from_millis(50);
/// How many keys are taken in before the screen shows what they did.
const INPUTS_AT_ONCE_MAX: usize = 256;
/// How often the screen is drawn though nothing happened, because it says how old its figures are.
const AGEING: Duration = Duration::from_secs(1);

/// Watches until somebody ends it.
pub(super) fn run(watch: &Watch, cluster: Cluster, subject: Subject) -> Result<(), Failure> {
    let stop = cluster.options().stop.clone();
    let addresses: Vec<String> = cluster.bootstrap().iter().map(ToString::to_string).collect();
    let shown = if watch.only_with_lag { Shown::Behind } else { Shown::All };
    let mut screen = Screen::open()?;
    let begin = Instant::now();
    let mut watching = Watching {
        state: State::new(addresses.join(","), shown, watch.interval),
        looker: Looker::start(cluster, subject, begin),
        stop: stop.clone(),
        begin,
        is_changed: true,
        is_suspended: false,
        is_over: false,
    };
    let outcome = watching.turn(&mut screen);
    // The thread may be in the middle of a look, and is not waited for.
    stop.set();
    outcome
}

struct Watching {
    state: State,
    looker: Looker,
    stop: Stop,
    begin: Instant,
    /// Whether the screen shows something else than the state.
    is_changed: bool,
    is_suspended: bool,
    is_over: bool,
}

impl Watching {
    fn turn(&mut self, screen: &mut Screen) -> Result<(), Failure> {
        let (width, height) = screen.size()?;
        self.on(Event::Resized { width, height });
        let palette = Palette::of_stdout();
        let mut drawn_at = Duration::ZERO;
        loop {
            while let Some(said) = self.looker.said()? {
                self.on(Event::Said(said));
            }
            self.on(Event::Tick);
            // Being stopped is how it ends.
            if self.is_over || self.stop.is_set() {
                return Ok(());
            }
            if std::mem::take(&mut self.is_suspended) {
                screen.suspend()?;
                self.is_changed = true;
            }
            let now = self.begin.elapsed();
            if std::mem::take(&mut self.is_changed) || now.saturating_sub(drawn_at) >= AGEING {
                screen.draw(|frame| draw(frame, &self.state, palette))?;
                drawn_at = now;
            }
            let mut within = WAIT;
            for _ in 0..INPUTS_AT_ONCE_MAX {
                let Some(input) = Screen::event(within)? else { break };
                self.input(&input);
                within = Duration::ZERO;
            }
        }
    }

    fn input(&mut self, input: &Input) {
        match input {
            Input::Key(key) => {
                if let Some(press) = keys::press(*key) {
                    self.on(Event::Press(press));
                }
            }
            Input::Resize(width, height) => self.on(Event::Resized { width: *width, height: *height }),
            _ => {}
        }
    }

    fn on(&mut self, event: Event) {
        self.is_changed |= !matches!(event, Event::Tick);
        match self.state.on(self.begin.elapsed(), event) {
            Some(Effect::Look) => self.looker.ask(),
            Some(Effect::Suspend) => self.is_suspended = true,
            Some(Effect::Quit) => self.is_over = true,
            None => {}
        }
    }
}
