//! Times a frame of the terminal view at 200x60.
use ratatui::{Terminal, backend::TestBackend};
use rlsim::commands::tui::Engine;
use rlsim::faces::tui::{Action, App, Effect, draw};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;
fn main() {
    for name in ["boundary", "nasa", "poisson", "noisy-neighbour"] {
        let plan = Plan::new(&ScenarioSource::load(name).unwrap(), &[]).unwrap();
        let (engine, run) = Engine::run(plan, Options::default(), &mut |_| true).unwrap();
        let mut app = App::new(true);
        app.update(Action::Resize(200, 60));
        let mut effect = app.update(Action::Loaded(Box::new(run)));
        for action in [Action::Whole, Action::End] {
            while let Effect::Look(look) = effect {
                let begun = std::time::Instant::now();
                let detail = engine.look(&look, &mut || true).unwrap();
                println!(
                    "{name}: look {:?}, {} of {} arrivals listed",
                    begun.elapsed(),
                    detail.arrivals.len(),
                    detail.arrivals_within
                );
                effect = app.update(Action::Looked { ticket: look.ticket, detail: Ok(Box::new(detail)) });
            }
            effect = app.update(action);
        }
        let mut terminal = Terminal::new(TestBackend::new(200, 60)).unwrap();
        let begun = std::time::Instant::now();
        for i in 0..500 {
            if i % 2 == 0 {
                app.update(Action::Home);
            } else {
                app.update(Action::End);
            }
            terminal.draw(|frame| draw(&app, frame)).unwrap();
        }
        println!("{name}: {:?} a frame", begun.elapsed() / 500);
    }
}
