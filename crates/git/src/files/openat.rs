//! `openat2`: files under a folder that somebody else can write, where no path leads out of that folder.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::OwnedFd;
use std::path::{Component, Path};

use rustix::fs::{AtFlags, FileType, Mode, OFlags, ResolveFlags, mkdirat, openat2, renameat, unlinkat};
use rustix::io::Errno;

const INSIDE: ResolveFlags = ResolveFlags::BENEATH
    .union(ResolveFlags::NO_SYMLINKS)
    .union(ResolveFlags::NO_MAGICLINKS);

/// Opens the folder itself, by the path that crew chose.
pub(crate) fn root(path: &Path) -> io::Result<OwnedFd> {
    let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    Ok(rustix::fs::open(path, flags, Mode::empty())?)
}

/// Opens a folder under `root`; a symlink anywhere on the way is an error.
pub(crate) fn folder(root: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
    let path = if relative.as_os_str().is_empty() {
        Path::new(".")
    } else {
        relative
    };
    let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    Ok(retried(|| openat2(root, path, flags, Mode::empty(), INSIDE))?)
}

/// The same, making folders that are missing.
pub(crate) fn made_folder(root: &OwnedFd, relative: &Path) -> io::Result<OwnedFd> {
    let mut at = folder(root, Path::new(""))?;
    for part in relative.components() {
        let Component::Normal(name) = part else {
            return Err(io::Error::from(io::ErrorKind::InvalidInput));
        };
        match mkdirat(&at, name, Mode::from_raw_mode(0o777)) {
            Ok(()) | Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
        at = folder(&at, Path::new(name))?;
    }
    Ok(at)
}

/// Opens a regular file to be read; `None` if there is none.
pub(crate) fn open(root: &OwnedFd, relative: &Path) -> io::Result<Option<File>> {
    let flags = OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
    let fd = match retried(|| openat2(root, relative, flags, Mode::empty(), INSIDE)) {
        Ok(fd) => fd,
        Err(Errno::NOENT | Errno::NOTDIR) => return Ok(None),
        Err(errno) => return Err(errno.into()),
    };
    let stat = rustix::fs::fstat(&fd)?;
    if FileType::from_raw_mode(stat.st_mode) != FileType::RegularFile {
        return Err(io::Error::other("not a regular file"));
    }
    Ok(Some(File::from(fd)))
}

/// Reads a regular file of at most `limit` bytes; `None` if there is none.
pub(crate) fn read(root: &OwnedFd, relative: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let Some(file) = open(root, relative)? else {
        return Ok(None);
    };
    let mut content = Vec::new();
    file.take(limit + 1).read_to_end(&mut content)?;
    if content.len() as u64 > limit {
        return Err(io::Error::other("larger than it can rightly be"));
    }
    Ok(Some(content))
}

/// Whether an error of this module is about something that the folder's writer made there, and not about
/// something that the machine cannot do now.
pub(crate) fn is_by_its_writer(error: &io::Error) -> bool {
    let by_writer = [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::LOOP,
        Errno::XDEV,
        Errno::ACCESS,
        Errno::PERM,
        Errno::NAMETOOLONG,
        Errno::INVAL,
        Errno::NXIO,
    ];
    // An error without an errno is one of those that this module makes.
    Errno::from_io_error(error).is_none_or(|errno| by_writer.contains(&errno))
}

/// Replaces a file in one rename; its folder must be there.
pub(crate) fn replace(root: &OwnedFd, relative: &Path, content: &[u8]) -> io::Result<()> {
    let name = relative
        .file_name()
        .ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
    let folder = folder(root, relative.parent().unwrap_or(Path::new("")))?;
    let (mut file, temporary) = new_file(&folder)?;
    let written = file.write_all(content).and_then(|()| file.sync_all());
    let done = written.and_then(|()| renameat(&folder, &temporary, &folder, name).map_err(io::Error::from));
    if done.is_err() {
        unlinkat(&folder, &temporary, AtFlags::empty()).ok();
    }
    done
}

/// Makes a file under a name that nobody can have prepared.
fn new_file(folder: &OwnedFd) -> io::Result<(File, String)> {
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    for number in 0..1000 {
        let name = format!(".crew-{}-{number}", std::process::id());
        match openat2(folder, &name, flags, Mode::from_raw_mode(0o644), INSIDE) {
            Ok(fd) => return Ok((File::from(fd), name)),
            Err(Errno::EXIST) => {}
            Err(errno) => return Err(errno.into()),
        }
    }
    Err(io::Error::from(io::ErrorKind::AlreadyExists))
}

/// Repeats `openat2` while it fails with EAGAIN, which means that something under it was renamed meanwhile.
fn retried<T>(mut action: impl FnMut() -> rustix::io::Result<T>) -> rustix::io::Result<T> {
    for _ in 0..100 {
        match action() {
            Err(Errno::AGAIN | Errno::INTR) => {}
            other => return other,
        }
    }
    Err(Errno::AGAIN)
}
