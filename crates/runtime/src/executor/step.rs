//! A step's process: started once, stopped, and its workspace looked at.

use std::ffi::{OsStr, OsString};

use engine::Report;
use harness::{Role, StepRequest};
use model::attempt::{Attempt, Class, HarnessId, Mode, Prompt, Workspace};
use model::policy::budget::Budget;
use model::settings::HarnessKind;
use model::ticket::Ticket;
use model::{AgentName, RunId, SessionId};
use process::Run;

use super::perform::{could_not, identity, not_spawned};
use crate::executor::Executor;
use crate::prompt::{BudgetWords, Saying};

/// The variable with the kind of the step's prompt: what the step is for.
pub(super) const PROMPT_KIND: &str = "CREW_PROMPT_KIND";

/// A step to be started.
pub(super) struct Step<'a> {
    pub(super) agent: &'a AgentName,
    pub(super) run: &'a RunId,
    pub(super) number: u32,
    pub(super) step: u32,
    pub(super) harness: &'a HarnessId,
    pub(super) session: &'a SessionId,
    pub(super) new_session: bool,
    pub(super) prompt: &'a Prompt,
    pub(super) edited: bool,
    pub(super) budget: Option<Budget>,
}

impl Executor {
    pub(super) fn start_step(&self, ticket: &Ticket, step: &Step<'_>) -> Report {
        let dir = self.place.run_dir(step.run);
        let workspace = match self.workspace(ticket, step.agent, step.number) {
            Ok(workspace) => workspace,
            Err(error) => return could_not(error),
        };
        let owned = self.owner.run_id(step.run.as_str());
        let stands = workspace.as_ref().and_then(git::Workspace::birth);
        if let Ok(run) = Run::open(&dir) {
            match is_for(&run, &owned, stands.as_deref()) {
                // The step was started before, by this engine or by one that was killed: a step is not
                // started twice, however it ended.
                Ok(true) => return self.begin_as(ticket, step, &run),
                Ok(false) => {}
                Err(error) if error.is_passing() => return could_not(error),
                Err(error) => return not_spawned(Class::Crash, text::with_causes(&error)),
            }
        }
        let name = &step.harness.name;
        let harness = match self.harnesses.get(name) {
            Some(Ok(harness)) if harness.kind() == step.harness.kind.name() => harness.as_ref(),
            Some(Err(error)) => return not_spawned(Class::Crash, text::with_causes(error)),
            // The settings have changed since the step was ordered. The next step goes on with another
            // harness.
            Some(Ok(_)) | None => {
                let why = format!("the harness {name} is not in crew.toml any more");
                return not_spawned(Class::KilledByUs, why);
            }
        };
        let Some(workspace) = workspace.filter(git::Workspace::exists) else {
            return Report::WorkspaceMissing;
        };
        if let Some(why) = self.refuses_work() {
            return Report::Hindered { why };
        }
        let needs_text = step.new_session || !self.remembers(step.harness);
        if needs_text && self.text_of(ticket).is_none() {
            // Somebody has to bring the file back, or to give the ticket up.
            return Report::CouldNotRun {
                why: "the ticket's file is not there, and the agent would not know its task".to_owned(),
            };
        }
        // An agent would be paid for finding out.
        if let Some(lost) = self.lost_base(ticket, step.agent, step.number) {
            return not_spawned(Class::Crash, lost);
        }
        // Nothing of the step before this one lives any more.
        if let Err(error) = workspace.clear_locks() {
            return could_not(error);
        }
        if let Some(attempt) = ticket.attempt()
            && let Err(error) = self.give_up_turns(&attempt.workspace(&ticket.id), &workspace, &ticket.id)
        {
            return could_not(error);
        }
        if !workspace.exists() {
            return Report::WorkspaceMissing;
        }
        let id = stands.map_or(owned.clone(), |made| format!("{owned}-{made}"));
        match self.make_run(ticket, step, id, harness, &workspace, &dir) {
            Ok(run) => self.begin_as(ticket, step, &run),
            Err(error) if error.is_passing() => could_not(error),
            Err(error) => not_spawned(class_of(&error), text::with_causes(&error)),
        }
    }

    /// Starts a run, with the instructions of its own that a child's has.
    fn begin_as(&self, ticket: &Ticket, step: &Step<'_>, run: &Run) -> Report {
        match self.write_instructions(ticket, step.agent, step.step, run) {
            Ok(()) => self.begin(run),
            Err(error) => could_not(error),
        }
    }

    /// Starts a run. A run that cannot be started never will be: another step takes its place, in the same
    /// workspace. The exception is a run that only the machine hinders: nothing of it runs, and it is paid
    /// for when it does.
    pub(super) fn begin(&self, run: &Run) -> Report {
        let Err(error) = run.start(&self.shim) else {
            crate::log::run_started(run);
            return Report::StepSpawned;
        };
        if error.is_passing() {
            return could_not(error);
        }
        match crate::executor::give_up(run) {
            Ok(()) => not_spawned(Class::Crash, text::with_causes(&error)),
            Err(error) => could_not(error),
        }
    }

    fn make_run(
        &self,
        ticket: &Ticket,
        step: &Step<'_>,
        run_id: String,
        harness: &dyn harness::Harness,
        workspace: &git::Workspace,
        dir: &std::path::Path,
    ) -> crate::Result<Run> {
        let mut facts = self.facts(ticket, step.agent, step.step);
        (facts.edited, facts.new_session) = (step.edited, step.new_session || !self.remembers(step.harness));
        let attempt = ticket.attempt();
        if facts.new_session || matches!(step.prompt, Prompt::Init | Prompt::Resume) {
            facts.done_before = self.done_before(ticket, step.prompt, workspace)?;
        }
        if let Prompt::Unify { results } = step.prompt {
            facts.children = self.words_of(results.iter(), workspace)?;
        }
        facts.unusable = attempt.map_or_else(Vec::new, Attempt::lines_not_used);
        if let Some(attempt) = attempt {
            let shown = attempt.messages.iter().take(attempt.messages_shown as usize);
            facts.said = shown.map(Saying::of).collect();
            facts.returned = attempt.returned.as_deref().cloned();
            facts.mode = (attempt.mode != Mode::Execute || attempt.mode_changed).then_some(attempt.mode);
            let baited = attempt.baited.as_ref().filter(|_| attempt.bait_shown);
            facts.baited = baited.map(|by| text::sanitise::line(&by.to_string()));
        }
        let failure = attempt.and_then(|attempt| attempt.conversation.failure.as_ref());
        let left_out = &ticket.leftovers.left_out;
        facts.left_out = (!left_out.is_empty()).then(|| left_out.to_string());
        facts.was_lost = failure.is_some_and(|failure| failure.class == Class::Lost);
        facts.budget = step.budget.map(BudgetWords::of);
        let session = harness::Session {
            id: step.session.to_string(),
            is_new: step.new_session,
            ..ticket.attempt().map_or_else(Default::default, |a| {
                super::perform::session(&a.conversation.session, step.new_session)
            })
        };
        let request = StepRequest {
            run_id,
            ticket: ticket.id.to_string(),
            agent: step.agent.to_string(),
            role: match attempt.and_then(|attempt| attempt.returned.as_deref()) {
                Some(Prompt::MergeConflict { .. }) => Role::Resolver,
                Some(_) | None => Role::Worker,
            },
            step: step.step,
            session,
            workspace: workspace.path(),
            prompt: self.prompts.step(step.prompt, &facts)?,
            leader: self.leader_of(ticket),
            has_tools: self.is_leader(ticket, step.agent),
            calls: self.calls(dir)?,
            instructions: self.instructions_of(ticket, workspace, dir),
            tickets_dir: self.place.tickets_dir.clone(),
            env: [
                ("GIT_CEILING_DIRECTORIES".into(), workspace.ceiling().into()),
                (
                    "CREW_MODE".into(),
                    attempt.map_or_else(Mode::default, |it| it.mode).name().into(),
                ),
                (PROMPT_KIND.into(), step.prompt.name().into()),
            ]
            .into_iter()
            .chain(authors(ticket, step.agent))
            .collect(),
        };
        let launch = harness.start(&request)?;
        expect_program(&launch)?;
        let stdin = launch.stdin.as_deref().map(str::as_bytes);
        Ok(Run::create(dir, &launch.spec(), stdin)?)
    }

    /// Whether the agent's program knows its task from earlier steps. One that does not gets the whole task
    /// with every step.
    fn remembers(&self, harness: &HarnessId) -> bool {
        let table = self.settings.harness.get(&harness.name);
        table.is_none_or(|table| table.kind != HarnessKind::Command || table.session)
    }

    pub(super) fn stop_run(&self, run: &RunId) -> Report {
        if run.is_check() {
            return self.stop_check(run);
        }
        match self.ask_to_stop(run) {
            Ok(()) => Report::Stopped,
            Err(error) => could_not(error),
        }
    }

    /// Asks a run to stop. One that has not begun is left alone.
    pub(crate) fn ask_to_stop(&self, run: &RunId) -> process::Result<()> {
        match Run::open(self.place.run_dir(run)).and_then(|run| run.stop()) {
            Err(process::Error::NoRun { .. }) => Ok(()),
            stopped => stopped,
        }
    }

    /// Uncommitted work is committed on the way: it is never in danger, and a look tells the same afterwards.
    pub(super) fn inspect(&self, ticket: &Ticket, agent: &AgentName) -> Report {
        let number = ticket.attempt().map_or(ticket.attempts, |a| a.claim.number);
        let workspace = match self.workspace(ticket, agent, number) {
            Ok(Some(workspace)) if workspace.exists() => workspace,
            Ok(_) => {
                return Report::Inspected {
                    workspace: Workspace::Missing,
                };
            }
            Err(error) => return could_not(error),
        };
        match self.save(&ticket.id, &workspace) {
            Ok(saved) if saved.imported.commits == 0 => Report::Inspected {
                workspace: Workspace::Clean,
            },
            // Commits that cannot be taken over are work all the same.
            Ok(_) | Err(git::Error::Refused { .. }) => Report::Inspected {
                workspace: Workspace::Changed,
            },
            Err(error) => could_not(error),
        }
    }
}

/// Looks for the program of a launch before its run begins: where it is missing no step can begin, of this
/// ticket or of any other.
pub(super) fn expect_program(launch: &harness::Launch) -> crate::Result<()> {
    let path = launch.env.get(OsStr::new("PATH")).map(OsString::as_os_str);
    match process::find_program(&launch.program, path, &launch.cwd) {
        Ok(_) => Ok(()),
        Err(source) => Err(crate::Error::NoProgram { source }),
    }
}

/// The class of the failure of a step whose run could not be made.
pub(super) fn class_of(error: &crate::Error) -> Class {
    match matches!(error, crate::Error::NoProgram { .. }) {
        true => Class::NoProgram,
        false => Class::Crash,
    }
}

/// The variables with which the commits of a child's agent are its own, in the workspace of another one.
fn authors(ticket: &Ticket, agent: &AgentName) -> Vec<(OsString, OsString)> {
    if ticket.shared_workspace().is_none() {
        return Vec::new();
    }
    let git::Identity { name, email } = identity(agent);
    let of = |who: &str| {
        let named = [("NAME", name.clone()), ("EMAIL", email.clone())];
        named.map(|(what, value)| (format!("GIT_{who}_{what}").into(), value.into()))
    };
    [of("AUTHOR"), of("COMMITTER")].concat()
}

/// Whether a run was made for the step or check that asks now. Another journal may have had the same name,
/// such as one that was removed; or this journal had it and was restored since to an earlier state: then
/// another workspace stands there, or another tree is checked. A run of neither is ended, and put away. A
/// journal that has lost no more than its last rows finds its run again. `stands`: the birth of the workspace
/// that is there, or the name of the verdict that the check asks for.
pub(crate) fn is_for(run: &Run, owned: &str, stands: Option<&str>) -> crate::Result<bool> {
    let id = run.spec()?.run_id;
    let is_ours = match (id.strip_prefix(owned), stands) {
        // Of no workspace that is known; or there is none any more that could be another.
        (Some(""), _) | (Some(_), None) => true,
        (Some(made_in), Some(stands)) => made_in.strip_prefix('-') == Some(stands),
        (None, _) => false,
    };
    if is_ours {
        return Ok(true);
    }
    crate::end_run(run)?;
    let aside = (1..)
        .map(|n| {
            run.dir()
                .with_added_extension(format!("{}{n}", crate::outputs::ASIDE))
        })
        .find(|dir| dir.symlink_metadata().is_err())
        .unwrap_or_default();
    tracing::warn!(
        "{} is of another time: it is ended, and set aside as {}",
        run.dir().display(),
        aside.display()
    );
    std::fs::rename(run.dir(), &aside).map_err(|source| crate::Error::Io {
        doing: "set aside",
        path: run.dir().to_owned(),
        source,
    })?;
    Ok(false)
}
