//! Watching for the end of a run, by the descriptor of its shim.

use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::time::Duration;

use crate::clock::Deadline;
use crate::error::{Error, Result};
use crate::linux;
use crate::run::{Run, Status};

/// How long a process that a dead shim was about to start may hold the lock.
const LOCK_FREED: Duration = Duration::from_secs(1);

/// Sees the shim of a run end. Hold it until then: it also takes the dead shim out of the process table when
/// the shim is our child (else that happens when the engine ends).
#[derive(Debug)]
pub struct Watch {
    run: Run,
    shim: Option<OwnedFd>,
}

impl Watch {
    pub(crate) fn new(run: Run, shim: Option<OwnedFd>) -> Self {
        Self { run, shim }
    }

    /// The run that is watched.
    pub fn run(&self) -> &Run {
        &self.run
    }

    /// The shim's pidfd: readable once the shim has ended, for good. `None`: nothing was running any more
    /// when the watch was made. Ask [`Run::status`] then, in both cases.
    pub fn pidfd(&self) -> Option<BorrowedFd<'_>> {
        self.shim.as_ref().map(OwnedFd::as_fd)
    }

    /// A descriptor of one's own for an event loop, readable once the shim has ended; `None` as for
    /// [`Self::pidfd`].
    pub fn try_clone_pidfd(&self) -> Result<Option<OwnedFd>> {
        let doing = "duplicate the descriptor of a shim";
        self.shim
            .as_ref()
            .map(|fd| fd.try_clone().map_err(|source| Error::System { doing, source }))
            .transpose()
    }

    /// Blocks until the run has ended (or turns out to be lost), at most `timeout`. `None`: it still runs.
    pub fn wait(&self, timeout: Duration) -> Result<Option<Status>> {
        if let Some(shim) = self.pidfd() {
            let deadline = Deadline::after(timeout);
            while !linux::ended(shim, deadline.left()).map_err(Error::system("wait for a shim"))? {
                if deadline.passed() {
                    return Ok(None);
                }
            }
            linux::reap(shim);
        }
        // A shim that was killed while it started the program has lent it the lock, for the microseconds
        // until the new process executes the program.
        let freed = Deadline::after(LOCK_FREED);
        loop {
            let status = self.run.status()?;
            if self.shim.is_none() || !matches!(status, Status::Running { .. }) || freed.passed() {
                return Ok(Some(status));
            }
            let _ = linux::poll(&mut [], Duration::from_millis(1));
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(shim) = self.pidfd() {
            linux::reap(shim);
        }
    }
}
