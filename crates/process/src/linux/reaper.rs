//! What a process does to itself to be a shim: it takes over signals, and gets the orphans below it.

use std::os::fd::{AsRawFd as _, BorrowedFd, OwnedFd};
use std::sync::atomic::{AtomicI32, Ordering};

use rustix::io::Errno;
use rustix::process::{Signal, WaitId, WaitIdOptions, WaitOptions};

use super::number;

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
