//! "Cloud control with distributed rate limiting".

use super::published::{Paper, Vary};
use super::rounds::{Cited, Drawn, FAIRNESS, FIRST_PART, OVERSHOOT, PEAK, Sweep, rebuild};

/// The paper.
pub const PAPER: Paper = Paper {
    name: "drl",
    source: "Raghavan, Vishwanath, Ramabhadran, Yocum and Snoeren, \"Cloud control with distributed rate limiting\", SIGCOMM 2007",
    quirks: &[
        "second-hand: the paper's figures are cited by others, those of its designs by a class that rebuilt them in 2025 (10 Mbps, flows 7 : 3, 40 ms between two limiters); of the paper itself the abstract was read",
        "kept: an estimate moves by a tenth of the way in an interval; a limiter's own is fresh, the other's one round old",
        "not kept: TCP, whose flows give way when they are refused; here requests, 10 a second in all, demand twice that and 7 : 3, that do not",
        "nothing is compared: that demand is twice the limit is chosen here, and with it the peak of random drop; the others had TCP",
        "over the limit: in 60 s, from the first request on, so with the intervals in which nothing is known",
        "Jain's index: over equal shares of demand, as over the 7 and 3 flows of the paper",
    ],
    runs: 10,
    vary: Some(Vary { what: "interval", path: "", at: &["50ms", "100ms", "200ms", "500ms", "1s", "2s", "5s"] }),
    published: &[],
    panels: &[],
    rebuild: |paper, ask, options, progress| rebuild(paper, &SWEEP, ask, options, progress),
};

const SWEEP: Sweep = Sweep {
    lanes: &[
        ("halves", None),
        ("random drop", Some("random drop.deployment.hybrid.drop.every")),
        ("proportional", Some("proportional.deployment.hybrid.proportional.every")),
    ],
    cited: &[
        // Some 20 of 10 Mbps while each knows of itself only.
        Cited { at: "500ms", lane: "random drop", figure: PEAK, value: 2.0, band: None },
        // 6.2 and 3.6 Mbps.
        Cited { at: "500ms", lane: "proportional", figure: FIRST_PART, value: 63.3, band: None },
    ],
    drawn: &[
        Drawn { title: "Admitted beyond the limit", y: "over the limit (%)", figure: OVERSHOOT, level: None },
        Drawn { title: "Highest second", y: "peak (limits)", figure: PEAK, level: None },
        Drawn { title: "Fairness", y: "Jain's index", figure: FAIRNESS, level: None },
    ],
};
