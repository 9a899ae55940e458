//! The consequences of a transition beside the state: slot, timer and file are functions of the state, so
//! their changes are the difference of two states and can neither be forgotten nor done twice.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::{Done, Effect, Event, Held, Label, Machine, Note, Stage, State, Ticket, Why};
use crate::attempt;
use crate::machine::{Machine as _, Rejected};
use crate::{AgentName, Fence, TicketId, Time};

/// An accepted event, with all that is to be made durable with it.
#[derive(Clone, Debug, PartialEq)]
pub struct Change {
    /// The ticket after.
    pub ticket: Ticket,
    /// The orders, in order.
    pub effects: Vec<Effect>,
    /// Slots freed and taken, in that order.
    pub slots: Vec<SlotChange>,
    /// The changes of the ticket's timer.
    pub timers: Vec<TimerChange>,
}

/// A change to the slot table: one ticket per agent, one agent per ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SlotChange {
    /// The agent's slot is free.
    Free(AgentName),
    /// The agent's slot is taken.
    Take(AgentName, Fence),
}

/// A change to the ticket's timers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TimerChange {
    /// The deadline is gone.
    Cancel(TimerKey),
    /// There is a deadline, or it moved.
    Set(Deadline),
}

/// The deadline of a waiting ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// The purpose of the timer.
    pub key: TimerKey,
    /// The time of the deadline.
    pub at: Time,
}

/// The purpose of a ticket's timer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TimerKey {
    /// The ticket may be dispatched again.
    Due,
    /// Its agent may be stepped again.
    Step,
    /// The step that holds it is tried again.
    Retry,
    /// Its agent is woken.
    Wakeup,
    /// The agent goes on without an answer.
    Answer,
    /// Landing is tried again.
    Land,
    /// It may be given to a gatekeeper again.
    Review,
    /// Its pull request is looked at again.
    Proposal,
}

impl TimerKey {
    /// The key as stored.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            TimerKey::Due => "due",
            TimerKey::Step => "step",
            TimerKey::Retry => "retry",
            TimerKey::Wakeup => "wakeup",
            TimerKey::Answer => "answer",
            TimerKey::Land => "land",
            TimerKey::Review => "review",
            TimerKey::Proposal => "proposal",
        }
    }

    /// The key that is stored as `text`.
    #[must_use]
    pub fn parse(text: &str) -> Option<Self> {
        [
            Self::Due,
            Self::Step,
            Self::Retry,
            Self::Wakeup,
            Self::Answer,
            Self::Land,
            Self::Review,
            Self::Proposal,
        ]
        .into_iter()
        .find(|key| key.as_str() == text)
    }
}

/// The contents of a ticket's file while crew holds it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Filing {
    /// tk's status.
    pub status: FileStatus,
    /// crew's own tags: all of them are set, and all others that the file lists as crew's are unset.
    pub tags: BTreeSet<String>,
    /// Dependencies that the file gets, beside those that it lists.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub deps: BTreeSet<TicketId>,
    /// A note that is added in the same write, unless it is there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<Note>,
}

/// tk's three statuses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FileStatus {
    /// In the queue.
    Open,
    /// Someone works on it.
    InProgress,
    /// The ticket is over.
    Closed,
}

impl FileStatus {
    /// The status as it stands in a file.
    #[must_use]
    pub fn word(self) -> &'static str {
        match self {
            FileStatus::Open => "open",
            FileStatus::InProgress => "in_progress",
            FileStatus::Closed => "closed",
        }
    }
}

/// The tag of a file whose status an agent has closed by `crew ticket`, in a step on that very ticket. It
/// goes with the next status that is written.
pub const CLOSED_BY_AGENT: &str = "closed-by-agent";

impl Filing {
    /// The tags that crew lists as its own in the file of a ticket whose author has given it the tags
    /// `authors`: where both mean the same word, it stays the author's.
    #[must_use]
    pub fn tags_beside(&self, authors: &BTreeSet<String>) -> BTreeSet<String> {
        self.tags.difference(authors).cloned().collect()
    }
}

impl Ticket {
    /// Takes `event` at `at`.
    ///
    /// # Errors
    /// [`Rejected`] when the state does not accept it.
    pub fn after(&self, event: &Event, at: Time) -> Result<Change, Rejected> {
        let step = Machine::transition(self, event)?;
        let (mut ticket, mut effects) = (step.state, step.effects);
        if ticket.state_name() != self.state_name() {
            ticket.since = at;
        }
        if let Event::Attempt(
            attempt::Event::StepFinished { usage, .. } | attempt::Event::StepFailed { usage, .. },
        ) = event
        {
            ticket.spent.add(at, usage.cost_micro_usd);
        }
        if let Event::Review { event, .. } = event
            && let Some(usage) = event.usage()
        {
            ticket.spent.add(at, usage.cost_micro_usd);
        }
        if let Some(held) = &mut ticket.held {
            // The same budget is the same hold, however it is worded.
            let is_same =
                |h: &&Held| h.why == held.why && (h.note == held.note || matches!(h.why, Why::Budget { .. }));
            let same = self.held.as_deref().filter(is_same);
            held.since = same.map_or(at, |h| h.since);
        }
        if let (State::Verify(verify), false) = (&mut ticket.state, matches!(self.state, State::Verify(_))) {
            verify.submitted_at = at;
            ticket.in_line_since.get_or_insert(at);
        }
        if let Some(tip) = ticket.tip_to_approve().cloned() {
            ticket.note_submitted(tip);
        }
        let standing = |t: &Ticket| t.attempt().map(|a| (a.claim.fence, a.state.name()));
        let (before, now) = (standing(self), standing(&ticket));
        if before != now
            && let Some(attempt) = ticket.attempt_mut()
        {
            attempt.since = at;
        }
        // A ticket that is seen for the first time is not written: its file is as a person wanted it.
        let drifted = matches!(event, Event::FileDrifted);
        let before = self.filing();
        if let (Some(mut filing), false) = (ticket.filing(), before.is_none())
            && (drifted || before.as_ref() != Some(&filing))
        {
            filing.note = ticket.note_after(self, at);
            effects.push(Effect::WriteFile(filing));
            // A file that crew writes says what crew wants; one that is gone is still gone.
            ticket.unheeded = ticket.unheeded.filter(|unheeded| unheeded.says.is_none());
        }
        Ok(Change {
            slots: slots(self, &ticket),
            timers: timers(self, &ticket),
            ticket,
            effects,
        })
    }

    /// The moment at which something happens to it by itself.
    #[must_use]
    pub fn deadline(&self) -> Option<Deadline> {
        let at = |key, at| Some(Deadline { key, at });
        if let Some(held) = &self.held {
            return held.retry_at.and_then(|t| at(TimerKey::Retry, t));
        }
        match &self.state {
            State::New | State::Done(_) => None,
            State::Open => self.due.and_then(|t| at(TimerKey::Due, t)),
            State::InProgress(attempt) => match &attempt.state {
                attempt::State::Ready => attempt.resumes_at.and_then(|t| at(TimerKey::Step, t)),
                attempt::State::Working(w) => w.due.and_then(|t| at(TimerKey::Step, t)),
                attempt::State::WaitingForWakeup { at: t, .. } => at(TimerKey::Wakeup, *t),
                attempt::State::WaitingForInput { until, .. } => until.and_then(|t| at(TimerKey::Answer, t)),
                attempt::State::Preparing
                | attempt::State::WaitingForChildren { .. }
                | attempt::State::Verifying
                | attempt::State::Done
                | attempt::State::Stuck { .. } => None,
            },
            State::Verify(verify) => match &verify.stage {
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::InTrain(_)
                | Stage::Unified { .. } => None,
                Stage::Reviewing(reviewing) => {
                    let asks = reviewing.open().is_some_and(|open| open.asks.is_some());
                    let key = if asks { TimerKey::Answer } else { TimerKey::Review };
                    reviewing.waits_until().and_then(|t| at(key, t))
                }
                Stage::Landing { waiting, .. } => {
                    waiting.as_ref().and_then(|w| at(TimerKey::Land, w.retry_at))
                }
                Stage::Proposed(proposal) => proposal.due.and_then(|t| at(TimerKey::Proposal, t)),
            },
        }
    }

    /// The contents that its file should have, without a note; none before it is created.
    #[must_use]
    pub fn filing(&self) -> Option<Filing> {
        let labels = self.labels_now();
        let mut tags: BTreeSet<String> = labels.iter().map(|l| l.as_str().to_owned()).collect();
        let status = match &self.state {
            State::New => return None,
            State::Open => FileStatus::Open,
            State::InProgress(_) => FileStatus::InProgress,
            State::Verify(_) => {
                tags.insert("verify".to_owned());
                FileStatus::InProgress
            }
            State::Done(_) => FileStatus::Closed,
        };
        let waits_for = self.parts.iter().filter(|part| part.result.is_none());
        let deps = match &self.state {
            State::Open => waits_for.map(|part| part.ticket.clone()).collect(),
            State::New | State::InProgress(_) | State::Verify(_) | State::Done(_) => BTreeSet::new(),
        };
        Some(Filing {
            status,
            tags,
            deps,
            note: None,
        })
    }

    /// The labels that are true of it now: those that its last transitions have set, and those that its state
    /// implies.
    #[must_use]
    pub fn labels_now(&self) -> BTreeSet<Label> {
        let mut labels = self.labels.clone();
        if self.has_failed() {
            labels.insert(Label::Failed);
        }
        if self.held.is_some() {
            labels.insert(Label::Held);
        }
        // While a recovery ticket is in the queue, its file is as its author wrote it.
        let is_recovery = match &self.state {
            State::New | State::Open => false,
            State::InProgress(_) | State::Verify(_) | State::Done(Done::NotNeeded) => true,
            State::Done(_) => false,
        };
        if is_recovery && self.spec.recovers.is_some() {
            labels.insert(Label::Recovery);
        }
        labels
    }
}

fn slots(before: &Ticket, after: &Ticket) -> Vec<SlotChange> {
    let takes = |ticket: &Ticket, slot: (&AgentName, Fence)| ticket.slots().any(|other| other == slot);
    let freed = before.slots().filter(|slot| !takes(after, *slot));
    let freed = freed.map(|(agent, _)| SlotChange::Free(agent.clone()));
    let taken = after.slots().filter(|slot| !takes(before, *slot));
    let taken = taken.map(|(agent, fence)| SlotChange::Take(agent.clone(), fence));
    freed.chain(taken).collect()
}

fn timers(before: &Ticket, after: &Ticket) -> Vec<TimerChange> {
    let (old, new) = (before.deadline(), after.deadline());
    if old == new {
        return Vec::new();
    }
    let gone = old
        .filter(|o| new.is_none_or(|n| n.key != o.key))
        .map(|o| TimerChange::Cancel(o.key));
    gone.into_iter().chain(new.map(TimerChange::Set)).collect()
}
