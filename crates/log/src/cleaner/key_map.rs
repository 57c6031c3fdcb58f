//! The last offset of each key, within a bound of memory.
//!
//! Keys are kept as 128 bits of SipHash under a secret of this process: two keys of one log meet with a chance of one
//! in 10²⁶ even among millions, and nobody can choose keys that do.

use std::hash::Hasher;

use foldhash::fast::FixedState;
use hashbrown::HashMap;
use milepost_model::Offset;
use siphasher::sip128::{Hasher128, SipHasher13};

/// The map is full, and the key is not in it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Full;

/// Keys and the last offset at which each was seen.
pub(crate) struct KeyMap {
    hasher: SipHasher13,
    max_keys: usize,
    last: HashMap<[u64; 2], Offset, FixedState>,
}

impl KeyMap {
    pub(crate) fn new(hash_key: u128, max_keys: usize) -> Self {
        Self {
            hasher: SipHasher13::new_with_key(&hash_key.to_le_bytes()),
            max_keys,
            // The hashes are already spread; the table's own seed does not matter and its order is never seen.
            last: HashMap::with_hasher(FixedState::with_seed(0)),
        }
    }

    /// Notes that a key was seen at an offset, which is above all before.
    pub(crate) fn insert(&mut self, key: &[u8], offset: Offset) -> Result<(), Full> {
        let hash = self.hash(key);
        if self.last.len() >= self.max_keys && !self.last.contains_key(&hash) {
            return Err(Full);
        }
        self.last.insert(hash, offset);
        Ok(())
    }

    /// Whether a later record of the same key is known.
    pub(crate) fn is_superseded(&self, key: &[u8], offset: Offset) -> bool {
        self.last.get(&self.hash(key)).is_some_and(|last| *last > offset)
    }

    fn hash(&self, key: &[u8]) -> [u64; 2] {
        let mut hasher = self.hasher;
        hasher.write(key);
        let hash = hasher.finish128();
        [hash.h1, hash.h2]
    }
}

impl std::fmt::Debug for KeyMap {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyMap").field("keys", &self.last.len()).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_offset_of_a_key_counts_and_a_full_map_takes_only_known_keys() {
        let mut map = KeyMap::new(7, 2);
        map.insert(b"a", Offset(1)).unwrap();
        map.insert(b"b", Offset(2)).unwrap();
        assert_eq!(map.insert(b"c", Offset(3)), Err(Full));
        map.insert(b"a", Offset(4)).unwrap();
        assert!(map.is_superseded(b"a", Offset(1)));
        assert!(!map.is_superseded(b"a", Offset(4)));
        assert!(!map.is_superseded(b"b", Offset(2)));
        assert!(!map.is_superseded(b"c", Offset(0)));
    }
}
