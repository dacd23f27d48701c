//! The envelope: the most units released in any half-open span, for any key, exactly.
//!
//! For each key a ring of what was released in the last span is kept, shared by all lanes that
//! release on arrival: an entry carries one bit a lane, and each lane has its own sum. Entries that
//! have left the span linger until a sum could set a record, so that most arrivals only append.

use crate::limiter::{KeyId, Ring, Verdicts};
use crate::sim::{Grouped, Lane, LanePlan, Observer, Step};
use crate::time::{SimDuration, SimTime};
use crate::traffic::Batch;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

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

/// Room for releases that all windows of a run may keep at a time: an exact peak needs every release
/// of the last window, and a window may be long.
#[derive(Clone, Debug, Default)]
pub struct Room(Arc<AtomicU64>);

impl Room {
    /// Releases that are kept at most: four gibibytes.
    pub const MOST: u64 = 1 << 28;

    fn take(&self, places: usize) {
        self.0.fetch_add(places as u64, Ordering::Relaxed);
    }

    /// Whether more are kept than may be.
    #[must_use]
    pub fn is_used_up(&self) -> bool {
        self.0.load(Ordering::Relaxed) > Self::MOST
    }
}

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
    room: &Room,
) -> Box<dyn PeakStreams> {
    let room = room.clone();
    match streams.len() {
        1 => Box::new(PeakWindow::<1> { room, ..PeakWindow::new(span, limit, column, plan, streams, ordered) }),
        _ => {
            Box::new(PeakWindow::<MAX_STREAMS> { room, ..PeakWindow::new(span, limit, column, plan, streams, ordered) })
        }
    }
}

/// Up to `N` streams that share one ring: same key column, same exemptions, all releasing on
/// arrival; or one stream that delays.
#[derive(Debug)]
struct PeakWindow<const N: usize> {
    span: i64,
    /// For each stream, sums above this are excess.
    limits: [u64; N],
    column: usize,
    plan: Option<LanePlan>,
    streams: Vec<Stream>,
    ordered: bool,
    keys: Vec<KeyWindow<N>>,
    /// For each stream, a sum of at least this may be a record.
    notice: [u64; N],
    records: [Record; N],
    excess: Vec<KeyExcess<N>>,
    room: Room,
}

/// What was released of one key in the last span.
#[derive(Clone, Debug)]
struct KeyWindow<const N: usize> {
    /// Units of the entries, a sum a stream.
    sums: [u64; N],
    entries: Ring<Entry, 2>,
    /// Its place in the list of excesses, if a stream ever was above the limit.
    excess: u32,
    /// Streams that are above the limit as of the last release that counts for them, one bit each.
    over: u8,
    /// Streams that ever were.
    ever: u8,
}

/// How long each stream of one key was above the limit.
#[derive(Clone, Debug)]
struct KeyExcess<const N: usize> {
    /// Since when it is, where it is.
    since: [i64; N],
    total: [u64; N],
}

/// The best of one stream, and who passed the limit.
#[derive(Clone, Copy, Debug)]
struct Record {
    units: u64,
    from: i64,
    key: u32,
    keys_over: u64,
    first_over: i64,
}

/// A release: its instant, and its units and streams (one bit each) in one word.
#[derive(Clone, Copy, Debug, Default)]
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
    fn new() -> Self {
        Self { sums: [0; N], entries: Ring::new(), excess: u32::MAX, over: 0, ever: 0 }
    }

    #[inline(always)]
    fn add(&mut self, entry: Entry) {
        let masks = &MASKS[usize::from(entry.streams())];
        for (sum, mask) in self.sums.iter_mut().zip(masks) {
            *sum += entry.units() & mask;
        }
        // Releases of one instant leave as one.
        if let Some(newest) = self.entries.back_mut()
            && newest.at == entry.at
            && newest.streams() == entry.streams()
            && newest.units() + entry.units() <= ENTRY_UNITS
        {
            *newest = Entry::new(entry.at, newest.units() + entry.units(), entry.streams());
        } else {
            self.entries.push_back(entry);
        }
    }

    /// Streams of the set whose sums may be records, or above the limit without being known to be.
    #[inline(always)]
    fn notable(&self, notice: &[u64; N], limits: &[u64; N], streams: u8) -> u8 {
        let (mut records, mut above) = (0, 0);
        for (i, ((sum, notice), limit)) in self.sums.iter().zip(notice).zip(limits).enumerate() {
            records |= u8::from(sum >= notice) << i;
            above |= u8::from(sum > limit) << i;
        }
        (records | above & !self.over) & streams
    }
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
        // What was offered may well be above the limit: nobody asks for how long.
        let limits = std::array::from_fn(|i| match streams.get(i) {
            Some(Stream::Lane(_)) => limit.unwrap_or(u64::MAX),
            _ => u64::MAX,
        });
        let record = Record { units: 0, from: i64::MAX, key: u32::MAX, keys_over: 0, first_over: i64::MAX };
        Self {
            span: i64::try_from(span.short_nanos()).expect("a configured span is below 2^62"),
            limits,
            column,
            plan,
            streams,
            ordered,
            keys: Vec::new(),
            notice: [1; N],
            records: [record; N],
            excess: Vec::new(),
            room: Room::default(),
        }
    }

    /// Brings what these keys need into the cache: loads that do not wait for each other.
    fn prefetch(&self, keys: &[KeyId]) {
        let mut seen = 0;
        // Neighbours of the same key need it once.
        for run in keys.chunk_by(|a, b| a == b) {
            if let Some(window) = self.keys.get(run[0].index()) {
                seen ^= window.sums[N - 1] ^ window.entries.back().map_or(0, |entry| entry.units_and_streams);
            }
        }
        std::hint::black_box(seen);
    }

    #[inline(always)]
    fn release(&mut self, key: KeyId, at: i64, cost: u64, streams: u8) {
        if cost == 0 || streams == 0 {
            return;
        }
        let index = key.index();
        if index >= self.keys.len() {
            self.keys.resize_with(index + 1, KeyWindow::new);
        }
        // When a stream falls below the limit again shows only before this release counts for it;
        // and what has left makes place before a ring grows.
        let window = &self.keys[index];
        if window.over & streams != 0 || window.entries.is_full() {
            self.expire(index, at);
        }
        let window = &mut self.keys[index];
        if window.entries.is_full() {
            self.room.take(window.entries.capacity());
        }
        let mut rest = cost;
        while rest > ENTRY_UNITS {
            window.add(Entry::new(at, ENTRY_UNITS, streams));
            rest -= ENTRY_UNITS;
        }
        window.add(Entry::new(at, rest, streams));
        if window.notable(&self.notice, &self.limits, streams) != 0 {
            self.settle(key.0, at, streams);
        }
    }

    /// Lets what is a span old at `at` leave.
    #[inline(always)]
    fn expire(&mut self, index: usize, at: i64) {
        let window = &mut self.keys[index];
        while let Some(entry) = window.entries.front().filter(|entry| entry.at <= at - self.span) {
            let masks = &MASKS[usize::from(entry.streams())];
            for (sum, mask) in window.sums.iter_mut().zip(masks) {
                *sum -= entry.units() & mask;
            }
            window.entries.pop_front();
            if window.over & entry.streams() != 0 {
                let excess = &mut self.excess[window.excess as usize];
                for i in 0..N {
                    if window.over & entry.streams() & 1 << i != 0 && window.sums[i] <= self.limits[i] {
                        excess.total[i] += (entry.at + self.span - excess.since[i]) as u64;
                        window.over &= !(1 << i);
                    }
                }
            }
        }
    }

    /// Makes a key's sums exact, looks for records and for streams that have passed the limit.
    fn settle(&mut self, key: u32, at: i64, streams: u8) {
        self.expire(key as usize, at);
        let window = &mut self.keys[key as usize];
        let mut notable = window.notable(&self.notice, &self.limits, streams);
        while notable != 0 {
            let i = notable.trailing_zeros() as usize;
            notable &= notable - 1;
            let (sum, record) = (window.sums[i], &mut self.records[i]);
            // A span as good as the record's counts if it begins earlier, or for an earlier key.
            if sum > record.units || (sum == record.units && at - self.span < record.from) {
                let first = window.entries.iter().find(|entry| entry.streams() >> i & 1 == 1);
                let from = first.map_or(at, |entry| entry.at);
                if sum > record.units || (from, key) < (record.from, record.key) {
                    (record.units, record.from, record.key) = (sum, from, key);
                }
            }
            // Until the next batch also what ties with it.
            self.notice[i] = self.notice[i].max(record.units);
            let bit = 1 << i;
            if sum > self.limits[i] && window.over & bit == 0 {
                window.over |= bit;
                if window.excess == u32::MAX {
                    window.excess = u32::try_from(self.excess.len()).expect("fewer keys than 2^32");
                    self.excess.push(KeyExcess { since: [0; N], total: [0; N] });
                }
                self.excess[window.excess as usize].since[i] = at;
                record.keys_over += u64::from(window.ever & bit == 0);
                record.first_over = record.first_over.min(at);
                window.ever |= bit;
            }
        }
    }

    /// For how long stream `i` of a key was above the limit, to the end of its last span.
    fn time_over(&self, key: u32, i: usize) -> u128 {
        let Some(window) = self.keys.get(key as usize).filter(|window| window.ever >> i & 1 == 1) else { return 0 };
        let excess = &self.excess[window.excess as usize];
        let mut total = u128::from(excess.total[i]);
        let mut sum = window.sums[i];
        let mut entries = window.entries.iter().filter(|entry| entry.streams() >> i & 1 == 1);
        if window.over >> i & 1 == 1
            && let Some(last) = entries.find(|entry| {
                sum -= entry.units();
                sum <= self.limits[i]
            })
        {
            total += (i128::from(last.at) + i128::from(self.span) - i128::from(excess.since[i])) as u128;
        }
        total
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
            keys: record.keys_over,
            first: (record.keys_over > 0).then_some(SimTime::from_nanos(record.first_over)),
            peak_key_ns: self.time_over(record.key, stream),
        }
    }
}

impl<const N: usize> PeakWindow<N> {
    /// From a batch on that begins at `at`, no span begins earlier than one before it: what only ties
    /// with an earlier record need not be noticed any more.
    fn begin(&mut self, at: SimTime) {
        for (record, notice) in self.records.iter().zip(&mut self.notice) {
            let may_tie = !self.ordered || at.nanos() - self.span < record.from;
            *notice = (record.units + u64::from(!may_tie)).max(1);
        }
    }

    /// For each of up to 64 rows, its streams.
    fn streams_of(&self, chunk: usize, verdicts: &[Verdicts]) -> [u64; N] {
        std::array::from_fn(|i| match self.streams.get(i) {
            Some(Stream::Offered) => !0,
            Some(Stream::Lane(lane)) => verdicts[*lane].admitted.words()[chunk],
            None => 0,
        })
    }

    /// A stream that is one lane, which may delay: releases of one key never overtake each other.
    fn observe_delays(&mut self, batch: &Batch, verdicts: &Verdicts, counts: impl Fn(usize) -> bool) {
        let mut waits = verdicts.waits.iter().peekable();
        for (chunk, word) in verdicts.admitted.words().iter().enumerate() {
            let rows = chunk * 64..batch.len().min(chunk * 64 + 64);
            self.prefetch(&batch.keys[self.column][rows]);
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
    }

    /// Key by key.
    fn observe_grouped(&mut self, rows: &Grouped, verdicts: &[Verdicts], counts: impl Fn(usize) -> bool) {
        let words: Vec<[u64; N]> =
            (0..rows.row.len().div_ceil(64)).map(|chunk| self.streams_of(chunk, verdicts)).collect();
        let mut waits = Vec::new();
        if let [Stream::Lane(lane)] = self.streams[..] {
            waits.resize(rows.row.len(), 0);
            for (row, wait) in &verdicts[lane].waits {
                waits[*row as usize] = *wait;
            }
        }
        let keys = rows.key.chunks(64).zip(rows.row.chunks(64));
        for ((keys, numbers), (at, cost)) in keys.zip(rows.at.chunks(64).zip(rows.cost.chunks(64))) {
            self.prefetch(keys);
            for (((key, row), at), cost) in keys.iter().zip(numbers).zip(at).zip(cost) {
                let row = *row as usize;
                let mut streams = 0;
                for (i, word) in words[row / 64].iter().enumerate() {
                    streams |= ((word >> (row % 64) & 1) as u8) << i;
                }
                let wait = waits.get(row).copied().unwrap_or(0);
                if counts(row) {
                    self.release(*key, at.nanos() + wait as i64, *cost, streams);
                }
            }
        }
    }
}

impl<const N: usize> Observer for PeakWindow<N> {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let batch = &step.batch;
        let Some(first) = batch.at.first() else { return };
        self.begin(*first);
        let subject = self.plan.as_ref().and_then(|plan| Lane::subject(plan, batch));
        let counts = |row: usize| subject.as_ref().is_none_or(|bits| bits.get(row));
        if let Some(grouped) = step.grouped(self.column) {
            return self.observe_grouped(grouped, verdicts, counts);
        }
        if let [Stream::Lane(lane)] = self.streams[..] {
            return self.observe_delays(batch, &verdicts[lane], counts);
        }
        for chunk in 0..batch.len().div_ceil(64) {
            let words = self.streams_of(chunk, verdicts);
            let rows = chunk * 64..batch.len().min(chunk * 64 + 64);
            self.prefetch(&batch.keys[self.column][rows.clone()]);
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
