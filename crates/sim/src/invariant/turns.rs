//! Conflicts with the target: of the tickets in conflict in the same path, one resolves at a time.

use std::collections::BTreeMap;

use model::TicketId;
use model::ticket::{Event, Fingerprint, State, Ticket};

use super::{Checked, ensure};
use crate::git::Git;

/// Conflicts that agents were asked to resolve.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    /// The paths in conflict of each ticket, as the repository has them.
    paths: BTreeMap<TicketId, Vec<String>>,
    /// Tickets whose agents were asked since the last look at the world: what conflicts, and the others
    /// whose agents were at a conflict at that moment.
    asked: Vec<(TicketId, Fingerprint, Vec<TicketId>)>,
}

impl Turns {
    /// Takes in an event of a ticket.
    pub(super) fn note(
        &mut self,
        id: &TicketId,
        event: &Event,
        stored: &Ticket,
        all: &BTreeMap<TicketId, Ticket>,
    ) {
        let Event::Conflicted {
            repeat: Some(repeat), ..
        } = event
        else {
            return;
        };
        if let State::InProgress(_) = stored.state {
            let is_at_one = |ticket: &&Ticket| {
                let attempt = ticket.attempt();
                ticket.id != *id
                    && ticket.live_run().is_some()
                    && attempt.is_some_and(|attempt| attempt.conflict.is_some())
            };
            let others = all.values().filter(is_at_one).map(|ticket| ticket.id.clone());
            self.asked.push((id.clone(), repeat.of.clone(), others.collect()));
        }
    }

    /// No two agents work at a conflict in the same path.
    pub(super) fn are_taken_one_by_one(&mut self, git: &Git) -> Checked {
        for (id, of, others) in std::mem::take(&mut self.asked) {
            let Fingerprint::Conflict { tip, target } = of else {
                continue;
            };
            let (Some(tip), Some(target)) = (git.find(&tip), git.find(&target)) else {
                continue;
            };
            let paths = git.merge(target, tip).err().map(|(paths, _)| paths);
            let paths = paths.unwrap_or_default();
            for other in others {
                let theirs = self.paths.get(&other);
                let shared = theirs.and_then(|theirs| paths.iter().find(|path| theirs.contains(path)));
                ensure(
                    shared.is_none(),
                    "one agent at a time resolves a conflict in a path",
                    || format!("{id} and {other} are both at {shared:?}"),
                )?;
            }
            self.paths.insert(id, paths);
        }
        Ok(())
    }
}
