//! What expectations are met by, and what they are never met by.

use rlsim::runner::{self, Extras};
use rlsim::scenario::{Expectation, Plan, ScenarioSource, figure_names};
use rlsim::sim::Options;

/// Two keys against five a second: six requests of class `a` at once, and two `other` later.
const SCENARIO: &str = r#"
limit = "5/1s"
client = {}
envelope = ["1ms", "1s"]
[[traffic]]
class = "a"
burst = { requests = 6 }
[[traffic]]
burst = { requests = 2, at = "500ms" }
"#;

/// Whether a lane meets a condition.
fn met(lane: &str, condition: &str) -> bool {
    met_of(SCENARIO, lane, condition)
}

/// Whether a lane of a scenario does.
fn met_of(scenario: &str, lane: &str, condition: &str) -> bool {
    let text = format!("{scenario}[expect.{lane}]\n{condition}\n");
    let source = ScenarioSource { name: "test".to_owned(), text, folder: "".into(), embedded: false };
    let plan = Plan::new(&source, &[]).unwrap_or_else(|error| panic!("{condition}: {error}"));
    let outcome = runner::run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("runs");
    assert_eq!(plan.expectations.len(), 1);
    Expectation::unmet(&plan.expectations, &outcome.report).is_empty()
}

#[test]
fn conditions_are_met_exactly() {
    // The window refuses the sixth of a's, and none of the others.
    for (condition, expected) in [
        ("denied = 1", true),
        ("denied = 2", false),
        ("denied = \"!= 1\"", false),
        ("denied = \"12.5%\"", true),
        ("denied = \"<= 12.4%\"", false),
        ("denied = \"> 12.4%\"", true),
        ("denied = \"< fixed-window.allowed\"", true),
        ("denied = \"== sliding-log.denied\"", true),
        ("denied = \"!= sliding-log.denied\"", false),
        ("classes.a.denied = 1", true),
        ("classes.other.allowed = \"100%\"", true),
        ("classes.a.attempts = 6", true),
        ("\"envelope.1ms\" = 5", true),
        ("envelope.1s.bound = 10", true),
        ("peak.ratio = 1.0", true),
        ("peak.ratio = \">= 1.01\"", false),
        ("peak.from-ns = \"0s\"", true),
        ("wait-ns.max = \"< 1ns\"", true),
        ("wait-ns.max = \"< leaky-bucket.wait-ns.max\"", true),
        ("algorithm = \"fixed-window\"", true),
        ("key = \"!= key\"", false),
        ("fingerprint = \"== sliding-log.fingerprint\"", true),
    ] {
        assert_eq!(met("fixed-window", condition), expected, "{condition}");
    }
}

#[test]
fn what_is_absent_meets_only_null() {
    for (condition, expected) in [
        ("over.first-ns = \"null\"", true),
        ("over.first-ns = \"!= null\"", false),
        ("over.first-ns = \"!= 7\"", false),
        ("over.first-ns = \">= -5\"", false),
        ("over.first-ns = \"!= gcra.peak.from-ns\"", false),
        ("over.first-ns = \"== gcra.over.first-ns\"", false),
        ("same-as = \"null\"", true),
    ] {
        assert_eq!(met("fixed-window", condition), expected, "{condition}");
    }
}

#[test]
fn lanes_that_decide_alike_are_the_same_in_any_order() {
    for (lane, condition, expected) in [
        ("gcra", "same-as = \"token-bucket\"", true),
        ("gcra", "same-as = \"!= token-bucket\"", false),
        ("token-bucket", "same-as = \"gcra\"", true),
        ("gcra", "same-as = \"leaky-bucket\"", false),
        ("leaky-bucket", "same-as = \"!= gcra\"", true),
    ] {
        assert_eq!(met(lane, condition), expected, "{lane} {condition}");
    }
}

#[test]
fn every_figure_can_be_expected() {
    for name in figure_names() {
        let name = name.replace("SPAN", "1s").replace("CLASS", "a");
        let compare = format!("\"{name}\" = \"== gcra.{name}\"");
        if name != "key" && name != "same-as" {
            // Met or not: it is read.
            let _ = met_of(&format!("deployment = {{ central = {{}} }}\n{SCENARIO}"), "fixed-window", &compare);
        }
    }
}
