//! The feedback driver against a slow model of it: all events in one list, the next one looked for each
//! time; waits and answers in words. Spans are a few nanoseconds, so that everything coincides.

use crate::simulate::{arrivals, plan};
use proptest::prelude::*;
use proptest::sample::select;
use rlsim::limiter::{Decision, KeyId};
use rlsim::report::LoopReport;
use rlsim::runner::{Extras, run};
use rlsim::scenario::Plan;
use rlsim::sim::{Answered, Lane, Options, Scribe};
use rlsim::time::SimTime;
use std::sync::{Arc, Mutex};

/// When, which attempt of which request, and what was decided.
type Attempt = (i64, u64, u32, Decision);

/// Collects what a lane was asked.
struct Ear(Arc<Mutex<Vec<Attempt>>>);

impl Scribe for Ear {
    fn meet(&mut self, _new_keys: &[Box<[u8]>]) {}
    fn answered(&mut self, answered: &Answered, _lane: Option<&Lane>) {
        let Answered { arrival, made, at, decision, .. } = *answered;
        self.0.lock().expect("one thread").push((at.nanos(), arrival.expect("no population"), made, decision));
    }
}

/// A client and a backend in numbers.
#[derive(Clone, Debug)]
struct World {
    retry: Retry,
    max_attempts: u32,
    deadline: Option<i64>,
    round_trip: i64,
    backend: Option<Backend>,
}

#[derive(Clone, Copy, Debug)]
enum Retry {
    Immediate,
    Fixed(i64),
    Doubling(i64, i64),
    Told,
}

#[derive(Clone, Debug)]
struct Backend {
    servers: usize,
    service: i64,
    queue: usize,
    lifo: bool,
    drop: bool,
    timeout: Option<i64>,
}

impl World {
    fn text(&self) -> String {
        let retry = match self.retry {
            Retry::Immediate => "immediate = {}".to_owned(),
            Retry::Fixed(delay) => format!("fixed = {{ delay = \"{delay}ns\" }}"),
            Retry::Doubling(base, cap) => format!("exponential = {{ base = \"{base}ns\", cap = \"{cap}ns\" }}"),
            Retry::Told => "retry-after = {}".to_owned(),
        };
        let deadline = self.deadline.map_or(String::new(), |deadline| format!(", deadline = \"{deadline}ns\""));
        let mut text = format!(
            "response = {{ retry-after = \"exact\" }}\n\
             client = {{ retry = {{ {retry} }}, max-attempts = {}, round-trip = \"{}ns\"{deadline} }}\n",
            self.max_attempts, self.round_trip
        );
        if let Some(Backend { servers, service, queue, lifo, drop, timeout }) = &self.backend {
            let order = if *lifo { "lifo" } else { "fifo" };
            let overflow = if *drop { "drop" } else { "reject" };
            let timeout = timeout.map_or(String::new(), |timeout| format!(", timeout = \"{timeout}ns\""));
            text.push_str(&format!(
                "backend = {{ servers = {servers}, service = \"{service}ns\", queue = {queue}, order = \"{order}\", \
                 overflow = \"{overflow}\"{timeout} }}\n"
            ));
        }
        text
    }
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Departure { request: usize, attempt: u32 },
    Release { request: usize, attempt: u32 },
    Answer { request: usize, attempt: u32, good: bool, told: Option<i64> },
    Impatience { request: usize, attempt: u32 },
    Arrival { request: usize },
    Retry { request: usize },
}

/// A request: its first attempt, attempts made, whether the last one is still waited for.
struct Request {
    first: i64,
    made: u32,
    waits: bool,
    over: bool,
}

#[derive(Default)]
struct Model {
    /// When, class, in which order they came.
    events: Vec<(i64, u8, u64, Event)>,
    sequence: u64,
    asked: Vec<Attempt>,
    succeeded: Vec<(usize, i64)>,
    gave_up: u64,
    unfinished: u64,
    served: u64,
    busy: usize,
    queue: Vec<(usize, u32)>,
}

impl Model {
    fn put(&mut self, at: i64, class: u8, event: Event) {
        self.events.push((at, class, self.sequence, event));
        self.sequence += 1;
    }

    fn next(&mut self) -> Option<(i64, Event)> {
        let place = (0..self.events.len()).min_by_key(|i| {
            let (at, class, sequence, _) = self.events[*i];
            (at, class, sequence)
        })?;
        let (at, _, _, event) = self.events.remove(place);
        Some((at, event))
    }
}

/// Runs the model over a plan's arrivals.
fn model(plan: &Plan, world: &World, end: i64) -> Model {
    let all = arrivals(plan);
    let mut lane = Lane::new(plan.lanes[0].clone(), &plan.workload());
    let mut model = Model::default();
    let mut requests: Vec<Request> =
        all.iter().map(|a| Request { first: a.at, made: 0, waits: false, over: false }).collect();
    for (request, arrival) in all.iter().enumerate() {
        model.put(arrival.at, 2, Event::Arrival { request });
    }
    while let Some((now, event)) = model.next() {
        match event {
            Event::Arrival { request } | Event::Retry { request } => {
                if now >= end {
                    model.unfinished += 1;
                    requests[request].over = true;
                    continue;
                }
                let arrival = &all[request];
                requests[request].made += 1;
                requests[request].waits = true;
                let attempt = requests[request].made;
                let (key, at) = (KeyId(arrival.ids[0]), SimTime::from_nanos(now));
                let decision = lane.decide(arrival.source, key, at, arrival.cost);
                model.asked.push((now, request as u64 + 1, attempt, decision));
                if let Some(backend) = &world.backend
                    && decision != Decision::Deny
                {
                    let late = world.deadline.map(|deadline| requests[request].first + deadline + 1);
                    let patience = backend.timeout.map(|timeout| now + timeout).into_iter().chain(late).min();
                    if let Some(at) = patience {
                        model.put(at, 1, Event::Impatience { request, attempt });
                    }
                }
                match decision {
                    Decision::Deny => {
                        let told = lane.retry_after(key, at, arrival.cost).map(|wait| wait.short_nanos() as i64);
                        answer(&mut model, world, &mut requests, now, request, attempt, false, told, end);
                    }
                    Decision::Allow => release(&mut model, world, &mut requests, now, request, attempt, end),
                    Decision::Delay(wait) => {
                        model.put(now + wait.short_nanos() as i64, 1, Event::Release { request, attempt });
                    }
                }
            }
            Event::Release { request, attempt } => {
                release(&mut model, world, &mut requests, now, request, attempt, end)
            }
            Event::Departure { request, attempt } => {
                model.served += 1;
                let backend = world.backend.as_ref().expect("a server");
                model.busy -= 1;
                if requests[request].waits && requests[request].made == attempt {
                    answer(&mut model, world, &mut requests, now, request, attempt, true, None, end);
                }
                let next = match (model.queue.is_empty(), backend.lifo) {
                    (true, _) => None,
                    (false, true) => model.queue.pop(),
                    (false, false) => Some(model.queue.remove(0)),
                };
                if let Some((request, attempt)) = next {
                    model.busy += 1;
                    model.put(now + backend.service, 0, Event::Departure { request, attempt });
                }
            }
            Event::Answer { request, attempt, good, told } => {
                conclude(&mut model, world, &mut requests, now, request, attempt, good, told, end);
            }
            Event::Impatience { request, attempt } => {
                if requests[request].waits && requests[request].made == attempt {
                    conclude(&mut model, world, &mut requests, now, request, attempt, false, None, end);
                }
            }
        }
    }
    model
}

#[expect(clippy::too_many_arguments, reason = "a model without a shape of its own")]
fn answer(
    model: &mut Model,
    world: &World,
    requests: &mut [Request],
    now: i64,
    request: usize,
    attempt: u32,
    good: bool,
    told: Option<i64>,
    end: i64,
) {
    // An answer that is on its way will be there: nobody loses patience any more.
    requests[request].waits = false;
    if world.round_trip == 0 {
        return conclude(model, world, requests, now, request, attempt, good, told, end);
    }
    model.put(now + world.round_trip, 1, Event::Answer { request, attempt, good, told });
}

#[expect(clippy::too_many_arguments, reason = "a model without a shape of its own")]
fn conclude(
    model: &mut Model,
    world: &World,
    requests: &mut [Request],
    now: i64,
    request: usize,
    attempt: u32,
    good: bool,
    told: Option<i64>,
    _end: i64,
) {
    let state = &mut requests[request];
    state.waits = false;
    let last = world.deadline.map(|deadline| state.first + deadline);
    if good {
        state.over = true;
        if last.is_some_and(|last| now > last) {
            model.gave_up += 1;
        } else {
            model.succeeded.push((request, now));
        }
        return;
    }
    let delay = match world.retry {
        Retry::Immediate => 0,
        Retry::Fixed(delay) => delay,
        Retry::Doubling(base, cap) => (base << (attempt - 1)).min(cap),
        // Told nothing: a second, two, and so on.
        Retry::Told => told.unwrap_or(1_000_000_000 << (attempt - 1)),
    };
    if attempt >= world.max_attempts || last.is_some_and(|last| now + delay > last) {
        model.gave_up += 1;
        state.over = true;
        return;
    }
    model.put(now + delay, 3, Event::Retry { request });
}

fn release(
    model: &mut Model,
    world: &World,
    requests: &mut [Request],
    now: i64,
    request: usize,
    attempt: u32,
    end: i64,
) {
    let current = requests[request].waits && requests[request].made == attempt;
    let Some(backend) = &world.backend else {
        model.served += 1;
        return answer(model, world, requests, now, request, attempt, true, None, end);
    };
    if model.busy < backend.servers {
        model.busy += 1;
        model.put(now + backend.service, 0, Event::Departure { request, attempt });
    } else if model.queue.len() < backend.queue {
        model.queue.push((request, attempt));
    } else if !backend.drop && current {
        answer(model, world, requests, now, request, attempt, false, None, end);
    }
}

fn world() -> impl Strategy<Value = World> {
    let retry = prop_oneof![
        Just(Retry::Immediate),
        (0..6_i64).prop_map(Retry::Fixed),
        (1..4_i64, 4..20_i64).prop_map(|(base, cap)| Retry::Doubling(base, cap)),
        Just(Retry::Told),
    ];
    let backend = (1..3_usize, 0..6_i64, 0..4_usize, any::<bool>(), any::<bool>(), prop::option::of(1..8_i64))
        .prop_map(
            // Without patience, one that is dropped would wait for ever.
            |(servers, service, queue, lifo, drop, timeout)| Backend {
                servers,
                service,
                queue,
                lifo,
                drop: drop && timeout.is_some(),
                timeout,
            },
        );
    (retry, 2..6_u32, prop::option::of(1..30_i64), prop_oneof![2 => Just(0), 1 => 1..4_i64], prop::option::of(backend))
        .prop_map(|(retry, max_attempts, deadline, round_trip, backend)| World {
            retry,
            max_attempts,
            // One within the round trip is an error.
            deadline: deadline.map(|deadline| deadline.max(round_trip)),
            round_trip,
            backend,
        })
}

fn check(plan: &Plan, world: &World, end: i64) -> Result<(), TestCaseError> {
    let asked = Arc::new(Mutex::new(Vec::new()));
    let extras = Extras { scribes: vec![Box::new(Ear(asked.clone()))], ..Extras::default() };
    let outcome = run(plan, Options::default(), extras, &mut |_| true).expect("it runs");
    let expected = model(plan, world, end);
    prop_assert_eq!(&*asked.lock().expect("one thread"), &expected.asked);
    let lane = &outcome.report.lanes[0];
    let closed: &LoopReport = lane.closed.as_ref().expect("a closed loop");
    prop_assert_eq!(closed.succeeded, expected.succeeded.len() as u64);
    prop_assert_eq!(closed.gave_up, expected.gave_up);
    prop_assert_eq!(lane.unfinished, expected.unfinished);
    prop_assert_eq!(closed.loop_timeline.served.iter().sum::<u64>(), expected.served);
    let last = expected.succeeded.iter().map(|(_, at)| *at).max();
    let first = expected.asked.first().map(|(at, ..)| *at);
    prop_assert_eq!(closed.drain_ns, last.zip(first).map(|(last, first)| (last - first) as u64));
    let all = arrivals(plan);
    let slowest = expected.succeeded.iter().map(|(request, at)| (at - all[*request].at) as u64).max();
    prop_assert_eq!(closed.time_to_success_ns.max, slowest);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    #[test]
    fn the_driver_does_what_the_model_does(
        world in world(),
        limiter in select(vec![
            "fixed-window = {}", "sliding-log = {}", "sliding-counter = {}", "token-bucket = { burst = 2 }",
            "leaky-bucket = { capacity = 3 }", "gcra = { burst = 2 }",
        ]),
        traffic in select(vec![
            "burst = { requests = 12 }", "burst = { requests = 9, over = \"9ns\" }", "steady = { rate = \"3/2ns\" }",
            "idle-then-spike = { idle = \"6ns\", requests = 4, repeat = 4 }", "poisson = { rate = \"1/1ns\" }",
        ]),
        keys in 1..4_u32,
        cost in 1..3_u32,
        duration in 10..60_i64,
    ) {
        let text = format!(
            "limit = \"3/7ns\"\nduration = \"{duration}ns\"\n{}[[traffic]]\n{traffic}\nkeys = {keys}\ncost = {cost}\n[[lane]]\n{limiter}\n",
            world.text()
        );
        check(&plan(&text), &world, duration)?;
    }
}
