//! A workspace for an attempt.

use engine::Report;
use model::attempt::StartPoint;
use model::ticket::Ticket;
use model::{AgentName, Oid};

use super::perform::{could_not, git_oid, model_oid};
use crate::executor::Executor;

impl Executor {
    pub(super) fn prepare(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        from: &StartPoint,
    ) -> Report {
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        let prepared = self.try_prepare(ticket, agent, number, from);
        // It may have come upon what an earlier one left.
        self.tell_undeletable();
        match prepared {
            Ok((base, earlier_work, workspace)) => match model_oid(&base) {
                Ok(base) => match self.begin_set_up(&workspace) {
                    Ok(()) => Report::WorkspaceReady { base, earlier_work },
                    Err(error) => self.not_set_up(&workspace, &error),
                },
                Err(why) => Report::WorkspaceFailed { why },
            },
            Err(error) => not_prepared(error),
        }
    }

    fn try_prepare(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
        from: &StartPoint,
    ) -> crate::Result<(git::Oid, bool, git::Workspace)> {
        self.stand()?;
        let repository = &self.repository;
        self.discard_half_set_up(ticket, agent, number)?;
        // Repeated after a crash, it must be the workspace that it was to be: the pin says on which commit.
        let begun = self.workspace(ticket, agent, number)?;
        let parent = ticket.delegated().filter(|it| it.is_apart);
        let (base, start, earlier_work) = match parent.map(|it| (&it.by, &it.workspace)) {
            Some(parent) => {
                let (base, tip) = self.start_in_parent(begun.as_ref(), parent)?;
                let start = self.start_of(ticket, &tip, from)?;
                let goes_on = from.has_work() && start != tip;
                (base, start, goes_on)
            }
            None => {
                let base = match begun {
                    Some(begun) => begun.base().clone(),
                    None => repository.target(&self.target)?,
                };
                let start = self.start_of(ticket, &base, from)?;
                let earlier_work = start != base;
                (base, start, earlier_work)
            }
        };
        let instructions = self.prompts.instructions(&self.facts(ticket, agent, 1))?;
        let spec = self.spec(
            &ticket.id,
            agent,
            number,
            base.clone(),
            start,
            instructions.into_bytes(),
        )?;
        let workspace = match repository.prepare(&spec) {
            // Of an earlier attempt, which could not be ended.
            Err(git::Error::WorkspaceTaken { path }) => {
                let target = repository.branch_tip(&self.target)?;
                if !repository.end_earlier(&spec, target.as_ref())? {
                    return Err(git::Error::WorkspaceTaken { path }.into());
                }
                repository.prepare(&spec)?
            }
            other => other?,
        };
        Ok((base, earlier_work, workspace))
    }

    /// The commit on which an attempt begins whose pinned target is `base`.
    pub(super) fn start_of(
        &self,
        ticket: &Ticket,
        base: &git::Oid,
        from: &StartPoint,
    ) -> crate::Result<git::Oid> {
        match from {
            StartPoint::Target => return Ok(base.clone()),
            StartPoint::Kept { .. } => {}
            StartPoint::Rewound { .. } => {}
            StartPoint::Revert { commit } => return self.revert(ticket, base, commit),
        }
        let repository = &self.repository;
        let id = git::Id::parse(ticket.id.as_str())?;
        let commit = if let StartPoint::Rewound { commit } = from {
            git_oid(commit)?
        } else {
            let kept = repository.kept(Some(&id))?;
            let last = kept.into_iter().rfind(|kept| kept.kind == git::KeptKind::Attempt);
            let Some(git::Kept { commit, .. }) = last else {
                return Ok(base.clone());
            };
            commit
        };
        // A commit that was taken off the target must not return with this work, and work without the
        // target's history cannot be merged. Either stays kept.
        let is_fit = repository.taken_off(&self.target, &id, None, &commit)?.is_none()
            && repository.fork(&commit, base)?.is_some();
        Ok(if is_fit { commit } else { base.clone() })
    }

    /// The commit that takes a merge back.
    fn revert(&self, ticket: &Ticket, base: &git::Oid, merge: &Oid) -> crate::Result<git::Oid> {
        let at = git::Time(u64::try_from(ticket.spec.created.0 / 1000).unwrap_or(0));
        let (merge, title) = (git_oid(merge)?, &ticket.spec.title);
        let made = crate::revert::commit(&self.repository, &merge, base, title, at)?;
        made.map_err(|why| crate::Error::NotReverted { why: why.to_string() })
    }

    /// Begins the set-up of a new workspace, where there is anything to set up. Its commands run afterwards.
    fn begin_set_up(&self, workspace: &git::Workspace) -> crate::Result<()> {
        let settings = &self.settings.workspace;
        if workspace.set_up().is_some() || (settings.setup.is_empty() && settings.copy.is_empty()) {
            return Ok(());
        }
        workspace.begin_set_up()?;
        failpoint::hit("set_up.noted");
        let (root, copy) = (&self.place.root, &settings.copy);
        let left_out = self.repository.copy_ignored(workspace, root, copy)?;
        if let Some(says) = says_left_out(&left_out) {
            tracing::warn!("{says}");
        }
        if settings.setup.is_empty() {
            self.repository.finish_set_up(workspace)?;
        }
        Ok(())
    }

    fn not_set_up(&self, workspace: &git::Workspace, error: &crate::Error) -> Report {
        match self.repository.discard_half_set_up(workspace) {
            Ok(()) => crate::set_up::failed(error),
            Err(error) => could_not(error),
        }
    }

    /// Deletes the workspace of an attempt if its set-up was broken off, after ending what still runs of it.
    pub(super) fn discard_half_set_up(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
    ) -> crate::Result<()> {
        if let Some(workspace) = self.workspace(ticket, agent, number)?
            && workspace.set_up() == Some(git::SetUp::Begun)
        {
            self.end_set_up(&ticket.id)?;
            self.repository.discard_half_set_up(&workspace)?;
        }
        Ok(())
    }
}

/// A workspace that could not be made, or begun in.
pub(super) fn not_prepared(error: crate::Error) -> Report {
    if let crate::Error::NotBegun { .. } = error {
        // Its parent's agent can do something about that, and it cannot.
        return Report::NotUnified {
            why: error.to_string(),
        };
    }
    // The machine's moment is not the attempt's failure.
    if error.is_passing() {
        return could_not(error);
    }
    // It stands where a person asks why nobody is at work: with what they can do.
    let mut why = text::with_causes(&error);
    if let Some(hint) = error.hint() {
        why.push_str("; ");
        why.push_str(&hint);
    }
    Report::WorkspaceFailed { why }
}

/// What a workspace did not get of what `[workspace] copy` names, in words.
fn says_left_out(left_out: &[git::LeftOut]) -> Option<String> {
    /// The paths that are named.
    const NAMED: usize = 5;
    let named = left_out.iter().take(NAMED);
    let named: Vec<String> = named
        .map(|one| {
            format!(
                "{}, which {} ({})",
                text::quoted(&one.path),
                one.why,
                one.why.remedy()
            )
        })
        .collect();
    let more = match left_out.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!("; and {more} more"),
    };
    (!named.is_empty()).then(|| {
        format!(
            "`[workspace] copy` in crew.toml leaves out {}{more}",
            named.join("; ")
        )
    })
}
