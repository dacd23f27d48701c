//! Faces: text, JSON, CSV, SVG, terminal view. They read a [`Report`](crate::report::Report) and
//! compute no statistic of their own.

pub mod csv;
pub mod format;
pub mod json;
pub mod svg;
pub mod text;
pub mod tui;
