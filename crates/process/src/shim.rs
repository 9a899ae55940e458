//! The shim: the process that owns one run from its start to its record.

use std::fs;
use std::io::Write as _;
use std::os::fd::{AsFd as _, OwnedFd};
use std::path::Path;
use std::process::{ExitCode, Stdio};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags};
use rustix::process::Signal;

use crate::capture::Capture;
use crate::clock::{self, Deadline};
use crate::elsewhere::Others;
use crate::error::{Error, Result, is_exhausted};
use crate::files::{self, Sync};
use crate::linux::{self, Identity, Marker, Root};
use crate::look;
use crate::record::{Beat, Captured, Exit, Fault, Reason, Started};
use crate::report::Report;
use crate::run::Run;
use crate::spawn::{self, Failure};
use crate::spec::Spec;
use crate::sweep;
use crate::tail::Stream;

/// How long the rest in the pipes is read when the program and its stragglers are dead: a process that has
/// escaped may hold the pipes open for ever.
const DRAIN: Duration = Duration::from_millis(500);
/// How often writing the record is tried again, once a second, when it fails for another reason than a full
/// disk.
const RECORD_TRIES: u32 = 300;

/// The shim's whole life, for the binary's hidden subcommand, with the run's directory. To be called by a
/// process that does nothing else, before it starts a thread or opens a file: it takes over signals, standard
/// output and all children, and closes every descriptor above 2.
///
/// Exit codes, for a reader of logs only: 0 the record is written, 3 another shim has or had this run, 1 the
/// run could not begin (standard output says why).
pub fn shim_main(dir: &Path) -> ExitCode {
    match shim(dir) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => {
            send(&Report::Taken);
            ExitCode::from(3)
        }
        Err(error) => {
            send(&gave_up(&error));
            ExitCode::FAILURE
        }
    }
}

/// Reports to the engine, and closes standard output, so that the engine need not wait for more.
fn send(report: &Report) {
    let mut out = std::io::stdout();
    let _ = serde_json::to_writer(&mut out, report);
    let _ = out.write_all(b"\n");
    if let Ok(null) = fs::OpenOptions::new().write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdout(null);
    }
}

/// Gives `false` when another shim has the run.
fn shim(dir: &Path) -> Result<bool> {
    linux::close_inherited();
    let signals = linux::signals().map_err(Error::system("take over signals"))?;
    linux::become_reaper().map_err(Error::system("become the reaper of orphans"))?;
    let run = Run::open(dir)?.worked_in()?;
    let Some(lock) = run.lock(|| run.has_begun())? else {
        return Ok(false);
    };
    if run.has_begun()? {
        return Ok(false);
    }
    let shim = Identity::of(std::process::id())
        .ok_or_else(|| Error::system("read /proc")(rustix::io::Errno::NOENT))?;
    let mut started = Started {
        shim,
        child: None,
        started_at: clock::now_ms(),
    };
    failpoint::hit("shim.locked");
    files::replace(run.dir(), files::SHIM, &started, Sync::Boot)?;
    failpoint::hit("shim.known");

    let exit = match begin(&run, &mut started) {
        Ok(watched) => {
            send(&Report::Begun);
            watched.supervise(&run, &signals, &started)
        }
        // The machine lacked something for a moment: nothing ran, and the run can be started again.
        Err(NotBegun::Failed(Failure { why, errno, .. })) if errno.is_some_and(is_exhausted) => {
            let file = run.dir().join(files::SHIM);
            fs::remove_file(&file).map_err(Error::file("remove", &file))?;
            send(&Report::GaveUp { why, errno });
            return Ok(true);
        }
        Err(not) => over(not.reason(), &started),
    };
    failpoint::hit("shim.ended");
    record(&run, &exit)?;
    failpoint::hit("shim.recorded");
    drop(lock);
    send(&Report::Begun);
    Ok(true)
}

/// Starts the program, unless a stop was asked for before.
fn begin(run: &Run, started: &mut Started) -> Result<Watched, NotBegun> {
    let damaged = |error: Error| {
        NotBegun::Failed(Failure {
            fault: Fault::Record,
            why: text::with_causes(&error),
            errno: error.errno(),
        })
    };
    if files::is_there(run.dir(), files::STOP).map_err(damaged)? {
        return Err(NotBegun::Stopped);
    }
    let spec = run.spec().map_err(damaged)?;
    let create = |stream: Stream| {
        files::private(&run.dir().join(stream.file())).map(|file| Capture::new(file, spec.output_cap))
    };
    let (out, err) = (
        create(Stream::Out).map_err(damaged)?,
        create(Stream::Err).map_err(damaged)?,
    );
    let path = run.dir().join(files::STDIN);
    let stdin = match files::open(&path) {
        Ok(file) => Stdio::from(file),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Stdio::null(),
        Err(error) => return Err(damaged(Error::file("read", &path)(error))),
    };
    let mut child = spawn::spawn(&spec, stdin).map_err(NotBegun::Failed)?;
    failpoint::hit("shim.spawned");
    let pid = child.id();
    started.child = Identity::of(pid);
    // The program runs: from here on the shim must not end because it cannot write something.
    let _ = files::replace(run.dir(), files::SHIM, started, Sync::Boot);
    failpoint::hit("shim.child_known");
    let _ = run.forget_env();
    let out = Pipe {
        fd: child.stdout.take().map(OwnedFd::from),
        capture: out,
    };
    let err = Pipe {
        fd: child.stderr.take().map(OwnedFd::from),
        capture: err,
    };
    Ok(Watched {
        pid,
        spec,
        pipes: [out, err],
        output_at: 0,
        processes: 0,
    })
}

/// The report of a shim that could not even take its run.
fn gave_up(error: &Error) -> Report {
    Report::GaveUp {
        why: text::with_causes(error),
        errno: error.errno(),
    }
}

/// The reason why the program was not started.
enum NotBegun {
    /// A stop was asked for before.
    Stopped,
    Failed(Failure),
}

impl NotBegun {
    fn reason(self) -> Reason {
        match self {
            Self::Stopped => Reason::Stopped,
            Self::Failed(Failure { fault, why, .. }) => Reason::SpawnFailed { fault, error: why },
        }
    }
}

/// The record of a run whose program never ran.
fn over(reason: Reason, started: &Started) -> Exit {
    Exit {
        reason,
        code: None,
        signal: None,
        started_at: started.started_at,
        ended_at: clock::now_ms(),
        out: Captured::default(),
        err: Captured::default(),
        survivors: 0,
    }
}

/// Whether to wait for room on the disk: somebody will read the record, and nobody has asked the run to end.
/// A person who asks for an end may be about to make room.
fn is_waited_for(run: &Run) -> bool {
    run.is_there() && !files::is_there(run.dir(), files::STOP).unwrap_or(true)
}

fn record(run: &Run, exit: &Exit) -> Result<()> {
    let _ = run.forget_env();
    let mut tries = 0;
    loop {
        match files::replace(run.dir(), files::EXIT, exit, Sync::Disk) {
            // A step is paid for, and its record is all that is left of it: wait for room for as long as it
            // takes.
            Err(Error::File { source, .. }) if text::is_exhausted(&source) && is_waited_for(run) => {
                let _ = linux::poll(&mut [], Duration::from_secs(1));
            }
            Err(_) if tries < RECORD_TRIES && run.is_there() => {
                tries += 1;
                let _ = linux::poll(&mut [], Duration::from_secs(1));
            }
            other => return other,
        }
    }
}

/// One of the program's output streams.
struct Pipe {
    /// `None` once its end was read.
    fd: Option<OwnedFd>,
    capture: Capture,
}

impl Pipe {
    /// Reads at most a buffer full, once poll has reported that there is something to read. Gives whether
    /// there was.
    fn pump(&mut self) -> bool {
        let Some(fd) = &self.fd else { return false };
        let mut buffer = [0; 64 * 1024];
        match rustix::io::read(fd, &mut buffer) {
            Ok(0) => self.fd = None,
            Ok(count) => {
                self.capture.feed(&buffer[..count]);
                return true;
            }
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => self.fd = None,
        }
        false
    }
}

/// A program that runs, with everything that its shim knows of it.
struct Watched {
    pid: u32,
    spec: Spec,
    pipes: [Pipe; 2],
    /// When the program printed something last, in milliseconds since 1970.
    output_at: u64,
    /// The processes that the last heartbeat found.
    processes: usize,
}

/// The state of ending the program.
enum Ending {
    /// Nobody has asked for it.
    No,
    /// TERM was sent; KILL is due.
    Asked(Deadline),
    /// KILL was sent.
    Forced,
}

impl Watched {
    fn supervise(mut self, run: &Run, signals: &OwnedFd, started: &Started) -> Exit {
        let mut reason = Reason::Exited;
        let mut ending = Ending::No;
        let timeout = self.spec.timeout_ms.map(Deadline::after_ms);
        let mut beat = Deadline::after_ms(0);
        let (code, signal) = loop {
            if let Some(end) = self.reap() {
                break end;
            }
            if beat.passed() {
                self.beat(run);
                beat = Deadline::after_ms(self.spec.beat_ms.max(1));
            }
            let mut wake = beat;
            match &ending {
                Ending::No => wake = timeout.map_or(wake, |timeout| wake.min(timeout)),
                Ending::Asked(kill) => wake = wake.min(*kill),
                Ending::Forced => {}
            }
            let asked = self.wait(signals, wake.left());
            // On a machine that was suspended, say, the program may have ended by itself long before this
            // call returned.
            if let Some(end) = self.reap() {
                break end;
            }
            match ending {
                Ending::No if asked || timeout.is_some_and(Deadline::passed) => {
                    reason = if asked { Reason::Stopped } else { Reason::TimedOut };
                    linux::signal_group(self.pid, Signal::TERM);
                    // A stopped (suspended) program takes its TERM only when it goes on.
                    linux::signal_group(self.pid, Signal::CONT);
                    ending = Ending::Asked(Deadline::after_ms(self.spec.grace_ms));
                }
                Ending::Asked(kill) if kill.passed() => {
                    linux::signal_group(self.pid, Signal::KILL);
                    ending = Ending::Forced;
                }
                Ending::No | Ending::Asked(_) | Ending::Forced => {}
            }
        };
        let others = Others::of(run, self.spec.run_id.clone());
        let survivors = self.kill_stragglers(signals, started.shim.since(), &others);
        self.drain(signals);
        let [out, err] = self.pipes;
        // Nothing of the program lives any more, so that nothing waits meanwhile.
        let mut wait = || {
            let _ = linux::poll(&mut [], Duration::from_secs(1));
            is_waited_for(run)
        };
        Exit {
            reason,
            code,
            signal,
            started_at: started.started_at,
            ended_at: clock::now_ms(),
            out: out.capture.finish(&mut wait),
            err: err.capture.finish(&mut wait),
            survivors,
        }
    }

    /// Waits for output, a signal, or the timeout; gives whether somebody asks for an end.
    fn wait(&mut self, signals: &OwnedFd, timeout: Duration) -> bool {
        let signal_fd = signals.as_fd();
        let mut fds = vec![PollFd::new(&signal_fd, PollFlags::IN)];
        let opened: Vec<usize> = (0..2).filter(|pipe| self.pipes[*pipe].fd.is_some()).collect();
        for pipe in &self.pipes {
            fds.extend(pipe.fd.as_ref().map(|fd| PollFd::new(fd, PollFlags::IN)));
        }
        // An error here cannot be mended; the pause keeps the loop from burning a core.
        if linux::poll(&mut fds, timeout).is_err() {
            let _ = linux::poll(&mut [], Duration::from_millis(10));
            return false;
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        for (pipe, _) in opened.iter().zip(&ready[1..]).filter(|(_, ready)| **ready) {
            if self.pipes[*pipe].pump() {
                self.output_at = clock::now_ms();
            }
        }
        linux::asked_to_end(signals.as_fd())
    }

    /// Takes dead children out of the process table, adopted ones too; gives the program's end when it is
    /// among them.
    fn reap(&self) -> Option<(Option<i32>, Option<i32>)> {
        let mut end = None;
        while let Some((pid, code, signal)) = linux::next_dead() {
            if pid == self.pid {
                end = Some((code, signal));
            }
        }
        end
    }

    /// Kills everything that the program has left behind, and reads its output meanwhile.
    fn kill_stragglers(&mut self, signals: &OwnedFd, since: u64, others: &Others) -> u32 {
        let own = std::process::id();
        let run_id = self.spec.run_id.clone();
        let find = || {
            linux::of_run(
                Marker {
                    run_id: &run_id,
                    since,
                },
                Some(Root {
                    pid: own,
                    included: false,
                }),
                |pid| others.are_held_by(pid),
            )
        };
        let pause = |time| {
            let until = Deadline::after(time);
            while !until.passed() {
                self.wait(signals, until.left());
                while linux::next_dead().is_some() {}
            }
        };
        let sure = |_| {
            while linux::next_dead().is_some() {}
            linux::is_childless()
        };
        sweep::kill(find, sure, pause).map_or(0, |killed| killed.count)
    }

    fn drain(&mut self, signals: &OwnedFd) {
        let deadline = Deadline::after(DRAIN);
        while self.pipes.iter().any(|pipe| pipe.fd.is_some()) && !deadline.passed() {
            self.wait(signals, deadline.left());
        }
    }

    /// Writes a heartbeat; one that cannot be written is left out.
    fn beat(&mut self, run: &Run) {
        let children = linux::descendants(std::process::id(), self.processes).unwrap_or_default();
        self.processes = children.len();
        let (own, below): (Vec<_>, Vec<_>) =
            children.into_iter().partition(|process| process.pid == self.pid);
        let newest = below.iter().skip(below.len().saturating_sub(look::MOST));
        let beat = Beat {
            at: clock::now_ms(),
            out_bytes: self.pipes[0].capture.seen(),
            err_bytes: self.pipes[1].capture.seen(),
            output_at: self.output_at,
            cpu_ms: own.iter().map(|process| process.cpu_ms).sum(),
            children: newest.map(look::child).collect(),
            children_count: u32::try_from(below.len()).unwrap_or(u32::MAX),
            children_cpu_ms: below
                .iter()
                .map(|process| process.cpu_ms + process.waited_cpu_ms)
                .sum(),
        };
        let _ = files::replace(run.dir(), files::BEAT, &beat, Sync::Boot);
    }
}
