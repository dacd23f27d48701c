//! The tables of deployments as they are written, with the places of their values.

use crate::quota::Rate;
use crate::scenario::file::PrefilterTable;
use crate::scenario::loops::{HopTable, NoKnobs, SpanTable};
use crate::scenario::values::{Duration, TableOf, Text, Word, WordOr};
use crate::sim::{Clock, Debt, Expired, Operation, Share, Unassigned};
use serde::Deserialize;
use toml::Spanned;

/// `deployment = { … }`: exactly one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct DeploymentTable {
    pub(super) single: Option<Spanned<NoKnobs>>,
    pub(super) central: Option<Spanned<CentralTable>>,
    pub(super) local: Option<Spanned<LocalTable>>,
    pub(super) hybrid: Option<Spanned<HybridTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct CentralTable {
    pub(super) replicas: Option<Spanned<u32>>,
    pub(super) routing: Option<Spanned<WordOr<RoutingTable>>>,
    pub(super) skew: Option<Spanned<Vec<Duration>>>,
    pub(super) round_trip: Option<Spanned<WordOr<HopTable>>>,
    pub(super) operation: Option<Spanned<Word<Operation>>>,
    pub(super) timeout: Option<Duration>,
    pub(super) on_failure: Option<Spanned<WordOr<OnFailureTable>>>,
    pub(super) fallback_share: Option<Spanned<Word<Share>>>,
    pub(super) breaker: Option<Spanned<BreakerTable>>,
    pub(super) clock: Option<Word<Clock>>,
    pub(super) store: Option<Spanned<StoreTable>>,
    pub(super) prefilter: Option<Spanned<PrefilterTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LocalTable {
    pub(super) replicas: Option<Spanned<u32>>,
    pub(super) routing: Option<Spanned<WordOr<RoutingTable>>>,
    pub(super) skew: Option<Spanned<Vec<Duration>>>,
    pub(super) share: Option<Spanned<Word<Share>>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct HybridTable {
    pub(super) replicas: Option<Spanned<u32>>,
    pub(super) routing: Option<Spanned<WordOr<RoutingTable>>>,
    pub(super) skew: Option<Spanned<Vec<Duration>>>,
    pub(super) sync: Option<Spanned<SyncTable>>,
    pub(super) lease: Option<Spanned<LeaseTable>>,
    pub(super) quota: Option<Spanned<QuotaTable>>,
    pub(super) drop: Option<Spanned<DropTable>>,
    pub(super) proportional: Option<Spanned<ProportionalTable>>,
    pub(super) assignment: Option<Spanned<AssignmentTable>>,
    pub(super) round_trip: Option<Spanned<WordOr<HopTable>>>,
    pub(super) timeout: Option<Duration>,
    pub(super) on_failure: Option<Spanned<WordOr<OnFailureTable>>>,
    pub(super) fallback_share: Option<Spanned<Word<Share>>>,
    pub(super) breaker: Option<Spanned<BreakerTable>>,
    pub(super) store: Option<Spanned<StoreTable>>,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RoutingTable {
    pub(super) weights: Spanned<Vec<Spanned<u64>>>,
}

impl TableOf for RoutingTable {
    const EXPECTED: &'static str = "\"round-robin\", \"random\", \"hash\", \"least\" or { weights = [7, 2, 1] }";
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct OnFailureTable {
    pub(super) safe_rate: Spanned<Text<Rate>>,
}

impl TableOf for OnFailureTable {
    const EXPECTED: &'static str = "\"open\", \"closed\", \"local\" or { safe-rate = \"5/1s\" }";
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct BreakerTable {
    pub(super) failures: Spanned<u32>,
    pub(super) probe: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StoreTable {
    pub(super) capacity: Option<Spanned<Text<Rate>>>,
    pub(super) service: Option<Duration>,
    pub(super) connections: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct SyncTable {
    pub(super) every: Duration,
    pub(super) push: Option<Duration>,
    pub(super) pull: Option<Duration>,
    pub(super) debt: Option<Word<Debt>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct LeaseTable {
    pub(super) batch: Spanned<u64>,
    pub(super) prefetch: Option<bool>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct QuotaTable {
    pub(super) every: Duration,
    pub(super) lease: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct DropTable {
    pub(super) every: Duration,
    pub(super) weight: Option<Spanned<f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ProportionalTable {
    pub(super) every: Duration,
    pub(super) weight: Option<Spanned<f64>>,
    pub(super) fanout: Option<Spanned<u32>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct AssignmentTable {
    pub(super) report: Duration,
    pub(super) lease: Option<Duration>,
    pub(super) no_assignment: Option<Word<Unassigned>>,
    pub(super) expired: Option<Word<Expired>>,
}

/// `[[fault]]`: exactly one kind.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct FaultTable {
    pub(super) store_down: Option<Spanned<SpanTable>>,
    pub(super) store_slow: Option<Spanned<StoreSlowTable>>,
    pub(super) store_lag: Option<Spanned<StoreLagTable>>,
    pub(super) partition: Option<Spanned<PartitionTable>>,
    pub(super) failover: Option<Spanned<FailoverTable>>,
    pub(super) flush: Option<Spanned<InstantTable>>,
    pub(super) lost_expire: Option<Spanned<InstantTable>>,
    pub(super) start: Option<Spanned<ReplicaTable>>,
    pub(super) stop: Option<Spanned<ReplicaTable>>,
    pub(super) restart: Option<Spanned<ReplicaTable>>,
    pub(super) scale: Option<Spanned<ScaleTable>>,
    pub(super) reroute: Option<Spanned<InstantTable>>,
    pub(super) random: Option<Spanned<RandomTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StoreSlowTable {
    pub(super) from: Duration,
    pub(super) until: Duration,
    pub(super) round_trip: Spanned<WordOr<HopTable>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct StoreLagTable {
    pub(super) by: Duration,
    pub(super) from: Duration,
    pub(super) until: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct PartitionTable {
    pub(super) replicas: Spanned<Vec<Spanned<u32>>>,
    pub(super) from: Duration,
    pub(super) until: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct FailoverTable {
    pub(super) at: Duration,
    pub(super) loses: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct InstantTable {
    pub(super) at: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ReplicaTable {
    pub(super) replica: Spanned<u32>,
    pub(super) at: Duration,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct ScaleTable {
    pub(super) at: Duration,
    pub(super) replicas: Spanned<u32>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub(super) struct RandomTable {
    pub(super) mean_between: Duration,
    pub(super) mean_length: Option<Duration>,
    pub(super) kind: Word<RandomWord>,
    pub(super) round_trip: Option<Spanned<WordOr<HopTable>>>,
}

/// What happens at random, as a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum RandomWord {
    StoreDown,
    StoreSlow,
    Partition,
    Restart,
}
