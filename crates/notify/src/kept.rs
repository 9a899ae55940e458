//! Kept: what a notifier has told and what it still has to, on the disk. It is written before and after each
//! run of a program, so that a notifier that is killed tells a message again rather than never.

use std::collections::BTreeMap;
use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::{Path, PathBuf};

use client::error::Doing as _;
use client::notifications::{FailingProgram, Health};
use serde::{Deserialize, Serialize};

use crate::message::Message;
use crate::settings::Settings;

/// The version of the file: another one is begun anew, and what waits is told again.
const VERSION: u32 = 1;
const FILE: &str = "told.json";

/// All of it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Kept {
    version: u32,
    /// By the key of each way of telling.
    pub(crate) to: BTreeMap<String, Way>,
}

/// What one way of telling was told, and has to be.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct Way {
    /// The items that were told and still wait, by their ids.
    pub(crate) told: BTreeMap<String, Told>,
    /// The messages that are not delivered yet, the next one first.
    pub(crate) waiting: Vec<Outgoing>,
    /// The failure of the program since it worked last.
    pub(crate) failed: Option<Failed>,
    /// The time of the last message about each ticket, in milliseconds since the epoch; only of late.
    pub(crate) last: BTreeMap<String, i64>,
    /// The time of the last digest.
    pub(crate) digest: Option<i64>,
}

/// An item that was told.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Told {
    /// The id of the message that told of it.
    pub(crate) message: String,
    pub(crate) kind: String,
    pub(crate) urgency: String,
    pub(crate) ticket: Option<String>,
    /// The message's title and link.
    pub(crate) title: String,
    pub(crate) url: String,
    /// Whether it is told too that it is settled: not where nobody has got the message, or it was a digest.
    pub(crate) tells_end: bool,
}

/// A message that is not delivered yet.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Outgoing {
    pub(crate) message: Message,
    /// The ids of the items that it tells of.
    pub(crate) items: Vec<String>,
    /// The time at which it came, in milliseconds since the epoch.
    pub(crate) since: i64,
    /// The program runs with it now.
    pub(crate) begun: bool,
    /// An earlier notifier was killed while the program ran with it: a person may have got it.
    pub(crate) unsure: bool,
    pub(crate) is_digest: bool,
}

/// A program that fails.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Failed {
    /// The first failure, in milliseconds since the epoch.
    pub(crate) since: i64,
    pub(crate) tries: u32,
    pub(crate) why: String,
    /// The time of the next try.
    pub(crate) next: i64,
}

impl Outgoing {
    /// What is noted once it is delivered, or given up.
    pub(crate) fn told(&self, tells_end: bool) -> Told {
        Told {
            message: self.message.id.clone(),
            kind: self.message.kind.clone(),
            urgency: self.message.urgency.clone(),
            ticket: self.message.ticket.clone(),
            title: self.message.title.clone(),
            url: self.message.url.clone(),
            tells_end: tells_end && !self.is_digest,
        }
    }
}

impl Kept {
    /// What a folder has; nothing where there is none, or it cannot be read as such.
    pub(crate) fn load(folder: &Path) -> Self {
        let text = std::fs::read_to_string(folder.join(FILE)).unwrap_or_default();
        let kept: Option<Self> = serde_json::from_str(&text).ok();
        let mut kept = kept.filter(|kept| kept.version == VERSION).unwrap_or(Self {
            version: VERSION,
            to: BTreeMap::new(),
        });
        for outgoing in kept.to.values_mut().flat_map(|way| &mut way.waiting) {
            outgoing.unsure |= std::mem::take(&mut outgoing.begun);
        }
        kept
    }

    /// Writes it, whole or not at all.
    ///
    /// # Errors
    /// It cannot be written.
    pub(crate) fn save(&self, folder: &Path) -> client::Result<()> {
        write(folder, &folder.join(FILE), self)
    }

    /// The programs that fail.
    pub(crate) fn failing(&self, settings: &Settings) -> Vec<FailingProgram> {
        let ways = settings
            .to
            .iter()
            .filter_map(|to| Some((to, self.to.get(&to.key)?)));
        let failing = ways.filter_map(|(to, way)| {
            let failed = way.failed.as_ref()?;
            Some(FailingProgram {
                program: to.program().to_owned(),
                why: failed.why.clone(),
                since_ms: failed.since,
                tries: failed.tries,
                waiting: way.waiting.len(),
            })
        });
        failing.collect()
    }
}

/// Writes the health of a notifier; none where it is well.
///
/// # Errors
/// It cannot be written.
pub(crate) fn write_health(folder: &Path, health: &Health) -> client::Result<()> {
    let file = Health::file(folder);
    if *health != Health::default() {
        return write(folder, &file, health);
    }
    match std::fs::remove_file(&file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error).doing("remove", &file),
        Ok(()) | Err(_) => Ok(()),
    }
}

fn write(folder: &Path, file: &Path, what: &impl Serialize) -> client::Result<()> {
    let part: PathBuf = file.with_extension("part");
    let json = serde_json::to_vec(what).map_err(io::Error::other);
    let written = json.and_then(|json| {
        let mut options = OpenOptions::new();
        let mut to = options
            .create(true)
            .write(true)
            .truncate(true)
            .mode(0o600)
            .open(&part)?;
        to.write_all(&json)?;
        to.sync_all()?;
        std::fs::rename(&part, file)?;
        File::open(folder)?.sync_all()
    });
    written.doing("write", file)
}
