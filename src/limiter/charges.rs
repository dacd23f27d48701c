//! What a sliding log keeps where costs differ: an instant and a cost each.

use super::Ring;
use super::entries::{Entries, Span};

/// One admitted attempt.
#[derive(Clone, Copy, Debug, Default)]
struct Charge {
    at: i64,
    cost: u64,
}

/// Entries of any cost, oldest first, and the sum of their costs. Entries that have left may linger
/// until their room is needed. Two fit beside what else a key has in a line of the cache.
#[derive(Clone, Debug)]
pub struct Charges {
    entries: Ring<Charge, 2>,
    sum: u64,
}

impl Charges {
    fn drop_oldest(&mut self, oldest: Charge) {
        self.sum -= oldest.cost;
        self.entries.pop_front();
    }
}

impl Entries for Charges {
    fn none() -> Self {
        Self { entries: Ring::new(), sum: 0 }
    }

    #[inline(always)]
    fn newest(&self) -> i64 {
        self.entries.back().map_or(i64::MIN, |newest| newest.at)
    }

    #[inline(always)]
    fn prefetch(&self) -> u64 {
        self.sum ^ self.newest() as u64
    }

    fn iter(&self, gone: i64) -> impl Iterator<Item = (i64, u64)> {
        self.entries.iter().skip_while(move |entry| entry.at <= gone).map(|entry| (entry.at, entry.cost))
    }

    fn used(&self, gone: i64) -> u64 {
        let left: u64 = self.entries.iter().take_while(|entry| entry.at <= gone).map(|entry| entry.cost).sum();
        self.sum - left
    }

    #[inline]
    fn sweep(&mut self, gone: i64) -> u64 {
        while let Some(oldest) = self.entries.front().filter(|oldest| oldest.at <= gone) {
            self.drop_oldest(oldest);
        }
        self.sum
    }

    #[inline]
    fn append(&mut self, at: i64, cost: u64, span: Span) {
        // What has left makes place before the ring grows.
        self.sweep(span.gone(at));
        self.entries.push_back(Charge { at, cost });
        self.sum = self.sum.saturating_add(cost);
    }

    fn append_refused(&mut self, at: i64, cost: u64, span: Span) {
        self.append(at, cost, span);
        while self.sum > span.units
            && let Some(oldest) = self.entries.front()
        {
            self.drop_oldest(oldest);
            if self.sum < span.units {
                self.entries.push_front(Charge { cost: span.units - self.sum, ..oldest });
                self.sum = span.units;
            }
        }
    }

    fn take_back(&mut self, at: i64, units: u64) -> u64 {
        let mut left = units;
        self.entries.edit(|entries| {
            let mut end = entries.partition_point(|entry| entry.at <= at);
            while left > 0 && end > 0 && entries[end - 1].at == at {
                end -= 1;
                let given = entries[end].cost.min(left);
                entries[end].cost -= given;
                left -= given;
                if entries[end].cost == 0 {
                    entries.remove(end);
                }
            }
        });
        self.sum -= units - left;
        units - left
    }

    #[inline(always)]
    fn settle(&mut self, _at: i64, _cost: u64, _span: Span) -> Option<bool> {
        None
    }

    fn heap_bytes(&self) -> usize {
        self.entries.heap_bytes()
    }
}
