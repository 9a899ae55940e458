//! The ticket folder as it was last seen: which files there are, and whether their status is a person's word.
//!
//! The journal owns the status of a ticket and writes it into the file. Until such a write has arrived, the
//! file lags behind and says nothing about people.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use model::journal::EffectId;
use model::policy::route::File;
use model::ticket::{self, Effect, FileStatus, Filing, Origin, Ticket};
use model::{Actor, TicketId, Time};

/// The files, and the writes to them that have not arrived.
#[derive(Clone, Debug, Default)]
pub(crate) struct TicketFolder {
    /// Whether every file was looked at since this core was loaded.
    is_read: bool,
    files: BTreeMap<TicketId, File>,
    /// crew's own tags in the files that can be read.
    tags: BTreeMap<TicketId, BTreeSet<String>>,
    /// The origin of the content of each file, unless it is a person's.
    origins: BTreeMap<TicketId, Origin>,
    /// Since when the file of a known ticket is not there.
    gone: BTreeMap<TicketId, Gone>,
    /// Whether git had moved before the first look at every file.
    has_git_moved: bool,
    /// Whether the folder had replaced another one before the first look at every file.
    is_replaced: bool,
    /// How many writes of each file were ordered and have not arrived.
    ordered: BTreeMap<TicketId, u32>,
    /// The last write of each file that found no file, and since when.
    missed: BTreeMap<TicketId, (EffectId, Time)>,
    /// Writes that have arrived, so that a second report of the same write is not counted.
    arrived: BTreeMap<TicketId, BTreeSet<EffectId>>,
}

/// The absence of a known ticket's file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Gone {
    pub(crate) since: Time,
    pub(crate) origin: Origin,
    /// Whether git tracks the file.
    pub(crate) is_tracked: bool,
}

/// A file as it was before it was read again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Before {
    /// Its status; none if there was no readable file.
    pub(crate) status: Option<FileStatus>,
    /// Whether the file of a known ticket was gone.
    pub(crate) was_gone: bool,
}

impl TicketFolder {
    /// Whether every file was looked at since this core was loaded: no ticket is dispatched before.
    pub(crate) fn is_read(&self) -> bool {
        self.is_read
    }

    /// Every file that exists.
    pub(crate) fn files(&self) -> &BTreeMap<TicketId, File> {
        &self.files
    }

    /// Whether the file exists and cannot be read.
    pub(crate) fn is_unreadable(&self, id: &TicketId) -> bool {
        self.files.get(id).is_some_and(|file| file.unreadable)
    }

    /// The content of the file; none while it does not exist or cannot be read.
    pub(crate) fn status(&self, id: &TicketId) -> Option<FileStatus> {
        let file = self.files.get(id).filter(|file| !file.unreadable);
        file.map(|file| file.status)
    }

    /// Whether the file has exactly these of crew's own tags.
    pub(crate) fn has_tags(&self, id: &TicketId, tags: &BTreeSet<String>) -> bool {
        self.tags.get(id) == Some(tags)
    }

    /// Whether the file has this tag of crew's own.
    pub(crate) fn has_tag(&self, id: &TicketId, tag: &str) -> bool {
        self.tags.get(id).is_some_and(|tags| tags.contains(tag))
    }

    /// A file was read. `is_same_text`: only its status and crew's own tags can have changed.
    pub(crate) fn read(
        &mut self,
        id: &TicketId,
        status: FileStatus,
        tags: BTreeSet<String>,
        changed_at: Time,
        is_same_text: bool,
    ) -> Before {
        let before = Before {
            status: self.status(id),
            was_gone: self.gone.remove(id).is_some(),
        };
        // crew's own write does not make a file restless: crew waits for people, not for itself.
        let still = is_same_text && before.status == Some(status);
        let old = self.files.get(id).filter(|_| still);
        let file = File {
            status,
            changed_at: old.map_or(changed_at, |file| file.changed_at),
            unreadable: false,
        };
        self.files.insert(id.clone(), file);
        self.tags.insert(id.clone(), tags);
        self.origins.remove(id);
        before
    }

    /// Notes the origin of the content that was read last.
    pub(crate) fn comes_from(&mut self, id: &TicketId, origin: Origin) {
        match origin {
            Origin::Person => self.origins.remove(id),
            Origin::Git | Origin::Unknown | Origin::LostEngine | Origin::Agents => {
                self.origins.insert(id.clone(), origin)
            }
        };
    }

    /// The origin of the file's content.
    pub(crate) fn origin(&self, id: &TicketId) -> Origin {
        self.origins.get(id).copied().unwrap_or_default()
    }

    /// git has moved since an engine last looked.
    pub(crate) fn git_moved(&mut self) {
        self.has_git_moved = true;
    }

    /// The folder is another than the one that an engine saw last.
    pub(crate) fn replaced(&mut self) {
        self.is_replaced = true;
    }

    /// A file exists and cannot be read.
    pub(crate) fn unreadable(&mut self, id: &TicketId, at: Time, is_done: bool) {
        // The status that a done ticket's file had before it was gone is still needed when it can be read.
        if !is_done {
            self.gone.remove(id);
        }
        let unseen = File {
            status: FileStatus::Open,
            changed_at: at,
            unreadable: true,
        };
        self.files.entry(id.clone()).or_insert(unseen).unreadable = true;
    }

    /// A file does not exist any more.
    pub(crate) fn removed(
        &mut self,
        id: &TicketId,
        ticket: Option<&Ticket>,
        (origin, is_tracked): (Origin, bool),
        now: Time,
    ) {
        let was_closed = self.status(id) == Some(FileStatus::Closed);
        self.files.remove(id);
        self.tags.remove(id);
        self.origins.remove(id);
        // crew owes nothing to the closed file of a ticket that is done: its status when it is back is a
        // person's word.
        let is_over = was_closed && ticket.is_some_and(Ticket::is_done);
        if ticket.is_some() && !is_over {
            // From now on, even if this observation is old: should the file be back, that is observed next.
            self.gone.entry(id.clone()).or_insert(Gone {
                since: now,
                origin,
                is_tracked,
            });
        }
    }

    /// The file of a ticket that is gone may have been taken by git: nobody can see.
    pub(crate) fn doubt_absence(&mut self, id: &TicketId) {
        if let Some(gone) = self.gone.get_mut(id) {
            gone.origin = Origin::Unknown;
        }
    }

    /// Every file was looked at: a ticket of the journal without one has lost it.
    pub(crate) fn read_whole<'a>(&mut self, tickets: impl IntoIterator<Item = &'a Ticket>, now: Time) {
        self.is_read = true;
        let has_git_moved = std::mem::take(&mut self.has_git_moved);
        let origin = match (has_git_moved, std::mem::take(&mut self.is_replaced)) {
            (true, _) => Origin::Git,
            (false, true) => Origin::Unknown,
            (false, false) => Origin::Person,
        };
        for ticket in tickets {
            if !ticket.is_done() && !self.files.contains_key(&ticket.id) {
                self.gone.entry(ticket.id.clone()).or_insert(Gone {
                    since: now,
                    origin,
                    is_tracked: false,
                });
            }
        }
    }

    /// Files of known tickets that are not there.
    pub(crate) fn gone(&self) -> impl Iterator<Item = (&TicketId, Gone)> {
        self.gone.iter().map(|(id, gone)| (id, *gone))
    }

    /// Whether somebody has deleted the file of a known ticket.
    pub(crate) fn is_deleted(&self, id: &TicketId) -> bool {
        let gone = self.gone.get(id);
        gone.is_some_and(|gone| gone.origin == Origin::Person)
    }

    /// Whether the file exists, readable or not.
    pub(crate) fn has(&self, id: &TicketId) -> bool {
        self.files.contains_key(id)
    }

    /// Leaves out of `effects` what the file of a ticket, as it is after an event, must not be told.
    ///
    /// A ticket that was dropped because its file was deleted is not written: whoever writes a file of that
    /// name next begins anew, and would find the old ticket's status in it.
    pub(crate) fn keep_wanted(&self, ticket: &Ticket, effects: &mut Vec<Effect>) {
        let by_deletion = matches!(
            &ticket.state,
            ticket::State::Done(ticket::Done::Dropped { by: Actor::File, .. })
        );
        if by_deletion && self.gone.contains_key(&ticket.id) {
            effects.retain(|effect| !matches!(effect, Effect::WriteFile(_)));
        }
    }

    /// An effect was ordered: a write makes the file lag behind until it has arrived.
    pub(crate) fn ordered(&mut self, id: &TicketId, effect: &Effect) {
        if let Effect::WriteFile(_) = effect {
            *self.ordered.entry(id.clone()).or_default() += 1;
        }
    }

    /// Whether a write of crew's own has not arrived yet.
    pub(crate) fn is_being_written(&self, id: &TicketId) -> bool {
        self.ordered.get(id).is_some_and(|n| *n > 0)
    }

    /// A write has arrived, and the file says what was written. Returns false for a second report of it.
    pub(crate) fn written(&mut self, write: EffectId, id: &TicketId, filing: &Filing) -> bool {
        let is_first = self.arrived(write, id);
        if is_first {
            self.missed.remove(id);
            if let Some(file) = self.files.get_mut(id) {
                file.status = filing.status;
                self.tags.insert(id.clone(), filing.tags.clone());
            }
        }
        is_first
    }

    /// Counts a write as arrived, once: an executor of an earlier core can report it too. Counted twice, the
    /// next write would seem to have arrived, and what crew is about to overwrite would be taken for a
    /// person's act.
    fn arrived(&mut self, write: EffectId, id: &TicketId) -> bool {
        let is_first = self.arrived.entry(id.clone()).or_default().insert(write);
        if is_first && let Some(n) = self.ordered.get_mut(id) {
            *n = n.saturating_sub(1);
        }
        is_first
    }

    /// A write found no file. Returns when to try again: the write is owed to a file that is away for a
    /// moment only, and until it has arrived nothing in there is a person's act. Returns none when the file
    /// has stayed away for as long as a file must be still: then it was deleted, and there is nothing to
    /// write.
    pub(crate) fn found_no_file(
        &mut self,
        write: EffectId,
        id: &TicketId,
        effect: &Effect,
        now: Time,
        debounce: Duration,
    ) -> Option<Time> {
        let since = match self.missed.get(id) {
            Some((missed, since)) if *missed == write => *since,
            Some(_) | None => now,
        };
        let again_at = since + debounce;
        if again_at > now {
            self.missed.insert(id.clone(), (write, since));
            return Some(again_at);
        }
        self.missed.remove(id);
        if let Effect::WriteFile(_) = effect {
            self.arrived(write, id);
        }
        None
    }

    /// The ticket was archived. Its file, if there is one, stays known.
    pub(crate) fn forget(&mut self, id: &TicketId) {
        self.ordered.remove(id);
        self.origins.remove(id);
        self.gone.remove(id);
        self.missed.remove(id);
        self.arrived.remove(id);
    }
}

#[cfg(test)]
mod tests {
    use model::ticket::{Done, State};

    use super::*;

    const DEBOUNCE: Duration = Duration::from_millis(500);

    fn id() -> TicketId {
        TicketId::new("t-1").unwrap()
    }

    fn write(seq: u64) -> EffectId {
        EffectId { seq, index: 0 }
    }

    fn filing(status: FileStatus) -> Filing {
        Filing {
            status,
            tags: BTreeSet::new(),
            deps: BTreeSet::new(),
            note: None,
        }
    }

    fn read(folder: &mut TicketFolder, status: FileStatus, at: i64) -> Before {
        folder.read(&id(), status, BTreeSet::new(), Time(at), true)
    }

    fn done() -> Ticket {
        let mut ticket = Ticket::new(id());
        ticket.state = State::Done(Done::ClosedByPerson);
        ticket
    }

    #[test]
    fn a_file_is_being_written_until_every_write_has_arrived_once() {
        let mut folder = TicketFolder::default();
        let effect = Effect::WriteFile(filing(FileStatus::InProgress));
        folder.ordered(&id(), &effect);
        folder.ordered(&id(), &effect);
        assert!(folder.written(write(1), &id(), &filing(FileStatus::InProgress)));
        assert!(
            !folder.written(write(1), &id(), &filing(FileStatus::InProgress)),
            "reported twice"
        );
        assert!(folder.is_being_written(&id()));
        assert!(folder.written(write(2), &id(), &filing(FileStatus::InProgress)));
        assert!(!folder.is_being_written(&id()));
    }

    #[test]
    fn a_note_does_not_make_the_file_lag_behind() {
        let mut folder = TicketFolder::default();
        let text = "why".to_owned();
        folder.ordered(&id(), &Effect::AddNote { text, by: None });
        assert!(!folder.is_being_written(&id()));
    }

    #[test]
    fn crews_own_write_does_not_make_a_file_restless_and_a_persons_does() {
        let mut folder = TicketFolder::default();
        let changed_at = |folder: &TicketFolder| folder.files()[&id()].changed_at;
        read(&mut folder, FileStatus::Open, 1);
        folder.written(write(1), &id(), &filing(FileStatus::InProgress));
        assert_eq!(
            read(&mut folder, FileStatus::InProgress, 2).status,
            Some(FileStatus::InProgress)
        );
        assert_eq!(changed_at(&folder), Time(1));
        read(&mut folder, FileStatus::Open, 3);
        assert_eq!(changed_at(&folder), Time(3), "another status");
        folder.read(&id(), FileStatus::Open, BTreeSet::new(), Time(4), false);
        assert_eq!(changed_at(&folder), Time(4), "another text");
    }

    #[test]
    fn a_write_waits_for_a_file_that_is_away_and_gives_up_when_it_stays_away() {
        let mut folder = TicketFolder::default();
        let effect = Effect::WriteFile(filing(FileStatus::Closed));
        folder.ordered(&id(), &effect);
        let mut at = |now| folder.found_no_file(write(1), &id(), &effect, Time(now), DEBOUNCE);
        assert_eq!(at(0), Some(Time(500)));
        assert_eq!(at(499), Some(Time(500)), "from the first time on");
        assert_eq!(at(500), None);
        assert!(!folder.is_being_written(&id()));
    }

    #[test]
    fn a_ticket_whose_file_is_gone_is_missed_unless_it_was_closed_and_is_done() {
        let gone = |status, ticket: Option<&Ticket>| {
            let mut folder = TicketFolder::default();
            read(&mut folder, status, 0);
            folder.removed(&id(), ticket, (Origin::Person, true), Time(7));
            folder.gone().map(|(_, gone)| gone.since).next()
        };
        let open = Ticket::new(id());
        assert_eq!(gone(FileStatus::Open, Some(&open)), Some(Time(7)));
        assert_eq!(gone(FileStatus::Closed, Some(&open)), Some(Time(7)));
        assert_eq!(gone(FileStatus::InProgress, Some(&done())), Some(Time(7)));
        assert_eq!(gone(FileStatus::Closed, Some(&done())), None);
        assert_eq!(gone(FileStatus::Open, None), None, "nobody knows it");
    }

    #[test]
    fn a_whole_look_misses_the_files_of_tickets_that_are_not_done() {
        let mut folder = TicketFolder::default();
        let there = Ticket::new(TicketId::new("t-2").unwrap());
        folder.read(&there.id, FileStatus::Open, BTreeSet::new(), Time(0), false);
        assert!(!folder.is_read());
        folder.read_whole([&Ticket::new(id()), &there], Time(3));
        assert!(folder.is_read());
        let gone = Gone {
            since: Time(3),
            origin: Origin::Person,
            is_tracked: false,
        };
        assert_eq!(folder.gone().collect::<Vec<_>>(), [(&id(), gone)]);
    }

    #[test]
    fn a_file_that_is_back_says_that_it_was_gone_and_an_unreadable_one_of_a_done_ticket_remembers_it() {
        let mut folder = TicketFolder::default();
        folder.removed(&id(), Some(&Ticket::new(id())), (Origin::Person, true), Time(0));
        folder.unreadable(&id(), Time(1), true);
        assert!(folder.is_unreadable(&id()) && folder.status(&id()).is_none());
        let before = read(&mut folder, FileStatus::Open, 2);
        assert_eq!(
            before,
            Before {
                status: None,
                was_gone: true
            }
        );
        folder.removed(&id(), Some(&Ticket::new(id())), (Origin::Person, true), Time(3));
        folder.unreadable(&id(), Time(4), false);
        assert!(!read(&mut folder, FileStatus::Open, 5).was_gone);
    }

    #[test]
    fn a_ticket_that_was_dropped_with_its_file_is_not_written_unless_the_file_is_back() {
        let mut folder = TicketFolder::default();
        let mut ticket = Ticket::new(id());
        folder.removed(&id(), Some(&ticket), (Origin::Person, true), Time(0));
        let effects = |folder: &TicketFolder, ticket: &Ticket| {
            let mut effects = vec![Effect::WriteFile(filing(FileStatus::Closed))];
            folder.keep_wanted(ticket, &mut effects);
            effects.len()
        };
        assert_eq!(effects(&folder, &done()), 1, "closed by a person");
        ticket.state = State::Done(Done::Dropped {
            by: Actor::File,
            reason: String::new(),
        });
        assert_eq!(effects(&folder, &ticket), 0);
        read(&mut folder, FileStatus::Open, 1);
        assert_eq!(effects(&folder, &ticket), 1);
    }
}
