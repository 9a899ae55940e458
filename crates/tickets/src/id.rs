//! Ticket ids, which are safe as a file name, in a path and in a git ref.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// The longest id in bytes: with a suffix it still fits into a file name (255) and a ref.
const MAX_BYTES: usize = 128;

/// The number of random characters after the prefix, as in tk.
const RANDOM_CHARS: usize = 4;

/// A ticket's id: 1 to 128 of `A-Z a-z 0-9 . _ -`, without a leading `-` or `.`, a trailing `.`, a `..` or
/// a trailing `.lock`.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String")]
pub struct Id(String);

impl TryFrom<String> for Id {
    type Error = Error;

    fn try_from(text: String) -> Result<Id, Error> {
        match broken_rule(&text) {
            None => Ok(Id(text)),
            Some(_) => Id::new(&text),
        }
    }
}

impl Id {
    /// Checks that a text is a valid id.
    ///
    /// Errors: [`Error::BadId`].
    pub fn new(text: &str) -> Result<Id, Error> {
        match broken_rule(text) {
            None => Ok(Id(text.to_owned())),
            Some(why) => Err(Error::BadId {
                text: crate::clean::clean_line(text),
                why,
            }),
        }
    }

    /// The id as text.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The name of the ticket's file in the folder.
    pub(crate) fn file_name(&self) -> String {
        format!("{}.md", self.0)
    }
}

/// The rule that a text breaks as an id, as a sentence about it.
fn broken_rule(text: &str) -> Option<&'static str> {
    let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-');
    if text.is_empty() {
        Some("it is empty")
    } else if text.len() > MAX_BYTES {
        Some("it is longer than 128 characters")
    } else if !text.chars().all(legal) {
        Some("only letters, digits, `.`, `_` and `-` are allowed")
    } else if text.starts_with(['-', '.']) {
        Some("it starts with a dash or a dot")
    } else if text.ends_with('.') {
        Some("it ends with a dot")
    } else if text.contains("..") {
        Some("it contains `..`")
    } else if text.to_ascii_lowercase().ends_with(".lock") {
        Some("it ends with `.lock`, which git keeps for itself")
    } else {
        None
    }
}

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl FromStr for Id {
    type Err = Error;

    fn from_str(text: &str) -> Result<Id, Error> {
        Id::new(text)
    }
}

impl AsRef<str> for Id {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Finds the id that a person means by `asked`: the equal one, else the only one that contains it. White
/// space around `asked` is ignored.
pub(crate) fn resolve(asked: &str, ids: &[Id]) -> Result<Id, Error> {
    let asked = asked.trim();
    if let Some(id) = ids.iter().find(|id| id.as_str() == asked) {
        return Ok(id.clone());
    }
    let found: Vec<Id> = if asked.is_empty() {
        Vec::new()
    } else {
        ids.iter()
            .filter(|id| id.as_str().contains(asked))
            .cloned()
            .collect()
    };
    match found.len() {
        0 => Err(Error::NotFound {
            asked: crate::clean::clean_line(asked),
        }),
        1 => Ok(found
            .into_iter()
            .next()
            .unwrap_or_else(|| unreachable!("one was found"))),
        _ => Err(Error::Ambiguous {
            asked: crate::clean::clean_line(asked),
            matches: found.iter().map(Id::to_string).collect(),
        }),
    }
}

/// The prefix of new ids in a repository whose folder has this name, by tk's rule: the first letters of the
/// parts between `-` and `_`, or the first three characters if there is only one part. Characters that an
/// id cannot have are left out.
pub fn prefix(folder: &str) -> String {
    let letters = |text: &str| -> String { text.chars().filter(char::is_ascii_alphanumeric).collect() };
    let initials: String = folder
        .split(['-', '_'])
        .filter_map(|part| letters(part).chars().next())
        .collect();
    let prefix = if initials.len() < 2 {
        letters(folder).chars().take(3).collect()
    } else {
        initials
    };
    if prefix.is_empty() {
        "t".to_owned()
    } else {
        prefix.chars().take(MAX_BYTES / 2).collect()
    }
}

/// Four random characters of `a-z0-9` from the system's generator, for [`crate::Folder::create`].
///
/// Errors: [`Error::Random`].
pub fn random() -> Result<String, Error> {
    const ALPHABET: &[u8] = b"abcdefghijklmnopqrstuvwxyz0123456789";
    // Bytes at or above this bound would make the first letters more probable.
    let fair = 256 / ALPHABET.len() * ALPHABET.len();
    let mut text = String::with_capacity(RANDOM_CHARS);
    while text.len() < RANDOM_CHARS {
        let mut bytes = [0_u8; 16];
        let filled = rustix::rand::getrandom(&mut bytes[..], rustix::rand::GetRandomFlags::empty()).map_err(
            |source| Error::Random {
                source: source.into(),
            },
        )?;
        for byte in bytes
            .iter()
            .take(filled)
            .map(|b| usize::from(*b))
            .filter(|b| *b < fair)
        {
            if text.len() < RANDOM_CHARS {
                text.push(char::from(ALPHABET[byte % ALPHABET.len()]));
            }
        }
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_prefix_follows_tk() {
        for (folder, wanted) in [
            ("my-cool_app", "mca"),
            ("crew", "cre"),
            ("x", "x"),
            ("-lead-dash", "ld"),
            (".dotfiles", "dot"),
            ("übung", "bun"),
            ("日本", "t"),
            ("a/b", "ab"),
            ("", "t"),
        ] {
            assert_eq!(prefix(folder), wanted, "{folder}");
            Id::new(&format!("{}-ab12", prefix(folder))).unwrap();
        }
    }

    #[test]
    fn random_parts_are_four_legal_characters_and_differ() {
        let parts: std::collections::BTreeSet<String> = (0..50).map(|_| random().unwrap()).collect();
        assert!(parts.len() > 40);
        assert!(
            parts
                .iter()
                .all(|p| p.len() == 4 && p.bytes().all(|b| b.is_ascii_lowercase() || b.is_ascii_digit()))
        );
    }

    #[test]
    fn an_exact_id_wins_over_those_that_contain_it() {
        let ids: Vec<Id> = ["ab-1", "ab-10", "cd-2"]
            .iter()
            .map(|t| Id::new(t).unwrap())
            .collect();
        assert_eq!(resolve(" ab-1 ", &ids).unwrap().as_str(), "ab-1");
        assert_eq!(resolve("d-", &ids).unwrap().as_str(), "cd-2");
        assert!(matches!(resolve("ab", &ids), Err(Error::Ambiguous { matches, .. }) if matches.len() == 2));
        assert!(matches!(resolve("zz", &ids), Err(Error::NotFound { .. })));
        assert!(matches!(resolve("", &ids), Err(Error::NotFound { .. })));
        assert!(matches!(resolve("*", &ids), Err(Error::NotFound { .. })));
    }
}
