//! Congestive collapse after a spike.

use super::published::{Margin, Mark, Of, Panel, Paper, Published, Quantity, Shows};
use super::rebuild::from_runs;

const STUCK: Quantity = Quantity { name: "runs stuck", unit: "%", of: Of::Share("stuck"), scale: 0.01 };
const GOODPUT: Quantity = Quantity { name: "goodput after 60 s", unit: "/s", of: Of::Rate("stuck"), scale: 1.0 };
/// Forty requests a second are offered.
const TRIES: Quantity = Quantity { name: "attempts a request", unit: "", of: Of::Rate("load"), scale: 40.0 };

const fn row(lane: &'static str, quantity: Quantity, value: f64, decimals: usize, margin: Margin) -> Published {
    Published { at: "", lane, quantity, value, decimals, margin, mark: Mark::Run }
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "brooker-collapse",
    source: "Brooker, simple_collapse_sim (simulator_example), on metastability and backoff",
    quirks: &[
        "kept: a request is counted among those in flight when its own service time is set: 1.01 s when idle",
        "kept: three tries in all; a late answer is ignored, and its work is not called off",
        "kept: the backoff doubles before its first use: U(0, 20 s), then U(0, 40 s)",
        "kept: the run is cut at 80 s; stuck: fewer than 20 successes a second after 60 s",
        "not kept: the spike is a second Poisson stream, not a change of the next gap's rate",
    ],
    runs: 400,
    vary: None,
    published: &[
        row("at once", STUCK, 75.0, 0, Margin::Error(2.2)),
        row("at once", GOODPUT, 9.97, 2, Margin::Runs(400.0)),
        row("at once", TRIES, 2.5, 2, Margin::Runs(400.0)),
        row("backoff and jitter", STUCK, 0.0, 0, Margin::Error(0.0)),
        row("backoff and jitter", GOODPUT, 39.97, 2, Margin::Runs(400.0)),
        row("backoff and jitter", TRIES, 1.0, 2, Margin::Runs(400.0)),
    ],
    panels: &[
        Panel {
            title: "Answered in time",
            x: "time (s)",
            y: "goodput (1/s)",
            log: false,
            shows: Shows::Course("goodput"),
        },
        Panel { title: "Sent", x: "time (s)", y: "attempts (1/s)", log: false, shows: Shows::Course("attempts") },
    ],
    rebuild: from_runs,
};
