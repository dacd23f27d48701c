//! What one lane did: counts, waits, refused keys, fingerprint.

use crate::limiter::Verdicts;
use crate::report::Counts;
use crate::rng::mix;
use crate::sim::{Observer, Step};
use hdrhistogram::Histogram;

/// Records one lane.
#[derive(Debug)]
pub struct LaneRecorder {
    lane: usize,
    reference: Option<usize>,
    column: usize,
    /// Counts by source of traffic.
    pub sources: Vec<Counts>,
    /// Units admitted.
    pub cost_admitted: u64,
    /// Refused attempts by key of the lane's column.
    pub denied_by_key: Vec<u64>,
    /// Waits of the delayed, in nanoseconds.
    waits: Histogram<u64>,
    /// The longest of them.
    pub longest_wait: u64,
    /// Refused although the reference admits.
    pub false_denials: u64,
    /// Admitted although the reference refuses.
    pub false_admissions: u64,
    /// Units of those.
    pub over_admitted: u64,
    /// Units of the false denials.
    pub under_admitted: u64,
    fingerprint: u64,
    /// The same, waits apart.
    admissions: u64,
    events: u64,
}

impl LaneRecorder {
    /// Records lane number `lane`, keyed by `column`, against the decisions of lane `reference`.
    #[must_use]
    pub fn new(lane: usize, column: usize, sources: usize, reference: Option<usize>) -> Self {
        Self {
            lane,
            reference,
            column,
            sources: vec![Counts::default(); sources.max(1)],
            cost_admitted: 0,
            denied_by_key: Vec::new(),
            waits: Histogram::new(3).expect("three digits are a valid precision"),
            longest_wait: 0,
            false_denials: 0,
            false_admissions: 0,
            over_admitted: 0,
            under_admitted: 0,
            fingerprint: 0,
            admissions: 0,
            events: 0,
        }
    }

    /// Counts over all sources.
    #[must_use]
    pub fn total(&self) -> Counts {
        self.sources.iter().fold(Counts::default(), |mut sum, counts| {
            sum += *counts;
            sum
        })
    }

    /// The smallest wait that so many per cent of the admitted attempts do not pass, within 0.1 %;
    /// those allowed waited zero. `None` if nothing was admitted.
    #[must_use]
    pub fn wait_quantile(&self, percent: u64) -> Option<u64> {
        let total = self.total();
        let admitted = total.allowed + total.delayed;
        // By rank, in integers: a quantile as a fraction lands on the next wait now and then.
        let rank = (u128::from(percent) * u128::from(admitted)).div_ceil(100) as u64;
        if rank <= total.allowed {
            return (admitted > 0).then_some(0);
        }
        let mut left = rank - total.allowed;
        for step in self.waits.iter_recorded() {
            let count = step.count_at_value();
            if left <= count {
                return Some(step.value_iterated_to().min(self.longest_wait));
            }
            left -= count;
        }
        Some(self.longest_wait)
    }

    /// 64 bits over all admissions and refusals in order of events, whatever the waits.
    #[must_use]
    pub const fn admissions(&self) -> u64 {
        mix(self.admissions ^ self.events)
    }

    /// The fingerprint of all decisions in order of events.
    #[must_use]
    pub const fn fingerprint(&self) -> u64 {
        mix(self.fingerprint ^ self.events)
    }
}

impl Observer for LaneRecorder {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        let (batch, verdict) = (&step.batch, &verdicts[self.lane]);
        let rows = batch.len();
        assert!(verdict.admitted.len() == rows, "one decision an arrival");
        self.events += rows as u64;

        let mut fingerprint = 0_u64;
        let mut cost_admitted = 0;
        let columns = step.allowed_hash.chunks(64).zip(step.denied_hash.chunks(64)).zip(batch.cost.chunks(64));
        for (word, ((allowed, denied), cost)) in verdict.admitted.words().iter().zip(columns) {
            for (i, ((allowed, denied), cost)) in allowed.iter().zip(denied).zip(cost).enumerate() {
                let admitted = (word >> i & 1).wrapping_neg();
                fingerprint = fingerprint.wrapping_add((allowed & admitted) | (denied & !admitted));
                cost_admitted += cost & admitted;
            }
        }
        self.admissions = self.admissions.wrapping_add(fingerprint);
        for (row, wait) in &verdict.waits {
            let allowed = step.allowed_hash[*row as usize];
            let delayed = mix(allowed ^ wait.wrapping_mul(0x9e37_79b9_7f4a_7c15));
            fingerprint = fingerprint.wrapping_sub(allowed).wrapping_add(delayed);
            self.longest_wait = self.longest_wait.max(*wait);
            self.waits.record(*wait).expect("the histogram grows to any wait");
        }
        self.fingerprint = self.fingerprint.wrapping_add(fingerprint);
        self.cost_admitted += cost_admitted;

        let keys = &batch.keys[self.column];
        for (chunk, word) in verdict.admitted.words().iter().enumerate() {
            let mut denied = !word;
            if chunk * 64 + 64 > rows {
                denied &= (1 << (rows % 64)) - 1;
            }
            while denied != 0 {
                let row = chunk * 64 + denied.trailing_zeros() as usize;
                denied &= denied - 1;
                let key = keys[row].index();
                if key >= self.denied_by_key.len() {
                    self.denied_by_key.resize(key + 1, 0);
                }
                self.denied_by_key[key] += 1;
            }
        }

        if let [only] = &mut self.sources[..] {
            let admitted = verdict.admitted.count(0..rows);
            only.delayed += verdict.waits.len() as u64;
            only.allowed += admitted - verdict.waits.len() as u64;
            only.denied += rows as u64 - admitted;
        } else {
            for (row, source) in batch.source.iter().enumerate() {
                let tally = &mut self.sources[usize::from(*source)];
                if verdict.admitted.get(row) { tally.allowed += 1 } else { tally.denied += 1 }
            }
            for (row, _) in &verdict.waits {
                let tally = &mut self.sources[usize::from(batch.source[*row as usize])];
                tally.allowed -= 1;
                tally.delayed += 1;
            }
        }

        if let Some(reference) = self.reference {
            let pairs = verdict.admitted.words().iter().zip(verdicts[reference].admitted.words());
            for ((lane, exact), cost) in pairs.zip(batch.cost.chunks(64)) {
                self.false_denials += u64::from((exact & !lane).count_ones());
                self.false_admissions += u64::from((lane & !exact).count_ones());
                let units = |mut rows: u64| {
                    let mut units = 0;
                    while rows != 0 {
                        units += cost[rows.trailing_zeros() as usize];
                        rows &= rows - 1;
                    }
                    units
                };
                self.under_admitted += units(exact & !lane);
                self.over_admitted += units(lane & !exact);
            }
        }
    }
}
