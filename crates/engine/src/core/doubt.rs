//! Doubt: what follows from a file that an agent at work may have written.
//!
//! Only what an agent would gain by is doubted: the tag with which it may delegate, and work that escapes the
//! review of its own.

use std::collections::BTreeSet;

use model::call::maker_of;
use model::policy::delegation::LEADER_TAG;
use model::ticket::{Event, Origin, Spec, Ticket};
use model::{Actor, TicketId};

use super::Core;
use super::commands::Answer;

impl Core {
    /// The doubt about a file that was not there before.
    pub(super) fn doubt_new(&self, id: &TicketId, spec: &Spec, origin: Origin) -> Option<Event> {
        if self.is_ordered(id) {
            return None;
        }
        let writers = self.possible_writers(origin);
        let mut tags: BTreeSet<String> = writers.iter().flat_map(|it| self.tags_of_review(it)).collect();
        tags.retain(|tag| !spec.tags.contains(tag));
        let leads = spec.tags.contains(LEADER_TAG) && !writers.is_empty();
        (leads || !tags.is_empty()).then_some(Event::WriterDoubted { tags })
    }

    /// The doubt about an edit: it brings the tag `leader`, or takes out who made the ticket.
    pub(super) fn doubt_edit(&self, id: &TicketId, spec: &Spec, origin: Origin) -> Option<Event> {
        let is_new = spec.tags.contains(LEADER_TAG) && !self.ticket(id)?.spec.tags.contains(LEADER_TAG);
        let is_doubted = is_new && !self.possible_writers(origin).is_empty();
        is_doubted.then(|| Event::WriterDoubted {
            tags: BTreeSet::new(),
        })
    }

    /// The tickets whose agents may have written a file that was seen now: those that are at work, or were a
    /// moment ago. What git has brought is none of theirs.
    pub(super) fn possible_writers(&self, origin: Origin) -> Vec<&Ticket> {
        match origin {
            Origin::Person | Origin::Unknown | Origin::LostEngine | Origin::Agents => {}
            Origin::Git => return Vec::new(),
        }
        let debounce = self.settings.run.debounce;
        let ends = self.watches.ends().filter(|(_, end)| self.now < *end + debounce);
        let recent: BTreeSet<&TicketId> = ends.map(|(id, _)| id).collect();
        let is_at_work = |ticket: &Ticket| ticket.live_runs().any(|run| !run.is_check());
        let all = self.tickets.all().values().map(AsRef::as_ref);
        all.filter(|ticket| recent.contains(&ticket.id) || is_at_work(ticket))
            .collect()
    }

    /// The tags for which work on a ticket is reviewed.
    pub(super) fn tags_of_review(&self, ticket: &Ticket) -> BTreeSet<String> {
        let doubtful = ticket.doubt.iter().flat_map(|doubt| &doubt.tags);
        let all = ticket.spec.tags.union(&ticket.tags_given).chain(doubtful);
        let is_of_review = |tag: &&String| {
            let one = BTreeSet::from([(*tag).clone()]);
            self.settings.review.tag_of(&one).is_some()
        };
        all.filter(is_of_review).cloned().collect()
    }

    /// Whether crew itself writes this file: an agent has delegated it, or made it by its tool.
    pub(super) fn is_ordered(&self, id: &TicketId) -> bool {
        let by_tool = || {
            let maker = self.ticket(&maker_of(id)?)?;
            (1..=maker.made).find(|n| id.as_str() == format!("{}-n{n}", maker.id))
        };
        self.parent_by_id(id).is_some() || by_tool().is_some()
    }

    /// A person says that a ticket's file is theirs.
    pub(super) fn vouch_for(&mut self, id: &TicketId, by: &Actor) -> Answer {
        let words = format!("{id} counts as it stands in its file");
        self.act(id, Event::VouchedFor { by: by.clone() }, words)
    }
}
