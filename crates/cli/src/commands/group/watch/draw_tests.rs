use std::path::Path;
use std::time::Duration;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::buffer::Buffer;

use super::super::keys::Press;
use super::super::state::Event;
use super::super::test_support::{Played, group, partition, refused, three};
use super::*;

fn buffer(played: &Played, width: u16, height: u16, palette: Palette) -> Buffer {
    let mut terminal = Terminal::new(TestBackend::new(width, height)).unwrap();
    terminal.draw(|frame| draw(frame, &played.state, palette)).unwrap();
    terminal.backend().buffer().clone()
}

fn text(buffer: &Buffer) -> String {
    let mut text = String::new();
    for y in 0..buffer.area.height {
        let line: String = (0..buffer.area.width).map(|x| buffer[(x, y)].symbol()).collect();
        text.push_str(line.trim_end());
        text.push('\n');
    }
    text
}

/// Compares a screen with the file of this name. With UPDATE_SNAPSHOTS the file is written instead; look at it then.
fn assert_snapshot(name: &str, played: &Played, width: u16, height: u16) {
    let shown = text(&buffer(played, width, height, Palette::Plain));
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/commands/group/watch/snapshots");
    let path = folder.join(format!("{name}_{width}x{height}.txt"));
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, &shown).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap();
    assert_eq!(shown, expected, "{}\nis:\n{shown}\nwas:\n{expected}", path.display());
}

/// A screen of this size after seven looks at three groups.
fn watching(width: u16, height: u16) -> Played {
    let mut played = Played::on_screen(width, height);
    for look in 0..7 {
        played.look(three(look));
        played.now += Duration::from_secs(2);
    }
    played
}

#[test]
fn the_overview_at_many_sizes() {
    for (width, height) in [(180, 10), (120, 10), (80, 10), (40, 7), (24, 5), (23, 5), (80, 4)] {
        assert_snapshot("overview", &watching(width, height), width, height);
    }
}

#[test]
fn an_open_group_at_many_sizes() {
    for (width, height) in [(180, 10), (80, 10), (80, 7)] {
        let mut played = watching(width, height);
        played.press(Press::Enter);
        assert_snapshot("group", &played, width, height);
    }
}

#[test]
fn what_is_wrong_is_said_above_the_keys() {
    let mut played = watching(100, 8);
    played.pass(0);
    played.now += Duration::from_secs(12);
    played.end(Err(refused()));
    assert_snapshot("failed", &played, 100, 8);
}

#[test]
fn before_the_first_look_and_without_groups() {
    let mut played = Played::on_screen(60, 6);
    assert_snapshot("first", &played, 60, 6);
    played.look(Vec::new());
    assert_snapshot("empty", &played, 60, 6);
}

#[test]
fn a_filter_is_shown_while_it_is_typed() {
    let mut played = watching(80, 8);
    played.press(Press::Char('/'));
    played.type_in("mai");
    assert_snapshot("filter", &played, 80, 8);
    played.type_in("x");
    assert_snapshot("filter_nothing", &played, 80, 8);
}

#[test]
fn help_fits_on_an_ordinary_terminal() {
    let mut played = watching(80, 24);
    played.press(Press::Char('?'));
    assert_snapshot("help", &played, 80, 24);
    let lines: Vec<&str> = help::PAGE.lines().collect();
    assert!(lines.len() <= 24 && lines.iter().all(|line| line.chars().count() <= 80));
}

#[test]
fn any_size_can_be_drawn() {
    let mut played = watching(80, 20);
    for press in [Press::Char('x'), Press::Enter, Press::Char('/'), Press::Escape, Press::Char('?')] {
        played.press(press);
        for width in (0..60).chain([300, 500]) {
            for height in (0..15).chain([100]) {
                played.on(Event::Resized { width, height });
                buffer(&played, width, height, Palette::Coloured);
            }
        }
    }
}

#[test]
fn without_colours_the_selected_row_still_stands_out() {
    let played = watching(120, 10);
    let plain = buffer(&played, 120, 10, Palette::Plain);
    let selected = |buffer: &Buffer| {
        let is_reversed = |y: &u16| buffer[(2, *y)].modifier.contains(Modifier::REVERSED);
        (0..10).filter(is_reversed).collect::<Vec<_>>()
    };
    assert_eq!(selected(&plain), [2]);
    assert!(plain.content().iter().all(|cell| cell.fg == Color::Reset && cell.bg == Color::Reset));
    let coloured = buffer(&played, 120, 10, Palette::Coloured);
    assert_eq!(text(&coloured), text(&plain));
    for colour in [Color::Green, Color::Yellow, Color::Red] {
        assert!(coloured.content().iter().any(|cell| cell.fg == colour), "{colour}");
    }
}

#[test]
fn names_cannot_take_over_the_terminal() {
    let mut played = Played::on_screen(80, 8);
    let name = "evil\u{1b}[2J\u{7}\nname 日本語".to_owned();
    played.look(vec![group(&name, "Stable", vec![partition(0, Some(0), 1)])]);
    let mut check = || {
        let shown = buffer(&played, 80, 8, Palette::Plain);
        assert!(shown.content().iter().all(|cell| !cell.symbol().contains(char::is_control)));
        assert!(text(&shown).contains("evil"), "{}", text(&shown));
        played.press(Press::Enter);
    };
    check();
    check();
}

#[test]
fn only_rows_on_the_screen_are_formatted() {
    let mut played = Played::on_screen(80, 10);
    let named = |number: i64| group(&format!("g-{number:05}"), "Empty", vec![partition(0, Some(0), number)]);
    played.look((0..10_000).map(named).collect());
    played.press(Press::PageDown);
    let shown = text(&buffer(&played, 80, 10, Palette::Plain));
    assert_eq!(shown.lines().filter(|line| line.contains("g-0")).count(), 6, "{shown}");
    let begin = std::time::Instant::now();
    for _ in 0..100 {
        buffer(&played, 80, 10, Palette::Plain);
    }
    println!("a frame takes {:?}", begin.elapsed() / 100);
}
