//! The bare target: looks at it, and runs its checks while the core wants them run.

use std::sync::{Arc, Mutex, PoisonError};

use engine::{Input, Report, TargetCheck, TargetFound, TargetSeen, driver};
use model::RunId;
use model::settings::canary::runs_tests;
use model::ticket::{Candidate, CheckOutcome, CheckTask, Checks, Loss};
use notify::Watcher as _;
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;

use super::{Dispatcher, Event};
use crate::check::{Check, Shown};
use crate::executor::Executor;
use crate::executor::perform::model_oid;
use crate::observe::{self, Subject};
use crate::{Result, clock};

/// The checks of the bare target that are being run.
#[derive(Debug)]
pub(super) struct Checking {
    round: u32,
    unwanted: Arc<Notify>,
    task: JoinHandle<()>,
}

impl Dispatcher {
    /// Looks at the target before anything else is: no agent is started on one that nobody has looked at.
    pub(super) async fn look_at_target_first(&mut self) -> Result<()> {
        if !self.is_draining() {
            return Ok(());
        }
        let anew = !self.has_seen_target;
        self.has_seen_target = true;
        let (executor, anyway) = (Arc::clone(&self.executor), self.options.anyway);
        let seen = self
            .executor
            .threads
            .end(move || executor.target_seen(anyway, anew))
            .await;
        if let Some(seen) = seen.flatten() {
            let seen = driver::Event::Input(Input::TargetSeen(seen));
            self.handle(vec![seen]).await?;
        }
        Ok(())
    }

    /// Has the target looked at: it or the settings may have changed. The result arrives as an event.
    pub(super) fn look_at_target(&self) {
        if !self.is_draining() {
            return;
        }
        let (executor, anyway) = (Arc::clone(&self.executor), self.options.anyway);
        let tell = self.sender.clone();
        tokio::spawn(async move {
            let threads = Arc::clone(&executor.threads);
            let seen = threads.begin(move || executor.target_seen(anyway, false)).await;
            // Where no thread is to be had, the next look comes with the next tick.
            if let Ok(Some(Some(seen))) = seen {
                let seen = driver::Event::Input(Input::TargetSeen(seen));
                drop(tell.send(Event::Driver(seen)));
            }
        });
    }

    /// Begins the checks of the target that the core wants run, and ends those that it does not want any more.
    pub(super) fn follow_target(&mut self) {
        let wanted = self.driver.core().target_to_check();
        let round = wanted.as_ref().map(|wanted| wanted.round);
        if self.checking_target.as_ref().map(|checking| checking.round) == round {
            return;
        }
        if let Some(old) = self.checking_target.take() {
            old.unwanted.notify_one();
        }
        let Some(wanted) = wanted else { return };
        let unwanted = Arc::new(Notify::new());
        let (executor, tell) = (Arc::clone(&self.executor), self.sender.clone());
        let (round, is_unwanted) = (wanted.round, Arc::clone(&unwanted));
        let task = tokio::spawn(async move {
            let current = Mutex::new(None);
            tokio::select! {
                () = check(&wanted, &executor, &current, &tell) => {}
                () = is_unwanted.notified() => {}
            }
            let left = current.lock().unwrap_or_else(PoisonError::into_inner).take();
            if let Some(run) = left {
                let with = Arc::clone(&executor);
                executor.threads.end(move || with.stop_check(&run)).await;
            }
        });
        self.checking_target = Some(Checking {
            round,
            unwanted,
            task,
        });
    }

    /// Ends the checks of the target with the engine.
    pub(super) async fn end_target_check(&mut self) {
        if let Some(checking) = self.checking_target.take() {
            checking.unwanted.notify_one();
            drop(checking.task.await);
        }
    }
}

/// Runs the checks of the target, each under a shim, and reports how far they are and what they come to.
/// `current`: the run whose process may be alive.
async fn check(
    wanted: &TargetCheck,
    executor: &Arc<Executor>,
    current: &Mutex<Option<RunId>>,
    tell: &mpsc::UnboundedSender<Event>,
) {
    let report = |found| {
        let round = wanted.round;
        let input = Input::TargetChecked { round, found };
        drop(tell.send(Event::Driver(driver::Event::Input(input))));
    };
    // The target stands for a candidate that is merged already.
    let candidate = Candidate {
        commit: wanted.commit.clone(),
        tree: wanted.tree.clone(),
        target: wanted.commit.clone(),
        tip: wanted.commit.clone(),
        passed: Vec::new(),
    };
    let mut series = Series {
        checks: Checks::new(candidate, wanted.plan.clone()),
        round: wanted.round,
        executor,
        current,
        report: &report,
    };
    let found = match series.run_all().await {
        Some(found) => found,
        None => series.canaries().await,
    };
    report(found);
}

/// The runs of the checks on the target, one after the other.
struct Series<'a> {
    checks: Checks,
    round: u32,
    executor: &'a Arc<Executor>,
    /// The run whose process may be alive.
    current: &'a Mutex<Option<RunId>>,
    report: &'a (dyn Fn(TargetFound) + Sync),
}

impl Series<'_> {
    fn is_now(&self, run: Option<RunId>) {
        *self.current.lock().unwrap_or_else(PoisonError::into_inner) = run;
    }

    /// Runs what is left to run. Gives the end, where it is no good one.
    async fn run_all(&mut self) -> Option<TargetFound> {
        while let Some(task) = self.checks.next() {
            let command = self.checks.command(task).unwrap_or_default().to_owned();
            let outcome = self.run(task, None).await;
            if let Some(why) = self.checks.cannot_run(task, &outcome) {
                return Some(TargetFound::CouldNotRun { why });
            }
            if let CheckOutcome::Failed { output } = outcome {
                return Some(TargetFound::Failed {
                    which: command,
                    output,
                });
            }
        }
        None
    }

    /// Runs each command once on a tree with broken sources, unless it is known what that shows.
    async fn canaries(&mut self) -> TargetFound {
        let mut indifferent = Vec::new();
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
                None => self.canary(&command, n, &key).await,
            };
            match shown {
                Some(Shown::Passes) if runs_tests(&command) => return TargetFound::Blind { which: command },
                Some(Shown::Passes) => indifferent.push(command),
                Some(Shown::Looks) | None => {}
            }
        }
        TargetFound::Passed { indifferent }
    }

    /// Gives what the canary of a command shows; none where it could not be run, which shows nothing.
    async fn canary(&mut self, command: &str, n: usize, key: &str) -> Option<Shown> {
        // The commands have passed: what is left to run is the set-up, where the checkout needs it anew.
        for _ in 0..2 {
            let outcome = self.run(CheckTask::Target, Some((n, command, key))).await;
            let shown = match outcome {
                CheckOutcome::Passed | CheckOutcome::PassedBefore => Shown::Passes,
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

    /// Runs the next command of a task, or the canary of a command: its number, its text and the key.
    async fn run(&mut self, task: CheckTask, canary: Option<(usize, &str, &str)>) -> CheckOutcome {
        let command = match canary {
            Some((_, command, _)) => command.to_owned(),
            None => self.checks.command(task).unwrap_or_default().to_owned(),
        };
        let run = RunId::of_target(self.round, self.checks.runs + 1);
        self.checks.order(run.clone(), task, clock::now());
        self.is_now(Some(run.clone()));
        let (checks, with, key) = (
            self.checks.clone(),
            Arc::clone(self.executor),
            canary.map(|(_, _, key)| key.to_owned()),
        );
        let (of, text) = (run.clone(), command.clone());
        let started = self.executor.threads.begin(move || {
            let check = Check {
                run: &of,
                task,
                commit: checks.commit(task),
                command: &text,
                plan: &checks.plan,
                set_up: checks.set_up.unwrap_or(0),
                passed: checks.passed_before(task),
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
        let outcome = if let Report::CheckSpawned = started {
            (self.report)(TargetFound::Running {
                command,
                is_canary: canary.is_some(),
            });
            // Its surroundings may be at fault, so it gets the hint that a proof on the target gets. What
            // passes on broken sources has not passed.
            let task = canary.is_none().then_some(CheckTask::Target);
            end_of(&run, task, self.executor).await
        } else {
            let outcome = started.check_outcome();
            outcome.unwrap_or_else(|| CheckOutcome::CouldNotRun {
                why: why_not(started),
            })
        };
        self.is_now(None);
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

impl Executor {
    /// The target as it is now; none where it cannot be read, which is looked at again.
    fn target_seen(&self, anyway: bool, anew: bool) -> Option<TargetSeen> {
        let commit = self.repository.target(&self.target).ok()?;
        let tree = self.repository.tree_of(&commit).ok()?.0;
        Some(TargetSeen {
            commit: model_oid(&commit).ok()?,
            tree: model_oid(&tree).ok()?,
            environment: self.check_environment(),
            anyway,
            anew,
        })
    }
}

/// Has the files watched that change when the target moves: those of loose and of packed refs, and of the
/// reftable format.
pub(super) fn watch_target(
    executor: &Executor,
    tell: mpsc::UnboundedSender<Event>,
) -> Option<notify::RecommendedWatcher> {
    let common = executor.repository.common_dir().to_owned();
    let followed = executor.repository.followed(&executor.target).ok()?;
    let loose = common.join(followed.full());
    let files = [
        loose.clone(),
        common.join("packed-refs"),
        common.join("reftable/tables.list"),
    ];
    let watched = files.clone();
    let mut watcher = notify::recommended_watcher(move |event: notify::Result<notify::Event>| {
        let is_of_it = event.is_ok_and(|event| {
            !event.kind.is_access() && event.paths.iter().any(|path| watched.contains(path))
        });
        if is_of_it {
            drop(tell.send(Event::TargetTouched));
        }
    })
    .ok()?;
    let folders: std::collections::BTreeSet<_> = files.iter().filter_map(|file| file.parent()).collect();
    for folder in folders {
        // One that is not there has no ref in it; a ref that is made there is seen at the next tick.
        drop(watcher.watch(folder, notify::RecursiveMode::NonRecursive));
    }
    Some(watcher)
}
