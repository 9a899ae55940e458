//! Harness pauses: while the service of a harness refuses, no step of any agent is started on it.

use model::attempt::{self, Attempt, Class, HarnessChange, HarnessId};
use model::project::{self, HarnessPause};
use model::ticket::{Event, Ticket};
use model::{Actor, TicketId};

use super::Core;

impl Core {
    /// The change of harness that the next step of a ticket begins with: none while the settings name the
    /// attempt's own.
    pub(super) fn harness_change(&self, id: &TicketId) -> Option<HarnessChange> {
        let attempt = self.ticket(id).and_then(Ticket::attempt)?;
        if self.settings.has_harness(&attempt.conversation.harness) {
            return None;
        }
        Some(HarnessChange {
            to: self.settings.harness_of_new_attempts()?,
            fresh: self.fresh_session(id),
        })
    }

    /// Why no step of an attempt may be started now, and the name of its harness.
    pub(super) fn pause_of(&self, attempt: &Attempt) -> Option<(&str, &HarnessPause)> {
        self.pause(&self.settings.harness_of_next_step(&attempt.conversation.harness))
    }

    pub(super) fn pause(&self, harness: &str) -> Option<(&str, &HarnessPause)> {
        let (harness, pause) = self.project().paused.get_key_value(harness)?;
        pause.holds(self.now).then_some((harness, pause))
    }

    /// The pause that the end of a ticket's step means for all agents of its harness: none for a failure of
    /// its own.
    pub(super) fn pause_after(&self, id: &TicketId, event: &Event) -> Option<(HarnessId, HarnessPause)> {
        let Event::Attempt(attempt::Event::StepFailed {
            failure, retry_at, ..
        }) = event
        else {
            return None;
        };
        let attempt = self.ticket(id).and_then(Ticket::attempt)?;
        let pause = HarnessPause {
            class: failure.class,
            message: failure.message.clone(),
            until: (failure.class != Class::Auth).then_some(*retry_at),
            since: self.now,
            ticket: id.clone(),
        };
        failure
            .class
            .pauses_harness()
            .then(|| (attempt.conversation.harness.clone(), pause))
    }

    /// Pauses a harness, unless it is paused for as long already.
    pub(super) fn pause_harness(&mut self, harness: HarnessId, pause: HarnessPause) {
        let harness = harness.name;
        let old = self.project().paused.get(&harness);
        if old.is_none_or(|old| !old.outlasts(pause.until)) {
            self.apply_to_project(
                [project::Event::HarnessPaused { harness, pause }],
                "a step was refused",
            );
        }
    }

    /// The paused harness that a person means who retries this ticket: the one that the ticket waits for;
    /// else the one that refused a step of the ticket, which may be over by now; else the one that new
    /// attempts work with.
    pub(super) fn paused_harness(&self, id: &TicketId) -> Option<(&str, &HarnessPause)> {
        let attempt = self.ticket(id).and_then(Ticket::attempt);
        let its_own = attempt.and_then(|attempt| self.pause_of(attempt));
        let refused_it = || {
            let mut paused = self.project().paused.iter();
            let (harness, pause) = paused.find(|(_, pause)| pause.ticket == *id && pause.holds(self.now))?;
            Some((harness.as_str(), pause))
        };
        let of_new_attempts = || {
            let harness = self.settings.harness_of_new_attempts()?.name;
            self.pause(&harness)
        };
        its_own.or_else(refused_it).or_else(of_new_attempts)
    }

    /// A person says that a harness may be tried again.
    pub(super) fn free_harness(&mut self, harness: String, by: &Actor) {
        let by = by.clone();
        self.apply_to_project(
            [project::Event::HarnessFreed { harness, by }],
            "a person asked for another try",
        );
    }
}
