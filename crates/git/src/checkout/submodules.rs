//! Submodules: their files in crew's checkouts, from the objects that the user has of them, without network.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::time::Duration;

use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::atomic_write::remove_if_there;
use crate::files::delete::delete_tree;
use crate::repository::Repository;
use crate::repository::file_settings::FilesOf;
use crate::repository::git_dir::Layout;
use crate::repository::root::git_dir_of;
use crate::types::identity::Identity;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};

/// The deepest nesting of submodules.
const DEPTH: usize = 10;

/// A submodule of a commit, or of one of its submodules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Submodule {
    /// Its folder, from the root of the checkout.
    pub path: PathBuf,
    /// The commit that is recorded for it.
    pub commit: Oid,
    /// A git directory of the user's that has the commit; none where the user has no such thing.
    pub source: Option<PathBuf>,
}

/// The submodules of one of crew's checkouts that are to be filled.
#[derive(Clone, Copy)]
pub(crate) struct Filling<'a> {
    /// The checkout's files.
    pub(crate) tree: &'a Path,
    /// The folder beside it with the indexes of its submodules.
    pub(crate) folder: &'a Path,
    /// The commit that is checked out.
    pub(crate) commit: &'a Oid,
    /// The commit that the user trusts: filters are run if the attributes of its submodules name them.
    pub(crate) base: &'a Oid,
    /// The author of commits that are made in a submodule.
    pub(crate) identity: &'a Identity,
}

impl Repository {
    /// The submodules of a commit, each before those in it. `.gitmodules` names them: a commit without that
    /// file has none.
    ///
    /// # Errors
    /// [`Error::Failed`] when there is no such commit.
    pub fn submodules(&self, commit: &Oid) -> Result<Vec<Submodule>> {
        let mut found = Vec::new();
        if self.may_have_submodules(commit) {
            let places = self.places()?;
            let checkouts: Vec<&Path> = places.iter().map(|(root, _)| root.as_path()).collect();
            let folders = self.module_folders();
            let super_dir = self.common_dir();
            self.add_submodules(
                super_dir,
                &folders,
                commit,
                (&checkouts, Path::new("")),
                &mut found,
            )?;
        }
        Ok(found)
    }

    /// Whether a commit's root has `.gitmodules`, as far as that can be seen quickly.
    fn may_have_submodules(&self, commit: &Oid) -> bool {
        let tree = self.tree_from_cat_file(commit);
        let root = tree.and_then(|tree| self.objects_of([&tree])?.pop());
        root.is_none_or(|(_, content)| {
            let name = b" .gitmodules\0";
            content.windows(name.len()).any(|window| window == name)
        })
    }

    /// The folders of the git directories of submodules: that of the repository, and those of its worktrees.
    fn module_folders(&self) -> Vec<PathBuf> {
        let worktrees = std::fs::read_dir(self.common_dir().join("worktrees"));
        let worktrees = worktrees
            .into_iter()
            .flatten()
            .flatten()
            .map(|entry| entry.path());
        std::iter::once(self.common_dir().to_owned())
            .chain(worktrees)
            .map(|git_dir| git_dir.join("modules"))
            .collect()
    }

    fn add_submodules(
        &self,
        git_dir: &Path,
        folders: &[PathBuf],
        commit: &Oid,
        (checkouts, above): (&[&Path], &Path),
        found: &mut Vec<Submodule>,
    ) -> Result<()> {
        let names = self.names_of_submodules(git_dir, commit)?;
        if names.is_empty() || above.components().count() > DEPTH * 10 {
            return Ok(());
        }
        let listing = self
            .call_at(git_dir, "ls-tree")
            .args(["-r", "-z", "--full-tree", commit.as_str()])
            .output_limit(512 << 20)
            .ok()?;
        for line in fields(&listing) {
            let Some(tab) = line.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let (head, path) = (&line[..tab], path_of(&line[tab + 1..]));
            let Some(name) = names.get(path).filter(|_| head.starts_with(b"160000 ")) else {
                continue;
            };
            let recorded = Oid::from_bytes(head.rsplit(|byte| *byte == b' ').next().unwrap_or_default())?;
            let path = above.join(path);
            let named = folders.iter().map(|folder| folder.join(name));
            let shown = checkouts
                .iter()
                .filter_map(|checkout| git_dir_of(&checkout.join(&path)));
            let source = named
                .chain(shown)
                .find(|source| self.has_commit(source, &recorded));
            found.push(Submodule {
                path: path.clone(),
                commit: recorded.clone(),
                source: source.clone(),
            });
            if let Some(source) = source {
                let folders = [source.join("modules")];
                self.add_submodules(&source, &folders, &recorded, (checkouts, &path), found)?;
            }
        }
        Ok(())
    }

    /// The name of each submodule by its path, as `.gitmodules` of a commit has them.
    fn names_of_submodules(&self, git_dir: &Path, commit: &Oid) -> Result<BTreeMap<PathBuf, PathBuf>> {
        let said = self
            .call_at(git_dir, "config")
            .args(["-z", "--blob", &format!("{commit}:.gitmodules")])
            .args(["--get-regexp", r"^submodule\..*\.path$"])
            .run()?;
        if said.code != Some(0) {
            return Ok(BTreeMap::new());
        }
        let pair = |entry: &[u8]| {
            let end = entry.iter().position(|byte| *byte == b'\n')?;
            let name = entry[..end].strip_prefix(b"submodule.")?.strip_suffix(b".path")?;
            let (name, path) = (path_of(name), path_of(&entry[end + 1..]));
            let is_plain = |path: &Path| {
                let mut parts = path.components();
                !path.as_os_str().is_empty() && parts.all(|part| matches!(part, Component::Normal(_)))
            };
            (is_plain(name) && is_plain(path)).then(|| (path.to_owned(), name.to_owned()))
        };
        Ok(fields(&said.stdout).filter_map(pair).collect())
    }

    pub(super) fn has_commit(&self, git_dir: &Path, commit: &Oid) -> bool {
        git_dir.join("objects").is_dir()
            && self
                .call_at(git_dir, "cat-file")
                .args(["-e", &format!("{commit}^{{tree}}")])
                .run()
                .is_ok_and(|said| said.code == Some(0))
    }

    /// A call on the files of a submodule in one of crew's checkouts. No configuration is read that somebody
    /// could write there: the git directory is the user's, the index crew's own.
    pub(crate) fn in_submodule(
        &self,
        source: &Path,
        folder: &Path,
        index: &Path,
        subcommand: &'static str,
    ) -> Call {
        self.call_at(source, subcommand)
            .work_tree(folder)
            .throwaway_index(index)
            .deadline(Duration::from_secs(600))
    }

    /// Makes the folder of a submodule in a checkout one of its commit, with a git directory of its own that
    /// borrows the user's objects, and with the files as the user's git would write them. `index` is crew's
    /// own. Files that are not the commit's stay. `false`: the user does not have all of the commit, and the
    /// folder is empty.
    ///
    /// No process may be at work in the checkout.
    pub(crate) fn fill_submodule(
        &self,
        filling: Filling<'_>,
        submodule: &Submodule,
        index: &Path,
        files: &FilesOf,
    ) -> Result<bool> {
        let Some(source) = &submodule.source else {
            return Ok(false);
        };
        let folder = real_folder(filling.tree, &submodule.path)?;
        remove_if_there(&index.with_extension("lock"))?;
        let git_dir = folder.join(".git");
        delete_tree(&git_dir)?;
        let read = files
            .put_into(self.in_submodule(source, &folder, index, "read-tree"))
            .args(["--reset", "-u", "--no-sparse-checkout", "--end-of-options"])
            .arg(submodule.commit.as_str())
            .ok();
        match read {
            Ok(_) => {}
            Err(error @ Error::Failed { .. }) if !error.is_passing() && !is_of_filter(&error) => {
                delete_tree(&folder)?;
                remove_if_there(index)?;
                std::fs::create_dir(&folder).doing("make", &folder)?;
                return Ok(false);
            }
            Err(error) => return Err(error),
        }
        let layout = Layout {
            files,
            head: submodule.commit.to_string(),
            refs: Vec::new(),
            identity: filling.identity,
            excludes: &[],
            users: source,
        };
        self.write_git_dir(&git_dir, &layout)?;
        // A history that is cut off at the user's is so here.
        match std::fs::copy(source.join("shallow"), git_dir.join("shallow")) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                return Err(Error::io("copy", source.join("shallow"), error));
            }
            _ => {}
        }
        std::fs::copy(index, git_dir.join("index")).doing("copy", index)?;
        Ok(true)
    }
}

/// Whether a filter of the user's has failed: the files would be there if it had not.
fn is_of_filter(error: &Error) -> bool {
    matches!(error, Error::Failed { stderr, .. } if stderr.contains("smudge filter "))
}

/// Makes a folder below `root` in which no part is a link: a check may have put one there.
fn real_folder(root: &Path, relative: &Path) -> Result<PathBuf> {
    let mut at = root.to_owned();
    for part in relative.components() {
        at.push(part);
        let is_folder = at.symlink_metadata().is_ok_and(|meta| meta.is_dir());
        if !is_folder {
            delete_tree(&at)?;
            std::fs::create_dir(&at).doing("make", &at)?;
        }
    }
    Ok(at)
}
