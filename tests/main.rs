//! All integration tests in one binary.

mod cli;
mod closeup;
mod equivalence;
mod frames;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod scenarios;
mod terminal;
mod trace_reading;
