//! Deciding, without reading or recording: nanoseconds a decision, by algorithm, load and number of
//! keys; GCRA beside the `governor` crate on the same arrivals.
//!
//! `cargo bench --bench decide`. `Mitem/s` are million decisions a second: 200 are 5 ns a decision.
//! Compare within one run: the machine's own speed drifts.

use divan::counter::ItemsCount;
use governor::clock::FakeRelativeClock;
use governor::{Quota, RateLimiter};
use rand::Rng;
use rand_distr::{Distribution, Exp1, Zipf};
use rlsim::limiter::{Costs, KeyId, LimiterSpec, Rows, Verdicts, Workload};
use rlsim::rng::stream;
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::time::SimTime;
use std::num::NonZeroU32;
use std::time::Duration;

fn main() {
    divan::main();
}

const ARRIVALS: usize = 1 << 20;
const BATCH: usize = 32_768;
/// 100 requests a second, burst 100.
const LIMIT: u64 = 100;
const ALGORITHMS: [&str; 6] =
    ["fixed-window", "sliding-log", "sliding-counter", "token-bucket", "leaky-bucket", "gcra"];
const LOADS: [f64; 3] = [0.5, 1.3, 10.0];

/// An algorithm and what it is given.
#[derive(Clone, Copy)]
struct Case<T>(&'static str, T);

impl<T: std::fmt::Display> std::fmt::Display for Case<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} {}", self.0, self.1)
    }
}

fn cases<T: Copy>(given: &[T]) -> Vec<Case<T>> {
    ALGORITHMS.into_iter().flat_map(|algorithm| given.iter().map(move |given| Case(algorithm, *given))).collect()
}
const KEYS: [u64; 3] = [10_000, 100_000, 1_000_000];

/// Arrivals as columns.
struct Arrivals {
    at: Vec<SimTime>,
    key: Vec<KeyId>,
    last: SimTime,
}

impl Arrivals {
    /// Poisson arrivals of one key at `load` times its rate.
    fn of_one_key(load: f64) -> Self {
        let mut rng = stream(1, "decide");
        let mean = 1e9 / (LIMIT as f64 * load);
        let mut at = 0.0;
        let mut next = || {
            let gap: f64 = Exp1.sample(&mut rng);
            at += gap * mean;
            SimTime::from_nanos(at as i64)
        };
        let at: Vec<SimTime> = (0..ARRIVALS).map(|_| next()).collect();
        let last = at[ARRIVALS - 1];
        Self { at, key: vec![KeyId(0); ARRIVALS], last }
    }

    /// Arrivals of many keys, Zipf 1.0, numbered by first appearance, 30 microseconds apart.
    fn of_keys(keys: u64) -> Self {
        let mut rng = stream(1, "decide");
        let zipf = Zipf::new(keys as f64, 1.0).expect("valid parameters");
        let mut numbers = vec![u32::MAX; keys as usize + 1];
        let mut seen = 0;
        let (mut times, mut keyed) = (Vec::new(), Vec::new());
        let mut at = 0;
        for _ in 0..3 * ARRIVALS {
            at += (rng.next_u64() % 60_000) as i64;
            let number = &mut numbers[zipf.sample(&mut rng) as usize];
            if *number == u32::MAX {
                (*number, seen) = (seen, seen + 1);
            }
            times.push(SimTime::from_nanos(at));
            keyed.push(KeyId(*number));
        }
        Self { at: times, key: keyed, last: SimTime::from_nanos(at) }
    }

    /// The same with the rows of each batch grouped by key, as a run of many keys takes them.
    fn grouped(&self) -> Self {
        let mut rows: Vec<usize> = (0..self.at.len()).collect();
        rows.chunks_mut(BATCH).for_each(|batch| batch.sort_by_key(|row| self.key[*row]));
        Self {
            at: rows.iter().map(|row| self.at[*row]).collect(),
            key: rows.iter().map(|row| self.key[*row]).collect(),
            last: self.last,
        }
    }

    fn batches(&self) -> impl Iterator<Item = Rows<'_>> {
        self.at.chunks(BATCH).zip(self.key.chunks(BATCH)).map(|(at, key)| Rows { at, key, cost: Costs::One })
    }
}

/// An algorithm with its defaults for a limit.
fn spec(algorithm: &str, limit: &str) -> LimiterSpec {
    let text = format!(
        "limit = \"{limit}\"\nduration = \"1s\"\n[[traffic]]\nsteady = {{ rate = \"1/s\" }}\n[[lane]]\n{algorithm} = {{}}\n"
    );
    let source = ScenarioSource { name: "bench".into(), text, folder: "".into(), embedded: false };
    Plan::new(&source, &[]).expect("a valid scenario").lanes.remove(0).limiter
}

/// Decides all; answers how many were admitted.
fn decide(spec: &LimiterSpec, arrivals: &Arrivals) -> u64 {
    let times = (SimTime::EPOCH, arrivals.last);
    let mut limiter = spec.build(&Workload { unit_cost: true, times, debt: false });
    let mut verdicts = Verdicts::default();
    let mut admitted = 0;
    for rows in arrivals.batches() {
        limiter.decide_batch(rows, &mut verdicts);
        admitted += verdicts.admitted.count(0..rows.at.len());
    }
    admitted
}

#[divan::bench(sample_count = 20, args = cases(&LOADS))]
fn one_key(bencher: divan::Bencher, Case(algorithm, load): Case<f64>) {
    let (arrivals, spec) = (Arrivals::of_one_key(load), spec(algorithm, &format!("{LIMIT}/s")));
    bencher.counter(ItemsCount::new(ARRIVALS)).bench(|| decide(&spec, &arrivals));
}

#[divan::bench(sample_count = 20, args = LOADS)]
fn one_key_governor(bencher: divan::Bencher, load: f64) {
    let arrivals = Arrivals::of_one_key(load);
    let quota = Quota::per_second(NonZeroU32::new(LIMIT as u32).expect("not zero"));
    let own = decide(&spec("gcra", &format!("{LIMIT}/s")), &arrivals);
    bencher.counter(ItemsCount::new(ARRIVALS)).bench(|| {
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::direct_with_clock(quota, clock.clone());
        let (mut now, mut admitted) = (0, 0);
        for at in &arrivals.at {
            clock.advance(Duration::from_nanos((at.nanos() - now) as u64));
            now = at.nanos();
            admitted += u64::from(limiter.check().is_ok());
        }
        assert_eq!(admitted, own, "both decide the same");
        admitted
    });
}

#[divan::bench(sample_count = 10, args = cases(&KEYS))]
fn keyed(bencher: divan::Bencher, Case(algorithm, keys): Case<u64>) {
    let (arrivals, spec) = (Arrivals::of_keys(keys), spec(algorithm, "10/s"));
    bencher.counter(ItemsCount::new(arrivals.at.len())).bench(|| decide(&spec, &arrivals));
}

#[divan::bench(sample_count = 10, args = cases(&KEYS))]
fn keyed_grouped(bencher: divan::Bencher, Case(algorithm, keys): Case<u64>) {
    let (arrivals, spec) = (Arrivals::of_keys(keys), spec(algorithm, "10/s"));
    let grouped = arrivals.grouped();
    assert_eq!(decide(&spec, &grouped), decide(&spec, &arrivals), "both decide the same");
    bencher.counter(ItemsCount::new(arrivals.at.len())).bench(|| decide(&spec, &grouped));
}

#[divan::bench(sample_count = 5, args = KEYS)]
fn keyed_governor(bencher: divan::Bencher, keys: u64) {
    let arrivals = Arrivals::of_keys(keys);
    let quota = Quota::per_second(NonZeroU32::new(10).expect("not zero"));
    let own = decide(&spec("gcra", "10/s"), &arrivals);
    bencher.counter(ItemsCount::new(arrivals.at.len())).bench(|| {
        let clock = FakeRelativeClock::default();
        let limiter = RateLimiter::dashmap_with_clock(quota, clock.clone());
        let (mut now, mut admitted) = (0, 0);
        for (at, key) in arrivals.at.iter().zip(&arrivals.key) {
            clock.advance(Duration::from_nanos((at.nanos() - now) as u64));
            now = at.nanos();
            admitted += u64::from(limiter.check_key(&u64::from(key.0)).is_ok());
        }
        assert_eq!(admitted, own, "both decide the same");
        admitted
    });
}
