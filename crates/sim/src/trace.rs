//! The trace of a run, line by line, for a person to read.

use std::collections::BTreeSet;
use std::fmt;

/// The author of a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Who {
    /// Someone who is not crew.
    Person,
    /// The machine, the disk, the clock: faults outside.
    World,
    /// An executor of the engine.
    Executor,
    /// The engine: its input, and its decision.
    Engine,
    /// A ticket that is in another state now.
    Ticket,
    /// An invariant that does not hold.
    Broken,
}

impl Who {
    /// Its name in a trace.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Who::Person => "person",
            Who::World => "world",
            Who::Executor => "executor",
            Who::Engine => "engine",
            Who::Ticket => "ticket",
            Who::Broken => "BROKEN",
        }
    }
}

/// One thing that happened.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Line {
    /// Milliseconds since the run began, by the machine's clock.
    pub at_ms: i64,
    /// The author.
    pub who: Who,
    /// The text.
    pub what: String,
}

/// The tickets and the agents that a trace names.
#[must_use]
pub fn names(trace: &[Line]) -> BTreeSet<&str> {
    let tickets = trace
        .iter()
        .filter(|line| line.who == Who::Ticket)
        .filter_map(|line| line.what.split_once(':'))
        .map(|(id, _)| id);
    // A workspace is an agent's: `t-1 prepare ada#1`.
    let agents = trace
        .iter()
        .filter(|line| line.who == Who::Executor)
        .filter_map(|line| line.what.split_once(" prepare ")?.1.split_once('#'))
        .map(|(agent, _)| agent);
    tickets.chain(agents).collect()
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at_ms, who, what } = self;
        let (sign, ms) = (if *at_ms < 0 { "-" } else { "" }, at_ms.unsigned_abs());
        let at = format!("{sign}{}.{:03}", ms / 1000, ms % 1000);
        write!(f, "{at:>12} {:<6} {what}", who.name())
    }
}
