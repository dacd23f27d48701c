//! The `rlsim` binary.
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let width: usize = std::env::args().nth(2).map_or(100, |w| w.parse().unwrap());
    let source = rlsim::scenario::ScenarioSource::load(&name).unwrap();
    let plan = match rlsim::scenario::Plan::new(&source, &[]) { Ok(p) => p, Err(e) => { println!("{e:#?}"); return } };
    let outcome = rlsim::runner::run(&plan, rlsim::sim::Options::default(), Default::default(), &mut |_| true).unwrap();
    print!("{}", rlsim::faces::text::text(&outcome.report, rlsim::faces::text::TextOptions { width, color: false }));
    for unmet in rlsim::scenario::Expectation::unmet(&plan.expectations, &outcome.report) { println!("{unmet}"); }
}
