//! The doctor's findings.

use schemars::JsonSchema;
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Level {
    /// As it should be.
    Fine,
    /// Worth knowing; nothing fails for it.
    Note,
    /// Something does not work, or is not what it should be.
    Wrong,
}

/// What the doctor looks at, in this order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Area {
    /// git itself.
    Git,
    /// The user's repository.
    Repository,
    /// `crew.toml`.
    Settings,
    /// The agents' clients.
    Harness,
    /// The queue's files.
    Tickets,
    /// The journal's file.
    Journal,
    /// What must hold between the journal, the repository and the processes.
    Invariants,
    /// What nothing uses any more.
    Leftovers,
}

impl Area {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Area::Git => "git",
            Area::Repository => "repository",
            Area::Settings => "settings",
            Area::Harness => "harness",
            Area::Tickets => "tickets",
            Area::Journal => "journal",
            Area::Invariants => "invariants",
            Area::Leftovers => "leftovers",
        }
    }
}

/// What the doctor found.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doctor {
    /// Everything it looked at, what is as it should be too.
    pub findings: Vec<Finding>,
    /// How many of them are wrong, and not mended; the command ends 1 when one is.
    pub wrong: usize,
    /// How many of them are worth knowing, and not mended.
    pub notes: usize,
}

/// One thing that the doctor looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// What it belongs to.
    pub area: Area,
    /// How bad it is.
    pub level: Level,
    /// What was found, in one sentence; more lines say more.
    pub says: String,
    /// What to do about it.
    pub hint: Option<String>,
    /// What `--fix` does about it; `null` when it can do nothing.
    pub fix: Option<String>,
    /// Whether that was done.
    pub fixed: bool,
}
