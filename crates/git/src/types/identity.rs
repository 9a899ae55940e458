//! The identity and the time in a commit.

use std::time::{Duration, SystemTime};

/// A name and an address as git writes them; characters that git's format cannot hold are left out.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Identity {
    /// Shown as the author; an empty one becomes `crew`.
    pub name: String,
    /// The address; an empty one becomes `crew@localhost`.
    pub email: String,
}

impl Identity {
    /// An identity from any text.
    #[must_use]
    pub fn new(name: &str, email: &str) -> Self {
        let clean = |text: &str, instead: &str| {
            let kept: String = text
                .chars()
                .filter(|c| !c.is_control() && !"<>\"\\".contains(*c))
                .take(200)
                .collect();
            let trimmed = kept.trim_matches(|c: char| c.is_whitespace() || ".,:;'".contains(c));
            if trimmed.is_empty() {
                instead.to_owned()
            } else {
                trimmed.to_owned()
            }
        };
        Self {
            name: clean(name, "crew"),
            email: clean(email, "crew@localhost"),
        }
    }

    /// The identity of crew itself, for reflogs.
    pub(crate) fn crew() -> Self {
        Self::new("crew", "crew@localhost")
    }
}

/// A moment in whole seconds since 1970, UTC.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Time(pub u64);

impl Time {
    pub(crate) fn as_git(self) -> String {
        format!("@{} +0000", self.0)
    }
}

impl From<SystemTime> for Time {
    fn from(time: SystemTime) -> Self {
        Self(
            time.duration_since(SystemTime::UNIX_EPOCH)
                .unwrap_or(Duration::ZERO)
                .as_secs(),
        )
    }
}
