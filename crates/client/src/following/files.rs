//! The facts that the ticket folder, the settings and git add to the journal, as they were read last.

use std::collections::BTreeMap;
use std::sync::Arc;

use model::settings::Settings;
use model::ticket::Ticket;
use model::view::{Context, Snapshot};
use model::{TicketId, Time};

use crate::error::Result;
use crate::inbox;
use crate::outbox::Outbox;
use crate::queue_facts::Facts;
use crate::repository::{Rejected, settings_or_default};
use runtime::Place;

/// The facts beside the journal.
#[derive(Clone, Debug, Default)]
pub struct Files {
    /// Whether they were read at all.
    pub is_read: bool,
    /// The tickets that stand otherwise in their files than in the journal.
    pub unseen: BTreeMap<TicketId, Arc<Ticket>>,
    /// The last row that was folded when they were read.
    pub seq: u64,
    /// What the inbox depends on.
    pub beside: Context,
    /// The time of the last change of each file by another hand than crew's.
    pub changed_at: BTreeMap<TicketId, Time>,
    /// The faults of files, in words.
    pub problems: Vec<String>,
    /// The settings; the defaults where the file cannot be used.
    pub settings: Settings,
    /// The fault of a settings file that cannot be used.
    pub rejected: Option<Rejected>,
}

impl Files {
    /// Reads them. Blocks.
    ///
    /// # Errors
    /// The ticket folder cannot be read.
    pub(super) fn read(crew: &Snapshot, place: &Place, outbox: Outbox, now: Time) -> Result<Self> {
        let (settings, rejected) = settings_or_default(place);
        let facts = Facts::gather(crew, place, &settings, &outbox.unwritten, now)?;
        let mut beside = inbox::context(crew, place, &settings, &facts, outbox.failing, now)?;
        beside.settings = rejected.as_ref().map(|rejected| rejected.why.clone());
        let changed = |id: &TicketId| Some((id.clone(), facts.file(id)?.changed_at));
        let changed_at = facts.tickets.keys().filter_map(changed).collect();
        let mut unseen = facts.tickets;
        unseen.retain(|id, ticket| crew.tickets.get(id) != Some(ticket));
        Ok(Self {
            is_read: true,
            unseen,
            seq: crew.seq,
            beside,
            changed_at,
            problems: facts.problems,
            settings,
            rejected,
        })
    }

    /// Leaves the tickets that no engine has seen as they were: the time of their reading is no change.
    pub(super) fn keep_times(&mut self, before: &Self) {
        for (id, ticket) in &mut self.unseen {
            let Some(known) = before.unseen.get(id) else {
                continue;
            };
            let is_same = Ticket {
                since: known.since,
                ..Ticket::clone(ticket)
            } == **known;
            if is_same {
                *ticket = Arc::clone(known);
            }
        }
    }

    /// The ticket as its file has it, where that counts: what the journal has of a ticket is newer than a
    /// file that was read before.
    #[must_use]
    pub fn unseen_at(&self, id: &TicketId, crew: &Snapshot) -> Option<&Arc<Ticket>> {
        let counts = self.seq == crew.seq || !crew.tickets.contains_key(id);
        self.unseen.get(id).filter(|_| counts)
    }

    /// The tickets whose files count, as [`unseen_at`](Self::unseen_at) gives them.
    pub fn unseen<'a>(&'a self, crew: &'a Snapshot) -> impl Iterator<Item = (&'a TicketId, &'a Arc<Ticket>)> {
        let ids = self.unseen.keys();
        ids.filter_map(|id| Some((id, self.unseen_at(id, crew)?)))
    }
}
