//! The whole main job: ten million rows of CSV through all six lanes with the full report, beside a
//! bare pass of the `csv` crate over the same file; the sheet; a frame of the terminal view.
//!
//! `cargo bench --bench run`. The file, 420 MB, is made once below the target directory. The ratio to
//! `csv_byte_record` is the figure to look at: the machine's own speed drifts.

use divan::counter::ItemsCount;
use rand::Rng;
use rand_distr::{Distribution, Zipf};
use ratatui::Terminal;
use ratatui::backend::TestBackend;
use rlsim::commands::tui::Engine;
use rlsim::faces::svg;
use rlsim::faces::text::{TextOptions, text};
use rlsim::faces::tui::{Action, App, Effect, draw};
use rlsim::rng::stream;
use rlsim::runner::{self, Extras, Outcome};
use rlsim::scenario::{Plan, ScenarioSource};
use rlsim::sim::Options;
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

fn main() {
    divan::main();
}

const ROWS: u64 = 10_000_000;
const KEYS: u64 = 100_000;

/// Time, key and cost; keys Zipf 1.0, about 50,000 rows a second.
fn trace() -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = directory.join("run.csv");
    if path.exists() {
        return path;
    }
    fs::create_dir_all(&directory).expect("the target directory is ours");
    let part = path.with_extension("part");
    let mut file = BufWriter::new(File::create(&part).expect("the target directory is ours"));
    let mut rng = stream(1, "run");
    let zipf = Zipf::new(KEYS as f64, 1.0).expect("valid parameters");
    let mut micros = 0;
    writeln!(file, "timestamp,key,cost").expect("room on the disk");
    for _ in 0..ROWS {
        micros += rng.next_u64() % 42;
        let key = zipf.sample(&mut rng) as u64;
        let (second, micro) = (micros / 1_000_000, micros % 1_000_000);
        let (minute, second) = (second / 60, second % 60);
        let (high, middle, low) = (key >> 16 & 255, key >> 8 & 255, key & 255);
        writeln!(file, "2026-01-01T12:{minute:02}:{second:02}.{micro:06}Z,10.{high}.{middle}.{low},1")
            .expect("room on the disk");
    }
    file.flush().expect("room on the disk");
    fs::rename(&part, &path).expect("the target directory is ours");
    path
}

fn plan(text: &str) -> Plan {
    let source = ScenarioSource { name: "bench".into(), text: text.into(), folder: "".into(), embedded: false };
    Plan::new(&source, &[]).expect("a valid scenario")
}

fn trace_plan() -> Plan {
    let file = trace().display().to_string();
    plan(&format!("limit = \"10/1s\"\n[[traffic]]\ntrace = {{ file = {file:?}, key = \"key\", cost = \"cost\" }}\n"))
}

fn run(plan: &Plan, threads: usize) -> Outcome {
    runner::run(plan, Options { threads, ..Options::default() }, Extras::default(), &mut |_| true).expect("it runs")
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn csv_byte_record(bencher: divan::Bencher) {
    let path = trace();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let mut reader = csv::ReaderBuilder::new().from_path(&path).expect("a good file");
        let mut record = csv::ByteRecord::new();
        let mut total = 0;
        while reader.read_byte_record(&mut record).expect("good rows") {
            total += record.iter().map(<[u8]>::len).sum::<usize>();
        }
        total
    });
}

#[divan::bench(sample_count = 5, sample_size = 1, args = [1, 2])]
fn six_lanes(bencher: divan::Bencher, threads: usize) {
    let plan = trace_plan();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let outcome = run(&plan, threads);
        assert_eq!(outcome.report.offered.requests, ROWS);
        text(&outcome.report, TextOptions { width: 100, color: false })
    });
}

const SHORT: &str =
    "limit = \"100/1s\"\nduration = \"60s\"\n[[traffic]]\nkeys = 100\npoisson = { rate = \"9000/1s\" }\n";

/// Drawing alone: reading the traffic again for it is not counted.
#[divan::bench]
fn sheet(bencher: divan::Bencher) {
    let plan = plan(SHORT);
    let outcome = run(&plan, 1);
    let sheet = runner::sheet(&plan, &outcome, Options::default(), &mut || true).expect("it runs");
    bencher.bench(|| svg::sheet(&outcome.report, &sheet));
}

/// One frame of 200 columns and 60 rows, and of 80 and 24.
#[divan::bench(args = [(80, 24), (200, 60)])]
fn frame(bencher: divan::Bencher, (width, height): (u16, u16)) {
    let (engine, loaded) = Engine::run(plan(SHORT), Options::default(), &mut |_| true).expect("it runs");
    let mut app = App::new(true);
    app.update(Action::Resize(width, height));
    let mut effect = app.update(Action::Loaded(Box::new(loaded)));
    while let Effect::Look(look) = effect {
        let detail = engine.look(&look, &mut || true).expect("it runs again");
        effect = app.update(Action::Looked { ticket: look.ticket, detail: Ok(Box::new(detail)) });
    }
    let mut terminal = Terminal::new(TestBackend::new(width, height)).expect("a screen");
    bencher.bench_local(move || terminal.draw(|frame| draw(&app, frame)).map(|_| ()).expect("drawn"));
}
