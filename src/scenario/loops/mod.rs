//! What closes the loop: clients, what they are answered, what stands behind the limiter.

mod backend;
mod client;
mod resolved;
mod tables;

pub use resolved::loop_spec;
pub(super) use resolved::{fraction, hop_spec, one};
pub use tables::{BackendTable, ClientTable, ResponseTable};
pub(super) use tables::{HopTable, NoKnobs, SpanTable};

use super::file::ScenarioTable;
use super::plan::Plan;
use super::source::ScenarioSource;
use super::values::span;
use crate::error::Error;
use crate::sim::{ClientSpec, LanePlan, QuotaHeaders, RetryAfter, RetrySpec};
use crate::traffic::TrafficKind;
use std::ops::Range;
use toml::Spanned;

/// Reads what surrounds the limiter of each lane: what closes its loop, and how it is deployed.
pub struct Loops<'a> {
    pub source: &'a ScenarioSource,
    pub table: &'a ScenarioTable,
}

impl Loops<'_> {
    pub(super) fn error(&self, span: Range<usize>, message: impl Into<String>, label: &str, help: &str) -> Error {
        let help = (!help.is_empty()).then(|| help.to_owned());
        self.source.error(span, message, label, help)
    }

    /// Gives each lane its own client, response, backend and deployment, or those of the whole
    /// scenario; then what goes wrong in the world of all.
    pub fn apply(&self, plan: &mut Plan) -> Result<(), Error> {
        if let Some(stated) = &self.table.max_events {
            if *stated.get_ref() == 0 {
                return Err(self.error(stated.span(), "a run of no events", "zero", "leave it out"));
            }
            plan.max_events = *stated.get_ref();
        }
        if let Some(stated) = &self.table.metric_bin {
            if span(stated).is_zero() {
                return Err(self.error(stated.span(), "bins of no width", "zero", "write a time such as \"1s\""));
            }
            plan.metric_bin = span(stated);
        }
        let own: Vec<_> = match &self.table.lane {
            Some(lanes) => lanes.iter().map(|lane| Some(lane.get_ref())).collect(),
            None => plan.lanes.iter().map(|_| None).collect(),
        };
        // What stands at the top has to be right even where every lane states its own.
        self.table.client.as_ref().map(|table| self.client(table)).transpose()?;
        self.table.response.as_ref().map(|table| self.response(table)).transpose()?;
        self.table.backend.as_ref().map(|table| self.backend(table)).transpose()?;
        let mut lanes = std::mem::take(&mut plan.lanes);
        let mut deployments = Vec::new();
        for (lane, own) in lanes.iter_mut().zip(own) {
            let client = own.and_then(|own| own.client.as_ref()).or(self.table.client.as_ref());
            let response = own.and_then(|own| own.response.as_ref()).or(self.table.response.as_ref());
            let backend = own.and_then(|own| own.backend.as_ref()).or(self.table.backend.as_ref());
            lane.response = response.map(|table| self.response(table)).transpose()?.unwrap_or_default();
            lane.client = client.map(|table| self.client(table)).transpose()?;
            lane.backend = backend.map(|table| self.backend(table)).transpose()?;
            if let (Some(table), Some(spec)) = (client, &lane.client) {
                self.fits(plan, lane, table, spec)?;
            }
            let deployment = own.and_then(|own| own.deployment.as_ref()).or(self.table.deployment.as_ref());
            let read = |table| self.deployment(table, lane, plan.limit, plan.traffic.duration);
            lane.deployment = deployment.map(read).transpose()?.flatten();
            deployments.push(deployment);
        }
        let faults = self.faults(plan.traffic.duration)?;
        self.reach(&lanes, &deployments, &faults)?;
        plan.faults = faults.into_iter().map(|(_, fault)| fault).collect();
        plan.lanes = lanes;
        Ok(())
    }

    /// Refuses clients that contradict their lane.
    fn fits(
        &self,
        plan: &Plan,
        lane: &LanePlan,
        table: &Spanned<ClientTable>,
        client: &ClientSpec,
    ) -> Result<(), Error> {
        let t = table.get_ref();
        let retry = t.retry.as_ref().map_or_else(|| table.span(), Spanned::span);
        let tells = lane.response.retry_after != RetryAfter::None;
        match client.retry {
            RetrySpec::RetryAfter { .. } if !tells => {
                return Err(self.error(
                    retry,
                    format!("the clients of lane `{}` wait for a Retry-After that it never sends", lane.name),
                    "nothing tells them when to come back",
                    "write `response = { retry-after = \"seconds\" }`, or another kind of retry",
                ));
            }
            RetrySpec::Paced if !tells && lane.response.headers == QuotaHeaders::None => {
                return Err(self.error(
                    retry,
                    format!("the clients of lane `{}` pace themselves by headers that it never sends", lane.name),
                    "nothing tells them what remains",
                    "write `response = { retry-after = \"seconds\", headers = \"ietf\" }`, or another kind of retry",
                ));
            }
            _ => {}
        }
        let bounded = client.most_attempts().is_some();
        let at_once = match client.retry {
            RetrySpec::Immediate => true,
            RetrySpec::Fixed { delay } => delay.is_zero(),
            RetrySpec::Exponential { base, .. } => base.is_zero(),
            _ => false,
        };
        let paid = client.budget.is_some_and(|budget| budget.rule.is_finite());
        if at_once && !bounded && !paid && client.round_trip.is_zero() {
            return Err(self.error(
                retry,
                "retries without a pause would go on for ever in one instant",
                "no pause, no round trip, no end of attempts",
                "state `max-attempts = 10` or `round-trip = \"50ms\"` for the client",
            ));
        }
        if bounded || client.last_use().is_some() || plan.traffic.duration.is_some() {
            return Ok(());
        }
        let most = lane.limiter.most_at_once();
        let costs = plan.traffic.entries.iter().filter_map(|entry| match &entry.kind {
            TrafficKind::Pattern(pattern) => Some(pattern.cost),
            TrafficKind::Trace(_) => None,
        });
        if let Some(cost) = costs.max().filter(|cost| *cost > most) {
            return Err(self.error(
                table.span(),
                format!(
                    "lane `{}` admits at most {most} at once, and an attempt costs {cost}: it never succeeds",
                    lane.name
                ),
                "these clients try for ever",
                "state `max-attempts` or `deadline` for the client, or `duration` for the scenario",
            ));
        }
        Ok(())
    }

    /// The only one of several kinds.
    pub(super) fn only<T>(
        &self,
        place: Range<usize>,
        what: &str,
        kinds: &str,
        found: Vec<(Range<usize>, T)>,
    ) -> Result<T, Error> {
        let mut found = found.into_iter();
        match (found.next(), found.next()) {
            (Some((_, one)), None) => Ok(one),
            (None, _) => Err(self.error(
                place,
                format!("this {what} has no kind"),
                "one is missing here",
                &format!("accepted: {kinds}"),
            )),
            (_, Some((second, _))) => {
                Err(self.error(second, format!("this {what} has two kinds"), "the second", "give it one"))
            }
        }
    }

    /// A decimal number as a whole number of parts.
    pub(super) fn parts(&self, stated: &Spanned<f64>, parts: u64, most: f64, what: &str) -> Result<u64, Error> {
        let value = *stated.get_ref();
        let scaled = value * parts as f64;
        if !(0.0..=most).contains(&value) || (scaled - scaled.round()).abs() > 1e-6 * scaled.max(1.0) {
            return Err(self.error(
                stated.span(),
                format!("{value} is no {what}"),
                "out of range",
                &format!("write a number from 0 to {most}, in steps of 1/{parts}"),
            ));
        }
        Ok(scaled.round() as u64)
    }
}
