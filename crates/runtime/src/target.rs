//! The bare target: its checks, run one after the other outside of any ticket.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex, PoisonError};

use engine::{AtRemote, Expected, Report, TargetCheck, TargetFound, TargetSeen, driver};
use model::RunId;
use model::settings::canary::runs_tests;
use model::target::{Canary, Shown, Verdict};
use model::ticket::{self, Candidate, CheckOutcome, CheckPlan, CheckSlot, CheckTask, Checks, Loss};
use tokio::sync::{Notify, mpsc};

use crate::check::{Check, missing_in, missing_of};
use crate::dispatcher::Event;
use crate::executor::perform::model_oid;
use crate::executor::{Executor, Work};
use crate::observe::{self, Subject};
use crate::{Options, Place, Result, clock};

/// Runs the checks of the settings on the bare target while no engine runs, and gives what they come to.
/// `report` is called with each command that begins. Nothing is recorded but that a tree has passed. Once
/// `unwanted` is ready, the command that runs is ended with all that it has started, and there is no outcome.
///
/// # Errors
/// [`Error::Held`](crate::Error::Held) when an engine runs here; a target that cannot be read.
pub async fn try_target(
    place: &Place,
    options: &Options,
    report: &(dyn Fn(TargetFound) + Sync),
    unwanted: impl Future<Output = ()>,
) -> Result<Option<TargetFound>> {
    let settings = place.settings()?;
    let executor = Arc::new(Executor::new(place, &settings, options, Work::Command)?);
    // A run of an earlier try is no run of this one.
    let runs = place.check_runs_dir();
    for entry in std::fs::read_dir(&runs).into_iter().flatten().flatten() {
        let name = entry.file_name();
        let round = RunId::new(name.to_string_lossy()).ok().and_then(|run| {
            let place = run.check_place()?;
            run.is_of_target().then_some(place.1)
        });
        if round == Some(0) {
            drop(std::fs::remove_dir_all(entry.path()));
        }
    }
    let commit = executor.repository.target(&executor.target)?;
    let tree = executor.repository.tree_of(&commit)?.0;
    let (Ok(commit), Ok(tree)) = (model_oid(&commit), model_oid(&tree)) else {
        return Ok(Some(TargetFound {
            verdict: Verdict::CouldNotRun {
                why: format!("{commit} is no id that crew knows"),
                missing: None,
                may_pass: false,
            },
            canaries: Vec::new(),
            flaky: Vec::new(),
            run: None,
        }));
    };
    let wanted = TargetCheck {
        commit,
        tree,
        plan: CheckPlan::of(&settings),
        round: 0,
    };
    let current = Mutex::new(None);
    let found = tokio::select! {
        found = check(&wanted, &executor, &current, report) => Some(found),
        () = unwanted => None,
    };
    let left = current.lock().unwrap_or_else(PoisonError::into_inner).take();
    if let (None, Some(run)) = (&found, left) {
        let with = Arc::clone(&executor);
        executor.threads.end(move || with.stop_check(&run)).await;
    }
    Ok(found)
}

/// Whether a look at the target asks its remote, where it has one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// It does not.
    Nobody,
    /// It does if somebody has moved the branch here, or has fetched or pushed it.
    IfMoved,
    /// It does, and the local branch follows.
    Remote,
}

/// The target as it is now; none where it cannot be read, which is looked at again. `expected`: where it is
/// unless somebody has moved it, where that is to be looked at.
pub(crate) fn seen(
    executor: &Executor,
    ask: Ask,
    anyway: bool,
    anew: bool,
    expected: Option<&Expected>,
) -> Option<TargetSeen> {
    let at_remote = match ask {
        _ if executor.settings.land.pushes_to().is_none() => AtRemote::Free,
        Ask::Nobody => AtRemote::Unasked,
        Ask::IfMoved => executor.ask_remote_if_moved(),
        Ask::Remote => executor.ask_remote(),
    };
    let commit = executor.repository.target(&executor.target);
    if let Err(git::Error::TargetMissing { .. }) = &commit {
        executor.is_target_away.store(true, Ordering::Relaxed);
    }
    let commit = commit.ok()?;
    let tree = executor.repository.tree_of(&commit).ok()?.0;
    let moved = expected.and_then(|expected| match executor.target_moved(expected, &commit) {
        Ok(moved) => moved,
        Err(error) => {
            // The next look finds it out.
            tracing::debug!(%error, "it was not found out how the target has moved");
            None
        }
    });
    Some(TargetSeen {
        commit: model_oid(&commit).ok()?,
        tree: model_oid(&tree).ok()?,
        environment: executor.check_environment(),
        canary_due: executor.is_canary_due(&tree),
        anyway,
        anew,
        is_back: executor.is_target_away.swap(false, Ordering::Relaxed),
        at_remote,
        moved,
    })
}

/// Runs the checks of the target, each under a shim, and gives what they come to. `report` is called with
/// each command that begins. `current`: the run whose process may be alive.
pub(crate) async fn check(
    wanted: &TargetCheck,
    executor: &Arc<Executor>,
    current: &Mutex<Option<RunId>>,
    report: &(dyn Fn(TargetFound) + Sync),
) -> TargetFound {
    // The target stands for a candidate that is merged already.
    let candidate = Candidate {
        commit: wanted.commit.clone(),
        tree: wanted.tree.clone(),
        target: wanted.commit.clone(),
        tip: wanted.commit.clone(),
        passed: Vec::new(),
        review: None,
        brings_nothing: false,
    };
    let mut series = Series {
        checks: Checks::new(candidate, wanted.plan.clone()),
        round: wanted.round,
        last: None,
        flaky: Vec::new(),
        executor,
        current,
        report,
        is_hindered: false,
    };
    let (verdict, canaries) = match series.run_all().await {
        Some(verdict) => (verdict, Vec::new()),
        None => series.canaries().await,
    };
    TargetFound {
        verdict,
        canaries,
        flaky: series.flaky,
        run: series.last,
    }
}

/// The runs of the checks on the target, one after the other.
struct Series<'a> {
    checks: Checks,
    round: u32,
    /// The last run that has begun.
    last: Option<RunId>,
    /// The names of the checks that passed only when they were repeated.
    flaky: Vec<String>,
    executor: &'a Arc<Executor>,
    /// The run whose process may be alive.
    current: &'a Mutex<Option<RunId>>,
    report: &'a (dyn Fn(TargetFound) + Sync),
    /// Whether the machine kept the last run from being started.
    is_hindered: bool,
}

impl Series<'_> {
    fn is_now(&self, run: Option<RunId>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }

    /// Runs what is left to run. Gives the end, where it is no good one.
    async fn run_all(&mut self) -> Option<Verdict> {
        while let Some(task) = self.checks.next() {
            let Some(command) = self.checks.command(task).cloned() else {
                break;
            };
            let outcome = self.run(task, &command, None).await;
            if let Some(why) = self.checks.cannot_run(task, &outcome) {
                let environment = &self.executor.check_env.variables;
                let is_of_command = matches!(outcome, CheckOutcome::CouldNotRun { .. });
                let missing = is_of_command
                    .then(|| missing_of(&command.command, environment).or_else(|| missing_in(&why)))
                    .flatten();
                return Some(Verdict::CouldNotRun {
                    why,
                    missing,
                    may_pass: outcome.may_pass() || self.is_hindered,
                });
            }
            // What may be repeated has not failed yet.
            if self.checks.failed.is_none() {
                continue;
            }
            if let CheckOutcome::Failed { output } = outcome {
                return Some(Verdict::Failed {
                    which: command.to_string(),
                    output,
                });
            }
        }
        None
    }

    /// Runs each command once on a tree with broken sources, unless it is known what that shows.
    async fn canaries(&mut self) -> (Verdict, Vec<Canary>) {
        let mut canaries = Vec::new();
        for (n, command) in self.checks.plan.commands.clone().into_iter().enumerate() {
            let (with, checks) = (Arc::clone(self.executor), self.checks.clone());
            let known = move || {
                let commit = checks.commit(CheckTask::Target);
                let key = with.canary_key(commit, &checks.plan, n)?;
                Some((with.canary_shown(&key), key))
            };
            let Ok(Some(Some((known, key)))) = self.executor.threads.begin(known).await else {
                continue;
            };
            let shown = match known {
                Some(shown) => Some(shown),
                None => self.canary(&command, &key).await,
            };
            let Some(shown) = shown else { continue };
            let is_blind = shown == Shown::Passes && runs_tests(&command.command.to_string());
            canaries.push(Canary {
                command: command.to_string(),
                shown,
            });
            if is_blind {
                let which = command.to_string();
                return (Verdict::Blind { which }, canaries);
            }
        }
        (Verdict::Passed, canaries)
    }

    /// Gives what the canary of a command shows; none where it could not be run, which shows nothing.
    async fn canary(&mut self, command: &ticket::Check, key: &str) -> Option<Shown> {
        // The commands have passed: what is left to run is the set-up, where the checkout needs it anew.
        for _ in 0..2 {
            let outcome = self.run(CheckTask::Target, command, Some(key)).await;
            let shown = match outcome {
                CheckOutcome::Passed
                | CheckOutcome::Flaky { .. }
                | CheckOutcome::PassedBefore
                | CheckOutcome::FewerTests { .. } => Shown::Passes,
                CheckOutcome::Failed { .. } => Shown::Looks,
                CheckOutcome::NotSetUp => {
                    self.checks.set_up = Some(0);
                    if self.run_all().await.is_some() {
                        return None;
                    }
                    continue;
                }
                CheckOutcome::CouldNotRun { .. } | CheckOutcome::Lost { .. } => return None,
            };
            self.executor.note_canary(key, shown);
            return Some(shown);
        }
        None
    }

    /// Runs a command for a task, or its canary under this key.
    async fn run(&mut self, task: CheckTask, command: &ticket::Check, canary: Option<&str>) -> CheckOutcome {
        let run = RunId::of_target(self.round, self.checks.runs + 1);
        self.checks
            .order(run.clone(), task, CheckSlot::FIRST, clock::now());
        self.is_now(Some(run.clone()));
        let (checks, with, key) = (
            self.checks.clone(),
            Arc::clone(self.executor),
            canary.map(str::to_owned),
        );
        let (of, wanted) = (run.clone(), command.clone());
        let started = self.executor.threads.begin(move || {
            let check = Check {
                run: &of,
                task,
                slot: CheckSlot::FIRST,
                commit: checks.commit(task),
                base: None,
                may_run_fewer_tests: false,
                command: &wanted,
                plan: &checks.plan,
                set_up: checks.set_up.unwrap_or(0),
                passed: checks.passed_before(task),
                anew: false,
            };
            match key {
                Some(key) => with.start_canary(&check, &key),
                None => with.start_check_of_target(&check),
            }
        });
        let started = match started.await {
            Ok(Some(report)) => report,
            Ok(None) => Report::Hindered {
                why: "it failed unexpectedly".to_owned(),
            },
            Err(error) => Report::Hindered {
                why: format!("no thread can be started: {error}"),
            },
        };
        self.is_hindered = matches!(started, Report::Hindered { .. });
        let outcome = if let Report::CheckSpawned = started {
            self.last = Some(run.clone());
            (self.report)(TargetFound {
                verdict: Verdict::Checking {
                    command: Some(command.to_string()),
                    is_canary: canary.is_some(),
                },
                canaries: Vec::new(),
                flaky: Vec::new(),
                run: self.last.clone(),
            });
            // Its surroundings may be at fault, so it gets the hint that a proof on the target gets. What
            // passes on broken sources has not passed.
            let task = canary.is_none().then_some(match task {
                CheckTask::SetUp => CheckTask::SetUp,
                CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target => CheckTask::Target,
            });
            end_of(&run, task, self.executor).await
        } else {
            let outcome = started.check_outcome();
            outcome.unwrap_or_else(|| CheckOutcome::CouldNotRun {
                why: why_not(started),
            })
        };
        self.is_now(None);
        let outcome = self.checks.counted(task, outcome, "");
        if let CheckOutcome::Flaky { .. } = outcome {
            self.flaky.push(command.to_string());
        }
        let ended = self.checks.run.take();
        if let (Some(ended), None) = (ended, canary) {
            self.checks.ended(&ended, &outcome);
        }
        outcome
    }
}

/// Why a check was not started, in words.
fn why_not(report: Report) -> String {
    if let Report::Hindered { why } | Report::CouldNotRun { why } = report {
        return why;
    }
    "it could not be started".to_owned()
}

/// Waits for the end of a run.
async fn end_of(run: &RunId, task: Option<CheckTask>, executor: &Arc<Executor>) -> CheckOutcome {
    let (tell, mut told) = mpsc::unbounded_channel();
    tokio::spawn(observe::watch(
        executor.place.run_dir(run),
        run.clone(),
        Subject::Check(task),
        Arc::new(Notify::new()),
        Arc::clone(executor),
        None,
        tell,
    ));
    while let Some(event) = told.recv().await {
        if let Event::Driver(driver::Event::CheckEnded(end)) = event {
            crate::log::check_ended(&end);
            return end.outcome;
        }
    }
    CheckOutcome::Lost { how: Loss::Vanished }
}
