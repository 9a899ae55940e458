//! Writing a ticket's file: whole, durable, and on top of what it holds at that moment.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::beneath::{self, Failure};
use crate::problem::{Problem, What};
use crate::{Document, Error, Id, Lock};

/// Where the new content is put together. Hidden and without `.md`; only the holder of the lock uses it, so a fixed name
/// leaves at most one behind after a crash, and the next write removes it.
pub(crate) const NEW: &str = ".crew.tmp";

/// How often a write starts again because another program wrote in between.
const TRIES: u32 = 16;

/// How putting the new content in place went.
enum Swapped {
    /// It stands, and replaced what was expected.
    Done,
    /// Another program has written there.
    NotYet,
}

impl Lock<'_> {
    /// Changes the file of `id` by `change`, which sees what the file holds now and must do nothing else: it is called again,
    /// with a count from 0, when a program that does not know the lock replaced the file at the same moment. That program's
    /// content is then the base, so nothing of it is lost. A `change` that changes nothing writes nothing.
    ///
    /// Errors: those of `change`, [`Error::NotFound`], [`Error::Unreadable`], [`Error::WouldSpoil`], [`Error::Busy`],
    /// [`Error::Io`]; after each the file is as it was.
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
            self.put(document.render(), Some(current.mode))?;
            self.note(id, &base, document.render())?;
            let swapped = self.swap(id, &name, &base);
            if let Ok(Swapped::Done) = swapped {
                self.discard();
                return self.sync().map(|()| result);
            }
            // What was displaced may be another program's, and goes back.
            self.settle()?;
            swapped?;
            base = self.content(id, &name)?.bytes;
        }
        Err(Error::Busy { path })
    }

    /// Creates the file of `id` with `text`. `false`, and nothing written, when the id is taken.
    pub(crate) fn create_file(&self, id: &Id, text: &str) -> Result<bool, Error> {
        Document::parse(&self.folder.file(id), text.as_bytes()).map_err(Error::WouldSpoil)?;
        self.put(text.as_bytes(), None)?;
        let name = id.file_name();
        let moved = match rustix::fs::renameat_with(&self.dir, NEW, &self.dir, &name, RenameFlags::NOREPLACE)
        {
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                rustix::fs::linkat(&self.dir, NEW, &self.dir, &name, AtFlags::empty())
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

    /// Whether there is a file of that id.
    pub(crate) fn has(&self, id: &Id) -> bool {
        rustix::fs::statat(&self.dir, id.file_name(), AtFlags::SYMLINK_NOFOLLOW).is_ok()
    }

    fn content(&self, id: &Id, name: &str) -> Result<beneath::Content, Error> {
        beneath::read(self.dir.as_fd(), name).map_err(|failure| match failure {
            Failure::Missing => Error::NotFound {
                asked: id.to_string(),
            },
            Failure::Bad(what) => self.bad(id, what),
            // That is about the file; anything else is the machine's moment.
            Failure::Refused(source) if source.kind() == io::ErrorKind::PermissionDenied => {
                self.bad(id, What::Refused(text::system(&source)))
            }
            Failure::Refused(source) => self.failed("read", name, source),
        })
    }

    fn bad(&self, id: &Id, what: What) -> Error {
        Error::Unreadable(Problem {
            path: self.folder.file(id),
            line: None,
            what,
        })
    }

    /// Puts the new content under the ticket's name, where `expected` should stand.
    ///
    /// The two files change places in one step, so what another program wrote since it was read is not overwritten but in our
    /// hands.
    fn swap(&self, id: &Id, name: &str, expected: &[u8]) -> Result<Swapped, Error> {
        if self.content(id, name)?.bytes != expected {
            return Ok(Swapped::NotYet);
        }
        match rustix::fs::renameat_with(&self.dir, NEW, &self.dir, name, RenameFlags::EXCHANGE) {
            Ok(()) => {}
            // A file system without the exchange: the look just now must do.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {
                let renamed = rustix::fs::renameat(&self.dir, NEW, &self.dir, name);
                return renamed
                    .map(|()| Swapped::Done)
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
        let displaced = beneath::read(self.dir.as_fd(), NEW);
        if displaced.is_ok_and(|displaced| displaced.bytes == expected) {
            return Ok(Swapped::Done);
        }
        Ok(Swapped::NotYet)
    }

    pub(crate) fn exchange(&self, name: &str) -> Result<(), Error> {
        rustix::fs::renameat_with(&self.dir, NEW, &self.dir, name, RenameFlags::EXCHANGE)
            .map_err(|source| self.failed("restore", name, source.into()))
    }

    /// Makes the new content durable under its passing name, with the permissions of the file it replaces.
    fn put(&self, bytes: &[u8], mode: Option<u32>) -> Result<(), Error> {
        self.discard();
        let failed = |source| self.failed("write", NEW, source);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = beneath::open(self.dir.as_fd(), NEW, flags, Mode::from_raw_mode(0o666))
            .map_err(|source| failed(io::Error::from(source)))?;
        if let Some(mode) = mode {
            rustix::fs::fchmod(&fd, Mode::from_raw_mode(mode))
                .map_err(|source| failed(io::Error::from(source)))?;
        }
        let mut file = File::from(fd);
        file.write_all(bytes)
            .and_then(|()| file.sync_all())
            .map_err(|source| {
                // Half of it is nobody's, and on a full disk it is in the way.
                self.discard();
                failed(source)
            })?;
        failpoint::hit("file.put");
        Ok(())
    }

    /// Removes the leftover of this write or of one that was killed.
    pub(crate) fn discard(&self) {
        self.forget_note();
        // It is not there, or the creation after this says why it cannot go.
        let _ = rustix::fs::unlinkat(&self.dir, NEW, AtFlags::empty());
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
