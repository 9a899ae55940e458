//! Linux: pidfds, the subreaper, signals, `/proc`.
//!
//! A port to another system replaces this file: the same functions, by that system's means.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::io::Read as _;
use std::os::fd::{AsFd, AsRawFd as _, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI32, Ordering};
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::process::{Pid, PidfdFlags, Signal, WaitId, WaitIdOptions, WaitOptions};
use serde::{Deserialize, Serialize};

use crate::spec::MARKER;

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

/// The marker of a run that is looked for.
#[derive(Clone, Copy)]
pub(crate) struct Marker<'a> {
    /// The id of the run.
    pub(crate) run_id: &'a str,
    /// In clock ticks since boot: a process that started earlier is none of the run's. Its environment, the
    /// costliest thing to read here, need not be read.
    pub(crate) since: u64,
}

/// All processes, each looked at once.
///
/// A listing of `/proc` is older than the looks at its processes: one that starts a child and ends in between
/// would be missed, and its child with it. So `/proc` is listed again until no new process is in it.
fn all(marker: Option<Marker<'_>>) -> Result<Vec<Process>, Errno> {
    let mut seen = BTreeSet::new();
    let mut found = Vec::new();
    for _ in 0..LISTINGS {
        let before = seen.len();
        for entry in
            fs::read_dir("/proc").map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?
        {
            let Ok(entry) = entry else { continue };
            let Some(pid) = entry.file_name().to_str().and_then(|name| name.parse().ok()) else {
                continue;
            };
            if !seen.insert(pid) {
                continue;
            }
            // A process that went away while it was looked at is not an error: it is gone.
            if let Some(mut process) = process(pid) {
                process.marked = marker.is_some_and(|marker| {
                    process.start >= marker.since && has_variable(pid, MARKER, Some(marker.run_id))
                });
                found.push(process);
            }
        }
        if seen.len() == before {
            break;
        }
    }
    Ok(found)
}

/// Fewer processes than this are found by the lists of children.
const MANY: usize = 64;

/// At most so many listings for one look at `/proc`: on some machines processes start all the time.
const LISTINGS: u32 = 20;

/// The living processes below this one, oldest first. `expected`: about how many these are. Good enough for a
/// heartbeat: a process that starts, or loses its parent, during this call can be missing.
pub(crate) fn descendants(root: u32, expected: usize) -> Result<Vec<Process>, Errno> {
    // A kernel without these lists has no such file: then everybody is asked for its parent. That is cheaper
    // too where most processes are below this one, as each of them has two files to read otherwise.
    let are_most =
        || rustix::system::sysinfo().procs < expected.saturating_mul(2).try_into().unwrap_or(u16::MAX);
    if !std::path::Path::new(&format!("/proc/{root}/task/{root}/children")).exists()
        || expected > MANY && are_most()
    {
        return Ok(below(all(None)?, root));
    }
    let (mut found, mut parents) = (Vec::new(), vec![(root, u32::MAX)]);
    let mut seen = BTreeSet::from([root]);
    while let Some((parent, threads)) = parents.pop() {
        for thread in threads_of(parent, threads) {
            let children = fs::read_to_string(thread.join("children")).unwrap_or_default();
            let children = children
                .split_ascii_whitespace()
                .filter_map(|pid| pid.parse().ok());
            for child in children.filter(|pid| seen.insert(*pid)) {
                let process = process(child);
                let threads = process.as_ref().map_or(u32::MAX, |process| process.threads);
                parents.push((child, threads));
                found.extend(process);
            }
        }
    }
    Ok(in_order(found))
}

/// The folders of a process's threads, of which it has so many. Most processes have one, and need no listing.
fn threads_of(pid: u32, threads: u32) -> Vec<PathBuf> {
    let folder = PathBuf::from(format!("/proc/{pid}/task"));
    if threads == 1 {
        return vec![folder.join(pid.to_string())];
    }
    let listed = fs::read_dir(folder).into_iter().flatten().flatten();
    listed.map(|thread| thread.path()).collect()
}

fn below(all: Vec<Process>, root: u32) -> Vec<Process> {
    let mut by_parent: BTreeMap<u32, Vec<Process>> = BTreeMap::new();
    for process in all {
        by_parent.entry(process.parent).or_default().push(process);
    }
    let mut found = Vec::new();
    let mut parents = vec![root];
    while let Some(parent) = parents.pop() {
        let children = by_parent.remove(&parent).unwrap_or_default();
        parents.extend(children.iter().map(|child| child.pid));
        found.extend(children);
    }
    in_order(found)
}

/// The living ones, oldest first.
fn in_order(mut found: Vec<Process>) -> Vec<Process> {
    found.retain(|process| !process.dead);
    found.sort_by_key(|process| (process.start, process.pid));
    found
}

/// The living processes of a run: `root` itself if asked for, all processes below it, and all that carry the
/// run's marker, of those whose environment this process may read. Left out is what has one above it of which
/// `is_elsewhere` says that it holds a run in another directory.
pub(crate) fn of_run(
    marker: Marker<'_>,
    root: Option<Root>,
    is_elsewhere: impl Fn(u32) -> bool,
) -> Result<Vec<Process>, Errno> {
    let all = all(Some(marker))?;
    let mut found = root.map_or_else(Vec::new, |root| below(all.clone(), root.pid));
    let known: BTreeSet<u32> = found.iter().map(|process| process.pid).collect();
    let others = all.iter().filter(|process| {
        let counts = match root {
            Some(root) if root.pid == process.pid => root.included,
            _ => process.marked && !known.contains(&process.pid),
        };
        counts && !process.dead
    });
    found.extend(others.cloned());
    if found.is_empty() {
        return Ok(found);
    }
    let parents: BTreeMap<u32, u32> = all.iter().map(|process| (process.pid, process.parent)).collect();
    let mut seen: BTreeMap<u32, bool> = BTreeMap::new();
    found.retain(|process| {
        // A number may come twice, as the processes were looked at one after the other.
        let mut climbed = BTreeSet::new();
        let above = std::iter::successors(Some(process.pid), |pid| parents.get(pid).copied());
        let mut above = above.take_while(|pid| climbed.insert(*pid));
        !above.any(|pid| *seen.entry(pid).or_insert_with(|| is_elsewhere(pid)))
    });
    Ok(found)
}

/// The root of a run's process tree.
#[derive(Clone, Copy)]
pub(crate) struct Root {
    pub(crate) pid: u32,
    /// Whether the root belongs to the run, as its program does, or only holds it, as its shim does.
    pub(crate) included: bool,
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

/// Closes every descriptor above standard error: what crew's own parent let leak, a lock say, must not live
/// as long as a run. For a process that has opened nothing yet.
pub(crate) fn close_inherited() {
    #[expect(
        unsafe_code,
        reason = "closing descriptors that no value of ours stands for has no safe face"
    )]
    // SAFETY: called first of all: no descriptor above 2 belongs to anything in this process.
    unsafe {
        // On a kernel without it (before 5.9) they stay, as they would with any other program.
        libc::close_range(3, libc::c_uint::MAX, 0);
    }
}

/// Makes this process the shim it is to be: a session leader, to which orphans of its children fall.
pub(crate) fn become_reaper() -> Result<(), Errno> {
    // A shim started by hand may lead a group already; that takes nothing from the run.
    let _ = rustix::process::setsid();
    rustix::process::set_child_subreaper(Some(rustix::process::getpid()))
}

/// The next dead child: its id, exit code and signal. `None`: none at the moment.
pub(crate) fn next_dead() -> Option<(u32, Option<i32>, Option<i32>)> {
    loop {
        // Not `waitpid`: it knows the own process group only, and orphans come from anywhere.
        match rustix::process::wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) if status.exited() || status.signaled() => {
                let pid = pid.as_raw_nonzero().get().unsigned_abs();
                return Some((pid, status.exit_status(), status.terminating_signal()));
            }
            Ok(Some(_)) | Err(Errno::INTR) => {}
            Ok(None) | Err(_) => return None,
        }
    }
}

/// Whether this process has no child, alive or dead. As orphans fall to the shim, it then has no descendant
/// either: the one proof of it that no race can spoil.
pub(crate) fn is_childless() -> bool {
    let look = WaitIdOptions::EXITED | WaitIdOptions::NOHANG | WaitIdOptions::NOWAIT;
    rustix::process::waitid(WaitId::All, look).is_err_and(|errno| errno == Errno::CHILD)
}

/// Signals a program that has not been waited for: its process group, and itself should it have left the
/// group.
pub(crate) fn signal_group(child: u32, signal: Signal) {
    if let Ok(pid) = number(child) {
        let _ = rustix::process::kill_process_group(pid, signal);
        let _ = rustix::process::kill_process(pid, signal);
    }
}

/// Where the handler writes the numbers of signals.
static SIGNALS: AtomicI32 = AtomicI32::new(-1);

extern "C" fn note(signal: libc::c_int) {
    let byte = u8::try_from(signal).unwrap_or(0);
    #[expect(
        unsafe_code,
        reason = "write and errno are all that a signal handler may touch, and neither has a safe face"
    )]
    // SAFETY: `byte` outlives the call; `write` is async-signal-safe; errno is put back for the interrupted
    // code.
    unsafe {
        let errno = libc::__errno_location();
        let before = *errno;
        libc::write(SIGNALS.load(Ordering::Relaxed), (&raw const byte).cast(), 1);
        *errno = before;
    }
}

/// Puts every signal back to its default and its mask to empty, so that the program inherits nothing of what
/// crew was started with (`nohup`, a background shell), and turns those that ask for an end, and the death of
/// children, into bytes on the descriptor returned. For a process with one thread.
pub(crate) fn signals() -> Result<OwnedFd, Errno> {
    use rustix::pipe::{PipeFlags, pipe_with};
    let (reader, writer) = pipe_with(PipeFlags::CLOEXEC | PipeFlags::NONBLOCK)?;
    SIGNALS.store(writer.as_raw_fd(), Ordering::Relaxed);
    // The handler writes to it as long as the process lives.
    std::mem::forget(writer);
    #[expect(
        unsafe_code,
        reason = "dispositions and masks have no safe face; signal(2)'s are per process, and we own this one"
    )]
    // SAFETY: the handler above is async-signal-safe; all structures are initialised by the calls that take
    // them.
    unsafe {
        for number in 1..=libc::SIGRTMAX() {
            // KILL, STOP and the C library's own are refused, which is right. A broken pipe stays ignored for
            // the shim; the standard library puts it back for the program.
            if number != libc::SIGPIPE {
                libc::signal(number, libc::SIG_DFL);
            }
        }
        let handler: extern "C" fn(libc::c_int) = note;
        // The last one: a file too large, by a limit that crew was started under, is to be a write error and
        // not our end.
        for number in ENDS.into_iter().chain([libc::SIGCHLD, libc::SIGXFSZ]) {
            libc::signal(number, handler as libc::sighandler_t);
        }
        let mut none: libc::sigset_t = std::mem::zeroed();
        libc::sigemptyset(&raw mut none);
        libc::sigprocmask(libc::SIG_SETMASK, &raw const none, std::ptr::null_mut());
    }
    Ok(reader)
}

/// Whether one of the signals noted asks for an end; empties the descriptor.
pub(crate) fn asked_to_end(signals: BorrowedFd<'_>) -> bool {
    let mut asked = false;
    let mut noted = [0; 64];
    while let Ok(count @ 1..) = rustix::io::read(signals, &mut noted) {
        asked |= noted[..count]
            .iter()
            .any(|signal| ENDS.contains(&i32::from(*signal)));
    }
    asked
}

/// The signals that ask the shim to end its run.
const ENDS: [libc::c_int; 4] = [libc::SIGTERM, libc::SIGINT, libc::SIGHUP, libc::SIGQUIT];

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
