//! The text that `rpk group seek --to-file` reads: `TOPIC PARTITION OFFSET`, one a line, of one group.

use std::io::{BufRead, Write};

use super::{OffsetRow, ROWS_MAX, row};

/// Reads rows; empty lines are passed over.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(input: &mut dyn BufRead) -> Result<Vec<OffsetRow>, String> {
    let mut rows = Vec::new();
    for (index, line) in input.lines().enumerate() {
        let number = index + 1;
        let line = line.map_err(|error| format!("line {number}: {error}"))?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        let read = match fields.as_slice() {
            [] => continue,
            [topic, partition, offset] => row(None, topic, partition, offset),
            _ => Err(format!("{} words, and 3 are read", fields.len())),
        };
        rows.push(read.map_err(|why| format!("line {number}: {why}"))?);
        if rows.len() > ROWS_MAX {
            return Err(format!("the file has more than {ROWS_MAX} rows"));
        }
    }
    Ok(rows)
}

/// Writes rows, without their groups.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, rows: &[OffsetRow]) -> std::io::Result<()> {
    for one in rows {
        writeln!(out, "{} {} {}", one.partition.topic, one.partition.partition, one.offset)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_three_words() {
        let rows = read(&mut "t 0 5\n\n u\t1   6\n".as_bytes()).unwrap();
        let mut out = Vec::new();
        write(&mut out, &rows).unwrap();
        assert_eq!(String::from_utf8(out).unwrap(), "t 0 5\nu 1 6\n");
        assert!(read(&mut "t 0\n".as_bytes()).unwrap_err().starts_with("line 1: 2 words"));
    }
}
