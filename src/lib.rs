//! `rlsim`: a discrete-event simulator and visualizer for rate-limiter algorithms.
//!
//! It feeds the same traffic to many limiters at once on a virtual clock and reports what each one
//! allows, delays and denies. Layers, each importing only those before it:
//!
//! - [`time`], [`rng`], [`quota`], [`error`]: the ground floor;
//! - [`limiter`]: the algorithms, pure integer steps, and their dense state by key;
//! - [`traffic`]: arrivals, synthetic or from traces, in batches;
//! - [`sim`]: the driver that takes batches through lanes, and the traits of those who watch;
//! - [`report`]: results, the only thing that faces see;
//! - [`record`]: observers of fixed memory that make them;
//! - [`scenario`]: TOML to a validated plan;
//! - [`runner`]: a plan run, or a span of it again;
//! - [`faces`]: text, JSON, CSV, SVG and the terminal view of a report;
//! - [`commands`]: the command line.

pub mod commands;
pub mod error;
pub mod faces;
pub mod limiter;
pub mod quota;
pub mod record;
pub mod report;
pub mod rng;
pub mod runner;
pub mod scenario;
pub mod sim;
pub mod time;
pub mod traffic;
