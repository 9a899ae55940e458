//! What is wrong with one ticket's file, as a value that is shown and acted on.

use std::fmt;
use std::path::PathBuf;

/// Something wrong with one file. A reading that fails has one; a good reading may carry some that do not stop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// The file.
    pub path: PathBuf,
    /// The line, from 1, where one is to blame.
    pub line: Option<usize>,
    /// What is wrong.
    pub what: What,
}

/// What is wrong with a file.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum What {
    /// No bytes at all.
    Empty,
    /// Larger than a ticket may be (1 MiB).
    Huge {
        /// Its size.
        bytes: u64,
    },
    /// It holds NUL bytes.
    Binary,
    /// It is not UTF-8.
    NotUtf8,
    /// A symbolic link, folder, pipe or device.
    NotAFile,
    /// The system refused to read it.
    Refused(String),
    /// Its name without `.md` is not an id.
    BadName(String),
    /// The first line is not `---`.
    NoFrontMatter,
    /// The front matter has no second `---`: half-written.
    NeverClosed,
    /// A key twice.
    DuplicateKey {
        /// The key.
        key: String,
        /// The line of the first one.
        first: usize,
    },
    /// The front matter is not YAML that crew reads.
    Malformed(String),
    /// The front matter has a character that no YAML may hold as it is.
    Unprintable(char),
    /// The key `id` differs from the file's name. The name is the id.
    IdDiffers(String),
    /// No status.
    NoStatus,
    /// A status that is none of open, in_progress, closed, done.
    UnknownStatus(String),
    /// A priority that is not 0 to 4. Taken as 2.
    BadPriority(String),
    /// A time of creation that is not one. Taken as none.
    BadCreated(String),
    /// A key that should be a list or a text and is not. Taken as none.
    WrongShape(String),
    /// A dependency that cannot be an id; the ticket stays blocked by it.
    BadDependency(String),
}

impl Problem {
    /// What a person can do about it.
    pub fn hint(&self) -> &'static str {
        match &self.what {
            What::Empty | What::NeverClosed => {
                "if a program is still writing it, this passes; else complete or delete it"
            }
            What::Huge { .. } => "a ticket is at most 1 MiB: move attachments elsewhere",
            What::Binary | What::NotUtf8 => "save it as UTF-8 text",
            What::NotAFile => "put the file itself in the folder",
            What::Refused(_) => "check its permissions",
            What::BadName(_) => {
                "rename it: letters, digits, `.`, `_`, `-`, no leading dash or dot, then `.md`"
            }
            What::NoFrontMatter => "a ticket starts with `---`, keys, `---`",
            What::DuplicateKey { .. } => "delete one of the two lines",
            What::Malformed(_) => "correct that line; texts with special characters go in double quotes",
            What::Unprintable(_) => {
                "delete it; in double quotes it can be written as an escape such as \"\\u0007\""
            }
            What::IdDiffers(_) => "the file's name counts: correct the `id:` line",
            What::NoStatus | What::UnknownStatus(_) => "use open, in_progress or closed",
            What::BadPriority(_) => "use 0 (first) to 4 (last)",
            What::BadCreated(_) => "use a time such as 2026-01-31T12:00:00Z",
            What::WrongShape(_) => "lists are written [a, b], texts on one line",
            What::BadDependency(_) => "name the other ticket by its id",
        }
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", crate::clean_line(&self.path.to_string_lossy()))?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        write!(f, ": {}", self.what)
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let clean = |text: &str| crate::clean_line(&text.chars().take(120).collect::<String>());
        match self {
            What::Empty => f.write_str("the file is empty"),
            What::Huge { bytes } => write!(f, "the file has {bytes} bytes"),
            What::Binary => f.write_str("the file is binary"),
            What::NotUtf8 => f.write_str("the file is not UTF-8"),
            What::NotAFile => f.write_str("not a regular file"),
            What::Refused(why) => write!(f, "cannot be read: {}", clean(why)),
            What::BadName(name) => write!(f, "'{}' cannot be a ticket's id", clean(name)),
            What::NoFrontMatter => f.write_str("no front matter"),
            What::NeverClosed => f.write_str("the front matter is never closed: half-written"),
            What::DuplicateKey { key, first } => {
                write!(f, "key '{}' again, first on line {first}", clean(key))
            }
            What::Malformed(why) => write!(f, "malformed front matter: {}", clean(why)),
            What::Unprintable(c) => {
                write!(
                    f,
                    "malformed front matter: an unprintable character (U+{:04X})",
                    u32::from(*c)
                )
            }
            What::IdDiffers(id) => write!(f, "the file says id '{}'", clean(id)),
            What::NoStatus => f.write_str("no status"),
            What::UnknownStatus(status) => write!(f, "unknown status '{}'", clean(status)),
            What::BadPriority(priority) => write!(f, "priority '{}' is not 0 to 4", clean(priority)),
            What::BadCreated(text) => write!(f, "'{}' is not a time", clean(text)),
            What::WrongShape(key) => write!(f, "key '{}' has the wrong shape", clean(key)),
            What::BadDependency(text) => write!(f, "'{}' cannot be a dependency's id", clean(text)),
        }
    }
}
