//! The tables of README.md say what the code says. Fails with the lines that should stand there.

use milepost_broker::config::{BROKER_SETTINGS, UNSERVED_SETTINGS, Unserved};
use milepost_wire::ADVERTISED;

const README: &str = include_str!("../../../README.md");

/// The lines of the table below this heading line, without the heading and but for columns beyond the third.
fn table(heading: &str) -> Vec<String> {
    let mut lines = README.lines().skip_while(|line| *line != heading);
    assert!(lines.next().is_some(), "README.md has no table {heading:?}");
    assert!(lines.next().is_some_and(|line| line.starts_with("| --- | --- | --- |")));
    lines.take_while(|line| line.starts_with('|')).map(first_three).collect()
}

/// The stories fill the last column of the table of APIs, and `cargo xtask clients-table` compares it.
fn first_three(line: &str) -> String {
    let cells: Vec<&str> = line.split(" | ").take(3).collect();
    format!("{} |", cells.join(" | ").trim_end_matches(" |"))
}

#[test]
fn the_table_of_settings_is_the_one_in_force() {
    let expected: Vec<String> = BROKER_SETTINGS
        .iter()
        .map(|setting| {
            let default = match setting.default {
                "" => "none".to_owned(),
                default => format!("`{default}`"),
            };
            format!("| `{}` | {default} | {} |", setting.name, setting.documentation)
        })
        .collect();
    assert!(
        table("| setting | default | meaning |") == expected,
        "the table of settings in README.md should read:\n{}",
        expected.join("\n")
    );
}

#[test]
fn the_table_of_settings_that_do_nothing_is_the_one_in_force() {
    let expected: Vec<String> = UNSERVED_SETTINGS
        .iter()
        .map(|entry| {
            let rest = if entry.name.ends_with('.') { "…" } else { "" };
            let here = match entry.treatment {
                Unserved::Refused => "refused",
                Unserved::WithoutEffect => "no effect",
            };
            format!("| `{}{rest}` | {here} | {} |", entry.name, entry.why)
        })
        .collect();
    assert!(
        table("| setting of Kafka | here | why |") == expected,
        "the table of settings that do nothing in README.md should read:\n{}",
        expected.join("\n")
    );
}

#[test]
fn the_table_of_apis_is_the_one_served() {
    let expected: Vec<String> = ADVERTISED
        .iter()
        .map(|range| {
            let versions = match (range.min_served, range.max) {
                (min, max) if min == max => max.to_string(),
                (min, max) => format!("{min}–{max}"),
            };
            format!("| {} | {} | {versions} |", range.key, range.key.code())
        })
        .collect();
    assert!(
        table("| API | key | versions | seen from |") == expected,
        "the table of APIs in README.md should read:\n{}",
        expected.join("\n")
    );
}
