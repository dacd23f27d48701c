//! Moving about: the cursor, and the span on the screen.

use super::action::Effect;
use super::app::App;
use super::view::Span;
use crate::report::{Direction, Mark, Place};
use crate::time::SimTime;
use std::time::Duration;

impl App {
    /// Columns of the strips; the cursor moves by them.
    fn columns(&self) -> usize {
        usize::from(self.layout().strip.width).max(1)
    }

    /// Shows the action, the cursor at its beginning: how a run is opened.
    pub(super) fn begin(&mut self) {
        self.seek = None;
        self.view = self.focus;
        let from = SimTime::from_nanos(self.focus.from);
        // Attempts of a closed loop are known by columns: none of the first one's has happened yet.
        self.cursor = if self.is_unlisted() { Place::before(from) } else { Place::after(from) };
    }

    /// Shows a span; the cursor comes along, to a round instant at the end that it meets first.
    pub(super) fn show(&mut self, span: Span) {
        self.view = span.within(self.whole);
        let (at, columns) = (self.cursor.at.nanos(), self.columns());
        let round = match () {
            () if at < self.view.from => self.view.rounded_up(self.view.from, columns),
            () if at > self.view.last() => self.view.rounded_down(self.view.last(), columns),
            () => return,
        };
        let at = if self.view.contains(round) { round } else { at.clamp(self.view.from, self.view.last()) };
        self.cursor = Place::after(SimTime::from_nanos(at));
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
            self.message = Some("end of the action: space goes on, 0 shows the whole run".to_owned());
            return;
        }
        if at >= self.whole.last() {
            self.player.playing = false;
            self.message = Some("end of the run: space plays it again".to_owned());
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
        let columns = self.columns();
        let listed = self.seen(self.view, columns).is_some_and(crate::report::Detail::lists_arrivals);
        // Where clients come back, more happens than arrivals tell.
        if listed && !self.is_unlisted() {
            return Some(self.search(Mark::Arrival, direction));
        }
        self.seek = None;
        self.go(Place::before(SimTime::from_nanos(self.neighbouring_edge(forward))), forward);
        None
    }

    /// The nearest edge between columns: what is on its left has passed and nothing else.
    fn neighbouring_edge(&self, forward: bool) -> i64 {
        let (at, columns) = (self.cursor.at.nanos(), self.columns());
        let column = self.view.column(at, columns);
        let edge = self.view.edge(column, columns);
        match column.checked_sub(1) {
            _ if forward => self.view.edge(column + 1, columns).max(at + 1),
            _ if edge < at => edge,
            Some(before) => self.view.edge(before, columns),
            None => at.saturating_sub(self.view.length() / columns as i64).min(at - 1),
        }
    }

    pub(super) fn stride(&mut self, direction: Direction) {
        self.player.playing = false;
        let by = (self.view.length() / 10).max(1);
        let forward = direction == Direction::Forward;
        let (at, columns) = (self.cursor.at.nanos(), self.columns());
        let to = match direction {
            Direction::Forward => self.view.rounded_down(at.saturating_add(by), columns).max(at + 1),
            Direction::Backward => self.view.rounded_up(at.saturating_sub(by), columns).min(at - 1),
        };
        self.go_to_instant(to, forward);
    }

    pub(super) fn home(&mut self) {
        self.player.playing = false;
        let whole = self.view.from == self.whole.from;
        let left = if whole { self.view.from } else { self.view.rounded_up(self.view.from, self.columns()) };
        let there = self.cursor.at.nanos() <= left;
        self.go_to_instant(if there { self.whole.from } else { left }, false);
    }

    pub(super) fn end(&mut self) {
        self.player.playing = false;
        let there = self.cursor == Place::after(SimTime::from_nanos(self.view.last()));
        self.go_to_instant(if there { self.whole.last() } else { self.view.last() }, true);
    }
}
