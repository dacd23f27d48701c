//! Each kind of synthetic traffic against its own law.

use crate::simulate::{Arrival, MS, S, arrivals, instants, plan, report};
use proptest::prelude::*;

/// `[[traffic]]` with this in it, for a run of this long.
fn timed(duration: &str, traffic: &str) -> String {
    format!("limit = \"1/1m\"\nduration = \"{duration}\"\n[[traffic]]\n{traffic}\n")
}

fn times(duration: &str, traffic: &str) -> Vec<i64> {
    instants(&timed(duration, traffic))
}

/// `i * span / n`, rounded down.
fn share(i: u64, span: i64, n: u64) -> i64 {
    (i128::from(i) * i128::from(span) / i128::from(n)) as i64
}

#[test]
fn a_burst_is_even() {
    assert_eq!(times("1m", "burst = { requests = 3 }"), [0, 0, 0]);
    assert_eq!(times("1m", "burst = { requests = 0 }"), [0; 0]);
    let expected: Vec<i64> = (0..7).map(|i| 2 * S + share(i, 3 * S, 7)).collect();
    assert_eq!(times("1m", "burst = { requests = 7, at = \"2s\", over = \"3s\" }"), expected);
    // `at` counts from the traffic's own beginning.
    let later: Vec<i64> = expected.iter().map(|at| at + 5 * S).collect();
    assert_eq!(times("1m", "from = \"5s\"\nburst = { requests = 7, at = \"2s\", over = \"3s\" }"), later);
}

/// The edges of a clock's windows that lie strictly inside the run, and n on each side of them.
#[test]
fn boundary_bursts_aim_at_the_edges() {
    let run = |start: &str, duration: &str, burst: &str| {
        instants(&format!(
            "start = \"{start}\"\nduration = \"{duration}\"\nlimit = \"5/1m\"\n[[traffic]]\nboundary-burst = {{ {burst} }}\n"
        ))
    };
    let around = |edges: &[i64], n: u64, margin: i64| -> Vec<i64> {
        let sides = edges.iter().flat_map(|edge| [edge - margin, *edge]);
        sides.flat_map(|from| (0..n).map(move |i| from + share(i, margin, n))).collect()
    };
    let minute = 60 * S;
    let all = run("1970-01-01T00:00:30Z", "3m", "requests = 3, margin = \"1s\"");
    assert_eq!(all, around(&[minute, 2 * minute, 3 * minute], 3, S));
    // An edge at the first instant, or at the end, does not lie inside.
    let inner = run("1970-01-01T00:01:00Z", "2m", "requests = 4, margin = \"7s\"");
    assert_eq!(inner, around(&[2 * minute], 4, 7 * S));
    // What lies before the start or from the end on does not arrive.
    let cut = run("1970-01-01T00:00:55Z", "65001ms", "requests = 10, margin = \"10s\"");
    let whole = around(&[minute, 2 * minute], 10, 10 * S);
    assert_eq!(cut, whole.into_iter().filter(|at| (55 * S..2 * minute + MS).contains(at)).collect::<Vec<_>>());
    // Before 1970 too.
    let early = run("1969-12-31T23:58:30Z", "2m", "requests = 2, margin = \"30s\"");
    assert_eq!(early, around(&[-minute, 0], 2, 30 * S));
    for edges in 0..5 {
        let capped = run("1970-01-01T00:00:30Z", "10m", &format!("requests = 3, margin = \"1s\", edges = {edges}"));
        let expected: Vec<i64> = (1..=edges).map(|i| i * minute).collect();
        assert_eq!(capped, around(&expected, 3, S));
    }
    assert!(run("1970-01-01T00:00:30Z", "3m", "requests = 0, margin = \"1s\"").is_empty());
}

#[test]
fn spikes_follow_silence() {
    let spikes = times("1h", "from = \"3s\"\nidle-then-spike = { idle = \"10s\", requests = 2, repeat = 3 }");
    assert_eq!(spikes, [13, 13, 23, 23, 33, 33].map(|second| second * S));
    assert_eq!(times("1h", "idle-then-spike = { idle = \"0s\", requests = 2 }"), [0, 0]);
    assert!(times("1h", "idle-then-spike = { idle = \"1s\", requests = 2, repeat = 0 }").is_empty());
    assert!(times("1h", "idle-then-spike = { idle = \"1s\", requests = 0, repeat = 0 }").is_empty());
}

/// The i-th at floor(i * period / units): no drift, whatever the rate.
#[test]
fn steady_traffic_does_not_drift() {
    for (rate, units, period, duration) in [
        ("7/1s", 7, S, "50000s"),
        ("700/60s", 700, 60 * S, "30000s"),
        ("1000000007/1s", 1_000_000_007, S, "1ms"),
        ("3/1ns", 3, 1, "300us"),
        ("1/1d", 1, 86_400 * S, "10000d"),
    ] {
        let at = times(duration, &format!("from = \"1ns\"\nsteady = {{ rate = \"{rate}\" }}"));
        let end = i64::try_from(duration.parse::<rlsim::time::SimDuration>().expect("valid").nanos()).expect("short");
        let law = (0..).map(|i| 1 + share(i, period, units)).take_while(|at| *at < end);
        assert!(at.iter().copied().eq(law), "{rate}");
        assert!(at.len() >= 9_999, "{rate}: {}", at.len());
    }
    assert_eq!(times("250000s", "steady = { rate = \"4/1s\" }").len(), 1_000_000);
}

/// Evenly spaced in each of the intervals in which it is on, from the interval's beginning.
#[test]
fn on_off_traffic_is_steady_while_on() {
    for (rate, units, period, on, off) in
        [("3/1s", 3, S, 10, 20), ("7/2s", 7, 2 * S, 3, 0), ("1/1m", 1, 60 * S, 5, 1), ("2/1s", 2, S, 1, 3600)]
    {
        let traffic = format!("from = \"500ms\"\non-off = {{ rate = \"{rate}\", on = \"{on}s\", off = \"{off}s\" }}");
        let at = times("2h", &traffic);
        let expected = (0..)
            .map(|cycle: i64| 500 * MS + cycle * (on + off) * S)
            .take_while(|from| *from < 7200 * S)
            .flat_map(|from| {
                (0..).map(move |i| share(i, period, units)).take_while(|at| *at < on * S).map(move |at| from + at)
            })
            .filter(|at| *at < 7200 * S);
        assert!(at.iter().copied().eq(expected), "{rate} on {on} off {off}");
    }
}

/// In any span, the count lies within one of the integral of the rate.
#[test]
fn a_ramp_has_the_integral_of_its_rate() {
    for (from, to) in [(10.0, 100.0), (100.0, 10.0), (0.0, 50.0), (50.0, 0.0), (20.0, 20.0)] {
        let at = times("1000s", &format!("ramp = {{ rate = \"{from}/1s\", to = \"{to}/1s\" }}").replace(".0", ""));
        let due = |seconds: f64| from * seconds + (to - from) * seconds * seconds / 2000.0;
        assert!(at.is_sorted() && at.iter().all(|at| (0..1000 * S).contains(at)));
        let mut mixed = 1_u64;
        for _ in 0..2000 {
            mixed = rlsim::rng::mix(mixed.wrapping_add(0x9e37_79b9_7f4a_7c15));
            let (a, b) = ((mixed % 1_000_000) as i64 * MS, (mixed >> 32) as i64 % 1_000_000 * MS);
            let (a, b) = (a.min(b), a.max(b));
            let count = at.partition_point(|at| *at < b) - at.partition_point(|at| *at < a);
            let integral = due(b as f64 / 1e9) - due(a as f64 / 1e9);
            let off = (count as f64 - integral).abs();
            assert!(off <= 1.0 + 1e-6, "{from} to {to}: {count} in {a}..{b}, due {integral}");
        }
        assert!((at.len() as f64 - due(1000.0)).abs() <= 1.0 + 1e-6);
    }
}

/// How far a figure lies from what is expected, in standard errors.
fn deviates(what: &str, figure: f64, expected: f64, error: f64) {
    assert!((figure - expected).abs() <= 5.0 * error, "{what}: {figure}, expected {expected} within 5 x {error}");
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

fn variance(values: &[f64]) -> f64 {
    let mean = mean(values);
    values.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / (values.len() - 1) as f64
}

/// Sum of (found - expected)^2 / expected; of k cells it has mean k - 1 and variance 2 (k - 1).
fn chi_square(what: &str, found: &[u64], expected: &[f64]) {
    let sum: f64 =
        found.iter().zip(expected).map(|(found, expected)| (*found as f64 - expected).powi(2) / expected).sum();
    let freedom = (found.len() - 1) as f64;
    deviates(what, sum, freedom, (2.0 * freedom).sqrt());
}

#[test]
fn poisson_gaps_are_exponential_and_counts_are_poisson() {
    for seed in [1, 2, 3, 77] {
        let text = format!("seed = {seed}\n{}", timed("2000s", "poisson = { rate = \"100/1s\" }"));
        let at = instants(&text);
        let before = std::iter::once(&0).chain(&at);
        let gaps: Vec<f64> = before.zip(&at).map(|(a, b)| (b - a) as f64 / 1e9).collect();
        let n = gaps.len() as f64;
        deviates("arrivals", n, 200_000.0, 200_000_f64.sqrt());
        deviates("mean gap", mean(&gaps), 0.01, 0.01 / n.sqrt());
        // The fourth central moment of an exponential is nine times its squared variance.
        deviates("variance of gaps", variance(&gaps), 1e-4, 1e-4 * (8.0 / n).sqrt());
        let lagged: Vec<f64> = gaps.windows(2).map(|pair| (pair[0] - 0.01) * (pair[1] - 0.01)).collect();
        deviates("covariance of neighbours", mean(&lagged), 0.0, 1e-4 / n.sqrt());

        // Twenty ranges of gaps, all as likely.
        let mut ranges = [0_u64; 20];
        for gap in &gaps {
            ranges[((1.0 - (-gap * 100.0).exp()) * 20.0) as usize % 20] += 1;
        }
        chi_square("gaps", &ranges, &[n / 20.0; 20]);

        // Counts in spans of 0.1 s: mean and variance 10.
        let mut counts = vec![0_f64; 20_000];
        for at in &at {
            counts[(at / (S / 10)) as usize] += 1.0;
        }
        deviates("mean count", mean(&counts), 10.0, (10.0 / 20_000_f64).sqrt());
        // Var(s^2) = (mu4 - sigma^4) / n with mu4 = m + 3 m^2.
        deviates("variance of counts", variance(&counts), 10.0, (210.0 / 20_000_f64).sqrt());
    }
}

#[test]
fn zipf_shares() {
    for (n, exponent) in [(10, 1.1), (25, 0.5), (4, 3.0), (7, 0.0)] {
        let total: f64 = (1..=n).map(|k| f64::from(k).powf(-exponent)).sum();
        for seed in [1, 2, 3] {
            let keys =
                format!("keys = {{ zipf = {{ n = {n}, exponent = {exponent:?} }} }}\nburst = {{ requests = 100000 }}");
            let plan = plan(&format!("seed = {seed}\n{}", timed("1s", &keys)));
            let mut counts = vec![0_u64; n as usize];
            for arrival in arrivals(&plan) {
                let number = arrival.names[0].rsplit('.').next().expect("a number");
                counts[number.parse::<usize>().expect("a number") - 1] += 1;
            }
            let expected: Vec<f64> = (1..=n).map(|k| 1e5 * f64::from(k).powf(-exponent) / total).collect();
            chi_square(&format!("{n} keys with exponent {exponent}"), &counts, &expected);
        }
    }
}

/// Arrivals with key columns for `ip`, `tenant` and both.
fn keyed(traffic: &str) -> Vec<Arrival> {
    arrivals(&plan(&format!(
        "limit = \"1/1m\"\n{traffic}\n[[lane]]\nfixed-window = {{}}\n[[lane]]\nkey = \"ip\"\nfixed-window = {{}}\n\
         [[lane]]\nkey = \"tenant\"\nfixed-window = {{}}\n[[lane]]\nkey = [\"ip\", \"tenant\"]\nfixed-window = {{}}\n"
    )))
}

#[test]
fn keys_come_in_turn_and_spread_over_attributes() {
    let (keys, groups, spread) = (6, 4, 3);
    let all = keyed(&format!(
        "[[traffic]]\nname = \"client\"\nkeys = {keys}\ngroups = {{ ip = {groups} }}\nspread = {{ tenant = {spread} }}\n\
         burst = {{ requests = 100 }}"
    ));
    assert_eq!(all.len(), 100);
    for (i, a) in all.iter().enumerate() {
        for (j, b) in all.iter().enumerate() {
            let (k, l) = (i % keys, j % keys);
            assert_eq!(a.names[0] == b.names[0], k == l);
            // Key k has group k mod n.
            assert_eq!(a.names[1] == b.names[1], k % groups == l % groups);
            // Each key's arrivals have values of its own in turn.
            let (turn, other) = (i / keys % spread, j / keys % spread);
            assert_eq!(a.names[2] == b.names[2], k == l && turn == other);
            assert_eq!(a.names[3] == b.names[3], a.names[1..3] == b.names[1..3]);
            for column in 0..4 {
                assert_eq!(a.names[column] == b.names[column], a.ids[column] == b.ids[column]);
            }
        }
    }
    // A single key is named after its traffic; one group is one value.
    let one =
        keyed("[[traffic]]\nname = \"client\"\ngroups = { ip = 1 }\nspread = { tenant = 1 }\nburst = { requests = 2 }");
    assert_eq!((one[0].names[0].as_str(), &one[0].names), ("client", &one[1].names));
}

/// Tables never share a key by accident: not by numbered names, not by joined attributes.
#[test]
fn keys_of_different_traffic_are_different() {
    let two = keyed(
        "[[traffic]]\nkeys = 3\ngroups = { ip = \"a|b\", tenant = \"c\" }\nburst = { requests = 3 }\n\
         [[traffic]]\ngroups = { ip = \"a\", tenant = \"b|c\" }\nburst = { requests = 1, at = \"1s\" }",
    );
    let distinct = |column: usize| {
        let mut names: Vec<&str> = two.iter().map(|arrival| arrival.names[column].as_str()).collect();
        names.sort_unstable();
        names.dedup();
        names.len()
    };
    assert_eq!([0, 1, 2, 3].map(distinct), [4, 2, 2, 2], "{two:?}");
    // A word is shared on purpose.
    let shared = keyed(
        "[[traffic]]\ngroups = { ip = \"nat\", tenant = 1 }\nburst = { requests = 1 }\n\
         [[traffic]]\ngroups = { ip = \"nat\", tenant = 1 }\nburst = { requests = 1 }",
    );
    assert_eq!(shared[0].names[1], shared[1].names[1]);
    assert_ne!(shared[0].names[2], shared[1].names[2]);
}

#[test]
fn cost_and_class_are_as_stated() {
    let text = "limit = \"10/1m\"\n[[traffic]]\nclass = \"api\"\ncost = 7\nburst = { requests = 2 }\n\
                [[traffic]]\nburst = { requests = 3 }\n";
    assert_eq!(arrivals(&plan(text)).iter().map(|a| a.cost).collect::<Vec<_>>(), [7, 7, 1, 1, 1]);
    let offered = report(text).offered;
    assert_eq!((offered.requests, offered.cost, offered.largest_cost), (5, 17, 7));
}

#[test]
fn intervals_are_half_open() {
    let steady = |knobs: &str| times("10s", &format!("{knobs}\nsteady = {{ rate = \"1/1s\" }}"));
    assert_eq!(steady(""), (0..10).map(|i| i * S).collect::<Vec<_>>());
    assert_eq!(steady("from = \"2s\"\nuntil = \"5s\""), [2 * S, 3 * S, 4 * S]);
    assert_eq!(steady("until = \"3000000001ns\""), [0, S, 2 * S, 3 * S]);
    assert_eq!(steady("from = \"9s\"\nuntil = \"1h\""), [9 * S], "the run ends first");
    assert!(steady("from = \"10s\"").is_empty());
    // A pattern with an end of its own needs no duration.
    let text =
        "limit = \"1/1m\"\n[[traffic]]\nfrom = \"1s\"\nuntil = \"3s\"\nburst = { requests = 4, over = \"4s\" }\n";
    assert_eq!(instants(text), [S, 2 * S]);
}

#[test]
fn arrivals_at_one_instant_keep_the_order_of_their_tables() {
    let text = "limit = \"1/1m\"\nduration = \"100s\"\n\
                [[traffic]]\nsteady = { rate = \"1/2s\" }\n[[traffic]]\nsteady = { rate = \"1/1s\" }\n\
                [[traffic]]\nburst = { requests = 50, over = \"100s\" }\n[[traffic]]\nburst = { requests = 3, at = \"4s\" }\n";
    let all = arrivals(&plan(text));
    assert_eq!(all.len(), 50 + 100 + 50 + 3);
    assert!(all.is_sorted_by_key(|arrival| (arrival.at, arrival.source)));
    let at_four: Vec<u16> = all.iter().filter(|arrival| arrival.at == 4 * S).map(|arrival| arrival.source).collect();
    assert_eq!(at_four, [0, 1, 2, 3, 3, 3]);
}

const RANDOM: [&str; 3] = [
    "name = \"first\"\npoisson = { rate = \"5/1s\" }",
    "name = \"second\"\nkeys = { zipf = { n = 9, exponent = 1.0 } }\nsteady = { rate = \"3/1s\" }",
    "name = \"third\"\nkeys = { zipf = { n = 9, exponent = 1.0 } }\npoisson = { rate = \"2/1s\" }",
];

fn seeded(seed: u64, tables: &[&str]) -> String {
    let tables: String = tables.iter().map(|table| format!("[[traffic]]\n{table}\n")).collect();
    format!("limit = \"3/1s\"\nduration = \"100s\"\nseed = {seed}\n{tables}")
}

/// One table's arrivals: when, and whose.
fn of(all: &[Arrival], name: &str) -> Vec<(i64, String)> {
    let own = all.iter().filter(|arrival| arrival.names[0].starts_with(name));
    own.map(|arrival| (arrival.at, arrival.names[0].clone())).collect()
}

#[test]
fn a_seed_makes_the_run() {
    let json = |seed: u64| serde_json::to_string(&report(&seeded(seed, &RANDOM))).expect("plain data");
    assert_eq!(json(1), json(1));
    let (one, two) = (arrivals(&plan(&seeded(1, &RANDOM))), arrivals(&plan(&seeded(2, &RANDOM))));
    for name in ["first", "second", "third"] {
        assert_ne!(of(&one, name), of(&two, name), "{name}");
    }
    // No seed is seed 1.
    let unstated = seeded(1, &RANDOM).replace("seed = 1\n", "");
    assert_eq!(arrivals(&plan(&unstated)), one);
}

/// Every table has a stream of its own: others come, go and move without touching it.
#[test]
fn tables_do_not_disturb_each_other() {
    let whole = arrivals(&plan(&seeded(5, &RANDOM)));
    for order in [vec![0], vec![1], vec![2], vec![2, 0], vec![1, 2, 0], vec![2, 1, 0]] {
        let tables: Vec<&str> = order.iter().map(|i| RANDOM[*i]).collect();
        let some = arrivals(&plan(&seeded(5, &tables)));
        for i in order {
            let name = ["first", "second", "third"][i];
            assert_eq!(of(&some, name), of(&whole, name), "{name}");
        }
    }
    // Lanes draw nothing from it either.
    let lanes = "[[lane]]\nfixed-window = {}\n[[lane]]\ngcra = {}\n";
    assert_eq!(arrivals(&plan(&format!("{}{lanes}", seeded(5, &RANDOM)))), whole);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    /// Any rate, any bounds: the i-th arrival where arithmetic puts it, and none outside.
    #[test]
    fn steady_traffic_is_arithmetic(
        units in 1_u64..2_000_000_000, period in 1_i64..5_000_000_000, from in 0_i64..1_000_000, count in 1_i64..2_000
    ) {
        let until = from + (count * period / i64::try_from(units).expect("small")).max(1);
        let at = times(
            "1d",
            &format!("from = \"{from}ns\"\nuntil = \"{until}ns\"\nsteady = {{ rate = \"{units}/{period}ns\" }}"),
        );
        let law = (0..).map(|i| from + share(i, period, units)).take_while(|at| *at < until);
        prop_assert!(at.iter().copied().eq(law.take(10_000_000)));
    }
}
