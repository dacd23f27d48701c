//! The full decision log of a closed loop: each lane's attempts go to a file of its own, and at the end
//! the files are merged by time.

use super::decisions::{HEADER, Row};
use crate::sim::{Answered, Lane, LanePlan, Policy, Scribe};
use crate::time::SimTime;
use crate::traffic::display_key;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};
use std::fs::File;
use std::io::{BufReader, BufWriter, Error, Read, Seek, Write};
use std::sync::{Arc, Mutex, PoisonError};

/// The log of all lanes.
#[derive(Debug)]
pub struct AttemptLog {
    lanes: Vec<Shared>,
    headers: bool,
    deployed: bool,
}

/// A lane's file, and what went wrong with it.
type Shared = Arc<Mutex<Result<csv::Writer<BufWriter<File>>, Error>>>;

/// Writes one lane's attempts.
struct Pen {
    shared: Shared,
    name: String,
    plan: LanePlan,
    policy: Policy,
    /// The run's start; without one, the first attempt.
    start: Option<SimTime>,
    headers: bool,
    deployed: bool,
    keys: Vec<String>,
    /// Rows of attempts that were decided before one that came earlier, and the number of that one.
    early: BTreeMap<u64, csv::StringRecord>,
    next: u64,
}

impl AttemptLog {
    /// A log of these lanes in these empty files, one each; with the answers' headers if a lane tells
    /// any.
    #[must_use]
    pub fn new(lanes: &[LanePlan], files: Vec<File>) -> Self {
        let writer = |file| csv::WriterBuilder::new().from_writer(BufWriter::new(file));
        Self {
            lanes: files.into_iter().map(|file| Arc::new(Mutex::new(Ok(writer(file))))).collect(),
            headers: lanes.iter().any(|lane| lane.response.tells()),
            deployed: lanes.iter().any(|lane| lane.deployment.is_some()),
        }
    }

    /// One scribe for each lane; times count from `start`, or from the first attempt.
    #[must_use]
    pub fn scribes(&self, lanes: &[LanePlan], start: Option<SimTime>) -> Vec<Box<dyn Scribe>> {
        let pen = |(lane, shared): (&LanePlan, &Shared)| {
            Box::new(Pen {
                shared: shared.clone(),
                name: lane.name.clone(),
                policy: Policy::of(&lane.limiter),
                plan: lane.clone(),
                start,
                headers: self.headers,
                deployed: self.deployed,
                keys: Vec::new(),
                early: BTreeMap::new(),
                next: 0,
            }) as Box<dyn Scribe>
        };
        lanes.iter().zip(&self.lanes).map(pen).collect()
    }

    /// Writes all rows in order of time; those of one instant in the order of their lanes.
    ///
    /// # Errors
    /// If a lane's file or `out` fails.
    pub fn finish(self, out: impl Write) -> Result<(), Error> {
        let mut out = csv::Writer::from_writer(out);
        let headers: &[&str] = if self.headers { &["status", "headers"] } else { &[] };
        let deployed: &[&str] = if self.deployed { &["replica", "decided_by", "latency_ns"] } else { &[] };
        out.write_record(HEADER.iter().chain(headers).chain(deployed))?;
        let mut readers = Vec::new();
        for shared in self.lanes {
            let lock = Arc::into_inner(shared).expect("the worlds have ended");
            let writer = lock.into_inner().unwrap_or_else(PoisonError::into_inner)?;
            let mut file = writer.into_inner().map_err(|error| error.into_error())?.into_inner()?;
            file.rewind()?;
            let reader = csv::ReaderBuilder::new().has_headers(false).from_reader(BufReader::new(file));
            readers.push(reader.into_byte_records());
        }
        let mut heads = BinaryHeap::new();
        let mut rows: Vec<Option<csv::ByteRecord>> = Vec::new();
        for (lane, reader) in readers.iter_mut().enumerate() {
            let row = next(reader)?;
            heads.extend(row.as_ref().map(|row| Reverse((time(row), lane))));
            rows.push(row);
        }
        while let Some(Reverse((_, lane))) = heads.pop() {
            let Some(row) = rows[lane].take() else { continue };
            out.write_byte_record(&row)?;
            rows[lane] = next(&mut readers[lane])?;
            heads.extend(rows[lane].as_ref().map(|row| Reverse((time(row), lane))));
        }
        out.flush()
    }
}

fn next(reader: &mut csv::ByteRecordsIntoIter<impl Read>) -> Result<Option<csv::ByteRecord>, Error> {
    reader.next().transpose().map_err(Error::from)
}

/// When a row's attempt came.
fn time(row: &csv::ByteRecord) -> i64 {
    let text = row.get(1).and_then(|field| std::str::from_utf8(field).ok());
    text.and_then(|text| text.parse().ok()).expect("a row that was written here")
}

impl Scribe for Pen {
    fn meet(&mut self, new_keys: &[Box<[u8]>]) {
        self.keys.extend(new_keys.iter().map(|key| display_key(key)));
    }

    fn answered(&mut self, answered: &Answered, lane: Option<&Lane>) {
        let Answered { row: number, arrival, made, at, keys, cost, decision, told, known, way } = *answered;
        let mut writer = self.shared.lock().unwrap_or_else(PoisonError::into_inner);
        let Ok(rows) = &mut *writer else { return };
        let row = Row::new(lane, keys[1], known, cost, decision);
        let mut record = csv::StringRecord::new();
        record.push_field(&arrival.map_or_else(String::new, |arrival| arrival.to_string()));
        let start = *self.start.get_or_insert(at);
        record.push_field(&(at.nanos() - start.nanos()).to_string());
        record.push_field(&self.name);
        record.push_field(&self.keys[keys[0].index()]);
        record.push_field(&made.to_string());
        record.push_field(&cost.to_string());
        row.fields().iter().for_each(|field| record.push_field(field));
        if self.headers {
            let response = &self.plan.response;
            let status = if decision.admits() { 200 } else { response.status };
            let lines = lane.map(|lane| response.lines(known, self.policy, &lane.level(keys[1], known), told));
            let lines: Vec<String> =
                lines.into_iter().flatten().map(|(name, value)| format!("{name}: {value}")).collect();
            record.push_field(&status.to_string());
            record.push_field(&lines.join(" | "));
        }
        if self.deployed {
            let (replica, decider) =
                way.map_or_else(Default::default, |(replica, decider)| (replica.to_string(), decider.name()));
            record.push_field(&replica);
            record.push_field(decider);
            record.push_field(&known.since(at).nanos().to_string());
        }
        // Rows keep the order in which attempts came.
        let mut ready = vec![record];
        if let Some(number) = number {
            self.early.insert(number, ready.remove(0));
            while let Some(next) = self.early.remove(&self.next) {
                ready.push(next);
                self.next += 1;
            }
        }
        if let Err(error) = ready.iter().try_for_each(|record| rows.write_record(record)) {
            *writer = Err(Error::from(error));
        }
    }
}
