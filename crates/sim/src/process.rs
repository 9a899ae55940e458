//! Agents' processes: each works, commits, speaks and ends as was drawn when it began, whether or not an
//! engine is up.

use engine::End;
use model::attempt::{Class, Failure, Signal};
use model::call::Call;
use model::ticket::{FileStatus, Verdict};
use model::{RunId, SessionId, TicketId, Time};

use crate::folders::Refuses;

/// A run directory with the record that its shim would have written.
#[derive(Clone, Debug)]
pub(crate) struct Process {
    pub(crate) run: RunId,
    pub(crate) ticket: TicketId,
    pub(crate) number: u32,
    /// The workspace in which it works, and the attempt that it was made for.
    pub(crate) space: (crate::world::Key, u32),
    pub(crate) session: SessionId,
    /// The time at which it began.
    pub(crate) began: Time,
    /// The acts that it, or a process of its that outlives it, is still going to do, the next first.
    pub(crate) acts: Vec<(Time, Act)>,
    /// Its end; none while it lives.
    pub(crate) end: Option<End>,
    /// True if it prints anything while it runs.
    pub(crate) talks: bool,
    /// From when to when it shows no sign of life, in milliseconds from its beginning.
    pub(crate) silent: Option<(i64, i64)>,
    /// Its cost, in millionths of a US dollar.
    pub(crate) cost: u64,
    /// The time since which its shim has been frozen: nobody sees its acts, nor its end.
    pub(crate) frozen: Option<Time>,
    /// True if it was asked to stop.
    pub(crate) stopped: bool,
    /// The failure after which its client tries again by itself, and cannot succeed.
    pub(crate) given_up: Option<Failure>,
    /// The result that it has stated; it stays all the same.
    pub(crate) stated: Option<End>,
    /// True if it prints more than anyone reads.
    pub(crate) floods: bool,
    /// The verdict that its output ends with.
    pub(crate) verdict: Option<Verdict>,
}

impl Process {
    /// For how long it had shown signs of life by then, in milliseconds.
    pub(crate) fn lived(&self, by: Time) -> i64 {
        let ran = by.0 - self.began.0;
        match self.silent {
            Some((from, until)) if (from..until).contains(&ran) => from,
            Some(_) | None => ran,
        }
    }
}

/// One thing that a process does.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Act {
    /// It changes files, without a commit.
    Edit(Vec<(String, u64)>),
    /// It takes the target's commits in, resolving what conflicts.
    MergeTarget,
    /// It rewrites what the checks would refuse.
    Heal,
    /// It commits what it changed.
    Commit,
    /// It leaves what crew refuses in its workspace.
    Leave(Refuses),
    /// It mends what crew refuses there.
    Mend,
    /// Its client begins to try for ever a request that cannot succeed.
    GiveUp(Failure),
    /// It states its result, and stays.
    State(End),
    /// It calls a tool; in the name of the run of an earlier step, if `stale`.
    Call { call: Call, stale: bool },
    /// It moves the target by itself.
    Push(String, u64),
    /// It edits a ticket's file: its text, or its status.
    File(TicketId, Option<FileStatus>),
    /// Its shim is frozen.
    Freeze,
    /// Its shim goes on, if it was frozen.
    Thaw,
    /// The engine that has asked it to stop ends it, be its shim frozen or not.
    Kill,
    /// It ends. A later act is one of a process that outlives it.
    End(End),
}

/// The program under the shim was ended by crew.
pub(crate) fn killed() -> End {
    End::Failed(Failure::new(Class::KilledByUs, "stopped"))
}

/// A failure of that class.
pub(crate) fn failed(class: Class) -> End {
    End::Failed(Failure::new(class, format!("simulated: {}", class.name())))
}

/// The service refuses, until then if it gives a time.
pub(crate) fn refused(class: Class, until: Option<Time>) -> Failure {
    Failure {
        until,
        ..Failure::new(class, format!("simulated: {}", class.name()))
    }
}

/// A good end with that signal.
pub(crate) fn ended_well(signal: Signal) -> End {
    End::Finished(signal)
}
