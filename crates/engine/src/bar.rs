//! A harness whose service refuses: no step is started into the same refusal, whoever's it is.

use model::TicketId;
use model::attempt::{self, Class};
use model::project::{self, Bar};
use model::ticket::Event;

use crate::core::Core;

impl Core {
    /// The name of the harness that steps are started on.
    pub(crate) fn harness(&self) -> &str {
        self.settings.agents.harness.as_deref().unwrap_or_default()
    }

    /// Why no step may be started now.
    pub(crate) fn bar(&self) -> Option<&Bar> {
        self.project
            .barred
            .get(self.harness())
            .filter(|bar| bar.holds(self.now))
    }

    /// The bar that a step's end means for the others: none for a failure of its own.
    pub(crate) fn bar_for(&self, ticket: &TicketId, event: &Event) -> Option<Bar> {
        let Event::Attempt(attempt::Event::StepFailed {
            failure, retry_at, ..
        }) = event
        else {
            return None;
        };
        failure.class.bars_harness().then(|| Bar {
            class: failure.class,
            message: failure.message.clone(),
            until: (failure.class != Class::Auth).then_some(*retry_at),
            since: self.now,
            ticket: ticket.clone(),
        })
    }

    /// Bars the harness, unless it is barred for as long already.
    pub(crate) fn bar_harness(&mut self, bar: Bar) {
        let harness = self.harness().to_owned();
        let old = self.project.barred.get(&harness);
        if old.is_none_or(|old| !old.outlasts(bar.until)) {
            self.tell_project(
                [project::Event::HarnessBarred { harness, bar }],
                "a step was refused",
            );
        }
    }

    /// A person says that it may be tried again; whether it was barred.
    pub(crate) fn free_harness(&mut self, by: &str) -> bool {
        if self.bar().is_none() {
            return false;
        }
        let (harness, by) = (self.harness().to_owned(), by.to_owned());
        self.tell_project([project::Event::HarnessFreed { harness, by }], "a person retries");
        true
    }
}
