//! Traffic tables: exactly one kind each, knobs checked.

use super::embedded::embedded_data;
use super::file::{TraceTable, TrafficTable};
use super::names::check_text;
use super::source::ScenarioSource;
use super::values::{ColumnValue, CountOr, CountOrWord, Text, WordOr, span};
use crate::error::Error;
use crate::quota::{Limit, MAX_UNITS, Rate};
use crate::time::SimDuration;
use crate::traffic::{
    AttributeSource, BadRows, Column, KeysSpec, Order, Pattern, PatternSpec, TimeFormat, TraceFile, TraceSpec,
    TrafficKind, TrafficSpec,
};
use std::ops::Range;
use toml::Spanned;

/// Keys that one synthetic source may have.
const MAX_KEYS: u64 = 50_000_000;

/// Resolves traffic.
pub struct Traffic<'a> {
    pub source: &'a ScenarioSource,
    /// Whether any traffic states a class, which then is a column of what `generate` writes.
    pub classes: bool,
    pub limit: Option<Limit>,
    pub duration: Option<SimDuration>,
}

impl Traffic<'_> {
    fn error(&self, span: Range<usize>, message: impl Into<String>, label: &str, help: &str) -> Error {
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.source.error(span, message, label, help)
    }

    /// One traffic table; `name` is what it is called without a name of its own.
    pub fn entry(&self, table: &Spanned<TrafficTable>, name: impl Fn(&str) -> String) -> Result<TrafficSpec, Error> {
        let t = table.get_ref();
        let kinds: [(&str, Option<Range<usize>>); 9] = [
            ("burst", t.burst.as_ref().map(Spanned::span)),
            ("boundary-burst", t.boundary_burst.as_ref().map(Spanned::span)),
            ("idle-then-spike", t.idle_then_spike.as_ref().map(Spanned::span)),
            ("steady", t.steady.as_ref().map(Spanned::span)),
            ("poisson", t.poisson.as_ref().map(Spanned::span)),
            ("on-off", t.on_off.as_ref().map(Spanned::span)),
            ("ramp", t.ramp.as_ref().map(Spanned::span)),
            ("clients", t.clients.as_ref().map(Spanned::span)),
            ("trace", t.trace.as_ref().map(Spanned::span)),
        ];
        let mut found: Vec<(&str, Range<usize>)> =
            kinds.iter().filter_map(|(kind, span)| Some((*kind, span.clone()?))).collect();
        found.sort_by_key(|(_, span)| span.start);
        let (kind, place) = match &found[..] {
            [] => {
                let names: Vec<&str> = kinds.iter().map(|(kind, _)| *kind).collect();
                return Err(self.error(
                    table.span(),
                    "this traffic has no kind",
                    "one is missing here",
                    &format!("give it one of {}, as in `steady = {{ rate = \"10/s\" }}`", names.join(", ")),
                ));
            }
            [one] => one.clone(),
            [first, second, ..] => {
                return Err(self.error(
                    second.1.clone(),
                    format!("this traffic has two kinds, `{}` and `{}`", first.0, second.0),
                    "the second",
                    "give each kind a `[[traffic]]` of its own",
                ));
            }
        };
        let from = t.from.as_ref().map(span).unwrap_or_default();
        let until = t.until.as_ref().map(span);
        if let (Some(end), Some(until)) = (&t.until, until)
            && until <= from
        {
            return Err(self.error(
                end.span(),
                format!("nothing lies from {from} until {until}"),
                "not after `from`",
                "intervals are [from, until), both counted from the start of the run",
            ));
        }
        let name = t.name.as_ref().map_or_else(|| name(kind), |name| name.get_ref().clone());
        let kind = match &t.trace {
            Some(trace) => TrafficKind::Trace(self.trace(t, trace)?),
            None => TrafficKind::Pattern(self.pattern(t, kind, place, until)?),
        };
        if let Some(class) = &t.class {
            check_text(self.source, "a class", class.get_ref(), class.span())?;
        }
        let class = t.class.as_ref().map(|class| class.get_ref().clone());
        Ok(TrafficSpec { name, class, from, until, kind })
    }

    fn rate(&self, rate: &Spanned<Text<Rate>>) -> Result<Rate, Error> {
        let value = rate.get_ref().0;
        if value.units == 0 {
            return Err(self.error(rate.span(), "a rate of zero sends nothing", "zero", "leave this traffic out"));
        }
        Ok(value)
    }

    fn pattern(
        &self,
        t: &TrafficTable,
        kind: &str,
        place: Range<usize>,
        until: Option<SimDuration>,
    ) -> Result<PatternSpec, Error> {
        let ends = until.or(self.duration).is_some();
        let endless = |kind: &str| {
            self.error(
                place.clone(),
                format!("`{kind}` has no end of its own"),
                "this goes on for ever",
                "state `duration = \"2m\"` at the top of the scenario, or `until` for this traffic",
            )
        };
        let pattern = if let Some(b) = &t.burst {
            let b = b.get_ref();
            Pattern::Burst {
                requests: b.requests,
                at: b.at.as_ref().map(span).unwrap_or_default(),
                over: b.over.as_ref().map(span).unwrap_or_default(),
            }
        } else if let Some(b) = &t.boundary_burst {
            let b = b.get_ref();
            let Some(limit) = self.limit else {
                return Err(self.error(
                    place,
                    "`boundary-burst` aims at the edges of the limit's window, and there is no limit",
                    "no window to aim at",
                    "write `limit = \"100/1m\"` at the top of the scenario",
                ));
            };
            let margin = span(&b.margin);
            if margin.nanos() * 2 > limit.window.nanos() {
                return Err(self.error(
                    b.margin.span(),
                    format!("a margin of {margin} reaches past the middle of a window of {}", limit.window),
                    "more than half a window",
                    "the bursts of two edges would overlap",
                ));
            }
            if !ends && b.edges.is_none() {
                return Err(endless(kind));
            }
            Pattern::BoundaryBurst { requests: b.requests, margin, edges: b.edges }
        } else if let Some(b) = &t.idle_then_spike {
            let b = b.get_ref();
            Pattern::IdleThenSpike { idle: span(&b.idle), requests: b.requests, repeat: b.repeat.unwrap_or(1) }
        } else if let Some(b) = &t.steady {
            Pattern::Steady { rate: self.rate(&b.get_ref().rate)? }
        } else if let Some(b) = &t.poisson {
            Pattern::Poisson { rate: self.rate(&b.get_ref().rate)? }
        } else if let Some(b) = &t.on_off {
            let b = b.get_ref();
            if span(&b.on).is_zero() {
                return Err(self.error(b.on.span(), "`on-off` is never on", "zero", "leave this traffic out"));
            }
            Pattern::OnOff { rate: self.rate(&b.rate)?, on: span(&b.on), off: span(&b.off) }
        } else if let Some(b) = &t.ramp {
            let b = b.get_ref();
            // One of the two ends may be at rest.
            let (rate, to) = (b.rate.get_ref().0, b.to.get_ref().0);
            if rate.units == 0 && to.units == 0 {
                return Err(self.error(b.to.span(), "a ramp from zero to zero", "zero", "leave this traffic out"));
            }
            Pattern::Ramp { rate, to }
        } else if let Some(b) = &t.clients {
            let b = b.get_ref();
            let count = *b.count.get_ref();
            if count == 0 || count > MAX_KEYS {
                return Err(self.error(
                    b.count.span(),
                    format!("{count} clients"),
                    "out of range",
                    &format!("write a number from 1 to {MAX_KEYS}"),
                ));
            }
            if span(&b.think).is_zero() {
                return Err(self.error(
                    b.think.span(),
                    "clients that never think make requests without end in one instant",
                    "zero",
                    "write a time such as \"1s\"",
                ));
            }
            if !ends {
                return Err(endless(kind));
            }
            Pattern::Clients { count, think: span(&b.think) }
        } else {
            unreachable!("exactly one kind was found and it is not a trace")
        };
        let needs_end = matches!(
            pattern,
            Pattern::Steady { .. } | Pattern::Poisson { .. } | Pattern::OnOff { .. } | Pattern::Ramp { .. }
        );
        if needs_end && !ends {
            return Err(endless(kind));
        }
        let keys = match (&t.keys, &pattern) {
            // Each client is somebody.
            (None, Pattern::Clients { count, .. }) => KeysSpec::Count((*count).max(1)),
            _ => self.keys(t)?,
        };
        Ok(PatternSpec { pattern, keys, cost: self.cost(t)?, attributes: self.attributes(t, keys)? })
    }

    fn cost(&self, t: &TrafficTable) -> Result<u64, Error> {
        let Some(stated) = &t.cost else { return Ok(1) };
        let cost = *stated.get_ref();
        if cost > MAX_UNITS {
            return Err(self.error(
                stated.span(),
                format!("a cost of {cost} is more than {MAX_UNITS}"),
                "too large",
                "",
            ));
        }
        Ok(cost)
    }

    fn keys(&self, t: &TrafficTable) -> Result<KeysSpec, Error> {
        let Some(stated) = &t.keys else { return Ok(KeysSpec::Count(1)) };
        let keys = match stated.get_ref() {
            CountOr::Count(n) => KeysSpec::Count(*n),
            CountOr::Table(table) => {
                let exponent = *table.zipf.exponent.get_ref();
                if !(0.0..=20.0).contains(&exponent) {
                    return Err(self.error(
                        table.zipf.exponent.span(),
                        format!("a Zipf exponent of {exponent}"),
                        "out of range",
                        "0 (all keys alike) to 20; real traffic lies near 1",
                    ));
                }
                KeysSpec::Zipf { n: *table.zipf.n.get_ref(), exponent }
            }
        };
        if keys.count() == 0 || keys.count() > MAX_KEYS {
            let help = format!("1 to {MAX_KEYS} keys");
            return Err(self.error(stated.span(), format!("{} keys", keys.count()), "out of range", &help));
        }
        Ok(keys)
    }

    fn attributes(&self, t: &TrafficTable, keys: KeysSpec) -> Result<Vec<(String, AttributeSource)>, Error> {
        let mut attributes: Vec<(String, AttributeSource)> = Vec::new();
        let out_of_range = |span: Range<usize>, n: u64| {
            self.error(span, format!("{n} values"), "out of range", &format!("1 to {MAX_KEYS} values"))
        };
        if let Some(groups) = &t.groups {
            for (name, value) in groups.get_ref() {
                self.attribute_name(name.get_ref(), name.span())?;
                let source = match value.get_ref() {
                    CountOrWord::Word(word) => {
                        check_text(self.source, "a group", word, value.span())?;
                        AttributeSource::Fixed(word.clone())
                    }
                    CountOrWord::Count(n @ 1..=MAX_KEYS) => AttributeSource::Groups(*n),
                    CountOrWord::Count(n) => return Err(out_of_range(value.span(), *n)),
                };
                attributes.push((name.get_ref().clone(), source));
            }
        }
        if let Some(spread) = &t.spread {
            for (name, value) in spread.get_ref() {
                self.attribute_name(name.get_ref(), name.span())?;
                let n = *value.get_ref();
                if n == 0 || n.saturating_mul(keys.count()) > MAX_KEYS {
                    return Err(out_of_range(value.span(), n.saturating_mul(keys.count())));
                }
                if attributes.iter().any(|(other, _)| other == name.get_ref()) {
                    return Err(self.error(
                        name.span(),
                        format!("`{}` is both in `groups` and in `spread`", name.get_ref()),
                        "the second",
                        "keep one of them",
                    ));
                }
                attributes.push((name.get_ref().clone(), AttributeSource::Spread(n)));
            }
        }
        Ok(attributes)
    }

    /// Names that `generate` could not write as a column of their own are no attributes.
    fn attribute_name(&self, name: &str, span: Range<usize>) -> Result<(), Error> {
        check_text(self.source, "an attribute", name, span.clone())?;
        let taken = ["timestamp", "key", "cost"].contains(&name) || name == "class" && self.classes;
        match taken {
            false => Ok(()),
            true => Err(self.error(
                span,
                format!("`{name}` cannot name an attribute: all traffic has a {name} of its own"),
                "choose another name",
                "",
            )),
        }
    }

    fn trace(&self, t: &TrafficTable, table: &Spanned<TraceTable>) -> Result<TraceSpec, Error> {
        let misplaced: [(&str, Option<Range<usize>>); 4] = [
            ("keys", t.keys.as_ref().map(Spanned::span)),
            ("cost", t.cost.as_ref().map(Spanned::span)),
            ("groups", t.groups.as_ref().map(Spanned::span)),
            ("spread", t.spread.as_ref().map(Spanned::span)),
        ];
        for (name, span) in misplaced {
            if let Some(span) = span {
                let help = match name {
                    "cost" => "name the column inside: `trace = { ..., cost = \"bytes\" }`",
                    "keys" => "name the column inside: `trace = { ..., key = \"client\" }`",
                    _ => "name the columns inside: `trace = { ..., attributes = [\"ip\"] }`",
                };
                return Err(self.error(span, format!("`{name}` does not apply to a trace"), "of a trace", help));
            }
        }
        let trace = table.get_ref();
        let written = trace.file.get_ref();
        check_text(self.source, "a file", written, trace.file.span())?;
        if let Some(attributes) = &trace.attributes {
            for (name, _) in &attributes.get_ref().0 {
                self.attribute_name(name, attributes.span())?;
            }
        }
        let (file, display) = if written == "-" {
            (TraceFile::Stdin { head: None }, "<stdin>".to_owned())
        } else if let Some(bytes) = self.source.embedded.then(|| embedded_data(written)).flatten() {
            (TraceFile::Embedded(bytes), written.clone())
        } else {
            let path = self.source.folder.join(written);
            let display = path.display().to_string();
            // A copy of an embedded scenario has its trace with it.
            match embedded_data(written).filter(|_| !path.exists()) {
                Some(bytes) => (TraceFile::Embedded(bytes), written.clone()),
                None => (TraceFile::Path(path), display),
            }
        };
        let column = |value: &ColumnValue| match value {
            ColumnValue::Name(name) => Column::Name(name.clone()),
            ColumnValue::Number(number) => Column::Number(*number),
        };
        let time = trace.time.as_ref().map(|time| column(time.get_ref()));
        let key = trace.key.as_ref().map(|key| column(key.get_ref()));
        let cost: Vec<Column> = trace.cost.iter().flat_map(|cost| cost.get_ref().0.iter().map(column)).collect();
        let attributes: Vec<(String, Column)> = trace
            .attributes
            .iter()
            .flat_map(|list| list.get_ref().0.iter().map(|(name, value)| (name.clone(), column(value))))
            .collect();
        let named = |column: &Column| matches!(column, Column::Name(_));
        let any_name = time.as_ref().is_none_or(named)
            || key.as_ref().is_some_and(named)
            || cost.iter().any(named)
            || attributes.iter().any(|(_, column)| named(column));
        if any_name && trace.header == Some(false) {
            return Err(self.error(
                table.span(),
                "columns by name need a header",
                "`header = false` here",
                "number the columns from 1, as in `time = 1, key = 2`",
            ));
        }
        Ok(TraceSpec {
            file,
            display,
            time,
            time_format: self.time_format(trace)?,
            key,
            cost,
            attributes,
            header: trace.header.unwrap_or(any_name),
            order: self.order(trace)?,
            bad_rows: self.bad_rows(trace)?,
        })
    }

    fn time_format(&self, trace: &TraceTable) -> Result<TimeFormat, Error> {
        let Some(stated) = &trace.time_format else { return Ok(TimeFormat::Auto) };
        Ok(match stated.get_ref().as_str() {
            "auto" => TimeFormat::Auto,
            "s" => TimeFormat::Seconds,
            "ms" => TimeFormat::Millis,
            "us" => TimeFormat::Micros,
            "ns" => TimeFormat::Nanos,
            "rfc3339" => TimeFormat::Rfc3339,
            pattern if pattern.contains('%') => TimeFormat::Pattern(pattern.to_owned()),
            other => {
                return Err(self.error(
                    stated.span(),
                    format!("unknown time format \"{other}\""),
                    "not a format",
                    "accepted: \"auto\", \"s\", \"ms\", \"us\", \"ns\", \"rfc3339\", or a strptime pattern such as \"%d/%b/%Y:%H:%M:%S %z\"",
                ));
            }
        })
    }

    fn order(&self, trace: &TraceTable) -> Result<Order, Error> {
        let Some(stated) = &trace.order else { return Ok(Order::Strict) };
        Ok(match stated.get_ref() {
            WordOr::Word(word) if word == "strict" => Order::Strict,
            WordOr::Word(word) if word == "sort" => Order::Sort,
            WordOr::Table(table) => Order::Window(span(&table.window)),
            WordOr::Word(word) => {
                return Err(self.error(
                    stated.span(),
                    format!("unknown order \"{word}\""),
                    "not one of the accepted values",
                    "accepted: \"strict\" (rows out of order are errors), \"sort\" (the whole file first), { window = \"5s\" } (rows up to that late)",
                ));
            }
        })
    }

    fn bad_rows(&self, trace: &TraceTable) -> Result<BadRows, Error> {
        let Some(stated) = &trace.bad_rows else { return Ok(BadRows::Error) };
        Ok(match stated.get_ref().as_str() {
            "error" => BadRows::Error,
            "skip" => BadRows::Skip,
            other => {
                return Err(self.error(
                    stated.span(),
                    format!("unknown value \"{other}\""),
                    "not one of the accepted values",
                    "accepted: \"error\" (the first bad row ends the run), \"skip\" (bad rows are left out, counted and listed)",
                ));
            }
        })
    }
}
