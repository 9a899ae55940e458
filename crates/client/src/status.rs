//! Status: a word on whether a ticket is to be done, or is over. The file gets it, and crew is told where the
//! file alone does not show that a person wants it.

use std::sync::Arc;

use model::TicketId;
use model::command::{Outcome, Seen};
use model::ticket::{FileStatus, Ticket};
use runtime::Place;

use crate::error::{Error, Result};
use crate::outbox::Outbox;
use crate::submit::{Answer, Submitter};
use crate::ticket_folder::{Sought, Status, TicketFolder};
use crate::{clock, follow, inbox, repository, word};

/// Whoever sets the status of a ticket.
#[derive(Clone, Copy, Debug)]
pub enum By<'a> {
    /// A person, of whose word crew is told.
    Person(&'a Submitter),
    /// Somebody whose word the file alone has: the agent of the ticket `own`, or a person whose tickets are
    /// in no repository of crew.
    File {
        /// The ticket on which the agent works.
        own: Option<&'a str>,
    },
}

/// Sets the status of a ticket, whose id may be shortened. A file that git has taken away cannot be written:
/// then the word alone counts, and one that opens the ticket has crew write the file anew.
///
/// # Errors
/// There is no such ticket, its file cannot be read or written, or crew refuses the word.
pub async fn set(folder: &TicketFolder, id: &str, status: Status, by: By<'_>) -> Result<Answer> {
    Setting {
        folder,
        status,
        by,
        command: clock::command_id(),
    }
    .set(id)
    .await
}

/// Sets the status of a ticket in the name of a person who has looked at it, by the command of an id.
///
/// # Errors
/// As [`set`]; and the ticket is not as it was seen, or the word says nothing new of it.
pub async fn set_as_seen(
    person: &Submitter,
    command: String,
    ticket: &TicketId,
    status: Status,
    seen: Option<&Seen>,
) -> Result<Answer> {
    let place = person.place();
    expect_as_seen(place, ticket, status, seen).await?;
    let folder = TicketFolder::find(&Sought::At(place.tickets_dir.clone()))?;
    Setting {
        folder: &folder,
        status,
        by: By::Person(person),
        command,
    }
    .set(ticket.as_str())
    .await
}

/// Refuses a word on a ticket that is not as the person saw it, and one that says nothing new.
async fn expect_as_seen(place: &Place, id: &TicketId, status: Status, seen: Option<&Seen>) -> Result<()> {
    let known = word::known(place, id).await?;
    let shown = shown(place, id).await?.or_else(|| known.clone());
    let Some(shown) = shown else {
        return Ok(());
    };
    let refused = |what: String| Error::refused(what, format!("`crew explain {id}` shows where it stands"));
    let is_as_seen = known.is_none_or(|known| match seen {
        None => true,
        // The file says more than the journal, and has no time since which it does.
        Some(seen) if shown != known => seen.fence == known.fence,
        Some(seen) => seen.holds(&known),
    });
    let now = shown.state_name();
    if !is_as_seen {
        let what = format!("{id} has moved on since you looked at it: it is {now} now");
        return Err(refused(what));
    }
    let is_said = match status {
        Status::Open => !shown.is_done(),
        Status::Closed => shown.is_done(),
        Status::InProgress | Status::Unknown => true,
    };
    // A change of the file that nobody can explain wants a person's word, whichever it is.
    if is_said && shown.unheeded.is_none() {
        return Err(refused(format!("{id} is {now} already")));
    }
    Ok(())
}

/// The ticket with what its file says that no engine has seen yet.
async fn shown(place: &Place, id: &TicketId) -> Result<Option<Arc<Ticket>>> {
    let ledger = repository::journal(place).await?;
    let crew = follow::present(ledger.as_ref()).await?;
    let outbox = Outbox::read(ledger.as_ref()).await?;
    let (settings, _) = repository::settings_or_default(place);
    let seen = inbox::seen(&crew, place, &settings, &outbox, clock::now())?;
    Ok(seen.tickets.get(id).cloned())
}

/// A status that is set.
struct Setting<'a> {
    folder: &'a TicketFolder,
    status: Status,
    by: By<'a>,
    /// The id of the command that tells crew.
    command: String,
}

impl Setting<'_> {
    async fn set(self, id: &str) -> Result<Answer> {
        let whole = self.folder.resolve(id).ok();
        let back = match (&whole, self.status) {
            (None, Status::Open) => self.bring_back(id).await?,
            (_, _) => None,
        };
        if let Some(message) = back {
            let told = self.tell(id, true).await?;
            return Ok(self.answer(message, told));
        }
        let follows = match (&whole, self.status, self.by) {
            (Some(id), Status::Closed, By::Person(person)) if let Ok(id) = TicketId::new(id.as_str()) => {
                word::on_close(person.place(), &id).await?
            }
            (_, _, _) => None,
        };
        let own = match self.by {
            By::File { own } => own,
            By::Person(_) => None,
        };
        // An engine that sees the file before it is told does not know who opens the ticket.
        let before = match (&whole, self.status) {
            (Some(id), Status::Open) => self.tell(id, true).await?,
            (_, _) => None,
        };
        let written = self.folder.set_status(id, self.status, own);
        let told = match before {
            Some(told) => Some(told),
            None => self.tell(whole.as_deref().unwrap_or(id), written.is_ok()).await?,
        };
        match (written, told) {
            (Ok(text), told) => {
                let follows = follows.map(|what| format!("\n{what}")).unwrap_or_default();
                Ok(self.answer(format!("{}{follows}", text.trim_end()), told))
            }
            (Err(_), Some(told)) => Ok(told),
            (Err(error), None) => Err(error),
        }
    }

    /// What was done, in words; with what followed where crew was told.
    fn answer(self, message: String, told: Option<Answer>) -> Answer {
        let outcome = Outcome::Accepted { message };
        match told {
            Some(told) => Answer { outcome, ..told },
            None => Answer {
                id: self.command,
                outcome,
                // The file was all that had to be written.
                was_up: true,
                happened: Vec::new(),
            },
        }
    }

    /// Writes the file of a ticket anew that crew knows and whose file is gone. Returns what was done; none
    /// where there is no such ticket.
    async fn bring_back(&self, id: &str) -> Result<Option<String>> {
        let (Ok(id), By::Person(person)) = (TicketId::new(id), self.by) else {
            return Ok(None);
        };
        let place = person.place();
        match word::bring_back(place, &id).await? {
            word::Back::NotLost => Ok(None),
            word::Back::Written(FileStatus::Open) => {
                Ok(Some(format!("{id} is open, and its file is written anew")))
            }
            word::Back::Written(FileStatus::InProgress | FileStatus::Closed) => {
                Ok(Some(format!("{id} goes on, and its file is written anew")))
            }
            word::Back::NoText(status) => {
                let file = place.tickets_dir.join(format!("{id}.md"));
                Err(Error::refused(
                    format!("the file of {id} is gone, and neither git nor a prompt has its text"),
                    format!(
                        "write {} by hand: the lines `---`, `id: {id}`, `status: {}`, `---`, `# ` with the title, and \
                         the text; or give it up: `crew drop {id}`",
                        file.display(),
                        status.word()
                    ),
                ))
            }
        }
    }

    /// Tells crew that a person wants this status, where the file alone does not show that. Returns the
    /// answer.
    async fn tell(&self, id: &str, has_file: bool) -> Result<Option<Answer>> {
        let status = match self.status {
            Status::Open => FileStatus::Open,
            Status::InProgress => FileStatus::InProgress,
            Status::Closed => FileStatus::Closed,
            Status::Unknown => return Ok(None),
        };
        let (Ok(id), By::Person(person)) = (TicketId::new(id), self.by) else {
            return Ok(None);
        };
        let Some(command) = word::command(person.place(), &id, status, has_file).await? else {
            return Ok(None);
        };
        let answer = person.submit_as(&self.command, &command).await?;
        match answer.outcome {
            Outcome::Accepted { .. } => Ok(Some(answer)),
            Outcome::Refused { why } => Err(Error::refused(why, "`crew explain` shows where it stands")),
        }
    }
}
