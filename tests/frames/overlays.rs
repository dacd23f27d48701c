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
fn escape_closes_and_never_leaves() {
    let mut view = View::boundary(60, 12);
    view.keys("?").assert_shows("help");
    (0..3).for_each(|_| view.key(KeyCode::Esc));
    assert!(!view.left);
    view.assert_shows("nothing is open; q quits");
    let mut view = View::boundary(80, 24);
    view.keys("?").assert_shows("Esc close");
    assert!(!view.screen().contains("q quit"), "it would only close the help");
    (0..30).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("q Ctrl-C");
    view.keys("q");
    assert!(!view.left);
    view.keys("q");
    assert!(view.left);
    let mut view = View::new(plan(BUSY), 80, 24);
    view.keys("kq").assert_shows("filter: q");
    view.assert_shows("letters filter  ↑↓ choose  Enter show  Esc close");
    assert!(!view.left);
}

#[test]
fn a_filter_without_a_match_stays_open_and_says_so() {
    let mut view = View::new(plan(BUSY), 80, 24);
    view.keys("kzzz");
    view.key(KeyCode::Enter);
    view.assert_shows("no key in the list contains `zzz`");
    view.assert_shows("filter: zzz_");
    view.assert_shows("no key in the list matches");
    (0..3).for_each(|_| view.key(KeyCode::Backspace));
    view.key(KeyCode::Enter);
    view.assert_shows("6 keys");
}

#[test]
fn an_error_is_broken_between_words() {
    let mut view = View::boundary(60, 15);
    let names = "boundary, bucket-and-queue, burst-dial, cgnat, cron-client, distributed-abuse, health-checks, steady";
    view.next = Some(Err(format!("there is no scenario `x`; there are {names}\n    indented {names}")));
    view.keys("r").assert_shows("the run before is kept");
    let screen = view.screen();
    // What is inside the frame.
    let framed = screen.lines().filter(|row| row.matches('│').count() == 2);
    let lines: Vec<&str> =
        framed.filter_map(|row| row.split("│ ").nth(1)).map(|row| row.trim_end_matches(['│', ' ', '0'])).collect();
    let text = lines.join("\n");
    for word in names.split(", ") {
        assert_eq!(text.matches(word).count(), 2, "{word}:\n{screen}");
    }
    assert!(lines.iter().all(|line| !line.trim_start().starts_with(',')), "{screen}");
    assert!(lines.iter().filter(|line| line.starts_with("    ")).count() > 1, "{screen}");
    view.assert_shows("r try again  Esc close");
}

#[test]
fn a_list_that_lacks_keys_says_so() {
    let text = "limit = \"3/1s\"\nduration = \"4s\"\n[[traffic]]\nsteady = { rate = \"1000/s\" }\nkeys = 2000\n";
    let mut view = View::new(plan(text), 80, 24);
    view.keys("k").assert_shows("the 1000 busiest of 2000 keys");
}
