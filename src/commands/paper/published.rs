//! What a published result is made of.

use super::rebuild::Rebuild;
use crate::scenario::embedded;

/// A published result, and how it is rebuilt.
pub struct Paper {
    /// Its name.
    pub name: &'static str,
    /// Author, title, place, year.
    pub source: &'static str,
    /// What was kept of the original, and what was not.
    pub quirks: &'static [&'static str],
    /// Runs at each point, unless stated otherwise.
    pub runs: u64,
    /// What is varied.
    pub vary: Option<Vary>,
    /// Its figures.
    pub published: &'static [Published],
    /// Its picture.
    pub panels: &'static [Panel],
    /// What makes a report of it.
    pub rebuild: Rebuild,
}

impl Paper {
    /// The scenario that is its model.
    pub fn model(&self) -> &'static str {
        embedded(self.name).expect("every paper's model is in the program").name
    }
}

/// What is varied from point to point.
pub struct Vary {
    /// In words.
    pub what: &'static str,
    /// Its place in the scenario.
    pub path: &'static str,
    /// Its values.
    pub at: &'static [&'static str],
}

/// One published figure.
pub struct Published {
    /// Where what is varied has this value; empty if nothing is varied.
    pub at: &'static str,
    /// The lane's name.
    pub lane: &'static str,
    /// Which figure.
    pub quantity: Quantity,
    /// Its value.
    pub value: f64,
    /// Digits after its point.
    pub decimals: usize,
    /// How far off it may be itself.
    pub margin: Margin,
    /// How far it can be trusted.
    pub mark: Mark,
}

/// How far off a published figure may be.
#[derive(Clone, Copy)]
pub enum Margin {
    /// Its standard error is known.
    Error(f64),
    /// It is the mean of so many runs, which are taken to scatter as ours do.
    Runs(f64),
    /// It is a statement in words: within this.
    Band(f64),
}

/// How far a published figure can be trusted.
#[derive(Clone, Copy)]
pub enum Mark {
    /// The original's own code was run, or its formula evaluated.
    Run,
    /// Second-hand.
    Second,
    /// Proven.
    Proof,
}

impl Mark {
    /// As results are marked.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Run => "run",
            Self::Second => "2nd",
            Self::Proof => "proof",
        }
    }
}

/// A figure: where it is found, and how it is written.
#[derive(Clone, Copy)]
pub struct Quantity {
    /// Its name.
    pub name: &'static str,
    /// Its unit.
    pub unit: &'static str,
    /// Where it is found.
    pub of: Of,
    /// Its unit in that of what is found.
    pub scale: f64,
}

/// Where a figure is found among what many runs have in common.
#[derive(Clone, Copy)]
pub enum Of {
    /// A figure of the lane.
    Mean(&'static str),
    /// The rate that a condition compares.
    Rate(&'static str),
    /// The share of runs that meet a condition.
    Share(&'static str),
    /// One condition's rate over another's.
    Ratio(&'static str, &'static str),
}

/// One panel of the picture: a line for each lane.
pub struct Panel {
    /// What it shows.
    pub title: &'static str,
    /// What runs along it, with its unit.
    pub x: &'static str,
    /// What stands upright, with its unit.
    pub y: &'static str,
    /// Whether equal steps upright are equal factors.
    pub log: bool,
    /// What is drawn.
    pub shows: Shows,
}

/// What a panel draws.
pub enum Shows {
    /// A figure over what is varied.
    Swept(Quantity),
    /// The rates of all conditions on this figure that are named `FIGURE-…`, over time.
    Course(&'static str),
}
