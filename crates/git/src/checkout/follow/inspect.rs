//! Inspection of a checkout: the state of the paths that would change.

use std::cell::OnceCell;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, FileType, readlinkat, statat};
use rustix::io::Errno;

use crate::checkout::Checkout;
use crate::checkout::follow::compare::{hash_files, unmodified};
use crate::checkout::follow::ignored::tell_ignored;
use crate::checkout::follow::sparse::outside;
use crate::checkout::follow::users_call::users_call;
use crate::checkout::follow::writable::{Writable, is_readable};
use crate::error::{Error, IoContext, Result};
use crate::files::openat;
use crate::repository::Repository;
use crate::types::blocked::{Blocked, Obstacle};
use crate::types::change::{Change, Entry, Mode};
use crate::types::oid::Oid;
use crate::types::paths::{fields, path_of};

/// A path's place in the checkout.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Found {
    Absent,
    File { executable: bool, stamp: Stamp },
    Link { target: Vec<u8>, stamp: Stamp },
    Folder,
    Special,
}

/// The parts of a file's status that change when somebody writes the file, and do not when it is renamed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Stamp {
    inode: u64,
    size: i64,
    modified: (i64, i64),
    mode: u32,
}

impl Stamp {
    pub(super) fn of(folder: &OwnedFd, name: &OsStr) -> Option<Self> {
        statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
            .ok()
            .map(|stat| Self::read(&stat))
    }

    fn read(stat: &rustix::fs::Stat) -> Self {
        Self {
            inode: stat.st_ino,
            size: stat.st_size,
            modified: (stat.st_mtime, i64::try_from(stat.st_mtime_nsec).unwrap_or(0)),
            mode: stat.st_mode,
        }
    }
}

/// One path that would change, and its state in the checkout.
pub(super) struct Inspected {
    pub(super) change: Change,
    /// The file is as in the new commit.
    pub(super) file_new: bool,
    /// The index entry is as in the old or the new commit.
    pub(super) index_known: bool,
    /// The user keeps the path out of the checkout (sparse).
    pub(super) skipped: bool,
    /// The file as it was looked at; `None`: there is none.
    pub(super) stamp: Option<Stamp>,
    pub(super) obstacles: Vec<(PathBuf, Obstacle)>,
}

/// The state of all paths that would change.
pub(crate) struct Inspection {
    pub(super) paths: Vec<Inspected>,
    checkout: PathBuf,
}

/// One entry of the index, stage 0.
struct Indexed {
    entry: (Mode, Oid),
    skipped: bool,
    /// The user has git take the file for unchanged, whatever is in it.
    is_hidden: bool,
}

impl Inspection {
    pub(super) fn of(repository: &Repository, checkout: &Checkout, old: &Oid, new: &Oid) -> Result<Self> {
        let changes = repository.changes(old, new)?;
        let looker = Looker::new(repository, checkout, &changes)?;
        let index = looker.index()?;
        let mut states = Vec::new();
        for change in &changes {
            states.push(looker.find_or_refuse(change)?);
        }
        let old_ids = looker.content_ids(old, &changes, &states, |change| &change.old)?;
        let new_ids = looker.content_ids(new, &changes, &states, |change| &change.new)?;
        let added = changes.iter().zip(&states).filter(|(change, (found, _))| {
            change.old.is_none() && *found == Found::Absent && !index.entries.contains_key(&change.path)
        });
        let outside = outside(
            repository,
            checkout,
            added.map(|(change, _)| change.path.as_path()),
        )?;
        let mut writable = Writable::new(checkout, &looker.root);
        let mut paths = Vec::new();
        for (number, change) in changes.iter().enumerate() {
            let (found, mut obstacles) = states[number].clone();
            let indexed = index.entries.get(&change.path);
            let is_out = indexed.is_some_and(|one| one.skipped) || outside.contains(&change.path);
            let skipped = is_out && found == Found::Absent;
            let file_old =
                skipped || looker.equals(&change.path, &found, change.old.as_ref(), old_ids.get(&number))?;
            let file_new =
                skipped || looker.equals(&change.path, &found, change.new.as_ref(), new_ids.get(&number))?;
            let stamp = match found {
                Found::File { stamp, .. } | Found::Link { stamp, .. } => Some(stamp),
                Found::Absent | Found::Folder | Found::Special => None,
            };
            let entry = indexed.map(|one| &one.entry);
            let index_known = !index.unmerged.contains(&change.path)
                && (entry == change.old.as_ref() || entry == change.new.as_ref());
            if index.unmerged.contains(&change.path) {
                obstacles.push((change.path.clone(), Obstacle::Unmerged));
            } else if !index_known {
                obstacles.push((change.path.clone(), Obstacle::Staged));
            }
            if !file_old && !file_new && obstacles.is_empty() {
                let obstacle = match indexed {
                    Some(one) if one.is_hidden => Obstacle::Hidden,
                    Some(_) => Obstacle::Edited,
                    None => looker.untracked(&change.path),
                };
                obstacles.push((change.path.clone(), obstacle));
            }
            if !file_new && !skipped && obstacles.is_empty() && !writable.has_room_for(&change.path) {
                obstacles.push((change.path.clone(), Obstacle::Unwritable));
            }
            if change.new.is_some() {
                obstacles.extend(
                    index
                        .clashes(&change.path, &looker.deleted)
                        .map(|path| (path, Obstacle::Staged)),
                );
            }
            paths.push(Inspected {
                change: change.clone(),
                file_new,
                index_known,
                skipped,
                stamp,
                obstacles,
            });
        }
        tell_ignored(repository, checkout, &mut paths)?;
        Ok(Self {
            paths,
            checkout: checkout.root.clone(),
        })
    }

    /// The state of the index alone: no file is looked at, and none is to be written.
    pub(super) fn of_index(
        repository: &Repository,
        checkout: &Checkout,
        old: &Oid,
        new: &Oid,
    ) -> Result<Self> {
        let changes = repository.changes(old, new)?;
        let index = Looker::new(repository, checkout, &changes)?.index()?;
        let paths = changes.into_iter().map(|change| {
            let indexed = index.entries.get(&change.path);
            let entry = indexed.map(|one| &one.entry);
            let index_known = !index.unmerged.contains(&change.path)
                && (entry == change.old.as_ref() || entry == change.new.as_ref());
            Inspected {
                index_known,
                skipped: indexed.is_some_and(|one| one.skipped),
                change,
                file_new: true,
                stamp: None,
                obstacles: Vec::new(),
            }
        });
        Ok(Self {
            paths: paths.collect(),
            checkout: checkout.root.clone(),
        })
    }

    /// Whether the path goes away with the new commit.
    pub(super) fn deletes(&self, path: &Path) -> bool {
        let change = self.paths.iter().find(|inspected| inspected.change.path == path);
        change.is_some_and(|inspected| inspected.change.new.is_none())
    }

    pub(super) fn blocked(&self) -> Vec<Blocked> {
        let mut blocked: Vec<Blocked> = Vec::new();
        for (path, obstacle) in self.paths.iter().flat_map(|path| &path.obstacles) {
            let one = Blocked {
                checkout: self.checkout.clone(),
                path: Some(path.clone()),
                obstacle: *obstacle,
            };
            if !blocked.contains(&one) {
                blocked.push(one);
            }
        }
        blocked
    }
}

/// The user's index, as far as it matters.
#[derive(Default)]
struct Index {
    entries: BTreeMap<PathBuf, Indexed>,
    unmerged: BTreeSet<PathBuf>,
}

impl Index {
    /// Entries that cannot stand beside a file at `path`: those under it and those that its folders are.
    fn clashes<'a>(
        &'a self,
        path: &'a Path,
        deleted: &'a BTreeSet<PathBuf>,
    ) -> impl Iterator<Item = PathBuf> + 'a {
        let under = self
            .entries
            .range::<Path, _>((std::ops::Bound::Excluded(path), std::ops::Bound::Unbounded));
        let under = under
            .map(|(other, _)| other)
            .take_while(move |other| other.starts_with(path));
        let above = path
            .ancestors()
            .skip(1)
            .filter_map(|folder| self.entries.get_key_value(folder))
            .map(|(other, _)| other);
        under
            .chain(above)
            .filter(|other| !deleted.contains(*other))
            .cloned()
    }
}

struct Looker<'a> {
    repository: &'a Repository,
    checkout: &'a Checkout,
    root: OwnedFd,
    /// Whether the checkout's file modes count; asked when a mode is not as expected.
    mode_counts: OnceCell<bool>,
    /// Whether the checkout has links; asked when a file stands where a link is expected.
    has_links: OnceCell<bool>,
    deleted: BTreeSet<PathBuf>,
    changed: BTreeSet<PathBuf>,
    /// The submodules that go away.
    submodules: BTreeSet<PathBuf>,
}

impl<'a> Looker<'a> {
    fn new(repository: &'a Repository, checkout: &'a Checkout, changes: &[Change]) -> Result<Self> {
        Ok(Self {
            repository,
            checkout,
            root: openat::root(&checkout.root).doing("open", &checkout.root)?,
            mode_counts: OnceCell::new(),
            has_links: OnceCell::new(),
            changed: changes.iter().map(|change| change.path.clone()).collect(),
            submodules: changes
                .iter()
                .filter(|change| is_of_submodule(change) && change.new.is_none())
                .map(|change| change.path.clone())
                .collect(),
            deleted: changes
                .iter()
                .filter(|change| change.new.is_none())
                .map(|change| change.path.clone())
                .collect(),
        })
    }

    fn index(&self) -> Result<Index> {
        let said = users_call(self.repository, self.checkout, "ls-files")
            .args(["-s", "-v", "-z"])
            .output_limit(1 << 30)
            .ok()?;
        let mut index = Index::default();
        for field in fields(&said) {
            let bad = || Error::unreadable("ls-files", String::from_utf8_lossy(field));
            let tab = field.iter().position(|byte| *byte == b'\t').ok_or_else(bad)?;
            let path = path_of(&field[tab + 1..]).to_owned();
            let parts: Vec<&[u8]> = field[..tab].split(|byte| *byte == b' ').collect();
            let [tag, mode, oid, stage] = parts[..] else {
                return Err(bad());
            };
            if stage != b"0" {
                index.unmerged.insert(path);
                continue;
            }
            // A sparse index shows a folder as one entry; nothing in it is in the checkout.
            let Some(mode) = Mode::parse(mode) else { continue };
            let entry = (mode, Oid::from_bytes(oid)?);
            index.entries.insert(
                path,
                Indexed {
                    entry,
                    skipped: tag.eq_ignore_ascii_case(b"S"),
                    is_hidden: tag.eq_ignore_ascii_case(b"S") || tag.iter().all(u8::is_ascii_lowercase),
                },
            );
        }
        Ok(index)
    }

    /// Looks at one path; one that nobody lets crew look at is an obstacle.
    fn find_or_refuse(&self, change: &Change) -> Result<(Found, Vec<(PathBuf, Obstacle)>)> {
        let refused = || (Found::Special, vec![(change.path.clone(), Obstacle::Unwritable)]);
        match self.find(change) {
            Ok((Found::File { .. }, _)) if !is_readable(&self.root, &change.path) => Ok(refused()),
            Err(Error::Io { source, .. }) if source.kind() == ErrorKind::PermissionDenied => Ok(refused()),
            found => found,
        }
    }

    /// Looks at one path. A file where a folder is needed comes back as an obstacle, and so does a folder
    /// with things of the user's where a file is needed.
    fn find(&self, change: &Change) -> Result<(Found, Vec<(PathBuf, Obstacle)>)> {
        let path = change.path.as_path();
        let mut obstacles = Vec::new();
        let found = self.look(path)?;
        match found {
            Found::Absent => {
                if let Some(above) = self.file_above(path)?
                    && !self.changed.contains(&above)
                {
                    obstacles.push((above, Obstacle::Untracked));
                }
            }
            // There is a folder in the place of a file that goes away: the file is gone, whatever the folder
            // holds.
            Found::Folder if change.new.is_none() && !is_of_submodule(change) => {
                return Ok((Found::Absent, obstacles));
            }
            // The folder of a submodule that goes away stays where it holds anything, as after git's merge.
            Found::Folder if change.new.is_none() => {}
            Found::Folder if matches!(change.new, Some((Mode::Submodule, _))) => {}
            Found::Folder => {
                let mut inside = Vec::new();
                self.walk(path, &mut inside)?;
                let kept = inside.into_iter().find(|file| !self.deleted.contains(file));
                match kept {
                    // This very change deletes all of its files.
                    None => return Ok((Found::Absent, obstacles)),
                    Some(_) if is_of_submodule(change) => {
                        return Ok((Found::Folder, vec![(path.to_owned(), Obstacle::Submodule)]));
                    }
                    Some(file) => return Ok((Found::Folder, vec![(file, Obstacle::Untracked)])),
                }
            }
            Found::File { .. } | Found::Link { .. } | Found::Special => {}
        }
        Ok((found, obstacles))
    }

    /// The obstacle that a file which git does not know is: one of a submodule that goes away is of that.
    fn untracked(&self, path: &Path) -> Obstacle {
        match path
            .ancestors()
            .skip(1)
            .any(|folder| self.submodules.contains(folder))
        {
            true => Obstacle::Submodule,
            false => Obstacle::Untracked,
        }
    }

    fn look(&self, path: &Path) -> Result<Found> {
        look(&self.root, path).doing("look at", self.checkout.root.join(path))
    }

    /// The nearest parent of the path that is not a folder.
    fn file_above(&self, path: &Path) -> Result<Option<PathBuf>> {
        let mut above: Vec<&Path> = path
            .ancestors()
            .skip(1)
            .filter(|folder| !folder.as_os_str().is_empty())
            .collect();
        above.reverse();
        for folder in above {
            match self.look(folder)? {
                Found::Folder => {}
                Found::Absent => return Ok(None),
                Found::File { .. } | Found::Link { .. } | Found::Special => {
                    return Ok(Some(folder.to_owned()));
                }
            }
        }
        Ok(None)
    }

    fn walk(&self, folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
        let at = self.checkout.root.join(folder);
        let fd = openat::folder(&self.root, folder).doing("look into", &at)?;
        for entry in rustix::fs::Dir::read_from(&fd).doing("look into", &at)? {
            let entry = entry.doing("look into", &at)?;
            let name = entry.file_name().to_bytes();
            if matches!(name, b"." | b"..") {
                continue;
            }
            let path = folder.join(OsStr::from_bytes(name));
            if self.look(&path)? == Found::Folder {
                self.walk(&path, files)?;
            } else {
                files.push(path);
            }
        }
        Ok(())
    }

    /// The object that each regular file would be, by the attributes of `commit`; by number of the change.
    fn content_ids(
        &self,
        commit: &Oid,
        changes: &[Change],
        states: &[(Found, Vec<(PathBuf, Obstacle)>)],
        side: impl Fn(&Change) -> &Entry,
    ) -> Result<BTreeMap<usize, Oid>> {
        let wanted: Vec<usize> = (0..changes.len())
            .filter(|number| {
                matches!(states[*number].0, Found::File { .. })
                    && matches!(side(&changes[*number]), Some((Mode::File | Mode::Executable, _)))
            })
            .collect();
        let paths = wanted.iter().map(|number| changes[*number].path.as_path());
        let ids = hash_files(self.repository, self.checkout, commit, paths)?;
        let mut ids: BTreeMap<usize, Oid> = wanted.into_iter().zip(ids).collect();
        let others = ids.iter().filter_map(|(number, id)| {
            let (mode, oid) = side(&changes[*number]).as_ref()?;
            (id != oid).then_some((*number, changes[*number].path.as_path(), *mode, oid))
        });
        let same = unmodified(
            self.repository,
            self.checkout,
            commit,
            &others.collect::<Vec<_>>(),
        )?;
        ids.extend(same);
        Ok(ids)
    }

    fn equals(
        &self,
        path: &Path,
        found: &Found,
        entry: Option<&(Mode, Oid)>,
        content: Option<&Oid>,
    ) -> Result<bool> {
        Ok(match (found, entry) {
            // git writes a link as a file with its target where the checkout's file system has no links.
            (Found::File { .. }, Some((Mode::Symlink, oid))) if !self.does_have_links()? => {
                let limit = 64 << 10;
                let content = openat::read(&self.root, path, limit).ok().flatten();
                content.is_some_and(|content| self.blob(oid).is_ok_and(|target| target == content))
            }
            (Found::Absent, None) => true,
            (Found::Absent | Found::Folder, Some((Mode::Submodule, _))) => true,
            (Found::File { executable, .. }, Some((mode @ (Mode::File | Mode::Executable), oid))) => {
                let same_mode = *executable == (*mode == Mode::Executable);
                content == Some(oid) && (same_mode || !self.do_modes_count()?)
            }
            (Found::Link { target, .. }, Some((Mode::Symlink, oid))) => self.blob(oid)? == *target,
            _ => false,
        })
    }

    fn blob(&self, oid: &Oid) -> Result<Vec<u8>> {
        self.repository.call("cat-file").args(["blob", oid.as_str()]).ok()
    }

    fn does_have_links(&self) -> Result<bool> {
        if let Some(known) = self.has_links.get() {
            return Ok(*known);
        }
        let said = users_call(self.repository, self.checkout, "config")
            .args(["--type=bool", "--get", "core.symlinks"])
            .run()?;
        Ok(*self
            .has_links
            .get_or_init(|| said.stdout.trim_ascii() != b"false"))
    }

    fn do_modes_count(&self) -> Result<bool> {
        if let Some(known) = self.mode_counts.get() {
            return Ok(*known);
        }
        let said = users_call(self.repository, self.checkout, "config")
            .args(["--type=bool", "--get", "core.fileMode"])
            .run()?;
        Ok(*self
            .mode_counts
            .get_or_init(|| said.stdout.trim_ascii() != b"false"))
    }
}

/// Whether the path was a submodule before the change.
fn is_of_submodule(change: &Change) -> bool {
    matches!(change.old, Some((Mode::Submodule, _)))
}

fn look(root: &OwnedFd, path: &Path) -> std::io::Result<Found> {
    let Some(name) = path.file_name() else {
        return Ok(Found::Folder);
    };
    let folder = match openat::folder(root, path.parent().unwrap_or(Path::new(""))) {
        Ok(folder) => folder,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(Found::Absent);
        }
        // A symlink on the way: for git there is no such path.
        Err(error) if error.raw_os_error() == Some(Errno::LOOP.raw_os_error()) => return Ok(Found::Absent),
        Err(error) => return Err(error),
    };
    let stat = match statat(&folder, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(stat) => stat,
        Err(Errno::NOENT) => return Ok(Found::Absent),
        Err(errno) => return Err(errno.into()),
    };
    Ok(match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Found::File {
            executable: stat.st_mode & 0o100 != 0,
            stamp: Stamp::read(&stat),
        },
        FileType::Directory => Found::Folder,
        FileType::Symlink => {
            let target = readlinkat(&folder, name, Vec::new())?.into_bytes();
            Found::Link {
                target,
                stamp: Stamp::read(&stat),
            }
        }
        _ => Found::Special,
    })
}
