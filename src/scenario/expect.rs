//! What a scenario expects of its lanes.

use super::diagnose::closest;
use super::file::ExpectTable;
use super::source::ScenarioSource;
use crate::error::Error;
use crate::report::Report;
use crate::sim::LanePlan;
use crate::time::SimDuration;
use std::collections::BTreeMap;
use std::fmt;
use std::ops::Range;
use toml::Spanned;

/// One expectation: a figure of a lane and a condition on it.
#[derive(Clone, Debug)]
pub struct Expectation {
    /// The lane.
    pub lane: String,
    /// The figure, as it is written: `peak.bound`.
    pub path: String,
    /// The condition, as it is written.
    pub condition: String,
    /// Where it is written.
    pub span: Range<usize>,
    test: Test,
    operand: Operand,
}

/// An expectation that a run did not meet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unmet {
    /// The lane.
    pub lane: String,
    /// The figure.
    pub path: String,
    /// What was expected.
    pub expected: String,
    /// What was found.
    pub found: String,
}

impl fmt::Display for Unmet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{} is {}, expected {}", self.lane, self.path, self.found, self.expected)
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Test {
    Equal,
    NotEqual,
    Less,
    LessOrEqual,
    Greater,
    GreaterOrEqual,
}

#[derive(Clone, Debug)]
enum Operand {
    Number(f64),
    /// Per cent of the attempts of the lane, or of the class.
    Share(f64),
    Text(String),
    Null,
    /// A figure of another lane.
    Figure {
        lane: String,
        path: String,
    },
}

/// Every figure that may be expected, besides `envelope.SPAN`, `envelope.SPAN.bound` and
/// `classes.CLASS.COUNT`.
pub const FIGURES: &[&str] = &[
    "algorithm",
    "key",
    "requests",
    "attempts",
    "retries",
    "allowed",
    "delayed",
    "denied",
    "unfinished",
    "cost-offered",
    "cost-admitted",
    "peak",
    "peak.units",
    "peak.ratio",
    "peak.bound",
    "peak.from-ns",
    "peak.key",
    "over.keys",
    "over.first-ns",
    "over.peak-key-ns",
    "false-denials",
    "false-admissions",
    "wait-ns.p50",
    "wait-ns.p95",
    "wait-ns.p99",
    "wait-ns.max",
    "state.keys",
    "state.bytes",
    "state.bytes-per-key",
    "keys-denied",
    "same-as",
    "fingerprint",
];

const COUNTS: [&str; 4] = ["attempts", "allowed", "delayed", "denied"];

/// Whether a figure exists in every report.
fn known(path: &str) -> bool {
    if FIGURES.contains(&path) {
        return true;
    }
    if let Some(rest) = path.strip_prefix("envelope.") {
        return rest.strip_suffix(".bound").unwrap_or(rest).parse::<SimDuration>().is_ok();
    }
    path.strip_prefix("classes.")
        .and_then(|rest| rest.rsplit_once('.'))
        .is_some_and(|(class, count)| !class.is_empty() && COUNTS.contains(&count))
}

impl Expectation {
    /// Reads one `[expect.LANE]` table.
    pub(super) fn read(
        source: &ScenarioSource,
        lanes: &[LanePlan],
        lane: &Spanned<String>,
        table: &Spanned<ExpectTable>,
        expectations: &mut Vec<Self>,
    ) -> Result<(), Error> {
        let names = lanes.iter().map(|lane| lane.name.as_str());
        if !names.clone().any(|name| name == lane.get_ref()) {
            let hint = closest(lane.get_ref(), names.clone()).map(|close| format!("did you mean `{close}`? "));
            let help = format!("{}lanes: {}", hint.unwrap_or_default(), names.collect::<Vec<_>>().join(", "));
            return Err(source.error(
                lane.span(),
                format!("no lane is named `{}`", lane.get_ref()),
                "unknown lane",
                Some(help),
            ));
        }
        for (path, value) in table.get_ref() {
            Self::read_value(source, lanes, lane.get_ref(), path.get_ref(), &path.span(), value, expectations)?;
        }
        Ok(())
    }

    fn read_value(
        source: &ScenarioSource,
        lanes: &[LanePlan],
        lane: &str,
        path: &str,
        place: &Range<usize>,
        value: &Spanned<toml::Value>,
        expectations: &mut Vec<Self>,
    ) -> Result<(), Error> {
        if let toml::Value::Table(table) = value.get_ref() {
            // `peak.bound = 200` is a table inside a table.
            for (name, inner) in table {
                let inner = Spanned::new(value.span(), inner.clone());
                Self::read_value(source, lanes, lane, &format!("{path}.{name}"), place, &inner, expectations)?;
            }
            return Ok(());
        }
        if !known(path) {
            let help = match closest(path, FIGURES.iter().copied()) {
                Some(close) => format!("did you mean `{close}`?"),
                None => format!("accepted: {}", FIGURES.join(", ")),
            };
            return Err(source.error(
                place.clone(),
                format!("no figure is named `{path}`"),
                "unknown figure",
                Some(help),
            ));
        }
        let fail = |message: String, help: &str| {
            Err(source.error(value.span(), message, "not a condition", Some(help.to_owned())))
        };
        let (test, operand, condition) = match value.get_ref() {
            toml::Value::Integer(number) => (Test::Equal, Operand::Number(*number as f64), number.to_string()),
            toml::Value::Float(number) => (Test::Equal, Operand::Number(*number), number.to_string()),
            toml::Value::String(text) => match condition(text, lanes) {
                Ok((test, operand)) => (test, operand, text.clone()),
                Err(message) => {
                    return fail(
                        message,
                        "write a number, \">= 90\", \"<= 0.5%\", \"59.4s\" or \"< fixed-window.denied\"",
                    );
                }
            },
            other => {
                let message = format!("a condition is a number or a text, not {}", other.type_str());
                return fail(message, "write a number, \">= 90\", \"<= 0.5%\", \"59.4s\" or \"< fixed-window.denied\"");
            }
        };
        expectations.push(Self {
            lane: lane.to_owned(),
            path: path.to_owned(),
            condition,
            span: place.clone(),
            test,
            operand,
        });
        Ok(())
    }

    /// What a report does not meet.
    #[must_use]
    pub fn unmet(expectations: &[Self], report: &Report) -> Vec<Unmet> {
        let lanes: BTreeMap<&str, serde_json::Value> = report
            .lanes
            .iter()
            .map(|lane| (lane.name.as_str(), serde_json::to_value(lane).expect("a report is plain data")))
            .collect();
        expectations.iter().filter_map(|expectation| expectation.check(&lanes)).collect()
    }

    fn check(&self, lanes: &BTreeMap<&str, serde_json::Value>) -> Option<Unmet> {
        let found = figure(lanes.get(self.lane.as_str())?, &self.path);
        let (met, operand) = match &self.operand {
            Operand::Number(number) => (self.compare(number_of(&found), *number), None),
            Operand::Share(percent) => {
                // Of the class's attempts where the figure is a class's, else of the lane's.
                let class = self.path.strip_prefix("classes.").and_then(|rest| rest.rsplit_once('.'));
                let of = class.map_or("attempts".to_owned(), |(class, _)| format!("classes.{class}.attempts"));
                let attempts = figure(lanes.get(self.lane.as_str())?, &of).as_f64().unwrap_or(0.0);
                (self.compare(number_of(&found), attempts * percent / 100.0), Some(format!("of {attempts} attempts")))
            }
            Operand::Null => ((self.test == Test::Equal) == found.is_null(), None),
            Operand::Text(text) => ((self.test == Test::Equal) == (found.as_str() == Some(text)), None),
            Operand::Figure { lane, path } => {
                let other = lanes.get(lane.as_str()).map_or(serde_json::Value::Null, |other| figure(other, path));
                let met = match (number_of(&found), number_of(&other)) {
                    (Some(_), Some(other)) => self.compare(number_of(&found), other),
                    _ => (self.test == Test::Equal) == (found == other),
                };
                (met, Some(format!("which is {}", shown(&other))))
            }
        };
        if met {
            return None;
        }
        let operand = operand.map_or_else(String::new, |note| format!(" ({note})"));
        Some(Unmet {
            lane: self.lane.clone(),
            path: self.path.clone(),
            expected: format!("{}{operand}", self.condition),
            found: shown(&found),
        })
    }

    fn compare(&self, found: Option<f64>, wanted: f64) -> bool {
        let Some(found) = found else { return self.test == Test::NotEqual };
        match self.test {
            Test::Equal => found == wanted,
            Test::NotEqual => found != wanted,
            Test::Less => found < wanted,
            Test::LessOrEqual => found <= wanted,
            Test::Greater => found > wanted,
            Test::GreaterOrEqual => found >= wanted,
        }
    }
}

fn shown(value: &serde_json::Value) -> String {
    value.as_str().map_or_else(|| value.to_string(), str::to_owned)
}

fn number_of(value: &serde_json::Value) -> Option<f64> {
    value.as_f64()
}

/// A figure of a lane's JSON by its kebab-case path.
fn figure(lane: &serde_json::Value, path: &str) -> serde_json::Value {
    let path = if path == "peak" { "peak.units" } else { path };
    if let Some(rest) = path.strip_prefix("envelope.") {
        let (span, field) = match rest.strip_suffix(".bound") {
            Some(span) => (span, "bound"),
            None => (rest, "units"),
        };
        let span = span.parse::<SimDuration>().map_or(0, SimDuration::short_nanos);
        let points = lane["envelope"].as_array().into_iter().flatten();
        let point = points.into_iter().find(|point| point["span_ns"].as_u64() == Some(span));
        return point.map_or(serde_json::Value::Null, |point| point[field].clone());
    }
    if let Some((class, count)) = path.strip_prefix("classes.").and_then(|rest| rest.rsplit_once('.')) {
        let mut classes = lane["classes"].as_array().into_iter().flatten();
        let found = classes.find(|entry| entry["class"].as_str() == Some(class));
        return found.map_or(serde_json::Value::Null, |entry| entry[count].clone());
    }
    path.split('.').fold(lane.clone(), |value, part| value[part.replace('-', "_")].clone())
}

/// Reads a condition: an optional comparison and what to compare with.
fn condition(text: &str, lanes: &[LanePlan]) -> Result<(Test, Operand), String> {
    const TESTS: [(&str, Test); 7] = [
        (">=", Test::GreaterOrEqual),
        ("<=", Test::LessOrEqual),
        ("!=", Test::NotEqual),
        ("==", Test::Equal),
        (">", Test::Greater),
        ("<", Test::Less),
        ("=", Test::Equal),
    ];
    let text = text.trim();
    let (test, rest) =
        TESTS.iter().find_map(|(sign, test)| Some((*test, text.strip_prefix(sign)?))).unwrap_or((Test::Equal, text));
    let rest = rest.trim();
    if rest.is_empty() {
        return Err(format!("`{text}` compares with nothing"));
    }
    let operand = operand(rest, lanes)?;
    if matches!(operand, Operand::Text(_) | Operand::Null) && !matches!(test, Test::Equal | Test::NotEqual) {
        return Err(format!("`{rest}` is not a number, a duration or a figure, so nothing is above or below it"));
    }
    Ok((test, operand))
}

fn operand(text: &str, lanes: &[LanePlan]) -> Result<Operand, String> {
    let number = |text: &str| text.replace('_', "").parse::<f64>().ok().filter(|number| number.is_finite());
    if let Some(number) = number(text) {
        return Ok(Operand::Number(number));
    }
    if let Some(percent) = text.strip_suffix('%').and_then(|rest| number(rest.trim())) {
        return Ok(Operand::Share(percent));
    }
    if let Ok(span) = text.parse::<SimDuration>() {
        return Ok(Operand::Number(span.nanos() as f64));
    }
    if text == "null" {
        return Ok(Operand::Null);
    }
    let of_lane = lanes.iter().find_map(|lane| Some((lane, text.strip_prefix(lane.name.as_str())?.strip_prefix('.')?)));
    match of_lane {
        Some((lane, path)) if known(path) => Ok(Operand::Figure { lane: lane.name.clone(), path: path.to_owned() }),
        Some((lane, path)) => Err(format!("lane `{}` has no figure `{path}`", lane.name)),
        None => Ok(Operand::Text(text.to_owned())),
    }
}
