//! The primitives of Kafka's schema format, both the plain and the flexible (compact, tagged) ones.
//!
//! A [`Reader`] never reads beyond its slice and never allocates by a length it read. Called by the record types only.

use thiserror::Error;

/// The longest string of a non-flexible field, in bytes of UTF-8: its length is an `i16`.
pub const MAX_STRING_BYTES: usize = i16::MAX as usize;

/// Why bytes are not the record they claim to be.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum DecodeError {
    /// A field runs past the end of the bytes.
    #[error("the bytes end within {0}")]
    Truncated(&'static str),
    /// A length is negative (or null) where the schema has no null, or larger than the schema's type.
    #[error("{0} has a length that is not possible")]
    InvalidLength(&'static str),
    /// A string is not UTF-8.
    #[error("{0} is not UTF-8")]
    InvalidUtf8(&'static str),
    /// A field has a value outside of its meaning.
    #[error("{0} has a value that is not possible")]
    InvalidValue(&'static str),
    /// Bytes are left over after the last field.
    #[error("{0} bytes are left over after the last field")]
    TrailingBytes(usize),
    /// The value's schema version is one that this program cannot read. It may be a newer writer's; guessing at its
    /// fields could lose a position.
    #[error("{record} has version {version}, which this program cannot read")]
    UnsupportedVersion {
        /// The name of the record type.
        record: &'static str,
        /// The version found.
        version: i16,
    },
    /// A record of an internal topic without a key.
    #[error("the record has no key")]
    MissingKey,
}

/// Why a record cannot be written.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum EncodeError {
    /// A string or array is longer than its length field can say.
    #[error("{0} is too long to be stored")]
    TooLong(&'static str),
}

/// Reads fields off the front of a slice.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// What was not read yet.
    pub(crate) fn rest(&self) -> &'a [u8] {
        self.rest
    }

    /// Checks that everything was read.
    pub(crate) fn finish(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::TrailingBytes(self.rest.len())) }
    }

    fn take(&mut self, count: usize, field: &'static str) -> Result<&'a [u8], DecodeError> {
        let (head, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Truncated(field))?;
        self.rest = rest;
        Ok(head)
    }

    pub(crate) fn array<const N: usize>(&mut self, field: &'static str) -> Result<[u8; N], DecodeError> {
        let (head, rest) = self.rest.split_first_chunk().ok_or(DecodeError::Truncated(field))?;
        self.rest = rest;
        Ok(*head)
    }

    pub(crate) fn i8(&mut self, field: &'static str) -> Result<i8, DecodeError> {
        self.array(field).map(i8::from_be_bytes)
    }

    pub(crate) fn i16(&mut self, field: &'static str) -> Result<i16, DecodeError> {
        self.array(field).map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self, field: &'static str) -> Result<i32, DecodeError> {
        self.array(field).map(i32::from_be_bytes)
    }

    pub(crate) fn i64(&mut self, field: &'static str) -> Result<i64, DecodeError> {
        self.array(field).map(i64::from_be_bytes)
    }

    /// An unsigned varint of at most 32 bits.
    pub(crate) fn unsigned_varint(&mut self, field: &'static str) -> Result<u32, DecodeError> {
        let mut value = 0_u64;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array(field)?;
            value |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return u32::try_from(value).map_err(|_| DecodeError::InvalidLength(field));
            }
        }
        Err(DecodeError::InvalidLength(field))
    }

    fn text(&mut self, length: usize, field: &'static str) -> Result<&'a str, DecodeError> {
        let bytes = self.take(length, field)?;
        std::str::from_utf8(bytes).map_err(|_| DecodeError::InvalidUtf8(field))
    }

    pub(crate) fn nullable_string(
        &mut self,
        format: Format,
        field: &'static str,
    ) -> Result<Option<&'a str>, DecodeError> {
        let length = match format {
            Format::Plain => length_or_null(i64::from(self.i16(field)?), field)?,
            Format::Flexible => self.compact_length(field)?,
        };
        length.map(|length| self.text(length, field)).transpose()
    }

    pub(crate) fn string(&mut self, format: Format, field: &'static str) -> Result<&'a str, DecodeError> {
        self.nullable_string(format, field)?.ok_or(DecodeError::InvalidLength(field))
    }

    pub(crate) fn nullable_bytes(
        &mut self,
        format: Format,
        field: &'static str,
    ) -> Result<Option<&'a [u8]>, DecodeError> {
        self.nullable_length(format, field)?.map(|length| self.take(length, field)).transpose()
    }

    pub(crate) fn byte_string(
        &mut self,
        format: Format,
        field: &'static str,
    ) -> Result<&'a [u8], DecodeError> {
        self.nullable_bytes(format, field)?.ok_or(DecodeError::InvalidLength(field))
    }

    /// The number of elements of an array that cannot be null. Not checked against the bytes that are left: the
    /// caller reads element by element and must not reserve room by it.
    pub(crate) fn array_length(&mut self, format: Format, field: &'static str) -> Result<usize, DecodeError> {
        self.nullable_array_length(format, field)?.ok_or(DecodeError::InvalidLength(field))
    }

    /// The number of elements of an array, `None` for null. What [`Reader::array_length`] says holds here too.
    pub(crate) fn nullable_array_length(
        &mut self,
        format: Format,
        field: &'static str,
    ) -> Result<Option<usize>, DecodeError> {
        self.nullable_length(format, field)
    }

    fn nullable_length(&mut self, format: Format, field: &'static str) -> Result<Option<usize>, DecodeError> {
        match format {
            Format::Plain => length_or_null(i64::from(self.i32(field)?), field),
            Format::Flexible => self.compact_length(field),
        }
    }

    fn compact_length(&mut self, field: &'static str) -> Result<Option<usize>, DecodeError> {
        Ok(self.unsigned_varint(field)?.checked_sub(1).map(|length| length as usize))
    }

    /// Reads a tag section: hands each known field to `known` and skips the others (KIP-915), so that a record of a
    /// newer writer can be read.
    pub(crate) fn tagged_fields(
        &mut self,
        mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<Tag, DecodeError>,
    ) -> Result<(), DecodeError> {
        for _ in 0..self.unsigned_varint("the number of tagged fields")? {
            let tag = self.unsigned_varint("a tag")?;
            let size = self.unsigned_varint("the size of a tagged field")?;
            let mut field = Reader::new(self.take(size as usize, "a tagged field")?);
            if known(tag, &mut field)? == Tag::Known {
                field.finish()?;
            }
        }
        Ok(())
    }

    /// Reads a tag section in which no field is known.
    pub(crate) fn unknown_tagged_fields(&mut self) -> Result<(), DecodeError> {
        self.tagged_fields(|_, _| Ok(Tag::Unknown))
    }
}

/// Whether a schema version uses compact lengths and tag sections.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    /// `i16` string lengths, `i32` array and bytes lengths, no tags.
    Plain,
    /// Unsigned varint of the length plus one, tags after each struct.
    Flexible,
}

/// What a reader of tagged fields says about one of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tag {
    /// It was read.
    Known,
    /// It is skipped.
    Unknown,
}

fn length_or_null(length: i64, field: &'static str) -> Result<Option<usize>, DecodeError> {
    match length {
        -1 => Ok(None),
        length => usize::try_from(length).map(Some).map_err(|_| DecodeError::InvalidLength(field)),
    }
}

pub(crate) fn put_i16(out: &mut Vec<u8>, value: i16) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_i32(out: &mut Vec<u8>, value: i32) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_i64(out: &mut Vec<u8>, value: i64) {
    out.extend_from_slice(&value.to_be_bytes());
}

pub(crate) fn put_unsigned_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

pub(crate) fn put_nullable_string(
    out: &mut Vec<u8>,
    format: Format,
    text: Option<&str>,
    field: &'static str,
) -> Result<(), EncodeError> {
    match (format, text) {
        (Format::Plain, None) => put_i16(out, -1),
        (Format::Plain, Some(text)) => {
            put_i16(out, i16::try_from(text.len()).map_err(|_| EncodeError::TooLong(field))?);
            out.extend_from_slice(text.as_bytes());
        }
        (Format::Flexible, text) => put_length(out, format, text.map(str::len), field)
            .map(|()| out.extend_from_slice(text.unwrap_or_default().as_bytes()))?,
    }
    Ok(())
}

pub(crate) fn put_string(
    out: &mut Vec<u8>,
    format: Format,
    text: &str,
    field: &'static str,
) -> Result<(), EncodeError> {
    put_nullable_string(out, format, Some(text), field)
}

pub(crate) fn put_nullable_bytes(
    out: &mut Vec<u8>,
    format: Format,
    bytes: Option<&[u8]>,
    field: &'static str,
) -> Result<(), EncodeError> {
    put_length(out, format, bytes.map(<[u8]>::len), field)?;
    out.extend_from_slice(bytes.unwrap_or_default());
    Ok(())
}

/// The length of an array or of bytes; `None` is null.
pub(crate) fn put_length(
    out: &mut Vec<u8>,
    format: Format,
    length: Option<usize>,
    field: &'static str,
) -> Result<(), EncodeError> {
    let length = length.map(i32::try_from).transpose().map_err(|_| EncodeError::TooLong(field))?;
    match (format, length) {
        (Format::Plain, length) => put_i32(out, length.unwrap_or(-1)),
        (Format::Flexible, None) => put_unsigned_varint(out, 0),
        (Format::Flexible, Some(length)) => put_unsigned_varint(out, length.unsigned_abs() + 1),
    }
    Ok(())
}
