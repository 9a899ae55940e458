//! What stands in front of the panes: a question to the person, or help.

use model::command::{Command, OnStop, Question};
use model::{AgentName, TicketId};

use crate::choose::Choice;
use crate::input::Input;

/// A question to the person, or help.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dialog {
    /// The keys; scrolled down so far.
    Help(usize),
    /// What to look for.
    Filter(Input),
    /// The answer to an agent's question.
    Answer {
        agent: AgentName,
        question: String,
        /// Which question it is: an answer is to that one and no other.
        about: Option<Question>,
        input: Input,
    },
    /// A yes or no.
    Confirm {
        /// What is asked.
        question: String,
        /// What will follow.
        follows: String,
        request: String,
        command: Command,
    },
    /// A reason, for the record.
    Reason {
        what: Why,
        ticket: TicketId,
        input: Input,
        /// Whether none was given, and it was asked for again.
        refused: bool,
    },
    /// What becomes of running steps.
    Stop,
    /// Which ticket an agent gets, or which agent a ticket.
    Assign {
        /// What is given or taken.
        head: String,
        choices: Vec<(AgentName, TicketId, String)>,
        at: Choice<usize>,
    },
    /// The name of one more agent, or how many.
    Spawn(Input),
}

/// What a reason is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Why {
    /// To give a ticket up.
    Drop,
    /// To let a ticket pass.
    Waive,
}

/// Ways to stop: key, what it does, what is asked.
pub(crate) const STOPS: [(char, &str, OnStop); 3] = [
    ('f', "finish: running steps are waited for", OnStop::Finish),
    (
        'l',
        "leave: running steps run on, the next engine adopts them",
        OnStop::Leave,
    ),
    (
        'k',
        "kill: running steps are stopped, and repeated later",
        OnStop::Kill,
    ),
];

/// Every key, with what it does, in groups.
pub(crate) const KEYS: [(&str, &[(&str, &str)]); 3] = [
    (
        "look",
        &[
            ("1 … 7, Tab, Shift-Tab", "go to a pane"),
            ("j k ↑ ↓, PgUp PgDn, g G", "choose, or scroll output and history"),
            ("Enter, z", "the pane alone, and back"),
            ("/", "filter agents and tickets; Esc shows all"),
            ("?", "this help"),
            ("Ctrl-Z", "to the shell; fg comes back"),
            ("q, Ctrl-C", "leave; the engine runs on"),
        ],
    ),
    (
        "act on what is chosen",
        &[
            ("a", "answer the agent's question"),
            ("s", "assign: a ticket to the agent, an agent to the ticket"),
            ("r", "retry a held ticket, its attempts fresh"),
            ("m", "merge the ticket, through the same checks"),
            ("w", "waive what holds it: it passes, with a reason"),
            ("p", "approve the sensitive paths it touches"),
            ("W", "wake the agent that sleeps before its time"),
            ("K", "kill the agent: its ticket goes back, held"),
            ("D", "drop the ticket, its work kept"),
        ],
    ),
    (
        "the crew",
        &[
            ("n", "spawn one more agent, by name or number"),
            ("S", "stop the engine"),
        ],
    ),
];
