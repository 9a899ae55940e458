//! Reading a child's output until the child ends, or until its deadline.

use std::io::Read;
use std::os::fd::AsFd;
use std::process::Child;
use std::time::Duration;

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, PidfdFlags, Signal, kill_process_group, pidfd_open};

use crate::clock::Deadline;

/// Bytes of standard error that are kept; the rest is read and dropped.
const STDERR_KEPT: usize = 8 << 10;
/// The time between TERM, on which git removes its lock files, and KILL.
const TERM_GRACE: Duration = Duration::from_secs(2);

/// How a child ended.
pub(super) enum End {
    Exited(Vec<u8>),
    TooLong,
    TooMuch,
}

/// Reads both outputs until the child is gone. Ends with the *child*, not with its pipes: a grandchild may
/// hold them.
pub(super) fn watch(
    child: &mut Child,
    time: Duration,
    limit: u64,
    sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>,
) -> std::io::Result<End> {
    let deadline = Deadline::after(time);
    let Some(mut err) = child.stderr.take() else {
        return Err(std::io::Error::other("no pipes"));
    };
    let mut out = child.stdout.take();
    let exit = pidfd_open(pid_of(child)?, PidfdFlags::empty())?;
    if let Some(out) = &out {
        rustix::io::ioctl_fionbio(out, true)?;
    }
    rustix::io::ioctl_fionbio(&err, true)?;
    let mut err_open = true;
    let mut stderr = Vec::new();
    let mut printed = 0_u64;
    loop {
        let left = deadline.left();
        if left.is_zero() {
            return Ok(End::TooLong);
        }
        let mut fds = vec![PollFd::new(&exit, PollFlags::IN)];
        if let Some(out) = &out {
            fds.push(PollFd::new(out, PollFlags::IN));
        }
        if err_open {
            fds.push(PollFd::new(&err, PollFlags::IN));
        }
        let timeout = Timespec {
            tv_sec: left.as_secs().try_into().unwrap_or(i64::MAX),
            tv_nsec: left.subsec_nanos().into(),
        };
        match poll(&mut fds, Some(&timeout)) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        // The state is read before the pipes are emptied: the output of a child that is dead by then is
        // complete in them.
        let exited = !fds[0].revents().is_empty();
        drop(fds);
        if let Some(pipe) = &mut out {
            let open = drain(pipe, &mut |bytes| {
                printed += bytes.len() as u64;
                if printed <= limit { sink(bytes) } else { Ok(()) }
            })?;
            if printed > limit {
                return Ok(End::TooMuch);
            }
            if !open {
                out = None;
            }
        }
        if err_open {
            err_open = drain(&mut err, &mut |bytes| {
                let room = STDERR_KEPT.saturating_sub(stderr.len());
                stderr.extend_from_slice(&bytes[..bytes.len().min(room)]);
                Ok(())
            })?;
        }
        if exited {
            return Ok(End::Exited(stderr));
        }
    }
}

/// Reads the bytes that are there, at most a few megabytes at a time; `false` when the other end is closed.
fn drain(from: &mut impl Read, sink: &mut dyn FnMut(&[u8]) -> std::io::Result<()>) -> std::io::Result<bool> {
    let mut buffer = [0_u8; 64 << 10];
    loop {
        match from.read(&mut buffer) {
            Ok(0) => return Ok(false),
            Ok(count) => sink(&buffer[..count])?,
            Err(error) if error.kind() == std::io::ErrorKind::WouldBlock => return Ok(true),
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
}

fn pid_of(child: &Child) -> std::io::Result<Pid> {
    i32::try_from(child.id())
        .ok()
        .and_then(Pid::from_raw)
        .ok_or_else(|| std::io::Error::other("no process id"))
}

/// Sends TERM, so that git removes its locks, then KILL. The child is not reaped yet, so its group's id is
/// still its own.
pub(super) fn end_group(child: &mut Child) {
    let Ok(pid) = pid_of(child) else { return };
    if kill_process_group(pid, Signal::TERM).is_ok()
        && let Ok(exit) = pidfd_open(pid, PidfdFlags::empty())
    {
        let grace = Timespec {
            tv_sec: TERM_GRACE.as_secs().try_into().unwrap_or(2),
            tv_nsec: 0,
        };
        poll(
            &mut [PollFd::from_borrowed_fd(exit.as_fd(), PollFlags::IN)],
            Some(&grace),
        )
        .ok();
    }
    kill_process_group(pid, Signal::KILL).ok();
}
