//! The root: the checkout in which crew's own files stand, which need not be the main one.

use std::path::{Path, PathBuf};

use crate::error::{IoContext, Result};
use crate::repository::Repository;
use crate::repository::git_dir::MARKER;
use crate::types::paths::path_of;

/// The note on the root, in the git directory that all checkouts share: the folder of a linked worktree's git
/// directory in that one, or the path of a main checkout that git does not know by itself.
const NOTE: &str = "crew.root";

/// The file by which git knows that a linked worktree is locked, and why (git-worktree(1)).
const LOCKED: &str = "locked";
/// The reason that git gives to whoever removes the root.
const WHY_LOCKED: &str = "crew's journal is in it: unlock it to move it; `crew clean` removes the journal";

/// What the note says.
pub(super) enum Noted {
    /// The linked worktree whose git directory this is.
    Worktree { root: PathBuf, git_dir: PathBuf },
    /// The main checkout.
    Main(PathBuf),
}

/// Whether the folder is a main checkout that has its git directory in itself, no workspace of crew's, and no
/// note names another root.
#[must_use]
pub fn is_plain_main(folder: &Path) -> bool {
    let git_dir = folder.join(".git");
    let is_folder = git_dir.symlink_metadata().is_ok_and(|meta| meta.is_dir());
    let has = |name: &str| git_dir.join(name).symlink_metadata().is_ok();
    is_folder && !has(NOTE) && !has(MARKER)
}

/// Reads the note; nothing where there is none, or the checkout that it names is gone.
pub(super) fn noted(common: &Path) -> Option<Noted> {
    use std::os::unix::ffi::OsStrExt as _;
    let bytes = std::fs::read(common.join(NOTE)).ok()?;
    let path = path_of(bytes.strip_suffix(b"\n").unwrap_or(&bytes));
    if path.is_absolute() {
        let leads_here = git_dir_of(path).is_some_and(|git_dir| is_one(&git_dir, common));
        return leads_here.then(|| Noted::Main(path.to_owned()));
    }
    let is_worktree =
        path.as_os_str().as_bytes().starts_with(b"worktrees/") && path.components().count() == 2;
    let git_dir = Some(common.join(path)).filter(|_| is_worktree)?;
    let root = worktree_of(&git_dir)?;
    Some(Noted::Worktree { root, git_dir })
}

/// The root of a linked worktree, by its own git directory; nothing where it is gone.
pub(crate) fn worktree_of(git_dir: &Path) -> Option<PathBuf> {
    let link = std::fs::read(git_dir.join("gitdir")).ok()?;
    let link = git_dir.join(path_of(link.strip_suffix(b"\n").unwrap_or(&link)));
    let root = link.parent()?;
    (root.is_dir() && link.exists()).then(|| root.to_owned())
}

/// The git directory of a checkout, which its `.git` is or names.
pub(crate) fn git_dir_of(checkout: &Path) -> Option<PathBuf> {
    let dot_git = checkout.join(".git");
    if dot_git.is_dir() {
        return Some(dot_git);
    }
    let text = std::fs::read(&dot_git).ok()?;
    let named = text.strip_prefix(b"gitdir: ")?.trim_ascii_end();
    checkout.join(path_of(named)).canonicalize().ok()
}

fn is_one(one: &Path, other: &Path) -> bool {
    one.canonicalize().ok() == other.canonicalize().ok()
}

impl Repository {
    /// The same repository with its root at the checkout that was opened.
    #[must_use]
    pub fn rooted_here(mut self) -> Self {
        self.root.clone_from(&self.here);
        self.root_git_dir.clone_from(&self.git_dir);
        self
    }

    /// Notes the root for all other checkouts, where they would not find it by themselves.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn note_root(&self) -> Result<()> {
        let note = self.common.join(NOTE);
        if self.is_main_found() && self.root_git_dir == self.common {
            return crate::files::atomic_write::remove_if_there(&note);
        }
        let named = match self.root_git_dir.strip_prefix(&self.common) {
            Ok(inside) if !inside.as_os_str().is_empty() => inside,
            _ => &self.root,
        };
        let mut text = named.as_os_str().as_encoded_bytes().to_vec();
        text.push(b'\n');
        crate::files::atomic_write::replace(&note, &text)
    }

    /// Locks the root, where it is a linked worktree: `git worktree remove` deletes ignored files without
    /// asking, and crew's journal is one. A lock of the user's own stays.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn lock_root(&self) -> Result<()> {
        let locked = self.root_git_dir.join(LOCKED);
        if !self.is_root_linked() || locked.exists() {
            return Ok(());
        }
        crate::files::atomic_write::replace(&locked, format!("{WHY_LOCKED}\n").as_bytes())
    }

    /// Takes the lock of [`Repository::lock_root`] off again.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn unlock_root(&self) -> Result<()> {
        let locked = self.root_git_dir.join(LOCKED);
        let is_crews = std::fs::read(&locked).is_ok_and(|why| why.trim_ascii_end() == WHY_LOCKED.as_bytes());
        if self.is_root_linked() && is_crews {
            crate::files::atomic_write::remove_if_there(&locked)?;
        }
        Ok(())
    }

    fn is_root_linked(&self) -> bool {
        self.root_git_dir.starts_with(self.common.join("worktrees"))
    }

    /// Notes a root that is a main checkout which git does not know by itself: it may have been moved since
    /// it was noted.
    ///
    /// # Errors
    /// [`Error::Io`](crate::Error::Io).
    pub fn note_main(&self) -> Result<()> {
        let is_noted = matches!(noted(&self.common), Some(Noted::Main(main)) if main == self.root);
        if is_noted || self.is_main_found() || self.root_git_dir != self.common {
            return Ok(());
        }
        self.note_root()
    }

    fn is_main_found(&self) -> bool {
        let main = self.main.as_deref();
        main.is_some() && self.common.parent() == main && self.common.ends_with(".git")
    }

    /// The branch that the root shows; `None` when its HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) and the like.
    pub fn branch_of_root(&self) -> Result<Option<crate::types::id::Branch>> {
        self.branch_of(&self.root_git_dir)
    }

    /// Whether a git, or crew, is changing the root's index at the moment.
    #[must_use]
    pub fn is_index_locked(&self) -> bool {
        self.root_git_dir.join("index.lock").exists()
    }

    /// The root and the git directory of every checkout: the main one, where there is one, and the linked
    /// worktrees.
    pub(crate) fn places(&self) -> Result<Vec<(PathBuf, PathBuf)>> {
        let main = self.main.iter().map(|main| (main.clone(), self.common.clone()));
        let linked = self.linked()?.into_iter();
        let linked = linked.filter_map(|git_dir| Some((worktree_of(&git_dir)?, git_dir)));
        let mut found: Vec<(PathBuf, PathBuf)> = main.chain(linked).collect();
        found.sort();
        Ok(found)
    }

    /// The git directories of linked worktrees that are away.
    pub(crate) fn places_away(&self) -> Result<Vec<PathBuf>> {
        let mut away = self.linked()?;
        away.retain(|git_dir| worktree_of(git_dir).is_none());
        Ok(away)
    }

    /// The git directories of all linked worktrees that git knows.
    fn linked(&self) -> Result<Vec<PathBuf>> {
        let admin = self.common.join("worktrees");
        match std::fs::read_dir(&admin) {
            Ok(entries) => entries
                .map(|entry| Ok(entry.doing("read", &admin)?.path()))
                .collect(),
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(Vec::new()),
            Err(error) => Err(crate::Error::io("read", &admin, error)),
        }
    }
}
