//! What looks like a secret in work that would land.

use serde::{Deserialize, Serialize};

use crate::Oid;

/// A value, or a file, that looks like a secret. The value itself is never here.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Secret {
    /// The file, relative to the repository's root.
    pub path: String,
    /// The line, from 1, and the value; none where it is the file's name that says it.
    pub value: Option<SecretValue>,
    /// The commit that has it, where the branch has taken it away again: it would stay in the target's
    /// history.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub taken_away: Option<Oid>,
}

/// A value that looks like a secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SecretValue {
    /// The line in which it begins, from 1.
    pub line: u32,
    /// The rule that found it, by gitleaks' name.
    pub rule: String,
    /// The value, masked: a few characters of its beginning at most.
    pub masked: String,
}

impl Secret {
    /// The place and the kind, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let path = &self.path;
        let what = match &self.value {
            Some(SecretValue { line, rule, masked }) => format!("{path}:{line} ({rule}: {masked})"),
            None => format!("{path} (its name is that of a file with secrets)"),
        };
        match &self.taken_away {
            Some(commit) => {
                format!(
                    "{what}, taken away again, but it stays in commit {}",
                    commit.short()
                )
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
