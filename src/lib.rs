//! `rlsim`: a discrete-event simulator and visualizer for rate-limiter algorithms.
//!
//! It feeds the same traffic to many limiters at once on a virtual clock and reports what each one
//! allows, delays and denies. Layers, each importing only those before it: [`time`] and [`quota`];
//! [`limiter`].

pub mod error;
pub mod limiter;
pub mod quota;
pub mod rng;
pub mod time;
pub mod traffic;
