//! Which key does what.

use super::action::Action;
use super::app::{App, Mode};
use super::overlay::Overlay;
use crate::report::Direction::{Backward, Forward};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// All keys, for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("space", "play, pause"),
    ("< >", "slower, faster; at x1 the screen takes 20 s"),
    ("left right", "one arrival back or on; one column where there are too many"),
    ("[ ]", "a tenth of the screen back or on (also with Shift or Ctrl)"),
    ("Home End", "ends of the screen, then of the run"),
    ("n N", "next, previous arrival that splits the lanes anew"),
    ("d D", "next, previous denial of the chosen lane"),
    ("+ -", "zoom in, out around the cursor"),
    ("PgDn PgUp", "half a screen on, back"),
    ("f", "where the action is, from its beginning"),
    ("0", "the whole run"),
    ("up down", "choose a lane"),
    ("Enter", "tall charts of the chosen lane, or a line for every lane"),
    ("k", "choose one key; a shows all keys again"),
    ("r", "read the scenario again and run it"),
    ("? h", "this help"),
    ("Esc", "close what is open"),
    ("q Ctrl-C", "quit; over a text, q closes that first"),
];

/// A key and what it does.
type Hint = (&'static str, &'static str);

/// The keys worth knowing at present, the most important first, and those that are always shown.
pub(super) fn hints(app: &App) -> (Vec<Hint>, Vec<Hint>) {
    match &app.overlay {
        Overlay::None => (moves(app), vec![("?", "help"), ("q", "quit")]),
        Overlay::Help { .. } => (vec![("↑↓", "scroll")], vec![("Esc", "close")]),
        Overlay::Failure { .. } => (vec![("↑↓", "scroll"), ("r", "try again")], vec![("Esc", "close")]),
        Overlay::Picker(_) => {
            (vec![("letters", "filter"), ("↑↓", "choose"), ("Enter", "show")], vec![("Esc", "close")])
        }
    }
}

/// The keys that move about in the run.
fn moves(app: &App) -> Vec<Hint> {
    let Some(run) = &app.run else { return Vec::new() };
    let play = if app.player.playing { "pause" } else { "play" };
    let mut hints = vec![
        ("space", play),
        ("←→", "step"),
        ("+-", "zoom"),
        ("↑↓", "lane"),
        ("n", "differ"),
        ("d", "denial"),
        ("k", "key"),
        ("0", "whole run"),
        ("f", "action"),
        ("<>", "speed"),
        ("Enter", "charts"),
        ("r", "reload"),
    ];
    let useless = |key: &str| match key {
        "0" => app.view == app.whole,
        "k" => run.keys.len() < 2,
        "n" | "↑↓" => run.report.lanes.len() < 2,
        _ => false,
    };
    hints.retain(|(key, _)| !useless(key));
    hints
}

/// What a key asks for; nothing if it means nothing at present.
#[must_use]
pub fn action(mode: Mode, key: KeyEvent) -> Option<Action> {
    if key.kind == KeyEventKind::Release {
        return None;
    }
    let control = key.modifiers.contains(KeyModifiers::CONTROL);
    if control && matches!(key.code, KeyCode::Char('c' | 'C')) {
        return Some(Action::Interrupt);
    }
    if matches!(key.code, KeyCode::Char(_)) && (control || key.modifiers.contains(KeyModifiers::ALT)) {
        return None;
    }
    match mode {
        Mode::Lanes => lanes(key.code, control || key.modifiers.contains(KeyModifiers::SHIFT)),
        Mode::Text => text(key.code),
        Mode::Picker => picker(key.code),
    }
}

fn lanes(code: KeyCode, far: bool) -> Option<Action> {
    Some(match code {
        KeyCode::Char(' ') => Action::Play,
        KeyCode::Char('<' | ',') => Action::Slower,
        KeyCode::Char('>' | '.') => Action::Faster,
        KeyCode::Left if far => Action::Stride(Backward),
        KeyCode::Right if far => Action::Stride(Forward),
        KeyCode::Left => Action::Step(Backward),
        KeyCode::Right => Action::Step(Forward),
        KeyCode::Char('[') => Action::Stride(Backward),
        KeyCode::Char(']') => Action::Stride(Forward),
        KeyCode::Home => Action::Home,
        KeyCode::End => Action::End,
        KeyCode::Char('n') => Action::Split(Forward),
        KeyCode::Char('N') => Action::Split(Backward),
        KeyCode::Char('d') => Action::Denial(Forward),
        KeyCode::Char('D') => Action::Denial(Backward),
        KeyCode::Char('+' | '=') => Action::Zoom { closer: true },
        KeyCode::Char('-' | '_') => Action::Zoom { closer: false },
        KeyCode::PageDown => Action::Pan(Forward),
        KeyCode::PageUp => Action::Pan(Backward),
        KeyCode::Char('f') => Action::Focus,
        KeyCode::Char('0') => Action::Whole,
        KeyCode::Down | KeyCode::Tab => Action::Lane(Forward),
        KeyCode::Up | KeyCode::BackTab => Action::Lane(Backward),
        KeyCode::Enter => Action::Charts,
        KeyCode::Char('k') => Action::Keys,
        KeyCode::Char('a') => Action::AllKeys,
        KeyCode::Char('r') => Action::Reload,
        KeyCode::Char('?' | 'h') | KeyCode::F(1) => Action::Help,
        KeyCode::Char('q') => Action::Quit,
        KeyCode::Esc => Action::Close,
        _ => return None,
    })
}

fn text(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Down => Action::Scroll(1),
        KeyCode::Up => Action::Scroll(-1),
        KeyCode::PageDown | KeyCode::Char(' ') => Action::Scroll(8),
        KeyCode::PageUp => Action::Scroll(-8),
        KeyCode::Char('r') => Action::Reload,
        KeyCode::Esc | KeyCode::Enter | KeyCode::Char('q' | '?' | 'h') | KeyCode::F(1) => Action::Close,
        _ => return None,
    })
}

fn picker(code: KeyCode) -> Option<Action> {
    Some(match code {
        KeyCode::Down | KeyCode::Tab => Action::Scroll(1),
        KeyCode::Up | KeyCode::BackTab => Action::Scroll(-1),
        KeyCode::PageDown => Action::Scroll(10),
        KeyCode::PageUp => Action::Scroll(-10),
        KeyCode::Enter => Action::Choose,
        KeyCode::Esc => Action::Close,
        KeyCode::Backspace => Action::Erase,
        KeyCode::Char(letter) => Action::Type(letter),
        _ => return None,
    })
}
