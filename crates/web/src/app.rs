//! The application: what every handler may use.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

use client::Place;
use client::submit::Submitter;
use serde::{Deserialize, Serialize};

use crate::asking::Asking;
use crate::board::Board;
use crate::edge::{Own, Peers};
use crate::pairing::Devices;
use crate::problem::Problem;

/// How the page is served.
#[derive(Clone, Debug)]
pub struct Options {
    /// The repository.
    pub place: Place,
    /// The name of the person, as the journal keeps it.
    pub person: String,
    /// The environment of an engine that runs for one command.
    pub env: BTreeMap<OsString, OsString>,
    /// The port that is listened on.
    pub port: u16,
    /// The folder of the paired devices, `$XDG_STATE_HOME/crew/web`.
    pub state_dir: PathBuf,
    /// The address of a proxy in front, where there is one.
    pub origin: Option<String>,
}

/// What every handler may use. A clone is the same application.
#[derive(Clone, Debug)]
pub struct App {
    /// The repositories that are shown.
    pub repos: Arc<[Repo]>,
    /// The name of the person, as the journal keeps it.
    pub person: Arc<str>,
    /// The environment of an engine that runs for one command.
    pub env: Arc<BTreeMap<OsString, OsString>>,
    /// The devices that are paired.
    pub devices: Devices,
    /// The addresses that are this server's own.
    pub(crate) own: Arc<Own>,
    /// Who has sent wrong tokens lately.
    pub(crate) peers: Peers,
}

/// A repository that is shown.
#[derive(Clone, Debug)]
pub struct Repo {
    /// Its name in addresses: that of its folder.
    pub id: String,
    /// Where it is.
    pub place: Place,
    /// What the page shows of it.
    pub board: Board,
    /// Submits commands in the name of the person; a device submits as [`App::submitter`].
    pub submitter: Submitter,
    /// The commands that devices have asked for lately.
    pub asking: Asking,
}

/// A device that is paired. A handler takes it as `Extension<Device>`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Device {
    /// Its id.
    pub id: String,
    /// Its name, as the person gave it.
    pub name: String,
    /// What it may do.
    pub scope: Scope,
}

/// What a device may do.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Look only.
    Look,
    /// Look and act.
    Act,
}

impl Scope {
    /// It as documents name it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Look => "look",
            Self::Act => "act",
        }
    }
}

impl App {
    /// Follows the repository of the options from now on. This needs a tokio runtime.
    ///
    /// # Errors
    /// The folder of the paired devices cannot be made, or read.
    pub fn start(options: Options) -> client::Result<Self> {
        let Options {
            place,
            person,
            env,
            port,
            state_dir,
            origin,
        } = options;
        let devices = Devices::follow(state_dir)?;
        let repo = Repo {
            id: id(&place),
            board: Board::start(place.clone()),
            submitter: Submitter::new(place.clone(), person.clone(), env.clone()),
            place,
            asking: Asking::default(),
        };
        Ok(Self {
            repos: Arc::from([repo]),
            person: person.into(),
            env: Arc::new(env),
            devices,
            own: Arc::new(Own::of(port, origin.as_deref())),
            peers: Peers::default(),
        })
    }

    /// The repository of an address.
    ///
    /// # Errors
    /// No such repository is shown here.
    pub fn repo(&self, id: &str) -> Result<&Repo, Problem> {
        self.repos.iter().find(|repo| repo.id == id).ok_or_else(|| {
            Problem::not_found(
                format!("no repository {} is shown here", text::quoted(id)),
                "the page of crew begins at /",
            )
        })
    }

    /// Submits commands of a device: the journal names the person and the device.
    #[must_use]
    pub fn submitter(&self, repo: &Repo, device: &Device) -> Submitter {
        let name = text::sanitise::line(&device.name);
        let by = format!("{} · {name}", self.person);
        Submitter::new(repo.place.clone(), by, self.env.as_ref().clone())
    }
}

/// The name of a repository's folder.
fn id(place: &Place) -> String {
    let name = place.root.file_name().unwrap_or_default().to_string_lossy();
    let name = text::sanitise::line(&name);
    if name.is_empty() {
        "repository".to_owned()
    } else {
        name
    }
}
