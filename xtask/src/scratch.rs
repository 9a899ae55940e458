//! Where the tests work: in memory, where the machine has room for that.
//!
//! Tests make and remove files by the hundred thousand, and wait until they are durable. On a disk that is a
//! third of all that the tests cost: ext4, for one, looks at each inode that was freed in the last seconds
//! before it gives one out.

use std::fs;
use std::path::{Path, PathBuf};

/// A file system in memory that every Linux has.
const MEMORY: &str = "/dev/shm";
/// The beginning of the folder's name, before the process that made it.
const NAME: &str = "crew-tests-";
/// The bytes that must be free, in the file system and in the machine: several times what the tests hold at
/// once.
const ROOM: u64 = 6 << 30;

/// A folder of this run's own, gone when dropped.
pub(crate) struct Scratch(PathBuf);

impl Scratch {
    /// None where there is no room; nor where the developer has named a folder for what is temporary.
    #[expect(clippy::disallowed_methods, reason = "the developer's own choice")]
    pub(crate) fn in_memory() -> Option<Self> {
        if std::env::var_os("TMPDIR").is_some() || available()? < ROOM {
            return None;
        }
        let memory = Path::new(MEMORY);
        let room = rustix::fs::statvfs(memory).ok()?;
        if room.f_bavail.saturating_mul(room.f_frsize) < ROOM {
            return None;
        }
        clear(memory);
        let folder = memory.join(format!("{NAME}{}", std::process::id()));
        fs::create_dir(&folder).ok()?;
        Some(Self(folder))
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        if let Err(error) = fs::remove_dir_all(&self.0) {
            eprintln!("{} is left in memory: {error}", self.0.display());
        }
    }
}

/// Removes what runs have left that were killed.
fn clear(memory: &Path) {
    for entry in fs::read_dir(memory).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let process = name.to_str().and_then(|name| name.strip_prefix(NAME));
        let is_number = |text: &&str| text.parse::<u32>().is_ok();
        if let Some(process) = process.filter(is_number)
            && !Path::new("/proc").join(process).exists()
        {
            drop(fs::remove_dir_all(entry.path()));
        }
    }
}

/// The bytes of memory that are free or can be freed at once.
fn available() -> Option<u64> {
    let info = fs::read_to_string("/proc/meminfo").ok()?;
    let line = info.lines().find_map(|line| line.strip_prefix("MemAvailable:"))?;
    let kib: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kib << 10)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_dead_run_left_is_removed_and_nothing_else() {
        let memory = tempfile::tempdir().unwrap();
        // No process has this number: Linux gives out smaller ones.
        let (dead, alive) = (
            format!("{NAME}4294967295"),
            format!("{NAME}{}", std::process::id()),
        );
        for name in [&dead, &alive, "crew-tests-x", "other-4294967295"] {
            fs::create_dir(memory.path().join(name)).unwrap();
        }
        clear(memory.path());
        let mut left: Vec<_> = fs::read_dir(memory.path()).unwrap().flatten().collect();
        left.sort_by_key(fs::DirEntry::file_name);
        let left: Vec<_> = left
            .iter()
            .map(|entry| entry.file_name().into_string().unwrap())
            .collect();
        assert_eq!(left, [alive.as_str(), "crew-tests-x", "other-4294967295"]);
    }

    #[test]
    fn the_machine_says_how_much_memory_is_free() {
        assert!(available().is_some_and(|bytes| bytes > 0));
    }
}
