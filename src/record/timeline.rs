//! Decisions over time, in bins that double their width when they run out.

use super::span::tally;
use crate::limiter::{Bits, Verdicts};
use crate::report::Counts;
use crate::sim::{Observer, Step};
use crate::time::SimTime;

/// Bins kept for each lane.
pub const BINS: usize = 2048;

/// Counts of decisions by time of arrival, for all lanes.
#[derive(Debug)]
pub struct Timeline {
    from: i64,
    /// Bins are 2^shift nanoseconds wide.
    shift: u32,
    /// Bins used.
    used: usize,
    lanes: Vec<Vec<Counts>>,
    /// Arrivals on which the lanes do not all agree.
    split: Vec<u64>,
}

impl Timeline {
    /// No arrivals yet; bins start at `from`, or at the first arrival if that is earlier.
    #[must_use]
    pub fn new(lanes: usize, from: SimTime) -> Self {
        Self {
            from: from.nanos(),
            shift: 0,
            used: 0,
            lanes: vec![vec![Counts::default(); BINS]; lanes],
            split: vec![0; BINS],
        }
    }

    /// First instant of the first bin.
    #[must_use]
    pub const fn from(&self) -> SimTime {
        SimTime::from_nanos(self.from)
    }

    /// Width of a bin in nanoseconds.
    #[must_use]
    pub const fn bin_ns(&self) -> u64 {
        1 << self.shift
    }

    /// The bins of a lane, up to the last that holds an arrival.
    #[must_use]
    pub fn bins(&self, lane: usize) -> &[Counts] {
        &self.lanes[lane][..self.used]
    }

    /// For each of these bins, the arrivals on which the lanes do not all agree, waits apart.
    #[must_use]
    pub fn split(&self) -> &[u64] {
        &self.split[..self.used]
    }

    fn bin(&self, at: i64) -> u64 {
        at.abs_diff(self.from) >> self.shift
    }

    /// Makes room for an arrival at `at`, not earlier than the first bin.
    fn reach(&mut self, at: i64) {
        while self.bin(at) >= BINS as u64 {
            self.shift += 1;
            // A short run doubles its bins often, and uses few.
            let (used, half) = (self.used, self.used.div_ceil(2));
            for bins in &mut self.lanes {
                for i in 0..half {
                    let mut sum = bins[2 * i];
                    sum += bins[2 * i + 1];
                    bins[i] = sum;
                }
                bins[half..used].fill(Counts::default());
            }
            for i in 0..half {
                self.split[i] = self.split[2 * i] + self.split[2 * i + 1];
            }
            self.split[half..used].fill(0);
            self.used = half;
        }
    }
}

impl Observer for Timeline {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let at = &step.batch.at;
        let (Some(first), Some(last)) = (at.first(), at.last()) else { return };
        if self.used == 0 {
            self.from = self.from.min(first.nanos());
        }
        self.reach(last.nanos());
        // Counted anew: the bins may have become wider.
        self.used = self.bin(last.nanos()) as usize + 1;
        let mut split = Bits::default();
        split.fill_zero(at.len());
        for verdict in verdicts.iter().take(self.lanes.len()) {
            split.mark_differences(&verdicts[0].admitted, &verdict.admitted);
        }
        // Rows of one bin are a run: they are counted as a range of bits.
        let mut start = 0;
        while start < at.len() {
            let bin = self.bin(at[start].nanos());
            let end = start + at[start..].partition_point(|at| self.bin(at.nanos()) == bin);
            for (bins, verdicts) in self.lanes.iter_mut().zip(verdicts) {
                bins[bin as usize] += tally(verdicts, start..end);
            }
            self.split[bin as usize] += split.count(start..end);
            start = end;
        }
    }
}
