//! The interactive view: it owns the terminal, the keys, the wall clock and the worker.

mod engine;
mod worker;

pub use engine::Engine;

use super::spool::Spool;
use crate::error::Error;
use crate::faces::tui::{self, Action, App, Effect};
use crate::scenario::Plan;
use crate::sim;
use ratatui::DefaultTerminal;
use ratatui::crossterm::event::{self, Event};
use std::io::{self, IsTerminal};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use worker::{News, Worker};

/// A frame while the run plays.
const FRAME: Duration = Duration::from_millis(33);
/// How soon a result is looked for while one is awaited.
const SOON: Duration = Duration::from_millis(15);
/// How often anything else is looked for.
const IDLE: Duration = Duration::from_millis(200);

/// How the view is opened.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// How runs are carried out.
    pub sim: sim::Options,
    /// Whether colours may be used.
    pub colour: bool,
    /// How an error is shown inside the view; may have several lines.
    pub describe: fn(&Error) -> String,
}

impl Default for Options {
    fn default() -> Self {
        Self { sim: sim::Options::default(), colour: true, describe: ToString::to_string }
    }
}

/// Opens the view of a run and returns when the user leaves it.
///
/// `load` reads the scenario, at first and whenever the user asks for it again; what it then fails
/// with is shown, and the old run kept.
///
/// # Errors
/// If standard output is not a terminal or there is no keyboard, the first run fails, or the terminal does; and
/// [`Error::Interrupted`] after Ctrl-C or a signal to end.
pub fn open(load: impl Fn() -> Result<Plan, Error> + Send + 'static, options: Options) -> Result<(), Error> {
    if !io::stdout().is_terminal() {
        return Err(not_a_terminal("standard output"));
    }
    // Where standard input is a file or a pipe, keys come from the terminal itself.
    if !(io::stdin().is_terminal() || has_keyboard()) {
        return Err(not_a_terminal("standard input"));
    }
    let mut spool = None;
    let mut plan = load()?;
    Spool::reuse(&mut plan, &mut spool, true)?;
    let interrupted = super::run::interrupt_flag();
    // The terminal is given back on a panic too: `init` sees to that.
    let mut terminal = match ratatui::try_init() {
        Ok(terminal) => terminal,
        Err(error) => {
            ratatui::restore();
            return Err(terminal_error("use", error));
        }
    };
    let held = hold_back_panics();
    let load = move || {
        let mut plan = load()?;
        Spool::reuse(&mut plan, &mut spool, true)?;
        Ok(plan)
    };
    let worker = Worker::start(plan, load, options);
    let result = converse(&mut terminal, &worker, options, interrupted);
    ratatui::restore();
    // Dropping it shows the cursor again.
    drop(terminal);
    worker.stop();
    if let Some(panic) = held.lock().unwrap_or_else(PoisonError::into_inner).take() {
        panic!("the worker broke down: {panic}");
    }
    result
}

/// Gives the terminal back if it is held, as well as that can be done.
pub fn give_back() {
    if ratatui::crossterm::terminal::is_raw_mode_enabled().unwrap_or(false) {
        // Nobody is left to be told if it cannot be.
        let _ = ratatui::try_restore();
    }
}

/// Keeps what a panic of the worker says until the terminal is given back; nothing else may write
/// over the view.
fn hold_back_panics() -> Arc<Mutex<Option<String>>> {
    let held = Arc::new(Mutex::new(None));
    let (slot, hook) = (Arc::clone(&held), std::panic::take_hook());
    std::panic::set_hook(Box::new(move |info| {
        if std::thread::current().name() == Some(worker::NAME) {
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(info.to_string());
        } else {
            hook(info);
        }
    }));
    held
}

fn not_a_terminal(what: &str) -> Error {
    Error::usage(format!(
        "--tui needs a terminal, and {what} is none; leave it out for the text report, or use `-o sheet.svg`"
    ))
}

#[cfg(unix)]
fn has_keyboard() -> bool {
    std::fs::File::open("/dev/tty").is_ok()
}

#[cfg(not(unix))]
fn has_keyboard() -> bool {
    false
}

fn terminal_error(action: &'static str, source: io::Error) -> Error {
    Error::Io { path: "the terminal".into(), action, source }
}

/// Keys, time and results in; frames out.
fn converse(
    terminal: &mut DefaultTerminal,
    worker: &Worker,
    options: Options,
    interrupted: &AtomicBool,
) -> Result<(), Error> {
    let failed = |error| terminal_error("use", error);
    let mut app = App::new(options.colour);
    let size = terminal.size().map_err(failed)?;
    app.update(Action::Resize(size.width, size.height));
    let mut last = Instant::now();
    let mut stale = true;
    loop {
        if interrupted.load(Ordering::Relaxed) {
            return Err(Error::Interrupted);
        }
        // A quick result is waited for, so that it and its cause are one frame.
        let mut patience = if stale && app.is_waiting() { SOON } else { Duration::ZERO };
        while let Some(news) = worker.news(patience) {
            stale = true;
            patience = Duration::ZERO;
            match news {
                News::Action(action) => {
                    if let Some(end) = carry_out(app.update(action), worker) {
                        return end;
                    }
                }
                News::Fatal(error) => return Err(error),
            }
        }
        if stale {
            terminal.draw(|frame| tui::draw(&app, frame)).map_err(failed)?;
            stale = false;
        }
        let pause = if app.is_playing() {
            FRAME.saturating_sub(last.elapsed())
        } else if app.is_waiting() {
            SOON
        } else {
            IDLE
        };
        let mut waiting = event::poll(pause).map_err(failed)?;
        while waiting {
            let action = match event::read().map_err(failed)? {
                Event::Key(key) => tui::action(app.mode(), key),
                Event::Resize(width, height) => Some(Action::Resize(width, height)),
                _ => None,
            };
            if let Some(action) = action {
                stale = true;
                let played = app.is_playing();
                if let Some(end) = carry_out(app.update(action), worker) {
                    return end;
                }
                if app.is_playing() && !played {
                    last = Instant::now();
                }
            }
            waiting = event::poll(Duration::ZERO).map_err(failed)?;
        }
        let elapsed = last.elapsed();
        if app.is_playing() && elapsed >= FRAME {
            last = Instant::now();
            stale = true;
            if let Some(end) = carry_out(app.update(Action::Tick(elapsed)), worker) {
                return end;
            }
        }
    }
}

/// Hands an effect to the worker; the result if it was to leave.
fn carry_out(effect: Effect, worker: &Worker) -> Option<Result<(), Error>> {
    match effect {
        Effect::None => {}
        Effect::Look(look) => worker.look(look),
        Effect::Seek(seek) => worker.seek(seek),
        Effect::Reload => worker.reload(),
        Effect::Quit { interrupted: false } => return Some(Ok(())),
        Effect::Quit { interrupted: true } => return Some(Err(Error::Interrupted)),
    }
    None
}
