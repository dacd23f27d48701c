//! The real program in a pseudo-terminal: keys in, screen read, a sane terminal left behind.

use portable_pty::{CommandBuilder, PtySize, native_pty_system};
use std::io::{Read, Write};
use std::num::NonZeroU16;
use std::process::{Command, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);

/// The program in a terminal of 80 columns and 24 rows.
struct Session {
    parser: vt100::Parser,
    output: Receiver<Vec<u8>>,
    keys: Box<dyn Write + Send>,
    child: Box<dyn portable_pty::Child + Send + Sync>,
    _terminal: Box<dyn portable_pty::MasterPty + Send>,
}

impl Session {
    /// Starts a shell script in which `$0` is the program.
    fn script(script: &str) -> Self {
        let size = PtySize { rows: 24, cols: 80, pixel_width: 0, pixel_height: 0 };
        let pair = native_pty_system().openpty(size).expect("a pseudo-terminal");
        let mut command = CommandBuilder::new("sh");
        command.args(["-c", script, env!("CARGO_BIN_EXE_rlsim")]);
        command.cwd(env!("CARGO_MANIFEST_DIR"));
        command.env("TERM", "xterm-256color");
        let child = pair.slave.spawn_command(command).expect("a shell");
        drop(pair.slave);
        let mut reader = pair.master.try_clone_reader().expect("a reader");
        let keys = pair.master.take_writer().expect("a writer");
        let (sender, output) = channel();
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(read) = reader.read(&mut bytes) {
                if read == 0 || sender.send(bytes[..read].to_vec()).is_err() {
                    break;
                }
            }
        });
        let of = |length| NonZeroU16::new(length).expect("not zero");
        let parser = vt100::Parser::new(of(24), of(80), 0);
        Self { parser, output, keys, child, _terminal: pair.master }
    }

    fn screen(&self) -> String {
        self.parser.screen().contents()
    }

    fn press(&mut self, keys: &str) {
        self.keys.write_all(keys.as_bytes()).expect("the terminal takes keys");
        self.keys.flush().expect("the terminal takes keys");
    }

    /// Reads until the screen shows a text.
    fn wait_for(&mut self, text: &str) {
        let begun = Instant::now();
        while !self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "no `{text}` on the screen:\n{}", self.screen());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.parser.process(&bytes);
            }
        }
    }

    /// Reads until the screen no longer shows a text.
    fn wait_without(&mut self, text: &str) {
        let begun = Instant::now();
        while self.screen().contains(text) {
            assert!(begun.elapsed() < PATIENCE, "still `{text}` on the screen:\n{}", self.screen());
            if let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(100)) {
                self.parser.process(&bytes);
            }
        }
    }

    /// Reads to the end; the screen then.
    fn end(mut self) -> String {
        let begun = Instant::now();
        loop {
            match self.output.recv_timeout(Duration::from_millis(100)) {
                Ok(bytes) => self.parser.process(&bytes),
                Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => break,
                Err(_) => assert!(begun.elapsed() < PATIENCE, "it does not end:\n{}", self.screen()),
            }
            if let Ok(Some(_)) = self.child.try_wait() {
                while let Ok(bytes) = self.output.recv_timeout(Duration::from_millis(200)) {
                    self.parser.process(&bytes);
                }
                break;
            }
        }
        let screen = self.parser.screen();
        assert!(!screen.alternate_screen(), "the alternate screen is left");
        assert!(!screen.hide_cursor(), "the cursor is shown");
        screen.contents()
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        let _ = self.child.kill();
    }
}

/// Runs the view, then says how it ended and how the terminal is set.
fn view(arguments: &str) -> Session {
    Session::script(&format!("\"$0\" {arguments}; echo status=$?; {MODES}"))
}

/// Says how the terminal is set.
const MODES: &str = "stty -a < /dev/tty | tr ';' '\\n' | grep -w -e icanon -e echo";

fn assert_sane(screen: &str, status: u8) {
    assert!(screen.contains(&format!("status={status}")), "{screen}");
    assert!(screen.contains(" icanon") && !screen.contains("-icanon"), "lines are edited again:\n{screen}");
    assert!(screen.contains(" echo ") && !screen.contains("-echo "), "what is typed is shown again:\n{screen}");
}

#[test]
fn keys_move_the_view_and_q_leaves_a_sane_terminal() {
    let mut session = view("run boundary --tui");
    session.wait_for("A fixed window lets twice the limit through at its edge");
    session.wait_for("before the first arrival");
    assert!(session.parser.screen().alternate_screen());
    session.press("n");
    session.wait_for("arrival 101 of 200 at 12:00:00.000, cost 1");
    session.wait_for("fixed-window: allow, 99 left, resets in 60 s");
    session.press("\x1b[B");
    session.wait_for("sliding-log: deny, retry after 59 s");
    session.press("\x1b[C");
    session.wait_for("arrival 102 of 200");
    session.press("?");
    session.wait_for("this help");
    session.press("\x1b");
    session.wait_without("this help");
    session.press("k");
    session.wait_for("all arrivals have the same key");
    session.press("\x1b");
    session.wait_for("nothing is open");
    session.press(" ");
    session.wait_for("space pause");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn ctrl_c_leaves_a_sane_terminal() {
    let mut session = view("run boundary --tui");
    session.wait_for("before the first arrival");
    session.press("\x03");
    assert_sane(&session.end(), 130);
}

#[cfg(unix)]
#[test]
fn a_signal_to_end_leaves_a_sane_terminal() {
    let folder = tempfile::tempdir().expect("a folder");
    let number = folder.path().join("number");
    let mut session = Session::script(&format!(
        "\"$0\" run boundary --tui < /dev/tty & echo $! > '{}'; wait $!; echo status=$?; {MODES}",
        number.display()
    ));
    session.wait_for("before the first arrival");
    let number = std::fs::read_to_string(number).expect("the shell wrote it");
    let told = Command::new("kill").args(["-TERM", number.trim()]).status().expect("kill");
    assert!(told.success());
    assert_sane(&session.end(), 130);
}

#[test]
fn a_scenario_is_read_again_and_its_faults_are_shown() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("own.toml");
    let write = |requests: &str| {
        let text = format!("title = \"mine\"\nlimit = \"2/1m\"\n[[traffic]]\nburst = {{ requests = {requests} }}\n");
        std::fs::write(&path, text).expect("a file");
    };
    write("5");
    let mut session = view(&format!("run '{}' --tui", path.display()));
    session.wait_for("5 requests");
    write("7");
    session.press("r");
    session.wait_for("7 requests");
    write("\"many\"");
    session.press("r");
    session.wait_for("the run before is kept");
    session.wait_for("own.toml:4");
    session.press("\x1b");
    session.wait_without("the run before is kept");
    session.wait_for("7 requests");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn a_trace_on_standard_input_is_kept_and_looked_at() {
    let rows = "time,key\\n0,a\\n1,a\\n2,b\\n3,a\\n";
    let pipe = format!("printf '{rows}' | \"$0\" replay - --limit 2/10s --key key --tui");
    let mut session = Session::script(&format!("{pipe}; echo status=$?; {MODES}"));
    session.wait_for("4 requests");
    session.press("d");
    session.wait_for("arrival 4 of 4");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn a_key_is_chosen_from_the_list() {
    let mut session = view("run noisy-neighbour --tui");
    session.wait_for("201 keys");
    session.press("knois\r");
    session.wait_for("only key noisy");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn a_pipe_that_nobody_reads_does_not_matter() {
    let mut session = Session::script(&format!("echo x | \"$0\" run boundary --tui; echo status=$?; {MODES}"));
    session.wait_for("before the first arrival");
    session.press("n");
    session.wait_for("arrival 101 of 200");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn a_scenario_on_standard_input_is_shown() {
    let mut session =
        Session::script(&format!("cat scenarios/boundary.toml | \"$0\" run - --tui; echo status=$?; {MODES}"));
    session.wait_for("A fixed window lets twice");
    session.press("n");
    session.wait_for("arrival 101 of 200");
    session.press("r");
    session.wait_for("read and run again");
    session.press("q");
    assert_sane(&session.end(), 0);
}

#[test]
fn without_a_terminal_it_says_what_to_do_instead() {
    let output = Command::new(env!("CARGO_BIN_EXE_rlsim"))
        .args(["run", "boundary", "--tui"])
        .stdin(Stdio::null())
        .output()
        .expect("the program");
    assert_eq!((output.status.code(), output.stdout.as_slice()), (Some(2), &b""[..]));
    let told = String::from_utf8(output.stderr).expect("text");
    assert!(told.contains("--tui needs a terminal") && told.contains("leave it out"), "{told}");
}
