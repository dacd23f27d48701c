//! Keys: byte strings, each with a dense number in order of first appearance.

use crate::rng::mix;
use std::hash::BuildHasher;

/// A table of byte strings.
///
/// Keys of up to 23 bytes lie in one array of fixed steps, ordered by number; the hash table beside
/// it holds half of each key's hash and its number. A known key costs two reads that may miss the
/// cache, and a busy key tends to be an early one, whose neighbours are busy too. About 40 to 75
/// bytes a key.
#[derive(Debug)]
pub struct KeyTable {
    entries: Vec<Entry>,
    /// Bytes of the keys that are too long for an entry.
    long: Vec<u8>,
    /// Open addressing with linear probing: 32 bits of the hash, then the key's number.
    slots: Vec<u64>,
    /// Random, against logs made to collide; no result depends on it.
    hasher: foldhash::fast::RandomState,
}

/// A key: its bytes and, last, their number; or [`LONG`] after where it lies in `long`.
#[derive(Clone, Copy, Debug)]
struct Entry([u8; 24]);

const INLINE: usize = 23;
const LONG: u8 = u8::MAX;
const FREE: u64 = u64::MAX;
/// Keys whose cache misses overlap in [`KeyTable::intern_all`].
const BATCH: usize = 64;

impl Entry {
    fn new(key: &[u8], long: &mut Vec<u8>) -> Self {
        let mut entry = [0; 24];
        if key.len() <= INLINE {
            entry[..key.len()].copy_from_slice(key);
            entry[INLINE] = key.len() as u8;
        } else {
            entry[..8].copy_from_slice(&(long.len() as u64).to_le_bytes());
            entry[8..16].copy_from_slice(&(key.len() as u64).to_le_bytes());
            entry[INLINE] = LONG;
            long.extend_from_slice(key);
        }
        Self(entry)
    }

    #[inline]
    fn bytes<'a>(&'a self, long: &'a [u8]) -> &'a [u8] {
        match self.0.get(..usize::from(self.0[INLINE])) {
            Some(key) => key,
            None => {
                let word = |from: usize| {
                    let bytes = self.0[from..from + 8].try_into().expect("eight bytes");
                    u64::from_le_bytes(bytes) as usize
                };
                &long[word(0)..][..word(8)]
            }
        }
    }
}

impl Default for KeyTable {
    fn default() -> Self {
        Self::new()
    }
}

impl KeyTable {
    /// No keys.
    #[must_use]
    pub fn new() -> Self {
        Self { entries: Vec::new(), long: Vec::new(), slots: vec![FREE; 16], hasher: Default::default() }
    }

    /// How many keys there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The bytes of a key.
    ///
    /// # Panics
    /// If `id` is not a number that [`intern`](Self::intern) returned.
    #[inline]
    #[must_use]
    pub fn name(&self, id: u32) -> &[u8] {
        self.entries[id as usize].bytes(&self.long)
    }

    /// The number of a key, new or known.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 keys.
    #[inline]
    pub fn intern(&mut self, key: &[u8]) -> u32 {
        let hash = self.hash(key);
        self.probe(key, hash)
    }

    /// Appends the number of each key in turn to `ids`: as [`intern`](Self::intern), but the reads
    /// that miss the cache overlap.
    ///
    /// # Panics
    /// If there are more than 2^32 - 1 keys.
    pub fn intern_all(&mut self, keys: &[&[u8]], ids: &mut Vec<u32>) {
        let mut hashes = [0; BATCH];
        let mut slots = [0; BATCH];
        let mut lengths = [0; BATCH];
        for keys in keys.chunks(BATCH) {
            for (hash, key) in hashes.iter_mut().zip(keys) {
                *hash = self.hash(key);
            }
            // No read in a loop waits for another, so their cache misses overlap.
            let mask = self.slots.len() - 1;
            for (slot, hash) in slots.iter_mut().zip(&hashes).take(keys.len()) {
                *slot = self.slots[*hash as usize & mask];
            }
            for (length, slot) in lengths.iter_mut().zip(&slots).take(keys.len()) {
                *length = self.entries.get(number(*slot) as usize).map_or(LONG, |entry| entry.0[INLINE]);
            }
            for (((key, hash), slot), length) in keys.iter().zip(&hashes).zip(&slots).zip(&lengths) {
                let likely = tag(*slot) == *hash && usize::from(*length) == key.len() && *length != LONG;
                let known = likely && self.name(number(*slot)) == *key;
                ids.push(if known { number(*slot) } else { self.probe(key, *hash) });
            }
        }
    }

    #[inline]
    fn hash(&self, key: &[u8]) -> u32 {
        (self.hasher.hash_one(key) >> 32) as u32
    }

    #[inline]
    fn probe(&mut self, key: &[u8], hash: u32) -> u32 {
        let mask = self.slots.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            let slot = self.slots[at];
            if slot == FREE {
                return self.insert(key, hash, at);
            }
            if tag(slot) == hash && self.name(number(slot)) == key {
                return number(slot);
            }
            at = (at + 1) & mask;
        }
    }

    #[cold]
    fn insert(&mut self, key: &[u8], hash: u32, at: usize) -> u32 {
        let id = u32::try_from(self.entries.len()).ok().filter(|id| *id != u32::MAX);
        let id = id.expect("fewer than 2^32 - 1 keys");
        self.entries.push(Entry::new(key, &mut self.long));
        self.slots[at] = u64::from(hash) << 32 | u64::from(id);
        // At most five slots in eight are taken.
        if self.entries.len() * 8 > self.slots.len() * 5 {
            self.grow();
        }
        id
    }

    fn grow(&mut self) {
        let mut slots = vec![FREE; self.slots.len() * 2];
        let mask = slots.len() - 1;
        for slot in self.slots.iter().filter(|slot| **slot != FREE) {
            let mut at = tag(*slot) as usize & mask;
            while slots[at] != FREE {
                at = (at + 1) & mask;
            }
            slots[at] = *slot;
        }
        self.slots = slots;
    }
}

const fn tag(slot: u64) -> u32 {
    (slot >> 32) as u32
}

const fn number(slot: u64) -> u32 {
    slot as u32
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

    /// Around the length where a key no longer fits its entry, and around a batch.
    #[test]
    fn batches_number_keys_as_one_by_one() {
        let key = |i: usize| vec![b'a' + (i % 3) as u8; (i * 7) % 41];
        let owned: Vec<Vec<u8>> = (0..1000).map(|i| if i % 5 == 0 { vec![i as u8; i % 300] } else { key(i) }).collect();
        let names: Vec<&[u8]> = owned.iter().map(Vec::as_slice).collect();
        for size in [1, 63, 64, 65, 1000] {
            let (mut one, mut all) = (KeyTable::new(), KeyTable::new());
            let mut ids = Vec::new();
            for names in names.chunks(size) {
                all.intern_all(names, &mut ids);
            }
            let expected: Vec<u32> = names.iter().map(|name| one.intern(name)).collect();
            assert_eq!(ids, expected);
            assert_eq!(one.len(), all.len());
            assert!(names.iter().zip(&ids).all(|(name, id)| all.name(*id) == *name));
        }
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
