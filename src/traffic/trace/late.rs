//! Rows that are late: put in order of time, with bounded memory where a window bounds them.

use super::super::{KeyTable, SourceRows};
use super::rows::Rows;
use crate::error::Error;
use crate::time::{SimDuration, SimTime};

/// Rows of a trace, held until no earlier one can come.
pub struct Reorder {
    /// Without one, all rows are held.
    bounded: bool,
    /// In file order, keys as the reader numbers them.
    held: SourceRows,
    /// Those of the held rows that can go out, in order of time, and how many have gone.
    ready: Vec<usize>,
    gone: usize,
    ended: bool,
    numbers: Vec<Numbers>,
}

/// Keys numbered by first appearance among what goes out.
struct Numbers {
    table: KeyTable,
    /// The number by the reader's own; [`NEW`] if it has not gone out.
    by_own: Vec<u32>,
}

const NEW: u32 = u32::MAX;
/// Rows held at least before they are sorted.
const FEW: usize = 4096;

impl Reorder {
    /// Holds rows of `attributes` attributes; all of them unless `bounded`.
    pub fn new(attributes: usize, bounded: bool) -> Self {
        let numbers = || Numbers { table: KeyTable::new(), by_own: Vec::new() };
        Self {
            bounded,
            held: SourceRows::new(attributes),
            ready: Vec::new(),
            gone: 0,
            ended: false,
            numbers: (0..attributes).map(|_| numbers()).collect(),
        }
    }

    /// The values of an attribute, numbered by first appearance in order of time.
    pub fn keys(&self, attribute: usize) -> &KeyTable {
        &self.numbers[attribute].table
    }

    /// Appends up to `max` rows in order of time, those of one instant in file order; none only at
    /// the end.
    pub fn fill(&mut self, source: &mut Rows, rows: &mut SourceRows, max: usize) -> Result<(), Error> {
        while self.gone == self.ready.len() && !self.ended {
            self.read(source)?;
        }
        let next = &self.ready[self.gone..self.ready.len().min(self.gone + max)];
        self.gone += next.len();
        rows.at.extend(next.iter().map(|row| self.held.at[*row]));
        rows.cost.extend(next.iter().map(|row| self.held.cost[*row]));
        for (attribute, numbers) in self.numbers.iter_mut().enumerate() {
            let own = &self.held.ids[attribute];
            let names = source.keys(attribute);
            rows.ids[attribute].extend(next.iter().map(|row| numbers.number(own[*row], names)));
        }
        Ok(())
    }

    /// Reads more rows and finds those that can go out.
    fn read(&mut self, source: &mut Rows) -> Result<(), Error> {
        self.drop_gone();
        // Twice as many as before: each row is then sorted a few times at most.
        let wanted = if self.bounded { self.held.at.len() * 2 + FEW } else { usize::MAX };
        while self.held.at.len() < wanted && !self.ended {
            let before = self.held.at.len();
            source.fill(&mut self.held, FEW)?;
            self.ended = self.held.at.len() == before;
        }
        let until = if self.ended { SimTime::MAX } else { source.earliest() };
        let at = &self.held.at;
        self.ready.extend((0..at.len()).filter(|row| at[*row] <= until));
        self.ready.sort_by_key(|row| at[*row]);
        Ok(())
    }

    /// Forgets the rows that have gone out.
    fn drop_gone(&mut self) {
        let SourceRows { at, cost, ids } = &mut self.held;
        let mut gone = vec![false; at.len()];
        self.ready.drain(..).for_each(|row| gone[row] = true);
        self.gone = 0;
        let stay = |row: &mut usize| {
            *row += 1;
            !gone[*row - 1]
        };
        let mut row = 0;
        at.retain(|_| stay(&mut row));
        row = 0;
        cost.retain(|_| stay(&mut row));
        for ids in ids {
            row = 0;
            ids.retain(|_| stay(&mut row));
        }
    }
}

impl Numbers {
    #[inline]
    fn number(&mut self, own: u32, names: &KeyTable) -> u32 {
        let index = own as usize;
        if index >= self.by_own.len() {
            self.by_own.resize(names.len(), NEW);
        }
        if self.by_own[index] == NEW {
            self.by_own[index] = self.table.intern(names.name(own));
        }
        self.by_own[index]
    }
}

/// The shortest window in round numbers that `late` fits in, if there is one.
pub fn window_for(late: SimDuration) -> Option<SimDuration> {
    const DECIMAL: [u64; 9] = [1, 2, 5, 10, 20, 50, 100, 200, 500];
    const SIXTY: [u64; 7] = [1, 2, 5, 10, 15, 20, 30];
    const HOURS: [u64; 5] = [1, 2, 3, 6, 12];
    let small = [1, 1_000, 1_000_000].into_iter().flat_map(|unit| DECIMAL.map(|count| count * unit));
    let second = 1_000_000_000;
    let middle = [second, 60 * second].into_iter().flat_map(|unit| SIXTY.map(|count| count * unit));
    let hours = HOURS.into_iter().map(|count| count * 3_600 * second);
    let days = [1, 10, 100, 1_000, 10_000].into_iter().flat_map(|tens| [1, 2, 5].map(|count| count * tens));
    let days = days.map(|count| count * 86_400 * second);
    let all = small.chain(middle).chain(hours).chain(days).map(SimDuration::from_nanos);
    all.chain([SimDuration::MAX_CONFIGURED]).find(|window| *window >= late)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn suggests_round_windows() {
        for (late, window) in [
            ("1ns", "1ns"),
            ("3ns", "5ns"),
            ("501ns", "1us"),
            ("1.000000001s", "2s"),
            ("31s", "1m"),
            ("59m", "1h"),
            ("4h", "6h"),
            ("13h", "1d"),
            ("19675d", "20000d"),
            ("52000d", "53000d"),
        ] {
            let late = late.parse().expect("a duration");
            assert_eq!(window_for(late).map(|window| window.to_string()), Some(window.to_owned()));
        }
        assert_eq!(window_for(SimDuration::from_nanos(u64::MAX)), None);
    }
}
