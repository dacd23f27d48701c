//! Papers about the time between two rounds: a scenario at each, with many seeds, and what its lanes
//! admit.

use super::published::{Mark, Paper};
use super::rebuild::{Ask, reported, seconds, set};
use crate::error::Error;
use crate::report::{LaneReport, PaperLevel, PaperPanel, PaperReport, PaperRow, PaperSeries, Report};
use crate::rng::later_seed;
use crate::runner::{self, Extras};
use crate::scenario::{Override, Plan, ScenarioSource};
use crate::sim::Options;

/// A figure of a lane.
#[derive(Clone, Copy)]
pub struct Figure {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Digits after its point.
    pub decimals: usize,
    /// Where it is found.
    pub of: fn(&LaneReport, &Run<'_>) -> Option<f64>,
}

/// A run that a figure is of.
pub struct Run<'a> {
    report: &'a Report,
    seconds: f64,
}

/// A second-hand figure.
pub struct Cited {
    /// The time between two rounds.
    pub at: &'static str,
    /// The lane.
    pub lane: &'static str,
    /// Which figure.
    pub figure: Figure,
    /// Its value.
    pub value: f64,
    /// How far ours may be off, if they are compared: not where the original's traffic decides.
    pub band: Option<f64>,
}

/// One panel: a figure over the time between two rounds.
pub struct Drawn {
    /// What it shows.
    pub title: &'static str,
    /// What stands upright, with its unit.
    pub y: &'static str,
    /// Which figure.
    pub figure: Figure,
    /// A level line.
    pub level: Option<(f64, &'static str)>,
}

/// What is swept, cited and drawn.
pub struct Sweep {
    /// Lanes, and where in each the time between two rounds stands, if it has one.
    pub lanes: &'static [(&'static str, Option<&'static str>)],
    /// What was published.
    pub cited: &'static [Cited],
    /// The picture.
    pub drawn: &'static [Drawn],
}

/// Units admitted beyond the limit in the long run, in per cent of it.
pub const OVERSHOOT: Figure = Figure {
    name: "over the limit",
    unit: "%",
    decimals: 1,
    of: |lane, run| {
        let limit = run.report.limit.as_ref()?;
        let allowed = limit.units as f64 / (limit.window_ns as f64 / 1e9) * run.seconds;
        Some((lane.cost_admitted as f64 / allowed - 1.0) * 100.0)
    },
};

/// The most that was released within the limit's window, in limits.
pub const PEAK: Figure = Figure { name: "peak", unit: "limits", decimals: 2, of: |lane, _| lane.peak.as_ref()?.ratio };

/// Jain's index over equal shares of demand: one where each gets the same part of what it asks for.
pub const FAIRNESS: Figure = Figure {
    name: "Jain's index",
    unit: "",
    decimals: 3,
    of: |lane, _| {
        let (mut admitted, mut asked, mut squares) = (0.0, 0.0, 0.0);
        for replica in &lane.fleet.as_ref()?.replicas {
            let (got, all) = (replica.admitted as f64, (replica.admitted + replica.denied) as f64);
            admitted += got;
            asked += all;
            squares += if all > 0.0 { got * got / all } else { 0.0 };
        }
        (squares > 0.0).then(|| admitted * admitted / (asked * squares))
    },
};

/// What the first replica admits of all, in per cent.
pub const FIRST_PART: Figure = Figure {
    name: "admitted by the first",
    unit: "%",
    decimals: 1,
    of: |lane, _| {
        let replicas = &lane.fleet.as_ref()?.replicas;
        let all: u64 = replicas.iter().map(|replica| replica.admitted).sum();
        (all > 0).then(|| replicas.first().map_or(0.0, |first| first.admitted as f64) / all as f64 * 100.0)
    },
};

/// Runs at one point.
struct Point {
    at: &'static str,
    seconds: f64,
    runs: Vec<Report>,
    lasts: f64,
}

impl Point {
    /// The mean of a lane's figure over all runs, and its standard error.
    fn mean(&self, lane: &str, figure: Figure) -> Option<(f64, f64)> {
        let of = |report: &Report| {
            let run = Run { report, seconds: self.lasts };
            (figure.of)(report.lanes.iter().find(|found| found.name == lane)?, &run)
        };
        let values: Vec<f64> = self.runs.iter().filter_map(of).collect();
        let runs = values.len() as f64;
        if values.is_empty() {
            return None;
        }
        let mean = values.iter().sum::<f64>() / runs;
        let squares: f64 = values.iter().map(|value| (value - mean) * (value - mean)).sum();
        let error = if runs > 1.0 { (squares / (runs - 1.0) / runs).sqrt() } else { 0.0 };
        Some((mean, error))
    }

    fn row(&self, cited: &Cited) -> Option<PaperRow> {
        let (found, error) = self.mean(cited.lane, cited.figure)?;
        let tolerance = cited.band.map_or(0.0, |band| band + 4.0 * error);
        Some(PaperRow {
            at: self.at,
            lane: cited.lane,
            figure: cited.figure.name,
            unit: cited.figure.unit,
            mark: Mark::Second.name(),
            published: Some(cited.value),
            below: false,
            decimals: cited.figure.decimals,
            found,
            found_decimals: cited.figure.decimals + 1,
            error,
            tolerance,
            agrees: cited.band.map(|_| (found - cited.value).abs() <= tolerance),
        })
    }
}

/// Runs a paper's model at each time between two rounds.
///
/// # Errors
/// If a point is unknown or a run fails.
pub fn rebuild(
    paper: &'static Paper,
    sweep: &'static Sweep,
    ask: &Ask<'_>,
    options: Options,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<PaperReport, Error> {
    let source = ScenarioSource::load(paper.model())?;
    let mut points = Vec::new();
    let (mut title, mut first_seed, mut done) = (String::new(), 0, 0);
    for at in ask.points(paper)? {
        let mut overrides: Vec<Override> = ask.seed.iter().map(|seed| set("seed", seed.to_string())).collect();
        overrides.extend(sweep.lanes.iter().filter_map(|(_, path)| Some(set((*path)?, at))));
        let mut plan = Plan::new(&source, &overrides)?;
        title.clone_from(&plan.title);
        first_seed = plan.traffic.seed;
        let lasts = plan.traffic.duration.map_or(0.0, seconds);
        let mut runs = Vec::new();
        for run in 0..ask.runs {
            plan.traffic.seed = later_seed(first_seed, run);
            let go_on = progress(done);
            runs.push(runner::run(&plan, options, Extras::default(), &mut |_| go_on)?.report);
            done += 1;
        }
        points.push(Point { at, seconds: at.parse().map_or(0.0, seconds), runs, lasts });
    }
    progress(done);
    let of_point = |cited: &Cited| points.iter().find(|point| point.at == cited.at)?.row(cited);
    let rows: Vec<PaperRow> = sweep.cited.iter().filter_map(of_point).collect();
    let panel = |drawn: &Drawn| PaperPanel {
        title: drawn.title,
        x: "time between two rounds (s)",
        y: drawn.y,
        log: false,
        log_x: true,
        level: drawn.level.map(|(value, name)| PaperLevel { value, name }),
        series: sweep.lanes.iter().map(|(lane, _)| series(lane, drawn, sweep, &points)).collect(),
    };
    let panels = sweep.drawn.iter().map(panel).collect();
    Ok(reported(paper, ask, (title, first_seed), rows, panels))
}

/// A lane's line, and what was published of it and is compared.
fn series(lane: &'static str, drawn: &Drawn, sweep: &Sweep, points: &[Point]) -> PaperSeries {
    let found = points.iter().filter_map(|point| Some((point.seconds, point.mean(lane, drawn.figure)?.0)));
    let compared = sweep.cited.iter().filter(|cited| cited.band.is_some());
    let published = compared.filter(|cited| cited.lane == lane && cited.figure.name == drawn.figure.name);
    let place = |cited: &Cited| Some((points.iter().find(|point| point.at == cited.at)?.seconds, cited.value));
    PaperSeries { name: lane, found: found.collect(), published: published.filter_map(place).collect() }
}
