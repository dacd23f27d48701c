//! What a lane answers, and what stands behind it.

use super::Loops;
use super::tables::{
    BackendTable, BrownOutTable, HopTable, LoadTable, NormalTable, ResponseTable, ServiceTable, SpanTable,
};
use crate::error::Error;
use crate::scenario::values::{Duration, TableOf, WordOr, span};
use crate::sim::{BackendSpec, HopSpec, MILLION, ResponseSpec, RetryAfter, ServiceSpec, Slow, Spread};
use crate::time::SimDuration;
use toml::Spanned;

impl Loops<'_> {
    pub(super) fn response(&self, table: &Spanned<ResponseTable>) -> Result<ResponseSpec, Error> {
        let t = table.get_ref();
        let mut response = ResponseSpec {
            retry_after: t.retry_after.map(|word| word.0).unwrap_or_default(),
            headers: t.headers.map(|word| word.0).unwrap_or_default(),
            ..ResponseSpec::default()
        };
        if let Some(stated) = &t.status {
            response.status = *stated.get_ref();
            if !(400..600).contains(&response.status) {
                return Err(self.error(
                    stated.span(),
                    format!("{} refuses nothing", response.status),
                    "not an error",
                    "429 or 503",
                ));
            }
        }
        if let Some(stated) = &t.spread {
            let help = "a duration such as \"10s\", or \"1.25x\" of what those that are refused now need";
            let text = stated.get_ref();
            response.spread = match text.strip_suffix('x').map(str::parse::<f64>) {
                Some(Ok(factor)) => {
                    let factor = Spanned::new(stated.span(), factor);
                    Spread::Crowd(self.parts(&factor, 1000, 1000.0, "spread")?)
                }
                Some(Err(_)) => {
                    return Err(self.error(stated.span(), format!("no spread: \"{text}\""), "unknown", help));
                }
                None => match text.parse() {
                    Ok(span) => Spread::Fixed(span),
                    Err(reason) => return Err(self.error(stated.span(), reason.to_string(), "no spread", help)),
                },
            };
            if response.retry_after == RetryAfter::None && response.spread != Spread::default() {
                return Err(self.error(
                    stated.span(),
                    "a spread of waits that are not told",
                    "contradicts `retry-after`",
                    "add `retry-after = \"seconds\"`",
                ));
            }
        }
        Ok(response)
    }

    fn service(&self, stated: &Spanned<WordOr<ServiceTable>>) -> Result<ServiceSpec, Error> {
        let constant = |span: SimDuration| ServiceSpec::Constant { period: span.short_nanos(), units: 1 };
        let table = match stated.get_ref() {
            WordOr::Word(word) => {
                return match word.parse() {
                    Ok(span) => Ok(constant(span)),
                    Err(reason) => {
                        Err(self.error(stated.span(), reason.to_string(), "no service time", ServiceTable::EXPECTED))
                    }
                };
            }
            WordOr::Table(table) => table,
        };
        let mut found = Vec::new();
        found.extend(table.constant.as_ref().map(|stated| (stated.span(), constant(span(stated)))));
        let exponential = |stated: &Duration| (stated.span(), ServiceSpec::Exponential { mean: span(stated) });
        found.extend(table.exponential.as_ref().map(exponential));
        found.extend(table.load_dependent.as_ref().map(|LoadTable { base, each }| {
            (base.span(), ServiceSpec::LoadDependent { base: span(base), each: span(each) })
        }));
        self.only(stated.span(), "service", ServiceTable::EXPECTED, found)
    }

    pub(in crate::scenario) fn hop(&self, stated: &Spanned<WordOr<HopTable>>) -> Result<HopSpec, Error> {
        let table = match stated.get_ref() {
            WordOr::Word(word) => {
                return word.parse().map(HopSpec::Constant).map_err(|reason: crate::time::ParseDurationError| {
                    self.error(stated.span(), reason.to_string(), "no time on the way", HopTable::EXPECTED)
                });
            }
            WordOr::Table(table) => table,
        };
        let mut found = Vec::new();
        found.extend(table.exponential.as_ref().map(|mean| (mean.span(), HopSpec::Exponential { mean: span(mean) })));
        found.extend(table.normal.as_ref().map(|table| (table.span(), normal(table.get_ref()))));
        self.only(stated.span(), "hop", HopTable::EXPECTED, found)
    }

    /// One row under optimistic concurrency control.
    fn optimistic(&self, t: &BackendTable, stated: &Spanned<NormalTable>) -> Result<BackendSpec, Error> {
        let others = [
            t.servers.as_ref().map(Spanned::span),
            t.service.as_ref().map(Spanned::span),
            t.rate.as_ref().map(Spanned::span),
            t.queue.as_ref().map(Spanned::span),
            t.order.as_ref().map(Spanned::span),
            t.overflow.as_ref().map(Spanned::span),
            t.timeout.as_ref().map(Spanned::span),
            t.rejection_cost.as_ref().map(Spanned::span),
            t.stall.as_ref().map(Spanned::span),
            t.brown_out.as_ref().map(Spanned::span),
            t.hop.as_ref().map(Spanned::span),
            t.failure.as_ref().map(Spanned::span),
        ];
        if let Some(other) = others.into_iter().flatten().next() {
            let help = "an optimistic backend is one row and the way to it; leave this out";
            return Err(self.error(other, "an optimistic backend has no servers", "not with `optimistic`", help));
        }
        Ok(BackendSpec {
            servers: None,
            service: ServiceSpec::Optimistic,
            queue: None,
            order: Default::default(),
            overflow: Default::default(),
            timeout: None,
            rejection_cost: SimDuration::ZERO,
            slow: Vec::new(),
            hop: Some(normal(stated.get_ref())),
            failure: 0,
        })
    }

    pub(super) fn backend(&self, table: &Spanned<BackendTable>) -> Result<BackendSpec, Error> {
        let t = table.get_ref();
        if let Some(stated) = t.timeout.as_ref().filter(|timeout| span(timeout).is_zero()) {
            return Err(self.error(stated.span(), "a timeout of zero", "no answer comes in time", "leave it out"));
        }
        if let Some(stated) = &t.optimistic {
            return self.optimistic(t, stated);
        }
        let service = match (&t.service, &t.rate) {
            (Some(service), None) => self.service(service)?,
            (None, Some(rate)) => {
                let (period, units) = rate.get_ref().0.reduced();
                if units == 0 {
                    return Err(self.error(rate.span(), "a backend that serves nothing", "zero", "write a rate"));
                }
                ServiceSpec::Constant { period, units }
            }
            (Some(_), Some(rate)) => {
                return Err(self.error(rate.span(), "a backend with two service times", "the second", "give it one"));
            }
            (None, None) if t.hop.is_some() || t.failure.is_some() => ServiceSpec::Constant { period: 0, units: 1 },
            (None, None) => {
                let help = "write `service = \"100ms\"`, or `rate = \"6/5s\"` for each server";
                return Err(self.error(table.span(), "a backend without a service time", "missing here", help));
            }
        };
        if let Some(servers) = t.servers.as_ref().filter(|servers| *servers.get_ref() == 0) {
            return Err(self.error(servers.span(), "a backend without servers", "zero", "leave it out for any number"));
        }
        // One server, unless load alone makes it slower or it takes no time at all.
        let any = matches!(service, ServiceSpec::LoadDependent { .. } | ServiceSpec::Constant { period: 0, .. });
        let one = (!any).then_some(1);
        let servers = t.servers.as_ref().map(|stated| *stated.get_ref()).or(one);
        let mut slow = Vec::new();
        let mut put = |from: &Duration, until: &Duration, speed: u64| {
            if span(until) <= span(from) {
                return Err(self.error(until.span(), "it ends before it begins", "not after `from`", ""));
            }
            slow.push((until.span(), Slow { from: span(from).short_nanos(), until: span(until).short_nanos(), speed }));
            Ok(())
        };
        if let Some(SpanTable { from, until }) = t.stall.as_ref().map(Spanned::get_ref) {
            put(from, until, 0)?;
        }
        if let Some(BrownOutTable { from, until, factor }) = t.brown_out.as_ref().map(Spanned::get_ref) {
            let speed = self.parts(factor, MILLION, 1.0, "part of the servers' speed")?;
            put(from, until, speed)?;
        }
        slow.sort_by_key(|(_, slow)| slow.from);
        if let [(_, first), (place, second)] = &slow[..]
            && second.from < first.until
        {
            return Err(self.error(place.clone(), "a stall and a brown-out at one time", "they overlap", ""));
        }
        Ok(BackendSpec {
            servers,
            service,
            queue: t.queue.as_ref().map(|stated| *stated.get_ref()),
            order: t.order.as_ref().map(|word| word.get_ref().0).unwrap_or_default(),
            overflow: t.overflow.as_ref().map(|word| word.get_ref().0).unwrap_or_default(),
            timeout: t.timeout.as_ref().map(span),
            rejection_cost: t.rejection_cost.as_ref().map(span).unwrap_or_default(),
            slow: slow.into_iter().map(|(_, slow)| slow).collect(),
            hop: t.hop.as_ref().map(|hop| self.hop(hop)).transpose()?,
            failure: match &t.failure {
                Some(failure) => self.parts(failure, MILLION, 1.0, "share of requests that fail")?,
                None => 0,
            },
        })
    }
}

fn normal(table: &NormalTable) -> HopSpec {
    let deviation = table.deviation.as_ref().map(span).unwrap_or_default();
    HopSpec::Normal { mean: span(&table.hop), deviation }
}
