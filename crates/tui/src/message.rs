//! Messages to the dashboard, and its actions.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::command::{Command, Outcome};
use model::ticket::Ticket;
use model::view::Context;
use model::{RunId, TicketId, Time};
use store::Recorded;

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
    /// The next rows of the journal, in order.
    Rows(Vec<Recorded>),
    /// The state of the tickets' files.
    Files(Files),
    /// The engine that runs here; `None` when there is none.
    Engine(Option<Engine>),
    /// More output of a run.
    Output {
        /// The run.
        run: RunId,
        /// Whether it is from standard error.
        error: bool,
        /// The bytes, not sanitised.
        bytes: Vec<u8>,
    },
    /// The whole history of a ticket.
    History {
        /// The ticket.
        ticket: TicketId,
        /// Its rows, in order.
        rows: Vec<Recorded>,
    },
    /// A command has a result.
    CommandResult(CommandResult),
    /// Time has passed.
    Tick,
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
    /// The tickets that no engine has seen yet.
    pub unseen: BTreeMap<TicketId, Arc<Ticket>>,
    /// The reasons why tickets are not worked on, and the files that are not valid tickets.
    pub beside: Context,
    /// A line from the commits of each ticket that no agent has summarised, not sanitised.
    pub commit_summaries: BTreeMap<TicketId, String>,
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
        command: Command,
    },
    /// Send the past and future output of this run, and of no other run.
    Watch(Option<RunId>),
    /// Send the history of this ticket.
    Read(TicketId),
    /// Suspend the program to the shell.
    Suspend,
    /// End the program.
    Quit,
}
