//! A ring of entries in order of time: what a log keeps.

/// Entries, oldest first, in a power of two of places, wrapped without a branch. The first `K` places,
/// a power of two, are its own: most keys never have more entries, and those that have none on the
/// heap are one miss of the cache less.
#[derive(Clone, Debug)]
pub struct Ring<E, const K: usize> {
    own: [E; K],
    heap: Box<[E]>,
    /// Where the oldest is, counted on without end: places divide 2^32.
    head: u32,
    len: u32,
}

impl<E: Copy + Default, const K: usize> Ring<E, K> {
    /// Holds nothing.
    #[must_use]
    pub fn new() -> Self {
        const { assert!(K.is_power_of_two(), "places wrap by a mask") };
        Self { own: [E::default(); K], heap: Box::new([]), head: 0, len: 0 }
    }

    #[inline(always)]
    fn places(&self) -> &[E] {
        if self.heap.is_empty() { &self.own } else { &self.heap }
    }

    #[inline(always)]
    fn places_mut(&mut self) -> &mut [E] {
        if self.heap.is_empty() { &mut self.own } else { &mut self.heap }
    }

    #[inline(always)]
    fn place(&self, index: usize) -> usize {
        (self.head as usize + index) & (self.capacity() - 1)
    }

    /// How many entries there are.
    #[inline(always)]
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are none.
    #[inline(always)]
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Places there are: entries until it grows.
    #[must_use]
    pub fn capacity(&self) -> usize {
        self.places().len()
    }

    /// Bytes of those on the heap.
    #[must_use]
    pub fn heap_bytes(&self) -> usize {
        size_of_val(&*self.heap)
    }

    /// Whether one entry more makes it grow.
    #[inline(always)]
    #[must_use]
    pub fn is_full(&self) -> bool {
        self.len() == self.capacity()
    }

    /// The oldest entry.
    #[inline(always)]
    #[must_use]
    pub fn front(&self) -> Option<E> {
        if self.is_empty() { None } else { self.places().get(self.place(0)).copied() }
    }

    /// The newest entry.
    #[inline(always)]
    #[must_use]
    pub fn back(&self) -> Option<E> {
        if self.is_empty() { None } else { self.places().get(self.place(self.len() - 1)).copied() }
    }

    /// The newest entry, to be changed.
    #[inline(always)]
    pub fn back_mut(&mut self) -> Option<&mut E> {
        if self.is_empty() {
            return None;
        }
        let place = self.place(self.len() - 1);
        self.places_mut().get_mut(place)
    }

    /// Removes the oldest entry; there must be one.
    #[inline(always)]
    pub fn pop_front(&mut self) {
        self.head = self.head.wrapping_add(1);
        self.len -= 1;
    }

    /// Puts an entry before all others, in the place of one that was just removed there.
    #[inline(always)]
    pub fn push_front(&mut self, entry: E) {
        self.head = self.head.wrapping_sub(1);
        self.len += 1;
        let place = self.place(0);
        self.places_mut()[place] = entry;
    }

    /// Appends an entry.
    ///
    /// # Panics
    /// If there are 2^31 already.
    #[inline(always)]
    pub fn push_back(&mut self, entry: E) {
        if self.is_full() {
            self.grow();
        }
        let place = self.place(self.len());
        self.places_mut()[place] = entry;
        self.len += 1;
    }

    /// Makes places for twice as many.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        let capacity = 2 * self.capacity();
        assert!(capacity <= 1 << 31, "2^31 entries of one key take more memory than there is");
        let mut places = Vec::with_capacity(capacity);
        places.extend(self.iter());
        places.resize(capacity, E::default());
        (self.heap, self.head) = (places.into(), 0);
    }

    /// All entries, oldest first.
    pub fn iter(&self) -> impl Iterator<Item = E> + '_ {
        let (wrapped, straight) = self.places().split_at(self.place(0));
        straight.iter().chain(wrapped).copied().take(self.len())
    }

    /// Changes the entries as a list.
    pub fn edit<R>(&mut self, change: impl FnOnce(&mut Vec<E>) -> R) -> R {
        let mut entries: Vec<E> = self.iter().collect();
        let result = change(&mut entries);
        *self = Self::new();
        entries.into_iter().for_each(|entry| self.push_back(entry));
        result
    }
}

impl<E: Copy + Default, const K: usize> Default for Ring<E, K> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::VecDeque;

    proptest! {
        #[test]
        fn a_ring_is_a_queue(steps in prop::collection::vec(0..6_u8, 0..200)) {
            let (mut ring, mut queue) = (Ring::<usize, 2>::new(), VecDeque::new());
            for (number, step) in steps.into_iter().enumerate() {
                match step {
                    0 | 1 if !ring.is_empty() => {
                        ring.pop_front();
                        queue.pop_front();
                    }
                    2 => ring.edit(|entries| entries.retain(|entry| entry % 3 != 0)),
                    3 if !ring.is_empty() => {
                        ring.pop_front();
                        ring.push_front(number);
                        queue[0] = number;
                    }
                    _ => {
                        ring.push_back(number);
                        queue.push_back(number);
                    }
                }
                if step == 2 {
                    queue.retain(|entry| entry % 3 != 0);
                }
                prop_assert!(ring.iter().eq(queue.iter().copied()));
                prop_assert_eq!((ring.front(), ring.back()), (queue.front().copied(), queue.back().copied()));
                prop_assert_eq!((ring.len(), ring.is_empty()), (queue.len(), queue.is_empty()));
                prop_assert!(ring.capacity() == 2 || ring.capacity() * size_of::<usize>() == ring.heap_bytes());
            }
        }
    }
}
