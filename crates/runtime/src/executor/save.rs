//! Saving: what an agent had not committed is committed for it, and its branch is taken over.

use git::{Saved, Submission, Workspace};
use model::TicketId;
use model::ticket::{Leftovers, Listed, Ticket};

use crate::clock::{self, Stopwatch};
use crate::executor::Executor;
use crate::timing;
use crate::undeletable::shown;

impl Executor {
    /// Commits the agent's uncommitted changes, and takes the branch over. Commits that stand apart from the
    /// branch are kept under a ref.
    pub(crate) fn save(&self, ticket: &TicketId, workspace: &Workspace) -> git::Result<Saved> {
        let saved = self.take_over(ticket, workspace)?;
        for one in &saved.submodules {
            tracing::warn!(
                "{}: the work in the submodule {} does not land, since the branch does not record it; it is kept as {}",
                ticket,
                shown(&one.path.to_string_lossy()),
                one.kept
            );
        }
        for left in &saved.unsaved {
            tracing::warn!(
                "{}: {} cannot be saved: {}",
                ticket,
                shown(&left.path.to_string_lossy()),
                shown(&left.why)
            );
        }
        Ok(saved)
    }

    /// Saves a workspace of which everything counts that its agent has made: what cannot be in the branch is
    /// refused, and its agent is told why. Nobody would see that it is missing until the work has landed.
    pub(super) fn save_whole(
        &self,
        ticket: &TicketId,
        workspace: &Workspace,
    ) -> git::Result<Result<Saved, String>> {
        let saved = match self.save(ticket, workspace) {
            Ok(saved) => saved,
            Err(git::Error::Refused { refusals, .. }) => {
                return Ok(Err(self.refused((ticket, workspace), &refusals)));
            }
            Err(error) => return Err(error),
        };
        if !saved.nested.is_empty() {
            let refusals: Vec<_> = saved.nested.iter().map(git::NestedWork::refusal).collect();
            return Ok(Err(self.refused((ticket, workspace), &refusals)));
        }
        let unsaved = too_large(&saved.unsaved).or_else(|| refused_by_a_filter(&saved.unsaved));
        Ok(match unsaved {
            Some(why) => Err(why),
            None => Ok(saved),
        })
    }

    /// The refusals of a branch, each with what helps, and where the work is: a person may mend it there.
    /// What helps a child leaves what was there before its turn.
    pub(super) fn refused(
        &self,
        (ticket, workspace): (&TicketId, &Workspace),
        refusals: &[git::Refusal],
    ) -> String {
        let turn = workspace.turns().unwrap_or_default().pop();
        let base = match turn.filter(|turn| turn.ticket.as_str() == ticket.as_str()) {
            Some(turn) => Some(turn.start),
            None => self.repository.made_from(workspace).ok(),
        };
        let mut kinds = Vec::new();
        let mut lines = Vec::new();
        for refusal in refusals {
            let line = refusal.to_string();
            // The same file may be refused in several commits.
            if lines.contains(&line) {
                continue;
            }
            lines.push(line);
            let kind = std::mem::discriminant(refusal);
            // A hundred paths need the same remedy.
            if !kinds.contains(&kind) {
                kinds.push(kind);
                lines.extend(base.as_ref().and_then(|base| refusal.remedy(base)));
            }
        }
        // What a child cannot mend is taken out of the folder, before its leader is told of it.
        if workspace.ticket().as_str() == ticket.as_str() {
            let place = workspace.path();
            lines.push(format!("The work is in {}.", shown(&place.to_string_lossy())));
        }
        lines.join("\n")
    }

    /// The workspace of a step that has ended, in a digest; none where that cannot be told.
    pub(crate) fn workspace_digest(&self, ticket: &Ticket) -> Option<String> {
        let workspace = self.workspace_at_work(ticket)?;
        let seen = self.repository.fingerprint(&workspace, &self.limits()).ok()?;
        let digest = uuid::Uuid::new_v5(&uuid::Uuid::NAMESPACE_OID, seen.as_bytes());
        Some(digest.simple().to_string())
    }

    /// Notes what an agent submits while its step runs. A step that ends by itself needs no note: where it
    /// cannot be made, nothing is known to have changed.
    pub(crate) fn note_submitted(&self, ticket: &Ticket, made: Submission<'_>) {
        let noted = self
            .workspace_at_work(ticket)
            .map(|workspace| self.repository.note_submitted(&workspace, made, &self.limits()));
        if let Some(Err(error)) = noted {
            tracing::warn!("{}: what it has submitted is not noted: {error}", ticket.id);
        }
    }

    /// The files that the agent of a step has changed since it submitted them.
    pub(crate) fn changed_since_submitted(&self, ticket: &Ticket, run: &str) -> Listed {
        let Some(workspace) = self.workspace_at_work(ticket) else {
            return Listed::default();
        };
        let changed = self
            .repository
            .changed_since_submitted(&workspace, run, &self.limits());
        let paths = changed.unwrap_or_else(|error| {
            tracing::warn!(
                "{}: whether its agent has changed files after it submitted is not known: {error}",
                ticket.id
            );
            Vec::new()
        });
        Listed::of(paths.iter().map(|path| shown(&path.to_string_lossy())))
    }

    /// The workspace in which the agent of a ticket works; none where it is not there.
    fn workspace_at_work(&self, ticket: &Ticket) -> Option<Workspace> {
        let claim = &ticket.attempt()?.claim;
        let workspace = self.workspace(ticket, &claim.agent, claim.number).ok()??;
        workspace.exists().then_some(workspace)
    }

    fn take_over(&self, ticket: &TicketId, workspace: &Workspace) -> git::Result<Saved> {
        let message = saves(ticket);
        let repository = &self.repository;
        repository.save(workspace, &message, git_time(), &self.limits())
    }

    /// The files that the agent had not committed: those that the branch has all the same, and those that
    /// were left behind.
    pub(super) fn leftovers(
        &self,
        ticket: &Ticket,
        target: &git::Oid,
        tip: &git::Oid,
        left_behind: &[git::LeftBehind],
    ) -> git::Result<Leftovers> {
        let committed = self.repository.saved_paths(target, tip, &saves(&ticket.id))?;
        let left_out = left_behind.iter().map(|one| {
            let why = match one.why {
                git::NoWork::Secret => "its name is that of a file with secrets",
                git::NoWork::MadeAnew => "a folder of dependencies or of a cache",
                git::NoWork::CoreDump => "a core dump",
            };
            format!("{} ({why})", shown(&one.path.to_string_lossy()))
        });
        Ok(Leftovers {
            committed: Listed::of(committed.iter().map(|path| shown(&path.to_string_lossy()))),
            left_out: Listed::of(left_out),
        })
    }

    /// Takes over work that has just been submitted, while another landing may be under way, so that the only
    /// queue to the target has less to do. Building a candidate does the same again, finds it done, and
    /// reports the obstacles.
    pub(crate) fn save_ahead(&self, ticket: &Ticket) {
        if let Some(workspace) = self.workspace_at_work(ticket) {
            let watch = Stopwatch::start();
            let saved = self.take_over(&ticket.id, &workspace);
            timing::saved(&ticket.id, watch);
            if let Err(error) = saved {
                tracing::debug!(ticket = %ticket.id, %error, "not taken over ahead of its turn");
            }
        }
    }
}

/// The message of the commit of what an agent had not committed.
pub(super) fn saves(ticket: &TicketId) -> String {
    format!("Save what was not committed of {ticket}")
}

/// An agent whose whole work is in files that crew left out would not know why there is nothing of it.
pub(super) fn only_left_out(leftovers: &Leftovers) -> Option<String> {
    let why = "there are no commits, and these files are left out of what crew commits; commit them yourself \
               if they are the work";
    (!leftovers.left_out.is_empty()).then(|| format!("{why}: {}", leftovers.left_out))
}

/// Files that are not committed and too large to be saved: without them, the work may be half of what the
/// agent means.
fn too_large(unsaved: &[git::Unsaved]) -> Option<String> {
    let why = "files that are not committed are too large to be saved; remove them, or have git ignore them";
    listed(why, unsaved.iter().filter(|one| one.is_too_large()))
}

/// Files that are not committed and that a filter of the user's fails on.
fn refused_by_a_filter(unsaved: &[git::Unsaved]) -> Option<String> {
    let why = "files that are not committed cannot be saved, since a filter of git's fails on them; mend them, \
               remove them, or have git ignore them";
    listed(why, unsaved.iter().filter(|one| one.is_refused_by_a_filter()))
}

fn listed<'u>(why: &str, files: impl Iterator<Item = &'u git::Unsaved>) -> Option<String> {
    let files: Vec<String> = files
        .map(|one| format!("{}: {}", shown(&one.path.to_string_lossy()), shown(&one.why)))
        .collect();
    (!files.is_empty()).then(|| format!("{why}:\n{}", files.join("\n")))
}

pub(super) fn git_time() -> git::Time {
    git::Time(u64::try_from(clock::now().0 / 1000).unwrap_or(0))
}
