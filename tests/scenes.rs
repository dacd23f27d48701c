//! Random scenarios, small enough that ties, edges and overlaps are common.
//!
//! Spans are a few hundred nanoseconds, microseconds or milliseconds: a window of 30 ns with arrivals
//! every few makes every coincidence that a window of a minute can.

use proptest::prelude::*;
use proptest::sample::select;
use proptest::strategy::BoxedStrategy;

/// `name = "<n>ns"`, or nothing.
fn optional(name: &'static str, range: std::ops::Range<u64>) -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(String::new()), 1 => range.prop_map(move |n| format!("{name} = \"{n}ns\"\n"))]
}

fn flag(name: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![Just(String::new()), Just(format!(", {name} = true")), Just(format!(", {name} = false"))]
}

fn rate(most: u64, longest: u64) -> impl Strategy<Value = String> {
    (1..=most, 1..=longest).prop_map(|(units, period)| format!("{units}/{period}ns"))
}

fn pattern() -> BoxedStrategy<String> {
    let edges = prop_oneof![Just(String::new()), (0..4_u64).prop_map(|n| format!(", edges = {n}"))];
    prop_oneof![
        3 => (0..40_u64, 0..300_u64, prop_oneof![Just(0), 0..200_u64]).prop_map(|(requests, at, over)| {
            format!("burst = {{ requests = {requests}, at = \"{at}ns\", over = \"{over}ns\" }}")
        }),
        1 => (0..10_u64, 0..8_u64, edges).prop_map(|(requests, margin, edges)| {
            format!("boundary-burst = {{ requests = {requests}, margin = \"{margin}ns\"{edges} }}")
        }),
        1 => (0..60_u64, 0..12_u64, 0..6_u64).prop_map(|(idle, requests, repeat)| {
            format!("idle-then-spike = {{ idle = \"{idle}ns\", requests = {requests}, repeat = {repeat} }}")
        }),
        2 => rate(3, 8).prop_map(|rate| format!("steady = {{ rate = \"{rate}\" }}")),
        2 => rate(3, 8).prop_map(|rate| format!("poisson = {{ rate = \"{rate}\" }}")),
        1 => (rate(3, 4), 1..60_u64, 0..60_u64)
            .prop_map(|(rate, on, off)| format!("on-off = {{ rate = \"{rate}\", on = \"{on}ns\", off = \"{off}ns\" }}")),
        1 => (rate(2, 8), rate(2, 4)).prop_map(|(rate, to)| format!("ramp = {{ rate = \"{rate}\", to = \"{to}\" }}")),
    ]
    .boxed()
}

fn traffic() -> impl Strategy<Value = String> {
    let keys = prop_oneof![
        2 => (1..6_u64).prop_map(|n| n.to_string()),
        1 => (1..6_u64, 0..3_u64).prop_map(|(n, exponent)| format!("{{ zipf = {{ n = {n}, exponent = {exponent}.0 }} }}")),
    ];
    let cost = prop_oneof![3 => Just(1_u64), 1 => 0..7_u64];
    let class = prop_oneof![
        2 => Just(String::new()),
        1 => select(vec!["api", "health"]).prop_map(|class| format!("class = \"{class}\"\n")),
    ];
    let ip = prop_oneof![(1..4_u64).prop_map(|n| n.to_string()), Just("\"shared\"".to_owned())];
    (pattern(), keys, cost, class, optional("from", 0..100), optional("until", 50..300), ip, 1..4_u64).prop_map(
        |(pattern, keys, cost, class, from, until, ip, tenants)| {
            format!(
                "[[traffic]]\n{class}{from}{until}keys = {keys}\ncost = {cost}\n\
                 groups = {{ ip = {ip} }}\nspread = {{ tenant = {tenants} }}\n{pattern}\n"
            )
        },
    )
}

/// An algorithm with any of its knobs; a limit of its own or the scenario's.
fn algorithm() -> BoxedStrategy<String> {
    let limit = || {
        let own = (0..8_u64, 1..60_u64).prop_map(|(units, window)| format!(", limit = \"{units}/{window}ns\""));
        prop_oneof![2 => Just(String::new()), 1 => own]
    };
    let count_denied = || flag("count-denied");
    let compare = || select(vec!["after", "before"]);
    let fixed = (limit(), select(vec!["clock", "first-request", "every-request"]), count_denied())
        .prop_map(|(limit, anchor, denied)| format!("fixed-window = {{ anchor = \"{anchor}\"{limit}{denied} }}"));
    let log = (limit(), select(vec!["exclusive", "inclusive"]), count_denied())
        .prop_map(|(limit, edge, denied)| format!("sliding-log = {{ edge = \"{edge}\"{limit}{denied} }}"));
    let oldest = select(vec!["weighted", "weighted", "ignored", "whole"]);
    let anchor = select(vec!["clock", "first-request"]);
    let counter = (limit(), compare(), prop_oneof![Just(1_u64), 1..6_u64], oldest, anchor, count_denied()).prop_map(
        |(limit, compare, buckets, oldest, anchor, denied)| {
            format!(
                "sliding-counter = {{ compare = \"{compare}\", buckets = {buckets}, oldest = \"{oldest}\", \
                 anchor = \"{anchor}\"{limit}{denied} }}"
            )
        },
    );
    let initial = select(vec!["\"full\"", "\"empty\"", "1"]);
    let token = (rate(6, 40), 1..8_u64, initial, select(vec!["continuous", "continuous", "interval"])).prop_map(
        |(rate, burst, initial, refill)| {
            format!(
                "token-bucket = {{ rate = \"{rate}\", burst = {burst}, initial = {initial}, refill = \"{refill}\" }}"
            )
        },
    );
    let queue = (rate(6, 40), 1..8_u64)
        .prop_map(|(rate, capacity)| format!("leaky-bucket = {{ rate = \"{rate}\", capacity = {capacity} }}"));
    let meter = (rate(6, 40), 1..8_u64, compare()).prop_map(|(rate, capacity, compare)| {
        format!(
            "leaky-bucket = {{ mode = \"meter\", rate = \"{rate}\", capacity = {capacity}, compare = \"{compare}\" }}"
        )
    });
    let gcra =
        (rate(6, 40), 1..8_u64).prop_map(|(rate, burst)| format!("gcra = {{ rate = \"{rate}\", burst = {burst} }}"));
    prop_oneof![1 => fixed, 1 => log, 1 => counter, 1 => token, 2 => queue, 1 => meter, 1 => gcra].boxed()
}

fn lane() -> impl Strategy<Value = String> {
    let key = prop_oneof![
        3 => Just(String::new()),
        1 => Just("key = \"ip\"\n".to_owned()),
        1 => Just("key = \"tenant\"\n".to_owned()),
        1 => Just("key = [\"ip\", \"tenant\"]\n".to_owned()),
    ];
    let exempt = prop_oneof![
        3 => Just(String::new()),
        1 => select(vec!["api", "health"]).prop_map(|class| format!("exempt = [\"{class}\"]\n")),
    ];
    (key, exempt, optional("clock-resolution", 1..20), algorithm())
        .prop_map(|(key, exempt, clock, algorithm)| format!("[[lane]]\n{key}{exempt}{clock}{algorithm}\n"))
}

/// A scenario's text. A few of these are not valid: a margin past half a window, a class that no
/// traffic states, buckets shorter than a nanosecond.
pub fn scene() -> impl Strategy<Value = String> {
    scene_in(vec!["ns", "ns", "us", "ms"])
}

/// The same with spans in one of these units.
pub fn scene_in(units: Vec<&'static str>) -> impl Strategy<Value = String> {
    let start =
        select(vec!["", "start = \"1970-01-01T00:00:00.000000123Z\"\n", "start = \"1969-12-31T23:59:59.9999998Z\"\n"]);
    let limit = prop_oneof![1 => Just(0_u64), 20 => 1..8_u64];
    let envelope = prop::collection::vec(1..200_u64, 0..4).prop_map(|spans| {
        if spans.is_empty() {
            return String::new();
        }
        let spans: Vec<String> = spans.iter().map(|span| format!("\"{span}ns\"")).collect();
        format!("envelope = [{}]\n", spans.join(", "))
    });
    let head = (start, 1..400_u64, 0..1000_u64, limit, 1..50_u64, envelope).prop_map(
        |(start, duration, seed, units, window, envelope)| {
            format!("{start}duration = \"{duration}ns\"\nseed = {seed}\nlimit = \"{units}/{window}ns\"\n{envelope}")
        },
    );
    let tables = prop::collection::vec(traffic(), 1..4).prop_map(|tables| tables.concat());
    let lanes = prop::collection::vec(lane(), 1..5).prop_map(|lanes| lanes.concat());
    (head, tables, lanes, select(units))
        .prop_map(|(head, tables, lanes, unit)| format!("{head}{tables}{lanes}").replace("ns\"", &format!("{unit}\"")))
}
