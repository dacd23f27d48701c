//! The thread that runs, looks and searches, while keys and frames go on.

use super::Options;
use super::engine::Engine;
use crate::error::Error;
use crate::faces::tui::{Action, Look, Seek};
use crate::scenario::Plan;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

/// The thread's name.
pub const NAME: &str = "rlsim-worker";

/// What the worker tells.
pub enum News {
    /// A result.
    Action(Action),
    /// There is nothing to show and never will be.
    Fatal(Error),
}

/// What is wanted next; a newer wish replaces an older one of its kind.
#[derive(Default)]
struct Wishes {
    stop: bool,
    reload: bool,
    seek: Option<Seek>,
    look: Option<Look>,
}

impl Wishes {
    /// Whether a search is to be given up.
    const fn outrun_seek(&self) -> bool {
        self.stop || self.reload || self.seek.is_some()
    }

    /// Whether a look is to be given up, at least for now.
    const fn outrun_look(&self) -> bool {
        self.outrun_seek() || self.look.is_some()
    }
}

#[derive(Default)]
struct Board {
    wishes: Mutex<Wishes>,
    news: Condvar,
}

impl Board {
    fn wishes(&self) -> MutexGuard<'_, Wishes> {
        self.wishes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn wish(&self, change: impl FnOnce(&mut Wishes)) {
        change(&mut self.wishes());
        self.news.notify_one();
    }
}

/// The worker as the terminal sees it.
pub struct Worker {
    board: Arc<Board>,
    news: Receiver<News>,
    thread: JoinHandle<()>,
}

impl Worker {
    /// Starts with a first run of `plan`.
    pub fn start<F>(plan: Plan, load: F, options: Options) -> Self
    where
        F: FnMut() -> Result<Plan, Error> + Send + 'static,
    {
        let board = Arc::new(Board::default());
        let (sender, news) = channel();
        let own = Arc::clone(&board);
        let thread = std::thread::Builder::new().name(NAME.to_owned());
        let thread = thread.spawn(move || work(plan, load, options, &own, &sender));
        let thread = thread.expect("a program that starts has room for one thread more");
        Self { board, news, thread }
    }

    /// The next result, if it comes within `patience`.
    pub fn news(&self, patience: Duration) -> Option<News> {
        match self.news.recv_timeout(patience) {
            Ok(news) => Some(news),
            Err(RecvTimeoutError::Timeout) => None,
            // It broke down: the view is left, and its panic told.
            Err(RecvTimeoutError::Disconnected) => Some(News::Fatal(Error::Interrupted)),
        }
    }

    /// Asks for a look.
    pub fn look(&self, look: Look) {
        self.board.wish(|wishes| wishes.look = Some(look));
    }

    /// Asks for a search.
    pub fn seek(&self, seek: Seek) {
        self.board.wish(|wishes| wishes.seek = Some(seek));
    }

    /// Asks for the scenario to be read and run again.
    pub fn reload(&self) {
        self.board.wish(|wishes| wishes.reload = true);
    }

    /// Ends the worker and waits for it.
    pub fn stop(self) {
        self.board.wish(|wishes| wishes.stop = true);
        // It may have broken down; that has been told by then.
        let _ = self.thread.join();
    }
}

fn work<F>(plan: Plan, mut load: F, options: Options, board: &Board, news: &Sender<News>)
where
    F: FnMut() -> Result<Plan, Error>,
{
    // A send fails only when nobody listens any more, and then the board says stop.
    let tell = |action| drop(news.send(News::Action(action)));
    let run = |plan| {
        let mut progress = |arrivals| {
            tell(Action::Progress(arrivals));
            !board.wishes().stop
        };
        Engine::run(plan, options.sim, &mut progress)
    };
    let mut engine = match run(plan) {
        Ok((engine, run)) => {
            tell(Action::Loaded(Box::new(run)));
            engine
        }
        Err(error) => {
            let _ = news.send(News::Fatal(error));
            return;
        }
    };
    loop {
        let mut wishes = board.wishes();
        while !wishes.outrun_look() {
            wishes = board.news.wait(wishes).unwrap_or_else(PoisonError::into_inner);
        }
        if wishes.stop {
            return;
        }
        let (reload, seek, look) = (std::mem::take(&mut wishes.reload), wishes.seek.take(), wishes.look.take());
        drop(wishes);
        if reload {
            match load().and_then(run) {
                Ok((new, run)) => {
                    engine = new;
                    tell(Action::Loaded(Box::new(run)));
                }
                Err(error) => {
                    // The old run is kept, and so is what was wished of it.
                    board.wish(|wishes| {
                        wishes.seek = wishes.seek.or(seek);
                        wishes.look = wishes.look.or(look);
                    });
                    tell(Action::Failed((options.describe)(&error)));
                }
            }
            continue;
        }
        if let Some(seek) = seek {
            // The look waits its turn, unless a newer one has come.
            board.wish(|wishes| wishes.look = wishes.look.or(look));
            let found = engine.seek(&seek, &mut || !board.wishes().outrun_seek());
            if !matches!(found, Err(Error::Interrupted)) {
                let found = found.map(|found| found.map(|(place, detail)| (place, Box::new(detail))));
                let found = found.map_err(|error| (options.describe)(&error));
                tell(Action::Found { ticket: seek.ticket, found });
            }
        } else if let Some(look) = look {
            match engine.look(&look, &mut || !board.wishes().outrun_look()) {
                Err(Error::Interrupted) => board.wish(|wishes| wishes.look = wishes.look.or(Some(look))),
                detail => {
                    let detail = detail.map(Box::new).map_err(|error| (options.describe)(&error));
                    tell(Action::Looked { ticket: look.ticket, detail });
                }
            }
        }
    }
}
