//! Performing effects: each effect is an "ensure", so that performing it twice, or again after a crash,
//! changes nothing.

use std::path::Path;

use engine::Report;
use engine::driver::{Performance, Purpose};
use model::attempt::{self, Failure, Shared};
use model::commitment::Commitment;
use model::journal::Ordered;
use model::settings::Settings;
use model::ticket::{CheckPlan, Effect, KeptWork, NewTicket, Ticket};
use model::{AgentName, Oid, TicketId};

use crate::check::Check;
use crate::executor::Executor;
use crate::prompt::{Answered, Facts, PartWords};

impl Executor {
    /// Performs an effect that needs no more than the executor; blocks. `is_under_way`: whether work of any
    /// ticket may be in a workspace.
    pub(crate) fn perform(&self, performance: &Performance, is_under_way: bool) -> Report {
        let (ticket, ordered) = (performance.ticket.as_ref(), &performance.ordered);
        match performance.purpose {
            Purpose::Perform => self.perform_wanted(ticket, ordered, is_under_way),
            Purpose::Nothing => Report::Done,
            Purpose::End => match &ordered.effect {
                Effect::Land { candidate, batch, .. } => self.end_landing(ticket, candidate, batch.as_ref()),
                Effect::PrepareWorkspace { .. }
                | Effect::Attempt(_)
                | Effect::Unify { .. }
                | Effect::BuildCandidate { .. }
                | Effect::StartCheck { .. }
                | Effect::StartReview { .. }
                | Effect::RemoveReview { .. }
                | Effect::LookAtProposal { .. }
                | Effect::KeepWork { .. }
                | Effect::RemoveWorkspace { .. }
                | Effect::WriteFile(_)
                | Effect::AddNote { .. }
                | Effect::CreateTicket(_) => Report::Done,
            },
        }
    }

    fn perform_wanted(&self, ticket: &Ticket, ordered: &Ordered, is_under_way: bool) -> Report {
        let effect = &ordered.effect;
        if takes_for_lost(effect, is_under_way)
            && let Some(missed) = self.misses_workspaces()
        {
            return missed;
        }
        let mut report = self.try_perform(ticket, ordered);
        if is_none_there(&report)
            && let Some(missed) = self.misses_workspaces()
        {
            return missed;
        }
        if let Some(why) = failed(&mut report) {
            // Not every failure on a full disk says so, nor every failure since a commit is gone.
            if let Some(lack) = self.refuses_work() {
                return Report::Hindered {
                    why: format!("{why}\n{lack}"),
                };
            }
            if let Some((agent, number)) = whose(ticket, effect)
                && let Some(lost) = self.lost_base(ticket, agent, number)
                && !why.contains(&lost)
            {
                *why = format!("{lost}. {why}");
            }
        }
        report
    }

    /// A text which says that the commit is gone from which a ticket's work began, and what a person can do;
    /// nothing while the commit is there. Without the commit no git works in the workspace, and nothing can
    /// be merged.
    pub(crate) fn lost_base(&self, ticket: &Ticket, agent: &AgentName, number: u32) -> Option<String> {
        let workspace = self.workspace(ticket, agent, number).ok()??;
        let base = workspace.base();
        match self.repository.tree_of(base) {
            Err(git::Error::NoSuchCommit { .. }) => {}
            Ok(_) | Err(_) => return None,
        }
        Some(format!(
            "commit {base}, from which the work on {} began, is gone from this repository. Bring it back from a clone that has \
             it: git fetch --refetch <clone>; if {} is held, then crew retry {}",
            ticket.id, ticket.id, ticket.id
        ))
    }

    fn try_perform(&self, ticket: &Ticket, ordered: &Ordered) -> Report {
        match &ordered.effect {
            Effect::PrepareWorkspace {
                agent, number, from, ..
            } if ticket.shared_workspace().is_some() => self.prepare_shared(ticket, agent, *number, from),
            Effect::PrepareWorkspace {
                agent, number, from, ..
            } => self.prepare(ticket, agent, *number, from),
            Effect::Attempt(attempt::Effect::CreateChild { child }) => self.create_child(&ticket.id, child),
            Effect::Unify { agent, number, .. } => self.unify(ticket, agent, *number),
            Effect::Attempt(attempt::Effect::StartStep {
                agent,
                run,
                number,
                step,
                harness,
                session,
                new_session,
                prompt,
                edited,
                budget,
                ..
            }) => {
                let step = super::step::Step {
                    agent,
                    run,
                    number: *number,
                    step: *step,
                    harness,
                    session,
                    new_session: *new_session,
                    prompt,
                    edited: *edited,
                    budget: *budget,
                };
                self.start_step(ticket, &step)
            }
            Effect::Attempt(attempt::Effect::StopRun { run }) => self.stop_run(run),
            Effect::Attempt(attempt::Effect::InspectWorkspace { agent }) => self.inspect(ticket, agent),
            Effect::BuildCandidate {
                agent,
                number,
                round,
                approved,
                before_conflict,
                conflicted_with,
                coupling,
                ..
            } => {
                let merge = super::candidate::Merge {
                    agent,
                    number: *number,
                    round: *round,
                    approved: approved.as_ref(),
                    before_conflict: before_conflict.as_ref(),
                    conflicted_with: conflicted_with.as_ref(),
                    coupling: coupling.as_ref(),
                };
                self.build(ticket, &merge)
            }
            Effect::StartCheck {
                run,
                task,
                slot,
                commit,
                command,
                plan,
                set_up,
                passed,
                anew,
            } => {
                let candidate = ticket.candidate();
                let check = Check {
                    run,
                    task: *task,
                    slot: *slot,
                    commit,
                    base: candidate.map(|candidate| &candidate.target),
                    may_run_fewer_tests: candidate.is_some_and(|it| ticket.may_run_fewer_tests(&it.tip)),
                    command,
                    plan,
                    set_up: *set_up,
                    passed: *passed,
                    anew: *anew,
                };
                self.start_check(ticket, ordered.id, &check)
            }
            Effect::StartReview {
                agent,
                run,
                fence,
                step,
                harness,
                session,
                new_session,
                candidate,
            } => {
                let review = super::review::Review {
                    agent,
                    run,
                    fence: *fence,
                    step: *step,
                    harness,
                    session,
                    new_session: *new_session,
                    candidate,
                };
                self.start_review(ticket, &review)
            }
            Effect::RemoveReview { agent, run } => self.remove_review(ticket, agent, run.as_ref()),
            Effect::Land { candidate, batch, .. } => self.land(ticket, candidate, batch.as_ref()),
            Effect::LookAtProposal { candidate, url } => self.look_at_proposal(ticket, candidate, url),
            Effect::KeepWork { agent, number } => {
                match ticket.delegated().filter(|delegated| !delegated.is_apart) {
                    Some(delegated) => self.give_up_turn(ticket, &delegated.workspace, *number),
                    None => self.keep_work(ticket, agent, *number),
                }
            }
            Effect::RemoveWorkspace { agent, number } => self.remove_workspace(ticket, agent, *number),
            Effect::CreateTicket(new) => self.create_ticket(new),
            Effect::WriteFile(_) | Effect::AddNote { .. } => Report::Done,
        }
    }

    /// The workspace of an attempt, as crew knows it: the one that it shares, or its own.
    pub(crate) fn workspace(
        &self,
        ticket: &Ticket,
        agent: &AgentName,
        number: u32,
    ) -> Result<Option<git::Workspace>, git::Error> {
        match ticket.shared_workspace() {
            Some(shared) => {
                let workspace = self.workspace_of(shared)?;
                Ok(workspace.map(|workspace| workspace.worked_in_by(identity(agent))))
            }
            None => self.workspace_of(&Shared {
                of: ticket.id.clone(),
                agent: agent.clone(),
                number,
            }),
        }
    }

    /// The workspace that was made for an attempt.
    pub(super) fn workspace_of(&self, made_for: &Shared) -> Result<Option<git::Workspace>, git::Error> {
        let Shared {
            of: owner,
            agent,
            number,
        } = made_for;
        let number = *number;
        let pin = format!("refs/crew/base/{owner}/{number}");
        let base = match self.repository.resolve(&pin) {
            Ok(base) => base,
            // Somebody may have deleted it, with `git fetch --prune` in a mirror for example.
            Err(git::Error::NoSuchCommit { .. }) => {
                let (agent, ticket) = (git::Id::parse(agent.as_str())?, git::Id::parse(owner.as_str())?);
                let again = self
                    .repository
                    .pin_again(&self.workspaces, &agent, &ticket, number)?;
                let Some(base) = again else { return Ok(None) };
                base
            }
            Err(other) => return Err(other),
        };
        let spec = self.spec(owner, agent, number, base.clone(), base, Vec::new())?;
        Ok(Some(git::Workspace::of(&spec)))
    }

    pub(crate) fn spec(
        &self,
        ticket: &TicketId,
        agent: &AgentName,
        number: u32,
        base: git::Oid,
        start: git::Oid,
        instructions: Vec<u8>,
    ) -> Result<git::Spec, git::Error> {
        Ok(git::Spec {
            root: self.workspaces.clone(),
            agent: git::Id::parse(agent.as_str())?,
            ticket: git::Id::parse(ticket.as_str())?,
            attempt: number,
            base,
            start,
            identity: identity(agent),
            excludes: Vec::new(),
            instructions,
        })
    }

    /// The text of the ticket as its file has it, also under another name; none where there is no such file.
    pub(super) fn text_of(&self, ticket: &Ticket) -> Option<String> {
        let folder = tickets::Folder::at(&self.place.tickets_dir).ok()?;
        let id = crate::queue::resolve(&folder, &ticket.id).ok()?;
        Some(folder.read(&id).ok()?.body().to_owned())
    }

    /// Writes the file of a ticket that an agent has made, unless it is there.
    fn create_ticket(&self, new: &NewTicket) -> Report {
        let create = || -> Result<_, tickets::Error> {
            let id = |id: &TicketId| tickets::Id::new(id.as_str());
            let deps: Result<Vec<_>, _> = new.deps.iter().map(id).collect();
            let file = tickets::New {
                title: new.title.clone(),
                description: new.description.clone(),
                design: new.design.clone(),
                acceptance: new.acceptance.clone(),
                kind: new.kind.clone().unwrap_or(tickets::New::default().kind),
                parent: new.parent.as_ref().map(id).transpose()?,
                tags: new.tags.iter().cloned().collect(),
                deps: deps?,
                priority: new.priority,
                made_by: Some(new.made_by.to_string()),
                ..tickets::New::default()
            };
            let folder = tickets::Folder::at(&self.place.tickets_dir)?;
            folder.create_as(&id(&new.id)?, &file, jiff::Timestamp::now())
        };
        match create() {
            Ok(_) => Report::Done,
            Err(error) => could_not(error),
        }
    }

    /// The whole of a ticket's file.
    pub(crate) fn file_of(&self, ticket: &TicketId) -> Option<String> {
        let folder = tickets::Folder::at(&self.place.tickets_dir).ok()?;
        let id = crate::queue::resolve(&folder, ticket).ok()?;
        std::fs::read_to_string(folder.path().join(format!("{id}.md"))).ok()
    }

    /// How the agent of a new run calls crew's tools; none where this program cannot be found again.
    pub(super) fn calls(&self, dir: &Path) -> crate::Result<Option<harness::Calls>> {
        let Some(program) = self.program.clone() else {
            return Ok(None);
        };
        Ok(Some(harness::Calls {
            dir: dir.to_owned(),
            token: process::Asks::new_token()?,
            program,
        }))
    }

    /// The commits of the ticket's earlier workspaces that no branch holds, as far as their refs are there.
    fn kept_commits(&self, ticket: &Ticket) -> Vec<String> {
        let commit = |kept: &KeptWork| match kept {
            KeptWork::Workspace { reference } => self.repository.resolve(reference).ok(),
            KeptWork::Attempt { .. } | KeptWork::Nested { .. } | KeptWork::Folder { .. } => None,
        };
        ticket
            .kept
            .iter()
            .filter_map(commit)
            .map(|commit| commit.to_string())
            .collect()
    }

    /// The variables of the templates.
    pub(crate) fn facts(&self, ticket: &Ticket, agent: &AgentName, step: u32) -> Facts {
        let body = self.text_of(ticket);
        let target_commit = self
            .repository
            .target(&self.target)
            .map_or_else(|_| String::new(), |oid| oid.to_string());
        let submodules = self.place.submodules(&self.target.full());
        let folder = |one: &git::Submodule| text::sanitise::prompt(&one.path.to_string_lossy());
        let (filled, empty): (Vec<_>, Vec<_>) = submodules.iter().partition(|one| one.source.is_some());
        Facts {
            ticket: ticket.id.to_string(),
            title: ticket.spec.title.clone(),
            // A file that cannot be read at this moment: what the journal has of it must do.
            body: body.unwrap_or_else(|| format!("# {}\n", ticket.spec.title)),
            agent: agent.to_string(),
            branch: match ticket.shared_workspace() {
                Some(shared) => format!("agent/{}-{}", shared.agent, shared.of),
                None => format!("agent/{agent}-{}", ticket.id),
            },
            parent: ticket.delegated().map(|it| it.by.to_string()).unwrap_or_default(),
            is_apart: ticket.delegated().is_some_and(|it| it.is_apart),
            is_leader: self.is_leader(ticket, agent),
            children: Vec::new(),
            done_before: Vec::new(),
            target: self.settings.project.target.clone(),
            target_commit,
            step,
            max_steps: self.settings.run.max_steps,
            feedback: ticket.feedback.clone(),
            kept: self.kept_commits(ticket),
            answers: ticket.answers.iter().map(Answered::of).collect(),
            unusable: Vec::new(),
            said: Vec::new(),
            returned: None,
            mode: None,
            parts: ticket.parts.iter().map(PartWords::of).collect(),
            baited: None,
            edited: false,
            was_lost: false,
            left_out: None,
            new_session: false,
            checks: check_commands(&self.settings),
            commitments: ticket.commitments.iter().filter(is_due).map(told_of).collect(),
            submodules: filled.into_iter().map(folder).collect(),
            empty_submodules: empty.into_iter().map(folder).collect(),
            budget: None,
        }
    }
}

/// Whether the work has to meet a commitment.
fn is_due(one: &&Commitment) -> bool {
    one.waived.is_none()
}

/// The commands of all checks, as a person would type them.
fn check_commands(settings: &Settings) -> Vec<String> {
    let plan = CheckPlan::of(settings);
    plan.commands
        .iter()
        .map(|check| check.command.to_string())
        .collect()
}

/// A commitment as its agent reads it.
fn told_of(one: &Commitment) -> String {
    text::sanitise::line(&one.promise.to_string())
}

/// Whose workspace an effect is about: one that is being left may be an earlier attempt's.
fn whose<'a>(ticket: &'a Ticket, effect: &'a Effect) -> Option<(&'a AgentName, u32)> {
    match effect {
        Effect::KeepWork { agent, number } | Effect::RemoveWorkspace { agent, number } => {
            Some((agent, *number))
        }
        Effect::PrepareWorkspace { .. }
        | Effect::Attempt(_)
        | Effect::Unify { .. }
        | Effect::BuildCandidate { .. }
        | Effect::StartCheck { .. }
        | Effect::StartReview { .. }
        | Effect::RemoveReview { .. }
        | Effect::Land { .. }
        | Effect::LookAtProposal { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => ticket
            .attempt()
            .map(|attempt| (&attempt.claim.agent, attempt.claim.number)),
    }
}

/// Whether performing an effect without the folder of the workspaces would give up the work in that folder: a
/// workspace is made anew, or the ticket goes on without it.
fn takes_for_lost(effect: &Effect, is_under_way: bool) -> bool {
    match effect {
        Effect::PrepareWorkspace { .. } => is_under_way,
        Effect::Unify { .. }
        | Effect::BuildCandidate { .. }
        | Effect::KeepWork { .. }
        | Effect::RemoveWorkspace { .. } => true,
        // The start of a step and a look say when there is no workspace.
        Effect::Attempt(_)
        | Effect::StartCheck { .. }
        | Effect::StartReview { .. }
        | Effect::RemoveReview { .. }
        | Effect::Land { .. }
        | Effect::LookAtProposal { .. }
        | Effect::WriteFile(_)
        | Effect::AddNote { .. }
        | Effect::CreateTicket(_) => false,
    }
}

/// Whether no workspace was found, where there may be one that nobody can see now.
fn is_none_there(report: &Report) -> bool {
    let missing = attempt::Workspace::Missing;
    *report == Report::WorkspaceMissing || *report == Report::Inspected { workspace: missing }
}

/// Why it was not done, where that is not the agent's doing.
fn failed(report: &mut Report) -> Option<&mut String> {
    match report {
        Report::CouldNotRun { why }
        | Report::WorkspaceFailed { why }
        | Report::SetUpFailed { why, .. }
        | Report::CheckNotSpawned { why } => Some(why),
        Report::StepNotSpawned { failure } => Some(&mut failure.message),
        Report::RemoteAway { .. }
        | Report::RemoteRefused { .. }
        | Report::Diverged { .. }
        | Report::Hindered { .. }
        | Report::Unified { .. }
        | Report::NotUnified { .. }
        | Report::WorkspaceReady { .. }
        | Report::WorkspaceMissing
        | Report::StepSpawned
        | Report::Stopped
        | Report::FileMissing
        | Report::Inspected { .. }
        | Report::Built { .. }
        | Report::NoCommits
        | Report::Conflicted { .. }
        | Report::ConflictsAhead { .. }
        | Report::BatchInTheWay { .. }
        | Report::ImportRefused { .. }
        | Report::Sensitive { .. }
        | Report::CheckSpawned
        | Report::PassedBefore
        | Report::NotSetUp
        | Report::Landed { .. }
        | Report::Proposed { .. }
        | Report::ProposalSeen { .. }
        | Report::ChangesRequested { .. }
        | Report::ProposalClosed
        | Report::NotLanded
        | Report::TargetMoved
        | Report::CheckoutEdited { .. }
        | Report::WorkKept { .. }
        | Report::Done => None,
    }
}

/// The author of an agent's commits.
pub(crate) fn identity(agent: &AgentName) -> git::Identity {
    git::Identity::new(agent.as_str(), &format!("{agent}@crew.invalid"))
}

/// The author of crew's merges.
pub(crate) fn crew() -> git::Identity {
    git::Identity::new("crew", "crew@crew.invalid")
}

/// A git object id as the model has it.
pub(crate) fn model_oid(oid: &git::Oid) -> Result<Oid, String> {
    Oid::new(oid.as_str()).map_err(|e| e.to_string())
}

/// An object id of the model's for git.
pub(crate) fn git_oid(oid: &Oid) -> Result<git::Oid, git::Error> {
    git::Oid::parse(oid.as_str())
}

/// A failure to do what only the world outside can be blamed for.
pub(crate) fn could_not(error: impl Into<crate::Error>) -> Report {
    let error = error.into();
    let mut why = text::with_causes(&error);
    if let crate::Error::Git(git::Error::TargetMissing { branch, .. }) = &error {
        why.push_str(&format!(
            ". If it was renamed, name it as `[project] target` in crew.toml, or give it its name back: git branch -m <its name \
             now> {branch}"
        ));
    }
    if let crate::Error::Git(git::Error::BranchInUse { .. }) = &error {
        why.push_str(": switch to another branch there (git switch -), and it goes on by itself");
    }
    if let crate::Error::Git(remote @ git::Error::Remote { trouble, .. }) = &error {
        if let git::Trouble::Away = trouble {
            return Report::RemoteAway { why };
        }
        let why = match remote.hint() {
            Some(hint) => format!("{why}; {hint}"),
            None => why,
        };
        return Report::RemoteRefused { why };
    }
    if error.is_passing() {
        Report::Hindered { why }
    } else {
        Report::CouldNotRun { why }
    }
}

/// A step that could not be started.
pub(crate) fn not_spawned(class: attempt::Class, message: String) -> Report {
    Report::StepNotSpawned {
        failure: Failure::new(class, message),
    }
}

/// A conversation as the harness has it.
pub(crate) fn session(session: &model::session::Session, is_new: bool) -> harness::Session {
    harness::Session {
        id: session.id.to_string(),
        is_new,
        used: used(session.used),
        total_micro_usd: session.total_micro_usd,
    }
}

fn used(usage: attempt::Usage) -> harness::Usage {
    harness::Usage {
        input_tokens: usage.input_tokens,
        output_tokens: usage.output_tokens,
        cost_micro_usd: usage.cost_micro_usd,
    }
}
