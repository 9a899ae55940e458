//! The facts that the ticket folder, the settings and git add to the journal, as they were read last.

use std::collections::BTreeMap;
use std::sync::Arc;

use client::outbox::Outbox;
use client::queue_facts::Facts;
use client::repository::{Rejected, settings_or_default};
use client::{Place, inbox};
use model::settings::Settings;
use model::ticket::Ticket;
use model::view::{Context, Snapshot};
use model::{TicketId, Time};

/// The facts beside the journal.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    /// Whether they were read at all.
    pub(crate) is_read: bool,
    /// The tickets that stand otherwise in their files than in the journal.
    pub(crate) unseen: BTreeMap<TicketId, Arc<Ticket>>,
    /// The last row that was folded when they were read.
    pub(crate) seq: u64,
    /// What the inbox depends on.
    pub(crate) beside: Context,
    /// The time of the last change of each file by another hand than crew's.
    pub(crate) changed_at: BTreeMap<TicketId, Time>,
    /// The faults of files, in words.
    pub(crate) problems: Vec<String>,
    /// The settings; the defaults where the file cannot be used.
    pub(crate) settings: Settings,
    /// The fault of a settings file that cannot be used.
    pub(crate) rejected: Option<Rejected>,
}

impl Files {
    /// Reads them. It takes as long as it takes: the caller waits on a thread of its own.
    ///
    /// # Errors
    /// The ticket folder cannot be read.
    pub(crate) fn read(crew: &Snapshot, place: &Place, outbox: Outbox, now: Time) -> client::Result<Self> {
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
    pub(crate) fn keep_times(&mut self, before: &Self) {
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

    /// The tickets whose files count: what the journal has of a ticket is newer than a file that was read
    /// before.
    pub(crate) fn unseen<'a>(
        &'a self,
        crew: &'a Snapshot,
    ) -> impl Iterator<Item = (&'a TicketId, &'a Arc<Ticket>)> {
        let is_present = self.seq == crew.seq;
        let counts = move |(id, _): &(&TicketId, &Arc<Ticket>)| is_present || !crew.tickets.contains_key(*id);
        self.unseen.iter().filter(counts)
    }
}
