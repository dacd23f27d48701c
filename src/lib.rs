//! `rlsim`: a discrete-event simulator and visualizer for rate-limiter algorithms.
//!
//! It feeds the same traffic to many limiters at once on a virtual clock and reports what each one
//! allows, delays and denies. Layers, each importing only those before it: [`time`] and [`quota`];
//! [`limiter`].

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
