//! A close look at one span of a run: what pictures draw.

use super::FleetDetail;
use crate::time::SimTime;

/// What a comparison sheet draws beside the report.
#[derive(Clone, Debug)]
pub struct Sheet {
    /// The whole run, until what it did to the limit is over, and up to round times around it.
    pub whole: Detail,
    /// The report's focus, up to round times around it.
    pub focus: Detail,
}

impl Sheet {
    /// Columns of each span at most.
    pub const COLUMNS: usize = 600;
    /// Arrivals kept one by one.
    pub const KEEP: usize = 240;
}

/// One span of a run, cut into columns of equal width.
#[derive(Clone, Debug)]
pub struct Detail {
    /// First instant of the span.
    pub from: SimTime,
    /// First instant after it.
    pub until: SimTime,
    /// How many columns it is cut into; column i holds `[from + i w, from + (i + 1) w)`, w = span /
    /// columns, edges rounded down to the nanosecond.
    pub columns: usize,
    /// Arrivals before the span.
    pub arrivals_before: u64,
    /// Arrivals in the span.
    pub arrivals_within: u64,
    /// A few round instants in the span.
    pub ticks: Vec<SimTime>,
    /// Arrivals before the first of [`ticks`](Self::ticks), between each two, and after the last.
    pub between_ticks: Vec<u64>,
    /// The arrivals in the span one by one, while they are few; else none.
    pub arrivals: Vec<ArrivalDetail>,
    /// Arrivals in each column on which the lanes do not all agree, waits apart.
    pub split: Vec<u64>,
    /// A lane each, in the report's order.
    pub lanes: Vec<LaneDetail>,
}

/// One arrival.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ArrivalDetail {
    /// Its number in the run, from 1.
    pub number: u64,
    /// When it came.
    pub at: SimTime,
    /// Its key.
    pub key: String,
    /// Units it takes.
    pub cost: u64,
}

/// What one lane did in the span.
#[derive(Clone, Debug, Default)]
pub struct LaneDetail {
    /// The key whose releases and level are followed.
    pub key: Option<String>,
    /// Counts before the span.
    pub before: Counts,
    /// Counts in each column.
    pub counts: Vec<Counts>,
    /// Units of the key released in the last window, in each column; empty without a limit.
    pub trailing: Vec<Extent>,
    /// The same just before the span.
    pub trailing_before: u64,
    /// Every change of that figure while they are few, the first at the span's beginning; else
    /// empty.
    pub trailing_changes: Vec<Change>,
    /// The peak so far at the end of each column; of any key, or of the one key that is looked at;
    /// empty without a limit.
    pub peak: Vec<u64>,
    /// The same just before the span.
    pub peak_before: u64,
    /// Every change of it while they are few, the first at the span's beginning; else empty.
    pub peak_changes: Vec<Change>,
    /// Units of the key in use as the limiter sees it, in each column.
    pub level: Vec<Extent>,
    /// The most that can be in use.
    pub level_limit: u64,
    /// Where, in the span, a window of the clock ends and all that was counted in it is forgotten;
    /// none if there are many.
    pub restarts: Vec<SimTime>,
    /// For each arrival of [`Detail::arrivals`], what the lane did with it.
    pub decisions: Vec<DecisionDetail>,
    /// In a closed loop, what became of requests before the span.
    pub requests_before: RequestCounts,
    /// The same in each column; empty in an open loop.
    pub requests: Vec<RequestCounts>,
    /// Where, in the span, the lane's backend is slower or stands still.
    pub slow: Vec<SlowDetail>,
    /// In a deployment, what replicas and store did.
    pub fleet: Option<FleetDetail>,
}

/// Counts of what became of requests in a closed loop.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RequestCounts {
    /// Attempts that are the first of their request.
    pub first: u64,
    /// Requests answered in time.
    pub good: u64,
    /// Requests whose client stopped trying.
    pub gave_up: u64,
}

impl std::ops::AddAssign for RequestCounts {
    fn add_assign(&mut self, other: Self) {
        self.first += other.first;
        self.good += other.good;
        self.gave_up += other.gave_up;
    }
}

/// A span in which a backend does only a part of its work.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SlowDetail {
    /// First instant.
    pub from: SimTime,
    /// First instant after it.
    pub until: SimTime,
    /// The part of its work that it does: 0 where it stands still.
    pub speed: f64,
}

/// Counts of decisions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Released at once.
    pub allowed: u64,
    /// Released later.
    pub delayed: u64,
    /// Refused.
    pub denied: u64,
}

impl Counts {
    /// All of them.
    #[must_use]
    pub const fn total(&self) -> u64 {
        self.allowed + self.delayed + self.denied
    }
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.allowed += other.allowed;
        self.delayed += other.delayed;
        self.denied += other.denied;
    }
}

/// What a quantity did within a column.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Extent {
    /// The smallest it was.
    pub min: f64,
    /// The largest it was.
    pub max: f64,
    /// What it was at the column's end.
    pub last: f64,
}

/// A quantity that takes a new value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Change {
    /// When.
    pub at: SimTime,
    /// The arrival that made it, by number; zero for what comes before all arrivals of its instant.
    pub arrival: u64,
    /// The value from then on.
    pub value: u64,
}

/// What a lane did with one arrival.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecisionDetail {
    /// Its decision.
    pub kind: DecisionKind,
    /// The wait of a delayed arrival, else zero.
    pub wait_ns: u64,
    /// Attempts of cost 1 that would pass right after it.
    pub remaining: u64,
    /// Time until one more would.
    pub next_ns: u128,
    /// Time until the state of an untouched key.
    pub full_ns: u128,
    /// Units of the followed key in use right after it, if it is an arrival of that key.
    pub used: Option<f64>,
    /// For a denied arrival: the smallest wait after which it would pass, `None` for never.
    pub retry_after_ns: Option<u128>,
}

/// Allowed, delayed or denied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DecisionKind {
    /// Released at once.
    Allow,
    /// Released later.
    Delay,
    /// Refused.
    Deny,
}

impl DecisionKind {
    /// One decision of this kind.
    #[must_use]
    pub const fn once(self) -> Counts {
        let mut counts = Counts { allowed: 0, delayed: 0, denied: 0 };
        match self {
            Self::Allow => counts.allowed = 1,
            Self::Delay => counts.delayed = 1,
            Self::Deny => counts.denied = 1,
        }
        counts
    }
}

impl LaneDetail {
    /// Arrivals in each column: of a closed loop the first attempts.
    pub fn arrivals(&self) -> impl Iterator<Item = u64> + '_ {
        let closed = !self.requests.is_empty();
        let first = self.requests.iter().map(|requests| requests.first);
        let all = self.counts.iter().filter(move |_| !closed).map(Counts::total);
        first.chain(all)
    }
}

impl Detail {
    /// First instant of column `column`; that of column `columns` is [`until`](Self::until).
    #[must_use]
    pub fn edge(&self, column: usize) -> SimTime {
        let span = i128::from(self.until.nanos()) - i128::from(self.from.nanos());
        let offset = span * column as i128 / self.columns.max(1) as i128;
        SimTime::from_nanos((i128::from(self.from.nanos()) + offset) as i64)
    }
}
