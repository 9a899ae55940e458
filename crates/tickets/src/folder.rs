//! The folder of tickets: found, listed, read.

use std::fs::Metadata;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use crate::beneath::{self, Failure};
use crate::problem::{Problem, ProblemKind};
use crate::{Document, Error, Id, Ticket, id};

/// What the folder is called in a repository.
const NAME: &str = ".tickets";

/// A folder of tickets. A cheap value: nothing is held open between calls, so the folder may be deleted and made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// A file's state, to see a change without reading it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Stamp {
    /// Last change of the content, nanoseconds since 1970.
    pub mtime_ns: i128,
    /// Last change of content or attributes, nanoseconds since 1970.
    pub ctime_ns: i128,
    /// Bytes.
    pub size: u64,
    /// Which file it is: a rename over it changes this.
    pub inode: u64,
}

impl Stamp {
    pub(crate) fn of(metadata: &Metadata) -> Stamp {
        let nanoseconds = |seconds: i64, rest: i64| i128::from(seconds) * 1_000_000_000 + i128::from(rest);
        Stamp {
            mtime_ns: nanoseconds(metadata.mtime(), metadata.mtime_nsec()),
            ctime_ns: nanoseconds(metadata.ctime(), metadata.ctime_nsec()),
            size: metadata.size(),
            inode: metadata.ino(),
        }
    }
}

/// One file of the folder: a ticket, or what is wrong with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The file's name without `.md`; the ticket's id unless the name is no id.
    pub name: String,
    /// The ticket, or why there is none.
    pub outcome: Result<Ticket, Problem>,
}

/// Every ticket file of a folder, in the order of the file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings(pub Vec<Reading>);

impl Reading {
    /// Everything wrong with it.
    pub fn problems(&self) -> &[Problem] {
        match &self.outcome {
            Ok(ticket) => ticket.problems.as_slice(),
            Err(problem) => std::slice::from_ref(problem),
        }
    }
}

impl Readings {
    /// The tickets that could be read.
    pub fn tickets(&self) -> impl Iterator<Item = &Ticket> {
        self.0.iter().filter_map(|reading| reading.outcome.as_ref().ok())
    }

    /// Everything wrong: unreadable files, and what is wrong in readable ones.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter().flat_map(Reading::problems)
    }

    /// The ticket of that very id, if it could be read.
    pub fn get(&self, id: &str) -> Option<&Ticket> {
        let at = self
            .0
            .binary_search_by(|reading| reading.name.as_str().cmp(id))
            .ok()?;
        self.0[at].outcome.as_ref().ok()
    }
}

impl Folder {
    /// The existing folder at `path`.
    pub fn at(path: &Path) -> Result<Folder, Error> {
        if path.is_dir() {
            Ok(Folder {
                path: path.to_owned(),
            })
        } else {
            Err(Error::NotAFolder {
                path: path.to_owned(),
            })
        }
    }

    /// The folder that `TICKETS_DIR` names (`given`, relative to `start`), else the nearest `.tickets` from `start` up.
    pub fn find(given: Option<&Path>, start: &Path) -> Result<Folder, Error> {
        match given {
            Some(given) => Folder::at(&start.join(given)),
            None => {
                let found = start
                    .ancestors()
                    .map(|above| above.join(NAME))
                    .find(|path| path.is_dir());
                found.map(|path| Folder { path }).ok_or_else(|| Error::NoFolder {
                    from: start.to_owned(),
                })
            }
        }
    }

    /// As [`Folder::find`], making `given`, or `.tickets` in `start`, where there is none. Only creating a ticket may do this.
    pub fn find_or_create(given: Option<&Path>, start: &Path) -> Result<Folder, Error> {
        match Folder::find(given, start) {
            Err(Error::NoFolder { .. } | Error::NotAFolder { .. }) => {
                let path = start.join(given.unwrap_or(Path::new(NAME)));
                std::fs::create_dir_all(&path).map_err(|source| Error::Io {
                    doing: "make the folder",
                    path: path.clone(),
                    source,
                })?;
                Folder::at(&path)
            }
            other => other,
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the file of `id` is.
    pub fn file(&self, id: &Id) -> PathBuf {
        self.path.join(id.file_name())
    }

    /// The ids of all ticket files, readable or not, in order.
    pub fn ids(&self) -> Result<Vec<Id>, Error> {
        Ok(self
            .names()?
            .iter()
            .filter_map(|name| Id::new(name).ok())
            .collect())
    }

    /// The ticket that a person means by `asked`: its exact id, else the only id that contains it.
    pub fn resolve(&self, asked: &str) -> Result<Id, Error> {
        let trimmed = asked.trim();
        if let Ok(id) = Id::new(trimmed)
            && self.file(&id).is_file()
        {
            return Ok(id);
        }
        id::resolve(trimmed, &self.ids()?)
    }

    /// Reads one ticket.
    pub fn read(&self, id: &Id) -> Result<Ticket, Error> {
        let dir = self.open()?;
        match self.read_in(dir.as_fd(), id) {
            Ok(ticket) => Ok(ticket),
            Err(None) => Err(Error::NotFound {
                asked: id.to_string(),
            }),
            Err(Some(problem)) => Err(Error::Unreadable(problem)),
        }
    }

    /// Reads every ticket file. A bad file is a problem in its place; only a folder that cannot be listed is an error.
    pub fn load(&self) -> Result<Readings, Error> {
        Ok(Readings(self.each()?.collect()))
    }

    /// As [`Folder::load`], one file at a time: nothing of a long queue need be in memory at once.
    pub fn each(&self) -> Result<impl Iterator<Item = Reading>, Error> {
        let dir = self.open()?;
        let names = self.names()?;
        Ok(names
            .into_iter()
            .filter_map(move |name| self.reading(dir.as_fd(), name)))
    }

    /// Reads the file of that name; `None` when it is gone.
    pub(crate) fn reading(&self, dir: BorrowedFd<'_>, name: String) -> Option<Reading> {
        let outcome = match Id::new(&name) {
            Err(_) => {
                let path = self.path.join(format!("{name}.md"));
                Err(Problem {
                    path,
                    line: None,
                    kind: ProblemKind::BadName(name.clone()),
                })
            }
            Ok(id) => match self.read_in(dir, &id) {
                Ok(ticket) => Ok(ticket),
                Err(None) => return None,
                Err(Some(problem)) => Err(problem),
            },
        };
        Some(Reading { name, outcome })
    }

    fn read_in(&self, dir: BorrowedFd<'_>, id: &Id) -> Result<Ticket, Option<Problem>> {
        let path = self.file(id);
        let content = beneath::read(dir, &id.file_name()).map_err(|failure| match failure {
            Failure::Missing => None,
            Failure::Bad(kind) => Some(kind),
            Failure::Refused(source) => Some(ProblemKind::ReadFailed(text::os_message(&source))),
        });
        let content = content.map_err(|kind| {
            kind.map(|kind| Problem {
                path: path.clone(),
                line: None,
                kind,
            })
        })?;
        let document = Document::parse(&path, &content.bytes).map_err(Some)?;
        Ok(Ticket::read(id.clone(), &path, document, content.stamp))
    }

    /// The names of all `*.md` files without the ending, sorted. Hidden files are none of ours; a name that is not UTF-8 is
    /// given with replacement characters, so that it is never an id.
    pub(crate) fn names(&self) -> Result<Vec<String>, Error> {
        let failed = |source| Error::Io {
            doing: "list",
            path: self.path.clone(),
            source,
        };
        let mut names = Vec::new();
        for entry in std::fs::read_dir(&self.path).map_err(failed)? {
            let name = entry.map_err(failed)?.file_name();
            let name = name.to_string_lossy();
            if let Some(stem) = name.strip_suffix(".md")
                && !name.starts_with('.')
            {
                names.push(stem.to_owned());
            }
        }
        names.sort_unstable();
        Ok(names)
    }

    pub(crate) fn open(&self) -> Result<OwnedFd, Error> {
        beneath::folder(&self.path).map_err(|source| {
            if source.kind() == std::io::ErrorKind::NotADirectory {
                Error::NotAFolder {
                    path: self.path.clone(),
                }
            } else {
                Error::Io {
                    doing: "open",
                    path: self.path.clone(),
                    source,
                }
            }
        })
    }
}
