//! All integration tests in one binary.

mod bounds;
mod cases;
mod cli;
mod clocks;
mod closeup;
mod conformance;
mod equivalence;
mod exhaustive;
mod extreme_runs;
mod extremes;
mod facts;
mod figures;
mod frames;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod peaks;
mod quota;
mod recount;
mod scenarios;
mod scenes;
mod simulate;
mod terminal;
mod trace_reading;
mod traffic_laws;
