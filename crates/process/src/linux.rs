//! Linux: pidfds, the subreaper, signals, `/proc`.
//!
//! A port to another system replaces this module: the same functions, by that system's means.

mod reaper;
mod tree;

pub(crate) use reaper::{
    asked_to_end, become_reaper, close_inherited, is_childless, next_dead, signal_group, signals,
};
pub(crate) use tree::{Marker, Root, descendants, of_run};

use std::fs;
use std::io::Read as _;
use std::os::fd::{AsFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions};
use serde::{Deserialize, Serialize};

/// The executable of this process, even when its file was replaced by an upgrade.
pub(crate) const THIS_EXECUTABLE: &str = "/proc/self/exe";

/// The file of this executable, as it was at the first call: after an upgrade the new one stands there.
pub fn this_program() -> Option<PathBuf> {
    static PROGRAM: OnceLock<Option<PathBuf>> = OnceLock::new();
    let read = || fs::read_link(THIS_EXECUTABLE).ok();
    PROGRAM.get_or_init(read).clone().filter(|path| path.exists())
}

/// The identity of a process, which no later process with the same number has.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Identity {
    /// The boot it lives in.
    pub boot: String,
    /// Its process id.
    pub pid: u32,
    /// When it started, in clock ticks since that boot.
    pub start: u64,
}

impl Identity {
    /// The process that has this process id now; `None` when there is none.
    pub(crate) fn of(pid: u32) -> Option<Self> {
        Some(Self {
            boot: boot()?,
            pid,
            start: start_of(pid)?,
        })
    }

    /// When it started, in clock ticks since this boot; 0 if it was another boot, on which nothing of it
    /// lives any more.
    pub(crate) fn since(&self) -> u64 {
        if boot().as_deref() == Some(self.boot.as_str()) {
            self.start
        } else {
            0
        }
    }

    /// A descriptor of exactly this process; `None` when it is gone and waited for.
    pub(crate) fn open(&self) -> Result<Option<OwnedFd>, Errno> {
        if boot().as_deref() != Some(self.boot.as_str()) {
            return Ok(None);
        }
        let fd = match open(self.pid) {
            Err(Errno::SRCH) => return Ok(None),
            other => other?,
        };
        // Looked at after the descriptor is held: from here on the number cannot pass to another process
        // unnoticed.
        Ok((start_of(self.pid) == Some(self.start)).then_some(fd))
    }
}

/// The id of this boot.
fn boot() -> Option<String> {
    fs::read_to_string("/proc/sys/kernel/random/boot_id")
        .ok()
        .map(|id| id.trim().to_owned())
}

fn start_of(pid: u32) -> Option<u64> {
    Some(process(pid)?.start)
}

fn number(pid: u32) -> Result<Pid, Errno> {
    i32::try_from(pid).ok().and_then(Pid::from_raw).ok_or(Errno::SRCH)
}

/// A descriptor of the process that has this process id now.
pub(crate) fn open(pid: u32) -> Result<OwnedFd, Errno> {
    rustix::process::pidfd_open(number(pid)?, PidfdFlags::empty())
}

/// Sends a signal; that the process has ended already is no error.
pub(crate) fn send(process: BorrowedFd<'_>, signal: Signal) -> Result<(), Errno> {
    match rustix::process::pidfd_send_signal(process, signal) {
        Err(Errno::SRCH) => Ok(()),
        other => other,
    }
}

/// Whether the process of a pidfd has ended, waiting for it at most this long.
pub(crate) fn ended(process: BorrowedFd<'_>, timeout: Duration) -> Result<bool, Errno> {
    let mut fds = [PollFd::new(&process, PollFlags::IN)];
    poll(&mut fds, timeout).map(|ready| ready > 0)
}

/// Takes a dead child of ours out of the process table; no error if it is not ours or alive.
pub(crate) fn reap(process: BorrowedFd<'_>) {
    let _ = rustix::process::waitid(
        WaitId::PidFd(process),
        WaitIdOptions::EXITED | WaitIdOptions::NOHANG,
    );
}

/// Waits for descriptors; an interruption by a signal is a wake-up with nothing ready.
pub(crate) fn poll(fds: &mut [PollFd<'_>], timeout: Duration) -> Result<usize, Errno> {
    // Rounded up to the next millisecond is not needed: the kernel takes nanoseconds.
    let timeout = Timespec {
        tv_sec: i64::try_from(timeout.as_secs()).unwrap_or(i64::MAX),
        tv_nsec: i64::from(timeout.subsec_nanos()),
    };
    match rustix::event::poll(fds, Some(&timeout)) {
        Err(Errno::INTR) => Ok(0),
        other => other,
    }
}

/// A process, as `/proc` shows it.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: u32,
    pub(crate) parent: u32,
    /// Clock ticks since boot.
    start: u64,
    /// Its own CPU time.
    pub(crate) cpu_ms: u64,
    /// The CPU time of the children that it has waited for.
    pub(crate) waited_cpu_ms: u64,
    /// The number of its threads.
    threads: u32,
    dead: bool,
    stopped: bool,
    /// Whether it carries the marker that was looked for.
    marked: bool,
}

impl Process {
    /// Its identity on this boot.
    pub(crate) fn key(&self) -> (u32, u64) {
        (self.pid, self.start)
    }
}

/// When a process was started, in milliseconds since 1970, where the clock says `now`; 0 when that is not
/// known. Time in which the machine slept counts.
pub(crate) fn started_at(process: &Process, now: u64) -> u64 {
    let uptime = fs::read_to_string("/proc/uptime").unwrap_or_default();
    let seconds: Option<f64> = uptime.split(' ').next().and_then(|text| text.parse().ok());
    let Some(up) = seconds.and_then(|seconds| Duration::try_from_secs_f64(seconds).ok()) else {
        return 0;
    };
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    let start = process.start.saturating_mul(1000) / per_second;
    let up = u64::try_from(up.as_millis()).unwrap_or(u64::MAX);
    now.saturating_sub(up.saturating_sub(start))
}

/// How often the kernel has let this process run so far, in its first thread; `None` where the system does
/// not count it.
pub(crate) fn times_run(pid: u32) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    let count = |name: &str| -> Option<u64> {
        let line = status.lines().find_map(|line| line.strip_prefix(name))?;
        line.trim().parse().ok()
    };
    Some(count("voluntary_ctxt_switches:")?.saturating_add(count("nonvoluntary_ctxt_switches:")?))
}

/// How a process is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Life {
    /// There is none of this number, or none that has not ended.
    Gone,
    /// A signal has stopped it, and another lets it go on.
    Stopped,
    /// It runs or waits, as far as can be seen.
    Runs,
}

/// How the process of this number is, here.
#[must_use]
pub fn life(pid: u32) -> Life {
    let Ok(number) = number(pid) else {
        return Life::Gone;
    };
    if rustix::process::test_kill_process(number) == Err(Errno::SRCH) {
        return Life::Gone;
    }
    // Others' processes may be hidden.
    match process(pid) {
        Some(process) if process.dead => Life::Gone,
        Some(process) if process.stopped => Life::Stopped,
        Some(_) | None => Life::Runs,
    }
}

pub(crate) fn process(pid: u32) -> Option<Process> {
    // One read of one file: a look at all processes has hundreds of them.
    let mut buffer = [0; 1024];
    let mut file = fs::File::open(format!("/proc/{pid}/stat")).ok()?;
    let length = file.read(&mut buffer).ok()?;
    from_stat(pid, &buffer[..length])
}

/// A process from its `stat` file: the name in parentheses may hold anything, the fields behind it are what
/// proc(5) says, the first of them being the third of the file.
fn from_stat(pid: u32, stat: &[u8]) -> Option<Process> {
    let behind = stat.iter().rposition(|byte| *byte == b')')? + 1;
    let text = std::str::from_utf8(&stat[behind..]).ok()?;
    let mut fields = text.split_ascii_whitespace();
    let state = fields.next()?;
    let parent = fields.next()?.parse().ok()?;
    let per_second = rustix::param::clock_ticks_per_second().max(1);
    // Those of waited-for children are signed, and never negative.
    let mut ms = fields.by_ref().skip(9).take(4).map(|ticks| {
        let ticks: u64 = ticks.parse().unwrap_or(0);
        ticks.saturating_mul(1000) / per_second
    });
    let (user, system) = (ms.next()?, ms.next()?);
    let (waited_user, waited_system) = (ms.next()?, ms.next()?);
    let threads = fields.nth(2)?.parse().ok()?;
    let start = fields.nth(1)?.parse().ok()?;
    Some(Process {
        pid,
        parent,
        start,
        cpu_ms: user + system,
        waited_cpu_ms: waited_user + waited_system,
        threads,
        dead: matches!(state, "Z" | "X" | "x"),
        stopped: matches!(state, "T" | "t"),
        marked: false,
    })
}

/// Whether the environment of a process has a variable, with this value if one is given, as far as this
/// process may read it.
pub(crate) fn has_variable(pid: u32, name: &str, value: Option<&str>) -> bool {
    let Ok(environment) = fs::read(format!("/proc/{pid}/environ")) else {
        return false;
    };
    let wanted = |entry: &[u8]| {
        let entry = entry.strip_prefix(name.as_bytes());
        let found = entry.and_then(|rest| rest.strip_prefix(b"="));
        found.is_some_and(|found| value.is_none_or(|value| found == value.as_bytes()))
    };
    environment.split(|byte| *byte == 0).any(wanted)
}

/// A path to the directory in which a process works, also while that directory has no other path any more.
pub(crate) fn working_directory(pid: u32) -> PathBuf {
    format!("/proc/{pid}/cwd").into()
}

/// Signals this very process, never a later one with its number. Errors: permission.
pub(crate) fn signal(process: &Process, signal: Signal) -> Result<(), Errno> {
    let fd = match open(process.pid) {
        Err(Errno::SRCH) => return Ok(()),
        other => other?,
    };
    if start_of(process.pid) == Some(process.start) {
        send(fd.as_fd(), signal)
    } else {
        Ok(())
    }
}

/// The command line of a process, joined by spaces, at most 200 characters; its name in brackets when it has
/// none.
pub(crate) fn command_line(pid: u32) -> String {
    let mut words = Vec::new();
    if let Ok(file) = fs::File::open(format!("/proc/{pid}/cmdline")) {
        // A command line may be megabytes long.
        let _ = file.take(1024).read_to_end(&mut words);
    }
    if words.is_empty() {
        let name = fs::read_to_string(format!("/proc/{pid}/comm")).unwrap_or_default();
        return format!("[{}]", name.trim_end());
    }
    while words.last() == Some(&0) {
        words.pop();
    }
    for byte in &mut words {
        if *byte == 0 {
            *byte = b' ';
        }
    }
    String::from_utf8_lossy(&words).chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_like_fields_does_not_move_the_fields() {
        let stat = b"7 (a) R 1 (b) S 42 1 1 0 -1 4 0 0 0 0 100 200 30 40 20 0 1 0 5555 0 0";
        let found = from_stat(7, stat).unwrap();
        assert_eq!((found.parent, found.start, found.dead), (42, 5555, false));
        assert_eq!(found.threads, 1);
        let per_second = rustix::param::clock_ticks_per_second();
        assert_eq!(found.cpu_ms, 300 * 1000 / per_second);
        assert_eq!(found.waited_cpu_ms, 70 * 1000 / per_second);
        assert!(from_stat(7, b"7 (cut off) R 1 2").is_none());
    }

    #[test]
    #[expect(
        clippy::disallowed_methods,
        reason = "a child of this very process is looked for"
    )]
    fn this_process_is_known_and_its_children_by_whichever_thread() {
        let own = std::process::id();
        assert_eq!(process(own).unwrap().start, start_of(own).unwrap());
        let thread = std::thread::spawn(|| std::process::Command::new("sleep").arg("60").spawn().unwrap());
        let mut child = thread.join().unwrap();
        let both = [descendants(own, 0), descendants(own, usize::MAX)].map(Result::unwrap);
        child.kill().unwrap();
        child.wait().unwrap();
        for found in both {
            assert!(found.iter().any(|process| process.pid == child.id()));
        }
    }
}
