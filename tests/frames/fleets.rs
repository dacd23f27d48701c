//! Deployments on the screen: replicas, the store, and what goes wrong with them.

use super::{View, assert_nothing_is_cut};
use crate::fleet_views::{OUTAGE, TROUBLE};
use crate::places::plan;
use ratatui::crossterm::event::KeyCode;

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
            view.press_every_key();
            if width == 33 {
                view.assert_shows("too small: needs at least 60x12");
            }
        }
    }
}

#[test]
fn nothing_is_cut_that_has_a_shorter_form() {
    assert_nothing_is_cut("trouble", || plan(TROUBLE));
}

/// A backend or retries do not hide how the limit is kept.
#[test]
fn clients_do_not_hide_the_limit() {
    let client = "on-failure = \"open\" } }\nclient = { retry = { fixed = { delay = \"1s\" } }, max-attempts = 3 }\n";
    let mut view = View::new(plan(&OUTAGE.replace("on-failure = \"open\" } }\n", client)), 120, 40);
    (0..2).for_each(|_| view.key(KeyCode::End));
    view.assert_shows("first tries");
    view.assert_shows("limit 30");
    view.assert_shows("store counts");
    view.assert_shows("attempts for 360 requests");
}
