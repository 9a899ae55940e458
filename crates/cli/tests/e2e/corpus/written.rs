//! What a folder holds, so that it can be said what a command wrote.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

/// What crew keeps for itself is not told: which command moves the journal's log into it is up to SQLite.
const OWN: [&str; 8] = [
    "home/.local/state/crew",
    "repo/.crew",
    "repo/.git/crew.lock",
    "repo/.git/info/exclude",
    "repo/.git/logs",
    "repo/.git/objects",
    "repo/.git/refs/crew",
    "repo/.git/refs/heads/agent",
];

/// Empty, and there to be locked: no answer depends on it.
const LOCK: &str = "repo/.tickets/.lock";

/// A name, mode and hash for every file below a folder.
pub(crate) struct Written {
    files: BTreeMap<PathBuf, File>,
}

struct File {
    /// Its identity, size and times: while these are the same, so is the rest.
    stamp: [i128; 4],
    /// Of its mode and content.
    hash: u64,
}

impl Written {
    /// Reads what is not as it was `before`: a case may have a hundred thousand files.
    pub(crate) fn look(root: &Path, before: Option<&Self>) -> Self {
        let mut files = BTreeMap::new();
        let mut folders = vec![root.to_path_buf()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let Ok(meta) = path.symlink_metadata() else {
                    continue;
                };
                if meta.is_dir() {
                    folders.push(path);
                    continue;
                }
                let name = path.strip_prefix(root).unwrap().to_path_buf();
                let time = |seconds: i64, nanos: i64| i128::from(seconds) * 1_000_000_000 + i128::from(nanos);
                let stamp = [
                    meta.ino().into(),
                    meta.len().into(),
                    time(meta.mtime(), meta.mtime_nsec()),
                    time(meta.ctime(), meta.ctime_nsec()),
                ];
                let known = before.and_then(|before| before.files.get(&name));
                if let Some(known) = known.filter(|known| known.stamp == stamp) {
                    files.insert(
                        name,
                        File {
                            stamp,
                            hash: known.hash,
                        },
                    );
                    continue;
                }
                let mut hash = DefaultHasher::new();
                meta.mode().hash(&mut hash);
                if meta.is_symlink() {
                    fs::read_link(&path).unwrap().hash(&mut hash);
                } else if meta.is_file() {
                    fs::read(&path).unwrap_or_default().hash(&mut hash);
                }
                let hash = hash.finish();
                files.insert(name, File { stamp, hash });
            }
        }
        Self { files }
    }

    fn hash(&self, name: &Path) -> Option<u64> {
        self.files.get(name).map(|file| file.hash)
    }

    /// What is another between this and a later look, a line each.
    pub(crate) fn until(&self, later: &Self) -> Vec<String> {
        let names: BTreeSet<&PathBuf> = self.files.keys().chain(later.files.keys()).collect();
        let changed = names
            .into_iter()
            .filter(|name| name.as_os_str() != LOCK)
            .filter(|name| self.hash(name) != later.hash(name));
        let told: BTreeSet<String> = changed.filter_map(|name| told(name)).collect();
        told.into_iter().collect()
    }
}

/// A file as it is told, if it is nobody's but the person's.
fn told(path: &Path) -> Option<String> {
    if OWN.iter().any(|own| path.starts_with(own)) {
        return None;
    }
    if path.starts_with("repo/.git/reftable") {
        return Some(".git/reftable/".to_owned());
    }
    let name = String::from_utf8_lossy(path.as_os_str().as_bytes());
    let name = name.strip_prefix("repo/").unwrap_or(&name);
    Some(name.escape_debug().to_string())
}
