//! A look at the processes below a run's program, as they are at this moment.

use crate::clock;
use crate::files;
use crate::linux::{self, Identity, Process};
use crate::record::{Child, Started};
use crate::run::Run;

/// The most processes of which a look tells, the youngest ones.
pub(crate) const MOST: usize = 32;
/// The start of a process is computed from the machine's clock, which may have been set since.
const CLOCK: u64 = 2_000;

/// A process below a run's program, as it is told of.
pub(crate) fn child(process: &Process) -> Child {
    Child {
        pid: process.pid,
        parent: process.parent,
        started_at: linux::started_at(process, clock::now_ms()),
        cpu_ms: process.cpu_ms,
        command: linux::command_line(process.pid),
    }
}

impl Child {
    /// Whether it is there now and was not replaced by another program.
    pub fn is_there(&self) -> bool {
        linux::process(self.pid).is_some_and(|process| {
            let began = linux::started_at(&process, clock::now_ms());
            began.abs_diff(self.started_at) <= CLOCK && linux::command_line(self.pid) == self.command
        })
    }
}

impl Run {
    /// The processes below the program at this moment, oldest first, at most 32; `None` where its shim does
    /// not run on this machine, or the program has not been started.
    pub fn children(&self) -> Option<Vec<Child>> {
        let started = files::read::<Started>(self.dir(), files::SHIM).ok()??;
        let program = started.child?;
        if Identity::of(started.shim.pid)? != started.shim {
            return None;
        }
        let mut below = linux::descendants(started.shim.pid, 0).ok()?;
        below.retain(|process| process.pid != program.pid);
        let newest = below.iter().skip(below.len().saturating_sub(MOST));
        Some(newest.map(child).collect())
    }
}
