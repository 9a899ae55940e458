//! Lock holders: the living processes that may hold a lock file of git's.
//!
//! A git that is about to move a ref has closed the lock's file already, and may stay so for long, in a hook.
//! It is recognised by the repository in which it works.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::openat;
use crate::repository::Repository;

/// Commands that lock no ref, and that people leave running in a pager or as a service.
const READERS: &[&[u8]] = &[
    b"blame",
    b"cat-file",
    b"credential-cache--daemon",
    b"daemon",
    b"diff",
    b"fsmonitor--daemon",
    b"grep",
    b"help",
    b"log",
    b"ls-files",
    b"shortlog",
    b"show",
    b"status",
];
/// The one command by which crew's own children lock refs.
const OWN: &[u8] = b"update-ref";
/// Options before the command whose value is the next word.
const WITH_VALUE: &[&[u8]] = &[
    b"-C",
    b"-c",
    b"--git-dir",
    b"--work-tree",
    b"--namespace",
    b"--config-env",
];
/// The fields of `stat` with the parent's process id, and with the start of the process in ticks since the
/// machine was started (proc(5)).
const PARENT: usize = 1;
const BEGAN: usize = 19;
/// The precision of a process's start time in `/proc`, and a little more.
const TICK: Duration = Duration::from_millis(20);
/// Bytes of a `.git` that is a file; a longer one names no git directory.
const LINK: u64 = 8 << 10;

/// Whether a process that is visible from here may hold this lock, which was first seen when the machine was
/// up for `seen`. Such a process has the file open, or is a git that can lock refs, works in this repository
/// and had started by then. A git in a container or on another host is not visible.
pub(super) fn may_hold(repository: &Repository, lock: &Path, seen: Duration) -> bool {
    let owner = lock.symlink_metadata().map(|meta| meta.uid()).ok();
    let Ok(processes) = std::fs::read_dir("/proc") else {
        return false;
    };
    let common = real(repository.common_dir());
    let lock = common.join(lock.strip_prefix(repository.common_dir()).unwrap_or(lock));
    processes.flatten().any(|entry| {
        let is_process = entry.file_name().as_bytes().iter().all(u8::is_ascii_digit);
        is_process && Process(entry.path()).may_hold(&common, &lock, owner, seen)
    })
}

/// The folder of a process in `/proc`; its files are empty once the process is dead.
struct Process(PathBuf);

impl Process {
    fn may_hold(&self, common: &Path, lock: &Path, owner: Option<u32>, seen: Duration) -> bool {
        self.has_open(lock) || (self.may_lock_refs() && self.had_begun(seen) && self.works_in(common, owner))
    }

    /// Whether the process had started when the machine was up for so long; also `true` where that cannot be
    /// found out.
    fn had_begun(&self, uptime: Duration) -> bool {
        let ticks: Option<u64> = self.stat(BEGAN).and_then(|ticks| ticks.parse().ok());
        let second = rustix::param::clock_ticks_per_second();
        let began = ticks.map(|ticks| Duration::from_millis(ticks.saturating_mul(1000) / second));
        began.is_none_or(|began| began <= uptime + TICK)
    }

    fn has_open(&self, file: &Path) -> bool {
        let open = std::fs::read_dir(self.0.join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        open.into_iter()
            .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path == file))
    }

    fn may_lock_refs(&self) -> bool {
        let name = std::fs::read(self.0.join("comm")).unwrap_or_default();
        let name = name.trim_ascii();
        if name != b"git" && !name.starts_with(b"git-") {
            return false;
        }
        match command(&self.words("cmdline")) {
            Some(command) if self.is_crews() => command == OWN,
            Some(command) => !READERS.contains(&command.as_slice()),
            None => false,
        }
    }

    fn is_crews(&self) -> bool {
        let parent = self.stat(PARENT).and_then(|parent| parent.parse().ok());
        parent == Some(std::process::id())
    }

    /// A field of `stat`, counted from the one after the name.
    fn stat(&self, field: usize) -> Option<String> {
        let stat = std::fs::read_to_string(self.0.join("stat")).ok()?;
        // The process's name may hold any character, and ends with the last bracket.
        let (_, rest) = stat.rsplit_once(')')?;
        rest.split_whitespace().nth(field).map(str::to_owned)
    }

    fn works_in(&self, common: &Path, owner: Option<u32>) -> bool {
        let cwd = match std::fs::read_link(self.0.join("cwd")) {
            Ok(cwd) => cwd,
            // A process of another user, whose folder cannot be read: a lock of theirs may be its.
            Err(error) if error.kind() == std::io::ErrorKind::PermissionDenied => {
                return owner.is_some() && self.0.metadata().map(|meta| meta.uid()).ok() == owner;
            }
            Err(_) => return false,
        };
        let named = self.named().into_iter().map(|dir| cwd.join(dir));
        is_in(&cwd, common) || named.into_iter().any(|dir| is_in(&dir, common))
    }

    /// The git directory or work tree that the process was started for, by its arguments or its environment.
    fn named(&self) -> Vec<PathBuf> {
        let environment = self.words("environ");
        let set = ["GIT_DIR=", "GIT_COMMON_DIR=", "GIT_WORK_TREE="];
        let told = environment
            .iter()
            .flat_map(|word| set.iter().filter_map(|name| word.strip_prefix(name.as_bytes())));
        let words = self.words("cmdline");
        let apart = words
            .windows(2)
            .filter(|pair| pair[0] == b"--git-dir")
            .map(|pair| pair[1].as_slice());
        let joined = words.iter().filter_map(|word| word.strip_prefix(b"--git-dir="));
        told.chain(apart)
            .chain(joined)
            .map(|dir| PathBuf::from(OsStr::from_bytes(dir)))
            .collect()
    }

    fn words(&self, file: &str) -> Vec<Vec<u8>> {
        let text = std::fs::read(self.0.join(file)).unwrap_or_default();
        let words = text.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect()
    }
}

/// The subcommand in a git's command line: `git -c a=b log` is `log`, and so is `git-log`. `None` for a dead
/// process.
fn command(words: &[Vec<u8>]) -> Option<Vec<u8>> {
    let (program, arguments) = words.split_first()?;
    let program = Path::new(OsStr::from_bytes(program)).file_name()?;
    if let Some(command) = program.as_bytes().strip_prefix(b"git-") {
        return Some(command.to_vec());
    }
    let mut arguments = arguments.iter();
    while let Some(word) = arguments.next() {
        if WITH_VALUE.contains(&word.as_slice()) {
            arguments.next();
        } else if !word.starts_with(b"-") {
            return Some(word.clone());
        }
    }
    Some(Vec::new())
}

/// Whether a git that runs in `folder` works in the repository of this (real) git directory. Other
/// repositories may stand in the folders of one, those of agents too.
fn is_in(folder: &Path, common: &Path) -> bool {
    let folder = real(folder);
    if folder.starts_with(common) {
        return true;
    }
    let nearest = folder.ancestors().map(|at| at.join(".git"));
    let mut nearest = nearest.filter(|link| link.symlink_metadata().is_ok());
    nearest.next().is_some_and(|link| leads_to(&link, common))
}

fn leads_to(link: &Path, common: &Path) -> bool {
    if link.is_dir() {
        return real(link) == common;
    }
    let Some(folder) = link.parent() else { return false };
    let read = openat::root(folder).and_then(|root| openat::read(&root, Path::new(".git"), LINK));
    let Ok(Some(text)) = read else { return false };
    let text = text.trim_ascii_end();
    text.strip_prefix(b"gitdir: ").is_some_and(|dir| {
        let dir = OsString::from_vec(dir.to_vec());
        real(&folder.join(dir)).starts_with(common)
    })
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_found_behind_options() {
        let of = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            command(&words).map(|command| String::from_utf8(command).unwrap())
        };
        for (line, expected) in [
            ("git log", "log"),
            ("/usr/bin/git --no-pager -c a=b -C x log -p", "log"),
            ("git --git-dir .git --work-tree=. update-ref", "update-ref"),
            ("/usr/lib/git-core/git-receive-pack x", "receive-pack"),
            ("git", ""),
        ] {
            assert_eq!(of(line).as_deref(), Some(expected), "{line}");
        }
        assert_eq!(command(&[]), None, "a dead one");
    }

    #[test]
    fn who_has_begun_after_the_lock_was_seen_does_not_hold_it() {
        let this = Process(PathBuf::from("/proc/self"));
        assert!(this.had_begun(crate::clock::uptime()));
        assert!(!this.had_begun(Duration::ZERO));
        assert!(
            Process(PathBuf::from("/proc/none")).had_begun(Duration::ZERO),
            "nobody knows"
        );
    }
}
