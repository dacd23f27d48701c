//! The view frame by frame: keys in, screens out, without a terminal.

use crate::places::{BUSY, plan};
use proptest::prelude::*;
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use ratatui::style::Color;
use rlsim::commands::tui::Engine;
use rlsim::faces::tui::{Action, App, Effect, action, draw};
use rlsim::report::Direction;
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;
use std::time::Duration;

/// The view with an engine that carries out at once what it asks for.
struct View {
    app: App,
    engine: Engine,
    terminal: Terminal<TestBackend>,
    /// What the next reload brings.
    next: Option<Result<Plan, String>>,
    /// The view was left.
    left: bool,
}

impl View {
    fn new(plan: Plan, width: u16, height: u16) -> Self {
        Self::coloured(plan, width, height, true)
    }

    fn coloured(plan: Plan, width: u16, height: u16, colour: bool) -> Self {
        let (engine, run) = Engine::run(plan, Options::default(), &mut |_| true).expect("it runs");
        let terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
        let mut view = Self { app: App::new(colour), engine, terminal, next: None, left: false };
        view.act(Action::Resize(width, height));
        view.act(Action::Loaded(Box::new(run)));
        view
    }

    fn boundary(width: u16, height: u16) -> Self {
        Self::new(
            Plan::new(&ScenarioSource::load("scenarios/boundary.toml").expect("a file"), &[]).expect("valid"),
            width,
            height,
        )
    }

    /// Takes an action and all that follows from it.
    fn act(&mut self, action: Action) {
        let mut effect = self.app.update(action);
        loop {
            effect = match effect {
                Effect::None => return,
                Effect::Quit { .. } => {
                    self.left = true;
                    return;
                }
                Effect::Look(look) => {
                    let detail = self.engine.look(&look, &mut || true).expect("it runs again");
                    self.app.update(Action::Looked { ticket: look.ticket, detail: Ok(Box::new(detail)) })
                }
                Effect::Seek(seek) => {
                    let found = self.engine.seek(&seek, &mut || true).expect("it runs again");
                    let found = found.map(|(place, detail)| (place, Box::new(detail)));
                    self.app.update(Action::Found { ticket: seek.ticket, found: Ok(found) })
                }
                Effect::Reload => match self.next.take().expect("a test says what a reload brings") {
                    Ok(plan) => {
                        let (engine, run) = Engine::run(plan, Options::default(), &mut |_| true).expect("it runs");
                        self.engine = engine;
                        self.app.update(Action::Loaded(Box::new(run)))
                    }
                    Err(why) => self.app.update(Action::Failed(why)),
                },
            };
        }
    }

    fn key(&mut self, code: KeyCode) {
        if let Some(action) = action(self.app.mode(), KeyEvent::new(code, KeyModifiers::NONE)) {
            self.act(action);
        }
    }

    fn keys(&mut self, keys: &str) -> &mut Self {
        keys.chars().for_each(|key| self.key(KeyCode::Char(key)));
        self
    }

    /// The screen as text, right ends trimmed.
    fn screen(&mut self) -> String {
        self.terminal.draw(|frame| draw(&self.app, frame)).expect("it draws");
        let buffer = self.terminal.backend().buffer();
        let width = usize::from(buffer.area.width).max(1);
        let rows = buffer.content().chunks(width);
        let rows = rows.map(|row| row.iter().map(|cell| cell.symbol()).collect::<String>().trim_end().to_owned());
        rows.collect::<Vec<_>>().join("\n")
    }

    /// The row that begins with a text, behind the sign of the chosen lane.
    fn row(&mut self, name: &str) -> String {
        let screen = self.screen();
        let row = screen.lines().find(|row| row.trim_start_matches(['▸', ' ']).starts_with(name));
        row.unwrap_or_else(|| panic!("no row {name}:\n{screen}")).to_owned()
    }

    fn assert_shows(&mut self, text: &str) {
        let screen = self.screen();
        assert!(screen.contains(text), "no `{text}`:\n{screen}");
    }
}

/// The last `count` words of a row.
fn last_words(row: &str, count: usize) -> Vec<&str> {
    let words: Vec<&str> = row.split_whitespace().collect();
    words[words.len() - count..].to_vec()
}

/// Peak and denied so far, peak and denied at the end; delays stand between on wide screens.
fn figures(view: &mut View, name: &str, wide: bool) -> [String; 4] {
    let row = view.row(name);
    let words = last_words(&row, if wide { 5 } else { 4 });
    let order = if wide { [0, 2, 3, 4] } else { [0, 1, 2, 3] };
    order.map(|i| words[i].to_owned())
}

#[test]
fn everything_is_shown_as_of_the_cursor() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut view = View::boundary(width, height);
        view.assert_shows("A fixed window lets twice the limit through at its edge");
        view.assert_shows("limit 100/1m   200 requests   1 key");
        view.assert_shows("before the first arrival");
        assert_eq!(figures(&mut view, "fixed-window", width == 120), ["0.00x", "0", "2.00x", "0"]);
        // 151 arrivals: a hundred before 12:00:00, and those up to 12:00:00.500.
        (0..151).for_each(|_| view.key(KeyCode::Right));
        view.assert_shows("‖ 12:00:00.500  x1");
        view.assert_shows("arrival 151 of 200 at 12:00:00.500, client, cost 1");
        view.assert_shows("fixed-window: allow, 49 left, resets in 59.5 s");
        view.assert_shows("151 in the last 1m");
        view.assert_shows("51 above the limit");
        view.assert_shows("51 of 100 in use");
        assert_eq!(figures(&mut view, "fixed-window", width == 120), ["1.51x", "0", "2.00x", "0"]);
        assert_eq!(figures(&mut view, "sliding-log", width == 120), ["1.00x", "51", "1.00x", "100"]);
        // 100 units and what 1.5 s return of them at 100 a minute: 2.
        assert_eq!(figures(&mut view, "token-bucket", width == 120), ["1.02x", "49", "1.03x", "97"]);
        assert_eq!(figures(&mut view, "gcra", width == 120), ["1.02x", "49", "1.03x", "97"]);
        // One at once, then one every 0.6 s: at 0, 0.6 and 1.2 s after 11:59:59.
        assert_eq!(figures(&mut view, "leaky-bucket", width == 120), ["0.03x", "49", "1.00x", "97"]);
        view.assert_shows("deny, retry in 58.5 s");
    }
}

#[test]
fn strips_tell_admitted_delayed_and_denied_without_colours() {
    let mut view = View::boundary(80, 24);
    view.key(KeyCode::End);
    let strip = |row: &str| row.chars().skip(17).take(33).collect::<String>();
    let (fixed, log) = (view.row("fixed-window"), view.row("sliding-log"));
    assert!(strip(&fixed).contains("▇▇▇▇▇▇▇▇▇▇▇▇") && !strip(&fixed).contains('x'), "{fixed}");
    assert!(strip(&log).contains("▇▇▇▇xxxx"), "{log}");
    assert!(view.row("leaky-bucket").contains("~~~~"));
    view.assert_shows("▇ admitted  ~ delayed  x denied  ▒ some of each");
    let differ = view.row("lanes differ");
    assert!(differ.contains("▴▴▴▴"), "{differ}");
}

#[test]
fn searches_land_on_what_they_look_for() {
    let mut view = View::boundary(80, 24);
    view.keys("n").assert_shows("arrival 101 of 200 at 12:00:00.000");
    view.keys("N").assert_shows("no arrival on which the lanes differ before the cursor");
    view.keys("d").assert_shows("no denial of fixed-window after the cursor");
    view.key(KeyCode::Down);
    view.key(KeyCode::Home);
    view.keys("d").assert_shows("arrival 101 of 200 at 12:00:00.000");
    view.assert_shows("sliding-log: deny, retry after 59 s");
    view.keys("d").assert_shows("arrival 102 of 200 at 12:00:00.010");
    view.keys("D").assert_shows("arrival 101 of 200");
    // From 102 on the buckets refuse as well; at 0.2 s they have one more unit.
    view.keys("nn").assert_shows("arrival 121 of 200 at 12:00:00.200");
}

#[test]
fn the_action_plays_in_twenty_seconds_and_stops_at_its_end() {
    let mut view = View::boundary(80, 24);
    view.keys(" ").assert_shows("space pause");
    let mut ticks = 0;
    while view.app.is_playing() {
        view.act(Action::Tick(Duration::from_millis(50)));
        ticks += 1;
        assert!(ticks <= 401);
    }
    assert!(ticks >= 398, "{ticks} ticks of 50 ms");
    view.assert_shows("the end of the action");
    assert_eq!(last_words(&view.row("fixed-window"), 4), ["2.00x", "0", "2.00x", "0"]);
    assert_eq!(last_words(&view.row("token-bucket"), 4), ["1.03x", "97", "1.03x", "97"]);
    // Space goes on to the end of the run, page by page.
    view.keys(" >>>>");
    let mut pages = 0;
    while view.app.is_playing() {
        view.act(Action::Tick(Duration::from_millis(500)));
        pages += 1;
        assert!(pages < 1_000);
    }
    view.assert_shows("the end of the run");
    assert_eq!(view.app.cursor().at.nanos(), view.app.whole().last());
}

#[test]
fn zooming_in_shows_single_arrivals_and_out_the_whole_run() {
    let mut view = View::boundary(80, 24);
    view.keys("n++++++");
    assert_eq!(view.app.view().length(), 37_500_000);
    // Arrivals every 10 ms; the cursor stands on the second.
    assert_eq!(view.row("arrivals").chars().filter(|sign| *sign == '█').count(), 3);
    view.assert_shows("╷.99      │12:00:00");
    view.keys("0").assert_shows("╷11:59:00");
    assert_eq!(view.app.view(), view.app.whole());
    view.keys("f").assert_shows("╷11:59:59");
}

#[test]
fn a_key_is_found_by_typing_and_shown_alone() {
    let mut view = View::new(plan(BUSY), 80, 24);
    view.assert_shows("6 keys");
    view.keys("k").assert_shows("filter: _");
    view.assert_shows("all keys");
    view.keys("d.2").assert_shows("filter: d.2_");
    view.key(KeyCode::Enter);
    view.assert_shows("only key crowd.2");
    view.key(KeyCode::End);
    view.key(KeyCode::Left);
    let shown = view.screen();
    assert!(shown.contains("crowd.2, cost 1") && !shown.contains("crowd.1"), "{shown}");
    // Figures of one key have no end to be compared with.
    assert_eq!(last_words(&view.row("sliding-log"), 2)[0], "1.00x");
    view.keys("a").assert_shows("6 keys");
}

#[test]
fn too_many_arrivals_are_told_from_the_columns() {
    let text = "limit = \"1000/1m\"\nduration = \"1h\"\nstart = \"2026-01-01T00:00:00Z\"\n\
                [[traffic]]\nsteady = { rate = \"100/s\" }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.keys("0");
    view.key(KeyCode::Right);
    view.assert_shows("too many arrivals here to tell them apart");
    view.key(KeyCode::End);
    assert_eq!(last_words(&view.row("sliding-log"), 3), ["300k", "1.00x", "300k"]);
    // A search lands on one arrival, and tells of it.
    view.keys("D").assert_shows("arrival 360,000 of 360,000 at 00:59:59.990");
    view.assert_shows("deny, retry");
    // So does a look that is close enough.
    view.keys("++++++");
    view.key(KeyCode::Left);
    view.assert_shows("arrival 359,999 of 360,000");
}

#[test]
fn bursts_of_one_instant_are_stepped_through() {
    let text = "limit = \"3/1m\"\n[[traffic]]\nburst = { requests = 5 }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.assert_shows("before the first arrival");
    (0..5).for_each(|_| view.key(KeyCode::Right));
    view.assert_shows("arrival 5 of 5");
    view.key(KeyCode::Left);
    for (number, denied) in [(4, 1), (3, 0), (2, 0)] {
        view.assert_shows(&format!("arrival {number} of 5"));
        assert_eq!(last_words(&view.row("fixed-window"), 3)[0], denied.to_string());
        view.key(KeyCode::Left);
    }
    view.assert_shows("arrival 1 of 5");
    view.keys("d").assert_shows("arrival 4 of 5");
}

#[test]
fn unusual_runs_are_drawn() {
    let runs = [
        // Nothing arrives.
        (
            "limit = \"3/1m\"\nduration = \"1m\"\n[[traffic]]\nburst = { requests = 1, at = \"2m\" }\n",
            "no arrivals in this run",
        ),
        // One instant.
        ("limit = \"3/1m\"\n[[traffic]]\nburst = { requests = 5 }\n", "before the first arrival"),
        // No limit.
        (
            "duration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n[[lane]]\ntoken-bucket = { rate = \"1/2s\", burst = 2 }\n",
            "no limit stated",
        ),
        // Everything is refused.
        ("limit = \"0/1m\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n", "limit 0/1m"),
        // A month before 1970.
        (
            "start = \"1968-02-01T00:00:00Z\"\nduration = \"30d\"\nlimit = \"5/1d\"\n[[traffic]]\nsteady = { rate = \"1/1h\" }\n",
            "1968-02-",
        ),
        // A billionth of a second.
        ("limit = \"1/1ms\"\n[[traffic]]\nburst = { requests = 2, over = \"2ns\" }\n", "2 requests"),
    ];
    for (text, shown) in runs {
        for (width, height) in [(80, 24), (60, 12), (120, 40)] {
            let mut view = View::new(plan(text), width, height);
            view.assert_shows(shown);
            for keys in ["0", "++", " ", "f", "-", "nNdD", "k\u{8}"] {
                view.keys(keys).screen();
                view.act(Action::Tick(Duration::from_millis(700)));
                view.act(Action::Close);
            }
            view.key(KeyCode::End);
            view.key(KeyCode::Right);
            view.key(KeyCode::Left);
            view.screen();
        }
    }
}

#[test]
fn a_denial_for_ever_says_never() {
    let text = "limit = \"0/1m\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.key(KeyCode::Right);
    view.assert_shows("deny, never: no wait helps");
}

#[test]
fn more_lanes_than_fit_are_scrolled_through() {
    let mut text = "limit = \"5/1m\"\n[[traffic]]\nburst = { requests = 9, over = \"1m\" }\n".to_owned();
    for lane in 0..40 {
        text.push_str(&format!("[[lane]]\nname = \"lane {lane}\"\nfixed-window = {{}}\n"));
    }
    let mut view = View::new(plan(&text), 80, 24);
    view.assert_shows("▸lane 0 ");
    view.assert_shows("of 40");
    (0..39).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("▸lane 39 ");
    view.assert_shows("-40 of 40");
    view.key(KeyCode::Down);
    view.assert_shows("▸lane 39 ");
}

#[test]
fn small_screens_say_so_and_none_breaks() {
    for (width, height) in [(0, 0), (1, 1), (10, 3), (59, 11), (59, 40), (200, 11)] {
        let mut view = View::boundary(width, height);
        let screen = view.screen();
        if width >= 33 {
            assert!(screen.contains("too small: needs at least 60x12"), "{screen}");
        } else if width >= 10 {
            assert!(screen.contains("60x12"), "{screen}");
        }
        view.keys(" n+0?").screen();
    }
    for (width, height) in [(60, 12), (61, 13), (76, 14), (80, 16), (100, 20), (110, 30), (200, 60), (400, 120)] {
        let mut view = View::boundary(width, height);
        view.keys("n");
        view.assert_shows("arrival 101 of 200");
        view.assert_shows("▸fixed-window");
        view.assert_shows("fixed-window: allow, 99 left");
        view.assert_shows("q quit");
    }
}

#[test]
fn the_screen_may_change_while_the_run_plays() {
    let mut view = View::boundary(80, 24);
    view.keys(" ");
    for (width, height) in [(120, 40), (20, 5), (0, 0), (200, 60), (60, 12), (80, 24)] {
        view.terminal.backend_mut().resize(width, height);
        view.act(Action::Resize(width, height));
        view.act(Action::Tick(Duration::from_secs(1)));
        view.screen();
    }
    assert!(view.app.is_playing());
    view.assert_shows("▶ 11:59:59.5");
}

#[test]
fn without_colours_nothing_is_coloured() {
    let boundary = || Plan::new(&ScenarioSource::load("boundary").expect("embedded"), &[]).expect("valid");
    for (colour, expected) in [(true, true), (false, false)] {
        let mut view = View::coloured(boundary(), 120, 40, colour);
        view.keys("n");
        view.screen();
        let cells = view.terminal.backend().buffer().content();
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured, expected);
    }
}

#[test]
fn a_reload_that_fails_keeps_the_run_and_shows_why() {
    let mut view = View::boundary(80, 24);
    view.keys("n");
    view.next = Some(Err("scenarios/boundary.toml:8:9: `100/1x` is not a limit".to_owned()));
    view.keys("r").assert_shows("scenarios/boundary.toml:8:9: `100/1x` is not a limit");
    view.assert_shows("the run before is kept");
    view.key(KeyCode::Esc);
    view.assert_shows("arrival 101 of 200");
    let other = "limit = \"50/1m\"\nstart = \"2026-01-01T11:59:00Z\"\nduration = \"2m\"\n\
                 [[traffic]]\nname = \"client\"\nboundary-burst = { requests = 100, margin = \"1s\", edges = 1 }\n";
    view.next = Some(Ok(plan(other)));
    view.keys("r").assert_shows("read and run again");
    // The same span: the cursor stays where it was.
    view.assert_shows("limit 50/1m");
    view.assert_shows("arrival 101 of 200");
}

#[test]
fn results_that_nobody_waits_for_are_ignored() {
    let mut view = View::boundary(80, 24);
    let before = view.keys("f").screen();
    // A look is asked for, then another; the first comes late.
    let Effect::Look(first) = view.app.update(Action::Zoom { closer: true }) else { panic!("a look is needed") };
    let Effect::Look(second) = view.app.update(Action::Zoom { closer: false }) else {
        // It is known already: then the first is not waited for any more.
        let late = view.engine.look(&first, &mut || true).expect("it runs again");
        assert_eq!(view.app.update(Action::Looked { ticket: first.ticket, detail: Ok(Box::new(late)) }), Effect::None);
        assert_eq!(view.screen(), before);
        return;
    };
    panic!("{second:?} had been seen before");
}

#[test]
fn a_search_given_up_does_not_move_the_cursor_later() {
    let mut view = View::boundary(80, 24);
    let Effect::Seek(seek) = view.app.update(Action::Split(Direction::Forward)) else { panic!("a search is needed") };
    view.assert_shows("searching");
    view.key(KeyCode::Home);
    let cursor = view.app.cursor();
    let found = view.engine.seek(&seek, &mut || true).expect("it runs again");
    let found = found.map(|(place, detail)| (place, Box::new(detail)));
    view.act(Action::Found { ticket: seek.ticket, found: Ok(found) });
    assert_eq!(view.app.cursor(), cursor);
}

#[test]
fn while_a_look_is_awaited_the_reports_bins_are_shown() {
    let source = ScenarioSource::load("boundary").expect("embedded");
    let plan = Plan::new(&source, &[]).expect("valid");
    let (_, run) = Engine::run(plan, Options::default(), &mut |_| true).expect("it runs");
    let mut app = App::new(true);
    let Effect::Look(_) = app.update(Action::Loaded(Box::new(run))) else { panic!("a look is needed") };
    app.update(Action::End);
    let mut terminal = Terminal::new(TestBackend::new(80, 24)).expect("a screen");
    terminal.draw(|frame| draw(&app, frame)).expect("it draws");
    let screen = terminal.backend().to_string();
    assert!(screen.contains("simulating"), "{screen}");
    assert!(screen.contains("▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇▇"), "{screen}");
    let log = screen.lines().find(|row| row.contains("sliding-log")).expect("a lane");
    assert_eq!(
        last_words(log.trim_end_matches(['"', ' ']), 4),
        ["…", "100", "1.00x", "100"],
        "denied so far, from the bins"
    );
}

#[test]
fn help_and_escape_close_before_they_leave() {
    let mut view = View::boundary(60, 12);
    view.keys("?").assert_shows("help");
    view.key(KeyCode::Esc);
    assert!(!view.left);
    view.key(KeyCode::Esc);
    assert!(view.left);
    let mut view = View::boundary(80, 24);
    view.keys("?");
    (0..30).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("quit; Esc first closes what is open");
    view.keys("q");
    assert!(!view.left);
    view.keys("kq").assert_shows("filter: q");
    view.key(KeyCode::Esc);
    view.keys("q");
    assert!(view.left);
}

/// Every key that means something somewhere, and a few that do not.
fn any_key() -> impl Strategy<Value = KeyCode> {
    let letters = "<>,.[]nNdD+=-_f0kar?hq xyz1".chars().map(KeyCode::Char);
    let others = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Backspace,
        KeyCode::F(1),
        KeyCode::Insert,
    ];
    prop::sample::select(letters.chain(others).collect::<Vec<_>>())
}

#[derive(Clone, Debug)]
enum Happening {
    Key(KeyCode),
    Tick(u64),
    Resize(u16, u16),
    Reload(bool),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        12 => any_key().prop_map(Happening::Key),
        4 => (0_u64..2_000).prop_map(Happening::Tick),
        1 => (0_u16..140, 0_u16..50).prop_map(|(width, height)| Happening::Resize(width, height)),
        1 => any::<bool>().prop_map(Happening::Reload),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_happens_the_cursor_stays_on_the_screen_and_in_the_run(
        happenings in prop::collection::vec(happening(), 1..60),
        busy in any::<bool>(),
    ) {
        let text = if busy { BUSY } else { "limit = \"3/1m\"\n[[traffic]]\nburst = { requests = 5 }\n" };
        let mut view = View::new(plan(text), 80, 24);
        for happening in happenings {
            match happening {
                Happening::Key(code) => {
                    view.next = Some(Ok(plan(text)));
                    view.key(code);
                }
                Happening::Tick(millis) => view.act(Action::Tick(Duration::from_millis(millis))),
                Happening::Resize(width, height) => {
                    view.terminal.backend_mut().resize(width, height);
                    view.act(Action::Resize(width, height));
                }
                Happening::Reload(works) => {
                    view.next = Some(if works { Ok(plan(BUSY)) } else { Err("no".to_owned()) });
                    view.act(Action::Reload);
                }
            }
            view.screen();
            let (app, at) = (&view.app, view.app.cursor().at.nanos());
            prop_assert!(app.whole().covers(app.view()), "{:?} in {:?}", app.view(), app.whole());
            prop_assert!(app.view().contains(at), "{at} in {:?}", app.view());
            prop_assert!(!app.is_waiting(), "everything was answered");
        }
    }
}
