//! Recovery of an interrupted write: content of another program that the write displaced is put back.
//!
//! A write exchanges the ticket's file with the new content (see `write.rs`). If crew is killed right after
//! the exchange, the displaced content stands under the temporary name, and may be an edit of another program
//! that nobody has seen. So a note is written before the exchange, from which the next writer learns whose
//! content that is.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::error::Error;
use crate::folder::Folder;
use crate::id::Id;
use crate::lock::Lock;
use crate::openat::{self, ReadError};
use crate::write::TEMPORARY;

/// The file with the note. It exists only during an exchange; without it, a file under the temporary name
/// is half-written.
pub(crate) const NOTE: &str = ".crew.was";

/// The suffix, before a number, of a conflict copy: content that another program wrote into a ticket's file
/// and that could not be put back, because a different edit stands there. Which of the two is newer is not
/// always known.
const COPY_SUFFIX: &str = ".kept-";

/// The state of the temporary name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Temporary {
    Absent,
    /// A file whose content has this hash.
    File(u64),
    /// A folder, a link, or a file that is too large.
    Other,
}

/// The note about a write.
struct Note {
    id: Id,
    /// The hash of the content that is to be replaced.
    base: u64,
    /// The hash of the content that crew writes.
    ours: u64,
}

impl Lock<'_> {
    /// Writes the note that the new content, `ours`, is about to be exchanged with the ticket's, which
    /// should be `base`.
    pub(crate) fn write_note(&self, id: &Id, base: &[u8], ours: &[u8]) -> Result<(), Error> {
        let failed = |source| self.failed("write", NOTE, source);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = openat::open(self.dir.as_fd(), NOTE, flags, Mode::from_raw_mode(0o600))
            .map_err(|source| failed(source.into()))?;
        let text = format!("{} {} {id}\n", hash(base), hash(ours));
        File::from(fd).write_all(text.as_bytes()).map_err(failed)
    }

    /// Finishes a write that was interrupted, or that another program interfered with. Displaced content of
    /// another program is put back, or becomes a conflict copy if something newer stands in its place. The
    /// content that crew wanted to write is dropped; the caller of the write repeats it.
    pub(crate) fn finish_interrupted_write(&self) -> Result<(), Error> {
        let note = match openat::read(self.dir.as_fd(), NOTE) {
            Ok(content) => Note::parse(&content.bytes),
            Err(ReadError::Missing) => return Ok(()),
            // The note may be readable later, so the next writer tries again.
            Err(ReadError::Io(source)) => return Err(self.failed("read", NOTE, source)),
            // Crew did not write this, and it would be in the way of the next note.
            Err(ReadError::Bad(_)) => None,
        };
        if let Some(note) = note
            && self.has_foreign_content(&note)?
        {
            self.put_back(&note)?;
        }
        self.discard();
        Ok(())
    }

    /// Puts the content of another program back, in place of the content that displaced it.
    fn put_back(&self, note: &Note) -> Result<(), Error> {
        let name = note.id.file_name();
        match openat::read(self.dir.as_fd(), &name) {
            Ok(current) if hash(&current.bytes) == note.ours => {
                self.exchange_until_stable(note.ours, || self.exchange(&name))?;
            }
            // The content that crew wrote was replaced or removed by a program that may not know of the
            // displaced one.
            Ok(_) | Err(ReadError::Missing | ReadError::Bad(_)) => {}
            // It is not known whether it was replaced, so the next writer tries again.
            Err(ReadError::Io(source)) => return Err(self.failed("read", &name, source)),
        }
        if self.has_foreign_content(note)? {
            self.keep_copy(&name)?;
        }
        Ok(())
    }

    /// Exchanges the temporary file with the ticket's file, which should hold `current` (a hash). If it
    /// held something else, that is a newer edit: it is exchanged back, until no program has written in
    /// between.
    fn exchange_until_stable(
        &self,
        current: u64,
        exchange: impl Fn() -> Result<(), Error>,
    ) -> Result<(), Error> {
        let mut current = Temporary::File(current);
        let mut incoming = self.temporary()?;
        loop {
            exchange()?;
            let displaced = self.temporary()?;
            if displaced == current {
                return Ok(());
            }
            current = std::mem::replace(&mut incoming, displaced);
        }
    }

    /// Renames the temporary file to a conflict copy, which a person can look at.
    fn keep_copy(&self, name: &str) -> Result<(), Error> {
        for number in 1..u32::MAX {
            let copy = format!("{name}{COPY_SUFFIX}{number}");
            match rustix::fs::renameat_with(&self.dir, TEMPORARY, &self.dir, &copy, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(source) => return Err(self.failed("keep", &copy, source.into())),
            }
        }
        Ok(())
    }

    /// True if the temporary file holds neither the content to be replaced nor the content that crew wanted
    /// to write.
    fn has_foreign_content(&self, note: &Note) -> Result<bool, Error> {
        Ok(match self.temporary()? {
            Temporary::File(hash) => ![note.base, note.ours].contains(&hash),
            Temporary::Absent => false,
            // Crew writes neither folders, nor links, nor such large files.
            Temporary::Other => true,
        })
    }

    /// Looks at the temporary name.
    fn temporary(&self) -> Result<Temporary, Error> {
        match openat::read(self.dir.as_fd(), TEMPORARY) {
            Ok(content) => Ok(Temporary::File(hash(&content.bytes))),
            Err(ReadError::Missing) => Ok(Temporary::Absent),
            Err(ReadError::Io(source)) => Err(self.failed("read", TEMPORARY, source)),
            Err(ReadError::Bad(_)) => Ok(Temporary::Other),
        }
    }

    /// Removes the note. This happens before the temporary file is removed, which without a note is known
    /// to be garbage.
    pub(crate) fn remove_note(&self) {
        // A note that cannot be removed is reported by the next write of one.
        let _ = rustix::fs::unlinkat(&self.dir, NOTE, AtFlags::empty());
    }
}

impl Folder {
    /// Finishes a write that was interrupted, and returns the names of all conflict copies (see
    /// [`Folder::conflict_copies`]). Does not wait for a process that is writing.
    ///
    /// Errors: [`Error::Locked`] when a process is writing, [`Error::Io`].
    pub fn finish_interrupted_write(&self) -> Result<Vec<String>, Error> {
        if self.path().join(NOTE).symlink_metadata().is_ok() {
            drop(self.try_lock()?);
        }
        self.conflict_copies()
    }

    /// The names of all conflict copies in the folder, sorted. Such a file holds content that was written
    /// into a ticket's file at the same moment as other content; a person decides what to do with it.
    ///
    /// Errors: [`Error::Io`].
    pub fn conflict_copies(&self) -> Result<Vec<String>, Error> {
        let failed = |source| Error::Io {
            doing: "list",
            path: self.path().to_owned(),
            source,
        };
        let mut copies = Vec::new();
        for entry in std::fs::read_dir(self.path()).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if let Some(name) = name
                .to_str()
                .filter(|name| name.contains(&format!(".md{COPY_SUFFIX}")))
            {
                copies.push(name.to_owned());
            }
        }
        copies.sort();
        Ok(copies)
    }

    /// The names of the conflict copies of one ticket. The time this takes does not grow with the folder.
    pub fn conflict_copies_of(&self, id: &Id) -> Vec<String> {
        let names = (1..u32::MAX).map(|number| format!("{}{COPY_SUFFIX}{number}", id.file_name()));
        let exists = |name: &String| self.path().join(name).symlink_metadata().is_ok();
        names.take_while(exists).collect()
    }
}

impl Note {
    /// Parses a note; `None` when it was not written completely, so that the exchange has not happened.
    fn parse(bytes: &[u8]) -> Option<Self> {
        let text = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
        let (base, rest) = text.split_once(' ')?;
        let (ours, id) = rest.split_once(' ')?;
        Some(Self {
            id: Id::new(id).ok()?,
            base: base.parse().ok()?,
            ours: ours.parse().ok()?,
        })
    }
}

fn hash(bytes: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(bytes);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An editor writes again and again, each time right before two files change places.
    #[test]
    fn the_newest_edit_stands_however_many_come_in_between() {
        let place = tempfile::tempdir().unwrap();
        let folder = Folder::at(place.path()).unwrap();
        let lock = folder.lock().unwrap();
        let (ticket, temporary) = (place.path().join("ab-1.md"), place.path().join(TEMPORARY));
        for edits in 0..5 {
            std::fs::write(&ticket, "crew's").unwrap();
            std::fs::write(&temporary, "edit 0").unwrap();
            let done = std::cell::Cell::new(0);
            let exchange = || {
                if done.get() < edits {
                    done.set(done.get() + 1);
                    let swap = place.path().join("editor.swp");
                    std::fs::write(&swap, format!("edit {}", done.get())).unwrap();
                    std::fs::rename(&swap, &ticket).unwrap();
                }
                lock.exchange("ab-1.md")
            };
            lock.exchange_until_stable(hash(b"crew's"), exchange).unwrap();
            let content = std::fs::read_to_string(&ticket).unwrap();
            assert_eq!(content, format!("edit {edits}"));
        }
    }
}
