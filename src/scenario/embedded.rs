//! The scenarios that come with the program.

/// A scenario inside the binary.
#[derive(Clone, Copy, Debug)]
pub struct Embedded {
    /// Its name: that of its file without `.toml`.
    pub name: &'static str,
    /// Its text.
    pub text: &'static str,
}

macro_rules! embed {
    ($($name:literal),* $(,)?) => {
        &[$(Embedded { name: $name, text: include_str!(concat!("../../scenarios/", $name, ".toml")) }),*]
    };
}

/// All of them, in the order in which they are best read.
pub const EMBEDDED: &[Embedded] = embed![
    "boundary",
    "idle-then-spike",
    "steady-overload",
    "poisson",
    "on-off",
    "cron-client",
    "window-edges",
    "burst-dial",
    "bucket-and-queue",
    "cgnat",
    "distributed-abuse",
    "health-checks",
    "noisy-neighbour",
    "retry-storm",
    "retry-after-lockstep",
    "reset-herd",
    "metastable",
    "budget",
    "fragile-backend",
    "aws-jitter",
    "replicas",
    "outage",
    "store-race",
    "sync-interval",
    "lease-batch",
    "clock-skew",
    "failover",
    "autoscale",
    "hammered-store",
    "lost-expire",
    "restart",
    "drl",
    "nasa",
    "llm-tokens",
];

/// The models of published results, but for those that are among the others.
pub const PAPERS: &[Embedded] = embed![
    "papers/brooker-retries",
    "papers/brooker-collapse",
    "papers/hotos21",
    "papers/sre-throttling",
    "papers/cloudflare",
    "papers/cloudflare-azure",
    "papers/cloudflare-worst",
    "papers/databricks",
];

/// Traces that embedded scenarios read.
const DATA: &[(&str, &[u8])] = &[
    ("data/nasa_1995_aug_keyed.csv", include_bytes!("../../scenarios/data/nasa_1995_aug_keyed.csv")),
    ("data/azure_llm_code_2023.csv", include_bytes!("../../scenarios/data/azure_llm_code_2023.csv")),
];

/// A scenario by its name, with or without `.toml`.
#[must_use]
pub fn embedded(name: &str) -> Option<&'static Embedded> {
    let name = name.strip_prefix("scenarios/").unwrap_or(name);
    let name = name.strip_suffix(".toml").unwrap_or(name);
    let name = name.strip_prefix("papers/").unwrap_or(name);
    let of_paper = |scenario: &&Embedded| scenario.name.strip_prefix("papers/").unwrap_or(scenario.name) == name;
    EMBEDDED.iter().chain(PAPERS).find(of_paper)
}

/// An embedded trace by its path relative to the scenarios.
#[must_use]
pub fn embedded_data(path: &str) -> Option<&'static [u8]> {
    DATA.iter().find(|(name, _)| *name == path).map(|(_, bytes)| *bytes)
}
