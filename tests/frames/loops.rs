//! Closed loops on the screen: attempts, retries, answers.

use super::{View, last_words};
use crate::closed_faces::{STALL, STORM};
use crate::places::plan;
use ratatui::crossterm::event::KeyCode;

#[test]
fn attempts_and_answers_are_shown_as_of_the_cursor() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut view = View::new(plan(STORM), width, height);
        view.assert_shows("first tries");
        view.assert_shows("limit 10/1s   200 requests   200 keys");
        (0..2).for_each(|_| view.key(KeyCode::End));
        // Attempts, retries where there is room, attempts a request, answers; then the ends.
        let row = view.row("fixed 1s");
        if width == 120 {
            assert_eq!(last_words(&row, 7), ["2300", "2100", "11.5", "200", "11.5", "200", "0"], "{row}");
            view.assert_shows("fixed 1s, so far: 200 first attempts, 2100 retries, 200 admitted, 200 answered in time");
        } else {
            assert_eq!(last_words(&row, 4), ["2300", "11.5", "200", "11.5"], "{row}");
            view.assert_shows("fixed 1s, so far: 2300 attempts for 200 requests, 200 answered in time");
        }
        view.assert_shows("at the end: 11.5 attempts a request");
        view.assert_shows("overloaded until 21 s");
        view.assert_shows("2100 attempts denied");
        let screen = view.screen();
        assert!(!screen.contains("arrivals") && !screen.contains("above the limit"), "{screen}");
    }
}

#[test]
fn figures_grow_with_the_cursor() {
    let mut view = View::new(plan(STORM), 120, 40);
    view.keys("f");
    let mut before = 0;
    for _ in 0..30 {
        view.key(KeyCode::Right);
        let row = view.row("fixed 1s");
        let words = last_words(&row, 7);
        let [attempts, retries] = [0, 1].map(|i| words[i].replace(',', "").parse::<u64>().expect("a number"));
        assert!(attempts >= before && attempts == retries + 200, "{row}");
        before = attempts;
    }
    assert!(before > 200);
}

#[test]
fn one_client_is_shown_alone() {
    let mut view = View::new(plan(STORM), 120, 40);
    view.keys("kclient.7");
    view.key(KeyCode::Enter);
    view.assert_shows("only key client.7");
    (0..2).for_each(|_| view.key(KeyCode::End));
    view.assert_shows("1 first attempt,");
    view.assert_shows("1 answered in time, 0 gave up");
}

#[test]
fn every_key_can_be_pressed_in_a_closed_loop() {
    for text in [STORM, STALL] {
        for (width, height) in [(80, 24), (60, 12), (120, 40)] {
            let mut view = View::new(plan(text), width, height);
            view.press_every_key();
        }
    }
}

#[test]
fn denials_are_found_among_retries() {
    let mut view = View::new(plan(STORM), 80, 24);
    (0..2).for_each(|_| view.key(KeyCode::End));
    view.keys("D");
    // Ten are admitted each second: of the last twenty, ten are refused once more.
    view.assert_shows("‖ 00:00:19.000");
    view.keys("d").assert_shows("no denial of fixed 1s after the cursor");
}
