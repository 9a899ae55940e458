//! What the dashboard is told, and what it wants done.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::command::{Command, Outcome};
use model::ticket::Ticket;
use model::view::Beside;
use model::{RunId, TicketId, Time};
use store::Fold;

/// Something that the dashboard is told.
#[derive(Clone, Debug)]
pub enum Msg {
    /// A key was pressed.
    Key(Key),
    /// Text was pasted.
    Pasted(String),
    /// The terminal has this size now: columns, lines.
    Resized(u16, u16),
    /// The journal's next rows, in order.
    Rows(Vec<Fold>),
    /// What the queue's files say besides.
    Files(Files),
    /// Who runs here; none when no engine does.
    Engine(Option<Engine>),
    /// More of what a run printed.
    Output {
        /// The run.
        run: RunId,
        /// Whether it came on standard error.
        error: bool,
        /// The bytes, as they are.
        bytes: Vec<u8>,
    },
    /// Everything that happened to a ticket so far.
    History {
        /// Which.
        ticket: TicketId,
        /// Its rows, in order.
        rows: Vec<Fold>,
    },
    /// What became of a command.
    CommandResult(CommandResult),
    /// Time passed.
    Tick,
}

/// A key, as far as the dashboard tells them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Key {
    /// A character, shifted as typed.
    Char(char),
    /// A letter with Ctrl, in lower case.
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

/// What the queue's files say that the journal does not.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Tickets that no engine has seen yet.
    pub unseen: BTreeMap<TicketId, Arc<Ticket>>,
    /// Why the tickets that are not given out are not, and the files that are no tickets.
    pub beside: Beside,
    /// What git says of the work on tickets of which no agent said anything, in a line: not sanitised.
    pub commit_summaries: BTreeMap<TicketId, String>,
}

/// An engine that runs here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Engine {
    /// Its process, when it is known.
    pub pid: Option<u32>,
    /// Since when.
    pub since: Option<Time>,
}

/// What became of a command.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommandResult {
    /// What was asked for, in words.
    pub request: String,
    /// What became of it; where it could not even be asked, why.
    pub outcome: Result<Outcome, String>,
}

/// Something that the dashboard wants done.
#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// Ask this of the engine, and tell what became of it.
    Submit {
        /// What is asked for, in words.
        request: String,
        /// The command.
        command: Command,
    },
    /// Tell what this run printed and prints, and of no other any more.
    Watch(Option<RunId>),
    /// Tell this ticket's history.
    Read(TicketId),
    /// Put the program into the background.
    Suspend,
    /// End.
    Quit,
}
