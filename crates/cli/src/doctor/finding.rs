//! What the doctor says: one sentence about one thing, and what to do.

use schemars::JsonSchema;
use serde::Serialize;

use super::fix::Fix;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Level {
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
pub(crate) enum Area {
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
    pub(crate) fn name(self) -> &'static str {
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

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finding {
    /// Where.
    pub(crate) area: Area,
    /// How bad it is.
    pub(crate) level: Level,
    /// What, in one sentence; more lines say more.
    pub(crate) says: String,
    /// What to do about it.
    pub(crate) hint: Option<String>,
    /// What `--fix` does about it.
    pub(crate) fix: Option<Fix>,
    /// Whether that was done.
    pub(crate) fixed: bool,
}

impl Finding {
    /// As it should be.
    pub(crate) fn fine(area: Area, says: impl Into<String>) -> Self {
        Self::new(area, Level::Fine, says.into(), None)
    }

    /// Worth knowing.
    pub(crate) fn note(area: Area, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Level::Note, says.into(), Some(hint.into()))
    }

    /// Not as it should be.
    pub(crate) fn wrong(area: Area, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Level::Wrong, says.into(), Some(hint.into()))
    }

    /// Not as it should be, by an error that has its own hint.
    pub(crate) fn error(area: Area, error: &crate::error::Error) -> Self {
        Self::new(area, Level::Wrong, text::with_causes(error), error.hint())
    }

    /// `--fix` can mend it.
    pub(crate) fn mended_by(self, fix: Fix) -> Self {
        Self {
            fix: Some(fix),
            ..self
        }
    }

    fn new(area: Area, level: Level, says: String, hint: Option<String>) -> Self {
        Self {
            area,
            level,
            says,
            hint,
            fix: None,
            fixed: false,
        }
    }
}

/// So many of a kind are told one by one.
pub(super) const MOST: usize = 5;

/// The first of many of a kind, and how many more there are: a journal with one break has many.
pub(super) fn few(mut says: Vec<String>) -> Vec<String> {
    let more = says.len().saturating_sub(MOST);
    says.truncate(MOST);
    if more > 0
        && let Some(last) = says.last_mut()
    {
        last.push_str(&format!(" (and {more} more of the kind)"));
    }
    says
}
