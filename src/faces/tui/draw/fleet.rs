//! Replicas, the store, and what goes wrong with them.

use super::Canvas;
use crate::faces::format::{Clock, count};
use crate::faces::tui::action::Run;
use crate::report::{Counter, FaultDetail, FaultKind, FleetDetail, ReplicaDetail};
use crate::time::SimTime;
use ratatui::style::{Modifier, Style};

/// Where something is wrong, on the time axis.
pub const WRONG: &str = "━";
/// Where something changes.
const CHANGE: &str = "▼";

/// All faults that the lanes meet on the screen, and whether each strikes the chosen lane.
fn on_screen<'a>(canvas: &Canvas<'a>) -> Vec<(&'a FaultDetail, bool)> {
    let Some(detail) = canvas.app.covering() else { return Vec::new() };
    let mut all: Vec<(&FaultDetail, bool)> = Vec::new();
    for (lane, fleet) in detail.lanes.iter().enumerate().filter_map(|(i, lane)| Some((i, lane.fleet.as_ref()?))) {
        let chosen = lane == canvas.app.lane;
        for fault in &fleet.faults {
            match all.iter_mut().find(|(known, _)| *known == fault) {
                Some((_, strikes)) => *strikes |= chosen,
                None => all.push((fault, chosen)),
            }
        }
    }
    // Those of the chosen lane, and what is short, above the others.
    all.sort_by_key(|(fault, chosen)| (*chosen, fault.kind.is_instant()));
    all
}

/// The columns of the screen that a fault takes.
fn columns(canvas: &Canvas, fault: &FaultDetail) -> Option<(u16, u16)> {
    let (strip, view) = (canvas.layout.strip, canvas.app.view);
    let (from, last) = (fault.from.nanos(), fault.until.nanos().saturating_sub(1).max(fault.from.nanos()));
    if last < view.from || from >= view.until {
        return None;
    }
    let x = |at: i64| strip.x + view.column(at, usize::from(strip.width)) as u16;
    Some((x(from), x(last)))
}

/// The row of faults.
pub fn faults(canvas: &mut Canvas, y: u16) {
    let layout = canvas.layout;
    canvas.put(1, y, "faults", layout.names.width - 1, canvas.theme.dim());
    canvas.cursor(y);
    for (fault, strikes) in on_screen(canvas) {
        let Some((from, last)) = columns(canvas, fault) else { continue };
        let style = if strikes { canvas.theme.warn() } else { canvas.theme.dim() };
        if fault.kind.is_instant() {
            canvas.put(from, y, CHANGE, 1, style);
            // Its name, where nothing else is in the way.
            let end = layout.strip.x + layout.strip.width;
            let room = (from + 1..end.min(from + 2 + super::width(&fault.text) as u16)).collect::<Vec<_>>();
            let free = room.iter().all(|x| canvas.buf.cell((*x, y)).is_some_and(|cell| cell.symbol() == " "));
            if free && room.len() > super::width(&fault.text) {
                canvas.put(from + 1, y, &fault.text, room.len() as u16, style);
            }
            continue;
        }
        for x in from..=last {
            canvas.put(x, y, WRONG, 1, style);
        }
        let wide = super::width(&fault.text) as u16;
        if last - from > wide + 1 {
            let at = from + (last - from - wide) / 2;
            canvas.put(at, y, &format!(" {} ", fault.text), wide + 2, style);
        }
    }
    mark_cursor(canvas, y);
}

/// The same on the axis itself, where it has nothing to say.
pub fn on_axis(canvas: &mut Canvas, y: u16) {
    for (fault, strikes) in on_screen(canvas) {
        let Some((from, last)) = columns(canvas, fault) else { continue };
        let style = if strikes { canvas.theme.warn() } else { canvas.theme.dim() };
        let sign = if fault.kind.is_instant() { CHANGE } else { WRONG };
        for x in from..=last {
            if canvas.buf.cell((x, y)).is_some_and(|cell| cell.symbol() == " ") {
                canvas.put(x, y, sign, 1, style);
            }
        }
    }
}

fn mark_cursor(canvas: &mut Canvas, y: u16) {
    let x = canvas.cursor_x();
    let marked = canvas.theme.marked(Style::new());
    if let Some(cell) = canvas.buf.cell_mut((x, y)).filter(|cell| cell.symbol() != "│") {
        cell.set_style(marked);
    }
}

/// What is decided without the store, marked in a lane's strip.
pub fn mark_without(canvas: &mut Canvas, lane: usize, y: u16) {
    let strip = canvas.layout.strip;
    let without = canvas.app.without(lane, usize::from(strip.width));
    for (x, _) in (strip.x..).zip(&without).filter(|(_, count)| **count > 0) {
        if let Some(cell) = canvas.buf.cell_mut((x, y)) {
            cell.set_style(Style::new().add_modifier(Modifier::UNDERLINED));
        }
    }
}

/// The chosen lane so far, its store and its replicas.
pub fn paint(canvas: &mut Canvas, run: &Run, y: u16) {
    let app = canvas.app;
    let width = canvas.layout.area.width.saturating_sub(2);
    let Some(now) = app.figures(app.lane) else {
        canvas.put(1, y, "simulating what is on the screen...", width, canvas.theme.dim());
        return;
    };
    let name = &run.report.lanes[app.lane].name;
    let number = |n: u64| count(u128::from(n));
    let (admitted, denied) = (number(now.counts.allowed + now.counts.delayed), number(now.counts.denied));
    let mut forms = vec![
        format!("{name}, so far: {admitted} admitted, {denied} denied"),
        format!("so far: {admitted} admitted, {denied} denied"),
    ];
    if let Some(requests) = now.requests.filter(|_| app.is_closed_loop()) {
        let attempts = number(now.counts.total());
        let (first, good, lost) = (number(requests.first), number(requests.good), number(requests.gave_up));
        forms.insert(
            0,
            format!(
                "{name}, so far: {attempts} attempts for {first} requests, {admitted} admitted, {good} answered, {lost} gave up"
            ),
        );
        forms.insert(1, format!("{name}, so far: {attempts} attempts for {first} requests, {good} answered"));
    }
    if let Some(fleet) = app.fleet(app.lane).filter(|_| app.fleet_figures(app.lane).is_some()) {
        let without: u64 =
            app.fleet_figures(app.lane).into_iter().flatten().map(|replica| replica.decided.without).sum();
        if fleet.store.is_some() && without > 0 {
            let more: Vec<String> =
                forms.iter().map(|form| format!("{form}, {} without the store", number(without))).collect();
            forms.splice(0..0, more);
        }
    }
    // The longest first, so that the first that fits tells most.
    forms.sort_by_key(|form| std::cmp::Reverse(super::width(form)));
    canvas.put(1, y, super::fitting(&forms, width), width, canvas.theme.strong());
    store(canvas, run, y + 1);
    replicas(canvas, y + 2);
}

/// What is wrong with the store at an instant, the worst first.
fn wrong(fleet: &FleetDetail, at: SimTime) -> Option<&FaultDetail> {
    let store =
        |fault: &&FaultDetail| matches!(fault.kind, FaultKind::StoreDown | FaultKind::StoreSlow | FaultKind::StoreLag);
    fleet.faults_at(at).filter(store).min_by_key(|fault| fault.kind)
}

fn store(canvas: &mut Canvas, run: &Run, y: u16) {
    let app = canvas.app;
    let width = canvas.layout.area.width.saturating_sub(2);
    let Some(fleet) = app.fleet(app.lane) else {
        let text = if app.is_looked_at() { "one process keeps the limit" } else { "…" };
        canvas.put(1, y, text, width, canvas.theme.dim());
        return;
    };
    let Some(store) = &fleet.store else {
        let text = "no store: each replica keeps the limit for itself";
        canvas.put(1, y, text, width, canvas.theme.dim());
        return;
    };
    let start = run.report.start.nanos();
    let clock = Clock::for_span(&run.report, app.view.from - start, app.view.until - start);
    let wrong = wrong(fleet, app.cursor.at);
    let state = match wrong {
        None => "store up".to_owned(),
        Some(fault) if fault.kind == FaultKind::StoreLag => format!("store {}", fault.text),
        Some(fault) => fault.text.clone(),
    };
    let until = wrong.map(|fault| format!(" until {}", clock.time(fault.until))).unwrap_or_default();
    let operations = count(u128::from(app.operations(store)));
    let level = app.figures(app.lane).and_then(|now| now.level).filter(|_| fleet.counter == Counter::Store);
    let limit = app.covering().map_or(0, |detail| detail.lanes[app.lane].level_limit);
    let counts =
        level.map_or_else(String::new, |level| format!(", counts {} of {}", units(level), count(u128::from(limit))));
    let style = if wrong.is_some() { canvas.theme.warn() } else { Style::new() };
    let after = canvas.put(1, y, &format!("{state}{until}"), width, style);
    let forms =
        [format!("{counts}, {operations} operations so far"), format!("{counts}, {operations} operations"), counts];
    let room = (width + 1).saturating_sub(after);
    canvas.put(after, y, super::fitting(&forms, room), room, Style::new());
}

/// Whole units, or with one decimal, cut.
fn units(level: f64) -> String {
    let whole = count(level.floor() as u128);
    if level.fract() == 0.0 { whole } else { format!("{whole}.{}", (level.fract() * 10.0).floor()) }
}

/// A replica's state at an instant.
fn state(fleet: &FleetDetail, number: usize, replica: &ReplicaDetail, at: SimTime) -> (&'static str, bool) {
    let struck = |fault: &FaultDetail| fault.replicas.contains(&(number as u32));
    if !replica.running.iter().any(|(from, until)| *from <= at && at < *until) {
        return ("stopped", true);
    }
    let cut = fleet
        .faults_at(at)
        .any(|fault| fault.kind == FaultKind::CutOff && (struck(fault) || fault.replicas.is_empty()));
    if cut { ("cut off", true) } else { ("up", false) }
}

/// A cell for each replica, in a grid; its last place tells how many are left out.
fn replicas(canvas: &mut Canvas, y: u16) {
    let (app, layout) = (canvas.app, canvas.layout);
    let (Some(fleet), Some(figures)) = (app.fleet(app.lane), app.fleet_figures(app.lane)) else { return };
    let places = usize::from(layout.others) * usize::from(layout.others_across);
    if places == 0 {
        return;
    }
    let shown = if figures.len() > places { places - 1 } else { figures.len() };
    let cell = layout.area.width / layout.others_across;
    let place = |i: usize| (i as u16 / layout.others * cell, y + i as u16 % layout.others);
    let lease = fleet.store.is_some() && fleet.replicas.iter().all(|replica| replica.level_limit.is_none());
    let words = |i: usize, form: usize| {
        let (now, limit) = (&figures[i], fleet.replicas[i].level_limit);
        let (admitted, denied) = (now.counts.allowed + now.counts.delayed, now.counts.denied);
        let (admitted, denied) = (count(u128::from(admitted)), count(u128::from(denied)));
        let level = match (now.level, limit) {
            (Some(level), Some(limit)) if form == 0 => {
                format!(", counts {} of {}", units(level), count(u128::from(limit)))
            }
            (Some(level), Some(limit)) => format!(", {} of {}", units(level), count(u128::from(limit))),
            (Some(level), None) if lease => format!(", {} in hand", units(level)),
            _ => String::new(),
        };
        match form {
            0 => format!("{admitted} admitted, {denied} denied{level}"),
            1 => format!("{admitted} adm., {denied} den.{level}"),
            _ => format!("{admitted} adm., {denied} den."),
        }
    };
    // `r0 stopped `, and a blank behind it.
    let name = 3 + figures.len().saturating_sub(1).to_string().len() as u16 + 8;
    let fits =
        |form: &usize| (0..shown).all(|i| super::width(&words(i, *form)) < usize::from(cell.saturating_sub(name)));
    let form = (0..3).find(fits).unwrap_or(2);
    for i in 0..shown {
        let (x, y) = place(i);
        let known = app.is_within();
        let (word, off) = state(fleet, i, &fleet.replicas[i], app.cursor.at);
        let (word, off) = if known { (word, off) } else { ("…", false) };
        canvas.put(x + 1, y, &format!("r{i}"), name, canvas.theme.strong());
        let style = if off { canvas.theme.warn() } else { canvas.theme.admitted() };
        canvas.put(x + name - 8, y, word, 8, style);
        canvas.put(x + name, y, &words(i, form), cell - name, Style::new());
    }
    if shown < figures.len() {
        let (x, y) = place(places - 1);
        let text = format!("and {} more replicas", count((figures.len() - shown) as u128));
        canvas.put(x + 1, y, &text, cell, canvas.theme.dim());
    }
}
