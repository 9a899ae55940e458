//! The builder of one call of git.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::os::unix::ffi::OsStringExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use super::git::Git;
use super::settings::{CHECKOUT, FILE_PINS, NOT_TO_REMOTES, PINS, RAW_PINS, REMOTE_PINS};
use crate::error::{Error, Result};
use crate::types::identity::{Identity, Time};
use crate::types::quote;

/// Bytes of standard output that a call may print unless it says otherwise.
const OUTPUT_LIMIT: u64 = 64 << 20;

/// Whose settings count in a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Settings {
    /// Crew's pins and the repository's own file.
    Own,
    /// Those and the user's settings for files, as they were read once. Filters are run as the user runs
    /// them.
    Files,
    /// Crew's pins and all files of the user's: the repository's, their own and the system's.
    Users,
    /// Those, and the user's credentials and network.
    Remote,
}

pub(super) enum Input {
    None,
    /// The input is in an anonymous file already: no thread feeds it and no pipe can fill up.
    File(File),
}

/// One call of git being put together.
///
/// Without input, the child's stdin is the repository's lock, when crew holds it: an orphan then keeps the
/// lock until it ends. With input it cannot be, so calls with input only read, write objects, or write an
/// index that nobody else uses. The exceptions are calls whose standard output is the lock instead
/// ([`Call::silent`]).
pub(crate) struct Call {
    pub(super) git: Git,
    pub(super) subcommand: &'static str,
    pub(super) args: Vec<OsString>,
    pub(super) before: Vec<OsString>,
    pub(super) config: Vec<String>,
    pub(super) env: Vec<(&'static str, OsString)>,
    pub(super) input: Input,
    pub(super) cwd: PathBuf,
    pub(super) deadline: Duration,
    pub(super) limit: u64,
    /// Bytes that the call writes, where the number is known.
    pub(super) needs: u64,
    pub(super) settings: Settings,
    /// The user's settings for files: keys and values.
    pub(super) file_settings: Vec<(String, String)>,
    pub(super) lock: Option<Arc<File>>,
    pub(super) silent: bool,
}

impl Git {
    /// A call without a repository.
    pub(crate) fn call(&self, subcommand: &'static str) -> Call {
        Call::new(self, subcommand)
    }
}

impl Call {
    /// A call without a repository.
    fn new(git: &Git, subcommand: &'static str) -> Self {
        Self {
            deadline: git.deadline,
            git: git.clone(),
            subcommand,
            args: Vec::new(),
            before: Vec::new(),
            config: [PINS, RAW_PINS, FILE_PINS]
                .into_iter()
                .flatten()
                .map(|pin| (*pin).to_owned())
                .collect(),
            env: Vec::new(),
            input: Input::None,
            cwd: PathBuf::from("/"),
            limit: OUTPUT_LIMIT,
            needs: 0,
            settings: Settings::Own,
            file_settings: Vec::new(),
            lock: None,
            silent: false,
        }
    }

    pub(crate) fn arg(mut self, arg: impl AsRef<OsStr>) -> Self {
        self.args.push(arg.as_ref().to_owned());
        self
    }

    pub(crate) fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args
            .extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    pub(crate) fn env(mut self, name: &'static str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name, value.as_ref().to_owned()));
        self
    }

    /// Sets how many bytes the call writes, for finding out whether the disk is too full for it.
    pub(crate) fn needs(mut self, bytes: u64) -> Self {
        self.needs = bytes;
        self
    }

    /// Sets one more configuration value, stronger than those of any file and than the pins.
    pub(crate) fn config(mut self, pair: &str) -> Self {
        self.config.push(pair.to_owned());
        self
    }

    pub(crate) fn git_dir(self, dir: &Path) -> Self {
        self.env("GIT_DIR", dir)
    }

    /// Files are looked for and written under `dir`; the call also runs there.
    pub(crate) fn work_tree(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.cwd);
        self.env("GIT_WORK_TREE", dir)
    }

    pub(crate) fn cwd(mut self, dir: &Path) -> Self {
        dir.clone_into(&mut self.cwd);
        self
    }

    pub(crate) fn index(self, file: &Path) -> Self {
        self.env("GIT_INDEX_FILE", file)
    }

    /// Sets an index that can be made again, so it need not survive a power cut. Objects must, and are
    /// flushed together.
    pub(crate) fn throwaway_index(self, file: &Path) -> Self {
        self.index(file)
            .config("core.fsync=all,-index")
            .config("core.fsyncMethod=batch")
    }

    /// One more object store to read from.
    pub(crate) fn alternate(self, objects: &Path) -> Self {
        let quoted = quote::c_style(objects);
        self.env("GIT_ALTERNATE_OBJECT_DIRECTORIES", OsString::from_vec(quoted))
    }

    /// Takes attributes from this tree instead of the files around: a file that an agent wrote must not
    /// choose a filter or a merge driver.
    pub(crate) fn attributes_from(mut self, tree: &str) -> Self {
        self.before.push(format!("--attr-source={tree}").into());
        self
    }

    pub(crate) fn committer(self, who: &Identity, when: Option<Time>) -> Self {
        let call = self
            .env("GIT_COMMITTER_NAME", &who.name)
            .env("GIT_COMMITTER_EMAIL", &who.email);
        match when {
            Some(time) => call.env("GIT_COMMITTER_DATE", time.as_git()),
            None => call,
        }
    }

    pub(crate) fn author(self, who: &Identity, when: Time) -> Self {
        self.env("GIT_AUTHOR_NAME", &who.name)
            .env("GIT_AUTHOR_EMAIL", &who.email)
            .env("GIT_AUTHOR_DATE", when.as_git())
    }

    /// Reads the user's settings, for calls about the user's checkout.
    pub(crate) fn users_settings(mut self) -> Self {
        self.settings = Settings::Users;
        let is_raw = |pair: &str| RAW_PINS.contains(&pair) || FILE_PINS.contains(&pair);
        self.config.retain(|pair| !is_raw(pair));
        self
    }

    /// Takes these of the user's settings, for calls about files that are not in the user's checkout. Filters
    /// are run in `checkout`, which is the user's.
    pub(crate) fn file_settings(mut self, pairs: Vec<(String, String)>, checkout: &Path) -> Self {
        self.settings = Settings::Files;
        self.config.retain(|pair| !FILE_PINS.contains(&pair.as_str()));
        self.file_settings = pairs;
        self.env(CHECKOUT, checkout)
    }

    /// Talks to a remote as the user's git does, with the user's credentials, and never asks anybody. Only for
    /// calls on the user's own repository: the settings of a repository that an agent can write would choose
    /// the programs that get the credentials.
    pub(crate) fn to_remote(mut self) -> Self {
        self.settings = Settings::Remote;
        self.config
            .retain(|pair| !NOT_TO_REMOTES.contains(&pair.as_str()));
        self.config
            .extend(REMOTE_PINS.iter().map(|pin| (*pin).to_owned()));
        self
    }

    /// Lets git *find* a bare repository. Only the search for a repository needs that, to tell a bare one
    /// from none.
    pub(crate) fn may_find_bare(mut self) -> Self {
        self.config
            .retain(|pair| !pair.starts_with("safe.bareRepository"));
        self
    }

    pub(crate) fn lock(mut self, lock: Option<&Arc<File>>) -> Self {
        self.lock = lock.cloned();
        self
    }

    pub(crate) fn input(mut self, bytes: &[u8]) -> Result<Self> {
        let failed = |source: std::io::Error| Error::Spawn {
            command: self.subcommand.to_owned(),
            source,
        };
        let fd = rustix::fs::memfd_create("crew-git-input", rustix::fs::MemfdFlags::CLOEXEC)
            .map_err(|errno| failed(errno.into()))?;
        let mut file = File::from(fd);
        file.write_all(bytes)
            .and_then(|()| file.seek(SeekFrom::Start(0)))
            .map_err(failed)?;
        self.input = Input::File(file);
        Ok(self)
    }

    /// Gives `file`, from its present position on, as standard input.
    pub(crate) fn input_file(mut self, file: File) -> Self {
        self.input = Input::File(file);
        self
    }

    /// Makes the repository's lock the call's standard output, for a call that takes input, changes refs and
    /// prints nothing: so it keeps the lock as every other call does.
    pub(crate) fn silent(mut self) -> Self {
        self.silent = true;
        self
    }

    pub(crate) fn deadline(mut self, deadline: Duration) -> Self {
        self.deadline = deadline;
        self
    }

    pub(crate) fn output_limit(mut self, bytes: u64) -> Self {
        self.limit = bytes;
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn no_setting_is_pinned_twice() {
        let names: Vec<&str> = [PINS, RAW_PINS, FILE_PINS, REMOTE_PINS]
            .into_iter()
            .flatten()
            .map(|pin| pin.split_once('=').unwrap().0)
            .collect();
        assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    }
}
