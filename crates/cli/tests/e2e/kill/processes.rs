//! The processes of one test, found in `/proc` by its folder, which no other test has.

use std::path::{Path, PathBuf};

use rustix::process::{Pid, PidfdFlags, Signal};

/// A process that belongs to the test.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) pid: i32,
    pub(crate) parent: i32,
    pub(crate) command: String,
    /// When it began, in ticks since the boot: with the pid, nobody else's.
    start: u64,
    /// Its environment, as far as it may be read.
    env: String,
}

impl Process {
    /// A shim.
    pub(crate) fn is_shim(&self) -> bool {
        self.command.split('\0').nth(1) == Some("shim")
    }

    /// The shim of a check: the folder of its run is in the environment.
    pub(crate) fn is_of_check(&self) -> bool {
        self.env.contains("/checks/")
    }

    fn is_git(&self) -> bool {
        let program = self.command.split('\0').next().unwrap_or_default();
        program.rsplit('/').next() == Some("git")
    }

    /// Whether it is (a part of) a step of an agent.
    pub(crate) fn is_agents(&self) -> bool {
        self.has("CREW_AGENT")
    }

    fn has(&self, variable: &str) -> bool {
        self.env.split('\0').any(|one| {
            one.strip_prefix(variable)
                .is_some_and(|rest| rest.starts_with('='))
        })
    }

    /// SIGKILL to exactly this process; whether it was still there and alive to be killed.
    pub(crate) fn kill(&self) -> bool {
        let Some(pid) = Pid::from_raw(self.pid) else {
            return false;
        };
        let Ok(fd) = rustix::process::pidfd_open(pid, PidfdFlags::empty()) else {
            return false;
        };
        // Looked at while the descriptor is held: the number cannot have passed to another.
        let same = of(self.pid).is_some_and(|now| now.start == self.start);
        same && rustix::process::pidfd_send_signal(fd, Signal::KILL).is_ok()
    }
}

/// Every living process that has `root` in its command line or environment, but for this one.
pub(crate) fn of_root(root: &Path) -> Vec<Process> {
    let root = root.to_str().unwrap();
    std::fs::read_dir("/proc")
        .unwrap()
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .filter(|pid| u32::try_from(*pid).ok() != Some(std::process::id()))
        .filter_map(of)
        .filter(|process| process.command.contains(root) || process.env.contains(root))
        .collect()
}

/// The git that `engine` waits for at this moment. Quick: git does not live long.
pub(crate) fn gits_of(engine: u32) -> Vec<Process> {
    let threads = std::fs::read_dir(format!("/proc/{engine}/task"))
        .into_iter()
        .flatten()
        .flatten();
    threads
        .filter_map(|thread| std::fs::read_to_string(thread.path().join("children")).ok())
        .flat_map(|children| {
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse().ok())
                .collect::<Vec<i32>>()
        })
        .filter_map(of)
        .filter(Process::is_git)
        .collect()
}

/// `None`: it is gone, or a zombie.
fn of(pid: i32) -> Option<Process> {
    let dir = PathBuf::from(format!("/proc/{pid}"));
    let read = |name: &str| Some(String::from_utf8_lossy(&std::fs::read(dir.join(name)).ok()?).into_owned());
    let stat = read("stat")?;
    // The name, in parentheses, may hold anything.
    let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
    let (state, parent, start) = (fields.first()?, fields.get(1)?, fields.get(19)?);
    if matches!(*state, "Z" | "X") {
        return None;
    }
    Some(Process {
        pid,
        parent: parent.parse().ok()?,
        command: read("cmdline").unwrap_or_default(),
        start: start.parse().ok()?,
        env: read("environ").unwrap_or_default(),
    })
}
