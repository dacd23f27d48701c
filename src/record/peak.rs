//! The envelope: the most units released in any half-open span, for any key, exactly.
//!
//! For each key a ring of what was released in the last span is kept, shared by all lanes that
//! release on arrival: an entry carries one bit a lane, and each lane has its own sum. Entries that
//! have left the span linger until a sum could set a record, so that most arrivals only append.

use super::{Columns, Passage, PeakCourse};
use crate::limiter::{KeyId, Verdicts};
use crate::sim::{Lane, LanePlan, Observer, Step};
use crate::time::{SimDuration, SimTime};
use hashbrown::HashMap;
use std::collections::VecDeque;

/// The most units released in a span, and where that was first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Peak {
    /// Units.
    pub units: u64,
    /// The first release of the first span that holds them, and its key in the lane's column.
    pub first: Option<(SimTime, KeyId)>,
}

/// How long and by whom the limit was passed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Excess {
    /// Keys that had more than the limit released within a window.
    pub keys: u64,
    /// When the first of them did.
    pub first: Option<SimTime>,
    /// For how many nanoseconds the peak's key did.
    pub peak_key_ns: u128,
}

/// What is released: all that was offered, or what a lane admits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stream {
    /// Every arrival, on arrival.
    Offered,
    /// What lane number so-and-so admits.
    Lane(usize),
}

/// Lanes that share one ring: same key column, same exemptions, all releasing on arrival; or one
/// lane that delays.
#[derive(Debug)]
pub struct PeakWindow {
    span: i64,
    /// Sums above this are excess.
    limit: u64,
    column: usize,
    plan: Option<LanePlan>,
    streams: Vec<Stream>,
    rings: Vec<Ring>,
    /// Sum of the ring's units, a number a key and stream.
    sums: Vec<u64>,
    records: Vec<Record>,
    /// How each stream's peak runs through a span; empty if nobody asked.
    courses: Vec<PeakCourse>,
}

#[derive(Clone, Debug, Default)]
struct Ring {
    entries: VecDeque<Entry>,
    /// Entries that have been removed.
    removed: u64,
}

#[derive(Clone, Copy, Debug)]
struct Entry {
    at: i64,
    cost: u64,
    /// One bit a stream.
    streams: u32,
}

#[derive(Clone, Debug)]
struct Record {
    units: u64,
    from: i64,
    key: u32,
    /// A sum of at least this is looked at closely.
    notice: u64,
    over: HashMap<u32, Over, foldhash::fast::FixedState>,
    first_over: i64,
}

/// One key of one stream above the limit.
#[derive(Clone, Copy, Debug)]
struct Over {
    /// Until when it is known to be above.
    until: i64,
    total: u128,
    /// Entries (counted from the ring's first ever) that must leave before it no longer is.
    cut: u64,
    /// Units of the entries from `cut` on.
    kept: u64,
    /// Entries (counted alike) that these numbers know of.
    known: u64,
}

/// Streams that fit one ring.
pub const MAX_STREAMS: usize = 32;

impl PeakWindow {
    /// A window of this span over streams that release on arrival, or over one that delays.
    ///
    /// `plan` tells which arrivals count: those that it does not exempt.
    #[must_use]
    pub fn new(
        span: SimDuration,
        limit: Option<u64>,
        column: usize,
        plan: Option<LanePlan>,
        streams: Vec<Stream>,
    ) -> Self {
        assert!(streams.len() <= MAX_STREAMS, "one bit a stream");
        let limit = limit.unwrap_or(u64::MAX);
        let record = Record {
            units: 0,
            from: i64::MAX,
            key: u32::MAX,
            notice: 1,
            over: HashMap::default(),
            first_over: i64::MAX,
        };
        Self {
            span: i64::try_from(span.short_nanos()).expect("a configured span is below 2^62"),
            limit,
            column,
            plan,
            records: vec![record; streams.len()],
            streams,
            rings: Vec::new(),
            sums: Vec::new(),
            courses: Vec::new(),
        }
    }

    /// The same, also following how each peak runs through a span; keeps at most `keep` records.
    #[must_use]
    pub fn with_courses(mut self, columns: Columns, keep: usize) -> Self {
        self.courses = vec![PeakCourse::new(columns, keep); self.streams.len()];
        self
    }

    /// For each stream, the peak so far at the end of each column, and its records if few.
    pub fn take_courses(&mut self) -> Vec<Passage<u64>> {
        std::mem::take(&mut self.courses).into_iter().map(PeakCourse::finish).collect()
    }

    /// Whether releases may come out of order of time, so that a peak's course needs all of them.
    fn follows_delays(&self) -> bool {
        !self.courses.is_empty() && matches!(self.streams[..], [Stream::Lane(_)])
    }

    /// The streams, in the order of [`peak`](Self::peak) and [`excess`](Self::excess).
    #[must_use]
    pub fn streams(&self) -> &[Stream] {
        &self.streams
    }

    /// The peak of stream number `stream`.
    #[must_use]
    pub fn peak(&self, stream: usize) -> Peak {
        let record = &self.records[stream];
        let first = (record.units > 0).then_some((SimTime::from_nanos(record.from), KeyId(record.key)));
        Peak { units: record.units, first }
    }

    /// The excess of stream number `stream`.
    #[must_use]
    pub fn excess(&self, stream: usize) -> Excess {
        let record = &self.records[stream];
        Excess {
            keys: record.over.len() as u64,
            first: (!record.over.is_empty()).then_some(SimTime::from_nanos(record.first_over)),
            peak_key_ns: record.over.get(&record.key).map_or(0, |over| over.total),
        }
    }

    /// Brings what these keys need into the cache: loads that do not wait for each other.
    fn touch(&self, keys: &[KeyId]) {
        let width = self.streams.len();
        let mut seen = 0;
        for key in keys {
            if let Some(ring) = self.rings.get(key.index()) {
                seen ^= self.sums[key.index() * width] ^ ring.entries.back().map_or(0, |entry| entry.cost);
            }
        }
        std::hint::black_box(seen);
    }

    #[inline]
    fn release(&mut self, key: KeyId, at: i64, cost: u64, streams: u32, number: u64) {
        if cost == 0 || streams == 0 {
            return;
        }
        let (key, width) = (key.index(), self.streams.len());
        if key >= self.rings.len() {
            self.rings.resize_with(key + 1, Ring::default);
            self.sums.resize((key + 1) * width, 0);
        }
        self.rings[key].entries.push_back(Entry { at, cost, streams });
        let sums = &mut self.sums[key * width..][..width];
        let mut notable = false;
        for (i, (sum, record)) in sums.iter_mut().zip(&self.records).enumerate() {
            *sum += cost * u64::from(streams >> i & 1);
            notable |= *sum >= record.notice;
        }
        if notable || self.follows_delays() {
            self.settle(key, at, streams, number);
        }
    }

    /// Makes a key's sums exact and looks for records; arrival number `number` was released.
    fn settle(&mut self, key: usize, at: i64, streams: u32, number: u64) {
        let width = self.streams.len();
        let unordered = self.follows_delays();
        let ring = &mut self.rings[key];
        let sums = &mut self.sums[key * width..][..width];
        while let Some(entry) = ring.entries.front().filter(|entry| entry.at <= at - self.span) {
            for (i, sum) in sums.iter_mut().enumerate() {
                *sum -= entry.cost * u64::from(entry.streams >> i & 1);
            }
            ring.entries.pop_front();
            ring.removed += 1;
        }
        for (i, (sum, record)) in sums.iter().zip(&mut self.records).enumerate() {
            if streams >> i & 1 == 0 {
                continue;
            }
            if let Some(course) = self.courses.get_mut(i).filter(|_| unordered || *sum > record.units) {
                course.note(at, number, *sum);
            }
            if *sum >= record.units {
                let first = ring.entries.iter().find(|entry| entry.streams >> i & 1 == 1);
                let from = first.map_or(at, |entry| entry.at);
                if *sum > record.units || (from, key as u32) < (record.from, record.key) {
                    (record.units, record.from, record.key) = (*sum, from, key as u32);
                    record.notice = record.units.min(self.limit.saturating_add(1)).max(1);
                }
            }
            if *sum > self.limit {
                record.exceed(key as u32, i, *sum, self.limit, ring, at, self.span);
            }
        }
    }
}

impl Record {
    /// Notes that `sum` units of stream `i` lie in the span that ends at `at`.
    #[allow(clippy::too_many_arguments)]
    fn exceed(&mut self, key: u32, i: usize, sum: u64, limit: u64, ring: &Ring, at: i64, span: i64) {
        let end = ring.removed + ring.entries.len() as u64;
        self.first_over = self.first_over.min(at);
        let over = self.over.entry(key).or_insert(Over {
            until: at,
            total: 0,
            cut: ring.removed,
            kept: 0,
            known: ring.removed,
        });
        // The cut only moves forward: what has come since it was found only adds to what is kept.
        if over.cut < ring.removed {
            (over.cut, over.kept) = (ring.removed, sum);
        } else {
            let news = over.known.max(over.cut) - ring.removed;
            let news = ring.entries.iter().skip(news as usize);
            over.kept += news.map(|entry| entry.cost * u64::from(entry.streams >> i & 1)).sum::<u64>();
        }
        over.known = end;
        // The entries before the cut are those that must leave.
        while over.kept > limit {
            let entry = ring.entries[(over.cut - ring.removed) as usize];
            over.kept -= entry.cost * u64::from(entry.streams >> i & 1);
            over.cut += 1;
        }
        let until = ring.entries[(over.cut - ring.removed - 1) as usize].at + span;
        over.total += (until - at.max(over.until)).max(0) as u128;
        over.until = over.until.max(until);
    }
}

impl Observer for PeakWindow {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let subject = self.plan.as_ref().and_then(|plan| Lane::subject(plan, batch));
        let counts = |row: usize| subject.as_ref().is_none_or(|bits| bits.get(row));
        if let [Stream::Lane(lane)] = self.streams[..] {
            // One lane alone may delay: releases of one key never overtake each other.
            let verdicts = &verdicts[lane];
            let mut waits = verdicts.waits.iter().peekable();
            for row in verdicts.admitted.ones() {
                let wait = waits.next_if(|(delayed, _)| *delayed as usize == row).map_or(0, |(_, wait)| *wait);
                if counts(row) {
                    let at = batch.at[row].nanos() + wait as i64;
                    self.release(batch.keys[self.column][row], at, batch.cost[row], 1, batch.first + row as u64 + 1);
                }
            }
            return;
        }
        let streams = self.streams.clone();
        for chunk in 0..batch.len().div_ceil(64) {
            let words: [u64; MAX_STREAMS] = std::array::from_fn(|i| match streams.get(i) {
                Some(Stream::Offered) => !0,
                Some(Stream::Lane(lane)) => verdicts[*lane].admitted.words()[chunk],
                None => 0,
            });
            let words = &words[..streams.len()];
            let rows = chunk * 64..batch.len().min(chunk * 64 + 64);
            self.touch(&batch.keys[self.column][rows.clone()]);
            for row in rows {
                let mut bits = 0;
                for (i, word) in words.iter().enumerate() {
                    bits |= ((word >> (row % 64) & 1) as u32) << i;
                }
                if counts(row) {
                    let number = batch.first + row as u64 + 1;
                    self.release(batch.keys[self.column][row], batch.at[row].nanos(), batch.cost[row], bits, number);
                }
            }
        }
    }
}
