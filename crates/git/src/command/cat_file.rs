//! `git cat-file --batch` and its like: a git that stays up and answers one question after the other.

use std::io::{ErrorKind, Read, Write};
use std::process::{Child, ChildStdin, ChildStdout};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};

use crate::clock::Deadline;
use crate::command::call::Call;
use crate::error::Result;

/// The time for one answer; a later one counts as none.
const PATIENCE: Duration = Duration::from_secs(20);
/// The process is ended after so many questions, since it remembers something of each.
const QUESTIONS: u32 = 2000;

/// A git that is started at its first question, and again when it has failed; clones share it.
///
/// It only reads, or writes objects, so it need not keep the repository's lock. It ends with the engine,
/// which holds the other end of its standard input. It finds objects and packs that come later: git looks
/// again for what it does not know.
#[derive(Clone, Debug, Default)]
pub(crate) struct CatFile(Arc<Mutex<Option<Running>>>);

#[derive(Debug)]
struct Running {
    child: Child,
    input: ChildStdin,
    output: ChildStdout,
    /// Bytes that were read and belong to an answer that is not complete yet.
    ahead: Vec<u8>,
    asked: u32,
    used: bool,
}

impl CatFile {
    /// Asks one question, which is small enough for a pipe, and lets `read` read its answer to the end.
    /// `None`: the process cannot be asked or does not answer, or `read` does not understand the answer. The
    /// process is ended then, and the caller has to ask git in another way.
    pub(crate) fn ask<T>(
        &self,
        start: impl FnOnce() -> Result<Call>,
        question: &[u8],
        read: impl FnOnce(&mut Answer<'_>) -> Option<T>,
    ) -> Option<T> {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut running = match held.take() {
            Some(running) => running,
            None => Running::start(start().ok()?)?,
        };
        running.asked += 1;
        running.used = true;
        let written = running.input.write_all(question);
        let mut answer = Answer {
            running: &mut running,
            deadline: Deadline::after(PATIENCE),
        };
        let said = written.ok().and_then(|()| read(&mut answer));
        if said.is_some() && running.ahead.is_empty() && running.asked < QUESTIONS {
            *held = Some(running);
        }
        said
    }

    /// Ends the process unless it was asked something since the last call of this.
    pub(crate) fn rest(&self) {
        let mut held = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(running) = held.as_mut()
            && !std::mem::replace(&mut running.used, false)
        {
            *held = None;
        }
    }
}

impl Running {
    fn start(call: Call) -> Option<Self> {
        let mut child = call.stay().ok()?;
        let (input, output) = (child.stdin.take()?, child.stdout.take()?);
        rustix::io::ioctl_fionbio(&output, true).ok()?;
        Some(Self {
            child,
            input,
            output,
            ahead: Vec::new(),
            asked: 0,
            used: true,
        })
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.child.kill().ok();
        self.child.wait().ok();
    }
}

/// The answer to one question.
pub(crate) struct Answer<'a> {
    running: &'a mut Running,
    deadline: Deadline,
}

impl Answer<'_> {
    /// Reads the bytes up to the next `end`, and `end` itself; `None` if there is none among the first
    /// `limit`.
    pub(crate) fn until(&mut self, end: u8, limit: usize) -> Option<Vec<u8>> {
        let mut looked = 0;
        loop {
            let ahead = &mut self.running.ahead;
            if let Some(at) = ahead[looked..].iter().position(|byte| *byte == end) {
                let mut taken: Vec<u8> = ahead.drain(..=looked + at).collect();
                taken.pop();
                return Some(taken);
            }
            looked = ahead.len();
            if looked > limit {
                return None;
            }
            self.more()?;
        }
    }

    /// Reads exactly `count` bytes.
    pub(crate) fn exactly(&mut self, count: usize) -> Option<Vec<u8>> {
        while self.running.ahead.len() < count {
            self.more()?;
        }
        Some(self.running.ahead.drain(..count).collect())
    }

    fn more(&mut self) -> Option<()> {
        let mut buffer = [0_u8; 32 << 10];
        loop {
            match self.running.output.read(&mut buffer) {
                Ok(0) => return None,
                Ok(count) => {
                    self.running.ahead.extend_from_slice(&buffer[..count]);
                    return Some(());
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) if error.kind() == ErrorKind::WouldBlock => {}
                Err(_) => return None,
            }
            let left = self.deadline.left();
            if left.is_zero() {
                return None;
            }
            let timeout = Timespec {
                tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
                tv_nsec: left.subsec_nanos().into(),
            };
            poll(
                &mut [PollFd::new(&self.running.output, PollFlags::IN)],
                Some(&timeout),
            )
            .ok();
        }
    }
}
