//! The envelope: the most units released in any half-open span, for any key, exactly.
//!
//! For each key a ring of what was released in the last span is kept, shared by all lanes that
//! release on arrival: an entry carries one bit a lane, and each lane has its own sum. Entries that
//! have left the span linger until a sum could set a record, so that most arrivals only append.

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

/// Streams that fit one ring.
pub const MAX_STREAMS: usize = 8;

/// Records the peaks of a few streams in windows of one length.
pub trait PeakStreams: Observer {
    /// The streams, in the order of [`peak`](Self::peak) and [`excess`](Self::excess).
    fn streams(&self) -> &[Stream];
    /// The peak of stream number `stream`.
    fn peak(&self, stream: usize) -> Peak;
    /// The excess of stream number `stream`.
    fn excess(&self, stream: usize) -> Excess;
}

/// A window of this span over streams that release on arrival, or over one that delays.
///
/// `plan` tells which arrivals count: those that it does not exempt. `ordered` says that releases
/// come in order of time over all keys, not only of each: no stream delays.
#[must_use]
pub fn peak_window(
    span: SimDuration,
    limit: Option<u64>,
    column: usize,
    plan: Option<LanePlan>,
    streams: Vec<Stream>,
    ordered: bool,
) -> Box<dyn PeakStreams> {
    match streams.len() {
        1 => Box::new(PeakWindow::<1>::new(span, limit, column, plan, streams, ordered)),
        _ => Box::new(PeakWindow::<MAX_STREAMS>::new(span, limit, column, plan, streams, ordered)),
    }
}

/// Up to `N` streams that share one ring: same key column, same exemptions, all releasing on
/// arrival; or one stream that delays.
#[derive(Debug)]
struct PeakWindow<const N: usize> {
    span: i64,
    /// Sums above this are excess.
    limit: u64,
    column: usize,
    plan: Option<LanePlan>,
    streams: Vec<Stream>,
    ordered: bool,
    keys: Vec<KeyWindow<N>>,
    /// For each stream, a sum of at least this is looked at closely.
    notice: [u64; N],
    records: [Record; N],
}

/// What was released of one key in the last span.
#[derive(Clone, Debug)]
struct KeyWindow<const N: usize> {
    entries: VecDeque<Entry>,
    /// Entries that have been removed.
    removed: u64,
    /// Units of the entries, a sum a stream.
    sums: [u64; N],
}

/// A release: its instant, and its units and streams (one bit each) in one word.
#[derive(Clone, Copy, Debug)]
struct Entry {
    at: i64,
    units_and_streams: u64,
}

/// Units that an entry holds; more take several entries. A run's units fit 63 bits, so at most 128
/// entries of a run are such.
const ENTRY_UNITS: u64 = (1 << 56) - 1;

impl Entry {
    #[inline]
    const fn new(at: i64, units: u64, streams: u8) -> Self {
        Self { at, units_and_streams: units << 8 | streams as u64 }
    }

    #[inline]
    const fn units(self) -> u64 {
        self.units_and_streams >> 8
    }

    #[inline]
    const fn streams(self) -> u8 {
        self.units_and_streams as u8
    }

    /// Units if the entry is of stream `i`.
    #[inline]
    const fn of(self, i: usize) -> u64 {
        self.units() * (self.units_and_streams >> i & 1)
    }
}

/// For each set of streams, all ones for those in it.
static MASKS: [[u64; MAX_STREAMS]; 256] = masks();

const fn masks() -> [[u64; MAX_STREAMS]; 256] {
    let mut masks = [[0; MAX_STREAMS]; 256];
    let mut set = 0;
    while set < 256 {
        let mut i = 0;
        while i < MAX_STREAMS {
            masks[set][i] = if set >> i & 1 == 1 { u64::MAX } else { 0 };
            i += 1;
        }
        set += 1;
    }
    masks
}

impl<const N: usize> KeyWindow<N> {
    const EMPTY: Self = Self { entries: VecDeque::new(), removed: 0, sums: [0; N] };

    #[inline]
    fn add(&mut self, entry: Entry) {
        let masks = &MASKS[usize::from(entry.streams())];
        for i in 0..N {
            self.sums[i] += entry.units() & masks[i];
        }
        self.entries.push_back(entry);
    }

    /// Lets what is a span old at `at` leave.
    #[inline]
    fn expire(&mut self, at: i64, span: i64) {
        while let Some(entry) = self.entries.front().copied().filter(|entry| entry.at <= at - span) {
            let masks = &MASKS[usize::from(entry.streams())];
            for i in 0..N {
                self.sums[i] -= entry.units() & masks[i];
            }
            self.entries.pop_front();
            self.removed += 1;
        }
    }

    /// Whether a stream of the set has a sum that is to be noticed.
    #[inline]
    fn notable(&self, notice: &[u64; N], streams: u8) -> bool {
        let masks = &MASKS[usize::from(streams)];
        // Sums and thresholds fit 63 bits: a difference is negative below the threshold.
        let mut below = -1;
        for i in 0..N {
            below &= (self.sums[i] as i64).wrapping_sub(notice[i] as i64) | !(masks[i] as i64);
        }
        below >= 0
    }
}

#[derive(Clone, Debug)]
struct Record {
    units: u64,
    from: i64,
    key: u32,
    over: HashMap<u32, Over, foldhash::fast::FixedState>,
    first_over: i64,
}

/// One key of one stream above the limit.
#[derive(Clone, Copy, Debug)]
struct Over {
    /// Until when it is known to be above: a window after the last release there may be.
    until: i128,
    total: u128,
    /// Entries (counted from the ring's first ever) that must leave before it no longer is.
    cut: u64,
    /// Units of the entries from `cut` on.
    kept: u64,
    /// Entries (counted alike) that these numbers know of.
    known: u64,
}

impl<const N: usize> PeakWindow<N> {
    fn new(
        span: SimDuration,
        limit: Option<u64>,
        column: usize,
        plan: Option<LanePlan>,
        streams: Vec<Stream>,
        ordered: bool,
    ) -> Self {
        assert!(streams.len() <= N, "one sum a stream");
        let record = Record { units: 0, from: i64::MAX, key: u32::MAX, over: HashMap::default(), first_over: i64::MAX };
        Self {
            span: i64::try_from(span.short_nanos()).expect("a configured span is below 2^62"),
            limit: limit.unwrap_or(i64::MAX as u64),
            column,
            plan,
            streams,
            ordered,
            keys: Vec::new(),
            notice: [1; N],
            records: std::array::from_fn(|_| record.clone()),
        }
    }

    /// Brings what these keys need into the cache: loads that do not wait for each other.
    fn touch(&self, keys: &[KeyId]) {
        let mut seen = 0;
        for key in keys {
            if let Some(window) = self.keys.get(key.index()) {
                seen ^= window.sums[N - 1] ^ window.entries.back().map_or(0, |entry| entry.units_and_streams);
            }
        }
        std::hint::black_box(seen);
    }

    #[inline]
    fn release(&mut self, key: KeyId, at: i64, cost: u64, streams: u8) {
        if cost == 0 || streams == 0 {
            return;
        }
        let index = key.index();
        if index >= self.keys.len() {
            self.keys.resize(index + 1, KeyWindow::EMPTY);
        }
        let window = &mut self.keys[index];
        let mut rest = cost;
        while rest > ENTRY_UNITS {
            window.add(Entry::new(at, ENTRY_UNITS, streams));
            rest -= ENTRY_UNITS;
        }
        window.add(Entry::new(at, rest, streams));
        if window.notable(&self.notice, streams) {
            self.settle(key.0, at, streams);
        }
    }

    /// Makes a key's sums exact and looks for records.
    fn settle(&mut self, key: u32, at: i64, streams: u8) {
        let window = &mut self.keys[key as usize];
        window.expire(at, self.span);
        if !window.notable(&self.notice, streams) {
            return;
        }
        for i in (0..N).filter(|i| streams >> i & 1 == 1) {
            let (sum, record) = (window.sums[i], &mut self.records[i]);
            // A span as good as the record's counts if it begins earlier, or for an earlier key.
            let may_tie = |record: &Record| at - self.span < record.from;
            if sum > record.units || (sum == record.units && may_tie(record)) {
                let first = window.entries.iter().find(|entry| entry.streams() >> i & 1 == 1);
                let from = first.map_or(at, |entry| entry.at);
                if sum > record.units || (from, key) < (record.from, record.key) {
                    (record.units, record.from, record.key) = (sum, from, key);
                }
            }
            if sum > self.limit {
                record.exceed(key, i, sum, self.limit, window, at, self.span);
            }
            // In order of time, no later span begins earlier either.
            let as_good = if may_tie(record) || !self.ordered { record.units } else { record.units + 1 };
            self.notice[i] = as_good.min(self.limit + 1).max(1);
        }
    }
}

impl Record {
    /// Notes that `sum` units of stream `i` lie in the span that ends at `at`.
    #[allow(clippy::too_many_arguments)]
    fn exceed<const N: usize>(
        &mut self,
        key: u32,
        i: usize,
        sum: u64,
        limit: u64,
        ring: &KeyWindow<N>,
        at: i64,
        span: i64,
    ) {
        let end = ring.removed + ring.entries.len() as u64;
        self.first_over = self.first_over.min(at);
        let over = self.over.entry(key).or_insert(Over {
            until: i128::from(at),
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
            over.kept += news.map(|entry| entry.of(i)).sum::<u64>();
        }
        over.known = end;
        // The entries before the cut are those that must leave.
        while over.kept > limit {
            let entry = ring.entries[(over.cut - ring.removed) as usize];
            over.kept -= entry.of(i);
            over.cut += 1;
        }
        let last = ring.entries[(over.cut - ring.removed - 1) as usize].at;
        let until = i128::from(last) + i128::from(span);
        over.total += (until - over.until.max(i128::from(at))).max(0) as u128;
        over.until = over.until.max(until);
    }
}

impl<const N: usize> PeakStreams for PeakWindow<N> {
    fn streams(&self) -> &[Stream] {
        &self.streams
    }

    fn peak(&self, stream: usize) -> Peak {
        let record = &self.records[stream];
        let first = (record.units > 0).then_some((SimTime::from_nanos(record.from), KeyId(record.key)));
        Peak { units: record.units, first }
    }

    fn excess(&self, stream: usize) -> Excess {
        let record = &self.records[stream];
        Excess {
            keys: record.over.len() as u64,
            first: (!record.over.is_empty()).then_some(SimTime::from_nanos(record.first_over)),
            peak_key_ns: record.over.get(&record.key).map_or(0, |over| over.total),
        }
    }
}

impl<const N: usize> Observer for PeakWindow<N> {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let subject = self.plan.as_ref().and_then(|plan| Lane::subject(plan, batch));
        let counts = |row: usize| subject.as_ref().is_none_or(|bits| bits.get(row));
        if let [Stream::Lane(lane)] = self.streams[..] {
            // One lane alone may delay: releases of one key never overtake each other.
            let verdicts = &verdicts[lane];
            let mut waits = verdicts.waits.iter().peekable();
            for (chunk, word) in verdicts.admitted.words().iter().enumerate() {
                let rows = chunk * 64..batch.len().min(chunk * 64 + 64);
                self.touch(&batch.keys[self.column][rows]);
                let mut word = *word;
                while word != 0 {
                    let row = chunk * 64 + word.trailing_zeros() as usize;
                    word &= word - 1;
                    let wait = waits.next_if(|(delayed, _)| *delayed as usize == row).map_or(0, |(_, wait)| *wait);
                    if counts(row) {
                        let at = batch.at[row].nanos() + wait as i64;
                        self.release(batch.keys[self.column][row], at, batch.cost[row], 1);
                    }
                }
            }
            return;
        }
        for chunk in 0..batch.len().div_ceil(64) {
            let words: [u64; N] = std::array::from_fn(|i| match self.streams.get(i) {
                Some(Stream::Offered) => !0,
                Some(Stream::Lane(lane)) => verdicts[*lane].admitted.words()[chunk],
                None => 0,
            });
            let rows = chunk * 64..batch.len().min(chunk * 64 + 64);
            self.touch(&batch.keys[self.column][rows.clone()]);
            for row in rows {
                let mut streams = 0;
                for (i, word) in words.iter().enumerate() {
                    streams |= ((word >> (row % 64) & 1) as u8) << i;
                }
                if counts(row) {
                    self.release(batch.keys[self.column][row], batch.at[row].nanos(), batch.cost[row], streams);
                }
            }
        }
    }
}
