//! All integration tests in one binary.

mod cli;
mod equivalence;
mod figures;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod scenarios;
mod trace_reading;
