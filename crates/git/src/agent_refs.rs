//! An agent's refs, read without git.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::beneath;
use crate::error::{Result, shortened};
use crate::oid::Oid;
use crate::workspace::Workspace;

/// Bytes of a ref file, and of `packed-refs` and reflogs.
const REF_BYTES: u64 = 4 << 10;
const PACKED_REFS_BYTES: u64 = 4 << 20;
/// Refs of an agent that are looked at when its work is kept.
const MAX_REFS: usize = 500;

/// What an agent's refs say, read as plain files of limited size, never through a symlink.
pub(crate) struct AgentRefs {
    root: std::os::fd::OwnedFd,
    git_dir: PathBuf,
}

impl AgentRefs {
    pub(crate) fn of(workspace: &Workspace) -> Result<Self> {
        Ok(Self {
            root: workspace.open()?,
            git_dir: PathBuf::from(".git"),
        })
    }

    /// Those of a repository in a folder of the workspace.
    pub(crate) fn nested(workspace: &Workspace, folder: &Path) -> Result<Self> {
        Ok(Self {
            root: workspace.open()?,
            git_dir: folder.join(".git"),
        })
    }

    /// The commit HEAD means, or why it means none.
    pub(crate) fn head(&self) -> Result<Oid, String> {
        let mut name = "HEAD".to_owned();
        for _ in 0..5 {
            let content = self.read(&name, REF_BYTES)?;
            let Some(content) = content else {
                if name == "HEAD" {
                    return Err("is missing".to_owned());
                }
                return self
                    .packed()?
                    .remove(&name)
                    .ok_or_else(|| format!("points at {name:?}, which does not exist"));
            };
            let text = content.trim_ascii();
            if let Some(target) = text.strip_prefix(b"ref:") {
                name = String::from_utf8_lossy(target.trim_ascii()).into_owned();
                if !is_ref(&name) {
                    return Err(format!("points at {:?}, which is no ref", shortened(&name, 80)));
                }
                continue;
            }
            return Oid::from_bytes(text).map_err(|_| "does not hold an object id".to_owned());
        }
        Err("points at itself".to_owned())
    }

    /// The branch that HEAD stands on, if it stands on one.
    pub(crate) fn branch(&self) -> Option<String> {
        let content = self.read("HEAD", REF_BYTES).ok()??;
        let target = content.trim_ascii().strip_prefix(b"ref:")?.trim_ascii();
        let name = String::from_utf8_lossy(target).into_owned();
        is_ref(&name).then_some(name)
    }

    /// Every commit that a ref or HEAD's reflog names, as far as it can be read.
    pub(crate) fn all(&self) -> BTreeSet<Oid> {
        let mut found: BTreeSet<Oid> = self.head().into_iter().collect();
        found.extend(self.packed().unwrap_or_default().into_values().take(MAX_REFS));
        let mut names = Vec::new();
        self.walk(&PathBuf::from("refs"), 0, &mut names);
        for name in names {
            if let Ok(Some(content)) = self.read(&name, REF_BYTES)
                && let Ok(oid) = Oid::from_bytes(content.trim_ascii())
            {
                found.insert(oid);
            }
        }
        for log in ["logs/HEAD", "logs/refs/stash"] {
            let Ok(Some(content)) = self.read(log, PACKED_REFS_BYTES) else {
                continue;
            };
            let news = content
                .split(|byte| *byte == b'\n')
                .filter_map(|line| line.split(|byte| *byte == b' ').nth(1));
            found.extend(news.filter_map(|new| Oid::from_bytes(new).ok()).take(MAX_REFS));
        }
        found.retain(|oid| !oid.is_null());
        found
    }

    fn walk(&self, folder: &Path, depth: usize, names: &mut Vec<String>) {
        let Ok(fd) = beneath::folder(&self.root, &self.git_dir.join(folder)) else {
            return;
        };
        let Ok(entries) = rustix::fs::Dir::read_from(&fd) else {
            return;
        };
        for entry in entries.flatten() {
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") || names.len() >= MAX_REFS {
                continue;
            }
            let path = folder.join(std::ffi::OsStr::from_bytes(name));
            match entry.file_type() {
                rustix::fs::FileType::Directory if depth < 8 => self.walk(&path, depth + 1, names),
                rustix::fs::FileType::RegularFile => names.extend(path.to_str().map(str::to_owned)),
                _ => {}
            }
        }
    }

    fn packed(&self) -> Result<BTreeMap<String, Oid>, String> {
        let content = self.read("packed-refs", PACKED_REFS_BYTES)?.unwrap_or_default();
        let text = String::from_utf8_lossy(&content).into_owned();
        let refs = text.lines().filter(|line| !line.starts_with(['#', '^']));
        Ok(refs
            .filter_map(|line| {
                let (oid, name) = line.split_once(' ')?;
                Some((name.to_owned(), Oid::parse(oid).ok()?))
            })
            .collect())
    }

    fn read(&self, name: &str, limit: u64) -> Result<Option<Vec<u8>>, String> {
        let path = self.git_dir.join(name);
        beneath::read(&self.root, &path, limit).map_err(|error| format!("cannot be read ({error})"))
    }
}

fn is_ref(name: &str) -> bool {
    name.starts_with("refs/")
        && name.len() < 1000
        && !name.chars().any(char::is_control)
        && Path::new(name)
            .components()
            .all(|part| matches!(part, Component::Normal(_)))
}
