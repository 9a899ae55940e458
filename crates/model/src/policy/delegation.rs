//! Delegation: which agents may give parts of a ticket to others.

use crate::AgentName;
use crate::settings::Settings;
use crate::ticket::Ticket;

/// The tag of a ticket whose agent may delegate.
pub const LEADER_TAG: &str = "leader";

/// Whether an agent may delegate parts of a ticket: it is one of the `leaders` of the settings, or the ticket
/// had the tag when it was given out; and the ticket is not as deep as its parts may be.
#[must_use]
pub fn may_delegate(settings: &Settings, ticket: &Ticket, agent: &AgentName) -> bool {
    let is_leader = settings.agents.leaders.contains(agent) || ticket.tags_given.contains(LEADER_TAG);
    is_leader && ticket.depth() < settings.delegate.depth
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
