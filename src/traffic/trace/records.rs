//! Records of a CSV text, by block: where their fields lie and on which lines they begin.
//!
//! One pass marks every byte that can end a field, by comparing 64 bytes at a time; a record without
//! a quote is then the run of marks up to the end of its line, and its fields are never copied. A
//! record with a quote goes to `csv-core`, which writes its fields to a buffer. Both read alike: LF,
//! CR LF and CR end a record, blank lines are none, and a quote counts only where a field begins.

use super::input::Input;
use super::marks::mark;
use super::quoted::{Complete, Quoted, open_quote};
use crate::error::{Error, Remedy};

/// Bytes read at a time.
pub const BLOCK: usize = 1 << 20;
/// The longest record.
const LONGEST: usize = 16 << 20;
/// Bytes marked at a time: their marks stay in the nearest cache.
const PIECE: usize = 16 << 10;

/// A CSV text being split into records.
pub struct Records {
    input: Input,
    block: usize,
    /// What was read of the text and not yet left behind: `buffer[start..filled]`.
    buffer: Vec<u8>,
    start: usize,
    filled: usize,
    ended: bool,
    /// Places of commas, quotes and line ends in `buffer[..marked]`.
    marks: Vec<u32>,
    marked: usize,
    /// The first mark at or after `start`, and the first that was not looked at.
    next: usize,
    seen: usize,
    /// Line ends before `start`.
    line_feeds: u64,
    carriage_returns: u64,
    found: Vec<Found>,
    quoted: Quoted,
}

/// Where a record lies.
#[derive(Clone, Copy, Debug)]
struct Found {
    kind: Kind,
    /// Where its first field begins.
    start: u32,
    /// Which of the ends are its fields'.
    first: u32,
    fields: u32,
    line: u64,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Kind {
    /// In the buffer, its ends among the marks.
    Plain,
    /// Written out by `csv-core`.
    Quoted,
    /// It ends with the text, inside a quote.
    Open,
}

/// A record: its fields without their quotes.
#[derive(Clone, Copy, Debug)]
pub struct Record<'a> {
    text: &'a [u8],
    start: u32,
    ends: &'a [u32],
    /// How far a field begins after the end of the one before.
    gap: u32,
}

impl<'a> Record<'a> {
    /// A record that `text` holds, its fields separated by one byte.
    #[cfg(test)]
    pub const fn of(text: &'a [u8], ends: &'a [u32]) -> Self {
        Self { text, start: 0, ends, gap: 1 }
    }

    /// How many fields it has.
    #[inline]
    pub const fn len(&self) -> usize {
        self.ends.len()
    }

    /// A field, counted from 0.
    #[inline]
    pub fn field(&self, index: usize) -> &'a [u8] {
        let start = if index == 0 { self.start } else { self.ends[index - 1] + self.gap };
        &self.text[start as usize..self.ends[index] as usize]
    }
}

impl Records {
    /// Splits a text that is read `block` bytes at a time.
    pub fn new(input: Input, block: usize) -> Self {
        Self {
            input,
            block: block.clamp(1, BLOCK),
            buffer: Vec::new(),
            start: 0,
            filled: 0,
            ended: false,
            marks: Vec::new(),
            marked: 0,
            next: 0,
            seen: 0,
            line_feeds: 0,
            carriage_returns: 0,
            found: Vec::new(),
            quoted: Quoted::new(),
        }
    }

    /// Finds the next records, at most `max`, and says how many; none is the end. Without `wait`
    /// only in what has been read already.
    pub fn advance(&mut self, max: usize, wait: bool) -> Result<usize, Error> {
        self.found.clear();
        self.quoted.clear();
        if self.next * 2 >= self.marks.len() {
            self.drop_marks();
        }
        loop {
            while self.found.len() < max && self.find() {}
            if !self.found.is_empty() || !wait {
                return Ok(self.found.len());
            }
            if self.ended {
                self.find_open();
                return Ok(self.found.len());
            }
            self.read()?;
        }
    }

    /// One of the records found last, or `None` if its quote is never closed.
    #[inline]
    pub fn get(&self, index: usize) -> Option<Record<'_>> {
        let found = self.found[index];
        let fields = found.first as usize..(found.first + found.fields) as usize;
        match found.kind {
            Kind::Plain => Some(Record { text: &self.buffer, start: found.start, ends: &self.marks[fields], gap: 1 }),
            Kind::Quoted => {
                Some(Record { text: &self.quoted.text, start: found.start, ends: &self.quoted.ends[fields], gap: 0 })
            }
            Kind::Open => None,
        }
    }

    /// The line, from 1, on which a record found last begins; of an open one, its open quote.
    pub fn line(&self, index: usize) -> u64 {
        self.found[index].line
    }

    /// The line that is read now. A file of CRs alone counts by them; anywhere else they are not
    /// lines to the tools that show line numbers.
    const fn line_here(&self) -> u64 {
        1 + if self.line_feeds == 0 { self.carriage_returns } else { self.line_feeds }
    }

    #[inline]
    const fn count_line_end(&mut self, byte: u8) {
        self.line_feeds += (byte == b'\n') as u64;
        self.carriage_returns += (byte == b'\r') as u64;
    }

    /// Counts the line ends in so many bytes from `start` on.
    fn count_line_ends(&mut self, bytes: usize) {
        let text = &self.buffer[self.start..][..bytes];
        self.line_feeds += memchr::memchr_iter(b'\n', text).count() as u64;
        if self.line_feeds == 0 {
            self.carriage_returns += memchr::memchr_iter(b'\r', text).count() as u64;
        }
    }

    /// Finds one record in what has been read.
    #[inline]
    fn find(&mut self) -> bool {
        loop {
            let Some(mark) = self.marks.get(self.seen) else {
                if self.mark() {
                    continue;
                }
                return false;
            };
            let at = *mark as usize;
            let byte = self.buffer[at];
            match byte {
                b',' => self.seen += 1,
                b'"' => return self.find_quoted(),
                _ => {
                    self.seen += 1;
                    if at > self.start {
                        self.found.push(Found {
                            kind: Kind::Plain,
                            start: self.start as u32,
                            first: self.next as u32,
                            fields: (self.seen - self.next) as u32,
                            line: self.line_here(),
                        });
                    }
                    let blank = at == self.start;
                    self.count_line_end(byte);
                    self.start = at + 1;
                    self.next = self.seen;
                    if !blank {
                        return true;
                    }
                }
            }
        }
    }

    /// Finds a record that has a quote in it.
    #[cold]
    fn find_quoted(&mut self) -> bool {
        let text = &self.buffer[self.start..self.filled];
        let line = self.line_here();
        let Some(Complete { taken, start, first }) = self.quoted.read(text) else {
            if !self.found.is_empty() {
                // Those before go out first, and with them all fields that are kept.
                self.quoted.forget();
            }
            return false;
        };
        self.count_line_ends(taken);
        self.start += taken;
        self.found.push(Found {
            kind: Kind::Quoted,
            start,
            first,
            fields: self.quoted.ends.len() as u32 - first,
            line,
        });
        self.next += self.marks[self.next..].partition_point(|mark| (*mark as usize) < self.start);
        self.seen = self.next;
        self.marked = self.marked.max(self.start);
        true
    }

    /// At the end of the text, what remains is a record whose quote is never closed.
    fn find_open(&mut self) {
        let rest = &self.buffer[self.start..self.filled];
        if let Some(quote) = open_quote(rest) {
            self.count_line_ends(quote);
            let line = self.line_here();
            self.found.push(Found { kind: Kind::Open, start: 0, first: 0, fields: 0, line });
        }
        self.start = self.filled;
        self.marked = self.filled;
        self.next = self.marks.len();
        self.seen = self.next;
    }

    /// Forgets the marks before `start`.
    fn drop_marks(&mut self) {
        self.marks.drain(..self.next);
        self.seen -= self.next;
        self.next = 0;
    }

    /// Marks some more of what has been read, if there is more.
    fn mark(&mut self) -> bool {
        let piece = &self.buffer[self.marked..self.filled];
        let piece = &piece[..piece.len().min(PIECE)];
        mark(piece, self.marked as u32, &mut self.marks);
        self.marked += piece.len();
        !piece.is_empty()
    }

    /// Reads a block, after leaving behind what is done with.
    fn read(&mut self) -> Result<(), Error> {
        self.drop_marks();
        if self.start > 0 {
            self.buffer.copy_within(self.start..self.filled, 0);
            self.marks.iter_mut().for_each(|mark| *mark -= self.start as u32);
            self.marked -= self.start;
            self.filled -= self.start;
            self.start = 0;
        }
        if self.filled >= LONGEST {
            return Err(Error::Trace {
                file: self.input.display.clone(),
                line: Some(self.line_here()),
                reason: format!("a record of more than {} MiB begins here", LONGEST >> 20),
                remedy: (self.quoted.is_open()).then(|| Remedy::plain("is one of its quotes never closed?")),
            });
        }
        let to = self.filled + self.block;
        // One byte more, for a line end that is missing at the end of the text.
        if self.buffer.len() <= to {
            self.buffer.resize(to + 1, 0);
        }
        let count = self.input.read(&mut self.buffer[self.filled..to])?;
        self.filled += count;
        if count == 0 {
            self.ended = true;
            if self.start < self.filled && !matches!(self.buffer[self.filled - 1], b'\n' | b'\r') {
                // So the last record ends as the others do, unless a quote is open.
                self.buffer[self.filled] = b'\n';
                self.filled += 1;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::io::Cursor;

    /// All records with their lines; an open one has no fields.
    fn read(text: &[u8], block: usize, max: usize) -> Vec<(u64, Vec<Vec<u8>>)> {
        let input = Input::new(Box::new(Cursor::new(text.to_vec())), "x.csv".to_owned()).expect("text");
        let mut records = Records::new(input, block);
        let mut all = Vec::new();
        loop {
            let count = records.advance(max, true).expect("short records");
            if count == 0 {
                return all;
            }
            for index in 0..count {
                let fields = records.get(index).map_or_else(Vec::new, |record| {
                    (0..record.len()).map(|field| record.field(field).to_vec()).collect()
                });
                all.push((records.line(index), fields));
            }
        }
    }

    fn lines(text: &str) -> Vec<u64> {
        read(text.as_bytes(), 3, 2).iter().map(|(line, _)| *line).collect()
    }

    #[test]
    fn lines_count_what_editors_count() {
        assert_eq!(lines("a\nb\n\nc"), [1, 2, 4]);
        assert_eq!(lines("a\r\nb\r\n\r\nc\r\n"), [1, 2, 4]);
        assert_eq!(lines("\n\na,\"b\nc\nd\"\ne\n"), [3, 6]);
        assert_eq!(lines("a\rb\r\rc,\"d\re\"\rf"), [1, 2, 4, 6]);
    }

    /// As `csv-core` does by itself: the `csv` crate hands every byte to it.
    fn by_csv_crate(text: &[u8]) -> Vec<Vec<Vec<u8>>> {
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text);
        let records = reader.byte_records().map(|record| record.expect("reading from memory"));
        records.map(|record| record.iter().map(<[u8]>::to_vec).collect()).collect()
    }

    #[test]
    fn an_open_quote_is_found_on_its_line() {
        for (text, line) in [
            ("\"", 1),
            ("a,b\nc,\"d\ne,f\n", 2),
            ("a\n\"b\n\",\"c\n", 3),
            ("a\n\"b\"\"\n,\n", 2),
            ("a\"b\n\"b\"c,\"\n", 2),
        ] {
            for block in [1, 2, 100] {
                let all = read(text.as_bytes(), block, 64);
                assert_eq!(all.last(), Some(&(line, Vec::new())), "{text:?}");
            }
        }
    }

    #[test]
    fn a_mark_in_the_middle_is_text() {
        let text = b"a\n\xef\xbb\xbfb,\"c\"\n";
        assert_eq!(read(text, 100, 64)[1].1, [&b"\xef\xbb\xbfb"[..], b"c"]);
    }

    #[test]
    fn a_record_without_end_is_refused() {
        let text = [&b"a,b\nc,\""[..], &vec![b'\n'; LONGEST]].concat();
        let input = Input::new(Box::new(Cursor::new(text)), "x.csv".to_owned()).expect("text");
        let mut records = Records::new(input, BLOCK);
        assert_eq!(records.advance(64, true).expect("the first record"), 1);
        let error = records.advance(64, true).expect_err("too long").to_string();
        assert_eq!(error, "x.csv:2: a record of more than 16 MiB begins here; is one of its quotes never closed?");
        assert!(records.buffer.len() <= 2 * (LONGEST + BLOCK));
    }

    #[test]
    fn fields_with_quotes_are_kept_no_longer_than_their_batch() {
        let text = b"\"0123456789\",1\n".repeat(1000);
        let input = Input::new(Box::new(Cursor::new(text)), "x.csv".to_owned()).expect("text");
        // Each block ends inside a record.
        let mut records = Records::new(input, 22);
        let mut total = 0;
        loop {
            match records.advance(64, true).expect("good records") {
                0 => break,
                count => total += count,
            }
            assert!(records.quoted.ends.len() < 10);
        }
        assert_eq!(total, 1000);
    }

    /// A text of few letters, so that all that matters to CSV is frequent.
    fn text() -> impl Strategy<Value = Vec<u8>> {
        let byte = prop_oneof![
            4 => Just(b'a'),
            2 => Just(b','),
            2 => Just(b'\n'),
            1 => Just(b'\r'),
            1 => Just(b'"'),
            1 => any::<u8>(),
        ];
        prop::collection::vec(byte, 0..200).prop_map(|tail| [b"x".to_vec(), tail].concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        /// Both ways through, whatever the block: plain records and quoted ones read as `csv-core`
        /// reads all of them.
        #[test]
        fn records_are_those_of_csv_core(text in text(), block in 1_usize..80, max in 1_usize..10) {
            let mut expected = by_csv_crate(&text);
            let all = read(&text, block, max);
            if all.last().is_some_and(|(_, fields)| fields.is_empty()) {
                // The one whose quote is open: `csv-core` takes the rest of the text for it.
                expected.pop();
                expected.push(Vec::new());
            }
            let found: Vec<_> = all.iter().map(|(_, fields)| fields.clone()).collect();
            prop_assert_eq!(&found, &expected);
            prop_assert_eq!(&all, &read(&text, BLOCK, 64));
        }

    }
}
