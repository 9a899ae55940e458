//! The specification of a run: program, environment, limits.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use crate::error::{Error, Result};

/// The variable that every process of a run carries, and by which stragglers are found.
pub const MARKER: &str = "CREW_RUN_ID";
/// Milliseconds between TERM and KILL.
pub const DEFAULT_GRACE_MS: u64 = 5_000;
/// Milliseconds between two heartbeats.
pub const DEFAULT_BEAT_MS: u64 = 5_000;
/// Bytes of each output stream that are kept from its beginning; of the rest only the end is kept.
pub const DEFAULT_OUTPUT_CAP: u64 = 32 * 1024 * 1024;

/// A program and everything that it gets. [`MARKER`] is added, and nothing is inherited from crew.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Spec {
    /// The run's id, unique for ever (letters, digits, `.`, `_`, `-`): the value of [`MARKER`].
    pub run_id: String,
    /// The program: a path (a relative one with a slash starts at `cwd`), or a name looked up in the `PATH`
    /// of `env`.
    pub program: PathBuf,
    /// Its arguments, without the program itself.
    pub args: Vec<OsString>,
    /// Its working directory, absolute.
    pub cwd: PathBuf,
    /// Its whole environment. Kept on disk (mode 0600) only until the program has started.
    pub env: BTreeMap<OsString, OsString>,
    /// Milliseconds between TERM and KILL when it is stopped.
    pub grace_ms: u64,
    /// Milliseconds after which it is stopped in any case; `None`: never.
    pub timeout_ms: Option<u64>,
    /// Bytes kept from the beginning of each output stream.
    pub output_cap: u64,
    /// Milliseconds between two heartbeats.
    pub beat_ms: u64,
    /// The token with which its program may call crew; none where it may not.
    pub token: Option<String>,
    /// Files that are put into the run's folder before it starts, for its program to read: names and
    /// contents.
    pub files: BTreeMap<String, String>,
}

impl Spec {
    /// A specification with the default limits, no arguments and an empty environment.
    pub fn new(run_id: impl Into<String>, program: impl Into<PathBuf>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            run_id: run_id.into(),
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: BTreeMap::new(),
            grace_ms: DEFAULT_GRACE_MS,
            timeout_ms: None,
            output_cap: DEFAULT_OUTPUT_CAP,
            beat_ms: DEFAULT_BEAT_MS,
            token: None,
            files: BTreeMap::new(),
        }
    }

    /// Refuses a specification that no program could be started with, before anything is written.
    pub(crate) fn check(&self) -> Result<()> {
        let bad = |what: String, why| Err(Error::BadSpec { what, why });
        let id = &self.run_id;
        if id.is_empty()
            || !id
                .bytes()
                .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        {
            return bad(
                format!("the run id {}", text::quoted(id)),
                "letters, digits, `.`, `_` and `-` only",
            );
        }
        if self.program.as_os_str().is_empty() {
            return bad("an empty program".into(), "name the program to start");
        }
        if !self.cwd.is_absolute() {
            return bad(
                format!("the working directory {}", self.cwd.display()),
                "it must be absolute",
            );
        }
        let words = self
            .args
            .iter()
            .map(OsString::as_os_str)
            .chain(self.env.values().map(OsString::as_os_str));
        for word in words.chain([self.program.as_os_str(), self.cwd.as_os_str()]) {
            if word.as_bytes().contains(&0) {
                return bad(format!("{}", word.display()), "it contains a NUL byte");
            }
        }
        for name in self.env.keys() {
            if name.is_empty() || name.as_bytes().iter().any(|byte| [0, b'='].contains(byte)) {
                return bad(
                    format!("the variable {}", name.display()),
                    "a name is not empty and has no `=` or NUL",
                );
            }
        }
        Ok(())
    }
}

/// The specification as it is kept; the environment has a file of its own.
#[derive(Serialize, Deserialize)]
pub(crate) struct Kept {
    pub(crate) run_id: String,
    program: Word,
    args: Vec<Word>,
    cwd: Word,
    grace_ms: u64,
    timeout_ms: Option<u64>,
    output_cap: u64,
    beat_ms: u64,
}

/// The environment as it is kept: pairs, as names need not be text.
pub(crate) type KeptEnv = Vec<(Word, Word)>;

/// A string of the system: text where it is text, else its bytes.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Word {
    Text(String),
    Bytes(Vec<u8>),
}

impl From<&OsStr> for Word {
    fn from(word: &OsStr) -> Self {
        word.to_str().map_or_else(
            || Self::Bytes(word.as_bytes().to_owned()),
            |text| Self::Text(text.to_owned()),
        )
    }
}

impl From<Word> for OsString {
    fn from(word: Word) -> Self {
        match word {
            Word::Text(text) => text.into(),
            Word::Bytes(bytes) => Self::from_vec(bytes),
        }
    }
}

impl Spec {
    pub(crate) fn to_kept(&self) -> (Kept, KeptEnv) {
        let kept = Kept {
            run_id: self.run_id.clone(),
            program: self.program.as_os_str().into(),
            args: self.args.iter().map(|arg| arg.as_os_str().into()).collect(),
            cwd: self.cwd.as_os_str().into(),
            grace_ms: self.grace_ms,
            timeout_ms: self.timeout_ms,
            output_cap: self.output_cap,
            beat_ms: self.beat_ms,
        };
        let env = self
            .env
            .iter()
            .map(|(name, value)| (name.as_os_str().into(), value.as_os_str().into()));
        (kept, env.collect())
    }

    pub(crate) fn from_kept(kept: Kept, env: KeptEnv) -> Self {
        Self {
            run_id: kept.run_id,
            program: OsString::from(kept.program).into(),
            args: kept.args.into_iter().map(Into::into).collect(),
            cwd: OsString::from(kept.cwd).into(),
            env: env
                .into_iter()
                .map(|(name, value)| (name.into(), value.into()))
                .collect(),
            grace_ms: kept.grace_ms,
            timeout_ms: kept.timeout_ms,
            output_cap: kept.output_cap,
            beat_ms: kept.beat_ms,
            // Both stand in the folder of the run.
            token: None,
            files: BTreeMap::new(),
        }
    }
}
