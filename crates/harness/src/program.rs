//! The program of a client, as the settings name it.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use process::find_program;

use crate::environment::Environment;
use crate::error::{Error, Result};
use crate::product::Product;

/// A program and its first arguments.
#[derive(Clone, Debug)]
pub(crate) struct Program {
    /// The client's name in the settings, for errors.
    harness: String,
    command: Vec<String>,
    /// The folder where a relative path begins, absolute.
    root: PathBuf,
    /// The product that the program must be; `None` for a program of the user's own.
    product: Option<&'static Product>,
}

impl Program {
    pub(crate) fn new(
        harness: &str,
        command: Vec<String>,
        root: &Path,
        product: Option<&'static Product>,
    ) -> Self {
        Self {
            harness: harness.to_owned(),
            command,
            root: root.to_owned(),
            product,
        }
    }

    /// The client's name in the settings.
    pub(crate) fn harness(&self) -> &str {
        &self.harness
    }

    /// The program, absolute or a bare name for the client's `PATH`, and its first arguments.
    ///
    /// Errors: [`Error::NoCommand`].
    pub(crate) fn split(&self) -> Result<(PathBuf, &[String])> {
        match self.command.split_first() {
            // `components` drops the `.` of `./agent.sh`, so that the path reads as a person would write it.
            Some((program, args)) if program.contains('/') => {
                Ok((self.root.join(program).components().collect(), args))
            }
            Some((program, args)) if !program.is_empty() => Ok((program.into(), args)),
            _ => Err(Error::NoCommand {
                name: self.harness.clone(),
            }),
        }
    }

    /// Finds the program by the `PATH` of `env`, without starting it: its absolute path, and its first
    /// arguments.
    ///
    /// Errors: [`Error::NoCommand`], [`Error::Program`].
    pub(crate) fn find(&self, env: &Environment) -> Result<(PathBuf, &[String])> {
        let (program, args) = self.split()?;
        let path = env.get(OsStr::new("PATH")).map(OsString::as_os_str);
        let program = find_program(&program, path, &self.root).map_err(|source| Error::Program {
            name: self.harness.clone(),
            product: self.product,
            source,
        })?;
        Ok((program, args))
    }
}
