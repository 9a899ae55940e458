//! Edits of tickets: status, tags, notes, dependencies, links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use jiff::Timestamp;

use crate::body::{self, Note};
use crate::document::Document;
use crate::error::Error;
use crate::folder::Folder;
use crate::id::Id;
use crate::lock::Lock;
use crate::ticket::Status;
use crate::value::{checked_line, split_list, timestamp};
use crate::yaml::Value;

/// The result of adding a dependency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dependency {
    /// It was added.
    Added,
    /// It existed already; nothing was written.
    AlreadyThere,
}

/// The result of linking tickets.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Linked {
    /// The number of entries written; a new link between two tickets is two entries.
    pub added: usize,
    /// The number of tickets that were named.
    pub tickets: usize,
}

impl Folder {
    /// Sets the status.
    ///
    /// Errors: [`Error::BadStatus`] for [`Status::Unknown`], and those of [`Lock::edit`].
    pub fn set_status(&self, id: &Id, status: Status) -> Result<(), Error> {
        self.set_status_and_tags(id, Some(status), |_| {})
    }

    /// Sets the status, and has `change` change the set of crew's tags, in one write. Nothing is written when
    /// the ticket has that status and those tags already. A tag that the ticket's author has given it stays
    /// the author's, also where crew wants the same one: it is not listed as crew's, and so never removed.
    ///
    /// Errors: [`Error::BadStatus`] for [`Status::Unknown`], [`Error::BadValue`], and those of
    /// [`Lock::edit`].
    pub fn set_status_and_tags(
        &self,
        id: &Id,
        status: Option<Status>,
        change: impl Fn(&mut BTreeSet<String>),
    ) -> Result<(), Error> {
        self.set_state(id, status, change, None)
    }

    /// As [`set_status_and_tags`](Self::set_status_and_tags), and appends a note of one line in the same
    /// write, unless the file has it: the text at that second, whatever somebody wrote below it.
    ///
    /// Errors: those of [`set_status_and_tags`](Self::set_status_and_tags), and of
    /// [`add_note`](Self::add_note).
    pub fn set_state(
        &self,
        id: &Id,
        status: Option<Status>,
        change: impl Fn(&mut BTreeSet<String>),
        note: Option<&Note>,
    ) -> Result<(), Error> {
        let written = note.map(|note| as_written(&note.text, note.at)).transpose()?;
        if status == Some(Status::Unknown) {
            return Err(Error::BadStatus(Status::Unknown.to_string()));
        }
        self.lock()?.edit(id, |doc, _| {
            if let Some(status) = status
                && doc.get("status") != Some(&Value::Text(status.to_string()))
                // `done` means closed too, and is left as it is.
                && !(status == Status::Closed && doc.get("status") == Some(&Value::Text("done".to_owned())))
            {
                doc.set_text("status", status.as_str());
            }
            let (before, listed) = (items(doc, "tags"), items(doc, "crew_tags"));
            let is_crews = |tag: &String| listed.contains(tag);
            let mut crews: BTreeSet<String> = before.iter().filter(|tag| is_crews(tag)).cloned().collect();
            change(&mut crews);
            for tag in &crews {
                checked_line("tag", tag)?;
            }
            let mut after = before.clone();
            after.retain(|tag| !is_crews(tag) || crews.contains(tag));
            crews.retain(|tag| is_crews(tag) || !before.contains(tag));
            after.extend(crews.iter().filter(|tag| !before.contains(tag)).cloned());
            write_items(doc, "tags", &before, &after);
            write_items(doc, "crew_tags", &listed, &crews.into_iter().collect::<Vec<_>>());
            if let (Some(note), Some(written)) = (note, &written)
                && !body::notes(doc.body()).iter().any(|there| there.begins_as(note))
            {
                append(doc, written);
            }
            Ok(())
        })
    }

    /// Appends a note with its time, as tk does. The section `## Notes` is added when there is none.
    ///
    /// Errors: [`Error::BadValue`], and those of [`Lock::edit`].
    pub fn add_note(&self, id: &Id, text: &str, now: Timestamp) -> Result<(), Error> {
        let note = as_written(text, now)?;
        self.lock()?.edit(id, |doc, round| {
            // A program that wrote in between may have read the note that the last attempt had written.
            if round > 0 && doc.body().contains(note.as_str()) {
                return Ok(());
            }
            append(doc, &note);
            Ok(())
        })
    }

    /// Appends a note that an agent wrote: it begins with the agent's name, and its words are quoted. It is
    /// no part of what [`Ticket::without_notes`](crate::Ticket::without_notes) returns, so that an agent
    /// does not change the text of its own task by adding notes.
    ///
    /// Errors: those of [`add_note`](Self::add_note).
    pub fn add_agent_note(&self, id: &Id, agent: &str, text: &str, now: Timestamp) -> Result<(), Error> {
        self.add_note(id, &body::note_by_agent(agent, text), now)
    }

    /// Appends a note that a hook of crew's wrote, which is named by its key in the settings; otherwise as
    /// [`add_agent_note`](Self::add_agent_note).
    ///
    /// Errors: those of [`add_note`](Self::add_note).
    pub fn add_hook_note(&self, id: &Id, hook: &str, text: &str, now: Timestamp) -> Result<(), Error> {
        self.add_note(id, &body::note_by_hook(hook, text), now)
    }

    /// Makes `id` wait for `dep`.
    ///
    /// Errors: [`Error::SelfDependency`], [`Error::NotFound`], [`Error::Cycle`] since the tickets of a
    /// cycle would wait for ever, and those of [`Lock::edit`].
    pub fn dep(&self, id: &Id, dep: &Id) -> Result<Dependency, Error> {
        if id == dep {
            return Err(Error::SelfDependency(id.to_string()));
        }
        let lock = self.lock()?;
        lock.check_exists(dep)?;
        if let Some(mut path) = self.dependency_path(dep, id) {
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

    /// Removes a dependency. `dep` is a text, so that a dependency on a deleted ticket, or on a text that
    /// is not an id, can be removed.
    ///
    /// Errors: [`Error::DependencyNotFound`] when there is none of exactly that text, and those of
    /// [`Lock::edit`].
    pub fn undep(&self, id: &Id, dep: &str) -> Result<(), Error> {
        self.lock()?.edit(id, |doc, _| {
            if remove(doc, "deps", dep) {
                Ok(())
            } else {
                Err(Error::DependencyNotFound)
            }
        })
    }

    /// Links each of the tickets with each other.
    ///
    /// Errors: [`Error::BadValue`] for fewer than two tickets, [`Error::NotFound`], and those of
    /// [`Lock::edit`].
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
            lock.check_exists(id)?;
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

    /// Removes a link from both tickets.
    ///
    /// Errors: [`Error::LinkNotFound`] when neither has it, and those of [`Lock::edit`].
    pub fn unlink(&self, a: &Id, b: &Id) -> Result<(), Error> {
        let lock = self.lock()?;
        let mut removed = lock.edit(a, |doc, _| Ok(remove(doc, "links", b.as_str())))?;
        if lock.has(b) {
            removed |= lock.edit(b, |doc, _| Ok(remove(doc, "links", a.as_str())))?;
        }
        if removed { Ok(()) } else { Err(Error::LinkNotFound) }
    }

    /// The path of dependencies from `from` to `to`, both included. Only the files on the way are read.
    fn dependency_path(&self, from: &Id, to: &Id) -> Option<Vec<String>> {
        let mut came_from: BTreeMap<String, String> = BTreeMap::new();
        let mut next = VecDeque::from([from.to_string()]);
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
    pub(crate) fn check_exists(&self, id: &Id) -> Result<(), Error> {
        if self.has(id) {
            Ok(())
        } else {
            Err(Error::NotFound {
                asked: id.to_string(),
            })
        }
    }
}

/// A note as it stands in a file.
fn as_written(text: &str, at: Timestamp) -> Result<String, Error> {
    if text.contains('\0') {
        return Err(Error::BadValue {
            what: "note".to_owned(),
            why: "it holds NUL characters",
        });
    }
    let text = text.trim_end_matches('\n');
    Ok(format!("\n**{}**\n\n{text}\n", timestamp(at)))
}

/// Appends a note, and the heading above it where there is none.
fn append(doc: &mut Document, note: &str) {
    if !body::has_notes(doc.body()) {
        doc.append("\n## Notes\n");
    }
    doc.append(note);
}

/// The items of a list. A text counts as a list, as tk takes it.
fn items(doc: &Document, key: &str) -> Vec<String> {
    match doc.get(key) {
        Some(Value::List(items)) => items.clone(),
        Some(Value::Text(text)) => split_list(text).map(str::to_owned).collect(),
        None | Some(Value::Empty | Value::Records(_) | Value::Other) => Vec::new(),
    }
}

fn write_items(doc: &mut Document, key: &str, before: &[String], after: &[String]) {
    if before == after {
        return;
    }
    // tk always writes `deps` and `links`, but `tags` only when there are some.
    if after.is_empty() && matches!(key, "tags" | "crew_tags") {
        doc.remove(key);
    } else {
        doc.set_list(key, after);
    }
}

/// Adds an id to a list; `false` when the list has it.
fn insert(doc: &mut Document, key: &str, id: &Id) -> bool {
    let before = items(doc, key);
    if before.iter().any(|present| present == id.as_str()) {
        return false;
    }
    let mut after = before.clone();
    after.push(id.to_string());
    write_items(doc, key, &before, &after);
    true
}

/// Removes a text from a list; `false` when the list does not have it.
fn remove(doc: &mut Document, key: &str, text: &str) -> bool {
    let before = items(doc, key);
    let after: Vec<String> = before
        .iter()
        .filter(|present| *present != text)
        .cloned()
        .collect();
    write_items(doc, key, &before, &after);
    before.len() != after.len()
}
