//! Acts: what a person can do about something that waits, as a line to type or as a command to send.

use crate::command::{Command, Question};
use crate::ticket::approve_command;
use crate::{AgentName, Oid, TicketId};

/// Something that a person can do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Act {
    /// Answer a question.
    Answer {
        /// The agent that asks.
        agent: AgentName,
        /// The question.
        question: Question,
    },
    /// Approve what a ticket waits for: the sensitive paths that it touches, its commitments, or its work in
    /// a gatekeeper's place.
    Approve {
        /// The id of the ticket.
        ticket: TicketId,
        /// The tip of its branch that a person sees; none where it has none yet.
        tip: Option<Oid>,
    },
    /// Send work that is in review back to its agent.
    Reject {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Try a held ticket again.
    Retry {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Let a held ticket pass in spite of the reason that holds it.
    Waive {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Say that a ticket's work need not meet one of its commitments.
    WaiveCommitment {
        /// The id of the ticket.
        ticket: TicketId,
        /// The number of the commitment.
        number: u32,
    },
    /// Give a ticket up.
    Drop {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Try to land a ticket now.
    Merge {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Wake an agent before its time.
    Wake {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Take an agent's ticket from it; its work is kept.
    Kill {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Remove a dependency from a ticket's file.
    Undep {
        /// The id of the ticket.
        ticket: TicketId,
        /// On which.
        on: TicketId,
    },
    /// Say that a ticket is to be worked on, or worked on again.
    Reopen {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Say that a ticket is over.
    Close {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Something outside crew, in words: partly text of a ticket's author, not sanitised.
    ByHand {
        /// The act, in words.
        what: String,
    },
}

/// What the waiver of a ticket lets pass, as the end of a sentence.
pub const UNSEEN: &str =
    "lets it land as it is, neither checked, nor verified against its commitments, nor reviewed";

impl Act {
    /// Every verb.
    pub const VERBS: [&str; 13] = [
        "answer", "approve", "reject", "retry", "waive", "drop", "merge", "wake", "kill", "undep", "reopen",
        "close", "by hand",
    ];

    /// The line to type. Where a person's own text is wanted, `"…"` stands for it; an act by hand is
    /// described in words.
    #[must_use]
    pub fn typed(&self) -> String {
        match self {
            Act::Answer { question, .. } => format!(
                "crew answer {} --question {} \"…\"",
                question.ticket, question.number
            ),
            Act::Approve { ticket, tip } => approve_command(ticket, tip.as_ref()),
            Act::Reject { ticket } => format!("crew reject {ticket} \"…\""),
            Act::Retry { ticket } => format!("crew retry {ticket}"),
            Act::Waive { ticket } => format!("crew waive {ticket} \"…\""),
            Act::WaiveCommitment { ticket, number } => {
                format!("crew waive {ticket} --commitment {number} \"…\"")
            }
            Act::Drop { ticket } => format!("crew drop {ticket}"),
            Act::Merge { ticket } => format!("crew merge {ticket}"),
            Act::Wake { agent } => format!("crew wake {agent}"),
            Act::Kill { agent } => format!("crew kill {agent}"),
            Act::Undep { ticket, on } => format!("crew ticket undep {ticket} {on}"),
            Act::Reopen { ticket } => format!("crew ticket reopen {ticket}"),
            Act::Close { ticket } => format!("crew ticket close {ticket}"),
            Act::ByHand { what } => what.clone(),
        }
    }

    /// The verb alone, for a key or a button: `answer`, `approve` …
    #[must_use]
    pub fn verb(&self) -> &'static str {
        match self {
            Act::Answer { .. } => "answer",
            Act::Approve { .. } => "approve",
            Act::Reject { .. } => "reject",
            Act::Retry { .. } => "retry",
            Act::Waive { .. } | Act::WaiveCommitment { .. } => "waive",
            Act::Drop { .. } => "drop",
            Act::Merge { .. } => "merge",
            Act::Wake { .. } => "wake",
            Act::Kill { .. } => "kill",
            Act::Undep { .. } => "undep",
            Act::Reopen { .. } => "reopen",
            Act::Close { .. } => "close",
            Act::ByHand { .. } => "by hand",
        }
    }

    /// What an act lets pass, as the end of a sentence; none where its line says all.
    #[must_use]
    pub fn lets_pass(&self) -> Option<&'static str> {
        match self {
            Act::Waive { .. } => Some(UNSEEN),
            Act::WaiveCommitment { .. } => Some("excuses that commitment alone"),
            Act::Answer { .. }
            | Act::Approve { .. }
            | Act::Reject { .. }
            | Act::Retry { .. }
            | Act::Drop { .. }
            | Act::Merge { .. }
            | Act::Wake { .. }
            | Act::Kill { .. }
            | Act::Undep { .. }
            | Act::Reopen { .. }
            | Act::Close { .. }
            | Act::ByHand { .. } => None,
        }
    }

    /// True if a person's own text belongs to it: an answer, the reason of a waiver.
    #[must_use]
    pub fn wants_text(&self) -> bool {
        match self {
            Act::Answer { .. } | Act::Reject { .. } | Act::Waive { .. } | Act::WaiveCommitment { .. } => true,
            Act::Approve { .. }
            | Act::Retry { .. }
            | Act::Drop { .. }
            | Act::Merge { .. }
            | Act::Wake { .. }
            | Act::Kill { .. }
            | Act::Undep { .. }
            | Act::Reopen { .. }
            | Act::Close { .. }
            | Act::ByHand { .. } => false,
        }
    }

    /// The command that does it, with a person's text where it wants one; none for what is done to files.
    #[must_use]
    pub fn command(&self, text: &str) -> Option<Command> {
        let text = text.to_owned();
        Some(match self.clone() {
            Act::Answer { agent, question } => Command::Answer {
                agent,
                text,
                question: Some(question),
            },
            Act::Approve { ticket, tip } => Command::Approve {
                ticket,
                tip: tip.map(|tip| tip.as_str().to_owned()),
            },
            Act::Reject { ticket } => Command::Reject { ticket, why: text },
            Act::Retry { ticket } => Command::Retry { ticket },
            Act::Waive { ticket } => Command::Waive { ticket, reason: text },
            Act::WaiveCommitment { ticket, number } => Command::WaiveCommitment {
                ticket,
                id: number,
                reason: text,
            },
            Act::Drop { ticket } => Command::Drop { ticket, reason: text },
            Act::Merge { ticket } => Command::Merge { ticket },
            Act::Wake { agent } => Command::Wake { agent },
            Act::Kill { agent } => Command::Kill { agent },
            Act::Undep { .. } | Act::Reopen { .. } | Act::Close { .. } | Act::ByHand { .. } => return None,
        })
    }
}
