//! Ticket folder: the queue by hand. Every operation finds tickets by shortened ids, changes or reads the
//! folder, and gives the answer as text in tk's words.

use std::cell::LazyCell;
use std::path::{Path, PathBuf};

use jiff::Timestamp;
use model::TicketId;
use model::ticket::CLOSED_BY_AGENT;
use runtime::Place;
use tickets::{Folder, Graph, Row, Rows};

use crate::documents;
use crate::error::Result;

pub use tickets::{Filter, Id, New, SaidByTk, Sought, Status};

/// The text of a ticket: its file below the heading's front matter. None where there is no such file, or none
/// that can be read.
#[must_use]
pub fn text_of(place: &Place, id: &TicketId) -> Option<String> {
    let id = Id::new(id.as_str()).ok()?;
    let ticket = Folder::at(&place.tickets_dir).ok()?.read(&id).ok()?;
    Some(ticket.body().to_owned())
}

/// Who writes a note.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Author {
    /// A person.
    Person,
    /// An agent, by its name.
    Agent(String),
    /// A hook, by its key in the settings.
    Hook(String),
}

/// The tickets that are listed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Listing {
    /// All, in the order of their files.
    All,
    /// Those that can be begun.
    Ready,
    /// Those that wait for others.
    Blocked,
    /// Those that were closed last.
    Closed {
        /// At most so many.
        limit: usize,
    },
}

impl Listing {
    fn of<'a>(
        self,
        rows: &'a Rows,
        graph: &LazyCell<Graph<'a>, impl FnOnce() -> Graph<'a>>,
        filter: &Filter,
    ) -> Vec<&'a Row> {
        match self {
            Self::All => tickets::list(rows, filter),
            Self::Ready => tickets::ready(rows, graph, filter),
            Self::Blocked => tickets::blocked(rows, graph, filter),
            Self::Closed { limit } => tickets::closed(rows, filter, limit),
        }
    }
}

/// A folder of ticket files.
#[derive(Debug)]
pub struct TicketFolder(Folder);

impl TicketFolder {
    /// The folder that is sought.
    ///
    /// # Errors
    /// There is none.
    pub fn find(sought: &Sought<'_>) -> Result<Self> {
        Ok(Self(Folder::find(sought)?))
    }

    /// As [`find`](Self::find), but makes the folder if there is none.
    ///
    /// # Errors
    /// The folder cannot be made.
    pub fn find_or_create(sought: &Sought<'_>) -> Result<Self> {
        Ok(Self(Folder::find_or_create(sought)?))
    }

    /// Of each ticket what listings show; the index stands in crew's folder, where there is one beside the
    /// tickets.
    fn rows(&self) -> Result<Rows> {
        let index = self.0.path().parent().map(|root| root.join(runtime::CREW_DIR));
        Ok(self.0.rows(index.as_deref())?)
    }

    /// Its path.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.0.path()
    }

    /// The whole ids of these tickets, each of which may be shortened.
    ///
    /// # Errors
    /// One of them is not there, or names several.
    pub fn resolve_all(&self, ids: &[String]) -> Result<Vec<Id>> {
        Ok(ids
            .iter()
            .map(|id| self.0.resolve(id))
            .collect::<Result<_, _>>()?)
    }

    /// Creates a ticket, below `parent` where one is given.
    ///
    /// # Errors
    /// The parent is not there, or the file cannot be written.
    pub fn create(&self, mut new: New, parent: Option<&str>) -> Result<String> {
        new.parent = parent.map(|parent| self.0.resolve(parent)).transpose()?;
        let stands_in = self.0.path().parent().and_then(|above| above.file_name());
        let prefix = tickets::prefix(&stands_in.unwrap_or_default().to_string_lossy());
        let id = self.0.create(&new, &prefix, Timestamp::now(), tickets::random)?;
        Ok(format!("{id}\n"))
    }

    /// Creates a ticket as the first of `<prefix>1` to `<prefix><most>` that there is not; returns its id,
    /// and none where there are all of them.
    ///
    /// # Errors
    /// The parent is not there, or the file cannot be written.
    pub fn create_next(
        &self,
        prefix: &str,
        most: u32,
        mut new: New,
        parent: Option<&str>,
    ) -> Result<Option<String>> {
        new.parent = parent.map(|parent| self.0.resolve(parent)).transpose()?;
        for number in 1..=most {
            let id = Id::new(&format!("{prefix}{number}"))?;
            if self.0.create_as(&id, &new, Timestamp::now())? {
                return Ok(Some(id.to_string()));
            }
        }
        Ok(None)
    }

    /// The whole id of a ticket, and who has made it: the agent, or the hook; none where a person has.
    ///
    /// # Errors
    /// The ticket is not there, or its file cannot be read.
    pub fn maker_of(&self, id: &str) -> Result<(String, Option<String>)> {
        let id = self.0.resolve(id)?;
        let made_by = self.0.read(&id)?.made_by;
        Ok((id.to_string(), made_by))
    }

    /// Whether there is a file of exactly this id.
    #[must_use]
    pub fn has(&self, id: &str) -> bool {
        let file = Id::new(id).map(|id| self.0.file(&id));
        file.is_ok_and(|file| file.exists())
    }

    /// Sets the status of a ticket. `own` is the ticket on which the agent works in whose process this is:
    /// when it closes that one, the file says so, since this is no act of a person.
    ///
    /// # Errors
    /// The ticket is not there, or its file cannot be read or written.
    pub fn set_status(&self, id: &str, status: Status, own: Option<&str>) -> Result<String> {
        let id = self.0.resolve(id)?;
        let by_agent = status == Status::Closed && own == Some(id.as_str());
        self.0.set_status_and_tags(&id, Some(status), |tags| {
            tags.remove(CLOSED_BY_AGENT);
            if by_agent {
                tags.insert(CLOSED_BY_AGENT.to_owned());
            }
        })?;
        Ok(tickets::render_status(&id, status))
    }

    /// Makes a ticket wait for another.
    ///
    /// # Errors
    /// One of them is not there, or the file cannot be read or written.
    pub fn add_dependency(&self, id: &str, on: &str) -> Result<String> {
        let (id, on) = (self.0.resolve(id)?, self.0.resolve(on)?);
        let outcome = self.0.dep(&id, &on)?;
        Ok(tickets::render_dep(&id, &on, outcome))
    }

    /// Takes a dependency away. The ticket that it names may be gone: then the text itself is meant.
    ///
    /// # Errors
    /// The ticket is not there, or its file cannot be read or written.
    pub fn remove_dependency(&self, id: &str, on: &str) -> Result<String> {
        let id = self.0.resolve(id)?;
        let on = self
            .0
            .resolve(on)
            .map_or_else(|_| on.to_owned(), |on| on.to_string());
        self.0.undep(&id, &on)?;
        Ok(tickets::render_undep(&id, &on))
    }

    /// The tickets that a ticket waits for, as a tree; `full` shows a ticket again at each place.
    ///
    /// # Errors
    /// The ticket is not there, or the folder cannot be read.
    pub fn dependency_tree(&self, id: &str, full: bool) -> Result<String> {
        let id = self.0.resolve(id)?;
        let rows = self.rows()?;
        Ok(tickets::render_tree(&rows, &Graph::new(&rows), &id, full))
    }

    /// The cycles of dependencies.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn dependency_cycles(&self) -> Result<String> {
        let rows = self.rows()?;
        Ok(tickets::render_cycles(&rows, &Graph::new(&rows)))
    }

    /// Links tickets with each other.
    ///
    /// # Errors
    /// One of them is not there, or a file cannot be read or written.
    pub fn link(&self, ids: &[String]) -> Result<String> {
        let linked = self.0.link(&self.resolve_all(ids)?)?;
        Ok(tickets::render_link(linked))
    }

    /// Takes the link between two tickets away.
    ///
    /// # Errors
    /// One of them is not there, or a file cannot be read or written.
    pub fn unlink(&self, a: &str, b: &str) -> Result<String> {
        let (a, b) = (self.0.resolve(a)?, self.0.resolve(b)?);
        self.0.unlink(&a, &b)?;
        Ok(tickets::render_unlink(&a, &b))
    }

    /// A ticket in full, with what it is connected to; `terminal` has it drawn for one.
    ///
    /// # Errors
    /// The ticket is not there, or the folder cannot be read.
    pub fn show(&self, id: &str, terminal: bool) -> Result<String> {
        let id = self.0.resolve(id)?;
        let ticket = self.0.read(&id)?;
        let rows = self.rows()?;
        let graph = Graph::new(&rows);
        Ok(tickets::render_show(&rows, &graph, &ticket, terminal))
    }

    /// As [`show`](Self::show), as a document.
    ///
    /// # Errors
    /// The ticket is not there, or the folder cannot be read.
    pub fn shown(&self, id: &str) -> Result<documents::ShownTicket> {
        let id = self.0.resolve(id)?;
        let ticket = self.0.read(&id)?;
        let rows = self.rows()?;
        let file = self.0.file(&id);
        Ok(documents::ShownTicket::of(
            &ticket,
            &file,
            &rows,
            &Graph::new(&rows),
        ))
    }

    /// The path of a ticket's file.
    ///
    /// # Errors
    /// The ticket is not there.
    pub fn file_of(&self, id: &str) -> Result<PathBuf> {
        Ok(self.0.file(&self.0.resolve(id)?))
    }

    /// The whole id of a ticket that there is.
    ///
    /// # Errors
    /// The ticket is not there, or several begin like this.
    pub fn resolve(&self, id: &str) -> Result<String> {
        Ok(self.0.resolve(id)?.to_string())
    }

    /// Adds a note to a ticket. A person's note is an edit of the task. The note of an agent or a hook is
    /// none: the agent would get the whole ticket again, the limit on repeated failure would start anew, and
    /// a hook that notes each comment would start itself.
    ///
    /// # Errors
    /// The ticket is not there, or its file cannot be read or written.
    pub fn add_note(&self, id: &str, author: &Author, text: &str) -> Result<String> {
        let id = self.0.resolve(id)?;
        let now = Timestamp::now();
        match author {
            Author::Agent(agent) => self.0.add_agent_note(&id, agent, text, now)?,
            Author::Hook(hook) => self.0.add_hook_note(&id, hook, text, now)?,
            Author::Person => self.0.add_note(&id, text, now)?,
        }
        Ok(tickets::render_note(&id))
    }

    /// The tickets of a listing that pass the filter.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn list(&self, listing: Listing, filter: &Filter) -> Result<String> {
        let rows = self.rows()?;
        let graph = LazyCell::new(|| Graph::new(&rows));
        let listed = listing.of(&rows, &graph, filter);
        Ok(match listing {
            Listing::All => tickets::render_list(&listed),
            Listing::Ready => tickets::render_ready(&listed),
            Listing::Blocked => tickets::render_blocked(&listed, &graph),
            Listing::Closed { .. } => tickets::render_closed(&listed),
        })
    }

    /// As [`list`](Self::list), as a document.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn listed(&self, listing: Listing, filter: &Filter) -> Result<documents::ListedTickets> {
        let rows = self.rows()?;
        let graph = LazyCell::new(|| Graph::new(&rows));
        let listed = listing.of(&rows, &graph, filter);
        Ok(documents::ListedTickets::of(&listed, &rows, &graph))
    }

    /// The front matter of all tickets, as JSON lines.
    ///
    /// # Errors
    /// The folder cannot be read.
    pub fn query(&self) -> Result<String> {
        let readings = self.0.load()?;
        let all: Vec<_> = readings.tickets().collect();
        Ok(tickets::render_query(&all))
    }
}
