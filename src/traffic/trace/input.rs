//! The bytes of a trace: from a file or standard input, unpacked, without a byte-order mark.

use super::super::{TraceFile, TraceSpec};
use crate::error::{Error, Remedy};
use flate2::read::MultiGzDecoder;
use std::fs::File;
use std::io::{self, Cursor, Read};
use std::path::PathBuf;

/// The text of a trace.
pub struct Input {
    reader: Box<dyn Read + Send>,
    packed: bool,
    /// The file as the user named it.
    pub display: String,
}

/// First bytes that tell a file to be something else than text.
const FOREIGN: [(&[u8], &str); 7] = [
    (b"\xff\xfe", "UTF-16 text"),
    (b"\xfe\xff", "UTF-16 text"),
    (b"\0\0\xfe\xff", "UTF-32 text"),
    (b"\x28\xb5\x2f\xfd", "packed by zstd"),
    (b"\xfd7zXZ\0", "packed by xz"),
    (b"\x1f\x8b", "packed by gzip twice"),
    (b"PK\x03\x04", "a zip archive"),
];

/// Enough bytes to recognize any of them.
const SNIFFED: usize = 8;

impl Input {
    /// Opens the trace that a spec names.
    pub fn open(spec: &TraceSpec) -> Result<Self, Error> {
        let reader: Box<dyn Read + Send> = match &spec.file {
            TraceFile::Path(path) => Box::new(File::open(path).map_err(|error| cannot_read(&spec.display, error))?),
            TraceFile::Stdin { head: None } => Box::new(io::stdin()),
            TraceFile::Stdin { head: Some(path) } => {
                let head = File::open(path).map_err(|error| cannot_read(&spec.display, error))?;
                Box::new(head.chain(io::stdin()))
            }
            TraceFile::Embedded(bytes) => Box::new(*bytes),
        };
        Self::new(reader, spec.display.clone())
    }

    /// Takes the trace from a reader.
    pub fn new(mut reader: Box<dyn Read + Send>, display: String) -> Result<Self, Error> {
        let mut first = sniff(&mut reader).map_err(|error| cannot_read(&display, error))?;
        let packed = first.starts_with(b"\x1f\x8b");
        if packed {
            reader = Box::new(MultiGzDecoder::new(Cursor::new(first).chain(reader)));
            first = sniff(&mut reader).map_err(|error| damaged(&display, &error))?;
        }
        if let Some(kind) = foreign(&first) {
            return Err(Error::Trace {
                file: display,
                line: None,
                reason: format!("the file is {kind}, not CSV"),
                remedy: Some(Remedy::plain("give it as CSV in UTF-8, plain or packed by gzip")),
            });
        }
        let mark = if first.starts_with(b"\xef\xbb\xbf") { 3 } else { 0 };
        let reader = Box::new(Cursor::new(first.split_off(mark)).chain(reader));
        Ok(Self { reader, packed, display })
    }

    /// Reads some bytes; none only at the end.
    pub fn read(&mut self, into: &mut [u8]) -> Result<usize, Error> {
        loop {
            match self.reader.read(into) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) if self.packed => return Err(damaged(&self.display, &error)),
                result => return result.map_err(|error| cannot_read(&self.display, error)),
            }
        }
    }
}

/// The first bytes, fewer only where the file is shorter.
fn sniff(reader: &mut dyn Read) -> io::Result<Vec<u8>> {
    let mut first = Vec::new();
    reader.take(SNIFFED as u64).read_to_end(&mut first)?;
    Ok(first)
}

fn foreign(first: &[u8]) -> Option<&'static str> {
    if let Some((_, kind)) = FOREIGN.iter().find(|(magic, _)| first.starts_with(magic)) {
        return Some(kind);
    }
    match first {
        [b'B', b'Z', b'h', b'1'..=b'9', b'1', b'A', b'Y', b'&', ..] => Some("packed by bzip2"),
        [b'P', b'A', b'R', b'1', 0x15, ..] => Some("a Parquet file"),
        // Latin text in UTF-16 without its mark: every other byte is zero.
        [a, 0, b, 0, ..] | [0, a, 0, b, ..] if *a != 0 && *b != 0 => Some("UTF-16 text"),
        [0, ..] => Some("binary data"),
        _ => None,
    }
}

fn damaged(display: &str, error: &io::Error) -> Error {
    let what = format!("the gzip data are damaged or end too early ({error})");
    cannot_read(display, io::Error::new(error.kind(), what))
}

fn cannot_read(display: &str, source: io::Error) -> Error {
    Error::Io { path: PathBuf::from(display), action: "read", source }
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
        packer.write_all(bytes).expect("writing to memory");
        packer.finish().expect("writing to memory")
    }

    fn text(bytes: &[u8]) -> Result<Vec<u8>, Error> {
        let mut input = Input::new(Box::new(Cursor::new(bytes.to_vec())), "x.csv".to_owned())?;
        let (mut all, mut block) = (Vec::new(), [0; 5]);
        loop {
            match input.read(&mut block)? {
                0 => return Ok(all),
                n => all.extend_from_slice(&block[..n]),
            }
        }
    }

    #[test]
    fn unpacks_what_begins_like_gzip() {
        let both = [gzip(b"\xef\xbb\xbftime,"), gzip(b""), gzip(b"key\n")].concat();
        assert_eq!(text(&both).expect("two members"), b"time,key\n");
        for plain in [&b""[..], b"a", b"\xef\xbb\xbf", b"time,key\n1,a\n"] {
            let expected = plain.strip_prefix(b"\xef\xbb\xbf").unwrap_or(plain);
            assert_eq!(text(plain).expect("plain"), expected);
            assert_eq!(text(&gzip(plain)).expect("packed"), expected);
        }
    }

    #[test]
    fn only_the_first_mark_is_left_out() {
        assert_eq!(text(b"\xef\xbb\xbf\xef\xbb\xbfa").expect("text"), b"\xef\xbb\xbfa");
    }

    #[test]
    fn says_what_is_not_csv() {
        for (bytes, kind) in [
            (&b"\xff\xfet\0i\0"[..], "UTF-16"),
            (b"t\0i\0m\0", "UTF-16"),
            (b"\0t\0i\0m", "UTF-16"),
            (b"PK\x03\x04....", "zip"),
            (b"\x28\xb5\x2f\xfd", "zstd"),
        ] {
            let error = text(bytes).expect_err("foreign").to_string();
            assert!(error.contains(kind), "{error}");
            assert!(text(&gzip(bytes)).expect_err("foreign").to_string().contains(kind));
        }
        assert!(text(&gzip(&gzip(b"a"))).expect_err("twice").to_string().contains("gzip twice"));
    }

    #[test]
    fn a_packed_file_cut_short_is_an_error() {
        let whole = gzip(&b"1700000000,alice,1\n".repeat(100));
        let error = text(&whole[..whole.len() - 9]).expect_err("cut short");
        assert_eq!(error.exit_code(), 1);
        assert!(error.to_string().contains("cannot read x.csv: the gzip data are damaged or end too early"), "{error}");
    }
}
