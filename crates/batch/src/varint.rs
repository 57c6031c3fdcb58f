//! The variable-length integers of a record: seven bits a byte, low bits first, zigzag for signed numbers.

use crate::Malformed;

/// Longest encoding of 32 bits.
const MAX_VARINT_BYTES: u32 = 5;
/// Longest encoding of 64 bits.
const MAX_VARLONG_BYTES: u32 = 10;

/// Takes a signed 32-bit number off the front of `bytes`.
#[inline]
pub(crate) fn take_varint(bytes: &mut &[u8]) -> Result<i32, Malformed> {
    if let [first @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Ok(unzigzag(u64::from(*first)) as i32);
    }
    let raw = take_unsigned(bytes, MAX_VARINT_BYTES)?;
    let raw = u32::try_from(raw).map_err(|_| Malformed::Varint)?;
    Ok(unzigzag(u64::from(raw)) as i32)
}

/// Takes a signed 64-bit number off the front of `bytes`.
#[inline]
pub(crate) fn take_varlong(bytes: &mut &[u8]) -> Result<i64, Malformed> {
    if let [first @ 0..0x80, rest @ ..] = *bytes {
        *bytes = rest;
        return Ok(unzigzag(u64::from(*first)));
    }
    take_unsigned(bytes, MAX_VARLONG_BYTES).map(unzigzag)
}

fn take_unsigned(bytes: &mut &[u8], max_bytes: u32) -> Result<u64, Malformed> {
    let mut value = 0u64;
    for index in 0..max_bytes {
        let (&byte, rest) = bytes.split_first().ok_or(Malformed::Ends)?;
        *bytes = rest;
        let shift = 7 * index;
        let bits = u64::from(byte & 0x7f);
        if bits << shift >> shift != bits {
            return Err(Malformed::Varint);
        }
        value |= bits << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(Malformed::Varint)
}

/// Appends a signed number of either width.
pub(crate) fn put(out: &mut Vec<u8>, value: i64) {
    let mut rest = zigzag(value);
    while rest >= 0x80 {
        out.push(rest as u8 | 0x80);
        rest >>= 7;
    }
    out.push(rest as u8);
}

/// How many bytes [`put`] writes.
pub(crate) fn size(value: i64) -> usize {
    let bits = 64 - zigzag(value).leading_zeros() as usize;
    bits.div_ceil(7).max(1)
}

const fn zigzag(value: i64) -> u64 {
    ((value << 1) ^ (value >> 63)) as u64
}

#[inline]
const fn unzigzag(raw: u64) -> i64 {
    (raw >> 1) as i64 ^ -((raw & 1) as i64)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_width_comes_back() {
        for value in
            [0, -1, 1, 63, -64, 64, -65, 300, i64::from(i32::MAX), i64::from(i32::MIN), i64::MAX, i64::MIN]
        {
            let mut bytes = Vec::new();
            put(&mut bytes, value);
            assert_eq!(bytes.len(), size(value), "{value}");
            assert_eq!(take_varlong(&mut bytes.as_slice()), Ok(value));
            let narrow = take_varint(&mut bytes.as_slice());
            match i32::try_from(value) {
                Ok(value) => assert_eq!(narrow, Ok(value)),
                Err(_) => assert_eq!(narrow, Err(Malformed::Varint)),
            }
        }
    }

    #[test]
    fn endless_and_cut_encodings_are_refused() {
        assert_eq!(take_varint(&mut [0x80; 5].as_slice()), Err(Malformed::Varint));
        assert_eq!(take_varint(&mut [0xff, 0xff, 0xff, 0xff, 0x10].as_slice()), Err(Malformed::Varint));
        let mut wide = [0xff; 10];
        wide[9] = 0x02;
        assert_eq!(take_varlong(&mut wide.as_slice()), Err(Malformed::Varint), "65 bits");
        assert_eq!(take_varlong(&mut [0x80; 11].as_slice()), Err(Malformed::Varint));
        assert_eq!(take_varint(&mut [0x80; 4].as_slice()), Err(Malformed::Ends));
        assert_eq!(take_varlong(&mut [].as_slice()), Err(Malformed::Ends));
    }
}
