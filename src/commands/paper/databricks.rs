//! "High Performance Ratelimiting at Databricks".

use super::published::{Paper, Vary};
use super::rounds::{Cited, Drawn, OVERSHOOT, PEAK, Sweep, rebuild};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "databricks",
    source: "\"High Performance Ratelimiting at Databricks\", Databricks engineering blog, 2025",
    quirks: &[
        "second-hand: the post was read in summaries; it gives a target of about 5 % over the limit with a report every 100 ms, and no measurements of it",
        "kept: clients count for themselves and report what they admitted; the rejection rate is (estimate - limit) / estimate of the last interval",
        "not kept: their traffic, and the time until which all is rejected; here five clients, and Poisson arrivals at one and a half times the limit",
        "our reading: that their token bucket goes negative is not said in so many words",
        "rejection rate: few requests a report make the estimate noisy, and where it is too low the limit is passed",
        "fixed window: what passes the limit is what comes between reaching it and the next report; once a report takes a window, all of the demand",
    ],
    runs: 5,
    vary: Some(Vary {
        what: "report interval",
        path: "",
        at: &["20ms", "50ms", "100ms", "200ms", "500ms", "1s", "2s"],
    }),
    published: &[],
    panels: &[],
    rebuild: |paper, ask, options, progress| rebuild(paper, &SWEEP, ask, options, progress),
};

const SWEEP: Sweep = Sweep {
    lanes: &[
        ("fixed window", Some("fixed window.deployment.hybrid.sync.every")),
        ("rejection rate", Some("rejection rate.deployment.hybrid.drop.every")),
        ("negative bucket", Some("negative bucket.deployment.hybrid.sync.every")),
    ],
    cited: &[
        Cited { at: "100ms", lane: "fixed window", figure: OVERSHOOT, value: 5.0, band: None },
        Cited { at: "100ms", lane: "rejection rate", figure: OVERSHOOT, value: 5.0, band: None },
        Cited { at: "100ms", lane: "negative bucket", figure: OVERSHOOT, value: 5.0, band: None },
    ],
    drawn: &[
        Drawn {
            title: "Admitted beyond the limit",
            y: "over the limit (%)",
            figure: OVERSHOOT,
            level: Some((5.0, "about 5 % accepted")),
        },
        Drawn { title: "Highest second", y: "peak (limits)", figure: PEAK, level: None },
    ],
};
