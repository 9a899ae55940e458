//! A ticket's file in the model's terms: read alike by the engine and by whoever asks while none runs.

use std::collections::BTreeSet;

use model::commitment::Promise;
use model::ticket::{CheckCommand, FileStatus, Note, Spec};
use model::{Oid, TicketId, Time};
use tickets::{Status, Ticket};

/// Bytes of a note that are kept.
const NOTE: usize = 4 << 10;

/// The content of a ticket's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The part of the ticket that the file owns.
    pub spec: Spec,
    /// The status it states.
    pub status: FileStatus,
    /// Those of its tags that are crew's; the others are in `spec`.
    pub tags: BTreeSet<String>,
    /// Its notes in the order of the file, without those of crew and of agents, each cut to 4 KiB.
    pub notes: Vec<String>,
}

impl Reading {
    /// The reading of a file. None if the ticket cannot be dispatched on a guess: its status or `recovers_by`
    /// is no word that crew knows, it waits for, or recovers, a text that cannot be a ticket's id, it
    /// recovers more than one ticket, or it takes back a text that cannot be a commit's id.
    #[must_use]
    pub fn of(read: &Ticket) -> Option<Self> {
        let status = match read.status {
            Status::Open => FileStatus::Open,
            Status::InProgress => FileStatus::InProgress,
            Status::Closed => FileStatus::Closed,
            Status::Unknown => return None,
        };
        let id = |text: &String| TicketId::new(text.as_str()).ok();
        let (tags, own): (BTreeSet<String>, BTreeSet<String>) = read
            .tags
            .iter()
            .cloned()
            .partition(|tag| read.crew_tags.contains(tag));
        let recovers = recovered(read.recovers.as_deref(), &own).ok()?;
        let replaces = match read.recovers_by.as_deref() {
            None | Some("releases") => false,
            Some("replaces") => true,
            Some(_) => return None,
        };
        let reverts = match &read.reverts {
            Some(reverts) => Some(Oid::new(reverts.as_str()).ok()?),
            None => None,
        };
        // As with its tags, crew's own notes are no part of what the file's author says.
        let text = read.without_notes(Note::is_crews);
        let notes: Vec<String> = text.notes().into_iter().map(|note| cut(note.text)).collect();
        let spec = Spec {
            title: read.title.clone(),
            kind: read.kind.clone(),
            priority: read.priority,
            deps: read.deps.iter().map(id).collect::<Option<_>>()?,
            tags: own,
            assignee: read.assignee.clone(),
            recovers,
            reverts,
            made_by: read.made_by.clone(),
            replaces,
            created: read.created.map_or(Time::default(), |t| Time(t.as_millisecond())),
            acceptance: text.acceptance,
            commitments: read.commitments.iter().map(promise).collect(),
            digest: uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, text.body.as_bytes())
                .simple()
                .to_string(),
            notes: u32::try_from(notes.len()).unwrap_or(u32::MAX),
        };
        Some(Self {
            spec,
            status,
            tags,
            notes,
        })
    }
}

/// The beginning of a note, as much of it as an event holds.
fn cut(mut note: String) -> String {
    note.truncate(note.floor_char_boundary(NOTE));
    note
}

/// A commitment that the file lists. Its command is a person's text, or an argument vector.
fn promise(read: &tickets::Commitment) -> Promise {
    let command = |run: &tickets::Run| match run {
        tickets::Run::Shell(text) => CheckCommand::Shell(text.clone()),
        tickets::Run::Argv(words) => CheckCommand::Argv(words.clone()),
    };
    Promise {
        says: read.says.clone(),
        run: read.run.as_ref().map(command),
    }
}

/// The ticket that one with this key `recovers` and these tags recovers: a tag `recovers:<id>` says the same
/// as the key.
fn recovered(key: Option<&str>, tags: &BTreeSet<String>) -> Result<Option<TicketId>, ()> {
    let tagged = tags.iter().filter_map(|tag| tag.strip_prefix("recovers:"));
    let named: BTreeSet<&str> = key.into_iter().chain(tagged).map(str::trim).collect();
    let mut named = named.into_iter();
    match (named.next(), named.next()) {
        (None, _) => Ok(None),
        (Some(only), None) => TicketId::new(only).map(Some).map_err(drop),
        (Some(_), Some(_)) => Err(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(front: &str) -> Option<Reading> {
        let dir = tempfile::tempdir().unwrap();
        let text = format!("---\nid: k-1\nstatus: open\n{front}---\n# A ticket\n");
        std::fs::write(dir.path().join("k-1.md"), text).unwrap();
        let folder = tickets::Folder::at(dir.path()).unwrap();
        Reading::of(&folder.read(&tickets::Id::new("k-1").unwrap()).unwrap())
    }

    #[test]
    fn the_recovered_ticket_is_named_by_the_key_or_by_a_tag() {
        let recovers = |front: &str| read(front).map(|read| read.spec.recovers.map(|id| id.to_string()));
        let some = |id: &str| Some(Some(id.to_owned()));
        assert_eq!(recovers("recovers: t-1\n"), some("t-1"));
        assert_eq!(recovers("tags: [ui, 'recovers:t-1']\n"), some("t-1"));
        assert_eq!(recovers("tags: [recovers:t-1]\n"), some("t-1"));
        assert_eq!(recovers("recovers: t-1\ntags: [recovers:t-1]\n"), some("t-1"));
        assert_eq!(recovers("tags: [ui]\n"), Some(None));
        assert_eq!(
            recovers("recovers: t-1\ntags: [recovers:t-2]\n"),
            None,
            "which one?"
        );
        assert_eq!(recovers("tags: ['recovers:']\n"), None);
    }

    #[test]
    fn what_follows_for_the_recovered_ticket_is_one_of_two_words() {
        let replaces = |by: &str| read(by).map(|read| read.spec.replaces);
        assert_eq!(replaces("recovers: t-1\n"), Some(false));
        assert_eq!(replaces("recovers: t-1\nrecovers_by: releases\n"), Some(false));
        assert_eq!(replaces("recovers: t-1\nrecovers_by: replaces\n"), Some(true));
        assert_eq!(replaces("recovers: t-1\nrecovers_by: magic\n"), None);
    }

    #[test]
    fn a_tag_is_the_authors_unless_the_file_lists_it_as_crews() {
        let reading = read("tags: [failed, held, mine]\ncrew_tags: [held]\n").unwrap();
        assert_eq!(reading.tags, ["held".to_owned()].into());
        assert_eq!(reading.spec.tags, ["failed", "mine"].map(str::to_owned).into());
    }
}
