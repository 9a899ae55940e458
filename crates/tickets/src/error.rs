//! The errors of the queue.

use std::io;
use std::path::{Path, PathBuf};

use crate::problem::Problem;

/// An error of the queue. `Display` is a lowercase fragment without the source; [`Error::hint`] is advice
/// for a person.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// There is no folder `.tickets` in a folder or above it.
    #[error("no .tickets folder in {} or above it", from.display())]
    NoFolder {
        /// The folder where the search began.
        from: PathBuf,
    },
    /// The path of the tickets folder is not a folder, or does not exist.
    #[error("{} is {}", path.display(), if is_missing(path) { "not there" } else { "not a folder" })]
    NotAFolder {
        /// The path.
        path: PathBuf,
    },
    /// A text is not a valid id.
    #[error("'{text}' cannot be a ticket's id: {why}")]
    BadId {
        /// The text, made harmless for a terminal.
        text: String,
        /// The rule that it breaks, as a sentence about it.
        why: &'static str,
    },
    /// There is no ticket of that id.
    #[error("ticket '{asked}' not found")]
    NotFound {
        /// The id or partial id.
        asked: String,
    },
    /// Several tickets match a partial id.
    #[error("ambiguous ID '{asked}' matches multiple tickets")]
    Ambiguous {
        /// The id or partial id.
        asked: String,
        /// The ids that contain it.
        matches: Vec<String>,
    },
    /// The ticket's file cannot be read as a ticket.
    #[error("{0}")]
    Unreadable(Problem),
    /// A change would make the file unreadable for crew; nothing was written.
    #[error("the change would spoil the ticket: {0}")]
    WouldSpoil(Problem),
    /// A status is not one of tk's.
    #[error("invalid status '{0}'. Must be one of: open in_progress closed")]
    BadStatus(String),
    /// A value cannot be stored.
    #[error("the {what} cannot be used: {why}")]
    BadValue {
        /// The name of the value (`title`, `priority`, …).
        what: String,
        /// The rule that it breaks, as a sentence about it.
        why: &'static str,
    },
    /// A ticket cannot depend on itself.
    #[error("{0} cannot depend on itself")]
    SelfDependency(String),
    /// A new dependency would close a cycle; nothing was written.
    #[error("that would make a dependency cycle: {}", path.join(" -> "))]
    Cycle {
        /// The ids of the cycle; the first one is repeated at the end.
        path: Vec<String>,
    },
    /// The dependency to remove does not exist.
    #[error("Dependency not found")]
    DependencyNotFound,
    /// The link to remove does not exist.
    #[error("Link not found")]
    LinkNotFound,
    /// Another program held the folder's lock for too long.
    #[error("another program has held the lock {} for {seconds} s", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// The length of the wait, in seconds.
        seconds: u64,
    },
    /// Every id that was tried is taken.
    #[error("no free ticket id after {tries} tries")]
    NoFreeId {
        /// The number of ids that were tried.
        tries: u32,
    },
    /// Another program keeps changing the file.
    #[error("{} is changed by another program faster than it can be written", path.display())]
    Busy {
        /// The ticket's file.
        path: PathBuf,
    },
    /// The system's random generator failed.
    #[error("cannot get random characters for an id")]
    Random {
        /// The cause.
        source: io::Error,
    },
    /// The folder cannot be watched.
    #[error("cannot watch {}", path.display())]
    Watch {
        /// The folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
    /// An operation of the file system failed.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation, as a verb.
        doing: &'static str,
        /// The path of its object.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

/// What tk says of an error, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SaidByTk {
    /// It prints it to its output.
    Printed(String),
    /// It is an error, whose words are tk's own.
    Error(String),
}

impl Error {
    /// tk's own words, where they are other ones.
    pub fn said_by_tk(&self) -> Option<SaidByTk> {
        match self {
            Error::DependencyNotFound | Error::LinkNotFound => Some(SaidByTk::Printed(self.to_string())),
            Error::NoFolder { .. } => Some(SaidByTk::Error(
                "no .tickets directory found (searched parent directories)\n\
                 Run 'tk create' to initialize, or set TICKETS_DIR env var"
                    .to_owned(),
            )),
            Error::NotAFolder { path } => Some(SaidByTk::Error(format!(
                "tickets directory '{}' does not exist",
                path.display()
            ))),
            Error::NotFound { .. }
            | Error::Ambiguous { .. }
            | Error::BadStatus(_)
            | Error::BadId { .. }
            | Error::Unreadable(_)
            | Error::WouldSpoil(_)
            | Error::BadValue { .. }
            | Error::SelfDependency(_)
            | Error::Cycle { .. }
            | Error::Locked { .. }
            | Error::NoFreeId { .. }
            | Error::Busy { .. }
            | Error::Random { .. }
            | Error::Watch { .. }
            | Error::Io { .. } => None,
        }
    }

    /// Advice for a person, if there is any.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NoFolder { .. } => {
                "`crew init` or `crew ticket create` makes one; or set TICKETS_DIR".to_owned()
            }
            Error::NotAFolder { path } if is_missing(path) => {
                "if git has taken it away, `git switch` to a branch that has it, or `git restore --source BRANCH -- .tickets`, \
                 brings it back; if its files are gone for good, `crew ticket create` begins a new one, and `crew inbox` then asks \
                 about each ticket that is not done"
                    .to_owned()
            }
            Error::NotAFolder { .. } => {
                "`crew ticket create` makes it, once nothing else stands there; or let TICKETS_DIR name another folder".to_owned()
            }
            Error::BadId { .. } => "rename the file to an id such as `abc-1x2y`".to_owned(),
            Error::NotFound { .. } => "`crew ticket ls` lists the ids".to_owned(),
            Error::Ambiguous { matches, .. } => {
                let shown: Vec<&str> = matches.iter().take(10).map(String::as_str).collect();
                let more = matches.len().saturating_sub(shown.len());
                let rest = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!("it could be {}{rest}", shown.join(", "))
            }
            Error::Unreadable(problem) | Error::WouldSpoil(problem) => problem.hint().to_owned(),
            Error::Cycle { path } => match path.as_slice() {
                [_, waits, on, ..] => {
                    format!("first take one of the others away, such as `crew ticket undep {waits} {on}`")
                }
                _ => return None,
            },
            Error::Locked { .. } => {
                "find the program that holds it (`fuser` on that file) and end it".to_owned()
            }
            Error::NoFreeId { .. } => "close and archive old tickets, or try again".to_owned(),
            Error::Busy { .. } => "close the program that writes it, then try again".to_owned(),
            Error::Watch { .. } => "raise fs.inotify.max_user_watches or max_user_instances".to_owned(),
            Error::BadStatus(_)
            | Error::BadValue { .. }
            | Error::SelfDependency(_)
            | Error::DependencyNotFound
            | Error::LinkNotFound
            | Error::Random { .. } => return None,
            Error::Io { source, .. } => match source.kind() {
                io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
                    "free some space on the disk; nothing was written".to_owned()
                }
                io::ErrorKind::ReadOnlyFilesystem => {
                    "make it writable (it is mounted read-only); nothing was written".to_owned()
                }
                _ => return None,
            },
        })
    }
}

/// True if nothing stands at a path.
fn is_missing(path: &Path) -> bool {
    path.symlink_metadata()
        .is_err_and(|error| error.kind() == io::ErrorKind::NotFound)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_that_is_away_is_told_from_one_that_something_else_stands_in() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join(".tickets");
        let error = || Error::NotAFolder { path: path.clone() };
        let away = (error().to_string(), error().hint().unwrap_or_default());
        assert!(away.0.ends_with("/.tickets is not there"), "{away:?}");
        assert!(away.1.contains("git has taken it away"), "{away:?}");
        std::fs::write(&path, "a file").unwrap();
        assert!(error().to_string().ends_with("/.tickets is not a folder"));
    }
}
