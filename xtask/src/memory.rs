//! A folder in memory for what tests write: thousands of small repositories, most of which live for a second.

use std::fs;
use std::os::unix::fs::{DirBuilderExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::StatVfsMountFlags;

/// Where Linux has a file system in memory.
const MEMORY: &str = "/dev/shm";
/// The most that all tests at once have there, in bytes.
const TESTS: u64 = 8 << 30;
/// What is left to programs then, in bytes.
const PROGRAMS: u64 = 4 << 30;
/// What the folders are called, before the number of the process that made them.
const PREFIX: &str = "crew-tests-";

/// A folder. Gone when dropped.
#[derive(Debug)]
pub(crate) struct Memory(PathBuf);

impl Memory {
    /// A new folder, where the machine has the room for it; none where it has not, or the person has said
    /// with `TMPDIR` where tests are to write.
    pub(crate) fn new() -> Option<Self> {
        if is_chosen() || !has_room() {
            return None;
        }
        remove_left_over();
        let path = Path::new(MEMORY).join(format!("{PREFIX}{}", std::process::id()));
        fs::DirBuilder::new().mode(0o700).create(&path).ok()?;
        let folder = Self(path);
        // Some tests run crew as another user.
        fs::set_permissions(folder.path(), fs::Permissions::from_mode(0o1777)).ok()?;
        Some(folder)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

#[expect(
    clippy::disallowed_methods,
    reason = "a developer's command heeds the developer's environment"
)]
fn is_chosen() -> bool {
    std::env::var_os("TMPDIR").is_some()
}

fn has_room() -> bool {
    let Ok(stat) = rustix::fs::statvfs(MEMORY) else {
        return false;
    };
    let may_execute = !stat.f_flag.contains(StatVfsMountFlags::NOEXEC);
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let machine = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    may_execute && free >= TESTS && available(&machine) >= TESTS + PROGRAMS
}

/// The memory that is available by `/proc/meminfo`, in bytes; 0 where it does not say.
fn available(machine: &str) -> u64 {
    let line = machine
        .lines()
        .find_map(|line| line.strip_prefix("MemAvailable:"));
    let kib = line.and_then(|line| line.trim().strip_suffix(" kB")?.parse::<u64>().ok());
    kib.unwrap_or(0) << 10
}

/// Removes the folders of processes that are gone and were killed before they could.
fn remove_left_over() {
    for entry in fs::read_dir(MEMORY).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let number = name.to_str().and_then(|name| name.strip_prefix(PREFIX));
        let gone = number.is_some_and(|number| !Path::new("/proc").join(number).exists());
        if gone {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_available_is_read_in_bytes() {
        let machine =
            "MemTotal:       24684084 kB\nMemFree:         6291456 kB\nMemAvailable:   18874368 kB\n";
        assert_eq!(available(machine), 18 << 30);
        assert_eq!(available("MemTotal: 1 kB\n"), 0);
    }
}
