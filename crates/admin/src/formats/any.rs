//! A file of offsets in any of the formats, told apart by what is in it.

use std::io::BufRead;
use std::path::Path;

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

/// Reads a file.
///
/// # Errors
/// What is wrong with it.
pub fn read(path: &Path) -> Result<OffsetFile, String> {
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
        Some(line) if line.contains(&b',') => kafka_csv::read(input).map(OffsetFile::Rows),
        Some(_) => rpk::read(input).map(OffsetFile::Rows),
    }
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
}
