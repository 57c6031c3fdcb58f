//! The notation of the schemas, and what reads by them. All values are flexible: lengths are compact, and every structure
//! ends with tagged fields.

use milepost_model::TopicId;

use crate::DecodeError;
use crate::bytes::{Format, Reader, Tag};

/// The fields of a structure: those in wire order first, then the tagged ones.
pub(super) type Schema = &'static [Field];

/// A field.
pub(super) struct Field {
    name: &'static str,
    kind: Kind,
    place: Place,
}

/// What a field is.
pub(super) enum Kind {
    I8,
    I16,
    U16,
    I32,
    I64,
    Text,
    NullableText,
    Id,
    NullableStructure(Schema),
    List(&'static Kind),
    NullableList(&'static Kind),
    Structure(Schema),
}

/// Where a field stands.
enum Place {
    InOrder,
    /// Among the tagged fields, where it is left out if it has this value.
    Tagged {
        tag: u32,
        default: Option<i64>,
    },
}

/// A field in wire order.
pub(super) const fn field(name: &'static str, kind: Kind) -> Field {
    Field { name, kind, place: Place::InOrder }
}

/// A tagged field with a number that it has where it is left out; `None`: null.
pub(super) const fn tagged(name: &'static str, kind: Kind, tag: u32, default: Option<i64>) -> Field {
    Field { name, kind, place: Place::Tagged { tag, default } }
}

/// The fields of a structure by name, in the order of the schema.
pub type Fields<'a> = Vec<(&'static str, Value<'a>)>;

/// What a field says.
#[derive(Clone, Debug, PartialEq)]
pub enum Value<'a> {
    /// Nothing.
    Null,
    /// A number.
    Number(i64),
    /// A text.
    Text(&'a str),
    /// The id of a topic.
    Id(TopicId),
    /// Many of one kind.
    List(Vec<Value<'a>>),
    /// A structure.
    Structure(Fields<'a>),
}

/// Reads a structure.
pub(super) fn read_fields<'a>(reader: &mut Reader<'a>, schema: Schema) -> Result<Fields<'a>, DecodeError> {
    let mut fields = Vec::new();
    for one in schema {
        if matches!(one.place, Place::InOrder) {
            fields.push((one.name, read(reader, one.name, &one.kind)?));
        }
    }
    reader.tagged_fields(|found, reader| {
        let known = schema.iter().find_map(|one| match one.place {
            Place::Tagged { tag, default } if tag == found => Some((one, default)),
            _ => None,
        });
        let Some((one, default)) = known else { return Ok(Tag::Unknown) };
        let value = read(reader, one.name, &one.kind)?;
        if value != default.map_or(Value::Null, Value::Number) {
            fields.push((one.name, value));
        }
        Ok(Tag::Known)
    })?;
    Ok(fields)
}

fn read<'a>(reader: &mut Reader<'a>, name: &'static str, kind: &Kind) -> Result<Value<'a>, DecodeError> {
    const FORMAT: Format = Format::Flexible;
    Ok(match kind {
        Kind::I8 => Value::Number(reader.i8(name)?.into()),
        Kind::I16 => Value::Number(reader.i16(name)?.into()),
        Kind::U16 => Value::Number(u16::from_be_bytes(reader.array(name)?).into()),
        Kind::I32 => Value::Number(reader.i32(name)?.into()),
        Kind::I64 => Value::Number(reader.i64(name)?),
        Kind::Text => Value::Text(reader.string(FORMAT, name)?),
        Kind::NullableText => reader.nullable_string(FORMAT, name)?.map_or(Value::Null, Value::Text),
        Kind::Id => Value::Id(TopicId(reader.array(name)?)),
        Kind::Structure(schema) => Value::Structure(read_fields(reader, schema)?),
        Kind::NullableStructure(schema) => match reader.i8(name)? {
            ..=0 => Value::Null,
            1.. => Value::Structure(read_fields(reader, schema)?),
        },
        Kind::List(element) => {
            let length = reader.array_length(FORMAT, name)?;
            read_list(reader, name, element, length)?
        }
        Kind::NullableList(element) => match reader.nullable_array_length(FORMAT, name)? {
            None => Value::Null,
            Some(length) => read_list(reader, name, element, length)?,
        },
    })
}

/// Element by element: the length is not believed before they are there.
fn read_list<'a>(
    reader: &mut Reader<'a>,
    name: &'static str,
    element: &Kind,
    length: usize,
) -> Result<Value<'a>, DecodeError> {
    let mut list = Vec::new();
    for _ in 0..length {
        list.push(read(reader, name, element)?);
    }
    Ok(Value::List(list))
}
