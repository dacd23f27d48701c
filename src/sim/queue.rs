//! The event queue: a radix heap, whose cost an event grows with the bits of its distance in time and
//! hardly with how many are pending.
//!
//! Simulated time never runs backwards, which is all that a radix heap asks. Events of one instant
//! and class leave in the order in which they came.

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
    /// What was due last; nothing pending is due before it.
    last: u64,
    /// Due exactly then, in order.
    now: VecDeque<T>,
    /// By the highest bit in which they differ from `last`.
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
            now: VecDeque::new(),
            buckets: std::array::from_fn(|_| Vec::new()),
            earliest: [u64::MAX; 64],
            filled: 0,
            spare: Vec::new(),
        }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event. What is due before what came last happens next.
    #[inline]
    pub fn push(&mut self, due: Due, event: T) {
        if due.0 <= self.last {
            self.now.push_back(event);
            return;
        }
        self.put(due.0, event);
    }

    #[inline]
    fn put(&mut self, due: u64, event: T) {
        let bucket = 63 - (due ^ self.last).leading_zeros() as usize;
        self.buckets[bucket].push((due, event));
        self.earliest[bucket] = self.earliest[bucket].min(due);
        self.filled |= 1 << bucket;
    }

    /// When the earliest event is due.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Due> {
        if !self.now.is_empty() {
            return Some(Due(self.last));
        }
        (self.filled != 0).then(|| Due(self.earliest[self.filled.trailing_zeros() as usize]))
    }

    /// Takes the earliest event if it is due before `before`.
    #[inline]
    pub fn pop_before(&mut self, before: Due) -> Option<(Due, T)> {
        if self.next()? >= before {
            return None;
        }
        if self.now.is_empty() {
            self.advance();
        }
        self.now.pop_front().map(|event| (Due(self.last), event))
    }

    /// Moves on to the earliest bucket's earliest instant.
    fn advance(&mut self) {
        let bucket = self.filled.trailing_zeros() as usize;
        self.filled &= !(1 << bucket);
        self.last = std::mem::replace(&mut self.earliest[bucket], u64::MAX);
        std::mem::swap(&mut self.buckets[bucket], &mut self.spare);
        let mut events = std::mem::take(&mut self.spare);
        // All buckets below are empty, so what was there first stays first.
        for (due, event) in events.drain(..) {
            if due == self.last { self.now.push_back(event) } else { self.put(due, event) }
        }
        self.spare = events;
    }

    /// How many events are pending.
    #[must_use]
    pub fn len(&self) -> usize {
        self.now.len() + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.now.is_empty() && self.filled == 0
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
                // At least a nanosecond ahead: what is due at once is a case of its own.
                let due = Due::new(now + 1 + (distance >> shift), class);
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
    fn what_is_due_at_once_comes_after_what_waits_for_the_same_instant() {
        let mut queue = EventQueue::default();
        for event in ['a', 'b'] {
            queue.push(Due::new(7, Class::Retry), event);
        }
        assert_eq!(queue.pop_before(Due(u64::MAX)).map(|(_, event)| event), Some('a'));
        queue.push(Due::new(7, Class::Change), 'c');
        let rest: Vec<char> = std::iter::from_fn(|| queue.pop_before(Due(u64::MAX)).map(|(_, e)| e)).collect();
        assert_eq!(rest, ['b', 'c']);
    }
}
