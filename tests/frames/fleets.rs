//! Deployments on the screen: replicas, the store, and what goes wrong with them.

use super::View;
use crate::fleet_views::{OUTAGE, TROUBLE};
use crate::places::plan;
use ratatui::crossterm::event::KeyCode;
use std::time::Duration;

const SIZES: [(u16, u16); 2] = [(80, 24), (120, 40)];

/// Goes on until the screen shows a text.
fn go_until(view: &mut View, text: &str) {
    for _ in 0..400 {
        if view.screen().contains(text) {
            return;
        }
        view.key(KeyCode::Right);
    }
    panic!("no `{text}`:\n{}", view.screen());
}

#[test]
fn replicas_and_store_are_shown_as_of_the_cursor() {
    for (width, height) in SIZES {
        let mut view = View::new(plan(OUTAGE), width, height);
        view.keys("0");
        view.assert_shows("store up, 0 operations");
        view.key(KeyCode::Right);
        view.assert_shows("store up, counts ");
        assert!(view.row("faults").contains('━'), "{}", view.screen());
        go_until(&mut view, "store down until 00:01:00");
        let screen = view.screen();
        assert!(screen.contains("counts 30 of 30") || screen.contains("counts 29 of 30"), "{screen}");
        assert!(screen.contains("60 operations") || screen.contains("59 operations"), "{screen}");
        assert!(screen.contains("r0 up") && screen.contains("r2 up"), "{screen}");
        // At the end all is as the report has it.
        (0..2).for_each(|_| view.key(KeyCode::End));
        view.assert_shows("open, so far: 150 admitted, 210 denied, 60 without the store");
        view.assert_shows("300 operations");
        assert_eq!(
            view.screen().matches("50 admitted, 70 denied").count() + view.screen().matches("50 adm., 70 den.").count(),
            3
        );
    }
}

#[test]
fn a_lane_without_a_store_says_so() {
    let mut view = View::new(plan(OUTAGE), 120, 40);
    view.keys("0");
    (0..2).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("no store: each replica keeps the limit for itself");
    view.assert_shows("top replica");
    view.key(KeyCode::Right);
    view.assert_shows("counts 2 of 30");
    (0..2).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("▸one");
    view.assert_shows("one process keeps the limit");
}

#[test]
fn replicas_are_cut_off_and_stop() {
    for (width, height) in SIZES {
        let mut view = View::new(plan(TROUBLE), width, height);
        view.keys("0");
        assert!(view.row("faults").contains('▼'), "{}", view.screen());
        go_until(&mut view, "r0 cut off");
        view.assert_shows("r2 cut off");
        view.assert_shows("r1 up");
        view.assert_shows("r7 stopped");
        view.assert_shows("in hand");
        go_until(&mut view, "store slow, 100ms until");
        go_until(&mut view, "r7 up");
        go_until(&mut view, "r3 stopped");
    }
}

#[test]
fn screens_of_all_sizes_are_drawn() {
    for text in [OUTAGE, TROUBLE] {
        for (width, height) in [(0, 0), (1, 1), (33, 5), (60, 12), (61, 13), (76, 14), (80, 24), (120, 40), (300, 90)] {
            let mut view = View::new(plan(text), width, height);
            for keys in ["0", "++", "-", "[]", " ", "<>", "f", "nN", "dD", "ka", "a", "?"] {
                view.keys(keys).screen();
                view.act(rlsim::faces::tui::Action::Tick(Duration::from_millis(700)));
                view.act(rlsim::faces::tui::Action::Close);
            }
            for code in [KeyCode::Left, KeyCode::Right, KeyCode::Home, KeyCode::End, KeyCode::PageUp, KeyCode::Enter] {
                view.key(code);
                view.screen();
            }
            if width == 33 {
                view.assert_shows("too small: needs at least 60x12");
            }
        }
    }
}

#[test]
fn nothing_is_cut_that_has_a_shorter_form() {
    for (width, height) in [(60, 15), (60, 24), (80, 24), (120, 40), (200, 60)] {
        let mut view = View::new(plan(TROUBLE), width, height);
        for keys in ["n", "d", "0", "f"] {
            let screen = view.keys(keys).screen();
            let cut = screen.lines().skip(2).find(|row| row.contains('…') && !row.contains("… (?"));
            assert_eq!(cut, None, "{width}x{height}:\n{screen}");
        }
    }
}
