//! What stands in a workspace, as a tree: crew's own git directory and index, the workspace only as files.

use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use crate::agent_refs::AgentRefs;
use crate::command::Call;
use crate::diff::path_of;
use crate::error::{Error, IoContext, Result, shortened};
use crate::import::Limits;
use crate::oid::Oid;
use crate::quote;
use crate::repository::Repository;
use crate::workspace::Workspace;

/// A path whose content git does not take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unsaved {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// Why.
    pub why: String,
}

/// A repository inside a workspace, which a plain commit would have recorded as an empty link.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NestedWork {
    /// Relative to the workspace.
    pub path: PathBuf,
    /// A commit of its files, on top of its own HEAD where that could be brought over.
    pub commit: Oid,
    /// The ref that keeps it.
    pub kept: String,
}

pub(crate) fn list(left: &[Unsaved]) -> String {
    let shown: Vec<String> = left
        .iter()
        .take(5)
        .map(|one| format!("{:?} ({})", one.path, one.why))
        .collect();
    let more = left.len().saturating_sub(5);
    if more == 0 {
        shown.join(", ")
    } else {
        format!("{}, and {more} more", shown.join(", "))
    }
}

/// A tree of everything in a folder that is not ignored.
pub(crate) struct Snapshot {
    pub(crate) tree: Oid,
    /// Repositories inside, relative to the workspace; their files are not in the tree.
    pub(crate) nested: Vec<PathBuf>,
    pub(crate) unsaved: Vec<Unsaved>,
    /// The index that goes with the tree.
    pub(crate) index: tempfile::TempPath,
}

impl Repository {
    /// Writes the tree of `folder` (in the workspace, `""` for all of it) as it differs from `parent`.
    pub(crate) fn snapshot(
        &self,
        workspace: &Workspace,
        folder: &Path,
        parent: Option<&Oid>,
        limits: &Limits,
    ) -> Result<Snapshot> {
        let at = workspace.path().join(folder);
        let index = tempfile::Builder::new()
            .prefix("index-")
            .tempfile_in(workspace.beside())
            .doing("write in", workspace.beside())?
            .into_temp_path();
        std::fs::remove_file(&index).doing("write", &index)?;
        let own = folder.as_os_str().is_empty();
        if own {
            // Known file times save reading what did not change. A missing copy costs time only.
            std::fs::copy(workspace.index(), &index).ok();
        }
        let call = |subcommand| -> Call {
            self.call_without_attributes(subcommand)
                .work_tree(&at)
                .throwaway_index(&index)
                .deadline(limits.deadline)
        };
        let read = |from_scratch: bool| {
            if from_scratch {
                std::fs::remove_file(&index).ok();
            }
            match parent {
                Some(parent) => call("read-tree")
                    .args(["-m", "-i", "--no-sparse-checkout", parent.as_str()])
                    .ok(),
                None => call("read-tree").arg("--empty").ok(),
            }
        };
        if read(false).is_err() {
            read(true)?;
        }
        call("update-index").args(["-q", "--refresh"]).run()?;
        let changed = call("diff-files")
            .args(["-z", "--name-only", "--no-ext-diff", "--ignore-submodules=all"])
            .output_limit(512 << 20)
            .ok()?;
        let (files, mut nested) = untracked(&call, workspace)?;
        let mut paths: Vec<PathBuf> = fields(&changed).map(|path| path_of(path).to_owned()).collect();
        paths.extend(files);
        for link in links(&call)? {
            match at.join(&link).symlink_metadata() {
                // A link to a commit says nothing about the files: they are saved apart, with or without their `.git`.
                Ok(meta) if meta.is_dir() => {
                    let mut inside = std::fs::read_dir(at.join(&link)).doing("look into", at.join(&link))?;
                    if inside.next().is_some() {
                        nested.push(link);
                    }
                }
                Ok(_) => paths.push(link),
                Err(_) => {}
            }
        }
        let mut unsaved = Vec::new();
        self.add(&call, &at, &paths, limits, &mut unsaved)?;
        // What is still not in the index after it was added was silently passed over by git.
        let (left, _) = untracked(&call, workspace)?;
        let passed_over = left
            .into_iter()
            .filter(|path| !unsaved.iter().any(|one: &Unsaved| one.path == *path));
        unsaved.extend(
            passed_over
                .map(|path| Unsaved {
                    path,
                    why: "git does not take this name".to_owned(),
                })
                .collect::<Vec<_>>(),
        );
        for one in &mut unsaved {
            one.path = folder.join(&one.path);
        }
        for one in &mut nested {
            *one = folder.join(&one);
        }
        let tree = call("write-tree").ok_oid()?;
        Ok(Snapshot {
            tree,
            nested,
            unsaved,
            index,
        })
    }

    fn add(
        &self,
        call: &dyn Fn(&'static str) -> Call,
        at: &Path,
        paths: &[PathBuf],
        limits: &Limits,
        unsaved: &mut Vec<Unsaved>,
    ) -> Result<()> {
        let mut taken = Vec::new();
        let mut room = limits.bytes;
        for path in paths {
            let size = at.join(path).symlink_metadata().map_or(0, |meta| meta.len());
            if size > room {
                unsaved.push(Unsaved {
                    path: path.clone(),
                    why: format!("{size} bytes are more than may be saved"),
                });
                continue;
            }
            room -= size;
            taken.push(path);
        }
        let update = |paths: &[&PathBuf]| -> Result<()> {
            let mut list = Vec::new();
            for path in paths {
                list.extend_from_slice(path.as_os_str().as_bytes());
                list.push(0);
            }
            call("update-index")
                .args(["--add", "--remove", "--replace", "-z", "--stdin"])
                .input(&list)?
                .ok()?;
            Ok(())
        };
        if taken.is_empty() {
            return Ok(());
        }
        match update(&taken) {
            Ok(()) => return Ok(()),
            Err(Error::Failed { .. }) => {}
            Err(other) => return Err(other),
        }
        // One unreadable file fails them all: find it by halves.
        let mut open = vec![&taken[..]];
        while let Some(part) = open.pop() {
            match update(part) {
                Ok(()) => {}
                Err(Error::Failed { stderr, .. }) if part.len() == 1 => {
                    unsaved.push(Unsaved {
                        path: part[0].clone(),
                        why: shortened(&stderr, 200),
                    });
                }
                Err(Error::Failed { .. }) => {
                    let (left, right) = part.split_at(part.len() / 2);
                    open.extend([right, left]);
                }
                Err(other) => return Err(other),
            }
        }
        Ok(())
    }

    /// The commit that HEAD of a nested repository means, brought over; `None` if that cannot be.
    pub(crate) fn bring_nested(&self, workspace: &Workspace, folder: &Path, limits: &Limits) -> Option<Oid> {
        let head = AgentRefs::nested(workspace, folder).ok()?.head().ok()?;
        self.bring(workspace, &workspace.path().join(folder), &head, limits)
            .ok()?;
        Some(head)
    }
}

/// Entries of the index that stand for another repository.
fn links(call: &dyn Fn(&'static str) -> Call) -> Result<Vec<PathBuf>> {
    let said = call("ls-files").args(["-s", "-z"]).output_limit(1 << 30).ok()?;
    let links = fields(&said).filter(|field| field.starts_with(b"160000 "));
    let paths = links.filter_map(|field| field.splitn(2, |byte| *byte == b'\t').nth(1));
    Ok(paths.map(|path| path_of(path).to_owned()).collect())
}

/// Files that are neither in the index nor ignored, and repositories among them.
fn untracked(
    call: &dyn Fn(&'static str) -> Call,
    workspace: &Workspace,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let mut listing = call("ls-files")
        .args(["--others", "--exclude-standard", "-z"])
        .output_limit(512 << 20);
    for pattern in workspace.excludes() {
        listing = listing.arg(format!("--exclude={pattern}"));
    }
    let (mut files, mut nested) = (Vec::new(), Vec::new());
    for path in fields(&listing.ok()?) {
        match path.strip_suffix(b"/") {
            Some(folder) => nested.push(path_of(folder).to_owned()),
            None => files.push(path_of(path).to_owned()),
        }
    }
    Ok((files, nested))
}

pub(crate) fn fields(output: &[u8]) -> impl Iterator<Item = &[u8]> {
    output.split(|byte| *byte == 0).filter(|field| !field.is_empty())
}

/// Paths for a `--stdin-paths` that reads lines.
pub(crate) fn lines_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Vec<u8> {
    let mut lines = Vec::new();
    for path in paths {
        lines.extend(quote::c_style(path));
        lines.push(b'\n');
    }
    lines
}
