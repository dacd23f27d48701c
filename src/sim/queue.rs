//! The event queue: a radix heap on digits of four bits, whose cost an event grows with the digits of
//! its distance in time and hardly with how many are pending.
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
    /// An operation at the store: it reads after all writes of the instant.
    Store,
    /// A retry. Arrivals of the traffic, which are no events, come just before.
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

/// Events that lie in one bucket when they are shown as coming soon: enough for their memory to be
/// fetched at the same time, and few enough for it to be there still.
const SOON: std::ops::Range<usize> = 8..128;

/// Pending events, the earliest first.
#[derive(Debug)]
pub struct EventQueue<T> {
    /// The instant of what was due last; nothing pending is due before it.
    last: u64,
    /// Due at that instant, by class, in order.
    now: [VecDeque<T>; CLASSES],
    /// Classes of which something is, one bit each.
    present: u8,
    /// Due later, by the highest digit in which their instants differ from `last`, and by that digit.
    buckets: Box<[Vec<(u64, T)>; BUCKETS]>,
    /// For each bucket, the earliest in it.
    earliest: Box<[u64; BUCKETS]>,
    /// Places of digits of which some bucket holds something, one bit each.
    places: u32,
    /// For each place, the digits of which one does.
    digits: [u16; PLACES],
    spare: Vec<(u64, T)>,
}

/// Bits of a digit: an event is moved at most once for each digit, and the buckets of all digits
/// are to stay near.
const DIGIT: u32 = 4;
/// Digits of a time.
const PLACES: usize = 64 / DIGIT as usize;
const BUCKETS: usize = PLACES << DIGIT;

impl<T> Default for EventQueue<T> {
    fn default() -> Self {
        Self {
            last: 0,
            now: std::array::from_fn(|_| VecDeque::new()),
            present: 0,
            buckets: Box::new(std::array::from_fn(|_| Vec::new())),
            earliest: Box::new([u64::MAX; BUCKETS]),
            places: 0,
            digits: [0; PLACES],
            spare: Vec::new(),
        }
    }
}

impl<T> EventQueue<T> {
    /// Adds an event, not before the instant of what came last.
    // Called from many places, each of which would grow by it.
    #[inline(never)]
    pub fn push(&mut self, due: Due, event: T) {
        debug_assert!(due.at() >= self.last, "time never runs backwards");
        self.put(due.0, event);
    }

    // Inlined, so that an entry's parts go straight to their place and are not put together on the stack.
    #[inline(always)]
    fn put(&mut self, due: u64, event: T) {
        let at = due >> 2;
        if at <= self.last {
            self.now[(due & 3) as usize].push_back(event);
            self.present |= 1 << (due & 3);
            return;
        }
        let place = ((63 - (at ^ self.last).leading_zeros()) / DIGIT) as usize;
        let digit = (at >> (place as u32 * DIGIT)) as usize & ((1 << DIGIT) - 1);
        let bucket = place << DIGIT | digit;
        self.buckets[bucket].push((due, event));
        self.earliest[bucket] = self.earliest[bucket].min(due);
        self.places |= 1 << place;
        self.digits[place] |= 1 << digit;
    }

    /// When the earliest event is due.
    #[inline]
    #[must_use]
    pub fn next(&self) -> Option<Due> {
        if self.present != 0 {
            return Some(Due(self.last << 2 | u64::from(self.present.trailing_zeros())));
        }
        (self.places != 0).then(|| Due(self.earliest[self.first()]))
    }

    /// The bucket of the earliest event; some bucket holds one.
    #[inline]
    fn first(&self) -> usize {
        let place = self.places.trailing_zeros() as usize;
        place << DIGIT | self.digits[place].trailing_zeros() as usize
    }

    /// Takes the earliest event if it is due before `before`.
    #[inline]
    pub fn pop_before(&mut self, before: Due) -> Option<(Due, T)> {
        self.pop_looking_ahead(before, |_| ())
    }

    /// The same; `soon` is shown events some time before they are taken, some of them more than once,
    /// so that what they need can be fetched from memory meanwhile.
    #[inline]
    pub fn pop_looking_ahead(&mut self, before: Due, soon: impl FnMut(&T)) -> Option<(Due, T)> {
        let next = self.next().filter(|next| *next < before)?;
        if next.at() > self.last
            && let Some(event) = self.advance(soon)
        {
            return Some((next, event));
        }
        let class = (next.0 & 3) as usize;
        let event = self.now[class].pop_front()?;
        self.present &= !(u8::from(self.now[class].is_empty()) << class);
        Some((next, event))
    }

    /// Moves on to the earliest bucket's earliest instant; answers its event if the bucket has no other.
    #[inline]
    fn advance(&mut self, mut soon: impl FnMut(&T)) -> Option<T> {
        let bucket = self.first();
        let (place, digit) = (bucket >> DIGIT, bucket & ((1 << DIGIT) - 1));
        self.digits[place] &= !(1 << digit);
        self.places &= !(u32::from(self.digits[place] == 0) << place);
        self.last = std::mem::replace(&mut self.earliest[bucket], u64::MAX) >> 2;
        // The usual case with few pending.
        if let [_] = self.buckets[bucket][..] {
            return self.buckets[bucket].pop().map(|(_, event)| event);
        }
        std::mem::swap(&mut self.buckets[bucket], &mut self.spare);
        let mut events = std::mem::take(&mut self.spare);
        if SOON.contains(&events.len()) {
            events.iter().for_each(|(_, event)| soon(event));
        }
        // All buckets of lower places are empty, so what was there first stays first.
        for (due, event) in events.drain(..) {
            self.put(due, event);
        }
        self.spare = events;
        None
    }

    /// How many events are pending: a look at every bucket.
    #[must_use]
    pub fn len(&self) -> usize {
        self.now.iter().map(VecDeque::len).sum::<usize>() + self.buckets.iter().map(Vec::len).sum::<usize>()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.present == 0 && self.places == 0
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
                let class = [Class::Departure, Class::Change, Class::Store, Class::Retry][usize::from(class)];
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
        assert_eq!(queue.pop_before(Due::new(50, Class::Retry)), None);
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
