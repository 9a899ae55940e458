//! A person's word on the status of a ticket, beside its file: git may have the content that the file gets,
//! and then the file alone is no word.

use std::sync::Arc;

use model::TicketId;
use model::command::Command;
use model::ticket::{FileStatus, State, Ticket, Unheeded};
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

/// The ticket as the journal has it, archived or not.
pub(crate) async fn known(place: &Place, id: &TicketId) -> Result<Option<Arc<Ticket>>> {
    Ok(looked_up(place, id).await?.map(|(ticket, _)| ticket))
}

/// The ticket, as the journal has it, and whether an agent has any ticket, or had one a moment ago.
async fn looked_up(place: &Place, id: &TicketId) -> Result<Option<(Arc<Ticket>, bool)>> {
    let Some(ledger) = repository::journal(place).await? else {
        return Ok(None);
    };
    let mut crew = follow::present(Some(&ledger)).await?;
    ledger.restore(&mut crew, id, None).await?;
    let are_agents_at_work = crew.tickets.values().any(|ticket| ticket.attempt().is_some());
    Ok(crew
        .tickets
        .get(id)
        .cloned()
        .map(|ticket| (ticket, are_agents_at_work)))
}

/// What becomes of the work of a ticket that a person closes now, in words; none where the file alone says
/// it, since nothing is under way.
///
/// # Errors
/// The journal cannot be read.
pub async fn on_close(place: &Place, id: &TicketId) -> Result<Option<String>> {
    let Some(ticket) = known(place, id).await? else {
        return Ok(None);
    };
    let gives_up = format!("`crew drop {id}` gives it up");
    Ok(match &ticket.state {
        State::InProgress(attempt) if attempt.conversation.has_live_worker() => Some(format!(
            "its agent is at work: its work is submitted when this step ends; {gives_up}"
        )),
        State::InProgress(attempt) if attempt.waits_for_children() => Some(format!(
            "its agent waits for what it has delegated: that is done first, and then its agent brings it together and \
             submits it; `crew wake {}` has it go on now, without what is not done; {gives_up}",
            attempt.claim.agent
        )),
        State::InProgress(_) => Some(format!(
            "its work is submitted, and without any it stays closed; {gives_up}"
        )),
        State::Verify(_) if ticket.held.is_some() => Some(format!(
            "its work does not land, and is kept: `crew explain {id}` names it"
        )),
        State::Verify(_) => Some(format!(
            "its work is submitted, and it is closed when that has landed; {gives_up}"
        )),
        State::New | State::Open | State::Done(_) => None,
    })
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
    let Some((ticket, are_agents_at_work)) = looked_up(place, id).await? else {
        return Ok(None);
    };
    let is_opened = ticket.is_done() && status == FileStatus::Open;
    // While agents are at work, one of them may have closed the file.
    let is_closed = are_agents_at_work && !ticket.is_done() && status == FileStatus::Closed;
    let is_needed = is_opened || is_closed || ticket.unheeded.is_some() || (!has_file && !ticket.is_done());
    Ok(is_needed.then(|| Command::SetStatus {
        ticket: id.clone(),
        status,
        fence: ticket.fence,
    }))
}
