//! The states of all keys of one limiter, and the seam at which limiters are chosen at run time.

use super::{Algorithm, Decision, Level, Used};
use crate::time::{SimDuration, SimTime};
use std::any::Any;

/// A key, as a dense number in order of first appearance.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyId(pub u32);

impl KeyId {
    /// The number as an index.
    #[inline]
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// What some attempts cost.
#[derive(Clone, Copy, Debug)]
pub enum Costs<'a> {
    /// One unit each.
    One,
    /// So many units each.
    Each(&'a [u64]),
}

/// Attempts in order of time, as columns of equal length.
#[derive(Clone, Copy, Debug)]
pub struct Rows<'a> {
    /// When each arrives.
    pub at: &'a [SimTime],
    /// Its key; new keys are numbered in order of appearance.
    pub key: &'a [KeyId],
    /// What each costs.
    pub cost: Costs<'a>,
}

/// A column of bits.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Bits {
    words: Vec<u64>,
    len: usize,
}

impl Bits {
    /// Removes all bits.
    pub fn clear(&mut self) {
        self.words.clear();
        self.len = 0;
    }

    /// Appends one bit.
    pub fn push(&mut self, bit: bool) {
        if self.len.is_multiple_of(64) {
            self.words.push(0);
        }
        if bit {
            *self.words.last_mut().expect("a word was pushed for this bit") |= 1 << (self.len % 64);
        }
        self.len += 1;
    }

    /// Appends up to 64 bits, the lowest first; all words but the last are whole.
    #[inline]
    fn push_word(&mut self, word: u64, bits: usize) {
        self.words.push(word);
        self.len += bits;
    }

    /// Makes all `len` bits zero.
    pub fn fill_zero(&mut self, len: usize) {
        self.words.clear();
        self.words.resize(len.div_ceil(64), 0);
        self.len = len;
    }

    /// Sets the bits at which two columns of the same length differ.
    pub fn mark_differences(&mut self, a: &Self, b: &Self) {
        for ((word, a), b) in self.words.iter_mut().zip(&a.words).zip(&b.words) {
            *word |= a ^ b;
        }
    }

    /// Sets bit `index`.
    pub fn set(&mut self, index: usize) {
        self.words[index / 64] |= 1 << (index % 64);
    }

    /// Bit `index`.
    #[inline]
    #[must_use]
    pub fn get(&self, index: usize) -> bool {
        self.words[index / 64] >> (index % 64) & 1 == 1
    }

    /// How many bits there are.
    #[must_use]
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    #[must_use]
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The bits, 64 a word, the lowest first; bits past the end are zero.
    #[must_use]
    pub fn words(&self) -> &[u64] {
        &self.words
    }

    /// How many bits of `range` are set.
    #[must_use]
    pub fn count(&self, range: std::ops::Range<usize>) -> u64 {
        if range.is_empty() {
            return 0;
        }
        let (first, last) = (range.start / 64, (range.end - 1) / 64);
        let head = !0 << (range.start % 64);
        let tail = !0 >> (63 - (range.end - 1) % 64);
        if first == last {
            return u64::from((self.words[first] & head & tail).count_ones());
        }
        let middle: u32 = self.words[first + 1..last].iter().map(|word| word.count_ones()).sum();
        u64::from((self.words[first] & head).count_ones() + middle + (self.words[last] & tail).count_ones())
    }

    /// The indices of the bits that are set.
    pub fn ones(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, word)| {
            let mut rest = *word;
            std::iter::from_fn(move || {
                (rest != 0).then(|| {
                    let bit = rest.trailing_zeros() as usize;
                    rest &= rest - 1;
                    i * 64 + bit
                })
            })
        })
    }
}

/// The decisions on a batch: a bit a row, and the waits of those delayed.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Verdicts {
    /// Allowed or delayed.
    pub admitted: Bits,
    /// Row and wait in nanoseconds of each delayed attempt, in order of rows.
    pub waits: Vec<(u32, u64)>,
}

impl Verdicts {
    /// Forgets all decisions.
    pub fn clear(&mut self) {
        self.admitted.clear();
        self.waits.clear();
    }

    /// How long row `row` waits, in nanoseconds; zero unless delayed.
    #[must_use]
    pub fn wait(&self, row: usize) -> u64 {
        let place = self.waits.binary_search_by_key(&row, |(delayed, _)| *delayed as usize);
        place.map_or(0, |place| self.waits[place].1)
    }

    /// Appends the decision on the next row.
    pub fn push(&mut self, decision: Decision) {
        if let Decision::Delay(wait) = decision {
            self.waits.push((self.admitted.len() as u32, wait.short_nanos()));
        }
        self.admitted.push(decision.admits());
    }
}

/// Memory that a limiter holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StateSize {
    /// Keys with a state.
    pub keys: u64,
    /// Bytes of their states, heap included.
    pub bytes: u64,
}

/// The state of one key, checked out by a reader that may race others.
#[derive(Debug)]
pub struct Snapshot(Box<dyn Any + Send>);

/// A limiter over many keys, whatever its algorithm.
pub trait Limiter: Send {
    /// Decides all rows in order.
    fn decide_batch(&mut self, rows: Rows<'_>, verdicts: &mut Verdicts);
    /// Decides one attempt.
    fn decide(&mut self, key: KeyId, at: SimTime, cost: u64) -> Decision;
    /// What one attempt would be answered; changes nothing.
    fn ask(&self, key: KeyId, at: SimTime, cost: u64) -> Decision;
    /// Takes `cost` units, whether or not they are there.
    fn charge(&mut self, key: KeyId, at: SimTime, cost: u64);
    /// Leaves behind what a refusal leaves behind.
    fn refuse(&mut self, key: KeyId, at: SimTime, cost: u64);
    /// Gives back `cost` units charged at `charged_at`.
    fn refund(&mut self, key: KeyId, charged_at: SimTime, at: SimTime, cost: u64);
    /// Forgives a key's debt.
    fn clamp(&mut self, key: KeyId, at: SimTime);
    /// Forgets a key.
    fn reset(&mut self, key: KeyId, at: SimTime);
    /// The smallest wait after which an attempt would be admitted, `None` for never.
    fn retry_after(&self, key: KeyId, at: SimTime, cost: u64) -> Option<SimDuration>;
    /// The quota view of a key.
    fn level(&self, key: KeyId, at: SimTime) -> Level;
    /// Units of a key in use.
    fn usage(&self, key: KeyId, at: SimTime) -> Used;
    /// A copy of a key's state, as a remote reader sees it.
    fn check_out(&self, key: KeyId, at: SimTime) -> Snapshot;
    /// Decides on a checked-out state.
    fn decide_on(&self, snapshot: &mut Snapshot, at: SimTime, cost: u64) -> Decision;
    /// Replaces a key's state by a checked-out one, whatever happened in between.
    fn commit(&mut self, key: KeyId, at: SimTime, snapshot: Snapshot);
    /// Memory held.
    fn size(&self) -> StateSize;
    /// The same limiter with the same states.
    fn duplicate(&self) -> Box<dyn Limiter>;
    /// Takes over all keys from a limiter of the same algorithm with other parameters.
    fn take_over(&mut self, from: Box<dyn Limiter>, at: SimTime);
    /// Itself, whatever it is.
    fn into_any(self: Box<Self>) -> Box<dyn Any>;
}

/// Bytes of states that a near cache holds anyway.
const NEAR: usize = 1 << 19;

/// The states of all keys under one algorithm.
#[derive(Clone, Debug)]
pub struct Keyed<A: Algorithm> {
    algorithm: A,
    states: Vec<A::State>,
}

impl<A: Algorithm> Keyed<A> {
    /// No keys yet.
    pub const fn new(algorithm: A) -> Self {
        Self { algorithm, states: Vec::new() }
    }

    #[inline]
    fn state(&mut self, key: KeyId, at: SimTime) -> &mut A::State {
        if key.index() >= self.states.len() {
            Self::grow(&mut self.states, &self.algorithm, key, at);
        }
        &mut self.states[key.index()]
    }

    #[cold]
    fn grow<'a>(states: &'a mut Vec<A::State>, algorithm: &A, key: KeyId, at: SimTime) -> &'a mut [A::State] {
        states.resize_with(key.index() + 1, || algorithm.initial(at));
        states
    }

    /// Brings what these keys need into the cache: loads that do not wait for each other.
    fn prefetch(&self, keys: &[KeyId]) {
        let mut seen = 0;
        for key in keys {
            if let Some(state) = self.states.get(key.index()) {
                seen ^= self.algorithm.prefetch(state);
            }
        }
        std::hint::black_box(seen);
    }

    /// Decides up to 64 rows of a batch, from row `first` on.
    #[inline(always)]
    fn decide_chunk(
        &mut self,
        tick: &mut A::Tick,
        first: usize,
        (at, key): (&[SimTime], &[KeyId]),
        costs: impl Iterator<Item = u64>,
        verdicts: &mut Verdicts,
    ) where
        A: Clone,
    {
        // Parameters that no state can lie over stay in registers.
        let algorithm = self.algorithm.clone();
        let mut states = &mut self.states[..];
        let mut word = 0;
        // Every wait is written, and kept if it is one: that is hard to foretell.
        let (mut waits, mut delayed) = ([(0, 0); 64], 0);
        for (i, ((at, key), cost)) in at.iter().zip(key).zip(costs).enumerate() {
            let state = match states.get_mut(key.index()) {
                Some(state) => state,
                None => {
                    states = Self::grow(&mut self.states, &algorithm, *key, *at);
                    &mut states[key.index()]
                }
            };
            algorithm.tick(tick, *at);
            let (admitted, wait) = algorithm.settle(state, tick, *at, cost);
            word = word << 1 | u64::from(admitted);
            if A::DELAYS {
                waits[delayed] = ((first + i) as u32, wait);
                delayed += usize::from(wait > 0);
            }
        }
        // The first row's bit was shifted furthest: reversed, it is the lowest.
        verdicts.admitted.push_word(word.reverse_bits() >> (64 - at.len()), at.len());
        verdicts.waits.extend_from_slice(&waits[..delayed]);
    }

    /// Reads a key's state, or that of a new key.
    fn peek<R>(&self, key: KeyId, at: SimTime, read: impl FnOnce(&A::State) -> R) -> R {
        match self.states.get(key.index()) {
            Some(state) => read(state),
            None => read(&self.algorithm.initial(at)),
        }
    }
}

impl<A: Algorithm + Clone + Send + 'static> Limiter for Keyed<A> {
    fn decide_batch(&mut self, rows: Rows<'_>, verdicts: &mut Verdicts) {
        let Rows { at, key, cost } = rows;
        let priced = if let Costs::Each(costs) = cost { costs.len() } else { at.len() };
        assert!(key.len() == at.len() && priced == at.len(), "columns of equal length");
        verdicts.clear();
        let mut tick = A::Tick::default();
        let far = size_of_val(&*self.states) > NEAR;
        for (chunk, columns) in at.chunks(64).zip(key.chunks(64)).enumerate() {
            if far {
                self.prefetch(columns.1);
            }
            let first = 64 * chunk;
            match cost {
                Costs::One => self.decide_chunk(&mut tick, first, columns, std::iter::repeat(1), verdicts),
                Costs::Each(costs) => {
                    self.decide_chunk(&mut tick, first, columns, costs[first..].iter().copied(), verdicts);
                }
            }
        }
    }

    fn decide(&mut self, key: KeyId, at: SimTime, cost: u64) -> Decision {
        self.state(key, at);
        self.algorithm.decide(&mut self.states[key.index()], at, cost)
    }

    fn ask(&self, key: KeyId, at: SimTime, cost: u64) -> Decision {
        self.peek(key, at, |state| self.algorithm.ask(state, at, cost))
    }

    fn charge(&mut self, key: KeyId, at: SimTime, cost: u64) {
        self.state(key, at);
        self.algorithm.charge(&mut self.states[key.index()], at, cost);
    }

    fn refuse(&mut self, key: KeyId, at: SimTime, cost: u64) {
        self.state(key, at);
        self.algorithm.refuse(&mut self.states[key.index()], at, cost);
    }

    fn refund(&mut self, key: KeyId, charged_at: SimTime, at: SimTime, cost: u64) {
        if let Some(state) = self.states.get_mut(key.index()) {
            self.algorithm.refund(state, charged_at, at, cost);
        }
    }

    fn clamp(&mut self, key: KeyId, at: SimTime) {
        if let Some(state) = self.states.get_mut(key.index()) {
            self.algorithm.clamp(state, at);
        }
    }

    fn reset(&mut self, key: KeyId, at: SimTime) {
        let initial = self.algorithm.initial(at);
        if let Some(state) = self.states.get_mut(key.index()) {
            *state = initial;
        }
    }

    fn retry_after(&self, key: KeyId, at: SimTime, cost: u64) -> Option<SimDuration> {
        self.peek(key, at, |state| self.algorithm.retry_after(state, at, cost))
    }

    fn level(&self, key: KeyId, at: SimTime) -> Level {
        self.peek(key, at, |state| self.algorithm.level(state, at))
    }

    fn usage(&self, key: KeyId, at: SimTime) -> Used {
        self.peek(key, at, |state| self.algorithm.usage(state, at))
    }

    fn check_out(&self, key: KeyId, at: SimTime) -> Snapshot {
        Snapshot(Box::new(self.peek(key, at, A::State::clone)))
    }

    fn decide_on(&self, snapshot: &mut Snapshot, at: SimTime, cost: u64) -> Decision {
        let state = snapshot.0.downcast_mut().expect("a snapshot goes back to the limiter it came from");
        self.algorithm.decide(state, at, cost)
    }

    fn commit(&mut self, key: KeyId, at: SimTime, snapshot: Snapshot) {
        let state = snapshot.0.downcast().expect("a snapshot goes back to the limiter it came from");
        *self.state(key, at) = *state;
    }

    fn duplicate(&self) -> Box<dyn Limiter> {
        Box::new(self.clone())
    }

    fn take_over(&mut self, from: Box<dyn Limiter>, at: SimTime) {
        let from: Self = *from.into_any().downcast().expect("keys go over to the same algorithm");
        self.states = from.states;
        self.states.iter_mut().for_each(|state| self.algorithm.take_over(state, &from.algorithm, at));
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }

    fn size(&self) -> StateSize {
        let heap: usize = self.states.iter().map(|state| self.algorithm.heap_bytes(state)).sum();
        StateSize { keys: self.states.len() as u64, bytes: (self.states.len() * size_of::<A::State>() + heap) as u64 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_bits_of_any_range() {
        let mut bits = Bits::default();
        for i in 0..200 {
            bits.push(i % 3 == 0);
        }
        for start in 0..200 {
            for end in start..=200 {
                let expected = (start..end).filter(|i| i % 3 == 0).count() as u64;
                assert_eq!(bits.count(start..end), expected, "{start}..{end}");
            }
        }
        assert!(bits.ones().eq((0..200).filter(|i| i % 3 == 0)));
    }
}
