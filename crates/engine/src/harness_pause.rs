//! A harness whose service refuses: no step is started into the same refusal, whoever's it is.

use model::TicketId;
use model::attempt::{self, Class};
use model::project::{self, HarnessPause};
use model::ticket::Event;

use crate::core::Core;

impl Core {
    /// The name of the harness that steps are started on.
    pub(crate) fn harness(&self) -> &str {
        self.settings.agents.harness.as_deref().unwrap_or_default()
    }

    /// Why no step may be started now.
    pub(crate) fn pause(&self) -> Option<&HarnessPause> {
        self.project
            .paused
            .get(self.harness())
            .filter(|pause| pause.holds(self.now))
    }

    /// The pause that a step's end means for the others: none for a failure of its own.
    pub(crate) fn bar_for(&self, ticket: &TicketId, event: &Event) -> Option<HarnessPause> {
        let Event::Attempt(attempt::Event::StepFailed {
            failure, retry_at, ..
        }) = event
        else {
            return None;
        };
        failure.class.bars_harness().then(|| HarnessPause {
            class: failure.class,
            message: failure.message.clone(),
            until: (failure.class != Class::Auth).then_some(*retry_at),
            since: self.now,
            ticket: ticket.clone(),
        })
    }

    /// Bars the harness, unless it is paused for as long already.
    pub(crate) fn bar_harness(&mut self, pause: HarnessPause) {
        let harness = self.harness().to_owned();
        let old = self.project.paused.get(&harness);
        if old.is_none_or(|old| !old.outlasts(pause.until)) {
            self.tell_project(
                [project::Event::HarnessPaused { harness, pause }],
                "a step was refused",
            );
        }
    }

    /// A person says that it may be tried again; whether it was paused.
    pub(crate) fn free_harness(&mut self, by: &str) -> bool {
        if self.pause().is_none() {
            return false;
        }
        let (harness, by) = (self.harness().to_owned(), by.to_owned());
        self.tell_project([project::Event::HarnessFreed { harness, by }], "a person retries");
        true
    }
}
