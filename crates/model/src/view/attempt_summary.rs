//! Attempt summaries: every attempt at a ticket, from its claim on.

use std::cmp::Ordering;

use serde::{Deserialize, Serialize};

use super::Snapshot;
use crate::attempt::{self, Attempt, Usage};
use crate::ticket::{self, Done, State, Ticket};
use crate::{AgentName, Oid, TicketId, Time};

/// An attempt at a ticket: its time, and its result.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct AttemptSummary {
    /// The ticket.
    pub ticket: TicketId,
    /// Its title: text of its author, not sanitised.
    pub title: String,
    /// The agent that worked.
    pub agent: AgentName,
    /// The ticket's n-th attempt, from 1.
    pub attempt: u32,
    /// The time since which the agent had the ticket.
    pub since: Time,
    /// Until when; none while it goes on.
    pub until: Option<Time>,
    /// The state or the outcome, in a word or two.
    pub came_to: String,
    /// Steps that ended well.
    pub steps: u32,
    /// The usage of its steps, failed ones too.
    pub usage: Usage,
    /// The agent's own summary of its work, if it gave one: not sanitised.
    pub summary: Option<String>,
    /// The merge commit on the target, when it landed.
    pub landed: Option<Oid>,
    /// The commits that it stands between, as far as they are known: the one that it was built on, and the
    /// tip of its branch once that was imported.
    pub base: Option<Oid>,
    /// The tip of the branch: see [`AttemptSummary::base`].
    pub tip: Option<Oid>,
    /// The merge of both that is to land, or has.
    pub merged: Option<Oid>,
}

impl AttemptSummary {
    /// The order in which work is shown.
    #[must_use]
    pub fn latest_first(a: &Self, b: &Self) -> Ordering {
        (b.since, &b.ticket, b.attempt).cmp(&(a.since, &a.ticket, a.attempt))
    }

    fn new(ticket: &Ticket, attempt: &Attempt) -> Self {
        Self {
            ticket: ticket.id.clone(),
            title: ticket.spec.title.clone(),
            agent: attempt.claim.agent.clone(),
            attempt: attempt.claim.number,
            since: attempt.claimed_at,
            until: None,
            came_to: String::new(),
            steps: 0,
            usage: Usage::default(),
            summary: None,
            landed: None,
            base: None,
            tip: None,
            merged: None,
        }
    }

    fn goes_on(&mut self, ticket: &Ticket, attempt: &Attempt) {
        self.title.clone_from(&ticket.spec.title);
        (self.steps, self.usage) = (attempt.conversation.steps, attempt.conversation.usage);
        self.summary.clone_from(&attempt.summary);
        self.base = attempt.claim.base.clone().or_else(|| self.base.take());
        if let Some(work) = ticket.delegated().and_then(|it| it.work.as_ref()) {
            (self.base, self.tip) = (Some(work.from.clone()), Some(work.tip.clone()));
        }
        if let Some(candidate) = ticket.candidate() {
            (self.base, self.tip) = (Some(candidate.target.clone()), Some(candidate.tip.clone()));
            self.merged = Some(candidate.commit.clone());
        }
        self.came_to = match (&ticket.held, &ticket.state) {
            (Some(held), _) => format!("held, {}", held.why.name()),
            (None, State::Verify(verify)) => verify.stage.name().to_owned(),
            (None, State::New | State::Open | State::InProgress(_) | State::Done(_)) => {
                attempt.state.name().replace('_', " ")
            }
        };
    }

    fn ends(&mut self, event: &ticket::Event, after: &Ticket, at: Time) {
        self.until = Some(at);
        // The step that ends an attempt is counted in no state of it.
        if let ticket::Event::Attempt(attempt::Event::StepFinished { usage, summary, .. }) = event {
            self.steps += 1;
            self.usage.add(*usage);
            self.summary = summary.clone().or_else(|| self.summary.take());
        } else if let ticket::Event::Attempt(attempt::Event::StepFailed { usage, .. }) = event {
            self.usage.add(*usage);
        }
        self.came_to = match (&after.state, &after.held) {
            (State::Done(done), _) => done.name().replace('_', " "),
            (_, Some(held)) => format!("held, {}", held.why.name()),
            (State::New | State::Open | State::InProgress(_) | State::Verify(_), None) => {
                "back in the queue".to_owned()
            }
        };
        if let State::Done(Done::Landed { commit, .. }) = &after.state {
            self.landed = Some(commit.clone());
        }
    }
}

impl Snapshot {
    /// The attempts of all agents, the latest first.
    #[must_use]
    pub fn work(&self) -> Vec<&AttemptSummary> {
        let mut attempts: Vec<&AttemptSummary> = self.attempts.values().collect();
        attempts.sort_by(|a, b| AttemptSummary::latest_first(a, b));
        attempts
    }

    pub(super) fn worked(&mut self, event: &ticket::Event, after: &Ticket, at: Time) {
        let before = self.tickets.get(&after.id).and_then(|ticket| ticket.attempt());
        let now = after.attempt();
        let over = before.filter(|before| now.is_none_or(|now| now.claim.number != before.claim.number));
        if let Some(over) = over
            && let Some(work) = self.attempts.get_mut(&(after.id.clone(), over.claim.number))
        {
            work.ends(event, after, at);
        }
        if let Some(now) = now {
            let work = self
                .attempts
                .entry((after.id.clone(), now.claim.number))
                .or_insert_with(|| AttemptSummary::new(after, now));
            work.goes_on(after, now);
        }
        // What it was held for when its last attempt ended does not count any more.
        if before.is_none()
            && let State::Done(done @ Done::Dropped { .. }) = &after.state
            && let Some(last) = self.attempts.get_mut(&(after.id.clone(), after.attempts))
        {
            last.came_to = done.name().replace('_', " ");
        }
    }
}
