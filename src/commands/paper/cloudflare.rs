//! The sliding counter of "How we built rate limiting capable of scaling to millions of domains".

use super::published::{Mark, Paper, Vary};
use super::rebuild::{Ask, number, reported, seconds, set};
use crate::error::Error;
use crate::record::CounterAccuracy;
use crate::report::{LaneReport, PaperLevel, PaperPanel, PaperReport, PaperRow, PaperSeries, Report};
use crate::runner::{self, Extras};
use crate::scenario::{Plan, ScenarioSource};
use crate::sim::Options;
use num_rational::BigRational;
use num_traits::ToPrimitive;

/// The paper.
pub const PAPER: Paper = Paper {
    name: "cloudflare",
    source: "Desgats, \"How we built rate limiting capable of scaling to millions of domains\", Cloudflare blog, 2017",
    quirks: &[
        "second-hand: read in a stored copy of the post; its sample, 400 million requests of 270,000 sources, and its limits are not public, so its figures are quoted and not compared",
        "kept: the estimate is the last window's count x the share of it that is still inside, and this window's count; windows are the clock's",
        "not kept: the traffic; here NASA's web server by host and a language model's requests as one source, each request counting 1",
        "real rate: a source's requests in the window that ends with this one, itself included; like the estimate, of all that is offered, refused or not",
        "mean rate error: |estimate - real rate| / real rate, the mean over all requests with a window of 1 minute, in exact fractions and rounded once",
        "wrong decisions: requests that the counter refuses and an exact sliding log admits, or the reverse, each counting only what it admitted",
        "wrong side: requests at which the estimate is above the limit and the real rate is not, or the reverse",
        "limited: the estimate was above the limit at least once; above: the real rate was",
        "not in the post: the worst cases, proven for any traffic and reached by traffic made for it",
    ],
    runs: 1,
    vary: Some(Vary {
        what: "limit",
        path: "limit",
        at: &[
            "2/1m", "5/1m", "10/1m", "20/1m", "50/1m", "100/1m", "150/1m", "200/1m", "300/1m", "400/1m", "600/1m",
            "800/1m",
        ],
    }),
    published: &[],
    panels: &[],
    rebuild,
};

/// Real traffic, and the limits at which its figures are written out.
struct Trace {
    model: &'static str,
    name: &'static str,
    shown: [&'static str; 3],
}

const TRACES: [Trace; 2] = [
    Trace { model: "papers/cloudflare", name: "NASA 1995, 185 hosts", shown: ["5/1m", "10/1m", "20/1m"] },
    Trace { model: "papers/cloudflare-azure", name: "Azure 2023, one source", shown: ["100/1m", "300/1m", "600/1m"] },
];

/// Traffic for the worst cases, its name, and its limit.
const WORST: (&str, &str, &str) = ("papers/cloudflare-worst", "made for it", "100/1m");

/// Windows over which the rate error is drawn; it does not depend on the limit.
const WINDOWS: [&str; 7] = ["10s", "20s", "30s", "1m", "2m", "5m", "10m"];

/// The window of the figures that are written out.
const WINDOW: &str = "1m";

/// A figure and what the post says of it.
#[derive(Clone, Copy)]
struct Figure {
    name: &'static str,
    unit: &'static str,
    published: Option<f64>,
    below: bool,
    decimals: usize,
    found_decimals: usize,
}

const fn share(name: &'static str) -> Figure {
    Figure { name, unit: "%", published: Some(0.003), below: false, decimals: 3, found_decimals: 3 }
}

const fn sources(name: &'static str, published: Option<f64>) -> Figure {
    Figure { name, unit: "", published, below: false, decimals: 0, found_decimals: 0 }
}

const WRONG_DECISIONS: Figure = share("wrong decisions");
const WRONG_SIDE: Figure = share("wrong side of the limit");
const RATE_ERROR: Figure =
    Figure { name: "mean rate error", unit: "%", published: Some(6.0), below: false, decimals: 0, found_decimals: 2 };
const ABOVE: Figure = sources("sources above the limit", None);
const MISSED: Figure = sources("of these, never limited", Some(3.0));
const OVERSHOOT: Figure = Figure {
    name: "of those, furthest above",
    unit: "%",
    published: Some(15.0),
    below: true,
    decimals: 0,
    found_decimals: 1,
};
const WRONGED: Figure = sources("sources limited, never above", Some(0.0));

impl Figure {
    /// Its row beside what was published on other traffic.
    fn quoted(self, at: &'static str, lane: &'static str, found: f64) -> PaperRow {
        PaperRow {
            at,
            lane,
            figure: self.name,
            unit: self.unit,
            mark: if self.published.is_some() { Mark::Second.name() } else { "" },
            published: self.published,
            below: self.below,
            decimals: self.decimals,
            found,
            found_decimals: self.found_decimals,
            error: 0.0,
            tolerance: 0.0,
            agrees: None,
        }
    }
}

/// A proven worst case, which is reached or is not.
fn proven(name: &'static str, unit: &'static str, bound: f64, found: f64) -> PaperRow {
    let figure = Figure { unit, ..sources(name, Some(bound)) };
    PaperRow { mark: Mark::Proof.name(), agrees: Some(found == bound), ..figure.quoted(WORST.2, WORST.1, found) }
}

/// A fraction with so many decimals, half away from zero.
fn rounded(fraction: &BigRational, decimals: usize) -> f64 {
    let scale = (0..decimals).fold(1_u64, |scale, _| scale * 10);
    let digits = (fraction * BigRational::from_integer(scale.into())).round().to_integer();
    digits.to_f64().unwrap_or(f64::NAN) / scale as f64
}

/// So many of a whole, in per cent; none of nothing.
fn percent(part: u64, whole: u64, decimals: usize) -> f64 {
    if whole == 0 {
        return f64::NAN;
    }
    rounded(&BigRational::new((u128::from(part) * 100).into(), whole.into()), decimals)
}

/// What one limit does on some traffic.
struct Measured {
    title: String,
    seed: u64,
    report: Report,
    limit: u64,
    accuracy: CounterAccuracy,
}

impl Measured {
    fn new(model: &str, limit: &str, options: Options, go_on: &dyn Fn() -> bool) -> Result<Self, Error> {
        let plan = Plan::new(&ScenarioSource::load(model)?, &[set("limit", limit)])?;
        let stated = plan.limit.expect("a limit was set");
        let mut accuracy = CounterAccuracy::new(stated, plan.lanes[0].column);
        let extras = Extras { observers: vec![Box::new(&mut accuracy)], ..Extras::default() };
        // A run is over in no time: it is enough to ask before it.
        let go_on = go_on();
        let report = runner::run(&plan, options, extras, &mut |_| go_on)?.report;
        Ok(Self { title: plan.title, seed: plan.traffic.seed, report, limit: stated.units, accuracy })
    }

    fn counter(&self) -> &LaneReport {
        let lane = self.report.lanes.iter().find(|lane| lane.name == "sliding-counter");
        lane.expect("every model has this lane")
    }

    fn wrong_decisions(&self) -> f64 {
        let counter = self.counter();
        let wrong = counter.false_denials.unwrap_or(0) + counter.false_admissions.unwrap_or(0);
        percent(wrong, counter.attempts, WRONG_DECISIONS.found_decimals)
    }

    fn wrong_side(&self) -> f64 {
        percent(self.accuracy.wrong_side(), self.accuracy.attempts(), WRONG_SIDE.found_decimals)
    }

    fn rate_error(&self) -> f64 {
        let hundred = BigRational::from_integer(100.into());
        self.accuracy.mean_error().map_or(f64::NAN, |mean| rounded(&(mean * hundred), RATE_ERROR.found_decimals))
    }

    /// How far the sources that were never limited went above the limit; none without such a source.
    fn overshoot(&self) -> f64 {
        let standing = self.accuracy.standing();
        match standing.missed {
            0 => f64::NAN,
            _ => percent(standing.overshoot, self.limit, OVERSHOOT.found_decimals),
        }
    }

    fn rows(&self, at: &'static str, name: &'static str) -> [PaperRow; 6] {
        let standing = self.accuracy.standing();
        [
            WRONG_DECISIONS.quoted(at, name, self.wrong_decisions()),
            WRONG_SIDE.quoted(at, name, self.wrong_side()),
            ABOVE.quoted(at, name, standing.above as f64),
            MISSED.quoted(at, name, standing.missed as f64),
            OVERSHOOT.quoted(at, name, self.overshoot()),
            WRONGED.quoted(at, name, standing.wronged as f64),
        ]
    }
}

fn rebuild(
    paper: &'static Paper,
    ask: &Ask<'_>,
    options: Options,
    progress: &(dyn Fn(u64) -> bool + Sync),
) -> Result<PaperReport, Error> {
    if ask.runs != paper.runs || ask.seed.is_some() {
        return Err(Error::usage(format!("nothing is left to chance in {}; leave out --runs and --seed", paper.name)));
    }
    let points = ask.points(paper)?;
    let measure = |model: &str, limit: &str| Measured::new(model, limit, options, &|| progress(0));
    let mut rows = Vec::new();
    let (mut decisions, mut sides, mut errors) = (Vec::new(), Vec::new(), Vec::new());
    let (mut title, mut first_seed) = (String::new(), 0);
    for trace in &TRACES {
        let series = |found: Vec<(f64, f64)>| PaperSeries { name: trace.name, found, published: Vec::new() };
        let mut error = Vec::new();
        for window in WINDOWS {
            let found = measure(trace.model, &format!("{}/{window}", trace.shown[0].trim_end_matches("/1m")))?;
            error.push((window.parse().map_or(0.0, seconds), found.rate_error()));
            if window == WINDOW {
                rows.push(RATE_ERROR.quoted("any", trace.name, found.rate_error()));
            }
        }
        errors.push(series(error));
        let (mut decided, mut side) = (Vec::new(), Vec::new());
        for at in &points {
            let found = measure(trace.model, at)?;
            decided.push((number(at), found.wrong_decisions()));
            side.push((number(at), found.wrong_side()));
            if trace.shown.contains(at) {
                rows.extend(found.rows(at, trace.name));
            }
            if trace.model == paper.model() {
                (title, first_seed) = (found.title, found.seed);
            }
        }
        decisions.push(series(decided));
        sides.push(series(side));
    }
    if points.contains(&WORST.2) {
        rows.extend(worst(&measure(WORST.0, WORST.2)?));
    }
    let panels = vec![
        panel("Wrong decisions", "limit (a minute)", "% of requests", (0.003, "0.003 % of requests"), decisions),
        panel("Wrong side of the limit", "limit (a minute)", "% of requests", (0.003, "0.003 % of requests"), sides),
        panel("Mean rate error", "window (s)", "% of the real rate", (6.0, "6 % of the real rate"), errors),
    ];
    Ok(PaperReport {
        further_models: vec![TRACES[1].model, WORST.0],
        whose: "traffic",
        ..reported(paper, ask, (title, first_seed), rows, panels)
    })
}

/// The worst cases beside their proofs: with a limit of L, 2 L - 1 in a window by a source that is never
/// limited, and half of what a source sends that keeps the limit.
fn worst(found: &Measured) -> [PaperRow; 3] {
    let counter = found.counter();
    let most = counter.peak.as_ref().map_or(f64::NAN, |peak| peak.units as f64);
    let legal = counter.classes.iter().find(|class| class.class == "on the minute");
    let refused = legal.map_or(f64::NAN, |class| percent(class.denied, class.attempts, 0));
    [
        proven("most admitted in a window", "", 199.0, most),
        proven("never limited, furthest above", "%", 99.0, found.overshoot()),
        proven("refused, never above the limit", "%", 50.0, refused),
    ]
}

fn panel(
    title: &'static str,
    x: &'static str,
    y: &'static str,
    (value, name): (f64, &'static str),
    series: Vec<PaperSeries>,
) -> PaperPanel {
    PaperPanel { title, x, y, log: false, log_x: true, level: Some(PaperLevel { value, name }), series }
}
