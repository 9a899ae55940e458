//! The doctor's findings: one sentence about one thing, and the remedy.

use client::documents::{Area, Level};

use crate::fix::Fix;

/// Something that was found.
#[derive(Clone, Debug, PartialEq)]
pub struct Finding {
    /// The part of the examination that it belongs to.
    pub area: Area,
    /// Its severity.
    pub level: Level,
    /// The fault or fact in one sentence; more lines give details.
    pub says: String,
    /// The remedy.
    pub hint: Option<String>,
    /// The act of `--fix`.
    pub fix: Option<Fix>,
    /// The fix was carried out.
    pub fixed: bool,
}

impl From<&Finding> for client::documents::Finding {
    fn from(finding: &Finding) -> Self {
        Self {
            area: finding.area,
            level: finding.level,
            says: finding.says.clone(),
            hint: finding.hint.clone(),
            fix: finding.fix.as_ref().map(ToString::to_string),
            fixed: finding.fixed,
        }
    }
}

impl Finding {
    /// As it should be.
    pub(crate) fn fine(area: Area, says: impl Into<String>) -> Self {
        Self::new(area, Level::Fine, says.into(), None)
    }

    /// A finding that is worth knowing.
    pub(crate) fn note(area: Area, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Level::Note, says.into(), Some(hint.into()))
    }

    /// Not as it should be.
    pub(crate) fn wrong(area: Area, says: impl Into<String>, hint: impl Into<String>) -> Self {
        Self::new(area, Level::Wrong, says.into(), Some(hint.into()))
    }

    /// Not as it should be, by an error that has its own hint.
    pub(crate) fn error(area: Area, error: &client::Error) -> Self {
        Self::new(area, Level::Wrong, text::with_causes(error), error.hint())
    }

    /// A fault of crew's own.
    pub(crate) fn bug(area: Area, says: String) -> Self {
        let hint =
            "this is a fault of crew's: report it to its makers, with the output of `crew events --json`";
        Self::wrong(area, says, hint)
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

/// The most findings of a kind that are listed one by one.
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
