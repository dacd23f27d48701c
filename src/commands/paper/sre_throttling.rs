//! Adaptive throttling, "Handling Overload".

use super::published::{Margin, Mark, Of, Panel, Paper, Published, Quantity, Shows, Vary};
use super::rebuild::from_runs;

const REACH: Quantity = Quantity { name: "reach the backend", unit: "/s", of: Of::Rate("reach"), scale: 1.0 };
const ACCEPTED: Quantity = Quantity { name: "accepted", unit: "/s", of: Of::Rate("accepted"), scale: 1.0 };
const RATIO: Quantity =
    Quantity { name: "reach for each accepted", unit: "", of: Of::Ratio("reach", "accepted"), scale: 1.0 };

/// One run of a model of the book's formula.
const fn rate(at: &'static str, value: f64) -> Published {
    Published { at, lane: "adaptive", quantity: REACH, value, decimals: 1, margin: Margin::Runs(1.0), mark: Mark::Run }
}

/// The book's statement.
const fn ratio(at: &'static str, value: f64) -> Published {
    Published {
        at,
        lane: "adaptive",
        quantity: RATIO,
        value,
        decimals: 1,
        margin: Margin::Band(0.01),
        mark: Mark::Second,
    }
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "sre-throttling",
    source: "Cuervo, \"Handling Overload\", Site Reliability Engineering (O'Reilly), 2016",
    quirks: &[
        "second-hand: the book gives the formula and its steady state, no measurements",
        "kept: the client's own drops count as requests; both counts are of two minutes, here in slices of 2 s",
        "chosen here: the backend accepts at most four at once; the model behind the [run] figures does not say, and with more a K of 1.1 does not starve it",
    ],
    runs: 6,
    vary: Some(Vary {
        what: "K",
        path: "adaptive.client.throttle.adaptive.k",
        at: &["1.05", "1.1", "1.2", "1.3", "1.5", "1.75", "2.0", "2.5", "3.0"],
    }),
    published: &[
        rate("2.0", 198.9),
        rate("1.5", 147.9),
        rate("1.1", 92.4),
        ratio("2.0", 2.0),
        ratio("1.5", 1.5),
        ratio("1.1", 1.1),
    ],
    panels: &[
        Panel { title: "Sent to the backend", x: "K", y: "attempts (1/s)", log: false, shows: Shows::Swept(REACH) },
        Panel {
            title: "Accepted, of 100 a second",
            x: "K",
            y: "accepted (1/s)",
            log: false,
            shows: Shows::Swept(ACCEPTED),
        },
    ],
    rebuild: from_runs,
};
