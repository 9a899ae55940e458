//! A ticket's file, as crew writes it: found by the ticket's id, made to say a status, given a note.

use std::collections::BTreeSet;
use std::path::Path;

use jiff::Timestamp;
use model::ticket::{FileStatus, Filing};
use model::{AgentName, TicketId, Time};
use tickets::{Folder, ProblemKind, Status};

/// A note for a ticket's file.
pub(crate) struct Note {
    pub(crate) text: String,
    /// The agent in whose name it is written; none where it is crew's own.
    pub(crate) by: Option<AgentName>,
    /// When it was decided on.
    pub(crate) at: Time,
}

/// Why a file was not written; it is tried again.
#[derive(Debug)]
pub(crate) enum Unwritten {
    /// It is not there, and its folder is.
    Missing,
    /// It is the machine's moment, which nobody has to mend.
    Passing(String),
    /// Somebody has to mend it.
    Failed(String),
}

impl From<tickets::Error> for Unwritten {
    fn from(error: tickets::Error) -> Self {
        let why = text::with_causes(&error);
        if let tickets::Error::NotFound { .. } = &error {
            return Self::Missing;
        }
        let is_exhausted = matches!(&error, tickets::Error::Io { source, .. } if text::is_exhausted(source));
        if is_exhausted || matches!(&error, tickets::Error::Locked { .. }) {
            Self::Passing(why)
        } else {
            Self::Failed(why)
        }
    }
}

/// The name of the ticket's file in the folder: its id, or another where a file states to be this ticket.
pub(crate) fn resolve(folder: &Folder, id: &TicketId) -> Result<tickets::Id, Unwritten> {
    let id = tickets::Id::new(id.as_str())?;
    let file = folder.file(&id);
    let is_there = |path: &Path| {
        let failed = |error| {
            Unwritten::Failed(format!(
                "cannot look for {}: {}",
                path.display(),
                text::os_message(&error)
            ))
        };
        path.try_exists().map_err(failed)
    };
    if is_there(&file)? {
        Ok(id)
    } else if is_there(folder.path())? {
        renamed_file(folder, &id)?.ok_or(Unwritten::Missing)
    } else {
        let folder = folder.path().display();
        Err(Unwritten::Failed(format!(
            "the ticket folder {folder} is not there"
        )))
    }
}

/// The file under another name that states to be the ticket, and is as crew leaves a ticket at work; none
/// where several are.
fn renamed_file(folder: &Folder, id: &tickets::Id) -> Result<Option<tickets::Id>, Unwritten> {
    let states = |problem: &tickets::Problem| matches!(&problem.kind, ProblemKind::IdDiffers(stated) if stated == id.as_str());
    let mut found = folder.each()?.filter(|reading| {
        let read = reading.outcome.as_ref().ok();
        read.is_some_and(|read| read.status == Status::InProgress) && reading.problems().iter().any(states)
    });
    let first = found
        .next()
        .and_then(|reading| tickets::Id::new(&reading.name).ok());
    Ok(first.filter(|_| found.next().is_none()))
}

/// Adds a note, once: performed again after a crash, this finds the note of that moment with the same text,
/// whatever was written below it since. crew's own note is one line, so that it is known as crew's and a
/// person's text below it is not; an agent's is quoted below the agent's name.
pub(super) fn note(folder: &Folder, id: &TicketId, note: &Note) -> Result<(), Unwritten> {
    let id = resolve(folder, id)?;
    let at = Timestamp::from_millisecond(note.at.0).unwrap_or_default();
    let text = match &note.by {
        Some(agent) => tickets::note_by_agent(agent.as_str(), &note.text),
        None => note.text.split_whitespace().collect::<Vec<_>>().join(" "),
    };
    let read = folder.read(&id)?;
    let wanted = tickets::Note { at, text };
    let is_it = |there: &tickets::Note| {
        let below = there.text.lines().nth(wanted.text.lines().count());
        let goes_on = note.by.is_some() && below.is_some_and(|line| line.starts_with('>'));
        there.begins_as(&wanted) && !goes_on
    };
    if read.notes.iter().any(is_it) {
        return Ok(());
    }
    Ok(folder.add_note(&id, &wanted.text, at)?)
}

/// Makes the ticket's file say this, and returns the file's name.
pub(super) fn write(folder: &Folder, id: &TicketId, filing: &Filing) -> Result<tickets::Id, Unwritten> {
    let id = resolve(folder, id)?;
    let status = match filing.status {
        FileStatus::Open => Status::Open,
        FileStatus::InProgress => Status::InProgress,
        FileStatus::Closed => Status::Closed,
    };
    let note = filing.note.as_ref().map(|note| tickets::Note {
        at: Timestamp::from_millisecond(note.at.0).unwrap_or_default(),
        text: note.text.clone(),
    });
    let tags = |tags: &mut BTreeSet<String>| tags.clone_from(&filing.tags);
    folder.set_state(&id, Some(status), tags, note.as_ref())?;
    for dep in &filing.deps {
        let dep = tickets::Id::new(dep.as_str())?;
        match folder.dep(&id, &dep) {
            // Who deleted the part, or made it wait for the whole, has decided otherwise.
            Ok(_) | Err(tickets::Error::NotFound { .. } | tickets::Error::Cycle { .. }) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Ok(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_that_another_process_holds_passes() {
        let locked = tickets::Error::Locked {
            path: ".lock".into(),
            seconds: 30,
        };
        assert!(matches!(Unwritten::from(locked), Unwritten::Passing(_)));
    }

    #[test]
    fn a_note_that_is_added_again_after_a_crash_is_there_once() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "---\nid: k-1\nstatus: open\ndeps: []\nlinks: []\ntype: task\npriority: 2\n---\n# A ticket\n";
        std::fs::write(dir.path().join("k-1.md"), text).unwrap();
        let folder = Folder::at(dir.path()).unwrap();
        let (id, file) = (TicketId::new("k-1").unwrap(), tickets::Id::new("k-1").unwrap());
        let texts = || -> Vec<String> {
            let read = folder.read(&file).unwrap();
            read.notes.into_iter().map(|note| note.text).collect()
        };
        let decided = [
            (1_000, "BLOCKED: no key\n\nand no door"),
            (60_000, "BLOCKED: no lock"),
            (120_000, "BLOCKED: no key\n\nand no door"),
        ];
        let crews = |said: &str, at| Note {
            text: said.to_owned(),
            by: None,
            at: Time(at),
        };
        for (at, said) in decided {
            note(&folder, &id, &crews(said, at)).unwrap();
            // A person answers it before the engine that was killed is up again.
            folder.add_note(&file, "look again", Timestamp::now()).unwrap();
            note(&folder, &id, &crews(said, at)).unwrap();
        }
        let blocked = texts().into_iter().filter(|text| text.starts_with("BLOCKED"));
        let expected = [
            "BLOCKED: no key and no door",
            "BLOCKED: no lock",
            "BLOCKED: no key and no door",
        ];
        assert_eq!(blocked.collect::<Vec<_>>(), expected);
        let other = TicketId::new("k-2").unwrap();
        let noted = note(&folder, &other, &crews("its file is gone", 0));
        assert!(matches!(noted, Err(Unwritten::Missing)), "{noted:?}");
        std::fs::rename(dir.path(), dir.path().with_extension("away")).unwrap();
        let noted = note(&folder, &id, &crews("its folder is gone", 0));
        std::fs::rename(dir.path().with_extension("away"), dir.path()).unwrap();
        assert!(matches!(noted, Err(Unwritten::Failed(_))), "{noted:?}");
    }

    #[test]
    fn an_agents_note_is_there_once_in_its_name_and_is_no_part_of_its_task() {
        let dir = tempfile::tempdir().unwrap();
        let text =
            "---\nid: k-1\nstatus: open\ndeps: []\nlinks: []\ntype: task\npriority: 2\n---\n# A ticket\n";
        std::fs::write(dir.path().join("k-1.md"), text).unwrap();
        let folder = Folder::at(dir.path()).unwrap();
        let (id, file) = (TicketId::new("k-1").unwrap(), tickets::Id::new("k-1").unwrap());
        let task = || {
            crate::reading::Reading::of(&folder.read(&file).unwrap())
                .unwrap()
                .spec
                .digest
        };
        let before = task();
        for said in ["I see\n\n# no heading", "I see", "I see\n"] {
            let note_of_ann = Note {
                text: said.to_owned(),
                by: Some(AgentName::new("ann").unwrap()),
                at: Time(1_000),
            };
            note(&folder, &id, &note_of_ann).unwrap();
            note(&folder, &id, &note_of_ann).unwrap();
        }
        let notes: Vec<String> = folder
            .read(&file)
            .unwrap()
            .notes
            .into_iter()
            .map(|one| one.text)
            .collect();
        let first = "Note by the agent ann:\n> I see\n>\n> # no heading";
        assert_eq!(notes, [first, "Note by the agent ann:\n> I see"]);
        assert_eq!(task(), before);
    }
}
