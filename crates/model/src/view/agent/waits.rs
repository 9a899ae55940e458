//! What an agent waits for, and who ends that.

use serde::Serialize;

use crate::attempt::{self, Attempt, Stuck, Working};
use crate::call::Call;
use crate::conversation::Conversation;
use crate::policy::attention::{self, Reason};
use crate::policy::failure;
use crate::target::Target;
use crate::ticket::{Stage, State, Ticket};
use crate::view::{self, Snapshot};
use crate::{Look, TicketId, Time};

/// The reason and the end of an agent's wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// For what, in words: partly text of the agent, not sanitised.
    pub what: String,
    /// Until when at most; none when nothing but a fact ends it.
    pub until: Option<Time>,
    /// Who ends it.
    pub ended_by: EndedBy,
}

/// Who ends the wait of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EndedBy {
    /// A person, who has to act.
    Person,
    /// Whoever mends the target, or the next try of its checks.
    Target,
    /// An engine, at the end of the wait at the latest.
    Engine,
}

impl Waits {
    /// The wait in words, with how it ends while no engine runs.
    pub(in crate::view) fn without_engine(&self, look: Look) -> String {
        let due = match self.ended_by {
            EndedBy::Person => String::new(),
            EndedBy::Target => format!(", and goes on {}", look.by_itself()),
            EndedBy::Engine => {
                let due = look.due(self.until.unwrap_or(look.now));
                format!(", and goes on {}", due.unwrap_or_default())
            }
        };
        format!("waits for {}{due}", self.what)
    }
}

impl EndedBy {
    /// The end of a wait that a person may end earlier.
    pub(super) fn at(until: Option<Time>) -> Self {
        match until {
            Some(_) => Self::Engine,
            None => Self::Person,
        }
    }
}

impl Snapshot {
    /// The wait for its harness, which is paused: no next step is started, whatever the agent did. As of the
    /// journal's last row; a frontend checks whether the time has passed.
    pub(super) fn paused(&self, ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
        let next = match &attempt.state {
            attempt::State::Ready => attempt.resumes_at,
            attempt::State::Working(working) => working.due,
            attempt::State::Preparing
            | attempt::State::WaitingForInput { .. }
            | attempt::State::WaitingForWakeup { .. }
            | attempt::State::WaitingForChildren { .. }
            | attempt::State::Verifying
            | attempt::State::Done
            | attempt::State::Stuck { .. } => return None,
        };
        if ticket.held.is_some() || attempt.conversation.has_live_worker() {
            return None;
        }
        let harness = &attempt.conversation.harness.name;
        let pause = self.project.paused.get(harness)?;
        if !pause.holds(self.at) || next.is_some_and(|next| !pause.outlasts(Some(next))) {
            return None;
        }
        let what = match pause.until {
            Some(_) => format!("{harness} ({}): {}", pause.class.name(), pause.message),
            None => format!("a person: {}", attention::refused(harness, pause)),
        };
        Some(Waits {
            what,
            until: pause.until,
            ended_by: EndedBy::at(pause.until),
        })
    }
}

impl Snapshot {
    /// What an agent waits for; none while it works.
    pub(super) fn waits(&self, ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
        if let attempt::State::WaitingForChildren { ids, then } = &attempt.state
            && ticket.held.is_none()
        {
            let open = view::open_children(&self.tickets, ticket);
            return Some(for_children(&open, ids.len(), then.is_some()));
        }
        if ticket.held.is_some() || !attempt.is_between_steps() {
            return waits(ticket, attempt);
        }
        if let Some(pause) = &self.project.pause {
            return Some(Waits {
                what: format!("the next day's budget: {} are spent today", pause.budget),
                until: Some(pause.until),
                ended_by: EndedBy::Engine,
            });
        }
        match self.target_of(ticket, attempt) {
            Some((target, why)) => Some(Waits {
                what: format!("the target: {why}"),
                until: target.retry_at,
                ended_by: EndedBy::Target,
            }),
            None => waits(ticket, attempt),
        }
    }

    /// The target that the next step of an agent waits for, with the reason in words; none where the target
    /// is not in its way.
    pub(super) fn target_of(&self, ticket: &Ticket, attempt: &Attempt) -> Option<(&Target, String)> {
        let needs_it = ticket.held.is_none() && attempt.needs_target();
        let target = self.project.target.as_deref().filter(|_| needs_it)?;
        Some((target, target.in_the_way()?))
    }
}

fn waits(ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
    let waits_for = |what: &str, ended_by| {
        Some(Waits {
            what: what.to_owned(),
            until: None,
            ended_by,
        })
    };
    let fact = |what| waits_for(what, EndedBy::Engine);
    if let Some(held) = &ticket.held {
        return Some(Waits {
            what: Reason::Held(held).to_string(),
            until: held.retry_at,
            ended_by: EndedBy::at(held.retry_at),
        });
    }
    if attempt.conversation.has_live_worker() {
        return for_process(&attempt.conversation);
    }
    match &attempt.state {
        attempt::State::Preparing | attempt::State::Ready | attempt::State::Working(_) => for_engine(attempt),
        attempt::State::WaitingForInput { question, until } => Some(Waits {
            what: format!("an answer: {question}"),
            until: *until,
            ended_by: EndedBy::at(*until),
        }),
        attempt::State::WaitingForWakeup { at, why } => Some(Waits {
            what: format!("its wakeup: {why}"),
            until: Some(*at),
            ended_by: EndedBy::Engine,
        }),
        attempt::State::WaitingForChildren { ids, then } => {
            Some(for_children(ids, ids.len(), then.is_some()))
        }
        attempt::State::Verifying | attempt::State::Done => verification(ticket),
        attempt::State::Stuck { why } => match why {
            Stuck::Errors => fact("recovery, after too many failed steps in a row"),
            Stuck::Auth => waits_for("a person: the credentials are refused", EndedBy::Person),
            Stuck::NoProgress => waits_for("a person: the same failure came three times", EndedBy::Person),
        },
    }
}

/// The wait for what an engine does next: its workspace, or a step. None while a step runs, and where it
/// waits for something else.
pub(in crate::view) fn for_engine(attempt: &Attempt) -> Option<Waits> {
    if attempt.conversation.has_live_worker() {
        return None;
    }
    let (what, until) = match &attempt.state {
        attempt::State::Preparing => ("its workspace".to_owned(), None),
        attempt::State::Ready if attempt.resumes_at.is_some() => {
            let what = "its next step, after too many failed steps in a row";
            (what.to_owned(), attempt.resumes_at)
        }
        attempt::State::Ready => ("its first step".to_owned(), None),
        attempt::State::Working(working) => {
            let what = after_failure(attempt, working);
            (what.unwrap_or_else(|| "its next step".to_owned()), working.due)
        }
        attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. }
        | attempt::State::Verifying
        | attempt::State::Done
        | attempt::State::Stuck { .. } => return None,
    };
    Some(Waits {
        what,
        until,
        ended_by: EndedBy::Engine,
    })
}

/// The wait for the end of a process that has nothing more to do; none while it works.
pub(in crate::view) fn for_process(conversation: &Conversation) -> Option<Waits> {
    let what = match (&conversation.stopping, &conversation.result) {
        (Some(_), _) => "its step, which is being stopped, to end".to_owned(),
        (None, Some(called)) => format!(
            "its process to end: {}, and crew stops the process after `exit_within`",
            has_stated(&called.call)
        ),
        (None, None) => return None,
    };
    Some(Waits {
        what,
        until: None,
        ended_by: EndedBy::Engine,
    })
}

/// The result that an agent has stated by a call, as a clause.
fn has_stated(call: &Call) -> &'static str {
    match call {
        Call::SubmitWork { .. } => "it has submitted its work",
        Call::ReportBlocked { .. } => "it has reported that it is blocked",
        Call::Ask { .. } => "it has asked",
        Call::SleepUntil { .. } => "it has asked to be woken",
        Call::ApproveWork { .. } | Call::RejectWork { .. } | Call::FailWork { .. } => {
            "it has given its verdict"
        }
        Call::TicketShow {}
        | Call::TeamComment { .. }
        | Call::ReportProgress { .. }
        | Call::AddCommitment { .. }
        | Call::SetMode { .. }
        | Call::CreateTicket { .. }
        | Call::Delegate { .. }
        | Call::TeamList {}
        | Call::TeamKill { .. } => "it has stated its result",
    }
}

/// The wait for children: those that are not over, of so many.
fn for_children(open: &[TicketId], all: usize, are_ended: bool) -> Waits {
    let open = match open {
        [] => "its children".to_owned(),
        open => format!("its children {}", attention::unfinished(open, all)),
    };
    let ends = if are_ended { ", which are being ended" } else { "" };
    Waits {
        what: open + ends,
        until: None,
        ended_by: EndedBy::Engine,
    }
}

/// The next step that follows a failed one, in words; none where none has failed.
pub(in crate::view) fn after_failure(attempt: &Attempt, working: &Working) -> Option<String> {
    let failure = attempt.conversation.throttled.as_ref().map(|t| &t.failure);
    let failure = failure.or(attempt.conversation.failure.as_ref());
    let failure = failure.filter(|_| working.due.is_some())?;
    let count = failure::in_a_row(
        failure.class,
        attempt.conversation.errors,
        attempt.conversation.in_a_row,
    );
    let count = count.map(|count| format!(", {count}")).unwrap_or_default();
    Some(format!(
        "its next step, after a failure ({}{count}): {}",
        failure.class.name(),
        failure.message
    ))
}

fn verification(ticket: &Ticket) -> Option<Waits> {
    let State::Verify(verify) = &ticket.state else {
        return None;
    };
    let is_in_the_way = matches!(
        verify.stage,
        Stage::Landing { waiting: Some(_), .. } | Stage::Proposed(_)
    );
    let asks = ticket.open_question();
    let ended_by = match (is_in_the_way, asks) {
        (true, _) => EndedBy::Person,
        (false, Some(asks)) => EndedBy::at(asks.until),
        (false, None) => EndedBy::Engine,
    };
    let (what, until) = match &verify.stage {
        Stage::Queued => {
            let uncoupled = verify.train.uncoupled.as_ref();
            let why = uncoupled.map(|uncoupled| format!(" ({})", uncoupled.why.story()));
            (format!("its turn to be checked{}", why.unwrap_or_default()), None)
        }
        Stage::Building => ("the merge with the target".to_owned(), None),
        Stage::Checking(checks) => match view::checking(checks, None) {
            Some(check) => (format!("the checks: {check}"), None),
            None => ("the checks".to_owned(), None),
        },
        Stage::InTrain(entry) => (
            format!("the merge train: {}", view::standing::in_train(entry)),
            None,
        ),
        Stage::Reviewing(reviewing) => match reviewing.open() {
            Some(review) if let Some(asks) = &review.asks => (
                format!("the review by {}, who asks: {}", review.agent, asks.question),
                asks.until,
            ),
            Some(review) => (format!("the review by {}", review.agent), reviewing.waits_until()),
            None => ("a gatekeeper".to_owned(), reviewing.due),
        },
        Stage::Landing { waiting: None, .. } => ("landing".to_owned(), None),
        Stage::Landing {
            waiting: Some(waiting),
            ..
        } => (
            format!("a person: {}", attention::edits(&waiting.paths)),
            Some(waiting.retry_at),
        ),
        Stage::Unified { is_saved } => (view::standing::unified(ticket, *is_saved), None),
        Stage::Proposed(proposal) => (view::standing::in_proposal(ticket, proposal), proposal.due),
    };
    Some(Waits {
        what,
        until,
        ended_by,
    })
}
