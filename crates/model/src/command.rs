//! Commands of frontends to the engine: bodies of the store's command inbox.

use serde::{Deserialize, Serialize};

use crate::attempt::Mode;
use crate::call::Call;
use crate::commitment::Promise;
use crate::ticket::{FileStatus, Ticket};
use crate::view::standing_since;
use crate::{Actor, AgentName, Fence, Oid, RunId, TicketId, Time};

/// A command in the inbox.
#[derive(Clone, Debug, PartialEq)]
pub struct Asked {
    /// Its place in the inbox.
    pub number: u64,
    /// Its id.
    pub id: String,
    /// The person who asked.
    pub by: String,
    /// The time of the request.
    pub at: Time,
    /// The command itself.
    pub command: Command,
}

/// A command, as stored. The inbox adds an id, who asked and when.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "command", rename_all = "snake_case")]
pub enum Command {
    /// One more agent of that name.
    Spawn {
        /// Its name.
        name: AgentName,
    },
    /// `count` more agents, named by crew.
    SpawnMany {
        /// The number of agents.
        count: u32,
    },
    /// Give this ticket to this agent now, out of turn.
    Assign {
        /// The name of the agent.
        agent: AgentName,
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Stop the agent's process; its ticket goes back, held.
    Kill {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Remove the agent's workspace; its work is kept under a ref.
    Cleanup {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Bring a ticket to landing by hand, through the same gate.
    Merge {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Try a held ticket again, its attempts fresh.
    Retry {
        /// The id of the ticket.
        ticket: TicketId,
    },
    /// Give a ticket up; its work is kept under a ref.
    Drop {
        /// The id of the ticket.
        ticket: TicketId,
        /// The reason, in words.
        reason: String,
    },
    /// A person has set the status of a ticket: its file says so by a person's word, whoever wrote it.
    SetStatus {
        /// The id of the ticket.
        ticket: TicketId,
        /// The status.
        status: FileStatus,
        /// The ticket's fence as the person saw it: a ticket that was given out since has moved on.
        fence: Fence,
    },
    /// Let a held ticket pass in spite of the reason that holds it.
    Waive {
        /// The id of the ticket.
        ticket: TicketId,
        /// The reason, in words.
        reason: String,
    },
    /// Let a ticket's work land without meeting a commitment.
    WaiveCommitment {
        /// The id of the ticket.
        ticket: TicketId,
        /// The number of the commitment.
        id: u32,
        /// The reason, in words.
        reason: String,
    },
    /// Add a commitment to a ticket.
    CommitTo {
        /// The id of the ticket.
        ticket: TicketId,
        /// The promise.
        promise: Promise,
    },
    /// Approve the sensitive paths a ticket touches, its commitments, or its work in a gatekeeper's place.
    Approve {
        /// The id of the ticket.
        ticket: TicketId,
        /// The branch's tip that the person has looked at, or the beginning of its name: another one is not
        /// approved. None for whichever it has.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        tip: Option<String>,
    },
    /// Send work that is in review back to its agent.
    Reject {
        /// The id of the ticket.
        ticket: TicketId,
        /// The reason, in words.
        why: String,
    },
    /// Answer an agent's question.
    Answer {
        /// The name of the agent that asked.
        agent: AgentName,
        /// The answer.
        text: String,
        /// The question that it answers, so that a late answer is not taken for one to another question; none
        /// for whichever question is open.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        question: Option<Question>,
    },
    /// Wake an agent before its time.
    Wake {
        /// The name of the agent, for a wait of one agent only.
        agent: AgentName,
    },
    /// Tell an agent something: its next prompt says it.
    Say {
        /// The name of the agent.
        agent: AgentName,
        /// The words.
        text: String,
    },
    /// Have an agent come to an end: one more step, which says so.
    Bait {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Give an agent up for good: its step is stopped, its ticket goes back, held, and its name is retired.
    Reap {
        /// The name of the agent.
        agent: AgentName,
    },
    /// Set an agent's task mode.
    SetMode {
        /// The name of the agent.
        agent: AgentName,
        /// The mode.
        mode: Mode,
    },
    /// Take a ticket back to a commit of an earlier attempt.
    Rewind {
        /// The id of the ticket.
        ticket: TicketId,
        /// The commit.
        commit: Oid,
        /// The event of its history that the person named.
        at: u64,
    },
    /// End the engine.
    Stop {
        /// The fate of the running steps.
        running: OnStop,
    },
    /// A command that holds only while its ticket is as the person saw it.
    IfSeen {
        /// The ticket as the person saw it.
        seen: Seen,
        /// The command itself.
        then: Box<Command>,
    },
    /// A command that holds only while an agent has no ticket: an idle agent has nothing else that a person
    /// could have seen of it.
    IfIdle {
        /// The name of the agent.
        agent: AgentName,
        /// The command itself.
        then: Box<Command>,
    },
    /// An agent calls a tool in its step.
    Tool {
        /// The run of the step.
        run: RunId,
        /// The fence of its claim or review.
        fence: Fence,
        /// The call.
        call: Call,
    },
}

impl Asked {
    /// Who asks: a call is its agent's, every other command a person's.
    #[must_use]
    pub fn actor(&self) -> Actor {
        match self.command.bare() {
            Command::Tool { run, .. } => Actor::Agent { run: run.clone() },
            Command::Spawn { .. }
            | Command::SpawnMany { .. }
            | Command::Assign { .. }
            | Command::Kill { .. }
            | Command::Cleanup { .. }
            | Command::Merge { .. }
            | Command::Retry { .. }
            | Command::Drop { .. }
            | Command::SetStatus { .. }
            | Command::Waive { .. }
            | Command::WaiveCommitment { .. }
            | Command::CommitTo { .. }
            | Command::Approve { .. }
            | Command::Reject { .. }
            | Command::Answer { .. }
            | Command::Wake { .. }
            | Command::Say { .. }
            | Command::Bait { .. }
            | Command::Reap { .. }
            | Command::SetMode { .. }
            | Command::Rewind { .. }
            | Command::IfSeen { .. }
            | Command::IfIdle { .. }
            | Command::Stop { .. } => Actor::named(&self.by),
        }
    }
}

impl Command {
    /// The command without its condition.
    #[must_use]
    pub fn bare(&self) -> &Command {
        let mut bare = self;
        while let Command::IfSeen { then, .. } | Command::IfIdle { then, .. } = bare {
            bare = then;
        }
        bare
    }

    /// The ticket that it is about, where it names one.
    #[must_use]
    pub fn ticket(&self) -> Option<&TicketId> {
        match self {
            Command::Assign { ticket, .. }
            | Command::Merge { ticket }
            | Command::Retry { ticket }
            | Command::Drop { ticket, .. }
            | Command::SetStatus { ticket, .. }
            | Command::Waive { ticket, .. }
            | Command::WaiveCommitment { ticket, .. }
            | Command::Reject { ticket, .. }
            | Command::CommitTo { ticket, .. }
            | Command::Rewind { ticket, .. }
            | Command::Approve { ticket, .. } => Some(ticket),
            Command::Answer { question, .. } => question.as_ref().map(|question| &question.ticket),
            Command::IfSeen { then, .. } | Command::IfIdle { then, .. } => then.ticket(),
            Command::Spawn { .. }
            | Command::SpawnMany { .. }
            | Command::Kill { .. }
            | Command::Cleanup { .. }
            | Command::Wake { .. }
            | Command::Stop { .. }
            | Command::Tool { .. }
            | Command::Say { .. }
            | Command::Bait { .. }
            | Command::Reap { .. }
            | Command::SetMode { .. } => None,
        }
    }
}

/// A ticket as a person saw it when they decided on an act.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// The ticket.
    pub ticket: TicketId,
    /// Its fence: another claim is another attempt.
    pub fence: Fence,
    /// The time since which it stood as it did; none for an act that only depends on the claim.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub since: Option<Time>,
}

impl Seen {
    /// A ticket as it is.
    #[must_use]
    pub fn of(ticket: &Ticket) -> Self {
        Self {
            ticket: ticket.id.clone(),
            fence: ticket.fence,
            since: standing_since(ticket),
        }
    }

    /// Whether the ticket still is as it was seen.
    #[must_use]
    pub fn holds(&self, ticket: &Ticket) -> bool {
        let now = Self::of(ticket);
        self.ticket == now.ticket
            && self.fence == now.fence
            && self.since.is_none_or(|since| now.since == Some(since))
    }

    /// The mark that stands for it in a document: `FENCE` or `FENCE.SINCE`, in milliseconds since 1970.
    #[must_use]
    pub fn mark(&self) -> String {
        match self.since {
            Some(since) => format!("{}.{}", self.fence.0, since.0),
            None => self.fence.0.to_string(),
        }
    }

    /// Reads the mark of a ticket; none where it is no such mark.
    #[must_use]
    pub fn from_mark(ticket: TicketId, mark: &str) -> Option<Self> {
        let (fence, since) = match mark.split_once('.') {
            Some((fence, since)) => (fence, Some(Time(since.parse().ok()?))),
            None => (mark, None),
        };
        Some(Self {
            ticket,
            fence: Fence(fence.parse().ok()?),
            since,
        })
    }
}

/// A question that an agent asked about a ticket.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Question {
    /// About which ticket.
    pub ticket: TicketId,
    /// Its number: the questions about a ticket are counted from 1, whichever agent asked them.
    pub number: u32,
}

impl Question {
    /// The question that the ticket's agent or its gatekeeper waits with; none when it has asked nothing.
    #[must_use]
    pub fn of(ticket: &Ticket) -> Option<Self> {
        ticket.open_question().map(|_| Self::last(ticket))
    }

    /// The question that an answer goes to: the open one, or the one whose answer its agent has not been
    /// given yet.
    #[must_use]
    pub fn answerable(ticket: &Ticket) -> Option<Self> {
        ticket.answerable().map(|_| Self::last(ticket))
    }

    fn last(ticket: &Ticket) -> Self {
        Self {
            ticket: ticket.id.clone(),
            number: ticket.questions,
        }
    }
}

/// The fate of running steps when the engine stops.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum OnStop {
    /// They are waited for.
    Finish,
    /// They run on, and are adopted by the next engine.
    Leave,
    /// They are stopped.
    Kill,
}

/// The engine's answer to a command.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The command is done, or begun; the events show the rest.
    Accepted {
        /// The action that was begun, for people.
        message: String,
    },
    /// Not possible now.
    Refused {
        /// The reason, and a remedy.
        why: String,
    },
}
