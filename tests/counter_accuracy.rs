//! How far a sliding counter's estimate is off, against a model that remembers every arrival and looks
//! back at all of them.

use crate::cli::{folder, rlsim, rlsim_in};
use crate::simulate::plan;
use num_rational::BigRational;
use num_traits::{ToPrimitive, Zero};
use proptest::prelude::*;
use rlsim::record::{CounterAccuracy, Standing};
use rlsim::runner::{Extras, run};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;
use std::collections::{BTreeMap, BTreeSet};

const MINUTE: i64 = 60_000_000_000;

fn fraction(above: i64, below: i64) -> BigRational {
    BigRational::new(above.into(), below.into())
}

/// What is found of some arrivals: an instant in nanoseconds and a key each, in order.
#[derive(Debug, PartialEq)]
struct Found {
    attempts: usize,
    wrong_decisions: usize,
    estimated_above: u64,
    really_above: u64,
    wrong_side: u64,
    mean_error: BigRational,
    standing: Standing,
}

/// Those of the clock's window that `at` lies in, and those of the one before by the share of it that is less
/// than a window old.
fn estimate(before: &[i64], at: i64, window: i64) -> BigRational {
    let current = at.div_euclid(window);
    let of = |number: i64| before.iter().filter(|then| then.div_euclid(window) == number).count() as i64;
    let inside = fraction(window - at.rem_euclid(window), window);
    fraction(of(current), 1) + fraction(of(current - 1), 1) * inside
}

fn real(before: &[i64], at: i64, window: i64) -> i64 {
    before.iter().filter(|then| **then > at - window).count() as i64
}

fn model<'a>(arrivals: &[(i64, &'a str)], units: i64, window: i64) -> Found {
    let limit = fraction(units, 1);
    let mut offered: BTreeMap<&str, Vec<i64>> = BTreeMap::new();
    let (mut counted, mut logged) = (offered.clone(), offered.clone());
    // Distances by what they are divided by: a sum of fractions with one denominator stays short.
    let mut distances: BTreeMap<i64, BigRational> = BTreeMap::new();
    let (mut above, mut mitigated) = (BTreeMap::<&'a str, i64>::new(), BTreeSet::<&'a str>::new());
    let mut found = Found {
        attempts: arrivals.len(),
        wrong_decisions: 0,
        estimated_above: 0,
        really_above: 0,
        wrong_side: 0,
        mean_error: BigRational::zero(),
        standing: Standing::default(),
    };
    for &(at, key) in arrivals {
        let one = fraction(1, 1);
        let before = offered.entry(key).or_default();
        let (guess, truth) = (estimate(before, at, window) + &one, real(before, at, window) + 1);
        before.push(at);
        let apart = if guess > fraction(truth, 1) { &guess - fraction(truth, 1) } else { fraction(truth, 1) - &guess };
        *distances.entry(truth).or_insert_with(BigRational::zero) += apart;
        let (guess_above, truly_above) = (guess > limit, truth > units);
        found.estimated_above += u64::from(guess_above);
        found.really_above += u64::from(truly_above);
        found.wrong_side += u64::from(guess_above != truly_above);
        if guess_above {
            mitigated.insert(key);
        }
        if truly_above {
            let most = above.entry(key).or_default();
            *most = (*most).max(truth);
        }
        let (counted, logged) = (counted.entry(key).or_default(), logged.entry(key).or_default());
        let counter_admits = estimate(counted, at, window) + one <= limit;
        let log_admits = real(logged, at, window) < units;
        if counter_admits {
            counted.push(at);
        }
        if log_admits {
            logged.push(at);
        }
        found.wrong_decisions += usize::from(counter_admits != log_admits);
    }
    let sum: BigRational = distances.iter().map(|(truth, sum)| sum / fraction(*truth, 1)).sum();
    found.mean_error = sum / fraction(arrivals.len() as i64, 1);
    let missed: Vec<i64> = above.iter().filter(|(key, _)| !mitigated.contains(*key)).map(|(_, most)| *most).collect();
    found.standing = Standing {
        above: above.len() as u64,
        mitigated: mitigated.len() as u64,
        missed: missed.len() as u64,
        overshoot: missed.iter().map(|most| most.abs_diff(units)).max().unwrap_or(0),
        wronged: mitigated.iter().filter(|key| !above.contains_key(*key)).count() as u64,
    };
    found
}

/// What the simulator finds, and how many arrivals it is that a counter and a log refuse which count
/// refused ones too.
fn simulated(plan: &Plan, options: Options) -> (Found, u64, u64) {
    let limit = plan.limit.expect("stated");
    let mut accuracy = CounterAccuracy::new(limit, 0);
    let extras = Extras { observers: vec![Box::new(&mut accuracy)], ..Extras::default() };
    let report = run(plan, options, extras, &mut |_| true).expect("it runs").report;
    let lane = |name: &str| report.lanes.iter().find(|lane| lane.name == name).expect("stated");
    let counter = lane("sliding-counter");
    let wrong = counter.false_denials.expect("a limit") + counter.false_admissions.expect("a limit");
    let found = Found {
        attempts: usize::try_from(accuracy.attempts()).expect("few"),
        wrong_decisions: usize::try_from(wrong).expect("few"),
        estimated_above: accuracy.estimated_above(),
        really_above: accuracy.really_above(),
        wrong_side: accuracy.wrong_side(),
        mean_error: accuracy.mean_error().expect("arrivals"),
        standing: accuracy.standing(),
    };
    (found, lane("counter counting refused").denied, lane("log counting refused").denied)
}

const LANES: &str = "[[lane]]\nsliding-counter = {}\n\
     [[lane]]\nname = \"counter counting refused\"\nsliding-counter = { count-denied = true }\n\
     [[lane]]\nname = \"log counting refused\"\nsliding-log = { count-denied = true }\n";

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// In any batches, on any number of threads; and what the estimate says is what a counter refuses
    /// that counts refused arrivals too, what the real rate says what such a log refuses.
    #[test]
    fn the_figures_are_those_of_the_model(
        gaps in prop::collection::vec((prop_oneof![Just(0_i64), 1..4_i64, 5..40_i64], 0..3_usize), 1..60),
        units in 1..6_i64,
        window in 3..12_i64,
        batch in 1..9_usize,
        threads in 1..3_usize,
    ) {
        let keys = ["a", "b", "c"];
        let mut now = 0;
        let arrivals: Vec<(i64, &str)> = gaps.iter().map(|(gap, key)| { now += gap; (now, keys[*key]) }).collect();
        let folder = folder();
        let mut csv = "time,key\n".to_owned();
        arrivals.iter().for_each(|(at, key)| csv.push_str(&format!("{at},{key}\n")));
        let file = folder.path().join("t.csv");
        std::fs::write(&file, csv).expect("written");
        let text = format!(
            "limit = \"{units}/{window}ns\"\n[[traffic]]\ntrace = {{ file = '{}', time = \"time\", time-format = \"ns\", key = \"key\" }}\n{LANES}",
            file.display()
        );
        let options = Options { threads, batch, ..Options::default() };
        let (found, counter, log) = simulated(&plan(&text), options);
        prop_assert_eq!((found.estimated_above, found.really_above), (counter, log));
        prop_assert_eq!(found, model(&arrivals, units, window));
    }
}

/// The embedded trace's instants and keys.
fn arrivals(file: &str, column: Option<usize>) -> Vec<(i64, String)> {
    let path = format!("{}/scenarios/data/{file}", env!("CARGO_MANIFEST_DIR"));
    let text = std::fs::read_to_string(path).expect("in the project");
    let row = |line: &str| {
        let fields: Vec<&str> = line.split(',').collect();
        let key = column.map_or_else(String::new, |column| fields[column].to_owned());
        if let Ok(seconds) = fields[0].parse::<i64>() {
            return (seconds * 1_000_000_000, key);
        }
        // All of one day: windows that divide a day lie as from any midnight.
        let (_, time) = fields[0].split_once(' ').expect("a date and a time");
        let parts: Vec<i64> = time.split([':', '.']).map(|part| part.parse().expect("a number")).collect();
        (((parts[0] * 60 + parts[1]) * 60 + parts[2]) * 1_000_000_000 + parts[3] * 100, key)
    };
    text.lines().skip(1).map(row).collect()
}

/// Half away from zero, with so many decimals.
fn rounded(value: &BigRational, decimals: i32) -> f64 {
    let scale = 10_i64.pow(decimals.unsigned_abs());
    let twice = (value * fraction(2 * scale, 1) + fraction(1, 1)).floor().to_integer();
    let digits: num_rational::BigRational = (BigRational::from_integer(twice) / fraction(2, 1)).floor();
    digits.to_integer().to_f64().expect("finite") / scale as f64
}

fn rows(args: &[&str]) -> Vec<serde_json::Value> {
    let text = rlsim(&[&["paper", "cloudflare", "--json"], args].concat()).clean();
    let report: serde_json::Value = serde_json::from_str(&text).expect("JSON");
    report["rows"].as_array().expect("a list").clone()
}

/// The paper's four measures on the real traces, at every limit that is written out.
#[test]
fn the_paper_measures_what_the_model_does() {
    let all = rows(&[]);
    let nasa = ("NASA 1995, 185 hosts", arrivals("nasa_1995_aug_keyed.csv", Some(1)), [5, 10, 20]);
    let azure = ("Azure 2023, one source", arrivals("azure_llm_code_2023.csv", None), [100, 300, 600]);
    for (name, arrivals, limits) in [nasa, azure] {
        let arrivals: Vec<(i64, &str)> = arrivals.iter().map(|(at, key)| (*at, key.as_str())).collect();
        let row = |at: &str, figure: &str| {
            let is = |row: &&serde_json::Value| row["at"] == at && row["lane"] == name && row["figure"] == figure;
            let row = all.iter().find(is).unwrap_or_else(|| panic!("{name} {at} {figure}"));
            assert!(row["agrees"].is_null(), "not to be compared: {row}");
            row["found"].as_f64()
        };
        for limit in limits {
            let found = model(&arrivals, limit, MINUTE);
            let at = format!("{limit}/1m");
            let share = |part: u64| Some(rounded(&fraction(part as i64 * 100, found.attempts as i64), 3));
            assert_eq!(row(&at, "wrong decisions"), share(found.wrong_decisions as u64), "{name} {at}");
            assert_eq!(row(&at, "wrong side of the limit"), share(found.wrong_side), "{name} {at}");
            let standing = found.standing;
            let over = rounded(&fraction(standing.overshoot as i64 * 100, limit), 1);
            assert_eq!(row(&at, "sources above the limit"), Some(standing.above as f64), "{name} {at}");
            assert_eq!(row(&at, "of these, never limited"), Some(standing.missed as f64), "{name} {at}");
            assert_eq!(row(&at, "of those, furthest above"), (standing.missed > 0).then_some(over), "{name} {at}");
            assert_eq!(row(&at, "sources limited, never above"), Some(standing.wronged as f64), "{name} {at}");
            let error = rounded(&(found.mean_error * fraction(100, 1)), 2);
            assert_eq!(row("any", "mean rate error"), Some(error), "{name}");
        }
    }
}

/// The packed source and the one on the minute, from their recipes.
#[test]
fn the_worst_cases_are_those_of_the_proofs() {
    let source = ScenarioSource::load("papers/cloudflare-worst").expect("embedded");
    let limit = Plan::new(&source, &[]).expect("valid").limit.expect("stated");
    assert_eq!((limit.units, limit.window.short_nanos()), (100, MINUTE.unsigned_abs()));
    let mut arrivals: Vec<(i64, &str)> = vec![(MINUTE - 1, "packer"); 100];
    arrivals.extend((1..100).map(|i| (MINUTE + i * MINUTE / 100, "packer")));
    arrivals.extend((1..=20).flat_map(|minute| vec![(minute * MINUTE, "cron"); 100]));
    arrivals.sort_by_key(|(at, _)| *at);
    let found = model(&arrivals, 100, MINUTE);
    assert_eq!(found.wrong_decisions, 99 + 1000);
    assert_eq!((found.standing.missed, found.standing.overshoot, found.standing.wronged), (1, 99, 1));
    let proven: Vec<_> = rows(&["--at", "100/1m"]).into_iter().filter(|row| row["mark"] == "proof").collect();
    let values: Vec<_> = proven.iter().map(|row| (row["published"].as_f64(), row["found"].as_f64())).collect();
    assert_eq!(values, [199.0, 99.0, 50.0].map(|value| (Some(value), Some(value))));
    assert!(proven.iter().all(|row| row["agrees"] == true));
}

#[test]
fn what_is_quoted_is_not_compared() {
    let folder = folder();
    let ran = rlsim_in(folder.path(), &["paper", "cloudflare", "-o", "f.svg", "--threads", "1"], b"");
    assert_eq!((ran.status, ran.stderr.as_str()), (0, "wrote f.svg\n"));
    for words in ["<15  [2nd]", "so the two are not compared", "3 of 3 proven worst cases", "1 run"] {
        assert!(ran.stdout.contains(words), "{words}: {}", ran.stdout);
    }
    assert!(!ran.stdout.contains("may differ by") && !ran.stdout.contains("published figures agree"));
    let svg = std::fs::read_to_string(folder.path().join("f.svg")).expect("written");
    let document = roxmltree::Document::parse(&svg).expect("well-formed");
    let text: String = document.descendants().filter_map(|node| node.text()).collect();
    for words in ["Wrong decisions", "Mean rate error", "published, on other traffic: 0.003 % of requests; 6 %"] {
        assert!(text.contains(words), "{words}");
    }
    let again = rlsim_in(folder.path(), &["paper", "cloudflare", "-o", "g.svg", "--threads", "4", "-q"], b"");
    assert_eq!(again.stdout, ran.stdout);
    assert_eq!(std::fs::read_to_string(folder.path().join("g.svg")).expect("written"), svg);
    // A few limits: the worst cases have one of their own.
    assert!(rows(&["--at", "10/1m"]).iter().all(|row| row["mark"] != "proof"));
    for args in [["--runs", "5"], ["--seed", "3"]] {
        let args = [&["paper", "cloudflare"][..], &args].concat();
        rlsim(&args).fails(2, &["leave out --runs and --seed"]);
    }
}

/// What lies below `scenarios/papers` is not among the scenarios that are tested as lessons.
#[test]
fn the_models_meet_their_expectations() {
    for name in ["cloudflare", "cloudflare-azure", "cloudflare-worst"] {
        let text = rlsim(&["test", &format!("scenarios/papers/{name}.toml")]).clean();
        assert!(text.contains("1 passed"), "{text}");
        assert!(rlsim(&["show", &format!("papers/{name}")]).clean().starts_with("title = "));
    }
}
