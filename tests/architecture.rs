//! The shape of the source: which module may import which, and words that have no place in it.

use std::fs;
use std::path::{Path, PathBuf};

/// Modules from the ground floor up, and what each may import of the others.
const LAYERS: [(&str, &[&str]); 13] = [
    ("time", &[]),
    ("rng", &[]),
    ("quota", &["time"]),
    ("error", &["time", "quota"]),
    ("limiter", &["time", "quota", "error"]),
    ("traffic", &["time", "rng", "quota", "error", "limiter"]),
    ("sim", &["time", "rng", "quota", "error", "limiter", "traffic"]),
    ("report", &["time", "quota"]),
    ("record", &["time", "rng", "quota", "error", "limiter", "traffic", "sim", "report"]),
    ("scenario", &["time", "rng", "quota", "error", "limiter", "traffic", "sim", "report"]),
    ("runner", &["time", "quota", "error", "limiter", "traffic", "sim", "report", "record", "scenario"]),
    ("faces", &["time", "report"]),
    (
        "commands",
        &[
            "time", "rng", "quota", "error", "limiter", "traffic", "sim", "report", "record", "scenario", "runner",
            "faces",
        ],
    ),
];

struct Source {
    /// Below `src/`.
    path: String,
    /// Its code: neither comments nor tests.
    lines: Vec<String>,
    length: usize,
}

impl Source {
    fn read(path: &Path, root: &Path) -> Self {
        let text = fs::read_to_string(path).expect("a source file is read");
        let code = text.split("#[cfg(test)]").next().unwrap_or_default();
        let path = path.strip_prefix(root).expect("found below it").display().to_string();
        let lines = code.lines().map(|line| line.split("//").next().unwrap_or_default().to_owned()).collect();
        Self { path, lines, length: text.lines().count() }
    }

    /// The top-level module it belongs to.
    fn module(&self) -> &str {
        self.path.split(['/', '.']).next().unwrap_or_default()
    }

    fn is_in(&self, place: &str) -> bool {
        self.path.starts_with(place)
    }

    /// Words that follow `crate::`, also those in braces.
    fn imports(&self) -> Vec<String> {
        let code = self.lines.join(" ");
        let mut found = Vec::new();
        for rest in code.split("crate::").skip(1) {
            match rest.strip_prefix('{') {
                Some(list) => found.extend(list.split('}').next().unwrap_or_default().split(',').map(first_word)),
                None => found.push(first_word(rest)),
            }
        }
        found
    }

    fn says(&self, word: &str) -> bool {
        self.lines.iter().any(|line| line.contains(word))
    }
}

fn first_word(text: &str) -> String {
    text.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
}

fn sources() -> Vec<Source> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut folders = vec![root.clone()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder of sources") {
            let path = entry.expect("an entry").path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                files.push(path);
            }
        }
    }
    files.sort();
    files.iter().map(|file| Source::read(file, &root)).collect()
}

#[test]
fn imports_point_down() {
    let sources = sources();
    for source in &sources {
        let module = source.module();
        if ["lib", "main"].contains(&module) {
            continue;
        }
        let (_, allowed) = LAYERS.iter().find(|(name, _)| *name == module).expect("every module has its layer");
        for import in source.imports() {
            let fine = import == module || allowed.contains(&import.as_str());
            assert!(fine, "src/{} imports crate::{import}", source.path);
        }
    }
    // What is checked is there to be found.
    let seen = |path: &str, import: &str| {
        sources.iter().any(|source| source.path == path && source.imports().iter().any(|found| found == import))
    };
    assert!(seen("runner/detail.rs", "record") && seen("limiter/gcra.rs", "time"));
}

/// The six algorithms; what they share lies in files of its own.
const ALGORITHMS: [&str; 6] =
    ["fixed_window", "sliding_log", "sliding_counter", "token_bucket", "leaky_bucket", "gcra"];

#[test]
fn algorithms_do_not_know_each_other() {
    let sources = sources();
    for algorithm in ALGORITHMS {
        let source = sources.iter().find(|source| source.path == format!("limiter/{algorithm}.rs"));
        let source = source.expect("every algorithm has a file");
        for other in ALGORITHMS.iter().filter(|other| **other != algorithm) {
            assert!(!source.says(&format!("{other}::")), "limiter/{algorithm}.rs knows {other}");
        }
    }
}

#[test]
fn words_keep_to_their_places() {
    // A word, and where it may be said.
    let places: [(&str, &[&str]); 21] = [
        ("ratatui", &["faces/tui/", "commands/tui/"]),
        ("crossterm", &["faces/tui/", "commands/tui/"]),
        ("plotters", &["faces/svg/"]),
        ("clap", &["commands/"]),
        ("println!", &["commands/"]),
        ("print!(", &["commands/"]),
        ("process::exit", &["commands/"]),
        ("time::Instant", &["commands/"]),
        ("Instant::now", &["commands/"]),
        ("SystemTime", &[]),
        ("std::env", &["commands/"]),
        ("std::io::stdout", &["commands/"]),
        (".unwrap()", &[]),
        ("todo!", &[]),
        ("unimplemented!", &[]),
        ("dbg!", &[]),
        ("StdRng", &[]),
        // Of what is written; what is read would lose its places.
        ("serde(flatten", &["report/"]),
        ("untagged", &[]),
        ("serde(tag", &[]),
        // Looked up by the key, never walked through.
        ("HashMap", &["traffic/merge.rs"]),
    ];
    for source in sources() {
        for (word, places) in places {
            let fine = !source.says(word) || places.iter().any(|place| source.is_in(place));
            assert!(fine, "src/{} says {word}", source.path);
        }
    }
}

#[test]
fn no_decision_rests_on_floating_point() {
    for source in sources() {
        // One client library reckons its send rate so, and is copied to the letter.
        let copied = source.path == "sim/client/pace.rs";
        if ["limiter", "time", "quota", "sim"].contains(&source.module()) && !copied {
            assert!(!source.says("f64") && !source.says("f32"), "src/{} computes in floating point", source.path);
        }
    }
}

#[test]
fn files_are_short_enough_to_be_read() {
    for source in sources() {
        assert!(source.length <= 500, "src/{} has {} lines", source.path, source.length);
        let vague = ["utils", "common", "types", "prelude", "helpers", "misc"];
        assert!(!vague.iter().any(|name| source.path.contains(name)), "src/{} says nothing by its name", source.path);
    }
}
