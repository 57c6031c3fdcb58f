//! Big-endian fields of our own formats: journal entries and the checkpoint document.
//!
//! Reading never trusts a count: what is missing is an error, found before anything is sized by it.

use milepost_model::Timestamp;

/// Appends fields.
#[derive(Default)]
pub(crate) struct FieldWriter(pub(crate) Vec<u8>);

impl FieldWriter {
    pub(crate) fn u8(&mut self, value: u8) {
        self.0.push(value);
    }

    pub(crate) fn u16(&mut self, value: u16) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u32(&mut self, value: u32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn u64(&mut self, value: u64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn i16(&mut self, value: i16) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn i32(&mut self, value: i32) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    pub(crate) fn i64(&mut self, value: i64) {
        self.0.extend_from_slice(&value.to_be_bytes());
    }

    /// A count of things held in memory.
    pub(crate) fn count(&mut self, value: usize) {
        self.u32(u32::try_from(value).expect("fewer than 2^32 of anything fit in memory"));
    }

    /// Text of at most 65,535 bytes; longer text is cut at a character.
    pub(crate) fn text(&mut self, value: &str) {
        let mut end = value.len().min(usize::from(u16::MAX));
        while !value.is_char_boundary(end) {
            end -= 1;
        }
        self.u16(u16::try_from(end).expect("just bounded"));
        self.0.extend_from_slice(&value.as_bytes()[..end]);
    }

    pub(crate) fn timestamp(&mut self, value: Option<Timestamp>) {
        self.u8(u8::from(value.is_some()));
        self.i64(value.map_or(0, |timestamp| timestamp.0));
    }
}

/// The bytes are not what they should be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Malformed(pub(crate) &'static str);

/// Takes fields off the front.
pub(crate) struct FieldReader<'a>(pub(crate) &'a [u8]);

impl<'a> FieldReader<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed("it ends too early"))?;
        self.0 = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        Ok(self.take(N)?.try_into().expect("as many bytes were taken"))
    }

    pub(crate) fn u8(&mut self) -> Result<u8, Malformed> {
        Ok(u8::from_be_bytes(self.array()?))
    }

    pub(crate) fn u16(&mut self) -> Result<u16, Malformed> {
        Ok(u16::from_be_bytes(self.array()?))
    }

    pub(crate) fn u32(&mut self) -> Result<u32, Malformed> {
        Ok(u32::from_be_bytes(self.array()?))
    }

    pub(crate) fn u64(&mut self) -> Result<u64, Malformed> {
        Ok(u64::from_be_bytes(self.array()?))
    }

    pub(crate) fn i16(&mut self) -> Result<i16, Malformed> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    pub(crate) fn i32(&mut self) -> Result<i32, Malformed> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    pub(crate) fn i64(&mut self) -> Result<i64, Malformed> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    pub(crate) fn text(&mut self) -> Result<&'a str, Malformed> {
        let length = self.u16()?;
        std::str::from_utf8(self.take(usize::from(length))?).map_err(|_| Malformed("a text is not UTF-8"))
    }

    pub(crate) fn timestamp(&mut self) -> Result<Option<Timestamp>, Malformed> {
        let (present, value) = (self.u8()?, self.i64()?);
        Ok((present != 0).then_some(Timestamp(value)))
    }

    /// As many of something as a count says.
    pub(crate) fn list<T>(
        &mut self,
        mut read: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let count = self.u32()?;
        let mut all = Vec::new();
        for _ in 0..count {
            all.push(read(self)?);
        }
        Ok(all)
    }

    pub(crate) fn end(&self) -> Result<(), Malformed> {
        if self.0.is_empty() { Ok(()) } else { Err(Malformed("bytes are left over")) }
    }
}
