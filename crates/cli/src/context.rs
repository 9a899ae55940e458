//! The context of every command: the environment as values, the folder of the call, and the place of its
//! output.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use crate::error::{Error, Result};
use crate::ui::Out;
use client::error::Doing as _;
use client::repository::settings;
use client::submit::Submitter;
use model::Actor;
use model::settings::Settings;
use runtime::{CHECK_MARK, HOOK_MARK, Place, SET_UP_MARK};

/// A command's surroundings.
#[derive(Debug)]
pub(crate) struct Context {
    /// The environment, as it is.
    pub(crate) whole_env: BTreeMap<OsString, OsString>,
    /// The environment, as far as it is text.
    pub(crate) env: BTreeMap<String, String>,
    /// Where the command was called, or what `-C` says (absolute).
    pub(crate) dir: PathBuf,
    /// Whether one JSON document is asked for.
    pub(crate) json: bool,
    /// Standard output.
    pub(crate) out: Out,
}

/// A program that crew has started, and that may run code which no person wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Program {
    /// An agent's.
    Agent,
    /// The set-up of a workspace.
    SetUp,
    /// A check, or the set-up of one.
    Check,
}

impl Context {
    /// Reads the process's surroundings. `dir`: another folder to work in, relative to the current one.
    pub(crate) fn read(dir: Option<&Path>, json: bool) -> Result<Self> {
        let whole_env: BTreeMap<OsString, OsString> = std::env::vars_os().collect();
        let env: BTreeMap<String, String> = whole_env
            .iter()
            .filter_map(|(key, value)| Some((key.to_str()?.to_owned(), value.to_str()?.to_owned())))
            .collect();
        #[expect(
            clippy::disallowed_methods,
            reason = "a frontend: it tells the rest where it was called"
        )]
        let current = std::env::current_dir();
        let dir = match dir {
            Some(dir) => {
                let dir = current.unwrap_or_default().join(dir);
                if !dir.is_dir() {
                    return Err(Error::usage(
                        format!("{} is not a folder", dir.display()),
                        "-C takes a folder",
                    ));
                }
                dir.canonicalize().doing("find", dir)?
            }
            // An agent's program may have removed the folder that it stands in; its run has one of its own.
            None => match (current, whole_env.get(OsStr::new(process::CALLS_DIR))) {
                (Err(_), Some(run)) if Path::new(run).is_absolute() => PathBuf::from(run),
                (current, _) => current.doing("find", "the current folder")?,
            },
        };
        let out = Out::new(&env);
        Ok(Self {
            whole_env,
            env,
            dir,
            json,
            out,
        })
    }

    /// A variable that is set and not empty.
    pub(crate) fn var(&self, name: &str) -> Option<&str> {
        self.env
            .get(name)
            .map(String::as_str)
            .filter(|value| !value.is_empty())
    }

    /// Whether an agent of crew runs this, or the set-up of its workspace.
    pub(crate) fn is_agents(&self) -> bool {
        self.whole_env.contains_key(OsStr::new("CREW_WORKER"))
    }

    /// The hook in whose program this runs, by its key in the settings.
    pub(crate) fn hook(&self) -> Option<String> {
        let value = self.whole_env.get(OsStr::new(HOOK_MARK))?;
        Some(text::sanitise::line(&value.to_string_lossy()))
    }

    /// The program of crew's that runs this and speaks for no person; none where a person does.
    pub(crate) fn program(&self) -> Option<Program> {
        let is_set = |name: &str| self.whole_env.contains_key(OsStr::new(name));
        if is_set(CHECK_MARK) {
            Some(Program::Check)
        } else if is_set(SET_UP_MARK) {
            Some(Program::SetUp)
        } else {
            self.is_agents().then_some(Program::Agent)
        }
    }

    /// The repository that the command was called in.
    pub(crate) fn place(&self) -> client::Result<Place> {
        Ok(Place::find(&self.dir, &self.env)?)
    }

    /// The repository, once `crew init` was here. Settings that cannot be read now do not matter: an engine
    /// that runs keeps its last good ones, and a person must be able to see and stop it.
    pub(crate) fn there(&self) -> Result<Place> {
        let place = self.place()?;
        match settings(&place) {
            Ok(_) | Err(client::Error::Settings { .. }) => Ok(place),
            Err(_) if place.journal.exists() => Ok(place),
            Err(error) => Err(error.into()),
        }
    }

    /// The repository and its settings.
    pub(crate) fn ready(&self) -> Result<(Place, Settings)> {
        let place = self.place()?;
        let settings = settings(&place)?;
        Ok((place, settings))
    }

    /// The name of the person who asks, or the hook that does: for the journal, where it stands for ever.
    pub(crate) fn person(&self) -> String {
        if let Some(hook) = self.hook() {
            return Actor::Hook { key: hook }.to_string();
        }
        let name = ["USER", "LOGNAME"].into_iter().find_map(|name| self.var(name));
        let name = text::sanitise::line(name.unwrap_or_default());
        if name.is_empty() {
            "a person".to_owned()
        } else {
            name
        }
    }

    /// Submits commands to this repository's engine in the name of the person who asks.
    pub(crate) fn submitter(&self, place: Place) -> Submitter {
        Submitter::new(place, self.person(), self.whole_env.clone())
    }

    /// Whether a live screen can be drawn.
    pub(crate) fn is_live(&self) -> bool {
        self.out.terminal.is && !self.json
    }

    /// How the engine is started from here, when nothing is asked in particular.
    pub(crate) fn options(&self) -> runtime::Options {
        runtime::Options {
            env: self.whole_env.clone(),
            ..runtime::Options::default()
        }
    }
}
