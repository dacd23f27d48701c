//! What `rlsim explain sweep` prints.

/// Ready to be printed, at most 88 columns wide.
pub const TEXT: &str = r#"`rlsim sweep FILE --vary PATH=VALUES` runs a scenario once for each value; with several
--vary, once for each combination. Nothing else changes: the traffic, the seed and the
luck of the clients are the same at every point unless they are what is varied.

A path is what --set takes:
  duration, limit, seed, client.deadline     a key at the top of the scenario
  token-bucket.burst                         LANE.KNOB, short for LANE.ALGORITHM.KNOB
  "bucket of ten".client.max-attempts        quotes are optional: dots separate parts
  client.poisson.rate                        TRAFFIC.KIND.KNOB, by the traffic's name
  traffic.0.poisson.rate, lane.2.gcra.burst  by number, counted from 0
  *.client.max-attempts                      every lane that has a `client` table
In any list of tables an entry goes by its name, its number, its kind where only one
entry has it, or * for all. A `client`, `response`, `backend` or `deployment` at the top
is that of lanes that state none: if every lane states its own, write *.client.deadline.

Values:
  1,2,4,8              a list of anything that can be set; so are full,empty
  0s..10s:step=1s      a range with a step, its end included where a step hits it
  1..100:points=5      a range with a number of values, equally far apart and rounded to
                       whole units; values that become the same are run once
  1..1000:points=10,log   the same by equal factors
Ranges are of whole numbers, durations, or rates and limits of one period
(10/1s..90/1s:step=10). Steps and distances are exact; durations by equal factors have
three digits. A grid has at most 100000 points. All points are validated before any runs.

Measures (--measure, repeatable) are the figures of [expect]: peak, denied, wait-ns.p99,
classes.CLASS.denied; see expect. Without: peak and denied, and in a closed loop
amplification and goodput-per-s. --lane NAME runs some lanes only.

Results do not depend on --threads. As text: with one axis a table a measure; with two a
table a measure and lane, the first axis across and the second down; with more a row for
each point and lane. -o FILE.svg draws lines over one axis, or maps of the first measure
over two. CSV (-o FILE.csv, --format csv) has a row for each point and lane: the axes by
their paths, `lane`, the measures, in a closed loop `partial` (stopped after max-events),
and `sweep`, 16 digits that are the same in rows of the same scenario, traces, grid and
measures. JSON has axes, measures, lanes, sweep, and the same rows, each with `at`.

-o FILE.csv --resume writes points to the table as they are done. If it is interrupted,
the same command runs only those that are missing, and the table ends as if nothing had
happened. A table of another sweep is left alone.

Examples:
  rlsim sweep burst-dial --vary limit=50/1m..200/1m:step=10
  rlsim sweep poisson --vary 'token-bucket.burst=1..64:points=7,log' -o burst.svg
  rlsim sweep metastable --vary '*.backend.queue=10,20,50,100' \
    --vary '*.backend.servers=1,2,3' --measure goodput-per-s -o map.svg
"#;
