//! All integration tests in one binary.

mod bounds;
mod cases;
mod clocks;
mod closeups;
mod conformance;
mod equivalence;
mod exhaustive;
mod extreme_runs;
mod extremes;
mod facts;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod peaks;
mod quota;
mod recount;
mod scenes;
mod simulate;
mod traffic_laws;
