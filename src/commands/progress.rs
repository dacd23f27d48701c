//! A line on standard error while it takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A line on standard error for work that takes more than a second.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    wanted: bool,
    /// How many runs there are, if it is runs that are counted.
    runs: Option<u64>,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new(quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Self { bar: None, begun: Instant::now(), wanted, runs: None }
    }

    /// Of so many runs.
    pub fn of_runs(quiet: bool, runs: u64) -> Self {
        Self { runs: Some(runs), ..Self::new(quiet) }
    }

    /// Tells how many arrivals have been decided, or how many runs are done.
    pub fn tick(&mut self, rows: u64) {
        if !self.wanted || self.begun.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let (bar, template) = match self.runs {
                None => (ProgressBar::new_spinner(), "{spinner} {human_pos} arrivals, {per_sec}"),
                Some(runs) => (ProgressBar::new(runs), "{bar:30} {human_pos} of {human_len} runs, {eta} left"),
            };
            let style = ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_spinner());
            bar.with_style(style).with_elapsed(self.begun.elapsed())
        });
        bar.set_position(rows);
    }

    /// Takes the line away.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}
