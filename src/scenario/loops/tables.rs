//! The tables as they are written, with the places of their values.

use crate::quota::Rate;
use crate::scenario::values::{Duration, TableOf, Text, Word, WordOr};
use crate::sim::{Jitter, Overflow, QueueOrder, QuotaHeaders, RetryAfter, Sdk};
use serde::Deserialize;
use toml::Spanned;

/// `client = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ClientTable {
    pub(super) retry: Option<Spanned<RetryTable>>,
    pub(super) max_attempts: Option<Spanned<u32>>,
    pub(super) deadline: Option<Duration>,
    pub(super) round_trip: Option<Duration>,
    pub(super) budget: Option<Spanned<WordOr<BudgetTable>>>,
    pub(super) throttle: Option<Spanned<ThrottleTable>>,
}

/// `retry = { … }`: exactly one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RetryTable {
    pub(super) none: Option<Spanned<NoKnobs>>,
    pub(super) immediate: Option<Spanned<NoKnobs>>,
    pub(super) fixed: Option<Spanned<FixedTable>>,
    pub(super) exponential: Option<Spanned<ExponentialTable>>,
    pub(super) retry_after: Option<Spanned<RetryAfterTable>>,
    pub(super) paced: Option<Spanned<NoKnobs>>,
    pub(super) sdk: Option<Spanned<SdkTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::scenario) struct NoKnobs {}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FixedTable {
    pub(super) delay: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ExponentialTable {
    pub(super) base: Duration,
    pub(super) cap: Option<Duration>,
    pub(super) jitter: Option<Word<Jitter>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RetryAfterTable {
    pub(super) jitter: Option<Duration>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SdkTable {
    pub(super) name: Word<Sdk>,
}

/// `budget = { … }`
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BudgetTable {
    pub(super) ratio: Option<Spanned<f64>>,
    pub(super) per_second: Option<Spanned<u64>>,
    pub(super) ttl: Option<Duration>,
    pub(super) like: Option<Spanned<String>>,
    pub(super) bucket: Option<Spanned<BucketTable>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BucketTable {
    pub(super) size: Spanned<u64>,
    pub(super) ratio: Spanned<f64>,
}

impl TableOf for BudgetTable {
    const EXPECTED: &'static str = "\"finagle\", \"tower-0.5\", \"envoy\", { ratio = 0.1, per-second = 10, ttl = \"10s\" } or { bucket = { size = 5, ratio = 0.1 } }";
}

/// `throttle = { … }`: exactly one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ThrottleTable {
    pub(super) grpc: Option<Spanned<GrpcTable>>,
    pub(super) adaptive: Option<Spanned<AdaptiveTable>>,
    pub(super) breaker: Option<Spanned<BreakerTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BreakerTable {
    pub(super) share: Spanned<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct GrpcTable {
    pub(super) max: Spanned<u64>,
    pub(super) ratio: Spanned<f64>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AdaptiveTable {
    pub(super) k: Option<Spanned<f64>>,
    pub(super) window: Option<Duration>,
}

/// `response = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct ResponseTable {
    pub(super) status: Option<Spanned<u16>>,
    pub(super) retry_after: Option<Word<RetryAfter>>,
    pub(super) spread: Option<Spanned<String>>,
    pub(super) headers: Option<Word<QuotaHeaders>>,
}

/// `backend = { … }`
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct BackendTable {
    pub(super) servers: Option<Spanned<u32>>,
    pub(super) service: Option<Spanned<WordOr<ServiceTable>>>,
    pub(super) rate: Option<Spanned<Text<Rate>>>,
    pub(super) queue: Option<Spanned<u64>>,
    pub(super) order: Option<Spanned<Word<QueueOrder>>>,
    pub(super) overflow: Option<Spanned<Word<Overflow>>>,
    pub(super) timeout: Option<Duration>,
    pub(super) rejection_cost: Option<Duration>,
    pub(super) stall: Option<Spanned<SpanTable>>,
    pub(super) brown_out: Option<Spanned<BrownOutTable>>,
    pub(super) hop: Option<Spanned<WordOr<HopTable>>>,
    pub(super) failure: Option<Spanned<f64>>,
    pub(super) optimistic: Option<Spanned<NormalTable>>,
}

/// `hop = { … }`: exactly one kind.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::scenario) struct HopTable {
    pub(super) exponential: Option<Duration>,
    pub(super) normal: Option<Spanned<NormalTable>>,
}

impl TableOf for HopTable {
    const EXPECTED: &'static str = "a duration such as \"10ms\", { exponential = \"10ms\" } or { normal = { hop = \"10ms\", deviation = \"2ms\" } }";
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct NormalTable {
    pub(super) hop: Duration,
    pub(super) deviation: Option<Duration>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ServiceTable {
    pub(super) constant: Option<Duration>,
    pub(super) exponential: Option<Duration>,
    pub(super) load_dependent: Option<LoadTable>,
}

impl TableOf for ServiceTable {
    const EXPECTED: &'static str = "a duration such as \"100ms\", { exponential = \"100ms\" } or { load-dependent = { base = \"1s\", each = \"10ms\" } }";
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LoadTable {
    pub(super) base: Duration,
    pub(super) each: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(in crate::scenario) struct SpanTable {
    pub(in crate::scenario) from: Duration,
    pub(in crate::scenario) until: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BrownOutTable {
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) factor: Spanned<f64>,
}
