//! The errors of the program: those that every frontend shares, and those of the program's output. Each has
//! an exit code.

use std::io;

use crate::exit::Exit;

/// The crate's result.
pub(crate) type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a command did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    /// An error that every frontend could have.
    #[error(transparent)]
    Client(client::Error),
    /// Nobody reads the output any more: this is no failure.
    #[error("the output is closed")]
    Closed,
    /// The output cannot be written.
    #[error("cannot write the output")]
    Output(#[source] io::Error),
}

/// Everything that becomes a [`client::Error`] becomes an [`Error`].
impl<E: Into<client::Error>> From<E> for Error {
    fn from(error: E) -> Self {
        Self::Client(error.into())
    }
}

impl Error {
    pub(crate) fn usage(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Client(client::Error::usage(what, hint))
    }

    pub(crate) fn refused(what: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::Client(client::Error::refused(what, hint))
    }

    /// How the program ends with it.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Client(error) => exit_of(error),
            Self::Closed => Exit::Done,
            Self::Output(_) => Exit::Failed,
        }
    }

    /// What a person can do about it, where there is something.
    pub(crate) fn hint(&self) -> Option<String> {
        match self {
            Self::Client(error) => error.hint(),
            Self::Closed | Self::Output(_) => None,
        }
    }
}

fn exit_of(error: &client::Error) -> Exit {
    use client::Error;
    match error {
        error if error.is_held() => Exit::Taken,
        Error::Usage { .. }
        | Error::Settings { .. }
        | Error::Runtime(
            runtime::Error::NotInitialised { .. }
            | runtime::Error::Settings(_)
            | runtime::Error::NoHarness
            | runtime::Error::Toolchain { .. }
            | runtime::Error::UnknownHarness { .. },
        ) => Exit::Usage,
        Error::Runtime(_)
        | Error::Store(_)
        | Error::Tickets(_)
        | Error::Git(_)
        | Error::Process(_)
        | Error::Refused { .. }
        | Error::NoAnswer { .. }
        | Error::Stopped { .. }
        | Error::Io { .. } => Exit::Failed,
    }
}
