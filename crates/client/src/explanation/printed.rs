//! What the check printed that is in the way of a ticket.

use model::RunId;
use model::journal::{self, Fact, Stream};
use model::ticket::{Event, Ticket};
use model::view::printed;
use store::Ledger;

use crate::error::Result;

/// The end of the output of the check for which a ticket is held, and its run.
pub(super) async fn of_its_check(
    ledger: &Ledger,
    ticket: &Ticket,
) -> Result<(Option<String>, Option<RunId>)> {
    let (mut last, mut failed, mut ended) = (None, None, None);
    if ticket.held.is_some() {
        let stream = Stream::Ticket(ticket.id.clone());
        let each = |fold: store::Recorded| {
            let held = match &fold.after {
                journal::State::Ticket(after) => after.held == ticket.held,
                journal::State::Project(_) => false,
            };
            if let Fact::Ticket(Event::CheckEnded { run, .. }) = &fold.fact {
                ended = Some(run.clone());
            }
            if held && let Some(text) = printed(&fold.fact) {
                (last, failed) = (Some(text.to_owned()), ended.clone());
            }
        };
        ledger.each_of(&stream, 0, each).await?;
    }
    Ok((last, failed))
}
