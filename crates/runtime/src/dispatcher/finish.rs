//! The end of the event loop, and the work that is done then.

use engine::driver;
use model::command::OnStop;

use super::Dispatcher;
use crate::{Error, Result};

/// When the loop ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Until {
    /// When it is asked to.
    Stopped,
    /// When nothing can move any more.
    Idle,
    /// When a command's own effects are done.
    CarriedOut(String),
}

impl Dispatcher {
    pub(super) async fn is_over(&mut self, until: &Until) -> Result<bool> {
        let is_quiet = self.events.is_empty() && !self.is_rereading();
        Ok(match until {
            Until::Stopped => false,
            Until::Idle => {
                if !is_quiet || !self.driver.is_idle() {
                    return Ok(false);
                }
                let stop = driver::Event::StopAsked(OnStop::Finish);
                self.handle(vec![stop]).await?;
                self.driver.is_finished()
            }
            Until::CarriedOut(id) => {
                is_quiet && self.driver.is_carried_out() && self.ledger.outcome(id).await?.is_some()
            }
        })
    }

    /// Ends what ends with the engine, and leaves everything in order for the next one.
    pub(super) async fn wind_up(&mut self) -> Result<()> {
        self.hooks
            .finish(&self.ledger, &self.executor.settings.hooks)
            .await;
        self.end_target_check().await;
        self.set_ups.ended().await;
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
