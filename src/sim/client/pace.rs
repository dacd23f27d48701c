//! The send rate of the AWS SDKs' adaptive mode: CUBIC on the rate at which a client is throttled.
//! It is floating point in the original, and therefore here.

/// One client's send rate.
#[derive(Clone, Debug)]
pub struct SendRate {
    enabled: bool,
    /// Tokens a second, and the most that are kept.
    fill: f64,
    capacity: f64,
    tokens: f64,
    filled_at: f64,
    /// Answers a second, smoothed, by half seconds.
    measured: f64,
    count: u64,
    bucket: f64,
    last_max: f64,
    throttled_at: f64,
}

impl Default for SendRate {
    fn default() -> Self {
        Self {
            enabled: false,
            fill: 0.0,
            capacity: 0.0,
            tokens: 0.0,
            filled_at: 0.0,
            measured: 0.0,
            count: 0,
            bucket: 0.0,
            last_max: 0.0,
            throttled_at: 0.0,
        }
    }
}

/// The least tokens a second.
const LEAST: f64 = 0.5;
/// What is kept of the rate after a refusal.
const BETA: f64 = 0.7;
/// How fast it comes back.
const SCALE: f64 = 0.4;

fn seconds(nanos: u64) -> f64 {
    nanos as f64 / 1e9
}

impl SendRate {
    fn refill(&mut self, now: f64) {
        self.tokens = (self.tokens + (now - self.filled_at).max(0.0) * self.fill).min(self.capacity);
        self.filled_at = now;
    }

    /// Takes a token, or leaves it owed; how long that takes, in nanoseconds.
    pub fn acquire(&mut self, now: u64) -> u64 {
        if !self.enabled {
            return 0;
        }
        self.refill(seconds(now));
        self.tokens -= 1.0;
        if self.tokens >= 0.0 { 0 } else { (-self.tokens / self.fill * 1e9).ceil() as u64 }
    }

    fn measure(&mut self, now: f64) {
        self.count += 1;
        let bucket = (now * 2.0).floor() / 2.0;
        if bucket > self.bucket {
            self.measured = 0.8 * self.count as f64 / (bucket - self.bucket) + 0.2 * self.measured;
            (self.count, self.bucket) = (0, bucket);
        }
    }

    /// An answer came.
    pub fn answered(&mut self, now: u64, throttled: bool) {
        let now = seconds(now);
        self.measure(now);
        let rate = if throttled {
            let rate = if self.enabled { self.measured.min(self.fill) } else { self.measured };
            self.last_max = rate;
            self.throttled_at = now;
            self.enabled = true;
            BETA * rate
        } else {
            SCALE * libm::pow(now - self.throttled_at - self.recovery(), 3.0) + self.last_max
        };
        self.refill(now);
        self.fill = rate.min(2.0 * self.measured).max(LEAST);
        self.capacity = self.fill.max(1.0);
        self.tokens = self.tokens.min(self.capacity);
    }

    /// Seconds from a refusal to the rate at which it happened.
    fn recovery(&self) -> f64 {
        libm::cbrt(self.last_max * (1.0 - BETA) / SCALE)
    }

    #[cfg(test)]
    fn cubic(&self, after: f64) -> f64 {
        SCALE * libm::pow(after - self.recovery(), 3.0) + self.last_max
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The figures that the library itself gave for a throttle at 10 a second.
    #[test]
    fn the_curve_is_the_librarys() {
        let rate = SendRate { last_max: 10.0, ..SendRate::default() };
        let near = |got: f64, expected: f64| assert!((got - expected).abs() < 6e-4, "{got} for {expected}");
        near(rate.recovery(), 1.957);
        near(rate.cubic(1.0), 9.649);
        near(rate.cubic(1.957), 10.0);
        near(rate.cubic(3.0), 10.453);
        near(rate.cubic(4.0), 13.409);
    }
}
