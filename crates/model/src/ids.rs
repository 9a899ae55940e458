//! Checked names: only this module decides which texts may be in a ref, a path and an argument.

use std::fmt;
use std::sync::Arc;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The reason for which a text is not a name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Error {
    /// The text is empty.
    #[error("{} {what} cannot be empty", article(what))]
    Empty {
        /// The kind of name.
        what: &'static str,
    },
    /// Longer than `limit` bytes.
    #[error("{} {what} is at most {limit} characters long", article(what))]
    TooLong {
        /// The kind of name.
        what: &'static str,
        /// The limit, in bytes.
        limit: usize,
    },
    /// A character outside the grammar, or in a place where it cannot stand.
    #[error("{} is no {what}: {why}", text::quoted(.text))]
    Grammar {
        /// The kind of name.
        what: &'static str,
        /// The text, as given.
        text: String,
        /// The fault in the text.
        why: &'static str,
    },
}

fn article(what: &str) -> &'static str {
    if what.starts_with(['a', 'e', 'i', 'o', 'u']) {
        "an"
    } else {
        "a"
    }
}

/// The grammar shared by ticket ids and agent names (with tk's letters): what passes is one path
/// component, one ref component and never an option.
fn check(what: &'static str, text: &str, limit: usize) -> Result<(), Error> {
    let grammar = |why| {
        Err(Error::Grammar {
            what,
            text: text.to_owned(),
            why,
        })
    };
    if text.is_empty() {
        return Err(Error::Empty { what });
    }
    if text.len() > limit {
        return Err(Error::TooLong { what, limit });
    }
    if !text
        .bytes()
        .all(|b| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'_' | b'-'))
    {
        return grammar("only letters, digits, `.`, `_` and `-` may be used");
    }
    if text.starts_with(['-', '.']) {
        return grammar("it cannot begin with a dash or a dot");
    }
    // In whatever case: a file system may treat upper and lower case alike.
    let is_lock = text.to_ascii_lowercase().ends_with(".lock");
    if is_lock || text.ends_with('.') || text.contains("..") {
        return grammar("git allows neither `..`, nor a last `.` or `.lock`, in a branch name");
    }
    Ok(())
}

macro_rules! name {
    ($(#[$doc:meta])* $name:ident, $what:literal, $limit:literal) => {
        $(#[$doc])*
        #[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
        #[serde(try_from = "String", into = "String")]
        #[schemars(inline)]
        pub struct $name(#[schemars(with = "String")] Arc<str>);

        impl $name {
            /// Checks `text` against the grammar.
            ///
            /// # Errors
            /// When it is empty, too long, or must not be in a ref and a path.
            pub fn new(text: impl Into<String>) -> Result<Self, Error> {
                let text = text.into();
                check($what, &text, $limit)?;
                Ok(Self(text.into()))
            }

            /// The name as text.
            #[must_use]
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl TryFrom<String> for $name {
            type Error = Error;
            fn try_from(text: String) -> Result<Self, Error> {
                Self::new(text)
            }
        }

        impl From<$name> for String {
            fn from(name: $name) -> String {
                name.0.as_ref().to_owned()
            }
        }

        impl fmt::Display for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(&self.0)
            }
        }

        impl fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                fmt::Display::fmt(self, f)
            }
        }
    };
}

name!(
    /// A ticket's id: the name of its file without `.md`.
    TicketId,
    "ticket id",
    128
);
name!(
    /// An agent's name: its slot, the first half of its workspaces' and branches' names.
    AgentName,
    "agent name",
    64
);
name!(
    /// A run's id: one program under one shim, `<ticket>.<fence>.<n>` for a step. The name of its run
    /// directory.
    RunId,
    "run id",
    200
);

/// The beginning of the last part of a check's run id.
const CHECK: &str = "check-";
/// The beginning of the last part of the run id of a command that sets up a workspace.
const SET_UP: &str = "set-up-";

impl RunId {
    /// The id of the `n`-th run of the attempt that `fence` stands for: the same inputs always name the same
    /// run, which is what lets a repeated effect find the run it already started.
    #[must_use]
    pub fn of_step(ticket: &TicketId, fence: Fence, n: u32) -> Self {
        Self(format!("{ticket}.{}.{n}", fence.0).into())
    }

    /// The id of the `n`-th run of the checks of the `round`-th candidate of the attempt that `fence` stands
    /// for.
    #[must_use]
    pub fn of_check(ticket: &TicketId, fence: Fence, round: u32, n: u32) -> Self {
        Self(format!("{ticket}.{}.{CHECK}{round}-{n}", fence.0).into())
    }

    /// The id of the `n`-th run of the checks that begin on the bare target for the `round`-th time. No
    /// attempt has the fence of it.
    #[must_use]
    pub fn of_target(round: u32, n: u32) -> Self {
        Self(format!("target.0.{CHECK}{round}-{n}").into())
    }

    /// The id of the run of the `n`-th command that sets up the workspace of the attempt that `fence` stands
    /// for.
    #[must_use]
    pub fn of_set_up(ticket: &TicketId, fence: Fence, n: u32) -> Self {
        Self(format!("{ticket}.{}.{SET_UP}{n}", fence.0).into())
    }

    /// True if it is a run of a command that sets up a workspace.
    #[must_use]
    pub fn is_set_up(&self) -> bool {
        let last = self.as_str().rsplit('.').next();
        last.is_some_and(|last| last.starts_with(SET_UP))
    }

    /// True if it is a run of checks, not a step.
    #[must_use]
    pub fn is_check(&self) -> bool {
        let last = self.as_str().rsplit('.').next();
        last.is_some_and(|last| last.starts_with(CHECK))
    }

    /// True if it is a run of the checks of the bare target.
    #[must_use]
    pub fn is_of_target(&self) -> bool {
        let target = Self::of_target(0, 0);
        let prefix = target.as_str().strip_suffix("0-0").unwrap_or_default();
        self.as_str().starts_with(prefix)
    }

    /// The place of a run of checks among those of its ticket or of the target: its fence, its round, and its
    /// number in that. None for other runs.
    #[must_use]
    pub fn check_place(&self) -> Option<(u64, u32, u32)> {
        let mut parts = self.as_str().rsplitn(3, '.');
        let (round, n) = parts.next()?.strip_prefix(CHECK)?.split_once('-')?;
        let fence = parts.next()?.parse().ok()?;
        Some((fence, round.parse().ok()?, n.parse().ok()?))
    }

    /// The fence of the claim or review whose step it is; none for an id that is of none.
    #[must_use]
    pub fn fence(&self) -> Option<Fence> {
        let mut parts = self.as_str().rsplitn(3, '.');
        let number = |part: &str| part.parse::<u64>().ok();
        number(parts.next()?)?;
        number(parts.next()?).map(Fence)
    }

    /// The ticket whose step, set-up or check it is; none for an id that is of none of them.
    #[must_use]
    pub fn ticket(&self) -> Option<TicketId> {
        let mut parts = self.as_str().rsplitn(3, '.');
        let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let last = parts.next()?;
        let is_run = match last.strip_prefix(CHECK).and_then(|check| check.split_once('-')) {
            Some((round, n)) => is_number(round) && is_number(n),
            None => is_number(last.strip_prefix(SET_UP).unwrap_or(last)),
        };
        (is_run && is_number(parts.next()?)).then_some(())?;
        TicketId::new(parts.next()?).ok()
    }
}

/// A session's id at the agent's client: a UUID, minted by crew.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[schemars(inline)]
pub struct SessionId(#[schemars(with = "String", extend("format" = "uuid"))] pub uuid::Uuid);

impl SessionId {
    /// The id of the `n`-th session of an attempt. A version 5 UUID in the journal's own namespace: unique
    /// across journals, and the same again when the same decision is replayed.
    #[must_use]
    pub fn of_attempt(journal: uuid::Uuid, ticket: &TicketId, fence: Fence, n: u32) -> Self {
        Self(uuid::Uuid::new_v5(
            &journal,
            format!("{ticket}.{}.{n}", fence.0).as_bytes(),
        ))
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl fmt::Debug for SessionId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The token minted at every claim of a ticket: strictly increasing, so that a report of an older claim is
/// known as such.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct Fence(pub u64);

impl Fence {
    /// The fence of the next claim.
    #[must_use]
    pub fn next(self) -> Self {
        Self(self.0 + 1)
    }
}

impl fmt::Display for Fence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of a git object, in full hex.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(try_from = "String", into = "String")]
#[schemars(inline)]
pub struct Oid(String);

impl Oid {
    /// Checks that `text` is a full SHA-1 (40) or SHA-256 (64) object id.
    ///
    /// # Errors
    /// When it is anything else.
    pub fn new(text: impl Into<String>) -> Result<Self, Error> {
        let text = text.into();
        let whole = matches!(text.len(), 40 | 64);
        if !whole || !text.bytes().all(|b| matches!(b, b'0'..=b'9' | b'a'..=b'f')) {
            return Err(Error::Grammar {
                what: "object id",
                text,
                why: "40 or 64 lower-case hex digits are expected",
            });
        }
        Ok(Self(text))
    }

    /// The digits that [`short`](Self::short) shows.
    pub const SHORT: usize = 8;

    /// The id as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The first digits, for people.
    #[must_use]
    pub fn short(&self) -> &str {
        &self.0[..Self::SHORT]
    }
}

impl TryFrom<String> for Oid {
    type Error = Error;
    fn try_from(text: String) -> Result<Self, Error> {
        Self::new(text)
    }
}

impl From<Oid> for String {
    fn from(oid: Oid) -> String {
        oid.0
    }
}

impl fmt::Display for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(&self.0)
    }
}

impl fmt::Debug for Oid {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_could_be_options_paths_or_refs_of_their_own_are_refused() {
        for bad in [
            "",
            "-x",
            ".",
            "..",
            "../x",
            "a/b",
            "a b",
            "a\nb",
            "a\0",
            "a|b",
            "a'b",
            "a\"b",
            "a`id`",
            "a$(id)",
            "a..b",
            "a.",
            "a.lock",
            "A.LOCK",
            "\u{202e}a",
            "é",
            "a;b",
            "--upload-pack=x",
        ] {
            assert!(TicketId::new(bad).is_err(), "{bad:?} passed");
            assert!(AgentName::new(bad).is_err(), "{bad:?} passed");
        }
        assert!(TicketId::new("x".repeat(129)).is_err());
        for good in ["c-abc1", "x.1", "A_b-3", "7"] {
            assert_eq!(TicketId::new(good).unwrap().as_str(), good);
        }
    }

    #[test]
    fn a_run_tells_whose_it_is_and_what_it_does() {
        let (ticket, fence) = (TicketId::new("t.1").unwrap(), Fence(3));
        for (run, kinds) in [
            (RunId::of_step(&ticket, fence, 2), (false, false)),
            (RunId::of_check(&ticket, fence, 1, 2), (true, false)),
            (RunId::of_set_up(&ticket, fence, 0), (false, true)),
        ] {
            assert_eq!(run.ticket().as_ref(), Some(&ticket), "{run}");
            assert_eq!((run.is_check(), run.is_set_up()), kinds, "{run}");
        }
        assert_eq!(RunId::new("t-1.1.set-up-").unwrap().ticket(), None);
    }

    #[test]
    fn a_name_is_checked_where_it_is_read_too() {
        assert_eq!(
            serde_json::from_str::<TicketId>("\"a.1\"").unwrap().as_str(),
            "a.1"
        );
        for never in ["A.LOCK", "a.Lock", "a.lock", "../x", "-x", ""] {
            let text = format!("\"{never}\"");
            assert!(
                serde_json::from_str::<TicketId>(&text).is_err(),
                "{never:?} passed"
            );
        }
    }

    #[test]
    fn an_oid_is_full_lower_case_hex() {
        assert!(Oid::new("a".repeat(40)).is_ok());
        assert!(Oid::new("A".repeat(40)).is_err());
        assert!(Oid::new("a".repeat(39)).is_err());
        assert!(serde_json::from_str::<Oid>("\"HEAD\"").is_err());
    }

    #[test]
    fn a_session_id_is_the_same_for_the_same_decision_only() {
        let ticket = TicketId::new("t-1").unwrap();
        let (a, b) = (uuid::Uuid::from_u128(1), uuid::Uuid::from_u128(2));
        let id = SessionId::of_attempt(a, &ticket, Fence(1), 1);
        assert_eq!(id, SessionId::of_attempt(a, &ticket, Fence(1), 1));
        assert_ne!(id, SessionId::of_attempt(a, &ticket, Fence(1), 2));
        assert_ne!(id, SessionId::of_attempt(b, &ticket, Fence(1), 1));
    }
}
