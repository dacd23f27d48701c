//! A grid of scenarios: one text, and values put at one or more of its paths.

mod measure;
mod values;

pub use measure::Measure;

use super::diagnose::closest;
use super::overrides::{Override, with_values};
use super::paths::{Split, split};
use super::plan::Plan;
use super::source::ScenarioSource;
use crate::error::{Diagnostic, Error, shortened};
use crate::report::{AxisUnit, SweepAxis};
use crate::rng::{HASH_OF_NOTHING, hash};
use std::ops::Range;
use values::{Slip, Unit, Values};

/// Points that a grid may have.
pub const MOST_POINTS: usize = 100_000;

/// What is varied: a path, and the values put there.
#[derive(Clone, Debug)]
pub struct Axis {
    /// `--vary`'s argument as it was typed.
    argument: String,
    split: Split,
    values: Values,
}

impl Axis {
    /// Reads `PATH=VALUES`.
    ///
    /// # Errors
    /// If there is no path or there are no values: with the place, and what is accepted.
    pub fn parse(argument: &str) -> Result<Self, Error> {
        let (split, from) = split(argument).map_err(|(message, span)| {
            let help = "write PATH=VALUES, as in --vary token-bucket.burst=1,2,4,8".to_owned();
            typed("--vary", argument, span, message, "here", Some(help))
        })?;
        let values = values::read(&argument[from..]).map_err(|slip: Slip| {
            let span = from + slip.span.start..from + slip.span.end;
            typed("--vary", argument, span, slip.message, slip.label, Some(slip.help))
        })?;
        Ok(Self { argument: argument.to_owned(), split, values })
    }

    /// The path, dots between its parts.
    fn path(&self) -> String {
        self.split.parts.join(".")
    }

    /// An error at a part of the path.
    fn fault(&self, part: usize, message: String) -> Error {
        let place = self.split.places.get(part).or(self.split.places.last()).cloned().unwrap_or(0..0);
        let help = "a path is what `--set PATH=VALUE` takes: LANE.KNOB, TRAFFIC.KIND.KNOB, a top-level key, or *.PATH for every lane";
        typed("--vary", &self.argument, place, message, "leads nowhere", Some(help.to_owned()))
    }
}

/// An error at a place of an argument.
fn typed(
    option: &str,
    argument: &str,
    span: Range<usize>,
    message: impl Into<String>,
    label: &str,
    help: Option<String>,
) -> Error {
    Error::Scenario(Box::new(Diagnostic {
        name: option.to_owned(),
        text: argument.to_owned(),
        span,
        message: shortened(&message.into()),
        label: label.to_owned(),
        help,
    }))
}

/// All combinations of the axes' values, the last axis going round fastest.
#[derive(Clone, Debug)]
pub struct Grid {
    source: ScenarioSource,
    axes: Vec<Axis>,
    /// Lanes that are run; none: all.
    lanes: Vec<String>,
}

impl Grid {
    /// The grid of a scenario, changed as stated before anything is varied; and the plan of that.
    ///
    /// # Errors
    /// If the scenario is not valid, an axis is there twice, there are too many points, or a lane
    /// does not exist.
    pub fn new(
        source: &ScenarioSource,
        overrides: &[Override],
        axes: Vec<Axis>,
        lanes: Vec<String>,
    ) -> Result<(Self, Plan), Error> {
        for (i, axis) in axes.iter().enumerate() {
            if axes[..i].iter().any(|other| other.split.parts == axis.split.parts) {
                let (path, end) = (axis.path(), axis.split.places.last().map_or(0, |place| place.end));
                let help = Some("give all its values to one --vary".to_owned());
                let message = format!("`{path}` is varied twice");
                return Err(typed("--vary", &axis.argument, 0..end, message, "the second time", help));
            }
        }
        let points = axes.iter().map(|axis| axis.values.texts.len()).fold(1_usize, usize::saturating_mul);
        if points > MOST_POINTS {
            let each: Vec<String> = axes.iter().map(|axis| axis.values.texts.len().to_string()).collect();
            return Err(Error::usage(format!(
                "--vary: a grid of {} = {points} points is more than {MOST_POINTS}; vary fewer values",
                each.join(" x ")
            )));
        }
        let plan = Plan::new(source, overrides)?;
        let source = if overrides.is_empty() { source.clone() } else { Override::apply(overrides, source)? };
        let grid = Self { source, axes, lanes };
        Ok((grid, plan))
    }

    /// How many points it has.
    #[must_use]
    pub fn points(&self) -> usize {
        self.axes.iter().map(|axis| axis.values.texts.len()).product()
    }

    /// The values at a point, one an axis.
    fn at(&self, mut point: usize) -> Vec<&str> {
        let mut values = Vec::new();
        for axis in self.axes.iter().rev() {
            let texts = &axis.values.texts;
            values.push(texts[point % texts.len()].as_str());
            point /= texts.len();
        }
        values.reverse();
        values
    }

    /// A point in words: `token-bucket.burst=4, limit=5/1s`.
    #[must_use]
    pub fn spell(&self, point: usize) -> String {
        let values = self.axes.iter().zip(self.at(point));
        values.map(|(axis, value)| format!("{}={value}", axis.path())).collect::<Vec<_>>().join(", ")
    }

    /// The plan at a point, with the lanes that are run.
    ///
    /// # Errors
    /// If a path leads nowhere, the scenario is not valid there, or has none of the lanes.
    pub fn plan(&self, point: usize) -> Result<Plan, Error> {
        let values = self.axes.iter().map(|axis| axis.split.parts.as_slice()).zip(self.at(point));
        let name = format!("{} (at {})", self.source.name, self.spell(point));
        let changed = with_values(&self.source, values, name)
            .map_err(|(axis, fault)| self.axes[axis].fault(fault.part, fault.message))?;
        let mut plan = Plan::new(&changed, &[])?;
        self.keep_lanes(&mut plan)?;
        Ok(plan)
    }

    fn keep_lanes(&self, plan: &mut Plan) -> Result<(), Error> {
        if self.lanes.is_empty() {
            return Ok(());
        }
        let names: Vec<String> = plan.lanes.iter().map(|lane| lane.name.clone()).collect();
        if let Some(unknown) = self.lanes.iter().find(|lane| !names.contains(lane)) {
            let hint = closest(unknown, names.iter().map(String::as_str));
            let hint = hint.map_or_else(String::new, |close| format!("did you mean `{close}`? "));
            let help = Some(format!("{hint}lanes: {}", names.join(", ")));
            return Err(typed("--lane", unknown, 0..unknown.len(), "no lane has this name", "unknown lane", help));
        }
        plan.lanes.retain(|lane| self.lanes.contains(&lane.name));
        Ok(())
    }

    /// The axes as reports have them.
    #[must_use]
    pub fn axes(&self) -> Vec<SweepAxis> {
        let one = |axis: &Axis| SweepAxis {
            path: axis.path(),
            name: self.short_name(axis),
            unit: match axis.values.numbers.as_ref().map(|numbers| &numbers.unit) {
                None => AxisUnit::Word,
                Some(Unit::Number) => AxisUnit::Number,
                Some(Unit::Nanos) => AxisUnit::Nanos,
                Some(Unit::Per(_)) => AxisUnit::Rate,
            },
            log: axis.values.log,
            values: axis.values.texts.clone(),
            numbers: axis.values.numbers.as_ref().map(|numbers| numbers.values.clone()),
        };
        self.axes.iter().map(one).collect()
    }

    /// The last parts of an axis's path, as many as tell it from the others.
    fn short_name(&self, axis: &Axis) -> String {
        let parts = &axis.split.parts;
        let others = || self.axes.iter().filter(|other| other.split.parts != *parts);
        let tails = (0..parts.len()).rev().map(|from| &parts[from..]);
        let tail = tails.clone().find(|tail| others().all(|other| !other.split.parts.ends_with(tail)));
        tail.unwrap_or(parts).join(".")
    }

    /// A number that stands for all that a plan says, the same on every machine.
    #[must_use]
    pub fn stamp(plan: &Plan) -> u64 {
        let text = serde_json::to_string(&plan.resolved()).expect("a scenario is plain data");
        hash(HASH_OF_NOTHING, text.as_bytes())
    }
}
