//! The scenario file as it is written: tables with the places of their values.

use super::deployment::{DeploymentTable, FaultTable};
use super::loops::{BackendTable, ClientTable, ResponseTable};
pub use super::values::ExpectValue;
use super::values::{
    ColumnValue, CountOr, CountOrWord, Duration, Instant, NamesOrColumns, OneOrMany, Seed, TableOf, Text, Word, WordOr,
    lend,
};
use crate::limiter::{Backwards, Compare, CounterAnchor, Edge, LeakyMode, Oldest, Refill, WindowAnchor};
use crate::quota::{Limit, Rate};
use serde::Deserialize;
use std::collections::BTreeMap;
use toml::Spanned;

/// `[expect]`: tables by the lane they are about.
pub type ExpectTables = BTreeMap<Spanned<String>, Spanned<ExpectTable>>;

/// `[expect.LANE]`: conditions by the figure they are on.
pub type ExpectTable = BTreeMap<Spanned<String>, Spanned<ExpectValue>>;

/// `conditions`: comparisons by their names.
pub type ConditionTables = BTreeMap<Spanned<String>, Spanned<String>>;

/// A scenario.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ScenarioTable {
    pub title: Option<Spanned<String>>,
    pub about: Option<Spanned<String>>,
    pub start: Option<Spanned<Instant>>,
    pub duration: Option<Duration>,
    pub seed: Option<Seed>,
    pub limit: Option<Spanned<Text<Limit>>>,
    pub envelope: Option<Vec<Duration>>,
    #[serde(default)]
    pub traffic: Vec<Spanned<TrafficTable>>,
    pub client: Option<Spanned<ClientTable>>,
    pub response: Option<Spanned<ResponseTable>>,
    pub backend: Option<Spanned<BackendTable>>,
    pub deployment: Option<Spanned<DeploymentTable>>,
    #[serde(default)]
    pub fault: Vec<Spanned<FaultTable>>,
    pub max_events: Option<Spanned<u64>>,
    pub metric_bin: Option<Duration>,
    pub conditions: Option<Spanned<ConditionTables>>,
    pub lane: Option<Vec<Spanned<LaneTable>>>,
    pub expect: Option<Spanned<ExpectTables>>,
}

/// One source of traffic: exactly one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TrafficTable {
    pub name: Option<Spanned<String>>,
    pub class: Option<Spanned<String>>,
    pub keys: Option<Spanned<CountOr<KeysTable>>>,
    pub cost: Option<Spanned<u64>>,
    pub from: Option<Duration>,
    pub until: Option<Duration>,
    pub groups: Option<Spanned<BTreeMap<Spanned<String>, Spanned<CountOrWord>>>>,
    pub spread: Option<Spanned<BTreeMap<Spanned<String>, Spanned<u64>>>>,
    pub burst: Option<Spanned<BurstTable>>,
    pub boundary_burst: Option<Spanned<BoundaryBurstTable>>,
    pub idle_then_spike: Option<Spanned<IdleThenSpikeTable>>,
    pub steady: Option<Spanned<SteadyTable>>,
    pub poisson: Option<Spanned<SteadyTable>>,
    pub on_off: Option<Spanned<OnOffTable>>,
    pub ramp: Option<Spanned<RampTable>>,
    pub clients: Option<Spanned<ClientsTable>>,
    pub trace: Option<Spanned<TraceTable>>,
}

/// `keys = { zipf = { ... } }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct KeysTable {
    pub zipf: ZipfTable,
}

impl TableOf for KeysTable {
    const EXPECTED: &'static str = "a number of keys, or { zipf = { n = 100, exponent = 1.1 } }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ZipfTable {
    pub n: Spanned<u64>,
    pub exponent: Spanned<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BurstTable {
    pub requests: u64,
    pub at: Option<Duration>,
    pub over: Option<Duration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BoundaryBurstTable {
    pub requests: u64,
    pub margin: Duration,
    pub edges: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct IdleThenSpikeTable {
    pub idle: Duration,
    pub requests: u64,
    pub repeat: Option<u64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SteadyTable {
    pub rate: Spanned<Text<Rate>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OnOffTable {
    pub rate: Spanned<Text<Rate>>,
    pub on: Duration,
    pub off: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct RampTable {
    pub rate: Spanned<Text<Rate>>,
    pub to: Spanned<Text<Rate>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClientsTable {
    pub count: Spanned<u64>,
    pub think: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TraceTable {
    pub file: Spanned<String>,
    pub time: Option<Spanned<ColumnValue>>,
    pub time_format: Option<Spanned<String>>,
    pub key: Option<Spanned<ColumnValue>>,
    pub cost: Option<Spanned<OneOrMany<ColumnValue>>>,
    pub attributes: Option<Spanned<NamesOrColumns>>,
    pub order: Option<Spanned<WordOr<OrderTable>>>,
    pub bad_rows: Option<Spanned<String>>,
    pub header: Option<bool>,
}

/// `order = { window = "5s" }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct OrderTable {
    pub window: Duration,
}

impl TableOf for OrderTable {
    const EXPECTED: &'static str = "\"strict\", \"sort\" or { window = \"5s\" }";
}

/// One lane: exactly one algorithm.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LaneTable {
    pub name: Option<Spanned<String>>,
    pub key: Option<Spanned<OneOrMany<String>>>,
    pub exempt: Option<Spanned<Vec<Spanned<String>>>>,
    pub clock_resolution: Option<Duration>,
    pub client: Option<Spanned<ClientTable>>,
    pub response: Option<Spanned<ResponseTable>>,
    pub backend: Option<Spanned<BackendTable>>,
    pub deployment: Option<Spanned<DeploymentTable>>,
    pub fixed_window: Option<Spanned<FixedWindowTable>>,
    pub sliding_log: Option<Spanned<SlidingLogTable>>,
    pub sliding_counter: Option<Spanned<SlidingCounterTable>>,
    pub token_bucket: Option<Spanned<TokenBucketTable>>,
    pub leaky_bucket: Option<Spanned<LeakyBucketTable>>,
    pub gcra: Option<Spanned<GcraTable>>,
}

/// `prefilter = { … }`: exactly one algorithm.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct PrefilterTable {
    pub fixed_window: Option<Spanned<FixedWindowTable>>,
    pub sliding_log: Option<Spanned<SlidingLogTable>>,
    pub sliding_counter: Option<Spanned<SlidingCounterTable>>,
    pub token_bucket: Option<Spanned<TokenBucketTable>>,
    pub leaky_bucket: Option<Spanned<LeakyBucketTable>>,
    pub gcra: Option<Spanned<GcraTable>>,
}

/// The algorithms that a table states.
pub struct Algorithms<'a> {
    pub fixed_window: Option<&'a Spanned<FixedWindowTable>>,
    pub sliding_log: Option<&'a Spanned<SlidingLogTable>>,
    pub sliding_counter: Option<&'a Spanned<SlidingCounterTable>>,
    pub token_bucket: Option<&'a Spanned<TokenBucketTable>>,
    pub leaky_bucket: Option<&'a Spanned<LeakyBucketTable>>,
    pub gcra: Option<&'a Spanned<GcraTable>>,
}

lend!(Algorithms of LaneTable, PrefilterTable:
    [fixed_window, sliding_log, sliding_counter, token_bucket, leaky_bucket, gcra]);

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FixedWindowTable {
    pub limit: Option<Spanned<Text<Limit>>>,
    pub anchor: Option<Word<WindowAnchor>>,
    pub count_denied: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SlidingLogTable {
    pub limit: Option<Spanned<Text<Limit>>>,
    pub edge: Option<Word<Edge>>,
    pub count_denied: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct SlidingCounterTable {
    pub limit: Option<Spanned<Text<Limit>>>,
    pub compare: Option<Word<Compare>>,
    pub buckets: Option<Spanned<u64>>,
    pub oldest: Option<Word<Oldest>>,
    pub anchor: Option<Word<CounterAnchor>>,
    pub count_denied: Option<bool>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TokenBucketTable {
    pub rate: Option<Spanned<Text<Rate>>>,
    pub burst: Option<Spanned<u64>>,
    pub initial: Option<Spanned<CountOrWord>>,
    pub refill: Option<Word<Refill>>,
    pub backwards: Option<Spanned<Word<Backwards>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct LeakyBucketTable {
    pub rate: Option<Spanned<Text<Rate>>>,
    pub mode: Option<Word<LeakyMode>>,
    pub capacity: Option<Spanned<u64>>,
    pub compare: Option<Spanned<Word<Compare>>>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct GcraTable {
    pub rate: Option<Spanned<Text<Rate>>>,
    pub burst: Option<Spanned<u64>>,
}
