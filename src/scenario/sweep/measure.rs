//! What is measured at each point: the figures that can be expected, too.

use super::typed;
use crate::error::Error;
use crate::report::{LaneReport, MeasureUnit, SweepMeasure, SweepValue};
use crate::scenario::expect::{Figure, Found, Kind};
use crate::scenario::plan::Plan;

/// A figure of every lane.
#[derive(Clone, Debug)]
pub struct Measure {
    path: String,
    figure: Figure,
}

impl Measure {
    /// The figure of a path, in the words of `[expect]`.
    ///
    /// # Errors
    /// If there is no such figure in a plan's report.
    pub fn read(path: &str, plan: &Plan) -> Result<Self, Error> {
        let figure = Figure::read(path, plan)
            .map_err(|fault| typed("--measure", path, 0..path.len(), fault.message, fault.label, Some(fault.help)))?;
        Ok(Self { path: path.to_owned(), figure })
    }

    /// What is measured unless stated otherwise: how far over, how many refused, and in a closed loop
    /// what retries cost and what comes of them.
    #[must_use]
    pub fn usual(plan: &Plan, limit: bool, closed: bool) -> Vec<Self> {
        let of_loop: &[&str] = if closed { &["amplification", "goodput-per-s"] } else { &[] };
        let peak: &[&str] = if limit { &["peak"] } else { &[] };
        let paths = peak.iter().chain(&["denied"]).chain(of_loop);
        paths.filter_map(|path| Self::read(path, plan).ok()).collect()
    }

    /// Whether any point has it, where points have a limit or a closed loop.
    ///
    /// # Errors
    /// If none has.
    pub fn check(&self, limit: bool, closed: bool) -> Result<(), Error> {
        let fail = |message: &str, help: &str| {
            let span = 0..self.path.len();
            Err(typed("--measure", &self.path, span, message, "never there", Some(help.to_owned())))
        };
        if self.figure.needs_limit() && !limit {
            return fail("without a limit there is nothing to measure this against", "state one: --limit 100/1m");
        }
        if self.figure.needs_closed_loop() && !closed {
            return fail("this is a figure of a closed loop", "state a `client` or a `backend` in the scenario");
        }
        Ok(())
    }

    /// Its name and unit.
    #[must_use]
    pub fn shown(&self) -> SweepMeasure {
        let unit = match self.figure.kind() {
            Kind::Attempts | Kind::Whole => MeasureUnit::Count,
            Kind::Real => MeasureUnit::Number,
            Kind::Span | Kind::Instant => MeasureUnit::Nanos,
            Kind::Algorithm | Kind::CountedBy | Kind::Lane | Kind::Fingerprint | Kind::Key => MeasureUnit::Word,
        };
        SweepMeasure { name: self.path.clone(), unit }
    }

    /// What a lane's report says. An empty text says nothing.
    #[must_use]
    pub fn of(&self, lane: &LaneReport) -> Option<SweepValue> {
        match self.figure.of(lane) {
            Found::Whole(number) => Some(SweepValue::Whole(number)),
            Found::Real(number) => Some(number).filter(|number| number.is_finite()).map(SweepValue::Real),
            Found::Text(text) => Some(text).filter(|text| !text.is_empty()).map(SweepValue::Text),
            Found::Absent => None,
        }
    }
}
