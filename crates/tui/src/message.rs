//! Messages to the dashboard, and its actions.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::command::{Command, Outcome};
use model::ticket::Ticket;
use model::view::Context;
use model::{AgentName, Oid, RunId, TicketId, Time};
use store::Recorded;

use crate::theme::Tone;

/// A message to the dashboard.
#[derive(Clone, Debug)]
#[expect(clippy::large_enum_variant, reason = "one message at a time is handled")]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The terminal has a new size: columns, lines.
    Resized(u16, u16),
    /// The journal is another one, or there is none any more: its rows follow from the first on.
    Journal,
    /// The next rows of the journal, in order.
    Rows(Vec<Recorded>),
    /// Why something of the repository cannot be read, each in words, not sanitised.
    Troubles(Vec<String>),
    /// The state of the tickets' files.
    Files(Files),
    /// A line from the commits of each ticket that no agent has summarised, not sanitised.
    CommitSummaries(BTreeMap<TicketId, String>),
    /// The engine that runs here; `None` when there is none.
    Engine(Option<Engine>),
    /// More output of a run.
    Output {
        /// The run.
        run: RunId,
        /// The next lines.
        lines: Vec<Printed>,
        /// The text of the line that is not finished, not sanitised.
        open: String,
    },
    /// The whole history of a ticket.
    History {
        /// The ticket.
        ticket: TicketId,
        /// Its rows, in order.
        rows: Vec<Recorded>,
    },
    /// What a ticket would change on the target, or has changed there.
    Diff {
        /// The ticket.
        ticket: TicketId,
        /// The diff, or the reason why there is none, not sanitised.
        diff: Result<Diff, String>,
    },
    /// What runs in the steps of agents, by the agent.
    Activities(BTreeMap<AgentName, Activity>),
    /// A command has a result.
    CommandResult(CommandResult),
    /// Time has passed.
    Tick,
}

/// A line of output.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed {
    /// Its meaning.
    pub tone: Tone,
    /// The columns by which it is indented.
    pub indent: usize,
    /// Whether it is shown while what tools returned is folded, and while that is unfolded.
    pub shown: (bool, bool),
    /// Whether it continues the line before it.
    pub joins: bool,
    /// The text, not sanitised.
    pub text: String,
}

/// The change of a ticket, as it was when it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diff {
    /// The commit that has all that is shown; none where some of it is in no commit.
    pub commit: Option<Oid>,
    /// Its lines.
    pub lines: Vec<DiffLine>,
}

/// A line of a diff.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DiffLine {
    /// Its meaning.
    pub tone: Tone,
    /// The text, not sanitised.
    pub text: String,
    /// The blanks behind it that must be seen, not sanitised.
    pub blanks: String,
}

impl DiffLine {
    /// A line without blanks that must be seen.
    #[must_use]
    pub fn new(tone: Tone, text: String) -> Self {
        Self {
            tone,
            text,
            blanks: String::new(),
        }
    }
}

/// A key that the dashboard knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, as typed with Shift.
    Char(char),
    /// Ctrl with a letter, in lower case.
    Ctrl(char),
    /// Enter.
    Enter,
    /// Esc.
    Escape,
    /// Tab.
    Tab,
    /// Shift-Tab.
    BackTab,
    /// Backspace.
    Backspace,
    /// Delete.
    Delete,
    /// Up.
    Up,
    /// Down.
    Down,
    /// Left.
    Left,
    /// Right.
    Right,
    /// Page up.
    PageUp,
    /// Page down.
    PageDown,
    /// Home.
    Home,
    /// End.
    End,
}

/// Facts about the tickets that are not in the journal.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// The tickets as their files have them, where that is not what the journal has: those that no engine has
    /// seen yet, and those that a person has opened or closed since.
    pub unseen: BTreeMap<TicketId, Arc<Ticket>>,
    /// The last row of the journal that was known when the files were read.
    pub seq: u64,
    /// The reasons why tickets are not worked on, and the files that are not valid tickets.
    pub beside: Context,
}

/// What runs in the step of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activity {
    /// It in words, without its time, such as "in `cargo build`": not sanitised.
    pub says: String,
    /// The time at which it began, if it is known.
    pub since: Option<Time>,
}

/// An engine that runs here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// The id of its process, if it is known.
    pub pid: Option<u32>,
    /// The time of its start, if it is known.
    pub since: Option<Time>,
}

/// The result of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    /// The command, in words.
    pub request: String,
    /// The outcome, or the reason why the command could not be submitted.
    pub outcome: Result<Outcome, String>,
}

/// An action that the dashboard orders.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Submit this command to the engine, and send a [`Msg::CommandResult`].
    Submit {
        /// The command, in words.
        request: String,
        /// The command.
        command: Box<Command>,
    },
    /// Start an engine in the background, and send a [`Msg::CommandResult`].
    Run {
        /// The command, in words.
        request: String,
    },
    /// Send the past and future output of this run, and of no other run.
    Watch(Option<RunId>),
    /// Send the history of this ticket.
    Read(TicketId),
    /// Read the diff of this ticket, and send a [`Msg::Diff`].
    Diff(TicketId),
    /// Suspend the program to the shell.
    Suspend,
    /// End the program.
    Quit,
}
