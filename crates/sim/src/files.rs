//! The ticket folder: files that people and crew write, and looks at them on their way to the engine.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{Observation, Report};
use model::ticket::{FileStatus, Filing, Origin, Spec};
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
    /// True if the status in it was written by crew.
    pub(crate) by_crew: bool,
}

/// A ticket's file that is not there for a while.
#[derive(Clone, Debug)]
pub(crate) struct Away {
    file: File,
    pub(crate) until: Time,
    /// Who has taken it away.
    pub(crate) origin: Origin,
}

/// The ticket folder.
#[derive(Clone, Debug, Default)]
pub(crate) struct Files {
    pub(crate) files: BTreeMap<TicketId, File>,
    /// Files that will be back.
    pub(crate) away: BTreeMap<TicketId, Away>,
    /// Looks that were taken and not delivered yet: each with the time of its delivery and the observation.
    pub(crate) looks: Vec<(Time, Observation)>,
}

impl Files {
    pub(crate) fn look(&self, id: &TicketId, now: Time) -> Observation {
        let ticket = id.clone();
        match self.files.get(id) {
            None => Observation::Gone {
                origin: self.away.get(id).map_or(Origin::Person, |away| away.origin),
                is_tracked: true,
                ticket,
            },
            Some(file) if file.unreadable => Observation::Unreadable { ticket, at: now },
            Some(file) => {
                let spec = file.spec.clone();
                let (status, tags, changed_at) = (file.status, file.tags.clone(), file.changed_at);
                Observation::Read {
                    ticket,
                    spec,
                    status,
                    tags,
                    notes: Vec::new(),
                    changed_at,
                    origin: Origin::Person,
                    renamed: None,
                }
            }
        }
    }

    /// Looks at one file; the observation is delivered at `deliver_at`.
    pub(crate) fn see(&mut self, id: &TicketId, now: Time, deliver_at: Time) {
        let look = self.look(id, now);
        self.looks.push((deliver_at, look));
    }

    /// Looks at every file.
    pub(crate) fn see_all(&self, now: Time) -> Vec<Observation> {
        self.files.keys().map(|id| self.look(id, now)).collect()
    }

    /// Somebody, or git, moves a file away; it is back at `until`. A person who puts it back after longer
    /// than a file must be still answers for the contents that it has then.
    pub(crate) fn take_away(
        &mut self,
        id: &TicketId,
        now: Time,
        until: Time,
        debounce: Duration,
        origin: Origin,
    ) {
        if let Some(mut file) = self.files.remove(id) {
            file.by_crew &= until.since(now) < debounce;
            let away = Away { file, until, origin };
            self.away.insert(id.clone(), away);
            self.see(id, now, now);
        }
    }

    /// True if there is, or will be again, a file of this name.
    pub(crate) fn has(&self, id: &TicketId) -> bool {
        self.files.contains_key(id) || self.away.contains_key(id)
    }

    /// Puts back, as they were, the files that were moved away until now.
    pub(crate) fn put_back(&mut self, now: Time) {
        let back: Vec<TicketId> = self
            .away
            .iter()
            .filter(|(_, away)| away.until <= now)
            .map(|(id, _)| id.clone())
            .collect();
        for id in back {
            let Some(Away { mut file, .. }) = self.away.remove(&id) else {
                continue;
            };
            file.changed_at = now;
            self.files.insert(id.clone(), file);
            self.see(&id, now, now);
        }
    }

    /// crew's own writing has been reported: an observation from before it would be an old story.
    pub(crate) fn forget_looks(&mut self, id: &TicketId) -> bool {
        let before = self.looks.len();
        self.looks.retain(|(_, look)| ticket_of(look) != id);
        before != self.looks.len()
    }

    /// Gives a file the contents that the journal wants. Returns true if anything changed.
    ///
    /// # Errors
    /// When the file is not there, or cannot be read.
    pub(crate) fn write(&mut self, id: &TicketId, filing: &Filing, now: Time) -> Result<bool, Box<Report>> {
        let file = self.files.get_mut(id).ok_or(Report::FileMissing)?;
        if file.unreadable {
            return Err(Box::new(Report::CouldNotRun {
                why: "its file cannot be read".to_owned(),
            }));
        }
        file.by_crew = true;
        let noted = filing.note.as_ref().map(|note| &note.text);
        file.notes
            .extend(noted.filter(|text| !file.notes.contains(text)).cloned());
        if file.status == filing.status && file.tags == filing.tags {
            return Ok(false);
        }
        (file.status, file.tags, file.changed_at) = (filing.status, filing.tags.clone(), now);
        Ok(true)
    }
}

/// The ticket whose file a look was at.
pub(crate) fn ticket_of(look: &Observation) -> &TicketId {
    match look {
        Observation::Read { ticket, .. }
        | Observation::Unreadable { ticket, .. }
        | Observation::Gone { ticket, .. } => ticket,
    }
}
