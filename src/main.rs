//! The `rlsim` binary.
fn main() {}
