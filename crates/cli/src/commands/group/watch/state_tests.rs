use super::super::column::Order;
use super::super::test_support::{Played, group, partition, refused, three};
use super::*;

fn shown(played: &Played) -> Vec<&str> {
    played.state.groups.visible().map(|(name, _)| name.as_str()).collect()
}

fn selected(played: &Played) -> &str {
    played.state.groups.selected().expect("there is a row")
}

/// A screen after two looks at three groups.
fn watching() -> Played {
    let mut played = Played::on_screen(120, 20);
    for look in 0..2 {
        played.look(three(look));
        played.now += Duration::from_secs(2);
    }
    played
}

#[test]
fn a_look_is_due_at_every_interval_and_never_while_another_is_on_the_way() {
    let mut played = Played::on_screen(80, 20);
    assert_eq!(played.on(Event::Tick), Some(Effect::Look));
    for _ in 0..10 {
        assert_eq!(played.pass(2), None, "the first has not ended");
        assert_eq!(played.press(Press::Char(' ')), None);
    }
    played.end(Ok(Ended { coverage: Coverage::Whole, errors: Vec::new() }));
    assert_eq!(played.on(Event::Tick), Some(Effect::Look), "one, however many were missed");
    played.end(Ok(Ended { coverage: Coverage::Whole, errors: Vec::new() }));
    assert_eq!(played.pass(1), None);
    assert_eq!(played.pass(1), Some(Effect::Look));
}

#[test]
fn while_paused_only_a_key_makes_a_look() {
    let mut played = watching();
    played.press(Press::Char('p'));
    assert_eq!(played.pass(100), None);
    assert_eq!(played.press(Press::Char('R')), Some(Effect::Look));
    played.end(Ok(Ended { coverage: Coverage::Whole, errors: Vec::new() }));
    assert_eq!(played.pass(100), None);
    played.press(Press::Char('p'));
    assert_eq!(played.pass(0), Some(Effect::Look));
}

#[test]
fn a_look_that_fails_keeps_the_figures_and_the_next_one_waits() {
    let mut played = watching();
    assert_eq!(played.on(Event::Tick), Some(Effect::Look));
    played.now += Duration::from_secs(30);
    played.end(Err(refused()));
    assert_eq!(shown(&played).len(), 3);
    let status = played.state.looks.status(played.now).text;
    assert!(status.contains("31s old") && status.contains("Connection refused"), "{status}");
    assert_eq!(played.pass(1), None);
    assert_eq!(played.pass(1), Some(Effect::Look));
    played.on(Event::Said(Said::Part { at: played.now, groups: three(2) }));
    played.end(Ok(Ended { coverage: Coverage::Whole, errors: Vec::new() }));
    let status = played.state.looks.status(played.now).text;
    assert!(!status.contains("refused"), "{status}");
    let billing = &played.state.watched.groups()["billing"].figures;
    assert_eq!(billing.consumption.map(f64::round), Some(17.0), "600 records in 36 seconds");
}

#[test]
fn an_answer_that_does_not_come_is_said_before_it_has_failed() {
    let mut played = watching();
    assert_eq!(played.on(Event::Tick), Some(Effect::Look));
    played.pass(5);
    let status = played.state.looks.status(played.now).text;
    assert_eq!(status, "the figures are 6s old: no answer for 5s");
}

#[test]
fn the_groups_of_a_broker_that_does_not_answer_stay() {
    let mut played = watching();
    played.on(Event::Tick);
    played.on(Event::Said(Said::Part { at: played.now, groups: vec![three(2).remove(0)] }));
    played.end(Ok(Ended { coverage: Coverage::Partial, errors: vec![refused()] }));
    assert_eq!(shown(&played), ["billing", "mail", "search"]);
    assert!(played.state.looks.status(played.now).text.contains("refused"));
    played.now += Duration::from_secs(2);
    played.look(vec![three(3).remove(0)]);
    assert_eq!(shown(&played), ["billing"], "every broker has answered");
}

#[test]
fn sorting_goes_through_the_columns_and_keeps_the_selected_group() {
    let mut played = watching();
    assert_eq!(shown(&played), ["billing", "mail", "search"], "the longest lag first, unknown last");
    played.press(Press::Down);
    assert_eq!(selected(&played), "mail");
    played.press(Press::Char('S'));
    assert_eq!(shown(&played), ["mail", "billing", "search"], "unknown stays last");
    assert_eq!(selected(&played), "mail");
    for column in [GroupColumn::Standing, GroupColumn::Consumed] {
        played.press(Press::Char('s'));
        assert_eq!((played.state.groups.column, selected(&played)), (column, "mail"));
    }
    assert_eq!(played.state.groups.order, Order::Descending);
    for _ in 0..3 {
        played.press(Press::Char('s'));
    }
    assert_eq!(shown(&played), ["billing", "mail", "search"]);
    played.press(Press::Char('r'));
    assert_eq!((shown(&played), selected(&played)), (vec!["search", "mail", "billing"], "mail"));
}

#[test]
fn the_filter_works_as_it_is_typed() {
    let mut played = watching();
    played.press(Press::Char('/'));
    played.type_in("qA");
    assert_eq!(shown(&played), Vec::<&str>::new(), "q is a letter here");
    played.press(Press::Backspace);
    played.press(Press::Backspace);
    played.type_in("IL");
    assert_eq!(shown(&played), ["billing", "mail"], "letters of either case");
    played.press(Press::Down);
    played.press(Press::Enter);
    assert_eq!((shown(&played), selected(&played)), (vec!["billing", "mail"], "mail"));
    assert_eq!(played.press(Press::Escape), None, "Esc takes the filter away first");
    assert_eq!((shown(&played).len(), selected(&played)), (3, "mail"));
    assert_eq!(played.press(Press::Escape), Some(Effect::Quit));
}

#[test]
fn a_filter_is_bounded() {
    let mut played = watching();
    played.press(Press::Char('/'));
    played.type_in(&"ä".repeat(300));
    assert_eq!(played.state.filter().chars().count(), FILTER_CHARS_MAX);
    played.press(Press::Escape);
    assert_eq!((played.state.filter(), shown(&played).len()), ("", 3));
}

#[test]
fn a_group_is_opened_and_left() {
    let mut played = watching();
    played.press(Press::Enter);
    assert_eq!(played.state.open.as_deref(), Some("billing"));
    let partitions = |played: &Played| -> Vec<String> {
        played.state.partitions.visible().map(|(one, _)| one.to_string()).collect()
    };
    assert_eq!(partitions(&played), ["orders-0", "orders-1"]);
    played.press(Press::Char('r'));
    assert_eq!(partitions(&played), ["orders-1", "orders-0"]);
    played.press(Press::Char('/'));
    played.type_in("orders-0");
    assert_eq!(partitions(&played), ["orders-0"]);
    played.press(Press::Escape);
    played.type_in("/10.0.0.7");
    assert_eq!(partitions(&played).len(), 2, "whoever reads them is found too");
    played.press(Press::Enter);
    assert_eq!(played.press(Press::Escape), None);
    assert_eq!(played.press(Press::Escape), None);
    assert_eq!((played.state.open.as_deref(), shown(&played).len()), (None, 3));
}

#[test]
fn a_group_that_goes_while_it_is_open_is_not_there_and_may_come_back() {
    let mut played = watching();
    played.press(Press::Enter);
    played.look(Vec::new());
    assert!(played.state.open_group().is_none());
    assert_eq!(played.press(Press::Enter), None);
    played.now += Duration::from_secs(2);
    played.look(three(2));
    assert_eq!(played.state.open_group().map(|(name, _)| name), Some("billing"));
    assert_eq!(played.state.partitions.len(), 2);
    played.press(Press::Escape);
    assert_eq!(shown(&played).len(), 3);
}

#[test]
fn only_groups_with_lag_are_shown_if_wanted() {
    let mut played = Played::on_screen(80, 20);
    played.look(vec![
        group("behind", "Stable", vec![partition(0, Some(1), 5)]),
        group("beyond", "Stable", vec![partition(0, Some(9), 5)]),
        group("even", "Stable", vec![partition(0, Some(5), 5)]),
        group("never", "Empty", vec![partition(0, None, 5)]),
        group("unbegun", "Stable", vec![partition(0, None, 5)]),
    ]);
    played.press(Press::Char('l'));
    assert_eq!(shown(&played), ["behind", "beyond", "unbegun"]);
    played.press(Press::Char('l'));
    assert_eq!(shown(&played).len(), 5);
}

#[test]
fn every_way_to_quit() {
    for keys in [
        vec![Press::Char('q')],
        vec![Press::Interrupt],
        vec![Press::Escape],
        vec![Press::Char('?'), Press::Char('q')],
        vec![Press::Char('?'), Press::Char('x'), Press::Char('q')],
        vec![Press::Char('/'), Press::Char('q'), Press::Interrupt],
        vec![Press::Enter, Press::Char('q')],
    ] {
        let mut played = watching();
        let (last, before) = keys.split_last().expect("there are keys");
        for key in before {
            assert_eq!(played.press(*key), None, "{keys:?}");
        }
        assert_eq!(played.press(*last), Some(Effect::Quit), "{keys:?}");
    }
}

#[test]
fn the_shell_gets_the_terminal_whatever_is_shown() {
    let mut played = watching();
    for key in [Press::Char('?'), Press::Char('x'), Press::Char('/'), Press::Escape, Press::Enter] {
        assert_eq!(played.press(Press::Suspend), Some(Effect::Suspend));
        assert_eq!(played.press(key), None);
    }
}

#[test]
fn ten_thousand_groups_are_moved_through() {
    let mut played = Played::on_screen(80, 20);
    let named = |number: i64| group(&format!("g-{number:05}"), "Empty", vec![partition(0, Some(0), number)]);
    played.look((0..10_000).map(named).collect());
    assert_eq!(shown(&played).len(), 16);
    played.press(Press::End);
    assert_eq!(selected(&played), "g-00000");
    assert_eq!(shown(&played).last(), Some(&"g-00000"));
    played.on(Event::Resized { width: 80, height: 10 });
    assert_eq!((selected(&played), shown(&played).len()), ("g-00000", 6));
}
