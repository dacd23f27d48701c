//! What goes wrong: each fault by itself, and faults that contradict each other.

use super::tables::{FaultTable, RandomTable, RandomWord};
use crate::error::Error;
use crate::scenario::loops::Loops;
use crate::scenario::values::{Duration, span};
use crate::sim::{FaultSpec, RandomKind};
use crate::time::SimDuration;
use std::ops::Range;
use toml::Spanned;

/// Faults that a scenario may state.
const MAX_FAULTS: usize = 1_000;

/// Random faults that a run may have on average.
const MAX_RANDOM: u128 = 1_000_000;

/// A fault and its place in the file.
pub(in crate::scenario) type Placed = (Range<usize>, FaultSpec);

const KINDS: &str = "store-down, store-slow, store-lag, partition, failover, flush, lost-expire, start, stop, \
                     restart, scale, reroute, random, as in `store-down = { from = \"30s\", until = \"60s\" }`";

impl Loops<'_> {
    /// Reads all faults, in the order of the file.
    pub(in crate::scenario) fn faults(&self, duration: Option<SimDuration>) -> Result<Vec<Placed>, Error> {
        let tables = &self.table.fault;
        if let Some(table) = tables.get(MAX_FAULTS) {
            let help = "a random fault recurs: `random = { mean-between = \"60s\", … }`";
            return Err(self.error(table.span(), format!("more than {MAX_FAULTS} faults"), "one too many", help));
        }
        let faults = tables.iter().map(|table| self.fault(table, duration)).collect::<Result<Vec<_>, _>>()?;
        self.contradictions(&faults)?;
        Ok(faults)
    }

    fn fault(&self, table: &Spanned<FaultTable>, duration: Option<SimDuration>) -> Result<Placed, Error> {
        let t = table.get_ref();
        let mut found: Vec<(Range<usize>, FaultSpec)> = Vec::new();
        if let Some(stated) = &t.store_down {
            let (from, until) = self.between(&stated.get_ref().from, &stated.get_ref().until)?;
            found.push((stated.span(), FaultSpec::StoreDown { from, until }));
        }
        if let Some(stated) = &t.store_slow {
            let slow = stated.get_ref();
            let (from, until) = self.between(&slow.from, &slow.until)?;
            let round_trip = self.hop(&slow.round_trip)?;
            found.push((stated.span(), FaultSpec::StoreSlow { from, until, round_trip }));
        }
        if let Some(stated) = &t.store_lag {
            let lag = stated.get_ref();
            let (from, until) = self.between(&lag.from, &lag.until)?;
            found.push((stated.span(), FaultSpec::StoreLag { by: span(&lag.by), from, until }));
        }
        if let Some(stated) = &t.partition {
            let partition = stated.get_ref();
            let (from, until) = self.between(&partition.from, &partition.until)?;
            let replicas = self.which(&partition.replicas)?;
            found.push((stated.span(), FaultSpec::Partition { replicas, from, until }));
        }
        if let Some(stated) = &t.failover {
            let (at, loses) = (span(&stated.get_ref().at), span(&stated.get_ref().loses));
            found.push((stated.span(), FaultSpec::Failover { at, loses }));
        }
        found.extend(t.flush.as_ref().map(|s| (s.span(), FaultSpec::Flush { at: span(&s.get_ref().at) })));
        found.extend(t.lost_expire.as_ref().map(|s| (s.span(), FaultSpec::LostExpire { at: span(&s.get_ref().at) })));
        if let Some(stated) = &t.start {
            let (replica, at) = (*stated.get_ref().replica.get_ref(), span(&stated.get_ref().at));
            found.push((stated.span(), FaultSpec::Start { replica, at }));
        }
        if let Some(stated) = &t.stop {
            let (replica, at) = (*stated.get_ref().replica.get_ref(), span(&stated.get_ref().at));
            found.push((stated.span(), FaultSpec::Stop { replica, at }));
        }
        if let Some(stated) = &t.restart {
            let (replica, at) = (*stated.get_ref().replica.get_ref(), span(&stated.get_ref().at));
            found.push((stated.span(), FaultSpec::Restart { replica, at }));
        }
        if let Some(stated) = &t.scale {
            let scale = stated.get_ref();
            let replicas = *scale.replicas.get_ref();
            if !(1..=super::MAX_REPLICAS).contains(&replicas) {
                let label = if replicas == 0 { "nobody would decide" } else { "out of range" };
                let help = format!("write a number from 1 to {}", super::MAX_REPLICAS);
                return Err(self.error(scale.replicas.span(), format!("{replicas} replicas"), label, &help));
            }
            found.push((stated.span(), FaultSpec::Scale { at: span(&scale.at), replicas }));
        }
        found.extend(t.reroute.as_ref().map(|s| (s.span(), FaultSpec::Reroute { at: span(&s.get_ref().at) })));
        if let Some(stated) = &t.random {
            found.push((stated.span(), self.random(stated, duration)?));
        }
        let place = found.first().map_or_else(|| table.span(), |(place, _)| place.clone());
        Ok((place, self.only(table.span(), "fault", KINDS, found)?))
    }

    /// A span that is not empty.
    fn between(&self, from: &Duration, until: &Duration) -> Result<(SimDuration, SimDuration), Error> {
        if span(until) > span(from) {
            return Ok((span(from), span(until)));
        }
        Err(self.error(
            until.span(),
            format!("a fault from {} until {}", span(from), span(until)),
            "it ends before it begins",
            "a span is [from, until): write an `until` after `from`",
        ))
    }

    /// Which replicas: at least one, each once.
    fn which(&self, stated: &Spanned<Vec<Spanned<u32>>>) -> Result<Vec<u32>, Error> {
        let mut replicas = Vec::new();
        for one in stated.get_ref() {
            if replicas.contains(one.get_ref()) {
                let message = format!("replica {} twice", one.get_ref());
                return Err(self.error(one.span(), message, "the second", "name each replica once"));
            }
            replicas.push(*one.get_ref());
        }
        if replicas.is_empty() {
            let help = "name replicas by their numbers from 0, as in [0, 2]";
            return Err(self.error(stated.span(), "a partition of nobody", "empty", help));
        }
        replicas.sort_unstable();
        Ok(replicas)
    }

    fn random(&self, stated: &Spanned<RandomTable>, duration: Option<SimDuration>) -> Result<FaultSpec, Error> {
        let RandomTable { mean_between, mean_length, kind, round_trip } = stated.get_ref();
        let kind = match (kind.0, round_trip) {
            (RandomWord::StoreSlow, Some(round_trip)) => RandomKind::StoreSlow { round_trip: self.hop(round_trip)? },
            (RandomWord::StoreSlow, None) => {
                let help = "add `round-trip = \"200ms\"`, or { exponential = \"200ms\" }";
                return Err(self.error(stated.span(), "slow, but how slow?", "`round-trip` is missing here", help));
            }
            (_, Some(round_trip)) => {
                let help = "leave it out, or write `kind = \"store-slow\"`";
                return Err(self.error(round_trip.span(), "no time on the way to change", "not of this kind", help));
            }
            (RandomWord::StoreDown, None) => RandomKind::StoreDown,
            (RandomWord::Partition, None) => RandomKind::Partition,
            (RandomWord::Restart, None) => RandomKind::Restart,
        };
        if span(mean_between).is_zero() {
            let help = "write the average time from the end of one to the beginning of the next, as in \"60s\"";
            return Err(self.error(mean_between.span(), "no time between two faults", "zero", help));
        }
        // A restart takes no time.
        let length = mean_length.as_ref().map(span).unwrap_or_default();
        if length.is_zero() && kind != RandomKind::Restart {
            let (place, label) = match mean_length {
                Some(stated) => (stated.span(), "zero"),
                None => (stated.span(), "`mean-length` is missing here"),
            };
            return Err(self.error(place, "faults of no length", label, "write how long one lasts, as in \"5s\""));
        }
        let Some(duration) = duration else {
            let help = "write `duration = \"10m\"` at the top of the scenario";
            return Err(self.error(stated.span(), "random faults in a run without an end", "until when?", help));
        };
        let expected = duration.nanos() / (span(mean_between).nanos() + length.nanos());
        if expected > MAX_RANDOM {
            let message = format!("about {expected} faults in a run of {duration}");
            let help = format!("at most {MAX_RANDOM}: write a longer `mean-between`");
            return Err(self.error(mean_between.span(), message, "too many", &help));
        }
        Ok(FaultSpec::Random { mean_between: span(mean_between), mean_length: length, kind })
    }

    /// Refuses spans of one kind that overlap: it would be unclear which of them holds.
    fn contradictions(&self, faults: &[Placed]) -> Result<(), Error> {
        let overlap = |spans: &mut Vec<(SimDuration, SimDuration, Range<usize>)>, what: &str, help: &str| {
            spans.sort_by_key(|(from, ..)| *from);
            match spans.windows(2).find(|pair| pair[1].0 < pair[0].1) {
                None => Ok(()),
                Some(pair) => Err(self.error(
                    pair[1].2.clone(),
                    format!("{what} from {}, and it still is until {}", pair[1].0, pair[0].1),
                    "they overlap",
                    help,
                )),
            }
        };
        let spans = |kind: fn(&FaultSpec) -> Option<(SimDuration, SimDuration)>| -> Vec<_> {
            faults.iter().filter_map(|(place, f)| kind(f).map(|(from, until)| (from, until, place.clone()))).collect()
        };
        let one = "write one fault for both, or let the second begin when the first ends";
        let mut down = spans(|fault| match fault {
            FaultSpec::StoreDown { from, until } => Some((*from, *until)),
            _ => None,
        });
        overlap(&mut down, "the store is down", one)?;
        let mut slow = spans(|fault| match fault {
            FaultSpec::StoreSlow { from, until, .. } => Some((*from, *until)),
            _ => None,
        });
        overlap(&mut slow, "the store is slow", one)?;
        let mut lag = spans(|fault| match fault {
            FaultSpec::StoreLag { from, until, .. } => Some((*from, *until)),
            _ => None,
        });
        overlap(&mut lag, "the store lags", one)?;
        let mut apart: Vec<u32> = Vec::new();
        for (_, fault) in faults {
            if let FaultSpec::Partition { replicas, .. } = fault {
                apart.extend(replicas);
            }
        }
        apart.sort_unstable();
        apart.dedup();
        for replica in apart {
            let of = |fault: &FaultSpec| match fault {
                FaultSpec::Partition { replicas, from, until } if replicas.contains(&replica) => Some((*from, *until)),
                _ => None,
            };
            let placed = faults.iter().filter_map(|(place, f)| of(f).map(|(from, until)| (from, until, place.clone())));
            overlap(&mut placed.collect(), &format!("replica {replica} is cut off"), one)?;
        }
        Ok(())
    }
}
