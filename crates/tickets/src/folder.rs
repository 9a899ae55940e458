//! The folder of tickets: finding it, listing it, reading it.

use std::collections::BTreeSet;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use rustix::io::Errno;

use crate::document::Document;
use crate::error::Error;
use crate::id;
use crate::id::Id;
use crate::openat::{self, ReadError};
use crate::problem::{Problem, ProblemKind};
use crate::stamp::Stamp;
use crate::ticket::Ticket;

/// The name of the folder in a repository.
const NAME: &str = ".tickets";
/// The most listings of a folder that changes all the time.
const LISTINGS: usize = 3;

/// A folder of tickets. Nothing stays open between calls, so the folder may be deleted and made again.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Folder {
    path: PathBuf,
}

/// The folder that is meant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sought<'a> {
    /// The one of this path.
    At(PathBuf),
    /// The `.tickets` of this folder, and of no folder above it.
    Of(&'a Path),
    /// The nearest `.tickets` in this folder or above it.
    Nearest(&'a Path),
}

/// The result of reading one file of the folder: a ticket, or the problem with it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reading {
    /// The name of the file without `.md`, which is the ticket's id if it is a valid one.
    pub name: String,
    /// The ticket, or the problem.
    pub outcome: Result<Ticket, Problem>,
}

/// The results of reading every file of a folder, in the order of the file names.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Readings(pub Vec<Reading>);

impl Reading {
    /// All problems with the file.
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

    /// All problems: unreadable files, and problems in readable ones.
    pub fn problems(&self) -> impl Iterator<Item = &Problem> {
        self.0.iter().flat_map(Reading::problems)
    }
}

impl Folder {
    /// The existing folder at `path`.
    ///
    /// Errors: [`Error::NotAFolder`].
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

    /// The folder that is sought.
    ///
    /// Errors: [`Error::NotAFolder`] for a path, else [`Error::NoFolder`].
    pub fn find(sought: &Sought<'_>) -> Result<Folder, Error> {
        let none = |from: &Path| Error::NoFolder {
            from: from.to_owned(),
        };
        match sought {
            Sought::At(path) => Folder::at(path),
            Sought::Of(root) => Folder::at(&root.join(NAME)).map_err(|_| none(root)),
            Sought::Nearest(start) => {
                let mut above = start.ancestors().map(|above| above.join(NAME));
                let found = above.find(|path| path.is_dir());
                found.map(|path| Folder { path }).ok_or_else(|| none(start))
            }
        }
    }

    /// As [`Folder::find`], but makes the folder when there is none. Only for creating a ticket.
    ///
    /// Errors: [`Error::Io`].
    pub fn find_or_create(sought: &Sought<'_>) -> Result<Folder, Error> {
        Folder::find(sought).or_else(|_| match sought {
            Sought::At(path) => Folder::make(path),
            Sought::Of(root) | Sought::Nearest(root) => Folder::make(&root.join(NAME)),
        })
    }

    fn make(path: &Path) -> Result<Folder, Error> {
        std::fs::create_dir_all(path).map_err(|source| Error::Io {
            doing: "make the folder",
            path: path.to_owned(),
            source,
        })?;
        Folder::at(path)
    }

    /// The path of the folder.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The path of the file of `id`.
    pub fn file(&self, id: &Id) -> PathBuf {
        self.path.join(id.file_name())
    }

    /// The ids of all ticket files, readable or not, sorted.
    ///
    /// Errors: [`Error::Io`].
    pub fn ids(&self) -> Result<Vec<Id>, Error> {
        let dir = self.open()?;
        Ok(self
            .names(dir.as_fd())?
            .iter()
            .filter_map(|name| Id::new(name).ok())
            .collect())
    }

    /// The ticket that a person means by `asked`: the one of that id, else the only one whose id contains it.
    ///
    /// Errors: [`Error::NotFound`], [`Error::Ambiguous`], [`Error::Io`].
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
    ///
    /// Errors: [`Error::NotFound`], [`Error::Unreadable`], [`Error::Io`], [`Error::NotAFolder`].
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

    /// Reads every ticket file. A bad file is a problem in its place.
    ///
    /// Errors: [`Error::Io`] or [`Error::NotAFolder`] when the folder cannot be listed.
    pub fn load(&self) -> Result<Readings, Error> {
        Ok(Readings(self.each()?.collect()))
    }

    /// As [`Folder::load`], one file at a time, so that a long queue is never in memory as a whole.
    pub fn each(&self) -> Result<impl Iterator<Item = Reading>, Error> {
        let dir = self.open()?;
        let names = self.names(dir.as_fd())?;
        Ok(names
            .into_iter()
            .filter_map(move |name| self.reading(dir.as_fd(), name)))
    }

    /// Reads the file of that name; `None` when there is none.
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
        let content = openat::read(dir, &id.file_name()).map_err(|failure| match failure {
            ReadError::Missing => None,
            ReadError::Bad(kind) => Some(kind),
            ReadError::Io(source) => Some(ProblemKind::ReadFailed(text::os_message(&source))),
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

    /// The names of all `*.md` files without the ending, sorted. Hidden files are no tickets. A name that
    /// is not UTF-8 gets replacement characters, so that it is never a valid id.
    ///
    /// A listing may lack a file that is replaced meanwhile. So a folder that changes is listed again, and a
    /// name counts that was there once: a file that is gone is found gone where it is read.
    pub(crate) fn names(&self, dir: BorrowedFd<'_>) -> Result<Vec<String>, Error> {
        let failed = |source: Errno| Error::Io {
            doing: "list",
            path: self.path.clone(),
            source: source.into(),
        };
        let mut names = BTreeSet::new();
        for _ in 0..LISTINGS {
            let began = Timestamp::now();
            for entry in rustix::fs::Dir::read_from(dir).map_err(failed)? {
                let entry = entry.map_err(failed)?;
                let name = entry.file_name().to_string_lossy();
                if let Some(stem) = name.strip_suffix(".md")
                    && !name.starts_with('.')
                {
                    names.insert(stem.to_owned());
                }
            }
            let stamp = rustix::fs::fstat(dir)
                .map(|stat| Stamp::of_stat(&stat))
                .map_err(failed)?;
            if !stamp.is_recent(began.as_nanosecond()) {
                break;
            }
        }
        Ok(names.into_iter().collect())
    }

    pub(crate) fn open(&self) -> Result<OwnedFd, Error> {
        openat::folder(&self.path).map_err(|source| {
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
