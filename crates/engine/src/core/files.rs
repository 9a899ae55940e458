//! Ticket files: what an observation of the ticket folder means for the journal.
//!
//! The file owns the text, the journal owns the status; a status that differs is a person's act, unless
//! crew's own writing has not arrived yet.

use std::collections::BTreeSet;

use model::attempt::{self, AfterChildren, AfterStop};
use model::journal::EffectId;
use model::ticket::{
    AfterLanding, AfterReview, CLOSED_BY_AGENT, Done, Effect, Event, FileStatus, Filing, Origin, Stage,
    State, Ticket, Waited,
};
use model::{Actor, TicketId, worker};

use super::{Core, WriteMeta};
use crate::ticket_folder::Gone;
use crate::{Observation, Postponed};

/// New notes of one file that are recorded, the latest: a file that git brings may have any number.
const COMMENTS: usize = 16;

fn reopened() -> Event {
    Event::Reopened { by: Actor::File }
}

impl Core {
    pub(super) fn observed(&mut self, observations: Vec<Observation>, whole: bool) {
        self.ready.touch();
        let was_there: Vec<TicketId> = self.missed_by(&observations).cloned().collect();
        for observation in observations {
            self.observed_one(observation);
        }
        if whole {
            let tickets = self.tickets.all().values().map(AsRef::as_ref);
            self.folder.read_whole(tickets, self.now);
        }
        self.doubt_many(was_there, whole);
    }

    pub(super) fn observed_one(&mut self, observation: Observation) {
        if let Some(of) = self.renamed_from(&observation) {
            // It was looked for: that its own file is gone may be observed later.
            let known = self.tickets.get(&of);
            self.folder
                .removed(&of, known, (Origin::Unknown, false), self.now);
            self.refiled(&of);
            self.renames.put(of.clone(), observation);
            self.close_left_over(&of);
            return;
        }
        match observation {
            Observation::Read {
                ticket,
                spec,
                status,
                tags,
                notes,
                changed_at,
                origin,
                renamed,
            } => {
                self.renames.gone(&ticket);
                let old = self.ticket(&ticket);
                let (new, edited) = (old.is_none(), old.is_some_and(|t| t.spec != spec));
                let known_notes = old.map_or(0, |ticket| ticket.spec.notes);
                let is_same_text = !new && !edited;
                let before = self.folder.read(&ticket, status, tags, changed_at, is_same_text);
                self.refiled(&ticket);
                // A ticket that was closed before crew saw it needs no stream: its file alone says that
                // it is done.
                if new && status != FileStatus::Closed {
                    let doubted = self.doubt_new(&ticket, &spec, origin);
                    let follows = self.delegated_at_creation(&ticket);
                    let events = [Event::Created { spec }]
                        .into_iter()
                        .chain(doubted)
                        .chain(follows);
                    if let Err(no) = self.apply(&ticket, events, WriteMeta::because("its file was seen")) {
                        self.note_refusal(&ticket, &no);
                    }
                    // Its own ticket was dropped when it vanished, or may have been.
                    let is_known = renamed.is_some_and(|of| self.tickets.contains(&of));
                    let origin = if is_known { Origin::Unknown } else { origin };
                    self.heed_new(&ticket, status, origin);
                    return;
                }
                let is_closed = status == FileStatus::Closed && before.status != Some(FileStatus::Closed);
                let origin = match is_closed && self.would_close(&ticket) {
                    true => self.doubted(&ticket, origin),
                    false => origin,
                };
                self.folder.comes_from(&ticket, origin);
                if edited {
                    self.comment_on(&ticket, notes, known_notes);
                    let doubted = self.doubt_edit(&ticket, &spec, origin);
                    let before = self.ticket(&ticket).map(|old| old.spec.deps.clone());
                    let waited = before.filter(|deps| *deps != spec.deps).map(|deps| {
                        // A person edits files while agents work, so it counts, and is told.
                        let writers = self.possible_writers(origin).into_iter();
                        let writers = writers.map(|ticket| ticket.id.clone()).collect();
                        Box::new(Waited { deps, writers })
                    });
                    let edited = Event::Edited { spec, waited };
                    self.apply_or_note(&ticket, edited, "its file was edited");
                    if let Some(doubted) = doubted {
                        self.apply_or_note(&ticket, doubted, "its file was edited");
                    }
                }
                self.heed_what_is_done(&ticket, before.status, before.was_gone);
                self.heed_file(&ticket);
            }
            Observation::Unreadable { ticket, at } => {
                let is_done = self.ticket(&ticket).is_some_and(Ticket::is_done);
                self.folder.unreadable(&ticket, at, is_done);
                self.refiled(&ticket);
            }
            Observation::Gone {
                ticket,
                origin,
                is_tracked,
            } => {
                self.renames.gone(&ticket);
                let origin = self.doubted(&ticket, origin);
                let has_file = self.folder.has(&ticket);
                let known = self
                    .tickets
                    .get(&ticket)
                    .filter(|known| has_file || !known.is_done());
                self.folder
                    .removed(&ticket, known, (origin, is_tracked), self.now);
                self.refiled(&ticket);
            }
        }
    }

    /// The notes behind so many that are known are new: a comment each. An edit of the text follows, so
    /// that the ticket's agent gets them.
    fn comment_on(&mut self, id: &TicketId, notes: Vec<String>, known: u32) {
        let known = usize::try_from(known).unwrap_or(usize::MAX);
        let new = notes.len().saturating_sub(known).min(COMMENTS);
        let skipped = notes.len() - new;
        for text in notes.into_iter().skip(skipped) {
            let by = Actor::File;
            self.apply_or_note(id, Event::Commented { by, text }, "its file has a new note");
        }
    }

    /// The origin of a change that ends a ticket. While agents are at work on other tickets, and for a moment
    /// after that, crew cannot know whether one of them made it: no agent ends another ticket, so a person is
    /// asked.
    fn doubted(&self, id: &TicketId, origin: Origin) -> Origin {
        let debounce = self.settings.run.debounce;
        let is_recent = self
            .watches
            .last_end_beside(id)
            .is_some_and(|end| self.now < end + debounce);
        let others = self.at_work().filter(|ticket| ticket.id != *id);
        let are_at_work = || others.flat_map(Ticket::live_runs).any(|run| !run.is_check());
        match origin {
            Origin::Person if is_recent || are_at_work() => Origin::Agents,
            Origin::Person | Origin::Git | Origin::Unknown | Origin::LostEngine | Origin::Agents => origin,
        }
    }

    /// Whether the ticket is over once its file is closed. Work that an agent has is submitted instead.
    fn would_close(&self, id: &TicketId) -> bool {
        self.ticket(id).is_some_and(|ticket| match &ticket.state {
            State::Open => true,
            State::Verify(_) => ticket.held.is_some(),
            State::New | State::InProgress(_) | State::Done(_) => false,
        })
    }

    /// The file has changed.
    fn refiled(&mut self, id: &TicketId) {
        self.ready.refiled(id, self.tickets.contains(id));
    }

    /// A done ticket's file that is in progress, as crew itself left it: it was not there when it should have
    /// been closed. `said` is what it said before, and `is_back` whether it was away.
    pub(super) fn heed_what_is_done(&mut self, id: &TicketId, said: Option<FileStatus>, is_back: bool) {
        let in_progress = self
            .folder
            .files()
            .get(id)
            .is_some_and(|f| f.status == FileStatus::InProgress);
        let Some(State::Done(done)) = self.ticket(id).map(|t| &t.state) else {
            return;
        };
        if !in_progress || self.folder.is_being_written(id) {
            return;
        }
        let is_wanted_after_all = matches!(done, Done::Dropped { by: Actor::File, .. })
            && said != Some(FileStatus::Closed)
            && self.folder.origin(id) == Origin::Person;
        let event = if is_wanted_after_all {
            // The deletion of the file had dropped the ticket, and now the file is there again.
            reopened()
        } else if is_back {
            // Its work is done and paid for: nobody has asked for more.
            Event::FileDrifted
        } else {
            return;
        };
        self.apply_or_note(id, event, "its file is back");
    }

    /// Acts on the status of a file, once crew's own writing has arrived.
    pub(super) fn heed_file(&mut self, id: &TicketId) {
        if self.folder.is_being_written(id) {
            return;
        }
        let (Some(status), Some(ticket)) = (self.folder.status(id), self.ticket(id)) else {
            return;
        };
        if !self.is_heeded(id, ticket, status) {
            self.leave_unheeded(id, status);
            return;
        }
        let is_open_question = ticket.unheeded.is_some();
        let same_tags = ticket
            .filing()
            .is_none_or(|filing| self.folder.has_tags(id, &filing.tags_beside(&ticket.spec.tags)));
        let event = match (&ticket.state, status) {
            (State::New, _) | (State::Done(_), FileStatus::Closed) => None,
            // In progress without a claim: a person has taken it, and crew leaves it alone.
            (State::Open, FileStatus::Open | FileStatus::InProgress) => None,
            (State::Open, FileStatus::Closed) => Some(Event::ClosedByPerson { by: Actor::File }),
            // Closed while an agent has it: see `submit_what_is_closed`, which waits for the step to end.
            (State::InProgress(_), FileStatus::Closed) => None,
            // What is held in verification goes nowhere by itself: whoever closes it is done with it.
            (State::Verify(_), FileStatus::Closed) if ticket.held.is_some() => {
                Some(Event::ClosedByPerson { by: Actor::File })
            }
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
            self.apply_or_note(id, event, "its file was changed by hand");
        } else if is_open_question {
            self.apply_or_note(id, Event::FileHeeded, "its file was changed by hand");
        }
    }

    /// A ticket whose file was closed while an agent had it is submitted, between two steps. Where its own
    /// agent closed it, that is a `DONE`: it counts only at the end of a step that ended well, asks for
    /// nothing else, and has no line that the agent is to be told of first.
    pub(super) fn submit_what_is_closed(&mut self) {
        for id in self.tickets.active_ids() {
            let is_closed = self.folder.status(&id) == Some(FileStatus::Closed);
            if !is_closed || self.folder.is_being_written(&id) {
                continue;
            }
            let Some(ticket) = self.ticket(&id) else { continue };
            let State::InProgress(attempt) = &ticket.state else {
                continue;
            };
            if !self.is_heeded(&id, ticket, FileStatus::Closed) {
                continue;
            }
            if attempt.conversation.has_live_worker()
                || matches!(
                    attempt.state,
                    attempt::State::Preparing | attempt::State::WaitingForChildren { .. }
                )
            {
                continue;
            }
            let by_agent = self.folder.has_tag(&id, CLOSED_BY_AGENT);
            let worker = attempt.conversation.worker.as_ref();
            let ended_well = worker.filter(|worker| worker.state == worker::State::Done);
            let (event, cause) = match ended_well {
                _ if !by_agent => (self.submitted_by(Actor::File), "its file was closed"),
                Some(worker)
                    if matches!(attempt.state, attempt::State::Working(_))
                        && attempt.lines_not_used().is_empty() =>
                {
                    let run = worker.run.clone();
                    (self.submitted_by(Actor::Agent { run }), "its agent closed it")
                }
                Some(_) | None => (Event::FileDrifted, "its agent closed it, and has not done it"),
            };
            self.apply_or_note(&id, event, cause);
        }
    }

    /// Submitted work goes back to an agent that has not seen the present text of its ticket: it may ask for
    /// more by now. A review that began before the edit is ended first.
    pub(super) fn tell_edits(&mut self) {
        let owing = self.active_tickets().filter(|(_, ticket)| ticket.owes_edit());
        let owing: Vec<TicketId> = owing.map(|(id, _)| id.clone()).collect();
        for id in owing {
            let reviewing = self.ticket(&id).and_then(Ticket::reviewing);
            let is_live = reviewing.filter(|reviewing| reviewing.is_live());
            let event = match is_live {
                Some(reviewing) if reviewing.then.is_some() => continue,
                Some(_) => Event::ReviewEndOrdered {
                    then: AfterReview::TellEdit,
                },
                None => self.edit_returned(&id),
            };
            self.apply_or_note(&id, event, "its text was edited");
        }
    }

    pub(super) fn edit_returned(&self, id: &TicketId) -> Event {
        Event::EditReturned {
            steps_left: self.steps_left(id),
            reopen_at: self.now,
        }
    }

    pub(super) fn submitted_by(&self, by: Actor) -> Event {
        Event::Submitted { by, at: self.now }
    }

    /// A ticket whose file has been gone for as long as a file must be still is dropped.
    pub(super) fn drop_what_is_gone(&mut self) {
        let debounce = self.settings.run.debounce;
        let gone = self.folder.gone().map(|(id, gone)| (id.clone(), gone));
        let gone: Vec<(TicketId, Gone)> = gone.collect();
        for (id, gone) in gone {
            let (at, origin) = (gone.since, gone.origin);
            let Some(ticket) = self.ticket(&id).filter(|t| !t.is_done()) else {
                continue;
            };
            if ticket.is_left_without_file() {
                continue;
            }
            if at + debounce > self.now {
                self.wake_at(at + debounce);
                continue;
            }
            // `git clean` takes a file that git does not track, and so may take the only one there is.
            let may_be_deleted = matches!(origin, Origin::Person | Origin::Agents);
            let may_be_deleted = may_be_deleted && (gone.is_tracked || !ticket.has_work_at_stake());
            let is_deleted = may_be_deleted && origin == Origin::Person;
            let twin = self.renames.of(&id).is_none() && may_be_deleted;
            let twin = twin.then(|| self.twin_of(ticket)).flatten();
            let renamed = self.renames.of(&id).or(twin.as_ref()).cloned();
            if !is_deleted || renamed.is_some() {
                if let Some(twin) = &twin {
                    self.leave(twin, Origin::Unknown, Some(FileStatus::InProgress), None);
                }
                let origin = match (&renamed, origin) {
                    (Some(_), _) | (None, Origin::Person) => Origin::Unknown,
                    (None, Origin::Git | Origin::Unknown | Origin::LostEngine | Origin::Agents) => origin,
                };
                self.leave(&id, origin, None, renamed);
                continue;
            }
            let is_being_dropped = |stage: &Stage| match stage {
                Stage::Landing { then, .. } => then.is_some(),
                // Held, it could not be looked at, and nobody knows whether it was merged: it is looked at
                // again.
                Stage::Proposed(proposal) => proposal.then.is_some() || ticket.held.is_some(),
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::InTrain(_)
                | Stage::Unified { .. }
                | Stage::Reviewing(_) => false,
            };
            if ticket.stage().is_some_and(is_being_dropped) {
                continue;
            }
            let (by, reason) = (Actor::File, "its file was deleted".to_owned());
            let is_landing = ticket.is_landing();
            if ticket.proposal().is_some() {
                let events = self.drop_proposed(&id, by, reason);
                if let Err(no) = self.apply(&id, events, WriteMeta::because("its file is gone")) {
                    self.note_refusal(&id, &no);
                }
                continue;
            }
            let event = if is_landing {
                let then = AfterLanding::Drop { by, reason };
                Event::LandingEndOrdered { then }
            } else if let Some(reviewing) = ticket.reviewing().filter(|reviewing| reviewing.is_live()) {
                if reviewing.then.is_some() {
                    continue;
                }
                let then = AfterReview::Drop { by, reason };
                Event::ReviewEndOrdered { then }
            } else if ticket.waits_for_children() {
                if ticket
                    .attempt()
                    .and_then(attempt::Attempt::after_children)
                    .is_some()
                {
                    continue;
                }
                let then = AfterStop::Drop { by, reason };
                Event::Attempt(attempt::Event::ChildrenEndOrdered {
                    then: AfterChildren::Stop { then },
                })
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
            self.apply_or_note(&id, event, "its file is gone");
            if is_landing {
                self.end_batch_of(&id);
            }
        }
    }

    /// The known tickets whose file was gone, and is there by these observations: a step that could not begin
    /// without it can.
    pub(crate) fn with_file_back(&self, seen: &[Observation]) -> BTreeSet<TicketId> {
        let read = seen.iter().filter_map(|observation| match observation {
            Observation::Read { ticket, .. } => Some(ticket),
            Observation::Unreadable { .. } | Observation::Gone { .. } => None,
        });
        let is_back = |id: &&TicketId| self.tickets.contains(id) && !self.folder.has(id);
        read.filter(is_back).cloned().collect()
    }

    /// Whether a file is gone that may still come back: its ticket will be dropped by itself otherwise.
    pub(super) fn is_missing_a_file(&self) -> bool {
        let debounce = self.settings.run.debounce;
        let waits = |id: &TicketId| {
            let ticket = self.ticket(id);
            ticket.is_some_and(|ticket| !ticket.is_done() && !ticket.is_left_without_file())
        };
        let mut gone = self.folder.gone();
        gone.any(|(id, gone)| gone.since + debounce > self.now && waits(id))
    }

    /// A write of crew's own found no file.
    pub(super) fn found_no_file(&mut self, write: EffectId, id: &TicketId, effect: &Effect) {
        let debounce = self.settings.run.debounce;
        if let Some(at) = self.folder.found_no_file(write, id, effect, self.now, debounce) {
            self.out.postponed.push(Postponed {
                effect: write,
                at,
                why: None,
            });
            return;
        }
        self.ready.touch();
        self.failures.ended(id, effect);
        self.out.finished.push(write);
        // Should the file be there after all, it says what it said before.
        self.heed_what_is_done(id, None, true);
        self.heed_file(id);
    }

    /// A write of crew's own has arrived.
    pub(super) fn written(&mut self, write: EffectId, id: &TicketId, effect: &Effect, filing: &Filing) {
        if self.folder.written(write, id, filing) {
            self.refiled(id);
        }
        self.failures.ended(id, effect);
        self.out.finished.push(write);
        self.heed_what_is_done(id, Some(filing.status), false);
        self.heed_file(id);
    }
}
