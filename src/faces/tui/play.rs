//! How fast the cursor moves while the run plays.

use super::view::Span;
use std::time::Duration;

/// How long the cursor takes to cross the screen at speed x1.
const CROSSING: Duration = Duration::from_secs(20);

/// Speeds to choose from, as quarters of the usual one.
const QUARTERS: [u32; 12] = [1, 2, 4, 8, 20, 40, 80, 200, 400, 800, 2_000, 4_000];

/// Whether the run plays, and how fast.
#[derive(Clone, Debug)]
pub struct Player {
    /// Whether it plays.
    pub playing: bool,
    /// An index into the speeds.
    speed: usize,
    /// What is left of the last advance, in parts of a nanosecond.
    rest: i128,
}

impl Default for Player {
    fn default() -> Self {
        Self { playing: false, speed: 2, rest: 0 }
    }
}

impl Player {
    /// One speed faster or slower.
    pub fn change(&mut self, faster: bool) {
        self.speed = if faster { (self.speed + 1).min(QUARTERS.len() - 1) } else { self.speed.saturating_sub(1) };
        self.rest = 0;
    }

    /// The speed: `x1`, `x0.25`.
    #[must_use]
    pub fn label(&self) -> String {
        format!("x{}", f64::from(QUARTERS[self.speed]) / 4.0)
    }

    /// Nanoseconds of the run that pass while `elapsed` passes on the wall.
    pub fn advance(&mut self, elapsed: Duration, view: Span) -> i64 {
        let elapsed = elapsed.min(Duration::from_secs(1)).as_nanos() as i128;
        let whole = CROSSING.as_nanos() as i128 * 4;
        // 63 bits of span, 30 of a second and 12 of speed fit 127.
        let parts = i128::from(view.length()) * elapsed * i128::from(QUARTERS[self.speed]) + self.rest;
        self.rest = parts % whole;
        i64::try_from(parts / whole).unwrap_or(i64::MAX)
    }

    /// Nanoseconds of the run in a second on the wall.
    #[must_use]
    pub fn pace(&self, view: Span) -> u128 {
        u128::from(view.length().unsigned_abs()) * u128::from(QUARTERS[self.speed]) / 4 / u128::from(CROSSING.as_secs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_screen_takes_twenty_seconds_however_often_it_is_drawn() {
        for length in [1_000, 2_400_000_000, 2_592_000_000_000_000] {
            let view = Span { from: 0, until: length };
            let mut player = Player::default();
            let frame = Duration::from_millis(33);
            let moved: i64 = (0..600).map(|_| player.advance(frame, view)).sum();
            assert_eq!(moved, length / 100 * 99, "600 frames of 33 ms are 19.8 s");
        }
    }

    #[test]
    fn speeds_run_from_a_quarter_to_a_thousand() {
        let mut player = Player::default();
        assert_eq!(player.label(), "x1");
        (0..99).for_each(|_| player.change(true));
        assert_eq!(player.label(), "x1000");
        (0..99).for_each(|_| player.change(false));
        assert_eq!(player.label(), "x0.25");
    }
}
