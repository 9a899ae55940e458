//! What is done to tickets: created, moved, annotated, connected, listed.

use std::collections::{BTreeMap, BTreeSet};

use jiff::Timestamp;

use crate::ticket::Status;
use crate::yaml::{self, Value};
use crate::{Document, Error, Folder, Graph, Id, Lock, Readings, Ticket, body};

/// How many ids are tried before giving up; the second half is longer.
const TRIES: u32 = 64;

/// The longest title in bytes.
const MAX_TITLE: usize = 1000;

/// A ticket to be created.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct New {
    /// One line; `Untitled` where it is empty.
    pub title: String,
    /// The text below the title.
    pub description: Option<String>,
    /// The section `## Design`.
    pub design: Option<String>,
    /// The section `## Acceptance Criteria`.
    pub acceptance: Option<String>,
    /// `bug`, `feature`, `task`, `epic`, `chore`, or any other word.
    pub kind: String,
    /// 0 (first) to 4.
    pub priority: u8,
    /// Who is to do it.
    pub assignee: Option<String>,
    /// Its name in another tracker.
    pub external_ref: Option<String>,
    /// The ticket it is a part of.
    pub parent: Option<Id>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The tickets it waits for.
    pub deps: Vec<Id>,
    /// The ticket whose failure it repairs.
    pub recovers: Option<Id>,
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
        }
    }
}

/// What became of `dep`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It was written.
    Added,
    /// It was there; nothing was written.
    AlreadyThere,
}

/// What became of `link`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linked {
    /// Entries written; a new link between two tickets is two.
    pub added: usize,
    /// Tickets that were named.
    pub tickets: usize,
}

impl Folder {
    /// Creates a ticket and gives its id: `prefix`, a dash and what `random` gives (see [`crate::prefix`] and
    /// [`crate::random`]). An id that is taken is never overwritten: another is tried, longer ones at last.
    pub fn create(
        &self,
        new: &New,
        prefix: &str,
        now: Timestamp,
        mut random: impl FnMut() -> Result<String, Error>,
    ) -> Result<Id, Error> {
        let text = new.checked()?.text(now);
        let lock = self.lock()?;
        for needed in new.deps.iter().chain(&new.parent) {
            lock.must_have(needed)?;
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

    /// Sets the status. [`Status::Unknown`] is refused.
    pub fn set_status(&self, id: &Id, status: Status) -> Result<(), Error> {
        self.set_status_and_tags(id, Some(status), &[], &[])
    }

    /// Sets the status and changes tags, in one write; nothing is written when all is so already.
    pub fn set_status_and_tags(
        &self,
        id: &Id,
        status: Option<Status>,
        set: &[&str],
        unset: &[&str],
    ) -> Result<(), Error> {
        if status == Some(Status::Unknown) {
            return Err(Error::BadStatus(Status::Unknown.to_string()));
        }
        for tag in set {
            checked_text("tag", tag)?;
        }
        self.lock()?.edit(id, |doc, _| {
            if let Some(status) = status
                && doc.get("status") != Some(&Value::Text(status.to_string()))
                // `done` is closed; the word stays.
                && !(status == Status::Closed && doc.get("status") == Some(&Value::Text("done".to_owned())))
            {
                doc.set_text("status", status.as_str());
            }
            let before = items(doc, "tags");
            let mut after = before.clone();
            after.retain(|tag| !unset.contains(&tag.as_str()));
            for tag in set {
                if !after.iter().any(|there| there == tag) {
                    after.push((*tag).to_owned());
                }
            }
            write_items(doc, "tags", &before, &after);
            Ok(())
        })
    }

    /// Appends a note with its time, as tk does, making the section `## Notes` where there is none.
    pub fn add_note(&self, id: &Id, text: &str, now: Timestamp) -> Result<(), Error> {
        if text.contains('\0') {
            return Err(Error::BadValue {
                what: "note".to_owned(),
                why: "it holds NUL characters",
            });
        }
        let note = format!("\n**{}**\n\n{}\n", stamp(now), text.trim_end_matches('\n'));
        self.lock()?.edit(id, |doc, round| {
            // A program that wrote in between may have built on what this call had already put there.
            if round > 0 && doc.body().contains(note.as_str()) {
                return Ok(());
            }
            if !body::has_notes(doc.body()) {
                doc.append("\n## Notes\n");
            }
            doc.append(&note);
            Ok(())
        })
    }

    /// Makes `id` wait for `dep`. Refused: itself, a ticket that is not there, and what would close a cycle, since crew would
    /// hold all of its tickets for good.
    pub fn dep(&self, id: &Id, dep: &Id) -> Result<Dependency, Error> {
        if id == dep {
            return Err(Error::SelfDependency(id.clone()));
        }
        let lock = self.lock()?;
        lock.must_have(dep)?;
        if let Some(mut path) = self.way(dep, id) {
            path.insert(0, id.to_string());
            return Err(Error::Cycle { path });
        }
        lock.edit(id, |doc, _| {
            Ok(if insert(doc, "deps", dep) {
                Dependency::Added
            } else {
                Dependency::AlreadyThere
            })
        })
    }

    /// Takes a dependency away; [`Error::DependencyNotFound`] where there is none of exactly that id. `dep` is a text, so that
    /// one on a ticket that is gone, or no id at all, can be taken away.
    pub fn undep(&self, id: &Id, dep: &str) -> Result<(), Error> {
        self.lock()?.edit(id, |doc, _| {
            if remove(doc, "deps", dep) {
                Ok(())
            } else {
                Err(Error::DependencyNotFound)
            }
        })
    }

    /// Links every two of the tickets.
    pub fn link(&self, ids: &[Id]) -> Result<Linked, Error> {
        let ids: BTreeSet<&Id> = ids.iter().collect();
        if ids.len() < 2 {
            return Err(Error::BadValue {
                what: "link".to_owned(),
                why: "it needs two different tickets",
            });
        }
        let lock = self.lock()?;
        for id in &ids {
            lock.must_have(id)?;
        }
        let mut added = 0;
        for id in &ids {
            added += lock.edit(id, |doc, _| {
                Ok(ids
                    .iter()
                    .filter(|other| *other != id)
                    .filter(|other| insert(doc, "links", other))
                    .count())
            })?;
        }
        Ok(Linked {
            added,
            tickets: ids.len(),
        })
    }

    /// Takes a link away on both sides; [`Error::LinkNotFound`] where neither has it.
    pub fn unlink(&self, a: &Id, b: &Id) -> Result<(), Error> {
        let lock = self.lock()?;
        let mut removed = lock.edit(a, |doc, _| Ok(remove(doc, "links", b.as_str())))?;
        if lock.has(b) {
            removed |= lock.edit(b, |doc, _| Ok(remove(doc, "links", a.as_str())))?;
        }
        if removed { Ok(()) } else { Err(Error::LinkNotFound) }
    }

    /// Sets any key of the front matter but `id` to a text, or removes it.
    pub fn set_key(&self, id: &Id, key: &str, text: Option<&str>) -> Result<(), Error> {
        let legal = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if key.is_empty() || !key.chars().all(legal) || key.starts_with('-') || key == "id" {
            let why = "only letters, digits, `.`, `_` and `-` are allowed, and the id is the file's name";
            return Err(Error::BadValue {
                what: "key".to_owned(),
                why,
            });
        }
        match (key, text) {
            ("status", Some(text)) => drop(Status::from_command(text)?),
            ("priority", Some(text)) => drop(priority(text)?),
            (_, Some(text)) => checked_text(key, text)?,
            (_, None) => {}
        }
        self.lock()?.edit(id, |doc, _| {
            match text {
                Some(text) if matches!(key, "deps" | "links" | "tags") => {
                    let items: Vec<&str> = text
                        .split(',')
                        .map(str::trim)
                        .filter(|item| !item.is_empty())
                        .collect();
                    doc.set_list(key, &items);
                }
                Some(text) => doc.set_text(key, text),
                None => drop(doc.remove(key)),
            }
            Ok(())
        })
    }

    /// The way of dependencies from `from` to `to`, both included; only the files on the way are read.
    fn way(&self, from: &Id, to: &Id) -> Option<Vec<String>> {
        let mut came_from: BTreeMap<String, String> = BTreeMap::new();
        let mut next = std::collections::VecDeque::from([from.to_string()]);
        while let Some(at) = next.pop_front() {
            if at == to.as_str() {
                let mut path = vec![at];
                while let Some(before) = path
                    .last()
                    .filter(|last| *last != from.as_str())
                    .and_then(|l| came_from.get(l))
                {
                    path.push(before.clone());
                }
                path.reverse();
                return Some(path);
            }
            let Some(ticket) = Id::new(&at).ok().and_then(|id| self.read(&id).ok()) else {
                continue;
            };
            for dep in ticket.deps {
                if dep != from.as_str() && !came_from.contains_key(&dep) {
                    came_from.insert(dep.clone(), at.clone());
                    next.push_back(dep);
                }
            }
        }
        None
    }
}

impl Lock<'_> {
    fn must_have(&self, id: &Id) -> Result<(), Error> {
        if self.has(id) {
            Ok(())
        } else {
            Err(Error::NotFound {
                asked: id.to_string(),
            })
        }
    }
}

impl New {
    /// Reads tk's comma list of tags.
    pub fn tags(text: &str) -> Vec<String> {
        text.split(',')
            .map(str::trim)
            .filter(|tag| !tag.is_empty())
            .map(str::to_owned)
            .collect()
    }

    /// Reads tk's priority: 0 to 4.
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
        checked_text("type", &self.kind)?;
        for (what, text) in [("assignee", &self.assignee), ("external-ref", &self.external_ref)] {
            checked_text(what, text.as_deref().unwrap_or_default())?;
        }
        for tag in &self.tags {
            checked_text("tag", tag)?;
        }
        Ok(self)
    }

    /// The file behind its `id` line.
    fn text(&self, now: Timestamp) -> String {
        let mut out = format!(
            "status: open\ndeps: {}\nlinks: []\ncreated: {}\ntype: {}\npriority: {}\n",
            yaml::list(&self.deps),
            stamp(now),
            yaml::scalar(&self.kind),
            self.priority
        );
        let texts = [
            ("assignee", self.assignee.as_deref()),
            ("external-ref", self.external_ref.as_deref()),
            ("parent", self.parent.as_ref().map(Id::as_str)),
            ("recovers", self.recovers.as_ref().map(Id::as_str)),
        ];
        for (key, text) in texts {
            if let Some(text) = text.filter(|text| !text.is_empty()) {
                out.push_str(&format!("{key}: {}\n", yaml::scalar(text)));
            }
        }
        if !self.tags.is_empty() {
            out.push_str(&format!("tags: {}\n", yaml::list(&self.tags)));
        }
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
}

/// Which tickets a listing shows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Filter {
    /// Only those of this assignee.
    pub assignee: Option<String>,
    /// Only those with this tag.
    pub tag: Option<String>,
    /// Only those of this status, as the file has it.
    pub status: Option<String>,
}

impl Filter {
    fn passes(&self, ticket: &Ticket) -> bool {
        self.assignee
            .as_ref()
            .is_none_or(|wanted| ticket.assignee.as_ref() == Some(wanted))
            && self
                .tag
                .as_ref()
                .is_none_or(|wanted| ticket.tags.contains(wanted))
            && self
                .status
                .as_ref()
                .is_none_or(|wanted| ticket.status_text == *wanted)
    }
}

/// Those that pass, in the order of the file names.
pub fn list<'a>(readings: &'a Readings, filter: &Filter) -> Vec<&'a Ticket> {
    readings
        .tickets()
        .filter(|ticket| filter.passes(ticket))
        .collect()
}

/// Open and in_progress tickets whose dependencies are all closed, by priority and id.
pub fn ready<'a>(readings: &'a Readings, graph: &Graph, filter: &Filter) -> Vec<&'a Ticket> {
    unclosed(readings, filter, |ticket| !graph.is_blocked(ticket.id.as_str()))
}

/// Open and in_progress tickets with a dependency that is not closed, by priority and id.
pub fn blocked<'a>(readings: &'a Readings, graph: &Graph, filter: &Filter) -> Vec<&'a Ticket> {
    unclosed(readings, filter, |ticket| graph.is_blocked(ticket.id.as_str()))
}

/// The `limit` closed tickets that changed last, newest first.
pub fn closed<'a>(readings: &'a Readings, filter: &Filter, limit: usize) -> Vec<&'a Ticket> {
    let mut found = list(readings, filter);
    found.retain(|ticket| ticket.is_closed());
    found.sort_by(|a, b| {
        b.stamp
            .mtime_ns
            .cmp(&a.stamp.mtime_ns)
            .then_with(|| a.id.cmp(&b.id))
    });
    found.truncate(limit);
    found
}

fn unclosed<'a>(
    readings: &'a Readings,
    filter: &Filter,
    wanted: impl Fn(&Ticket) -> bool,
) -> Vec<&'a Ticket> {
    let mut found = list(readings, filter);
    found.retain(|ticket| matches!(ticket.status, Status::Open | Status::InProgress) && wanted(ticket));
    found.sort_by(|a, b| a.priority.cmp(&b.priority).then_with(|| a.id.cmp(&b.id)));
    found
}

fn stamp(at: Timestamp) -> String {
    at.strftime("%Y-%m-%dT%H:%M:%SZ").to_string()
}

fn priority(text: &str) -> Result<u8, Error> {
    match text {
        "0" | "1" | "2" | "3" | "4" => Ok(text.as_bytes()[0] - b'0'),
        _ => Err(Error::BadValue {
            what: "priority".to_owned(),
            why: "it must be 0 to 4",
        }),
    }
}

fn checked_text(what: &str, text: &str) -> Result<(), Error> {
    if text.chars().any(char::is_control) {
        return Err(Error::BadValue {
            what: what.to_owned(),
            why: "it must be one line without control characters",
        });
    }
    Ok(())
}

fn items(doc: &Document, key: &str) -> Vec<String> {
    match doc.get(key) {
        Some(Value::List(items)) => items.clone(),
        Some(Value::Text(text)) => New::tags(text),
        None | Some(Value::Empty | Value::Other) => Vec::new(),
    }
}

fn write_items(doc: &mut Document, key: &str, before: &[String], after: &[String]) {
    if before == after {
        return;
    }
    // tk writes `deps` and `links` always, `tags` only when there are some.
    if after.is_empty() && key == "tags" {
        doc.remove(key);
    } else {
        doc.set_list(key, after);
    }
}

fn insert(doc: &mut Document, key: &str, id: &Id) -> bool {
    let before = items(doc, key);
    if before.iter().any(|there| there == id.as_str()) {
        return false;
    }
    let mut after = before.clone();
    after.push(id.to_string());
    write_items(doc, key, &before, &after);
    true
}

fn remove(doc: &mut Document, key: &str, text: &str) -> bool {
    let before = items(doc, key);
    let after: Vec<String> = before.iter().filter(|there| *there != text).cloned().collect();
    write_items(doc, key, &before, &after);
    before.len() != after.len()
}
