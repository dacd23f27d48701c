//! What ends a run from the side: Ctrl-C, a hang-up, a request to end.

use super::output::remove_temporary;
use super::tui;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// Ends the process at once, and leaves neither half a file nor a terminal that shows no keys.
fn abandon() -> ! {
    remove_temporary();
    tui::give_back();
    std::process::exit(130)
}

/// How long a run may take to end by itself after a signal.
const GRACE: Duration = Duration::from_secs(3);

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether somebody looks at [`INTERRUPTED`], and so deserves the time to end in order.
static HEEDED: AtomicBool = AtomicBool::new(false);

/// Has signals end the process without leaving half-written files behind. Before anything is
/// opened that may wait for ever, such as a named pipe.
pub fn install() {
    // A second handler cannot be installed; the first does the same.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) || !HEEDED.load(Ordering::Relaxed) {
            abandon();
        }
        std::thread::spawn(|| {
            std::thread::sleep(GRACE);
            abandon();
        });
    });
}

/// Set by a signal: from now on the run ends at its next batch, and what has not ended soon, say a
/// read from a terminal that is gone, is ended.
pub fn interrupt_flag() -> &'static AtomicBool {
    install();
    HEEDED.store(true, Ordering::Relaxed);
    &INTERRUPTED
}
