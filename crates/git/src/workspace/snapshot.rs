//! Snapshots: the files of a workspace as a tree, made with crew's own git directory and index.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::CWD;

use crate::command::call::Call;
use crate::command::trial::may_say_lacking;
use crate::error::{Error, IoContext, Result};
use crate::files::delete::{names, open_unlocked};
use crate::files::permissions;
use crate::repository::Repository;
use crate::types::change::Mode;
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};
use crate::types::refusal::{Limits, Refusal};
use crate::types::shortened::shortened;
use crate::types::unsaved::{FILTER_FAILED, TOO_LARGE, Unsaved};
use crate::workspace::Workspace;
use crate::workspace::leftovers::{self, LeftBehind};
use crate::workspace::unchanged::Recorded;

/// The answer to files that are together larger than the limit, each of them being small enough. A snapshot
/// that leaves such files out is kept apart, and never lands.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Excess {
    /// Nothing is saved: if some of the files were, the others would fit into the next snapshot.
    Refused,
    /// As many are saved as fit.
    LeftOut,
}

/// Whose view of the files counts.
#[derive(Clone, Copy, PartialEq, Eq)]
enum View {
    /// Every file is looked at, under the user's settings.
    Crews,
    /// A file that is unchanged for the agent's own git is unchanged.
    Agents,
    /// Every file is looked at that is not ignored for the agent's own git.
    AllOfAgents,
    /// The same, for somebody who looks while the agent works: nothing is changed for that.
    Onlookers,
}

/// A tree of everything in a folder that is not ignored.
pub(crate) struct Snapshot {
    /// The tree; `None`: nothing differs from the parent; without one, there is no file.
    pub(crate) tree: Option<Oid>,
    /// Repositories inside that no commit records, relative to the workspace; their files are not in the
    /// tree.
    pub(crate) nested: Vec<PathBuf>,
    /// Folders with files that the parent records as submodules, in the same way.
    pub(crate) links: Vec<PathBuf>,
    pub(crate) unsaved: Vec<Unsaved>,
    /// Untracked files and folders that are no work, and so are not in the tree.
    pub(crate) left_behind: Vec<LeftBehind>,
    /// The index of the tree; `None` where nothing differs and git was not needed to see that.
    pub(crate) index: Option<tempfile::TempPath>,
}

impl Repository {
    /// Writes the tree of `folder` (in the workspace, `""` for all of it) as it differs from `parent`.
    pub(crate) fn snapshot(
        &self,
        workspace: &Workspace,
        folder: &Path,
        parent: Option<&Oid>,
        limits: &Limits,
        excess: Excess,
    ) -> Result<Snapshot> {
        self.snapshot_as(View::Crews, workspace, folder, parent, limits, excess)
    }

    /// The same of the whole workspace, but for what is no change for the agent's own git.
    pub(crate) fn snapshot_of_work(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        limits: &Limits,
        excess: Excess,
    ) -> Result<Snapshot> {
        let whole = Path::new("");
        self.snapshot_as(View::Agents, workspace, whole, Some(parent), limits, excess)
    }

    /// The same, with what is no change only because the agent's own git does not look there.
    pub(crate) fn snapshot_of_files(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        limits: &Limits,
    ) -> Result<Snapshot> {
        let (view, whole) = (View::AllOfAgents, Path::new(""));
        self.snapshot_as(view, workspace, whole, Some(parent), limits, Excess::Refused)
    }

    /// The same, where somebody only looks: no permission of the agent's files is changed for it.
    pub(crate) fn snapshot_to_look(
        &self,
        workspace: &Workspace,
        parent: &Oid,
        limits: &Limits,
    ) -> Result<Snapshot> {
        let (whole, excess) = (Path::new(""), Excess::LeftOut);
        self.snapshot_as(View::Onlookers, workspace, whole, Some(parent), limits, excess)
    }

    fn snapshot_as(
        &self,
        view: View,
        workspace: &Workspace,
        folder: &Path,
        parent: Option<&Oid>,
        limits: &Limits,
        excess: Excess,
    ) -> Result<Snapshot> {
        let at = workspace.path().join(folder);
        let own = folder.as_os_str().is_empty();
        if own && parent.is_some_and(|parent| self.stands_as(workspace, parent)) {
            return Ok(Snapshot {
                tree: None,
                nested: Vec::new(),
                links: Vec::new(),
                unsaved: Vec::new(),
                left_behind: Vec::new(),
                index: None,
            });
        }
        let index = new_index(workspace)?;
        if own {
            // Known file times save reading what did not change. A missing copy costs time only.
            crate::workspace::index::copy(&workspace.index(), &index).ok();
        }
        let files = self.files_of(workspace.base())?;
        let hidden = match view {
            View::Crews => None,
            View::Agents | View::AllOfAgents | View::Onlookers => self.agents_patterns(workspace, &files)?,
        };
        let excludes = excludes(workspace, hidden.as_deref());
        let call = |subcommand| -> Call {
            self.call_for_files(subcommand, &files)
                .work_tree(&at)
                .throwaway_index(&index)
                .deadline(limits.deadline)
        };
        let read = || match parent {
            Some(parent) => call("read-tree")
                .args(["-m", "-i", "--no-sparse-checkout", parent.as_str()])
                .ok(),
            None => call("read-tree").arg("--empty").ok(),
        };
        if read().is_err() {
            // With an empty index it must work.
            std::fs::remove_file(&index).ok();
            read()?;
        }
        let mut unsaved = Vec::new();
        let mut standing = Standing::of(&call, &excludes)?;
        if standing.is_denied && view != View::Onlookers {
            unsaved = permissions::open_up(&at)?;
            standing = Standing::of(&call, &excludes)?;
            if !standing.is_denied {
                // A folder that stays closed is ignored, or not too deep for git.
                unsaved.clear();
            }
        }
        let recorded = std::mem::take(&mut standing.recorded);
        let Sorted {
            mut paths,
            mut nested,
            links,
        } = standing.sorted(&at)?;
        let is_tracked = |path: &Path| recorded.contains_key(path);
        let left_behind = leftovers::take_out(&call, &at, excess, (&mut paths, &mut nested), is_tracked)?;
        if matches!(view, View::Agents | View::Onlookers) {
            self.leave_unchanged(workspace, &recorded, excess, &mut paths)?;
        }
        let in_workspace = |of: Vec<PathBuf>| of.iter().map(|one| folder.join(one)).collect();
        let (nested, links) = (in_workspace(nested), in_workspace(links));
        if paths.is_empty() && unsaved.is_empty() {
            return Ok(Snapshot {
                tree: None,
                nested,
                links,
                unsaved,
                left_behind,
                index: Some(index),
            });
        }
        if excess == Excess::Refused
            && let Some(refusal) = too_large_together(&at, &paths, limits)
        {
            return Err(Error::Refused {
                workspace: workspace.path(),
                refusals: vec![refusal],
            });
        }
        self.add(&call, (&at, view), &paths, limits, &mut unsaved)?;
        // git silently passed over a file that is still not in the index after it was added.
        for path in untracked(&call, &excludes)? {
            let is_known = |known: &Path| path.starts_with(known);
            let is_left = left_behind.iter().any(|one| is_known(&one.path));
            if !is_left && !unsaved.iter().any(|one| one.path == path) {
                let why = "git does not take this name".to_owned();
                unsaved.push(Unsaved { path, why });
            }
        }
        for one in &mut unsaved {
            one.path = folder.join(&one.path);
        }
        // Files that are unchanged need not be read again the next time.
        call("update-index").args(["-q", "--refresh"]).run()?;
        let tree = Some(call("write-tree").ok_oid()?);
        Ok(Snapshot {
            tree,
            nested,
            links,
            unsaved,
            left_behind,
            index: Some(index),
        })
    }

    fn add(
        &self,
        call: &dyn Fn(&'static str) -> Call,
        (at, view): (&Path, View),
        paths: &[PathBuf],
        limits: &Limits,
        unsaved: &mut Vec<Unsaved>,
    ) -> Result<()> {
        let mut taken = Vec::new();
        let mut room = limits.bytes;
        for path in paths {
            let size = size_of(at, path);
            if size > room {
                unsaved.push(Unsaved {
                    path: path.clone(),
                    why: format!("{size} {TOO_LARGE}"),
                });
                continue;
            }
            room -= size;
            taken.push(path);
        }
        let update = |paths: &[&PathBuf]| -> Result<()> {
            let mut list = Vec::new();
            let size = |path: &&PathBuf| size_of(at, path);
            for path in paths {
                list.extend_from_slice(path.as_os_str().as_bytes());
                list.push(0);
            }
            call("update-index")
                .args(["--add", "--remove", "--replace", "-z", "--stdin"])
                .needs(paths.iter().map(size).sum())
                .input(&list)?
                .ok()?;
            Ok(())
        };
        if taken.is_empty() {
            return Ok(());
        }
        let Err(error) = update(&taken) else {
            return Ok(());
        };
        match &error {
            Error::Failed { stderr, .. } if !is_passing(&error, &taken) => {
                if is_denied(stderr) && view != View::Onlookers {
                    permissions::open_up(at)?;
                    if update(&taken).is_ok() {
                        return Ok(());
                    }
                }
            }
            _ => return Err(error),
        }
        // One unreadable file fails all of them: find it by halves.
        let mut open = vec![&taken[..]];
        while let Some(part) = open.pop() {
            match update(part) {
                Ok(()) => {}
                // A file that is left out does not land, so a full disk must not leave any out.
                Err(error) if is_passing(&error, part) => return Err(error),
                Err(Error::Failed { stderr, .. }) if part.len() == 1 => {
                    let said = shortened(&stderr.replace('\n', "; "), 200);
                    let is_filters = stderr.contains("clean filter '") && stderr.ends_with("' failed");
                    let before = if is_filters { FILTER_FAILED } else { "" };
                    unsaved.push(Unsaved {
                        path: part[0].clone(),
                        why: format!("{before}{said}"),
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
}

/// The path for an index that is thrown away.
pub(crate) fn new_index(workspace: &Workspace) -> Result<tempfile::TempPath> {
    let index = tempfile::Builder::new()
        .prefix("index-")
        .tempfile_in(workspace.beside())
        .doing("write in", workspace.beside())?
        .into_temp_path();
    std::fs::remove_file(&index).doing("write", &index)?;
    Ok(index)
}

fn size_of(at: &Path, path: &Path) -> u64 {
    at.join(path).symlink_metadata().map_or(0, |meta| meta.len())
}

/// The refusal of files that are too large together, without those that are too large by themselves.
fn too_large_together(at: &Path, paths: &[PathBuf], limits: &Limits) -> Option<Refusal> {
    let limit = limits.bytes;
    let mut sizes: Vec<(u64, &PathBuf)> = paths.iter().map(|path| (size_of(at, path), path)).collect();
    sizes.retain(|(size, _)| *size <= limit);
    let bytes = sizes
        .iter()
        .fold(0_u64, |sum, (size, _)| sum.saturating_add(*size));
    if bytes <= limit {
        return None;
    }
    sizes.sort_by_key(|(size, _)| std::cmp::Reverse(*size));
    Some(Refusal::TooLarge {
        bytes,
        limit,
        largest: sizes.iter().take(5).map(|(_, path)| (*path).clone()).collect(),
    })
}

/// Whether the machine's state kept these files from being added. Words for a lack that are in none of the
/// names are git's own, even if the lack has gone by now.
fn is_passing(error: &Error, paths: &[&PathBuf]) -> bool {
    let Error::Failed { stderr, .. } = error else {
        return error.is_passing();
    };
    let named = || paths.iter().any(|path| may_say_lacking(&path.to_string_lossy()));
    error.is_passing() || (may_say_lacking(stderr) && !named())
}

/// Whether there was a file that git may not look at or read.
fn is_denied(stderr: &str) -> bool {
    stderr.contains("Permission denied")
}

/// The differences between a folder and its index.
struct Standing {
    /// Files that are modified, gone, or in no index and not ignored.
    changed: Vec<PathBuf>,
    /// The entries of those that are in the index.
    recorded: BTreeMap<PathBuf, Recorded>,
    /// Repositories that are in no index.
    nested: Vec<PathBuf>,
    /// Entries of the index that stand for another repository.
    links: Vec<PathBuf>,
    /// Whether there is a file that may not be looked at, which is in none of these lists.
    is_denied: bool,
}

/// The same, by what is to be done with it.
struct Sorted {
    /// The paths to add.
    paths: Vec<PathBuf>,
    /// The repositories to save apart that are in no index.
    nested: Vec<PathBuf>,
    /// Those that an entry of the index stands for.
    links: Vec<PathBuf>,
}

impl Standing {
    /// Looks at everything in one call: every entry (`H`, or `M` in a conflict), again if it is modified
    /// (`C`) or gone (`R`), and what is in no entry (`?`).
    fn of(call: &dyn Fn(&'static str) -> Call, excludes: &[OsString]) -> Result<Self> {
        let listing = call("ls-files")
            .args(["-t", "-s", "-m", "-d", "-o", "-z"])
            .args(excludes)
            .output_limit(1 << 30)
            .run()?;
        if listing.code != Some(0) {
            return Err(listing.failed());
        }
        let mut found = Self {
            changed: Vec::new(),
            recorded: BTreeMap::new(),
            nested: Vec::new(),
            links: Vec::new(),
            is_denied: is_denied(&listing.stderr),
        };
        for field in fields(&listing.stdout) {
            let bad = || Error::unreadable("ls-files", String::from_utf8_lossy(field));
            let (tag, rest) = match field {
                [tag, b' ', rest @ ..] => (*tag, rest),
                _ => return Err(bad()),
            };
            if tag == b'?' {
                match rest.strip_suffix(b"/") {
                    Some(folder) => found.nested.push(path_of(folder).to_owned()),
                    None => found.changed.push(path_of(rest).to_owned()),
                }
                continue;
            }
            let tab = rest.iter().position(|byte| *byte == b'\t').ok_or_else(bad)?;
            let path = || path_of(&rest[tab + 1..]).to_owned();
            let is_link = rest.starts_with(b"160000 ");
            match tag {
                b'C' | b'R' if !is_link => {
                    let mut entry = rest[..tab].split(|byte| *byte == b' ');
                    let mode = entry.next().and_then(Mode::parse).ok_or_else(bad)?;
                    let oid = Oid::from_bytes(entry.next().ok_or_else(bad)?)?;
                    let is_gone = tag == b'R';
                    let recorded = found.recorded.entry(path());
                    recorded.or_insert(Recorded { mode, oid, is_gone }).is_gone |= is_gone;
                    found.changed.push(path());
                }
                b'H' | b'M' | b'S' if is_link => found.links.push(path()),
                _ => {}
            }
        }
        // git lists a file that is gone as modified too.
        found.changed.dedup();
        Ok(found)
    }

    /// Sorts the differences by what is done with them under `at`.
    fn sorted(self, at: &Path) -> Result<Sorted> {
        let (mut paths, mut links) = (self.changed, Vec::new());
        for link in self.links {
            let folder = at.join(&link);
            match folder.symlink_metadata() {
                // A link to a commit says nothing about the files: they are saved apart, with or without
                // their `.git`.
                Ok(meta) if meta.is_dir() => {
                    let inside = open_unlocked(CWD, folder.as_os_str()).and_then(|opened| names(&opened));
                    if !inside.doing("look into", &folder)?.is_empty() {
                        links.push(link);
                    }
                }
                Ok(_) => paths.push(link),
                Err(_) => {}
            }
        }
        Ok(Sorted {
            paths,
            nested: self.nested,
            links,
        })
    }
}

/// The arguments that say which files are ignored. Of two that contradict each other, the later one counts;
/// `hidden`: the file with patterns of the workspace's own.
fn excludes(workspace: &Workspace, hidden: Option<&Path>) -> Vec<OsString> {
    let from = |file: &Path| {
        let mut argument = OsString::from("--exclude-from=");
        argument.push(file);
        argument
    };
    let patterns = workspace.excludes().iter();
    hidden
        .map(from)
        .into_iter()
        .chain([OsString::from("--exclude-standard")])
        .chain(patterns.map(|pattern| format!("--exclude={pattern}").into()))
        .chain(workspace.set_up_excludes().map(|file| from(&file)))
        .collect()
}

/// Files that are neither in the index nor ignored.
fn untracked(call: &dyn Fn(&'static str) -> Call, excludes: &[OsString]) -> Result<Vec<PathBuf>> {
    let listing = call("ls-files")
        .args(["--others", "-z"])
        .args(excludes)
        .output_limit(512 << 20)
        .ok()?;
    let files = fields(&listing).filter(|path| !path.ends_with(b"/"));
    Ok(files.map(|path| path_of(path).to_owned()).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A big file did not fit, and by the time of a look somebody has made room.
    #[test]
    fn a_lack_that_has_passed_by_leaves_no_file_out_and_a_name_is_no_lack() {
        let said = |words: &str| Error::Failed {
            command: "update-index".to_owned(),
            status: crate::types::status::Status::Exit(128),
            stderr: format!("error: {words}\nfatal: adding files failed"),
            lacking: false,
        };
        let (big, named) = (PathBuf::from("big.bin"), PathBuf::from("No space left on device"));
        let full = said("big.bin: failed to insert into database: No space left on device");
        assert!(is_passing(&full, &[&big]));
        let unreadable = said("open(\"No space left on device\"): Permission denied");
        assert!(!is_passing(&unreadable, &[&big, &named]));
        assert!(!is_passing(
            &said("open(\"big.bin\"): Permission denied"),
            &[&big]
        ));
    }
}
