//! Filled submodules of one of crew's checkouts: the list of them, and crew's own index of each, in a folder
//! beside the checkout.

use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};

use crate::checkout::submodules::{Filling, Submodule};
use crate::error::{IoContext, Result};
use crate::files::atomic_write::{remove_if_there, replace};
use crate::files::delete::delete_tree;
use crate::repository::Repository;
use crate::repository::file_settings::FilesOf;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};

/// The name of the list.
const LIST: &str = "list";

/// A submodule that crew has filled.
pub(crate) struct Filled {
    pub(crate) path: PathBuf,
    pub(crate) commit: Oid,
    /// The git directory of the user's from which it was filled.
    pub(crate) source: PathBuf,
    pub(crate) index: PathBuf,
    /// The commit of it whose attributes chose the filters.
    chooser: Option<Oid>,
}

impl Filled {
    /// The user's settings for files in it.
    pub(crate) fn files(&self, repository: &Repository) -> Result<FilesOf> {
        repository.files_of_submodule(&self.source, &self.path, self.chooser.as_ref())
    }
}

/// The submodules that were filled, by the list in `folder`.
pub(crate) fn listed(folder: &Path) -> Vec<Filled> {
    let list = std::fs::read(folder.join(LIST)).unwrap_or_default();
    let list: Vec<&[u8]> = fields(&list).collect();
    let one = |field: &[&[u8]]| {
        let [path, commit, source, number, chooser] = field else {
            return None;
        };
        Some(Filled {
            path: path_of(path).to_owned(),
            commit: Oid::from_bytes(commit).ok()?,
            source: path_of(source).to_owned(),
            index: folder.join(path_of(number)),
            chooser: Oid::from_bytes(chooser).ok(),
        })
    };
    list.chunks_exact(5).filter_map(one).collect()
}

impl Repository {
    /// Fills the submodules of a checkout, as far as the user has them. In one that was filled before they
    /// are filled anew where another set of them is recorded, and made equal otherwise.
    pub(crate) fn fill_submodules(&self, filling: Filling<'_>) -> Result<()> {
        let (folder, tree) = (filling.folder, filling.tree);
        let (before, now) = (listed(folder), self.submodules(filling.commit)?);
        let places = |of: &[Filled]| -> Vec<(PathBuf, PathBuf)> {
            of.iter()
                .map(|one| (one.path.clone(), one.source.clone()))
                .collect()
        };
        let had = places(&before);
        let has = now
            .iter()
            .filter_map(|one| Some((one.path.clone(), one.source.clone()?)));
        if !before.is_empty() && had != has.collect::<Vec<_>>() {
            for (path, _) in had.iter().rev() {
                // A folder that leads elsewhere by now is none of crew's.
                if is_real(tree, path) {
                    delete_tree(&tree.join(path))?;
                }
            }
            delete_tree(folder)?;
        }
        if now.is_empty() {
            return Ok(());
        }
        let trusted = match filling.base == filling.commit {
            true => now.clone(),
            false => self.submodules(filling.base)?,
        };
        std::fs::create_dir_all(folder).doing("make", folder)?;
        let mut list = Vec::new();
        for (number, submodule) in now.iter().enumerate() {
            let number = number.to_string();
            let Some(source) = &submodule.source else { continue };
            let trusted = trusted.iter().find(|one| one.path == submodule.path);
            let chooser = trusted.map(|one| &one.commit);
            let chooser = chooser.filter(|commit| self.has_commit(source, commit));
            let files = self.files_of_submodule(source, &submodule.path, chooser)?;
            let (index, noted) = (folder.join(&number), folder.join(format!("{number}.form")));
            let form = [submodule.commit.as_str().as_bytes(), b"\n", &files.form()].concat();
            if std::fs::read(&noted).ok().as_ref() != Some(&form) {
                // The same content may have to be written in another way now.
                remove_if_there(&index)?;
                std::fs::write(&noted, &form).doing("write", &noted)?;
            }
            if self.fill_submodule(filling, submodule, &index, &files)? {
                let Submodule { path, commit, .. } = submodule;
                let entry = [
                    path.as_os_str(),
                    commit.as_str().as_ref(),
                    source.as_os_str(),
                    number.as_ref(),
                    chooser.map_or("none", Oid::as_str).as_ref(),
                ];
                for field in entry {
                    list.extend_from_slice(field.as_bytes());
                    list.push(0);
                }
            }
        }
        replace(&folder.join(LIST), &list)
    }

    /// The files of the commits that submodules were filled with, and their git directories, by their paths
    /// from the root of the checkout.
    pub(super) fn tracked_in_submodules(&self, folder: &Path, tree: &Path) -> Result<Vec<Vec<u8>>> {
        let mut paths = Vec::new();
        for one in listed(folder) {
            let at = one.path.as_os_str().as_bytes();
            paths.push([at, b"/.git"].concat());
            let listing = self
                .in_submodule(&one.source, &tree.join(&one.path), &one.index, "ls-files")
                .args(["--stage", "-z"])
                .output_limit(512 << 20)
                .ok()?;
            paths.extend(fields(&listing).filter_map(|entry| {
                let path = entry.splitn(2, |byte| *byte == b'\t').nth(1)?;
                let end: &[u8] = if entry.starts_with(b"160000 ") { b"/" } else { b"" };
                Some([at, b"/", path, end].concat())
            }));
        }
        Ok(paths)
    }
}

/// Whether no part of a path below `root` is a link.
fn is_real(root: &Path, relative: &Path) -> bool {
    let mut at = root.to_owned();
    relative.components().all(|part| {
        at.push(part);
        at.symlink_metadata().is_ok_and(|meta| meta.is_dir())
    })
}
