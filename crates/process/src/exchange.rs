//! Exchanges: starts a program that ends by itself, gives it an input, and returns all of its answer.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::io::{Read, Write as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, Sender};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::io::retry_on_intr;
use rustix::process::{WaitId, WaitIdOptions, waitid};

/// Bytes of each output that are read; a program that prints more is killed.
const MOST: u64 = 4 << 20;

/// A program that is to answer.
#[derive(Clone, Debug)]
pub struct Exchange {
    /// The program, by its whole path.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
    /// Its whole environment.
    pub env: BTreeMap<OsString, OsString>,
    /// The folder in which it works.
    pub cwd: PathBuf,
    /// Its standard input.
    pub input: Vec<u8>,
    /// The time that it has; then it is killed with its process group.
    pub limit: Duration,
}

/// The answer of a program that has ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The exit code; none after a signal.
    pub code: Option<i32>,
    /// The standard output.
    pub stdout: Vec<u8>,
    /// The standard error.
    pub stderr: Vec<u8>,
}

/// Why there is no answer.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoAnswer {
    /// The program could not be started, or its output not be read.
    #[error("{0}")]
    Failed(String),
    /// The time is over.
    #[error("it did not answer within {} s", .0.as_secs())]
    TooSlow(Duration),
    /// The caller did not want the answer any more.
    #[error("it was ended before it had answered")]
    GivenUp,
}

/// Ends an exchange before its time, from another thread.
#[derive(Clone, Debug, Default)]
pub struct GiveUp(Arc<Mutex<Wanted>>);

#[derive(Debug, Default)]
struct Wanted {
    is_over: bool,
    /// Tells the exchange that is under way.
    tell: Option<Sender<Over>>,
}

/// Why an exchange is over before its time has come.
#[derive(Debug)]
enum Over {
    Ended,
    GivenUp,
}

impl GiveUp {
    /// Ends the exchange that is under way with its process group, and those that would follow.
    pub fn now(&self) {
        let mut wanted = self.lock();
        wanted.is_over = true;
        if let Some(tell) = wanted.tell.take() {
            // The program may have ended by itself.
            let _ = tell.send(Over::GivenUp);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Wanted> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Exchange {
    /// Starts the program and waits for its end. This is no run: nothing of it is kept.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub fn ask(&self) -> Result<Answer, NoAnswer> {
        self.ask_unless(&GiveUp::default())
    }

    /// As [`ask`](Self::ask), until the caller gives it up.
    ///
    /// # Errors
    /// [`NoAnswer`].
    pub fn ask_unless(&self, give_up: &GiveUp) -> Result<Answer, NoAnswer> {
        let failed = |what: &str, error: &std::io::Error| {
            NoAnswer::Failed(format!("{what}: {}", text::os_message(error)))
        };
        let mut child = command(&self.program)
            .args(&self.args)
            .env_clear()
            .envs(&self.env)
            .current_dir(&self.cwd)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .spawn()
            .map_err(|error| failed(&format!("cannot start {}", self.program.display()), &error))?;
        let group = rustix::process::Pid::from_child(&child);
        let kill = move || {
            // All of it may be gone by itself.
            let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
        };
        if let Some(mut stdin) = child.stdin.take() {
            let input = self.input.clone();
            // A program that ends without reading it is no error.
            std::thread::spawn(move || drop(stdin.write_all(&input)));
        }
        let stdout = child.stdout.take().map(read_all);
        let stderr = child.stderr.take().map(read_all);
        let (ended, wait_for_end) = mpsc::channel();
        {
            let mut wanted = give_up.lock();
            wanted.tell = Some(ended.clone());
            if wanted.is_over {
                let _ = ended.send(Over::GivenUp);
            }
        }
        let limit = self.limit;
        let watch = std::thread::spawn(move || {
            let no_answer = match wait_for_end.recv_timeout(limit) {
                Ok(Over::Ended) | Err(RecvTimeoutError::Disconnected) => return None,
                Ok(Over::GivenUp) => NoAnswer::GivenUp,
                Err(RecvTimeoutError::Timeout) => NoAnswer::TooSlow(limit),
            };
            kill();
            Some(no_answer)
        });
        // The leader is not reaped here, so that the group's id stays its own until the group is killed.
        let exited = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        let seen = retry_on_intr(|| waitid(WaitId::Pid(group), exited));
        let _ = ended.send(Over::Ended);
        let no_answer = watch.join().unwrap_or(Some(NoAnswer::TooSlow(limit)));
        give_up.lock().tell = None;
        // A process that it has left in the background would keep the outputs open.
        kill();
        let status = child.wait();
        seen.map_err(|errno| failed("its end cannot be seen", &errno.into()))?;
        let status = status.map_err(|error| failed("its end cannot be seen", &error))?;
        if let Some(no_answer) = no_answer {
            return Err(no_answer);
        }
        let read = |from: Option<Receiver<std::io::Result<Vec<u8>>>>| {
            let Some(from) = from else { return Ok(Vec::new()) };
            match from.recv_timeout(limit) {
                Ok(Ok(read)) if read.len() as u64 > MOST => {
                    Err(NoAnswer::Failed("it prints without end".to_owned()))
                }
                Ok(Ok(read)) => Ok(read),
                Ok(Err(error)) => Err(failed("its answer cannot be read", &error)),
                Err(_) => Err(NoAnswer::TooSlow(limit)),
            }
        };
        let (stdout, stderr) = (read(stdout)?, read(stderr)?);
        Ok(Answer {
            code: status.code(),
            stdout,
            stderr,
        })
    }
}

fn command(program: &Path) -> Command {
    #[expect(
        clippy::disallowed_methods,
        reason = "an exchange of a moment is no run: there is nothing for a shim to outlive"
    )]
    Command::new(program)
}

fn read_all(from: impl Read + Send + 'static) -> Receiver<std::io::Result<Vec<u8>>> {
    let (tell, told) = mpsc::channel();
    std::thread::spawn(move || {
        let mut all = Vec::new();
        let read = from.take(MOST + 1).read_to_end(&mut all);
        drop(tell.send(read.map(|_| all)));
    });
    told
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, input: &str, limit: Duration) -> Result<Answer, NoAnswer> {
        let exchange = Exchange {
            program: "/bin/sh".into(),
            args: ["-c", script].map(OsString::from).into(),
            env: BTreeMap::new(),
            cwd: "/".into(),
            input: input.as_bytes().to_vec(),
            limit,
        };
        exchange.ask()
    }

    #[test]
    fn input_goes_in_and_both_outputs_and_the_code_come_out() {
        let answer = sh("cat; echo oh >&2; exit 4", "hello", Duration::from_secs(60)).unwrap();
        assert_eq!(answer.code, Some(4));
        assert_eq!(
            (answer.stdout.as_slice(), answer.stderr.as_slice()),
            (&b"hello"[..], &b"oh\n"[..])
        );
    }

    #[test]
    fn a_program_that_does_not_end_is_killed_with_its_children() {
        let error = sh(
            "(read x </dev/zero) & while :; do :; done",
            "",
            Duration::from_millis(200),
        )
        .unwrap_err();
        assert_eq!(error, NoAnswer::TooSlow(Duration::from_millis(200)));
    }

    #[test]
    fn a_program_whose_answer_is_not_wanted_any_more_is_killed() {
        let exchange = Exchange {
            program: "/bin/sh".into(),
            args: ["-c", "while :; do :; done"].map(OsString::from).into(),
            env: BTreeMap::new(),
            cwd: "/".into(),
            input: Vec::new(),
            limit: Duration::from_secs(600),
        };
        let give_up = GiveUp::default();
        let asked = std::thread::spawn({
            let give_up = give_up.clone();
            move || exchange.ask_unless(&give_up)
        });
        give_up.now();
        assert_eq!(asked.join().unwrap(), Err(NoAnswer::GivenUp));
    }
}
