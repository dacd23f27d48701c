//! Which lanes a fault reaches, and whether they can bear it.

use super::faults::Placed;
use super::tables::DeploymentTable;
use crate::error::Error;
use crate::scenario::loops::Loops;
use crate::sim::{DeploymentSpec, FaultSpec, LanePlan, RandomKind, ReplicasSpec, Routing};
use crate::time::SimDuration;
use std::collections::BTreeSet;
use std::ops::Range;
use toml::Spanned;

/// What a fault is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum About {
    /// The store, or the way to it.
    Store,
    /// The replicas themselves.
    Replicas,
    /// Keys that stick to replicas.
    StickyKeys,
}

const fn about(fault: &FaultSpec) -> About {
    match fault {
        FaultSpec::StoreDown { .. }
        | FaultSpec::StoreSlow { .. }
        | FaultSpec::StoreLag { .. }
        | FaultSpec::Partition { .. }
        | FaultSpec::Failover { .. }
        | FaultSpec::Flush { .. }
        | FaultSpec::LostExpire { .. }
        | FaultSpec::Random {
            kind: RandomKind::StoreDown | RandomKind::StoreSlow { .. } | RandomKind::Partition,
            ..
        } => About::Store,
        FaultSpec::Start { .. }
        | FaultSpec::Stop { .. }
        | FaultSpec::Restart { .. }
        | FaultSpec::Scale { .. }
        | FaultSpec::Random { kind: RandomKind::Restart, .. } => About::Replicas,
        FaultSpec::Reroute { .. } => About::StickyKeys,
    }
}

/// The replicas that a fault names.
fn named(fault: &FaultSpec) -> &[u32] {
    match fault {
        FaultSpec::Partition { replicas, .. } => replicas,
        FaultSpec::Start { replica, .. } | FaultSpec::Stop { replica, .. } | FaultSpec::Restart { replica, .. } => {
            std::slice::from_ref(replica)
        }
        _ => &[],
    }
}

/// How many replicas a lane ever has: those at the start, or as many as it is scaled to.
fn most(replicas: &ReplicasSpec, faults: &[Placed]) -> u32 {
    let scaled = faults.iter().filter_map(|(_, fault)| match fault {
        FaultSpec::Scale { replicas, .. } => Some(*replicas),
        _ => None,
    });
    scaled.fold(replicas.count, u32::max)
}

/// When replicas start or stop, if the fault is about that.
const fn instant(fault: &FaultSpec) -> Option<SimDuration> {
    match fault {
        FaultSpec::Start { at, .. } | FaultSpec::Stop { at, .. } | FaultSpec::Scale { at, .. } => Some(*at),
        _ => None,
    }
}

impl Loops<'_> {
    /// Refuses faults that reach no lane, and lanes that cannot bear the faults that reach them.
    pub(in crate::scenario) fn reach(
        &self,
        lanes: &[LanePlan],
        tables: &[Option<&Spanned<DeploymentTable>>],
        faults: &[Placed],
    ) -> Result<(), Error> {
        for (place, fault) in faults {
            self.reaches(place, fault, lanes, faults)?;
        }
        for (lane, table) in lanes.iter().zip(tables) {
            let (Some(deployment), Some(table)) = (&lane.deployment, table) else { continue };
            self.states_on_failure(lane, deployment, table, faults)?;
            self.comings_and_goings(lane, deployment.replicas(), faults)?;
        }
        Ok(())
    }

    fn reaches(
        &self,
        place: &Range<usize>,
        fault: &FaultSpec,
        lanes: &[LanePlan],
        faults: &[Placed],
    ) -> Result<(), Error> {
        let deployments = || lanes.iter().filter_map(|lane| lane.deployment.as_ref());
        let reaches = |deployment: &DeploymentSpec| match about(fault) {
            About::Store => !matches!(deployment, DeploymentSpec::Local(_)),
            About::Replicas => true,
            About::StickyKeys => deployment.replicas().routing == Routing::Hash,
        };
        if !deployments().any(reaches) {
            let (message, help) = match about(fault) {
                About::Store => (
                    "no lane has a store that this could happen to",
                    "give a lane one: `deployment = { central = { replicas = 3, on-failure = \"closed\" } }`",
                ),
                About::Replicas => (
                    "no lane has replicas that this could happen to",
                    "give a lane some: `deployment = { local = { replicas = 3 } }`",
                ),
                About::StickyKeys => {
                    ("no lane's keys stick to replicas", "write `routing = \"hash\"` in the deployment of a lane")
                }
            };
            return Err(self.error(place.clone(), message, "reaches nobody", help));
        }
        let most = deployments().filter(|d| reaches(d)).map(|d| most(d.replicas(), faults)).max().unwrap_or(0);
        match named(fault).iter().find(|replica| **replica >= most) {
            None => Ok(()),
            Some(replica) => Err(self.error(
                place.clone(),
                format!("no lane that this reaches has a replica {replica}"),
                "reaches nobody",
                &match most {
                    1 => "the only replica is number 0; `scale = { at, replicas }` starts more".to_owned(),
                    _ => format!(
                        "replicas are numbered from 0 to {}; `scale = {{ at, replicas }}` starts more",
                        most - 1
                    ),
                },
            )),
        }
    }

    /// Refuses a lane that waits for a store, may not be answered, and does not say what then.
    fn states_on_failure(
        &self,
        lane: &LanePlan,
        deployment: &DeploymentSpec,
        table: &Spanned<DeploymentTable>,
        faults: &[Placed],
    ) -> Result<(), Error> {
        let Some(link) = deployment.link().filter(|link| link.on_failure.is_none()) else { return Ok(()) };
        let own = most(deployment.replicas(), faults);
        let why = faults.iter().find_map(|(_, fault)| match fault {
            FaultSpec::StoreDown { from, .. } => Some(format!("the store is down from {from}")),
            FaultSpec::Partition { replicas, from, .. } if replicas.iter().any(|replica| *replica < own) => {
                Some(format!("replicas are cut off from the store from {from}"))
            }
            FaultSpec::StoreSlow { from, .. } if link.timeout.is_some() => {
                Some(format!("the store is slow from {from}, and there is a timeout"))
            }
            FaultSpec::Random { kind: RandomKind::StoreDown, .. } => Some("the store is down at times".to_owned()),
            FaultSpec::Random { kind: RandomKind::Partition, .. } => {
                Some("replicas are cut off from the store at times".to_owned())
            }
            FaultSpec::Random { kind: RandomKind::StoreSlow { .. }, .. } if link.timeout.is_some() => {
                Some("the store is slow at times, and there is a timeout".to_owned())
            }
            _ => None,
        });
        why.map_or(Ok(()), |why| Err(self.must_state_on_failure(table.get_ref().place(table.span()), lane, &why)))
    }

    /// Refuses to start what runs, to stop what does not, and to leave nobody to decide.
    fn comings_and_goings(&self, lane: &LanePlan, replicas: &ReplicasSpec, faults: &[Placed]) -> Result<(), Error> {
        let most = most(replicas, faults);
        if most > replicas.count {
            let fixed = match (&replicas.routing, &replicas.skew[..]) {
                (Routing::Weights(_), _) => Some("weights"),
                (_, [_, ..]) => Some("clocks"),
                _ => None,
            };
            let scale = faults
                .iter()
                .find(|(_, fault)| matches!(fault, FaultSpec::Scale { replicas: to, .. } if *to > replicas.count));
            if let (Some(what), Some((place, _))) = (fixed, scale) {
                return Err(self.error(
                    place.clone(),
                    format!("lane `{}` states {what} for {} replicas, and this starts more", lane.name, replicas.count),
                    "nothing is known of the others",
                    "state replicas enough from the start and `stop` some at \"0s\", or route in another way",
                ));
            }
        }
        let mut events: Vec<_> = faults.iter().filter_map(|(p, fault)| Some((instant(fault)?, p, fault))).collect();
        events.sort_by_key(|(at, ..)| *at);
        let mut running: BTreeSet<u32> = (0..replicas.count).collect();
        for (at, place, fault) in events {
            let wrong = match fault {
                FaultSpec::Start { replica, .. } if *replica < most => (!running.insert(*replica))
                    .then(|| format!("replica {replica} of lane `{}` runs already", lane.name)),
                FaultSpec::Stop { replica, .. } if *replica < most => (!running.remove(replica))
                    .then(|| format!("replica {replica} of lane `{}` does not run", lane.name)),
                FaultSpec::Scale { replicas, .. } => {
                    running = (0..*replicas).collect();
                    None
                }
                _ => None,
            };
            if let Some(wrong) = wrong {
                let help = "replicas run from the start of the run until they are stopped";
                return Err(self.error(place.clone(), wrong, &format!("at {at}"), help));
            }
            let reachable = match &replicas.routing {
                Routing::Weights(weights) => running.iter().any(|replica| weights[*replica as usize] > 0),
                _ => !running.is_empty(),
            };
            if !reachable {
                return Err(self.error(
                    place.clone(),
                    format!("lane `{}` would have no replica left that anything is routed to", lane.name),
                    &format!("nobody decides from {at} on"),
                    "leave one running; a store that answers nobody is `store-down`",
                ));
            }
        }
        Ok(())
    }
}

impl DeploymentTable {
    /// Where its kind stands.
    fn place(&self, whole: Range<usize>) -> Range<usize> {
        let kinds = [self.central.as_ref().map(Spanned::span), self.hybrid.as_ref().map(Spanned::span)];
        kinds.into_iter().flatten().next().unwrap_or(whole)
    }
}
