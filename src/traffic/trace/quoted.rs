//! Records with quotes, which `csv-core` takes apart.

use csv_core::{ReadRecordResult, Reader};

/// The fields of records with quotes.
pub struct Quoted {
    reader: Reader,
    /// The fields of all records, one after another.
    pub text: Vec<u8>,
    /// Where each ends.
    pub ends: Vec<u32>,
    /// Of the record being read: bytes taken and written, and ends.
    taken: usize,
    written: usize,
    scratch: Vec<usize>,
    fields: usize,
}

/// A record that was read.
pub struct Complete {
    /// How many bytes it took.
    pub taken: usize,
    /// Where its fields begin in the text, and which end is its first.
    pub start: u32,
    pub first: u32,
}

impl Quoted {
    /// No records.
    pub fn new() -> Self {
        Self {
            reader: Reader::new(),
            text: Vec::new(),
            ends: Vec::new(),
            taken: 0,
            written: 0,
            scratch: Vec::new(),
            fields: 0,
        }
    }

    /// Whether a part of a record has been read.
    pub const fn is_open(&self) -> bool {
        self.taken > 0
    }

    /// Forgets all records but one that is being read.
    pub fn clear(&mut self) {
        if self.taken == 0 {
            self.ends.clear();
        }
    }

    /// Forgets the record being read.
    pub const fn forget(&mut self) {
        (self.taken, self.written, self.fields) = (0, 0, 0);
    }

    /// Reads on in a record, which `text` holds from its beginning, if it is complete.
    pub fn read(&mut self, text: &[u8]) -> Option<Complete> {
        let base = self.ends.last().map_or(0, |end| *end as usize);
        if self.taken == 0 {
            self.reader.reset();
        }
        loop {
            // The first byte goes alone: a fresh reader would leave out a byte-order mark.
            let to = if self.taken == 0 { text.len().min(1) } else { text.len() };
            let from = &text[self.taken..to];
            if from.is_empty() {
                return None;
            }
            if self.text.len() == base + self.written {
                self.text.resize((self.text.len() * 2).max(1024), 0);
            }
            if self.scratch.len() == self.fields {
                self.scratch.resize((self.scratch.len() * 2).max(64), 0);
            }
            let to = &mut self.text[base + self.written..];
            let (result, taken, written, fields) = self.reader.read_record(from, to, &mut self.scratch[self.fields..]);
            self.taken += taken;
            self.written += written;
            self.fields += fields;
            if matches!(result, ReadRecordResult::Record | ReadRecordResult::End) {
                let record = Complete { taken: self.taken, start: base as u32, first: self.ends.len() as u32 };
                self.ends.extend(self.scratch[..self.fields].iter().map(|end| (base + end) as u32));
                self.forget();
                return Some(record);
            }
        }
    }
}

/// Where a quote opens that the text does not close.
pub fn open_quote(text: &[u8]) -> Option<usize> {
    let mut at = 0;
    let mut field_begins = true;
    while let Some(byte) = text.get(at) {
        if field_begins && *byte == b'"' {
            at = match closing_quote(text, at + 1) {
                Some(closed) => closed,
                None => return Some(at),
            };
        }
        field_begins = *byte == b',';
        at += 1;
    }
    None
}

/// Where the quote closes whose text begins at `from`.
fn closing_quote(text: &[u8], mut from: usize) -> Option<usize> {
    loop {
        let at = from + memchr::memchr(b'"', &text[from..])?;
        if text.get(at + 1) != Some(&b'"') {
            return Some(at);
        }
        from = at + 2;
    }
}
