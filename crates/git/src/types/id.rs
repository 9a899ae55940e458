//! Ids and branch names: text that may become part of a ref or a path.

use std::fmt;
use std::str::FromStr;

use crate::types::invalid::Invalid;
use crate::types::shortened::shortened;

/// An agent's or ticket's id: letters, digits, `.`, `_`, `-`; at most 100 bytes; no leading dash or dot, no
/// `..`, not ending in `.` or `.lock` (git's own rules for refs).
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Id(String);

impl Id {
    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl FromStr for Id {
    type Err = Invalid;

    /// Checks the id.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let why = if text.is_empty() {
            "it is empty"
        } else if text.len() > 100 {
            "it is longer than 100 bytes"
        } else if !text
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"._-".contains(&byte))
        {
            "only letters, digits, `.`, `_` and `-` are allowed"
        } else if text.starts_with(['-', '.']) {
            "it begins with a dash or a dot"
        } else if text.contains("..") {
            "it contains `..`"
        } else if text.ends_with('.') || text.to_ascii_lowercase().ends_with(".lock") {
            "it ends in `.` or `.lock`"
        } else {
            return Ok(Self(text.to_owned()));
        };
        Err(Invalid::Id {
            id: shortened(text, 80),
            why,
        })
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A branch of the user, by its short name (`main`, `feature/x`), checked by the rules of `git
/// check-ref-format` and stricter ones: no leading dash in any part, never `HEAD` or `@`, no invisible
/// characters.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Branch(String);

impl Branch {
    /// The short name, `main`.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0
    }

    /// The full ref name, `refs/heads/main`.
    #[must_use]
    pub fn full(&self) -> String {
        format!("refs/heads/{}", self.0)
    }

    /// The branch of an agent's work on a ticket: `agent/<agent>-<ticket>`.
    #[must_use]
    pub fn of_agent(agent: &Id, ticket: &Id) -> Self {
        Self(format!("agent/{agent}-{ticket}"))
    }
}

impl FromStr for Branch {
    type Err = Invalid;

    /// Checks the short name; a leading `refs/heads/` is taken off.
    fn from_str(name: &str) -> Result<Self, Invalid> {
        let short = name.strip_prefix("refs/heads/").unwrap_or(name);
        let sound = |part: &str| {
            !part.is_empty()
                && !part.starts_with(['.', '-'])
                && !part.ends_with(".lock")
                && !part.ends_with('.')
        };
        let forbidden = |c: char| c.is_whitespace() || text::hides(c) || "~^:?*[\\".contains(c);
        let good = short.len() <= 200
            && short.split('/').all(sound)
            && !short.contains("..")
            && !short.contains("@{")
            && !short.contains(forbidden)
            && !matches!(short, "HEAD" | "@")
            && !short.starts_with("refs/");
        if good {
            Ok(Self(short.to_owned()))
        } else {
            Err(Invalid::Branch {
                name: shortened(name, 80),
            })
        }
    }
}

impl fmt::Display for Branch {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A naive version accepts the names that `git check-ref-format` accepts, which are all of the first
    /// line.
    #[test]
    fn hostile_names_are_refused() {
        let hostile = [
            "-x",
            "--upload-pack=x",
            "a`id`",
            "a$(id)",
            "a;id",
            "a|b",
            "a'b",
            "refs/heads/main",
            "a\u{202e}b",
            "",
            "../x",
            "..",
            ".",
            ".hidden",
            "a..b",
            "a b",
            "a\nb",
            "a\0b",
            "x.lock",
            "X.LOCK",
            "x.",
            "a/b",
            "ä",
            "@{-1}",
            "a\"b",
        ];
        for name in hostile {
            assert!(Id::parse(name).is_err(), "{name:?}");
        }
        assert!(Id::parse(&"x".repeat(101)).is_err());
        for name in ["a", "ab-1234", "A.b_c-9", "9"] {
            assert!(Id::parse(name).is_ok(), "{name}");
        }
    }

    #[test]
    fn branches_are_stricter_than_gits() {
        for name in [
            "HEAD",
            "@",
            "-x",
            "a/-x",
            "a/../b",
            "a b",
            "x.lock/y",
            "",
            "/",
            "a/",
            "a//b",
            "refs/heads/HEAD",
            "a\u{202e}",
        ] {
            assert!(Branch::parse(name).is_err(), "{name:?}");
        }
        assert_eq!(
            Branch::parse("refs/heads/feature/x").unwrap().short(),
            "feature/x"
        );
        assert_eq!(Branch::parse("main").unwrap().full(), "refs/heads/main");
    }
}
