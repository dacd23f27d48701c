//! Keys: byte strings, each with a dense number in order of first appearance.

use crate::rng::mix;
use hashbrown::HashTable;
use std::hash::BuildHasher;

/// A table of byte strings.
#[derive(Debug, Default)]
pub struct KeyTable {
    bytes: Vec<u8>,
    /// Where each key ends in `bytes`.
    ends: Vec<u64>,
    table: HashTable<u32>,
    /// Random, against logs made to collide; no result depends on it.
    hasher: foldhash::fast::RandomState,
}

impl KeyTable {
    /// No keys.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// The bytes of a key.
    ///
    /// # Panics
    /// If `id` is not a number that [`intern`](Self::intern) returned.
    #[inline]
    #[must_use]
    pub fn name(&self, id: u32) -> &[u8] {
        name(&self.bytes, &self.ends, id)
    }

    /// The number of a key, new or known.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 keys.
    #[inline]
    pub fn intern(&mut self, key: &[u8]) -> u32 {
        let hash = self.hasher.hash_one(key);
        let Self { bytes, ends, table, hasher } = self;
        if let Some(id) = table.find(hash, |id| name(bytes, ends, *id) == key) {
            return *id;
        }
        let id = u32::try_from(ends.len()).ok().filter(|id| *id != u32::MAX).expect("fewer than 2^32 - 1 keys");
        bytes.extend_from_slice(key);
        ends.push(bytes.len() as u64);
        table.insert_unique(hash, id, |id| hasher.hash_one(name(bytes, ends, *id)));
        id
    }
}

#[inline]
fn name<'a>(bytes: &'a [u8], ends: &[u64], id: u32) -> &'a [u8] {
    let id = id as usize;
    let start = if id == 0 { 0 } else { ends[id - 1] };
    &bytes[start as usize..ends[id] as usize]
}

/// A hash of a key's bytes that is the same in every run: for fingerprints.
#[must_use]
pub fn stable_hash(key: &[u8]) -> u64 {
    let mut hash = mix(key.len() as u64 ^ 0x6b65_7973);
    for chunk in key.chunks(8) {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        hash = mix(hash.wrapping_add(u64::from_le_bytes(word)).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    }
    hash
}

/// A key as text: bytes that are not UTF-8, and control characters, as `\xNN`.
#[must_use]
pub fn display_key(key: &[u8]) -> String {
    let mut text = String::with_capacity(key.len());
    for chunk in key.utf8_chunks() {
        for c in chunk.valid().chars() {
            if c.is_control() {
                let mut utf8 = [0; 4];
                for byte in c.encode_utf8(&mut utf8).bytes() {
                    text.push_str(&format!("\\x{byte:02x}"));
                }
            } else {
                text.push(c);
            }
        }
        for byte in chunk.invalid() {
            text.push_str(&format!("\\x{byte:02x}"));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keys_by_first_appearance() {
        let mut keys = KeyTable::new();
        let ids: Vec<u32> = ["b", "a", "", "b", "a", ""].iter().map(|k| keys.intern(k.as_bytes())).collect();
        assert_eq!(ids, [0, 1, 2, 0, 1, 2]);
        assert_eq!((keys.name(0), keys.name(1), keys.name(2)), (&b"b"[..], &b"a"[..], &b""[..]));
        for i in 0..100_000_u32 {
            assert_eq!(keys.intern(format!("key {i}").as_bytes()), i + 3);
        }
        assert_eq!(keys.intern(b"key 7"), 10);
    }

    #[test]
    fn shows_what_is_not_text() {
        assert_eq!(display_key(b"caf\xe9"), "caf\\xe9");
        assert_eq!(display_key("caf\u{e9}".as_bytes()), "caf\u{e9}");
        assert_eq!(display_key(b"new\nline"), "new\\x0aline");
        assert_eq!(display_key(b" alice "), " alice ");
    }

    #[test]
    fn stable_hashes_tell_lengths_apart() {
        assert_ne!(stable_hash(b"a"), stable_hash(b"a\0"));
        assert_ne!(stable_hash(b""), stable_hash(b"\0"));
    }
}
