//! What the doctor found.

use schemars::JsonSchema;
use serde::Serialize;

use crate::doctor::{self, Area, Level};

/// What the doctor found.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Doctor {
    /// Everything it looked at, what is as it should be too.
    pub(crate) findings: Vec<Finding>,
    /// How many of them are wrong, and not mended; the command ends 1 when one is.
    pub(crate) wrong: usize,
    /// How many of them are worth knowing, and not mended.
    pub(crate) notes: usize,
}

/// One thing that the doctor looked at.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Finding {
    /// What it belongs to.
    area: Area,
    /// How bad it is.
    level: Level,
    /// What was found, in one sentence; more lines say more.
    says: String,
    /// What to do about it.
    hint: Option<String>,
    /// What `--fix` does about it; `null` when it can do nothing.
    fix: Option<String>,
    /// Whether that was done.
    fixed: bool,
}

impl Finding {
    /// Of the doctor's.
    pub(crate) fn of(finding: &doctor::Finding) -> Self {
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
