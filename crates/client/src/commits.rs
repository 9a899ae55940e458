//! The commits of an agent's branch, where its own words are missing: their subjects and the files that they
//! change.

use std::collections::BTreeSet;
use std::path::PathBuf;

use git::{Branch, CommitInfo, Id, Oid, Repository, TicketCommit};
use model::TicketId;
use model::settings::Settings;
use model::view::{AttemptSummary, Snapshot};
use runtime::Place;

use crate::error::Result;

/// The commits and files of an attempt, as git has them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Done {
    /// Subjects of its commits, the newest first, sanitised; at most [`SUBJECTS`].
    pub subjects: Vec<String>,
    /// Paths it changes, sanitised, in git's order; at most [`FILES`].
    pub files: Vec<String>,
    /// The number of paths that it changes.
    pub changed: usize,
}

/// The most subjects.
const SUBJECTS: usize = 5;
/// The most commits that are read.
const READ: usize = 200;
/// The author of the commits that crew makes.
const CREW: &str = "crew";
/// The most paths.
const FILES: usize = 20;

impl Done {
    /// The commits of an attempt: those that landed, or those of the ref that its work is kept under, or of
    /// its branch as last imported. None when git knows nothing of the attempt (it has submitted nothing
    /// yet), or its commits are gone.
    ///
    /// Commits of other agents, such as those of its children, are not its own.
    pub fn of(crew: &Snapshot, place: &Place, work: &AttemptSummary) -> Option<Self> {
        let repository = &place.repository;
        let base = oid(work.base.as_ref()?)?;
        let tip = match &work.tip {
            Some(tip) => oid(tip)?,
            None => branch(repository, work).or_else(|| kept(repository, &base, work))?,
        };
        let all = repository.commits(&base, &tip, READ).ok()?;
        let is_own = |commit: &&CommitInfo| {
            let author = commit.author.as_str();
            let is_agents = author == CREW || crew.members.keys().any(|name| name.as_str() == author);
            author == work.agent.as_str() || !is_agents
        };
        let own: Vec<&CommitInfo> = all.iter().filter(is_own).collect();
        let changed: BTreeSet<PathBuf> = if own.len() == all.len() {
            // The changes are those up to the merge, where there is one: commits that landed meanwhile are
            // not the agent's.
            let after = work.merged.as_ref().and_then(oid).unwrap_or(tip);
            let changes = repository.changes(&base, &after).unwrap_or_default();
            changes.into_iter().map(|change| change.path).collect()
        } else {
            let of_one = |commit: &&CommitInfo| repository.changes_of(&commit.commit).unwrap_or_default();
            own.iter().flat_map(of_one).map(|change| change.path).collect()
        };
        let subjects = own.iter().take(SUBJECTS);
        Some(Self {
            subjects: subjects
                .map(|commit| text::sanitise::line(&commit.subject))
                .collect(),
            changed: changed.len(),
            files: changed
                .iter()
                .take(FILES)
                .map(|path| text::sanitise::line(&path.to_string_lossy()))
                .collect(),
        })
    }

    /// In one line: the commits, and their place.
    pub fn line(&self) -> String {
        let files = match self.changed {
            0 => "no file changed".to_owned(),
            n => {
                let shown: Vec<&str> = self.files.iter().take(3).map(String::as_str).collect();
                let more = n.saturating_sub(shown.len());
                let rest = if more > 0 {
                    format!(" and {more} more")
                } else {
                    String::new()
                };
                format!("{}{rest}", shown.join(", "))
            }
        };
        match self.subjects.as_slice() {
            [] => files,
            subjects => format!("{} ({files})", subjects.join("; ")),
        }
    }
}

/// The work of an attempt in one line, in the agent's own words, else in git's; none when neither knows.
/// Sanitised.
pub fn in_one_line(crew: &Snapshot, place: &Place, work: &AttemptSummary) -> Option<String> {
    match &work.summary {
        Some(summary) => Some(text::sanitise::line(summary)),
        None => Done::of(crew, place, work).map(|done| done.line()),
    }
}

/// The commit of the target as which a ticket has landed, whatever the journal knows of it; none where the
/// newest merges have none, or git cannot be asked.
#[must_use]
pub fn landed_as(place: &Place, settings: &Settings, ticket: &TicketId) -> Option<model::Oid> {
    let tip = Oid::parse(crate::repository::target(place, settings)?.as_str()).ok()?;
    let landed = place.repository.landed_as(&tip, ticket.as_str()).ok()??;
    model::Oid::new(landed.as_str()).ok()
}

/// The last commits of a branch, drawn as a graph: a line each, and lines between them; at most `most`.
///
/// # Errors
/// There is no such branch, or git fails.
pub fn graph(place: &Place, branch: &str, most: usize) -> Result<Vec<String>> {
    let tip = place.repository.resolve(&format!("refs/heads/{branch}"))?;
    Ok(place.repository.graph(&tip, most)?)
}

/// Those of the last commits of a branch that came with a ticket, the newest first; `most` commits are looked
/// at.
///
/// # Errors
/// There is no such branch, or git fails.
pub fn of_tickets(place: &Place, branch: &str, most: usize) -> Result<Vec<TicketCommit>> {
    let tip = place.repository.resolve(&format!("refs/heads/{branch}"))?;
    Ok(place.repository.of_tickets(&tip, most)?)
}

fn oid(oid: &model::Oid) -> Option<Oid> {
    Oid::parse(oid.as_str()).ok()
}

/// The branch of work that goes on, as it was last imported.
fn branch(repository: &Repository, work: &AttemptSummary) -> Option<Oid> {
    work.until.is_none().then_some(())?;
    let (agent, ticket) = (
        Id::parse(work.agent.as_str()).ok()?,
        Id::parse(work.ticket.as_str()).ok()?,
    );
    let branch = Branch::of_agent(&agent, &ticket);
    repository.branch_tip(&branch).ok().flatten()
}

/// The work that an attempt left. An attempt that left nothing has no ref, so the numbers of refs fall behind
/// those of attempts: the last ref that can be the attempt's, by its base and by its author, is the one.
fn kept(repository: &Repository, base: &Oid, work: &AttemptSummary) -> Option<Oid> {
    let ticket = Id::parse(work.ticket.as_str()).ok()?;
    let kept = repository.kept(Some(&ticket)).ok()?.into_iter().rev();
    let mut attempts = kept.filter(|kept| kept.kind == git::KeptKind::Attempt && kept.number <= work.attempt);
    let is_its = |tip: &Oid| {
        let last = repository.commits(base, tip, 1).unwrap_or_default();
        last.first()
            .is_some_and(|commit| commit.author == work.agent.as_str())
    };
    attempts.find(|kept| is_its(&kept.commit)).map(|kept| kept.commit)
}
