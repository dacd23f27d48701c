//! All integration tests in one binary.

mod cases;
mod conformance;
mod equivalence;
mod facts;
mod laws;
mod limiters;
mod oracle;
mod oracles;
mod peaks;
mod quota;
mod scenes;
mod simulate;
