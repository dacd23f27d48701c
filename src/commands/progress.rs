//! A line on standard error while it takes long.

use indicatif::{ProgressBar, ProgressStyle};
use std::io::IsTerminal;
use std::time::{Duration, Instant};

/// A line on standard error for work that takes more than a second.
pub struct Progress {
    bar: Option<ProgressBar>,
    begun: Instant,
    wanted: bool,
}

impl Progress {
    /// Nothing is shown yet.
    pub fn new(quiet: bool) -> Self {
        let wanted = !quiet && std::io::stderr().is_terminal();
        Self { bar: None, begun: Instant::now(), wanted }
    }

    /// Tells how many arrivals have been decided.
    pub fn tick(&mut self, rows: u64) {
        if !self.wanted || self.begun.elapsed() < Duration::from_secs(1) {
            return;
        }
        let bar = self.bar.get_or_insert_with(|| {
            let style = ProgressStyle::with_template("{spinner} {human_pos} arrivals, {per_sec}")
                .unwrap_or_else(|_| ProgressStyle::default_spinner());
            ProgressBar::new_spinner().with_style(style).with_elapsed(self.begun.elapsed())
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
