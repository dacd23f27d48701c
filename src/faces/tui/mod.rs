//! The interactive terminal view: reports in, keys in, frames out.
//!
//! [`App::update`] takes one [`Action`] and answers the one [`Effect`] that somebody else must carry
//! out: look at a span, search, run again, leave. [`draw()`] paints the whole screen. Neither knows
//! the terminal, the wall clock or the simulator.

mod action;
mod app;
mod draw;
mod keys;
mod navigate;
mod overlay;
mod picker;
mod play;
mod sight;
mod view;

pub use action::{Action, Effect, Look, Run, Seek};
pub use app::{App, Mode};
pub use draw::draw;
pub use keys::action;
pub use view::Span;
