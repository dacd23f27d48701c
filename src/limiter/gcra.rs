//! GCRA, the generic cell rate algorithm: one number a key, the theoretical arrival time.
//!
//! # Rule
//! `base = max(TAT, t)`; admit iff `base + cost * I - t <= burst * I`, then `TAT = base + cost * I`,
//! with emission interval `I = period / units` and tolerance `(burst - 1) * I`.
//!
//! # State
//! TAT in 1/units nanoseconds since the run's origin, so that no interval is rounded: 8 bytes a
//! key (16 where 8 do not suffice).
//!
//! # Worst case
//! `burst - 1 + ceil(T / I)` units in any half-open span T.
//!
//! # Differs from
//! A token bucket of the same rate and burst admits exactly the same attempts and stores two
//! numbers. GCRA is not smoother.
//!
//! # Source
//! ITU-T I.371 and the ATM Forum's traffic management specification, virtual scheduling form.

use super::amount::div_up;
use super::schedule::{Schedule, Ticks};
use super::{Algorithm, Decision, Level};
use crate::quota::Rate;
use crate::time::{SimDuration, SimTime};
use std::hint::select_unpredictable;

/// The parameters of GCRA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct GcraSpec {
    /// Units per period; the emission interval is period / units.
    pub rate: Rate,
    /// Units admitted at once; tolerance = (burst - 1) x emission interval.
    pub burst: u64,
}

impl GcraSpec {
    /// The most units admitted in any half-open span.
    #[must_use]
    pub fn bound(&self, span: SimDuration) -> u128 {
        if self.burst == 0 || span.is_zero() {
            return 0;
        }
        let (period, units) = self.rate.reduced();
        u128::from(self.burst) - 1 + div_up(u128::from(units) * span.nanos(), u128::from(period)).max(1)
    }
}

/// GCRA over 64- or 128-bit schedules.
#[derive(Clone, Copy, Debug)]
pub struct Gcra<T> {
    schedule: Schedule<T>,
}

impl<T: Ticks> Gcra<T> {
    /// GCRA of these parameters; its instants count from `origin`.
    #[must_use]
    pub fn new(spec: &GcraSpec, origin: SimTime) -> Self {
        Self { schedule: Schedule::new(spec.rate, spec.burst, origin) }
    }
}

impl<T: Ticks> Algorithm for Gcra<T> {
    /// The theoretical arrival time.
    type State = T;
    type Tick = ();

    #[inline(always)]
    fn prefetch(&self, state: &Self::State) -> u64 {
        state.wide() as u64
    }

    /// Whoever's clock asks first: until something is admitted, nothing is remembered.
    fn initial(&self, _at: SimTime) -> T {
        T::LEAST
    }

    #[inline]
    fn ask(&self, tat: &T, at: SimTime, cost: u64) -> Decision {
        if self.schedule.fits(*tat, at, cost) | (cost == 0) { Decision::Allow } else { Decision::Deny }
    }

    #[inline]
    fn charge(&self, tat: &mut T, at: SimTime, cost: u64) {
        *tat = self.schedule.advance(*tat, at, cost);
    }

    fn refund(&self, tat: &mut T, _charged_at: SimTime, at: SimTime, cost: u64) {
        *tat = self.schedule.withdraw(*tat, at, cost);
    }

    fn clamp(&self, tat: &mut T, at: SimTime) {
        *tat = self.schedule.clamp(*tat, at);
    }

    fn take_over(&self, tat: &mut T, from: &Self, at: SimTime) {
        *tat = self.schedule.with_room_of(*tat, &from.schedule, at);
    }

    fn retry_after(&self, tat: &T, at: SimTime, cost: u64) -> Option<SimDuration> {
        self.schedule.retry_after(*tat, at, cost)
    }

    fn level(&self, tat: &T, at: SimTime) -> Level {
        self.schedule.level(*tat, at)
    }

    #[inline(always)]
    fn decide(&self, tat: &mut T, at: SimTime, cost: u64) -> Decision {
        let fits = self.schedule.fits(*tat, at, cost) | (cost == 0);
        let next = self.schedule.advance(*tat, at, cost);
        *tat = select_unpredictable(fits, next, *tat);
        if fits { Decision::Allow } else { Decision::Deny }
    }
}
