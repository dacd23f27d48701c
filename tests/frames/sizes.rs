//! Screens of all sizes.

use super::{View, assert_nothing_is_cut, scenario};
use rlsim::faces::tui::Action;
use std::time::Duration;

#[test]
fn small_screens_say_so_and_none_breaks() {
    for (width, height) in [(0, 0), (1, 1), (4, 40), (10, 3), (20, 5), (59, 11), (59, 40), (200, 11)] {
        let mut view = View::boundary(width, height);
        let screen = view.screen();
        if width >= 33 {
            assert!(screen.contains("too small: needs at least 60x12"), "{screen}");
        } else if width >= 11 {
            assert!(screen.contains("needs 60x12"), "{screen}");
        } else if width >= 5 {
            assert!(screen.contains("60x12"), "{screen}");
        } else if width >= 1 {
            assert!(screen.contains('…'), "{screen}");
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
fn a_long_title_takes_two_lines_where_there_is_room() {
    let shown = |width, height| View::new(scenario("bucket-and-queue"), width, height).screen();
    let rows = |screen: &str| screen.lines().take(2).map(str::trim).map(str::to_owned).collect::<Vec<_>>();
    let title = "A token bucket as large as its rate is not a leaky queue: it releases everything at once";
    assert_eq!(rows(&shown(80, 24)).join(" "), title);
    assert_eq!(rows(&shown(120, 40))[0], title);
    assert!(rows(&shown(60, 12))[0].ends_with("queue…"), "it ends with a word:\n{}", shown(60, 12));
}

#[test]
fn what_the_scenario_is_about_is_told_where_there_is_room() {
    let mut view = View::new(scenario("boundary"), 80, 24);
    let about = view.app.whole();
    view.assert_shows("One client sends its whole minute's quota");
    view.keys("n");
    assert!(!view.screen().contains("One client sends"), "the arrival needs the room");
    let mut large = View::new(scenario("boundary"), 200, 60);
    large.keys("n").assert_shows("One client sends its whole minute's quota");
    assert_eq!(large.app.whole(), about);
    View::new(scenario("bucket-and-queue"), 80, 24).assert_shows("… (? has it all)");
}

#[test]
fn nothing_is_cut_that_has_a_shorter_form() {
    for name in ["boundary", "nasa", "noisy-neighbour", "bucket-and-queue", "window-edges"] {
        assert_nothing_is_cut(name, || scenario(name));
    }
}
