//! The closed loop: the event queue alone, and the driver with few and with many requests pending.
//!
//! `cargo bench --bench feedback`. An event of the driver is an attempt, an answer, a release or a
//! departure, as [`World::events`] counts them. The ratio of many pending to few is the figure to look
//! at: the machine's own speed drifts.

use divan::counter::ItemsCount;
use rlsim::limiter::Verdicts;
use rlsim::rng::mix;
use rlsim::runner::{Extras, replicate, run};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::{Class, Due, EventQueue, Lane, Options, Step, Stream, World, WorldPlan};
use rlsim::traffic::Traffic;

fn main() {
    divan::main();
}

/// Turns of the hold model in a sample.
const TURNS: u64 = 1_000_000;

/// Hold model: take the earliest, put one later by up to twice the mean. The queue is filled before.
#[divan::bench(sample_count = 10, sample_size = 1, args = [10, 1_000, 30_000, 1_000_000])]
fn queue(bencher: divan::Bencher, pending: u64) {
    let distance = |n: u64| 1 + mix(n) % (2 * pending * 1_000);
    bencher
        .counter(ItemsCount::new(TURNS))
        .with_inputs(|| {
            let mut queue = EventQueue::default();
            (0..pending).for_each(|n| queue.push(Due::new(distance(n), Class::Retry), n));
            // Past the first turns, in which the queue is sorted for the first time.
            (0..2 * pending).for_each(|n| hold(&mut queue, distance(n)));
            queue
        })
        .bench_values(|mut queue| {
            (0..TURNS).for_each(|n| hold(&mut queue, distance(n)));
            queue.len()
        });
}

fn hold(queue: &mut EventQueue<u64>, distance: u64) {
    let (due, event) = queue.pop_before(Due::new(Due::MAX, Class::Retry)).expect("never empty");
    queue.push(Due::new(due.at() + distance, Class::Retry), event);
}

fn plan(text: &str) -> Plan {
    let source = ScenarioSource { name: "bench".into(), text: text.into(), folder: "".into(), embedded: false };
    Plan::new(&source, &[]).expect("a valid scenario")
}

/// Clients that are refused and come back: so many retries are pending at any time, two thousand a
/// second go out, and a hundred a second are admitted and replaced.
fn storm(pending: u64) -> Plan {
    plan(&format!(
        "limit = \"100/1s\"\nduration = \"2000s\"\nmax-events = 1000000000\n\
         client = {{ retry = {{ exponential = {{ base = \"{pending}ms\", cap = \"{pending}ms\", jitter = \"full\" }} }} }}\n\
         [[traffic]]\nburst = {{ requests = {pending} }}\ngroups = {{ who = \"all\" }}\n\
         [[traffic]]\nsteady = {{ rate = \"100/1s\" }}\ngroups = {{ who = \"all\" }}\n\
         [[lane]]\nkey = \"who\"\ntoken-bucket = {{ burst = 1 }}\n"
    ))
}

/// Takes a plan's only lane through the driver, nobody watching; the events.
fn drive(plan: &Plan) -> u64 {
    let mut traffic = Traffic::open(&plan.traffic).expect("synthetic");
    let start = traffic.start();
    let world_plan = WorldPlan {
        seed: 1,
        origin: start,
        end: plan.traffic.duration.and_then(|duration| start.checked_add(duration)),
        max_events: u64::MAX,
        populations: plan.populations(),
        faults: plan.faults.clone(),
        workload: plan.workload(),
    };
    let mut nobody = ();
    let lane = Lane::new(plan.lanes[0].clone(), &plan.workload());
    let mut world = World::new(
        world_plan,
        lane,
        Stream::new(plan.traffic.columns.len(), plan.lanes[0].column, None, Vec::new()),
        &mut nobody,
    );
    let (mut step, mut verdicts) = (Step::default(), Verdicts::default());
    let mut known = 0;
    loop {
        traffic.fill(&mut step.batch, 32_768).expect("synthetic");
        if step.batch.is_empty() {
            while !world.go_on(u64::MAX).expect("in range") {}
            return world.events();
        }
        let keys = traffic.keys(0);
        step.new_keys = (known..keys.len()).map(|id| keys.name(id as u32).into()).collect();
        known = keys.len();
        world.advance(&step).expect("in range");
        world.take_decided(world.arrivals_decided(), &mut verdicts);
    }
}

/// The driver alone.
#[divan::bench(sample_count = 5, sample_size = 1, args = [1_000, 1_000_000])]
fn driver(bencher: divan::Bencher, pending: u64) {
    let plan = storm(pending);
    bencher.counter(ItemsCount::new(drive(&plan))).bench(|| drive(&plan));
}

/// The driver and all that a report is made of.
#[divan::bench(sample_count = 5, sample_size = 1, args = [1_000, 1_000_000])]
fn reported(bencher: divan::Bencher, pending: u64) {
    let plan = storm(pending);
    bencher
        .counter(ItemsCount::new(drive(&plan)))
        .bench(|| run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("it runs").report.end_ns);
}

/// A hundred runs of five policies at 100 clients of the AWS study; an item is a call.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn aws_jitter(bencher: divan::Bencher) {
    let source = ScenarioSource::load("papers/aws-jitter").expect("embedded");
    let plan = Plan::new(&source, &[]).expect("valid");
    bencher.counter(ItemsCount::new(690_000_u64)).bench(|| {
        let found = replicate(&plan, 100, Options::default(), &|_| true).expect("it runs");
        found.lanes.iter().filter_map(|lane| lane.figure("attempts")).map(|figure| figure.mean).sum::<f64>()
    });
}

/// A million arrivals through eight replicas and a store a millisecond away; an item is an event.
fn fleet() -> Plan {
    plan(
        "limit = \"100/1s\"\nduration = \"10s\"\n[[traffic]]\npoisson = { rate = \"100000/1s\" }\nkeys = 1000\n\
         [[lane]]\ntoken-bucket = {}\n\
         deployment = { central = { replicas = 8, round-trip = \"1ms\", timeout = \"20ms\", on-failure = \"open\" } }\n",
    )
}

/// The driver alone.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn store(bencher: divan::Bencher) {
    let plan = fleet();
    bencher.counter(ItemsCount::new(drive(&plan))).bench(|| drive(&plan));
}

/// The driver and all that a report is made of.
#[divan::bench(sample_count = 5, sample_size = 1)]
fn store_reported(bencher: divan::Bencher) {
    let plan = fleet();
    bencher
        .counter(ItemsCount::new(drive(&plan)))
        .bench(|| run(&plan, Options::default(), Extras::default(), &mut |_| true).expect("it runs").report.end_ns);
}
