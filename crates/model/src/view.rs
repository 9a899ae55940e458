//! The snapshot that every frontend shows: one fold over the journal's rows.
//!
//! Facts are stored, status is derived: `ps`, the live progress, `--json` and `.crew/state.json` all read a
//! [`Snapshot`], so they cannot disagree. Nothing here knows the time; a frontend compares the times it finds
//! with its own clock.

mod act;
mod agent;
mod archive;
mod attempt_summary;
mod check_tally;
mod checking;
mod cost;
mod figures;
mod inbox;
pub mod notice;
mod pauses;
mod piece;
mod queue;
mod standing;
mod state_file;
#[cfg(test)]
mod tests;
mod train;
mod tree;
mod words;

use std::collections::BTreeMap;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

pub use act::{Act, UNSEEN};
pub use agent::{Agent, EndedBy, Role, Status, Waits};
pub use archive::{Archived, LANDINGS, Record, SHAPE, Summaries, TicketCost};
pub use attempt_summary::AttemptSummary;
pub use check_tally::{CheckEnding, CheckTallies, CheckTally, CheckVerdict};
pub use checking::checking;
pub use cost::{By, Charge, Costs, Filter, Line, Sum, Sums};
pub use figures::{cost, dollars, left, span, tokens};
pub use inbox::{BadFile, Behind, Context, Failing, Item, Kind, MEND, Urgency, inbox};
pub use notice::{Notice, notice};
pub use piece::{Head, Piece};
pub use queue::{Counts, Held};
pub use standing::{Sign, Standing, standing_since};
pub use state_file::state_json;
pub use train::{TrainEntry, train};
pub use tree::{branch, open_children};
pub use words::{
    Uncounted, brought_nothing, describe, describe_effect, describe_with, matters, printed, uncounted,
};

use crate::attempt::{self, Usage};
use crate::journal::{Fact, State, Stream};
use crate::project::{self, Project};
use crate::ticket::{self, Ticket};
use crate::{AgentName, Oid, TicketId, Time};

/// A row of the journal, as the fold takes it.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// Its place in the journal.
    pub seq: u64,
    /// Its stream.
    pub stream: &'a Stream,
    /// When it happened.
    pub at: Time,
    /// The event.
    pub fact: &'a Fact,
    /// The stream's state after it.
    pub after: &'a State,
}

/// A repository's crew, as far as the journal was folded.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Snapshot {
    /// The engine's life and the roster.
    pub project: Project,
    /// The time at which the present state of the project began.
    pub project_since: Option<Time>,
    /// Every ticket that is not archived, done ones too.
    pub tickets: BTreeMap<TicketId, Arc<Ticket>>,
    /// The totals of each agent that ever was, beyond its present attempt.
    pub members: BTreeMap<AgentName, Member>,
    /// The landings of tickets that are not archived, and the latest in any case; oldest first.
    pub landed: Vec<Landed>,
    /// Every attempt at these tickets that there ever was, by ticket and number.
    pub attempts: BTreeMap<(TicketId, u32), AttemptSummary>,
    /// The usage of every step for these tickets that ended, oldest first.
    pub charges: Vec<Charge>,
    /// The verdicts of checks, and how often they were flaky or skipped.
    pub checks: CheckTallies,
    /// The archived tickets.
    pub archived: Archived,
    /// The last row that was folded; 0 before the first.
    pub seq: u64,
    /// When it happened.
    pub at: Time,
}

/// The totals of an agent over all of its tickets.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Member {
    /// When it was spawned.
    pub spawned_at: Option<Time>,
    /// When its last step began or ended.
    pub last_step_at: Option<Time>,
    /// When it last had no ticket.
    pub idle_since: Option<Time>,
    /// Steps that ended well.
    pub steps: u64,
    /// Everything its steps used.
    pub usage: Usage,
    /// Tickets of its that landed.
    pub landed: u32,
}

/// A ticket that landed.
#[derive(Clone, Debug, PartialEq, Hash, Serialize, Deserialize)]
pub struct Landed {
    /// The row that records it.
    pub seq: u64,
    /// The time at which it happened.
    pub at: Time,
    /// The id of the ticket.
    pub ticket: TicketId,
    /// Its title.
    pub title: String,
    /// The agent that did the work.
    pub agent: Option<AgentName>,
    /// The merge commit on the target.
    pub commit: Oid,
    /// Steps of the attempt that landed.
    pub steps: u32,
    /// The usage of that attempt.
    pub usage: Usage,
}

impl Snapshot {
    /// Takes the next row. Rows come in the order of the journal; one that was folded already is passed over.
    /// An archived ticket is restored before a row of it is folded.
    pub fn apply(&mut self, row: Row<'_>) {
        if row.seq <= self.seq {
            return;
        }
        self.seq = row.seq;
        self.at = row.at;
        match (row.fact, row.after) {
            (Fact::Project(event), State::Project(project)) => self.project_row(event, project, row.at),
            (Fact::Ticket(event), State::Ticket(ticket)) => self.ticket_row(event, ticket, row),
            // Such a row cannot be written; a damaged one changes nothing here, and `verify` names it.
            (Fact::Project(_), State::Ticket(_)) | (Fact::Ticket(_), State::Project(_)) => {}
        }
    }

    fn project_row(&mut self, event: &project::Event, after: &Project, at: Time) {
        if let project::Event::AgentSpawned { name } = event {
            let member = self.members.entry(name.clone()).or_default();
            member.spawned_at = Some(at);
            member.idle_since = Some(at);
        }
        if self.project.state != after.state || self.project_since.is_none() {
            self.project_since = Some(at);
        }
        self.checks.project_row(event, at);
        self.project.clone_from(after);
    }

    fn ticket_row(&mut self, event: &ticket::Event, after: &Arc<Ticket>, row: Row<'_>) {
        let before = self.tickets.get(&after.id).map(Arc::as_ref);
        let agent = before
            .and_then(Ticket::attempt)
            .or_else(|| after.attempt())
            .map(|attempt| attempt.claim.agent.clone());
        if let ticket::Event::Review { fence, event } = event {
            let reviews = before.and_then(Ticket::reviewing);
            let review = reviews.and_then(|reviewing| reviewing.review(*fence));
            if let (Some(review), Some(attempt)) = (review, before.and_then(Ticket::attempt)) {
                let number = attempt.claim.number;
                let charge = Charge::of_review(event, &after.id, number, review, row.seq, row.at);
                self.charges.extend(charge);
                let gatekeeper = self.members.entry(review.agent.clone()).or_default();
                gatekeeper.reviewed(event, row.at);
            }
        }
        if let Some(agent) = &agent {
            let member = self.members.entry(agent.clone()).or_default();
            if let ticket::Event::Attempt(event) = event {
                member.stepped(event, row.at);
                let attempt = before.and_then(Ticket::attempt);
                self.charges
                    .extend(attempt.and_then(|a| Charge::of(event, &after.id, a, row.seq, row.at)));
            }
            let holding = |ticket: Option<&Ticket>| ticket.and_then(Ticket::slot) == Some(agent);
            if holding(before) && !holding(Some(after)) {
                member.idle_since = Some(row.at);
            }
        }
        if let ticket::Event::Landed { commit } = event {
            let attempt = before.and_then(Ticket::attempt);
            self.landed.push(Landed {
                seq: row.seq,
                at: row.at,
                ticket: after.id.clone(),
                title: after.spec.title.clone(),
                agent: agent.clone(),
                commit: commit.clone(),
                steps: attempt.map_or(0, |a| a.conversation.steps),
                usage: attempt.map_or_else(Usage::default, |a| a.conversation.usage),
            });
            if let Some(agent) = agent {
                self.members.entry(agent).or_default().landed += 1;
            }
        }
        let before = self.tickets.get(&after.id).map(Arc::as_ref);
        self.checks.ticket_row(event, before, row.at);
        self.worked(event, after, row.at);
        self.tickets.insert(after.id.clone(), Arc::clone(after));
    }
}

impl Member {
    fn reviewed(&mut self, event: &ticket::ReviewEvent, at: Time) {
        match event {
            ticket::ReviewEvent::Started { .. } => self.last_step_at = Some(at),
            ticket::ReviewEvent::Finished { usage, .. } => {
                self.last_step_at = Some(at);
                self.steps += 1;
                self.usage.add(*usage);
            }
            ticket::ReviewEvent::Failed { usage, .. } => {
                self.last_step_at = Some(at);
                self.usage.add(*usage);
            }
            ticket::ReviewEvent::Spawned
            | ticket::ReviewEvent::WentQuiet(_)
            | ticket::ReviewEvent::Stirred
            | ticket::ReviewEvent::StopOrdered { .. }
            | ticket::ReviewEvent::VerdictNoted { .. }
            | ticket::ReviewEvent::Called { .. }
            | ticket::ReviewEvent::Asked { .. }
            | ticket::ReviewEvent::Answered { .. }
            | ticket::ReviewEvent::WaitTimedOut => {}
        }
    }

    fn stepped(&mut self, event: &attempt::Event, at: Time) {
        match event {
            attempt::Event::StepStarted { .. } => self.last_step_at = Some(at),
            attempt::Event::StepFinished { usage, .. } => {
                self.last_step_at = Some(at);
                self.steps += 1;
                self.usage.add(*usage);
            }
            attempt::Event::StepFailed { usage, .. } => {
                self.last_step_at = Some(at);
                self.usage.add(*usage);
            }
            attempt::Event::WorkspaceReady { .. }
            | attempt::Event::WorkerSpawned
            | attempt::Event::StopOrdered { .. }
            | attempt::Event::Answered { .. }
            | attempt::Event::Woken
            | attempt::Event::WokenEarly { .. }
            | attempt::Event::WaitTimedOut
            | attempt::Event::Recovered { .. }
            | attempt::Event::Retried { .. }
            | attempt::Event::TicketEdited
            | attempt::Event::Submitted
            | attempt::Event::ChecksPassed
            | attempt::Event::Delegated { .. }
            | attempt::Event::ChildrenEndOrdered { .. }
            | attempt::Event::ChildrenOver { .. }
            | attempt::Event::Returned { .. }
            | attempt::Event::Called { .. }
            | attempt::Event::ModeSet { .. }
            | attempt::Event::ModeAnnounced { .. }
            | attempt::Event::Said { .. }
            | attempt::Event::Baited { .. }
            | attempt::Event::WentQuiet(_)
            | attempt::Event::Stirred => {}
        }
    }
}
