//! What a ticket has landed: by whom, when, and what proved it.

use client::documents;
use model::ticket::{Done, State, Ticket};
use model::view::{AttemptSummary, Snapshot};
use model::{AgentName, Oid, TicketId};

use super::HANG;
use crate::context::Context;
use crate::error::Result;
use crate::ui;
use crate::ui::Style;

/// The landed work of a ticket.
pub(super) struct Landed<'a> {
    ticket: &'a TicketId,
    commit: &'a Oid,
    agent: &'a AgentName,
    proof: &'a str,
    /// The attempt that landed, where the journal has it.
    attempt: Option<&'a AttemptSummary>,
}

impl<'a> Landed<'a> {
    /// Of a ticket; none where it has not landed.
    pub(super) fn of(crew: &'a Snapshot, ticket: Option<&'a Ticket>) -> Option<Self> {
        let ticket = ticket?;
        let State::Done(Done::Landed {
            commit,
            acceptance,
            agent,
            brought_nothing: _,
        }) = &ticket.state
        else {
            return None;
        };
        let is_its =
            |work: &&AttemptSummary| work.ticket == ticket.id && work.landed.as_ref() == Some(commit);
        Some(Self {
            ticket: &ticket.id,
            commit,
            agent,
            proof: acceptance,
            attempt: crew.attempts.values().find(is_its),
        })
    }

    pub(super) fn document(&self) -> documents::LandedWork {
        documents::LandedWork::of(self.commit, self.agent, self.proof, self.attempt)
    }

    pub(super) fn show(&self, context: &mut Context) -> Result<()> {
        let out = &mut context.out;
        let (id, commit) = (self.ticket, self.commit.short());
        let mut by = format!("  commit {commit} by {}", self.agent);
        if let Some((work, until)) = self.attempt.and_then(|work| Some((work, work.until?))) {
            let (from, to) = (ui::local(work.since), ui::local(until));
            let took = ui::span(until.since(work.since));
            by.push_str(&format!(", begun {from}, landed {to} ({took})"));
        }
        out.wrapped(&by, HANG, Style::Plain)?;
        if let Some(work) = self.attempt {
            let steps = text::counted(work.steps, "step");
            let tokens = ui::tokens(work.usage.tokens());
            let mut paid = format!("  attempt {}: {steps}, {tokens} tokens", work.attempt);
            let cost = ui::cost(work.usage);
            if !cost.is_empty() {
                paid.push_str(&format!(", {cost}"));
            }
            out.wrapped(&paid, HANG, Style::Plain)?;
        }
        if !self.proof.is_empty() {
            out.wrapped(&format!("  proof: {}", self.proof), HANG, Style::Plain)?;
        }
        let looks = format!(
            "  crew logs {id} shows its steps, crew logs --check {id} its checks, git show {commit} the work"
        );
        out.wrapped(&looks, HANG, Style::Dim)
    }
}
