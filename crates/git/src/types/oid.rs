//! Object ids.

use std::fmt;
use std::str::FromStr;

use crate::types::invalid::Invalid;
use crate::types::shortened::shortened;

/// The id of a git object: 40 (SHA-1) or 64 (SHA-256) lower-case hexadecimal digits, checked.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Oid(String);

impl Oid {
    /// The digits.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first ten digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..10]
    }

    /// Whether the id is all zeros, git's way to write "no object".
    pub(crate) fn is_null(&self) -> bool {
        self.0.bytes().all(|byte| byte == b'0')
    }

    pub(crate) fn null_like(&self) -> String {
        "0".repeat(self.0.len())
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl FromStr for Oid {
    type Err = Invalid;

    /// Reads the id; upper case is accepted, abbreviations are not.
    fn from_str(text: &str) -> Result<Self, Invalid> {
        let whole = matches!(text.len(), 40 | 64) && text.bytes().all(|byte| byte.is_ascii_hexdigit());
        if !whole {
            return Err(Invalid::Oid {
                text: shortened(text, 80),
            });
        }
        Ok(Self(text.to_ascii_lowercase()))
    }
}

/// The id of a tree. Two commits with the same tree have the same files, so a check's verdict may be used
/// again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Tree(pub Oid);

impl fmt::Display for Tree {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The hash with which the repository names its objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Format {
    Sha1,
    Sha256,
}

impl Format {
    pub(crate) fn parse(name: &str) -> Option<Self> {
        match name {
            "sha1" => Some(Self::Sha1),
            "sha256" => Some(Self::Sha256),
            _ => None,
        }
    }

    pub(crate) fn hex_len(self) -> usize {
        match self {
            Self::Sha1 => 40,
            Self::Sha256 => 64,
        }
    }

    /// The empty tree, which every git knows without storing it.
    pub(crate) fn empty_tree(self) -> &'static str {
        match self {
            Self::Sha1 => "4b825dc642cb6eb9a060e54bf8d69288fbee4904",
            Self::Sha256 => "6ef19b41225c5369f1c104d45d8d85efa9b057b53b14b4b9b939dd74decc5321",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_hexadecimal_ids_are_ids() {
        let good = "4b825dc642cb6eb9a060e54bf8d69288fbee4904";
        assert_eq!(Oid::parse(good).unwrap().as_str(), good);
        assert_eq!(Oid::parse(&good.to_uppercase()).unwrap().as_str(), good);
        for bad in [
            "",
            "HEAD",
            "4b825dc",
            "-4b825dc642cb6eb9a060e54bf8d69288fbee490",
            "g".repeat(40).as_str(),
        ] {
            assert!(Oid::parse(bad).is_err(), "{bad}");
        }
    }
}
