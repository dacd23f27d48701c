//! Conditions on a figure: a comparison and what to compare with.

use super::figure::{Figure, Found, Kind};
use crate::limiter::LimiterSpec;
use crate::report::LaneReport;
use crate::scenario::diagnose::closest;
use crate::scenario::plan::Plan;
use crate::time::SimDuration;
use std::cmp::Ordering;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

/// As they are written; the longer ones first.
const TESTS: [(&str, Test); 7] = [
    (">=", Test::GreaterOrEqual),
    ("<=", Test::LessOrEqual),
    ("!=", Test::NotEqual),
    ("==", Test::Equal),
    (">", Test::Greater),
    ("<", Test::Less),
    ("=", Test::Equal),
];

impl Test {
    fn met(self, order: Ordering) -> bool {
        match self {
            Self::Equal => order.is_eq(),
            Self::NotEqual => order.is_ne(),
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Greater => order.is_gt(),
            Self::GreaterOrEqual => order.is_ge(),
        }
    }

    /// Whether it asks for more than a difference.
    const fn orders(self) -> bool {
        !matches!(self, Self::Equal | Self::NotEqual)
    }
}

/// A decimal number, exactly: `digits` over ten to the power of `scale`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Decimal {
    digits: i128,
    scale: u32,
}

impl Decimal {
    /// Reads a number of at most 30 digits, 12 of them after the point.
    fn read(text: &str) -> Option<Self> {
        let (negative, text) = match text.strip_prefix('-') {
            Some(text) => (true, text),
            None => (false, text.strip_prefix('+').unwrap_or(text)),
        };
        let text = text.replace('_', "");
        let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
        let fraction = fraction.trim_end_matches('0');
        let digits = format!("{whole}{fraction}");
        let plain = !whole.is_empty() && digits.len() <= 30 && fraction.len() <= 12;
        if !plain || !digits.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        let digits: i128 = digits.parse().ok()?;
        Some(Self { digits: if negative { -digits } else { digits }, scale: fraction.len() as u32 })
    }

    const fn power(self) -> i128 {
        10_i128.pow(self.scale)
    }

    /// How a whole number lies to it.
    fn beside(self, whole: i128) -> Ordering {
        whole.saturating_mul(self.power()).cmp(&self.digits)
    }

    fn approximate(self) -> f64 {
        self.digits as f64 / self.power() as f64
    }
}

#[derive(Clone, Debug)]
pub enum Operand {
    Number(Decimal),
    /// Per cent of the attempts of the lane, or of the class.
    Share(Decimal),
    Text(String),
    /// That there is no such figure.
    Null,
    /// A lane, by its number.
    Lane(usize),
    /// Another figure, with its lane's number.
    Figure(usize, Figure),
}

/// A condition as it may stand in a scenario.
#[derive(Clone, Debug)]
pub struct Condition {
    pub test: Test,
    pub operand: Operand,
}

/// Why a text is no condition, and what would be.
pub type Fault = (String, String);

impl Condition {
    /// Reads a condition on a figure of lane number `lane`.
    pub fn read(text: &str, figure: &Figure, lane: usize, plan: &Plan) -> Result<Self, Fault> {
        let kind = figure.kind();
        let text = text.trim();
        let found = TESTS.iter().find_map(|(sign, test)| Some((*test, text.strip_prefix(sign)?)));
        let (test, rest) = found.unwrap_or((Test::Equal, text));
        let rest = rest.trim();
        if rest.is_empty() {
            return Err((format!("`{text}` compares with nothing"), accepted(figure)));
        }
        if !kind.is_word() && rest.starts_with(['<', '>', '=', '!', '~', '≤', '≥', '≠']) {
            let signs = TESTS.map(|(sign, _)| sign).join(" ");
            return Err((format!("`{text}` begins with no known comparison"), format!("accepted: {signs}")));
        }
        if rest == "null" {
            return Self::null(test, figure);
        }
        if kind.is_word() && test.orders() {
            let help = "compare texts by = or !=".to_owned();
            return Err((format!("`{rest}` is a text, so nothing is above or below it"), help));
        }
        if figure.needs_limit() && plan.limit.is_none() {
            return Err((
                "without a limit there is no such figure".to_owned(),
                "write `limit = \"100/1m\"` at the top of the scenario".to_owned(),
            ));
        }
        if figure.needs_closed_loop() && !plan.is_closed_loop() {
            return Err((
                "in an open loop nobody comes back, so there is no such figure".to_owned(),
                "state a `client` or a `backend` for the lane; see `rlsim explain client`".to_owned(),
            ));
        }
        if figure.needs_deployment() && !plan.is_deployed() {
            return Err((
                "where every lane is one process there is no such figure".to_owned(),
                "state a `deployment` for a lane; see `rlsim explain deployment`".to_owned(),
            ));
        }
        let operand = match other_lane(rest, lane, figure, plan)? {
            Some(operand) => operand,
            None if kind.is_word() => word(rest, figure, lane, plan)?,
            None => number(rest, figure, test, plan)?,
        };
        Ok(Self { test, operand })
    }

    fn null(test: Test, figure: &Figure) -> Result<Self, Fault> {
        if test.orders() {
            return Err(("nothing is above or below null".to_owned(), "write \"null\" or \"!= null\"".to_owned()));
        }
        if !figure.may_be_absent() {
            return Err(("this figure is never null".to_owned(), accepted(figure)));
        }
        Ok(Self { test, operand: Operand::Null })
    }

    /// Whether a figure of a lane meets it, and what the operand came to. What is absent meets
    /// nothing but `null`.
    pub fn met(&self, figure: &Figure, lane: &LaneReport, lanes: &[&LaneReport]) -> (bool, Option<String>) {
        let found = figure.of(lane);
        match &self.operand {
            Operand::Null => (self.test.met((found != Found::Absent).cmp(&false)), None),
            Operand::Number(number) => {
                let order = match found {
                    Found::Whole(whole) => Some(number.beside(whole)),
                    Found::Real(real) => real.partial_cmp(&number.approximate()),
                    Found::Text(_) | Found::Absent => None,
                };
                (order.is_some_and(|order| self.test.met(order)), None)
            }
            Operand::Share(percent) => {
                let attempts = figure.attempts(lane);
                let order = match found {
                    Found::Whole(whole) => {
                        let share = i128::from(attempts).saturating_mul(percent.digits);
                        Some(whole.saturating_mul(100).saturating_mul(percent.power()).cmp(&share))
                    }
                    _ => None,
                };
                (order.is_some_and(|order| self.test.met(order)), Some(format!("of {attempts} attempts")))
            }
            Operand::Text(text) => {
                let order = match &found {
                    Found::Text(found) => Some(found.cmp(text)),
                    _ => None,
                };
                (order.is_some_and(|order| self.test.met(order)), None)
            }
            // Lanes that decide alike all name the first of them.
            Operand::Lane(other) => {
                let first = |lane: &LaneReport| lane.same_as.clone().unwrap_or_else(|| lane.name.clone());
                let order = lanes.get(*other).map(|other| first(lane).cmp(&first(other)));
                (order.is_some_and(|order| self.test.met(order)), None)
            }
            Operand::Figure(other, figure) => {
                let other = lanes.get(*other).map_or(Found::Absent, |other| figure.of(other));
                let order = order(&found, &other);
                (order.is_some_and(|order| self.test.met(order)), Some(format!("which is {other}")))
            }
        }
    }
}

/// How two figures lie to each other, if both are there.
fn order(a: &Found, b: &Found) -> Option<Ordering> {
    match (a, b) {
        (Found::Whole(a), Found::Whole(b)) => Some(a.cmp(b)),
        (Found::Real(a), Found::Real(b)) => a.partial_cmp(b),
        (Found::Whole(a), Found::Real(b)) => (*a as f64).partial_cmp(b),
        (Found::Real(a), Found::Whole(b)) => a.partial_cmp(&(*b as f64)),
        (Found::Text(a), Found::Text(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

impl Kind {
    /// Whether it is a text.
    pub const fn is_word(self) -> bool {
        matches!(self, Self::Algorithm | Self::CountedBy | Self::Lane | Self::Fingerprint | Self::Key)
    }

    const fn is_time(self) -> bool {
        matches!(self, Self::Span | Self::Instant)
    }

    /// Whether figures of these kinds can be compared.
    fn goes_with(self, other: Self) -> bool {
        match self.is_word() || other.is_word() {
            true => self == other,
            false => self.is_time() == other.is_time(),
        }
    }
}

/// What can be written for a figure.
pub fn accepted(figure: &Figure) -> String {
    let values = match figure.kind() {
        Kind::Attempts => {
            "write a number, \">= 90\", \"<= 0.5%\" of the attempts, or another lane's figure: \"< fixed-window.denied\""
        }
        Kind::Whole | Kind::Real => "write a number, \">= 90\", or another lane's figure: \"< fixed-window.peak\"",
        Kind::Span | Kind::Instant => {
            "write a duration, \"<= 59.4s\", a number of nanoseconds, or another lane's figure: \"< gcra.wait-ns.max\""
        }
        Kind::Algorithm => "write the name of an algorithm, as in \"token-bucket\" or \"!= gcra\"",
        Kind::CountedBy => "write what a lane counts by, as in \"key\" or \"!= ip\"",
        Kind::Lane => "write the name of another lane, as in \"token-bucket\" or \"!= gcra\"",
        Kind::Fingerprint => "write 16 hexadecimal digits, or another lane's figure: \"== gcra.fingerprint\"",
        Kind::Key => "write a key as a text, as in \"client-7\"",
    };
    let null = if figure.may_be_absent() { "; \"null\" where there is none" } else { "" };
    format!("{values}{null}")
}

/// `LANE.FIGURE`, if the text begins with the name of a lane and a dot.
fn other_lane(text: &str, own: usize, figure: &Figure, plan: &Plan) -> Result<Option<Operand>, Fault> {
    let kind = figure.kind();
    let Some((name, path)) = text.split_once('.') else { return Ok(None) };
    let Some(index) = plan.lanes.iter().position(|lane| lane.name == name) else { return Ok(None) };
    let other = match Figure::read(path, plan) {
        Ok(other) => other,
        Err(_) if kind == Kind::Key => return Ok(None),
        Err(fault) => return Err((fault.message, fault.help)),
    };
    if index == own && figure.is(&other) {
        return Err((format!("`{text}` is this very figure"), "name another lane or another figure".to_owned()));
    }
    if !kind.goes_with(other.kind()) {
        return Err((format!("`{path}` is another kind of figure"), accepted(figure)));
    }
    Ok(Some(Operand::Figure(index, other)))
}

fn word(text: &str, figure: &Figure, own: usize, plan: &Plan) -> Result<Operand, Fault> {
    let one_of = |names: &[&str], what: &str| {
        if names.contains(&text) {
            return Ok(Operand::Text(text.to_owned()));
        }
        let hint = closest(text, names.iter().copied()).map(|close| format!("did you mean `{close}`? "));
        Err((
            format!("no {what} is named `{text}`"),
            format!("{}{what}s: {}", hint.unwrap_or_default(), names.join(", ")),
        ))
    };
    match figure.kind() {
        Kind::Algorithm => one_of(&LimiterSpec::NAMES, "algorithm"),
        Kind::CountedBy => {
            let names: Vec<&str> = plan.column_names.iter().map(String::as_str).collect();
            one_of(&names, "key column")
        }
        Kind::Lane => {
            let names: Vec<&str> = plan.lanes.iter().map(|lane| lane.name.as_str()).collect();
            one_of(&names, "lane")?;
            match names.iter().position(|name| *name == text) {
                Some(index) if index != own => Ok(Operand::Lane(index)),
                _ => Err(("every lane is the same as itself".to_owned(), accepted(figure))),
            }
        }
        Kind::Fingerprint if text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => {
            Ok(Operand::Text(text.to_ascii_lowercase()))
        }
        Kind::Fingerprint => Err((format!("`{text}` is not a fingerprint"), accepted(figure))),
        _ => Ok(Operand::Text(text.to_owned())),
    }
}

fn number(text: &str, figure: &Figure, test: Test, plan: &Plan) -> Result<Operand, Fault> {
    let kind = figure.kind();
    let whole = |digits| Operand::Number(Decimal { digits, scale: 0 });
    if let Some(number) = Decimal::read(text) {
        return in_range(number, figure, test).map(Operand::Number);
    }
    if let Some(percent) = text.strip_suffix('%').and_then(|rest| Decimal::read(rest.trim())) {
        if kind != Kind::Attempts {
            let message = "a percentage is of the attempts, and this figure counts none of them".to_owned();
            return Err((message, accepted(figure)));
        }
        if percent.digits < 0 || percent.digits > 100 * percent.power() {
            return Err((format!("`{text}` of the attempts"), "0% to 100%".to_owned()));
        }
        return Ok(Operand::Share(percent));
    }
    if let Ok(span) = text.parse::<SimDuration>() {
        return match (kind.is_time(), i128::try_from(span.nanos())) {
            (true, Ok(nanos)) => Ok(whole(nanos)),
            _ => Err((format!("`{text}` is a duration, and this figure is not"), accepted(figure))),
        };
    }
    // A lane misspelt, if it was one.
    if let Some((name, path)) = text.split_once('.')
        && Figure::read(path, plan).is_ok()
    {
        let names: Vec<&str> = plan.lanes.iter().map(|lane| lane.name.as_str()).collect();
        let hint = closest(name, names.iter().copied()).map(|close| format!("did you mean `{close}`? "));
        let help = format!("{}lanes: {}", hint.unwrap_or_default(), names.join(", "));
        return Err((format!("no lane is named `{name}`"), help));
    }
    let what = match kind {
        Kind::Attempts => "a number, a percentage",
        Kind::Span | Kind::Instant => "a duration, a number",
        _ => "a number",
    };
    Err((format!("`{text}` is not {what} or a figure of another lane"), accepted(figure)))
}

/// A number that a figure can have; a condition on any other is met by everything or by nothing.
fn in_range(number: Decimal, figure: &Figure, test: Test) -> Result<Decimal, Fault> {
    let kind = figure.kind();
    if number.digits < 0 && kind != Kind::Instant {
        return Err(("this figure is never negative".to_owned(), accepted(figure)));
    }
    if number.scale > 0 && kind != Kind::Real && !test.orders() {
        return Err(("this figure is a whole number".to_owned(), accepted(figure)));
    }
    Ok(number)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact() {
        let read = |text: &str| Decimal::read(text);
        for (text, digits, scale) in
            [("90", 90, 0), ("1_000", 1000, 0), ("0.5", 5, 1), ("200.0", 200, 0), ("-3.25", -325, 2), ("+1", 1, 0)]
        {
            assert_eq!(read(text), Some(Decimal { digits, scale }), "{text}");
        }
        for text in ["", "-", ".5", "1e3", "5O", "nan", "inf", "1 0", "0x10", &"9".repeat(31)] {
            assert_eq!(read(text), None, "{text}");
        }
        let third = read("33.3").expect("a number");
        assert_eq!([33, 34].map(|whole| third.beside(whole)), [Ordering::Less, Ordering::Greater]);
        let large = read("9007199254740993").expect("a number");
        assert_eq!(large.beside(9_007_199_254_740_992), Ordering::Less, "beyond what a float tells apart");
    }
}
