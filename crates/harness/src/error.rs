//! Why a client cannot be used.

use std::path::PathBuf;

use process::NotFound;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a client cannot be used, or a step not be started. A step that was started and failed is an
/// [`Outcome`](crate::Outcome).
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The settings name no program.
    #[error("harness {} has no command", text::quoted(.name))]
    NoCommand {
        /// The harness, as the settings call it.
        name: String,
    },
    /// The program is missing or not executable.
    #[error("harness {} cannot be used", text::quoted(.name))]
    Program {
        /// The harness, as the settings call it.
        name: String,
        /// What is wrong with which file.
        source: NotFound,
    },
    /// A client is missing or not executable.
    #[error("harness {} cannot be used", text::quoted(.name))]
    Client {
        /// The harness, as the settings call it.
        name: String,
        /// What is wrong with which file.
        source: NotFound,
    },
    /// A client does not tell its version, or is another program.
    #[error("harness {} cannot be used: {}: {why}", text::quoted(.name), program.display())]
    Version {
        /// The harness, as the settings call it.
        name: String,
        /// The program.
        program: PathBuf,
        /// What it did instead, in words.
        why: String,
    },
    /// A client is too old.
    #[error("harness {} cannot be used: Claude Code {version} is older than {oldest}", text::quoted(.name))]
    TooOld {
        /// The harness, as the settings call it.
        name: String,
        /// The version that is there.
        version: String,
        /// The oldest that would do.
        oldest: String,
    },
    /// A path that must be absolute is not: the client works in another directory.
    #[error("{what} is not absolute: {}", path.display())]
    Relative {
        /// Which path, in words.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The settings set a variable that is crew's own to set.
    #[error("the variable {variable} is crew's own and cannot be set")]
    Reserved {
        /// The variable.
        variable: String,
    },
    /// The settings name a variable that no environment can hold.
    #[error("{} cannot name a variable, or its value holds a NUL byte", text::quoted(.variable))]
    BadVariable {
        /// The name, as it was given.
        variable: String,
    },
}

impl Error {
    /// What a person can do about it.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoCommand { name } => Some(format!(
                "set `command = [\"./agent.sh\"]` in [harness.{name}] of crew.toml"
            )),
            Self::Program { name, source } if source.fault == process::Fault::Missing => Some(format!(
                "install it, or correct `command` in [harness.{name}] of crew.toml; a relative path begins at the \
                 folder of crew.toml"
            )),
            Self::Client { name, source } if source.fault == process::Fault::Missing => Some(format!(
                "install Claude Code (npm install -g @anthropic-ai/claude-code), or say where it is with \
                 `command = [\"/path/to/claude\"]` in [harness.{name}] of crew.toml"
            )),
            Self::Version { name, .. } => Some(format!(
                "`command` in [harness.{name}] of crew.toml must be Claude Code: try it with --version"
            )),
            Self::TooOld { .. } => Some("update it with `claude update`".into()),
            Self::Client { .. } | Self::Program { .. } => {
                Some("it must be a file that may be executed: `chmod +x` makes one executable".into())
            }
            Self::Reserved { .. } => Some("take it out of `env` in crew.toml".into()),
            Self::BadVariable { .. } => {
                Some("correct `env` or `pass_env` in crew.toml: a name is not empty and has no `=`".into())
            }
            Self::Relative { .. } => None,
        }
    }
}
