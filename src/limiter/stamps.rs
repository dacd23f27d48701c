//! What a sliding log keeps where every attempt costs one unit: an instant each.

use super::entries::{Entries, Span};
use std::hint::select_unpredictable;

/// No entry: before every instant.
const NONE: i64 = i64::MIN;

/// The instants of entries of one unit. The newest stands apart, so that a key of which one is kept
/// needs no more; the older ones lie in a ring that is always full, of what has left at worst. So the
/// oldest alone says whether another has a place.
#[derive(Clone, Debug)]
pub struct Stamps {
    newest: i64,
    older: Box<[i64]>,
    /// Where the oldest is.
    oldest: u32,
}

impl Stamps {
    /// The older ones in order.
    fn older(&self) -> impl Iterator<Item = i64> {
        let (wrapped, straight) = self.older.split_at(self.oldest as usize);
        straight.iter().chain(wrapped).copied()
    }

    /// The place after `place`.
    #[inline(always)]
    fn after(&self, place: u32) -> u32 {
        select_unpredictable(place as usize + 1 == self.older.len(), 0, place + 1)
    }

    fn push(&mut self, at: i64) {
        if let Some(oldest) = self.older.get_mut(self.oldest as usize) {
            *oldest = self.newest;
            self.oldest = self.after(self.oldest);
        }
        self.newest = at;
    }

    /// Makes about twice as many places, but no more than are of use.
    #[cold]
    #[inline(never)]
    fn grow(&mut self, most: u64) {
        // A limit of so many units needs one place less for older entries; debt needs more than the limit.
        let enough = usize::try_from(most.saturating_sub(1)).unwrap_or(usize::MAX);
        let twice = (2 * self.older.len()).max(4);
        let places = if self.older.len() < enough && enough <= twice + twice / 4 { enough } else { twice };
        assert!(places <= 1 << 31, "2^31 entries of one key take more memory than there is");
        (self.older, self.oldest) = (Self::arranged(places, self.older.len(), self.older()), 0);
    }

    /// So many older entries in so many places, in order, after those of no use.
    fn arranged(places: usize, count: usize, entries: impl Iterator<Item = i64>) -> Box<[i64]> {
        let mut older = Vec::with_capacity(places);
        older.resize(places - count, NONE);
        older.extend(entries);
        older.into()
    }

    /// Replaces all entries.
    fn replace(&mut self, mut entries: Vec<i64>) {
        self.newest = entries.pop().unwrap_or(NONE);
        (self.older, self.oldest) = (Self::arranged(self.older.len(), entries.len(), entries.into_iter()), 0);
    }
}

impl Entries for Stamps {
    fn none() -> Self {
        Self { newest: NONE, older: Box::new([]), oldest: 0 }
    }

    #[inline(always)]
    fn newest(&self) -> i64 {
        self.newest
    }

    #[inline(always)]
    fn prefetch(&self) -> u64 {
        (self.newest ^ self.older.get(self.oldest as usize).copied().unwrap_or(NONE)) as u64
    }

    fn iter(&self, gone: i64) -> impl Iterator<Item = (i64, u64)> {
        self.older().chain([self.newest]).skip_while(move |at| *at <= gone).map(|at| (at, 1))
    }

    fn used(&self, gone: i64) -> u64 {
        if self.newest <= gone {
            return 0;
        }
        let (wrapped, straight) = self.older.split_at(self.oldest as usize);
        let left = |part: &[i64]| part.len() - part.partition_point(|at| *at <= gone);
        1 + (left(straight) + left(wrapped)) as u64
    }

    fn sweep(&mut self, gone: i64) -> u64 {
        let (wrapped, straight) = self.older.split_at_mut(self.oldest as usize);
        for part in [straight, wrapped] {
            let unused = part.partition_point(|at| *at == NONE);
            let left = part.partition_point(|at| *at <= gone);
            part[unused..left].fill(NONE);
        }
        if self.newest <= gone {
            self.newest = NONE;
        }
        self.used(gone)
    }

    fn append(&mut self, at: i64, cost: u64, span: Span) {
        for _ in 0..cost {
            let oldest = self.older.get(self.oldest as usize).copied().unwrap_or(self.newest);
            if oldest > span.gone(at) {
                self.grow(span.units);
            }
            self.push(at);
        }
    }

    fn append_refused(&mut self, at: i64, cost: u64, span: Span) {
        for _ in 0..cost {
            let used = self.used(span.gone(at));
            if used < span.units {
                self.append(at, 1, span);
            } else if self.older.len() as u64 + 1 == span.units {
                self.push(at);
            } else {
                let over = (used + 1 - span.units) as usize;
                let mut entries: Vec<i64> = self.iter(span.gone(at)).map(|(at, _)| at).skip(over).collect();
                entries.push(at);
                self.replace(entries);
            }
        }
    }

    fn take_back(&mut self, at: i64, units: u64) -> u64 {
        let mut entries: Vec<i64> = self.iter(NONE).map(|(at, _)| at).collect();
        let end = entries.partition_point(|entry| *entry <= at);
        let same = end - entries.partition_point(|entry| *entry < at);
        let taken = same.min(usize::try_from(units).unwrap_or(usize::MAX));
        entries.drain(end - taken..end);
        self.replace(entries);
        taken as u64
    }

    #[inline(always)]
    fn settle(&mut self, at: i64, cost: u64, span: Span) -> Option<bool> {
        let places = self.older.len() as u64 + 1;
        let Some(oldest) = self.older.get_mut(self.oldest as usize) else {
            let plain = (cost == 1) & (span.units > 0) & (self.newest <= span.gone(at));
            return plain.then(|| {
                self.newest = at;
                true
            });
        };
        // Whether the oldest lives is hard to foretell: no branch on it. Where there are as many places as
        // units, that means a refusal, and no entry lies after `at`; where there are fewer, it means that
        // another place is needed, which takes longer.
        let quick_until = select_unpredictable(places == span.units, at, span.gone(at));
        if cost != 1 || places > span.units || at < self.newest || *oldest > quick_until {
            return None;
        }
        let lives = *oldest > span.gone(at);
        *oldest = select_unpredictable(lives, *oldest, self.newest);
        self.newest = select_unpredictable(lives, self.newest, at);
        let next = self.oldest + u32::from(!lives);
        self.oldest = select_unpredictable(u64::from(next) + 1 == places, 0, next);
        Some(!lives)
    }

    fn heap_bytes(&self) -> usize {
        size_of_val(&*self.older)
    }
}
