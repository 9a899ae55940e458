//! What looks like a secret in work that would land.

use serde::{Deserialize, Serialize};

use crate::Oid;

/// What looks like a secret. The value itself is never here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Secret {
    /// A value in a file.
    Value {
        /// The file, relative to the repository's root.
        path: String,
        /// The line in which it begins, from 1.
        line: u32,
        /// The rule that found it, by gitleaks' name.
        rule: String,
        /// The value, masked: a few characters of its beginning at most.
        masked: String,
        /// The commit that has it, where the branch has taken it away again: it would stay in the target's
        /// history.
        taken_away: Option<Oid>,
    },
    /// A file whose name is that of one with secrets.
    File {
        /// The file, relative to the repository's root.
        path: String,
        /// As of a value.
        taken_away: Option<Oid>,
    },
    /// A value in the message of a commit that would land.
    Message {
        /// The commit.
        commit: Oid,
        /// The rule that found it, by gitleaks' name.
        rule: String,
        /// The value, masked: a few characters of its beginning at most.
        masked: String,
    },
}

impl Secret {
    /// The place and the kind, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let (what, taken_away) = match self {
            Self::Value {
                path,
                line,
                rule,
                masked,
                taken_away,
            } => (format!("{path}:{line} ({rule}: {masked})"), taken_away),
            Self::File { path, taken_away } => {
                let what = format!("{path} (its name is that of a file with secrets)");
                (what, taken_away)
            }
            Self::Message { commit, rule, masked } => {
                let commit = commit.short();
                return format!("the message of commit {commit} ({rule}: {masked})");
            }
        };
        match taken_away {
            Some(commit) => {
                let commit = commit.short();
                format!("{what}, taken away again, but it stays in commit {commit}")
            }
            None => what,
        }
    }
}

/// The number of secrets that are named.
const NAMED: usize = 5;

/// What a person must approve of a change, in words: what looks like secrets, and paths.
#[must_use]
pub fn sensitive_words(secrets: &[Secret], paths: &[String]) -> String {
    let named: Vec<String> = secrets.iter().take(NAMED).map(Secret::words).collect();
    let more = match secrets.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let touches = format!("it touches {}", paths.join(", "));
    match (named.is_empty(), paths.is_empty()) {
        (true, _) => touches,
        (false, true) => format!(
            "it would land what looks like secrets: {}{more}",
            named.join(", ")
        ),
        (false, false) => format!(
            "it would land what looks like secrets: {}{more}; {touches}",
            named.join(", ")
        ),
    }
}

/// All places of what looks like secrets, and what to do about them, for the agent whose work goes back.
pub(crate) fn for_its_agent(secrets: &[Secret]) -> String {
    let places: Vec<String> = secrets
        .iter()
        .map(|secret| format!("* {}", secret.words()))
        .collect();
    format!(
        "What looks like secrets in it:\n\n{}\n\nAll commits of the branch would land. A further commit takes none of \
         this out of them: rewrite them, for example with `git reset --soft` to the commit that you began from and a \
         new commit without it.",
        places.join("\n")
    )
}
