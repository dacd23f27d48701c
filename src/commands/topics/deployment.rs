//! How a lane's limit is kept by many processes, and what goes wrong.

pub(super) const DEPLOYMENT: &str = r#"deployment = { ... }, for a lane or at the top for all others; exactly one kind:

  single = {}   One process keeps the limit: the default.
  central       One store decides for all replicas.
  local         Each replica decides for itself.
  hybrid        Each replica decides for itself and hears of the others.

Replicas, in all but single, all optional:
  replicas      How many there are at the start: 1.
  routing       Which of them an attempt meets: round-robin; random; hash, the same for
                a key; least, the one with the fewest attempts under way;
                { weights = [7, 2, 1] }.
  skew          How far each replica's clock is ahead: ["0s", "250ms"].

The way to the store, in central and in a hybrid with a lease, all optional:
  round-trip    There and back: "0s" by default; or drawn from { exponential = "1ms" }
                or { normal = { hop = "1ms", deviation = "200us" } }. An operation
                reaches the store after half of it. Latency is no delay: what is allowed
                stays allowed, and is released later.
  timeout       After it a replica stops waiting. Without it, it waits.
  on-failure    What a replica does without an answer: open admits; closed refuses;
                local asks a limiter of its own, fresh when the outage begins; or a
                token bucket of its own, { safe-rate = "5/1s" }. A lane that may not be
                answered must state it.
  fallback-share  Of local: split, an equal part of the limit (default), or full.
  breaker       { failures = 5, probe = "1s" }: after so many failures in a row nobody
                asks; one attempt does again after that time, and after each that fails.
  store         { capacity = "50000/1s", service = "20us", connections = 64 }:
                operations that it begins at most, how long it is busy with one, and
                how many of a replica may be waited for. Without: it is never busy.
                What a replica has stopped waiting for is executed all the same.

central, besides these, all optional:
  operation     script (default) decides as one; incr counts, then tells whether it
                fitted; get-incr and get-set read, decide at the replica, and write.
                A sliding log cannot be incremented.
  clock         Whose time counts: the replica's (default) or the store's.
  prefilter     A limiter of each replica's own, as in { token-bucket = {} }: what it
                refuses does not reach the store. Not a queue.

local:
  share         full (default): all of the limit each; split: limit and burst over
                replicas, rounded down, the rate exactly.

hybrid, exactly one:
  sync = { every = "1s", push = "5ms", pull = "5ms", debt = "carry" }
                what each has admitted is sent every so often, and what all have comes
                back. What is over is owed (carry) or forgotten (clamp). push, pull: 0s.
  lease = { batch = 10, prefetch = false }
                units are fetched from the store in batches, for each key, when the last
                is spent or, with prefetch, with the last. Not with a leaky queue.
  quota = { every = "8s", lease = "300s" }
                the limit is divided by demand, and each part lent.
  drop = { every = "50ms", weight = 0.1 }
                all refuse the same part of all attempts, by demand that they gossip;
                weight of the last interval in its estimate.
  proportional = { every = "50ms", weight = 0.1, fanout = 2 }
                each has its part of the limit by its part of demand, told to so many
                others in a round (all by default).
  assignment = { report = "5s", lease = "10s", no-assignment = "allow",
                 expired = "reuse" }
                each reports its demand and is assigned a part for the lease, twice the
                report interval by default. Before the first: allow or deny all; after
                the last: reuse it, or drop it.

Example:
  limit = "100/1m"
  [[traffic]]
  burst = { requests = 300, over = "30s" }
  [[lane]]
  token-bucket = {}
  [lane.deployment.central]
  replicas = 3
  round-trip = "1ms"
  timeout = "20ms"
  on-failure = "open"
"#;

pub(super) const FAULTS: &str = r#"[[fault]] tables state what goes wrong, or changes, in the world of all lanes; exactly
one kind each. Times count from the start of the run; a span is [from, until).

Of the store (lanes that are central or hybrid):
  store-down    { from, until }: it answers nobody.
  store-slow    { from, until, round-trip }: the way there and back takes this long,
                "1s" or drawn from a distribution (see deployment).
  store-lag     { by, from, until }: it is read from a copy that is behind.
  partition     { replicas = [0, 2], from, until }: these do not reach it.
  failover      { at, loses = "1s" }: writes of this long before are lost.
  flush         { at }: it forgets everything.
  lost-expire   { at }: a process dies between counting and setting the expiry; the next
                key whose window opens never resets.

Of replicas, numbered from 0:
  start stop restart  { replica, at }: with nothing known; not any more; both at once.
  scale         { at, replicas }: the first so many run, and no others.
  reroute       { at }: keys that stick to replicas (routing = "hash") stick to others.

At random, the same for every lane:
  random        { mean-between = "60s", mean-length = "5s", kind = "store-down" }: from
                the end of one to the beginning of the next, and how long it lasts, both
                exponential. kind: store-down; store-slow, with a round-trip; partition,
                of any one replica; restart, of any one replica, without a length. Needs
                a duration of the scenario.

A lane that waits for the store must state on-failure where it may not be answered.

Example:
  [[fault]]
  store-down = { from = "30s", until = "60s" }
  [[fault]]
  restart = { replica = 1, at = "45s" }
"#;
