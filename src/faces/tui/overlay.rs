//! What lies over the lanes, and what keys do to it.

use super::app::App;
use super::picker::Picker;

/// What lies over the lanes.
#[derive(Clone, Debug)]
pub(super) enum Overlay {
    /// Nothing.
    None,
    /// The help, from this line on.
    Help { scroll: usize },
    /// Why a run could not be made.
    Failure { text: String, scroll: usize },
    /// The list of keys.
    Picker(Picker),
}

impl App {
    pub(super) fn scroll(&mut self, by: i32) {
        let keys = self.run.as_ref().map_or(&[][..], |run| &run.keys);
        match &mut self.overlay {
            Overlay::None => {}
            Overlay::Help { scroll } | Overlay::Failure { scroll, .. } => {
                *scroll = scroll.saturating_add_signed(by as isize).min(999);
            }
            Overlay::Picker(picker) => picker.scroll(by, keys),
        }
    }

    pub(super) fn pick(&mut self, change: impl FnOnce(&mut Picker)) {
        if let Overlay::Picker(picker) = &mut self.overlay {
            change(picker);
        }
    }

    pub(super) fn choose(&mut self) {
        let (Overlay::Picker(picker), Some(run)) = (&self.overlay, &self.run) else { return };
        match picker.chosen(&run.keys) {
            Some(key) => {
                self.overlay = Overlay::None;
                self.show_key(key);
            }
            None => self.message = Some(format!("no key in the list contains `{}`", picker.filter)),
        }
    }

    pub(super) fn list_keys(&mut self) {
        match self.run.as_ref().map_or(0, |run| run.keys.len()) {
            0 => self.message = Some("there are no keys: nothing arrives".to_owned()),
            1 if self.key.is_none() => self.message = Some("all arrivals have the same key".to_owned()),
            _ => self.overlay = Overlay::Picker(Picker::new(self.key)),
        }
    }

    /// Closes what is open; never leaves, so that one press too many does no harm.
    pub(super) fn close(&mut self) {
        if matches!(self.overlay, Overlay::None) {
            self.message = Some("nothing is open; q quits".to_owned());
        }
        self.overlay = Overlay::None;
    }

    pub(super) fn show_key(&mut self, key: Option<usize>) {
        if self.key != key {
            self.key = key;
            self.details.clear();
            self.seek = None;
        }
    }
}
