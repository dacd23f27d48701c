//! Drivers: one trace through every lane.
//!
//! [`feedback()`] is the closed-loop driver: the same traffic merged with a queue of retries,
//! answers and releases. [`replay()`] is the open-loop driver: no feedback, so no event queue; batches go through every
//! lane. Times never run backwards. At one instant arrivals keep the order of their sources; a
//! state change that falls on an arrival's instant (a refill, a window's edge) comes before it.

mod backend;
mod client;
mod deployment;
mod feedback;
mod lane;
mod queue;
mod replay;
mod response;
mod step;

pub use backend::{BackendSpec, HopSpec, MILLION, Overflow, QueueOrder, ServiceSpec, Slow};
pub use client::{BudgetRule, BudgetSpec, ClientSpec, Jitter, RetrySpec, Sdk, ThrottleSpec};
pub use deployment::{
    BreakerSpec, CentralSpec, Change, Clock, Debt, DeploymentSpec, Expired, FaultSpec, HybridSpec, LinkSpec, LocalSpec,
    Measured, OnFailure, Operation, RandomKind, ReplicasSpec, Routing, Schedule, Scheme, Share, StoreSpec, Unassigned,
};
pub use feedback::{
    Answered, Book, Books, Decider, Ending, Measure, Population, Races, Released, Remains, Scribe, Stream, Told,
    Witness, World, WorldPlan, feedback,
};
pub use lane::{Lane, LanePlan, Tap};
pub use queue::{Class, Due, EventQueue};
pub use replay::{Options, replay};
pub use response::{Policy, QuotaHeaders, ResponseSpec, RetryAfter, Spread};
pub use step::{Grouped, Step, TOTAL_COST_MAX};

use crate::limiter::Verdicts;

/// Sees every batch with the decisions of all lanes, after them and in order.
pub trait Observer: Send {
    /// Looks at one batch; `verdicts` has one entry a lane.
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]);
}

impl<T: Observer + ?Sized> Observer for &mut T {
    fn observe(&mut self, step: &Step, verdicts: &[Verdicts]) {
        (**self).observe(step, verdicts);
    }
}
