//! Copies of the user's ignored files in a workspace, such as `.env`.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, Mode as Bits, OFlags, fchmod, fstat, openat, statat};
use rustix::io::Errno;

use crate::error::{Error, IoContext, Result};
use crate::files::delete::names;
use crate::files::openat;
use crate::repository::Repository;
use crate::types::paths::{fields, path_of};
use crate::workspace::Workspace;
use crate::workspace::snapshot::untracked;

/// The deepest nesting of folders.
const DEPTH: usize = 100;
/// Folders of which nothing is copied, wherever they stand.
const NEVER: [&str; 3] = [".git", ".crew", ".tickets"];

impl Repository {
    /// Copies ignored files of a checkout into a workspace that no agent has worked in yet. A pattern is a
    /// path from the root of the checkout; in each of its parts `*` and `?` stand for any characters, and
    /// `**` as a part for any folders. A folder stands for the ignored files in it. No link is followed.
    /// Returns the patterns that nothing fits.
    ///
    /// # Errors
    /// [`Error::NotCopied`] for a path that is tracked, not ignored or no regular file: git would commit the
    /// copy, or it would be another file.
    pub fn copy_ignored(
        &self,
        workspace: &Workspace,
        checkout: &Path,
        patterns: &[String],
    ) -> Result<Vec<String>> {
        let call = |subcommand| {
            self.call_without_attributes(subcommand)
                .work_tree(&workspace.path())
                .throwaway_index(&workspace.index())
        };
        let listing = call("ls-files").arg("-z").output_limit(512 << 20).ok()?;
        let tracked: BTreeSet<PathBuf> = fields(&listing).map(|path| path_of(path).to_owned()).collect();
        let from = openat::root(checkout).doing("open", checkout)?;
        let (mut named, mut found, mut missing) = (Vec::new(), BTreeSet::new(), Vec::new());
        for pattern in patterns {
            let before = named.len() + found.len();
            let is_literal = !pattern.contains(['*', '?']);
            for path in fitting(&from, pattern).doing("look into", checkout)? {
                match kind(&from, &path).doing("look at", checkout.join(&path))? {
                    Some(FileType::Directory) => files_below(&from, &path, &mut found),
                    Some(FileType::RegularFile) if is_literal => named.push(path),
                    Some(FileType::RegularFile) => _ = found.insert(path),
                    _ if is_literal => return Err(not_copied(&path, "is no regular file")),
                    _ => {}
                }
            }
            if before == named.len() + found.len() {
                missing.push(pattern.clone());
            }
        }
        if let Some(path) = named.iter().find(|path| tracked.contains(*path)) {
            return Err(not_copied(path, "is a file of the repository"));
        }
        found.retain(|path| !tracked.contains(path));
        let ignored = self.ignored(checkout, named.iter().chain(&found))?;
        if let Some(path) = named.iter().find(|path| !ignored.contains(*path)) {
            return Err(not_copied(path, "git does not ignore"));
        }
        found.retain(|path| ignored.contains(path));
        found.extend(named);
        let to = workspace.open()?;
        for path in &found {
            copy(&from, &to, path).doing("copy", checkout.join(path))?;
        }
        if found.is_empty() {
            return Ok(missing);
        }
        // The rules of the commit that the work starts from may be others than those of the checkout.
        let unignored = untracked(&call, workspace)?;
        match unignored.into_iter().find(|path| found.contains(path)) {
            Some(path) => Err(not_copied(
                &path,
                "git does not ignore in the commit that the work starts from",
            )),
            None => Ok(missing),
        }
    }

    /// Those of the paths that git ignores in a checkout, by the user's own rules too.
    fn ignored<'p>(
        &self,
        checkout: &Path,
        paths: impl Iterator<Item = &'p PathBuf>,
    ) -> Result<BTreeSet<PathBuf>> {
        let mut list = Vec::new();
        for path in paths {
            list.extend_from_slice(path.as_os_str().as_bytes());
            list.push(0);
        }
        if list.is_empty() {
            return Ok(BTreeSet::new());
        }
        let said = self
            .git()
            .call("check-ignore")
            .users_settings()
            .git_dir(self.common_dir())
            .work_tree(checkout)
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
}

fn not_copied(path: &Path, why: &'static str) -> Error {
    Error::NotCopied {
        path: path.to_owned(),
        why,
    }
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
                "**" => {}
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

/// Adds the regular files below a folder.
fn files_below(root: &OwnedFd, folder: &Path, found: &mut BTreeSet<PathBuf>) {
    let mut open = vec![folder.to_owned()];
    while let Some(folder) = open.pop() {
        if folder.components().count() > DEPTH {
            continue;
        }
        for (name, is_folder) in entries(root, &folder) {
            let path = folder.join(name);
            if is_folder {
                open.push(path);
            } else if matches!(kind(root, &path), Ok(Some(FileType::RegularFile))) {
                found.insert(path);
            }
        }
    }
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
    }
}
