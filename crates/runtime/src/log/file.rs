//! The log file: `engine.log` with the older files that were rotated away, bounded in size and number.

use std::fs::{self, File};
use std::io::{self, Write as _};
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _, PermissionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

use crate::executor::private_dir;

/// The name of the newest file, to which lines are appended.
pub(super) const NAME: &str = "engine.log";
/// The size of a file at most, in bytes.
const MAX_BYTES: u64 = 4 << 20;
/// The number of older files that are kept: `engine.log.1` is the newest of them.
const OLD_FILES: u32 = 4;

/// The file with its bounds. It is opened at the first line, and again after an error.
#[derive(Debug)]
pub(super) struct LogFile {
    folder: PathBuf,
    max_bytes: u64,
    old_files: u32,
    opened: Option<Opened>,
}

/// The open file.
#[derive(Debug)]
struct Opened {
    file: File,
    bytes: u64,
    /// Device and inode, to notice that somebody moved or deleted the file.
    id: (u64, u64),
}

impl LogFile {
    /// The file in this folder, which need not exist yet.
    pub(super) fn in_folder(folder: PathBuf) -> Self {
        Self {
            folder,
            max_bytes: MAX_BYTES,
            old_files: OLD_FILES,
            opened: None,
        }
    }

    /// The path of the newest file.
    pub(super) fn path(&self) -> PathBuf {
        self.folder.join(NAME)
    }

    /// Appends a line, which ends with a line break. A line that would make the file too large goes into a
    /// new one.
    ///
    /// # Errors
    /// The file cannot be written: nothing of the line is in it then.
    pub(super) fn append(&mut self, line: &[u8]) -> io::Result<()> {
        let mut opened = match self.opened.take() {
            Some(opened) if opened.is_at(&self.path()) => opened,
            Some(_) | None => Opened::open(&self.folder, &self.path())?,
        };
        let length = u64::try_from(line.len()).unwrap_or(u64::MAX);
        if opened.bytes > 0 && opened.bytes.saturating_add(length) > self.max_bytes {
            self.rotate()?;
            opened = Opened::open(&self.folder, &self.path())?;
        }
        opened.append(line, length)?;
        self.opened = Some(opened);
        Ok(())
    }

    /// Gives each file the next number. The oldest one is overwritten.
    fn rotate(&self) -> io::Result<()> {
        let numbered = |number: u32| match number {
            0 => self.path(),
            number => self.folder.join(format!("{NAME}.{number}")),
        };
        for number in (0..self.old_files).rev() {
            match fs::rename(numbered(number), numbered(number + 1)) {
                Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
                Ok(()) | Err(_) => {}
            }
        }
        Ok(())
    }
}

impl Opened {
    fn open(folder: &Path, path: &Path) -> io::Result<Self> {
        private_dir(folder).map_err(|error| io::Error::other(text::with_causes(&error)))?;
        // A link would lead elsewhere, and a pipe would wait for a reader.
        let flags = (OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY).bits();
        let mut options = File::options();
        options.create(true).read(true).append(true).mode(0o600);
        let file = options.custom_flags(flags.cast_signed()).open(path)?;
        let meta = file.metadata()?;
        if !meta.is_file() {
            return Err(io::Error::other("it is no regular file"));
        }
        if meta.mode() & 0o077 != 0 {
            file.set_permissions(fs::Permissions::from_mode(0o600))?;
        }
        let mut opened = Self {
            file,
            bytes: meta.len(),
            id: (meta.dev(), meta.ino()),
        };
        if opened.ends_in_the_middle()? {
            opened.append(b"\n", 1)?;
        }
        Ok(opened)
    }

    /// Whether the last line has no line break: its writer was killed, and the next line is not to be glued
    /// to it.
    fn ends_in_the_middle(&self) -> io::Result<bool> {
        let Some(last) = self.bytes.checked_sub(1) else {
            return Ok(false);
        };
        let mut byte = [0];
        self.file.read_exact_at(&mut byte, last)?;
        Ok(byte != *b"\n")
    }

    /// Whether the path still names this file.
    fn is_at(&self, path: &Path) -> bool {
        path.symlink_metadata()
            .is_ok_and(|meta| (meta.dev(), meta.ino()) == self.id)
    }

    fn append(&mut self, line: &[u8], length: u64) -> io::Result<()> {
        if let Err(error) = self.file.write_all(line) {
            // Take back the part of the line that found room, so that the next line begins at its own.
            drop(self.file.set_len(self.bytes));
            return Err(error);
        }
        self.bytes = self.bytes.saturating_add(length);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A log of so many bytes a file, with two older files.
    fn small(folder: &Path, max_bytes: u64) -> LogFile {
        LogFile {
            max_bytes,
            old_files: 2,
            ..LogFile::in_folder(folder.join("logs"))
        }
    }

    fn read(folder: &Path, name: &str) -> String {
        fs::read_to_string(folder.join("logs").join(name)).unwrap()
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder.join("logs")).unwrap();
        let name = |entry: io::Result<fs::DirEntry>| entry.unwrap().file_name().into_string().unwrap();
        let mut names: Vec<_> = entries.map(name).collect();
        names.sort();
        names
    }

    #[test]
    fn files_are_bounded_in_size_and_number_and_the_newest_lines_stay() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = small(folder.path(), 20);
        for number in 0..100 {
            log.append(format!("line {number:03}\n").as_bytes()).unwrap();
        }
        assert_eq!(
            names(folder.path()),
            ["engine.log", "engine.log.1", "engine.log.2"]
        );
        assert_eq!(read(folder.path(), "engine.log"), "line 098\nline 099\n");
        assert_eq!(read(folder.path(), "engine.log.1"), "line 096\nline 097\n");
        assert_eq!(read(folder.path(), "engine.log.2"), "line 094\nline 095\n");
    }

    #[test]
    fn the_next_engine_goes_on_with_the_file_and_its_bound() {
        let folder = tempfile::tempdir().unwrap();
        for number in 0..3 {
            let mut log = small(folder.path(), 20);
            log.append(format!("line {number:03}\n").as_bytes()).unwrap();
        }
        assert_eq!(read(folder.path(), "engine.log"), "line 002\n");
        assert_eq!(read(folder.path(), "engine.log.1"), "line 000\nline 001\n");
    }

    #[test]
    fn only_the_owner_can_read_the_log() {
        let folder = tempfile::tempdir().unwrap();
        let path = |path: &str| folder.path().join(path);
        let mode = |name: &str| path(name).metadata().unwrap().permissions().mode() & 0o777;
        let append = || small(folder.path(), 20).append(b"x\n").unwrap();
        append();
        assert_eq!((mode("logs"), mode("logs/engine.log")), (0o700, 0o600));
        fs::set_permissions(path("logs/engine.log"), fs::Permissions::from_mode(0o666)).unwrap();
        append();
        assert_eq!(mode("logs/engine.log"), 0o600);
    }

    #[test]
    fn a_line_begins_on_its_own_though_the_one_before_it_was_torn() {
        let folder = tempfile::tempdir().unwrap();
        small(folder.path(), 40).append(b"whole\n").unwrap();
        let torn = fs::OpenOptions::new()
            .append(true)
            .open(folder.path().join("logs/engine.log"));
        torn.unwrap().write_all(b"half a li").unwrap();
        small(folder.path(), 40).append(b"next\n").unwrap();
        assert_eq!(read(folder.path(), "engine.log"), "whole\nhalf a li\nnext\n");
    }

    #[test]
    fn a_file_that_was_moved_away_is_made_anew() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = small(folder.path(), 20);
        log.append(b"first\n").unwrap();
        fs::rename(log.path(), folder.path().join("kept")).unwrap();
        log.append(b"second\n").unwrap();
        assert_eq!(read(folder.path(), "engine.log"), "second\n");
    }

    #[test]
    fn a_link_in_place_of_the_file_is_refused_until_it_is_gone() {
        let folder = tempfile::tempdir().unwrap();
        let mut log = small(folder.path(), 20);
        fs::create_dir(folder.path().join("logs")).unwrap();
        fs::write(folder.path().join("other"), "untouched").unwrap();
        std::os::unix::fs::symlink(folder.path().join("other"), log.path()).unwrap();
        log.append(b"x\n").unwrap_err();
        assert_eq!(
            fs::read_to_string(folder.path().join("other")).unwrap(),
            "untouched"
        );
        fs::remove_file(log.path()).unwrap();
        log.append(b"y\n").unwrap();
        assert_eq!(read(folder.path(), "engine.log"), "y\n");
    }
}
