//! Standing: the state of a ticket in a word or two, and the reason.

use super::agent::{after_failure, for_engine, for_process};
use super::checking::checking;
use crate::attempt::{self, Attempt};
use crate::policy::attention::{Facts, Need, Others, Reason, attention, unfinished};
use crate::policy::review::is_gatekeeper;
use crate::policy::route::Refusal;
use crate::ticket::{Done, Entry, Label, Proposal, Reviewing, Stage, State, Ticket, Trial, Verify};
use crate::{AgentName, Look, TicketId, Time};

/// The state of a ticket in a word or two, and the reason.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// The key for a frontend's symbol and colour.
    pub sign: Sign,
    /// The state in a word or two.
    pub word: &'static str,
    /// The reason: partly text of agents and tickets, not sanitised.
    pub why: Option<String>,
}

/// The condition of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It does not move before a person has done something about it.
    Wrong,
    /// An agent waits for a person's word.
    Asks,
    /// A person's edits are in the way of its landing.
    InTheWay,
    /// Its agent sleeps, or it is not to be dispatched yet.
    Waits,
    /// It can be dispatched.
    Ready,
    /// Its agent has no step.
    Preparing,
    /// Its agent is at a step.
    Working,
    /// Its agent has ended.
    Ended,
    /// It is submitted, and others are before it.
    Queued,
    /// It is submitted, and looked at.
    Verifying,
    /// It is being landed.
    Landing,
    /// Not for agents.
    Apart,
    /// It has landed.
    Landed,
    /// It is over, and did not need to land.
    Closed,
    /// It is over, and was to land.
    Failed,
    /// A person gave it up.
    Dropped,
}

impl Sign {
    /// Its symbol, the same on every frontend.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Self::Wrong | Self::InTheWay => "!",
            Self::Asks => "?",
            Self::Waits | Self::Queued => "◌",
            Self::Ready => "○",
            Self::Preparing => "◐",
            Self::Working => "●",
            Self::Ended | Self::Verifying | Self::Landing => "◍",
            Self::Apart => "▪",
            Self::Landed | Self::Closed => "✓",
            Self::Failed | Self::Dropped => "✗",
        }
    }

    /// Its name, for programs.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Wrong => "wrong",
            Self::Asks => "asks",
            Self::InTheWay => "in_the_way",
            Self::Waits => "waits",
            Self::Ready => "ready",
            Self::Preparing => "preparing",
            Self::Working => "working",
            Self::Ended => "ended",
            Self::Queued => "queued",
            Self::Verifying => "verifying",
            Self::Landing => "landing",
            Self::Apart => "apart",
            Self::Landed => "landed",
            Self::Closed => "closed",
            Self::Failed => "failed",
            Self::Dropped => "dropped",
        }
    }
}

impl Standing {
    /// The standing of a ticket, with the facts that count beside it.
    #[must_use]
    pub fn of(ticket: &Ticket, facts: Facts<'_>, look: Look) -> Self {
        let need = attention(ticket, facts);
        if let Need::Person(reason) = &need {
            return of_reason(reason, look);
        }
        if let Need::Others(others @ Others::Blocker(_)) = &need {
            return new(Sign::Queued, "queued", Some(others.to_string()));
        }
        let mut standing = match &ticket.state {
            State::InProgress(attempt) => match facts.refusal {
                Some(Refusal::TargetUnchecked { .. }) if attempt.needs_target() => of_refusal(facts.refusal),
                Some(_) | None => of_attempt(attempt, facts.children, look),
            },
            State::Verify(verify) => of_stage(ticket, verify, look.now),
            State::Done(done) => of_end(ticket, done),
            State::Open | State::New => return of_refusal(facts.refusal),
        };
        if let Some(change) = &ticket.unheeded {
            let why = standing.why.map(|why| format!("{why}; "));
            standing.why = Some(why.unwrap_or_default() + &change.words());
        }
        standing
    }
}

/// The time since which a ticket stands as it does; none for one that only has a file so far.
#[must_use]
pub fn standing_since(ticket: &Ticket) -> Option<Time> {
    let since = match (&ticket.held, &ticket.state) {
        (Some(held), _) => held.since,
        (None, State::InProgress(attempt)) => attempt.since.max(ticket.since),
        (None, State::Verify(_)) => {
            let review = ticket.reviewing().and_then(Reviewing::open);
            review.map_or(ticket.since, |review| review.since.max(ticket.since))
        }
        (None, State::New | State::Open | State::Done(_)) => ticket.since,
    };
    Some(since).filter(|since| *since > Time(0))
}

/// A ticket that waits for a person.
fn of_reason(reason: &Reason<'_>, look: Look) -> Standing {
    let again = reason.until().and_then(|at| look.tried_again(at));
    let why = format!("{reason}{}", look.added(again));
    let (sign, word, why) = match reason {
        Reason::Held(_) => (Sign::Wrong, "held", why),
        // The name of the agent at work is shown next to it.
        Reason::Question { agent, .. } if is_gatekeeper(agent) => {
            (Sign::Asks, "asks", format!("{agent}: {}", reason.words()))
        }
        Reason::Question { .. } => (Sign::Asks, "asks", reason.words()),
        Reason::Edits(_) => (Sign::InTheWay, "landing", why),
        Reason::Proposal { .. } => {
            let next = reason.until().and_then(|at| look.looked_at_again(at));
            (Sign::Waits, "proposed", reason.words() + &look.added(next))
        }
        Reason::Failure(_) => (Sign::Wrong, "failing", why),
        Reason::Impossible(_) => (Sign::Failed, "failed", why),
        Reason::Harness { .. } => (Sign::Wrong, "paused", why),
        // The fault is shown once, for all tickets.
        Reason::Target(Refusal::TargetRed {
            out_of_reach: true, ..
        }) => (Sign::Waits, "waits", "no work can land on the target".to_owned()),
        Reason::Target(_) => (Sign::Waits, "waits", "the target is red".to_owned()),
        Reason::Dependency(_) | Reason::File(_) => (Sign::Wrong, "waits", why),
    };
    new(sign, word, Some(why))
}

fn new(sign: Sign, word: &'static str, why: Option<String>) -> Standing {
    Standing { sign, word, why }
}

/// `children`: those of its children that are not over, where that is known.
fn of_attempt(attempt: &Attempt, children: Option<&[TicketId]>, look: Look) -> Standing {
    if let Some(waits) = for_engine(attempt).filter(|_| !look.engine) {
        let why = Some(waits.without_engine(look));
        return match attempt.is_between_steps() {
            true => new(Sign::Waits, "waits", why),
            false => new(Sign::Preparing, attempt.state.name(), why),
        };
    }
    let failure = || {
        let failure = attempt.conversation.failure.as_ref();
        failure.map(|failure| format!("{}: {}", failure.class.name(), failure.message))
    };
    match &attempt.state {
        attempt::State::WaitingForInput { question, .. } => new(Sign::Asks, "asks", Some(question.clone())),
        attempt::State::WaitingForWakeup { why, .. } => new(Sign::Waits, "sleeps", Some(why.clone())),
        attempt::State::WaitingForChildren { ids, .. } => {
            let open = unfinished(children.unwrap_or(ids), ids.len());
            new(Sign::Waits, "delegates", Some(format!("waits for {open}")))
        }
        state @ attempt::State::Stuck { .. } => new(Sign::Wrong, state.name(), failure()),
        state @ (attempt::State::Preparing | attempt::State::Ready) => {
            new(Sign::Preparing, state.name(), None)
        }
        state @ attempt::State::Working(working) => {
            let conversation = &attempt.conversation;
            if let Some(waits) = for_process(conversation).filter(|_| conversation.has_live_worker()) {
                return new(
                    Sign::Working,
                    state.name(),
                    Some(format!("waits for {}", waits.what)),
                );
            }
            // A step that runs hides the failure of the one before it, and a harness that asks for time is
            // shown once, for all tickets.
            let waits = !conversation.has_live_worker() && conversation.throttled.is_none();
            let failed = waits.then(|| after_failure(attempt, working)).flatten();
            let why = failed.map(|what| {
                let due = working.due.and_then(|due| look.due(due));
                format!("waits for {what}{}", look.added(due))
            });
            new(Sign::Working, state.name(), why)
        }
        state @ (attempt::State::Verifying | attempt::State::Done) => new(Sign::Ended, state.name(), None),
    }
}

fn of_stage(ticket: &Ticket, verify: &Verify, now: Time) -> Standing {
    match &verify.stage {
        Stage::Queued => {
            let uncoupled = verify.train.uncoupled.as_ref();
            let why = match uncoupled {
                Some(uncoupled) => uncoupled.why.story(),
                None => "waits for its turn to be merged".to_owned(),
            };
            new(Sign::Queued, "queued", Some(why))
        }
        Stage::Building => new(Sign::Verifying, "merging", None),
        Stage::Checking(checks) => {
            let result = || format!("the merged result {}", checks.candidate.commit.short());
            let what = checking(checks, Some(now)).unwrap_or_else(result);
            new(Sign::Verifying, "checking", Some(what))
        }
        Stage::InTrain(entry) => new(Sign::Verifying, "in the train", Some(in_train(entry))),
        Stage::Reviewing(reviewing) => new(
            Sign::Verifying,
            "reviewing",
            Some(in_review(ticket, reviewing, now)),
        ),
        Stage::Landing { candidate, .. } => new(
            Sign::Landing,
            "landing",
            Some(format!("as {}", candidate.commit.short())),
        ),
        Stage::Unified { is_saved } => new(Sign::Ended, "unified", Some(unified(ticket, *is_saved))),
        Stage::Proposed(proposal) => {
            let what = format!("{}, is looked at", in_proposal(ticket, proposal));
            new(Sign::Landing, "proposed", Some(what))
        }
    }
}

/// Where the work of a child is, in words.
pub(super) fn unified(ticket: &Ticket, is_saved: bool) -> String {
    let parent = ticket.delegated().map_or("its parent", |it| it.by.as_str());
    if let Some(why) = ticket.delegated().and_then(|it| it.unmerged.as_ref()) {
        return format!("it is not merged ({why}), and lands with {parent} if the agent there merges it");
    }
    match is_saved {
        true if let Some(work) = ticket.delegated().and_then(|it| it.work.as_ref()) => {
            match work.is_nothing() {
                true => format!("it changed nothing, and is over with {parent}"),
                false => format!("its work is in {parent}, and lands with it ({})", work.words()),
            }
        }
        true => format!("its work is in {parent}, and lands with it"),
        false => format!("its work is committed for {parent}"),
    }
}

/// The pull request that a ticket waits for, with its state as it was seen last.
pub(super) fn in_proposal(ticket: &Ticket, proposal: &Proposal) -> String {
    match &ticket.pull_request {
        Some(request) => format!(
            "its pull request #{} ({}), which {}",
            request.number,
            request.url,
            proposal.words()
        ),
        None => "its pull request".to_owned(),
    }
}

/// The gatekeeper that looks at a candidate, or the reason why none does.
fn in_review(ticket: &Ticket, reviewing: &Reviewing, now: Time) -> String {
    let commit = reviewing.candidate.commit.short();
    let left = reviewing.waits_until().filter(|until| *until > now);
    let left = left.map(|until| super::left(until.since(now)));
    let approvers: Vec<&str> = reviewing.approvers().map(AgentName::as_str).collect();
    let approved = match approvers.is_empty() {
        true => String::new(),
        false => format!("; {} approved already", approvers.join(", ")),
    };
    let what = match (reviewing.open(), left) {
        (Some(review), None) => format!("{commit} by {}", review.agent),
        (Some(review), Some(left)) => format!("{commit} by {} (next step in {left})", review.agent),
        (None, None) => format!("{commit} waits for a gatekeeper"),
        (None, Some(left)) => {
            let why = match ticket.labels.contains(&Label::EvaluatorError) {
                true => "an error",
                false => "no verdict",
            };
            format!("{commit} is given to a gatekeeper again in {left}: the last review ended with {why}")
        }
    };
    what + &approved
}

/// The trial of an entry that is not being checked at this moment.
pub(super) fn in_train(entry: &Entry) -> String {
    let commit = entry.candidate.commit.short();
    match &entry.trial {
        Trial::Untried => format!("{commit} waits for its checks"),
        Trial::Passed { .. } => format!("{commit} passed, and waits for landing"),
        Trial::Failed {
            which,
            fewer: Some(tests),
            ..
        } => {
            format!("`{which}` {tests}, on {commit}: the entries ahead are tried, to find the one at fault")
        }
        Trial::Failed {
            which, fewer: None, ..
        } => {
            format!("`{which}` fails on {commit}: the entries ahead are tried, to find the one at fault")
        }
    }
}

fn of_end(ticket: &Ticket, done: &Done) -> Standing {
    match done {
        Done::Landed {
            commit,
            brought_nothing,
            ..
        } => {
            let as_commit = format!("as {}", commit.short());
            let says = match brought_nothing {
                true => format!("{as_commit}, {}", super::words::brought_nothing(ticket)),
                false => as_commit,
            };
            new(Sign::Landed, "landed", Some(says))
        }
        Done::Failed { reason } => new(Sign::Failed, "failed", Some(reason.clone())),
        Done::NotNeeded => new(Sign::Closed, "not needed", None),
        Done::Replaced { by, commit } => {
            let what = format!("by {by}, landed as {}", commit.short());
            new(Sign::Closed, "replaced", Some(what))
        }
        Done::Dropped { by, reason } => {
            let why = match reason.as_str() {
                "" => format!("by {by}"),
                reason => format!("by {by}: {reason}"),
            };
            new(Sign::Dropped, "dropped", Some(why))
        }
        Done::ClosedByPerson => new(Sign::Closed, "closed", None),
    }
}

fn of_refusal(refusal: Option<&Refusal>) -> Standing {
    match refusal {
        None | Some(Refusal::NoAgentFree { .. }) => new(Sign::Ready, "ready", None),
        // The pause and its end are shown once, for all tickets.
        Some(Refusal::DayBudget { .. }) => {
            new(Sign::Waits, "waits", Some("the day's budget is spent".to_owned()))
        }
        Some(Refusal::TargetUnchecked { .. }) => new(
            Sign::Waits,
            "waits",
            Some("the checks run on the bare target first".to_owned()),
        ),
        Some(Refusal::Epic) => new(Sign::Apart, "epic", None),
        Some(Refusal::TakenByPerson) => new(Sign::Apart, "taken", Some("a person works on it".to_owned())),
        Some(why) => new(Sign::Waits, "waits", Some(why.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TicketId;
    use crate::ticket::{Held, Why};

    const LOOK: Look = Look {
        now: Time(0),
        engine: true,
    };

    #[test]
    fn what_needs_a_person_comes_before_where_a_ticket_stands_and_never_after_it_is_over() {
        let word = |ticket: &Ticket, failure| {
            let facts = Facts {
                failure,
                ..Facts::default()
            };
            Standing::of(ticket, facts, LOOK).word
        };
        let failure = Some("no commit 1234");
        let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
        ticket.state = State::Open;
        assert_eq!(word(&ticket, failure), "failing");
        assert_eq!(word(&ticket, None), "ready");
        ticket.held = Some(Box::new(Held {
            why: Why::Killed,
            note: "its agent was killed".to_owned(),
            since: Time(0),
            retry_at: Some(Time(60_000)),
            may_pass: false,
            for_all: false,
            output: None,
        }));
        assert_eq!(word(&ticket, failure), "held");
        let why = Standing::of(&ticket, Facts::default(), LOOK).why;
        assert_eq!(
            why.as_deref(),
            Some("killed: its agent was killed (tried again by itself in 1m)")
        );
        let look = Look {
            engine: false,
            ..LOOK
        };
        let why = Standing::of(&ticket, Facts::default(), look).why;
        assert_eq!(
            why.as_deref(),
            Some("killed: its agent was killed; tried again when an engine runs again (`crew run`)")
        );
        ticket.held = None;
        ticket.state = State::Done(Done::ClosedByPerson);
        assert_eq!(word(&ticket, failure), "closed");
    }

    #[test]
    fn a_dependency_that_cannot_be_met_is_wrong_and_one_that_is_not_done_only_waits() {
        let sign = |refusal: Refusal| {
            let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
            ticket.state = State::Open;
            let facts = Facts {
                refusal: Some(&refusal),
                ..Facts::default()
            };
            Standing::of(&ticket, facts, LOOK).sign
        };
        let id = TicketId::new("t-2").unwrap();
        assert_eq!(
            sign(Refusal::WaitsFor {
                ids: vec![id.clone()]
            }),
            Sign::Waits
        );
        assert_eq!(sign(Refusal::MissingDependency { id }), Sign::Wrong);
    }
}
