//! Changes of ticket files that are no person's word: nothing is decided on them, and a person is asked where
//! crew cannot see who made them.

use model::ticket::{Done, Event, FileStatus, Origin, State, Ticket, Unheeded};
use model::{Actor, Fence, TicketId};

use super::Core;
use super::commands::Answer;
use crate::Observation;

impl Core {
    /// Whether the status of the file is a person's word: not while it is the one on which nothing was
    /// decided.
    pub(super) fn is_heeded(&self, id: &TicketId, ticket: &Ticket, status: FileStatus) -> bool {
        let stands = ticket.unheeded.as_ref().and_then(|change| change.says) == Some(status);
        !stands && self.folder.origin(id) == Origin::Person
    }

    /// The file has a status that is no person's word.
    pub(super) fn leave_unheeded(&mut self, id: &TicketId, status: FileStatus) {
        let Some(ticket) = self.ticket(id) else { return };
        let is_as_it_should_be = match (&ticket.state, status) {
            (State::New, _)
            | (State::Open, FileStatus::Open)
            | (State::InProgress(_) | State::Verify(_), FileStatus::InProgress)
            | (State::Done(_), FileStatus::Closed) => true,
            (State::Open, FileStatus::InProgress | FileStatus::Closed)
            | (State::InProgress(_) | State::Verify(_), FileStatus::Open | FileStatus::Closed)
            | (State::Done(_), FileStatus::Open | FileStatus::InProgress) => false,
        };
        match &ticket.unheeded {
            Some(_) if is_as_it_should_be => {
                self.apply_or_note(id, Event::FileHeeded, "its file is as it should be");
            }
            Some(change) if change.says == Some(status) => {}
            Some(_) | None if is_as_it_should_be => {}
            Some(_) | None => self.leave(id, self.folder.origin(id), Some(status), None),
        }
    }

    /// Decides nothing on a change of a file.
    pub(super) fn leave(
        &mut self,
        id: &TicketId,
        origin: Origin,
        says: Option<FileStatus>,
        renamed: Option<TicketId>,
    ) {
        let change = Unheeded {
            origin,
            says,
            renamed,
            since: self.now,
        };
        let old = self.ticket(id).and_then(|ticket| ticket.unheeded.as_ref());
        if old.is_none_or(|old| !old.is_same(&change)) {
            self.apply_or_note(
                id,
                Event::FileUnheeded { change },
                "its file was changed, and no person has said so",
            );
        }
    }

    /// A person has set the status of a ticket, and maybe written that into its file.
    pub(super) fn set_status(
        &mut self,
        id: &TicketId,
        by: &Actor,
        status: FileStatus,
        fence: Fence,
    ) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Ok(format!("crew takes {id} as its file is"));
        };
        if ticket.fence != fence {
            return Ok(format!("{id} was given to an agent since"));
        }
        let has_file = self.folder.has(id);
        let is_open_question = ticket.unheeded.is_some();
        let (state, is_held) = (ticket.state.clone(), ticket.held.is_some());
        self.folder.comes_from(id, Origin::Person);
        let (event, message) = match (&state, status) {
            (State::Done(_), FileStatus::Open) => {
                (Event::Reopened { by: by.clone() }, format!("{id} is open again"))
            }
            (State::Open, FileStatus::Closed) => (
                Event::ClosedByPerson { by: by.clone() },
                format!("{id} is closed"),
            ),
            (State::Verify(_), FileStatus::Closed) if is_held => (
                Event::ClosedByPerson { by: by.clone() },
                format!("{id} is closed"),
            ),
            (State::InProgress(attempt), FileStatus::Closed) if !has_file => {
                if attempt.conversation.has_live_worker() {
                    return Err(format!(
                        "an agent works on {id}: `crew merge {id}` submits its work between two steps, `crew drop {id}` \
                         gives it up"
                    ));
                }
                (
                    self.submitted_by(by.clone()),
                    format!("{id} is submitted as it is"),
                )
            }
            (State::Open | State::InProgress(_) | State::Verify(_), FileStatus::Open) if !has_file => {
                if is_open_question {
                    self.leave(id, Origin::Person, None, None);
                }
                return Ok(format!("{id} goes on when its file is back"));
            }
            (State::Open | State::InProgress(_) | State::Verify(_), FileStatus::Open)
            | (State::Done(_), FileStatus::Closed)
                if is_open_question =>
            {
                (
                    Event::FileDrifted,
                    format!("{id} goes on, and its file is written again"),
                )
            }
            (State::New | State::Open | State::InProgress(_) | State::Verify(_) | State::Done(_), _) => {
                if is_open_question {
                    self.apply_or_note(id, Event::FileHeeded, "a person has set its status");
                }
                self.heed_file(id);
                return Ok(format!("{id} is {}", status.word()));
            }
        };
        let answer = self.act(id, event, message)?;
        Ok(self.with_wait_for_target(id, answer))
    }

    /// A ticket was seen for the first time: whoever wrote its file, it is as that says. A file that is in
    /// progress is a person's, unless an engine was here whose journal is gone.
    pub(super) fn heed_new(&mut self, id: &TicketId, status: FileStatus, origin: Origin) {
        match (status, origin) {
            (FileStatus::InProgress, Origin::LostEngine) => {
                self.apply_or_note(id, Event::WorkFound, "an earlier engine worked on it");
                self.apply_or_note(id, Event::FileDrifted, "an earlier engine worked on it");
            }
            (FileStatus::InProgress, Origin::Unknown) => self.leave(id, origin, Some(status), None),
            (FileStatus::Open | FileStatus::InProgress | FileStatus::Closed, _) => {}
        }
    }

    /// The tickets that have a file, or are not known to be without one, and have none by these observations.
    pub(super) fn missed_by<'o>(&self, seen: &'o [Observation]) -> impl Iterator<Item = &'o TicketId> {
        let gone = seen.iter().filter_map(|observation| match observation {
            Observation::Gone {
                ticket,
                origin: Origin::Person,
                ..
            } => Some(ticket),
            Observation::Gone { .. } | Observation::Read { .. } | Observation::Unreadable { .. } => None,
        });
        gone.filter(|id| self.folder.has(id))
    }

    /// One file that was deleted is a person's word. Where several vanished at once, also while no engine
    /// ran, a git may have cleaned up, or a script.
    pub(super) fn doubt_many(&mut self, gone: Vec<TicketId>, whole: bool) {
        let mut gone = gone;
        if whole {
            let missing = self.folder.gone();
            let missing = missing.filter(|(_, gone)| gone.origin == Origin::Person);
            gone = missing.map(|(id, _)| id.clone()).collect();
        }
        gone.retain(|id| {
            let is_wanted = |ticket: &Ticket| !ticket.is_done() && !ticket.is_left_without_file();
            self.ticket(id).is_some_and(is_wanted) && self.renames.of(id).is_none() && !self.folder.has(id)
        });
        if gone.len() > 1 {
            gone.iter().for_each(|id| self.folder.doubt_absence(id));
        }
    }

    /// The ticket whose file this is under another name, where that is no ticket of its own.
    pub(super) fn renamed_from(&self, seen: &Observation) -> Option<TicketId> {
        let Observation::Read {
            ticket,
            renamed: Some(of),
            ..
        } = seen
        else {
            return None;
        };
        let is_its = |of: &Ticket| !of.is_done() || is_left_over(of, seen);
        (self.ticket(of).is_some_and(is_its) && !self.tickets.contains(ticket)).then(|| of.clone())
    }

    /// Has the file of a ticket that is done closed, under the name that it has now.
    pub(super) fn close_left_over(&mut self, of: &TicketId) {
        let is_done = self.ticket(of).is_some_and(Ticket::is_done);
        if is_done && !self.folder.is_being_written(of) {
            self.apply_or_note(of, Event::FileDrifted, "its file is there under another name");
        }
    }

    /// The ticket that a person seems to have taken, and that has the text of this one, whose file is gone:
    /// the file was renamed, and got another id too.
    pub(super) fn twin_of(&self, gone: &Ticket) -> Option<TicketId> {
        let is_twin = |other: &Ticket| {
            other.id != gone.id
                && other.state == State::Open
                && other.spec == gone.spec
                && self.folder.status(&other.id) == Some(FileStatus::InProgress)
        };
        let noted = gone.unheeded.as_ref().and_then(|change| change.renamed.as_ref());
        let noted = noted.filter(|name| self.ticket(name).is_some_and(is_twin));
        let twin = || {
            let mut all = self.tickets.all().values();
            all.find(|other| is_twin(other)).map(|other| &other.id)
        };
        noted.or_else(twin).cloned()
    }

    /// Takes files for tickets of their own once the ticket that they stated to be has its file, or is over.
    pub(super) fn end_renames(&mut self) {
        let (folder, tickets) = (&self.folder, &self.tickets);
        let is_own = |of: &TicketId, seen: &Observation| {
            let is_over = |of: &Ticket| of.is_done() && !is_left_over(of, seen);
            folder.has(of) || tickets.get(of).is_none_or(is_over)
        };
        let (taken, next) = self.renames.take_over(self.now, is_own);
        if let Some(next) = next {
            self.wake_at(next);
        }
        for mut observation in taken {
            if let Observation::Read { renamed, .. } = &mut observation {
                *renamed = None;
            }
            self.ready.touch();
            self.observed_one(observation);
        }
    }
}

/// Whether a file under another name is as crew left it while it worked on a ticket that is done now. A
/// ticket that was dropped because its file was gone leaves nothing.
fn is_left_over(of: &Ticket, seen: &Observation) -> bool {
    let is_in_progress = matches!(
        seen,
        Observation::Read {
            status: FileStatus::InProgress,
            ..
        }
    );
    let by_deletion = matches!(&of.state, State::Done(Done::Dropped { by: Actor::File, .. }));
    is_in_progress && of.is_done() && !by_deletion
}
