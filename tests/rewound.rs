//! A clock that runs backwards under a token bucket: what each answer to it admits.

use crate::limiters::at;
use num_rational::Ratio;
use proptest::prelude::*;
use rlsim::limiter::{Backwards, KeyId, LimiterSpec, Workload};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::time::SimDuration;

const KEY: KeyId = KeyId(0);
const ALL: [(&str, Backwards); 3] = [("clamp", Backwards::Clamp), ("mint", Backwards::Mint), ("abs", Backwards::Abs)];

type Q = Ratio<i128>;

/// A bucket as the knob is explained: tokens and the instant they were counted at.
struct Model {
    backwards: Backwards,
    rate: Q,
    burst: Q,
    tokens: Q,
    last: i64,
}

impl Model {
    fn tokens(&self, now: i64) -> Q {
        let passed = match self.backwards {
            Backwards::Clamp | Backwards::Mint => (now - self.last).max(0),
            Backwards::Abs => (now - self.last).abs(),
        };
        (self.tokens + self.rate * i128::from(passed)).min(self.burst)
    }

    fn decide(&mut self, now: i64, cost: u64) -> bool {
        if cost == 0 {
            return true;
        }
        let cost = Q::from_integer(i128::from(cost));
        self.tokens = self.tokens(now);
        self.last = if self.backwards == Backwards::Clamp { self.last.max(now) } else { now };
        let admitted = self.tokens >= cost;
        if admitted {
            self.tokens -= cost;
        }
        admitted
    }
}

fn spec(backwards: &str, rate: &str, burst: u64) -> LimiterSpec {
    let text = format!(
        "[[traffic]]\nburst = {{ requests = 1 }}\n[[lane]]\n\
         token-bucket = {{ rate = \"{rate}\", burst = {burst}, backwards = \"{backwards}\" }}\n"
    );
    let source = ScenarioSource { name: "s.toml".to_owned(), text, folder: "".into(), embedded: false };
    let plan = Plan::new(&source, &[]).unwrap_or_else(|error| panic!("{error}"));
    plan.lanes[0].limiter.clone()
}

/// Two processes share a bucket of 10 with 0.1 a tick; one clock is 5 ticks ahead. In each of 4000 ticks
/// the fast one asks, then the slow one.
#[test]
fn a_skew_of_five_ticks_mints_two_thousand_tokens() {
    const TICK: i64 = 1_000_000_000;
    for ((word, backwards), expected) in ALL.into_iter().zip([409, 2409, 4409]) {
        let spec = spec(word, "1/10s", 10);
        let mut model = Model {
            backwards,
            rate: Q::new(1, 10 * i128::from(TICK)),
            burst: Q::from_integer(10),
            tokens: Q::from_integer(10),
            last: 0,
        };
        let wide = Workload { debt: true, ..Workload::UNKNOWN };
        let mut limiters = [spec.build(&Workload::UNKNOWN), spec.build(&wide)];
        // As there: the bucket is full at the slow clock's first instant.
        limiters.iter_mut().for_each(|limiter| limiter.charge(KEY, at(0), 0));
        let mut admitted = 0;
        for tick in 0..4_000 {
            for now in [(tick + 5) * TICK, tick * TICK] {
                let decided = model.decide(now, 1);
                for limiter in &mut limiters {
                    assert_eq!(limiter.decide(KEY, at(now), 1).admits(), decided, "{word} at {now}");
                }
                admitted += u64::from(decided);
            }
        }
        assert_eq!(admitted, expected, "{word}");
        assert_eq!(spec.bound(SimDuration::from_secs(60), 1).is_some(), backwards == Backwards::Clamp);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]

    /// Decisions, and what is said of the future, on clocks that jump about.
    #[test]
    fn every_decision_is_that_of_the_model(
        (units, period, burst) in (1..7_u64, 1..40_u64, 1..9_u64),
        kind in 0..3_usize,
        asks in prop::collection::vec((-60..60_i64, 0..10_u64), 1..40),
        debt in any::<bool>(),
    ) {
        let (word, backwards) = ALL[kind];
        let spec = spec(word, &format!("{units}/{period}ns"), burst);
        let mut limiter = spec.build(&Workload { debt, ..Workload::UNKNOWN });
        let mut model: Option<Model> = None;
        let mut now = 0;
        for (jump, cost) in asks {
            now += jump;
            let model = model.get_or_insert_with(|| Model {
                backwards,
                rate: Q::new(i128::from(units), i128::from(period)),
                burst: Q::from_integer(i128::from(burst)),
                tokens: Q::from_integer(i128::from(burst)),
                last: now,
            });
            let tokens = model.tokens(now);
            prop_assert_eq!(limiter.level(KEY, at(now)).remaining, tokens.floor().to_integer() as u64);
            // Zero if it passes now; else the first instant of this clock at which it would.
            for cost in 1..=burst {
                let wait = limiter.retry_after(KEY, at(now), cost).expect("it fits the bucket").nanos() as i64;
                let passes = |wait: i64| model.tokens(now + wait) >= Q::from_integer(i128::from(cost));
                prop_assert!(passes(wait) && (0..wait).all(|early| !passes(early)), "{} {}", word, wait);
            }
            let decided = model.decide(now, cost);
            prop_assert_eq!(limiter.ask(KEY, at(now), cost).admits(), decided, "{} {}", word, now);
            prop_assert_eq!(limiter.decide(KEY, at(now), cost).admits(), decided, "{} {}", word, now);
        }
    }
}
