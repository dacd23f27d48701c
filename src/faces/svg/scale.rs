//! Numbers along a line.

use super::ticks::ticks;

/// Numbers between two ends, in equal steps or equal factors.
#[derive(Clone, Copy, Debug)]
pub struct Scale {
    /// The least.
    pub low: f64,
    /// The most.
    pub high: f64,
    /// Whether equal lengths are equal factors.
    pub log: bool,
}

impl Scale {
    /// How far on the way from the least to the most, 0 to 1.
    pub fn share(self, value: f64) -> f64 {
        let place = |value: f64| if self.log { libm::log10(value.max(f64::MIN_POSITIVE)) } else { value };
        let (low, high) = (place(self.low), place(self.high));
        if high > low { ((place(value) - low) / (high - low)).clamp(0.0, 1.0) } else { 0.5 }
    }

    /// What is at a share of the way.
    pub fn at(self, share: f64) -> f64 {
        match self.log {
            true => self.low * libm::pow(self.high / self.low, share),
            false => self.low + (self.high - self.low) * share,
        }
    }

    /// Where a value stands on a line between two ends.
    pub fn place(self, value: f64, (from, until): (i32, i32)) -> i32 {
        from + (f64::from(until - from) * self.share(value)).round() as i32
    }

    /// Values to label: powers of ten, or at most so many round ones.
    pub fn labels(self, most: usize) -> Vec<f64> {
        if !self.log {
            return ticks((self.low, self.high), most);
        }
        let (from, until) = (libm::log10(self.low).round() as i32, libm::log10(self.high).floor() as i32);
        (from..=until).map(power).collect()
    }
}

/// A power of ten.
pub fn power(exponent: i32) -> f64 {
    libm::pow(10.0, f64::from(exponent))
}

/// The least and the most of some values; of none, infinity and its opposite.
pub fn ends(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let wider = |(low, high): (f64, f64), value: f64| (low.min(value), high.max(value));
    values.into_iter().fold((f64::INFINITY, f64::NEG_INFINITY), wider)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_go_there_and_back() {
        for scale in [Scale { low: 1.0, high: 1000.0, log: true }, Scale { low: 0.0, high: 8.0, log: false }] {
            for share in [0.0, 0.25, 0.5, 1.0] {
                assert!((scale.share(scale.at(share)) - share).abs() < 1e-9);
            }
        }
        assert!((Scale { low: 1.0, high: 1000.0, log: true }.share(10.0) - 1.0 / 3.0).abs() < 1e-9);
    }

    #[test]
    fn labels_are_round_and_within() {
        assert_eq!(Scale { low: 0.1, high: 200.0, log: true }.labels(7), [0.1, 1.0, 10.0, 100.0]);
        assert_eq!(Scale { low: 0.0, high: 1.0, log: false }.labels(3), [0.0, 0.5, 1.0]);
    }
}
