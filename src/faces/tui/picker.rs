//! The list of keys: type to filter, choose one or all.

use crate::report::KeyCount;

/// What has been typed and what is chosen.
#[derive(Clone, Debug)]
pub(super) struct Picker {
    pub filter: String,
    /// The line that is chosen: 0 stands for all keys, then come the keys that match.
    pub line: usize,
}

impl Picker {
    /// With one key chosen, or all.
    pub fn new(key: Option<usize>) -> Self {
        Self { filter: String::new(), line: key.map_or(0, |key| key + 1) }
    }

    /// The keys that match, by their places in the list.
    pub fn matches<'a>(&'a self, keys: &'a [KeyCount]) -> impl Iterator<Item = usize> + 'a {
        let wanted = self.filter.to_lowercase();
        keys.iter().enumerate().filter(move |(_, key)| key.key.to_lowercase().contains(&wanted)).map(|(i, _)| i)
    }

    /// Adds a letter to the filter; the first key that matches is chosen.
    pub fn push(&mut self, letter: char) {
        self.filter.push(letter);
        self.line = 1;
    }

    /// Takes the last letter back.
    pub fn pop(&mut self) {
        self.filter.pop();
        self.line = usize::from(!self.filter.is_empty());
    }

    /// Moves the choice.
    pub fn scroll(&mut self, by: i32, keys: &[KeyCount]) {
        let last = self.matches(keys).count();
        self.line = self.line.saturating_add_signed(by as isize).min(last);
    }

    /// What is chosen: one key or all; nothing if no key matches.
    pub fn chosen(&self, keys: &[KeyCount]) -> Option<Option<usize>> {
        match self.line.checked_sub(1) {
            None => Some(None),
            Some(line) => self.matches(keys).nth(line).map(Some),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn typing_narrows_the_list_and_chooses_its_first_key() {
        let keys = ["alice", "bob", "Alan"].map(|key| KeyCount { key: key.to_owned(), arrivals: 1 });
        let mut picker = Picker::new(None);
        assert_eq!(picker.chosen(&keys), Some(None));
        picker.push('a');
        picker.push('l');
        assert_eq!((picker.matches(&keys).collect::<Vec<_>>(), picker.chosen(&keys)), (vec![0, 2], Some(Some(0))));
        picker.scroll(5, &keys);
        assert_eq!(picker.chosen(&keys), Some(Some(2)));
        picker.push('x');
        assert_eq!(picker.chosen(&keys), None);
        picker.scroll(-9, &keys);
        assert_eq!(picker.chosen(&keys), Some(None));
    }
}
