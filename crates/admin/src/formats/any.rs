//! A file of offsets in any of the formats, told apart by what is in it.

use std::collections::BTreeMap;
use std::io::BufRead;
use std::path::Path;

use milepost_client::TopicPartition;
use milepost_model::Offset;

use super::{OffsetRow, kafka_csv, rpk};
use crate::snapshot::{self, Snapshot};

/// What a file holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum OffsetFile {
    /// Our own format.
    Snapshot(Snapshot),
    /// Rows of another tool.
    Rows(Vec<OffsetRow>),
}

/// The name of standard input.
const STANDARD_INPUT: &str = "-";

/// Reads a file, or standard input where the path is `-`.
///
/// # Errors
/// What is wrong with it.
pub fn read(path: &Path) -> Result<OffsetFile, String> {
    if path == Path::new(STANDARD_INPUT) {
        return parse(&mut std::io::stdin().lock()).map_err(|why| format!("standard input: {why}"));
    }
    let file = std::fs::File::open(path).map_err(|error| format!("{}: {error}", path.display()))?;
    parse(&mut std::io::BufReader::new(file)).map_err(|why| format!("{}: {why}", path.display()))
}

/// Our lines begin with a brace, Kafka's have commas, those of rpk have neither.
fn parse(input: &mut dyn BufRead) -> Result<OffsetFile, String> {
    let begin = input.fill_buf().map_err(|error| error.to_string())?;
    let first = begin.split(|byte| *byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    match first {
        None => Err("the file is empty".to_owned()),
        Some(line) if line.trim_ascii_start().starts_with(b"{") => {
            snapshot::read(input).map(OffsetFile::Snapshot)
        }
        Some(line) if line.contains(&b',') => kafka_csv::read(input).and_then(apart),
        Some(_) => rpk::read(input).and_then(apart),
    }
}

/// Two rows of one partition with different offsets are refused: whichever was taken, the other would be lost. So are rows of
/// which it cannot be said whether they are of one group.
fn apart(rows: Vec<OffsetRow>) -> Result<OffsetFile, String> {
    if rows.iter().any(|row| row.group.is_some()) && rows.iter().any(|row| row.group.is_none()) {
        return Err("some rows name a group and others do not".to_owned());
    }
    let mut said: BTreeMap<(Option<&str>, &TopicPartition), Offset> = BTreeMap::new();
    for row in &rows {
        match said.insert((row.group.as_deref(), &row.partition), row.offset) {
            Some(other) if other != row.offset => {
                let (partition, offset) = (&row.partition, row.offset);
                let group = row.group.as_ref().map_or_else(String::new, |group| format!("{group} "));
                return Err(format!("two rows of {group}{partition}: {other} and {offset}"));
            }
            _ => {}
        }
    }
    Ok(OffsetFile::Rows(rows))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_format_is_told_from_what_is_in_the_file() {
        let ours = "{\"format\":\"milepost-offsets\",\"version\":1,\"name\":\"n\",\"created_ms\":0}\n";
        assert!(matches!(parse(&mut ours.as_bytes()), Ok(OffsetFile::Snapshot(_))));
        for text in ["t,0,5\n", "g,t,0,5\n", "\nt 0 5\n"] {
            let Ok(OffsetFile::Rows(rows)) = parse(&mut text.as_bytes()) else { panic!("{text:?}") };
            assert_eq!(rows[0].offset.0, 5);
        }
        assert!(parse(&mut "".as_bytes()).is_err());
    }

    #[test]
    fn a_partition_that_is_said_twice_is_refused() {
        for (text, words) in [
            ("t,0,5\nt,1,5\nt,0,6\n", "two rows of t-0: 5 and 6"),
            ("g,t,0,5\nh,t,0,7\ng,t,0,6\n", "two rows of g t-0: 5 and 6"),
            ("t,0,5\ng,t,0,6\n", "some rows name a group and others do not"),
            ("t 0 5\nt 0 6\n", "two rows of t-0: 5 and 6"),
        ] {
            assert_eq!(parse(&mut text.as_bytes()), Err(words.to_owned()));
        }
        assert!(parse(&mut "t 0 5\nt 0 5\n".as_bytes()).is_ok());
    }
}
