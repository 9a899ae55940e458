//! What every command is given: the environment as values, where it was called, and where its output goes.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use model::settings::Settings;
use store::Ledger;

use crate::error::{Doing as _, Error, Result};
use crate::ui::Out;
use runtime::Place;

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
            None => current.doing("find", "the current folder")?,
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

    /// The repository that the command was called in.
    pub(crate) fn place(&self) -> Result<Place> {
        Ok(Place::find(&self.dir, &self.env)?)
    }

    /// The repository, once `crew init` was here. Settings that cannot be read now do not matter: an engine that runs
    /// keeps its last good ones, and must be seen and stopped.
    pub(crate) fn there(&self) -> Result<Place> {
        let place = self.place()?;
        match settings(&place) {
            Ok(_) | Err(Error::Settings { .. }) => Ok(place),
            Err(_) if place.journal.exists() => Ok(place),
            Err(error) => Err(error),
        }
    }

    /// The repository and its settings.
    pub(crate) fn ready(&self) -> Result<(Place, Settings)> {
        let place = self.place()?;
        let settings = settings(&place)?;
        Ok((place, settings))
    }

    /// Who asks: for the journal, where it stands for ever.
    pub(crate) fn person(&self) -> String {
        let name = ["USER", "LOGNAME"].into_iter().find_map(|name| self.var(name));
        let name = harness::sanitise::line(name.unwrap_or_default());
        if name.is_empty() {
            "a person".to_owned()
        } else {
            name
        }
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

/// The settings.
pub(crate) fn settings(place: &Place) -> Result<Settings> {
    place.settings().map_err(|error| lift(place, error))
}

/// The runtime's error, with the settings' diagnostics kept apart: they are shown with their lines.
pub(crate) fn lift(place: &Place, error: runtime::Error) -> Error {
    match error {
        runtime::Error::Settings(diagnostics) => Error::Settings {
            file: place.settings_path.clone(),
            diagnostics,
        },
        other => Error::Runtime(other),
    }
}

/// The error, with who it is that keeps the journal locked where nobody else would find out: an engine that a signal has
/// stopped as it wrote.
pub(crate) fn locked_by(place: &Place, error: Error) -> Error {
    match error {
        Error::Store(store::Error::Busy) | Error::Runtime(runtime::Error::Store(store::Error::Busy)) => {}
        other => return other,
    }
    let holder = place.holder().ok().flatten();
    match holder.and_then(|holder| Some((runtime::stopped(&holder)?, holder.to_string()))) {
        Some((pid, holder)) => Error::Stopped { holder, pid },
        None => error,
    }
}

/// The journal to read; none before anything was ever asked or run here.
pub(crate) async fn journal(place: &Place) -> Result<Option<Ledger>> {
    match place.read_journal().await {
        Ok(ledger) => Ok(Some(ledger)),
        Err(runtime::Error::Store(store::Error::Missing { .. })) => Ok(None),
        Err(error) => Err(error.into()),
    }
}
