//! A published result beside its rebuilt counterpart.

use serde::Serialize;

/// A published result, rebuilt.
#[derive(Clone, Debug, Serialize)]
pub struct PaperReport {
    /// Its name here.
    pub paper: &'static str,
    /// The scenario that it is rebuilt from.
    pub model: &'static str,
    /// Further scenarios.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub further_models: Vec<&'static str>,
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
    /// What `lane` of a row names: `lane`, or `traffic` where that is what differs.
    pub whose: &'static str,
    /// Published figures beside ours.
    pub rows: Vec<PaperRow>,
    /// How many of those that are compared do not agree.
    pub misses: usize,
    /// The figure's counterpart.
    #[serde(skip)]
    pub panels: Vec<PaperPanel>,
}

/// One published figure, or one of ours that has no published counterpart.
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
    /// How far it can be trusted: `run`, the original's own code was run; `2nd`, second-hand; `proof`, a
    /// proven worst case; empty where nothing was published.
    pub mark: &'static str,
    /// As published, if it was.
    pub published: Option<f64>,
    /// Whether what was published is that it lies below this.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub below: bool,
    /// Digits after its point.
    pub decimals: usize,
    /// Ours.
    pub found: f64,
    /// Digits after the point of ours.
    pub found_decimals: usize,
    /// Standard error of ours.
    pub error: f64,
    /// How far they may lie apart: four standard errors of both, and what was rounded away.
    pub tolerance: f64,
    /// Whether they do not lie further apart; none where they cannot be compared.
    pub agrees: Option<bool>,
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
    /// Whether equal steps along it are.
    pub log_x: bool,
    /// A published figure that has no place along it.
    pub level: Option<PaperLevel>,
    /// Its lines.
    pub series: Vec<PaperSeries>,
}

/// A level line of a panel.
#[derive(Clone, Debug)]
pub struct PaperLevel {
    /// Where.
    pub value: f64,
    /// What it is.
    pub name: &'static str,
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
