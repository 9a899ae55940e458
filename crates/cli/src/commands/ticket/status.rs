//! `crew ticket status | start | close | reopen`: a person's word on the status of a ticket.

use client::status::{self, By};
use client::ticket_folder::{Status, TicketFolder};
use model::command::Outcome;
use runtime::Place;

use super::Call;
use super::standing::expect_agent;
use crate::context::Program;
use crate::error::{Error, Result};
use crate::exit::Exit;
use crate::wait::wait;

impl Call<'_> {
    pub(super) fn status(&mut self) -> Result<Exit> {
        let [id, status] = self.exactly("status <id> <status>\nValid statuses: open in_progress closed")?;
        let (id, status) = (
            id.to_owned(),
            Status::from_command(status).map_err(client::Error::from)?,
        );
        self.set_status(&id, status)
    }

    pub(super) fn set(&mut self, status: Status) -> Result<Exit> {
        let command = match status {
            Status::InProgress => "start",
            Status::Closed => "close",
            Status::Open | Status::Unknown => "reopen",
        };
        self.folder()?;
        let [id] = self.exactly(&format!("{command} <id>"))?;
        let id = id.to_owned();
        self.set_status(&id, status)
    }

    /// Writes the status into the file, and tells crew that a person wants it. A file that git has taken away
    /// cannot be written: the word alone counts.
    fn set_status(&mut self, id: &str, status: Status) -> Result<Exit> {
        let folder = self.folder()?;
        let whole = folder.resolve(id).ok();
        let program = self.program_at(&folder);
        if program == Some(Program::Check) {
            expect_agent(Program::Check, "the status of a ticket is a person's word")?;
        }
        if program.is_some() && whole.is_some() && whole.as_deref() != self.own_ticket(&folder) {
            return Err(Error::refused(
                "an agent of crew sets the status of its own ticket only",
                "`crew ticket add-note` tells people about another one",
            ));
        }
        if status == Status::Open && self.hook_at(&folder).is_some() {
            return Err(Error::refused(
                "a hook opens no ticket again: one for `landed` that does would pay for the same work without end",
                "`crew retry` has a held ticket tried once more; a person opens one that is over",
            ));
        }
        let person = self.place_of_folder().map(|place| self.context.submitter(place));
        let by = match &person {
            Some(person) => By::Person(person),
            None => By::File {
                own: self.own_ticket(&folder),
            },
        };
        match wait(async { Ok(status::set(&folder, id, status, by).await?) })?.outcome {
            Outcome::Accepted { message } => self.print(&format!("{message}\n")),
            Outcome::Refused { why } => Err(Error::refused(why, "`crew explain` shows where it stands")),
        }
    }

    /// The repository whose queue the folder is; none in the process of an agent, who speaks for no person.
    pub(super) fn place_of_folder(&self) -> Option<Place> {
        let folder = self.folder().ok()?;
        self.agent_at(&folder).is_none().then(|| self.place_of(&folder))?
    }

    /// The ticket on which the agent works in whose process this command runs; none in a person's.
    fn own_ticket(&self, folder: &TicketFolder) -> Option<&str> {
        self.agent_at(folder)?;
        self.context.env.get("CREW_TICKET_ID").map(String::as_str)
    }
}
