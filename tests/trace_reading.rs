//! CSV traces: what is read, what is refused, and what the refusal says.

use flate2::Compression;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use rlsim::error::Error;
use rlsim::time::SimDuration;
use rlsim::traffic::{
    BadRows, Column, InputSummary, Order, Source, SourceRows, TimeFormat, TraceFile, TraceSource, TraceSpec,
};
use std::collections::HashSet;
use std::io::{Cursor, Write};
use std::path::{Path, PathBuf};

/// A row as it was read: time, cost, and the values of the key and the attributes.
type Row = (i64, u64, Vec<Vec<u8>>);

const SECOND: i64 = 1_000_000_000;

fn name(name: &str) -> Column {
    Column::Name(name.to_owned())
}

/// `timestamp,key,cost` as the project's own traces have them.
fn spec() -> TraceSpec {
    TraceSpec {
        file: TraceFile::Stdin { head: None },
        display: "x.csv".to_owned(),
        time: Some(name("timestamp")),
        time_format: TimeFormat::Auto,
        key: Some(name("key")),
        cost: vec![name("cost")],
        attributes: Vec::new(),
        header: true,
        order: Order::Strict,
        bad_rows: BadRows::Error,
    }
}

fn drain(mut source: TraceSource, attributes: usize, max: usize) -> Result<(Vec<Row>, InputSummary), Error> {
    let mut rows = SourceRows::new(1 + attributes);
    let mut all: Vec<Row> = Vec::new();
    loop {
        rows.clear();
        source.fill(&mut rows, max)?;
        assert!(rows.at.len() <= max);
        assert!(rows.cost.len() == rows.at.len() && rows.ids.iter().all(|ids| ids.len() == rows.at.len()));
        if rows.at.is_empty() {
            break;
        }
        for row in 0..rows.at.len() {
            let value = |(attribute, ids): (usize, &Vec<u32>)| source.keys(attribute).name(ids[row]).to_vec();
            all.push((rows.at[row].nanos(), rows.cost[row], rows.ids.iter().enumerate().map(value).collect()));
        }
    }
    // Numbers are given by first appearance in what goes out.
    for attribute in 0..=attributes {
        let mut seen = HashSet::new();
        let new = all.iter().map(|(_, _, values)| &values[attribute]).filter(|value| seen.insert(*value));
        let keys = source.keys(attribute);
        let numbered: Vec<&[u8]> = (0..keys.len()).map(|id| keys.name(id as u32)).collect();
        assert_eq!(new.map(Vec::as_slice).collect::<Vec<_>>(), numbered);
    }
    let summary = source.input().expect("a trace has a summary");
    assert_eq!(summary.rows, all.len() as u64);
    Ok((all, summary))
}

fn read_blocks(text: &[u8], spec: &TraceSpec, block: usize, max: usize) -> Result<(Vec<Row>, InputSummary), Error> {
    let names: Vec<String> = spec.attributes.iter().map(|(name, _)| name.clone()).collect();
    let source = TraceSource::from_reader(Box::new(Cursor::new(text.to_vec())), spec, &names, block)?;
    drain(source, names.len(), max)
}

fn read(text: impl AsRef<[u8]>, spec: &TraceSpec) -> Result<(Vec<Row>, InputSummary), Error> {
    read_blocks(text.as_ref(), spec, 1 << 20, 4096)
}

/// What an unreadable text says.
fn refusal(text: impl AsRef<[u8]>, spec: &TraceSpec) -> String {
    let error = read(text, spec).expect_err("it should be refused");
    assert_eq!(error.exit_code(), 1);
    error.to_string()
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::fast());
    packer.write_all(bytes).expect("writing to memory");
    packer.finish().expect("writing to memory")
}

fn data(file: &str) -> PathBuf {
    let folder = if file.starts_with("hostile") { "tests/data" } else { "scenarios/data" };
    Path::new(env!("CARGO_MANIFEST_DIR")).join(folder).join(file)
}

fn open(file: &str, spec: &TraceSpec) -> Result<(Vec<Row>, InputSummary), Error> {
    let spec = TraceSpec { file: TraceFile::Path(data(file)), display: file.to_owned(), ..spec.clone() };
    drain(TraceSource::open(&spec, &[])?, 0, 4096)
}

fn row(time: &str, key: impl AsRef<[u8]>, cost: u64) -> Row {
    let (sign, digits) = time.strip_prefix('-').map_or((1, time), |digits| (-1, digits));
    let (whole, part) = digits.split_once('.').unwrap_or((digits, ""));
    let nanos = whole.parse::<i64>().expect("seconds") * SECOND + format!("{part:0<9}").parse::<i64>().expect("nanos");
    (sign * nanos, cost, vec![key.as_ref().to_vec()])
}

/// Line of each record of the hostile file, and what a good reader makes of it.
fn hostile() -> Vec<(u64, Result<Row, &'static str>)> {
    vec![
        (2, Ok(row("1700000000", "alice", 1))),
        (3, Ok(row("1700000000.5", "a,b", 2))),
        (4, Ok(row("1700000001", "quote \"q\"", 1))),
        (5, Ok(row("1700000001", "", 1))),
        (6, Err("cost is empty")),
        (7, Ok(row("1700000002", "alice", 0))),
        (8, Err("cost `-1` is negative")),
        (9, Err("cost `1.5` is not a whole number")),
        (10, Err("time `notatime` is neither a number of seconds nor a date-time such as 2026-01-31T12:00:00Z")),
        (11, Err("3 fields expected, found 2")),
        (12, Err("3 fields expected, found 4")),
        (13, Ok(row("1700000002.999999999", "alice", 1))),
        (14, Ok(row("1700000004", "alice", 1))),
        (16, Ok(row("1700000004", " alice ", 1))),
        (17, Ok(row("1700000004", b"caf\xe9", 1))),
        (18, Err("cost `18446744073709551616` is more than 4611686018427387904, the most that is counted exactly")),
        (19, Ok(row("1700000006", "new\nline", 1))),
        (21, Ok(row("-1", "alice", 1))),
        (22, Ok(row("1700000007", "alice", 1))),
    ]
}

#[test]
fn the_hostile_file_skipping_bad_rows() {
    let spec = TraceSpec { order: Order::Sort, bad_rows: BadRows::Skip, ..spec() };
    let mut expected: Vec<Row> = hostile().into_iter().filter_map(|(_, row)| row.ok()).collect();
    expected.sort_by_key(|row| row.0);
    let bad: Vec<_> = hostile().into_iter().filter_map(|(line, row)| Some((line, row.err()?.to_owned()))).collect();
    let check = |(rows, summary): (Vec<Row>, InputSummary)| {
        assert_eq!(rows, expected);
        assert_eq!((summary.bad, summary.late, summary.keyed_by.as_deref()), (7, 1, Some("key")));
        let found: Vec<_> = summary.first_bad.into_iter().map(|bad| (bad.line, bad.reason)).collect();
        assert_eq!(found, bad);
    };
    check(open("hostile_requests.csv", &spec).expect("bad rows are skipped"));
    let text = std::fs::read(data("hostile_requests.csv")).expect("it is there");
    for block in 1..60 {
        check(read_blocks(&text, &spec, block, 5).expect("bad rows are skipped"));
        check(read_blocks(&gzip(&text), &spec, block, 5).expect("bad rows are skipped"));
    }
}

#[test]
fn each_record_of_the_hostile_file_refusing_bad_rows() {
    let text = std::fs::read(data("hostile_requests.csv")).expect("it is there");
    let lines: Vec<&[u8]> = text.split_inclusive(|byte| *byte == b'\n').collect();
    for (line, expected) in hostile() {
        // The header, empty lines so that the number is the same, and the record's own line or two.
        let at = usize::try_from(line).expect("a short file") - 1;
        let record = lines[at..lines.len().min(at + 1 + usize::from(line == 19))].concat();
        let alone = [lines[0], &b"\r\n".repeat(at - 1), &record].concat();
        match expected {
            Ok(row) => assert_eq!(read(alone, &spec()).expect("a good row").0, [row]),
            Err(reason) => {
                let all = format!("x.csv:{line}: {reason}; bad-rows = \"skip\" leaves such rows out");
                assert_eq!(refusal(alone, &spec()), all);
            }
        }
    }
    let whole = open("hostile_requests.csv", &spec()).expect_err("it has bad rows").to_string();
    assert!(whole.starts_with("hostile_requests.csv:6: cost is empty;"), "{whole}");
}

#[test]
fn skipping_does_not_hide_disorder() {
    let spec = TraceSpec { bad_rows: BadRows::Skip, ..spec() };
    assert_eq!(
        open("hostile_requests.csv", &spec).expect_err("line 21 is a life-time late").to_string(),
        "hostile_requests.csv:21: time -1 is earlier than 1700000006, the time of the row before; \
         order = { window = \"20000d\" } lets rows be late by that much; \
         order = \"sort\" sorts the whole file in memory"
    );
}

#[test]
fn facts_of_the_azure_trace() {
    let cost = vec![name("ContextTokens"), name("GeneratedTokens")];
    let spec = TraceSpec { time: None, key: None, cost, ..spec() };
    let (rows, summary) = open("azure_llm_code_2023.csv", &spec).expect("a good file");
    assert_eq!((rows.len(), summary.bad, summary.late, summary.keyed_by), (8819, 0, 0, None));
    assert!(rows.iter().all(|row| row.2 == [b"all"]));
    assert_eq!(rows[0].0, 1_700_158_623_979_960_000);
    assert_eq!(rows[8818].0, 1_700_162_059_928_016_000);
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 18_305_870);
    assert_eq!(rows.iter().map(|row| row.1).max(), Some(7841));
}

#[test]
fn facts_of_the_nasa_trace() {
    let (rows, summary) = open("nasa_1995_aug_keyed.csv", &spec()).expect("a good file");
    assert_eq!((rows.len(), summary.bad, summary.late), (1841, 0, 0));
    assert_eq!(rows.iter().map(|row| &row.2).collect::<HashSet<_>>().len(), 185);
    assert_eq!((rows[0].0, rows[1840].0), (807_249_601 * SECOND, 807_253_944 * SECOND));
    assert_eq!(rows.iter().map(|row| row.1).sum::<u64>(), 29_779_939);
    assert_eq!(rows.iter().map(|row| row.1).max(), Some(835_394));
}

#[test]
fn files_that_cannot_be_read() {
    let missing = open("missing.csv", &spec()).expect_err("it is not there");
    assert_eq!(missing.exit_code(), 1);
    assert!(missing.to_string().starts_with("cannot read missing.csv: "), "{missing}");
    let directory = open("", &spec()).expect_err("a directory");
    assert!(matches!(directory, Error::Io { action: "read", .. }), "{directory}");
    assert_eq!(refusal("", &spec()), "x.csv: the file is empty: no header");
    assert_eq!(refusal("\u{feff}\r\n\n", &spec()), "x.csv: the file is empty: no header");
    assert_eq!(refusal(gzip(b""), &spec()), "x.csv: the file is empty: no header");
    let whole = gzip(&[&b"timestamp,key,cost\n"[..], &b"1,a,1\n".repeat(50)].concat());
    assert!(refusal(&whole[..whole.len() - 4], &spec()).starts_with("cannot read x.csv: the gzip data are damaged"));
    let foreign = "the file is UTF-16 text, not CSV; give it as CSV in UTF-8, plain or packed by gzip";
    assert_eq!(refusal(b"\xff\xfet\0,\0", &spec()), format!("x.csv: {foreign}"));
    assert_eq!(
        refusal(b"\x7fELF\x02\x01\x01\0\n", &spec()),
        "x.csv:1: the header holds zero bytes; this is not a CSV file"
    );
}

#[test]
fn headers_and_numbers() {
    let by_number = |header| TraceSpec {
        time: Some(Column::Number(2)),
        key: Some(Column::Number(1)),
        cost: vec![Column::Number(3)],
        header,
        ..spec()
    };
    let rows = vec![row("1", "a", 1), row("2", "b", 2)];
    let (found, summary) = read("a,1,1\nb,2,2", &by_number(false)).expect("no header");
    assert_eq!((&found, summary.keyed_by.as_deref()), (&rows, Some("column 1")));
    let (found, summary) = read("who,when,cost\na,1,1\nb,2,2", &by_number(true)).expect("a header");
    assert_eq!((&found, summary.keyed_by.as_deref()), (&rows, Some("who")));
    assert!(read("", &by_number(false)).expect("nothing to read").0.is_empty());
    assert!(read("who,when,cost", &by_number(true)).expect("no rows").0.is_empty());
    assert_eq!(
        refusal("who,when,cost\na,1,1", &by_number(false)),
        "x.csv:1: time `when` is neither a number of seconds nor a date-time such as 2026-01-31T12:00:00Z; \
         if this line names the columns: header = true; else bad-rows = \"skip\" leaves such rows out"
    );
    assert_eq!(
        refusal("\n\na,1", &by_number(false)),
        "x.csv:3: column 3 is asked for, but the first record has 2 fields"
    );
    assert_eq!(
        refusal("Timestamp,key,cost\n", &spec()),
        "x.csv:1: no column `timestamp` in the header, which has `Timestamp`, `key`, `cost`; did you mean `Timestamp`?"
    );
    assert_eq!(
        refusal("timestamp,\"key\n", &spec()),
        "x.csv:1: the quote that opens here is not closed before the end of the file"
    );
}

#[test]
fn a_trace_inside_the_program() {
    let file = TraceFile::Embedded(b"time,key,cost\n1,a,2\n");
    let source = TraceSource::open(&TraceSpec { file, time: None, ..spec() }, &[]).expect("a good text");
    let (rows, summary) = drain(source, 0, 10).expect("a good row");
    assert_eq!((rows, summary.timed_by.as_deref()), (vec![row("1", "a", 2)], Some("time")));
}

#[test]
fn further_attributes_have_their_own_numbers() {
    let attributes = vec![("ip".to_owned(), name("client ip")), ("tenant".to_owned(), name("tenant"))];
    let spec = TraceSpec { attributes, cost: Vec::new(), ..spec() };
    let text = "tenant,timestamp,key,client ip\nt1,2,a,::1\nt2,3,a,::2\nt1,1,b,::2\n";
    let values = |values: [&str; 3]| values.iter().map(|value| value.as_bytes().to_vec()).collect::<Vec<_>>();
    let mut expected = vec![
        (2 * SECOND, 1, values(["a", "::1", "t1"])),
        (3 * SECOND, 1, values(["a", "::2", "t2"])),
        (SECOND, 1, values(["b", "::2", "t1"])),
    ];
    let (rows, _) = read(&text[..text.len() - 12], &spec).expect("in order");
    assert_eq!(rows, expected[..2]);
    let (rows, _) = read(text, &TraceSpec { order: Order::Sort, ..spec.clone() }).expect("sorted");
    expected.rotate_right(1);
    assert_eq!(rows, expected);
}

#[test]
fn disorder_is_an_error_that_names_the_way_out() {
    let text = "timestamp,key,cost\n2026-01-01T00:00:10Z,a,1\n2026-01-01T00:00:12.5Z,a,1\n\n2026-01-01T00:00:09Z,a,1\n";
    let sort = "order = \"sort\" sorts the whole file in memory";
    assert_eq!(
        refusal(text, &spec()),
        format!(
            "x.csv:5: time 2026-01-01T00:00:09Z is earlier than 2026-01-01T00:00:12.5Z, the time of the row before; \
             order = {{ window = \"5s\" }} lets rows be late by that much; {sort}"
        )
    );
    let window = |window: &str| TraceSpec { order: Order::Window(window.parse().expect("a duration")), ..spec() };
    assert_eq!(
        refusal(text, &window("2s")),
        format!(
            "x.csv:5: time 2026-01-01T00:00:09Z is more than 2s earlier than 2026-01-01T00:00:12.5Z, the latest time \
             before; order = {{ window = \"5s\" }} lets rows be late by that much; {sort}"
        )
    );
    for order in [Order::Sort, Order::Window("5s".parse().expect("a duration"))] {
        let (rows, summary) = read(text, &TraceSpec { order, ..spec() }).expect("in order now");
        assert!(rows.is_sorted());
        assert_eq!((rows.len(), summary.late), (3, 1));
    }
    let millis = TraceSpec { time_format: TimeFormat::Millis, ..spec() };
    let error = refusal("timestamp,key,cost\n1500,a,1\n1499.5,a,1\n", &millis);
    assert!(error.starts_with("x.csv:3: time 1499.5 is earlier than 1500, "), "{error}");
}

#[test]
fn bad_rows_are_counted_and_the_first_listed() {
    let text = format!("timestamp,key,cost\n1,a,1\n{}2,b,1\n3,\"c,1\n4,d,1\n", "x,a,1\n".repeat(30));
    let (rows, summary) = read(&text, &TraceSpec { bad_rows: BadRows::Skip, ..spec() }).expect("skipped");
    assert_eq!(rows, [row("1", "a", 1), row("2", "b", 1)]);
    assert_eq!((summary.bad, summary.first_bad.len(), summary.first_bad[19].line), (31, 20, 22));
    let text = text.replace("x,a,1\n", "");
    assert_eq!(
        refusal(&text, &spec()),
        "x.csv:4: the quote that opens here is not closed before the end of the file; \
         bad-rows = \"skip\" leaves such rows out"
    );
}

#[test]
fn costs_are_added_up_to_a_bound() {
    let spec = TraceSpec { cost: vec![name("in"), name("out")], ..spec() };
    let header = "timestamp,key,in,out\n1,a,";
    assert_eq!(read(format!("{header}3,4"), &spec).expect("two costs").0, [row("1", "a", 7)]);
    assert!(refusal(format!("{header}3,x"), &spec).starts_with("x.csv:2: cost (out) `x` is not a whole number"));
    let error = refusal(format!("{header}4611686018427387904,1"), &spec);
    assert!(error.starts_with("x.csv:2: the costs add up to more than 4611686018427387904"), "{error}");
}

#[test]
fn a_pattern_that_is_none_is_refused_at_once() {
    let spec = TraceSpec { time_format: TimeFormat::Pattern("%Y-%!".to_owned()), ..spec() };
    let error = refusal("timestamp,key,cost\n", &spec);
    assert!(error.starts_with("x.csv: time-format: `%Y-%!` is not a strptime pattern: "), "{error}");
}

/// Rows with keys of any bytes, those that matter to CSV above all, and times that never decrease.
fn rows() -> impl Strategy<Value = Vec<(u32, Vec<u8>, u64)>> {
    let text = prop::sample::select(vec![
        "a",
        "b",
        ",",
        "\"",
        "\"\"",
        "\n",
        "\r",
        "\r\n",
        " ",
        "\u{e9}",
        "\u{feff}",
        "\u{1f600}",
    ]);
    let piece =
        prop_oneof![4 => text.prop_map(|text| text.as_bytes().to_vec()), 1 => any::<u8>().prop_map(|byte| vec![byte])];
    let key = prop::collection::vec(piece, 0..12).prop_map(|pieces| pieces.concat());
    prop::collection::vec((0_u32..3_000_000, key, 0_u64..1_000_000), 0..60)
}

fn written(rows: &[Row], style: csv::QuoteStyle, crlf: bool) -> Vec<u8> {
    let terminator = if crlf { csv::Terminator::CRLF } else { csv::Terminator::Any(b'\n') };
    let mut writer = csv::WriterBuilder::new().quote_style(style).terminator(terminator).from_writer(Vec::new());
    writer.write_record(["timestamp", "key", "cost"]).expect("writing to memory");
    for (at, cost, values) in rows {
        let time = format!("{}.{:09}", at / SECOND, at % SECOND);
        writer.write_record([time.as_bytes(), &values[0], cost.to_string().as_bytes()]).expect("writing to memory");
    }
    writer.into_inner().expect("writing to memory")
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn what_was_written_is_read(rows in rows(), block in 1_usize..300, max in 1_usize..100, crlf: bool, packed: bool) {
        let mut at = 0;
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|(gap, key, cost)| {
                at += i64::from(gap);
                (at, cost, vec![key])
            })
            .collect();
        for style in [csv::QuoteStyle::Necessary, csv::QuoteStyle::Always] {
            let text = written(&rows, style, crlf);
            let text = if packed { gzip(&text) } else { text };
            let (found, summary) = read_blocks(&text, &spec(), block, max).expect("good rows");
            prop_assert_eq!(&found, &rows);
            prop_assert_eq!((summary.bad, summary.late), (0, 0));
        }
    }

    #[test]
    fn a_window_that_suffices_sorts(rows in rows(), late in 0_i64..20_000_000, block in 1_usize..300, max in 1_usize..100) {
        // In order on the whole, each row moved by up to `late`; instants collide on purpose.
        let mut at = 0;
        let rows: Vec<Row> = rows
            .into_iter()
            .map(|(gap, key, cost)| {
                at += i64::from(gap);
                let moved = (at - i64::from(gap) * 7919 % (late + 1)).max(0);
                (moved / 500_000 * 500_000, cost, vec![key])
            })
            .collect();
        let text = written(&rows, csv::QuoteStyle::Necessary, false);
        let mut sorted = rows.clone();
        sorted.sort_by_key(|row| row.0);
        let mut latest = 0;
        let mut window = 0;
        for row in &rows {
            latest = latest.max(row.0);
            window = window.max(latest - row.0);
        }
        let with = |order| read_blocks(&text, &TraceSpec { order, ..spec() }, block, max);
        let nanos = |nanos: i64| SimDuration::from_nanos(nanos.unsigned_abs());
        let (by_sort, summary) = with(Order::Sort).expect("sorted");
        prop_assert_eq!(&by_sort, &sorted);
        prop_assert_eq!(summary.late > 0, window > 0);
        prop_assert_eq!(with(Order::Window(nanos(window))).expect("within the window").0, sorted);
        if window > 0 {
            prop_assert!(with(Order::Window(nanos(window - 1))).is_err());
            prop_assert!(with(Order::Strict).is_err());
        }
    }
}

/// More rows than are held before the first go out.
#[test]
fn a_window_lets_rows_out_as_it_moves() {
    let mut text = b"timestamp,key,cost\n".to_vec();
    let mut expected = Vec::new();
    for i in 0..20_000_i64 {
        // Every tenth row is three places late.
        let at = if i % 10 == 9 { i - 3 } else { i };
        writeln!(text, "{at},k{},1", i % 977).expect("writing to memory");
        expected.push((at * SECOND, 1, vec![format!("k{}", i % 977).into_bytes()]));
    }
    expected.sort_by_key(|row| row.0);
    let spec = TraceSpec { order: Order::Window(SimDuration::from_secs(5)), ..spec() };
    let (rows, summary) = read_blocks(&text, &spec, 1000, 333).expect("within the window");
    assert_eq!(rows, expected);
    assert_eq!(summary.late, 2_000);
}
