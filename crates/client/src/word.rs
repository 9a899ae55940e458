//! A person's word on the status of a ticket, beside its file: git may have the content that the file gets,
//! and then the file alone is no word.

use model::TicketId;
use model::command::Command;
use model::ticket::{FileStatus, Ticket};
use runtime::Place;

use crate::error::Result;
use crate::{follow, repository};

/// The command that carries the word; none where the file alone is enough, or crew does not know the ticket.
/// `has_file`: the ticket has a file.
///
/// # Errors
/// The journal cannot be read.
pub async fn command(
    place: &Place,
    id: &TicketId,
    status: FileStatus,
    has_file: bool,
) -> Result<Option<Command>> {
    let Some(ledger) = repository::journal(place).await? else {
        return Ok(None);
    };
    let mut crew = follow::present(Some(&ledger)).await?;
    ledger.restore(&mut crew, id, None).await?;
    let is_needed = |ticket: &&std::sync::Arc<Ticket>| {
        let is_opened = ticket.is_done() && status == FileStatus::Open;
        is_opened || ticket.unheeded.is_some() || (!has_file && !ticket.is_done())
    };
    let ticket = crew.tickets.get(id).filter(is_needed);
    Ok(ticket.map(|ticket| Command::SetStatus {
        ticket: id.clone(),
        status,
        fence: ticket.fence,
    }))
}
