//! Conflicts with the target: who resolves one, and who waits for that. [`policy::conflict`] has the rules.

use model::policy::conflict as policy;
use model::policy::route;
use model::ticket::{Event, Fingerprint, Ticket, Verify, WhyUncoupled};
use model::{Oid, TicketId};

use super::{Core, Duty};

impl Core {
    /// The event for a branch that conflicts with the target in these paths. `resolved`: whether it holds the
    /// commit of the target with which it was in conflict before.
    pub(super) fn conflicted(
        &self,
        id: &TicketId,
        paths: Vec<String>,
        (tip, target): (Oid, Oid),
        resolved: bool,
    ) -> Event {
        let found = self.ticket(id);
        if let Some(ahead) = found.and_then(|ticket| self.resolves_before(ticket, &paths)) {
            let ahead = ahead.clone();
            return Event::Uncoupled {
                why: WhyUncoupled::Behind { ahead, paths },
                at: self.now,
            };
        }
        let attempt = found.and_then(Ticket::attempt);
        let (asked, overtaken) = attempt.map_or((0, 0), |of| (of.resolutions, of.overtaken));
        let too_late = u32::from(resolved);
        let most = self.settings.run.conflict_resolutions;
        let left = most.saturating_sub(asked.saturating_sub(too_late));
        let bears = policy::OVERTAKEN_FOR_EACH.saturating_mul(most);
        let resolutions_left = if overtaken + too_late >= bears { 0 } else { left };
        Event::Conflicted {
            paths,
            resolutions_left,
            overtaken: resolved,
            repeat: self.repeat(id, Fingerprint::Conflict { tip, target }),
        }
    }

    /// The ticket that is to land before this one is merged again.
    fn resolves_before(&self, ticket: &Ticket, paths: &[String]) -> Option<&TicketId> {
        // An engine that is up for one command moves no other ticket.
        if self.duty != Duty::Drain {
            return None;
        }
        policy::ahead(self.at_work(), ticket, paths, |other| {
            self.moves_towards_target(other)
        })
    }

    /// Whether submitted work conflicts with the target, and another ticket is still to resolve a conflict in
    /// the same paths first.
    pub(super) fn waits_for_resolution(&self, ticket: &Ticket, verify: &Verify) -> bool {
        let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
        let Some(WhyUncoupled::Behind { ahead, paths }) = why else {
            return false;
        };
        self.duty == Duty::Drain
            && self.ticket(ahead).is_some_and(|other| {
                policy::is_ahead(other, ticket, paths) && self.moves_towards_target(other)
            })
    }

    fn moves_towards_target(&self, ticket: &Ticket) -> bool {
        let target = self.project().target.as_deref().and_then(route::refused_by);
        self.need(ticket, target.as_ref(), self.blocker())
            .moves_by_itself()
    }
}
