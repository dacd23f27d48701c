//! Observers of fixed memory: what is kept of a run grows with its keys, never with its length.

mod agreement;
mod attempts;
mod course;
mod decisions;
mod first;
mod focus;
mod kept;
mod lane;
mod level;
mod offered;
mod outcomes;
mod peak;
mod recording;
mod request_span;
mod rise;
mod span;
mod tally;
mod timeline;

pub use agreement::{Agreement, Parting};
pub use attempts::AttemptLog;
pub use course::{Course, Passage, PeakCourse};
pub use decisions::{DecisionLog, DecisionTap};
pub use first::{FirstAttempts, FirstFindings};
pub use focus::{focus, whole};
pub use kept::{KeptArrival, KeptArrivals, KeptDecisions};
pub use lane::LaneRecorder;
pub use level::LevelCourse;
pub use offered::Offered;
pub use outcomes::Outcomes;
pub use peak::{Excess, MAX_STREAMS, Peak, PeakStreams, Room, Stream, peak_window};
pub use recording::{Findings, RecordPlan, Recording, name_equals};
pub use request_span::RequestSpan;
pub use rise::PeakRise;
pub use span::{Columns, SpanRecorder, Whose};
pub use tally::{Tallied, Tallies};
pub use timeline::{BINS, Timeline};
