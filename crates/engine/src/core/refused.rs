//! Submitted work that is not taken over, whatever its checks would say.

use model::attempt;
use model::ticket::{Done, Event, Fingerprint, State};
use model::{Oid, TicketId};

use super::Core;
use super::train::submitted;

impl Core {
    /// The work goes back to its agent, which is told why.
    pub(super) fn refused(&self, id: &TicketId, why: String) -> Event {
        Event::ChecksFailed {
            which: attempt::Prompt::TAKING_OVER.to_owned(),
            steps_left: self.steps_left(id),
            reopen_at: self.reopen_at(id),
            repeat: self.repeat(id, Fingerprint::Refused { why: why.clone() }),
            output: why,
        }
    }

    /// The reason not to take a branch over that would bring these commits to the target: one of them is
    /// another ticket's submitted work, which would land by checks and reviews that are not its own.
    pub(super) fn brings_work_of_another(&self, id: &TicketId, ahead: &[Oid]) -> Option<String> {
        let mut others = self.tickets.all().values().filter(|other| other.id != *id);
        let (other, commit) = others.find_map(|other| {
            let commit = other.submitted.iter().rev().find(|tip| ahead.contains(tip))?;
            Some((other, commit))
        })?;
        let what = match other.state {
            State::Done(Done::Dropped { .. }) => "was dropped",
            State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
                "has not landed"
            }
        };
        let other = &other.id;
        Some(format!(
            "the branch holds commit {commit} of ticket {other}, which {what}: that work lands by its own checks and \
             reviews, or not at all. Take it out of this branch, so that it has the changes of this ticket alone. If \
             they cannot be made without {other}, say that you are blocked by it"
        ))
    }

    /// The reason not to take a tip over that was rejected, and that no person has cleared since.
    pub(super) fn was_rejected(&self, id: &TicketId, tip: &Oid) -> Option<String> {
        let ticket = self
            .ticket(id)
            .filter(|ticket| ticket.rejected.as_ref() == Some(tip))?;
        let cleared = submitted(ticket).and_then(|(_, verify)| verify.clearance(tip));
        cleared.is_none().then(|| {
            "this is the very commit that was rejected: nothing was committed since. Change what was found wrong; \
             if you hold the rejection for a mistake, say that you are blocked, and why"
                .to_owned()
        })
    }
}
