//! Commands: they wire the pieces, own the terminal and the wall clock.

pub mod tui;
