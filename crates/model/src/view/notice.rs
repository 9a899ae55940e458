//! Notices: the events that whoever leads the agents wants to know of, each in one of a few kinds.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Row, describe_with};
use crate::attempt::{self, Signal};
use crate::journal::{Fact, State};
use crate::ticket::{self, AfterLanding, Done, Event, ReviewEvent, Ticket, Why};
use crate::{Actor, AgentName, Moment, TicketId, Time, project};

/// Something that whoever leads the agents wants to know.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, JsonSchema)]
pub struct Notice {
    /// The row of the journal that records it: the same for ever, and greater than those before it.
    pub id: u64,
    /// The time at which it happened.
    #[serde(serialize_with = "crate::moment::one")]
    #[schemars(with = "Moment")]
    pub at: Time,
    /// The kind.
    pub kind: Kind,
    /// The ticket; `null` for what is no ticket's.
    pub ticket: Option<TicketId>,
    /// The ticket's title: text of its author, not sanitised.
    pub title: Option<String>,
    /// The agent at work on it, or whose work it was; `null` where there is none.
    pub agent: Option<AgentName>,
    /// The notice in words, maybe of several lines: partly text of agents, not sanitised.
    pub says: String,
}

/// The kind of a notice.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// The work on a ticket is done and submitted; or the ticket needs none any more.
    Completed,
    /// An attempt has ended without its work, or its ticket was given up.
    Failed,
    /// Somebody wrote a note on a ticket.
    Comment,
    /// A step is silent, or an agent has failed too many times in a row.
    Stuck,
    /// An agent asks something, and waits for the answer.
    Question,
    /// A ticket waits for a person.
    Held,
    /// A budget is spent, or nearly.
    Budget,
    /// The work is on the target branch.
    Landed,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 8] = [
        Self::Completed,
        Self::Failed,
        Self::Comment,
        Self::Stuck,
        Self::Question,
        Self::Held,
        Self::Budget,
        Self::Landed,
    ];

    /// Its name on every surface and in the settings.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Completed => "completed",
            Self::Failed => "failed",
            Self::Comment => "comment",
            Self::Stuck => "stuck",
            Self::Question => "question",
            Self::Held => "held",
            Self::Budget => "budget",
            Self::Landed => "landed",
        }
    }

    /// Its symbol.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Completed | Self::Landed => "✓",
            Self::Failed => "✗",
            Self::Comment => "·",
            Self::Stuck | Self::Held | Self::Budget => "!",
            Self::Question => "?",
        }
    }
}

/// The notice that a row of the journal is; none for a row that is none. Where the attempt is over with the
/// row, its agent is in the state before it.
#[must_use]
pub fn notice(row: Row<'_>) -> Option<Notice> {
    let says = || describe_with(row.fact, row.after);
    let (kind, says, ticket) = match (row.fact, row.after) {
        (Fact::Project(event), State::Project(_)) => (of_project(event)?, says(), None),
        (Fact::Ticket(event), State::Ticket(ticket)) => {
            let kind = of_ticket(event, ticket)?;
            let more = more(event, ticket).map(|more| format!("; {more}"));
            let says = says() + &more.unwrap_or_default();
            (kind, says, Some(&**ticket))
        }
        // Such a row cannot be written.
        (Fact::Project(_), State::Ticket(_)) | (Fact::Ticket(_), State::Project(_)) => return None,
    };
    Some(Notice {
        id: row.seq,
        at: row.at,
        kind,
        ticket: ticket.map(|ticket| ticket.id.clone()),
        title: ticket.map(|ticket| ticket.spec.title.clone()),
        agent: ticket
            .and_then(agent)
            .filter(|_| !is_note_of_others(row.fact))
            .cloned(),
        says,
    })
}

/// Whether somebody else than an agent has written a note: its words name who.
fn is_note_of_others(fact: &Fact) -> bool {
    let Fact::Ticket(Event::Commented { by, .. }) = fact else {
        return false;
    };
    !matches!(by, Actor::Agent { .. })
}

fn agent(ticket: &Ticket) -> Option<&AgentName> {
    match &ticket.state {
        ticket::State::Done(Done::Landed { agent, .. }) => Some(agent),
        ticket::State::Done(
            Done::Failed { .. }
            | Done::NotNeeded
            | Done::Replaced { .. }
            | Done::Dropped { .. }
            | Done::ClosedByPerson,
        )
        | ticket::State::New
        | ticket::State::Open => None,
        ticket::State::InProgress(_) | ticket::State::Verify(_) => {
            let open = ticket.reviewing().and_then(ticket::Reviewing::open);
            let speaks =
                |review: &&ticket::Review| review.conversation.quiet.is_some() || review.asks.is_some();
            let of_review = open.filter(speaks);
            let attempt = ticket.attempt().map(|attempt| &attempt.claim.agent);
            of_review.map(|review| &review.agent).or(attempt)
        }
    }
}

fn of_project(event: &project::Event) -> Option<Kind> {
    match event {
        project::Event::DayBudgetLow { .. } | project::Event::DayBudgetSpent { .. } => Some(Kind::Budget),
        project::Event::Opened
        | project::Event::Initialized
        | project::Event::AgentsBusy
        | project::Event::AgentsIdle
        | project::Event::Closing
        | project::Event::Closed
        | project::Event::AgentSpawned { .. }
        | project::Event::AgentRetired { .. }
        // The ticket whose step was refused is held for it, where nothing but a person ends the pause.
        | project::Event::HarnessPaused { .. }
        | project::Event::HarnessFreed { .. }
        | project::Event::DayBudgetFree
        | project::Event::Target(_)
        | project::Event::Moved(_) => None,
    }
}

/// The kind of notice that a hold is; none for a ticket that is not held.
fn held(ticket: &Ticket) -> Option<Kind> {
    let held = ticket.held.as_ref()?;
    Some(match &held.why {
        Why::Budget { .. } => Kind::Budget,
        Why::Failed | Why::Killed | Why::Reaped | Why::NoProgress => Kind::Failed,
        Why::Blocked
        | Why::CouldNotRun
        | Why::Landing
        | Why::TargetRed
        | Why::Auth
        | Why::Paths { .. }
        | Why::Secrets { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Conflict
        | Why::Review
        | Why::Hold
        | Why::Diverged
        | Why::Closed => Kind::Held,
    })
}

/// What became of a ticket after a failure: none where its agent works on.
fn after_failure(ticket: &Ticket) -> Option<Kind> {
    let is_open = matches!(ticket.state, ticket::State::Open);
    held(ticket).or(is_open.then_some(Kind::Failed))
}

fn of_step(event: &attempt::Event, ticket: &Ticket) -> Option<Kind> {
    match event {
        attempt::Event::StepFinished { signal, .. } => match (&ticket.state, signal) {
            // The work of a child is done once it is its parent's.
            (ticket::State::Verify(_), _) => ticket.delegated().is_none().then_some(Kind::Completed),
            (ticket::State::InProgress(attempt), Signal::Asked { .. }) if attempt.question().is_some() => {
                Some(Kind::Question)
            }
            // Its parts are tickets of their own.
            (ticket::State::Open, Signal::BrokenUp { .. }) => None,
            (_, _) => after_failure(ticket),
        },
        attempt::Event::StepFailed { .. } => {
            let attempt = ticket.attempt();
            let is_stuck = attempt.is_some_and(|one| matches!(one.state, attempt::State::Stuck { .. }));
            after_failure(ticket).or(is_stuck.then_some(Kind::Stuck))
        }
        attempt::Event::Recovered { .. } => after_failure(ticket),
        attempt::Event::WentQuiet(_) => Some(Kind::Stuck),
        attempt::Event::WorkspaceReady { .. }
        | attempt::Event::StepStarted { .. }
        | attempt::Event::WorkerSpawned
        | attempt::Event::StopOrdered { .. }
        | attempt::Event::Answered { .. }
        | attempt::Event::Woken
        | attempt::Event::WokenEarly { .. }
        | attempt::Event::WaitTimedOut
        | attempt::Event::Retried { .. }
        | attempt::Event::TicketEdited
        | attempt::Event::Submitted
        | attempt::Event::ChecksPassed
        | attempt::Event::Returned { .. }
        | attempt::Event::Stirred
        | attempt::Event::Delegated { .. }
        | attempt::Event::ChildrenEndOrdered { .. }
        | attempt::Event::ChildrenOver { .. }
        | attempt::Event::Called { .. }
        | attempt::Event::ModeSet { .. }
        | attempt::Event::ModeAnnounced { .. }
        | attempt::Event::Said { .. }
        | attempt::Event::Baited { .. } => None,
    }
}

fn of_ticket(event: &Event, ticket: &Ticket) -> Option<Kind> {
    match event {
        Event::Attempt(event) => of_step(event, ticket),
        Event::Review { event, .. } => match event {
            ReviewEvent::WentQuiet(_) => Some(Kind::Stuck),
            ReviewEvent::Asked { .. } => Some(Kind::Question),
            ReviewEvent::Started { .. }
            | ReviewEvent::Spawned
            | ReviewEvent::StopOrdered { .. }
            | ReviewEvent::Finished { .. }
            | ReviewEvent::Failed { .. }
            | ReviewEvent::VerdictNoted { .. }
            | ReviewEvent::Called { .. }
            | ReviewEvent::Stirred
            | ReviewEvent::Answered { .. }
            | ReviewEvent::WaitTimedOut => None,
        },
        Event::Submitted { .. } => ticket.delegated().is_none().then_some(Kind::Completed),
        Event::Unified { .. } | Event::RecoveryNotNeeded | Event::ClosedByPerson { .. } => Some(Kind::Completed),
        Event::RecoveryLanded { replaces, .. } => replaces.then_some(Kind::Completed),
        Event::Landed { .. } | Event::LandedWithParent { .. } => Some(Kind::Landed),
        // A child that crew drops is one that its parent goes on without: what was wrong with it was told.
        Event::Dropped { by: Actor::Engine, .. } if ticket.delegated().is_some() => None,
        Event::WorkFailed { .. } | Event::Dropped { .. } => Some(Kind::Failed),
        // Its first ancestor is held for the same budget, and goes on by a person's word.
        Event::BudgetSpent { .. } if ticket.delegated().is_some() => None,
        Event::Released { .. }
        | Event::ChecksFailed { .. }
        | Event::TrialFailed { .. }
        | Event::CommitmentUnmet { .. }
        | Event::NoCommits { .. }
        | Event::Conflicted { .. }
        | Event::Rejected { .. }
        | Event::Returned { .. }
        | Event::ChangesRequested { .. } => after_failure(ticket),
        Event::CommitmentsHeld { .. }
        | Event::TestsHeld { .. }
        | Event::CouldNotRun { .. }
        | Event::TargetRed { .. }
        | Event::Diverged { .. }
        | Event::Sensitive { .. }
        | Event::ReviewCrashed { .. }
        | Event::ReviewGaveUp { .. }
        | Event::ReviewRefused { .. }
        | Event::NobodyReviews { .. }
        | Event::LeftToPerson
        | Event::NotLanded
        | Event::ProposalUnseen { .. }
        | Event::ProposalClosed
        | Event::BudgetSpent { .. } => held(ticket),
        Event::FileUnheeded { change } => change.asks().then_some(Kind::Held),
        Event::Created { .. }
        | Event::Edited { .. }
        | Event::WriterDoubted { .. }
        | Event::VouchedFor { .. }
        | Event::Claimed { .. }
        | Event::CheckStarted
        | Event::Coupled { .. }
        | Event::JoinedTrain { .. }
        | Event::TrialPassed { .. }
        | Event::TrialCancelled
        | Event::Uncoupled { .. }
        | Event::BatchLanding { .. }
        | Event::BatchPutOff { .. }
        | Event::CandidateBuilt { .. }
        | Event::CheckOrdered { .. }
        | Event::CheckStopOrdered { .. }
        | Event::CheckEnded { .. }
        | Event::ChecksPassed { .. }
        | Event::CommitmentAdded { .. }
        | Event::CommitmentWaived { .. }
        | Event::CommitmentsApproved { .. }
        | Event::TestsApproved { .. }
        | Event::ReviewClaimed { .. }
        | Event::ApprovalKept { .. }
        | Event::Approved { .. }
        | Event::ReviewEndOrdered { .. }
        | Event::ReviewApproved { .. }
        | Event::EditReturned { .. }
        | Event::Proposed { .. }
        | Event::LookOrdered
        | Event::ProposalSeen { .. }
        | Event::TargetMoved
        // It is said again at each try to land, of which there is one every few seconds.
        | Event::CheckoutEdited { .. }
        | Event::LandingRetried
        | Event::RetryDue
        | Event::Retried { .. }
        | Event::Waived { .. }
        | Event::SensitiveApproved { .. }
        | Event::Reopened { .. }
        | Event::FileDrifted
        | Event::FileHeeded
        | Event::WorkFound
        | Event::WorkKept { .. }
        | Event::LeftoversFound { .. }
        | Event::BudgetRaised { .. }
        | Event::Delegated { .. }
        | Event::TicketMade { .. }
        // Its parent's agent decides.
        | Event::NotUnified { .. }
        | Event::ChildrenAbsent { .. }
        | Event::PartsOver { .. }
        | Event::Rewound { .. } => None,
        Event::Commented { .. } => Some(Kind::Comment),
        Event::LandingEndOrdered { then } => match then {
            AfterLanding::Hold { .. } => held(ticket),
            AfterLanding::Drop { .. } | AfterLanding::Retry { .. } | AfterLanding::Uncouple => None,
        },
    }
}

/// What the event's own words leave out, in words: the reason of a hold, or the agent's summary of its work.
fn more(event: &Event, ticket: &Ticket) -> Option<String> {
    if let Event::Commented { .. } = event {
        return None;
    }
    if let Some(held) = &ticket.held {
        return Some(format!("it is held ({}): {}", held.why.name(), held.note));
    }
    if matches!(ticket.state, ticket::State::Open) {
        return Some("its attempt is over".to_owned());
    }
    // The end of a step has it in its words already.
    let is_said = !matches!(event, Event::Submitted { .. } | Event::Unified { .. });
    let attempt = ticket.attempt().filter(|_| !is_said);
    attempt.and_then(|attempt| attempt.summary.clone())
}
