//! What became of requests in a closed loop: attempts, answers, and how they lie in time.

use crate::limiter::KeyId;
use crate::report::{LoopReport, LoopTimeline, SuccessReport, WaitReport};
use crate::sim::{Ending, Witness};
use crate::time::{SimDuration, SimTime};
use hdrhistogram::Histogram;

/// Bins kept for pictures; they double their width when they run out.
const BINS: usize = 2048;

/// Records what becomes of one lane's requests.
#[derive(Debug)]
pub struct Outcomes {
    start: i64,
    bin: u64,
    first_attempts: u64,
    attempts: u64,
    served: u64,
    succeeded: u64,
    gave_up: u64,
    unfinished: u64,
    first_sent: Option<i64>,
    last_sent: i64,
    last_success: Option<i64>,
    times: Histogram<u64>,
    slowest: u64,
    /// For each client, its requests that ended, and those of them that succeeded.
    clients: Vec<(u64, u64)>,
    /// Requests that were sent and have not ended.
    pending: u64,
    /// The metric bin that is being counted.
    open: Bin,
    bins: BinStatistics,
    pictures: Pictures,
}

/// Counts of one metric bin.
#[derive(Clone, Copy, Debug, Default)]
struct Bin {
    number: u64,
    first: u64,
    retries: u64,
    good: u64,
    gave_up: u64,
}

impl Bin {
    /// Whether retries outnumber first attempts, or requests given up those answered in time.
    const fn is_overloaded(&self) -> bool {
        self.retries > self.first || self.gave_up > self.good
    }

    const fn is_empty(&self) -> bool {
        self.first + self.retries + self.good + self.gave_up == 0
    }
}

/// Sums over all metric bins that are finished.
#[derive(Debug, Default)]
struct BinStatistics {
    first: Option<u64>,
    squares: u128,
    most: u64,
    most_retries: u64,
    /// The last bin that is overloaded.
    overloaded: Option<u64>,
    /// How many are.
    overloaded_bins: u64,
}

/// Counts by bins of a width that grows with the run.
#[derive(Debug)]
struct Pictures {
    shift: u32,
    used: usize,
    /// First attempts, retries, successes in time, work done.
    counts: Vec<[u64; 4]>,
}

/// The places of [`Pictures::counts`].
#[derive(Clone, Copy)]
enum Shown {
    First,
    Retry,
    Good,
    Served,
}

impl Pictures {
    fn count(&mut self, offset: u64, shown: Shown) {
        while offset >> self.shift >= BINS as u64 {
            self.shift += 1;
            // A short run doubles its bins often, and uses few.
            let (used, half) = (self.used, self.used.div_ceil(2));
            for i in 0..half {
                let (a, b) = (self.counts[2 * i], self.counts[2 * i + 1]);
                self.counts[i] = std::array::from_fn(|shown| a[shown] + b[shown]);
            }
            self.counts[half..used].fill([0; 4]);
            self.used = half;
        }
        let bin = (offset >> self.shift) as usize;
        self.counts[bin][shown as usize] += 1;
        self.used = self.used.max(bin + 1);
    }
}

impl Outcomes {
    /// None yet; attempts are counted in bins of `bin` from `start` on.
    #[must_use]
    pub fn new(start: SimTime, bin: SimDuration) -> Self {
        Self {
            start: start.nanos(),
            bin: bin.short_nanos(),
            first_attempts: 0,
            attempts: 0,
            served: 0,
            succeeded: 0,
            gave_up: 0,
            unfinished: 0,
            first_sent: None,
            last_sent: start.nanos(),
            last_success: None,
            times: Histogram::new(3).expect("three digits are a valid precision"),
            slowest: 0,
            clients: Vec::new(),
            pending: 0,
            open: Bin::default(),
            bins: BinStatistics::default(),
            pictures: Pictures { shift: 0, used: 0, counts: vec![[0; 4]; BINS] },
        }
    }

    /// The last attempt, or the start.
    #[must_use]
    pub const fn last_sent(&self) -> SimTime {
        SimTime::from_nanos(self.last_sent)
    }

    fn offset(&self, at: SimTime) -> u64 {
        u64::try_from(at.nanos().saturating_sub(self.start)).unwrap_or(0)
    }

    /// The bin of an instant, which is never before that of one before it.
    fn bin(&mut self, at: SimTime) -> &mut Bin {
        let number = self.offset(at) / self.bin;
        if number != self.open.number {
            self.close();
            self.wait(number);
            self.open.number = number;
        }
        &mut self.open
    }

    /// Nothing happens until bin `number`: what was overloaded is so still, while requests wait.
    fn wait(&mut self, number: u64) {
        let next = self.open.number + 1;
        if self.pending > 0 && number > next && self.bins.overloaded == Some(next - 1) {
            self.bins.overloaded = Some(number - 1);
            self.bins.overloaded_bins += number - next;
        }
    }

    /// Counts the open bin.
    fn close(&mut self) {
        let number = self.open.number;
        let open = std::mem::replace(&mut self.open, Bin { number, ..Bin::default() });
        if open.is_empty() {
            return;
        }
        let count = open.first + open.retries;
        if count > 0 {
            self.bins.first.get_or_insert(open.number);
            self.bins.squares += u128::from(count) * u128::from(count);
            self.bins.most = self.bins.most.max(count);
            self.bins.most_retries = self.bins.most_retries.max(open.retries);
        }
        if open.is_overloaded() {
            self.bins.overloaded = Some(open.number);
            self.bins.overloaded_bins += 1;
        }
    }

    /// What became of them. `end`: when nothing was sent any more, if that was stated; `ideal`: the
    /// shortest drain; `partial`: the run was stopped before its end.
    #[must_use]
    pub fn finish(mut self, end: Option<SimTime>, ideal: Option<SimDuration>, partial: bool) -> LoopReport {
        self.close();
        if let Some(end) = end.map(|end| self.offset(end).div_ceil(self.bin)) {
            self.wait(end);
        }
        assert!(partial || self.first_attempts <= self.succeeded + self.gave_up + self.unfinished, "all requests end");
        let BinStatistics { first, squares, most, most_retries, overloaded, overloaded_bins } = self.bins;
        let last_bin = self.offset(SimTime::from_nanos(self.last_sent)) / self.bin;
        let bins = first.map_or(0, |first| last_bin - first + 1);
        let mean = self.attempts as f64 / bins.max(1) as f64;
        let variance = squares as f64 / bins.max(1) as f64 - mean * mean;
        let end_offset = end.map(|end| self.offset(end));
        // The last bin may be a short one, and empty: the one before it tells as much.
        let stuck = partial
            || overloaded
                .zip(end_offset)
                .is_some_and(|(last, end)| last + 1 + u64::from(end % self.bin > 0) >= end.div_ceil(self.bin));
        let recovered_ns = (!stuck).then(|| overloaded.map_or(0, |last| (last + 1).saturating_mul(self.bin)));
        let span = end_offset.unwrap_or_else(|| {
            let last = self.last_success.unwrap_or(self.last_sent).max(self.last_sent);
            self.offset(SimTime::from_nanos(last))
        });
        let per_second = |count: u64| (span > 0).then(|| count as f64 * 1e9 / span as f64);
        let drain = self.last_success.zip(self.first_sent).map(|(last, first)| last.abs_diff(first));
        let requests = self.succeeded + self.gave_up + self.unfinished;
        let rank = |percent: u64, of: u64| (u128::from(percent) * u128::from(of)).div_ceil(100) as u64;
        let ranks = [self.succeeded, requests].map(|of| [rank(50, of), rank(95, of), rank(99, of)]);
        let [times, times_all] = self.quantiles(ranks);
        let (served, successes): (u128, u128) = self.clients.iter().fold((0, 0), |(sum, squares), (_, good)| {
            (sum + u128::from(*good), squares + u128::from(*good) * u128::from(*good))
        });
        let clients = self.clients.iter().filter(|(ended, _)| *ended > 0).count();
        let shown =
            |shown: Shown| self.pictures.counts[..self.pictures.used].iter().map(move |bin| bin[shown as usize]);
        LoopReport {
            partial,
            first_attempts: self.first_attempts,
            amplification: (self.first_attempts > 0).then(|| self.attempts as f64 / self.first_attempts as f64),
            succeeded: self.succeeded,
            gave_up: self.gave_up,
            goodput_per_s: per_second(self.succeeded),
            throughput_per_s: per_second(self.served),
            drain_ns: drain,
            ideal_drain_ns: ideal.map(SimDuration::short_nanos),
            time_to_success_ns: WaitReport {
                p50: times[0],
                p95: times[1],
                p99: times[2],
                max: (self.succeeded > 0).then_some(self.slowest),
            },
            time_to_success_all_ns: SuccessReport {
                p50: times_all[0],
                p95: times_all[1],
                p99: times_all[2],
                max: (requests > 0 && self.succeeded == requests).then_some(self.slowest),
            },
            metric_bin_ns: self.bin,
            most_attempts: most,
            most_retries,
            peak_to_mean: (self.attempts > 0).then(|| most as f64 / mean),
            dispersion: (self.attempts > 0).then(|| variance / mean),
            jain: (successes > 0).then(|| {
                let sum = served as f64;
                sum * sum / (clients as f64 * successes as f64)
            }),
            overloaded_bins,
            recovered_ns,
            loop_timeline: LoopTimeline {
                from_ns: 0,
                bin_ns: 1 << self.pictures.shift,
                first: shown(Shown::First).collect(),
                retries: shown(Shown::Retry).collect(),
                good: shown(Shown::Good).collect(),
                served: shown(Shown::Served).collect(),
            },
        }
    }

    /// The times of the successes with these ranks, the fastest being the first, within 0.1 %; nothing
    /// where there are not so many.
    fn quantiles(&self, ranks: [[u64; 3]; 2]) -> [[Option<u64>; 3]; 2] {
        let mut found = [[None; 3]; 2];
        let mut before = 0;
        // Walking through the histogram takes long, so it is done once for all of them.
        for step in self.times.iter_recorded() {
            let last = before + step.count_at_value();
            for (rank, found) in ranks.iter().flatten().zip(found.iter_mut().flatten()) {
                if before < *rank && *rank <= last {
                    *found = Some(step.value_iterated_to().min(self.slowest));
                }
            }
            before = last;
        }
        found
    }

    /// Attempts that went out.
    #[must_use]
    pub const fn attempts(&self) -> u64 {
        self.attempts
    }

    /// Requests that ended before the run did, whatever way, and those that did not.
    #[must_use]
    pub const fn requests(&self) -> (u64, u64) {
        (self.succeeded + self.gave_up, self.unfinished)
    }
}

impl Witness for Outcomes {
    fn sent(&mut self, at: SimTime, _client: KeyId, made: u32) {
        let offset = self.offset(at);
        self.attempts += 1;
        self.first_sent.get_or_insert(at.nanos());
        self.last_sent = at.nanos();
        if made == 1 {
            self.first_attempts += 1;
            self.bin(at).first += 1;
            self.pending += 1;
            self.pictures.count(offset, Shown::First);
        } else {
            self.bin(at).retries += 1;
            self.pictures.count(offset, Shown::Retry);
        }
    }

    fn served(&mut self, at: SimTime) {
        self.served += 1;
        self.pictures.count(self.offset(at), Shown::Served);
    }

    fn ended(&mut self, at: SimTime, first: SimTime, client: KeyId, ending: Ending) {
        if client.index() >= self.clients.len() {
            self.clients.resize(client.index() + 1, (0, 0));
        }
        let known = &mut self.clients[client.index()];
        known.0 += 1;
        match ending {
            Ending::Succeeded => {
                known.1 += 1;
                self.succeeded += 1;
                self.bin(at).good += 1;
                self.last_success = Some(at.nanos());
                let time = at.since(first).short_nanos();
                self.slowest = self.slowest.max(time);
                self.times.record(time).expect("the histogram grows to any time");
                self.pictures.count(self.offset(at), Shown::Good);
            }
            Ending::GaveUp => {
                self.gave_up += 1;
                self.bin(at).gave_up += 1;
            }
            Ending::Unfinished => self.unfinished += 1,
        }
        // What the run's end cuts off still waits.
        if ending != Ending::Unfinished {
            self.pending = self.pending.saturating_sub(1);
        }
    }
}
