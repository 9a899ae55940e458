//! Versions of git, and the oldest that crew can use.

use std::fmt;

/// A version of git; parts that are not there are zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version {
    /// The 2 of 2.41.1.
    pub major: u32,
    /// The 41 of 2.41.1.
    pub minor: u32,
    /// The 1 of 2.41.1.
    pub patch: u32,
}

impl Version {
    /// 2.41 brought `--attr-source`, without which attributes in an agent's tree choose how crew merges. The
    /// other options are older (`merge-tree --write-tree` 2.38, `safe.bareRepository` 2.38, `core.fsync`
    /// 2.36).
    pub const MINIMUM: Self = Self {
        major: 2,
        minor: 41,
        patch: 0,
    };

    /// Reads the answer of `git version`: `git version 2.47.3`, `git version 2.39.5 (Apple Git-154)`, `…
    /// 2.48.0-rc1`.
    pub(crate) fn parse(output: &str) -> Option<Self> {
        let numbers = output.trim().strip_prefix("git version ")?;
        let mut parts = numbers
            .split(|c: char| !c.is_ascii_digit())
            .map(str::parse::<u32>);
        Some(Self {
            major: parts.next()?.ok()?,
            minor: parts.next()?.ok()?,
            patch: parts.next().and_then(Result::ok).unwrap_or(0),
        })
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}.{}", self.major, self.minor, self.patch)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_of_several_builds_are_read() {
        let of = |text| Version::parse(text).map(|version| version.to_string());
        assert_eq!(of("git version 2.47.3\n").as_deref(), Some("2.47.3"));
        assert_eq!(
            of("git version 2.39.5 (Apple Git-154)").as_deref(),
            Some("2.39.5")
        );
        assert_eq!(of("git version 2.48.0-rc1").as_deref(), Some("2.48.0"));
        assert_eq!(of("git version 2.41.GIT").as_deref(), Some("2.41.0"));
        assert_eq!(of("hub version 1"), None);
        assert!(Version::parse("git version 2.40.9").unwrap() < Version::MINIMUM);
        assert!(Version::parse("git version 3.0").unwrap() > Version::MINIMUM);
    }
}
