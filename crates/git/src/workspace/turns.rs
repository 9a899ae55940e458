//! The turns of children in a workspace that they share: each with the commit with which it began.

use crate::error::{Error, Result};
use crate::files::atomic_write::{self, remove_if_there};
use crate::types::id::Id;
use crate::types::oid::Oid;
use crate::workspace::Workspace;

/// The file beside a workspace that lists the turns: a line each, the innermost last.
const TURNS: &str = "turns";

/// The turn of a child.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Turn {
    /// The child.
    pub ticket: Id,
    /// The number of its attempt.
    pub attempt: u32,
    /// The tip of the workspace's branch when it began.
    pub start: Oid,
}

impl Workspace {
    /// The turns that have begun in it and are not over, the innermost last: a child's own children take
    /// theirs inside of its turn.
    ///
    /// # Errors
    /// [`Error::Io`]; [`Error::Unreadable`] where it is not as crew wrote it.
    pub fn turns(&self) -> Result<Vec<Turn>> {
        let path = self.beside().join(TURNS);
        let listed = match std::fs::read_to_string(&path) {
            Ok(listed) => listed,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(Error::io("read", path, error)),
        };
        let turn = |line: &str| {
            let mut words = line.split(' ');
            let (Some(ticket), Some(attempt), Some(start)) = (words.next(), words.next(), words.next())
            else {
                return Err(Error::unreadable("turns", line));
            };
            Ok(Turn {
                ticket: Id::parse(ticket)?,
                attempt: attempt.parse().map_err(|_| Error::unreadable("turns", line))?,
                start: Oid::parse(start)?,
            })
        };
        listed.lines().map(turn).collect()
    }

    /// Notes the turns, and forgets the settings with which those began that are not among them.
    ///
    /// # Errors
    /// [`Error::Io`].
    pub fn note_turns(&self, turns: &[Turn]) -> Result<()> {
        let path = self.beside().join(TURNS);
        if turns.is_empty() {
            remove_if_there(&path)?;
        } else {
            let line = |turn: &Turn| format!("{} {} {}\n", turn.ticket, turn.attempt, turn.start);
            let lines: String = turns.iter().map(line).collect();
            atomic_write::replace(&path, lines.as_bytes())?;
        }
        self.forget_settings_but(turns)
    }
}
