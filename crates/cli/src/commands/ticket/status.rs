//! `crew ticket status | start | close | reopen`: a person's word on the status of a ticket.

use client::ticket_folder::{Status, TicketFolder};
use client::word;
use model::TicketId;
use model::command::Outcome;
use model::ticket::FileStatus;
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
        let back = match (&whole, status) {
            (None, Status::Open) => self.bring_back(id)?,
            (_, _) => None,
        };
        if let Some(message) = back {
            self.tell_engine(id, status, true)?;
            return self.print(&format!("{message}\n"));
        }
        let follows = match (&whole, status) {
            (Some(id), Status::Closed) => self.follows_close(id)?,
            (_, _) => None,
        };
        let written = folder.set_status(id, status, self.own_ticket(&folder));
        let told = self.tell_engine(whole.as_deref().unwrap_or(id), status, written.is_ok())?;
        match (written, told) {
            (Ok(text), _) => {
                let follows = follows.map(|what| format!("{what}\n"));
                self.print(&format!("{text}{}", follows.unwrap_or_default()))
            }
            (Err(_), Some(message)) => self.print(&format!("{message}\n")),
            (Err(error), None) => Err(error.into()),
        }
    }

    /// Writes the file of a ticket anew that crew knows and whose file is gone. Returns what was done; none
    /// where there is no such ticket.
    fn bring_back(&mut self, id: &str) -> Result<Option<String>> {
        let (Ok(id), Some(place)) = (TicketId::new(id), self.place_of_folder()) else {
            return Ok(None);
        };
        let mut back = word::Back::NotLost;
        wait(async {
            back = word::bring_back(&place, &id).await?;
            Ok(Exit::Done)
        })?;
        match back {
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

    /// What becomes of the work of a ticket that a person closes, where there is any.
    fn follows_close(&self, id: &str) -> Result<Option<String>> {
        let (Ok(id), Some(place)) = (TicketId::new(id), self.place_of_folder()) else {
            return Ok(None);
        };
        let mut follows = None;
        wait(async {
            follows = word::on_close(&place, &id).await?;
            Ok(Exit::Done)
        })?;
        Ok(follows)
    }

    /// Tells crew that a person wants this status, where the file alone does not show that. Returns the
    /// answer.
    fn tell_engine(&mut self, id: &str, status: Status, has_file: bool) -> Result<Option<String>> {
        let status = match status {
            Status::Open => FileStatus::Open,
            Status::InProgress => FileStatus::InProgress,
            Status::Closed => FileStatus::Closed,
            Status::Unknown => return Ok(None),
        };
        let (Ok(id), Some(place)) = (TicketId::new(id), self.place_of_folder()) else {
            return Ok(None);
        };
        let mut answered = None;
        let submitter = self.context.submitter(place.clone());
        wait(async {
            if let Some(command) = word::command(&place, &id, status, has_file).await? {
                answered = Some(submitter.submit(&command).await?.outcome);
            }
            Ok(Exit::Done)
        })?;
        match answered {
            Some(Outcome::Accepted { message }) => Ok(Some(message)),
            Some(Outcome::Refused { why }) => {
                Err(Error::refused(why, "`crew explain` shows where it stands"))
            }
            None => Ok(None),
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
