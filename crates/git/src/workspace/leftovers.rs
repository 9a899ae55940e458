//! Leftovers: files that an agent has not committed. Most of them are work. Secrets, folders of
//! dependencies and core dumps are not, and are left where they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use crate::command::call::Call;
use crate::error::Result;
use crate::repository::Repository;
use crate::types::oid::Oid;
use crate::types::refusal::Limits;
use crate::workspace::Workspace;
use crate::workspace::snapshot::Excess;

/// A path that is not committed for the agent. What the agent commits by itself is its own word.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct LeftBehind {
    /// The file, or the whole folder; relative to the workspace.
    pub path: PathBuf,
    /// The reason.
    pub why: NoWork,
}

/// The reason for which a leftover is not committed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum NoWork {
    /// Its name is that of a file with secrets.
    Secret,
    /// A folder of dependencies or of a cache, which a program makes anew.
    MadeAnew,
    /// The memory of a program that crashed.
    CoreDump,
}

/// Folders that package managers, interpreters and their tools fill.
const MADE_ANEW: [&str; 10] = [
    "node_modules",
    "bower_components",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".gradle",
];
/// The first bytes of a `CACHEDIR.TAG`, by <https://bford.info/cachedir/>.
const CACHE_TAG: &[u8] = b"Signature: 8a477f597d28d172789f06886806bc55";

impl Repository {
    /// The paths in a workspace that saving it would leave behind. Nothing is saved.
    ///
    /// No process of the agent may be running.
    ///
    /// # Errors
    /// [`Error::WorkspaceMissing`](crate::Error::WorkspaceMissing),
    /// [`Error::Deadline`](crate::Error::Deadline), [`Error::Failed`](crate::Error::Failed).
    pub fn left_behind(&self, workspace: &Workspace, limits: &Limits) -> Result<Vec<LeftBehind>> {
        let _claim = workspace.claim()?;
        let parent = self.last_known(workspace)?;
        let snapshot = self.snapshot(workspace, Path::new(""), Some(&parent), limits, Excess::Refused)?;
        Ok(snapshot.left_behind)
    }
}

impl NoWork {
    /// Whether this is left out of what is saved under these rules: nobody looks for a cache or a core dump
    /// again, and a secret may be something that only this file has.
    fn is_left_out(self, excess: Excess) -> bool {
        match self {
            Self::Secret => excess == Excess::Refused,
            Self::MadeAnew | Self::CoreDump => true,
        }
    }
}

/// Takes the untracked paths out of `paths` that are no work, a folder as one, and the repositories in such
/// folders out of `nested`. `is_tracked` tells which of the paths are in the index; `call`: git, with that
/// index.
pub(super) fn take_out(
    call: &dyn Fn(&'static str) -> Call,
    at: &Path,
    excess: Excess,
    (paths, nested): (&mut Vec<PathBuf>, &mut Vec<PathBuf>),
    is_tracked: impl Fn(&Path) -> bool,
) -> Result<Vec<LeftBehind>> {
    let untracked = || paths.iter().filter(|path| !is_tracked(path));
    let marked: BTreeSet<&Path> = untracked().filter_map(|path| marked_folder(at, path)).collect();
    let mut folders = BTreeMap::new();
    let mut left = BTreeSet::new();
    let mut taken = BTreeSet::new();
    for path in untracked() {
        let folder = outermost(path, |folder| marked.contains(folder) || has_name_of_one(folder));
        let why = match folder {
            Some(folder) => {
                let has_tracked = match folders.get(folder) {
                    Some(known) => *known,
                    // The project records files in it, so it is not only made by a program.
                    None => {
                        let has_tracked = has_tracked_files(call, folder)?;
                        folders.insert(folder, has_tracked);
                        has_tracked
                    }
                };
                (!has_tracked).then_some(NoWork::MadeAnew)
            }
            None => None,
        };
        let found = match (why, folder) {
            (Some(why), Some(folder)) => Some((folder, why)),
            (Some(_) | None, _) => of_file(at, path).map(|why| (path.as_path(), why)),
        };
        if let Some((what, why)) = found.filter(|(_, why)| why.is_left_out(excess)) {
            let what = what.to_path_buf();
            left.insert(LeftBehind { path: what, why });
            taken.insert(path.clone());
        }
    }
    paths.retain(|path| !taken.contains(path));
    nested.retain(|path| !left.iter().any(|left| path.starts_with(&left.path)));
    Ok(left.into_iter().collect())
}

/// The reason for which a file is no work, by itself.
fn of_file(at: &Path, path: &Path) -> Option<NoWork> {
    let name = path.file_name()?.to_str()?;
    if text::is_secret_file(name) {
        return Some(NoWork::Secret);
    }
    let number = name
        .strip_prefix("core.")
        .or_else(|| name.strip_prefix("vgcore."));
    let is_numbered =
        number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()));
    let is_file = || at.join(path).symlink_metadata().is_ok_and(|meta| meta.is_file());
    (is_numbered && is_file()).then_some(NoWork::CoreDump)
}

/// The folder that this file marks as one which a program makes anew.
fn marked_folder<'p>(at: &Path, path: &'p Path) -> Option<&'p Path> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty())?;
    match path.file_name()?.to_str()? {
        "pyvenv.cfg" => Some(folder),
        "CACHEDIR.TAG" => {
            use std::io::Read as _;
            let mut beginning = Vec::new();
            let file = at.join(path);
            // A pipe would be waited for.
            if !file.symlink_metadata().ok()?.is_file() {
                return None;
            }
            let open = std::fs::File::open(file).ok()?;
            open.take(CACHE_TAG.len() as u64)
                .read_to_end(&mut beginning)
                .ok()?;
            (beginning == CACHE_TAG).then_some(folder)
        }
        _ => None,
    }
}

fn has_name_of_one(folder: &Path) -> bool {
    let name = folder.file_name().and_then(std::ffi::OsStr::to_str);
    name.is_some_and(|name| MADE_ANEW.contains(&name))
}

/// The outermost folder above `path` of which `is_one` is true.
fn outermost(path: &Path, is_one: impl Fn(&Path) -> bool) -> Option<&Path> {
    path.ancestors()
        .skip(1)
        .filter(|folder| !folder.as_os_str().is_empty() && is_one(folder))
        .last()
}

fn has_tracked_files(call: &dyn Fn(&'static str) -> Call, folder: &Path) -> Result<bool> {
    let listed = call("ls-files")
        .env("GIT_LITERAL_PATHSPECS", "1")
        .args(["--cached", "-z", "--"])
        .arg(folder)
        .ok()?;
    Ok(!listed.is_empty())
}

impl Repository {
    /// The paths that crew committed for the agent on a branch, in order: those of the commits that `tip` has
    /// and `target` has not, whose message is `message` (see [`Repository::save`]).
    ///
    /// # Errors
    /// [`Error::Failed`](crate::Error::Failed) when one of the commits does not exist.
    pub fn saved_paths(&self, target: &Oid, tip: &Oid, message: &str) -> Result<Vec<PathBuf>> {
        let said = self
            .call("rev-list")
            .args(["--no-merges", "--fixed-strings", "--no-commit-header"])
            .arg("--format=%H %P%x00%s")
            .arg(format!("--grep={message}"))
            .args(["--end-of-options", tip.as_str(), &format!("^{target}")])
            .ok()?;
        let mut paths = BTreeSet::new();
        for line in String::from_utf8_lossy(&said).lines() {
            // What git looked for may stand anywhere in a message.
            let Some((named, _)) = line.split_once('\0').filter(|(_, subject)| *subject == message) else {
                continue;
            };
            let mut named = named.split(' ').map(Oid::parse);
            if let (Some(commit), Some(parent)) = (named.next(), named.next()) {
                let changes = self.changes(&parent?, &commit?)?;
                paths.extend(changes.into_iter().map(|change| change.path));
            }
        }
        Ok(paths.into_iter().collect())
    }
}
