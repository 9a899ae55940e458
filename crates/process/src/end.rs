//! The end of a run by order: its shim is asked, and a frozen shim is killed with everything that it has
//! started.

use std::os::fd::AsFd as _;
use std::time::Duration;

use rustix::process::Signal;

use crate::elsewhere::Others;
use crate::error::{Error, Result};
use crate::files;
use crate::linux::{self, Identity, Life};
use crate::record::Started;
use crate::run::Run;
use crate::spec::DEFAULT_GRACE_MS;
use crate::sweep::{self, Swept, readable};

/// A shim that is asked to end is looked at so many times within its grace.
const LOOKS: u32 = 5;
/// The shortest and the longest time between two of these looks.
const LOOK: (Duration, Duration) = (Duration::from_millis(50), Duration::from_secs(1));
/// How long a shim that was killed may take to be gone. One that is stuck in the kernel takes longer.
const GONE: Duration = Duration::from_secs(2);
/// How long a shim that was suspended may take to stand still.
const STANDS_STILL: Duration = Duration::from_millis(200);

/// A sign of life of a shim: it changes whenever the shim runs, which it does at each heartbeat, and at once
/// when somebody signals it. While it stays the same, the shim is frozen: suspended by a signal, or stuck in
/// the kernel. It does not depend on the disk, where a heartbeat may find no room.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pulse {
    /// The process id of the shim.
    pub shim: u32,
    /// How often it has run. The number itself means nothing; where the system does not count, it is that of
    /// the last heartbeat.
    pub count: u64,
}

impl Run {
    /// The pulse of its shim, now; `None` as long as nobody knows who the shim is.
    pub fn pulse(&self) -> Result<Option<Pulse>> {
        let started: Option<Started> = readable(files::read(self.dir(), files::SHIM))?;
        let Some(Started { shim, .. }) = started else {
            return Ok(None);
        };
        let count = match linux::times_run(shim.pid) {
            Some(times) => times,
            None => readable(self.beat())?.map_or(0, |beat| beat.at),
        };
        Ok(Some(Pulse {
            shim: shim.pid,
            count,
        }))
    }

    /// Whether somebody has asked it to stop.
    pub fn is_stop_wished(&self) -> Result<bool> {
        files::is_there(self.dir(), files::STOP)
    }

    /// Ends the run: asks its shim to [`stop`](Self::stop), and waits for as long as the shim does anything
    /// about it. A shim that has not run at all for the run's grace, though it was signalled all the while,
    /// is frozen, and the run is ended by force ([`kill`](Self::kill)). Leaves nothing of it alive, as
    /// [`sweep`](Self::sweep) does. A run that has not been started never will be. Doing it again changes
    /// nothing. Blocks for the grace and some seconds.
    ///
    /// Only time in which this function looks counts: neither a machine that sleeps nor a caller that is
    /// suspended takes anything from the shim's grace.
    ///
    /// Errors: those of [`stop`](Self::stop), [`watch`](Self::watch) and [`kill`](Self::kill).
    pub fn end(&self) -> Result<Swept> {
        let grace = self.spec().map_or(DEFAULT_GRACE_MS, |spec| spec.grace_ms);
        let look = (Duration::from_millis(grace) / LOOKS).clamp(LOOK.0, LOOK.1);
        let looks = Duration::from_millis(grace)
            .as_millis()
            .div_ceil(look.as_millis());
        let watch = self.watch()?;
        let mut silent = 0;
        loop {
            let before = self.pulse()?;
            // A shim that can run does so now, however often it was asked before.
            self.stop()?;
            if watch.wait(look)?.is_some() {
                return self.sweep();
            }
            silent = if self.pulse()? == before { silent + 1 } else { 0 };
            if silent >= looks {
                return self.kill();
            }
        }
    }

    /// Ends the run by force, without its shim's help: KILL to the shim and to all that the run has started,
    /// however it is found, by the tree below the shim or by the run's marker. Then the record is written,
    /// unless the shim was faster. A shim that is stuck in the kernel may outlive this by as long as the
    /// kernel takes; it runs no instruction of its own any more, so that the run is over all the same. Blocks
    /// for milliseconds, for some seconds at most.
    ///
    /// Errors: [`Error::Survivors`], when something cannot be killed; [`Error::StillRunning`], when a shim
    /// holds the lock of which nobody knows who it is.
    pub fn kill(&self) -> Result<Swept> {
        self.wish_stop()?;
        let started: Option<Started> = readable(files::read(self.dir(), files::SHIM))?;
        let Some(started) = started else {
            return self.sweep();
        };
        let Some(process) = self.own_shim(&started)? else {
            return self.sweep();
        };
        let shim = started.shim;
        // Suspended, the shim can neither start anything nor give up what it has. As long as it is there,
        // everything that the run has started is below it, daemons without the marker too.
        linux::send(process.as_fd(), Signal::STOP).map_err(Error::system("suspend a shim"))?;
        stands_still(&shim);
        let killed = self.kill_below(&shim)?;
        linux::send(process.as_fd(), Signal::KILL).map_err(Error::system("kill a shim"))?;
        let is_gone = linux::ended(process.as_fd(), GONE).map_err(Error::system("wait for a shim"))?;
        linux::reap(process.as_fd());
        let lock = if is_gone { Some(self.lock_ended()?) } else { None };
        let swept = self.clear(killed)?;
        drop(lock);
        Ok(Swept {
            by_force: true,
            ..swept
        })
    }

    /// Kills what is below the shim or carries the run's marker; gives how many there were.
    fn kill_below(&self, shim: &Identity) -> Result<u32> {
        let run_id = self.spec()?.run_id;
        let others = Others::of(self, run_id.clone());
        let find = || {
            sweep::alive(
                &run_id,
                shim.since(),
                Some(linux::Root {
                    pid: shim.pid,
                    included: false,
                }),
                &others,
            )
        };
        sweep::kill_all(self.dir(), find, |clean| clean > 1)
    }
}

/// Waits until a shim that was suspended is. One that is stuck in the kernel stands still as it is.
fn stands_still(shim: &Identity) {
    let deadline = crate::clock::Deadline::after(STANDS_STILL);
    while linux::life(shim.pid) == Life::Runs && !deadline.passed() {
        let _ = linux::poll(&mut [], Duration::from_millis(1));
    }
}
