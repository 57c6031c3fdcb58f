//! A cursor over the bytes of one frame. Every read is checked; nothing is copied.

use crate::errors::DecodeError;

/// The bytes of a frame that have not been read yet.
#[derive(Clone, Debug)]
pub struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    /// A cursor at the start of `bytes`.
    #[must_use]
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    /// How many bytes have not been read yet.
    #[must_use]
    pub fn remaining(&self) -> usize {
        self.rest.len()
    }

    /// Ends the reading.
    ///
    /// # Errors
    /// [`DecodeError::TrailingBytes`] when not everything was read.
    pub fn finish(&self) -> Result<(), DecodeError> {
        if self.rest.is_empty() { Ok(()) } else { Err(DecodeError::TrailingBytes) }
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8], DecodeError> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], DecodeError> {
        let (taken, rest) = self.rest.split_first_chunk::<N>().ok_or(DecodeError::Truncated)?;
        self.rest = rest;
        Ok(*taken)
    }

    pub(crate) fn i16(&mut self) -> Result<i16, DecodeError> {
        self.array().map(i16::from_be_bytes)
    }

    pub(crate) fn i32(&mut self) -> Result<i32, DecodeError> {
        self.array().map(i32::from_be_bytes)
    }

    /// A number of up to 32 bits, seven of them a byte, the low ones first.
    pub(crate) fn unsigned_varint(&mut self) -> Result<u32, DecodeError> {
        let mut value = 0_u32;
        for shift in (0..=28).step_by(7) {
            let [byte] = self.array()?;
            let bits = u32::from(byte & 0x7f);
            if shift == 28 && byte > 0x0f {
                break;
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(DecodeError::VarintTooLong)
    }

    /// The `length + 1` that flexible versions write before strings, bytes and arrays; `None` is null.
    pub(crate) fn compact_length(&mut self) -> Result<Option<usize>, DecodeError> {
        match self.unsigned_varint()? {
            0 => Ok(None),
            above => usize::try_from(above - 1).map(Some).map_err(|_| DecodeError::Truncated),
        }
    }

    /// The length that other versions write, already read as a number; −1 is null.
    pub(crate) fn plain_length(length: i32) -> Result<Option<usize>, DecodeError> {
        match length {
            -1 => Ok(None),
            _ => usize::try_from(length).map(Some).map_err(|_| DecodeError::NegativeLength),
        }
    }

    /// Reads the tag section that ends every structure of a flexible version. `known` is called with each tag
    /// and a cursor over its value alone, and says whether it read the value; the values of other tags are
    /// skipped.
    pub(crate) fn tagged_fields(
        &mut self,
        mut known: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, DecodeError>,
    ) -> Result<(), DecodeError> {
        for _ in 0..self.unsigned_varint()? {
            let tag = self.unsigned_varint()?;
            let size = self.unsigned_varint()?;
            let size = usize::try_from(size).map_err(|_| DecodeError::Truncated)?;
            let mut value = Reader::new(self.take(size)?);
            if known(tag, &mut value)? {
                value.finish()?;
            }
        }
        Ok(())
    }
}
