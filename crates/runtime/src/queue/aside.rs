//! Ticket files that lie aside, in a folder below the ticket folder: whoever moved them there did not delete
//! them.

use std::collections::BTreeSet;
use std::path::Path;

use engine::{Observation, driver};
use model::TicketId;
use model::ticket::Origin;
use tickets::Folder;

use super::seen::Seen;

/// How deep below the ticket folder files are looked for.
const DEPTH: usize = 3;

/// The names, without `.md`, of all files that lie aside.
pub(super) fn names(folder: &Folder) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    gather(folder.path(), 0, &mut names);
    names
}

fn gather(dir: &Path, depth: usize, names: &mut BTreeSet<String>) {
    // A folder that cannot be read shows no file that lies aside.
    let entries = std::fs::read_dir(dir).into_iter().flatten().flatten();
    for entry in entries {
        let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if is_folder && depth < DEPTH {
            gather(&entry.path(), depth + 1, names);
        } else if depth > 0
            && let Some(name) = entry
                .file_name()
                .to_str()
                .and_then(|name| name.strip_suffix(".md"))
        {
            names.insert(name.to_owned());
        }
    }
}

/// Reports the tickets whose files lie aside and nowhere else, at the first look at every file.
pub(super) fn report<S: Fn(driver::Event)>(folder: &Folder, to: &mut Seen<'_, S>) {
    for name in names(folder) {
        let file = folder.path().join(format!("{name}.md"));
        if let Ok(ticket) = TicketId::new(&name)
            && !file.exists()
        {
            to.push(Observation::Gone {
                ticket,
                origin: Origin::Unknown,
                is_tracked: false,
            });
        }
    }
}
