//! Runs a paper's model and puts what comes of it beside what was published.

use super::published::{Margin, Of, Panel, Paper, Quantity, Shows};
use crate::error::Error;
use crate::report::{LaneReplications, PaperPanel, PaperReport, PaperRow, PaperSeries, Replications};
use crate::runner;
use crate::scenario::{Override, Plan, ScenarioSource};
use crate::sim::Options;
use crate::time::SimDuration;

/// Standard errors that two figures may lie apart.
const ERRORS: f64 = 4.0;

/// What of a paper is rebuilt.
pub struct Ask<'a> {
    /// Runs at each point.
    pub runs: u64,
    /// Seed of the first.
    pub seed: Option<u64>,
    /// The points; none: all.
    pub at: &'a [String],
}

impl Ask<'_> {
    /// The points of a paper that are asked for.
    pub fn points(&self, paper: &Paper) -> Result<Vec<&'static str>, Error> {
        let Some(vary) = &paper.vary else {
            return match self.at {
                [] => Ok(vec![""]),
                _ => Err(Error::usage(format!("nothing is varied in {}; leave out --at", paper.name))),
            };
        };
        if let Some(unknown) = self.at.iter().find(|at| !vary.at.contains(&at.as_str())) {
            return Err(Error::usage(format!(
                "--at {unknown}: {} in {} is one of {}",
                vary.what,
                paper.name,
                vary.at.join(", ")
            )));
        }
        let asked = |at: &&'static str| self.at.is_empty() || self.at.iter().any(|asked| asked == at);
        Ok(vary.at.iter().copied().filter(asked).collect())
    }
}

/// Makes a report of a paper; is told how many runs are done, and may be ended by `false`.
pub type Rebuild = fn(&'static Paper, &Ask<'_>, Options, &(dyn Fn(u64) -> bool + Sync)) -> Result<PaperReport, Error>;

/// A change of a scenario.
pub fn set(path: &str, value: impl Into<String>) -> Override {
    Override::Set { path: path.split('.').map(str::to_owned).collect(), value: value.into() }
}

/// Runs a paper's model many times at each point.
///
/// # Errors
/// If a point is unknown or a run fails.
pub fn from_runs(
    paper: &'static Paper,
    ask: &Ask<'_>,
    options: Options,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<PaperReport, Error> {
    let source = ScenarioSource::load(paper.model())?;
    let points = ask.points(paper)?;
    let mut found: Vec<(&'static str, Replications)> = Vec::new();
    let mut title = String::new();
    for (i, at) in points.into_iter().enumerate() {
        let mut overrides: Vec<Override> = ask.seed.iter().map(|seed| set("seed", seed.to_string())).collect();
        overrides.extend(paper.vary.as_ref().map(|vary| set(vary.path, at)));
        let plan = Plan::new(&source, &overrides)?;
        let before = i as u64 * ask.runs;
        found.push((at, runner::replicate(&plan, ask.runs, options, &|done| progress(before + done))?));
        title = plan.title;
    }
    let rows: Vec<PaperRow> = paper.published.iter().filter_map(|published| row(published, &found)).collect();
    let panels = paper.panels.iter().map(|spec| panel(paper, spec, &found)).collect();
    let first_seed = found.first().map_or(0, |(_, found)| found.first_seed);
    Ok(reported(paper, ask, (title, first_seed), rows, panels))
}

/// What was found in the lanes of a paper's one model, whose title and first seed are stated.
pub fn reported(
    paper: &'static Paper,
    ask: &Ask<'_>,
    (title, first_seed): (String, u64),
    rows: Vec<PaperRow>,
    panels: Vec<PaperPanel>,
) -> PaperReport {
    PaperReport {
        paper: paper.name,
        model: paper.model(),
        further_models: Vec::new(),
        title,
        source: paper.source,
        quirks: paper.quirks.to_vec(),
        runs: ask.runs,
        first_seed,
        varied: paper.vary.as_ref().map(|vary| vary.what),
        whose: "lane",
        misses: rows.iter().filter(|row| row.agrees == Some(false)).count(),
        rows,
        panels,
    }
}

/// A figure with the standard error of its mean and the deviation of one run.
struct Value {
    mean: f64,
    error: f64,
    deviation: f64,
}

/// A figure of a lane; nothing where no run has it.
fn value(quantity: &Quantity, lane: &LaneReplications) -> Option<Value> {
    let found = match quantity.of {
        Of::Mean(figure) => {
            let estimate = lane.figure(figure)?;
            Value { mean: estimate.mean, error: estimate.error(), deviation: estimate.deviation }
        }
        Of::Rate(name) => {
            let estimate = lane.condition(name)?.rate_per_s;
            Value { mean: estimate.mean, error: estimate.error(), deviation: estimate.deviation }
        }
        Of::Share(name) => {
            let condition = lane.condition(name)?;
            let deviation = (condition.share * (1.0 - condition.share)).sqrt();
            let runs = condition.rate_per_s.runs.max(1) as f64;
            Value { mean: condition.share, error: deviation / runs.sqrt(), deviation }
        }
        Of::Ratio(above, below) => {
            let (above, below) = (lane.condition(above)?.rate_per_s, lane.condition(below)?.rate_per_s);
            let mean = above.mean / below.mean;
            // As if they did not depend on each other; they do, so this is more than enough.
            let part = |estimate: crate::report::Estimate| estimate.error() / estimate.mean;
            let error = mean * (part(above) * part(above) + part(below) * part(below)).sqrt();
            Value { mean, error, deviation: error * (above.runs.max(1) as f64).sqrt() }
        }
    };
    let scaled = |x: f64| x / quantity.scale;
    Some(Value { mean: scaled(found.mean), error: scaled(found.error), deviation: scaled(found.deviation) })
}

fn row(published: &super::published::Published, found: &[(&'static str, Replications)]) -> Option<PaperRow> {
    let (at, replications) = found.iter().find(|(at, _)| *at == published.at)?;
    let quantity = &published.quantity;
    let lane = replications.lane(published.lane).expect("the scenario has the lanes of its paper");
    let ours = value(quantity, lane);
    // A figure that no run has agrees with none.
    let Value { mean, error, deviation } = ours.unwrap_or(Value { mean: f64::NAN, error: 0.0, deviation: 0.0 });
    let rounding = 0.5 / 10_f64.powi(i32::try_from(published.decimals).unwrap_or(0));
    let tolerance = match published.margin {
        Margin::Error(theirs) => ERRORS * (theirs * theirs + error * error).sqrt() + rounding,
        Margin::Runs(runs) => ERRORS * (deviation * deviation / runs + error * error).sqrt() + rounding,
        Margin::Band(band) => band + ERRORS * error,
    };
    Some(PaperRow {
        at,
        lane: published.lane,
        figure: quantity.name,
        unit: quantity.unit,
        mark: published.mark.name(),
        published: Some(published.value),
        below: false,
        decimals: published.decimals,
        found: mean,
        found_decimals: published.decimals + 1,
        error,
        tolerance,
        agrees: Some((mean - published.value).abs() <= tolerance),
    })
}

/// A span of time in seconds.
pub fn seconds(span: SimDuration) -> f64 {
    span.short_nanos() as f64 / 1e9
}

/// The number that a value of what is varied begins with.
pub fn number(at: &str) -> f64 {
    at.split('/').next().and_then(|number| number.parse().ok()).unwrap_or(0.0)
}

fn panel(paper: &'static Paper, spec: &'static Panel, found: &[(&'static str, Replications)]) -> PaperPanel {
    let lanes = found.first().map_or(&[][..], |(_, replications)| &replications.lanes);
    let series = lanes.iter().map(|lane| {
        // Lanes are named in the tables of figures, which are part of the program.
        let known = paper.published.iter().find(|published| published.lane == lane.name);
        let name = known.map_or("", |published| published.lane);
        let swept = |quantity: &Quantity| {
            let ours = found.iter().filter_map(|(at, replications)| {
                Some((number(at), value(quantity, replications.lane(&lane.name)?)?.mean))
            });
            let theirs = paper
                .published
                .iter()
                .filter(|published| published.lane == lane.name && published.quantity.name == quantity.name);
            (ours.collect(), theirs.map(|published| (number(published.at), published.value)).collect())
        };
        let (found, published) = match &spec.shows {
            Shows::Swept(quantity) => swept(quantity),
            Shows::Course(figure) => (course(figure, lane), Vec::new()),
        };
        PaperSeries { name, found, published }
    });
    PaperPanel {
        title: spec.title,
        x: spec.x,
        y: spec.y,
        log: spec.log,
        log_x: false,
        level: None,
        series: series.collect(),
    }
}

/// Rates in the middle of their spans: the conditions that are named `FIGURE-…`.
fn course(figure: &str, lane: &LaneReplications) -> Vec<(f64, f64)> {
    let at = |text: &str| text.parse().ok().map(seconds);
    let of_course = lane
        .conditions
        .iter()
        .filter(|condition| condition.name.strip_prefix(figure).is_some_and(|rest| rest.starts_with('-')));
    let mut points: Vec<(f64, f64)> = of_course
        .filter_map(|condition| {
            let (from, until) = condition.figure.split_once('[')?.1.strip_suffix(']')?.split_once("..")?;
            Some(((at(from)? + at(until)?) / 2.0, condition.rate_per_s.mean))
        })
        .collect();
    points.sort_by(|a, b| a.0.total_cmp(&b.0));
    points
}
