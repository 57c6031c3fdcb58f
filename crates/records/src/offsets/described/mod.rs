//! The records of share groups (types 10 to 15) and of streams groups (17 and 19 to 23): read to be shown, and nothing else.
//!
//! Nothing here acts on them, and to whoever replays the log they are [`super::Record::Unknown`], so that one that is damaged
//! or newer than this program keeps no log from being loaded. That is why their structures are data (the schemas in
//! `share_group` and `streams_group`, after Kafka's own of the same names) and not types: what is read is a tree of named
//! values, in the order of the schema. `offsets dump` calls it.

mod schema;
mod share_group;
mod streams_group;
#[cfg(test)]
mod tests;

use crate::DecodeError;
use crate::bytes::{Format, Reader};
use schema::{Schema, read_fields};

pub use schema::{Fields, Value};

/// A record of a share or streams group.
#[derive(Clone, Debug, PartialEq)]
pub struct DescribedRecord<'a> {
    /// The name of its type.
    pub name: &'static str,
    /// The group.
    pub group: &'a str,
    /// The member, of a type that is about one.
    pub member: Option<&'a str>,
    /// What it says; `None`: it removes what was said.
    pub value: Option<Fields<'a>>,
}

/// A type of record.
struct RecordType {
    code: i16,
    name: &'static str,
    /// Whether the key names a member.
    about: About,
    value: Schema,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum About {
    Group,
    Member,
}

impl<'a> DescribedRecord<'a> {
    /// Reads a record. `None` for a type that is not of a share or streams group.
    ///
    /// # Errors
    /// [`DecodeError::UnsupportedVersion`] for a value in another version than 0, which is the only one there is; the others
    /// when the bytes are not what their type says.
    pub fn decode(key: &'a [u8], value: Option<&'a [u8]>) -> Result<Option<Self>, DecodeError> {
        let mut reader = Reader::new(key);
        let code = reader.i16("the record type")?;
        let all = share_group::TYPES.iter().chain(streams_group::TYPES);
        let Some(of_type) = all.into_iter().find(|one| one.code == code) else { return Ok(None) };
        let group = reader.string(Format::Plain, "groupId")?;
        let member = match of_type.about {
            About::Group => None,
            About::Member => Some(reader.string(Format::Plain, "memberId")?),
        };
        reader.finish()?;
        let value = value.map(|value| of_type.decode_value(value)).transpose()?;
        Ok(Some(Self { name: of_type.name, group, member, value }))
    }
}

impl RecordType {
    fn decode_value<'a>(&self, value: &'a [u8]) -> Result<Fields<'a>, DecodeError> {
        let mut reader = Reader::new(value);
        let version = reader.i16("the version")?;
        if version != 0 {
            return Err(DecodeError::UnsupportedVersion { record: self.name, version });
        }
        let fields = read_fields(&mut reader, self.value)?;
        reader.finish()?;
        Ok(fields)
    }
}
