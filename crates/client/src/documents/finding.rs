//! The doctor's findings.

use schemars::JsonSchema;
use serde::Serialize;

/// The severity of a finding.
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

/// The areas that the doctor examines, in this order.
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
    /// The checks: the last verdict on the bare target.
    Checks,
    /// The queue's files.
    Tickets,
    /// The journal's file.
    Journal,
    /// The invariants between the journal, the repository and the processes.
    Invariants,
    /// Leftovers that nothing uses any more.
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
            Area::Checks => "checks",
            Area::Tickets => "tickets",
            Area::Journal => "journal",
            Area::Invariants => "invariants",
            Area::Leftovers => "leftovers",
        }
    }
}

/// The findings of the doctor.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Doctor {
    /// All findings, those of things that are as they should be too.
    pub findings: Vec<Finding>,
    /// The number of them that are wrong, and not mended; the command ends 1 when one is.
    pub wrong: usize,
    /// The number of them that are worth knowing, and not mended.
    pub notes: usize,
}

/// One thing that the doctor examined.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Finding {
    /// The area that it belongs to.
    pub area: Area,
    /// The severity of a finding.
    pub level: Level,
    /// The finding in one sentence; more lines give details.
    pub says: String,
    /// Advice for a person.
    pub hint: Option<String>,
    /// The act of `--fix` about it; `null` when it can do nothing.
    pub fix: Option<String>,
    /// `true` when that was done.
    pub fixed: bool,
}
