//! A ticket's file in the model's terms: read alike by the engine and by whoever asks while none runs.

use std::collections::BTreeSet;

use model::ticket::{FileStatus, Filing, NOTED, Spec};
use model::{Oid, TicketId, Time};
use tickets::{Status, Ticket};

/// The content of a ticket's file.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    /// The part of the ticket that the file owns.
    pub spec: Spec,
    /// The status it states.
    pub status: FileStatus,
    /// Those of its tags that are crew's; the others are in `spec`.
    pub tags: BTreeSet<String>,
}

impl Reading {
    /// The reading of a file. None if the ticket cannot be dispatched on a guess: its status is no word that
    /// crew knows, or it waits for, or recovers, a text that cannot be a ticket's id,
    /// or takes back a text that cannot be a commit's.
    #[must_use]
    pub fn of(read: &Ticket) -> Option<Self> {
        let status = match read.status {
            Status::Open => FileStatus::Open,
            Status::InProgress => FileStatus::InProgress,
            Status::Closed => FileStatus::Closed,
            Status::Unknown => return None,
        };
        let id = |text: &String| TicketId::new(text.as_str()).ok();
        let recovers = match &read.recovers {
            Some(recovers) => Some(id(recovers)?),
            None => None,
        };
        let reverts = match &read.reverts {
            Some(reverts) => Some(Oid::new(reverts.as_str()).ok()?),
            None => None,
        };
        let crews = Filing::all_tags();
        let (tags, own) = read.tags.iter().cloned().partition(|tag| crews.contains(tag));
        // As with its tags, crew's own notes are no part of what the file's author says.
        let text = read.without_notes(|note| note == NOTED || note.starts_with(&format!("{NOTED} ")));
        let spec = Spec {
            title: read.title.clone(),
            kind: read.kind.clone(),
            priority: read.priority,
            deps: read.deps.iter().map(id).collect::<Option<_>>()?,
            tags: own,
            assignee: read.assignee.clone(),
            recovers,
            reverts,
            created: read.created.map_or(Time::default(), |t| Time(t.as_millisecond())),
            acceptance: text.acceptance,
            digest: uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, text.body.as_bytes())
                .simple()
                .to_string(),
        };
        Some(Self { spec, status, tags })
    }
}
