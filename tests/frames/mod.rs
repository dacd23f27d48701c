//! The view frame by frame: keys in, screens out, without a terminal.

mod fleets;
mod loops;
mod moves;
mod overlays;
mod random;
mod results;
mod screens;
mod sizes;

use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rlsim::commands::tui::Engine;
use rlsim::faces::tui::{Action, App, Effect, action, draw};
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

    /// Presses each key that means something, and draws a screen after it.
    fn press_every_key(&mut self) {
        for keys in ["0", "++", "-", "[]", " ", "<>", "f", "nN", "dD", "ka", "a", "?"] {
            self.keys(keys).screen();
            self.act(Action::Tick(Duration::from_millis(700)));
            self.act(Action::Close);
        }
        for code in [KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::Enter] {
            self.key(code);
            self.screen();
        }
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

/// An embedded scenario.
fn scenario(name: &str) -> Plan {
    Plan::new(&ScenarioSource::load(name).expect("embedded"), &[]).expect("valid")
}

/// Asserts that no text is cut below the title, wherever one looks, on screens of all sizes.
fn assert_nothing_is_cut(name: &str, plan: impl Fn() -> Plan) {
    for (width, height) in [(60, 15), (60, 24), (80, 24), (120, 40), (200, 60)] {
        let mut view = View::new(plan(), width, height);
        for keys in ["n", "d", "0", "f"] {
            let screen = view.keys(keys).screen();
            let cut = screen.lines().skip(2).find(|row| row.contains('…') && !row.contains("… (?"));
            assert_eq!(cut, None, "{name} at {width}x{height}:\n{screen}");
        }
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
