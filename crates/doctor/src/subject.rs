//! A repository with a journal that can be read: the subject of the later parts.

use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;

use git::Holder;
use model::audit::Audit;
use model::settings::Settings;
use model::ticket::Ticket;
use model::view::Snapshot;
use model::{AgentName, Oid, RunId, TicketId};
use runtime::Place;
use store::Ledger;

/// Everything that is known of it.
pub(crate) struct Subject {
    pub(crate) place: Place,
    /// None when `crew.toml` cannot be used.
    pub(crate) settings: Option<Settings>,
    pub(crate) ledger: Ledger,
    /// The journal, folded; of archived tickets, if they were read, the work that did not land.
    pub(crate) crew: Snapshot,
    /// True if archived tickets were read.
    pub(crate) is_whole: bool,
    /// The audit of the journal, as far as the journal was read. Archived tickets are over, and no longer in
    /// it.
    pub(crate) audit: Audit,
    /// Faults in the cost of archived tickets that were read, by id.
    pub(crate) misadded: BTreeMap<TicketId, Vec<String>>,
    /// Every agent that was ever at a ticket.
    pub(crate) pairs: BTreeSet<(AgentName, TicketId)>,
    /// Tickets for which something is ordered and not done: their workspaces and branches are on their way.
    pub(crate) changing: BTreeSet<TicketId>,
    /// The commit on which this journal's first workspace was made.
    pub(crate) begun_on: Option<Oid>,
    /// `.crew/state.json`, as it was before the journal was read: an engine may go on in between.
    pub(crate) state_file: Option<Vec<u8>>,
    /// The engine that runs here.
    pub(crate) holder: Option<Holder>,
}

impl Subject {
    /// The folder that the workspaces stand in, if the settings name one.
    pub(crate) fn workspaces(&self) -> Option<PathBuf> {
        self.place.workspaces_dir(self.settings.as_ref()?).ok()
    }

    /// Returns true if the journal has a ticket of this name.
    pub(crate) fn knows(&self, ticket: &str) -> bool {
        TicketId::try_from(ticket.to_owned()).is_ok_and(|id| self.crew.tickets.contains_key(&id))
            || self.is_archived(ticket)
    }

    /// Returns true for the name of an archived ticket.
    fn is_archived(&self, ticket: &str) -> bool {
        TicketId::try_from(ticket.to_owned()).is_ok_and(|id| self.crew.archived.tickets.contains(&id))
    }

    /// Returns true for the name of an archived ticket that was not read.
    pub(crate) fn is_unread(&self, ticket: &str) -> bool {
        !self.is_whole && self.is_archived(ticket)
    }

    /// Returns true while an engine may just be making or removing the workspace or branch of a ticket.
    pub(crate) fn is_changing(&self, ticket: &TicketId) -> bool {
        self.holder.is_some() && self.changing.contains(ticket)
    }

    /// The ticket whose present attempt this agent has.
    pub(crate) fn at_work(&self, agent: &AgentName, ticket: &TicketId) -> Option<&Ticket> {
        self.crew.tickets.get(ticket).map(AsRef::as_ref).filter(|ticket| {
            ticket
                .attempt()
                .is_some_and(|attempt| attempt.claim.agent == *agent)
        })
    }

    /// The agents and their tickets, by the name of workspace and branch.
    pub(crate) fn by_name(&self) -> BTreeMap<String, &(AgentName, TicketId)> {
        self.pairs
            .iter()
            .map(|pair| (format!("{}-{}", pair.0, pair.1), pair))
            .collect()
    }

    /// The ticket whose attempt, review or checks wait for the end of a run.
    pub(crate) fn waits_for(&self, run: &RunId) -> Option<&Ticket> {
        let mut tickets = self.crew.tickets.values().map(AsRef::as_ref);
        tickets.find(|ticket| ticket.waits_for(run))
    }
}
