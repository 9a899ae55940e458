//! Problems of a ticket's file, as values that are shown and acted on.

use std::fmt;
use std::path::PathBuf;

/// A problem of one file. A file that cannot be read has one; a readable one may have several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line number, from 1, if the problem is in one line.
    pub line: Option<usize>,
    /// The kind of the problem.
    pub kind: ProblemKind,
}

/// The kinds of problems.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum ProblemKind {
    /// The file is empty.
    Empty,
    /// The file is larger than 1 MiB.
    TooLarge {
        /// Its size in bytes.
        bytes: u64,
    },
    /// The file contains NUL bytes.
    Binary,
    /// The file is not UTF-8.
    NotUtf8,
    /// It is a symbolic link, folder, pipe or device.
    NotRegularFile,
    /// The system failed to read it, with this message.
    ReadFailed(String),
    /// Its name without `.md` is not a valid id.
    BadName(String),
    /// The first line is not `---`.
    NoFrontMatter,
    /// The front matter has no second `---`, so the file is half-written.
    Unclosed,
    /// A key is given twice.
    DuplicateKey {
        /// The key.
        key: String,
        /// The line of the first one.
        first: usize,
    },
    /// The front matter is not YAML that crew can read.
    Malformed(String),
    /// The front matter has a character that YAML does not permit.
    Unprintable(char),
    /// The key `id` differs from the file's name, which is the id.
    IdDiffers(String),
    /// There is no status.
    NoStatus,
    /// The status is none of open, in_progress, closed, done.
    UnknownStatus(String),
    /// The priority is not 0 to 4, and is read as 2.
    BadPriority(String),
    /// The time of creation is not a time, and is ignored.
    BadCreated(String),
    /// A key should be a list or a text and is not, and is ignored.
    WrongShape(String),
    /// A text looks like a commitment and is none.
    NoCommitment {
        /// The text, on one line.
        text: String,
        /// The reason why it is none.
        why: &'static str,
    },
    /// A commitment among the criteria whose command cannot be read.
    UnreadCommitment {
        /// The text, on one line.
        text: String,
        /// The reason why its command cannot be read.
        why: &'static str,
    },
    /// A key looks like one that has commitments, and is ignored.
    MistakenKey(String),
    /// A dependency is not a valid id; the ticket stays blocked by it.
    BadDependency(String),
}

impl Problem {
    /// Advice for a person.
    pub fn hint(&self) -> &'static str {
        match &self.kind {
            ProblemKind::Empty | ProblemKind::Unclosed => {
                "if a program is still writing it, this passes; else complete or delete it"
            }
            ProblemKind::TooLarge { .. } => "a ticket is at most 1 MiB: move attachments elsewhere",
            ProblemKind::Binary | ProblemKind::NotUtf8 => "save it as UTF-8 text",
            ProblemKind::NotRegularFile => "put the file itself in the folder",
            ProblemKind::ReadFailed(_) => "check its permissions",
            ProblemKind::BadName(_) => {
                "rename it: letters, digits, `.`, `_`, `-`, no leading dash or dot, then `.md`"
            }
            ProblemKind::NoFrontMatter => "a ticket starts with `---`, keys, `---`",
            ProblemKind::DuplicateKey { .. } => "delete one of the two lines",
            ProblemKind::Malformed(_) => {
                "correct that line; texts with special characters go in double quotes"
            }
            ProblemKind::Unprintable(_) => {
                "delete it; in double quotes it can be written as an escape such as \"\\u0007\""
            }
            ProblemKind::IdDiffers(_) => "the file's name counts: correct the `id:` line",
            ProblemKind::NoStatus | ProblemKind::UnknownStatus(_) => "use open, in_progress or closed",
            ProblemKind::BadPriority(_) => "use 0 (first) to 4 (last)",
            ProblemKind::BadCreated(_) => "use a time such as 2026-01-31T12:00:00Z",
            ProblemKind::WrongShape(_) => "lists are written [a, b], texts on one line",
            ProblemKind::NoCommitment { .. } => {
                "a commitment is an item of a list under `## Acceptance Criteria` with `$ command` in backticks"
            }
            ProblemKind::UnreadCommitment { .. } => {
                "its command is read in an item of a list, as `$ command` in backticks; without one, a gatekeeper or a \
                 person has to name it as met"
            }
            ProblemKind::MistakenKey(_) => {
                "commitments stand under `commitments`, as `acceptance_test`, or below `## Acceptance Criteria`"
            }
            ProblemKind::BadDependency(_) => "name the other ticket by its id",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::clean::clean_line(&self.path.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.kind)
    }
}

impl fmt::Display for ProblemKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = |text: &str| crate::clean::clean_line(&text.chars().take(120).collect::<String>());
        match self {
            ProblemKind::Empty => f.write_str("the file is empty"),
            ProblemKind::TooLarge { bytes } => write!(f, "the file has {bytes} bytes"),
            ProblemKind::Binary => f.write_str("the file is binary"),
            ProblemKind::NotUtf8 => f.write_str("the file is not UTF-8"),
            ProblemKind::NotRegularFile => f.write_str("not a regular file"),
            ProblemKind::ReadFailed(why) => write!(f, "cannot be read: {}", clean(why)),
            ProblemKind::BadName(name) => write!(f, "'{}' cannot be a ticket's id", clean(name)),
            ProblemKind::NoFrontMatter => f.write_str("no front matter"),
            ProblemKind::Unclosed => f.write_str("the front matter is never closed: half-written"),
            ProblemKind::DuplicateKey { key, first } => {
                write!(f, "key '{}' again, first on line {first}", clean(key))
            }
            ProblemKind::Malformed(why) => write!(f, "malformed front matter: {}", clean(why)),
            ProblemKind::Unprintable(c) => {
                write!(
                    f,
                    "malformed front matter: an unprintable character (U+{:04X})",
                    u32::from(*c)
                )
            }
            ProblemKind::IdDiffers(id) => write!(f, "the file has the id '{}'", clean(id)),
            ProblemKind::NoStatus => f.write_str("no status"),
            ProblemKind::UnknownStatus(status) => write!(f, "unknown status '{}'", clean(status)),
            ProblemKind::BadPriority(priority) => write!(f, "priority '{}' is not 0 to 4", clean(priority)),
            ProblemKind::BadCreated(text) => write!(f, "'{}' is not a time", clean(text)),
            ProblemKind::WrongShape(key) => write!(f, "key '{}' has the wrong shape", clean(key)),
            ProblemKind::NoCommitment { text, why } => {
                write!(f, "“{}” is no commitment: {why}", clean(text))
            }
            ProblemKind::UnreadCommitment { text, why } => {
                write!(
                    f,
                    "“{}” is a commitment whose command cannot be read: {why}",
                    clean(text)
                )
            }
            ProblemKind::MistakenKey(key) => write!(
                f,
                "key '{}' is not read: commitments stand under `commitments` or `acceptance_test`",
                clean(key)
            ),
            ProblemKind::BadDependency(text) => write!(f, "'{}' cannot be a dependency's id", clean(text)),
        }
    }
}
