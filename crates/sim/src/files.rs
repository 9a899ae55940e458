//! The ticket folder: files that people and crew write, and looks at them on their way to the engine.

use std::collections::{BTreeMap, BTreeSet};

use engine::Sighting;
use model::ticket::{FileStatus, Filing, Spec};
use model::{TicketId, Time};

/// A ticket's file.
#[derive(Clone, Debug)]
pub(crate) struct File {
    pub(crate) spec: Spec,
    pub(crate) status: FileStatus,
    pub(crate) tags: BTreeSet<String>,
    pub(crate) notes: Vec<String>,
    pub(crate) changed_at: Time,
    pub(crate) unreadable: bool,
    /// Whether the status in it was written by crew.
    pub(crate) by_crew: bool,
}

/// The folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) files: BTreeMap<TicketId, File>,
    /// Looks that were taken and not told yet: when each is told, and what was seen.
    pub(crate) looks: Vec<(Time, Sighting)>,
}

impl Files {
    pub(crate) fn look(&self, id: &TicketId, now: Time) -> Sighting {
        let ticket = id.clone();
        match self.files.get(id) {
            None => Sighting::Gone { ticket, at: now },
            Some(file) if file.unreadable => Sighting::Unreadable { ticket, at: now },
            Some(file) => {
                let spec = file.spec.clone();
                let (status, tags, changed_at) = (file.status, file.tags.clone(), file.changed_at);
                Sighting::Read {
                    ticket,
                    spec,
                    status,
                    tags,
                    changed_at,
                }
            }
        }
    }

    /// Looks at one file; it is told at `tell_at`.
    pub(crate) fn see(&mut self, id: &TicketId, now: Time, tell_at: Time) {
        let look = self.look(id, now);
        self.looks.push((tell_at, look));
    }

    /// Looks at every file.
    pub(crate) fn see_all(&self, now: Time) -> Vec<Sighting> {
        self.files.keys().map(|id| self.look(id, now)).collect()
    }

    /// crew's own writing has been reported: what was read before it would tell an old story.
    pub(crate) fn forget_looks(&mut self, id: &TicketId) -> bool {
        let before = self.looks.len();
        self.looks.retain(|(_, look)| ticket_of(look) != id);
        before != self.looks.len()
    }

    /// Makes a file say what the journal holds true. Gives whether anything changed.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub(crate) fn write(&mut self, id: &TicketId, filing: &Filing, now: Time) -> Result<bool, String> {
        let Some(file) = self.files.get_mut(id) else {
            return Ok(false);
        };
        if file.unreadable {
            return Err("its file cannot be read".to_owned());
        }
        file.by_crew = true;
        if file.status == filing.status && file.tags == filing.tags {
            return Ok(false);
        }
        (file.status, file.tags, file.changed_at) = (filing.status, filing.tags.clone(), now);
        Ok(true)
    }
}

/// Whose file a look was at.
pub(crate) fn ticket_of(look: &Sighting) -> &TicketId {
    match look {
        Sighting::Read { ticket, .. }
        | Sighting::Unreadable { ticket, .. }
        | Sighting::Gone { ticket, .. } => ticket,
    }
}
