//! Tracked files: the ticket files that git has in HEAD or in the index, and the status that each has there.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use engine::{Observation, driver};
use git::Repository;
use model::TicketId;
use model::ticket::{FileStatus, Origin};
use tickets::{Document, Folder, Stamp, Ticket};

use super::seen::Seen;
use crate::Reading;

/// Whether git has each path in HEAD or in the index.
pub(super) fn are_tracked(repository: &Repository, paths: &[PathBuf]) -> Vec<bool> {
    let contents = repository.tracked_contents(paths);
    contents
        .into_iter()
        .map(|contents| !contents.is_empty())
        .collect()
}

/// The statuses that git has for each path in HEAD and in the index.
pub(super) fn statuses(repository: &Repository, paths: &[PathBuf]) -> Vec<Vec<FileStatus>> {
    let status = |path: &Path, content: &[u8]| {
        let document = Document::parse(path, content).ok()?;
        let id = tickets::Id::new(path.file_stem()?.to_str()?).ok()?;
        let read = Ticket::read(id, path, document, Stamp::default());
        Reading::of(&read).map(|reading| reading.status)
    };
    let contents = repository.tracked_contents(paths);
    let of_each = paths.iter().zip(contents);
    let of_each =
        of_each.map(|(path, contents)| contents.iter().filter_map(|one| status(path, one)).collect());
    of_each.collect()
}

/// Reports the tracked files that are not there, at the first look at every file: each was deleted by
/// somebody who can have it back.
pub(super) fn report<S: Fn(driver::Event)>(
    repository: &Repository,
    (folder, in_repository): (&Folder, &Path),
    origin: Origin,
    to: &mut Seen<'_, S>,
) {
    let tracked: BTreeSet<PathBuf> = repository.tracked_files(in_repository).unwrap_or_default();
    for path in tracked {
        let is_in_folder = path.parent() == Some(in_repository);
        let name = path.file_name().and_then(|name| name.to_str());
        let Some(name) = name
            .and_then(|name| name.strip_suffix(".md"))
            .filter(|_| is_in_folder)
        else {
            continue;
        };
        if let Ok(ticket) = TicketId::new(name)
            && !folder.path().join(format!("{name}.md")).exists()
        {
            let is_tracked = true;
            to.push(Observation::Gone {
                ticket,
                origin,
                is_tracked,
            });
        }
    }
}
