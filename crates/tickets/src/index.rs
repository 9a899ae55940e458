//! The index: rows that were read before, kept in a file beside the folder, so that a listing reads only the
//! files that have changed. It can be deleted at any time, and nothing is ever reported about it: where it
//! cannot be read or written, the files are read.

use std::fs::File;
use std::io::{Read as _, Write as _};
use std::os::fd::{AsFd as _, OwnedFd};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use rustix::fs::{AtFlags, FlockOperation, Mode, OFlags, Stat};
use rustix::process::geteuid;
use serde::{Deserialize, Serialize};

use crate::openat;
use crate::row::Row;
use crate::stamp::Stamp;

/// The file's name.
const FILE: &str = "tickets.index";
/// The file that becomes the index. Only the holder of the lock on it uses it, so that with a fixed name a
/// crash leaves at most one behind, which the next writer uses.
const TEMPORARY: &str = "tickets.index.tmp";
/// No index is larger than this, in bytes.
const MAX_BYTES: u64 = 256 << 20;

/// How the file begins: the version of crew and the format of the rows. An index of another version is not
/// read, since that may read another title in the same file. The number grows with each change of [`Row`],
/// and of what is read into it.
const BEGINNING: &str = concat!("crew tickets ", env!("CARGO_PKG_VERSION"), " 1\n");
/// The bytes of the checksum, which follows the beginning.
const CHECKSUM: usize = 4;

/// A folder for the index.
pub(crate) struct Index {
    dir: OwnedFd,
}

/// The identity of the folder whose rows they are: its device and inode number.
pub(crate) type Identity = (u64, u64);

/// The rows of an index.
#[derive(Default, Deserialize)]
pub(crate) struct Kept {
    folder: Identity,
    /// A moment before all of the files were read, by the clock of the file system.
    pub(crate) began_ns: i128,
    /// The rows, in the order of the ids.
    pub(crate) rows: Vec<Row>,
}

/// [`Kept`], as it is written.
#[derive(Serialize)]
struct Keep<'a> {
    folder: Identity,
    began_ns: i128,
    rows: &'a [Row],
}

/// An index that is being made.
pub(crate) struct Draft<'a> {
    index: &'a Index,
    file: File,
    began_ns: i128,
}

impl Index {
    /// The index in the folder `path`; none where there is no such folder of this user's.
    pub(crate) fn open(path: &Path) -> Option<Index> {
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let dir = rustix::fs::open(path, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&dir).ok()?;
        is_mine(&stat).then_some(Index { dir })
    }

    /// What is kept of the folder; nothing where the index is damaged, or not of this folder or version.
    pub(crate) fn read(&self, folder: Identity) -> Option<Kept> {
        let flags = OFlags::RDONLY | OFlags::NONBLOCK;
        let file = openat::open(self.dir.as_fd(), FILE, flags, Mode::empty()).ok()?;
        let stat = rustix::fs::fstat(&file).ok()?;
        let size = u64::try_from(stat.st_size)
            .ok()
            .filter(|size| *size <= MAX_BYTES)?;
        if !is_mine(&stat) || !rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file() {
            return None;
        }
        let mut bytes = Vec::with_capacity(usize::try_from(size).ok()?);
        File::from(file).take(MAX_BYTES).read_to_end(&mut bytes).ok()?;
        let kept: Kept = postcard::from_bytes(content(&bytes)?).ok()?;
        (kept.folder == folder).then_some(kept)
    }

    /// Begins to make the index anew, before the files are read. None where that cannot be done, or another
    /// process is making it.
    pub(crate) fn draft(&self) -> Option<Draft<'_>> {
        let flags = OFlags::RDWR | OFlags::CREATE;
        let mode = Mode::from_raw_mode(0o600);
        let file = openat::open(self.dir.as_fd(), TEMPORARY, flags, mode).ok()?;
        rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive).ok()?;
        // Whoever held the lock before may have made it the index.
        let there = rustix::fs::statat(&self.dir, TEMPORARY, AtFlags::SYMLINK_NOFOLLOW).ok()?;
        let held = rustix::fs::fstat(&file).ok()?;
        if (held.st_dev, held.st_ino) != (there.st_dev, there.st_ino) {
            return None;
        }
        let mut file = File::from(file);
        // A write takes the time of the clock that the times of the tickets' files are from.
        file.write_all(b"\n").ok()?;
        let began_ns = Stamp::of(&file.metadata().ok()?).mtime_ns;
        Some(Draft {
            index: self,
            file,
            began_ns,
        })
    }
}

impl Draft<'_> {
    /// Puts these rows into the index. It is not made durable: what is left of it after a crash of the
    /// machine is not read.
    pub(crate) fn finish(self, folder: Identity, rows: &[Row]) {
        if self.put(folder, rows).is_none() {
            self.discard();
        }
    }

    /// Puts nothing into the index.
    pub(crate) fn discard(self) {
        // Half of an index takes space on a disk that may be full.
        let _ = rustix::fs::unlinkat(&self.index.dir, TEMPORARY, AtFlags::empty());
    }

    fn put(&self, folder: Identity, rows: &[Row]) -> Option<()> {
        let began_ns = self.began_ns;
        let keep = Keep {
            folder,
            began_ns,
            rows,
        };
        let content = postcard::to_stdvec(&keep).ok()?;
        let mut bytes = BEGINNING.as_bytes().to_vec();
        bytes.extend(crc32fast::hash(&content).to_le_bytes());
        bytes.extend(content);
        self.file.set_len(0).ok()?;
        self.file.write_all_at(&bytes, 0).ok()?;
        let dir = &self.index.dir;
        rustix::fs::renameat(dir, TEMPORARY, dir, FILE).ok()
    }
}

/// The content of an index of this version, if it is whole.
fn content(bytes: &[u8]) -> Option<&[u8]> {
    let rest = bytes.strip_prefix(BEGINNING.as_bytes())?;
    let (checksum, content) = rest.split_first_chunk::<CHECKSUM>()?;
    (crc32fast::hash(content).to_le_bytes() == *checksum).then_some(content)
}

/// Whether it belongs to the user who asks: what another one has put there is not believed.
fn is_mine(stat: &Stat) -> bool {
    stat.st_uid == geteuid().as_raw()
}
