//! Every trace of a few ticks: the most that gets through is the closed form, no more and no less.
//!
//! Ticks are nanoseconds. A half-open span of T ticks is a closed one of X = T - 1, for which the
//! closed forms are written.

use crate::simulate::plan;
use rlsim::limiter::{KeyId, Limiter, LimiterSpec, Workload};
use rlsim::time::{SimDuration, SimTime};

/// Tries every number of requests at every tick; `best[T - 1]` is the most admitted in T ticks.
struct Search<'a> {
    limiter: &'a mut dyn Limiter,
    from: i64,
    ticks: usize,
    admitted: Vec<u64>,
    best: Vec<u64>,
}

impl Search<'_> {
    /// The state before tick `depth` is that of key number `depth`.
    fn explore(&mut self, depth: usize) {
        if depth == self.ticks {
            return;
        }
        let at = SimTime::from_nanos(self.from + depth as i64);
        let key = |depth: usize| KeyId(depth as u32);
        let mut count = 0;
        loop {
            let mut copy = self.limiter.check_out(key(depth), at);
            if !(0..count).all(|_| self.limiter.decide_on(&mut copy, at, 1).admits()) {
                return;
            }
            self.limiter.commit(key(depth + 1), at, copy);
            self.admitted.push(count);
            let mut sum = 0;
            for (ticks, admitted) in self.admitted.iter().rev().enumerate() {
                sum += admitted;
                self.best[ticks] = self.best[ticks].max(sum);
            }
            self.explore(depth + 1);
            self.admitted.pop();
            count += 1;
        }
    }
}

/// The most that gets through in 1, 2, ... W + 1 ticks, over all traces at all phases of a window.
fn most(spec: &LimiterSpec, window: i64) -> Vec<u64> {
    let ticks = 2 * window as usize + 1;
    let mut best = vec![0; ticks];
    for phase in 0..window {
        let mut limiter = spec.build(&Workload::UNKNOWN);
        let mut search = Search { limiter: &mut *limiter, from: phase, ticks, admitted: Vec::new(), best };
        search.explore(0);
        best = search.best;
    }
    best.truncate(window as usize + 1);
    best
}

fn check(algorithm: &str, limit: i64, window: i64, closed_form: impl Fn(i64) -> i64) {
    let text =
        format!("limit = \"{limit}/{window}ns\"\n[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n{algorithm}\n");
    let spec = plan(&text).lanes[0].limiter.clone();
    for (x, most) in most(&spec, window).into_iter().enumerate() {
        let expected = closed_form(x as i64);
        assert_eq!(most as i64, expected, "{algorithm}, {limit} in {window} ticks, closed span {x}");
        let bound = spec.bound(SimDuration::from_nanos(x as u64 + 1), 1).expect("proven");
        assert!(u128::from(most) <= bound, "{algorithm}, {limit} in {window} ticks: {most} pass {bound}");
    }
}

fn up(a: i64, b: i64) -> i64 {
    (a + b - 1).div_euclid(b)
}

const SIZES: [(i64, i64); 5] = [(1, 3), (2, 3), (2, 4), (3, 3), (3, 4)];

#[test]
fn windows_and_logs() {
    for (l, w) in SIZES {
        check("fixed-window = {}", l, w, |x| l * (up(x, w) + 1));
        let anchored = |x: i64| l * (up(x, w) + 1) - i64::from(x % w != 0);
        check("fixed-window = { anchor = \"first-request\" }", l, w, anchored);
        check("fixed-window = { anchor = \"every-request\" }", l, w, |x| l * (x / w + 1));
        check("sliding-log = {}", l, w, |x| l * (x / w + 1));
        check("sliding-log = { edge = \"inclusive\" }", l, w, |x| l * (x / (w + 1) + 1));
    }
}

#[test]
fn counters() {
    for (l, w) in SIZES {
        check("sliding-counter = {}", l, w, |x| match (x, l) {
            (0, _) => l,
            (_, 1) => 1 + (x - 1 + w) / (2 * w),
            _ if x <= w => l + l * (x - 1) / w,
            _ => l + 1 + (l - 1) * (x - 1) / w,
        });
    }
    for (l, w) in SIZES.into_iter().filter(|(l, w)| w > l) {
        let closed_form = |x: i64| if x == 0 { l } else { l + up(l * (x - 1), w) };
        check("sliding-counter = { compare = \"before\" }", l, w, closed_form);
    }
}

/// k buckets of w ticks, looking at k or at k + 1 of them.
#[test]
fn counters_of_several_buckets() {
    for (l, k, w) in [(1, 2, 2), (2, 2, 2), (3, 2, 2), (2, 3, 1), (2, 4, 1)] {
        let sums = |look: i64| move |x: i64| l * up(up(x, w) + 1, look);
        let counter = |oldest: &str| format!("sliding-counter = {{ buckets = {k}, oldest = \"{oldest}\" }}");
        check(&counter("ignored"), l, k * w, sums(k));
        check(&counter("whole"), l, k * w, sums(k + 1));
    }
}

/// The rate is L in W ticks; the capacity, and GCRA's tolerance, are other numbers.
#[test]
fn buckets() {
    for (l, w) in SIZES {
        // A bucket of one loses what grows between two ticks at its cap, unless it is whole ticks.
        for b in (1..=3).filter(|b| *b > 1 || w % l == 0) {
            let closed_form = |x: i64| b + l * x / w;
            check(&format!("token-bucket = {{ burst = {b} }}"), l, w, closed_form);
            check(&format!("leaky-bucket = {{ mode = \"meter\", capacity = {b} }}"), l, w, closed_form);
            if w % l == 0 {
                let interval = w / l;
                let tau = (b - 1) * interval;
                check(&format!("gcra = {{ burst = {b} }}"), l, w, |x| 1 + (x + tau) / interval);
            }
        }
    }
}

/// Tokens that come together at the ends of periods; and a meter that compares before.
#[test]
fn buckets_of_other_kinds() {
    for (l, w) in SIZES {
        for b in 1..=3 {
            let steps = |x: i64| b + b.min(l) * up(x, w);
            check(&format!("token-bucket = {{ burst = {b}, refill = \"interval\" }}"), l, w, steps);
            let before = format!("leaky-bucket = {{ mode = \"meter\", compare = \"before\", capacity = {b} }}");
            check(&before, l, w, |x| b + up(l * x, w));
        }
    }
}
