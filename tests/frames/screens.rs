//! What is on the screen: lanes, figures, signs.

use super::{View, figures, scenario};
use crate::places::plan;
use ratatui::crossterm::event::KeyCode;
use ratatui::style::Color;
use rlsim::faces::tui::Action;
use rlsim::scenario::{Plan, ScenarioSource};
use std::time::Duration;

#[test]
fn everything_is_shown_as_of_the_cursor() {
    for (width, height) in [(80, 24), (120, 40)] {
        let mut view = View::boundary(width, height);
        view.assert_shows("A fixed window lets twice the limit through at its edge");
        view.assert_shows("limit 100/1m   200 requests   1 key");
        view.assert_shows("before the first arrival");
        assert_eq!(figures(&mut view, "fixed-window", width == 120), ["0.00x", "0", "2.00x", "0"]);
        // 151 arrivals: a hundred before 12:00:00, and those up to 12:00:00.500.
        (0..151).for_each(|_| view.key(KeyCode::Right));
        view.assert_shows("‖ 12:00:00.500  plays 120 ms per second");
        view.assert_shows("arrival 151 of 200 at 12:00:00.500, cost 1");
        view.assert_shows("fixed-window: allow, 49 left, resets in 59.5 s");
        view.assert_shows("151 in the last 1m");
        view.assert_shows("51 above the limit");
        view.assert_shows("counter 51 of 100");
        assert_eq!(figures(&mut view, "fixed-window", width == 120), ["1.51x", "0", "2.00x", "0"]);
        assert_eq!(figures(&mut view, "sliding-log", width == 120), ["1.00x", "51", "1.00x", "100"]);
        // 100 units and what 1.5 s return of them at 100 a minute: 2.
        assert_eq!(figures(&mut view, "token-bucket", width == 120), ["1.02x", "49", "1.03x", "97"]);
        assert_eq!(figures(&mut view, "gcra", width == 120), ["1.02x", "49", "1.03x", "97"]);
        // One at once, then one every 0.6 s: at 0, 0.6 and 1.2 s after 11:59:59.
        assert_eq!(figures(&mut view, "leaky-bucket", width == 120), ["0.03x", "49", "1.00x", "97"]);
        view.assert_shows(if width == 120 { "deny, retry after 58.5 s" } else { "deny, after 58.5 s" });
    }
}

#[test]
fn strips_tell_admitted_delayed_and_denied_without_colours() {
    let mut view = View::boundary(80, 24);
    view.key(KeyCode::End);
    let strip = |row: &str| row.chars().skip(17).take(33).collect::<String>();
    let (fixed, log) = (view.row("fixed-window"), view.row("sliding-log"));
    assert!(strip(&fixed).contains("▇▇▇▇▇▇▇▇▇▇▇▇") && !strip(&fixed).contains('x'), "{fixed}");
    assert!(strip(&log).contains("▇▇▇▇xxxx"), "{log}");
    assert!(view.row("leaky-bucket").contains("~~~~"));
    view.assert_shows("▇ admitted  ~ delayed  x denied  ░▒▓ part admitted  ▞ above limit  │ cursor");
    let differ = view.row("lanes differ");
    assert!(differ.contains("▴▴▴▴"), "{differ}");
}

#[test]
fn unusual_runs_are_drawn() {
    let runs = [
        // Nothing arrives.
        (
            "limit = \"3/1m\"\nduration = \"1m\"\n[[traffic]]\nburst = { requests = 1, at = \"2m\" }\n",
            "no arrivals in this run",
        ),
        // One instant.
        ("limit = \"3/1m\"\n[[traffic]]\nburst = { requests = 5 }\n", "before the first arrival"),
        // No limit.
        (
            "duration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n[[lane]]\ntoken-bucket = { rate = \"1/2s\", burst = 2 }\n",
            "no limit stated",
        ),
        // Everything is refused.
        ("limit = \"0/1m\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n", "limit 0/1m"),
        // A month before 1970.
        (
            "start = \"1968-02-01T00:00:00Z\"\nduration = \"30d\"\nlimit = \"5/1d\"\n[[traffic]]\nsteady = { rate = \"1/1h\" }\n",
            "1968-02-",
        ),
        // A billionth of a second.
        ("limit = \"1/1ms\"\n[[traffic]]\nburst = { requests = 2, over = \"2ns\" }\n", "2 requests"),
    ];
    for (text, shown) in runs {
        for (width, height) in [(80, 24), (60, 12), (120, 40)] {
            let mut view = View::new(plan(text), width, height);
            view.assert_shows(shown);
            for keys in ["0", "++", " ", "f", "-", "nNdD", "k\u{8}"] {
                view.keys(keys).screen();
                view.act(Action::Tick(Duration::from_millis(700)));
                view.act(Action::Close);
            }
            view.key(KeyCode::End);
            view.key(KeyCode::Right);
            view.key(KeyCode::Left);
            view.screen();
        }
    }
}

#[test]
fn a_denial_for_ever_says_never() {
    let text = "limit = \"0/1m\"\nduration = \"9s\"\n[[traffic]]\nsteady = { rate = \"1/s\" }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.key(KeyCode::Right);
    view.assert_shows("deny, never: no wait helps");
}

#[test]
fn more_lanes_than_fit_are_scrolled_through() {
    let mut text = "limit = \"5/1m\"\n[[traffic]]\nburst = { requests = 9, over = \"1m\" }\n".to_owned();
    for lane in 0..40 {
        text.push_str(&format!("[[lane]]\nname = \"lane {lane}\"\nfixed-window = {{}}\n"));
    }
    let mut view = View::new(plan(&text), 80, 24);
    view.assert_shows("▸lane 0 ");
    view.assert_shows("of 40");
    (0..39).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("▸lane 39 ");
    view.assert_shows("-40 of 40");
    view.key(KeyCode::Down);
    view.assert_shows("▸lane 39 ");
}

#[test]
fn without_colours_nothing_is_coloured() {
    let boundary = || Plan::new(&ScenarioSource::load("boundary").expect("embedded"), &[]).expect("valid");
    for (colour, expected) in [(true, true), (false, false)] {
        let mut view = View::coloured(boundary(), 120, 40, colour);
        view.keys("n");
        view.screen();
        let cells = view.terminal.backend().buffer().content();
        let coloured = cells.iter().any(|cell| cell.fg != Color::Reset || cell.bg != Color::Reset);
        assert_eq!(coloured, expected);
    }
}

#[test]
fn shades_are_shares_and_never_mean_too_much() {
    // Real requests, refused here and there by a log that never passes the limit.
    let mut view = View::coloured(scenario("nasa"), 120, 40, false);
    view.key(KeyCode::Down);
    view.key(KeyCode::End);
    let log = view.row("sliding-log");
    assert!(log.contains('▓') && !log.contains('▞'), "{log}");
    view.assert_shows("░▒▓ few to most admitted  ▞ above the limit  │ cursor; faint: still to come");
    let legends = view.screen().matches('▞').count();
    assert_eq!(legends, 1, "only the legend has the sign of what is above the limit:\n{}", view.screen());
    view.key(KeyCode::Up);
    assert!(view.screen().matches('▞').count() > 1);
}

#[test]
fn the_legend_tells_only_of_what_can_be_seen() {
    let mut view = View::new(scenario("window-edges"), 80, 24);
    let legend = view.row("▇ admitted");
    assert!(!legend.contains("delayed") && legend.contains("▞"), "{legend}");
    view.key(KeyCode::Enter);
    let legend = view.row("▇ admitted");
    assert!(!legend.contains("▞"), "without tall charts nothing has that sign: {legend}");
}

#[test]
fn a_fraction_of_a_second_is_labelled_only_behind_its_second() {
    let mut view = View::new(scenario("bucket-and-queue"), 80, 24);
    view.assert_shows("│12:00:00       ╷12:00:02 ");
    view.keys("++").assert_shows("12:00:00");
    for _ in 0..12 {
        let screen = view.screen();
        let axis = screen.lines().find(|row| row.contains(['╷']) || row.contains("│12:")).unwrap_or_default();
        if let Some(fraction) = axis.find(['.']) {
            assert!(axis.contains(":0"), "{axis}");
            assert!(axis[..fraction].trim_end_matches(['╷', ' ']).len() > 3, "{axis}");
        }
        view.keys("+");
    }
}

#[test]
fn all_lanes_are_told_of_or_how_many_are_not() {
    let mut view = View::new(scenario("window-edges"), 80, 24);
    view.keys("n");
    let screen = view.screen();
    let decided = screen.lines().skip_while(|row| !row.contains("arrival 11 of 110")).collect::<String>();
    for lane in [
        "on the clock",
        "from the first",
        "pushed by all",
        "log excl",
        "log incl",
        "counting",
        "counter after",
        "counter before",
    ] {
        assert!(decided.contains(lane), "{lane}:\n{screen}");
    }
    let mut text = "limit = \"5/1m\"\n[[traffic]]\nburst = { requests = 9, over = \"1m\" }\n".to_owned();
    for lane in 0..40 {
        text.push_str(&format!("[[lane]]\nname = \"lane {lane}\"\nfixed-window = {{}}\n"));
    }
    let mut view = View::new(plan(&text), 80, 24);
    view.key(KeyCode::Right);
    view.assert_shows("and 32 more lanes");
    (0..39).for_each(|_| view.key(KeyCode::Down));
    view.assert_shows("lane 39: allow, 3 left");
    view.assert_shows("and 32 more lanes");
}

#[test]
fn long_numbers_have_their_groups_everywhere() {
    let text = "limit = \"300000/1m\"\n[[traffic]]\nburst = { requests = 12345, over = \"1s\" }\n";
    let mut view = View::new(plan(text), 80, 24);
    view.assert_shows("limit 300,000/1m   12,345 requests");
}

#[test]
fn states_have_the_names_of_the_comparison_sheet() {
    let mut view = View::boundary(120, 40);
    view.keys("n");
    for name in ["counter", "log", "estimate", "tokens taken", "queue", "TAT ahead"] {
        view.assert_shows(&format!("{name} "));
        let row = view.row(name);
        assert!(row.contains(" of 100"), "{row}");
        view.key(KeyCode::Down);
    }
}

#[test]
fn several_keys_are_named_and_a_single_one_is_not() {
    let mut view = View::new(plan(crate::places::BUSY), 120, 40);
    view.key(KeyCode::Right);
    view.assert_shows(", key ");
    let (screen, lanes) = (view.screen(), 6);
    assert_eq!(screen.matches("of key ").count(), lanes, "every lane tells whose releases it shows:\n{screen}");
    let mut view = View::new(scenario("nasa"), 80, 24);
    view.keys("n");
    assert!(!view.screen().contains(" all,"), "{}", view.screen());
    view.keys("k").assert_shows("all arrivals have the same key");
}

#[test]
fn enter_swaps_tall_charts_for_lines_and_says_where_there_are_none() {
    let mut view = View::boundary(80, 24);
    view.assert_shows("limit 100 ");
    view.key(KeyCode::Enter);
    assert_eq!(view.screen().matches("in window").count(), 6);
    view.key(KeyCode::Enter);
    view.assert_shows("limit 100 ");
    let mut view = View::boundary(60, 12);
    view.key(KeyCode::Enter);
    view.assert_shows("charts are off; no room for a line under every lane");
    view.key(KeyCode::Enter);
    view.assert_shows("no room for the charts: make the terminal taller");
}
