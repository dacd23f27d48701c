//! Every scenario meets its expectations; every bad file fails at its place, with its words.

use rlsim::error::Error;
use rlsim::report::Report;
use rlsim::runner::{self, Extras};
use rlsim::scenario::{EMBEDDED, Expectation, Plan, ScenarioSource};
use rlsim::sim::Options;
use std::fs;
use std::path::Path;

#[test]
fn every_scenario_meets_its_expectations() {
    for file in files("scenarios") {
        let source = ScenarioSource::load(&file).expect("a scenario of ours");
        let plan = Plan::new(&source, &[]).unwrap_or_else(|error| panic!("{error}"));
        assert!(!plan.expectations.is_empty(), "{file} expects nothing");
        assert!(plan.about.is_some() && source.text.starts_with("title = "), "{file} explains nothing");
        let outcome = runner::run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("runs");
        let unmet = Expectation::unmet(&plan.expectations, &outcome.report);
        assert!(unmet.is_empty(), "{file}: {unmet:?}");
    }
}

#[test]
fn every_scenario_is_embedded_and_the_same() {
    let files = files("scenarios");
    assert_eq!(files.len(), EMBEDDED.len());
    for scenario in EMBEDDED {
        let file = format!("scenarios/{}.toml", scenario.name);
        assert_eq!(fs::read_to_string(&file).expect(&file), scenario.text);
        let from_file = ScenarioSource::load(&file).and_then(|source| Plan::new(&source, &[])).expect("valid");
        let inside = ScenarioSource::load(scenario.name).and_then(|source| Plan::new(&source, &[])).expect("valid");
        let run = |plan: &Plan| runner::run(plan, Options::default(), Extras::default(), &mut |_| true).expect("runs");
        let prints = |report: &Report| report.lanes.iter().map(|lane| lane.fingerprint.clone()).collect::<Vec<_>>();
        assert_eq!(prints(&run(&from_file).report), prints(&run(&inside).report), "{file}");
    }
}

#[test]
fn a_resolved_plan_is_the_same_plan() {
    for scenario in EMBEDDED {
        let source_of = |text: &str| ScenarioSource {
            name: scenario.name.to_owned(),
            text: text.to_owned(),
            folder: "scenarios".into(),
            embedded: false,
        };
        let plan = Plan::new(&source_of(scenario.text), &[]).expect("valid");
        let text = toml::to_string_pretty(&plan.resolved()).expect("plain data");
        let mut again = source_of(&text);
        // Resolved paths are relative to where the program runs.
        again.folder = "".into();
        let again = Plan::new(&again, &[]).unwrap_or_else(|error| panic!("{error}\n{text}"));
        assert_eq!(again.resolved(), plan.resolved());
        assert_eq!(again.lanes, plan.lanes);
    }
}

#[test]
fn every_bad_file_fails_at_its_place_with_its_words() {
    let files = files("tests/bad");
    assert!(files.len() >= 60);
    for file in files {
        let text = fs::read_to_string(&file).expect(&file);
        let marks = |mark: &str| -> Vec<String> {
            text.lines().filter_map(|line| line.strip_prefix(mark)).map(|rest| rest.trim().to_owned()).collect()
        };
        let place = marks("# at:").pop().expect("every bad file says where it fails");
        let words = marks("# says:");
        assert!(!words.is_empty(), "{file} says nothing");
        let error = ScenarioSource::load(&file).and_then(|source| Plan::new(&source, &[])).expect_err(&file);
        assert_eq!(error.exit_code(), 2, "{file}");
        let Error::Scenario(found) = error else { panic!("{file}: {error}") };
        let (line, column) = found.position();
        let message = format!("{} | {} | {}", found.message, found.label, found.help.clone().unwrap_or_default());
        assert_eq!(format!("{line}:{column}"), place, "{file}: {message}");
        for words in words {
            assert!(message.contains(&words), "{file} should say `{words}`: {message}");
        }
    }
}

/// The TOML files of a folder, in order.
fn files(folder: &str) -> Vec<String> {
    let mut files: Vec<String> = fs::read_dir(folder)
        .expect(folder)
        .map(|entry| entry.expect("readable").path())
        .filter(|path| path.extension().is_some_and(|extension| extension == "toml"))
        .map(|path: std::path::PathBuf| Path::new(&path).display().to_string())
        .collect();
    files.sort();
    files
}
