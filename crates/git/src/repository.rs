//! The user's repository.

mod open;

use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{SystemTime, UNIX_EPOCH};

use crate::command::{Call, Git};
use crate::diff::Change;
use crate::error::{Error, Result, shortened};
use crate::helper::Helper;
use crate::id::Branch;
use crate::import::Ahead;
use crate::lock::Lock;
use crate::memory::Memory;
use crate::oid::{Format, Oid, Tree};

/// A repository of the user: it has commits, a work tree and its whole history.
#[derive(Clone, Debug)]
pub struct Repository {
    git: Git,
    root: PathBuf,
    here: PathBuf,
    git_dir: PathBuf,
    common: PathBuf,
    format: Format,
    lock: Option<Lock>,
    memories: Memories,
    helpers: Helpers,
    /// Checkouts that are kept for later workspaces, at most.
    pub(crate) spares: usize,
}

/// gits that stay up.
#[derive(Clone, Debug, Default)]
pub(crate) struct Helpers {
    /// Reads objects.
    pub(crate) objects: Helper,
}

/// What was found out about commits, and is true for ever.
#[derive(Clone, Debug, Default)]
pub(crate) struct Memories {
    /// How one differs from the other.
    pub(crate) changes: Memory<Vec<Change>>,
    /// How the other stands to the one.
    pub(crate) ahead: Memory<Ahead>,
}

impl Repository {
    /// The same repository, worked on by the holder of its lock: git children get the lock as their stdin.
    #[must_use]
    pub fn locked(mut self, lock: &Lock) -> Self {
        self.lock = Some(lock.clone());
        self
    }

    /// The root of the main checkout (absolute), where `.crew/` and `crew.toml` stand.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.root
    }

    /// The root of the checkout that was opened: the main one or a linked worktree.
    #[must_use]
    pub fn here(&self) -> &Path {
        &self.here
    }

    /// The git directory that all checkouts share.
    #[must_use]
    pub fn common_dir(&self) -> &Path {
        &self.common
    }

    /// Where [`Lock::take`] is to take this repository's lock.
    #[must_use]
    pub fn lock_path(&self) -> PathBuf {
        self.common.join("crew.lock")
    }

    /// The git that works on it.
    #[must_use]
    pub fn git(&self) -> &Git {
        &self.git
    }

    /// A name for folders: the root's own name and eight digits of what the git directory is, `website-1f9a03bc`. It is another's for
    /// a repository that was made anew where one stood, and for a copy; the same under whatever path it is reached, and where it was
    /// moved within a file system, but for the root's own name.
    #[must_use]
    pub fn folder_name(&self) -> String {
        let name = self
            .root
            .file_name()
            .map(|name| name.to_string_lossy().into_owned())
            .unwrap_or_default();
        let safe: String = name
            .chars()
            .map(|c| {
                if c.is_ascii_alphanumeric() || "._-".contains(c) {
                    c
                } else {
                    '_'
                }
            })
            .take(60)
            .collect();
        let safe = safe.trim_start_matches(['.', '-']);
        // FNV-1a: it is written down here, so the name cannot change with a library.
        let hash = self
            .identity()
            .iter()
            .fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
                (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3)
            });
        format!(
            "{}-{:08x}",
            if safe.is_empty() { "repository" } else { safe },
            hash >> 32
        )
    }

    fn identity(&self) -> Vec<u8> {
        let Ok(is) = self.common.metadata() else {
            return identity(&self.common, 0, None);
        };
        identity(&self.common, is.ino(), is.created().ok())
    }

    /// The branch checked out [`here`](Self::here); `None` when HEAD is detached.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn current_branch(&self) -> Result<Option<Branch>> {
        let said = self
            .git
            .call("symbolic-ref")
            .git_dir(&self.git_dir)
            .args(["--quiet", "HEAD"])
            .run()?;
        let name = String::from_utf8_lossy(&said.stdout).trim().to_owned();
        Ok(name
            .strip_prefix("refs/heads/")
            .and_then(|short| Branch::parse(short).ok()))
    }

    /// The branch checked out here, for callers that need one.
    ///
    /// # Errors
    /// [`Error::Detached`].
    pub fn require_branch(&self) -> Result<Branch> {
        self.current_branch()?.ok_or_else(|| Error::Detached {
            path: self.here.clone(),
        })
    }

    /// The commit a branch is at, for the branch that work lands on.
    ///
    /// # Errors
    /// [`Error::TargetMissing`].
    pub fn target(&self, branch: &Branch) -> Result<Oid> {
        self.branch_tip(branch)?.ok_or_else(|| Error::TargetMissing {
            branch: branch.short().to_owned(),
            path: self.root.clone(),
        })
    }

    /// The commit a branch is at; `None` if there is no such branch.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn branch_tip(&self, branch: &Branch) -> Result<Option<Oid>> {
        self.commit_named(&branch.full())
    }

    /// The commit that a revision (`HEAD`, a branch, an abbreviated id …) means.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`].
    pub fn resolve(&self, revision: &str) -> Result<Oid> {
        self.commit_named(revision)?
            .ok_or_else(|| self.no_such_commit(revision))
    }

    /// The tree of a commit.
    ///
    /// # Errors
    /// [`Error::NoSuchCommit`].
    pub fn tree_of(&self, commit: &Oid) -> Result<Tree> {
        if let Some(tree) = self.stored_tree(commit) {
            return Ok(Tree(tree));
        }
        let said = self.rev_parse(&format!("{commit}^{{tree}}"))?;
        said.map(Tree).ok_or_else(|| self.no_such_commit(commit.as_str()))
    }

    /// Whether `ancestor` is `descendant` or one of its ancestors.
    ///
    /// # Errors
    /// [`Error::Failed`] when one of them does not exist.
    pub fn is_ancestor(&self, ancestor: &Oid, descendant: &Oid) -> Result<bool> {
        if self.is_near(ancestor, descendant) {
            return Ok(true);
        }
        let said = self
            .call("merge-base")
            .arg("--is-ancestor")
            .arg("--end-of-options")
            .args([ancestor.as_str(), descendant.as_str()])
            .run()?;
        match said.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(said.failed()),
        }
    }

    /// Adds patterns to `.git/info/exclude`, each at most once, so that crew's folders are ignored without editing a
    /// file of the user's. Returns whether anything was added.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn exclude(&self, patterns: &[&str]) -> Result<bool> {
        let path = self.common.join("info/exclude");
        let mut content = match std::fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => Vec::new(),
            Err(error) => return Err(Error::io("read", &path, error)),
        };
        let known = |content: &[u8], pattern: &str| {
            content
                .split(|byte| *byte == b'\n')
                .any(|line| line.trim_ascii_end() == pattern.as_bytes())
        };
        let before = content.len();
        for pattern in patterns {
            if !known(&content, pattern) {
                if content.last().is_some_and(|last| *last != b'\n') {
                    content.push(b'\n');
                }
                content.extend_from_slice(pattern.as_bytes());
                content.push(b'\n');
            }
        }
        if content.len() == before {
            return Ok(false);
        }
        crate::plain::replace(&path, &content)?;
        Ok(true)
    }

    /// Whether git ignores this folder of the main checkout: by any of the user's own patterns too.
    ///
    /// # Errors
    /// [`Error::Failed`] and the like.
    pub fn is_ignored(&self, folder: &Path) -> Result<bool> {
        let mut path = folder.as_os_str().to_owned();
        path.push("/");
        let said = self
            .git
            .call("check-ignore")
            .users_settings()
            .git_dir(&self.common)
            .work_tree(&self.root)
            // It takes names, and refuses to be told that they are no patterns.
            .env("GIT_LITERAL_PATHSPECS", "0")
            .args(["--quiet", "--"])
            .arg(path)
            .run()?;
        match said.code {
            Some(0) => Ok(true),
            Some(1) => Ok(false),
            _ => Err(said.failed()),
        }
    }

    /// A call on the shared git directory, without a work tree, in-tree attributes or the user's settings.
    pub(crate) fn call(&self, subcommand: &'static str) -> Call {
        self.git
            .call(subcommand)
            .git_dir(&self.common)
            .cwd(&self.common)
            .lock(self.lock.as_ref().map(Lock::file))
    }

    /// The same, reading attributes from nowhere in the tree (rule 8).
    pub(crate) fn call_without_attributes(&self, subcommand: &'static str) -> Call {
        self.call(subcommand).attributes_from(self.format.empty_tree())
    }

    pub(crate) fn format(&self) -> Format {
        self.format
    }

    pub(crate) fn lock(&self) -> Option<&Lock> {
        self.lock.as_ref()
    }

    pub(crate) fn objects(&self) -> PathBuf {
        self.common.join("objects")
    }

    pub(crate) fn helpers(&self) -> &Helpers {
        &self.helpers
    }

    /// Ends the gits that stay up for this repository and were not needed since this was last called; whoever keeps a
    /// repository open for long calls it now and then.
    pub fn rest(&self) {
        self.helpers.objects.rest();
    }

    pub(crate) fn memories(&self) -> &Memories {
        &self.memories
    }

    /// The object that a ref is at now; `None` if there is no such ref.
    pub(crate) fn ref_at(&self, name: &str) -> Result<Option<Oid>> {
        match self.stored(name) {
            Some(known) => Ok(known),
            None => self.rev_parse(name),
        }
    }

    pub(crate) fn rev_parse(&self, name: &str) -> Result<Option<Oid>> {
        let said = self
            .call("rev-parse")
            .args(["--quiet", "--verify", "--end-of-options", name])
            .run()?;
        match said.code {
            Some(0) => Oid::from_bytes(said.stdout.trim_ascii()).map(Some),
            Some(1 | 128) => Ok(None),
            _ => Err(said.failed()),
        }
    }

    pub(crate) fn commit_named(&self, name: &str) -> Result<Option<Oid>> {
        // Branches and crew's own refs name commits and nothing else.
        if let Some(known) = self.stored(name) {
            return Ok(known);
        }
        self.rev_parse(&format!("{name}^{{commit}}"))
    }

    /// That all of these are commits, in one call.
    pub(crate) fn require_commits(&self, commits: &[&Oid]) -> Result<()> {
        let list: String = commits.iter().map(|commit| format!("{commit}\n")).collect();
        let said = self
            .call("cat-file")
            .arg("--batch-check=%(objecttype)")
            .input(list.as_bytes())?
            .ok()?;
        let said = String::from_utf8_lossy(&said).into_owned();
        match commits
            .iter()
            .zip(said.lines())
            .find(|(_, kind)| *kind != "commit")
        {
            Some((commit, _)) => Err(self.no_such_commit(commit.as_str())),
            None => Ok(()),
        }
    }

    pub(crate) fn no_such_commit(&self, name: &str) -> Error {
        Error::NoSuchCommit {
            name: shortened(name, 80),
            path: self.root.clone(),
        }
    }
}

/// What git says on standard error, as one line and without its own word for an error.
fn in_a_line(said: &str) -> String {
    let said: Vec<&str> = said.split_whitespace().collect();
    let said = said.join(" ");
    match said.strip_prefix("fatal: ") {
        Some(why) => why.to_owned(),
        None if said.is_empty() => "it does not say why".to_owned(),
        None => said,
    }
}

/// When a folder was made, and its number, which alone may be given again; where a file system does not tell when, its path with the
/// number: another one may be made under the same path, too.
fn identity(folder: &Path, number: u64, made: Option<SystemTime>) -> Vec<u8> {
    let told = made.and_then(|made| made.duration_since(UNIX_EPOCH).ok());
    match told {
        Some(at) => [u128::from(number), at.as_nanos()]
            .map(u128::to_le_bytes)
            .concat(),
        None => [folder.as_os_str().as_bytes(), &number.to_le_bytes()].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_is_another_than_the_one_that_stood_there_whether_or_not_it_is_known_when_it_was_made() {
        let (here, there) = (Path::new("/r/.git"), Path::new("/s/.git"));
        let at = UNIX_EPOCH + std::time::Duration::from_nanos(1);
        assert_ne!(identity(here, 1, None), identity(here, 2, None));
        assert_ne!(identity(here, 1, None), identity(there, 1, None));
        assert_ne!(identity(here, 1, Some(at)), identity(here, 1, Some(UNIX_EPOCH)));
        // Moved, it is the same.
        assert_eq!(identity(here, 1, Some(at)), identity(there, 1, Some(at)));
    }
}
