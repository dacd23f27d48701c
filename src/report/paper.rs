//! A published result beside its rebuilt counterpart.

use serde::Serialize;

/// A published result, rebuilt.
#[derive(Clone, Debug, Serialize)]
pub struct PaperReport {
    /// Its name here.
    pub paper: &'static str,
    /// The scenario that it is rebuilt from.
    pub model: &'static str,
    /// The lesson.
    pub title: String,
    /// Where it was published.
    pub source: &'static str,
    /// What was kept of the original, and what was not.
    pub quirks: Vec<&'static str>,
    /// Runs at each point.
    pub runs: u64,
    /// Seed of the first.
    pub first_seed: u64,
    /// What is varied, if anything is.
    pub varied: Option<&'static str>,
    /// Published figures beside ours.
    pub rows: Vec<PaperRow>,
    /// How many of them do not agree.
    pub misses: usize,
    /// The figure's counterpart.
    #[serde(skip)]
    pub panels: Vec<PaperPanel>,
}

/// One published figure.
#[derive(Clone, Debug, Serialize)]
pub struct PaperRow {
    /// The value of what is varied.
    pub at: &'static str,
    /// Whose figure it is.
    pub lane: &'static str,
    /// Which figure.
    pub figure: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// How far it can be trusted: `run`, the original's own code was run; `2nd`, second-hand.
    pub mark: &'static str,
    /// As published.
    pub published: f64,
    /// Digits after its point.
    pub decimals: usize,
    /// Ours.
    pub found: f64,
    /// Standard error of ours.
    pub error: f64,
    /// How far they may lie apart: four standard errors of both, and what was rounded away.
    pub tolerance: f64,
    /// Whether they do not lie further apart.
    pub agrees: bool,
}

/// One panel of a figure.
#[derive(Clone, Debug)]
pub struct PaperPanel {
    /// What it shows.
    pub title: &'static str,
    /// What runs along it, with its unit.
    pub x: &'static str,
    /// What stands upright, with its unit.
    pub y: &'static str,
    /// Whether equal steps upright are equal factors.
    pub log: bool,
    /// Its lines.
    pub series: Vec<PaperSeries>,
}

/// One line of a panel.
#[derive(Clone, Debug)]
pub struct PaperSeries {
    /// Its name.
    pub name: &'static str,
    /// Ours.
    pub found: Vec<(f64, f64)>,
    /// What was published of it.
    pub published: Vec<(f64, f64)>,
}
