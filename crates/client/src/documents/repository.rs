//! The changes that crew made in a repository, and those that it removed again.

use model::Oid;
use model::settings::Runner;
use schemars::JsonSchema;
use serde::Serialize;

/// The settings that a repository was made ready with.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Init {
    /// The file that was written.
    pub settings: String,
    /// The branch that work lands on.
    pub target: String,
    /// The test runner that was seen.
    pub runner: Option<Runner>,
    /// The file that gave it away.
    pub seen_in: Option<String>,
    /// The other test runners that were seen: `crew.toml` has a comment for each.
    pub also_seen: Vec<Runner>,
    /// The programs that the commands need and that are not installed here.
    pub missing: Vec<String>,
    /// The commands that set up a checkout for checks.
    pub setup: Vec<String>,
    /// The commands that must pass before work lands.
    pub checks: Vec<String>,
    /// `false` when there are no checks, so that nothing guards the target.
    pub guarded: bool,
    /// The harness that agents run on; `null` when none was found.
    pub harness: Option<String>,
}

/// The remains after crew has removed everything of its own.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Clean {
    /// Always `true`: a clean that cannot be done is an error.
    pub cleaned: bool,
    /// Commits that no branch has.
    pub kept: Vec<Kept>,
    /// Folders that stay as they are, since something in them cannot be saved by git.
    pub kept_folders: Vec<String>,
    /// Branches that stay although they have the name of an agent's: they are not crew's, or a checkout shows
    /// them.
    pub kept_branches: Vec<String>,
    /// Checkouts of reviews that were removed, by gatekeeper and ticket: `gate-1-t-1`. Nothing in such a
    /// checkout is work.
    pub removed_reviews: Vec<String>,
}

/// The outputs that were removed, and the commits that are kept for as long.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub struct Removed {
    /// Folders of steps.
    pub steps: usize,
    /// Folders of checks.
    pub checks: usize,
    /// The bytes that were freed.
    pub freed_bytes: u64,
    /// Kept commits of long closed tickets that are kept no longer.
    pub forgotten: Vec<Kept>,
    /// Kept commits that `--yes` would forget.
    pub old: Vec<Kept>,
}

/// The set-up of checks, of which crew forgot that it was made.
#[derive(Debug, Serialize, JsonSchema)]
pub struct ForgotSetUp {
    /// Whether there was one. Without one, the next check runs the set-up in any case.
    pub was_kept: bool,
}

/// A commit that is kept.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Kept {
    /// The ref that keeps it.
    #[serde(rename = "ref")]
    pub name: String,
    /// The commit.
    pub commit: Oid,
}

impl Kept {
    /// A commit that git keeps; none if its id is not in a form that crew knows.
    pub fn of(kept: git::Kept) -> Option<Self> {
        Some(Self {
            commit: Oid::new(kept.commit.as_str()).ok()?,
            name: kept.name,
        })
    }

    /// The beginning of the commit's id, and the ref, in one line.
    #[must_use]
    pub fn line(&self) -> String {
        const SHORT: usize = 10;
        let short: String = self.commit.as_str().chars().take(SHORT).collect();
        format!("{short}  {}", self.name)
    }
}
