//! The caller of an examination: the folder and the environment of the command.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::Path;

use runtime::{Options, Place};

/// The folder and the environment that a command was called with.
#[derive(Clone, Copy, Debug)]
pub struct Caller<'a> {
    /// The folder, absolute.
    pub dir: &'a Path,
    /// The environment, as far as it is text.
    pub env: &'a BTreeMap<String, String>,
    /// The environment as it is.
    pub whole_env: &'a BTreeMap<OsString, OsString>,
}

impl Caller<'_> {
    /// The repository that the folder is in.
    pub(crate) fn place(&self) -> client::Result<Place> {
        Ok(Place::find(self.dir, self.env)?)
    }

    /// A variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.env
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// The options of an engine that is started from here.
    pub(crate) fn options(&self) -> Options {
        Options {
            env: self.whole_env.clone(),
            ..Options::default()
        }
    }
}
