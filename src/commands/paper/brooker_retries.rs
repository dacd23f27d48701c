//! "Fixing retries with token buckets and circuit breakers".

use super::published::{Margin, Mark, Of, Panel, Paper, Published, Quantity, Shows, Vary};
use super::rebuild::from_runs;

const SUCCESS: Quantity = Quantity { name: "success", unit: "%", of: Of::Mean("success_share"), scale: 0.01 };
const LOAD: Quantity = Quantity { name: "load", unit: "x", of: Of::Mean("amplification"), scale: 1.0 };

/// One run of the original.
const fn row(at: &'static str, lane: &'static str, quantity: Quantity, value: f64, decimals: usize) -> Published {
    Published { at, lane, quantity, value, decimals, margin: Margin::Runs(1.0), mark: Mark::Run }
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "brooker-retries",
    source: "Brooker, \"Fixing retries with token buckets and circuit breakers\", 2022",
    quirks: &[
        "kept: retries go out at once; load is all calls over first tries",
        "kept: the adaptive client may retry without end; only first tries fill its bucket, and its last retry stays there",
        "kept: the breaker counts every failed call, but of calls only first tries, and never forgets",
        "kept: calls that have begun are carried to their end after 20 s",
    ],
    runs: 20,
    vary: Some(Vary {
        what: "failure rate",
        path: "backend.failure",
        at: &["0.02", "0.05", "0.1", "0.2", "0.3", "0.4", "0.5", "0.75"],
    }),
    published: PUBLISHED,
    panels: &[
        Panel {
            title: "Calls that succeed",
            x: "failure rate",
            y: "success (%)",
            log: false,
            shows: Shows::Swept(SUCCESS),
        },
        Panel {
            title: "Load on the server",
            x: "failure rate",
            y: "calls per first try",
            log: false,
            shows: Shows::Swept(LOAD),
        },
    ],
    rebuild: from_runs,
};

const PUBLISHED: &[Published] = &[
    row("0.1", "none", SUCCESS, 89.8, 1),
    row("0.1", "none", LOAD, 1.0, 2),
    row("0.1", "three retries", SUCCESS, 100.0, 1),
    row("0.1", "three retries", LOAD, 1.114, 3),
    row("0.1", "adaptive", SUCCESS, 98.8, 1),
    row("0.1", "adaptive", LOAD, 1.099, 3),
    row("0.1", "breaker", SUCCESS, 93.2, 1),
    row("0.1", "breaker", LOAD, 1.036, 3),
    row("0.2", "none", SUCCESS, 80.1, 1),
    row("0.2", "none", LOAD, 1.0, 2),
    row("0.2", "three retries", SUCCESS, 99.8, 1),
    row("0.2", "three retries", LOAD, 1.248, 3),
    row("0.2", "adaptive", SUCCESS, 89.2, 1),
    row("0.2", "adaptive", LOAD, 1.117, 3),
    row("0.2", "breaker", SUCCESS, 80.3, 1),
    row("0.2", "breaker", LOAD, 1.002, 3),
    row("0.3", "none", SUCCESS, 69.9, 1),
    row("0.3", "none", LOAD, 1.0, 2),
    row("0.3", "three retries", SUCCESS, 99.3, 1),
    row("0.3", "three retries", LOAD, 1.414, 3),
    row("0.3", "adaptive", SUCCESS, 78.1, 1),
    row("0.3", "adaptive", LOAD, 1.120, 3),
    row("0.3", "breaker", SUCCESS, 69.6, 1),
    row("0.3", "breaker", LOAD, 1.000, 3),
    row("0.5", "none", SUCCESS, 50.6, 1),
    row("0.5", "none", LOAD, 1.0, 2),
    row("0.5", "three retries", SUCCESS, 93.8, 1),
    row("0.5", "three retries", LOAD, 1.887, 3),
    row("0.5", "adaptive", SUCCESS, 55.8, 1),
    row("0.5", "adaptive", LOAD, 1.121, 3),
    row("0.5", "breaker", SUCCESS, 50.3, 1),
    row("0.5", "breaker", LOAD, 1.000, 3),
    row("0.75", "none", SUCCESS, 24.9, 1),
    row("0.75", "none", LOAD, 1.0, 2),
    row("0.75", "three retries", SUCCESS, 68.6, 1),
    row("0.75", "three retries", LOAD, 2.728, 3),
    row("0.75", "adaptive", SUCCESS, 28.2, 1),
    row("0.75", "adaptive", LOAD, 1.122, 3),
    row("0.75", "breaker", SUCCESS, 25.0, 1),
    row("0.75", "breaker", LOAD, 1.000, 3),
];
