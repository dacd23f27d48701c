//! Whatever happens, in any order.

use super::View;
use crate::places::{BUSY, plan};
use proptest::prelude::*;
use ratatui::crossterm::event::KeyCode;
use rlsim::faces::tui::Action;
use std::time::Duration;

/// Every key that means something somewhere, and a few that do not.
fn any_key() -> impl Strategy<Value = KeyCode> {
    let letters = "<>,.[]nNdD+=-_f0kar?hq xyz1".chars().map(KeyCode::Char);
    let others = [
        KeyCode::Left,
        KeyCode::Right,
        KeyCode::Up,
        KeyCode::Down,
        KeyCode::Home,
        KeyCode::End,
        KeyCode::PageUp,
        KeyCode::PageDown,
        KeyCode::Enter,
        KeyCode::Esc,
        KeyCode::Tab,
        KeyCode::BackTab,
        KeyCode::Backspace,
        KeyCode::F(1),
        KeyCode::Insert,
    ];
    prop::sample::select(letters.chain(others).collect::<Vec<_>>())
}

#[derive(Clone, Debug)]
enum Happening {
    Key(KeyCode),
    Tick(u64),
    Resize(u16, u16),
    Reload(bool),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        12 => any_key().prop_map(Happening::Key),
        4 => (0_u64..2_000).prop_map(Happening::Tick),
        1 => (0_u16..140, 0_u16..50).prop_map(|(width, height)| Happening::Resize(width, height)),
        1 => any::<bool>().prop_map(Happening::Reload),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]

    #[test]
    fn whatever_happens_the_cursor_stays_on_the_screen_and_in_the_run(
        happenings in prop::collection::vec(happening(), 1..60),
        busy in any::<bool>(),
    ) {
        let text = if busy { BUSY } else { "limit = \"3/1m\"\n[[traffic]]\nburst = { requests = 5 }\n" };
        let mut view = View::new(plan(text), 80, 24);
        for happening in happenings {
            match happening {
                Happening::Key(code) => {
                    view.next = Some(Ok(plan(text)));
                    view.key(code);
                }
                Happening::Tick(millis) => view.act(Action::Tick(Duration::from_millis(millis))),
                Happening::Resize(width, height) => {
                    view.terminal.backend_mut().resize(width, height);
                    view.act(Action::Resize(width, height));
                }
                Happening::Reload(works) => {
                    view.next = Some(if works { Ok(plan(BUSY)) } else { Err("no".to_owned()) });
                    view.act(Action::Reload);
                }
            }
            view.screen();
            let (app, at) = (&view.app, view.app.cursor().at.nanos());
            prop_assert!(app.whole().covers(app.view()), "{:?} in {:?}", app.view(), app.whole());
            prop_assert!(app.view().contains(at), "{at} in {:?}", app.view());
            prop_assert!(!app.is_waiting(), "everything was answered");
        }
    }
}
