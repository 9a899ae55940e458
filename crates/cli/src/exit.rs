//! Exit codes: known here and nowhere else.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Exit {
    /// All done.
    Done,
    /// It failed.
    Failed,
    /// The command line or the settings are wrong.
    Usage,
    /// Something is held and needs a person.
    Held,
    /// Another engine holds this repository.
    Taken,
    /// A person or the system interrupted it.
    Interrupted,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Failed => 1,
            Exit::Usage => 2,
            Exit::Held => 3,
            Exit::Taken => 4,
            Exit::Interrupted => 130,
        })
    }
}
