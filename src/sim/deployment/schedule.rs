//! The faults of a run on its clock: which spans they fill, and what changes when.

use super::{FaultSpec, RandomKind};
use crate::rng::{exponential, stream};
use crate::sim::backend::HopSpec;
use crate::time::SimDuration;
use rand::Rng;

/// A fault's span in nanoseconds from the run's origin: from the first to before the second.
pub type Span = (u64, u64);

/// Something that changes at an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// The store is copied for the failover of this number.
    Copy(u32),
    /// The copy takes over.
    Failover(u32),
    /// The store forgets everything.
    Flush,
    /// The store is read from a copy that is so many nanoseconds behind.
    Lag(u64),
    /// It is read itself again.
    UpToDate,
    /// The next key that is written never expires.
    LostExpire,
    /// A replica starts.
    Start(u32),
    /// A replica stops.
    Stop(u32),
    /// A replica forgets everything.
    Restart(u32),
    /// So many replicas run.
    Scale(u32),
    /// Sticky keys are routed anew.
    Reroute,
}

/// All faults of a run.
#[derive(Clone, Debug, Default)]
pub struct Schedule {
    down: Vec<Span>,
    slow: Vec<(Span, HopSpec)>,
    cut: Vec<(Span, u32)>,
    lag: Vec<Span>,
    changes: Vec<(u64, Change)>,
    /// When spans begin in which the store is not there for all.
    begins: Vec<u64>,
    most: u32,
}

fn nanos(span: SimDuration) -> u64 {
    span.short_nanos()
}

fn within((from, until): Span, at: u64) -> bool {
    from <= at && at < until
}

impl Schedule {
    /// The faults of a run of `replicas` replicas with this seed; random ones end before `end`.
    #[must_use]
    pub fn new(faults: &[FaultSpec], replicas: u32, seed: u64, end: u64) -> Self {
        let scaled = faults.iter().filter_map(|fault| match fault {
            FaultSpec::Scale { replicas, .. } => Some(*replicas),
            _ => None,
        });
        let most = scaled.fold(replicas, u32::max);
        let mut all = Self { most, ..Self::default() };
        for (number, fault) in (0_u32..).zip(faults) {
            // Lanes of fewer replicas do not have the one that others start, stop or restart.
            let replica = match fault {
                FaultSpec::Start { replica, .. }
                | FaultSpec::Stop { replica, .. }
                | FaultSpec::Restart { replica, .. } => *replica,
                _ => 0,
            };
            if replica < most {
                all.add(fault, number, replicas, seed, end);
            }
        }
        // What is stated first comes first at one instant.
        all.changes.sort_by_key(|(at, _)| *at);
        all.begins = all
            .down
            .iter()
            .chain(all.slow.iter().map(|(span, _)| span))
            .chain(all.cut.iter().map(|(span, _)| span))
            .map(|span| span.0)
            .collect();
        all.begins.sort_unstable();
        all
    }

    fn add(&mut self, fault: &FaultSpec, number: u32, replicas: u32, seed: u64, end: u64) {
        match fault {
            FaultSpec::StoreDown { from, until } => self.down.push((nanos(*from), nanos(*until))),
            FaultSpec::StoreSlow { from, until, round_trip } => {
                self.slow.push(((nanos(*from), nanos(*until)), *round_trip));
            }
            FaultSpec::StoreLag { by, from, until } => {
                self.lag.push((nanos(*from), nanos(*until)));
                self.changes.push((nanos(*from), Change::Lag(nanos(*by))));
                self.changes.push((nanos(*until), Change::UpToDate));
            }
            FaultSpec::Partition { replicas, from, until } => {
                self.cut.extend(replicas.iter().map(|replica| ((nanos(*from), nanos(*until)), *replica)));
            }
            FaultSpec::Failover { at, loses } => {
                self.changes.push((nanos(*at).saturating_sub(nanos(*loses)), Change::Copy(number)));
                self.changes.push((nanos(*at), Change::Failover(number)));
            }
            FaultSpec::Flush { at } => self.changes.push((nanos(*at), Change::Flush)),
            FaultSpec::LostExpire { at } => self.changes.push((nanos(*at), Change::LostExpire)),
            FaultSpec::Start { replica, at } => self.changes.push((nanos(*at), Change::Start(*replica))),
            FaultSpec::Stop { replica, at } => self.changes.push((nanos(*at), Change::Stop(*replica))),
            FaultSpec::Restart { replica, at } => self.changes.push((nanos(*at), Change::Restart(*replica))),
            FaultSpec::Scale { at, replicas } => self.changes.push((nanos(*at), Change::Scale(*replicas))),
            FaultSpec::Reroute { at } => self.changes.push((nanos(*at), Change::Reroute)),
            FaultSpec::Random { mean_between, mean_length, kind } => {
                let mut draws = stream(seed, &format!("fault {number}"));
                let mut from = exponential(draws.next_u64(), nanos(*mean_between));
                while from < end {
                    let until = from.saturating_add(exponential(draws.next_u64(), nanos(*mean_length)).max(1)).min(end);
                    let any = ((u128::from(draws.next_u64()) * u128::from(replicas)) >> 64) as u32;
                    match kind {
                        RandomKind::StoreDown => self.down.push((from, until)),
                        RandomKind::StoreSlow { round_trip } => self.slow.push(((from, until), *round_trip)),
                        RandomKind::Partition => self.cut.push(((from, until), any)),
                        RandomKind::Restart => self.changes.push((from, Change::Restart(any))),
                    }
                    from = until.saturating_add(exponential(draws.next_u64(), nanos(*mean_between)).max(1));
                }
            }
        }
    }

    /// The most replicas that ever run.
    #[must_use]
    pub const fn most_replicas(&self) -> u32 {
        self.most
    }

    /// What changes, in order of time.
    #[must_use]
    pub fn changes(&self) -> &[(u64, Change)] {
        &self.changes
    }

    /// Whether the store answers nobody.
    #[must_use]
    pub fn is_down(&self, at: u64) -> bool {
        self.down.iter().any(|span| within(*span, at))
    }

    /// The round trip that a slow store has.
    #[must_use]
    pub fn slow(&self, at: u64) -> Option<HopSpec> {
        self.slow.iter().find(|(span, _)| within(*span, at)).map(|(_, round_trip)| *round_trip)
    }

    /// Whether a replica does not reach the store.
    #[must_use]
    pub fn is_cut_off(&self, replica: u32, at: u64) -> bool {
        self.cut.iter().any(|(span, cut)| *cut == replica && within(*span, at))
    }

    /// How many spans without the store for all have begun.
    #[must_use]
    pub fn begun(&self, at: u64) -> usize {
        self.begins.partition_point(|begin| *begin <= at)
    }

    /// How many spans without the store for all there are.
    #[must_use]
    pub fn outages(&self) -> u128 {
        self.begins.len() as u128
    }

    /// Whether a replica forgets what it knew.
    #[must_use]
    pub fn restarts(&self) -> bool {
        let forgets = |change: &Change| matches!(change, Change::Start(_) | Change::Restart(_) | Change::Scale(_));
        self.changes.iter().any(|(_, change)| forgets(change))
    }

    /// How often the store forgets what was written.
    #[must_use]
    pub fn forgets(&self) -> u128 {
        let forgets = |change: &Change| matches!(change, Change::Flush | Change::Failover(_));
        self.changes.iter().filter(|(_, change)| forgets(change)).count() as u128
    }

    /// Nanoseconds before `end` in which the store answers nobody.
    #[must_use]
    pub fn unavailable(&self, end: u64) -> u64 {
        let mut down: Vec<Span> = self.down.iter().map(|(from, until)| (*from, (*until).min(end))).collect();
        down.sort_unstable();
        let (mut total, mut covered) = (0, 0);
        for (from, until) in down {
            total += until.saturating_sub(from.max(covered));
            covered = covered.max(until);
        }
        total
    }

    /// Spans in which the store answers nobody.
    #[must_use]
    pub fn down(&self) -> &[Span] {
        &self.down
    }

    /// Spans in which it is slow.
    pub fn slow_spans(&self) -> impl Iterator<Item = Span> + '_ {
        self.slow.iter().map(|(span, _)| *span)
    }

    /// The same, and how long the way is then.
    pub fn slow_ways(&self) -> impl Iterator<Item = (Span, HopSpec)> + '_ {
        self.slow.iter().copied()
    }

    /// Spans in which a replica is cut off, and which.
    #[must_use]
    pub fn cut(&self) -> &[(Span, u32)] {
        &self.cut
    }

    /// Spans in which the store is read behind itself.
    #[must_use]
    pub fn lag(&self) -> &[Span] {
        &self.lag
    }
}
