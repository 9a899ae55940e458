//! Copies of the user's ignored files in a workspace, such as `.env`.

use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, fchmod, fstat, openat, statat};
use rustix::io::Errno;

use crate::command::call::Call;
use crate::error::{Error, IoContext, Result};
use crate::files::delete::names;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::not_copied::{LeftOut, NotCopied};
use crate::types::paths::{fields, path_of};
use crate::workspace::Workspace;

/// The deepest nesting of folders.
const DEPTH: usize = 100;
/// Folders of which nothing is copied, wherever they stand.
const NEVER: [&str; 3] = [".git", ".crew", ".tickets"];

/// The paths that the settings name, as they are sorted out.
#[derive(Default)]
struct Sorted {
    /// Regular files, each with whether a setting names exactly it.
    files: BTreeMap<PathBuf, bool>,
    left_out: Vec<LeftOut>,
    /// Those of them that a setting names by itself: the agent would miss such a file.
    refused: Vec<LeftOut>,
}

impl Sorted {
    /// Leaves out the files for which there is a reason.
    fn leave_out(&mut self, why: impl Fn(&Path) -> Option<NotCopied>) {
        for (path, is_named) in std::mem::take(&mut self.files) {
            match why(&path) {
                None => _ = self.files.insert(path, is_named),
                Some(why) => self.add(LeftOut { path, why }, is_named),
            }
        }
    }

    fn add(&mut self, file: LeftOut, is_named: bool) {
        match is_named {
            true => self.refused.push(file),
            false => self.left_out.push(file),
        }
    }
}

impl Repository {
    /// Copies ignored regular files of a checkout into a workspace that no agent has worked in yet. A pattern
    /// is a path from the root of the checkout; in each of its parts `*` and `?` stand for any characters,
    /// and `**` as a part for any folders. No link is followed. Returns what patterns fit that was not
    /// copied, and the patterns that nothing fits.
    ///
    /// # Errors
    /// [`Error::NotCopied`] where a path without a pattern is tracked, not ignored or no regular file: git
    /// would commit the copy, or it would be another file.
    pub fn copy_ignored(
        &self,
        workspace: &Workspace,
        checkout: &Path,
        patterns: &[String],
    ) -> Result<Vec<LeftOut>> {
        let files = self.files_of(workspace.base())?;
        let call = |subcommand| {
            self.call_for_files(subcommand, &files)
                .work_tree(&workspace.path())
                .throwaway_index(&workspace.index())
        };
        let from = openat::root(checkout).doing("open", checkout)?;
        let mut sorted = named(&from, checkout, patterns)?;
        let mut tracked = Tracked::of(call("ls-files"))?;
        tracked.add(self.call_in_checkout("ls-files", checkout))?;
        sorted.leave_out(|path| tracked.why(path));
        // The rules of the commit that the work starts from may be others than those of the checkout.
        let calls = [
            (
                self.call_in_checkout("check-ignore", checkout),
                NotCopied::NotIgnored,
            ),
            (call("check-ignore"), NotCopied::NotIgnoredThere),
        ];
        for (call, why) in calls {
            let ignored = ignored(call, sorted.files.keys())?;
            sorted.leave_out(|path| (!ignored.contains(path)).then_some(why));
        }
        if !sorted.refused.is_empty() {
            let mut files = sorted.refused;
            files.sort_by(|one, other| one.path.cmp(&other.path));
            return Err(Error::NotCopied { files });
        }
        let to = workspace.open()?;
        for path in sorted.files.keys() {
            copy(&from, &to, path).doing("copy", checkout.join(path))?;
        }
        Ok(sorted.left_out)
    }

    /// A call about a checkout of the user's, with the user's settings.
    fn call_in_checkout(&self, subcommand: &'static str, checkout: &Path) -> Call {
        let git_dir = match checkout == self.root() {
            true => self.root_git_dir(),
            false => self.common_dir(),
        };
        self.git()
            .call(subcommand)
            .users_settings()
            .git_dir(git_dir)
            .work_tree(checkout)
    }
}

/// Those of the paths that git ignores. `call` is one of `check-ignore`.
fn ignored<'p>(call: Call, paths: impl Iterator<Item = &'p PathBuf>) -> Result<BTreeSet<PathBuf>> {
    let mut list = Vec::new();
    for path in paths {
        list.extend_from_slice(path.as_os_str().as_bytes());
        list.push(0);
    }
    if list.is_empty() {
        return Ok(BTreeSet::new());
    }
    let said = call
        // `check-ignore` takes names only, and refuses a setting that says so.
        .env("GIT_LITERAL_PATHSPECS", "0")
        .args(["--no-index", "-z", "--stdin"])
        .input(&list)?
        .output_limit(512 << 20)
        .run()?;
    match said.code {
        Some(0 | 1) => Ok(fields(&said.stdout)
            .map(|path| path_of(path).to_owned())
            .collect()),
        _ => Err(said.failed()),
    }
}

/// The files and submodules that an index has.
#[derive(Default)]
struct Tracked {
    files: BTreeSet<PathBuf>,
    submodules: BTreeSet<PathBuf>,
}

impl Tracked {
    fn of(listing: Call) -> Result<Self> {
        let mut tracked = Self::default();
        tracked.add(listing)?;
        Ok(tracked)
    }

    /// Adds those of another index: `listing` is a call of `ls-files`.
    fn add(&mut self, listing: Call) -> Result<()> {
        let listed = listing.args(["--stage", "-z"]).output_limit(512 << 20).ok()?;
        for entry in fields(&listed) {
            let Some(tab) = entry.iter().position(|byte| *byte == b'\t') else {
                continue;
            };
            let path = path_of(&entry[tab + 1..]).to_owned();
            match entry.starts_with(b"160000 ") {
                true => self.submodules.insert(path),
                false => self.files.insert(path),
            };
        }
        Ok(())
    }

    /// Why a path is not copied for what it is in the index.
    fn why(&self, path: &Path) -> Option<NotCopied> {
        if self.files.contains(path) {
            return Some(NotCopied::Tracked);
        }
        let is_inside = |folder: &Path| self.submodules.contains(folder);
        path.ancestors().any(is_inside).then_some(NotCopied::InSubmodule)
    }
}

/// Sorts what the settings name by its kind: regular files, and all else, which is not copied.
fn named(from: &OwnedFd, checkout: &Path, patterns: &[String]) -> Result<Sorted> {
    let mut sorted = Sorted::default();
    for pattern in patterns {
        let is_literal = !pattern.contains(['*', '?']);
        let found = fitting(from, pattern).doing("look into", checkout)?;
        if found.is_empty() {
            let path = PathBuf::from(pattern);
            sorted.left_out.push(LeftOut {
                path,
                why: NotCopied::Missing,
            });
        }
        for path in found {
            let why = match kind(from, &path).doing("look at", checkout.join(&path))? {
                Some(FileType::RegularFile) => {
                    *sorted.files.entry(path).or_default() |= is_literal;
                    continue;
                }
                // A folder that a pattern fits beside files is none of them.
                Some(FileType::Directory) if !is_literal => continue,
                Some(FileType::Directory) => NotCopied::Folder,
                _ => NotCopied::NotRegular,
            };
            sorted.add(LeftOut { path, why }, is_literal);
        }
    }
    Ok(sorted)
}

/// The kind of what stands at a path; none where there is nothing, or a link on the way.
fn kind(root: &OwnedFd, path: &Path) -> io::Result<Option<FileType>> {
    let name = path.file_name().unwrap_or_default();
    let folder = match openat::folder(root, path.parent().unwrap_or(Path::new(""))) {
        Ok(folder) => folder,
        Err(error) if openat::is_by_its_writer(&error) => return Ok(None),
        Err(error) => return Err(error),
    };
    match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => Ok(Some(FileType::from_raw_mode(stat.st_mode))),
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(None),
        Err(errno) => Err(errno.into()),
    }
}

/// The paths that fit a pattern, without following links.
fn fitting(root: &OwnedFd, pattern: &str) -> io::Result<Vec<PathBuf>> {
    let parts: Vec<&str> = pattern.split('/').collect();
    let mut found = Vec::new();
    let mut open = vec![(PathBuf::new(), 0)];
    while let Some((folder, at)) = open.pop() {
        let Some(part) = parts.get(at) else {
            found.push(folder);
            continue;
        };
        if !part.contains(['*', '?']) {
            let path = folder.join(part);
            if kind(root, &path)?.is_some() {
                open.push((path, at + 1));
            }
            continue;
        }
        if *part == "**" {
            // No folder at all; as the last part it stands for all that is in the folder.
            open.push((folder.clone(), at + 1));
        }
        if folder.components().count() > DEPTH {
            continue;
        }
        for (name, is_folder) in entries(root, &folder) {
            match *part {
                "**" if is_folder => open.push((folder.join(&name), at)),
                "**" if at + 1 < parts.len() => {}
                "**" => found.push(folder.join(&name)),
                part if fits(part.as_bytes(), name.as_os_str().as_bytes()) => {
                    open.push((folder.join(&name), at + 1));
                }
                _ => {}
            }
        }
    }
    found.retain(|path| !path.as_os_str().is_empty());
    found.sort();
    found.dedup();
    Ok(found)
}

/// The entries of a folder, as far as it can be read, and whether each is a folder.
fn entries(root: &OwnedFd, folder: &Path) -> Vec<(PathBuf, bool)> {
    let Ok(opened) = openat::folder(root, folder) else {
        return Vec::new();
    };
    let entry = |name: std::ffi::CString| {
        let path = path_of(name.as_bytes()).to_owned();
        let stat = statat(&opened, &name, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let is_never = NEVER.iter().any(|never| path == Path::new(never));
        (!is_never).then_some((path, FileType::from_raw_mode(stat.st_mode) == FileType::Directory))
    };
    names(&opened)
        .unwrap_or_default()
        .into_iter()
        .filter_map(entry)
        .collect()
}

/// Whether a name fits a part of a pattern.
fn fits(pattern: &[u8], name: &[u8]) -> bool {
    match pattern.split_first() {
        None => name.is_empty(),
        Some((b'*', rest)) => (0..=name.len()).any(|skipped| fits(rest, &name[skipped..])),
        Some((b'?', rest)) => !name.is_empty() && fits(rest, &name[1..]),
        Some((byte, rest)) => name.first() == Some(byte) && fits(rest, &name[1..]),
    }
}

fn copy(from: &OwnedFd, to: &OwnedFd, path: &Path) -> io::Result<()> {
    let (parent, name) = (
        path.parent().unwrap_or(Path::new("")),
        path.file_name().unwrap_or_default(),
    );
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let source = openat(
        openat::folder(from, parent)?,
        name,
        OFlags::RDONLY | flags,
        Bits::empty(),
    )?;
    let stat = fstat(&source)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    let new = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | flags;
    let copied = openat(
        openat::made_folder(to, parent)?,
        name,
        new,
        Bits::from_raw_mode(0o600),
    )?;
    fchmod(&copied, Bits::from_raw_mode(stat.st_mode & 0o777 | 0o600))?;
    io::copy(&mut File::from(source), &mut File::from(copied))?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_fits_names_and_stays_in_its_folder() {
        assert!(fits(b".env*", b".env.local") && fits(b"?.key", b"a.key") && fits(b"*", b".x"));
        assert!(!fits(b"*.env", b".env.local") && !fits(b"?", b""));
        let folder = tempfile::tempdir().unwrap();
        for file in ["a/.env", "a/b/c/.env", ".env", ".git/.env", "other/x"] {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, "").unwrap();
        }
        std::os::unix::fs::symlink("/etc", folder.path().join("link")).unwrap();
        let root = openat::root(folder.path()).unwrap();
        let found = |pattern| {
            let found = fitting(&root, pattern).unwrap();
            found
                .iter()
                .map(|path| path.display().to_string())
                .collect::<Vec<_>>()
        };
        assert_eq!(found("**/.env"), [".env", "a/.env", "a/b/c/.env"]);
        assert_eq!(found("*/.env"), ["a/.env"]);
        assert_eq!(found("link/passwd"), [""; 0]);
        assert_eq!(found("none"), [""; 0]);
        assert_eq!(found("a/**"), ["a", "a/.env", "a/b", "a/b/c", "a/b/c/.env"]);
    }
}
