//! For tests: a seeded source of values, and a picture of a message that two implementations can agree on.

/// A small generator (splitmix64); the same seed gives the same values.
pub(crate) struct Random(pub(crate) u64);

/// Letters of one to four bytes, and long enough that lengths of two bytes occur.
const TEXT: &str = "group-a.topic_b ÄÖÜ ßøå 日本語 🦀 \"quoted\" \\ back \u{0} the quick brown fox jumps over \
    the lazy dog, and again the quick brown fox jumps over the lazy dog, until the line is longer than 128 bytes";

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut value = self.0;
        value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        value ^ (value >> 31)
    }

    /// A number from 0 up to, not including, `bound`.
    pub(crate) fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    pub(crate) fn bytes<const N: usize>(&mut self) -> [u8; N] {
        std::array::from_fn(|_| self.next() as u8)
    }

    /// A piece of text, now and then empty, now and then more than 127 bytes.
    pub(crate) fn text(&mut self) -> &'static str {
        let cut = |mut at: usize| {
            while !TEXT.is_char_boundary(at) {
                at += 1;
            }
            at
        };
        let start = cut(self.below(TEXT.len()));
        let longest = if self.below(8) == 0 { TEXT.len() } else { 12 };
        let end = cut((start + self.below(longest)).min(TEXT.len()));
        &TEXT[start..end]
    }
}

/// A message as names and values. Null, `""`, and no elements are one and the same here, since
/// implementations differ in what they put into fields that a version lacks; that null itself is kept is seen
/// in the bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sketch {
    Empty,
    /// A number, truth value or id, as text.
    Scalar(String),
    Array(Vec<Sketch>),
    Structure(Vec<(String, Sketch)>),
}

impl Sketch {
    /// Of quoted text.
    pub(crate) fn text(quoted: String) -> Self {
        if quoted.ends_with("\"\"") && quoted.len() <= 3 { Self::Empty } else { Self::Scalar(quoted) }
    }
}
