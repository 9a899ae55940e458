//! A terminal of the test's own, with a person's eyes and fingers.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};

use rustix::fs::{Mode, OFlags};
use rustix::process::{Pid, Signal, kill_process};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{LocalModes, Winsize, tcgetattr, tcsetwinsize};
use vt100::{Callbacks, Parser, Screen};

use crate::wait::until;

/// The title of the window once the program has ended and all that it wrote has been seen.
const OVER: &str = "it is over";

/// A program on a terminal. Ended when dropped.
pub struct Pty {
    master: File,
    /// The program's side, kept open: its modes are looked at when the program has ended.
    line: File,
    seen: Arc<Mutex<Parser<Title>>>,
    child: Child,
}

#[derive(Default)]
struct Title {
    is_over: bool,
}

impl Callbacks for Title {
    fn set_window_title(&mut self, _: &mut Screen, title: &[u8]) {
        self.is_over = title == OVER.as_bytes();
    }
}

impl Pty {
    /// Starts a program, on a terminal of this size. `setsid --ctty` makes the terminal its own: so it hears
    /// of a new size.
    pub fn start(command: &mut Command, (columns, lines): (u16, u16)) -> Self {
        let master = openpt(OpenptFlags::RDWR | OpenptFlags::NOCTTY).unwrap();
        grantpt(&master).unwrap();
        unlockpt(&master).unwrap();
        let name = ptsname(&master, Vec::new()).unwrap();
        let line = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY, Mode::empty()).unwrap();
        let (master, line) = (File::from(master), File::from(line));
        size(&master, columns, lines);
        let stream = || Stdio::from(line.try_clone().unwrap());
        let child = command
            .stdin(stream())
            .stdout(stream())
            .stderr(stream())
            .spawn()
            .unwrap();
        let seen = Arc::new(Mutex::new(Parser::new_with_callbacks(
            lines,
            columns,
            0,
            Title::default(),
        )));
        let (mut reader, parser) = (master.try_clone().unwrap(), Arc::clone(&seen));
        std::thread::spawn(move || {
            let mut bytes = [0; 4096];
            while let Ok(count) = reader.read(&mut bytes) {
                parser.lock().unwrap().process(&bytes[..count]);
            }
        });
        Self {
            master,
            line,
            seen,
            child,
        }
    }

    /// What is on the screen.
    pub fn screen(&self) -> String {
        self.seen.lock().unwrap().screen().contents()
    }

    /// Waits until this is on the screen.
    #[track_caller]
    pub fn until(&self, text: &str) {
        until(text, || self.screen().contains(text).then_some(()));
    }

    /// Presses keys, as the terminal sends them.
    pub fn press(&mut self, keys: &str) {
        self.master.write_all(keys.as_bytes()).unwrap();
    }

    /// Makes the terminal another size, as a person who pulls at its window does.
    pub fn resize(&self, columns: u16, lines: u16) {
        self.seen.lock().unwrap().screen_mut().set_size(lines, columns);
        size(&self.master, columns, lines);
    }

    /// Asks the program to end (SIGTERM).
    pub fn terminate(&self) {
        kill_process(Pid::from_child(&self.child), Signal::TERM).unwrap();
    }

    /// Waits for the program's end, and until all that it wrote has been seen.
    pub fn ended(&mut self) -> ExitStatus {
        let status = until("the program's end", || self.child.try_wait().unwrap());
        write!(self.line, "\x1b]2;{OVER}\x07").unwrap();
        until("what it wrote last", || {
            self.seen.lock().unwrap().callbacks().is_over.then_some(status)
        })
    }

    /// Waits for the program's end; gives its exit code, and whether the terminal is as it was before.
    pub fn left(&mut self) -> (i32, bool) {
        let status = self.ended();
        let modes = tcgetattr(&self.line).unwrap().local_modes;
        let sane = modes.contains(LocalModes::ICANON | LocalModes::ECHO | LocalModes::ISIG);
        let seen = self.seen.lock().unwrap();
        let is_back = !seen.screen().alternate_screen() && !seen.screen().hide_cursor();
        (status.code().unwrap_or(-1), sane && is_back)
    }
}

impl Drop for Pty {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn size(terminal: &File, columns: u16, lines: u16) {
    let size = Winsize {
        ws_col: columns,
        ws_row: lines,
        ws_xpixel: 0,
        ws_ypixel: 0,
    };
    tcsetwinsize(terminal, size).unwrap();
}
