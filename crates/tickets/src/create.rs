//! Creating tickets.

use jiff::Timestamp;

use crate::error::Error;
use crate::folder::Folder;
use crate::id::Id;
use crate::value::{checked_line, created, priority, split_list};
use crate::yaml;

/// The most ids that are tried; those of the second half are longer.
const TRIES: u32 = 64;

/// The longest title in bytes.
const MAX_TITLE: usize = 1000;

/// A new ticket.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// The title, one line; an empty one becomes `Untitled`.
    pub title: String,
    /// The text below the title.
    pub description: Option<String>,
    /// The section `## Design`.
    pub design: Option<String>,
    /// The section `## Acceptance Criteria`.
    pub acceptance: Option<String>,
    /// `bug`, `feature`, `task`, `epic`, `chore`, or any other word.
    pub kind: String,
    /// The priority, from 0 (first) to 4.
    pub priority: u8,
    /// The person or agent that is to do it.
    pub assignee: Option<String>,
    /// Its id in another tracker.
    pub external_ref: Option<String>,
    /// The ticket that it is a part of.
    pub parent: Option<Id>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The tickets that it waits for.
    pub deps: Vec<Id>,
    /// The ticket whose failure this one repairs.
    pub recovers: Option<Id>,
    /// The landed merge that this one takes back.
    pub reverts: Option<String>,
    /// The action that follows for the recovered ticket when this one lands.
    pub recovers_by: Option<String>,
    /// The agent that makes it; none where a person does.
    pub made_by: Option<String>,
    /// The ticket whose agent has delegated it.
    pub delegated_by: Option<String>,
}

impl Default for New {
    fn default() -> New {
        New {
            title: String::new(),
            description: None,
            design: None,
            acceptance: None,
            kind: "task".to_owned(),
            priority: 2,
            assignee: None,
            external_ref: None,
            parent: None,
            tags: Vec::new(),
            deps: Vec::new(),
            recovers: None,
            reverts: None,
            recovers_by: None,
            made_by: None,
            delegated_by: None,
        }
    }
}

impl Folder {
    /// Creates a ticket and returns its id: `prefix`, a dash and the text that `random` returns (see
    /// [`crate::prefix`] and [`crate::random`]). When an id is taken another one is tried, at last longer
    /// ones; no file is ever overwritten.
    ///
    /// Errors: [`Error::BadValue`], [`Error::NotFound`] for a dependency or a parent that does not exist,
    /// [`Error::NoFreeId`], those of `random`, of [`Folder::lock`] and of the write.
    pub fn create(
        &self,
        new: &New,
        prefix: &str,
        now: Timestamp,
        mut random: impl FnMut() -> Result<String, Error>,
    ) -> Result<Id, Error> {
        let text = new.checked()?.text_after_id(now);
        let lock = self.lock()?;
        for needed in new.deps.iter().chain(&new.parent) {
            lock.check_exists(needed)?;
        }
        for round in 0..TRIES {
            let longer = if round < TRIES / 2 {
                String::new()
            } else {
                random()?
            };
            let id = Id::new(&format!("{prefix}-{}{longer}", random()?))?;
            if lock.create_file(&id, &format!("---\nid: {}\n{text}", yaml::scalar(id.as_str())))? {
                return Ok(id);
            }
        }
        Err(Error::NoFreeId { tries: TRIES })
    }
}

impl Folder {
    /// Creates the ticket `id`. Returns false if there is one of that name, which is left as it is.
    ///
    /// Errors: [`Error::BadValue`], those of [`Folder::lock`] and of the write.
    pub fn create_as(&self, id: &Id, new: &New, now: Timestamp) -> Result<bool, Error> {
        let text = new.checked()?.text_after_id(now);
        let text = format!("---\nid: {}\n{text}", yaml::scalar(id.as_str()));
        self.lock()?.create_file(id, &text)
    }

    /// Puts a file back that was there before. Returns false if there is one of that name.
    ///
    /// Errors: those of [`Folder::lock`] and of the write.
    pub fn put_back(&self, id: &Id, text: &str) -> Result<bool, Error> {
        self.lock()?.create_file(id, text)
    }
}

impl New {
    /// Parses tags as tk takes them, separated by commas.
    pub fn tags(text: &str) -> Vec<String> {
        split_list(text).map(str::to_owned).collect()
    }

    /// Parses a priority, 0 to 4.
    ///
    /// Errors: [`Error::BadValue`].
    pub fn priority(text: &str) -> Result<u8, Error> {
        priority(text)
    }

    fn checked(&self) -> Result<&New, Error> {
        let bad = |what: &str, why| {
            Err(Error::BadValue {
                what: what.to_owned(),
                why,
            })
        };
        if self.title.chars().any(char::is_control) {
            return bad("title", "it must be one line without control characters");
        }
        if self.title.len() > MAX_TITLE {
            return bad(
                "title",
                "it is longer than 1000 bytes; the rest belongs in the description",
            );
        }
        for (what, text) in [
            ("description", &self.description),
            ("design", &self.design),
            ("acceptance", &self.acceptance),
        ] {
            if text.as_ref().is_some_and(|text| text.contains('\0')) {
                return bad(what, "it holds NUL characters");
            }
        }
        if self.priority > 4 {
            return bad("priority", "it must be 0 to 4");
        }
        if self.kind.trim().is_empty() {
            return bad("type", "it is empty");
        }
        checked_line("type", &self.kind)?;
        let lines = [
            ("assignee", &self.assignee),
            ("external-ref", &self.external_ref),
            ("made_by", &self.made_by),
            ("delegated_by", &self.delegated_by),
        ];
        for (what, text) in lines {
            checked_line(what, text.as_deref().unwrap_or_default())?;
        }
        for tag in &self.tags {
            checked_line("tag", tag)?;
        }
        Ok(self)
    }

    /// The text of a file with this front matter and another body.
    #[must_use]
    pub fn file_with_body(&self, id: &Id, at: Timestamp, body: &str) -> String {
        let front = self.front_after_id(at);
        format!("---\nid: {}\n{front}---\n{body}", yaml::scalar(id.as_str()))
    }

    /// The text of the file after its line with the `id`.
    fn text_after_id(&self, now: Timestamp) -> String {
        let mut out = self.front_after_id(now);
        let title = if self.title.trim().is_empty() {
            "Untitled"
        } else {
            self.title.as_str()
        };
        out.push_str(&format!("---\n# {title}\n\n"));
        let sections = [
            ("", &self.description),
            ("## Design\n\n", &self.design),
            ("## Acceptance Criteria\n\n", &self.acceptance),
        ];
        for (heading, text) in sections {
            if let Some(text) = text.as_ref().filter(|text| !text.is_empty()) {
                out.push_str(&format!("{heading}{text}\n\n"));
            }
        }
        out
    }

    /// The front matter after its line with the `id`.
    fn front_after_id(&self, now: Timestamp) -> String {
        let mut out = format!(
            "status: open\ndeps: {}\nlinks: []\ncreated: {}\ntype: {}\npriority: {}\n",
            yaml::list(&self.deps),
            created(now),
            yaml::scalar(&self.kind),
            self.priority
        );
        let texts = [
            ("assignee", self.assignee.as_deref()),
            ("external-ref", self.external_ref.as_deref()),
            ("parent", self.parent.as_ref().map(Id::as_str)),
            ("recovers", self.recovers.as_ref().map(Id::as_str)),
            ("reverts", self.reverts.as_deref()),
            ("recovers_by", self.recovers_by.as_deref()),
            ("made_by", self.made_by.as_deref()),
            ("delegated_by", self.delegated_by.as_deref()),
        ];
        for (key, text) in texts {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                out.push_str(&format!("{key}: {}\n", yaml::scalar(text)));
            }
        }
        if !self.tags.is_empty() {
            out.push_str(&format!("tags: {}\n", yaml::list(&self.tags)));
        }
        out
    }
}
