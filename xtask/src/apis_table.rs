//! The last column of README.md's table of APIs: which clients asked for each API in the stories, in which versions. The
//! other columns are the code's, and a test of `broker` compares them.
//!
//! Some of what a client asks hangs on timing, such as a second look for a coordinator, and so may the version. So README.md
//! may say less than one run of the stories saw, and name a version that was seen in another; but no client that did not
//! ask for the API at all.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::process::ChoreError;

const HEADING: &str = "| API | key | versions | seen from |";

/// What stands where no client was seen.
const NOBODY: &str = "–";

/// Who asked for each API: clients by version.
type Seen = BTreeMap<String, BTreeMap<i64, Vec<String>>>;

/// README.md with the column as the results of the stories say.
pub(crate) fn fill(readme: &str, results: &Value) -> Result<String, ChoreError> {
    let seen = seen(results)?;
    let missing = || ChoreError::Unexpected(format!("README.md has no table {HEADING:?}"));
    let start = readme.find(HEADING).ok_or_else(missing)?;
    let length = readme[start..].find("\n\n").ok_or_else(missing)?;
    let (before, table, after) =
        (&readme[..start], &readme[start..start + length], &readme[start + length..]);
    let filled: Vec<String> = table
        .lines()
        .enumerate()
        .map(|(at, line)| if at < 2 { line.to_owned() } else { fill_line(line, &seen) })
        .collect();
    Ok(format!("{before}{}{after}", filled.join("\n")))
}

/// What README.md says that these results do not show: a client that did not ask in any version, and an API of which nobody
/// is named though somebody asked. Empty if it is true.
pub(crate) fn untrue(readme: &str, results: &Value) -> Result<Vec<String>, ChoreError> {
    let seen = seen(results)?;
    let mut untrue = Vec::new();
    for line in readme.lines().skip_while(|line| *line != HEADING).skip(2).take_while(|line| !line.is_empty())
    {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let [_, api, _, _, said, _] = cells[..] else {
            return Err(ChoreError::Unexpected(format!("no line of the table of APIs: {line}")));
        };
        let versions = seen.get(api);
        if said == NOBODY {
            untrue.extend(versions.map(|versions| format!("{api}: nobody, but {} did", cell(versions))));
            continue;
        }
        for (version, client) in said
            .split("; ")
            .filter_map(|part| part.split_once(": "))
            .flat_map(|(version, clients)| clients.split(", ").map(move |client| (version, client)))
        {
            let asked = versions.is_some_and(|versions| versions.values().flatten().any(|one| one == client));
            if !asked {
                untrue.push(format!("{api} {version}: {client} did not ask"));
            }
        }
    }
    Ok(untrue)
}

fn fill_line(line: &str, seen: &Seen) -> String {
    let of_code: Vec<&str> = line.split('|').skip(1).take(3).map(str::trim).collect();
    let cell = of_code.first().and_then(|api| seen.get(*api)).map_or(NOBODY.to_owned(), cell);
    format!("| {} | {cell} |", of_code.join(" | "))
}

/// The newest version first.
fn cell(versions: &BTreeMap<i64, Vec<String>>) -> String {
    let parts: Vec<String> = versions
        .iter()
        .rev()
        .map(|(version, clients)| format!("{version}: {}", clients.join(", ")))
        .collect();
    parts.join("; ")
}

fn seen(results: &Value) -> Result<Seen, ChoreError> {
    let wrong =
        || ChoreError::Unexpected("the results of the stories do not say who asked for what".to_owned());
    let mut seen = Seen::new();
    for (api, clients) in results["apis"].as_object().ok_or_else(wrong)? {
        for (client, versions) in clients.as_object().ok_or_else(wrong)? {
            for version in versions.as_array().ok_or_else(wrong)? {
                let version = version.as_i64().ok_or_else(wrong)?;
                seen.entry(api.clone()).or_default().entry(version).or_default().push(client.clone());
            }
        }
    }
    Ok(seen)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{HEADING, fill, untrue};

    #[test]
    fn the_column_says_who_asked_for_each_version() {
        let results = json!({"apis": {
            "Fetch": {"java": [17, 18], "kcat": [11], "librdkafka": [17]},
            "Gone": {"java": [1]},
        }});
        let readme = format!(
            "before\n\n{HEADING}\n| --- | --- | --- | --- |\n| Fetch | 1 | 4–18 | stale |\n| OffsetDelete | 47 | 0 |\n\nafter"
        );
        let filled = fill(&readme, &results).expect("both are whole");
        assert_eq!(
            filled,
            format!(
                "before\n\n{HEADING}\n| --- | --- | --- | --- |\n\
                 | Fetch | 1 | 4–18 | 18: java; 17: java, librdkafka; 11: kcat |\n| OffsetDelete | 47 | 0 | – |\n\nafter"
            )
        );
        assert_eq!(fill(&filled, &results).expect("both are whole"), filled);
    }

    #[test]
    fn it_may_say_less_than_was_seen_and_no_client_more() {
        let results = json!({"apis": {"Fetch": {"java": [17, 18], "kcat": [11]}, "Produce": {"kcat": [7]}}});
        let table = |fetch, produce| {
            format!(
                "{HEADING}\n| --- | --- | --- | --- |\n| Fetch | 1 | 4–18 | {fetch} |\n| Produce | 0 | 3–13 | {produce} |\n"
            )
        };
        let untrue = |fetch, produce| untrue(&table(fetch, produce), &results).expect("both are whole");
        assert!(untrue("18: java; 11: kcat", "7: kcat").is_empty());
        assert!(untrue("18: java, kcat", "7: kcat").is_empty(), "the version may hang on timing");
        assert_eq!(
            untrue("18: sarama", "–"),
            ["Fetch 18: sarama did not ask", "Produce: nobody, but 7: kcat did"]
        );
    }

    #[test]
    fn what_is_not_there_is_an_error() {
        assert!(fill("no table", &json!({"apis": {}})).is_err());
        assert!(fill(&format!("{HEADING}\n\n"), &json!({})).is_err());
    }
}
