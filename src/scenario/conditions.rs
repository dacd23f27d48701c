//! Conditions on what a lane does within a span of the run: `stuck = "goodput[60s..] < 20/s"`.

use super::diagnose::closest;
use super::file::ConditionTables;
use super::source::ScenarioSource;
use crate::error::Error;
use crate::quota::Rate;
use crate::sim::Measure;
use crate::time::SimDuration;
use std::cmp::Ordering;
use std::ops::Range;
use toml::Spanned;

/// A rate within a span, compared with another.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpanCondition {
    /// Its name.
    pub name: String,
    /// As it is written, every default stated.
    pub text: String,
    /// What is counted.
    pub measure: Measure,
    /// From this much time after the start.
    pub from: SimDuration,
    /// Until this much.
    pub until: SimDuration,
    test: Test,
    rate: Rate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// As they are written; the longer ones first.
const TESTS: [(&str, Test); 4] =
    [("<=", Test::LessOrEqual), (">=", Test::GreaterOrEqual), ("<", Test::Less), (">", Test::Greater)];

impl SpanCondition {
    /// Whether so many within the span meet it, exactly.
    #[must_use]
    pub fn met(&self, count: u64) -> bool {
        // count / span against units / period. A configured span fits 62 bits, so both products fit.
        let found = u128::from(count) * u128::from(self.rate.period.short_nanos());
        let order = found.cmp(&(u128::from(self.rate.units) * u128::from(self.span().short_nanos())));
        match self.test {
            Test::Less => order == Ordering::Less,
            Test::LessOrEqual => order != Ordering::Greater,
            Test::Greater => order == Ordering::Greater,
            Test::GreaterOrEqual => order != Ordering::Less,
        }
    }

    /// How long it counts.
    #[must_use]
    pub fn span(&self) -> SimDuration {
        SimDuration::from_wide_nanos(self.until.nanos() - self.from.nanos())
    }

    /// What it counts and when, as it is written.
    #[must_use]
    pub fn figure(&self) -> &str {
        self.text.split_once(']').map_or(&self.text, |(figure, _)| &self.text[..=figure.len()])
    }
}

/// Reads conditions.
pub(super) struct Reader<'a> {
    pub source: &'a ScenarioSource,
    /// How long the run is, if that is stated.
    pub duration: Option<SimDuration>,
    /// Whether what lanes answer decides what they are asked next.
    pub closed: bool,
}

/// What is wrong with a part of a condition, and what would be right.
struct Fault<'t>(&'t str, String, String);

const HELP: &str = "write FIGURE[FROM..UNTIL] < RATE, as in \"goodput[60s..] < 20/s\"";

impl Reader<'_> {
    /// Reads all of them, in the order of their names.
    pub fn read(&self, tables: &Spanned<ConditionTables>) -> Result<Vec<SpanCondition>, Error> {
        if !self.closed {
            let help = "give the lanes clients: `client = {}`".to_owned();
            let what = "conditions are on what clients meet, and there are none";
            return Err(self.source.error(tables.span(), what, "of an open loop", Some(help)));
        }
        let one = |(name, stated): (&Spanned<String>, &Spanned<String>)| {
            self.one(name.get_ref(), stated.get_ref()).map_err(|Fault(part, message, help)| {
                self.source.error(self.place(stated, part), message, "here", Some(help))
            })
        };
        tables.get_ref().iter().map(one).collect()
    }

    /// Where a part of a text stands in the file.
    fn place(&self, stated: &Spanned<String>, part: &str) -> Range<usize> {
        let (span, text) = (stated.span(), stated.get_ref());
        let offset = (part.as_ptr() as usize).saturating_sub(text.as_ptr() as usize);
        let from = span.start + 1 + offset.min(text.len());
        // Only where the text is written without escapes.
        match self.source.text.get(span.start + 1..span.start + 1 + text.len()) {
            Some(written) if written == text => from..(from + part.len().max(1)).min(span.end),
            _ => span,
        }
    }

    fn one<'t>(&self, name: &str, text: &'t str) -> Result<SpanCondition, Fault<'t>> {
        let sign =
            text.find(['<', '>']).ok_or_else(|| Fault(text, format!("`{text}` compares nothing"), HELP.to_owned()))?;
        let (figure, rest) = text.split_at(sign);
        let (sign, test) = TESTS.into_iter().find(|(sign, _)| rest.starts_with(sign)).expect("it begins with one");
        let rate = rest[sign.len()..].trim();
        let rate: Rate = rate
            .parse()
            .map_err(|error| Fault(if rate.is_empty() { rest } else { rate }, format!("{error}"), HELP.to_owned()))?;
        let figure = figure.trim();
        let (word, span) = match figure.split_once('[') {
            None => (figure, None),
            Some((word, span)) => match span.strip_suffix(']') {
                Some(span) => (word.trim(), Some(span)),
                None => return Err(Fault(span, format!("`[{span}` is not closed"), HELP.to_owned())),
            },
        };
        let measure = Measure::ALL.into_iter().find(|measure| measure.name() == word).ok_or_else(|| {
            let names = Measure::ALL.map(Measure::name);
            let hint = closest(word, names).map_or_else(String::new, |close| format!("did you mean `{close}`? "));
            Fault(
                if word.is_empty() { text } else { word },
                format!("no figure `{word}`"),
                format!("{hint}accepted: {}", names.join(", ")),
            )
        })?;
        let (from, until) = match span {
            None => (SimDuration::ZERO, self.end(figure)?),
            Some(span) => {
                let Some((from, until)) = span.split_once("..") else {
                    return Err(Fault(span, format!("`{span}` is no span"), HELP.to_owned()));
                };
                let instant = |text: &'t str| {
                    text.trim().parse::<SimDuration>().map_err(|error| Fault(text, error.to_string(), HELP.to_owned()))
                };
                let first = if from.trim().is_empty() { SimDuration::ZERO } else { instant(from)? };
                let last = if until.trim().is_empty() { self.end(span)? } else { instant(until)? };
                if last <= first {
                    let help = "the first instant, then one after it".to_owned();
                    return Err(Fault(span, format!("nothing lies from {first} until {last}"), help));
                }
                (first, last)
            }
        };
        let text = format!("{word}[{from}..{until}] {sign} {rate}");
        Ok(SpanCondition { name: name.to_owned(), text, measure, from, until, test, rate })
    }

    fn end<'t>(&self, part: &'t str) -> Result<SimDuration, Fault<'t>> {
        self.duration.ok_or_else(|| {
            let help =
                "state when it ends, as in \"goodput[60s..80s] < 20/s\", or `duration` for the scenario".to_owned();
            Fault(part, "a span without an end in a run without a stated one".to_owned(), help)
        })
    }
}
