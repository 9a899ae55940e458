//! What a write that was killed had displaced: if another program wrote it, it goes back.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags, RenameFlags};
use rustix::io::Errno;

use crate::beneath::{self, Failure};
use crate::write::NEW;
use crate::{Error, Folder, Id, Lock};

/// Which file is about to change places with the new content, and what either holds. It is there only while the two do, so
/// without it the new content's file is a half-written one.
pub(crate) const NOTED: &str = ".crew.was";

/// After the name of a ticket's file and before a number: what another program wrote into it and could not stand there, because
/// another edit does. Which of the two is the newer is not always known.
const KEPT: &str = ".kept-";

/// What is under the passing name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Left {
    Nothing,
    /// By its hash.
    Text(u64),
    /// A folder, a link, a flood.
    Odd,
}

/// A write, as it is noted.
struct Noted {
    id: Id,
    base: u64,
    ours: u64,
}

impl Lock<'_> {
    /// Notes that the new content, `ours`, is about to change places with the ticket's, which should be `base`.
    pub(crate) fn note(&self, id: &Id, base: &[u8], ours: &[u8]) -> Result<(), Error> {
        let failed = |source| self.failed("write", NOTED, source);
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let fd = beneath::open(self.dir.as_fd(), NOTED, flags, Mode::from_raw_mode(0o600))
            .map_err(|source| failed(source.into()))?;
        let text = format!("{} {} {id}\n", hash(base), hash(ours));
        File::from(fd).write_all(text.as_bytes()).map_err(failed)
    }

    /// Brings a write that was killed, or was not the only one, to its end: what it displaced goes back if it is another
    /// program's, unless something newer has come meanwhile; then it is kept beside that. What crew itself had to write is
    /// written again by whoever ordered it.
    pub(crate) fn finish_interrupted_write(&self) -> Result<(), Error> {
        let noted = match beneath::read(self.dir.as_fd(), NOTED) {
            Ok(noted) => Noted::parse(&noted.bytes),
            Err(Failure::Missing) => return Ok(()),
            // What it says is not known: the next to come reads it.
            Err(Failure::Refused(source)) => return Err(self.failed("read", NOTED, source)),
            // It is none of ours, and in the way of the next.
            Err(Failure::Bad(_)) => None,
        };
        if let Some(noted) = noted
            && self.has_theirs(&noted)?
        {
            self.put_back(&noted)?;
        }
        self.discard();
        Ok(())
    }

    /// Gives what another program wrote its place back from the content that displaced it.
    fn put_back(&self, noted: &Noted) -> Result<(), Error> {
        let name = noted.id.file_name();
        match beneath::read(self.dir.as_fd(), &name) {
            Ok(stands) if hash(&stands.bytes) == noted.ours => {
                self.give_way(noted.ours, || self.exchange(&name))?;
            }
            // What crew wrote was replaced or taken away by somebody who may not have seen what it had displaced.
            Ok(_) | Err(Failure::Missing | Failure::Bad(_)) => {}
            // Whether it was is not known: the next to come looks.
            Err(Failure::Refused(source)) => return Err(self.failed("read", &name, source)),
        }
        if self.has_theirs(noted)? {
            self.keep_aside(&name)?;
        }
        Ok(())
    }

    /// Lets what is under the passing name change places with what stands, `stands`. If something else comes out, that has come since
    /// the look and is newer: it goes back, until nobody has written in between.
    fn give_way(&self, stands: u64, exchange: impl Fn() -> Result<(), Error>) -> Result<(), Error> {
        let mut stands = Left::Text(stands);
        let mut goes = self.left()?;
        loop {
            exchange()?;
            let out = self.left()?;
            if out == stands {
                return Ok(());
            }
            stands = std::mem::replace(&mut goes, out);
        }
    }

    /// Keeps what is under the passing name, for a person to look at, under a name that tells whose content it was.
    fn keep_aside(&self, name: &str) -> Result<(), Error> {
        for number in 1..u32::MAX {
            let kept = format!("{name}{KEPT}{number}");
            match rustix::fs::renameat_with(&self.dir, NEW, &self.dir, &kept, RenameFlags::NOREPLACE) {
                Ok(()) => return Ok(()),
                Err(Errno::EXIST) => {}
                Err(source) => return Err(self.failed("keep", &kept, source.into())),
            }
        }
        Ok(())
    }

    /// Whether what is left under the passing name is neither what was to be replaced nor what was to replace it.
    fn has_theirs(&self, noted: &Noted) -> Result<bool, Error> {
        Ok(match self.left()? {
            Left::Text(left) => ![noted.base, noted.ours].contains(&left),
            Left::Nothing => false,
            // Crew writes no such thing.
            Left::Odd => true,
        })
    }

    /// What is under the passing name.
    fn left(&self) -> Result<Left, Error> {
        match beneath::read(self.dir.as_fd(), NEW) {
            Ok(left) => Ok(Left::Text(hash(&left.bytes))),
            Err(Failure::Missing) => Ok(Left::Nothing),
            Err(Failure::Refused(source)) => Err(self.failed("read", NEW, source)),
            Err(Failure::Bad(_)) => Ok(Left::Odd),
        }
    }

    /// The note goes first: without it, nobody takes the rest for more than it is.
    pub(crate) fn forget_note(&self) {
        // It is not there, or the next note says why it cannot go.
        let _ = rustix::fs::unlinkat(&self.dir, NOTED, AtFlags::empty());
    }
}

impl Folder {
    /// Ends a write that was killed, unless another process is writing, which is not waited for, and names the files in which something was ever kept that was written into a ticket's file
    /// at the same moment as something else: a person decides what of it they need.
    ///
    /// Errors: [`Error::Locked`], [`Error::Io`].
    pub fn finish_interrupted_write(&self) -> Result<Vec<String>, Error> {
        if self.path().join(NOTED).symlink_metadata().is_ok() {
            drop(self.try_lock()?);
        }
        self.conflict_copies()
    }

    /// The same, and changes nothing.
    ///
    /// Errors: [`Error::Io`].
    pub fn conflict_copies(&self) -> Result<Vec<String>, Error> {
        let failed = |source| Error::Io {
            doing: "list",
            path: self.path().to_owned(),
            source,
        };
        let mut kept = Vec::new();
        for entry in std::fs::read_dir(self.path()).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            if let Some(name) = name.to_str().filter(|name| name.contains(&format!(".md{KEPT}"))) {
                kept.push(name.to_owned());
            }
        }
        kept.sort();
        Ok(kept)
    }

    /// Those of one ticket's, found by their names: the work does not grow with the queue.
    pub fn conflict_copies_of(&self, id: &Id) -> Vec<String> {
        let names = (1..u32::MAX).map(|number| format!("{}{KEPT}{number}", id.file_name()));
        let is_there = |name: &String| self.path().join(name).symlink_metadata().is_ok();
        names.take_while(is_there).collect()
    }
}

impl Noted {
    /// `None`: it was not written to its end, so the two have not changed places.
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
        let (ticket, passing) = (place.path().join("ab-1.md"), place.path().join(NEW));
        for edits in 0..5 {
            std::fs::write(&ticket, "crew's").unwrap();
            std::fs::write(&passing, "edit 0").unwrap();
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
            lock.give_way(hash(b"crew's"), exchange).unwrap();
            let stands = std::fs::read_to_string(&ticket).unwrap();
            assert_eq!(stands, format!("edit {edits}"));
        }
    }
}
