//! Units of each key in a trailing window.

use crate::limiter::KeyId;
use std::collections::VecDeque;

/// What came of each key within the last `window` nanoseconds, and the most that ever did.
#[derive(Clone, Debug)]
pub struct Trailing {
    window: i64,
    keys: Vec<(VecDeque<(i64, u64)>, u64)>,
    most: u64,
}

impl Trailing {
    /// Nothing has come yet; the window is half-open.
    #[must_use]
    pub const fn new(window: i64) -> Self {
        Self { window, keys: Vec::new(), most: 0 }
    }

    /// Units come, not before those that came last of the key; how many of it there are then.
    pub fn add(&mut self, key: KeyId, at: i64, units: u64) -> u64 {
        if key.index() >= self.keys.len() {
            self.keys.resize_with(key.index() + 1, Default::default);
        }
        let (entries, sum) = &mut self.keys[key.index()];
        while let Some((_, gone)) = entries.front().copied().filter(|(then, _)| *then <= at - self.window) {
            *sum -= gone;
            entries.pop_front();
        }
        match entries.back_mut() {
            Some((newest, held)) if *newest == at => *held += units,
            _ => entries.push_back((at, units)),
        }
        *sum += units;
        self.most = self.most.max(*sum);
        *sum
    }

    /// The most units of one key within a window.
    #[must_use]
    pub const fn most(&self) -> u64 {
        self.most
    }
}
