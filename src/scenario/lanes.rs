//! Lanes: defaults from the limit, knobs checked.

use super::file::{
    Algorithms, FixedWindowTable, GcraTable, LeakyBucketTable, SlidingCounterTable, SlidingLogTable, TokenBucketTable,
};
use super::source::ScenarioSource;
use super::values::{CountOrWord, Text, Word};
use crate::error::Error;
use crate::limiter::{
    Backwards, Compare, FixedWindowSpec, GcraSpec, Initial, LeakyBucketSpec, LeakyMode, LimiterSpec, Refill,
    SlidingCounterSpec, SlidingLogSpec, TokenBucketSpec,
};
use crate::quota::{Limit, MAX_UNITS, Rate};
use std::ops::Range;
use toml::Spanned;

/// Buckets that a sliding counter may have: each costs 8 bytes a key.
const MAX_BUCKETS: u64 = 1_000_000;

fn word<T>(word: Word<T>) -> T {
    word.0
}

/// Resolves limiters against the scenario's limit.
pub struct Lanes<'a> {
    pub source: &'a ScenarioSource,
    pub limit: Option<Limit>,
}

/// The algorithm of a lane with every knob at its default.
pub fn default_limiter(algorithm: &str, limit: Limit) -> Option<LimiterSpec> {
    let rate = Rate::from(limit);
    Some(match algorithm {
        "fixed-window" => {
            LimiterSpec::FixedWindow(FixedWindowSpec { limit, anchor: Default::default(), count_denied: false })
        }
        "sliding-log" => {
            LimiterSpec::SlidingLog(SlidingLogSpec { limit, edge: Default::default(), count_denied: false })
        }
        "sliding-counter" => LimiterSpec::SlidingCounter(SlidingCounterSpec {
            limit,
            compare: Compare::After,
            buckets: 1,
            oldest: Default::default(),
            anchor: Default::default(),
            count_denied: false,
        }),
        "token-bucket" => LimiterSpec::TokenBucket(TokenBucketSpec {
            rate,
            burst: limit.units,
            initial: Initial::Full,
            refill: Default::default(),
            backwards: Default::default(),
        }),
        "leaky-bucket" => LimiterSpec::LeakyBucket(LeakyBucketSpec {
            rate,
            mode: LeakyMode::Queue,
            capacity: limit.units,
            compare: Compare::After,
        }),
        "gcra" => LimiterSpec::Gcra(GcraSpec { rate, burst: limit.units }),
        _ => return None,
    })
}

impl Lanes<'_> {
    /// The limiter of a table that stands at `place`: exactly one algorithm.
    pub fn limiter(&self, table: &Algorithms<'_>, place: Range<usize>, what: &str) -> Result<LimiterSpec, Error> {
        let mut found: Vec<(Range<usize>, LimiterSpec)> = Vec::new();
        if let Some(t) = table.fixed_window {
            found.push((t.span(), self.fixed_window(t)?));
        }
        if let Some(t) = table.sliding_log {
            found.push((t.span(), self.sliding_log(t)?));
        }
        if let Some(t) = table.sliding_counter {
            found.push((t.span(), self.sliding_counter(t)?));
        }
        if let Some(t) = table.token_bucket {
            found.push((t.span(), self.token_bucket(t)?));
        }
        if let Some(t) = table.leaky_bucket {
            found.push((t.span(), self.leaky_bucket(t)?));
        }
        if let Some(t) = table.gcra {
            found.push((t.span(), self.gcra(t)?));
        }
        found.sort_by_key(|(span, _)| span.start);
        let mut found = found.into_iter();
        let Some((span, spec)) = found.next() else {
            return Err(self.source.error(
                place,
                format!("this {what} has no algorithm"),
                "one is missing here",
                Some(format!("give it one of {}, as in `token-bucket = {{}}`", LimiterSpec::NAMES.join(", "))),
            ));
        };
        if let Some((second, other)) = found.next() {
            let help = if what == "lane" { "give each algorithm a `[[lane]]` of its own" } else { "give it one" };
            return Err(self.source.error(
                second,
                format!("this {what} has two algorithms, `{}` and `{}`", spec.name(), other.name()),
                "the second",
                Some(help.to_owned()),
            ));
        }
        if let Some(refusal) = spec.refusal() {
            return Err(self.source.error(span, refusal, "cannot be simulated exactly", None));
        }
        Ok(spec)
    }

    fn own_limit(
        &self,
        own: Option<&Spanned<Text<Limit>>>,
        table: Range<usize>,
        algorithm: &str,
    ) -> Result<Limit, Error> {
        own.map(|limit| limit.get_ref().0).or(self.limit).ok_or_else(|| self.no_limit(table, algorithm, "limit"))
    }

    fn no_limit(&self, table: Range<usize>, algorithm: &str, knob: &str) -> Error {
        self.source.error(
            table,
            format!("`{algorithm}` has no limit to enforce"),
            format!("no `{knob}` here, and the scenario states no `limit`"),
            Some(format!("write `limit = \"100/1m\"` at the top of the scenario, or a `{knob}` here")),
        )
    }

    /// A stated rate, or the scenario's limit as one; and the burst that goes with it.
    fn rate_and_burst(
        &self,
        rate: Option<&Spanned<Text<Rate>>>,
        burst: Option<&Spanned<u64>>,
        table: Range<usize>,
        algorithm: &str,
        knob: &str,
    ) -> Result<(Rate, u64), Error> {
        if let Some(stated) = rate
            && stated.get_ref().0.units == 0
        {
            return Err(self.source.error(
                stated.span(),
                "a rate of zero admits nothing for ever",
                "zero",
                Some("to refuse everything, write `limit = \"0/1m\"`".to_owned()),
            ));
        }
        if let Some(stated) = burst {
            let units = *stated.get_ref();
            if units == 0 {
                return Err(self.source.error(
                    stated.span(),
                    format!("a {knob} of zero admits nothing for ever"),
                    "zero",
                    Some(format!("the smallest {knob} is 1; to refuse everything, write `limit = \"0/1m\"`")),
                ));
            }
            if units > MAX_UNITS {
                return Err(self.source.error(
                    stated.span(),
                    format!("a {knob} of {units} is more than {MAX_UNITS}, the most that is counted exactly"),
                    "too large",
                    None,
                ));
            }
        }
        let rate = match (rate, self.limit) {
            (Some(rate), _) => rate.get_ref().0,
            (None, Some(limit)) => Rate::from(limit),
            (None, None) => return Err(self.no_limit(table, algorithm, "rate")),
        };
        if let (Some(stated), 0) = (burst, rate.units) {
            return Err(self.source.error(
                stated.span(),
                format!("a {knob} with a rate of zero (from the limit) would be used up once and never come back"),
                "contradicts the limit of zero",
                Some(format!("leave `{knob}` out: a limit of zero refuses everything")),
            ));
        }
        Ok((rate, burst.map_or(rate.units, |burst| *burst.get_ref())))
    }

    fn fixed_window(&self, table: &Spanned<FixedWindowTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        Ok(LimiterSpec::FixedWindow(FixedWindowSpec {
            limit: self.own_limit(t.limit.as_ref(), table.span(), "fixed-window")?,
            anchor: t.anchor.map(word).unwrap_or_default(),
            count_denied: t.count_denied.unwrap_or(false),
        }))
    }

    fn sliding_log(&self, table: &Spanned<SlidingLogTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        Ok(LimiterSpec::SlidingLog(SlidingLogSpec {
            limit: self.own_limit(t.limit.as_ref(), table.span(), "sliding-log")?,
            edge: t.edge.map(word).unwrap_or_default(),
            count_denied: t.count_denied.unwrap_or(false),
        }))
    }

    fn sliding_counter(&self, table: &Spanned<SlidingCounterTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        let buckets = match &t.buckets {
            None => 1,
            Some(stated) => match *stated.get_ref() {
                n @ 1..=MAX_BUCKETS => n as u32,
                n => {
                    return Err(self.source.error(
                        stated.span(),
                        format!("{n} buckets"),
                        "out of range",
                        Some(format!("a window is cut into 1 to {MAX_BUCKETS} buckets")),
                    ));
                }
            },
        };
        Ok(LimiterSpec::SlidingCounter(SlidingCounterSpec {
            limit: self.own_limit(t.limit.as_ref(), table.span(), "sliding-counter")?,
            compare: t.compare.map(word).unwrap_or_default(),
            buckets,
            oldest: t.oldest.map(word).unwrap_or_default(),
            anchor: t.anchor.map(word).unwrap_or_default(),
            count_denied: t.count_denied.unwrap_or(false),
        }))
    }

    fn token_bucket(&self, table: &Spanned<TokenBucketTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        let (rate, burst) =
            self.rate_and_burst(t.rate.as_ref(), t.burst.as_ref(), table.span(), "token-bucket", "burst")?;
        let initial = match &t.initial {
            None => Initial::Full,
            Some(stated) => match stated.get_ref() {
                CountOrWord::Word(word) if word == "full" => Initial::Full,
                CountOrWord::Word(word) if word == "empty" => Initial::Empty,
                CountOrWord::Word(word) => {
                    return Err(self.source.error(
                        stated.span(),
                        format!("unknown value \"{word}\""),
                        "not one of the accepted values",
                        Some("accepted: \"full\", \"empty\" or a number of tokens".to_owned()),
                    ));
                }
                CountOrWord::Count(tokens) if *tokens > burst => {
                    return Err(self.source.error(
                        stated.span(),
                        format!("{tokens} tokens do not fit a bucket of {burst}"),
                        "more than the burst",
                        Some("\"full\" is the most".to_owned()),
                    ));
                }
                CountOrWord::Count(tokens) => Initial::Tokens(*tokens),
            },
        };
        let refill = t.refill.map(word).unwrap_or_default();
        let backwards = t.backwards.as_ref().map(|stated| stated.get_ref().0).unwrap_or_default();
        if let (Refill::Interval, Some(stated)) = (refill, &t.backwards)
            && backwards != Backwards::Clamp
        {
            return Err(self.source.error(
                stated.span(),
                "a bucket that refills in steps counts the steps, not the time between",
                "only with continuous refill",
                Some("leave `refill` out, or write \"clamp\"".to_owned()),
            ));
        }
        Ok(LimiterSpec::TokenBucket(TokenBucketSpec { rate, burst, initial, refill, backwards }))
    }

    fn leaky_bucket(&self, table: &Spanned<LeakyBucketTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        let (rate, capacity) =
            self.rate_and_burst(t.rate.as_ref(), t.capacity.as_ref(), table.span(), "leaky-bucket", "capacity")?;
        let mode = t.mode.map(word).unwrap_or_default();
        if let (LeakyMode::Queue, Some(stated)) = (mode, &t.compare)
            && stated.get_ref().0 == Compare::Before
        {
            return Err(self.source.error(
                stated.span(),
                "only a meter can compare before",
                "a queue has a place for an attempt or has not",
                Some("add `mode = \"meter\"`, or leave `compare` out".to_owned()),
            ));
        }
        let compare = t.compare.as_ref().map_or(Compare::After, |stated| stated.get_ref().0);
        Ok(LimiterSpec::LeakyBucket(LeakyBucketSpec { rate, mode, capacity, compare }))
    }

    fn gcra(&self, table: &Spanned<GcraTable>) -> Result<LimiterSpec, Error> {
        let t = table.get_ref();
        let (rate, burst) = self.rate_and_burst(t.rate.as_ref(), t.burst.as_ref(), table.span(), "gcra", "burst")?;
        Ok(LimiterSpec::Gcra(GcraSpec { rate, burst }))
    }
}
