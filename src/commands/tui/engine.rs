//! Carries out what the view asks for.

use crate::error::Error;
use crate::faces::tui::{Look, Run, Seek, Span};
use crate::limiter::KeyId;
use crate::report::{Detail, KeyCount, Place};
use crate::runner::{self, Closeup, Extras, Outcome, Search};
use crate::scenario::Plan;
use crate::sim::Options;
use crate::time::SimTime;

/// A plan that has run, and can be looked at closely.
#[derive(Debug)]
pub struct Engine {
    plan: Plan,
    outcome: Outcome,
    options: Options,
}

impl Engine {
    /// Runs a plan; `progress` is told how many arrivals have been decided and may end the run.
    ///
    /// # Errors
    /// As [`runner::run`].
    pub fn run(
        plan: Plan,
        options: Options,
        progress: &mut (dyn FnMut(u64) -> bool + Send),
    ) -> Result<(Self, Run), Error> {
        let outcome = runner::run(&plan, options, Extras::default(), progress)?;
        let busiest = outcome.index.busiest.iter();
        let keys = busiest.map(|(key, _, arrivals)| KeyCount { key: key.clone(), arrivals: *arrivals }).collect();
        let run = Run { report: outcome.report.clone(), keys };
        Ok((Self { plan, outcome, options }, run))
    }

    fn key(&self, place: Option<usize>) -> Option<KeyId> {
        self.outcome.index.busiest.get(place?).map(|(_, key, _)| *key)
    }

    /// Looks closely at a span.
    ///
    /// # Errors
    /// As [`runner::detail`].
    pub fn look(&self, look: &Look, go_on: &mut (dyn FnMut() -> bool + Send)) -> Result<Detail, Error> {
        self.detail(look.span, look.columns, look.keep, look.key, go_on)
    }

    /// Searches, and looks at the instant of what is found.
    ///
    /// # Errors
    /// As [`runner::seek`] and [`runner::detail`].
    pub fn seek(
        &self,
        seek: &Seek,
        go_on: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<Option<(Place, Detail)>, Error> {
        let Seek { mark, direction, from, keep, key, .. } = *seek;
        let search = Search { mark, direction, from, key: self.key(key) };
        let Some(place) = runner::seek(&self.plan, search, self.options, go_on)? else { return Ok(None) };
        let at = place.at.nanos();
        let detail = self.detail(Span { from: at, until: at + 1 }, 1, keep, key, go_on)?;
        Ok(Some((place, detail)))
    }

    fn detail(
        &self,
        span: Span,
        columns: usize,
        keep: usize,
        key: Option<usize>,
        go_on: &mut (dyn FnMut() -> bool + Send),
    ) -> Result<Detail, Error> {
        let closeup = Closeup {
            from: SimTime::from_nanos(span.from),
            until: SimTime::from_nanos(span.until),
            columns,
            keep,
            key: self.key(key),
        };
        runner::detail(&self.plan, &self.outcome, closeup, self.options, go_on)
    }
}
