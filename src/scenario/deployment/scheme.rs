//! How replicas hear of each other.

use super::tables::{AssignmentTable, DropTable, HybridTable, LeaseTable, ProportionalTable, QuotaTable, SyncTable};
use crate::error::Error;
use crate::quota::MAX_UNITS;
use crate::scenario::loops::Loops;
use crate::scenario::values::{Duration, span};
use crate::sim::{MILLION, Scheme};
use crate::time::SimDuration;
use std::ops::Range;
use toml::Spanned;

/// Weight of the last interval in an estimate of demand, unless stated otherwise: a tenth, as in the
/// paper that both schemes of gossip come from.
const WEIGHT: u64 = MILLION / 10;

impl Loops<'_> {
    /// Reads the one scheme of a hybrid, and where it stands.
    pub(super) fn scheme(
        &self,
        table: &Spanned<HybridTable>,
        replicas: u32,
        duration: Option<SimDuration>,
    ) -> Result<(Range<usize>, Scheme), Error> {
        let t = table.get_ref();
        let mut found: Vec<(Range<usize>, Scheme)> = Vec::new();
        if let Some(stated) = &t.sync {
            let SyncTable { every, push, pull, debt } = stated.get_ref();
            let scheme = Scheme::Sync {
                every: self.every(every, "a sync", duration)?,
                push: push.as_ref().map(span).unwrap_or_default(),
                pull: pull.as_ref().map(span).unwrap_or_default(),
                debt: debt.map(|word| word.0).unwrap_or_default(),
            };
            found.push((stated.span(), scheme));
        }
        if let Some(stated) = &t.lease {
            let LeaseTable { batch, prefetch } = stated.get_ref();
            match *batch.get_ref() {
                0 => {
                    let help = "write how many units are fetched at a time, 1 or more";
                    return Err(self.error(batch.span(), "batches of nothing", "zero", help));
                }
                units if units > MAX_UNITS => {
                    let message = format!("a batch of {units} is more than {MAX_UNITS}, the most that is counted");
                    return Err(self.error(batch.span(), message, "too large", ""));
                }
                batch => found.push((stated.span(), Scheme::Lease { batch, prefetch: prefetch.unwrap_or(false) })),
            }
        }
        if let Some(stated) = &t.quota {
            let QuotaTable { every, lease } = stated.get_ref();
            let every = self.every(every, "a report", duration)?;
            self.outlasts(lease, every)?;
            found.push((stated.span(), Scheme::Quota { every, lease: span(lease) }));
        }
        if let Some(stated) = &t.drop {
            let DropTable { every, weight } = stated.get_ref();
            let scheme =
                Scheme::Drop { every: self.every(every, "gossip", duration)?, weight: self.weight(weight.as_ref())? };
            found.push((stated.span(), scheme));
        }
        if let Some(stated) = &t.proportional {
            let ProportionalTable { every, weight, fanout } = stated.get_ref();
            let others = replicas - 1;
            if let Some(stated) = fanout
                && !(others.min(1)..=others).contains(stated.get_ref())
            {
                let message = format!("each replica tells {} of {others} others", stated.get_ref());
                let help = format!("write a number from 1 to {others}, or leave it out to tell all");
                return Err(self.error(stated.span(), message, "out of range", &help));
            }
            let scheme = Scheme::Proportional {
                every: self.every(every, "gossip", duration)?,
                weight: self.weight(weight.as_ref())?,
                fanout: fanout.as_ref().map_or(others, |stated| *stated.get_ref()),
            };
            found.push((stated.span(), scheme));
        }
        if let Some(stated) = &t.assignment {
            let AssignmentTable { report, lease, no_assignment, expired } = stated.get_ref();
            let report = self.every(report, "a report", duration)?;
            if let Some(lease) = lease {
                self.outlasts(lease, report)?;
            }
            // An assignment outlives one report that is lost.
            let twice = SimDuration::from_wide_nanos(report.nanos() * 2).min(SimDuration::MAX_CONFIGURED);
            let scheme = Scheme::Assignment {
                report,
                lease: lease.as_ref().map_or(twice, span),
                unassigned: no_assignment.map(|word| word.0).unwrap_or_default(),
                expired: expired.map(|word| word.0).unwrap_or_default(),
            };
            found.push((stated.span(), scheme));
        }
        let places: Vec<Range<usize>> = found.iter().map(|(place, _)| place.clone()).collect();
        let kinds = "sync, lease, quota, drop, proportional, assignment, as in `sync = { every = \"1s\" }`";
        let scheme = self.only(table.span(), "hybrid", kinds, found)?;
        Ok((places.into_iter().next().unwrap_or_default(), scheme))
    }

    /// An interval that comes round within the run.
    fn every(&self, stated: &Duration, what: &str, duration: Option<SimDuration>) -> Result<SimDuration, Error> {
        let every = span(stated);
        if every.is_zero() {
            let help = "write a time such as \"1s\"; for one that knows all at once, write `central = {}`";
            return Err(self.error(stated.span(), format!("{what} all the time"), "zero", help));
        }
        match duration.filter(|duration| every > *duration) {
            None => Ok(every),
            Some(duration) => Err(self.error(
                stated.span(),
                format!("{what} every {every} in a run of {duration}"),
                "it never happens",
                "write a shorter time, or `local = {}` for replicas that never hear of each other",
            )),
        }
    }

    fn outlasts(&self, lease: &Duration, every: SimDuration) -> Result<(), Error> {
        if span(lease) >= every {
            return Ok(());
        }
        Err(self.error(
            lease.span(),
            format!("a lease of {} ends before the next report, {every} later", span(lease)),
            "too short",
            &format!("write {every} or more"),
        ))
    }

    fn weight(&self, stated: Option<&Spanned<f64>>) -> Result<u64, Error> {
        let Some(stated) = stated else { return Ok(WEIGHT) };
        match self.parts(stated, MILLION, 1.0, "weight of the last interval")? {
            0 => Err(self.error(
                stated.span(),
                "an estimate that learns nothing",
                "zero",
                "write a number above 0, at most 1, which forgets all but the last interval",
            )),
            weight => Ok(weight),
        }
    }
}
