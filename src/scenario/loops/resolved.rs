//! What closes a lane's loop, written out with every default stated.

use crate::quota::Rate;
use crate::scenario::resolved::{number, table, text, word};
use crate::sim::{
    BackendSpec, BudgetRule, BudgetSpec, ClientSpec, HopSpec, LanePlan, MILLION, ResponseSpec, RetrySpec, ServiceSpec,
    Spread, ThrottleSpec,
};
use crate::time::SimDuration;
use toml::{Table, Value};

pub(in crate::scenario) fn one(key: &str, value: Value) -> Value {
    Value::Table(table([(key, value)]))
}

pub(in crate::scenario) fn fraction(parts: u64, of: u64) -> Value {
    Value::Float(parts as f64 / of as f64)
}

/// What closes a lane's loop, every default stated.
pub fn loop_spec(lane: &LanePlan) -> Table {
    let mut spec = Table::new();
    if lane.response != ResponseSpec::default() {
        spec.insert("response".to_owned(), Value::Table(response_spec(&lane.response)));
    }
    if let Some(client) = &lane.client {
        spec.insert("client".to_owned(), Value::Table(client_spec(client)));
    }
    if let Some(backend) = &lane.backend {
        spec.insert("backend".to_owned(), Value::Table(backend_spec(backend)));
    }
    spec
}

fn response_spec(response: &ResponseSpec) -> Table {
    let spread = match response.spread {
        Spread::Fixed(span) => text(span),
        Spread::Crowd(thousandths) => text(format!("{}x", thousandths as f64 / 1000.0)),
    };
    table([
        ("status", number(u64::from(response.status))),
        ("retry-after", word(response.retry_after)),
        ("spread", spread),
        ("headers", word(response.headers)),
    ])
}

fn client_spec(client: &ClientSpec) -> Table {
    let empty = || Value::Table(Table::new());
    let retry = match client.retry {
        RetrySpec::None => one("none", empty()),
        RetrySpec::Immediate => one("immediate", empty()),
        RetrySpec::Fixed { delay } => one("fixed", one("delay", text(delay))),
        RetrySpec::Exponential { base, cap, jitter } => {
            let mut knobs = table([("base", text(base))]);
            if cap != SimDuration::MAX_CONFIGURED {
                knobs.insert("cap".to_owned(), text(cap));
            }
            knobs.insert("jitter".to_owned(), word(jitter));
            one("exponential", Value::Table(knobs))
        }
        RetrySpec::RetryAfter { jitter } => one("retry-after", one("jitter", text(jitter))),
        RetrySpec::Paced => one("paced", empty()),
        RetrySpec::Sdk(sdk) => one("sdk", one("name", text(sdk.name()))),
    };
    let mut spec = table([("retry", retry)]);
    let mut put = |key: &str, value: Option<Value>| spec.extend(value.map(|value| (key.to_owned(), value)));
    let attempts = client.max_attempts.filter(|_| client.retry != RetrySpec::None);
    put("max-attempts", attempts.map(|attempts| number(u64::from(attempts))));
    put("deadline", client.deadline.map(text));
    put("round-trip", Some(text(client.round_trip)));
    put("budget", client.budget.map(|budget| budget_spec(&budget)));
    let throttle = client.throttle.and_then(|throttle| match throttle {
        ThrottleSpec::Grpc { max, ratio } => {
            let knobs = table([("max", number(max / 1000)), ("ratio", fraction(ratio, 1000))]);
            Some(one("grpc", Value::Table(knobs)))
        }
        ThrottleSpec::Adaptive { k, window } => {
            let knobs = table([("k", fraction(k, 1000)), ("window", text(window))]);
            Some(one("adaptive", Value::Table(knobs)))
        }
        ThrottleSpec::Breaker { share } => Some(one("breaker", one("share", fraction(share, MILLION)))),
        ThrottleSpec::Quota { .. } => None,
    });
    put("throttle", throttle);
    spec
}

fn budget_spec(budget: &BudgetSpec) -> Value {
    if let BudgetRule::Bucket { size, deposit } = budget.rule {
        let knobs = table([("size", number(size)), ("ratio", fraction(deposit, MILLION))]);
        return one("bucket", Value::Table(knobs));
    }
    budget.stated.map_or_else(
        || text("envoy"),
        |stated| {
            let mut knobs = table([
                ("ratio", fraction(stated.ratio, MILLION)),
                ("per-second", number(stated.per_second)),
                ("ttl", text(stated.ttl)),
            ]);
            knobs.extend(stated.like.map(|like| ("like".to_owned(), text(like))));
            Value::Table(knobs)
        },
    )
}

pub(in crate::scenario) fn hop_spec(hop: HopSpec) -> Value {
    match hop {
        HopSpec::Constant(span) => text(span),
        HopSpec::Exponential { mean } => one("exponential", text(mean)),
        HopSpec::Normal { mean, deviation } => {
            one("normal", Value::Table(table([("hop", text(mean)), ("deviation", text(deviation))])))
        }
    }
}

fn backend_spec(backend: &BackendSpec) -> Table {
    if let (ServiceSpec::Optimistic, Some(HopSpec::Normal { mean, deviation })) = (backend.service, backend.hop) {
        let knobs = table([("hop", text(mean)), ("deviation", text(deviation))]);
        return table([("optimistic", Value::Table(knobs))]);
    }
    let mut spec = Table::new();
    let mut put = |key: &str, value: Option<Value>| spec.extend(value.map(|value| (key.to_owned(), value)));
    put("servers", backend.servers.map(|servers| number(u64::from(servers))));
    match backend.service {
        ServiceSpec::Constant { period, units: 1 } => put("service", Some(text(SimDuration::from_nanos(period)))),
        ServiceSpec::Constant { period, units } => {
            put("rate", Some(text(Rate { units, period: SimDuration::from_nanos(period) })));
        }
        ServiceSpec::Exponential { mean } => put("service", Some(one("exponential", text(mean)))),
        ServiceSpec::LoadDependent { base, each } => {
            let knobs = table([("base", text(base)), ("each", text(each))]);
            put("service", Some(one("load-dependent", Value::Table(knobs))));
        }
        // Written above: it never stands beside anything else.
        ServiceSpec::Optimistic => {}
    }
    put("queue", backend.queue.map(number));
    put("order", Some(word(backend.order)));
    put("overflow", Some(word(backend.overflow)));
    put("timeout", backend.timeout.map(text));
    put("rejection-cost", Some(text(backend.rejection_cost)));
    put("hop", backend.hop.map(hop_spec));
    put("failure", (backend.failure > 0).then(|| fraction(backend.failure, MILLION)));
    for slow in &backend.slow {
        let mut knobs = table([
            ("from", text(SimDuration::from_nanos(slow.from))),
            ("until", text(SimDuration::from_nanos(slow.until))),
        ]);
        let kind = if slow.speed == 0 { "stall" } else { "brown-out" };
        if slow.speed > 0 {
            knobs.insert("factor".to_owned(), fraction(slow.speed, MILLION));
        }
        put(kind, Some(Value::Table(knobs)));
    }
    spec
}
