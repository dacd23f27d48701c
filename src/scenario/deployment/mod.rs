//! How many processes keep a lane's limit, and what goes wrong in their world.

mod faults;
mod reach;
mod resolved;
mod scheme;
mod tables;

pub use resolved::{deployment_spec, fault_spec};
pub use tables::{DeploymentTable, FaultTable};

use super::file::Algorithms;
use super::lanes::Lanes;
use super::loops::{HopTable, Loops};
use super::values::{Duration, TableOf, Word, WordOr, lend, span};
use crate::error::Error;
use crate::limiter::LimiterSpec;
use crate::quota::Limit;
use crate::sim::{
    BreakerSpec, CentralSpec, DeploymentSpec, HopSpec, HybridSpec, LanePlan, LinkSpec, LocalSpec, OnFailure, Operation,
    ReplicasSpec, Routing, Scheme, Share, StoreSpec,
};
use crate::time::SimDuration;
use std::ops::Range;
use tables::{BreakerTable, CentralTable, HybridTable, LocalTable, OnFailureTable, RoutingTable, StoreTable};
use toml::Spanned;

/// Replicas that a lane may have.
const MAX_REPLICAS: u32 = 1_000;

/// The largest weight: the sum of all fits with room to spare.
const MAX_WEIGHT: u64 = 1_000_000_000;

/// The keys of a table that are about replicas.
struct Replicas<'t> {
    replicas: Option<&'t Spanned<u32>>,
    routing: Option<&'t Spanned<WordOr<RoutingTable>>>,
    skew: Option<&'t Spanned<Vec<Duration>>>,
}

lend!(Replicas of CentralTable, LocalTable, HybridTable: [replicas, routing, skew]);

/// The keys of a table that are about the way to a store.
struct Link<'t> {
    round_trip: Option<&'t Spanned<WordOr<HopTable>>>,
    timeout: Option<&'t Duration>,
    on_failure: Option<&'t Spanned<WordOr<OnFailureTable>>>,
    fallback_share: Option<&'t Spanned<Word<Share>>>,
    breaker: Option<&'t Spanned<BreakerTable>>,
    store: Option<&'t Spanned<StoreTable>>,
}

lend!(Link of CentralTable, HybridTable: [round_trip, timeout, on_failure, fallback_share, breaker, store]);

/// A link that nobody uses.
fn no_link() -> LinkSpec {
    LinkSpec {
        round_trip: HopSpec::Constant(SimDuration::ZERO),
        timeout: None,
        on_failure: None,
        breaker: None,
        store: StoreSpec::default(),
    }
}

impl Loops<'_> {
    /// Reads how a lane's limit is kept; `None`: by one process.
    pub(super) fn deployment(
        &self,
        table: &Spanned<DeploymentTable>,
        lane: &LanePlan,
        limit: Option<Limit>,
        duration: Option<SimDuration>,
    ) -> Result<Option<DeploymentSpec>, Error> {
        let t = table.get_ref();
        let mut found = Vec::new();
        found.extend(t.single.as_ref().map(|single| (single.span(), None)));
        if let Some(stated) = &t.central {
            found.push((stated.span(), Some(DeploymentSpec::Central(self.central(stated, lane, limit)?))));
        }
        if let Some(stated) = &t.local {
            found.push((stated.span(), Some(DeploymentSpec::Local(self.local(stated, lane)?))));
        }
        if let Some(stated) = &t.hybrid {
            found.push((stated.span(), Some(DeploymentSpec::Hybrid(self.hybrid(stated, lane, duration)?))));
        }
        let kinds = "single, central, local, hybrid, as in `local = { replicas = 3 }`";
        self.only(table.span(), "deployment", kinds, found)
    }

    fn central(
        &self,
        table: &Spanned<CentralTable>,
        lane: &LanePlan,
        limit: Option<Limit>,
    ) -> Result<CentralSpec, Error> {
        let t = table.get_ref();
        let replicas = self.replicas(&t.into())?;
        let link = self.link(table.span(), &t.into(), replicas.count, lane)?;
        let operation = t.operation.as_ref().map(|stated| stated.get_ref().0).unwrap_or_default();
        if let (LimiterSpec::SlidingLog(_), Operation::Incr | Operation::GetIncr, Some(stated)) =
            (&lane.limiter, operation, &t.operation)
        {
            return Err(self.error(
                stated.span(),
                format!("lane `{}` keeps a sliding log, which a store cannot increment", lane.name),
                "a log is a list of instants, not a number",
                "write `operation = \"script\"` or \"get-set\", or give the lane a sliding counter",
            ));
        }
        let prefilter = match &t.prefilter {
            None => None,
            Some(stated) => {
                let algorithms = Algorithms::from(stated.get_ref());
                let limiter = Lanes { source: self.source, limit }.limiter(&algorithms, stated.span(), "prefilter")?;
                if limiter.delays() {
                    return Err(self.error(
                        stated.span(),
                        "a queue would delay an attempt before the store is asked",
                        "a prefilter admits or refuses at once",
                        "add `mode = \"meter\"`, or write another algorithm",
                    ));
                }
                Some(limiter)
            }
        };
        let clock = t.clock.map(|word| word.0).unwrap_or_default();
        Ok(CentralSpec { replicas, link, operation, clock, prefilter })
    }

    fn local(&self, table: &Spanned<LocalTable>, lane: &LanePlan) -> Result<LocalSpec, Error> {
        let t = table.get_ref();
        let replicas = self.replicas(&t.into())?;
        let share = t.share.as_ref().map(|stated| stated.get_ref().0).unwrap_or_default();
        if let (Share::Split, Some(stated)) = (share, &t.share) {
            self.can_be_split(stated.span(), lane, replicas.count)?;
        }
        Ok(LocalSpec { replicas, share })
    }

    fn hybrid(
        &self,
        table: &Spanned<HybridTable>,
        lane: &LanePlan,
        duration: Option<SimDuration>,
    ) -> Result<HybridSpec, Error> {
        let t = table.get_ref();
        let replicas = self.replicas(&t.into())?;
        let (place, scheme) = self.scheme(table, replicas.count, duration)?;
        let link = match scheme {
            Scheme::Lease { .. } => {
                if lane.limiter.delays() {
                    return Err(self.error(
                        place,
                        format!("lane `{}` is a queue, and a leased unit says nothing of when it may leave", lane.name),
                        "not with a leaky queue",
                        "add `mode = \"meter\"` to the leaky bucket, or write `sync = { every = \"1s\" }`",
                    ));
                }
                self.link(table.span(), &t.into(), replicas.count, lane)?
            }
            _ => {
                // A report and its assignment take their time; no attempt waits for them.
                let reports = matches!(scheme, Scheme::Assignment { .. });
                let stated = [
                    t.round_trip.as_ref().filter(|_| !reports).map(Spanned::span),
                    t.timeout.as_ref().map(Spanned::span),
                    t.on_failure.as_ref().map(Spanned::span),
                    t.fallback_share.as_ref().map(Spanned::span),
                    t.breaker.as_ref().map(Spanned::span),
                    t.store.as_ref().map(Spanned::span),
                ];
                if let Some(stated) = stated.into_iter().flatten().min_by_key(|place| place.start) {
                    return Err(self.error(
                        stated,
                        "here no attempt waits for a store",
                        "only `lease` asks one on an attempt's behalf; `assignment` has a `round-trip`",
                        "leave it out",
                    ));
                }
                let round_trip = t.round_trip.as_ref().map(|stated| self.hop(stated)).transpose()?;
                LinkSpec { round_trip: round_trip.unwrap_or(HopSpec::Constant(SimDuration::ZERO)), ..no_link() }
            }
        };
        Ok(HybridSpec { replicas, scheme, link })
    }

    fn replicas(&self, keys: &Replicas<'_>) -> Result<ReplicasSpec, Error> {
        let count = keys.replicas.map_or(1, |stated| *stated.get_ref());
        if let Some(stated) = keys.replicas
            && !(1..=MAX_REPLICAS).contains(&count)
        {
            let (message, label) = match count {
                0 => ("a deployment of no replicas decides nothing".to_owned(), "zero"),
                _ => (format!("{count} replicas"), "out of range"),
            };
            return Err(self.error(stated.span(), message, label, &format!("write a number from 1 to {MAX_REPLICAS}")));
        }
        let many = if count == 1 { "1 replica".to_owned() } else { format!("{count} replicas") };
        let routing = match keys.routing {
            None => Routing::default(),
            Some(stated) => self.routing(stated, count, &many)?,
        };
        let mut skew = Vec::new();
        if let Some(stated) = keys.skew {
            skew = stated.get_ref().iter().map(span).collect();
            if skew.len() != count as usize {
                return Err(self.error(
                    stated.span(),
                    format!("{} clocks for {many}", skew.len()),
                    "the wrong count",
                    "state how far each replica's clock is ahead, \"0s\" for one that is right",
                ));
            }
        }
        Ok(ReplicasSpec { count, routing, skew })
    }

    fn routing(&self, stated: &Spanned<WordOr<RoutingTable>>, count: u32, many: &str) -> Result<Routing, Error> {
        let table = match stated.get_ref() {
            WordOr::Table(table) => table,
            WordOr::Word(word) => {
                return match word.as_str() {
                    "round-robin" => Ok(Routing::RoundRobin),
                    "random" => Ok(Routing::Random),
                    "hash" => Ok(Routing::Hash),
                    "least" => Ok(Routing::Least),
                    _ => Err(self.unknown_word(stated.span(), "routing", word, RoutingTable::EXPECTED)),
                };
            }
        };
        let weights: Vec<u64> = table.weights.get_ref().iter().map(|weight| *weight.get_ref()).collect();
        if let Some(stated) = table.weights.get_ref().iter().find(|weight| *weight.get_ref() > MAX_WEIGHT) {
            let help = format!("only their proportions matter; write numbers up to {MAX_WEIGHT}");
            return Err(self.error(stated.span(), format!("a weight of {}", stated.get_ref()), "too large", &help));
        }
        if weights.len() != count as usize {
            return Err(self.error(
                table.weights.span(),
                format!("{} weights for {many}", weights.len()),
                "the wrong count",
                "write one weight for each replica",
            ));
        }
        if weights.iter().all(|weight| *weight == 0) {
            return Err(self.error(
                table.weights.span(),
                "weights of zero route nothing",
                "all are zero",
                "give at least one replica a weight above 0",
            ));
        }
        Ok(Routing::Weights(weights))
    }

    fn unknown_word(&self, place: Range<usize>, what: &str, word: &str, expected: &str) -> Error {
        let message = format!("unknown {what} \"{word}\"");
        self.error(place, message, "not one of the accepted ones", &format!("accepted: {expected}"))
    }

    fn link(&self, place: Range<usize>, keys: &Link<'_>, replicas: u32, lane: &LanePlan) -> Result<LinkSpec, Error> {
        let round_trip = keys.round_trip.map(|stated| self.hop(stated)).transpose()?;
        if let Some(stated) = keys.timeout.filter(|timeout| span(timeout).is_zero()) {
            let help = "write a time such as \"20ms\", or leave it out to wait as long as it takes";
            return Err(self.error(stated.span(), "a timeout of zero", "no answer comes in time", help));
        }
        let on_failure = match keys.on_failure {
            None => None,
            Some(stated) => Some(self.on_failure(stated, keys.fallback_share, replicas, lane)?),
        };
        if let (Some(stated), true) = (keys.fallback_share, !matches!(on_failure, Some(OnFailure::Local(_)))) {
            return Err(self.error(
                stated.span(),
                "a share of limiters that are never asked",
                "there is no local fallback",
                "add `on-failure = \"local\"`, or leave it out",
            ));
        }
        let breaker = match keys.breaker.map(Spanned::get_ref) {
            None => None,
            Some(BreakerTable { failures, probe }) => {
                if *failures.get_ref() == 0 {
                    let help = "write after how many failures in a row nobody asks any more, 1 or more";
                    return Err(self.error(failures.span(), "a breaker that opens without a failure", "zero", help));
                }
                if span(probe).is_zero() {
                    let help = "write after what time one attempt asks again, as in \"1s\"";
                    return Err(self.error(probe.span(), "a breaker that never rests", "zero", help));
                }
                Some(BreakerSpec { failures: *failures.get_ref(), probe: span(probe) })
            }
        };
        let timeout = keys.timeout.map(span);
        let store = keys.store.map(|stated| self.store(stated)).transpose()?.unwrap_or_default();
        if (store.capacity.is_some() || store.connections.is_some()) && timeout.is_some() && on_failure.is_none() {
            return Err(self.must_state_on_failure(
                place,
                lane,
                "a store of limited capacity may answer after the timeout",
            ));
        }
        let round_trip = round_trip.unwrap_or(HopSpec::Constant(SimDuration::ZERO));
        Ok(LinkSpec { round_trip, timeout, on_failure, breaker, store })
    }

    /// The error of a lane that does not say what it does without its store.
    fn must_state_on_failure(&self, place: Range<usize>, lane: &LanePlan, why: &str) -> Error {
        self.error(
            place,
            format!("lane `{}` does not say what it does without an answer: {why}", lane.name),
            "`on-failure` is missing here",
            "add `on-failure = \"open\"`, \"closed\", \"local\" or { safe-rate = \"5/1s\" }",
        )
    }

    fn on_failure(
        &self,
        stated: &Spanned<WordOr<OnFailureTable>>,
        share: Option<&Spanned<Word<Share>>>,
        replicas: u32,
        lane: &LanePlan,
    ) -> Result<OnFailure, Error> {
        match stated.get_ref() {
            WordOr::Table(OnFailureTable { safe_rate }) => {
                let rate = safe_rate.get_ref().0;
                if rate.units == 0 {
                    let help = "write `on-failure = \"closed\"` to refuse everything";
                    return Err(self.error(safe_rate.span(), "a safe rate of zero", "admits nothing", help));
                }
                Ok(OnFailure::SafeRate(rate))
            }
            WordOr::Word(word) => match word.as_str() {
                "open" => Ok(OnFailure::Open),
                "closed" => Ok(OnFailure::Closed),
                "local" => {
                    let usual = if replicas == 1 { Share::Full } else { Share::Split };
                    let chosen = share.map_or(usual, |share| share.get_ref().0);
                    if chosen == Share::Split {
                        let place = share.map_or_else(|| stated.span(), Spanned::span);
                        self.can_be_split(place, lane, replicas)?;
                    }
                    Ok(OnFailure::Local(chosen))
                }
                _ => Err(self.unknown_word(stated.span(), "answer to a failure", word, OnFailureTable::EXPECTED)),
            },
        }
    }

    fn store(&self, table: &Spanned<StoreTable>) -> Result<StoreSpec, Error> {
        let t = table.get_ref();
        let capacity = t.capacity.as_ref().map(|stated| stated.get_ref().0);
        if let (Some(stated), Some(0)) = (&t.capacity, capacity.map(|capacity| capacity.units)) {
            let help = "leave it out for a store without limits; a `store-down` fault makes it answer nobody";
            return Err(self.error(stated.span(), "a store that does nothing", "zero", help));
        }
        if let Some(stated) = t.connections.as_ref().filter(|connections| *connections.get_ref() == 0) {
            let help = "leave it out for as many as are needed";
            return Err(self.error(stated.span(), "replicas that cannot reach the store", "zero connections", help));
        }
        Ok(StoreSpec {
            capacity,
            service: t.service.as_ref().map(span).unwrap_or_default(),
            connections: t.connections.as_ref().map(|stated| *stated.get_ref()),
        })
    }

    /// Refuses to give each of many replicas less than one unit.
    fn can_be_split(&self, place: Range<usize>, lane: &LanePlan, replicas: u32) -> Result<(), Error> {
        let most = lane.limiter.most_at_once();
        if most == 0 || most >= u64::from(replicas) {
            return Ok(());
        }
        Err(self.error(
            place,
            format!("lane `{}` has {most} to share between {replicas} replicas: less than one unit each", lane.name),
            "would admit nothing",
            &format!("write a limit or burst of {replicas} or more, fewer replicas, or `\"full\"`"),
        ))
    }
}
