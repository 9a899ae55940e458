//! Watches of a demonstration: each follows the journal until something is in it.

use model::ticket::Stage;
use model::view::Snapshot;
use runtime::Place;
use tokio::task::JoinHandle;

use super::Ground;
use super::ground::write;
use super::project::MEET;
use crate::error::Result;
use client::follow::Follow;

/// Follows the journal until `find` finds something in it.
async fn until<T>(place: &Place, find: impl Fn(&Snapshot) -> Option<T>) -> Result<T> {
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

/// Lets the slow check go on once the branches that are to meet in the merge train have joined it.
#[derive(Debug)]
pub(crate) struct Meeting(JoinHandle<Result<()>>);

impl Meeting {
    /// Begins to watch.
    pub(crate) fn watches(place: Place, ground: &Ground) -> Self {
        let note = ground.path("notes").join("joined");
        Self(tokio::spawn(async move {
            until(&place, have_joined).await?;
            write(&note, "")
        }))
    }
}

impl Drop for Meeting {
    fn drop(&mut self) {
        self.0.abort();
    }
}

/// Whether all tickets that are to meet are entries of the train at this moment: one that is only submitted
/// may still be merged when the check ends, and would be late.
fn have_joined(crew: &Snapshot) -> Option<()> {
    let has_joined = |id: &str| {
        let mut tickets = crew.tickets.values();
        tickets.any(|ticket| ticket.id.as_str() == id && matches!(ticket.stage(), Some(Stage::InTrain(_))))
    };
    MEET.iter().all(|id| has_joined(id)).then_some(())
}
