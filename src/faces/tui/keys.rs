//! Which key does what.

use super::action::Action;
use super::app::{App, Mode};
use crate::report::Direction::{Backward, Forward};
use ratatui::crossterm::event::{KeyCode, KeyEvent, KeyEventKind, KeyModifiers};

/// All keys, for the help.
pub(super) const HELP: &[(&str, &str)] = &[
    ("space", "play, pause"),
    ("< >", "slower, faster; x1 crosses the screen in 20 s"),
    ("left right", "one arrival back or on; one column where there are too many"),
    ("[ ]", "a tenth of the screen back or on (also with Shift or Ctrl)"),
    ("Home End", "ends of the screen, then of the run"),
    ("n N", "next, previous arrival that splits the lanes anew"),
    ("d D", "next, previous denial of the chosen lane"),
    ("+ -", "zoom in, out around the cursor"),
    ("PgDn PgUp", "half a screen on, back"),
    ("f", "where the action is"),
    ("0", "the whole run"),
    ("up down", "choose a lane"),
    ("Enter", "charts of the chosen lane, on or off"),
    ("k", "choose one key; a shows all keys again"),
    ("r", "read the scenario again and run it"),
    ("? h", "this help"),
    ("q Esc Ctrl-C", "quit; Esc first closes what is open"),
];

/// The keys worth knowing at present, the most important first.
pub(super) fn hints(app: &App) -> Vec<(&'static str, &'static str)> {
    if app.run.is_none() {
        return Vec::new();
    }
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
    if app.view == app.whole {
        hints.retain(|(key, _)| *key != "0");
    }
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
        KeyCode::Char('q') | KeyCode::Esc => Action::Quit,
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
