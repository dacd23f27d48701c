//! What happens to the view, and what it wants done.

use super::view::Span;
use crate::report::{Detail, Direction, KeyCount, Mark, Place, Report};
use std::time::Duration;

/// What happens to the view: keys, time, results.
#[derive(Debug)]
pub enum Action {
    /// The screen has this many columns and rows.
    Resize(u16, u16),
    /// This much time has passed on the wall.
    Tick(Duration),
    /// Plays or pauses.
    Play,
    /// The next speed.
    Faster,
    /// The speed before.
    Slower,
    /// To the next or previous arrival, or by a column where there are too many.
    Step(Direction),
    /// By a tenth of the screen.
    Stride(Direction),
    /// To the left end of the screen, then of the run.
    Home,
    /// To the right end of the screen, then of the run.
    End,
    /// To the next or previous disagreement.
    Split(Direction),
    /// To the next or previous denial of the lane.
    Denial(Direction),
    /// Half the span, or twice.
    Zoom {
        /// Half.
        closer: bool,
    },
    /// By half a screen.
    Pan(Direction),
    /// The whole run.
    Whole,
    /// Where the action is.
    Focus,
    /// The lane below or above.
    Lane(Direction),
    /// Shows or hides the lane's charts.
    Charts,
    /// Opens the list of keys.
    Keys,
    /// All keys again.
    AllKeys,
    /// A character typed into the list of keys.
    Type(char),
    /// Takes the last one back.
    Erase,
    /// Up or down in a list or text.
    Scroll(i32),
    /// Takes what is chosen in the list.
    Choose,
    /// Opens the help.
    Help,
    /// Closes what lies over the lanes.
    Close,
    /// Reads the scenario again.
    Reload,
    /// Leaves.
    Quit,
    /// Leaves at once.
    Interrupt,
    /// A run has decided this many arrivals so far.
    Progress(u64),
    /// A run is done.
    Loaded(Box<Run>),
    /// A run could not be made, for this reason.
    Failed(String),
    /// A look is done.
    Looked {
        /// That of the [`Look`].
        ticket: u64,
        /// What was seen, or why nothing was.
        detail: Result<Box<Detail>, String>,
    },
    /// A search is done.
    Found {
        /// That of the [`Seek`].
        ticket: u64,
        /// The place and a look at its instant, or why there is none.
        found: Result<Option<(Place, Box<Detail>)>, String>,
    },
}

/// What somebody else must do.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Effect {
    /// Nothing.
    None,
    /// Look closely at a span; answered by [`Action::Looked`].
    Look(Look),
    /// Search; answered by [`Action::Found`].
    Seek(Seek),
    /// Read the scenario and run it again; answered by [`Action::Loaded`] or [`Action::Failed`].
    Reload,
    /// Leave.
    Quit {
        /// The user interrupted.
        interrupted: bool,
    },
}

/// A span to be looked at.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Look {
    /// To be handed back.
    pub ticket: u64,
    /// The span.
    pub span: Span,
    /// Columns to cut it into.
    pub columns: usize,
    /// Arrivals to list at most.
    pub keep: usize,
    /// Only this key, by its place in the run's list.
    pub key: Option<usize>,
}

/// A search.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Seek {
    /// To be handed back.
    pub ticket: u64,
    /// What is looked for.
    pub mark: Mark,
    /// Which way.
    pub direction: Direction,
    /// From where.
    pub from: Place,
    /// Arrivals to list at most in the look at what is found.
    pub keep: usize,
    /// Only this key, by its place in the run's list.
    pub key: Option<usize>,
}

/// A finished run.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it found.
    pub report: Report,
    /// Keys with the most arrivals, most first.
    pub keys: Vec<KeyCount>,
}
