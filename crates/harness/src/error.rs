//! The errors of clients.

use std::path::PathBuf;

use process::NotFound;

use crate::product::Product;

/// The crate's result.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Why a client cannot be used, or a step cannot be started. A step that was started and failed has an
/// [`Outcome`](crate::Outcome) instead.
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
        /// The product that the program belongs to; `None` for a program of the user's own.
        product: Option<&'static Product>,
        /// Which file, and what is wrong with it.
        source: NotFound,
    },
    /// A client does not print its version, or is another program.
    #[error("harness {} cannot be used: {}: {why}", text::quoted(.name), program.display())]
    Version {
        /// The harness, as the settings call it.
        name: String,
        /// The program.
        program: PathBuf,
        /// The product that the program should be.
        product: &'static Product,
        /// What the program did, in words.
        why: String,
    },
    /// A client is too old.
    #[error("harness {} cannot be used: {} {version} is older than {oldest}", text::quoted(.name), product.name)]
    TooOld {
        /// The harness, as the settings call it.
        name: String,
        /// The product.
        product: &'static Product,
        /// The version that is installed.
        version: String,
        /// The oldest version that crew can use.
        oldest: String,
    },
    /// A path is relative, and the client works in another directory.
    #[error("{what} is not absolute: {}", path.display())]
    Relative {
        /// Which path, in words.
        what: &'static str,
        /// The path.
        path: PathBuf,
    },
    /// The settings set or pass a variable that only crew may set.
    #[error("the variable {variable} is crew's own, and can be neither set nor passed on")]
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
    /// Advice for a person.
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::NoCommand { name } => Some(format!(
                "set `command = [\"./agent.sh\"]` in [harness.{name}] of crew.toml"
            )),
            Self::Program {
                name,
                product: None,
                source,
            } if source.fault == process::Fault::Missing => Some(format!(
                "install it, or correct `command` in [harness.{name}] of crew.toml; a relative path begins at the \
                 folder of crew.toml"
            )),
            Self::Program {
                name,
                product: Some(product),
                source,
            } if source.fault == process::Fault::Missing => Some(format!(
                "install {} ({}), or say where it is with `command = [\"/path/to/{}\"]` in [harness.{name}] of crew.toml",
                product.name, product.install, product.program
            )),
            Self::Program { .. } => {
                Some("it must be a file that may be executed: `chmod +x` makes one executable".into())
            }
            Self::Version { name, product, .. } => Some(format!(
                "`command` in [harness.{name}] of crew.toml must be {}: try it with --version",
                product.name
            )),
            Self::TooOld { product, .. } => Some(format!("update it with `{}`", product.update)),
            Self::Reserved { .. } => Some("take it out of `env` or `pass_env` in crew.toml".into()),
            Self::BadVariable { .. } => {
                Some("correct `env` or `pass_env` in crew.toml: a name is not empty and has no `=`".into())
            }
            Self::Relative { .. } => None,
        }
    }
}
