//! The set-up of workspaces: commands that run in a new workspace before its first step, each a run under a
//! shim.
//!
//! The effect that makes the workspace goes on until they have ended, without a thread of its own meanwhile.
//! An engine that finds a set-up which another one has begun ends it, and begins again in a workspace made
//! anew.

use std::collections::BTreeMap;
use std::os::fd::OwnedFd;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use engine::Report;
use engine::driver::{Performance, Performed};
use git::SetUp;
use harness::environment::{Environment, assemble, toolchains};
use model::journal::EffectId;
use model::ticket::{CheckOutcome, Effect, Ticket};
use model::{AgentName, Fence, RunId, TicketId};
use process::{Exit, Run, Spec, Status};
use tokio::io::unix::AsyncFd;
use tokio::sync::watch;

use crate::check::missing_program;
use crate::executor::perform::could_not;
use crate::executor::{Executor, private_dir};
use crate::{Place, Result, outputs};

/// The variable by which `crew` knows that the set-up of a workspace calls it, and no person.
pub const SET_UP_MARK: &str = "CREW_SETUP";

/// The wish of the dispatcher for a set-up that is under way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Wish {
    /// It goes on.
    GoOn,
    /// Nobody waits for the workspace any more.
    End,
    /// The engine is to end soon, and the next one sets up the workspace.
    Stop,
}

impl Wish {
    /// The report of a set-up that is not to go on.
    fn end(self) -> Option<Report> {
        match self {
            Self::GoOn => None,
            Self::End => Some(Report::Done),
            Self::Stop => Some(Report::Hindered {
                why: "the set-up of its workspace was ended with the engine".to_owned(),
            }),
        }
    }
}

/// The workspaces that are being made and set up, each with the wish for it.
#[derive(Debug, Default)]
pub(crate) struct SetUps(BTreeMap<EffectId, Watched>);

/// A workspace that is being made and set up, as the dispatcher sees it.
#[derive(Debug)]
struct Watched {
    ticket: TicketId,
    fence: Fence,
    wish: watch::Sender<Wish>,
    has_begun: Arc<AtomicBool>,
}

/// The same, as the set-up itself sees it.
#[derive(Debug)]
pub(crate) struct Wished {
    wish: watch::Receiver<Wish>,
    /// Whether the workspace is made, so that commands may run in it.
    has_begun: Arc<AtomicBool>,
}

impl SetUps {
    /// Adds a workspace that is about to be made; nothing for any other effect.
    pub(crate) fn watch(&mut self, performance: &Performance) -> Option<Wished> {
        let Effect::PrepareWorkspace { fence, .. } = &performance.ordered.effect else {
            return None;
        };
        let (sender, receiver) = watch::channel(Wish::GoOn);
        let has_begun = Arc::new(AtomicBool::new(false));
        let watched = Watched {
            ticket: performance.ordered.ticket.clone(),
            fence: *fence,
            wish: sender,
            has_begun: Arc::clone(&has_begun),
        };
        self.0.insert(performance.ordered.id, watched);
        Some(Wished {
            wish: receiver,
            has_begun,
        })
    }

    /// Passes on the wish for each.
    pub(crate) fn each(&self, wish: impl Fn(&TicketId, Fence) -> Wish) {
        for watched in self.0.values() {
            let wish = wish(&watched.ticket, watched.fence);
            watched
                .wish
                .send_if_modified(|now| std::mem::replace(now, wish) != wish);
        }
    }

    /// Waits for the end of all whose commands were told to end. A git that still makes a workspace is not
    /// waited for: no command begins after it.
    pub(crate) async fn ended(&mut self) {
        for (_, watched) in std::mem::take(&mut self.0) {
            let is_ending = *watched.wish.borrow() != Wish::GoOn;
            if is_ending && watched.has_begun.load(Ordering::SeqCst) {
                watched.wish.closed().await;
            }
        }
    }

    /// Forgets one that was made, or could not be.
    pub(crate) fn forget(&mut self, performed: &Performed) {
        self.0.remove(&performed.ordered.id);
    }
}

/// The attempt whose workspace is set up.
#[derive(Clone, Debug)]
struct Subject {
    ticket: Arc<Ticket>,
    agent: AgentName,
    number: u32,
    fence: Fence,
}

impl Subject {
    fn of(performance: &Performance) -> Option<Self> {
        let Effect::PrepareWorkspace {
            agent, fence, number, ..
        } = &performance.ordered.effect
        else {
            return None;
        };
        Some(Self {
            ticket: Arc::clone(&performance.ticket),
            agent: agent.clone(),
            number: *number,
            fence: *fence,
        })
    }
}

/// Sets up a workspace that was just made; nothing when there is nothing to set up.
pub(crate) async fn set_up(
    executor: &Arc<Executor>,
    performance: &Performance,
    wished: &mut Wished,
) -> Option<Report> {
    let of = Subject::of(performance)?;
    if executor.settings.workspace.setup.is_empty() || !executor.is_set_up_begun(&of) {
        return None;
    }
    wished.has_begun.store(true, Ordering::SeqCst);
    let wish = &mut wished.wish;
    for (number, command) in executor.settings.workspace.setup.iter().enumerate() {
        if let Err(report) = run(executor, &of, number, command, wish).await {
            return Some(discarding(executor, &of, report).await);
        }
    }
    let (with, finished) = (Arc::clone(executor), of.clone());
    match begin(executor, move || with.end_set_up_well(&finished)).await {
        Ok(()) => None,
        Err(report) => Some(discarding(executor, &of, report).await),
    }
}

/// Runs one command; an error is the report that ends the set-up.
async fn run(
    executor: &Arc<Executor>,
    of: &Subject,
    number: usize,
    command: &str,
    wish: &mut watch::Receiver<Wish>,
) -> Result<(), Report> {
    let begun = wish.borrow().end();
    if let Some(report) = begun {
        return Err(report);
    }
    let (with, subject, line) = (Arc::clone(executor), of.clone(), command.to_owned());
    let run = begin(executor, move || with.begin_set_up_run(&subject, number, &line)).await?;
    let watched = run.clone();
    let pidfd = begin(executor, move || Ok(watched.watch()?.try_clone_pidfd()?)).await?;
    let stopped = match pidfd.and_then(readable) {
        Some(pidfd) => tokio::select! {
            _ = pidfd.readable() => Wish::GoOn,
            wish = ended(wish) => wish,
        },
        None => Wish::GoOn,
    };
    let swept = run.clone();
    let is_to_end = stopped != Wish::GoOn;
    let exit = begin(executor, move || end_of(&swept, is_to_end)).await?;
    crate::log::set_up_ended(&run, &exit);
    if let Some(report) = stopped.end() {
        return Err(report);
    }
    let limit = executor.settings.run.step_timeout;
    let why =
        format!("`{command}` failed in its new workspace; mend that, or `[workspace] setup` in crew.toml");
    match crate::check::outcome(command, &exit, run.dir(), Some(limit), (None, None)) {
        CheckOutcome::Passed | CheckOutcome::FewerTests { .. } => Ok(()),
        CheckOutcome::Lost { .. } => Err(Report::Hindered {
            why: format!("`{command}`, which sets up its workspace, was ended by somebody"),
        }),
        CheckOutcome::Failed { output } => Err(Report::SetUpFailed {
            why,
            output,
            may_pass: true,
            for_all: false,
        }),
        CheckOutcome::CouldNotRun { why: output } => {
            let (with, subject, line) = (Arc::clone(executor), of.clone(), command.to_owned());
            let missing = begin(executor, move || with.missing_in_set_up(&subject, &line)).await?;
            let why = match missing {
                Some(program) => format!(
                    "`{command}` cannot set up its new workspace, since {program} is not found on its PATH: install \
                     {program}, or set another command in crew.toml under [workspace]"
                ),
                None => why,
            };
            Err(Report::SetUpFailed {
                why,
                output,
                may_pass: false,
                for_all: false,
            })
        }
        CheckOutcome::Flaky { .. } | CheckOutcome::PassedBefore | CheckOutcome::NotSetUp => Ok(()),
    }
}

/// Waits until the set-up is to end.
async fn ended(wish: &mut watch::Receiver<Wish>) -> Wish {
    let waited = wish.wait_for(|wish| *wish != Wish::GoOn).await.map(|wish| *wish);
    match waited {
        Ok(wish) => wish,
        // The dispatcher is gone, and this with it.
        Err(_) => std::future::pending().await,
    }
}

/// Does something on a thread; an error is the report that ends the set-up.
async fn begin<T: Send + 'static>(
    executor: &Executor,
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T, Report> {
    match executor.threads.begin(work).await {
        Ok(Some(Ok(done))) => Ok(done),
        Ok(Some(Err(error))) => Err(failed(&error)),
        Ok(None) => Err(Report::Hindered {
            why: "the set-up of its workspace failed unexpectedly".to_owned(),
        }),
        Err(error) => Err(Report::Hindered {
            why: format!("no thread can be started: {error}"),
        }),
    }
}

pub(crate) fn failed(error: &crate::Error) -> Report {
    let mut why = text::with_causes(error);
    // A shim that was killed, or gave up, has begun nothing: that is no fault of the command.
    let is_the_shims = matches!(
        error,
        crate::Error::Process(process::Error::ShimGaveUp { .. } | process::Error::ShimSilent { .. })
    );
    if error.is_passing() || is_the_shims {
        return Report::Hindered { why };
    }
    if let Some(hint) = error.hint() {
        why.push_str("; ");
        why.push_str(&hint);
    }
    Report::SetUpFailed {
        why,
        output: String::new(),
        may_pass: false,
        for_all: matches!(error, crate::Error::Git(git::Error::SetUpMade { .. })),
    }
}

/// Deletes the workspace, which nobody has worked in, and gives the report.
async fn discarding(executor: &Arc<Executor>, of: &Subject, report: Report) -> Report {
    let (with, of) = (Arc::clone(executor), of.clone());
    let discard = move || -> Result<()> {
        with.end_set_up(&of.ticket.id)?;
        match with.workspace(&of.ticket, &of.agent, of.number)? {
            Some(workspace) => Ok(with.repository.discard_half_set_up(&workspace)?),
            None => Ok(()),
        }
    };
    match executor.threads.end(discard).await {
        Some(Err(error)) => could_not(error),
        Some(Ok(())) | None => report,
    }
}

/// Ends what is left of a run, and gives its record.
fn end_of(run: &Run, is_to_end: bool) -> Result<Exit> {
    if is_to_end {
        crate::end_run(run)?;
    } else if let Status::Running { .. } = run.status()? {
        run.watch()?.wait(Duration::from_secs(5))?;
    }
    Ok(run.sweep()?.exit)
}

#[expect(
    deprecated,
    reason = "sound for a descriptor that is owned; the successor asks for `unsafe`, which only `process` may use"
)]
pub(crate) fn readable(pidfd: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(pidfd, tokio::io::Interest::READABLE).ok()
}

impl Executor {
    fn is_set_up_begun(&self, of: &Subject) -> bool {
        let workspace = self.workspace(&of.ticket, &of.agent, of.number).ok().flatten();
        workspace.is_some_and(|workspace| workspace.set_up() == Some(SetUp::Begun))
    }

    fn end_set_up_well(&self, of: &Subject) -> Result<()> {
        match self.workspace(&of.ticket, &of.agent, of.number)? {
            Some(workspace) => Ok(self.repository.finish_set_up(&workspace)?),
            None => Ok(()),
        }
    }

    fn begin_set_up_run(&self, of: &Subject, number: usize, command: &str) -> Result<Run> {
        let number = u32::try_from(number).unwrap_or(u32::MAX);
        let id = RunId::of_set_up(&of.ticket.id, of.fence, number);
        let dir = self.place.run_dir(&id);
        // The same command of a set-up that was broken off.
        if dir.exists() {
            outputs::take_away(&dir).map_err(|source| crate::Error::Io {
                doing: "remove",
                path: dir.clone(),
                source,
            })?;
        }
        let workspace = self.workspace(&of.ticket, &of.agent, of.number)?;
        let workspace = workspace.ok_or_else(|| git::Error::WorkspaceMissing { path: dir.clone() })?;
        let mut spec = Spec::new(self.owner.run_id(id.as_str()), "/bin/sh", workspace.path());
        spec.args = vec!["-c".into(), command.into()];
        spec.env = self.set_up_environment(of, &workspace)?;
        spec.timeout_ms = u64::try_from(self.settings.run.step_timeout.as_millis()).ok();
        private_dir(&self.place.runs_dir)?;
        let run = Run::create(&dir, &spec, None)?;
        run.start(&self.shim)?;
        crate::log::set_up_started(&run);
        failpoint::hit("set_up.begun");
        Ok(run)
    }

    /// The environment of the agent's client, without the variables of crew's own that its table passes on:
    /// those are for the client alone. Toolchains are found as checks find them.
    fn set_up_environment(&self, of: &Subject, workspace: &git::Workspace) -> Result<Environment> {
        let harness = of
            .ticket
            .attempt()
            .map(|attempt| &attempt.conversation.harness.name);
        let table = harness.and_then(|name| self.settings.harness.get(name));
        let set = table.map(|table| table.env.clone()).unwrap_or_default();
        let mut all = assemble(&self.callers_env, &set, &[])?;
        for (name, value) in toolchains::of(&self.callers_env) {
            all.entry(name.clone()).or_insert_with(|| value.clone());
        }
        all.extend([
            ("CREW_WORKER".into(), "1".into()),
            (SET_UP_MARK.into(), "1".into()),
            ("CREW_TICKET_ID".into(), of.ticket.id.as_str().into()),
            ("CREW_AGENT".into(), of.agent.as_str().into()),
            ("TICKETS_DIR".into(), self.place.tickets_dir.clone().into()),
            (process::QUEUE_MARK.into(), self.place.tickets_dir.clone().into()),
            ("GIT_CEILING_DIRECTORIES".into(), workspace.ceiling().into()),
        ]);
        Ok(all)
    }

    /// The program that a command of a set-up does not find.
    fn missing_in_set_up(&self, of: &Subject, command: &str) -> Result<Option<String>> {
        let Some(workspace) = self.workspace(&of.ticket, &of.agent, of.number)? else {
            return Ok(None);
        };
        let environment = self.set_up_environment(of, &workspace)?;
        Ok(missing_program(command, &environment))
    }

    /// Ends the set-up of a ticket's workspace, whichever engine has begun it.
    pub(crate) fn end_set_up(&self, ticket: &TicketId) -> Result<()> {
        for (_, run) in set_up_runs(&self.place, ticket) {
            if !matches!(run.status(), Ok(Status::Ended(_))) {
                crate::end_run(&run)?;
            }
        }
        Ok(())
    }
}

/// The runs of commands that set up workspaces of a ticket, as far as their outputs are kept.
#[must_use]
pub fn set_up_runs(place: &Place, ticket: &TicketId) -> Vec<(RunId, Run)> {
    let dirs = crate::folders(&place.runs_dir).unwrap_or_default();
    let run = |dir: &Path| {
        let id = RunId::new(dir.file_name()?.to_str()?).ok()?;
        let is_its = id.is_set_up() && id.ticket().as_ref() == Some(ticket);
        Some((id, Run::open(dir).ok().filter(|_| is_its)?))
    };
    dirs.iter().filter_map(|dir| run(dir)).collect()
}
