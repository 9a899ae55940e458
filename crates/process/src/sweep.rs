//! The sweep: after the end of a run, kills every process that is left of it.

use std::collections::BTreeSet;
use std::fs::File;
use std::path::Path;
use std::time::Duration;

use rustix::io::Errno;
use rustix::process::Signal;

use crate::clock::{self, Deadline};
use crate::elsewhere::Others;
use crate::error::{Error, Result};
use crate::files::{self, Sync};
use crate::linux::{self, Marker, Process, Root};
use crate::record::{Captured, Exit, Reason, Started};
use crate::run::{Run, Status};
use crate::tail::Stream;

/// How long stragglers have between TERM and KILL.
const POLITE: Duration = Duration::from_millis(500);
/// How long killing goes on.
const PATIENCE: Duration = Duration::from_secs(8);

/// The outcome of a sweep.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Swept {
    /// How the run ended: the shim's record, or the sweep's own.
    pub exit: Exit,
    /// Processes that were left and are dead now.
    pub killed: u32,
    /// Whether a shim was killed on the way that did nothing any more.
    pub by_force: bool,
}

impl Run {
    /// After the end of a run, however it ended: kills all that is left of it, proves that nothing with its
    /// marker lives, and writes the record if the shim could not ([`Reason::Lost`], or [`Reason::Stopped`] if
    /// somebody had asked for a stop). A run that has not been started never will be; a record that cannot be
    /// read is as good as none. Processes that belong to [another directory](Self::elsewhere), of which this
    /// one is a copy, are left alone, and the record says [`Reason::Lost`]. A second call changes nothing.
    /// Blocks for milliseconds when nothing is left, for some seconds at most.
    ///
    /// Errors: [`Error::StillRunning`]; [`Error::Survivors`], when something cannot be killed.
    pub fn sweep(&self) -> Result<Swept> {
        let still = || Error::StillRunning {
            dir: self.dir().to_owned(),
        };
        if let Some(Status::Running {
            started: Some(started),
        }) = readable(self.status().map(Some))?
            && self.own_shim(&started)?.is_some()
        {
            return Err(still());
        }
        let lock = self.lock_ended()?;
        let swept = self.clear(0)?;
        drop(lock);
        Ok(swept)
    }

    /// Takes the lock of a run whose shim has ended.
    pub(crate) fn lock_ended(&self) -> Result<File> {
        self.lock(|| Ok(false))?.ok_or_else(|| Error::StillRunning {
            dir: self.dir().to_owned(),
        })
    }

    /// Kills what is left of a run whose shim does nothing any more, and writes the record unless the shim
    /// has. `killed`: how many were killed before.
    pub(crate) fn clear(&self, killed: u32) -> Result<Swept> {
        let run_id = self.spec()?.run_id;
        let started: Option<Started> = readable(files::read(self.dir(), files::SHIM))?;
        let recorded: Option<Exit> = readable(files::read(self.dir(), files::EXIT))?;
        // One look can miss a process that is just becoming another program, and has no environment
        // meanwhile. A shim that wrote its record has looked before, and proved that it had no descendant
        // left.
        let sure = |clean| recorded.is_some() || clean > 1;
        let others = Others::of(self, run_id.clone());
        let find = || remains(&run_id, started.as_ref(), &others);
        let killed = killed + kill_all(self.dir(), find, sure)?;
        let exit = match recorded {
            Some(exit) => exit,
            None => {
                let exit = self.lost(started.as_ref(), killed)?;
                failpoint::hit("sweep.killed");
                files::replace(self.dir(), files::EXIT, &exit, Sync::Disk)?;
                failpoint::hit("sweep.recorded");
                exit
            }
        };
        self.forget_env()?;
        Ok(Swept {
            exit,
            killed,
            by_force: false,
        })
    }

    /// The ids of all living processes whose environment names this run, as far as this process may read it,
    /// without those of [another directory](Self::elsewhere).
    pub fn find_marked(&self) -> Result<Vec<u32>> {
        let run_id = self.spec()?.run_id;
        let others = Others::of(self, run_id.clone());
        let marker = Marker {
            run_id: &run_id,
            since: 0,
        };
        let marked = linux::of_run(marker, None, |pid| others.are_held_by(pid));
        let marked = marked.map_err(Error::system("read /proc"))?;
        Ok(marked.iter().map(|process| process.pid).collect())
    }

    fn lost(&self, started: Option<&Started>, survivors: u32) -> Result<Exit> {
        let captured = |stream: Stream| {
            let bytes = self
                .dir()
                .join(stream.file())
                .metadata()
                .map_or(0, |file| file.len());
            Captured { bytes, dropped: 0 }
        };
        let asked = files::is_there(self.dir(), files::STOP)?;
        Ok(Exit {
            reason: if asked { Reason::Stopped } else { Reason::Lost },
            code: None,
            signal: None,
            started_at: started.map_or(0, |started| started.started_at),
            ended_at: clock::now_ms(),
            out: captured(Stream::Out),
            err: captured(Stream::Err),
            survivors,
        })
    }

    /// The environment may hold secrets: it stays on disk no longer than it is needed.
    pub(crate) fn forget_env(&self) -> Result<()> {
        let path = self.dir().join(files::ENV);
        match std::fs::remove_file(&path) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                Err(Error::file("remove", &path)(error))
            }
            _ => Ok(()),
        }
    }
}

/// The content of a record; `None` where it is damaged.
pub(crate) fn readable<T>(read: Result<Option<T>>) -> Result<Option<T>> {
    match read {
        Err(Error::Damaged { .. }) => Ok(None),
        read => read,
    }
}

/// All that is left of a run whose shim is gone: the program, the tree below it, and every process with the
/// marker.
fn remains(run_id: &str, started: Option<&Started>, others: &Others) -> Result<Vec<Process>, Errno> {
    let child = started.and_then(|started| started.child.as_ref());
    let root = match child {
        Some(child) if child.open()?.is_some() => Some(Root {
            pid: child.pid,
            included: true,
        }),
        _ => None,
    };
    // Whatever the run has started is younger than its shim.
    let since = started.map_or(0, |started| started.shim.since());
    alive(run_id, since, root, others)
}

/// The living processes of a run, as [`linux::of_run`] finds them, except this one.
pub(crate) fn alive(
    run_id: &str,
    since: u64,
    root: Option<Root>,
    others: &Others,
) -> Result<Vec<Process>, Errno> {
    let is_elsewhere = |pid| others.are_held_by(pid);
    let mut found = linux::of_run(Marker { run_id, since }, root, is_elsewhere)?;
    // An agent may have started the very crew that sweeps.
    found.retain(|process| process.pid != std::process::id());
    Ok(found)
}

/// Kills the processes that `find` finds, as [`kill`] does, for an engine; gives how many there were.
///
/// Errors: [`Error::Survivors`].
pub(crate) fn kill_all(
    dir: &Path,
    find: impl FnMut() -> Result<Vec<Process>, Errno>,
    sure: impl FnMut(u32) -> bool,
) -> Result<u32> {
    let pause = |time| {
        let _ = linux::poll(&mut [], time);
    };
    let killed = kill(find, sure, pause).map_err(Error::system("read /proc"))?;
    if !killed.left.is_empty() {
        return Err(Error::Survivors {
            dir: dir.to_owned(),
            pids: killed.left,
        });
    }
    Ok(killed.count)
}

/// How many processes were killed, and which did not die.
#[derive(Default)]
pub(crate) struct Killed {
    pub(crate) count: u32,
    pub(crate) left: Vec<u32>,
}

/// Kills the processes that `find` finds, again and again, since new ones may start meanwhile: until it finds
/// none and `sure` agrees. `sure` gets how many times in a row none was found. `pause` waits.
pub(crate) fn kill(
    mut find: impl FnMut() -> Result<Vec<Process>, Errno>,
    mut sure: impl FnMut(u32) -> bool,
    mut pause: impl FnMut(Duration),
) -> Result<Killed, Errno> {
    let (polite, patience) = (Deadline::after(POLITE), Deadline::after(PATIENCE));
    let mut seen = BTreeSet::new();
    let mut wait = Duration::from_millis(2);
    let mut clean = 0;
    loop {
        let found = find()?;
        clean = if found.is_empty() { clean + 1 } else { 0 };
        if (clean > 0 && sure(clean)) || patience.passed() {
            let left: BTreeSet<u32> = found.iter().map(|process| process.pid).collect();
            let count = u32::try_from(seen.len()).unwrap_or(u32::MAX);
            return Ok(Killed {
                count,
                left: left.into_iter().collect(),
            });
        }
        for process in &found {
            let new = seen.insert(process.key());
            if polite.passed() {
                // Not permitted: it shows as left.
                let _ = linux::signal(process, Signal::KILL);
            } else if new {
                let _ = linux::signal(process, Signal::TERM);
                failpoint::hit("sweep.half");
            }
        }
        pause(wait);
        wait = (wait * 2).min(Duration::from_millis(50));
    }
}
