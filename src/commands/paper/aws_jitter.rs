//! "Exponential Backoff And Jitter".

use super::published::{Margin, Mark, Of, Panel, Paper, Published, Quantity, Shows, Vary};
use super::rebuild::from_runs;

const TIME: Quantity = Quantity { name: "completion", unit: "ms", of: Of::Mean("drain_ns"), scale: 1e6 };
const CALLS: Quantity = Quantity { name: "calls", unit: "", of: Of::Mean("attempts"), scale: 1.0 };

const fn row(
    at: &'static str,
    lane: &'static str,
    quantity: Quantity,
    value: f64,
    decimals: usize,
    margin: Margin,
) -> Published {
    Published { at, lane, quantity, value, decimals, margin, mark: Mark::Run }
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "aws-jitter",
    source: "Brooker, \"Exponential Backoff And Jitter\", AWS Architecture Blog, 2015",
    quirks: &[
        "kept: calls are writes; a read is not counted",
        "kept: the first backoff is already twice the base of 5 ms; decorrelated jitter starts from the base",
        "kept: 10 to 190 clients, the last of ten steps left out",
        "kept: completion is the last client's answer",
        "not kept: the original is unseeded, so its figures are means with errors",
    ],
    runs: 100,
    vary: Some(Vary {
        what: "clients",
        path: "clients.burst.requests",
        at: &[
            "10", "20", "30", "40", "50", "60", "70", "80", "90", "100", "110", "120", "130", "140", "150", "160",
            "170", "180", "190",
        ],
    }),
    published: PUBLISHED,
    panels: &[
        Panel {
            title: "Time until all have written",
            x: "clients",
            y: "completion (ms)",
            log: true,
            shows: Shows::Swept(TIME),
        },
        Panel { title: "Work", x: "clients", y: "calls", log: false, shows: Shows::Swept(CALLS) },
    ],
    rebuild: from_runs,
};

/// Means of 300 runs of the original at 100 clients, then of 100 runs along its sweep.
const PUBLISHED: &[Published] = &[
    row("100", "none", TIME, 2024.6, 1, Margin::Error(2.5)),
    row("100", "none", CALLS, 2422.6, 1, Margin::Error(2.1)),
    row("100", "exponential", TIME, 63316.0, 0, Margin::Error(220.0)),
    row("100", "exponential", CALLS, 1854.0, 0, Margin::Error(3.5)),
    row("100", "equal", TIME, 6698.0, 0, Margin::Error(40.0)),
    row("100", "equal", CALLS, 813.0, 1, Margin::Error(0.4)),
    row("100", "full", TIME, 4931.0, 0, Margin::Error(31.0)),
    row("100", "full", CALLS, 795.7, 1, Margin::Error(0.4)),
    row("100", "decorrelated", TIME, 4528.0, 0, Margin::Error(39.0)),
    row("100", "decorrelated", CALLS, 1004.5, 1, Margin::Error(1.7)),
    row("10", "none", TIME, 381.0, 0, Margin::Runs(100.0)),
    row("10", "none", CALLS, 51.0, 0, Margin::Runs(100.0)),
    row("10", "exponential", TIME, 3474.0, 0, Margin::Runs(100.0)),
    row("10", "exponential", CALLS, 51.0, 0, Margin::Runs(100.0)),
    row("10", "equal", TIME, 719.0, 0, Margin::Runs(100.0)),
    row("10", "equal", CALLS, 42.0, 0, Margin::Runs(100.0)),
    row("10", "full", TIME, 458.0, 0, Margin::Runs(100.0)),
    row("10", "full", CALLS, 39.0, 0, Margin::Runs(100.0)),
    row("10", "decorrelated", TIME, 425.0, 0, Margin::Runs(100.0)),
    row("10", "decorrelated", CALLS, 37.0, 0, Margin::Runs(100.0)),
    row("50", "none", TIME, 1144.0, 0, Margin::Runs(100.0)),
    row("50", "none", CALLS, 692.0, 0, Margin::Runs(100.0)),
    row("50", "exponential", TIME, 36298.0, 0, Margin::Runs(100.0)),
    row("50", "exponential", CALLS, 624.0, 0, Margin::Runs(100.0)),
    row("50", "equal", TIME, 4175.0, 0, Margin::Runs(100.0)),
    row("50", "equal", CALLS, 347.0, 0, Margin::Runs(100.0)),
    row("50", "full", TIME, 2872.0, 0, Margin::Runs(100.0)),
    row("50", "full", CALLS, 332.0, 0, Margin::Runs(100.0)),
    row("50", "decorrelated", TIME, 2189.0, 0, Margin::Runs(100.0)),
    row("50", "decorrelated", CALLS, 374.0, 0, Margin::Runs(100.0)),
    row("100", "none", TIME, 2025.0, 0, Margin::Runs(100.0)),
    row("100", "none", CALLS, 2422.0, 0, Margin::Runs(100.0)),
    row("100", "exponential", TIME, 63533.0, 0, Margin::Runs(100.0)),
    row("100", "exponential", CALLS, 1861.0, 0, Margin::Runs(100.0)),
    row("100", "equal", TIME, 6588.0, 0, Margin::Runs(100.0)),
    row("100", "equal", CALLS, 813.0, 0, Margin::Runs(100.0)),
    row("100", "full", TIME, 4867.0, 0, Margin::Runs(100.0)),
    row("100", "full", CALLS, 796.0, 0, Margin::Runs(100.0)),
    row("100", "decorrelated", TIME, 4563.0, 0, Margin::Runs(100.0)),
    row("100", "decorrelated", CALLS, 1006.0, 0, Margin::Runs(100.0)),
    row("150", "none", TIME, 2878.0, 0, Margin::Runs(100.0)),
    row("150", "none", CALLS, 5142.0, 0, Margin::Runs(100.0)),
    row("150", "exponential", TIME, 86342.0, 0, Margin::Runs(100.0)),
    row("150", "exponential", CALLS, 3559.0, 0, Margin::Runs(100.0)),
    row("150", "equal", TIME, 8270.0, 0, Margin::Runs(100.0)),
    row("150", "equal", CALLS, 1323.0, 0, Margin::Runs(100.0)),
    row("150", "full", TIME, 6376.0, 0, Margin::Runs(100.0)),
    row("150", "full", CALLS, 1319.0, 0, Margin::Runs(100.0)),
    row("150", "decorrelated", TIME, 6564.0, 0, Margin::Runs(100.0)),
    row("150", "decorrelated", CALLS, 1765.0, 0, Margin::Runs(100.0)),
    row("190", "none", TIME, 3542.0, 0, Margin::Runs(100.0)),
    row("190", "none", CALLS, 8014.0, 0, Margin::Runs(100.0)),
    row("190", "exponential", TIME, 100868.0, 0, Margin::Runs(100.0)),
    row("190", "exponential", CALLS, 5142.0, 0, Margin::Runs(100.0)),
    row("190", "equal", TIME, 9405.0, 0, Margin::Runs(100.0)),
    row("190", "equal", CALLS, 1760.0, 0, Margin::Runs(100.0)),
    row("190", "full", TIME, 7457.0, 0, Margin::Runs(100.0)),
    row("190", "full", CALLS, 1771.0, 0, Margin::Runs(100.0)),
    row("190", "decorrelated", TIME, 8050.0, 0, Margin::Runs(100.0)),
    row("190", "decorrelated", CALLS, 2435.0, 0, Margin::Runs(100.0)),
];
