//! What a sliding counter keeps of a key: counts of buckets, and what the buckets are tied to.

use std::fmt::Debug;

/// Storage of `buckets + 1` counts, newest first.
pub trait Counts: AsRef<[u64]> + AsMut<[u64]> + Clone + Debug + Send + Sync + 'static {
    /// Zero counts for this many buckets.
    fn zero(buckets: u32) -> Self;
    /// Bytes beyond its own size.
    fn heap_bytes(&self) -> usize;
    /// The counts if they always are two.
    fn pair(&mut self) -> Option<&mut [u64; 2]>;
}

impl Counts for [u64; 2] {
    fn zero(_buckets: u32) -> Self {
        [0; 2]
    }
    fn heap_bytes(&self) -> usize {
        0
    }
    #[inline(always)]
    fn pair(&mut self) -> Option<&mut [u64; 2]> {
        Some(self)
    }
}

impl Counts for Box<[u64]> {
    fn zero(buckets: u32) -> Self {
        vec![0; buckets as usize + 1].into()
    }
    fn heap_bytes(&self) -> usize {
        size_of_val(&**self)
    }
    #[inline(always)]
    fn pair(&mut self) -> Option<&mut [u64; 2]> {
        None
    }
}

/// What a grid of buckets remembers of its origin.
pub trait Grid: Copy + Debug + Send + Sync + 'static {
    /// Before the first counted attempt.
    const NEW: Self;
    /// Whether it keeps anything of counted attempts.
    const REMEMBERS: bool;
    /// The origin of the grid that an attempt at `at` is counted on, and whether it starts there.
    /// `clock` is the origin of the clock's own grid.
    fn origin(self, at: i64, silence: i64, clock: i64) -> (i64, bool);
    /// Keeps what a counted attempt leaves behind.
    fn counted(&mut self, origin: i64, at: i64);
}

/// A grid on multiples of the bucket since the epoch.
#[derive(Clone, Copy, Debug)]
pub struct ClockGrid;

impl Grid for ClockGrid {
    const NEW: Self = Self;
    const REMEMBERS: bool = false;
    #[inline]
    fn origin(self, _at: i64, _silence: i64, clock: i64) -> (i64, bool) {
        (clock, false)
    }
    #[inline]
    fn counted(&mut self, _origin: i64, _at: i64) {}
}

/// A grid that starts at a key's first counted attempt.
#[derive(Clone, Copy, Debug)]
pub struct FirstRequestGrid {
    origin: i64,
    last: i64,
}

impl Grid for FirstRequestGrid {
    const NEW: Self = Self { origin: i64::MIN, last: i64::MIN };
    const REMEMBERS: bool = true;
    #[inline]
    fn origin(self, at: i64, silence: i64, _clock: i64) -> (i64, bool) {
        if self.last == i64::MIN || at - self.last >= silence { (at, true) } else { (self.origin, false) }
    }
    #[inline]
    fn counted(&mut self, origin: i64, at: i64) {
        self.origin = origin;
        self.last = self.last.max(at);
    }
}
