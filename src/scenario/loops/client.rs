//! Clients: when they try again, and what stops them.

use super::Loops;
use super::tables::{
    AdaptiveTable, BreakerTable, BucketTable, BudgetTable, ClientTable, ExponentialTable, GrpcTable, RetryTable,
    ThrottleTable,
};
use crate::error::Error;
use crate::scenario::values::{TableOf, WordOr, span};
use crate::sim::{BudgetSpec, ClientSpec, MILLION, RetrySpec, ThrottleSpec};
use crate::time::SimDuration;
use std::ops::Range;
use toml::Spanned;

impl Loops<'_> {
    pub(super) fn client(&self, table: &Spanned<ClientTable>) -> Result<ClientSpec, Error> {
        let t = table.get_ref();
        let retry = match &t.retry {
            Some(retry) => self.retry(retry)?,
            None => RetrySpec::None,
        };
        if let Some(stated) = &t.max_attempts {
            let attempts = *stated.get_ref();
            if attempts == 0 {
                return Err(self.error(stated.span(), "clients that make no attempt", "zero", "the first one counts"));
            }
            if retry == RetrySpec::None && attempts > 1 {
                return Err(self.error(
                    stated.span(),
                    format!("{attempts} attempts by clients that never retry"),
                    "contradicts `retry`",
                    "leave it out, or state `retry = { fixed = { delay = \"1s\" } }`",
                ));
            }
        }
        if let Some(stated) = &t.deadline
            && span(stated).is_zero()
        {
            return Err(self.error(stated.span(), "a deadline of zero", "no answer comes in time", "leave it out"));
        }
        if let (Some(stated), Some(round_trip)) = (&t.deadline, &t.round_trip)
            && span(stated) < span(round_trip)
        {
            return Err(self.error(
                stated.span(),
                format!("a deadline of {} within a round trip of {}", span(stated), span(round_trip)),
                "no answer comes in time",
                "a deadline is counted from the first attempt to its answer",
            ));
        }
        Ok(ClientSpec {
            retry,
            max_attempts: t.max_attempts.as_ref().map(|stated| *stated.get_ref()),
            deadline: t.deadline.as_ref().map(span),
            round_trip: t.round_trip.as_ref().map(span).unwrap_or_default(),
            budget: t.budget.as_ref().map(|budget| self.budget(budget)).transpose()?,
            throttle: t.throttle.as_ref().map(|throttle| self.throttle(throttle)).transpose()?,
        })
    }

    fn retry(&self, table: &Spanned<RetryTable>) -> Result<RetrySpec, Error> {
        let t = table.get_ref();
        let mut found: Vec<(Range<usize>, RetrySpec)> = Vec::new();
        let mut put = |place: Option<Range<usize>>, spec: RetrySpec| found.extend(place.map(|place| (place, spec)));
        put(t.none.as_ref().map(Spanned::span), RetrySpec::None);
        put(t.immediate.as_ref().map(Spanned::span), RetrySpec::Immediate);
        put(t.paced.as_ref().map(Spanned::span), RetrySpec::Paced);
        if let Some(fixed) = &t.fixed {
            put(Some(fixed.span()), RetrySpec::Fixed { delay: span(&fixed.get_ref().delay) });
        }
        if let Some(stated) = &t.exponential {
            let ExponentialTable { base, cap, jitter } = stated.get_ref();
            let longest = cap.as_ref().map_or(SimDuration::MAX_CONFIGURED, span);
            if let Some(cap) = cap
                && span(cap) < span(base)
            {
                return Err(self.error(
                    cap.span(),
                    format!("a cap of {} below the base of {}", span(cap), span(base)),
                    "the first delay is longer than the longest",
                    "",
                ));
            }
            let jitter = jitter.map(|word| word.0).unwrap_or_default();
            put(Some(stated.span()), RetrySpec::Exponential { base: span(base), cap: longest, jitter });
        }
        if let Some(stated) = &t.retry_after {
            let jitter = stated.get_ref().jitter.as_ref().map(span).unwrap_or_default();
            put(Some(stated.span()), RetrySpec::RetryAfter { jitter });
        }
        if let Some(stated) = &t.sdk {
            put(Some(stated.span()), RetrySpec::Sdk(stated.get_ref().name.0));
        }
        let kinds = "none, immediate, fixed, exponential, retry-after, paced, sdk, as in `fixed = { delay = \"1s\" }`";
        self.only(table.span(), "retry", kinds, found)
    }

    fn budget(&self, stated: &Spanned<WordOr<BudgetTable>>) -> Result<BudgetSpec, Error> {
        let ten = SimDuration::from_secs(10);
        let unknown = |place: Range<usize>, word: &str| {
            self.error(
                place,
                format!("unknown budget \"{word}\""),
                "not one of the accepted ones",
                &format!("accepted: {}", BudgetTable::EXPECTED),
            )
        };
        let table = match stated.get_ref() {
            WordOr::Word(word) => {
                return match word.as_str() {
                    // Both with a fifth and ten a second.
                    "finagle" => Ok(BudgetSpec::finagle(MILLION / 5, 10, ten)),
                    "tower-0.5" => Ok(BudgetSpec::tower(MILLION / 5, 10, ten)),
                    "envoy" => Ok(BudgetSpec::envoy()),
                    other => Err(unknown(stated.span(), other)),
                };
            }
            WordOr::Table(table) => table,
        };
        let stated = match (&table.ratio, &table.bucket) {
            (Some(ratio), None) => ratio,
            (None, Some(bucket)) => return self.bucket(table, bucket.get_ref()),
            (Some(_), Some(bucket)) => {
                return Err(self.error(bucket.span(), "a budget of two kinds", "the second", "give it one"));
            }
            (None, None) => {
                let help = format!("accepted: {}", BudgetTable::EXPECTED);
                return Err(self.error(stated.span(), "this budget has no kind", "`ratio` is missing here", &help));
            }
        };
        let ratio = self.parts(stated, MILLION, 1000.0, "ratio of retries to requests")?;
        let ttl = table.ttl.as_ref().map_or(ten, span);
        if let Some(stated) = table.ttl.as_ref().filter(|_| ttl.short_nanos() < 10) {
            return Err(self.error(
                stated.span(),
                "a budget that lasts no time",
                "too short",
                "the default is \"10s\"",
            ));
        }
        let per_second = table.per_second.as_ref().map_or(0, |stated| *stated.get_ref());
        match table.like.as_ref().map(|like| like.get_ref().as_str()) {
            None => Ok(BudgetSpec::ratio(ratio, per_second, ttl)),
            Some("finagle") => Ok(BudgetSpec::finagle(ratio, per_second, ttl)),
            Some("tower-0.5") => Ok(BudgetSpec::tower(ratio, per_second, ttl)),
            Some(other) => {
                let place = table.like.as_ref().map_or(0..0, Spanned::span);
                Err(unknown(place, other))
            }
        }
    }

    /// A budget that is a bucket.
    fn bucket(&self, table: &BudgetTable, bucket: &BucketTable) -> Result<BudgetSpec, Error> {
        let others = table.per_second.as_ref().map(Spanned::span).into_iter();
        let others = others.chain(table.ttl.as_ref().map(Spanned::span)).chain(table.like.as_ref().map(Spanned::span));
        if let Some(other) = others.into_iter().next() {
            return Err(self.error(other, "a bucket has no such knob", "not with `bucket`", "leave it out"));
        }
        let (size, most) = (&bucket.size, 1_000_000);
        if !(1..=most).contains(size.get_ref()) {
            let help = format!("1 to {most}");
            return Err(self.error(size.span(), format!("{} retries", size.get_ref()), "out of range", &help));
        }
        Ok(BudgetSpec::bucket(*size.get_ref(), self.parts(&bucket.ratio, MILLION, 1000.0, "ratio")?))
    }

    fn throttle(&self, table: &Spanned<ThrottleTable>) -> Result<ThrottleSpec, Error> {
        let mut found = Vec::new();
        if let Some(stated) = &table.get_ref().grpc {
            let GrpcTable { max, ratio } = stated.get_ref();
            if !(1..=1000).contains(max.get_ref()) {
                return Err(self.error(max.span(), format!("{} tokens", max.get_ref()), "out of range", "1 to 1000"));
            }
            let ratio = self.parts(ratio, 1000, 1000.0, "ratio")?;
            found.push((stated.span(), ThrottleSpec::Grpc { max: *max.get_ref() * 1000, ratio }));
        }
        if let Some(stated) = &table.get_ref().adaptive {
            let AdaptiveTable { k, window } = stated.get_ref();
            let k = k.as_ref().map(|k| self.parts(k, 1000, 1000.0, "k")).transpose()?.unwrap_or(2000);
            if let Some(stated) = window.as_ref().filter(|window| span(window).is_zero()) {
                return Err(self.error(stated.span(), "a window of no time", "zero", "the default is \"2m\""));
            }
            let window = window.as_ref().map_or(SimDuration::from_secs(120), span);
            found.push((stated.span(), ThrottleSpec::Adaptive { k, window }));
        }
        if let Some(stated) = &table.get_ref().breaker {
            let BreakerTable { share } = stated.get_ref();
            let share = self.parts(share, MILLION, 1.0, "share of requests that fail")?;
            found.push((stated.span(), ThrottleSpec::Breaker { share }));
        }
        let kinds = "grpc = { max = 10, ratio = 0.1 }, adaptive = { k = 2 }, breaker = { share = 0.1 }";
        self.only(table.span(), "throttle", kinds, found)
    }
}
