//! The file and the journal: what a look at the ticket folder means.
//!
//! The file owns the text, the journal owns the status; a status that differs is a person's act, unless
//! crew's own writing has not arrived yet.

use model::attempt::{self, AfterStop};
use model::journal::EffectId;
use model::policy::route;
use model::ticket::{AfterLanding, Done, Effect, Event, FileStatus, Stage, State, Ticket};
use model::{Actor, TicketId, Time};

use crate::core::Core;
use crate::{Observation, Postponed};

fn reopened() -> Event {
    Event::Reopened { by: Actor::File }
}

impl Core {
    pub(crate) fn observed(&mut self, sightings: Vec<Observation>, whole: bool) {
        self.dirty = true;
        for sighting in sightings {
            match sighting {
                Observation::Read {
                    ticket,
                    spec,
                    status,
                    tags,
                    changed_at,
                } => {
                    let is_back = self.gone.remove(&ticket).is_some();
                    let said = self
                        .files
                        .get(&ticket)
                        .filter(|f| !f.unreadable)
                        .map(|f| f.status);
                    let old = self.ticket(&ticket);
                    let (new, edited) = (old.is_none(), old.is_some_and(|t| t.spec != spec));
                    let same = |f: &&route::File| !f.unreadable && f.status == status;
                    let still = self.files.get(&ticket).filter(same).filter(|_| !edited && !new);
                    // What crew wrote itself does not unsettle a file: people are waited for, not oneself.
                    let changed_at = still.map_or(changed_at, |f| f.changed_at);
                    self.files.insert(
                        ticket.clone(),
                        route::File {
                            status,
                            changed_at,
                            unreadable: false,
                        },
                    );
                    self.refiled(&ticket);
                    self.tags.insert(ticket.clone(), tags);
                    // A ticket that was closed before crew saw it needs no stream: its file alone says that
                    // it is done.
                    if new && status != FileStatus::Closed {
                        self.tell_or_note(&ticket, Event::Created { spec }, "its file was seen");
                    } else if edited {
                        self.tell_or_note(&ticket, Event::Edited { spec }, "its file was edited");
                    }
                    self.heed_what_is_done(&ticket, said, is_back);
                    self.heed_file(&ticket);
                }
                Observation::Unreadable { ticket, at } => {
                    // What a done ticket's file said before it went may still be asked for.
                    if !self.ticket(&ticket).is_some_and(Ticket::is_done) {
                        self.gone.remove(&ticket);
                    }
                    let unseen = route::File {
                        status: FileStatus::Open,
                        changed_at: at,
                        unreadable: true,
                    };
                    self.files.entry(ticket.clone()).or_insert(unseen).unreadable = true;
                    self.refiled(&ticket);
                }
                Observation::Gone { ticket } => {
                    let was_closed = |f: route::File| f.status == FileStatus::Closed && !f.unreadable;
                    let was_closed = self.files.remove(&ticket).is_some_and(was_closed);
                    self.refiled(&ticket);
                    self.tags.remove(&ticket);
                    // Nothing is owed to one that is closed: what it says when it is back is a person's word.
                    let is_over = was_closed && self.ticket(&ticket).is_some_and(Ticket::is_done);
                    if self.tickets.contains_key(&ticket) && !is_over {
                        // From now on: that it is back already is heard next, should this be heard late.
                        self.gone.entry(ticket).or_insert(self.now);
                    }
                }
            }
        }
        if whole {
            self.read = true;
            self.miss_files();
        }
    }

    /// What is known of the file has changed.
    fn refiled(&mut self, id: &TicketId) {
        let known = self.tickets.contains_key(id);
        self.ready.refiled(id, known);
    }

    /// A ticket in the journal whose file a full look did not show is gone too.
    fn miss_files(&mut self) {
        for (id, ticket) in &self.tickets {
            if !ticket.is_done() && !self.files.contains_key(id) {
                self.gone.entry(id.clone()).or_insert(self.now);
            }
        }
    }

    /// A done ticket's file that is in progress, as crew itself left it: it was not there when it should have
    /// been closed. `said` is what it said before, and `is_back` whether it was away.
    pub(crate) fn heed_what_is_done(&mut self, id: &TicketId, said: Option<FileStatus>, is_back: bool) {
        let in_progress = self
            .files
            .get(id)
            .is_some_and(|f| f.status == FileStatus::InProgress);
        let Some(State::Done(done)) = self.ticket(id).map(|t| &t.state) else {
            return;
        };
        if !in_progress || self.is_being_written(id) {
            return;
        }
        let is_wanted_after_all =
            matches!(done, Done::Dropped { by: Actor::File, .. }) && said != Some(FileStatus::Closed);
        let event = if is_wanted_after_all {
            // The deletion of the file had dropped the ticket, and now the file is there again.
            reopened()
        } else if is_back {
            // Its work is done and paid for: nobody has asked for more.
            Event::FileDrifted
        } else {
            return;
        };
        self.tell_or_note(id, event, "its file is back");
    }

    /// Whether crew's own writing has not arrived yet.
    fn is_being_written(&self, id: &TicketId) -> bool {
        self.filing.get(id).is_some_and(|n| *n > 0)
    }

    /// What a file's status asks for, once crew's own writing has arrived.
    pub(crate) fn heed_file(&mut self, id: &TicketId) {
        if self.is_being_written(id) {
            return;
        }
        let (Some(file), Some(ticket)) = (self.files.get(id), self.ticket(id)) else {
            return;
        };
        if file.unreadable {
            return;
        }
        let same_tags = ticket
            .filing()
            .is_none_or(|filing| self.tags.get(id) == Some(&filing.tags));
        let event = match (&ticket.state, file.status) {
            (State::New, _) | (State::Done(_), FileStatus::Closed) => None,
            // In progress without a claim: a person has taken it, and crew leaves it alone.
            (State::Open, FileStatus::Open | FileStatus::InProgress) => None,
            (State::Open, FileStatus::Closed) => Some(Event::ClosedByPerson),
            // Closed while an agent has it: see `submit_what_is_closed`, which waits for the step to end.
            (State::InProgress(_), FileStatus::Closed) => None,
            // What is held in verification goes nowhere by itself: whoever closes it is done with it.
            (State::Verify(_), FileStatus::Closed) if ticket.held.is_some() => Some(Event::ClosedByPerson),
            (State::InProgress(_), FileStatus::Open)
            | (State::Verify(_), FileStatus::Open | FileStatus::Closed) => Some(Event::FileDrifted),
            (State::InProgress(_) | State::Verify(_), FileStatus::InProgress) => {
                (!same_tags).then_some(Event::FileDrifted)
            }
            (State::Done(_), FileStatus::Open) => Some(reopened()),
            // A person has taken it up: crew leaves it alone. Else see `heed_what_is_done`.
            (State::Done(_), FileStatus::InProgress) => None,
        };
        if let Some(event) = event {
            self.tell_or_note(id, event, "its file was changed by hand");
        }
    }

    /// A ticket whose file a person closed while an agent had it is submitted, between two steps.
    pub(crate) fn submit_what_is_closed(&mut self) {
        for id in self.active() {
            let closed = self
                .files
                .get(&id)
                .is_some_and(|f| f.status == FileStatus::Closed && !f.unreadable);
            if !closed || self.is_being_written(&id) {
                continue;
            }
            let Some(State::InProgress(attempt)) = self.ticket(&id).map(|t| &t.state) else {
                continue;
            };
            if attempt.conversation.has_live_worker() || matches!(attempt.state, attempt::State::Preparing) {
                continue;
            }
            let event = Event::Submitted {
                by: Actor::File,
                at: self.now,
            };
            self.tell_or_note(&id, event, "its file was closed by hand");
        }
    }

    /// A ticket whose file has been gone for as long as a file must be still is dropped.
    pub(crate) fn drop_what_is_gone(&mut self) {
        let debounce = self.settings.run.debounce;
        let gone: Vec<(TicketId, Time)> = self.gone.iter().map(|(id, at)| (id.clone(), *at)).collect();
        for (id, at) in gone {
            let Some(ticket) = self.ticket(&id).filter(|t| !t.is_done()) else {
                continue;
            };
            if at + debounce > self.now {
                self.wake_at(at + debounce);
                continue;
            }
            let is_being_dropped = |stage: &Stage| matches!(stage, Stage::Landing { then: Some(_), .. });
            if ticket.stage().is_some_and(is_being_dropped) {
                continue;
            }
            let (by, reason) = (Actor::File, "its file was deleted".to_owned());
            let event = if ticket.is_landing() {
                let then = AfterLanding::Drop { by, reason };
                Event::LandingEndOrdered { then }
            } else if ticket.live_run().is_none() {
                Event::Dropped { by, reason }
            } else if ticket
                .attempt()
                .is_some_and(|a| a.conversation.stopping.is_none())
            {
                Event::Attempt(attempt::Event::StopOrdered {
                    then: AfterStop::Drop { by, reason },
                })
            } else {
                continue;
            };
            self.tell_or_note(&id, event, "its file is gone");
        }
    }

    /// Whether a file is gone that may still come back: its ticket will be dropped by itself otherwise.
    pub(crate) fn is_missing_a_file(&self) -> bool {
        let debounce = self.settings.run.debounce;
        let waits = |id: &TicketId| self.ticket(id).is_some_and(|ticket| !ticket.is_done());
        self.gone
            .iter()
            .any(|(id, at)| *at + debounce > self.now && waits(id))
    }

    /// crew's own writing found no file. It is owed to a file that is away for a moment only, and until it
    /// has arrived nothing in there is a person's act; one that stays away was deleted, and there is nothing
    /// to be written.
    pub(crate) fn missed_the_file(&mut self, id: EffectId, ticket: &TicketId, effect: &Effect) {
        let since = match self.missed.get(ticket) {
            Some((missed, since)) if *missed == id => *since,
            Some(_) | None => self.now,
        };
        let again_at = since + self.settings.run.debounce;
        if again_at > self.now {
            self.missed.insert(ticket.clone(), (id, since));
            self.out.postponed.push(Postponed {
                effect: id,
                at: again_at,
                why: None,
            });
            return;
        }
        self.missed.remove(ticket);
        if let Effect::WriteFile(_) = effect
            && self.filed.insert(id)
        {
            self.arrived(ticket);
        }
        self.succeeded(ticket, effect);
        self.out.finished.push(id);
        // Should it be there after all, it says what it said before.
        self.heed_what_is_done(ticket, None, true);
        self.heed_file(ticket);
    }

    /// One of crew's own writings less is on its way.
    fn arrived(&mut self, id: &TicketId) {
        if let Some(n) = self.filing.get_mut(id) {
            *n = n.saturating_sub(1);
        }
        self.dirty = true;
    }

    /// The file says what was written: crew's own writing has arrived.
    pub(crate) fn filed(&mut self, id: &TicketId, filing: &model::ticket::Filing) {
        self.arrived(id);
        self.missed.remove(id);
        if let Some(file) = self.files.get_mut(id) {
            file.status = filing.status;
            self.tags.insert(id.clone(), filing.tags.clone());
            self.refiled(id);
        }
    }
}
