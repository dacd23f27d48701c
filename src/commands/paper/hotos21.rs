//! The retry example of "Metastable Failures in Distributed Systems".

use super::published::{Margin, Mark, Of, Panel, Paper, Published, Quantity, Shows, Vary};
use super::rebuild::from_runs;

const LOAD: Quantity = Quantity { name: "load at the end", unit: "/s", of: Of::Rate("held"), scale: 1.0 };
const GOODPUT: Quantity = Quantity { name: "goodput at the end", unit: "/s", of: Of::Rate("recovered"), scale: 1.0 };

/// A statement in words, within 1 % of the load that is offered.
const fn row(at: &'static str, lane: &'static str, quantity: Quantity, value: f64) -> Published {
    Published { at, lane, quantity, value, decimals: 0, margin: Margin::Band(3.0), mark: Mark::Second }
}

/// The paper.
pub const PAPER: Paper = Paper {
    name: "hotos21",
    source: "Bronson, Aghayev, Charapko, Zhu, \"Metastable Failures in Distributed Systems\", HotOS 2021",
    quirks: &[
        "second-hand: the paper's numbers are cited from two notes that agree; it has no code",
        "kept: one retry after 1 s, 300 queries a second, ten seconds of outage",
        "chosen here: arrivals are even, the database's queue is FIFO and has no end, and what is sent in the outage waits for its end",
    ],
    runs: 1,
    vary: Some(Vary {
        what: "offered load",
        path: "users.steady.rate",
        at: &[
            "25/1s", "50/1s", "75/1s", "100/1s", "125/1s", "140/1s", "145/1s", "155/1s", "160/1s", "180/1s", "200/1s",
            "220/1s", "240/1s", "260/1s", "280/1s", "290/1s",
        ],
    }),
    published: &[
        row("280/1s", "after an outage", LOAD, 560.0),
        row("280/1s", "after an outage", GOODPUT, 0.0),
        row("280/1s", "no outage", GOODPUT, 280.0),
        row("160/1s", "after an outage", GOODPUT, 0.0),
        row("160/1s", "no outage", GOODPUT, 160.0),
        row("140/1s", "after an outage", GOODPUT, 140.0),
        row("140/1s", "after an outage", LOAD, 140.0),
    ],
    panels: &[
        Panel {
            title: "Hysteresis",
            x: "offered load (1/s)",
            y: "goodput (1/s)",
            log: false,
            shows: Shows::Swept(GOODPUT),
        },
        Panel {
            title: "Load on the database",
            x: "offered load (1/s)",
            y: "attempts (1/s)",
            log: false,
            shows: Shows::Swept(LOAD),
        },
    ],
    rebuild: from_runs,
};
