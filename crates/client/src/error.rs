//! The errors of a frontend, each with the next step a person can take.

use std::io;
use std::path::PathBuf;

use model::settings::Diagnostic;

use crate::repository::Rejected;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The reasons why a command did not do its task.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The engine's side.
    #[error(transparent)]
    Runtime(#[from] runtime::Error),
    /// The journal.
    #[error(transparent)]
    Store(#[from] store::Error),
    /// The queue's files.
    #[error(transparent)]
    Tickets(#[from] tickets::Error),
    /// git.
    #[error(transparent)]
    Git(#[from] git::Error),
    /// A run's files.
    #[error(transparent)]
    Process(#[from] process::Error),
    /// The words that were typed make no sense.
    #[error("{what}")]
    Usage {
        /// The fault.
        what: String,
        /// The words to type instead.
        hint: Option<String>,
    },
    /// The task cannot be done now.
    #[error("{what}")]
    Refused {
        /// The reason.
        what: String,
        /// The step that must come first.
        hint: Option<String>,
    },
    /// The settings file cannot be used.
    #[error("{} cannot be used", file.display())]
    Settings {
        /// The file.
        file: PathBuf,
        /// Everything that is wrong with it.
        diagnostics: Vec<Diagnostic>,
    },
    /// The engine took the command's place, or is too busy, or hangs.
    #[error("no answer within {seconds} s from the engine ({holder})")]
    NoAnswer {
        /// The length of the wait.
        seconds: u64,
        /// The holder of the repository, in words.
        holder: String,
        /// Its process, when a signal has stopped it.
        stopped: Option<u32>,
    },
    /// An engine keeps everybody from the journal, for a signal has stopped it as it wrote.
    #[error("the engine ({holder}) keeps the journal locked, and stands still")]
    Stopped {
        /// The holder of the repository, in words.
        holder: String,
        /// Its process.
        pid: u32,
    },
    /// The file system refused.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The action that failed, as a verb.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The cause.
        source: io::Error,
    },
}

impl Error {
    /// The words that were typed make no sense; `hint` names others.
    pub fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Usage {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// The task cannot be done now; `hint` names the step that must come first.
    pub fn refused(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Refused {
            what: what.into(),
            hint: Some(hint.into()),
        }
    }

    /// Another process holds the repository.
    #[must_use]
    pub fn is_held(&self) -> bool {
        matches!(
            self,
            Self::Runtime(runtime::Error::Held { .. }) | Self::Git(git::Error::Held { .. })
        )
    }

    /// It in a line, with the next step of a person.
    #[must_use]
    pub fn words(&self) -> String {
        let mut words = text::with_causes(self);
        if let Self::Settings { .. } = self {
            words = format!("{words}: {}", Rejected::of(self).why);
        }
        match self.hint() {
            Some(hint) => format!("{words} ({hint})"),
            None => words,
        }
    }

    /// The next step of a person, where there is one.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Runtime(runtime::Error::Store(error)) | Self::Store(error) => journal_hint(error),
            Self::Runtime(error) => error.hint(),
            Self::Tickets(error) => error.hint(),
            Self::Git(error) => error.hint().map(str::to_owned),
            Self::Process(error) => error.hint().map(str::to_owned),
            Self::Usage { hint, .. } | Self::Refused { hint, .. } => hint.clone(),
            Self::NoAnswer {
                stopped: Some(pid), ..
            } => Some(format!(
                "it is stopped by a signal: `kill -CONT {pid}` lets it go on, and the command is carried out then"
            )),
            Self::Stopped { pid, .. } => Some(format!(
                "it is stopped by a signal: `kill -CONT {pid}` lets it go on; try again then"
            )),
            Self::NoAnswer { stopped: None, .. } => Some(
                "the command stays in the engine's inbox: `crew events` shows when it is carried out"
                    .to_owned(),
            ),
            Self::Settings { .. } | Self::Io { .. } => None,
        }
    }
}

/// The store knows nothing of commands.
fn journal_hint(error: &store::Error) -> Option<String> {
    match error {
        store::Error::Missing { .. } => Some("`crew run` makes one".to_owned()),
        other => other.hint().map(str::to_owned),
    }
}

/// Turns a file operation's error into [`Error::Io`].
pub trait Doing<T> {
    /// `doing` is a verb that fits between "cannot" and the path.
    ///
    /// # Errors
    /// [`Error::Io`].
    fn doing(self, doing: &'static str, path: impl Into<PathBuf>) -> Result<T>;
}

impl<T> Doing<T> for io::Result<T> {
    fn doing(self, doing: &'static str, path: impl Into<PathBuf>) -> Result<T> {
        self.map_err(|source| Error::Io {
            doing,
            path: path.into(),
            source,
        })
    }
}
