//! Moving about: steps, searches, playing, zooming.

use super::{View, last_words};
use crate::places::plan;
use ratatui::crossterm::event::KeyCode;
use rlsim::faces::tui::Action;
use std::time::Duration;

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
    view.assert_shows("end of the action: space goes on");
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
    view.assert_shows("end of the run: space plays it again");
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
fn the_action_is_shown_from_its_beginning_whatever_came_before() {
    let mut view = View::boundary(80, 24);
    let opened = (view.app.view(), view.app.cursor());
    for keys in ["n", "0-", "+++n", "dn"] {
        view.key(KeyCode::End);
        view.key(KeyCode::End);
        view.keys(keys);
        view.keys("f").assert_shows("before the first arrival");
        assert_eq!((view.app.view(), view.app.cursor()), opened, "after {keys}");
    }
    view.keys("n").assert_shows("arrival 101 of 200");
}

#[test]
fn paging_lands_on_round_instants() {
    let mut view = View::boundary(80, 24);
    // A column takes 75 ms, so instants are round at 10 ms.
    let pages = [KeyCode::PageDown, KeyCode::PageDown, KeyCode::PageDown, KeyCode::PageUp, KeyCode::PageUp];
    for page in pages {
        view.keys("n");
        view.key(page);
        let at = view.app.cursor().at.nanos();
        assert_eq!(at % 10_000_000, 0, "{}", view.screen());
        assert!(!view.screen().contains(" ns ago"), "{}", view.screen());
    }
    for key in "]]][[".chars() {
        view.key(KeyCode::Char(key));
        assert_eq!(view.app.cursor().at.nanos() % 10_000_000, 0);
    }
}

#[test]
fn columns_are_stepped_through_by_their_edges() {
    let text = "limit = \"0/1m\"\nduration = \"1h\"\nstart = \"2026-01-01T00:00:00Z\"\n\
                [[traffic]]\nsteady = { rate = \"100/s\" }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.keys("0").screen();
    view.key(KeyCode::Home);
    let begun = view.app.cursor();
    let span = view.app.view();
    let columns = view.row("arrivals").chars().filter(|sign| "▁▂▃▄▅▆▇█".contains(*sign)).count();
    for column in 1..4 {
        view.key(KeyCode::Right);
        assert_eq!(view.app.cursor().at.nanos(), span.edge(column, columns));
        // All that came in the columns before has been decided, and nothing else.
        let denied = last_words(&view.row("sliding-log"), 3)[0].replace(',', "");
        let decided = (span.edge(column, columns) - span.from + 9_999_999) / 10_000_000;
        assert_eq!(denied.parse(), Ok(decided), "{}", view.screen());
    }
    (0..3).for_each(|_| view.key(KeyCode::Left));
    assert_eq!(view.app.cursor().at, begun.at);
}

#[test]
fn speeds_are_told_in_words() {
    let mut view = View::boundary(80, 24);
    view.assert_shows("plays 120 ms per second");
    view.keys(">").assert_shows("speed x2: plays 240 ms per second");
    view.keys("<<").assert_shows("speed x0.5: plays 60 ms per second");
}
