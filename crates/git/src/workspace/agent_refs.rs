//! An agent's refs, read without git.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::ffi::OsStrExt;
use std::path::{Component, Path, PathBuf};

use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::types::oid::Oid;
use crate::types::paths::path_of;
use crate::types::shortened::shortened;
use crate::workspace::Workspace;

/// The greatest size of a ref file, and of `packed-refs` and reflogs.
const REF_BYTES: u64 = 4 << 10;
const PACKED_REFS_BYTES: u64 = 4 << 20;
/// The number of an agent's refs that are read when its work is kept.
const MAX_REFS: usize = 500;

/// An agent's refs, read from files of limited size, never through a symlink.
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

    /// The refs of a repository in a folder of the workspace.
    pub(crate) fn nested(workspace: &Workspace, folder: &Path) -> Result<Self> {
        Ok(Self {
            root: workspace.open()?,
            git_dir: folder.join(".git"),
        })
    }

    /// The commit that HEAD names, or the reason for which it names none.
    ///
    /// # Errors
    /// [`Error::Io`] when the machine cannot read a file, which proves nothing about the agent's refs.
    pub(crate) fn head(&self) -> Result<Result<Oid, String>> {
        self.head_in("HEAD")
    }

    /// The commit that a HEAD names: the repository's own, or that of a linked worktree.
    fn head_in(&self, head: &str) -> Result<Result<Oid, String>> {
        let mut name = head.to_owned();
        for _ in 0..5 {
            let content = match self.read(&name, REF_BYTES)? {
                Ok(content) => content,
                Err(why) => return Ok(Err(why)),
            };
            let Some(content) = content else {
                if name == head {
                    return Ok(Err("is missing".to_owned()));
                }
                return Ok(self.packed()?.and_then(|mut packed| {
                    packed
                        .remove(&name)
                        .ok_or_else(|| format!("points at {}, which does not exist", text::quoted(&name)))
                }));
            };
            let text = content.trim_ascii();
            if let Some(target) = text.strip_prefix(b"ref:") {
                name = String::from_utf8_lossy(target.trim_ascii()).into_owned();
                if !is_ref(&name) {
                    return Ok(Err(format!(
                        "points at {}, which is no ref",
                        text::quoted(&shortened(&name, 80))
                    )));
                }
                continue;
            }
            return Ok(Oid::from_bytes(text).map_err(|_| "does not hold an object id".to_owned()));
        }
        Ok(Err("points at itself".to_owned()))
    }

    /// The branch that HEAD names, if it names one.
    pub(crate) fn branch(&self) -> Option<String> {
        let content = self.read("HEAD", REF_BYTES).ok()?.ok()??;
        let target = content.trim_ascii().strip_prefix(b"ref:")?.trim_ascii();
        let name = String::from_utf8_lossy(target).into_owned();
        is_ref(&name).then_some(name)
    }

    /// Every commit that a ref or HEAD's reflog names, as far as the agent left them readable. `users`: the
    /// user's refs, which stand in the workspace too.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub(crate) fn all(&self, users: &BTreeMap<String, Oid>) -> Result<BTreeSet<Oid>> {
        let mut found: BTreeSet<Oid> = self.head()?.into_iter().collect();
        let mut packed = self.packed()?.unwrap_or_default();
        packed.retain(|name, oid| users.get(name) != Some(oid));
        found.extend(packed.into_values().take(MAX_REFS));
        let mut names = Vec::new();
        self.walk(&PathBuf::from("refs"), 0, &mut names)?;
        for name in names {
            if let Ok(Some(content)) = self.read(&name, REF_BYTES)?
                && let Ok(oid) = Oid::from_bytes(content.trim_ascii())
            {
                found.insert(oid);
            }
        }
        let worktrees = self.names_of_worktrees()?;
        for worktree in &worktrees {
            found.extend(self.head_in(&format!("worktrees/{worktree}/HEAD"))?);
        }
        let logs = worktrees.iter().map(|name| format!("worktrees/{name}/logs/HEAD"));
        let own = ["logs/HEAD", "logs/refs/stash"].map(str::to_owned);
        for log in own.into_iter().chain(logs) {
            let Ok(Some(content)) = self.read(&log, PACKED_REFS_BYTES)? else {
                continue;
            };
            let news = content
                .split(|byte| *byte == b'\n')
                .filter_map(|line| line.split(|byte| *byte == b' ').nth(1));
            found.extend(news.filter_map(|new| Oid::from_bytes(new).ok()).take(MAX_REFS));
        }
        found.retain(|oid| !oid.is_null());
        Ok(found)
    }

    /// The objects of the refs whose names are wanted.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub(crate) fn named(&self, is_wanted: impl Fn(&str) -> bool) -> Result<BTreeSet<Oid>> {
        let mut refs = self.packed()?.unwrap_or_default();
        let mut names = Vec::new();
        self.walk(&PathBuf::from("refs"), 0, &mut names)?;
        for name in names {
            if let Some(content) = self.content(&name)?
                && let Ok(oid) = Oid::from_bytes(content.trim_ascii())
            {
                refs.insert(name, oid);
            }
        }
        refs.retain(|name, _| is_wanted(name));
        Ok(refs.into_values().collect())
    }

    /// The content of a file in the git directory, if it can be read.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub(crate) fn content(&self, name: &str) -> Result<Option<Vec<u8>>> {
        Ok(self.read(name, PACKED_REFS_BYTES)?.unwrap_or_default())
    }

    /// The linked worktrees that the agent made below `root`: their folders in it, and the commits of their
    /// HEADs.
    ///
    /// # Errors
    /// As [`Self::head`].
    pub(crate) fn worktrees(&self, root: &Path) -> Result<Vec<(PathBuf, Option<Oid>)>> {
        let mut found = Vec::new();
        for name in self.names_of_worktrees()? {
            let Ok(Some(link)) = self.read(&format!("worktrees/{name}/gitdir"), REF_BYTES)? else {
                continue;
            };
            let link = path_of(link.strip_suffix(b"\n").unwrap_or(&link));
            let folder = link.parent().and_then(|folder| folder.strip_prefix(root).ok());
            let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) else {
                continue;
            };
            let is_below = folder
                .components()
                .all(|part| matches!(part, Component::Normal(_)));
            if is_below && openat::folder(&self.root, folder).is_ok() {
                let head = self.head_in(&format!("worktrees/{name}/HEAD"))?.ok();
                found.push((folder.to_owned(), head));
            }
        }
        Ok(found)
    }

    fn names_of_worktrees(&self) -> Result<Vec<String>> {
        let at = self.git_dir.join("worktrees");
        let opened = openat::folder(&self.root, &at);
        let Ok(fd) = Self::sorted(&at, opened)? else {
            return Ok(Vec::new());
        };
        let listed = rustix::fs::Dir::read_from(&fd).map_err(std::io::Error::from);
        let Ok(entries) = Self::sorted(&at, listed)? else {
            return Ok(Vec::new());
        };
        let mut names = Vec::new();
        for entry in entries {
            let entry = entry.doing("list", &at)?;
            let name = entry.file_name().to_str().unwrap_or(".");
            if !matches!(name, "." | "..") && names.len() < MAX_REFS {
                names.push(name.to_owned());
            }
        }
        names.sort();
        Ok(names)
    }

    fn walk(&self, folder: &Path, depth: usize, names: &mut Vec<String>) -> Result<()> {
        let at = self.git_dir.join(folder);
        let opened = openat::folder(&self.root, &at);
        let Ok(fd) = Self::sorted(&at, opened)? else {
            return Ok(());
        };
        let listed = rustix::fs::Dir::read_from(&fd).map_err(std::io::Error::from);
        let Ok(entries) = Self::sorted(&at, listed)? else {
            return Ok(());
        };
        for entry in entries {
            let entry = entry.doing("list", &at)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") || names.len() >= MAX_REFS {
                continue;
            }
            let path = folder.join(std::ffi::OsStr::from_bytes(name));
            match entry.file_type() {
                rustix::fs::FileType::Directory if depth < 8 => self.walk(&path, depth + 1, names)?,
                rustix::fs::FileType::RegularFile => names.extend(path.to_str().map(str::to_owned)),
                _ => {}
            }
        }
        Ok(())
    }

    fn packed(&self) -> Result<Result<BTreeMap<String, Oid>, String>> {
        let content = match self.read("packed-refs", PACKED_REFS_BYTES)? {
            Ok(content) => content.unwrap_or_default(),
            Err(why) => return Ok(Err(why)),
        };
        let text = String::from_utf8_lossy(&content).into_owned();
        let refs = text.lines().filter(|line| !line.starts_with(['#', '^']));
        Ok(Ok(refs
            .filter_map(|line| {
                let (oid, name) = line.split_once(' ')?;
                Some((name.to_owned(), Oid::parse(oid).ok()?))
            })
            .collect()))
    }

    fn read(&self, name: &str, limit: u64) -> Result<Result<Option<Vec<u8>>, String>> {
        let path = self.git_dir.join(name);
        Self::sorted(&path, openat::read(&self.root, &path, limit))
    }

    /// Separates what an agent did to its files from what the machine cannot do: only the first is an answer.
    fn sorted<T>(path: &Path, outcome: std::io::Result<T>) -> Result<Result<T, String>> {
        match outcome {
            Ok(it) => Ok(Ok(it)),
            Err(error) if openat::is_by_its_writer(&error) => {
                Ok(Err(format!("cannot be read ({})", text::os_message(&error))))
            }
            Err(error) => Err(Error::io("read", path, error)),
        }
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

#[cfg(test)]
mod tests {
    use rustix::process::{Resource, getrlimit, setrlimit};

    use super::*;

    /// The other test, in a process of its own.
    #[test]
    fn commits_that_cannot_be_read_for_now_are_not_lost() {
        #[expect(
            clippy::disallowed_methods,
            reason = "the limit on descriptors is the whole process's"
        )]
        let output = std::process::Command::new(std::env::current_exe().unwrap())
            .args([
                "--exact",
                "workspace::agent_refs::tests::without_descriptors",
                "--ignored",
            ])
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success() && said.contains("1 passed"), "{said}");
    }

    #[test]
    #[ignore = "takes every descriptor of its process"]
    fn without_descriptors() {
        let folder = tempfile::tempdir().unwrap();
        let git_dir = folder.path().join(".git");
        std::fs::create_dir_all(git_dir.join("refs/heads")).unwrap();
        let commit = "1".repeat(40);
        std::fs::write(git_dir.join("HEAD"), format!("{commit}\n")).unwrap();
        let refs = AgentRefs {
            root: openat::root(folder.path()).unwrap(),
            git_dir: PathBuf::from(".git"),
        };
        assert_eq!(refs.head().unwrap().unwrap().as_str(), commit);

        let before = getrlimit(Resource::Nofile);
        let none = rustix::process::Rlimit {
            current: Some(0),
            ..before
        };
        setrlimit(Resource::Nofile, none).unwrap();
        let (head, all) = (refs.head(), refs.all(&BTreeMap::new()));
        setrlimit(Resource::Nofile, before).unwrap();
        assert!(head.unwrap_err().is_passing());
        assert!(all.unwrap_err().is_passing());

        std::fs::remove_file(git_dir.join("HEAD")).unwrap();
        std::os::unix::fs::symlink("elsewhere", git_dir.join("HEAD")).unwrap();
        assert!(refs.head().unwrap().is_err(), "a link is the agent's doing");
    }
}
