//! How a value of each type lies in a message: numbers, strings, bytes, arrays, what may be null.
//!
//! [`schema`](crate::schema) builds messages out of these; nobody else calls them.

use milepost_model::TopicId;

use crate::api::ApiKey;
use crate::error_code::ErrorCode;
use crate::errors::{DecodeError, EncodeError};
use crate::reader::Reader;
#[cfg(test)]
use crate::testing::{Random, Sketch};

/// The longest string, in bytes, that Kafka writes or reads, in compact form too.
const MAX_STRING_BYTES: usize = i16::MAX as usize;

/// What a field must know about the message around it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// The version of the API.
    pub(crate) version: i16,
    /// Whether lengths are compact and structures end in a tag section.
    pub(crate) flexible: bool,
    /// Whether this field may be null in this version.
    pub(crate) nullable: bool,
}

impl Shape {
    /// The shape of the outermost structure.
    pub(crate) fn of(api: ApiKey, version: i16) -> Self {
        Self { version, flexible: api.is_flexible(version), nullable: false }
    }

    /// The shape of a field within a structure of this shape.
    pub(crate) fn field(self, nullable: bool) -> Self {
        Self { nullable, ..self }
    }

    fn length_len(self, plain: usize) -> usize {
        if self.flexible { 1 } else { plain }
    }
}

/// A value that is, or is part of, a field of a message.
pub(crate) trait Field<'a>: Sized {
    /// The least number of bytes that any value takes.
    fn min_len(shape: Shape) -> usize;

    fn read(reader: &mut Reader<'a>, shape: Shape) -> Result<Self, DecodeError>;

    fn write(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError>;

    /// Names the first field that says something which this version would lose in silence.
    /// `name` is the name of this field.
    fn lost_field(&self, _name: &'static str, _shape: Shape) -> Option<&'static str> {
        None
    }

    /// Some value that this version can carry whole.
    #[cfg(test)]
    fn arbitrary(random: &mut Random, shape: Shape) -> Self;

    /// The value in a form that can be compared with another implementation's.
    #[cfg(test)]
    fn sketch(&self) -> Sketch;
}

/// A value that has a way of saying null. `Option` of it is a field.
pub(crate) trait Nullable<'a>: Field<'a> {
    fn read_nullable(reader: &mut Reader<'a>, shape: Shape) -> Result<Option<Self>, DecodeError>;

    fn write_null(out: &mut Vec<u8>, shape: Shape);

    fn write_present(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        self.write(out, shape)
    }

    /// What stands for null in a version that has no null, as Kafka itself does in old JoinGroup responses.
    fn write_empty(out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError>;

    fn min_len_nullable(shape: Shape) -> usize {
        Self::min_len(shape)
    }
}

impl<'a, T: Nullable<'a>> Field<'a> for Option<T> {
    fn min_len(shape: Shape) -> usize {
        if shape.nullable { T::min_len_nullable(shape) } else { T::min_len(shape) }
    }

    fn read(reader: &mut Reader<'a>, shape: Shape) -> Result<Self, DecodeError> {
        if shape.nullable { T::read_nullable(reader, shape) } else { T::read(reader, shape).map(Some) }
    }

    fn write(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        match self {
            Some(value) if shape.nullable => value.write_present(out, shape),
            Some(value) => value.write(out, shape),
            None if shape.nullable => {
                T::write_null(out, shape);
                Ok(())
            }
            None => T::write_empty(out, shape),
        }
    }

    fn lost_field(&self, name: &'static str, shape: Shape) -> Option<&'static str> {
        match self {
            Some(value) => value.lost_field(name, shape),
            None => (!shape.nullable).then_some(name),
        }
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, shape: Shape) -> Self {
        (!shape.nullable || random.below(3) > 0).then(|| T::arbitrary(random, shape.field(false)))
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        self.as_ref().map_or(Sketch::Empty, Field::sketch)
    }
}

macro_rules! numbers {
    ($($number:ty),+) => {$(
        impl<'a> Field<'a> for $number {
            fn min_len(_shape: Shape) -> usize {
                size_of::<Self>()
            }

            fn read(reader: &mut Reader<'a>, _shape: Shape) -> Result<Self, DecodeError> {
                reader.array().map(Self::from_be_bytes)
            }

            fn write(&self, out: &mut Vec<u8>, _shape: Shape) -> Result<(), EncodeError> {
                out.extend_from_slice(&self.to_be_bytes());
                Ok(())
            }

            #[cfg(test)]
            fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
                Self::from_be_bytes(random.bytes())
            }

            #[cfg(test)]
            fn sketch(&self) -> Sketch {
                Sketch::Scalar(self.to_string())
            }
        }
    )+};
}

numbers!(i8, i16, i32, i64, u16, u32);

impl<'a> Field<'a> for bool {
    fn min_len(_shape: Shape) -> usize {
        1
    }

    fn read(reader: &mut Reader<'a>, _shape: Shape) -> Result<Self, DecodeError> {
        reader.array().map(|[byte]| byte != 0)
    }

    fn write(&self, out: &mut Vec<u8>, _shape: Shape) -> Result<(), EncodeError> {
        out.push(u8::from(*self));
        Ok(())
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
        random.below(2) == 1
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        Sketch::Scalar(self.to_string())
    }
}

impl<'a> Field<'a> for TopicId {
    fn min_len(_shape: Shape) -> usize {
        size_of::<Self>()
    }

    fn read(reader: &mut Reader<'a>, _shape: Shape) -> Result<Self, DecodeError> {
        reader.array().map(Self)
    }

    fn write(&self, out: &mut Vec<u8>, _shape: Shape) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.0);
        Ok(())
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
        Self(random.bytes())
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        Sketch::Scalar(self.0.iter().map(|byte| format!("{byte:02x}")).collect())
    }
}

impl<'a> Field<'a> for ErrorCode {
    fn min_len(_shape: Shape) -> usize {
        size_of::<i16>()
    }

    fn read(reader: &mut Reader<'a>, _shape: Shape) -> Result<Self, DecodeError> {
        reader.i16().map(Self::from_code)
    }

    fn write(&self, out: &mut Vec<u8>, _shape: Shape) -> Result<(), EncodeError> {
        out.extend_from_slice(&self.code().to_be_bytes());
        Ok(())
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
        Self::ALL[random.below(Self::ALL.len())]
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        Sketch::Scalar(self.code().to_string())
    }
}

impl<'a> Field<'a> for &'a str {
    fn min_len(shape: Shape) -> usize {
        shape.length_len(size_of::<i16>())
    }

    fn read(reader: &mut Reader<'a>, shape: Shape) -> Result<Self, DecodeError> {
        Self::read_nullable(reader, shape)?.ok_or(DecodeError::UnexpectedNull)
    }

    fn write(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        let length = i16::try_from(self.len()).map_err(|_| EncodeError::StringTooLong)?;
        if shape.flexible {
            write_compact_length(out, self.len())?;
        } else {
            out.extend_from_slice(&length.to_be_bytes());
        }
        out.extend_from_slice(self.as_bytes());
        Ok(())
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
        random.text()
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        Sketch::text(format!("{self:?}"))
    }
}

impl<'a> Nullable<'a> for &'a str {
    fn read_nullable(reader: &mut Reader<'a>, shape: Shape) -> Result<Option<Self>, DecodeError> {
        let length = if shape.flexible {
            reader.compact_length()?
        } else {
            Reader::plain_length(reader.i16()?.into())?
        };
        let Some(length) = length else { return Ok(None) };
        if length > MAX_STRING_BYTES {
            return Err(DecodeError::StringTooLong);
        }
        std::str::from_utf8(reader.take(length)?).map(Some).map_err(|_| DecodeError::InvalidUtf8)
    }

    fn write_null(out: &mut Vec<u8>, shape: Shape) {
        if shape.flexible {
            out.push(0);
        } else {
            out.extend_from_slice(&(-1_i16).to_be_bytes());
        }
    }

    fn write_empty(out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        "".write(out, shape)
    }
}

/// Bytes and record batches, which lie on the wire alike.
impl<'a> Field<'a> for &'a [u8] {
    fn min_len(shape: Shape) -> usize {
        shape.length_len(size_of::<i32>())
    }

    fn read(reader: &mut Reader<'a>, shape: Shape) -> Result<Self, DecodeError> {
        Self::read_nullable(reader, shape)?.ok_or(DecodeError::UnexpectedNull)
    }

    fn write(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        write_length(out, self.len(), shape)?;
        out.extend_from_slice(self);
        Ok(())
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, _shape: Shape) -> Self {
        random.text().as_bytes()
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        Sketch::text(format!("{:?}", bytes::Bytes::copy_from_slice(self)))
    }
}

impl<'a> Nullable<'a> for &'a [u8] {
    fn read_nullable(reader: &mut Reader<'a>, shape: Shape) -> Result<Option<Self>, DecodeError> {
        read_length(reader, shape)?.map(|length| reader.take(length)).transpose()
    }

    fn write_null(out: &mut Vec<u8>, shape: Shape) {
        write_null_length(out, shape);
    }

    fn write_empty(out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        write_length(out, 0, shape)
    }
}

impl<'a, T: Field<'a>> Field<'a> for Vec<T> {
    fn min_len(shape: Shape) -> usize {
        shape.length_len(size_of::<i32>())
    }

    fn read(reader: &mut Reader<'a>, shape: Shape) -> Result<Self, DecodeError> {
        Self::read_nullable(reader, shape)?.ok_or(DecodeError::UnexpectedNull)
    }

    fn write(&self, out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        write_length(out, self.len(), shape)?;
        let element_shape = shape.field(false);
        let start = out.len();
        self.iter().try_for_each(|element| element.write(out, element_shape))?;
        debug_assert!(
            out.len() - start >= self.len() * T::min_len(element_shape),
            "min_len is not the least"
        );
        Ok(())
    }

    fn lost_field(&self, name: &'static str, shape: Shape) -> Option<&'static str> {
        self.iter().find_map(|element| element.lost_field(name, shape.field(false)))
    }

    #[cfg(test)]
    fn arbitrary(random: &mut Random, shape: Shape) -> Self {
        (0..random.below(4)).map(|_| T::arbitrary(random, shape.field(false))).collect()
    }

    #[cfg(test)]
    fn sketch(&self) -> Sketch {
        if self.is_empty() { Sketch::Empty } else { Sketch::Array(self.iter().map(Field::sketch).collect()) }
    }
}

impl<'a, T: Field<'a>> Nullable<'a> for Vec<T> {
    fn read_nullable(reader: &mut Reader<'a>, shape: Shape) -> Result<Option<Self>, DecodeError> {
        let Some(count) = read_length(reader, shape)? else { return Ok(None) };
        let element = shape.field(false);
        if count > reader.remaining() / T::min_len(element).max(1) {
            return Err(DecodeError::ArrayTooLong);
        }
        // Elements may take some twenty times as much memory as bytes. So no count sizes an allocation above the
        // bytes that are left; more comes only as elements are read, and never more than the count needs.
        let mut elements = Self::with_capacity(count.min(reader.remaining() / size_of::<T>().max(1)));
        for read in 0..count {
            if read == elements.capacity() {
                elements.reserve_exact((count - read).min(read.max(4)));
            }
            elements.push(T::read(reader, element)?);
        }
        Ok(Some(elements))
    }

    fn write_null(out: &mut Vec<u8>, shape: Shape) {
        write_null_length(out, shape);
    }

    fn write_empty(out: &mut Vec<u8>, shape: Shape) -> Result<(), EncodeError> {
        write_length(out, 0, shape)
    }
}

fn read_length(reader: &mut Reader<'_>, shape: Shape) -> Result<Option<usize>, DecodeError> {
    if shape.flexible { reader.compact_length() } else { Reader::plain_length(reader.i32()?) }
}

fn write_length(out: &mut Vec<u8>, length: usize, shape: Shape) -> Result<(), EncodeError> {
    if shape.flexible {
        write_compact_length(out, length)
    } else {
        let length = i32::try_from(length).map_err(|_| EncodeError::TooLarge)?;
        out.extend_from_slice(&length.to_be_bytes());
        Ok(())
    }
}

fn write_null_length(out: &mut Vec<u8>, shape: Shape) {
    if shape.flexible {
        out.push(0);
    } else {
        out.extend_from_slice(&(-1_i32).to_be_bytes());
    }
}

fn write_compact_length(out: &mut Vec<u8>, length: usize) -> Result<(), EncodeError> {
    let length = i32::try_from(length).map_err(|_| EncodeError::TooLarge)?;
    write_unsigned_varint(out, length.unsigned_abs() + 1);
    Ok(())
}

pub(crate) fn write_unsigned_varint(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// The tag section of a structure while it is written.
#[derive(Default)]
pub(crate) struct TaggedFields {
    count: u32,
    fields: Vec<u8>,
}

impl TaggedFields {
    /// Adds a field. Tags come in ascending order.
    pub(crate) fn add<'a>(
        &mut self,
        tag: u32,
        field: &impl Field<'a>,
        shape: Shape,
    ) -> Result<(), EncodeError> {
        let mut value = Vec::new();
        field.write(&mut value, shape)?;
        self.count += 1;
        write_unsigned_varint(&mut self.fields, tag);
        write_unsigned_varint(
            &mut self.fields,
            u32::try_from(value.len()).map_err(|_| EncodeError::TooLarge)?,
        );
        self.fields.extend_from_slice(&value);
        Ok(())
    }

    pub(crate) fn write(&self, out: &mut Vec<u8>) {
        write_unsigned_varint(out, self.count);
        out.extend_from_slice(&self.fields);
    }
}

/// Reads the byte before a structure that may be null.
pub(crate) fn read_presence(reader: &mut Reader<'_>) -> Result<bool, DecodeError> {
    let [presence] = reader.array()?;
    Ok(i8::from_be_bytes([presence]) >= 0)
}

/// Writes the byte before a structure that may be null.
pub(crate) fn write_presence(out: &mut Vec<u8>, present: bool) {
    out.push(if present { 1 } else { (-1_i8).to_be_bytes()[0] });
}
