//! Deployments and faults, written out with every default stated.

use crate::quota::Rate;
use crate::scenario::loops::{fraction, hop_spec, one};
use crate::scenario::resolved::{lane_spec, number, table, text, word};
use crate::sim::{
    DeploymentSpec, FaultSpec, LinkSpec, MILLION, OnFailure, RandomKind, ReplicasSpec, Routing, Scheme, StoreSpec,
};
use crate::time::SimDuration;
use toml::{Table, Value};

/// A deployment, every default stated.
pub fn deployment_spec(deployment: &DeploymentSpec) -> Table {
    let mut spec = replicas(deployment.replicas());
    match deployment {
        DeploymentSpec::Central(central) => {
            spec.extend(link(&central.link));
            spec.insert("operation".to_owned(), word(central.operation));
            spec.insert("clock".to_owned(), word(central.clock));
            if let Some(prefilter) = &central.prefilter {
                let knobs = Value::Table(lane_spec(prefilter));
                spec.insert("prefilter".to_owned(), one(prefilter.name(), knobs));
            }
        }
        DeploymentSpec::Local(local) => {
            spec.insert("share".to_owned(), word(local.share));
        }
        DeploymentSpec::Hybrid(hybrid) => {
            let (name, knobs) = scheme(&hybrid.scheme);
            spec.insert(name.to_owned(), Value::Table(knobs));
            match hybrid.scheme {
                Scheme::Lease { .. } => spec.extend(link(&hybrid.link)),
                Scheme::Assignment { .. } => {
                    spec.insert("round-trip".to_owned(), hop_spec(hybrid.link.round_trip));
                }
                _ => {}
            }
        }
    }
    table([(deployment.name(), Value::Table(spec))])
}

fn replicas(spec: &ReplicasSpec) -> Table {
    let routing = match &spec.routing {
        Routing::RoundRobin => text("round-robin"),
        Routing::Random => text("random"),
        Routing::Hash => text("hash"),
        Routing::Least => text("least"),
        Routing::Weights(weights) => one("weights", Value::Array(weights.iter().copied().map(number).collect())),
    };
    let mut keys = table([("replicas", number(u64::from(spec.count))), ("routing", routing)]);
    if !spec.skew.is_empty() {
        keys.insert("skew".to_owned(), Value::Array(spec.skew.iter().map(text).collect()));
    }
    keys
}

fn link(spec: &LinkSpec) -> Table {
    let mut keys = table([("round-trip", hop_spec(spec.round_trip))]);
    let mut put = |key: &str, value: Option<Value>| keys.extend(value.map(|value| (key.to_owned(), value)));
    put("timeout", spec.timeout.map(text));
    put(
        "on-failure",
        spec.on_failure.map(|answer| match answer {
            OnFailure::Open => text("open"),
            OnFailure::Closed => text("closed"),
            OnFailure::Local(_) => text("local"),
            OnFailure::SafeRate(rate) => one("safe-rate", text(rate)),
        }),
    );
    if let Some(OnFailure::Local(share)) = spec.on_failure {
        put("fallback-share", Some(word(share)));
    }
    put(
        "breaker",
        spec.breaker.map(|breaker| {
            let knobs = [("failures", number(u64::from(breaker.failures))), ("probe", text(breaker.probe))];
            Value::Table(table(knobs))
        }),
    );
    let StoreSpec { capacity, service, connections } = spec.store;
    let mut store = table([("service", text(service))]);
    store.extend(capacity.map(|rate: Rate| ("capacity".to_owned(), text(rate))));
    store.extend(connections.map(|n| ("connections".to_owned(), number(u64::from(n)))));
    put("store", Some(Value::Table(store)));
    keys
}

fn scheme(scheme: &Scheme) -> (&'static str, Table) {
    let parts = |weight: u64| fraction(weight, MILLION);
    match *scheme {
        Scheme::Sync { every, push, pull, debt } => {
            ("sync", table([("every", text(every)), ("push", text(push)), ("pull", text(pull)), ("debt", word(debt))]))
        }
        Scheme::Lease { batch, prefetch } => {
            ("lease", table([("batch", number(batch)), ("prefetch", Value::Boolean(prefetch))]))
        }
        Scheme::Quota { every, lease } => ("quota", table([("every", text(every)), ("lease", text(lease))])),
        Scheme::Drop { every, weight } => ("drop", table([("every", text(every)), ("weight", parts(weight))])),
        Scheme::Proportional { every, weight, fanout } => (
            "proportional",
            table([("every", text(every)), ("weight", parts(weight)), ("fanout", number(u64::from(fanout)))]),
        ),
        Scheme::Assignment { report, lease, unassigned, expired } => (
            "assignment",
            table([
                ("report", text(report)),
                ("lease", text(lease)),
                ("no-assignment", word(unassigned)),
                ("expired", word(expired)),
            ]),
        ),
    }
}

/// A fault, every default stated.
pub fn fault_spec(fault: &FaultSpec) -> Table {
    let between = |from: &SimDuration, until: &SimDuration| table([("from", text(from)), ("until", text(until))]);
    let at = |at: &SimDuration| table([("at", text(at))]);
    let replica = |replica: u32, when: &SimDuration| {
        let mut keys = at(when);
        keys.insert("replica".to_owned(), number(u64::from(replica)));
        keys
    };
    let with = |mut keys: Table, key: &str, value: Value| {
        keys.insert(key.to_owned(), value);
        keys
    };
    let (kind, keys) = match fault {
        FaultSpec::StoreDown { from, until } => ("store-down", between(from, until)),
        FaultSpec::StoreSlow { from, until, round_trip } => {
            ("store-slow", with(between(from, until), "round-trip", hop_spec(*round_trip)))
        }
        FaultSpec::StoreLag { by, from, until } => ("store-lag", with(between(from, until), "by", text(by))),
        FaultSpec::Partition { replicas, from, until } => {
            let replicas = replicas.iter().map(|replica| number(u64::from(*replica)));
            ("partition", with(between(from, until), "replicas", Value::Array(replicas.collect())))
        }
        FaultSpec::Failover { at: when, loses } => ("failover", with(at(when), "loses", text(loses))),
        FaultSpec::Flush { at: when } => ("flush", at(when)),
        FaultSpec::LostExpire { at: when } => ("lost-expire", at(when)),
        FaultSpec::Start { replica: which, at } => ("start", replica(*which, at)),
        FaultSpec::Stop { replica: which, at } => ("stop", replica(*which, at)),
        FaultSpec::Restart { replica: which, at } => ("restart", replica(*which, at)),
        FaultSpec::Scale { at: when, replicas } => ("scale", with(at(when), "replicas", number(u64::from(*replicas)))),
        FaultSpec::Reroute { at: when } => ("reroute", at(when)),
        FaultSpec::Random { mean_between, mean_length, kind } => {
            let (name, round_trip) = match kind {
                RandomKind::StoreDown => ("store-down", None),
                RandomKind::StoreSlow { round_trip } => ("store-slow", Some(hop_spec(*round_trip))),
                RandomKind::Partition => ("partition", None),
                RandomKind::Restart => ("restart", None),
            };
            let mut keys =
                table([("mean-between", text(mean_between)), ("mean-length", text(mean_length)), ("kind", text(name))]);
            keys.extend(round_trip.map(|round_trip| ("round-trip".to_owned(), round_trip)));
            ("random", keys)
        }
    };
    table([(kind, Value::Table(keys))])
}
