//! Kept work: what an attempt left that no branch holds, and the place at which a person finds it.

use serde::{Deserialize, Serialize};

/// Work of an attempt that no branch holds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptWork {
    /// The last commit of an attempt that ended without landing: the next attempt goes on with it.
    Attempt {
        /// The ref that keeps it.
        reference: String,
    },
    /// The workspace as the attempt left it: commits that crew did not take over, and files that were not
    /// committed.
    Workspace {
        /// The ref that keeps it.
        reference: String,
    },
    /// A repository or a worktree inside the workspace.
    Nested {
        /// Its folder in the workspace, fit to be shown.
        folder: String,
        /// The ref that keeps it.
        reference: String,
    },
    /// The folder of the workspace itself, set aside because git cannot keep all of it.
    Folder {
        /// The folder, fit to be shown.
        path: String,
    },
}

impl KeptWork {
    /// The ref or the folder.
    #[must_use]
    pub fn place(&self) -> &str {
        match self {
            Self::Attempt { reference } | Self::Workspace { reference } | Self::Nested { reference, .. } => {
                reference
            }
            Self::Folder { path } => path,
        }
    }

    /// Whether it is an attempt's last commit.
    #[must_use]
    pub fn is_attempt(&self) -> bool {
        match self {
            Self::Attempt { .. } => true,
            Self::Workspace { .. } | Self::Nested { .. } | Self::Folder { .. } => false,
        }
    }

    /// A command that shows the work.
    #[must_use]
    pub fn command(&self) -> String {
        match self {
            Self::Attempt { reference } | Self::Workspace { reference } => {
                format!("git log {reference} --not --branches")
            }
            Self::Nested { reference, .. } => format!("git log {reference}"),
            Self::Folder { path } => format!("git -C {path} status"),
        }
    }

    /// The work and its place, as a sentence without a full stop.
    #[must_use]
    pub fn words(&self) -> String {
        let command = self.command();
        match self {
            Self::Attempt { reference } => {
                format!(
                    "the work of an attempt that did not land is kept as {reference}: `{command}` shows it"
                )
            }
            Self::Workspace { reference } => {
                format!("work that did not come into a branch is kept as {reference}: `{command}` shows it")
            }
            Self::Nested { folder, reference } => {
                format!("the repository {folder} of a workspace is kept as {reference}: `{command}` shows it")
            }
            Self::Folder { path } => format!(
                "a workspace is set aside as {path}, since git cannot keep all of it (`{command}`): take out what you \
                 need, then delete the folder"
            ),
        }
    }
}
