//! Edits of people that lost against another write of the same moment: each is kept as a file beside the
//! ticket.

use model::TicketId;
use tickets::Folder;

/// The edits that were kept as conflict copies because another write came into their ticket's file at the
/// same moment: a person is warned of each once, by an engine only.
pub(super) struct ConflictCopies {
    tells: bool,
    /// Whether the write that a killed engine had begun was finished.
    is_finished: bool,
}

impl ConflictCopies {
    pub(super) fn new(tells: bool) -> Self {
        Self {
            tells,
            is_finished: false,
        }
    }

    /// Finishes a write that a killed engine had begun, before the folder is read, and warns of every
    /// conflict copy that is there.
    pub(super) fn finish_writes(&mut self, folder: &Folder) {
        if self.is_finished {
            return;
        }
        match folder.finish_interrupted_write() {
            Ok(kept) => {
                self.is_finished = true;
                self.tell(folder, &kept);
            }
            // The first write says so too, with the ticket that it is about.
            Err(error) => tracing::debug!(%error, "a write that was killed is ended later"),
        }
    }

    /// Writes, and warns of the conflict copies that this write made.
    pub(super) fn watching<R>(&self, folder: &Folder, id: &TicketId, write: impl FnOnce() -> R) -> R {
        let kept = || -> Vec<String> {
            let id = tickets::Id::new(id.as_str()).ok().filter(|_| self.tells);
            id.map(|id| folder.conflict_copies_of(&id)).unwrap_or_default()
        };
        let before = kept();
        let written = write();
        let mut after = kept();
        after.retain(|name| !before.contains(name));
        self.tell(folder, &after);
        written
    }

    fn tell(&self, folder: &Folder, kept: &[String]) {
        for name in kept.iter().filter(|_| self.tells) {
            let file = folder.path().join(name);
            tracing::warn!(
                "{} was written at the same moment as something else in its ticket's file: take over what you need of it, \
                 and delete it",
                file.display()
            );
        }
    }
}
