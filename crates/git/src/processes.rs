//! Processes: the living ones, as `/proc` shows them, and the repositories in which the gits among them work.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::files::openat;

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

/// Every process that is visible from here; none on a system without `/proc`. A process in a container or on
/// another host is not visible.
pub(crate) fn processes() -> impl Iterator<Item = Process> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter(|entry| entry.file_name().as_bytes().iter().all(u8::is_ascii_digit))
        .map(|entry| Process(entry.path()))
}

/// The folder of a process in `/proc`; its files are empty once the process is dead.
pub(crate) struct Process(PathBuf);

impl Process {
    /// Whether the process had started when the machine was up for so long; also `true` where that cannot be
    /// found out.
    pub(crate) fn had_begun(&self, uptime: Duration) -> bool {
        let ticks: Option<u64> = self.stat(BEGAN).and_then(|ticks| ticks.parse().ok());
        let second = rustix::param::clock_ticks_per_second();
        let began = ticks.map(|ticks| Duration::from_millis(ticks.saturating_mul(1000) / second));
        began.is_none_or(|began| began <= uptime + TICK)
    }

    pub(crate) fn has_open(&self, file: &Path) -> bool {
        let open = std::fs::read_dir(self.0.join("fd"))
            .into_iter()
            .flatten()
            .flatten();
        open.into_iter()
            .any(|fd| std::fs::read_link(fd.path()).is_ok_and(|path| path == file))
    }

    /// The command of a git with its arguments: `commit`, `-m` …; empty for another program and a dead
    /// process.
    pub(crate) fn git(&self) -> Vec<Vec<u8>> {
        let name = std::fs::read(self.0.join("comm")).unwrap_or_default();
        let name = name.trim_ascii();
        if name != b"git" && !name.starts_with(b"git-") {
            return Vec::new();
        }
        command(self.words("cmdline"))
    }

    pub(crate) fn is_crews(&self) -> bool {
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

    pub(crate) fn works_in(&self, common: &Path, owner: Option<u32>) -> bool {
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

    /// Whether the process works on the checkout with this (real) git directory. A process of another user,
    /// whose folder cannot be read, does not.
    pub(crate) fn works_on(&self, git_dir: &Path) -> bool {
        let Ok(cwd) = std::fs::read_link(self.0.join("cwd")) else {
            return false;
        };
        let named = self.named().into_iter().map(|dir| cwd.join(dir));
        named
            .chain([cwd.clone()])
            .any(|folder| git_dir_of(&real(&folder)).is_some_and(|dir| dir == git_dir))
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

    /// The number by which a person knows the process.
    pub(crate) fn id(&self) -> Option<u32> {
        self.0.file_name()?.to_str()?.parse().ok()
    }

    fn words(&self, file: &str) -> Vec<Vec<u8>> {
        let text = std::fs::read(self.0.join(file)).unwrap_or_default();
        let words = text.split(|byte| *byte == 0).filter(|word| !word.is_empty());
        words.map(<[u8]>::to_vec).collect()
    }
}

/// The words of a git's command line from its command on: `git -c a=b log -p` is `log -p`, and so is
/// `git-log -p`. Empty for a dead process; one empty word where there is no command.
fn command(words: Vec<Vec<u8>>) -> Vec<Vec<u8>> {
    let mut words = words.into_iter();
    let Some(program) = words.next() else {
        return Vec::new();
    };
    let program = Path::new(OsStr::from_bytes(&program)).file_name();
    let dashed = program.and_then(|name| name.as_bytes().strip_prefix(b"git-"));
    if let Some(command) = dashed {
        return [command.to_vec()].into_iter().chain(words).collect();
    }
    while let Some(word) = words.next() {
        if WITH_VALUE.contains(&word.as_slice()) {
            words.next();
        } else if !word.starts_with(b"-") {
            return [word].into_iter().chain(words).collect();
        }
    }
    vec![Vec::new()]
}

/// Whether a git that runs in `folder` works in the repository of this (real) git directory. Other
/// repositories may stand in the folders of one, those of agents too.
fn is_in(folder: &Path, common: &Path) -> bool {
    let folder = real(folder);
    folder.starts_with(common) || git_dir_of(&folder).is_some_and(|dir| dir.starts_with(common))
}

/// The git directory that a git finds which runs in this (real) folder.
fn git_dir_of(folder: &Path) -> Option<PathBuf> {
    let mut above = folder.ancestors();
    above.find_map(|at| match at.join(".git") {
        link if link.symlink_metadata().is_ok() => Some(led_to(&link)),
        _ if is_git_dir(at) => Some(Some(at.to_owned())),
        _ => None,
    })?
}

fn is_git_dir(folder: &Path) -> bool {
    let has = |name| folder.join(name).symlink_metadata().is_ok();
    has("HEAD") && (has("objects") || has("commondir"))
}

fn led_to(link: &Path) -> Option<PathBuf> {
    if link.is_dir() {
        return Some(real(link));
    }
    let folder = link.parent()?;
    let read = openat::root(folder).and_then(|root| openat::read(&root, Path::new(".git"), LINK));
    let text = read.ok()??;
    let dir = text.trim_ascii_end().strip_prefix(b"gitdir: ")?;
    Some(real(&folder.join(OsString::from_vec(dir.to_vec()))))
}

pub(crate) fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_is_found_behind_options() {
        let of = |line: &str| {
            let words: Vec<Vec<u8>> = line.split(' ').map(|word| word.as_bytes().to_vec()).collect();
            let words = command(words)
                .into_iter()
                .map(|word| String::from_utf8(word).unwrap());
            words.collect::<Vec<_>>().join(" ")
        };
        for (line, expected) in [
            ("git log", "log"),
            ("/usr/bin/git --no-pager -c a=b -C x log -p", "log -p"),
            ("git --git-dir .git --work-tree=. update-ref", "update-ref"),
            ("/usr/lib/git-core/git-receive-pack x", "receive-pack x"),
            ("git", ""),
        ] {
            assert_eq!(of(line), expected, "{line}");
        }
        assert!(command(Vec::new()).is_empty(), "a dead one");
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
