//! Rows: of each ticket what listings show, which is what the index keeps.

use std::collections::BTreeMap;
use std::os::fd::{AsFd as _, BorrowedFd};
use std::path::Path;

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::error::Error;
use crate::folder::{Folder, Reading};
use crate::id::Id;
use crate::index::Index;
use crate::problem::Problem;
use crate::stamp::Stamp;
use crate::ticket::{Status, Ticket};

/// So many threads look at the files at once: most of the time of a listing is the system's, one call a file.
const THREADS: usize = 4;
/// So few files are looked at by one.
const FEW: usize = 500;

/// A ticket, as far as listings show it. The fields are those of [`Ticket`]. Whoever changes them, or what is
/// read into them, changes the [format of the index](crate::index).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Row {
    /// The name of the file without `.md`.
    pub id: Id,
    /// The status as the file has it.
    pub status_text: String,
    /// The ids of the tickets that it waits for, as the file has them.
    pub deps: Vec<String>,
    /// The ids of related tickets.
    pub links: Vec<String>,
    /// The time of its creation, in milliseconds since 1970.
    pub created_ms: Option<i64>,
    /// `bug`, `feature`, `task`, `epic`, `chore` or any other text.
    pub kind: String,
    /// The priority, from 0 (first) to 4.
    pub priority: u8,
    /// The person or agent that is to do it.
    pub assignee: Option<String>,
    /// Its id in another tracker.
    pub external_ref: Option<String>,
    /// The id of the ticket that it is a part of.
    pub parent: Option<String>,
    /// Its tags.
    pub tags: Vec<String>,
    /// The title.
    pub title: String,
    /// The state of the file when it was read.
    pub stamp: Stamp,
}

impl Row {
    /// The row of a ticket.
    pub fn of(ticket: &Ticket) -> Row {
        Row {
            id: ticket.id.clone(),
            status_text: ticket.status_text.clone(),
            deps: ticket.deps.clone(),
            links: ticket.links.clone(),
            created_ms: ticket.created.map(Timestamp::as_millisecond),
            kind: ticket.kind.clone(),
            priority: ticket.priority,
            assignee: ticket.assignee.clone(),
            external_ref: ticket.external_ref.clone(),
            parent: ticket.parent.clone(),
            tags: ticket.tags.clone(),
            title: ticket.title.clone(),
            stamp: ticket.stamp,
        }
    }

    /// The meaning of its status.
    pub fn status(&self) -> Status {
        Status::read(&self.status_text)
    }
}

/// The rows of a folder, in the order of the ids, and its files that are no tickets.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Rows {
    rows: Vec<Row>,
    unreadable: BTreeMap<String, Problem>,
}

impl Rows {
    /// All rows.
    pub fn iter(&self) -> impl Iterator<Item = &Row> {
        self.rows.iter()
    }

    /// The row of exactly this id.
    pub fn get(&self, id: &str) -> Option<&Row> {
        let at = self.rows.binary_search_by(|row| row.id.as_str().cmp(id)).ok()?;
        Some(&self.rows[at])
    }

    /// The files that are no tickets, by their names without `.md`, each with the problem.
    pub fn unreadable(&self) -> &BTreeMap<String, Problem> {
        &self.unreadable
    }
}

impl Folder {
    /// Of every ticket what listings show. `index`: a folder for the index, by which only the files are read
    /// that have changed; it need not exist.
    ///
    /// Errors: [`Error::Io`] or [`Error::NotAFolder`] when the folder cannot be listed.
    pub fn rows(&self, index: Option<&Path>) -> Result<Rows, Error> {
        Ok(self.rows_and_reads(index)?.0)
    }

    /// As [`Folder::rows`], with the number of files that were read.
    pub fn rows_and_reads(&self, index: Option<&Path>) -> Result<(Rows, usize), Error> {
        let dir = self.open()?;
        let index = index.and_then(Index::open);
        let identity = rustix::fs::fstat(&dir).map(|stat| (stat.st_dev, stat.st_ino));
        let identity = identity.unwrap_or_default();
        // The folder is listed while the index is read.
        let (names, kept) = std::thread::scope(|scope| {
            let names = scope.spawn(|| self.names(dir.as_fd()));
            let kept = index.as_ref().and_then(|index| index.read(identity));
            let names = names.join();
            (
                names.unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
                kept,
            )
        });
        let (names, kept) = (names?, kept.unwrap_or_default());
        let kept_before = kept.rows.len();
        let mut rows = unchanged(kept.rows, kept.began_ns, dir.as_fd());
        let missing: Vec<String> = {
            let mut kept = rows.iter().map(|row| row.id.as_str()).peekable();
            let mut is_kept = |name: &str| {
                while kept.next_if(|id| *id < name).is_some() {}
                kept.next_if(|id| *id == name).is_some()
            };
            names.into_iter().filter(|name| !is_kept(name)).collect()
        };
        let (kept_now, reads) = (rows.len(), missing.len());
        if kept_now == kept_before && reads == 0 {
            let unreadable = BTreeMap::new();
            return Ok((Rows { rows, unreadable }, 0));
        }
        let draft = index.as_ref().and_then(Index::draft);
        let read: Rows = missing
            .into_iter()
            .filter_map(|name| self.reading(dir.as_fd(), name))
            .collect();
        let unreadable = read.unreadable;
        // Files that are no tickets are never in the index.
        let is_other = kept_now < kept_before || !read.rows.is_empty();
        rows.extend(read.rows);
        rows.sort_by(|a, b| a.id.cmp(&b.id));
        match draft {
            Some(draft) if is_other => draft.finish(identity, &rows),
            Some(draft) => draft.discard(),
            None => {}
        }
        Ok((Rows { rows, unreadable }, reads))
    }
}

/// The kept rows whose files are still those that were read, which was at `began_ns` or later.
fn unchanged(mut rows: Vec<Row>, began_ns: i128, dir: BorrowedFd<'_>) -> Vec<Row> {
    let is_same = move |row: &Row| {
        !row.stamp.is_recent(began_ns) && Stamp::at(dir, &row.id.file_name()) == Some(row.stamp)
    };
    let mut are_same = vec![false; rows.len()];
    let each = rows.len().div_ceil(THREADS).max(FEW);
    std::thread::scope(|scope| {
        for (rows, are_same) in rows.chunks(each).zip(are_same.chunks_mut(each)) {
            scope.spawn(move || {
                for (row, same) in rows.iter().zip(are_same) {
                    *same = is_same(row);
                }
            });
        }
    });
    let mut are_same = are_same.into_iter();
    rows.retain(|_| are_same.next().unwrap_or(false));
    rows
}

impl FromIterator<Reading> for Rows {
    /// The rows of readings in the order of their names.
    fn from_iter<I: IntoIterator<Item = Reading>>(readings: I) -> Rows {
        let mut rows = Rows::default();
        for reading in readings {
            match reading.outcome {
                Ok(ticket) => rows.rows.push(Row::of(&ticket)),
                Err(problem) => {
                    rows.unreadable.insert(reading.name, problem);
                }
            }
        }
        rows
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stamp::TICK_NS;

    #[test]
    fn a_row_counts_only_if_its_file_had_rested_when_it_was_read() {
        let root = tempfile::tempdir().unwrap();
        std::fs::write(root.path().join("ab-1.md"), "---\nstatus: open\n---\n").unwrap();
        let folder = Folder::at(root.path()).unwrap();
        let rows = folder.rows(None).unwrap().rows;
        let dir = folder.open().unwrap();
        let changed_ns = rows[0].stamp.ctime_ns;
        let counts = |began_ns| unchanged(rows.clone(), began_ns, dir.as_fd()).len();
        assert_eq!(counts(changed_ns + TICK_NS), 1);
        assert_eq!(counts(changed_ns + TICK_NS - 1), 0);
        assert_eq!(counts(changed_ns - 1), 0, "the clock was set back");
    }
}
