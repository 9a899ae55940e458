//! The rows of doubt: an agent may have written the ticket's file, and a person says that it is theirs.

use std::collections::BTreeSet;

use super::{Draft, Taken};
use crate::policy::delegation::LEADER_TAG;
use crate::ticket::State;

impl Draft<'_> {
    /// A ticket that an agent or a hook made is no person's.
    pub(super) fn doubt_maker(&mut self) {
        if self.ticket.spec.made_by.is_some() {
            self.ticket.doubt.get_or_insert_default();
        }
    }

    pub(super) fn doubt_writer(&mut self, tags: &BTreeSet<String>) -> Taken {
        let doubt = self.ticket.doubt.get_or_insert_default();
        doubt.tags.extend(tags.iter().cloned());
        Ok(())
    }

    pub(super) fn vouch(&mut self) -> Taken {
        if !self.ticket.may_be_vouched_for() {
            return self.no("nobody doubts who wrote its file, or its work is submitted");
        }
        let ticket = &mut self.ticket;
        ticket.doubt = None;
        if matches!(ticket.state, State::InProgress(_)) && ticket.spec.tags.contains(LEADER_TAG) {
            ticket.tags_given.insert(LEADER_TAG.to_owned());
        }
        Ok(())
    }
}
