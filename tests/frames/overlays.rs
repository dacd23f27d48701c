//! What lies over the lanes: help, a failure, the list of keys.

use super::{View, last_words};
use crate::places::{BUSY, plan};
use ratatui::crossterm::event::KeyCode;

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
