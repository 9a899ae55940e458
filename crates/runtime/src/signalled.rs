//! Stopping an engine by a signal, for a person whose journal cannot be reached.

use std::collections::BTreeMap;
use std::io;
use std::os::fd::OwnedFd;
use std::path::Path;

use git::Holder;
use rustix::event::{PollFd, PollFlags};
use rustix::process::{Pid, PidfdFlags, Signal};

use crate::place::repository_of;
use crate::{Error, Result};

/// An engine that was signalled.
#[derive(Debug)]
pub struct Told {
    /// The engine.
    pub engine: Holder,
    process: OwnedFd,
}

/// Signals the engine that runs in the repository of `dir` to stop, in the way that its settings say. `None`:
/// no engine runs there.
///
/// # Errors
/// [`Error::Held`] when the holder of the repository is no engine, but a git that has outlived one, say; the
/// system's error when the engine cannot be signalled.
pub fn stop_by_signal(dir: &Path, env: &BTreeMap<String, String>) -> Result<Option<Told>> {
    let lock = repository_of(dir, env)?.lock_path();
    let Some(engine) = git::Lock::holder(&lock)?.filter(|holder| !holder.is_command) else {
        return Ok(None);
    };
    let could_not = |source| Error::Io {
        doing: "signal the engine that holds",
        path: lock.clone(),
        source,
    };
    let number = engine.pid.and_then(|pid| i32::try_from(pid).ok());
    let Some(pid) = number.and_then(Pid::from_raw) else {
        return Err(Error::Held { by: engine });
    };
    let process = match rustix::process::pidfd_open(pid, PidfdFlags::empty()) {
        Ok(process) => process,
        Err(rustix::io::Errno::SRCH) => return Err(Error::Held { by: engine }),
        Err(error) => return Err(could_not(error.into())),
    };
    // The engine that wrote its process id there may be gone, and another process may have that id now.
    if !has_open(pid, &lock).map_err(could_not)? {
        return Err(Error::Held { by: engine });
    }
    rustix::process::pidfd_send_signal(&process, Signal::TERM).map_err(|error| could_not(error.into()))?;
    Ok(Some(Told { engine, process }))
}

fn has_open(pid: Pid, file: &Path) -> io::Result<bool> {
    let file = file.canonicalize()?;
    for fd in std::fs::read_dir(format!("/proc/{}/fd", pid.as_raw_nonzero()))? {
        if std::fs::read_link(fd?.path()).is_ok_and(|open| open == file) {
            return Ok(true);
        }
    }
    Ok(false)
}

impl Told {
    /// Blocks until it has ended.
    pub fn wait(&self) {
        let mut fds = [PollFd::new(&self.process, PollFlags::IN)];
        while let Err(rustix::io::Errno::INTR) = rustix::event::poll(&mut fds, None) {}
    }
}
