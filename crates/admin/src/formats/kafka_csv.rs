//! The CSV of `kafka-consumer-groups --export` and `--from-file`: `topic,partition,offset` for one group, or
//! `group,topic,partition,offset`. No header. That tool quotes nothing; a group whose name has a comma in it is quoted here,
//! and that tool cannot read it either way.

use std::io::{Read, Write};

use super::{OffsetRow, ROWS_MAX, row};

/// Reads rows of either width.
///
/// # Errors
/// What is wrong, with the number of the line.
pub fn read(input: &mut dyn Read) -> Result<Vec<OffsetRow>, String> {
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).trim(csv::Trim::All).from_reader(input);
    let mut rows = Vec::new();
    for record in reader.records() {
        let record = record.map_err(|error| error.to_string())?;
        let line = record.position().map_or(0, csv::Position::line);
        let fields: Vec<&str> = record.iter().collect();
        let read = match fields.as_slice() {
            [topic, partition, offset] => row(None, topic, partition, offset),
            [group, topic, partition, offset] => row(Some(group), topic, partition, offset),
            _ => Err(format!("{} fields, and 3 or 4 are read", fields.len())),
        };
        rows.push(read.map_err(|why| format!("line {line}: {why}"))?);
        if rows.len() > ROWS_MAX {
            return Err(format!("the file has more than {ROWS_MAX} rows"));
        }
    }
    Ok(rows)
}

/// Writes rows: with the group where they have one.
///
/// # Errors
/// Those of `out`.
pub fn write(out: &mut dyn Write, rows: &[OffsetRow]) -> std::io::Result<()> {
    let mut writer = csv::WriterBuilder::new().flexible(true).from_writer(out);
    for one in rows {
        let (partition, offset) = (one.partition.partition.to_string(), one.offset.to_string());
        let fields = one.group.as_deref().into_iter();
        writer.write_record(fields.chain([&*one.partition.topic, &partition, &offset]))?;
    }
    writer.flush()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_widths_are_read_and_written_as_they_came() {
        for text in ["t,0,5\nt,1,6\n", "g,t,0,5\nh,t,1,6\n"] {
            let rows = read(&mut text.as_bytes()).unwrap();
            assert_eq!((rows.len(), rows[1].offset.0, rows[1].partition.partition.0), (2, 6, 1));
            let mut out = Vec::new();
            write(&mut out, &rows).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), text);
        }
    }

    #[test]
    fn what_is_no_row_is_refused_with_its_line() {
        for (text, words) in [
            ("t,0\n", "line 1: 2 fields"),
            ("t,0,1\nt,x,1\n", "line 2: \"x\" is no partition"),
            ("t,0,-1\n", "line 1: the offset"),
            (",0,1\n", "line 1: the topic"),
        ] {
            assert!(read(&mut text.as_bytes()).unwrap_err().starts_with(words), "{text:?}");
        }
    }
}
