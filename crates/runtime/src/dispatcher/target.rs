//! The bare target: looks at it, and runs its checks while the core wants them run.

use std::sync::{Arc, Mutex, PoisonError};

use engine::{Input, driver};
use tokio::sync::{Notify, mpsc};
use tokio::task::JoinHandle;
use watch::{Kind, Notice, Watcher};

use super::{Dispatcher, Event};
use crate::executor::Executor;
use crate::target::Ask;
use crate::{Result, target};

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
        let ask = match anew {
            true => Ask::Remote,
            false => Ask::IfMoved,
        };
        self.has_seen_target = true;
        let (executor, anyway) = (Arc::clone(&self.executor), self.options.anyway);
        let expected = self.driver.core().expected_target();
        let seen = self
            .executor
            .threads
            .end(move || target::seen(&executor, ask, anyway, anew, Some(&expected)))
            .await;
        if let Some(seen) = seen.flatten() {
            let seen = driver::Event::Input(Input::TargetSeen(seen));
            self.handle(vec![seen]).await?;
        }
        Ok(())
    }

    /// Has the target looked at: it or the settings may have changed, or its remote is to be asked. The
    /// result arrives as an event.
    pub(super) fn look_at_target(&self, ask: Ask) {
        if !self.is_draining() {
            return;
        }
        let (executor, anyway) = (Arc::clone(&self.executor), self.options.anyway);
        let expected = self.driver.core().expected_target();
        let tell = self.sender.clone();
        tokio::spawn(async move {
            let threads = Arc::clone(&executor.threads);
            let seen = threads
                .begin(move || target::seen(&executor, ask, anyway, false, Some(&expected)))
                .await;
            // Where no thread is to be had, the next look comes with the next tick.
            if let Ok(Some(Some(seen))) = seen {
                let seen = driver::Event::Input(Input::TargetSeen(seen));
                drop(tell.send(Event::Driver(seen)));
            }
        });
    }

    /// Begins the checks of the target that the core wants run, and ends those that it does not want any
    /// more.
    pub(super) fn follow_target(&mut self) {
        let wanted = self.driver.core().target_to_check();
        let round = wanted.as_ref().map(|wanted| wanted.round);
        if self.checking_target.as_ref().map(|checking| checking.round) == round {
            return;
        }
        if let Some(old) = self.checking_target.take() {
            old.unwanted.notify_one();
            self.ending_target_checks.retain(|task| !task.is_finished());
            self.ending_target_checks.push(old.task);
        }
        let Some(wanted) = wanted else { return };
        let unwanted = Arc::new(Notify::new());
        let (executor, tell) = (Arc::clone(&self.executor), self.sender.clone());
        let (round, is_unwanted) = (wanted.round, Arc::clone(&unwanted));
        let task = tokio::spawn(async move {
            let current = Mutex::new(None);
            let report = |found| {
                let input = Input::TargetChecked { round, found };
                drop(tell.send(Event::Driver(driver::Event::Input(input))));
            };
            tokio::select! {
                found = target::check(&wanted, &executor, &current, &report) => report(found),
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
            self.ending_target_checks.push(checking.task);
        }
        for task in self.ending_target_checks.drain(..) {
            drop(task.await);
        }
    }
}

/// Has the files watched that change when the target moves: those of loose and of packed refs, and of the
/// reftable format.
pub(super) fn watch_target(executor: &Executor, tell: mpsc::UnboundedSender<Event>) -> Option<Watcher> {
    let common = executor.repository.common_dir().to_owned();
    let followed = executor.repository.followed(&executor.target).ok()?;
    let loose = common.join(followed.full());
    let mut files = vec![
        loose.clone(),
        common.join("packed-refs"),
        common.join("reftable/tables.list"),
    ];
    // Whoever fetches or pushes the branch moves this one.
    if let Ok(Some(remote)) = executor.remote() {
        files.push(common.join(git::tracking(&remote, &executor.target)));
    }
    let watched = files.clone();
    let watcher = Watcher::new(move |notice| {
        let is_touched = match &notice {
            Notice::Of {
                kind: Kind::Closed, ..
            } => false,
            Notice::Of { path, .. } => watched.contains(path),
            // A look finds the change.
            Notice::Lost => true,
        };
        if is_touched {
            drop(tell.send(Event::TargetTouched));
        }
    })
    .ok()?;
    let folders: std::collections::BTreeSet<_> = files.iter().filter_map(|file| file.parent()).collect();
    for folder in folders {
        // One that is not there has no ref in it; a ref that is made there is seen at the next tick.
        drop(watcher.watch(folder));
    }
    Some(watcher)
}
