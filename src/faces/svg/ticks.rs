//! Round values along an axis, and how they are written.

use crate::faces::format::count;
use plotters::coord::ranged1d::{BoldPoints, Ranged};
use plotters::coord::types::RangedCoordf64;

/// Round values within a range, at most so many.
pub fn ticks((low, high): (f64, f64), most: usize) -> Vec<f64> {
    RangedCoordf64::from(low..high).key_points(BoldPoints(most))
}

/// A value in as few digits as it has.
pub fn label(value: f64) -> String {
    let text = format!("{value:.3}");
    let text = text.trim_end_matches('0').trim_end_matches('.');
    match text.parse::<u128>() {
        Ok(whole) => count(whole),
        Err(_) => text.to_owned(),
    }
}
