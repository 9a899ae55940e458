//! What a ticket has landed: by whom, when, and what proved it.

use model::ticket::{Done, State, Ticket};
use model::view::{AttemptSummary, Snapshot};
use model::{AgentName, Oid};

use crate::documents;

/// The landed work of a ticket.
#[derive(Debug)]
pub struct Landed<'a> {
    /// The merge commit on the target.
    pub commit: &'a Oid,
    /// The agent that did the work.
    pub agent: &'a AgentName,
    /// The proof: the gatekeeper's acceptance test, else the checks that passed.
    pub proof: &'a str,
    /// The attempt that landed, where the journal has it.
    pub attempt: Option<&'a AttemptSummary>,
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
            commit,
            agent,
            proof: acceptance,
            attempt: crew.attempts.values().find(is_its),
        })
    }

    pub(super) fn document(&self) -> documents::LandedWork {
        documents::LandedWork::of(self.commit, self.agent, self.proof, self.attempt)
    }
}
