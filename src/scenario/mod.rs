//! Scenario files: TOML in, a validated, unit-typed plan out.

mod conditions;
mod deployment;
mod diagnose;
mod embedded;
mod expect;
mod file;
mod lanes;
mod loops;
mod names;
mod overrides;
mod paths;
mod plan;
mod resolved;
mod source;
mod sweep;
mod traces;
mod traffic;
mod values;
mod warnings;

pub use conditions::SpanCondition;
pub use diagnose::closest;
pub use embedded::{EMBEDDED, Embedded, PAPERS, embedded};
pub use expect::{Expectation, Unmet, figure_names};
pub use overrides::Override;
pub use plan::Plan;
pub use resolved::lane_spec;
pub use source::ScenarioSource;
pub use sweep::{Axis, Grid, MOST_POINTS, Measure};
pub use traces::TraceOptions;
