//! Screens of all sizes.

use super::View;
use rlsim::faces::tui::Action;
use std::time::Duration;

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
