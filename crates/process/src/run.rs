//! A run: its directory, and everything that can be done with it.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::fs::FlockOperation;
use rustix::io::Errno;
use rustix::process::Signal;

use crate::asks::Asks;
use crate::clock::Deadline;
use crate::error::{Error, Result};
use crate::files::{self, Sync};
use crate::linux;
use crate::record::{Beat, Exit, Said, Started};
use crate::report::Report;
use crate::spec::{Kept, KeptEnv, Spec};
use crate::watch::Watch;

/// How long a shim may take until it reports that it has begun.
const SHIM_BEGINS: Duration = Duration::from_secs(30);

/// The variable of a shim's environment that names the run's directory. A command line that names it holds
/// the path of the repository, and whoever ends programs by a word of that (`pkill -f`) would end the shim.
pub const RUN_DIR: &str = "CREW_SHIM_RUN";

/// How to start a shim: an executable, and the arguments that make it call [`shim_main`](crate::shim_main)
/// with the directory that [`RUN_DIR`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shim {
    /// The executable, absolute.
    pub program: PathBuf,
    /// Its arguments.
    pub args: Vec<OsString>,
}

impl Shim {
    /// This very executable, even when its file was replaced by an upgrade.
    pub fn this_executable(args: impl IntoIterator<Item = impl Into<OsString>>) -> Self {
        Self {
            program: linux::THIS_EXECUTABLE.into(),
            args: args.into_iter().map(Into::into).collect(),
        }
    }
}

/// The state of a run. Derived from its directory each time: the lock shows whether it lives, the record how
/// it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Status {
    /// Nothing has run. It may be started; a shim on its way finds out by the lock.
    NotStarted,
    /// A shim holds the lock.
    Running {
        /// Its processes; `None` in the first moments.
        started: Option<Started>,
    },
    /// It is over, and this is its record.
    Ended(Exit),
    /// It had begun, nobody holds the lock, and there is no record: the shim was killed. Sweep it.
    Lost {
        /// Its processes.
        started: Started,
    },
}

impl Status {
    /// Nothing of the run can happen any more by itself.
    pub fn is_over(&self) -> bool {
        matches!(self, Self::Ended(_) | Self::Lost { .. })
    }
}

/// A run's directory. Cheap to make and to clone; holds nothing open.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Run {
    dir: PathBuf,
}

impl Run {
    /// Ensures that the directory of a run is there, whole, readable by its owner only: made at once or not
    /// at all. A run that is there already is left as it is. `dir` is absolute; `stdin` is what the program
    /// can read from its standard input, `None` for nothing (`/dev/null`).
    pub fn create(dir: impl Into<PathBuf>, spec: &Spec, stdin: Option<&[u8]>) -> Result<Self> {
        let dir = dir.into();
        spec.check()?;
        let bad = |why| Error::BadSpec {
            what: format!("the directory {}", dir.display()),
            why,
        };
        if !dir.is_absolute() {
            return Err(bad("it must be absolute"));
        }
        let (Some(parent), Some(name)) = (dir.parent(), dir.file_name()) else {
            return Err(bad("it must have a name"));
        };
        if files::is_there(&dir, files::SPEC)? {
            return Ok(Self { dir });
        }
        let mut temporary = OsString::from(".new-");
        temporary.push(name);
        let temporary = parent.join(temporary);
        if temporary.exists() {
            fs::remove_dir_all(&temporary).map_err(Error::file("remove", &temporary))?;
        }
        files::private_dir(&temporary)?;
        let (kept, env) = spec.to_kept();
        if let Some(stdin) = stdin {
            let path = temporary.join(files::STDIN);
            files::private(&path)?
                .write_all(stdin)
                .map_err(Error::file("write", &path))?;
        }
        if let Some(token) = &spec.token {
            Asks::make(&temporary, token)?;
        }
        for (name, content) in &spec.files {
            let path = temporary.join(name);
            files::private(&path)?
                .write_all(content.as_bytes())
                .map_err(Error::file("write", &path))?;
        }
        files::replace(&temporary, files::ENV, &env, Sync::Boot)?;
        // After a power cut it is whole or not there.
        files::replace(&temporary, files::SPEC, &kept, Sync::Disk)?;
        failpoint::hit("run.written");
        fs::rename(&temporary, &dir).map_err(Error::file("create", &dir))?;
        failpoint::hit("run.made");
        Ok(Self { dir })
    }

    /// The run in a directory, made earlier by this engine or another. Errors: there is none.
    pub fn open(dir: impl Into<PathBuf>) -> Result<Self> {
        let dir = dir.into();
        if files::is_there(&dir, files::SPEC)? {
            Ok(Self { dir })
        } else {
            Err(Error::NoRun { dir })
        }
    }

    /// The same run, by the directory in which this process works from now on: whoever moves the repository
    /// while a step runs moves the run's directory with it, and the record belongs there.
    pub(crate) fn worked_in(self) -> Result<Self> {
        #[expect(
            clippy::disallowed_methods,
            reason = "a shim is a process of its own, with one thread"
        )]
        std::env::set_current_dir(&self.dir).map_err(Error::file("enter", &self.dir))?;
        Ok(Self { dir: ".".into() })
    }

    /// Whether the directory was not removed; it may still be open when it was.
    pub(crate) fn is_there(&self) -> bool {
        self.dir.metadata().is_ok_and(|meta| meta.nlink() > 0)
    }

    /// Its directory.
    pub fn dir(&self) -> &Path {
        &self.dir
    }

    /// Its specification. The environment is there until the program has started, and empty afterwards.
    pub fn spec(&self) -> Result<Spec> {
        let kept: Kept = files::read(&self.dir, files::SPEC)?.ok_or_else(|| Error::NoRun {
            dir: self.dir.clone(),
        })?;
        let env: KeptEnv = files::read(&self.dir, files::ENV)?.unwrap_or_default();
        Ok(Spec::from_kept(kept, env))
    }

    /// Its state.
    pub fn status(&self) -> Result<Status> {
        // In this order: a shim writes its identity under the lock, and its record before it releases the
        // lock. So a shim that was there before the lock was found free is dead, and has left its record by
        // now if it ever will.
        let started = files::read::<Started>(&self.dir, files::SHIM);
        let held = self.is_held()?;
        if let Some(exit) = files::read(&self.dir, files::EXIT)? {
            return Ok(Status::Ended(exit));
        }
        Ok(match (held, started?) {
            (true, started) => Status::Running { started },
            (false, Some(started)) => Status::Lost { started },
            (false, None) => Status::NotStarted,
        })
    }

    /// Whether somebody holds the lock. The probe is a shared lock for a moment; a shim that meets it tries
    /// again.
    fn is_held(&self) -> Result<bool> {
        let path = self.dir.join(files::LOCK);
        let lock = match files::open(&path) {
            Ok(lock) => lock,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(false),
            Err(error) => return Err(Error::file("open", &path)(error)),
        };
        match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockShared) {
            Ok(()) => Ok(false),
            Err(Errno::WOULDBLOCK) => Ok(true),
            Err(errno) => Err(Error::file("lock", &path)(errno.into())),
        }
    }

    /// Takes the lock; `None` when somebody has it for longer than a probe, as soon as `begun` or after two
    /// seconds.
    pub(crate) fn lock(&self, begun: impl Fn() -> Result<bool>) -> Result<Option<File>> {
        let path = self.dir.join(files::LOCK);
        let lock = files::kept(&path)?;
        let deadline = Deadline::after_ms(2_000);
        loop {
            match rustix::fs::flock(&lock, FlockOperation::NonBlockingLockExclusive) {
                Ok(()) => return Ok(Some(lock)),
                Err(Errno::WOULDBLOCK) => {}
                Err(errno) => return Err(Error::file("lock", &path)(errno.into())),
            }
            if deadline.passed() || begun()? {
                return Ok(None);
            }
            let _ = linux::poll(&mut [], Duration::from_millis(2));
        }
    }

    /// Whether a shim has begun with it, now or earlier: then no other may.
    pub(crate) fn has_begun(&self) -> Result<bool> {
        Ok(files::is_there(&self.dir, files::SHIM)? || files::is_there(&self.dir, files::EXIT)?)
    }

    /// Ensures that it has been started, once in its life: a run that runs, has ended or is lost is only
    /// watched.
    ///
    /// Returns when the shim holds the lock and has tried to start the program (some milliseconds); whether
    /// that went well is the run's status. Blocks; errors leave nothing running but what a shim that was
    /// killed for its silence ([`Error::ShimSilent`]) may have started: [`sweep`](Self::sweep) ends it.
    pub fn start(&self, shim: &Shim) -> Result<Watch> {
        self.start_within(shim, SHIM_BEGINS)
    }

    fn start_within(&self, shim: &Shim, patience: Duration) -> Result<Watch> {
        if self.status()? != Status::NotStarted {
            return self.watch();
        }
        #[expect(clippy::disallowed_methods, reason = "the one place that starts a shim")]
        let mut command = Command::new(&shim.program);
        // Without the marker or anything else of an engine's environment: no sweep may take the shim for a
        // straggler of a run.
        command
            .args(&shim.args)
            .env_clear()
            .env(RUN_DIR, &self.dir)
            .envs(failpoint::environment())
            .current_dir(&self.dir);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut child = command.spawn().map_err(|source| Error::SpawnShim {
            program: shim.program.clone(),
            source,
        })?;
        failpoint::hit("run.launched");
        // Our own child, not waited for: the number is still its.
        let pidfd = linux::open(child.id()).map_err(Error::system("watch a shim"))?;
        let watch = Watch::new(self.clone(), Some(pidfd));
        let written = match child.stdout.take() {
            Some(out) => self.read_report(out.into(), patience)?,
            None => Some(Vec::new()),
        };
        match written.as_deref().map(Report::parse) {
            None => {
                // It may be frozen, and no later engine could find it: its identity may not be written yet.
                if let Some(shim) = watch.pidfd() {
                    linux::send(shim, Signal::KILL).map_err(Error::system("kill a shim"))?;
                }
                Err(Error::ShimSilent {
                    dir: self.dir.clone(),
                    waited_ms: u64::try_from(patience.as_millis()).unwrap_or(u64::MAX),
                })
            }
            Some(Report::Begun) => {
                failpoint::hit("run.begun");
                Ok(watch)
            }
            // Another shim was faster.
            Some(Report::Taken) => self.watch(),
            Some(Report::GaveUp { why, errno }) => match self.status()? {
                Status::NotStarted => Err(Error::ShimGaveUp {
                    dir: self.dir.clone(),
                    why,
                    errno,
                }),
                Status::Running { .. } | Status::Ended(_) | Status::Lost { .. } => self.watch(),
            },
        }
    }

    /// Reads the shim's report, up to the end of its standard output; `None` when that takes too long.
    fn read_report(&self, out: OwnedFd, patience: Duration) -> Result<Option<Vec<u8>>> {
        let deadline = Deadline::after(patience);
        let mut out = File::from(out);
        let mut written = Vec::new();
        loop {
            let fd = out.as_fd();
            let mut fds = [PollFd::new(&fd, PollFlags::IN)];
            let ready = linux::poll(&mut fds, deadline.left())
                .map_err(Error::system("wait for the report of a shim"))?;
            if ready == 0 {
                if deadline.passed() {
                    return Ok(None);
                }
                continue;
            }
            let mut piece = [0; 1024];
            let count = out
                .read(&mut piece)
                .map_err(Error::file("read the report of the shim of", &self.dir))?;
            written.extend(&piece[..count]);
            if count == 0 || written.len() > 64 * 1024 {
                return Ok(Some(written));
            }
        }
    }

    /// Watches for its end, whichever engine has started it.
    pub fn watch(&self) -> Result<Watch> {
        // In the first moments the shim holds the lock, and its identity is not yet written.
        let deadline = Deadline::after_ms(2_000);
        loop {
            match self.status()? {
                Status::Running {
                    started: Some(started),
                } => {
                    let shim = self.own_shim(&started)?;
                    return Ok(Watch::new(self.clone(), shim));
                }
                Status::Running { started: None } if !deadline.passed() => {
                    let _ = linux::poll(&mut [], Duration::from_millis(2));
                }
                _ => return Ok(Watch::new(self.clone(), None)),
            }
        }
    }

    /// Asks it to stop: TERM to the program's group, KILL after the grace, then every straggler. Returns at
    /// once; the end is seen by a [`Watch`]. Asking again, or when it is over, changes nothing. Asked before
    /// it was started, it will never start anything (a [`sweep`](Self::sweep) then writes the record).
    pub fn stop(&self) -> Result<()> {
        // The wish is in the directory before the shim is looked for, and a shim writes its identity before
        // it looks for the wish: one of the two sees the other.
        self.wish_stop()?;
        failpoint::hit("run.stop_wished");
        if let Status::Running {
            started: Some(started),
        } = self.status()?
            && let Some(shim) = self.own_shim(&started)?
        {
            linux::send(shim.as_fd(), Signal::TERM).map_err(Error::system("signal a shim"))?;
        }
        Ok(())
    }

    /// Notes in the directory that the run is to stop.
    pub(crate) fn wish_stop(&self) -> Result<()> {
        if !files::is_there(&self.dir, files::STOP)? {
            files::private(&self.dir.join(files::STOP))?;
        }
        Ok(())
    }

    /// Notes the last that the program said of its work.
    pub fn note_said(&self, said: &Said) -> Result<()> {
        files::replace(&self.dir, files::SAID, said, Sync::Boot)
    }

    /// The last that the program said of its work; `None` where no engine has read anything.
    pub fn said(&self) -> Result<Option<Said>> {
        files::read(&self.dir, files::SAID)
    }

    /// The last heartbeat; `None` before the first.
    pub fn beat(&self) -> Result<Option<Beat>> {
        files::read(&self.dir, files::BEAT)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_shim_that_says_nothing_is_killed() {
        let folder = tempfile::tempdir().unwrap();
        let spec = Spec::new("silent", "/bin/true", folder.path());
        let run = Run::create(folder.path().join("run"), &spec, None).unwrap();
        let silent = Shim {
            program: "/bin/sh".into(),
            args: ["-c", "kill -STOP $$"].map(OsString::from).into(),
        };
        let error = run.start_within(&silent, Duration::from_millis(100)).unwrap_err();
        assert!(matches!(error, Error::ShimSilent { .. }), "{error}");
        let name = format!("{RUN_DIR}={}", run.dir().display());
        let is_of_run = |pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment
                .split(|byte| *byte == 0)
                .any(|one| one == name.as_bytes())
        };
        let alive = || {
            let mut children = linux::descendants(std::process::id(), 0).unwrap().into_iter();
            children.any(|process| is_of_run(process.pid))
        };
        let deadline = Deadline::after(Duration::from_secs(60));
        while alive() {
            assert!(!deadline.passed(), "it stays");
            let _ = linux::poll(&mut [], Duration::from_millis(5));
        }
        assert_eq!(run.status().unwrap(), Status::NotStarted);
    }
}
