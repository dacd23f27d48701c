//! The `rlsim` binary.
fn main() {
    let name = std::env::args().nth(1).unwrap();
    let source = rlsim::scenario::ScenarioSource::load(&name).unwrap();
    let plan = match rlsim::scenario::Plan::new(&source, &[]) {
        Ok(p) => p,
        Err(e) => {
            println!("{e:#?}");
            return;
        }
    };
    let outcome = rlsim::runner::run(&plan, rlsim::sim::Options::default(), Default::default(), &mut |_| true).unwrap();
    let mut v = serde_json::to_value(&outcome.report).unwrap();
    for lane in v["lanes"].as_array_mut().unwrap() {
        lane["timeline"] = serde_json::Value::Null;
    }
    println!("{}", serde_json::to_string_pretty(&v).unwrap());
    for unmet in rlsim::scenario::Expectation::unmet(&plan.expectations, &outcome.report) {
        println!("{unmet}");
    }
    println!("{}", toml::to_string_pretty(&plan.resolved()).unwrap());
}
