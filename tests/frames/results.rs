//! Results that come late, or not yet.

use super::{View, last_words};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use ratatui::crossterm::event::KeyCode;
use rlsim::commands::tui::Engine;
use rlsim::faces::tui::{Action, App, Effect, draw};
use rlsim::report::Direction;
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;

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
