//! The end of the event loop, and the work that is done then.

use std::sync::Arc;

use engine::{Duty, Input};
use model::Actor;
use model::command::{Command, OnStop};
use model::ticket::{Stage, State, Ticket};

use super::{Dispatcher, Until};
use crate::effect_queues::{Kind, Line};
use crate::{Error, Result};

/// The id of a command of the loop's own; the inbox has UUIDs.
const OWN: &str = "own";

impl Dispatcher {
    /// Whether the core has ended and its effects are done: the file of a ticket that has just landed is
    /// closed too. A check that runs is treated as a step is. Nobody waits for an effect that failed and is
    /// tried again later.
    pub(super) fn is_finished(&self) -> bool {
        let checked = |(id, _): &Line| {
            self.core.ticket(id).is_some_and(|t| match &t.state {
                State::Verify(verify) => matches!(verify.stage, Stage::Checking(_)),
                State::New | State::Open | State::InProgress(_) | State::Done(_) => false,
            })
        };
        let mut at_work = self.queues.at_work();
        self.ended
            && match self.core.stopping() {
                Some(OnStop::Leave) => true,
                Some(OnStop::Kill) => !self.queues.is_stopping() && at_work.all(checked),
                Some(OnStop::Finish) | None => !self.queues.is_stopping() && at_work.next().is_none(),
            }
    }

    pub(super) async fn is_over(&mut self, until: &Until) -> Result<bool> {
        // An effect that a person has to mend waits for the next engine too, with all effects behind it.
        let not_counted = |(id, kind): &Line| match kind {
            Kind::File => self.core.is_unreadable(id) || self.core.is_unwritten(id),
            Kind::Work => self.core.is_kept(id),
        };
        let heard_all = self.heard.is_empty() && self.ends.is_empty();
        let quiet = self.queues.are_at_rest(not_counted) && heard_all && !self.is_rereading();
        Ok(match until {
            Until::Stopped => false,
            Until::Idle => {
                if !quiet || self.core.is_at_work() || self.core.rest().moving {
                    return Ok(false);
                }
                self.step(vec![own_stop(OnStop::Finish)]).await?;
                self.is_finished()
            }
            Until::CarriedOut(id) => {
                quiet
                    && self.ledger.outcome(id).await?.is_some()
                    && self.watched.is_empty()
                    && !self.is_landing()
            }
        })
    }

    /// Whether the ticket that a command brings to landing is still on its way.
    fn is_landing(&self) -> bool {
        let Duty::Command { lands: Some(id) } = &self.duty else {
            return false;
        };
        let waits = |t: &Ticket| t.deadline().is_none() && matches!(t.state, State::Verify(_));
        self.core.ticket(id).is_some_and(waits) && self.core.moves(id)
    }

    /// Ends what ends with the engine, and leaves everything in order for the next one.
    pub(super) async fn wind_up(&mut self) -> Result<()> {
        if self.core.stopping() == Some(OnStop::Kill) {
            let executor = Arc::clone(&self.executor);
            let ended = self.executor.threads.end(move || executor.end_check()).await;
            if let Some(Err(why)) = ended {
                tracing::warn!("a check may still run: {why}");
            }
        }
        match self.state_file.finish(&self.ledger).await {
            // It is for people to look at, and the next engine writes it.
            Err(Error::Store(error)) if error.is_passing() => {
                tracing::warn!("state.json is not up to date: {}", text::with_causes(&error));
            }
            finished => finished?,
        }
        self.archive_tickets().await?;
        // No engine is there to use them.
        if let Err(error) = self.executor.repository.clear_pool(&self.executor.workspaces) {
            tracing::warn!(
                "checkouts that nobody needs take room: {}\n  the next engine tries to remove them again",
                text::with_causes(&error)
            );
        }
        self.executor.clear_undeletable();
        Ok(())
    }
}

/// A stop that this loop itself asks for: no inbox has it, and nobody is to be answered.
pub(super) fn own_stop(running: OnStop) -> Input {
    Input::Commanded {
        id: OWN.to_owned(),
        by: Actor::Engine,
        command: Command::Stop { running },
    }
}

/// Whether a command came from this loop itself, not from the inbox.
pub(super) fn is_own(id: &str) -> bool {
    id == OWN
}
