//! Delegation: which agents may give parts of a ticket to others.

use crate::settings::Settings;
use crate::ticket::Ticket;
use crate::{AgentName, TicketId};

/// The tag of a ticket whose agent may delegate.
pub const LEADER_TAG: &str = "leader";

/// Whether an agent may delegate parts of a ticket: it is one of the `leaders` of the settings, or the ticket
/// had the tag when it was given out; and the ticket is not as deep as its parts may be.
#[must_use]
pub fn may_delegate(settings: &Settings, ticket: &Ticket, agent: &AgentName) -> bool {
    let is_leader = settings.agents.leaders.contains(agent) || ticket.tags_given.contains(LEADER_TAG);
    is_leader && ticket.depth() < settings.delegate.depth
}

/// Those of the children of one attempt whose turn it is, of the ones that are not over, in the order in
/// which they were delegated: the first one, and with it those behind it that have workspaces of their own,
/// if it has one too. So nobody else is at work in the leader's workspace while a child works there, begins
/// with what is there, or is merged into it.
#[must_use]
pub fn in_turn(open: &[TicketId], is_apart: impl Fn(&TicketId) -> bool) -> &[TicketId] {
    let together = open.iter().take_while(|id| is_apart(id)).count();
    &open[..together.max(1).min(open.len())]
}

/// The children of one attempt that must be over before it is the turn of one of them, as [`in_turn`].
pub fn before_in_turn<'a>(
    children: &'a [TicketId],
    child: &TicketId,
    is_apart: impl Fn(&TicketId) -> bool,
) -> impl Iterator<Item = &'a TicketId> {
    let at = children.iter().position(|id| id == child);
    let up_to = at.map_or(&[][..], |at| &children[..=at]);
    let beside = up_to.iter().rev().take_while(|id| is_apart(id)).count();
    up_to[..up_to.len() - beside.max(1).min(up_to.len())].iter()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    #[test]
    fn a_leader_is_named_in_the_settings_or_by_the_tag_that_counted_at_the_claim() {
        let (ada, bob) = (AgentName::new("ada").unwrap(), AgentName::new("bob").unwrap());
        let mut ticket = samples::ticket::first();
        let mut settings = Settings::default();
        settings.agents.leaders = vec![ada.clone()];
        assert!(may_delegate(&settings, &ticket, &ada));
        assert!(!may_delegate(&settings, &ticket, &bob));
        ticket.spec.tags.insert(LEADER_TAG.to_owned());
        assert!(!may_delegate(&settings, &ticket, &bob));
        ticket.tags_given.insert(LEADER_TAG.to_owned());
        assert!(may_delegate(&settings, &ticket, &bob));
        let mut delegated = samples::ticket::delegated();
        delegated.depth = settings.delegate.depth;
        ticket.delegated = Some(Box::new(delegated));
        assert!(
            !may_delegate(&settings, &ticket, &ada),
            "its parts would be too deep"
        );
    }
}
