//! A table of results that grows point by point, and is read again to go on with it.
//!
//! Points are appended in the order in which they are done, each in one piece. What an interruption
//! leaves is a table whose last point may be torn; it is cut off. When all points are done, the table
//! is written anew, in order.

use super::super::output::cannot_write;
use crate::error::Error;
use crate::faces::csv::sweep_header;
use crate::report::{SweepAxis, SweepReport, SweepRow, SweepValue};
use crate::runner::Prospect;
use std::collections::BTreeMap;
use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// A table that is open for what comes.
pub struct Journal {
    path: PathBuf,
    file: Mutex<File>,
}

/// The points of a table, and each one's lanes.
type Points = BTreeMap<usize, Vec<SweepRow>>;

impl Journal {
    /// Opens a table, which may not be there yet, and reads the points that it has.
    ///
    /// # Errors
    /// If it cannot be read and written, is in use, or is the table of another sweep.
    pub fn open(path: &Path, report: &SweepReport, prospect: &Prospect) -> Result<(Self, Points), Error> {
        let failed = |source: io::Error| cannot_write(path, &source);
        if path.metadata().is_ok_and(|found| !found.is_file()) {
            return Err(Error::usage(format!("{} is no regular file, so it cannot be gone on with", path.display())));
        }
        let opened = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path);
        let mut file = opened.map_err(failed)?;
        match file.try_lock() {
            Err(TryLockError::WouldBlock) => {
                return Err(Error::usage(format!("{} is being written by another sweep", path.display())));
            }
            // Where files cannot be locked, it is for the user to see that there is one sweep.
            Ok(()) | Err(TryLockError::Error(_)) => {}
        }
        let mut content = Vec::new();
        file.read_to_end(&mut content).map_err(failed)?;
        let (points, good) = Table::new(path, report, prospect).read(&content)?;
        // What is torn goes; the first line comes first.
        file.set_len(good as u64).and_then(|()| file.seek(SeekFrom::End(0))).map_err(failed)?;
        if good == 0 {
            file.write_all(sweep_header(report).as_bytes()).map_err(failed)?;
        }
        Ok((Self { path: path.to_path_buf(), file: Mutex::new(file) }, points))
    }

    /// Adds the rows of a point.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn append(&self, rows: &str) -> Result<(), Error> {
        let mut file = self.file.lock().unwrap_or_else(PoisonError::into_inner);
        file.write_all(rows.as_bytes()).map_err(|source| cannot_write(&self.path, &source))
    }
}

/// What a table must be like.
struct Table<'a> {
    path: &'a Path,
    report: &'a SweepReport,
    prospect: &'a Prospect,
    /// The number of each value of each axis.
    numbers: Vec<BTreeMap<&'a str, usize>>,
}

/// What is wrong with a row.
enum Fault {
    /// It is not one of this table.
    Foreign,
    /// It is one of another sweep.
    OtherSweep,
    /// It does not belong to the point before it, which has too few lanes, or too many.
    Displaced,
}

impl<'a> Table<'a> {
    fn new(path: &'a Path, report: &'a SweepReport, prospect: &'a Prospect) -> Self {
        let of_axis =
            |axis: &'a SweepAxis| axis.values.iter().enumerate().map(|(i, value)| (value.as_str(), i)).collect();
        Self { path, report, prospect, numbers: report.axes.iter().map(of_axis).collect() }
    }

    /// The points of a table, and how many bytes of it are whole.
    fn read(&self, content: &[u8]) -> Result<(Points, usize), Error> {
        let header = sweep_header(self.report);
        let mut points = Points::new();
        if header.as_bytes().starts_with(content) && content.len() < header.len() {
            return Ok((points, 0));
        }
        if !content.starts_with(header.as_bytes()) {
            let first = content.split(|byte| *byte == b'\n').next().unwrap_or_default();
            return Err(self.refused(format!(
                "its first line is `{}`, and of this sweep `{}`",
                String::from_utf8_lossy(first).trim_end(),
                header.trim_end()
            )));
        }
        let rows = &content[header.len()..];
        let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(rows);
        let mut record = csv::StringRecord::new();
        let (mut whole, mut open): (usize, Option<(usize, Vec<SweepRow>)>) = (0, None);
        loop {
            let line = reader.position().line() + 1;
            let read = reader.read_record(&mut record);
            let end = reader.position().byte() as usize;
            // Only what comes last can be torn, and then there is no end of its line.
            let torn = end >= rows.len() && !rows.ends_with(b"\n");
            match read {
                _ if torn => break,
                Ok(false) => break,
                Err(_) => return Err(self.at_line(line, &Fault::Foreign)),
                Ok(true) => {}
            }
            let (point, row) = self.row(&record).map_err(|fault| self.at_line(line, &fault))?;
            let lanes = match &mut open {
                Some((current, lanes)) if *current == point => lanes,
                Some(_) => return Err(self.at_line(line, &Fault::Displaced)),
                None if points.contains_key(&point) => return Err(self.at_line(line, &Fault::Displaced)),
                None => &mut open.insert((point, Vec::new())).1,
            };
            let expected = &self.prospect.lanes_at[point];
            if expected.get(lanes.len()).is_none_or(|lane| self.prospect.lanes[*lane] != row.lane) {
                return Err(self.at_line(line, &Fault::Displaced));
            }
            lanes.push(row);
            if lanes.len() == expected.len() {
                points.extend(open.take());
                whole = end;
            }
        }
        Ok((points, header.len() + whole))
    }

    fn row(&self, record: &csv::StringRecord) -> Result<(usize, SweepRow), Fault> {
        let SweepReport { axes, measures, closed, stamp, .. } = self.report;
        if record.len() != axes.len() + measures.len() + 2 + usize::from(*closed) {
            return Err(Fault::Foreign);
        }
        if record.get(record.len() - 1) != Some(stamp.as_str()) {
            return Err(Fault::OtherSweep);
        }
        let mut fields = record.iter();
        let mut point = 0;
        for numbers in &self.numbers {
            let index = numbers.get(fields.next().unwrap_or_default()).ok_or(Fault::Foreign)?;
            point = point * numbers.len() + index;
        }
        let lane = fields.next().unwrap_or_default().to_owned();
        let mut values = Vec::new();
        for measure in measures {
            values.push(match fields.next().unwrap_or_default() {
                "" => None,
                text => Some(SweepValue::read(text, measure.unit).ok_or(Fault::Foreign)?),
            });
        }
        let partial = match (closed, fields.next()) {
            (false, _) | (true, Some("false")) => false,
            (true, Some("true")) => true,
            (true, _) => return Err(Fault::Foreign),
        };
        Ok((point, SweepRow { lane, partial, values }))
    }

    fn at_line(&self, line: u64, fault: &Fault) -> Error {
        self.refused(match fault {
            Fault::Foreign => format!("line {line} is not a row of this sweep"),
            Fault::OtherSweep => format!(
                "line {line} is of another sweep: the scenario, a trace, the values, the measures or the program have changed"
            ),
            Fault::Displaced => format!("line {line} does not go with the lines before it"),
        })
    }

    fn refused(&self, why: String) -> Error {
        let path = self.path.display();
        Error::usage(format!("--resume cannot go on with {path}: {why}; to replace the file leave out --resume"))
    }
}
