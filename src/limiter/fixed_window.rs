//! Fixed window: count what was admitted in the current window, start again in the next.
//!
//! # Rule
//! Admit iff `used + cost <= limit`. The window is an interval of the clock, or starts with the
//! key's first counted attempt, or is pushed on by every attempt.
//!
//! # State
//! The window's end and a count: 16 bytes a key.
//!
//! # Worst case
//! `limit * (ceil(T / window) + 1)` in any half-open span T: twice the limit at a window's edge,
//! in an instant. First-request windows: one less. Every-request: `limit * ceil(T / window)`, but
//! a client that never falls silent for a window is refused for ever.
//!
//! # Differs from
//! The sliding log has no edge to exploit and remembers every admitted attempt for it.
//!
//! # Source
//! `INCR` and `EXPIRE` as in the Redis documentation of `INCR`, pattern "rate limiter".

use super::amount::div_up;
use super::{Algorithm, Decision, Level, Used};
use crate::quota::Limit;
use crate::time::{SimDuration, SimTime};
use serde::{Deserialize, Serialize};
use std::hint::select_unpredictable;

/// What a window's edges are tied to.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WindowAnchor {
    /// Multiples of the window since the Unix epoch.
    #[default]
    Clock,
    /// The key's first counted attempt after the last window.
    FirstRequest,
    /// Every attempt, refused ones too, moves the end to one window later.
    EveryRequest,
}

/// The parameters of a fixed window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FixedWindowSpec {
    /// Units per window.
    pub limit: Limit,
    /// What the edges are tied to.
    pub anchor: WindowAnchor,
    /// Whether refused attempts use up units.
    pub count_denied: bool,
}

impl FixedWindowSpec {
    /// The most units admitted in any half-open span.
    #[must_use]
    pub fn bound(&self, span: SimDuration) -> u128 {
        let units = u128::from(self.limit.units);
        if units == 0 || span.is_zero() {
            return 0;
        }
        let windows = div_up(span.nanos(), self.limit.window.nanos());
        match self.anchor {
            WindowAnchor::Clock => units * (windows + 1),
            WindowAnchor::FirstRequest => units * (windows + 1) - 1,
            WindowAnchor::EveryRequest => units * windows,
        }
    }
}

/// A fixed window.
#[derive(Clone, Copy, Debug)]
pub struct FixedWindow {
    units: u64,
    window: i64,
    anchor: WindowAnchor,
    count_denied: bool,
}

/// The count of one window.
#[derive(Clone, Copy, Debug)]
pub struct Window {
    /// First instant after the window.
    end: i64,
    used: u64,
}

/// First instant after the clock's window that an attempt falls in.
#[derive(Clone, Debug, Default)]
pub struct ClockEnd(i64);

impl FixedWindow {
    /// A window of these parameters.
    #[must_use]
    pub fn new(spec: &FixedWindowSpec) -> Self {
        Self {
            units: spec.limit.units,
            window: i64::try_from(spec.limit.window.short_nanos()).expect("a configured span is below 2^62"),
            anchor: spec.anchor,
            count_denied: spec.count_denied,
        }
    }

    /// The window that an attempt at `at` falls in: the stored one, or a new empty one.
    #[inline(always)]
    fn window(&self, state: &Window, at: SimTime) -> Window {
        let at = at.nanos();
        if at < state.end {
            return *state;
        }
        let end = match self.anchor {
            WindowAnchor::Clock => at - at.rem_euclid(self.window) + self.window,
            WindowAnchor::FirstRequest | WindowAnchor::EveryRequest => at + self.window,
        };
        Window { end, used: 0 }
    }

    #[inline(always)]
    fn count(&self, state: &mut Window, at: SimTime, cost: u64) {
        if cost == 0 {
            return;
        }
        let mut window = self.window(state, at);
        window.used = window.used.saturating_add(cost);
        if self.anchor == WindowAnchor::EveryRequest {
            window.end = window.end.max(at.nanos() + self.window);
        }
        *state = window;
    }
}

impl Algorithm for FixedWindow {
    type State = Window;
    type Tick = ClockEnd;

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.used
    }

    fn initial(&self, _at: SimTime) -> Window {
        // No window is open: the first counted attempt opens one.
        Window { end: SimTime::MIN.nanos(), used: 0 }
    }

    #[inline]
    fn ask(&self, state: &Window, at: SimTime, cost: u64) -> Decision {
        let room = self.units.saturating_sub(self.window(state, at).used);
        if cost <= room { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, state: &mut Window, at: SimTime, cost: u64) {
        self.count(state, at, cost);
    }

    #[inline]
    fn refuse(&self, state: &mut Window, at: SimTime, cost: u64) {
        if self.count_denied {
            self.count(state, at, cost);
        } else if self.anchor == WindowAnchor::EveryRequest && cost > 0 {
            let mut window = self.window(state, at);
            window.end = window.end.max(at.nanos() + self.window);
            *state = window;
        }
    }

    #[inline(always)]
    fn tick(&self, tick: &mut ClockEnd, at: SimTime) {
        let at = at.nanos();
        if at >= tick.0 || at < tick.0 - self.window {
            tick.0 = at - at.rem_euclid(self.window) + self.window;
        }
    }

    #[inline(always)]
    fn settle(&self, state: &mut Window, tick: &ClockEnd, at: SimTime, cost: u64) -> (bool, u64) {
        if self.anchor != WindowAnchor::Clock || self.count_denied {
            return (self.decide(state, at, cost).admits(), 0);
        }
        // Whether the window is a new one and whether an attempt fits are hard to foretell: no
        // branch on either.
        let open = at.nanos() < state.end;
        let used = select_unpredictable(open, state.used, 0);
        let fits = cost <= self.units.saturating_sub(used);
        let counts = fits & (cost > 0);
        state.used = select_unpredictable(counts, used.wrapping_add(cost), state.used);
        state.end = select_unpredictable(counts & !open, tick.0, state.end);
        (fits, 0)
    }

    fn refund(&self, state: &mut Window, charged_at: SimTime, at: SimTime, cost: u64) {
        let charged_here = match self.anchor {
            WindowAnchor::Clock | WindowAnchor::FirstRequest => {
                (state.end - self.window..state.end).contains(&charged_at.nanos())
            }
            WindowAnchor::EveryRequest => charged_at.nanos() < state.end,
        };
        if charged_here && at.nanos() < state.end {
            state.used = state.used.saturating_sub(cost);
        }
    }

    fn clamp(&self, state: &mut Window, _at: SimTime) {
        state.used = state.used.min(self.units);
    }

    fn retry_after(&self, state: &Window, at: SimTime, cost: u64) -> Option<SimDuration> {
        if cost > self.units {
            return None;
        }
        let window = self.window(state, at);
        if cost <= self.units.saturating_sub(window.used) {
            return Some(SimDuration::ZERO);
        }
        Some(SimTime::from_nanos(window.end).since(at))
    }

    fn level(&self, state: &Window, at: SimTime) -> Level {
        let window = self.window(state, at);
        let left = if window.used == 0 { SimDuration::ZERO } else { SimTime::from_nanos(window.end).since(at) };
        let remaining = self.units.saturating_sub(window.used);
        Level {
            limit: self.units,
            used: Used::whole(window.used),
            remaining,
            next: if remaining == self.units { SimDuration::ZERO } else { left },
            full: left,
        }
    }
}
