//! A person's word on the status of a ticket, beside its file: git may have the content that the file gets,
//! and then the file alone is no word.

use std::sync::Arc;

use model::TicketId;
use model::command::Command;
use model::ticket::{FileStatus, Ticket, Unheeded};
use runtime::Place;

use crate::error::Result;
use crate::{follow, repository};

/// The outcome of bringing back the file of a ticket.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Back {
    /// crew does not know the ticket, or its file has another name now.
    NotLost,
    /// The file is written anew, with this status.
    Written(FileStatus),
    /// Nothing has the text of the ticket, whose file should have this status.
    NoText(FileStatus),
}

/// Writes the file of a ticket anew that crew knows and whose file is gone, for a person who wants the ticket
/// to go on, or to be done again.
///
/// # Errors
/// The journal cannot be read, or the file cannot be written.
pub async fn bring_back(place: &Place, id: &TicketId) -> Result<Back> {
    let Some(ticket) = known(place, id).await? else {
        return Ok(Back::NotLost);
    };
    let is_renamed = |change: &Unheeded| change.renamed.is_some();
    if ticket.unheeded.as_ref().is_some_and(is_renamed) {
        return Ok(Back::NotLost);
    }
    let status = match ticket.filing() {
        Some(filing) if !ticket.is_done() => filing.status,
        Some(_) | None => FileStatus::Open,
    };
    Ok(match runtime::bring_back(place, &ticket, status)? {
        true => Back::Written(status),
        false => Back::NoText(status),
    })
}

/// The ticket, as the journal has it.
async fn known(place: &Place, id: &TicketId) -> Result<Option<Arc<Ticket>>> {
    let Some(ledger) = repository::journal(place).await? else {
        return Ok(None);
    };
    let mut crew = follow::present(Some(&ledger)).await?;
    ledger.restore(&mut crew, id, None).await?;
    Ok(crew.tickets.get(id).cloned())
}

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
    let is_needed = |ticket: &Arc<Ticket>| {
        let is_opened = ticket.is_done() && status == FileStatus::Open;
        is_opened || ticket.unheeded.is_some() || (!has_file && !ticket.is_done())
    };
    let ticket = known(place, id).await?.filter(is_needed);
    Ok(ticket.map(|ticket| Command::SetStatus {
        ticket: id.clone(),
        status,
        fence: ticket.fence,
    }))
}
