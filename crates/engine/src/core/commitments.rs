//! Commitments: who adds one, and the verdict on one.

use model::commitment::{By, MOST, Promise};
use model::policy::review;
use model::ticket::{CheckOutcome, CheckTask, Checks, Event, Fingerprint, State, Ticket};
use model::{Actor, TicketId};

use super::Core;
use super::commands::{Answer, unknown};

impl Core {
    pub(super) fn commit_to(&mut self, id: &TicketId, by: &Actor, promise: Promise) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if let Some(delegated) = ticket.delegated() {
            let parent = &delegated.by;
            return Err(format!(
                "{id} is a part of {parent}, whose work is verified as a whole: `crew commit-to {parent} …` has it verified there"
            ));
        }
        let is_reviewed = review::is_wanted(&self.settings, ticket, ticket.candidate());
        if promise.run.is_none() && !is_reviewed {
            return Err(format!(
                "nothing verifies a commitment of {id} without a command, since {id} is not reviewed: give a command \
                 after --, or have it reviewed ([review] in crew.toml), and its gatekeeper names it as met"
            ));
        }
        let message = format!("{id} has one more commitment: {promise}");
        let by = By::Assigner(by.clone());
        self.act(id, Event::CommitmentAdded { by, promise }, message)
    }

    pub(super) fn waive_commitment(&mut self, id: &TicketId, waiver: (u32, &Actor, String)) -> Answer {
        let (number, by, reason) = waiver;
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if ticket.commitment(number).is_none() {
            return Err(format!(
                "{id} has no commitment {number}: `crew explain {id}` lists those that it has"
            ));
        }
        let goes_on = match (&ticket.state, &ticket.held) {
            (State::Open, Some(_)) => {
                format!(", and is held all the same: `crew retry {id}` has it tried again")
            }
            (State::InProgress(_), _) => ", and its agent is told at its next step".to_owned(),
            (State::New | State::Open | State::Verify(_) | State::Done(_), _) => String::new(),
        };
        let message = format!("{id} lands without meeting commitment {number}{goes_on}");
        let event = Event::CommitmentWaived {
            id: number,
            by: by.clone(),
            reason,
        };
        self.act(id, event, message)
    }

    /// The commitments that an agent has made in its step, but for those that the ticket has already, and
    /// those that are too many.
    pub(super) fn commitments_made(&self, id: &TicketId, made: Vec<Promise>) -> Vec<Event> {
        let Some(ticket) = self.ticket(id) else {
            return Vec::new();
        };
        let Some(agent) = ticket.attempt().map(|attempt| &attempt.claim.agent) else {
            return Vec::new();
        };
        if ticket.delegated().is_some() {
            return Vec::new();
        }
        let room = MOST.saturating_sub(ticket.commitments.len());
        let new = made
            .into_iter()
            .filter(|one| !ticket.has_promised(one))
            .take(room);
        new.map(|promise| Event::CommitmentAdded {
            by: By::Agent(agent.clone()),
            promise,
        })
        .collect()
    }

    /// Every commitment with a command is met, and the checks have passed or are about to begin: whether a
    /// person is asked. Where the work is reviewed, the gatekeeper names the commitments that have no
    /// command.
    pub(super) fn commitments_question(ticket: &Ticket, checks: &Checks, is_reviewed: bool) -> Option<Event> {
        let tip = &checks.candidate.tip;
        let is_asked = ticket.commitments_question(tip).is_some();
        let is_asked = is_asked && (ticket.unconfirmed.is_some() || !is_reviewed);
        is_asked.then(|| Event::CommitmentsHeld { tip: tip.clone() })
    }

    /// The reason for which a commitment of the agent's own could not be run, which is for the agent to mend.
    pub(super) fn agents_own<'a>(
        &self,
        id: &TicketId,
        checks: &Checks,
        task: CheckTask,
        outcome: &'a CheckOutcome,
    ) -> Option<&'a str> {
        let (CheckTask::Commitment, CheckOutcome::CouldNotRun { why }) = (task, outcome) else {
            return None;
        };
        let one = self.ticket(id)?.commitment(checks.owed()?.id)?;
        one.is_agents().then_some(why)
    }

    /// A commitment that is not met by the candidate. Nothing is proven on the target: a ticket promises
    /// what the target does not have.
    pub(super) fn unmet(&self, id: &TicketId, checks: &Checks, output: &str) -> Option<Event> {
        let owed = checks.owed()?;
        let same = Fingerprint::Commitment {
            says: owed.says.clone(),
            tip: checks.candidate.tip.clone(),
        };
        Some(Event::CommitmentUnmet {
            id: owed.id,
            output: output.to_owned(),
            steps_left: self.steps_left(id),
            reopen_at: self.reopen_at(id),
            repeat: self.repeat(id, same),
        })
    }
}
