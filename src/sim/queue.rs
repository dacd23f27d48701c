//! The event queue: a radix heap, whose cost an event grows with the bits of its distance in time and
//! hardly with how many are pending.
//!
//! Simulated time never runs backwards, which is all that a radix heap asks. The order is total:
//! instant, class, sequence. What comes up at the present instant takes its place by its class.

use std::collections::VecDeque;

/// When an event happens, in order: its instant, then its class at that instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Due(u64);

/// What comes first at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Class {
    /// A server finishes: what it frees is there for everything else of the instant.
    Departure,
    /// An answer, a release, a time-out.
    Change,
    /// An arrival of the traffic.
    Arrival,
    /// A retry.
    Retry,
}

/// How many classes there are.
const CLASSES: usize = 4;

impl Due {
    /// The last instant that can be told, in nanoseconds since the run's origin: 146 years.
    pub const MAX: u64 = u64::MAX >> 2;

    /// An event at `at` nanoseconds since the run's origin, at most [`MAX`](Self::MAX).
    #[must_use]
    pub const fn new(at: u64, class: Class) -> Self {
        Self(at << 2 | class as u64)
    }

    /// Its instant in nanoseconds since the run's origin.
    #[must_use]
    pub const fn at(self) -> u64 {
        self.0 >> 2
    }
}

/// Pending events, the earliest first.
#[derive(Debug)]
pub struct EventQueue<T> {
    /// The instant of what was due last; nothing pending is due before it.
    last: u64,
    /// Due at that instant, by class, in order.
    now: [VecDeque<T>; CLASSES],
    /// Due later, by the highest bit in which their instants differ from `last`.
    buckets: [Vec<(u64, T)>; 64],
    /// For each bucket, the earliest in it.
    earliest: [u64; 64],
    /// Buckets that hold something, one bit each.
    filled: u64,
    spare: Vec<(u64, T)>,
}

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            last: 0,
            now: std::array::from_fn(|_| VecDeque::new()),
            buckets: std::array::from_fn(|_| Vec::new()),
            earliest: [u64::MAX; 64],
            filled: 0,
            spare: Vec::new(),
        }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event, not before the instant of what came last.
    #[inline]
    pub fn push(&mut self, due: Due, event: T) {
        debug_assert!(due.at() >= self.last, "time never runs backwards");
        self.put(due.0, event);
    }

    #[inline]
    fn put(&mut self, due: u64, event: T) {
        let at = due >> 2;
        if at <= self.last {
            self.now[(due & 3) as usize].push_back(event);
            return;
        }
        let bucket = 63 - (at ^ self.last).leading_zeros() as usize;
        self.buckets[bucket].push((due, event));
        self.earliest[bucket] = self.earliest[bucket].min(due);
        self.filled |= 1 << bucket;
    }

    /// When the earliest event is due.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Due> {
        if let Some(class) = self.class() {
            return Some(Due(self.last << 2 | class as u64));
        }
        (self.filled != 0).then(|| Due(self.earliest[self.filled.trailing_zeros() as usize]))
    }

    /// Takes the earliest event if it is due before `before`.
    #[inline]
    pub fn pop_before(&mut self, before: Due) -> Option<(Due, T)> {
        let next = self.next().filter(|next| *next < before)?;
        if next.at() > self.last {
            self.advance();
        }
        let event = self.now[(next.0 & 3) as usize].pop_front()?;
        Some((next, event))
    }

    /// The first class of which something is due at the present instant.
    #[inline]
    fn class(&self) -> Option<usize> {
        (0..CLASSES).find(|class| !self.now[*class].is_empty())
    }

    /// Moves on to the earliest bucket's earliest instant.
    fn advance(&mut self) {
        let bucket = self.filled.trailing_zeros() as usize;
        self.filled &= !(1 << bucket);
        self.last = std::mem::replace(&mut self.earliest[bucket], u64::MAX) >> 2;
        std::mem::swap(&mut self.buckets[bucket], &mut self.spare);
        let mut events = std::mem::take(&mut self.spare);
        // All buckets below are empty, so what was there first stays first.
        for (due, event) in events.drain(..) {
            self.put(due, event);
        }
        self.spare = events;
    }

    /// How many events are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.now.iter().map(VecDeque::len).sum::<usize>() + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.class().is_none() && self.filled == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::cmp::Reverse;
    use std::collections::BinaryHeap;

    proptest! {
        /// Against a binary heap of (instant, class, sequence), in a hold pattern.
        #[test]
        fn leaves_in_the_order_of_instant_class_and_sequence(
            steps in prop::collection::vec((0_u64..1 << 40, 0_u32..41, 0_u8..3, 1_usize..4), 1..200),
        ) {
            let (mut queue, mut model) = (EventQueue::default(), BinaryHeap::new());
            let (mut now, mut sequence) = (0, 0_u64);
            for (distance, shift, class, pops) in steps {
                let class = [Class::Departure, Class::Change, Class::Retry][usize::from(class)];
                let due = Due::new(now + (distance >> shift), class);
                queue.push(due, sequence);
                model.push(Reverse((due, sequence)));
                sequence += 1;
                prop_assert_eq!(queue.len(), model.len());
                prop_assert_eq!(queue.next(), model.peek().map(|Reverse((due, _))| *due));
                for _ in 1..pops {
                    let expected = model.pop().map(|Reverse(event)| event);
                    prop_assert_eq!(queue.pop_before(Due(u64::MAX)), expected);
                    now = expected.map_or(now, |(due, _)| due.at());
                }
            }
        }
    }

    #[test]
    fn looking_ahead_does_not_move_time() {
        let mut queue = EventQueue::default();
        queue.push(Due::new(100, Class::Retry), 'b');
        assert_eq!(queue.pop_before(Due::new(50, Class::Arrival)), None);
        queue.push(Due::new(60, Class::Retry), 'a');
        let mut order = std::iter::from_fn(|| queue.pop_before(Due(u64::MAX)));
        assert_eq!(order.next(), Some((Due::new(60, Class::Retry), 'a')));
        assert_eq!(order.next(), Some((Due::new(100, Class::Retry), 'b')));
    }

    #[test]
    fn what_comes_up_at_the_present_instant_takes_its_place_by_its_class() {
        let mut queue = EventQueue::default();
        for event in ['a', 'b'] {
            queue.push(Due::new(7, Class::Retry), event);
        }
        assert_eq!(queue.pop_before(Due(u64::MAX)).map(|(_, event)| event), Some('a'));
        queue.push(Due::new(7, Class::Change), 'c');
        queue.push(Due::new(7, Class::Retry), 'd');
        let rest: Vec<char> = std::iter::from_fn(|| queue.pop_before(Due(u64::MAX)).map(|(_, e)| e)).collect();
        assert_eq!(rest, ['c', 'b', 'd']);
    }
}
