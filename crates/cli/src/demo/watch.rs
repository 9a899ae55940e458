//! Watches of a demonstration: each follows the journal until something is in it.

use model::ticket::State;
use model::view::Snapshot;
use runtime::Place;
use tokio::task::JoinHandle;

use super::Ground;
use super::ground::write;
use super::project::MEET;
use crate::error::Result;
use client::follow::Follow;

/// Follows the journal until `find` finds something in it.
pub(super) async fn until<T>(place: &Place, find: impl Fn(&Snapshot) -> Option<T>) -> Result<T> {
    let mut rows = Follow::new(place.open_journal().await?, 0);
    let mut crew = Snapshot::default();
    loop {
        for fold in rows.more().await? {
            crew.apply(fold.row());
        }
        match find(&crew) {
            Some(found) => return Ok(found),
            None => rows.changed().await,
        }
    }
}

/// Lets the slow check go on once the branches that are to meet in the merge train are submitted.
#[derive(Debug)]
pub(crate) struct Meeting(JoinHandle<Result<()>>);

impl Meeting {
    /// Begins to watch.
    pub(crate) fn watches(place: Place, ground: &Ground) -> Self {
        let note = ground.path("notes").join("submitted");
        Self(tokio::spawn(async move {
            until(&place, are_submitted).await?;
            write(&note, "")
        }))
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether the work on all tickets that are to meet is submitted at this moment.
fn are_submitted(crew: &Snapshot) -> Option<()> {
    let is_submitted = |id: &str| {
        let mut tickets = crew.tickets.values();
        tickets.any(|ticket| ticket.id.as_str() == id && matches!(ticket.state, State::Verify(_)))
    };
    MEET.iter().all(|id| is_submitted(id)).then_some(())
}
