//! What a write that was killed had displaced: if another program wrote it, it goes back.

use std::fs::File;
use std::hash::{DefaultHasher, Hasher as _};
use std::io::Write as _;
use std::os::fd::AsFd;

use rustix::fs::{AtFlags, Mode, OFlags};

use crate::beneath::{self, Failure};
use crate::write::NEW;
use crate::{Error, Id, Lock};

/// Which file is about to change places with the new content, and what either holds. It is there only while the two do, so
/// without it the new content's file is a half-written one.
pub(crate) const NOTED: &str = ".crew.was";

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

    /// Brings a write that was killed to its end: what it displaced goes back if it is another program's, unless something newer
    /// has come meanwhile. What crew itself had to write is written again by whoever ordered it.
    pub(crate) fn settle(&self) -> Result<(), Error> {
        let noted = match beneath::read(self.dir.as_fd(), NOTED) {
            Ok(noted) => Noted::parse(&noted.bytes),
            Err(Failure::Missing) => return Ok(()),
            // It is none of ours, and in the way of the next.
            Err(Failure::Bad(_)) => None,
        };
        if let Some(noted) = noted
            && self.has_theirs(&noted)
        {
            let name = noted.id.file_name();
            let stands = beneath::read(self.dir.as_fd(), &name);
            if stands.is_ok_and(|stands| hash(&stands.bytes) == noted.ours) {
                self.exchange(&name)?;
            }
        }
        self.discard();
        Ok(())
    }

    /// Whether what is left under the passing name is neither what was to be replaced nor what was to replace it.
    fn has_theirs(&self, noted: &Noted) -> bool {
        match beneath::read(self.dir.as_fd(), NEW) {
            Ok(left) => ![noted.base, noted.ours].contains(&hash(&left.bytes)),
            Err(Failure::Missing) => false,
            // A folder, a link, a flood: crew writes no such thing.
            Err(Failure::Bad(_)) => true,
        }
    }

    /// The note goes first: without it, nobody takes the rest for more than it is.
    pub(crate) fn forget_note(&self) {
        // It is not there, or the next note says why it cannot go.
        let _ = rustix::fs::unlinkat(&self.dir, NOTED, AtFlags::empty());
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
