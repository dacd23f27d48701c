//! All points of a grid of scenarios: looked at before anything runs, then run side by side.

use super::replicate::{each, lanes};
use crate::error::Error;
use crate::report::{LaneReport, SweepRow};
use crate::scenario::{Grid, Measure, Plan};
use crate::sim::Options;
use std::sync::atomic::{AtomicU64, Ordering};

/// What is known of a grid's plans before they are run.
#[derive(Clone, Debug, Default)]
pub struct Prospect {
    /// Names of the lanes, in the order in which they are first met.
    pub lanes: Vec<String>,
    /// Names of each point's lanes, as numbers of [`lanes`](Self::lanes).
    pub lanes_at: Vec<Vec<usize>>,
    /// Whether some point states a limit.
    pub limit: bool,
    /// Whether some point is a closed loop.
    pub closed: bool,
    /// For each point, a number that stands for all that its plan says.
    pub stamps: Vec<u64>,
}

/// Sees a plan, and may change what its traces are read from.
pub type Look<'a> = dyn Fn(&mut Plan) -> Result<(), Error> + Sync + 'a;

/// Is told of a point that is through.
pub type Done<'a> = dyn Fn(usize, &[SweepRow]) -> Result<(), Error> + Sync + 'a;

/// Reads and validates the scenario at every point. `look` sees each plan.
///
/// # Errors
/// The first point's of those that are not valid, or that `look` fails on.
pub fn prospect(grid: &Grid, threads: usize, look: &Look<'_>) -> Result<Prospect, Error> {
    struct Seen {
        lanes: Vec<String>,
        limit: bool,
        closed: bool,
        stamp: u64,
    }
    let one = |point: usize| {
        let mut plan = grid.plan(point)?;
        let stamp = Grid::stamp(&plan);
        look(&mut plan)?;
        Ok(Seen {
            lanes: plan.lanes.iter().map(|lane| lane.name.clone()).collect(),
            limit: plan.limit.is_some(),
            closed: plan.is_closed_loop(),
            stamp,
        })
    };
    let mut found = Prospect::default();
    for seen in each(grid.points(), threads, one)? {
        let mut number = |name: String| match found.lanes.iter().position(|known| *known == name) {
            Some(index) => index,
            None => {
                found.lanes.push(name);
                found.lanes.len() - 1
            }
        };
        let numbers = seen.lanes.into_iter().map(&mut number).collect();
        found.lanes_at.push(numbers);
        found.limit |= seen.limit;
        found.closed |= seen.closed;
        found.stamps.push(seen.stamp);
    }
    Ok(found)
}

/// Runs some points of a grid, each on one thread. The number of threads changes no result.
///
/// `prepare` sees each plan before it is run; `done` is told of each point as soon as it is through,
/// on any thread; `progress` is told how many are, and may end them by answering `false`.
///
/// # Errors
/// As [`run`](super::run), and what `prepare` and `done` fail with; of several, the first point's.
pub fn sweep(
    grid: &Grid,
    points: &[usize],
    measures: &[Measure],
    options: Options,
    prepare: &Look<'_>,
    done: &Done<'_>,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<Vec<Vec<SweepRow>>, Error> {
    let through = AtomicU64::new(0);
    let go_on = || progress(through.load(Ordering::Relaxed));
    let one = |index: usize| {
        let point = points[index];
        if !go_on() {
            return Err(Error::Interrupted);
        }
        let mut plan = grid.plan(point)?;
        prepare(&mut plan)?;
        let (lanes, _) = lanes(&plan, options, &go_on).map_err(|error| match error {
            Error::Range { message } => Error::Range { message: format!("at {}: {message}", grid.spell(point)) },
            error => error,
        })?;
        let row = |lane: &LaneReport| SweepRow {
            lane: lane.name.clone(),
            partial: lane.closed.as_ref().is_some_and(|closed| closed.partial),
            values: measures.iter().map(|measure| measure.of(lane)).collect(),
        };
        let rows: Vec<SweepRow> = lanes.iter().map(row).collect();
        done(point, &rows)?;
        progress(through.fetch_add(1, Ordering::Relaxed) + 1);
        Ok(rows)
    };
    each(points.len(), options.threads, one)
}
