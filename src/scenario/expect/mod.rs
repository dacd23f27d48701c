//! What a scenario expects of its lanes.

mod condition;
mod figure;

pub use figure::names as figure_names;
pub(super) use figure::{Figure, Found, Kind};

use super::diagnose::closest;
use super::file::{ExpectTable, ExpectValue};
use super::plan::Plan;
use super::source::ScenarioSource;
use crate::error::Error;
use crate::report::{LaneReport, Report};
use condition::{Condition, accepted};
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
    figure: Figure,
    test: Condition,
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

/// Reads the expectations of a scenario.
pub(super) struct Reader<'a> {
    pub source: &'a ScenarioSource,
    pub plan: &'a Plan,
}

impl Reader<'_> {
    /// All expectations, in the order in which they are written.
    pub fn read(&self, lanes: &Spanned<super::file::ExpectTables>) -> Result<Vec<Expectation>, Error> {
        self.states_something(lanes.get_ref().is_empty(), lanes.span(), "[expect.token-bucket]` with `denied = 0")?;
        let mut expectations = Vec::new();
        for (lane, table) in lanes.get_ref() {
            self.lane(lane, table, &mut expectations)?;
        }
        expectations.sort_by_key(|expectation| expectation.span.start);
        Ok(expectations)
    }

    /// An empty table would be met by everything.
    fn states_something(&self, empty: bool, span: Range<usize>, example: &str) -> Result<(), Error> {
        match empty {
            false => Ok(()),
            true => {
                let help = format!("write `{example}`, or leave the table out");
                Err(self.source.error(span, "an expectation that states nothing", "empty", Some(help)))
            }
        }
    }

    fn lane(
        &self,
        name: &Spanned<String>,
        table: &Spanned<ExpectTable>,
        expectations: &mut Vec<Expectation>,
    ) -> Result<(), Error> {
        let names = self.plan.lanes.iter().map(|lane| lane.name.as_str());
        let Some(lane) = names.clone().position(|known| known == name.get_ref()) else {
            let hint = closest(name.get_ref(), names.clone()).map(|close| format!("did you mean `{close}`? "));
            let help = format!("{}lanes: {}", hint.unwrap_or_default(), names.collect::<Vec<_>>().join(", "));
            let message = format!("no lane is named `{}`", name.get_ref());
            return Err(self.source.error(name.span(), message, "unknown lane", Some(help)));
        };
        self.states_something(table.get_ref().is_empty(), name.span(), "denied = 0")?;
        for (path, value) in table.get_ref() {
            self.value(lane, path.get_ref(), &path.span(), value, expectations)?;
        }
        Ok(())
    }

    fn value(
        &self,
        lane: usize,
        path: &str,
        place: &Range<usize>,
        value: &Spanned<ExpectValue>,
        expectations: &mut Vec<Expectation>,
    ) -> Result<(), Error> {
        if let ExpectValue::Table(table) = value.get_ref() {
            // `peak.bound = 200` is a table inside a table.
            self.states_something(table.is_empty(), place.clone(), "denied = 0")?;
            for (name, inner) in table {
                self.value(lane, &format!("{path}.{}", name.get_ref()), &name.span(), inner, expectations)?;
            }
            return Ok(());
        }
        let figure = Figure::read(path, self.plan)
            .map_err(|fault| self.source.error(place.clone(), fault.message, fault.label, Some(fault.help)))?;
        let fail = |message: String, help: String| {
            Err(self.source.error(value.span(), message, "not a condition", Some(help)))
        };
        let (text, is_text) = match value.get_ref() {
            ExpectValue::Integer(number) => (number.to_string(), false),
            ExpectValue::Float(number) => (number.to_string(), false),
            ExpectValue::Text(text) => (text.clone(), true),
            ExpectValue::Table(_) => unreachable!("tables were read above"),
            ExpectValue::Other(what) => {
                let message = format!("a condition is a number or a text, not {what}");
                return fail(message, accepted(&figure));
            }
        };
        if figure.kind().is_word() && !is_text {
            return fail(format!("this figure is a text, {text} is a number"), accepted(&figure));
        }
        match Condition::read(&text, &figure, lane, self.plan) {
            Ok(test) => expectations.push(Expectation {
                lane: self.plan.lanes[lane].name.clone(),
                path: path.to_owned(),
                condition: text,
                span: place.clone(),
                figure,
                test,
            }),
            Err((message, help)) => return fail(message, help),
        }
        Ok(())
    }
}

impl Expectation {
    /// What a report does not meet.
    #[must_use]
    pub fn unmet(expectations: &[Self], report: &Report) -> Vec<Unmet> {
        let lanes: Vec<&LaneReport> = report.lanes.iter().collect();
        expectations.iter().filter_map(|expectation| expectation.check(&lanes)).collect()
    }

    fn check(&self, lanes: &[&LaneReport]) -> Option<Unmet> {
        let lane = lanes.iter().find(|lane| lane.name == self.lane)?;
        let (met, operand) = self.test.met(&self.figure, lane, lanes);
        if met {
            return None;
        }
        let operand = operand.map_or_else(String::new, |note| format!(" ({note})"));
        Some(Unmet {
            lane: self.lane.clone(),
            path: self.path.clone(),
            expected: format!("{}{operand}", self.condition),
            found: self.figure.of(lane).to_string(),
        })
    }
}
