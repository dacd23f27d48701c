//! What can be written in a scenario and read in the results: one text a topic, with an example.

mod deployment;

use deployment::{DEPLOYMENT, FAULTS};

/// A topic: its name, what it is about, and all of it.
pub struct Topic {
    /// As in `rlsim explain NAME`.
    pub name: &'static str,
    /// In a line.
    pub summary: &'static str,
    /// Ready to be printed, at most 88 columns wide.
    pub text: &'static str,
}

/// All topics, in the order in which they are best read.
pub const TOPICS: [Topic; 15] = [
    Topic { name: "scenario", summary: "The keys of a scenario file and of its lanes", text: SCENARIO },
    Topic {
        name: "traffic-fields",
        summary: "What every `[[traffic]]` table may state: keys, cost, classes, attributes, spans",
        text: TRAFFIC_FIELDS,
    },
    Topic { name: "client", summary: "`client`: when clients come back, and what stops them", text: CLIENT },
    Topic { name: "sdk", summary: "What the named releases of client libraries do", text: SDK },
    Topic { name: "conditions", summary: "What `--runs` counts runs by", text: CONDITIONS },
    Topic { name: "response", summary: "`response`: what a refused client is told", text: RESPONSE },
    Topic { name: "headers", summary: "What a refused client is told, by every algorithm", text: HEADERS },
    Topic { name: "backend", summary: "`backend`: what stands behind the limiter", text: BACKEND },
    Topic {
        name: "deployment",
        summary: "`deployment`: a limit that many processes keep, with a store or without",
        text: DEPLOYMENT,
    },
    Topic { name: "faults", summary: "`[[fault]]`: what goes wrong with replicas and stores", text: FAULTS },
    Topic { name: "expect", summary: "Conditions that `rlsim test` holds a lane to", text: EXPECT },
    Topic { name: "units", summary: "How rates, limits, durations, instants and numbers are written", text: UNITS },
    Topic {
        name: "sweep",
        summary: "What `rlsim sweep` varies and measures, and what it writes",
        text: super::sweep::TOPIC,
    },
    Topic { name: "decisions", summary: "The columns of `--decisions FILE`", text: DECISIONS },
    Topic { name: "report", summary: "The fields of the JSON report", text: REPORT },
];

const SCENARIO: &str = r#"A scenario is a TOML file. Unknown keys are errors. At the top, all optional:

  title      The lesson, as a sentence.
  about      What a newcomer should know.
  start      The virtual clock at the first instant, as in "2026-01-01T12:00:00Z".
             Without it: the epoch, or the first row of a trace.
  duration   Stops arrivals and retries, not releases. Needed by traffic without an end
             of its own.
  seed       1 by default, 0 to 9223372036854775807; all random traffic follows from it.
  limit      What every lane must enforce, as in "100/1m": the yardstick of the peak,
             and where lanes get their defaults from.
  client     Who calls the lanes that state no client of their own. See client. A client
             or a backend closes the loop: what is refused comes back.
  response   What these lanes answer. See response.
  backend    What stands behind them. See backend.
  deployment How many processes keep a limit, with a store or without. See deployment.
  max-events Events (attempts, answers, releases) after which a lane of a closed loop is
             stopped, 100_000_000 by default: the report is then marked partial.
  metric-bin Width of the bins that attempts and answers are counted in: "1s".
  conditions What `rlsim run --runs K` counts runs by, as in
             stuck = "goodput[60s..] < 20/s". Figures are goodput, attempts, throughput;
             either end of the span may be left out.
  envelope   Spans, as in ["10ms", "1s"]: the most units released in any such span is
             measured too (without it: in the limit's window).

[[traffic]]  What arrives; at least one. See traffic-fields and `rlsim list traffic`.
[[fault]]    What goes wrong with replicas and stores. See faults.
[expect]     What must come out. See expect.
[[lane]]     One system under test: exactly one algorithm, as in `gcra = {}`.
             Without any lane: one for each of fixed-window, sliding-log,
             sliding-counter, token-bucket, leaky-bucket and gcra. Besides it:

  name              Default: the algorithm; repeats get -2, -3. No dots.
  key               Counts by an attribute of the traffic instead of its key, as in
                    "ip"; a list counts by the pair.
  exempt            Classes of traffic that bypass the limiter, as in ["health"].
  clock-resolution  The limiter sees time rounded down to a multiple of it, as in "1ms".
  client            Its clients, its answers, its backend, its deployment, instead of
  response          those at the top, of which it takes nothing: what it leaves out has
  backend           its usual default.
  deployment

Example:
  limit = "100/1m"
  duration = "5m"
  [[traffic]]
  poisson = { rate = "2/s" }
  [[lane]]
  name = "small bucket"
  token-bucket = { burst = 10 }
"#;

const TRAFFIC_FIELDS: &str = r#"A [[traffic]] table has exactly one kind (see `rlsim list traffic`) and, all optional:

  name     Default: its kind. With a name, its keys are called after it.
  class    A word that lanes may exempt, and by which decisions are counted apart.
  from     Shifts its beginning, counted from the start of the run.
  until    Its end, the instant itself not included. Intervals are [from, until).

The next are for patterns; a trace names columns instead: key, cost, attributes.

  keys     How many keys its arrivals have, in turn: 1 by default. Or drawn at random by
           popularity: keys = { zipf = { n = 1000, exponent = 1.1 } }.
  cost     Units that each arrival takes: 1 by default, 0 is always admitted.
  groups   Further attributes that lanes may count by. groups = { ip = 20 } spreads the
           keys over 20 values, key k having value k mod 20; 1: all behind one; a text:
           that value for all, as in groups = { tenant = "acme" }.
  spread   The other way round: spread = { ip = 500 } gives each key 500 values of its
           own, in turn.

A lane counts by an attribute with key = "ip", by a pair with key = ["tenant", "ip"].
All traffic must have it. An attribute cannot be called key, cost, timestamp or class.

Example:
  [[traffic]]
  name = "abuse"
  class = "abuse"
  keys = 5
  spread = { ip = 500 }
  from = "10s"
  steady = { rate = "50/s" }
"#;

const CLIENT: &str = r#"client = { ... }, for a lane or at the top for all of them. All optional:

  retry         When a client tries again; exactly one kind, none without it:
    none = {}             never
    immediate = {}        at once
    fixed = { delay = "1s" }
    exponential = { base = "1s", cap = "60s", jitter = "full" }
                          base, twice that, and so on up to cap. jitter: none; full,
                          from 0 to the delay; equal, from half of it to all;
                          decorrelated, from base to three times the delay before
    retry-after = { jitter = "0s" }
                          after what the answer says and up to jitter more; where it
                          says nothing, after 1 s, 2 s, 4 s, up to a minute
    paced = {}            the same, and who has nothing remaining waits for the reset
                          before being refused
    sdk = { name = "aws-standard-1.44" }
                          as that release of a library: aws-legacy-1.43,
                          aws-standard-1.43, aws-standard-1.44, aws-adaptive-1.44,
                          grpc-1.85, urllib3-2.8, stripe-16.1, google-api-core-2.44,
                          octokit-throttling-11.0
  max-attempts  The first one counts. Without it: as many as it takes.
  deadline      From a request's first attempt on: a later answer is of no use.
  round-trip    From sending an attempt to getting an instant answer: "0s".
  budget        What retries may be in proportion to requests, for each key of the
                traffic: { ratio = 0.1, per-second = 10, ttl = "10s" }, with the
                arithmetic of a library if it is like = "finagle" or "tower-0.5"; or
                "finagle", "tower-0.5", "envoy" with their defaults; or
                { bucket = { size = 5, ratio = 0.1 } }: full at first, each request adds
                ratio, each retry takes 1 of more than 1.
  throttle      What stops a client that keeps failing, for each key of the traffic:
    grpc = { max = 10, ratio = 0.1 }
                          a failure takes a token, a success gives back ratio of one; no
                          retries while half or fewer are left
    adaptive = { k = 2, window = "2m" }
                          an attempt is dropped in the client with probability
                          (requests - k accepts) / (requests + 1) of the last window
    breaker = { share = 0.1 }
                          no retries while more than share of all attempts have failed

Every lane meets the same luck: a draw depends on the seed, the request and the attempt.
A closed population is traffic: `clients = { count = 50, think = "1s" }`.

Example:
  limit = "10/1s"
  client = { retry = { exponential = { base = "1s", cap = "60s", jitter = "full" } } }
  [[traffic]]
  burst = { requests = 500 }
"#;

const SDK: &str = r#"client = { retry = { sdk = { name = "..." } } } behaves as that release with its defaults;
max-attempts and deadline, where stated, take their place. Before retry i = 1, 2, ...:

  aws-legacy-1.43    botocore's legacy mode: 5 attempts, U(0, 1) x 2^(i-1) s, after any
                     failure
  aws-standard-1.43  3 attempts, U(0, 1) x min(2^(i-1), 20) s; a bare 429 is not retried.
                     A quota of 500: a retry takes 5, after a time-out 10; a success at
                     once gives back 1, after retries what the last one took
  aws-standard-1.44  the same, and a 429 is retried; 0.05 s instead of 1 s after any other
                     failure; a retry takes 5 after a 429, else 14
  aws-adaptive-1.44  and a send rate that falls to 0.7 of itself when throttled and comes
                     back as a cubic
  grpc-1.85          4 attempts, 0.1 s doubled up to 1 s, 20 % either way; a throttle of
                     10 tokens, 0.1 back for a success
  urllib3-2.8        11 attempts: after 413, 429 and 503 only with a Retry-After, which is
                     obeyed up to 6 h; after a time-out at once
  stripe-16.1        3 attempts, not after 429: 0.5 s, then U(0.5, 1) x min(2^(i-2), 5) s
  google-api-core-2.44     U(0, min(2^(i-1), 60)) s, for 120 s
  octokit-throttling-11.0  after a refusal with nothing remaining, the reset and a second
                     more; else what Retry-After says

Example:
  client = { retry = { sdk = { name = "aws-standard-1.44" } } }
"#;

const CONDITIONS: &str = r#"conditions = { NAME = "FIGURE[FROM..UNTIL] OP RATE" }, at the top of a closed loop's
scenario: `rlsim run FILE --runs K` tells in what share of the runs each lane meets it,
with a 95 % interval (Wilson).

  FIGURE   goodput (answers in time), attempts, or throughput (work done)
  FROM     from the start of the run; without it, the start itself
  UNTIL    the instant itself not included; without it, the run's duration
  OP       < <= > >=
  RATE     as in "20/s"

Counts are exact: no bins.

Example:
  conditions = { stuck = "goodput[60s..] < 20/s" }
"#;

const RESPONSE: &str = r#"response = { ... }, for a lane or at the top for all of them. All optional:

  status        Of a refusal: 429 by default, or another from 400 to 599.
  retry-after   The wait that a refused client is told:
                none      nothing
                seconds   whole seconds, rounded up, at least 1
                date      an HTTP date, the next whole second
                exact     to the nanosecond, which no header can
                reserved  the same, each refusal of a key one emission interval behind
                          the one before
                It is left out where no wait helps.
  spread        What is added to it at random: up to a duration, as in "10s"; or up to a
                multiple, as in "1.25x", of what those that are refused now need at the
                lane's rate.
  headers       The quota that is told: none, ietf (RateLimit as structured fields),
                draft-3, draft-6, draft-7 (older RateLimit-*), x-ratelimit (X-RateLimit-*,
                seconds from now), x-ratelimit-epoch (seconds since 1970).

Clients see only what this says, rounding included. `rlsim explain headers` shows them.

Example:
  response = { retry-after = "seconds", spread = "5s", headers = "ietf" }
"#;

const HEADERS: &str = r#"Four attempts 1, 1.5, 2 and 2.5 s after midnight against limit = "3/6s": the answer to the
last one, which all six algorithms refuse. A limiter knows the smallest wait to the
nanosecond; headers tell whole seconds, rounded up.

  Retry-After       until the same attempt would pass if nothing else came
  r, Remaining      attempts of cost 1 that would pass now
  t                 until there are more; Reset: until the state of an untouched key
  q, Limit; w       the limit or burst, and the window or the time to refill it

"#;

const BACKEND: &str = r#"backend = { ... }, for a lane or at the top for all of them:

  service       How long a request takes: "100ms"; { constant = "100ms" };
                { exponential = "100ms" }, the mean; { load-dependent = { base = "1s",
                each = "10ms" } }, longer for each request that is being served.
  rate          Instead of service: what one server does, as in "6/5s", exactly.

And, all optional:

  servers       Requests served at a time: 1, or any number if load-dependent.
  queue         Requests that may wait: any number.
  order         fifo, or lifo: the newest first.
  overflow      Who finds the queue full: reject, a 503 at once, or drop: no answer.
  timeout       How long a client waits for an attempt; its work is done all the same.
  rejection-cost  Time of a server that each rejection takes, added to the next request
                that one begins: "0s".
  stall         { from = "20s", until = "30s" }: servers stand still.
  brown-out     { from, until, factor = 0.2 }: servers do that part of their work.

  hop           Time of each message between client and backend: "10ms", drawn from
                { exponential = "10ms" }, or the size of a normal one,
                { normal = { hop = "10ms", deviation = "2ms" } }.
  failure       An attempt fails with this probability, after its service: 0.3.
  optimistic    { hop = "10ms", deviation = "2ms" }, instead of all others: a row
                that clients read, and write if nobody has written since; who meets a
                conflict is refused. Each message takes |Normal(hop, deviation)|.

An answer is good if its client still waits for it. Without a backend it is there at the
release.

Example:
  backend = { servers = 10, service = "100ms", queue = 25, timeout = "2s" }
"#;

const EXPECT: &str = r#"[expect.LANE] states conditions on figures of a lane. One unmet: a line on standard
error and exit status 3. `rlsim test` runs all scenarios that state some.

Figures, in kebab-case, else as in the JSON report (see report):
  counts of attempts  requests attempts retries allowed delayed denied unfinished
                      false-denials false-admissions, and of a class of traffic:
                      classes.CLASS.attempts .allowed .delayed .denied
                      (traffic without a class beside some with one: `other`)
  of a closed loop    first-attempts succeeded gave-up amplification goodput-per-s
                      throughput-per-s drain-ns ideal-drain-ns time-to-success-ns.p50
                      .p95 .p99 .max time-to-success-all-ns.p50 .p95 .p99 .max
                      most-attempts most-retries peak-to-mean dispersion jain
                      overloaded-bins recovered-ns
  of a deployment     over-admitted under-admitted over-limit-ns backend-overload-ns
                      store.operations store.per-request store.latency-ns.p50 .p99
                      store.unavailable-ns store.decided-without
  numbers             peak (= peak.units) peak.ratio peak.bound over.keys keys-denied
                      cost-offered cost-admitted state.keys state.bytes
                      state.bytes-per-key "envelope.SPAN" "envelope.SPAN.bound", for a
                      span that the scenario lists in envelope
  times               wait-ns.p50 .p95 .p99 .max peak.from-ns over.first-ns
                      over.peak-key-ns; all exact but percentiles, which are rounded up
                      by 0.1 % at most
  texts               algorithm key peak.key same-as fingerprint

Conditions:
  90, "90", "= 90", "== 90"     equal; also "!= 90" "< 90" "<= 90" "> 90" ">= 90"
  "<= 0.5%"                     of the attempts of the lane, or of the class
  "<= 59.4s"                    times as durations; a number counts nanoseconds
  "< fixed-window.denied"       another lane's figure
  "gcra", "!= gcra"             texts; same-as takes a lane: every decision is equal
  "null", "!= null"             there is no such figure, as wait-ns where all is refused

What is not there meets nothing but "null". What cannot be compared is an error.

Example:
  [expect.token-bucket]
  denied = "<= 5%"
  "peak.bound" = 199
  classes.normal.denied = 0
"#;

const UNITS: &str = r#"durations  One or more numbers with units, added up: ns us ms s m h d (24 hours).
           "1m30s", "1.5h", "250ms". A number alone is none.
rates      Units per time: "100/1m", "10/s", "100/min", "5/90s", "10r/s". The units are
and        whole; sec, second, min, minute, hour and day are understood too. A limit is
limits     written the same and echoed as "100/1m".
instants   RFC 3339 with Z or an offset: "2026-01-01T12:00:00+01:00", from 1823 to 2116.
numbers    Whole, 0 or more, with _ between digits where you like: 1_000_000.
           At most 4611686018427387904 units (2 to the power of 62).

All are exact: time counts whole nanoseconds, a rate is kept as two whole numbers.

Example:
  limit = "1_000_000/1h"
"#;

const DECISIONS: &str = r#"`--decisions FILE` writes CSV: a row for each lane and attempt, ordered by time, arrival
and lane; `-` is standard output, instead of the report.

  arrival         Number of the arrival, from 1.
  time_ns         When it came: nanoseconds from the start of the run. A trace without a
                  `start` in its scenario counts from its first row.
  lane            The lane.
  key             The traffic's key.
  attempt         Which attempt of its request, from 1.
  cost            Units that it takes.
  decision        allow, delay or deny.
  wait_ns         How long it is held; empty unless delayed.
  retry_after_ns  The smallest wait after which it would be admitted if nothing else
                  came; `never` where no wait helps; empty unless denied.
  remaining       Attempts of cost 1 that would be admitted now, after this decision.
  next_ns         Time until one more of them would be; 0 when all are.
  full_ns         Time until its key is as one never seen.
  status headers  Where a lane states a response: what its client sees.
  replica         Where a lane is deployed: the replica that it met.
  decided_by      store, replica, fallback (the replica's own when the store does not
                  answer), rule (open or closed), exempt.
  latency_ns      From asking to knowing; the columns from retry_after_ns to full_ns are
                  as of then, and empty where a rule decided.

In a closed loop rows are ordered by time and lane, and arrival is the number of the
request's first attempt; it is empty for later requests of a closed population.

Example, all keys that a lane refused, with how often. A key in quotes may hold commas,
so columns are counted from both ends: in a replay five come after the decision.
  rlsim replay requests.csv --limit 100/1m --key client --algorithm gcra --decisions - |
    sed -nE 's/^([^,]*,){3}(.*),[0-9]+,[0-9]+,deny(,[^,]*){5}$/\2/p' |
    sort | uniq -c | sort -rn
"#;

const REPORT: &str = r#"`--json` prints one document; field names stay, others may be added. Names ending in _ns
are whole nanoseconds, instants counted from `start`. What is not known is null.

  schema rlsim       Version of the format, and of the program.
  title about        As the scenario has them; changed: what the command line changed.
  warnings           What is legal in the scenario and most likely not meant.
  seed start end_ns  The seed, the first instant (RFC 3339), the last that is told of.
  focus              The span worth a close look: from_ns, until_ns.
  limit              What every lane must enforce: units, window_ns.
  scenario           The whole plan, every default stated.
  input              Of each trace: file, rows used, bad rows left out, first_bad (line,
                     reason), order (how late rows were treated).
  offered            requests, cost, largest_cost, keys, keyed (how a trace was keyed),
                     first_ns, last_ns, peak (most units of a key in a window).
  groups             Lanes with equal admissions, waits apart.
  disagreements      Arrivals at which lanes that had agreed part: arrival, time_ns,
                     key, cost, admitted, denied, levels (what the lanes knew).
  lanes              Of each lane:
    name algorithm spec key exempt clock_resolution_ns   its settings
    requests attempts retries allowed delayed denied unfinished   counts of attempts
    cost_offered cost_admitted   units
    peak            the most units released in a window, for any key: units, ratio to
                    the limit, bound (the most that any traffic could get), from_ns, key
    envelope        the same for other spans: span_ns, units, bound
    over            keys above the limit, first_ns, peak_key_ns (how long the key of the
                    peak was, which need not be the one that was the longest)
    false_denials   refused although the exact sliding log admits
    false_admissions  admitted although it refuses
    over_admitted under_admitted   units of the false admissions, and of the denials
    wait_ns         of the admitted: p50, p95, p99 within 0.1 %, rounded up; max
    state           keys, bytes, bytes_per_key that the limiter holds at the end
    keys_denied     keys refused at least once; top_denied: the first of them, with key,
                    attempts, denied
    classes         by class of traffic: class, attempts, allowed, delayed, denied
    timeline        from_ns, bin_ns, then allowed, delayed, denied in each bin
    Where a lane is deployed, beside these (see deployment):
    of_bound bounds   the peak over its bound; the worst case by span: span_ns, bound.
                    Of a deployment it is that of any traffic of the run's rates, costs
                    and latencies
    staleness_ns    how long who decides does not hear of what others admit
    replicas        of each: admitted, denied, peak_units
    store           operations that it executed, per_request, latency_ns from asking to
                    knowing (p50, p99 within 0.1 %), unavailable_ns (down),
                    decided_without: attempts decided because it did not answer
    over_limit_ns over_times over_spans   how long any key was above the limit, how
                    often, and when the first thousand times: from_ns, until_ns
    backend_overload_ns   time in bins in which the backend is sent more than it can do
    In a closed loop, beside these (see client):
    partial         stopped after max-events: not all of it
    first_attempts amplification   attempts that were the first; all attempts over them
    succeeded gave_up   requests answered in time; whose client stopped trying
    goodput_per_s throughput_per_s   answers in time, and work done, a second
    drain_ns ideal_drain_ns   first attempt to last success; the least the limit allows
    time_to_success_ns   of requests that succeeded: p50, p95, p99 within 0.1 %, max
    time_to_success_all_ns   of all, null: never
    metric_bin_ns most_attempts most_retries   bins, and the most in one
    peak_to_mean dispersion   of attempts a bin: most over mean, variance over mean
    jain            fairness over keys by successes: 1 if equal
    overloaded_bins recovered_ns   bins with more retries than first attempts, or more
                    requests given up than answered; the last one's end, null: never
    loop_timeline   from_ns, bin_ns, then first, retries, good, served in each bin
    same_as         the first lane whose every decision is equal
    fingerprint     64 bits over all decisions: equal runs have equal ones

Example:
  rlsim run boundary --json | jq '.lanes[] | {name, denied, peak}'
"#;
