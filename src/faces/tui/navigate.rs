//! Moving about: the cursor, and the span on the screen.

use super::action::Effect;
use super::app::App;
use super::view::Span;
use crate::report::{Direction, Mark, Place};
use crate::time::SimTime;
use std::time::Duration;

impl App {
    /// Shows a span; the cursor comes along.
    pub(super) fn show(&mut self, span: Span) {
        self.view = span.within(self.whole);
        let at = self.cursor.at.nanos();
        if !self.view.contains(at) {
            self.cursor = Place::after(SimTime::from_nanos(at.clamp(self.view.from, self.view.last())));
        }
    }

    /// Puts the cursor somewhere in the run; the screen comes along.
    pub(super) fn go(&mut self, place: Place, forward: bool) {
        let at = place.at.nanos().clamp(self.whole.from, self.whole.last());
        self.cursor = if at == place.at.nanos() { place } else { Place::after(SimTime::from_nanos(at)) };
        if !self.view.contains(at) {
            self.view = self.view.around(at, forward, self.whole);
        }
    }

    fn go_to_instant(&mut self, at: i64, forward: bool) {
        self.seek = None;
        self.go(Place::after(SimTime::from_nanos(at)), forward);
    }

    pub(super) fn play(&mut self) {
        self.player.playing = !self.player.playing;
        self.seek = None;
        if self.player.playing && self.cursor.at.nanos() == self.whole.last() {
            let beginning = if self.view.contains(self.whole.last()) { self.view.from } else { self.whole.from };
            self.go_to_instant(beginning, true);
        }
    }

    pub(super) fn tick(&mut self, elapsed: Duration) {
        if !self.player.playing || self.run.is_none() {
            return;
        }
        let before = self.cursor.at.nanos();
        let at = before.saturating_add(self.player.advance(elapsed, self.view));
        // The action is played to its end; going on from there turns the pages.
        let end = self.focus.last();
        if self.view == self.focus && self.focus != self.whole && before < end && at >= end {
            self.go_to_instant(end, true);
            self.player.playing = false;
            self.message = Some("the end of the action; space goes on, 0 shows the whole run".to_owned());
            return;
        }
        if at >= self.whole.last() {
            self.player.playing = false;
            self.message = Some("the end of the run; space plays it again".to_owned());
        }
        if at != before {
            self.go_to_instant(at, true);
        }
    }

    /// One arrival on, if the arrivals around the cursor are known; a search if the next one is
    /// beyond them; a column if there are too many.
    pub(super) fn step(&mut self, direction: Direction) -> Option<Effect> {
        self.player.playing = false;
        let neighbour = self.listing().and_then(|detail| {
            let decided = detail.decided(self.cursor);
            let arrival = match direction {
                Direction::Forward => detail.arrivals.get(decided),
                Direction::Backward => {
                    let current = detail.arrivals.get(decided.checked_sub(1)?)?;
                    // Standing on an arrival, the one before it; standing after one, that one.
                    let on_it = self.cursor.at == current.at;
                    detail.arrivals.get((decided - 1).checked_sub(usize::from(on_it))?)
                }
            };
            arrival.map(|arrival| Place { at: arrival.at, arrival: Some(arrival.number) })
        });
        let forward = direction == Direction::Forward;
        if let Some(place) = neighbour {
            self.seek = None;
            self.go(place, forward);
            return None;
        }
        let columns = usize::from(self.layout().strip.width);
        if self.seen(self.view, columns).is_some_and(crate::report::Detail::lists_arrivals) {
            return Some(self.search(Mark::Arrival, direction));
        }
        let at = self.cursor.at.nanos();
        let column = self.view.column(at, columns.max(1));
        let end = |column: usize| self.view.edge(column + 1, columns.max(1)) - 1;
        let to = match direction {
            Direction::Forward if end(column) > at => end(column),
            Direction::Forward => end(column + 1).max(at + 1),
            Direction::Backward => (self.view.edge(column, columns.max(1)) - 1).min(at - 1),
        };
        self.go_to_instant(to, forward);
        None
    }

    pub(super) fn stride(&mut self, direction: Direction) {
        self.player.playing = false;
        let by = (self.view.length() / 10).max(1);
        let forward = direction == Direction::Forward;
        let at = self.cursor.at.nanos();
        self.go_to_instant(if forward { at.saturating_add(by) } else { at.saturating_sub(by) }, forward);
    }

    pub(super) fn home(&mut self) {
        self.player.playing = false;
        let there = self.cursor.at.nanos() == self.view.from;
        self.go_to_instant(if there { self.whole.from } else { self.view.from }, false);
    }

    pub(super) fn end(&mut self) {
        self.player.playing = false;
        let there = self.cursor == Place::after(SimTime::from_nanos(self.view.last()));
        self.go_to_instant(if there { self.whole.last() } else { self.view.last() }, true);
    }
}
