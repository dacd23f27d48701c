//! A close look at one span of a deployed lane: what each replica did, who decided, and what store and
//! replicas knew.

use super::{Columns, LevelWatch, ReleasedSpan, Whose};
use crate::limiter::{Decision, KeyId};
use crate::report::{Counter, Counts, Deciders, Extent, FleetDetail, LaneDetail, ReplicaDetail, StoreDetail};
use crate::sim::{Book, Books, Decider, Ending, LanePlan, Released, Told, Witness};
use crate::time::{SimDuration, SimTime};

/// Replicas whose own levels are followed.
const FOLLOWED: u32 = 16;

/// Watches one lane of a deployed plan, be it deployed itself or not.
#[derive(Debug)]
pub struct FleetSpan {
    columns: Columns,
    whose: Whose,
    deployed: bool,
    has_store: bool,
    replicas: Vec<ReplicaSpan>,
    operations_before: u64,
    operations: Vec<u64>,
    shared: LevelWatch,
    released: Option<ReleasedSpan>,
    follows: bool,
}

#[derive(Debug)]
struct ReplicaSpan {
    detail: ReplicaDetail,
    level: Option<LevelWatch>,
}

impl FleetSpan {
    /// Watches a lane of so many replicas; follows `tracked` through windows of `window`.
    #[must_use]
    pub fn new(
        plan: &LanePlan,
        replicas: u32,
        columns: Columns,
        whose: Whose,
        tracked: Option<KeyId>,
        window: Option<SimDuration>,
    ) -> Self {
        let replica = |number: u32| ReplicaSpan {
            detail: ReplicaDetail {
                counts: vec![Counts::default(); columns.count],
                decided: vec![Deciders::default(); columns.count],
                ..ReplicaDetail::default()
            },
            level: (number < FOLLOWED).then(|| LevelWatch::new(Book::Replica(number), tracked, columns)),
        };
        let alone = matches!(whose, Whose::Key(_));
        let deployment = plan.deployment.as_ref();
        let has_store = deployment.is_some_and(|deployment| deployment.has_store());
        Self {
            columns,
            whose,
            deployed: deployment.is_some(),
            has_store,
            replicas: (0..if deployment.is_some() { replicas } else { 0 }).map(replica).collect(),
            operations_before: 0,
            operations: vec![0; if has_store { columns.count } else { 0 }],
            shared: LevelWatch::new(Book::Shared, tracked, columns),
            released: window.map(|window| ReleasedSpan::new(plan, columns, tracked, window, alone)),
            follows: tracked.is_some(),
        }
    }

    /// Writes down what was found; what goes wrong when is left to others.
    pub fn finish(self, detail: &mut LaneDetail) {
        if let Some(released) = self.released {
            released.finish(detail);
        }
        let (shared, limit) = self.shared.finish();
        let counted = !shared.is_empty();
        (detail.level, detail.level_limit) = (shared, limit.unwrap_or(0));
        if !self.deployed {
            return;
        }
        let finished = |ReplicaSpan { mut detail, level }: ReplicaSpan| {
            (detail.level, detail.level_limit) = level.map(LevelWatch::finish).unwrap_or_default();
            detail
        };
        let replicas: Vec<ReplicaDetail> = self.replicas.into_iter().map(finished).collect();
        let mut counter = if counted { Counter::Store } else { Counter::Nobody };
        if !counted && let Some(limit) = replicas.first().and_then(|replica| replica.level_limit) {
            (detail.level, detail.level_limit) = (fullest(&replicas, self.columns.count), limit);
            counter = Counter::FullestReplica;
        }
        let store = StoreDetail { operations_before: self.operations_before, operations: self.operations };
        let store = self.has_store.then_some(store);
        detail.fleet = Some(FleetDetail { replicas, store, faults: Vec::new(), counter });
    }
}

/// What the replica with the highest count has, from each one's extents: where they fall at different
/// times within a column, the lowest is a little too low.
fn fullest(replicas: &[ReplicaDetail], columns: usize) -> Vec<Extent> {
    let of = |column: usize| {
        let extents = replicas.iter().filter_map(|replica| replica.level.get(column));
        extents.fold(Extent::default(), |all, one| Extent {
            min: all.min.max(one.min),
            max: all.max.max(one.max),
            last: all.last.max(one.last),
        })
    };
    (0..columns).map(of).collect()
}

const fn once(decision: Decision) -> Counts {
    match decision {
        Decision::Allow => Counts { allowed: 1, delayed: 0, denied: 0 },
        Decision::Delay(_) => Counts { allowed: 0, delayed: 1, denied: 0 },
        Decision::Deny => Counts { allowed: 0, delayed: 0, denied: 1 },
    }
}

impl Witness for FleetSpan {
    fn sent(&mut self, _at: SimTime, _client: KeyId, _made: u32) {}
    fn served(&mut self, _at: SimTime) {}
    fn ended(&mut self, _at: SimTime, _first: SimTime, _client: KeyId, _ending: Ending) {}

    fn told(&mut self, told: &Told) {
        if matches!(self.whose, Whose::Key(key) if key != told.client) {
            return;
        }
        let column = self.columns.column(told.came.nanos());
        if column.is_none() && told.came >= self.columns.from {
            return;
        }
        let Some(ReplicaSpan { detail, .. }) = self.replicas.get_mut(told.replica as usize) else { return };
        let (counts, decided) = match column {
            Some(column) => (&mut detail.counts[column], &mut detail.decided[column]),
            None => (&mut detail.before, &mut detail.decided_before),
        };
        *counts += once(told.decision);
        match told.decider {
            Decider::Store => decided.store += 1,
            Decider::Replica => decided.replica += 1,
            Decider::Fallback | Decider::Rule => decided.without += 1,
            Decider::Exempt => {}
        }
    }

    fn released(&mut self, released: &Released) {
        self.released.iter_mut().for_each(|span| span.released(released));
    }

    fn operated(&mut self, at: SimTime) {
        match self.columns.column(at.nanos()) {
            Some(column) => self.operations.get_mut(column).into_iter().for_each(|count| *count += 1),
            None if at < self.columns.from => self.operations_before += 1,
            None => {}
        }
    }

    fn looks(&self) -> bool {
        self.follows
    }

    fn look(&mut self, at: SimTime, books: &Books<'_>) {
        let at = at.nanos();
        self.shared.look(at, books);
        self.replicas.iter_mut().filter_map(|replica| replica.level.as_mut()).for_each(|level| level.look(at, books));
    }
}
