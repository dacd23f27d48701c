//! The state of the view, and what every action makes of it.

use super::action::{Action, Effect, Look, Run, Seek};
use super::draw::layout::Layout;
use super::overlay::Overlay;
use super::play::Player;
use super::view::Span;
use crate::faces::format::duration;
use crate::report::{Detail, Direction, Mark, Place};
use crate::time::SimTime;

/// Decisions that one look may list, over all lanes.
const DECISIONS: usize = 60_000;

/// Looks that are remembered.
const REMEMBERED: usize = 6;

/// What the keys mean at present.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// They move about in the run.
    Lanes,
    /// They scroll and close a text.
    Text,
    /// They write into the list of keys.
    Picker,
}

/// The state of the view.
#[derive(Debug)]
pub struct App {
    pub(super) colour: bool,
    pub(super) size: (u16, u16),
    pub(super) run: Option<Run>,
    /// All that can be shown of the run.
    pub(super) whole: Span,
    /// Where the action is.
    pub(super) focus: Span,
    pub(super) view: Span,
    pub(super) cursor: Place,
    pub(super) player: Player,
    pub(super) lane: usize,
    pub(super) charts: bool,
    /// One key alone, by its place in the run's list.
    pub(super) key: Option<usize>,
    pub(super) overlay: Overlay,
    /// What has just happened, until the next key.
    pub(super) message: Option<String>,
    /// Looks at this key or at all, the latest last.
    pub(super) details: Vec<Detail>,
    pub(super) look: Option<Look>,
    pub(super) seek: Option<Seek>,
    /// A run is being made, and how far it is.
    pub(super) running: Option<u64>,
    tickets: u64,
}

impl App {
    /// Before the first run; `colour` says whether colours may be used.
    #[must_use]
    pub fn new(colour: bool) -> Self {
        let nothing = Span::new(0, 0);
        Self {
            colour,
            size: (80, 24),
            run: None,
            whole: nothing,
            focus: nothing,
            view: nothing,
            cursor: Place::after(SimTime::EPOCH),
            player: Player::default(),
            lane: 0,
            charts: true,
            key: None,
            overlay: Overlay::None,
            message: None,
            details: Vec::new(),
            look: None,
            seek: None,
            running: Some(0),
            tickets: 0,
        }
    }

    /// What the keys mean at present.
    #[must_use]
    pub const fn mode(&self) -> Mode {
        match self.overlay {
            Overlay::None => Mode::Lanes,
            Overlay::Help { .. } | Overlay::Failure { .. } => Mode::Text,
            Overlay::Picker(_) => Mode::Picker,
        }
    }

    /// Whether the run plays, so that time has to be told to it.
    #[must_use]
    pub const fn is_playing(&self) -> bool {
        self.player.playing
    }

    /// Whether an answer is awaited.
    #[must_use]
    pub const fn is_waiting(&self) -> bool {
        self.look.is_some() || self.seek.is_some() || self.running.is_some()
    }

    /// Where the cursor is.
    #[must_use]
    pub const fn cursor(&self) -> Place {
        self.cursor
    }

    /// What is on the screen.
    #[must_use]
    pub const fn view(&self) -> Span {
        self.view
    }

    /// All that can be shown.
    #[must_use]
    pub const fn whole(&self) -> Span {
        self.whole
    }

    /// Takes one action.
    pub fn update(&mut self, action: Action) -> Effect {
        match action {
            Action::Resize(width, height) => self.size = (width, height),
            Action::Tick(elapsed) => self.tick(elapsed),
            Action::Progress(arrivals) => self.running = self.running.map(|_| arrivals),
            Action::Loaded(run) => self.loaded(*run),
            Action::Failed(text) => {
                self.running = None;
                self.overlay = Overlay::Failure { text, scroll: 0 };
            }
            Action::Looked { ticket, detail } => {
                if self.look.is_some_and(|look| look.ticket == ticket) {
                    self.look = None;
                    match detail {
                        Ok(detail) => self.remember(*detail),
                        Err(why) => {
                            self.message = Some(why);
                            return Effect::None;
                        }
                    }
                }
            }
            Action::Found { ticket, found } => self.found(ticket, found),
            Action::Quit => return Effect::Quit { interrupted: false },
            Action::Interrupt => return Effect::Quit { interrupted: true },
            action => {
                self.message = None;
                if let Some(effect) = self.key_action(&action) {
                    return effect;
                }
            }
        }
        self.look_if_needed()
    }

    /// What a key does; an effect if it wants one of its own.
    fn key_action(&mut self, action: &Action) -> Option<Effect> {
        match action {
            Action::Help => self.overlay = Overlay::Help { scroll: 0 },
            Action::Close => self.close(),
            Action::Scroll(by) => self.scroll(*by),
            Action::Type(letter) => self.pick(|picker| picker.push(*letter)),
            Action::Erase => self.pick(super::picker::Picker::pop),
            Action::Reload if self.running.is_none() => {
                self.running = Some(0);
                self.player.playing = false;
                return Some(Effect::Reload);
            }
            _ if self.run.is_none() => {}
            Action::Choose => self.choose(),
            Action::Keys => self.list_keys(),
            Action::AllKeys => self.show_key(None),
            Action::Play => self.play(),
            Action::Faster => self.change_speed(true),
            Action::Slower => self.change_speed(false),
            Action::Step(direction) => return self.step(*direction),
            Action::Stride(direction) => self.stride(*direction),
            Action::Home => self.home(),
            Action::End => self.end(),
            Action::Split(direction) => return Some(self.search(Mark::Split, *direction)),
            Action::Denial(direction) => {
                let lane = self.lane;
                return Some(self.search(Mark::Denial { lane }, *direction));
            }
            Action::Zoom { closer } => self.show(self.view.zoomed(*closer, self.cursor.at.nanos(), self.whole)),
            Action::Pan(direction) => {
                let by = if *direction == Direction::Forward { 1 } else { -1 };
                self.show(self.view.moved(by, 2, self.whole));
            }
            Action::Whole => self.show(self.whole),
            Action::Focus => self.begin(),
            Action::Lane(direction) => {
                let last = self.lanes().saturating_sub(1);
                self.lane = match direction {
                    Direction::Forward => (self.lane + 1).min(last),
                    Direction::Backward => self.lane.saturating_sub(1),
                };
            }
            Action::Charts => self.swap_charts(),
            _ => {}
        }
        None
    }

    /// Whether clients come back, so that attempts are more than arrivals.
    pub(super) fn is_closed_loop(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.report.lanes.iter().any(|lane| lane.closed.is_some()))
    }

    /// Whether a limit is kept by more than one process.
    pub(super) fn is_deployed(&self) -> bool {
        self.run.as_ref().is_some_and(|run| run.report.lanes.iter().any(|lane| lane.fleet.is_some()))
    }

    /// Whether single decisions are not told beside the arrivals: there are more of them, or they are
    /// made later.
    pub(super) fn is_unlisted(&self) -> bool {
        self.is_closed_loop() || self.is_deployed()
    }

    /// How many lanes there are.
    pub(super) fn lanes(&self) -> usize {
        self.run.as_ref().map_or(0, |run| run.report.lanes.len())
    }

    /// Where everything is on the screen.
    pub(super) fn layout(&self) -> Layout {
        Layout::of(self, self.size)
    }

    fn loaded(&mut self, run: Run) {
        let again = self.run.is_some();
        let report = &run.report;
        let at = |offset: i64| report.instant(offset).nanos();
        let timeline = report.lanes.first().map_or(0, |lane| lane.timeline.from_ns);
        let from = at(timeline.min(report.offered.first_ns.unwrap_or(0)).min(0));
        let last = at(report.end_ns.max(report.offered.last_ns.unwrap_or(0)));
        // A run of one instant is shown with the window that follows it, and a moment before it.
        let window = report.limit.map_or(1_000_000_000, |limit| i64::try_from(limit.window_ns).unwrap_or(i64::MAX));
        let instant = last == from;
        let until = if instant { last.saturating_add(window) } else { last };
        let from = if instant { from.saturating_sub(window / 16) } else { from };
        let whole = Span::new(from, until.saturating_add(1));
        let focus = Span { from: at(report.focus.from_ns), until: at(report.focus.until_ns) };
        let focus = if instant { whole } else { Span::new(focus.from, focus.until).within(whole) };
        let key = self.key.and_then(|old| {
            let name = &self.run.as_ref()?.keys.get(old)?.key;
            run.keys.iter().position(|known| known.key == *name)
        });
        let stays = again && self.whole == whole;
        (self.whole, self.focus, self.key) = (whole, focus, key);
        self.lane = self.lane.min(report.lanes.len().saturating_sub(1));
        self.run = Some(run);
        (self.running, self.look, self.seek) = (None, None, None);
        self.details.clear();
        self.overlay = Overlay::None;
        self.player.playing = false;
        if stays {
            self.cursor = Place::after(self.cursor.at);
        } else {
            self.begin();
        }
        self.message = again.then(|| "read and run again".to_owned());
    }

    fn found(&mut self, ticket: u64, found: Result<Option<(Place, Box<Detail>)>, String>) {
        let Some(seek) = self.seek.filter(|seek| seek.ticket == ticket) else { return };
        self.seek = None;
        match found {
            Ok(Some((place, detail))) => {
                self.remember(*detail);
                self.go(place, seek.direction == Direction::Forward);
            }
            Ok(None) => self.message = Some(self.nothing_found(seek)),
            Err(why) => self.message = Some(why),
        }
    }

    fn nothing_found(&self, seek: Seek) -> String {
        let what = match seek.mark {
            Mark::Arrival => "arrival".to_owned(),
            Mark::Split if self.is_closed_loop() => "first attempt on which the lanes differ".to_owned(),
            Mark::Split => "arrival on which the lanes differ".to_owned(),
            Mark::Denial { lane } => {
                let name = self.run.as_ref().and_then(|run| run.report.lanes.get(lane)).map(|lane| lane.name.as_str());
                format!("denial of {}", name.unwrap_or_default())
            }
        };
        let whose = self.key_name().map(|key| format!(", key {key}")).unwrap_or_default();
        let way = if seek.direction == Direction::Forward { "after" } else { "before" };
        format!("no {what} {way} the cursor{whose}")
    }

    /// The one key that is shown.
    pub(super) fn key_name(&self) -> Option<&str> {
        self.run.as_ref()?.keys.get(self.key?).map(|key| key.key.as_str())
    }

    pub(super) fn remember(&mut self, detail: Detail) {
        let same = |old: &Detail| (old.from, old.until, old.columns) == (detail.from, detail.until, detail.columns);
        self.details.retain(|old| !same(old));
        if self.details.len() == REMEMBERED {
            self.details.remove(0);
        }
        self.details.push(detail);
    }

    fn ticket(&mut self) -> u64 {
        self.tickets += 1;
        self.tickets
    }

    /// Arrivals that a look may list.
    fn keep(&self) -> usize {
        (DECISIONS / self.lanes().max(1)).clamp(16, 20_000)
    }

    /// Asks for a look at what is on the screen, unless it is known or asked for.
    fn look_if_needed(&mut self) -> Effect {
        let columns = usize::from(self.layout().strip.width);
        if self.run.is_none() || columns == 0 || self.running.is_some() {
            return Effect::None;
        }
        if self.seen(self.view, columns).is_some() {
            self.look = None;
            return Effect::None;
        }
        let (span, key) = (self.view, self.key);
        if self.look.is_some_and(|look| (look.span, look.columns, look.key) == (span, columns, key)) {
            return Effect::None;
        }
        let look = Look { ticket: self.ticket(), span, columns, keep: self.keep(), key };
        self.look = Some(look);
        Effect::Look(look)
    }

    pub(super) fn search(&mut self, mark: Mark, direction: Direction) -> Effect {
        self.player.playing = false;
        let (ticket, keep) = (self.ticket(), self.keep());
        let seek = Seek { ticket, mark, direction, from: self.cursor, keep, key: self.key };
        self.seek = Some(seek);
        Effect::Seek(seek)
    }

    fn change_speed(&mut self, faster: bool) {
        self.player.change(faster);
        let pace = duration(self.player.pace(self.view));
        self.message = Some(format!("speed {}: plays {pace} per second", self.player.label()));
    }

    /// Swaps the tall charts of the chosen lane for a line under every lane, or back.
    fn swap_charts(&mut self) {
        self.charts = !self.charts;
        let layout = self.layout();
        let limit = self.run.as_ref().is_some_and(|run| run.report.limit.is_some());
        let missing = match (self.charts, limit) {
            (true, _) if layout.charts == 0 => "no room for the charts: make the terminal taller",
            (false, false) => "charts are off; without a limit there are no lines instead",
            (false, true) if layout.lane_rows == 1 => "charts are off; no room for a line under every lane",
            _ => return,
        };
        self.message = Some(missing.to_owned());
    }
}
