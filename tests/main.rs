//! All integration tests in one binary.

mod equivalence;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod trace_reading;
