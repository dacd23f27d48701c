//! The values of an axis: a list, or a range of whole numbers, durations or rates.
//!
//! Steps and equal distances are reckoned in integers, so that the hundredth value is as exact as the
//! first.

use super::MOST_POINTS;
use crate::scenario::diagnose::closest;
use crate::time::SimDuration;
use std::collections::BTreeSet;
use std::ops::Range;

/// What is accepted, for those who wrote something else.
pub const ACCEPTED: &str = "a list as in 1,2,4,8; a range with a step as in 0s..10s:step=1s; or one with a number of points as in 1..1000:points=10,log";

/// The values of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Values {
    /// As they are put into the scenario.
    pub texts: Vec<String>,
    /// Whether equal steps are equal factors.
    pub log: bool,
    /// What they are as numbers, if all are.
    pub numbers: Option<Numbers>,
}

/// Values as numbers of one unit.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// What they count.
    pub unit: Unit,
    /// In the order of the values; durations in nanoseconds.
    pub values: Vec<f64>,
}

/// What the number of a value counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Itself.
    Number,
    /// Nanoseconds.
    Nanos,
    /// Units in so much time, as it is written: `1s`.
    Per(String),
}

/// What is wrong with a text, where, and what to write instead.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Slip {
    /// Bytes of the text.
    pub span: Range<usize>,
    /// What is wrong.
    pub message: String,
    /// What stands under the caret.
    pub label: &'static str,
    /// What is accepted.
    pub help: String,
}

fn slip<T>(
    span: Range<usize>,
    message: impl Into<String>,
    label: &'static str,
    help: impl Into<String>,
) -> Result<T, Slip> {
    Err(Slip { span, message: message.into(), label, help: help.into() })
}

/// A number of whole units.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Quantity {
    amount: u128,
    unit: Unit,
}

impl Quantity {
    fn read(text: &str) -> Option<Self> {
        let whole = |text: &str| {
            let digits: String = text.chars().filter(|c| *c != '_').collect();
            let plain =
                digits.bytes().all(|byte| byte.is_ascii_digit()) && text.starts_with(|c: char| c.is_ascii_digit());
            plain.then(|| digits.parse::<i64>().ok()).flatten().map(|number| u128::from(number.unsigned_abs()))
        };
        if let Some(amount) = whole(text) {
            return Some(Self { amount, unit: Unit::Number });
        }
        if let Some((units, per)) = text.split_once('/') {
            return Some(Self { amount: whole(units)?, unit: Unit::Per(per.to_owned()) });
        }
        let span: SimDuration = text.parse().ok()?;
        Some(Self { amount: span.nanos(), unit: Unit::Nanos })
    }

    fn spell(amount: u128, unit: &Unit) -> String {
        match unit {
            Unit::Number => amount.to_string(),
            Unit::Nanos => SimDuration::from_wide_nanos(amount).to_string(),
            Unit::Per(per) => format!("{amount}/{per}"),
        }
    }
}

/// Reads the values of an axis.
///
/// # Errors
/// If the text is neither a list nor a range, or the range is empty or too long.
pub fn read(text: &str) -> Result<Values, Slip> {
    match range_of(text) {
        Some((dots, options)) => range(text, dots, options),
        None => list(text),
    }
}

/// Where the dots of a range are and where its options begin, if it is one: a number comes first.
fn range_of(text: &str) -> Option<(usize, usize)> {
    let options = text.find(':').unwrap_or(text.len());
    let dots = text[..options].find("..")?;
    let head = text[..dots].trim_start();
    let numeric = head.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '+');
    (numeric && !text[..dots].contains(',') && !text[..dots].contains('=')).then_some((dots, options))
}

/// Values between commas, but for those within brackets and quotes.
fn list(text: &str) -> Result<Values, Slip> {
    let (mut depth, mut quote, mut from) = (0_usize, None, 0);
    let mut pieces = Vec::new();
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            (None, ',') if depth == 0 => {
                pieces.push(from..at);
                from = at + 1;
            }
            (None, _) => {}
        }
    }
    pieces.push(from..text.len());
    if text.trim().is_empty() {
        return slip(0..text.len(), "no values", "empty", format!("accepted: {ACCEPTED}"));
    }
    let (mut texts, mut seen) = (Vec::new(), BTreeSet::new());
    for piece in pieces {
        let value = text[piece.clone()].trim();
        if value.is_empty() {
            return slip(piece, "a value is missing", "nothing stands here", "separate values by one comma");
        }
        if range_of(value).is_some() {
            let help = "a range stands alone, as in 0s..10s:step=1s";
            return slip(piece, "a range within a list", "a range", help);
        }
        let digits = value.bytes().all(|byte| byte.is_ascii_digit());
        if digits && value.parse::<i64>().is_err() {
            let help = format!("the largest number is {}", i64::MAX);
            return slip(piece, "a number that is too large", "too large", help);
        }
        if !seen.insert(value) {
            return slip(piece, format!("`{value}` is there twice"), "the second", "each value is run once");
        }
        texts.push(value.to_owned());
    }
    let numbers = numbers(&texts);
    Ok(Values { texts, log: false, numbers })
}

/// Values as numbers, if all are of one unit.
fn numbers(texts: &[String]) -> Option<Numbers> {
    let read: Option<Vec<Quantity>> = texts.iter().map(|text| Quantity::read(text.trim_matches(['"', '\'']))).collect();
    if let Some(read) = read {
        let unit = read.first()?.unit.clone();
        let alike = read.iter().all(|quantity| quantity.unit == unit);
        return alike.then(|| Numbers { unit, values: read.iter().map(|quantity| quantity.amount as f64).collect() });
    }
    let plain = |text: &String| text.parse::<f64>().ok().filter(|number| number.is_finite());
    Some(Numbers { unit: Unit::Number, values: texts.iter().map(plain).collect::<Option<_>>()? })
}

/// How the values of a range are chosen.
enum Choice {
    Step(u128),
    Points { count: u128, log: bool },
}

fn range(text: &str, dots: usize, options: usize) -> Result<Values, Slip> {
    let trimmed = |span: Range<usize>| {
        let piece = &text[span.clone()];
        let start = span.start + piece.len() - piece.trim_start().len();
        start..start + piece.trim().len()
    };
    let (from_at, until_at) = (trimmed(0..dots), trimmed(dots + 2..options));
    let end = |at: &Range<usize>| match Quantity::read(&text[at.clone()]) {
        Some(quantity) => Ok(quantity),
        None => slip(
            at.clone(),
            format!("`{}` is not the end of a range", &text[at.clone()]),
            "not a number",
            "ends are whole numbers as 1..100, durations as 0s..10s, or rates of one period as 10/1s..90/1s; other values are listed, as in 0.5,1.0,1.5",
        ),
    };
    let (from, until) = (end(&from_at)?, end(&until_at)?);
    if from.unit != until.unit {
        let help = "both ends are whole numbers, durations, or rates of the same period";
        return slip(from_at.start..until_at.end, "ends of different units", "these do not go together", help);
    }
    if from.amount > until.amount {
        let (from, until) = (&text[from_at.clone()], &text[until_at.clone()]);
        let help = format!("write {until}..{from}");
        return slip(from_at.start..until_at.end, "an empty range: it ends before it begins", "goes down", help);
    }
    let choice = choose(text, options, &from)?;
    let span = until.amount - from.amount;
    let count = match choice {
        Choice::Step(step) => span / step + 1,
        Choice::Points { count, .. } => count,
    };
    if count > MOST_POINTS as u128 {
        let help = format!("a sweep has at most {MOST_POINTS}; widen the step, or state points");
        return slip(0..text.len(), format!("a range of {count} values"), "too many", help);
    }
    let value = |i: u128| match choice {
        Choice::Step(step) => from.amount + step * i,
        Choice::Points { count: 1, .. } => from.amount,
        // Half a unit rounds up.
        Choice::Points { count, log: false } => from.amount + (2 * span * i + (count - 1)) / (2 * (count - 1)),
        Choice::Points { count, log: true } => between(from.amount, until.amount, i, count - 1, &from.unit),
    };
    let mut amounts: Vec<u128> = (0..count).map(value).collect();
    amounts.dedup();
    Ok(Values {
        texts: amounts.iter().map(|amount| Quantity::spell(*amount, &from.unit)).collect(),
        log: matches!(choice, Choice::Points { log: true, .. }),
        numbers: Some(Numbers { values: amounts.iter().map(|amount| *amount as f64).collect(), unit: from.unit }),
    })
}

/// The i-th of n equal factors from `low` to `high`, both exactly; durations in three digits.
fn between(low: u128, high: u128, i: u128, n: u128, unit: &Unit) -> u128 {
    if i == 0 || i == n {
        return if i == 0 { low } else { high };
    }
    let exponent = i as f64 / n as f64;
    let found = libm::round(low as f64 * libm::pow(high as f64 / low as f64, exponent)) as u128;
    let rounded = match unit {
        Unit::Nanos => {
            let coarse = 10_u128.pow(found.checked_ilog10().unwrap_or(0).saturating_sub(2));
            (found + coarse / 2) / coarse * coarse
        }
        Unit::Number | Unit::Per(_) => found,
    };
    rounded.clamp(low, high)
}

/// Reads `:step=1s` or `:points=10,log`.
fn choose(text: &str, colon: usize, from: &Quantity) -> Result<Choice, Slip> {
    const HELP: &str = "add :step=1, :points=10 or :points=10,log";
    if text[colon..].trim_matches([':', ' ']).is_empty() {
        return slip(0..text.len(), "a range that says not which values are meant", "no step and no points", HELP);
    }
    let (mut step, mut points, mut log) = (None, None, None);
    let mut at = colon + 1;
    for piece in text[colon + 1..].split(',') {
        let span = at..at + piece.len();
        at += piece.len() + 1;
        let (name, stated) = piece.split_once('=').map_or((piece, None), |(name, stated)| (name, Some(stated.trim())));
        match (name.trim(), stated) {
            ("step", Some(stated)) => step = Some((read_step(stated, &span, from)?, span)),
            ("points", Some(stated)) => points = Some((read_points(stated, &span)?, span)),
            ("log", None) => log = Some(span),
            (name, _) => {
                let hint = closest(name, ["step", "points", "log"]).map(|close| format!("did you mean `{close}`? "));
                let help = format!("{}{HELP}", hint.unwrap_or_default());
                return slip(span, format!("`{}` says nothing of a range", piece.trim()), "unknown", help);
            }
        }
    }
    match (step, points, log) {
        (Some(_), Some((_, span)), _) => slip(span, "both a step and points", "one too many", "leave one out"),
        (Some(_), None, Some(span)) => {
            slip(span, "a step is the same everywhere, so not `log`", "not with a step", "write points=10,log")
        }
        (None, None, Some(span)) => slip(span, "`log` without points", "how many?", "write points=10,log"),
        (None, Some(_), Some(_)) if from.amount == 0 => {
            let help = "no factor leads away from zero; begin with 1";
            slip(0..text.find("..").unwrap_or(0), "a range by factors that begins with zero", "zero", help)
        }
        (Some((step, _)), None, None) => Ok(Choice::Step(step)),
        (None, Some((count, _)), log) => Ok(Choice::Points { count, log: log.is_some() }),
        (None, None, None) => slip(0..text.len(), "a range that says not which values are meant", "no step", HELP),
    }
}

fn read_step(stated: &str, span: &Range<usize>, from: &Quantity) -> Result<u128, Slip> {
    if stated.starts_with('-') {
        let help = "a range goes up, and a step is positive";
        return slip(span.clone(), "a step that goes the wrong way", "negative", help);
    }
    let step = Quantity::read(stated);
    // The step of rates may leave their period out.
    let fits = |step: &Quantity| step.unit == from.unit || (step.unit == Unit::Number && from.unit != Unit::Nanos);
    match step.filter(fits) {
        Some(step) if step.amount > 0 => Ok(step.amount),
        Some(_) => slip(span.clone(), "a step of zero never gets to the end", "zero", "write a step above zero"),
        None => {
            let such = match from.unit {
                Unit::Nanos => "a duration, as in step=1s",
                Unit::Number | Unit::Per(_) => "a whole number, as in step=1",
            };
            slip(span.clone(), format!("`{stated}` is no step of this range"), "not a step", format!("write {such}"))
        }
    }
}

fn read_points(stated: &str, span: &Range<usize>) -> Result<u128, Slip> {
    match stated.parse::<u128>() {
        Ok(count) if count >= 2 => Ok(count),
        _ => slip(
            span.clone(),
            format!("`{stated}` points"),
            "2 or more",
            "both ends are points; a single value is a list of one",
        ),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        read(text).unwrap_or_else(|slip| panic!("{text}: {slip:?}")).texts
    }

    #[test]
    fn lists_hold_whatever_can_be_set() {
        assert_eq!(texts("1,2,4,8"), ["1", "2", "4", "8"]);
        assert_eq!(texts(" full , empty"), ["full", "empty"]);
        assert_eq!(texts("[\"a\", \"b\"],{ a = 1, b = 2 },'x,y'"), ["[\"a\", \"b\"]", "{ a = 1, b = 2 }", "'x,y'"]);
        assert_eq!(texts("../a.csv,../b.csv"), ["../a.csv", "../b.csv"]);
        assert_eq!(texts("2026-01-01T11:59:00Z"), ["2026-01-01T11:59:00Z"]);
        let numbers = |text| read(text).expect("a list").numbers.map(|numbers| (numbers.unit, numbers.values));
        assert_eq!(numbers("1s,500ms"), Some((Unit::Nanos, vec![1e9, 5e8])));
        assert_eq!(numbers("0.5,1,2"), Some((Unit::Number, vec![0.5, 1.0, 2.0])));
        assert_eq!(numbers("1/1s,20/1s"), Some((Unit::Per("1s".to_owned()), vec![1.0, 20.0])));
        assert_eq!((numbers("1/1s,20/1m"), numbers("1,1s"), numbers("full,empty")), (None, None, None));
    }

    #[test]
    fn steps_are_exact_and_end_where_they_hit() {
        assert_eq!(texts("0s..3s:step=1s"), ["0s", "1s", "2s", "3s"]);
        assert_eq!(texts("0s..1s:step=300ms"), ["0s", "300ms", "600ms", "900ms"]);
        assert_eq!(texts("1..7:step=3"), ["1", "4", "7"]);
        assert_eq!(texts("1..8:step=3"), ["1", "4", "7"]);
        assert_eq!(texts("5..5:step=1"), ["5"]);
        assert_eq!(texts("10/1s..30/1s:step=10"), ["10/1s", "20/1s", "30/1s"]);
        assert_eq!(texts("10/1s..30/1s:step=20/1s"), ["10/1s", "30/1s"]);
        let many = texts("0s..1s:step=100us");
        assert_eq!((many.len(), many[3].as_str(), many[9_999].as_str()), (10_001, "300us", "999.9ms"));
        assert_eq!(texts("1_000..3_000:step=1_000"), ["1000", "2000", "3000"]);
        assert_eq!(texts(&format!("{}..{}:step=1", i64::MAX - 1, i64::MAX)).len(), 2);
    }

    #[test]
    fn points_are_equally_far_apart() {
        assert_eq!(texts("0..10:points=5"), ["0", "3", "5", "8", "10"]);
        assert_eq!(texts("1..3:points=9"), ["1", "2", "3"]);
        assert_eq!(texts("0s..1s:points=4"), ["0s", "333.333333ms", "666.666667ms", "1s"]);
        assert_eq!(texts("0s..1s:points=3"), ["0s", "500ms", "1s"]);
        assert_eq!(texts("7..7:points=3"), ["7"]);
    }

    #[test]
    fn logarithmic_points_are_equal_factors() {
        assert_eq!(texts("1..1000:points=4,log"), ["1", "10", "100", "1000"]);
        assert_eq!(texts("1..1000:points=10,log"), ["1", "2", "5", "10", "22", "46", "100", "215", "464", "1000"]);
        assert_eq!(texts("1..4:points=20,log"), ["1", "2", "3", "4"]);
        assert_eq!(texts("1ms..10s:points=4,log"), ["1ms", "21.5ms", "464ms", "10s"]);
        assert!(read("1..10:points=3,log").expect("a range").log && !read("1..10:points=3").expect("a range").log);
    }

    #[test]
    fn what_is_no_axis_is_refused() {
        for (text, message) in [
            ("", "no values"),
            ("1,,2", "a value is missing"),
            ("1,2,1", "`1` is there twice"),
            ("99999999999999999999", "a number that is too large"),
            ("1..5", "a range that says not which"),
            ("1..5:", "a range that says not which"),
            ("1..5:step=0", "a step of zero"),
            ("1..5:step=-1", "a step that goes the wrong way"),
            ("5..1:step=1", "an empty range"),
            ("5s..1s:points=3", "an empty range"),
            ("0s..5s:step=1", "`1` is no step"),
            ("0..5:step=1s", "`1s` is no step"),
            ("0..5s:step=1s", "ends of different units"),
            ("1/1s..5/1m:step=1", "ends of different units"),
            ("0.5..1.5:step=1", "`0.5` is not the end"),
            ("-1..5:step=1", "`-1` is not the end"),
            ("1..:step=1", "`` is not the end"),
            ("1..5:points=1", "`1` points"),
            ("1..5:points=x", "`x` points"),
            ("1..5:points=3,step=1", "both a step and points"),
            ("1..5:step=1,log", "a step is the same everywhere"),
            ("1..5:log", "`log` without points"),
            ("0..5:points=3,log", "a range by factors that begins with zero"),
            ("1..5:pionts=3", "`pionts=3` says nothing"),
            ("0..1_000_000:step=1", "a range of 1000001 values"),
            ("1,2..4:step=1", "a range within a list"),
        ] {
            let slip = read(text).expect_err(text);
            assert!(slip.message.starts_with(message), "{text}: {slip:?}");
            assert!(slip.span.end <= text.len() && !slip.help.is_empty(), "{text}: {slip:?}");
        }
    }
}
