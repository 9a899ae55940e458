//! A ticket: the typed content of a document.

use std::collections::BTreeSet;
use std::fmt;
use std::path::Path;

use jiff::Timestamp;

use crate::body::{self, Note};
use crate::commitment::{self, Commitment, Mistaken};
use crate::criteria;
use crate::document::Document;
use crate::error::Error;
use crate::id::Id;
use crate::problem::{Problem, ProblemKind};
use crate::stamp::Stamp;
use crate::yaml::Value;

/// The meaning of a ticket's status.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Status {
    /// `open`.
    Open,
    /// `in_progress`.
    InProgress,
    /// `closed`, or `done` as in bd.
    Closed,
    /// Any other text. Such a ticket is not worked on, and does not satisfy a dependency.
    Unknown,
}

impl Status {
    /// Parses a status that a person gives, which must be one of tk's three.
    ///
    /// Errors: [`Error::BadStatus`].
    pub fn from_command(text: &str) -> Result<Status, Error> {
        match Status::read(text) {
            Status::Unknown => Err(Error::BadStatus(crate::clean::clean_line(text))),
            Status::Closed if text != "closed" => Err(Error::BadStatus(crate::clean::clean_line(text))),
            status => Ok(status),
        }
    }

    /// The text in a file.
    pub(crate) fn as_str(self) -> &'static str {
        match self {
            Status::Open => "open",
            Status::InProgress => "in_progress",
            Status::Closed => "closed",
            Status::Unknown => "unknown",
        }
    }

    pub(crate) fn read(text: &str) -> Status {
        match text {
            "open" => Status::Open,
            "in_progress" => Status::InProgress,
            "closed" | "done" => Status::Closed,
            _ => Status::Unknown,
        }
    }
}

impl fmt::Display for Status {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.as_str())
    }
}

/// A ticket that could be read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Ticket {
    /// The name of the file without `.md`.
    pub id: Id,
    /// The meaning of its status.
    pub status: Status,
    /// The status as the file has it.
    pub status_text: String,
    /// The ids of the tickets that it waits for, as the file has them. Some may not exist or not even be
    /// valid ids.
    pub deps: Vec<String>,
    /// The ids of related tickets.
    pub links: Vec<String>,
    /// The time of its creation.
    pub created: Option<Timestamp>,
    /// `bug`, `feature`, `task`, `epic`, `chore` or any other text; `task` if the file has none.
    pub kind: String,
    /// The priority, from 0 (first) to 4; 2 if the file has no valid one.
    pub priority: u8,
    /// The person or agent that is to do it.
    pub assignee: Option<String>,
    /// Its id in another tracker.
    pub external_ref: Option<String>,
    /// The id of the ticket that it is a part of.
    pub parent: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// Those of its tags that are crew's: the key `crew_tags` lists them. All others are its author's.
    pub crew_tags: Vec<String>,
    /// The id of the ticket whose failure this one repairs.
    pub recovers: Option<String>,
    /// The landed merge that this one takes back.
    pub reverts: Option<String>,
    /// The key `made_by`: the agent that made it; none where a person did.
    pub made_by: Option<String>,
    /// The key `delegated_by`: the ticket whose agent has delegated it, as written.
    pub delegated_by: Option<String>,
    /// The action that follows for the recovered ticket when this one lands.
    pub recovers_by: Option<String>,
    /// The first `# ` line of the body, else `Untitled`.
    pub title: String,
    /// The text between the title and the first section.
    pub description: String,
    /// The text below the heading `Acceptance Criteria`, else the key `acceptance_test`.
    pub acceptance: Option<String>,
    /// The commitments that it lists: under the key `commitments`, among its acceptance criteria and as
    /// `acceptance_test`. No two are the same.
    pub commitments: Vec<Commitment>,
    /// Its notes, in the order of the file.
    pub notes: Vec<Note>,
    /// The problems that do not make it unreadable.
    pub problems: Vec<Problem>,
    /// The file's document.
    pub document: Document,
    /// The state of the file when it was read.
    pub stamp: Stamp,
}

/// The text of a ticket that describes the work.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Text {
    /// The text after the front matter; its last line has a line end.
    pub body: String,
    /// The text below the heading `Acceptance Criteria`, else the key `acceptance_test`.
    pub acceptance: Option<String>,
}

impl Text {
    /// The notes in it, in the order of the file.
    pub fn notes(&self) -> Vec<Note> {
        body::notes(&self.body)
    }
}

impl Ticket {
    /// Reads the ticket `id` from its document, the file at `path`.
    pub fn read(id: Id, path: &Path, document: Document, stamp: Stamp) -> Ticket {
        let mut view = View {
            document: &document,
            path,
            problems: Vec::new(),
        };
        let key = view.text("id");
        if let Some(key) = key.filter(|key| key != id.as_str()) {
            view.report("id", ProblemKind::IdDiffers(key));
        }
        let status_text = view.text("status").unwrap_or_default();
        let status = Status::read(&status_text);
        if status_text.is_empty() {
            view.report("status", ProblemKind::NoStatus);
        } else if status == Status::Unknown {
            view.report("status", ProblemKind::UnknownStatus(status_text.clone()));
        }
        let priority = view.text("priority").map_or(2, |text| match text.as_str() {
            "0" | "1" | "2" | "3" | "4" => text.as_bytes()[0] - b'0',
            _ => {
                view.report("priority", ProblemKind::BadPriority(text));
                2
            }
        });
        let created = view.text("created").and_then(|text| {
            let at = text.parse().ok();
            if at.is_none() {
                view.report("created", ProblemKind::BadCreated(text));
            }
            at
        });
        let deps = view.list("deps");
        for bad in deps.iter().filter(|dep| Id::new(dep).is_err()) {
            view.report("deps", ProblemKind::BadDependency(bad.clone()));
        }
        let body = document.body();
        let acceptance_test = view.text("acceptance_test");
        let criteria = criteria::read(body);
        let mut commitments = view.commitments();
        commitments.extend(criteria.commitments);
        commitments.extend(view.acceptance_test(acceptance_test.as_deref()));
        // Said twice, it is one promise.
        let mut seen = BTreeSet::new();
        commitments.retain(|one| seen.insert(one.clone()));
        if status != Status::Closed {
            view.report_mistaken(criteria.faults);
        }
        let acceptance = criteria.text.or(acceptance_test);
        let (links, kind, assignee) = (view.list("links"), view.text("type"), view.text("assignee"));
        let (external_ref, parent) = (view.text("external-ref"), view.text("parent"));
        let (reverts, made_by) = (view.text("reverts"), view.text("made_by"));
        let delegated_by = view.text("delegated_by");
        let (tags, mut crew_tags) = (view.list("tags"), view.list("crew_tags"));
        crew_tags.retain(|tag| tags.contains(tag));
        let (recovers, recovers_by) = (view.text("recovers"), view.text("recovers_by"));
        let problems = view.problems;
        Ticket {
            id,
            status,
            status_text,
            deps,
            links,
            created,
            kind: kind.unwrap_or_else(|| "task".to_owned()),
            priority,
            assignee,
            external_ref,
            parent,
            tags,
            crew_tags,
            recovers,
            reverts,
            made_by,
            delegated_by,
            recovers_by,
            title: body::title(body)
                .filter(|title| !title.is_empty())
                .unwrap_or("Untitled")
                .to_owned(),
            description: body::description(body).to_owned(),
            acceptance,
            commitments,
            notes: body::notes(body),
            problems,
            document,
            stamp,
        }
    }

    /// The text after the front matter.
    pub fn body(&self) -> &str {
        self.document.body()
    }

    /// The text without the notes of agents and the notes of one line that `is_own` accepts. Adding such a
    /// note does not change it.
    pub fn without_notes(&self, is_own: impl Fn(&str) -> bool) -> Text {
        let mut body = body::without_notes(self.body(), is_own);
        if !body.is_empty() && !body.ends_with('\n') {
            // A line end would also be added before a note.
            body.push_str(self.document.line_end());
        }
        let acceptance = match criteria::read(self.body()).text {
            Some(_) => criteria::read(&body).text,
            None => self.acceptance.clone(),
        };
        Text { body, acceptance }
    }
}

/// Reads the keys of a document, and collects the problems.
struct View<'a> {
    document: &'a Document,
    path: &'a Path,
    problems: Vec<Problem>,
}

impl View<'_> {
    fn report(&mut self, key: &str, kind: ProblemKind) {
        let line = self.document.line(key);
        self.problems.push(Problem {
            path: self.path.to_owned(),
            line,
            kind,
        });
    }

    fn text(&mut self, key: &str) -> Option<String> {
        match self.document.get(key)? {
            Value::Empty => None,
            Value::Text(text) => Some(text.trim().to_owned()).filter(|text| !text.is_empty()),
            Value::List(_) | Value::Records(_) | Value::Other => {
                self.report(key, ProblemKind::WrongShape(key.to_owned()));
                None
            }
        }
    }

    /// Reads the key `commitments`. An entry that cannot be read is a commitment all the same, which nothing
    /// can verify: without it, the work would land unverified.
    fn commitments(&mut self) -> Vec<Commitment> {
        let key = "commitments";
        let (mut items, is_read) = commitment::in_front_matter(self.document.get(key));
        if !is_read {
            self.report(key, ProblemKind::WrongShape(key.to_owned()));
        }
        let keys = self.document.keys().map(|(key, _)| key);
        let mistaken = keys.filter(|key| commitment::mistaken_key(key) == Some(Mistaken::Commands));
        items.extend(mistaken.map(Commitment::under_mistaken_key));
        items
    }

    /// The commitment that the key `acceptance_test` is. One of another form is a commitment all the same, as
    /// an entry of `commitments` is.
    fn acceptance_test(&self, text: Option<&str>) -> Option<Commitment> {
        match self.document.get("acceptance_test")? {
            Value::Empty | Value::Text(_) => text.map(Commitment::acceptance_test),
            Value::List(items) if items.is_empty() => None,
            Value::List(_) | Value::Records(_) | Value::Other => Some(Commitment::unreadable_test()),
        }
    }

    /// Reports what looks like a commitment and is none, in the text and among the keys.
    fn report_mistaken(&mut self, faults: Vec<(usize, ProblemKind)>) {
        let document = self.document;
        let keys = document.keys().map(|(key, _)| key);
        for key in keys.filter(|key| commitment::mistaken_key(key).is_some()) {
            self.report(key, ProblemKind::MistakenKey(key.to_owned()));
        }
        let first = document.first_line_of_body();
        for (line, kind) in faults {
            let line = Some(first + line);
            self.problems.push(Problem {
                path: self.path.to_owned(),
                line,
                kind,
            });
        }
    }

    /// Reads a list. A text counts as a list that is separated by commas, as tk takes it.
    fn list(&mut self, key: &str) -> Vec<String> {
        let mut items: Vec<String> = match self.document.get(key) {
            None | Some(Value::Empty) => Vec::new(),
            Some(Value::List(items)) => items.clone(),
            Some(Value::Text(text)) => text.split(',').map(str::trim).map(str::to_owned).collect(),
            Some(Value::Records(_) | Value::Other) => {
                self.report(key, ProblemKind::WrongShape(key.to_owned()));
                // Without this item an unreadable list of dependencies would make the ticket ready.
                if key == "deps" {
                    vec!["(unreadable)".to_owned()]
                } else {
                    Vec::new()
                }
            }
        };
        let mut seen = BTreeSet::new();
        items.retain(|item| !item.is_empty() && seen.insert(item.clone()));
        items
    }
}
