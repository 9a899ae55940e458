//! Reading an index of crew's own without git: which files there were, and which of them are untouched since.

use std::collections::BTreeSet;
use std::fs::File;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use rustix::fs::Stat;

use crate::error::{IoContext, Result};
use crate::types::change::Mode;
use crate::types::oid::{Format, Oid};
use crate::types::paths::path_of;

/// The greatest index that is read here; a larger one is left to git.
const INDEX_BYTES: u64 = 64 << 20;

/// An index of the simple kind that git writes for a checkout; any other is left to git.
pub(crate) struct Index {
    entries: Vec<Entry>,
    /// The tree that the index holds.
    pub(crate) tree: Oid,
    /// The time at which it was written: a file that has changed in that very moment may look untouched.
    written: Moment,
}

/// Seconds and nanoseconds, as an index stores them.
pub(crate) type Moment = (u32, u32);

/// One file.
pub(crate) struct Entry {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) oid: Oid,
    stamp: Stamp,
}

/// The parts of a file's status that git stores to see whether the file was written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stamp {
    changed: Moment,
    modified: Moment,
    inode: u32,
    owner: (u32, u32),
    size: u32,
}

impl Stamp {
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "the index keeps the low 32 bits"
    )]
    fn of(stat: &Stat) -> Self {
        Self {
            changed: (stat.st_ctime as u32, stat.st_ctime_nsec as u32),
            modified: (stat.st_mtime as u32, stat.st_mtime_nsec as u32),
            inode: stat.st_ino as u32,
            owner: (stat.st_uid, stat.st_gid),
            size: stat.st_size as u32,
        }
    }

    /// Whether a file has it still, and was not touched in the moment in which the index was written.
    fn is_still_of(self, stat: &Stat, written: Moment) -> bool {
        Self::of(stat) == self && self.changed < written && self.modified < written
    }
}

/// The time at which an index was written.
pub(crate) fn written(meta: &std::fs::Metadata) -> Option<Moment> {
    let low = |number: i64| u32::try_from(number & 0xffff_ffff).ok();
    Some((low(meta.mtime())?, low(meta.mtime_nsec())?))
}

impl Index {
    /// Reads an index; `None`: there is none, or git has to read it.
    pub(crate) fn read(path: &Path, format: Format) -> Option<Self> {
        let file = File::open(path).ok()?;
        let meta = file.metadata().ok().filter(|meta| meta.len() <= INDEX_BYTES)?;
        let written = written(&meta)?;
        let mut content = Vec::new();
        std::io::Read::read_to_end(&mut { file }, &mut content).ok()?;
        Self::parse(&content, written, format)
    }

    fn parse(content: &[u8], written: Moment, format: Format) -> Option<Self> {
        let width = format.hex_len() / 2;
        let mut rest = content.strip_prefix(b"DIRC")?;
        let version = number(&mut rest)?;
        let count = number(&mut rest)?;
        if version != 2 {
            return None;
        }
        let mut entries: Vec<Entry> = Vec::with_capacity(count.min(1 << 20) as usize);
        for _ in 0..count {
            let before = rest.len();
            let (stamp, mode, oid) = recorded(&mut rest, width)?;
            let flags = u16::from_be_bytes(take(&mut rest, 2)?.try_into().ok()?);
            // An entry that is assumed unchanged, of another version, or in conflict is in no checkout of
            // crew's.
            let mode = Mode::parse(format!("{mode:o}").as_bytes()).filter(|mode| *mode != Mode::Submodule)?;
            if flags & 0xf000 != 0 {
                return None;
            }
            let length = rest.iter().position(|byte| *byte == 0)?;
            let path = take(&mut rest, length)?.to_vec();
            // One to eight NULs, up to a multiple of eight.
            let padding = 8 - (before - rest.len()) % 8;
            take(&mut rest, padding)?;
            if entries.last().is_some_and(|last| last.path >= path) {
                return None;
            }
            entries.push(Entry {
                path,
                mode,
                oid,
                stamp,
            });
        }
        let mut tree = None;
        while rest.len() > width {
            let name = take(&mut rest, 4)?;
            let size = number(&mut rest)? as usize;
            let extension = take(&mut rest, size)?;
            match name {
                b"TREE" => tree = root(extension, width),
                // An extension whose name begins with a capital may be skipped.
                name if name[0].is_ascii_uppercase() => {}
                _ => return None,
            }
        }
        Some(Self {
            entries,
            tree: tree?,
            written,
        })
    }

    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn get(&self, path: &[u8]) -> Option<&Entry> {
        let at = self.entries.binary_search_by(|entry| entry.path[..].cmp(path));
        at.ok().map(|at| &self.entries[at])
    }

    /// Whether there is a file of this kind.
    pub(crate) fn has(&self, is_one: impl Fn(&Path) -> bool) -> bool {
        self.entries.iter().any(|entry| is_one(path_of(&entry.path)))
    }

    /// Whether there are files under a path that ends in `/`.
    pub(crate) fn has_under(&self, folder: &[u8]) -> bool {
        let at = self.entries.partition_point(|entry| &entry.path[..] < folder);
        self.entries
            .get(at)
            .is_some_and(|entry| entry.path.starts_with(folder))
    }

    /// Whether a file is as it was when the index was written, by its status alone. For a file that was
    /// touched in the moment of the writing the answer is `false`.
    pub(crate) fn is_untouched(&self, entry: &Entry, stat: &Stat) -> bool {
        mode_of(stat) == Some(entry.mode) && entry.stamp.is_still_of(stat, self.written)
    }
}

/// A file as an index has it.
pub(crate) struct Staged {
    pub(crate) path: Vec<u8>,
    pub(crate) mode: Mode,
    pub(crate) oid: Oid,
    /// Whether git does not look at the file: it is assumed to be unchanged.
    pub(crate) is_assumed: bool,
    /// Whether the file is outside of a sparse checkout, or somebody has said that git is to pass over it.
    pub(crate) is_skipped: bool,
    stamp: Stamp,
}

impl Staged {
    /// Whether a file is as it was when git put it into the index, by its status alone; `written`: the time
    /// of the index. For a file that was touched in the moment of the writing the answer is `false`. Its
    /// kind and mode do not count: they are as git has found them, and understood them under its settings.
    pub(crate) fn is_untouched(&self, stat: &Stat, written: Moment) -> bool {
        self.stamp.is_still_of(stat, written)
    }
}

/// The content of an index that anybody may have written.
pub(crate) struct Listed {
    /// The files, without those in conflict or only marked as to be added, which have no content of their
    /// own.
    pub(crate) files: Vec<Staged>,
    /// Folders of which a sparse index has no files, each with a `/` at its end.
    pub(crate) sparse_folders: Vec<Vec<u8>>,
    /// Paths in conflict, each once.
    pub(crate) conflicts: BTreeSet<Vec<u8>>,
    /// The tree of exactly these files, if the index names it.
    pub(crate) tree: Option<Oid>,
}

/// Lists an index; `None`: it cannot be read.
pub(crate) fn list(content: &[u8], format: Format) -> Option<Listed> {
    let width = format.hex_len() / 2;
    let mut rest = content.strip_prefix(b"DIRC")?;
    let (version, count) = (number(&mut rest)?, number(&mut rest)?);
    if !matches!(version, 2..=4) {
        return None;
    }
    let (mut files, mut sparse_folders, mut conflicts) = (Vec::new(), Vec::new(), BTreeSet::new());
    let mut path = Vec::new();
    for _ in 0..count {
        let before = rest.len();
        let (stamp, mode, oid) = recorded(&mut rest, width)?;
        let mut flags = || Some(u16::from_be_bytes(take(&mut rest, 2)?.try_into().ok()?));
        let (first, mut further) = (flags()?, 0);
        if first & 0x4000 != 0 {
            further = flags()?;
        }
        // From version 4 on, a path shares its beginning with the one before it, and nothing is padded.
        let kept = match version {
            4 => path.len().checked_sub(varint(&mut rest)?)?,
            _ => 0,
        };
        path.truncate(kept);
        let length = rest.iter().position(|byte| *byte == 0)?;
        path.extend_from_slice(take(&mut rest, length)?);
        let padding = match version {
            4 => 1,
            _ => 8 - (before - rest.len()) % 8,
        };
        take(&mut rest, padding)?;
        let (in_conflict, only_meant) = (first & 0x3000 != 0, further & 0x2000 != 0);
        if in_conflict {
            conflicts.insert(path.clone());
        }
        let is_skipped = further & 0x4000 != 0;
        if mode == 0o40_000 && is_skipped {
            sparse_folders.push(path.clone());
        }
        let mode = Mode::parse(format!("{mode:o}").as_bytes()).filter(|mode| *mode != Mode::Submodule);
        if let Some(mode) = mode
            && !in_conflict
            && !only_meant
        {
            files.push(Staged {
                path: path.clone(),
                mode,
                oid,
                is_assumed: first & 0x8000 != 0,
                is_skipped,
                stamp,
            });
        }
    }
    let mut tree = None;
    while rest.len() > width {
        let Some(name) = take(&mut rest, 4) else { break };
        let size = number(&mut rest).map(|size| size as usize);
        let Some(extension) = size.and_then(|size| take(&mut rest, size)) else {
            break;
        };
        if name == b"TREE" {
            tree = root(extension, width);
        }
    }
    Some(Listed {
        files,
        sparse_folders,
        conflicts,
        tree,
    })
}

/// The beginning of an entry: the file's status, its mode and its content.
fn recorded(rest: &mut &[u8], width: usize) -> Option<(Stamp, u32, Oid)> {
    let mut next = || number(rest);
    let changed = (next()?, next()?);
    let modified = (next()?, next()?);
    let (_device, inode, mode) = (next()?, next()?, next()?);
    let owner = (next()?, next()?);
    let stamp = Stamp {
        changed,
        modified,
        inode,
        owner,
        size: next()?,
    };
    Some((stamp, mode, oid(take(rest, width)?)?))
}

/// The kind of a file for git; `None`: git does not store such files.
pub(crate) fn mode_of(stat: &Stat) -> Option<Mode> {
    match rustix::fs::FileType::from_raw_mode(stat.st_mode) {
        rustix::fs::FileType::RegularFile if stat.st_mode & 0o100 != 0 => Some(Mode::Executable),
        rustix::fs::FileType::RegularFile => Some(Mode::File),
        rustix::fs::FileType::Symlink => Some(Mode::Symlink),
        _ => None,
    }
}

/// Copies an index with the time at which it was written: from a later time git would conclude that a file
/// which was touched in between was touched before.
pub(crate) fn copy(from: &Path, to: &Path) -> Result<()> {
    std::fs::copy(from, to).doing("copy", from)?;
    let written = from
        .metadata()
        .and_then(|meta| meta.modified())
        .doing("look at", from)?;
    let file = File::options().write(true).open(to).doing("open", to)?;
    file.set_modified(written).doing("write", to)
}

/// Reads the root of a `TREE` extension: an empty name, the number of its entries (or -1), that of its
/// folders, and its id.
fn root(extension: &[u8], width: usize) -> Option<Oid> {
    let rest = extension.strip_prefix(b"\0")?;
    let end = rest.iter().position(|byte| *byte == b'\n')?;
    if rest.starts_with(b"-") {
        return None;
    }
    oid(rest.get(end + 1..end + 1 + width)?)
}

fn oid(raw: &[u8]) -> Option<Oid> {
    let hex: String = raw.iter().map(|byte| format!("{byte:02x}")).collect();
    Oid::parse(&hex).ok()
}

fn take<'b>(rest: &mut &'b [u8], count: usize) -> Option<&'b [u8]> {
    let (taken, left) = rest.split_at_checked(count)?;
    *rest = left;
    Some(taken)
}

fn number(rest: &mut &[u8]) -> Option<u32> {
    Some(u32::from_be_bytes(take(rest, 4)?.try_into().ok()?))
}

/// Reads a number of variable length, as git writes them.
fn varint(rest: &mut &[u8]) -> Option<usize> {
    let mut byte = take(rest, 1)?[0];
    let mut number = usize::from(byte & 0x7f);
    while byte & 0x80 != 0 {
        byte = take(rest, 1)?[0];
        number = number.checked_add(1)?.checked_mul(128)? + usize::from(byte & 0x7f);
    }
    Some(number)
}
