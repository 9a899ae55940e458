//! Dialogs in front of the panes: a question to the person, or help.

use model::command::{Command, OnStop, Question};
use model::{AgentName, Oid, TicketId};

use crate::choose::Choice;
use crate::input::Input;

/// A dialog.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Dialog {
    /// The list of keys, scrolled down by this number of lines.
    Help(usize),
    /// The words to filter by.
    Filter(Input),
    /// An answer to an agent's question.
    Answer {
        agent: AgentName,
        question: String,
        /// The identity of the question, so that the answer cannot go to a later one.
        about: Option<Question>,
        input: Input,
    },
    /// A confirmation, yes or no.
    Confirm {
        /// The question.
        question: String,
        /// The consequences.
        follows: String,
        request: String,
        command: Command,
    },
    /// A reason, for the journal.
    Reason {
        what: Purpose,
        ticket: TicketId,
        /// The commit of the diff in which the key was pressed.
        at: Option<Oid>,
        input: Input,
        /// Whether an empty reason was refused.
        refused: bool,
    },
    /// The choice of what happens to running steps when the engine stops.
    Stop,
    /// The choice of a ticket for an agent, or of an agent for a ticket.
    Assign {
        /// The title.
        head: String,
        choices: Vec<(AgentName, TicketId, String)>,
        at: Choice<usize>,
    },
    /// The name of a new agent, or the number of new agents.
    Spawn(Input),
}

/// The purpose of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    /// To drop a ticket.
    Drop,
    /// To waive the hold of a ticket.
    Waive,
    /// To send work that is in review back to its agent.
    Reject,
}

/// The ways to stop the engine: the key, its description, the argument of the command.
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

/// Every key with its description, in groups.
pub(crate) const KEYS: [(&str, &[(&str, &str)]); 3] = [
    (
        "look",
        &[
            ("1 … 7, Tab, Shift-Tab", "go to a pane"),
            ("j k ↑ ↓, PgUp PgDn, g G", "choose, or scroll a long text"),
            ("Enter, z", "the pane alone, and back"),
            ("d", "the diff of the ticket's work; there, d reads it again"),
            ("f", "unfold in Output what tools returned, and fold it"),
            ("[ ]", "in Output the steps and checks of the ticket before"),
            ("/", "filter agents and tickets; Esc shows all"),
            ("?", "this help"),
            ("Ctrl-Z", "to the shell; fg comes back"),
            ("q, Ctrl-C", "leave; the engine runs on"),
        ],
    ),
    (
        "act on the chosen row",
        &[
            ("a", "answer the agent's question"),
            ("s", "assign: a ticket to the agent, an agent to the ticket"),
            ("r", "retry a held ticket, its attempts fresh"),
            ("m", "merge the ticket, through the same checks"),
            ("w", "waive the hold, with a reason: it passes"),
            ("p", "approve, once asked: what waits for your word"),
            ("x", "send work back to its agent, with the reason"),
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
            ("R", "run an engine in the background"),
        ],
    ),
];
