//! Atomic, durable writes of a ticket's file, based on its content at that moment.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::document::Document;
use crate::error::Error;
use crate::id::Id;
use crate::lock::Lock;
use crate::openat::{self, ReadError};
use crate::problem::{Problem, ProblemKind};

/// The temporary file for the new content. It is hidden and has no `.md`. Only the holder of the lock uses
/// it, so with a fixed name a crash leaves at most one behind, which the next write removes.
pub(crate) const TEMPORARY: &str = ".crew.tmp";

/// The most attempts of one edit, which starts again when another program has written in between.
const TRIES: u32 = 16;

/// The result of an exchange.
enum Swap {
    /// The new content has replaced the expected content.
    Done,
    /// Another program had written into the file.
    Conflict,
}

impl Lock<'_> {
    /// Changes the file of `id` with `change`, which gets the current document. `change` must have no other
    /// effect, since it is called again, with a count from 0, when a program that does not know the lock
    /// has replaced the file at the same moment. That program's content is then the base, so nothing of it
    /// is lost. Nothing is written if `change` makes no difference.
    ///
    /// Errors: those of `change`, [`Error::NotFound`], [`Error::Unreadable`], [`Error::WouldSpoil`],
    /// [`Error::Busy`], [`Error::Io`]. After an error the file is unchanged.
    pub fn edit<R>(
        &self,
        id: &Id,
        mut change: impl FnMut(&mut Document, u32) -> Result<R, Error>,
    ) -> Result<R, Error> {
        let path = self.folder.file(id);
        let name = id.file_name();
        let current = self.content(id, &name)?;
        let mut base = current.bytes;
        for round in 0..TRIES {
            let mut document = Document::parse(&path, &base).map_err(Error::Unreadable)?;
            let result = change(&mut document, round)?;
            if document.render() == base {
                return Ok(result);
            }
            Document::parse(&path, document.render()).map_err(Error::WouldSpoil)?;
            self.write_temporary(document.render(), Some(current.mode))?;
            self.write_note(id, &base, document.render())?;
            let swapped = self.swap(id, &name, &base);
            if let Ok(Swap::Done) = swapped {
                self.discard();
                return self.sync().map(|()| result);
            }
            // The displaced content may be an edit of another program, which must be put back.
            self.finish_interrupted_write()?;
            swapped?;
            base = self.content(id, &name)?.bytes;
        }
        Err(Error::Busy { path })
    }

    /// Creates the file of `id` with `text`. Returns `false` and writes nothing when the id is taken.
    pub(crate) fn create_file(&self, id: &Id, text: &str) -> Result<bool, Error> {
        Document::parse(&self.folder.file(id), text.as_bytes()).map_err(Error::WouldSpoil)?;
        self.write_temporary(text.as_bytes(), None)?;
        let name = id.file_name();
        let moved =
            match rustix::fs::renameat_with(&self.dir, TEMPORARY, &self.dir, &name, RenameFlags::NOREPLACE) {
                Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                    rustix::fs::linkat(&self.dir, TEMPORARY, &self.dir, &name, AtFlags::empty())
                }
                other => other,
            };
        self.discard();
        match moved {
            Ok(()) => self.sync().map(|()| true),
            Err(Errno::EXIST) => Ok(false),
            Err(source) => Err(self.failed("create", &name, source.into())),
        }
    }

    /// True if the id has a file.
    pub(crate) fn has(&self, id: &Id) -> bool {
        rustix::fs::statat(&self.dir, id.file_name(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn content(&self, id: &Id, name: &str) -> Result<openat::Content, Error> {
        openat::read(self.dir.as_fd(), name).map_err(|failure| match failure {
            ReadError::Missing => Error::NotFound {
                asked: id.to_string(),
            },
            ReadError::Bad(kind) => self.bad(id, kind),
            // A missing permission is a property of the file; other errors may pass.
            ReadError::Io(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                self.bad(id, ProblemKind::ReadFailed(text::os_message(&source)))
            }
            ReadError::Io(source) => self.failed("read", name, source),
        })
    }

    fn bad(&self, id: &Id, kind: ProblemKind) -> Error {
        Error::Unreadable(Problem {
            path: self.folder.file(id),
            line: None,
            kind,
        })
    }

    /// Gives the new content the ticket's name, in place of the `expected` content.
    ///
    /// The two files are exchanged in one step. So content that another program wrote since the last read
    /// is not overwritten, but stands under the temporary name.
    fn swap(&self, id: &Id, name: &str, expected: &[u8]) -> Result<Swap, Error> {
        if self.content(id, name)?.bytes != expected {
            return Ok(Swap::Conflict);
        }
        match rustix::fs::renameat_with(&self.dir, TEMPORARY, &self.dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            // Without support for the exchange in the file system, the check above must suffice.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let renamed = rustix::fs::renameat(&self.dir, TEMPORARY, &self.dir, name);
                return renamed
                    .map(|()| Swap::Done)
                    .map_err(|source| self.failed("replace", name, source.into()));
            }
            Err(Errno::NOENT) => {
                return Err(Error::NotFound {
                    asked: id.to_string(),
                });
            }
            Err(source) => return Err(self.failed("replace", name, source.into())),
        }
        failpoint::hit("file.exchanged");
        let displaced = openat::read(self.dir.as_fd(), TEMPORARY);
        if displaced.is_ok_and(|displaced| displaced.bytes == expected) {
            return Ok(Swap::Done);
        }
        Ok(Swap::Conflict)
    }

    /// Exchanges the temporary file with the file of that name.
    pub(crate) fn exchange(&self, name: &str) -> Result<(), Error> {
        rustix::fs::renameat_with(&self.dir, TEMPORARY, &self.dir, name, RenameFlags::EXCHANGE)
            .map_err(|source| self.failed("restore", name, source.into()))
    }

    /// Writes the new content durably to the temporary file, with the permissions of the file that it will
    /// replace.
    fn write_temporary(&self, bytes: &[u8], mode: Option<u32>) -> Result<(), Error> {
        self.discard();
        let failed = |source| self.failed("write", TEMPORARY, source);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = openat::open(self.dir.as_fd(), TEMPORARY, flags, Mode::from_raw_mode(0o666))
            .map_err(|source| failed(io::Error::from(source)))?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode))
                .map_err(|source| failed(io::Error::from(source)))?;
        }
        let mut file = File::from(fd);
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|source| {
                // Half of the content is useless, and takes space on a disk that may be full.
                self.discard();
                failed(source)
            })?;
        failpoint::hit("file.put");
        Ok(())
    }

    /// Removes what this write, or one that was killed, has left behind.
    pub(crate) fn discard(&self) {
        self.remove_note();
        // A file that cannot be removed is reported when the next write creates it.
        let _ = rustix::fs::unlinkat(&self.dir, TEMPORARY, AtFlags::empty());
    }

    fn sync(&self) -> Result<(), Error> {
        failpoint::hit("file.placed");
        rustix::fs::fsync(&self.dir).map_err(|source| self.failed("make durable", "", source.into()))
    }

    pub(crate) fn failed(&self, doing: &'static str, name: &str, source: io::Error) -> Error {
        Error::Io {
            doing,
            path: self.folder.path().join(name),
            source,
        }
    }
}
