//! The CSV reader: decode and number the keys of five million rows, beside a bare pass of the `csv`
//! crate over the same file that decodes nothing.
//!
//! `cargo bench --bench reader`. The files are made once, below the target directory. Compare within one run:
//! the machine's own speed drifts.

use divan::counter::ItemsCount;
use rand::Rng;
use rand_distr::{Distribution, Zipf};
use rlsim::rng::stream;
use rlsim::time::SimDuration;
use rlsim::traffic::{
    BadRows, Column, KeyTable, Order, Source, SourceRows, TimeFormat, TraceFile, TraceSource, TraceSpec,
};
use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::path::PathBuf;

const ROWS: u64 = 5_000_000;
const KEYS: u64 = 100_000;

fn main() {
    divan::main();
}

/// How the rows of a file are written.
#[derive(Clone, Copy, Debug)]
enum Style {
    /// `2026-01-01T00:00:00.000187Z,114.54.117.206,7`
    Iso,
    /// `1767225600.000187,114.54.117.206,7`
    Decimal,
    /// `2026-01-01T00:00:00.000187Z,"114.54.117.206",7`
    Quoted,
}

/// A file of [`ROWS`] rows, the keys Zipf.
fn trace(style: Style) -> PathBuf {
    let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let path = directory.join(format!("reader-{style:?}.csv"));
    if path.exists() {
        return path;
    }
    fs::create_dir_all(&directory).expect("the target directory is ours");
    let part = path.with_extension("part");
    let mut file = BufWriter::new(File::create(&part).expect("the target directory is ours"));
    let mut rng = stream(1, "reader");
    let zipf = Zipf::new(KEYS as f64, 1.0).expect("valid parameters");
    let mut micros = 0;
    writeln!(file, "timestamp,key,cost").expect("room on the disk");
    for _ in 0..ROWS {
        micros += rng.next_u64() % 400;
        let rank = zipf.sample(&mut rng) as u64;
        // Scattered, so that busy keys do not look alike.
        let k = rank.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 20;
        let key = format!("{}.{}.{}.{}", 100 + (k & 63), k >> 16 & 255, k >> 8 & 255, k & 255);
        let (second, micro, cost) = (micros / 1_000_000, micros % 1_000_000, 1 + rng.next_u64() % 9);
        let stamp = format!("2026-01-01T{:02}:{:02}:{:02}.{micro:06}Z", second / 3600, second / 60 % 60, second % 60);
        match style {
            Style::Iso => writeln!(file, "{stamp},{key},{cost}"),
            Style::Decimal => writeln!(file, "{}.{micro:06},{key},{cost}", 1_767_225_600 + second),
            Style::Quoted => writeln!(file, "{stamp},\"{key}\",{cost}"),
        }
        .expect("room on the disk");
    }
    file.flush().expect("room on the disk");
    fs::rename(&part, &path).expect("the target directory is ours");
    path
}

fn spec(file: PathBuf, order: Order) -> TraceSpec {
    TraceSpec {
        display: file.display().to_string(),
        file: TraceFile::Path(file),
        time: None,
        time_format: TimeFormat::Auto,
        key: Some(Column::Name("key".to_owned())),
        cost: vec![Column::Name("cost".to_owned())],
        attributes: Vec::new(),
        header: true,
        order,
        bad_rows: BadRows::Error,
    }
}

fn read(spec: &TraceSpec) -> u64 {
    let mut source = TraceSource::open(spec, &[]).expect("a good file");
    let mut rows = SourceRows::new(1);
    let mut total = 0;
    loop {
        rows.clear();
        source.fill(&mut rows, 4096).expect("good rows");
        if rows.at.is_empty() {
            assert_eq!(source.input().expect("a trace").rows, ROWS);
            return total;
        }
        total += rows.cost.iter().sum::<u64>();
    }
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn csv_crate_byte_record(bencher: divan::Bencher) {
    let path = trace(Style::Iso);
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

#[divan::bench(sample_count = 5, sample_size = 1, args = [Style::Iso, Style::Decimal, Style::Quoted])]
fn reader(bencher: divan::Bencher, style: Style) {
    let spec = spec(trace(style), Order::Strict);
    bencher.counter(ItemsCount::new(ROWS)).bench(|| read(&spec));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reader_without_key(bencher: divan::Bencher) {
    let spec = TraceSpec { key: None, ..spec(trace(Style::Iso), Order::Strict) };
    bencher.counter(ItemsCount::new(ROWS)).bench(|| read(&spec));
}

#[divan::bench(sample_count = 5, sample_size = 1)]
fn reader_with_window(bencher: divan::Bencher) {
    let spec = spec(trace(Style::Iso), Order::Window(SimDuration::from_secs(1)));
    bencher.counter(ItemsCount::new(ROWS)).bench(|| read(&spec));
}

/// Keys alone, as they come: one at a time, and in batches.
#[divan::bench(sample_count = 5, sample_size = 1, args = [false, true])]
fn key_table(bencher: divan::Bencher, batches: bool) {
    let text = fs::read(trace(Style::Iso)).expect("a good file");
    let lines = text.split(|byte| *byte == b'\n').skip(1);
    let keys: Vec<&[u8]> = lines.filter_map(|line| line.split(|byte| *byte == b',').nth(1)).collect();
    bencher.counter(ItemsCount::new(ROWS)).bench(|| {
        let mut table = KeyTable::new();
        let mut ids = Vec::new();
        for keys in keys.chunks(4096) {
            ids.clear();
            if batches {
                table.intern_all(keys, &mut ids);
            } else {
                ids.extend(keys.iter().map(|key| table.intern(key)));
            }
            divan::black_box(&ids);
        }
        table.len()
    });
}
