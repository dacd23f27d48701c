//! Real traces: how many requests each algorithm refuses, counted by others.
//!
//! Every number below is a fact about the trace, worked out without this program. Refusals come in
//! the order fixed window, sliding log, token bucket, sliding counter.

use crate::simulate::plan;
use rlsim::limiter::{Costs, KeyId, LimiterSpec, Rows, Verdicts, Workload};
use rlsim::record::{Room, Stream, peak_window};
use rlsim::sim::Step;
use rlsim::time::{SimDuration, SimTime};
use rlsim::traffic::Batch;
use std::path::Path;

/// A trace and its columns.
struct Trace {
    file: &'static str,
    time: usize,
    key: Option<usize>,
    cost: &'static [usize],
}

const NASA: Trace = Trace { file: "nasa_1995_aug_keyed.csv", time: 0, key: Some(1), cost: &[2] };
const AZURE: Trace = Trace { file: "azure_llm_code_2023.csv", time: 0, key: None, cost: &[1, 2] };

/// Arrivals as columns, keys numbered by first appearance.
#[derive(Clone, Default)]
struct Arrivals {
    at: Vec<SimTime>,
    key: Vec<KeyId>,
    cost: Vec<u64>,
    names: Vec<String>,
}

/// Unix seconds, or a date and a time of day in UTC.
fn instant(text: &str) -> SimTime {
    if let Ok(seconds) = text.parse::<i64>() {
        return SimTime::from_nanos(seconds * 1_000_000_000);
    }
    let time: jiff::Timestamp = format!("{text}Z").parse().expect("a date and a time of day");
    SimTime::from_wide_nanos(time.as_nanosecond()).expect("in range")
}

/// Reads a trace.
fn read(trace: &Trace) -> Arrivals {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("scenarios/data").join(trace.file);
    let mut reader = csv::Reader::from_path(path).expect("a trace");
    let mut arrivals = Arrivals::default();
    for record in reader.records() {
        let record = record.expect("a row");
        let name = trace.key.map_or("all", |column| &record[column]);
        let key = arrivals.names.iter().position(|known| known == name).unwrap_or_else(|| {
            arrivals.names.push(name.to_owned());
            arrivals.names.len() - 1
        });
        arrivals.at.push(instant(&record[trace.time]));
        arrivals.key.push(KeyId(key as u32));
        arrivals.cost.push(trace.cost.iter().map(|column| record[*column].parse::<u64>().expect("a cost")).sum());
    }
    arrivals
}

impl Arrivals {
    /// The same requests of cost one.
    fn unweighted(mut self) -> Self {
        self.cost.fill(1);
        self
    }

    /// The same requests under one key.
    fn together(mut self) -> Self {
        self.key.fill(KeyId(0));
        self
    }

    /// The requests of one key.
    fn only(&self, key: KeyId) -> Self {
        let rows: Vec<usize> = (0..self.at.len()).filter(|row| self.key[*row] == key).collect();
        Self {
            at: rows.iter().map(|row| self.at[*row]).collect(),
            key: vec![KeyId(0); rows.len()],
            cost: rows.iter().map(|row| self.cost[*row]).collect(),
            names: Vec::new(),
        }
    }

    /// The key with the most rows, the first of equals.
    fn busiest(&self) -> KeyId {
        let count = |id: usize| self.key.iter().filter(|key| key.index() == id).count();
        let id = (0..self.names.len()).max_by_key(|id| (count(*id), std::cmp::Reverse(*id))).expect("a key");
        KeyId(id as u32)
    }

    /// The most requests of one key in a span of so many seconds.
    fn peak(&self, seconds: u64) -> u64 {
        let mut window =
            peak_window(SimDuration::from_secs(seconds), None, 0, None, vec![Stream::Offered], true, &Room::default());
        let batch = Batch {
            first: 0,
            at: self.at.clone(),
            cost: self.cost.clone(),
            keys: vec![self.key.clone()],
            source: vec![0; self.at.len()],
        };
        window.observe(&Step { batch, ..Step::default() }, &[]);
        window.peak(0).units
    }

    fn peaks(&self) -> (u64, u64) {
        (self.peak(1), self.peak(60))
    }

    /// How many of these requests a limiter refuses.
    fn refused(&self, limiter: &LimiterSpec) -> usize {
        let workload = Workload { unit_cost: self.cost.iter().all(|cost| *cost <= 1), ..Workload::UNKNOWN };
        let mut limiter = limiter.build(&workload);
        let mut verdicts = Verdicts::default();
        let chunks = self.at.chunks(1000).zip(self.key.chunks(1000)).zip(self.cost.chunks(1000));
        let refused = chunks.map(|((at, key), cost)| {
            limiter.decide_batch(Rows { at, key, cost: Costs::Each(cost) }, &mut verdicts);
            at.len() - verdicts.admitted.ones().count()
        });
        refused.sum()
    }

    /// Refusals by fixed window, sliding log, token bucket and sliding counter; the other buckets
    /// must refuse what the token bucket does.
    fn refusals(&self, limit: &str) -> [usize; 4] {
        let algorithms = [
            "fixed-window = {}",
            "sliding-log = {}",
            "token-bucket = {}",
            "sliding-counter = {}",
            "gcra = {}",
            "leaky-bucket = { mode = \"meter\" }",
            "leaky-bucket = {}",
        ];
        let lanes: String = algorithms.iter().map(|algorithm| format!("[[lane]]\n{algorithm}\n")).collect();
        let plan = plan(&format!("limit = \"{limit}\"\n[[traffic]]\nburst = {{ requests = 1 }}\n{lanes}"));
        let refused: Vec<usize> = plan.lanes.iter().map(|lane| self.refused(&lane.limiter)).collect();
        assert_eq!(refused[4..], [refused[2]; 3], "gcra, meter and queue admit as the token bucket under {limit}");
        [refused[0], refused[1], refused[2], refused[3]]
    }
}

const A: &str = "60/60s";
const B: &str = "10/10s";
const C: &str = "5/1s";

#[test]
fn what_the_traces_hold() {
    let steps_back = |a: &Arrivals| a.at.windows(2).filter(|pair| pair[1] < pair[0]).count();
    let ends = |a: &Arrivals| (a.at[0].to_string(), a.at[a.at.len() - 1].to_string());
    let expect = |from: &str, until: &str| (from.to_owned(), until.to_owned());

    let nasa = read(&NASA);
    assert_eq!((nasa.at.len(), nasa.names.len(), steps_back(&nasa)), (1841, 185, 0));
    assert_eq!(ends(&nasa), expect("1995-08-01T04:00:01Z", "1995-08-01T05:12:24Z"));
    assert_eq!((nasa.cost.iter().sum(), nasa.cost.iter().max()), (29_779_939_u64, Some(&835_394)));

    let azure = read(&AZURE);
    assert_eq!((azure.at.len(), azure.names.len(), steps_back(&azure)), (8819, 1, 0));
    assert_eq!(ends(&azure), expect("2023-11-16T18:17:03.97996Z", "2023-11-16T19:14:19.928016Z"));
    assert_eq!((azure.cost.iter().sum(), azure.cost.iter().max()), (18_305_870_u64, Some(&7841)));
}

#[test]
fn the_most_requests_in_a_span() {
    let nasa = read(&NASA).unweighted();
    let busiest = nasa.busiest();
    assert_eq!(nasa.names[busiest.index()], "host0064.example");
    assert_eq!(nasa.only(busiest).at.len(), 75);
    assert_eq!(nasa.only(busiest).peaks(), (2, 13));
    assert_eq!(nasa.peaks(), (5, 14));
    assert_eq!(nasa.together().peaks(), (5, 63));

    let azure = read(&AZURE).unweighted();
    assert_eq!((azure.only(azure.busiest()).peaks(), azure.peaks()), ((72, 723), (72, 723)));
}

#[test]
fn refused_by_a_limit_for_each_key() {
    let nasa = read(&NASA).unweighted();
    assert_eq!(nasa.refusals(A), [0, 0, 0, 0]);
    assert_eq!(nasa.refusals(B), [0, 0, 0, 0]);
    assert_eq!(nasa.refusals(C), [0, 0, 0, 5]);
}

#[test]
fn refused_by_one_limit_for_all() {
    let nasa = read(&NASA).unweighted().together();
    assert_eq!(nasa.refusals(A), [2, 3, 0, 3]);
    assert_eq!(nasa.refusals(B), [56, 101, 4, 132]);
    assert_eq!(nasa.refusals(C), [0, 0, 0, 16]);

    let azure = read(&AZURE).unweighted();
    assert_eq!(azure.refusals(A), [6451, 6818, 6178, 6826]);
    assert_eq!(azure.refusals(B), [7505, 7627, 7330, 7687]);
    assert_eq!(azure.refusals(C), [4643, 5192, 4359, 5492]);
}

#[test]
fn refused_by_weight() {
    assert_eq!(read(&AZURE).refusals("300000/60s"), [3902, 4484, 2043, 3463]);
    assert_eq!(read(&NASA).together().refusals("200000/60s"), [363, 301, 132, 217]);
    assert_eq!(read(&NASA).refusals("200000/60s"), [27, 33, 22, 30]);
}
