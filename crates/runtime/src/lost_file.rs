//! A lost file: the file of a ticket that crew knows is gone, and is written anew from what git, the journal
//! and the agent's prompts have of it.

use jiff::Timestamp;
use model::Time;
use model::commitment::Promise;
use model::ticket::{CheckCommand, FileStatus, Ticket};
use tickets::{Commitment, Document, Folder, Id, New, Run, Stamp};

use crate::{Error, Place, Reading, Result, outputs};

/// The marks that stand around a ticket's text in the first prompt of its agent.
const MARKS: [&str; 2] = ["----- ticket ", "----- end of ticket "];
/// The line ends that the text may have lost at its end in a prompt.
const ENDS: [&str; 3] = ["", "\n", "\n\n"];

/// Writes the file of a ticket anew, with this status and the text that the journal knows it by. Returns
/// false where nothing has that text.
///
/// # Errors
/// The file cannot be written.
pub fn bring_back(place: &Place, ticket: &Ticket, status: FileStatus) -> Result<bool> {
    let failed = |error: tickets::Error| Error::Io {
        doing: "write",
        path: place.tickets_dir.join(format!("{}.md", ticket.id)),
        source: std::io::Error::other(text::with_causes(&error)),
    };
    let Ok(id) = Id::new(ticket.id.as_str()) else {
        return Ok(false);
    };
    let Some(mut document) = in_git(place, ticket, &id).or_else(|| in_prompts(place, ticket, &id)) else {
        return Ok(false);
    };
    document.set_text("status", status.word());
    let folder = Folder::at(&place.tickets_dir).map_err(failed)?;
    folder.put_back(&id, document.text()).map_err(failed)?;
    Ok(true)
}

/// The text of a ticket that has this digest, below the front matter; none where neither a prompt nor git has
/// it. Whoever changes a prompt or git cannot change what the digest says.
pub(crate) fn text_of(place: &Place, ticket: &Ticket, digest: &str) -> Option<String> {
    let id = Id::new(ticket.id.as_str()).ok()?;
    let mut then = ticket.clone();
    digest.clone_into(&mut then.spec.digest);
    let document = in_prompts(place, &then, &id).or_else(|| in_git(place, &then, &id))?;
    Some(document.body().to_owned())
}

/// The file as git has it, if it has the text that the journal knows. Where its front matter is another, the
/// journal's counts.
fn in_git(place: &Place, ticket: &Ticket, id: &Id) -> Option<Document> {
    let file = place.tickets_dir.join(format!("{id}.md"));
    let path = file.strip_prefix(&place.root).ok()?;
    let contents = place.repository.past_contents(path).into_iter();
    let documents = contents.filter_map(|content| Document::parse(&file, &content).ok());
    let mut found: Vec<Document> = documents
        .filter(|document| has_text(document, ticket, id))
        .collect();
    let is_whole = |document: &Document| read(document, id).is_some_and(|read| read.spec == ticket.spec);
    if let Some(at) = found.iter().position(is_whole) {
        return Some(found.swap_remove(at));
    }
    with_body(ticket, id, found.first()?.body())
}

/// The file with the text that an agent of the ticket was given.
fn in_prompts(place: &Place, ticket: &Ticket, id: &Id) -> Option<Document> {
    let runs = crate::folders(&place.runs_dir).ok()?;
    let mut runs = runs
        .into_iter()
        .filter(|dir| outputs::ticket_of(dir).as_ref() == Some(&ticket.id));
    runs.find_map(|dir| {
        let prompt = std::fs::read_to_string(dir.join("stdin")).ok()?;
        let [begin, end] = MARKS.map(|mark| format!("{mark}{id} -----\n"));
        let (_, after) = prompt.split_once(&begin)?;
        let (body, _) = after.rsplit_once(&end)?;
        let body = body.trim_end_matches('\n');
        let bodies = ENDS.map(|end| format!("{body}\n{end}"));
        bodies.iter().find_map(|body| with_body(ticket, id, body))
    })
}

/// A file with the front matter that the journal knows and this body, if that is the ticket's text.
fn with_body(ticket: &Ticket, id: &Id, body: &str) -> Option<Document> {
    let spec = &ticket.spec;
    let new = New {
        kind: spec.kind.clone(),
        priority: spec.priority,
        assignee: spec.assignee.clone(),
        tags: spec.tags.iter().cloned().collect(),
        deps: spec
            .deps
            .iter()
            .map(|on| Id::new(on.as_str()).ok())
            .collect::<Option<_>>()?,
        recovers_by: spec.replaces.then(|| "replaces".to_owned()),
        recovers: spec.recovers.as_ref().and_then(|of| Id::new(of.as_str()).ok()),
        reverts: spec.reverts.as_ref().map(ToString::to_string),
        made_by: spec.made_by.clone(),
        ..New::default()
    };
    let created = match spec.created {
        Time(0) => Timestamp::now(),
        Time(at) => Timestamp::from_millisecond(at).ok()?,
    };
    let file = new.file_with_body(id, created, body);
    let mut document = Document::parse(std::path::Path::new(""), file.as_bytes()).ok()?;
    if let Some(acceptance) = &spec.acceptance
        && read(&document, id)?.spec.acceptance.is_none()
    {
        document.set_text("acceptance_test", acceptance);
    }
    let listed = read(&document, id)?.spec.commitments;
    let missing = spec.commitments.iter().filter(|one| !listed.contains(one));
    let missing: Vec<Commitment> = missing.map(commitment).collect();
    document.set_commitments(&missing);
    has_text(&document, ticket, id).then_some(document)
}

fn commitment(promise: &Promise) -> Commitment {
    let run = |command: &CheckCommand| match command {
        CheckCommand::Shell(text) => Run::Shell(text.clone()),
        CheckCommand::Argv(words) => Run::Argv(words.clone()),
    };
    Commitment {
        says: promise.says.clone(),
        run: promise.run.as_ref().map(run),
    }
}

fn has_text(document: &Document, ticket: &Ticket, id: &Id) -> bool {
    read(document, id).is_some_and(|read| read.spec.digest == ticket.spec.digest)
}

fn read(document: &Document, id: &Id) -> Option<Reading> {
    let path = std::path::Path::new("");
    let read = tickets::Ticket::read(id.clone(), path, document.clone(), Stamp::default());
    Reading::of(&read)
}
