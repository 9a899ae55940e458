//! Where a ticket stands, in a word or two, and why there.

use super::checking::checking;
use super::figures::left;
use super::inbox::Failing;
use crate::Time;
use crate::attempt::{self, Attempt};
use crate::policy::route::Refusal;
use crate::ticket::{Done, Stage, State, Ticket, in_words};

/// Where a ticket stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Standing {
    /// What a frontend's symbol and colour say.
    pub sign: Sign,
    /// In a word or two.
    pub word: &'static str,
    /// Why it stands there: partly text of agents and tickets, not sanitised.
    pub why: Option<String>,
}

/// How it goes with a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It does not move before a person has done something about it.
    Wrong,
    /// An agent waits for a person's word.
    Asks,
    /// A person's edits are in the way of its landing.
    InTheWay,
    /// Its agent sleeps, or it is not to be given out yet.
    Waits,
    /// It can be given out.
    Ready,
    /// Its agent has no step.
    Preparing,
    /// Its agent is at a step.
    Working,
    /// Its agent has ended.
    Ended,
    /// It is submitted, and others are before it.
    InLine,
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

impl Standing {
    /// A ticket's, with why it is not given out and what crew cannot do, of whichever tickets.
    #[must_use]
    pub fn of(ticket: &Ticket, refusal: Option<&Refusal>, failing: &[Failing], now: Time) -> Self {
        if let Some(held) = ticket.held.as_ref().filter(|_| !ticket.is_done()) {
            let next = held.retry_at.filter(|at| *at > now);
            let next = next
                .map(|at| format!(" (tried again in {})", left(at.since(now))))
                .unwrap_or_default();
            let why = format!("{}: {}{next}", held.why.name(), held.note);
            return new(Sign::Wrong, "held", Some(why));
        }
        // Without its file it goes on.
        let is_of_work = |failing: &&Failing| failing.ticket == ticket.id && !failing.is_file;
        if let Some(failing) = failing.iter().find(is_of_work).filter(|_| !ticket.is_done()) {
            return new(Sign::Wrong, "failing", Some(failing.why.clone()));
        }
        match &ticket.state {
            State::InProgress(attempt) => of_attempt(attempt),
            State::Verify(verify) => of_stage(&verify.stage, now),
            State::Done(done) => of_end(done),
            State::Open | State::New => of_refusal(refusal),
        }
    }
}

fn new(sign: Sign, word: &'static str, why: Option<String>) -> Standing {
    Standing { sign, word, why }
}

fn of_attempt(attempt: &Attempt) -> Standing {
    let failure = || {
        let failure = attempt.conversation.failure.as_ref();
        failure.map(|failure| format!("{}: {}", failure.class.name(), failure.message))
    };
    match &attempt.state {
        attempt::State::WaitingForInput { question, .. } => new(Sign::Asks, "asks", Some(question.clone())),
        attempt::State::WaitingForWakeup { why, .. } => new(Sign::Waits, "sleeps", Some(why.clone())),
        state @ attempt::State::Stuck { .. } => new(Sign::Wrong, state.name(), failure()),
        state @ (attempt::State::Preparing | attempt::State::Ready) => {
            new(Sign::Preparing, state.name(), None)
        }
        state @ attempt::State::Working(_) => new(Sign::Working, state.name(), None),
        state @ (attempt::State::Verifying | attempt::State::Done) => new(Sign::Ended, state.name(), None),
    }
}

fn of_stage(stage: &Stage, now: Time) -> Standing {
    match stage {
        Stage::Queued => new(Sign::InLine, "in line", None),
        Stage::Building => new(Sign::Verifying, "merging", None),
        Stage::Checking(checks) => {
            let result = || format!("the merged result {}", checks.candidate.commit.short());
            let what = checking(checks, Some(now)).unwrap_or_else(result);
            new(Sign::Verifying, "checking", Some(what))
        }
        Stage::Reviewing {
            candidate, reviewer, ..
        } => {
            let what = match reviewer {
                Some(reviewer) => format!("{} by {reviewer}", candidate.commit.short()),
                None => format!("{}, by nobody yet", candidate.commit.short()),
            };
            new(Sign::Verifying, "reviewing", Some(what))
        }
        Stage::Landing {
            waiting: Some(waiting),
            ..
        } => {
            let what = format!("waits for your edits: {}", in_words(&waiting.paths));
            new(Sign::InTheWay, "landing", Some(what))
        }
        Stage::Landing {
            candidate,
            waiting: None,
            ..
        } => new(
            Sign::Landing,
            "landing",
            Some(format!("as {}", candidate.commit.short())),
        ),
    }
}

fn of_end(done: &Done) -> Standing {
    match done {
        Done::Landed { commit, .. } => new(Sign::Landed, "landed", Some(format!("as {}", commit.short()))),
        Done::Failed { reason } => new(Sign::Failed, "failed", Some(reason.clone())),
        Done::NotNeeded => new(Sign::Closed, "not needed", None),
        Done::Dropped { by, reason } => new(Sign::Dropped, "dropped", Some(format!("by {by} {reason}"))),
        Done::ClosedByPerson => new(Sign::Closed, "closed", None),
    }
}

fn of_refusal(refusal: Option<&Refusal>) -> Standing {
    match refusal {
        None | Some(Refusal::NoAgentFree { .. }) => new(Sign::Ready, "ready", None),
        // What it was and until when is said once, for all.
        Some(Refusal::DayBudget { .. }) => {
            new(Sign::Waits, "waits", Some("the day's budget is spent".to_owned()))
        }
        Some(Refusal::Epic) => new(Sign::Apart, "epic", None),
        Some(Refusal::TakenByPerson) => new(Sign::Apart, "taken", Some("a person works on it".to_owned())),
        Some(why) => new(Sign::Waits, "waits", Some(why.to_string())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TicketId;
    use crate::journal::EffectId;
    use crate::ticket::{Held, Why};

    /// Its file fails first; and its work, unless only the file does.
    fn failing(is_file: bool) -> Vec<Failing> {
        let one = |is_file| Failing {
            of: EffectId { seq: 1, index: 0 },
            ticket: TicketId::new("t-1").unwrap(),
            is_file,
            why: "no commit 1234".to_owned(),
            since: Time(0),
            until: None,
        };
        [true, false]
            .map(one)
            .into_iter()
            .filter(|one| one.is_file || !is_file)
            .collect()
    }

    #[test]
    fn what_cannot_be_done_of_the_work_comes_before_where_it_stands_and_after_what_holds_it() {
        let word = |ticket: &Ticket, is_file| Standing::of(ticket, None, &failing(is_file), Time(0)).word;
        let mut ticket = Ticket::new(TicketId::new("t-1").unwrap());
        ticket.state = State::Open;
        assert_eq!(word(&ticket, false), "failing");
        assert_eq!(word(&ticket, true), "ready");
        ticket.held = Some(Box::new(Held {
            why: Why::Killed,
            note: "its agent was killed".to_owned(),
            since: Time(0),
            retry_at: None,
        }));
        assert_eq!(word(&ticket, false), "held");
        ticket.held = None;
        ticket.state = State::Done(Done::ClosedByPerson);
        assert_eq!(word(&ticket, false), "closed");
    }
}
