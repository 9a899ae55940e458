//! What can go wrong with the queue, each with what to do next.

use std::io;
use std::path::PathBuf;

use crate::{Id, Problem};

/// An error of the queue. `Display` is a lowercase fragment without the source; [`Error::hint`] says what to do.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// No `.tickets` here or above.
    #[error("no .tickets folder in {} or above it", from.display())]
    NoFolder {
        /// Where the search began.
        from: PathBuf,
    },
    /// The tickets folder is something else, or gone.
    #[error("{} is not a folder", path.display())]
    NotAFolder {
        /// The path that was given or found.
        path: PathBuf,
    },
    /// A text that cannot be an id.
    #[error("'{text}' cannot be a ticket's id: {why}")]
    BadId {
        /// The text, without control characters.
        text: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// No ticket of that id.
    #[error("ticket '{asked}' not found")]
    NotFound {
        /// What was asked for.
        asked: String,
    },
    /// Several tickets of that partial id.
    #[error("ambiguous ID '{asked}' matches multiple tickets")]
    Ambiguous {
        /// What was asked for.
        asked: String,
        /// All tickets whose id contains it.
        matches: Vec<Id>,
    },
    /// The ticket's file cannot be used.
    #[error("{0}")]
    Unreadable(Problem),
    /// The change would leave a file that crew cannot read; nothing was written.
    #[error("the change would spoil the ticket: {0}")]
    WouldSpoil(Problem),
    /// A status that tk does not know.
    #[error("invalid status '{0}'. Must be one of: open in_progress closed")]
    BadStatus(String),
    /// A value that cannot be stored.
    #[error("the {what} cannot be used: {why}")]
    BadValue {
        /// Which value (`title`, `priority`, …).
        what: String,
        /// The rule it breaks.
        why: &'static str,
    },
    /// A ticket made to depend on itself.
    #[error("{0} cannot depend on itself")]
    SelfDependency(Id),
    /// A dependency that would close a cycle; nothing was written.
    #[error("that would make a dependency cycle: {}", path.join(" -> "))]
    Cycle {
        /// The cycle, its first id repeated at the end.
        path: Vec<String>,
    },
    /// `undep` of a dependency that is not there.
    #[error("Dependency not found")]
    DependencyNotFound,
    /// `unlink` of a link that is not there.
    #[error("Link not found")]
    LinkNotFound,
    /// Someone holds the folder's lock for too long.
    #[error("another program has held the lock {} for {seconds} s", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
        /// How long it was waited for.
        seconds: u64,
    },
    /// Every id that was tried is taken.
    #[error("no free ticket id after {tries} tries")]
    NoFreeId {
        /// How many were tried.
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
        source: notify::Error,
    },
    /// The file system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was tried.
        doing: &'static str,
        /// On what.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// What a person can do about it, where there is something.
    pub fn hint(&self) -> Option<String> {
        Some(match self {
            Error::NoFolder { .. } => {
                "`crew init` or `crew ticket create` makes one; or set TICKETS_DIR".to_owned()
            }
            Error::NotAFolder { .. } => {
                "`crew ticket create` makes it, once nothing else stands there; or let TICKETS_DIR name another folder".to_owned()
            }
            Error::BadId { .. } => "rename the file to an id such as `abc-1x2y`".to_owned(),
            Error::NotFound { .. } => "`crew ticket ls` lists the ids".to_owned(),
            Error::Ambiguous { matches, .. } => {
                let shown: Vec<&str> = matches.iter().take(10).map(Id::as_str).collect();
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
