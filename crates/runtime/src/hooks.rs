//! Hooks: programs of the user's that get the notices of the journal, each at least once and in order.
//!
//! A hook is a follower of the journal with a place of its own in it. It is in nobody's way: a ticket does
//! not wait for it, and no hook waits for another.

mod delivery;
mod waiting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use model::settings;
use model::view::notice::Kind;
use store::{Delivered, FailedHook, Journal as _, Ledger};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use self::delivery::Starter;
pub use self::delivery::{HOOK_MARK, HOOK_TICKET};
pub use self::waiting::{BrokenHook, WaitingHook, broken_hooks, waiting_hooks};
use crate::executor::Executor;
use crate::{Result, clock};

/// Rows of the journal that are read at a time. The place moves by as many at the most before it is noted.
const PAGE: u32 = 100;
/// The pause after something failed that is no fault of a hook.
const PAUSE: Duration = Duration::from_secs(5);
/// The longest that an engine which ends waits for its hooks. The next engine delivers the rest.
const FAREWELL: Duration = Duration::from_secs(10);

/// The hooks that follow the journal, by their keys in the settings.
#[derive(Debug, Default)]
pub(crate) struct Hooks(BTreeMap<&'static str, Follower>);

/// The task that follows the journal for a hook.
#[derive(Debug)]
struct Follower {
    hook: Hook,
    wish: watch::Sender<Wish>,
    task: JoinHandle<()>,
}

/// The wish for a follower.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wish {
    GoOn,
    /// It ends once it has delivered what is there.
    CatchUp,
    /// It ends after the notice that it delivers now.
    End,
}

/// A hook of the settings.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Hook {
    name: &'static str,
    kind: Option<Kind>,
    command: Vec<String>,
    timeout: Duration,
}

impl Hooks {
    /// Has the hooks of the settings follow the journal, from the row after the last notice that each has
    /// got; a new hook begins with what happens next. A hook that the settings do not have any more forgets
    /// its place.
    ///
    /// # Errors
    /// The caller's environment cannot be used.
    pub(crate) fn renew(&mut self, executor: &Executor, ledger: &Ledger) -> Result<()> {
        let with = Arc::new(Starter::of(executor)?);
        let hooks = &executor.settings.hooks;
        for settings::Hook { name, kind, command } in hooks.each() {
            let hook = Hook {
                name,
                kind,
                command: command.to_vec(),
                timeout: hooks.timeout,
            };
            if self.0.get(name).is_some_and(|follower| follower.hook == hook) {
                continue;
            }
            let before = self.0.remove(name);
            let (wish, wished) = watch::channel(Wish::GoOn);
            let (own, with, ledger) = (hook.clone(), Arc::clone(&with), ledger.clone());
            let task = tokio::spawn(async move {
                if let Some(before) = before {
                    before.wish.send_replace(Wish::End);
                    drop(before.task.await);
                }
                own.follow(&with, &ledger, wished).await;
            });
            self.0.insert(name, Follower { hook, wish, task });
        }
        Ok(())
    }

    /// Delivers what is left, for a while, and says what is left then.
    pub(crate) async fn finish(&mut self, ledger: &Ledger, hooks: &settings::Hooks) {
        let followers = std::mem::take(&mut self.0);
        for follower in followers.values() {
            follower.wish.send_replace(Wish::CatchUp);
        }
        let all = async {
            for (_, follower) in followers {
                drop(follower.task.await);
            }
        };
        // The shim of a program that takes longer does not end with this engine.
        if tokio::time::timeout(FAREWELL, all).await.is_ok() {
            return;
        }
        for waiting in waiting_hooks(ledger, hooks).await.unwrap_or_default() {
            tracing::warn!(
                "{}: the next `crew run` delivers what it was not given",
                waiting.words()
            );
        }
    }
}

impl Hook {
    /// Follows the journal until it is to end, whatever fails meanwhile.
    async fn follow(&self, with: &Arc<Starter>, ledger: &Ledger, mut wish: watch::Receiver<Wish>) {
        let mut told = String::new();
        loop {
            let followed = match self.command.as_slice() {
                [] => self.forget(with, ledger).await,
                _ => self.deliver_each(with, ledger, &mut wish).await,
            };
            let Err(error) = followed else { return };
            let why = text::with_causes(&error);
            if told != why {
                tracing::warn!("the hook `{}` waits: {why}", self.name);
                told = why;
            }
            if *wish.borrow() != Wish::GoOn {
                return;
            }
            tokio::select! {
                () = tokio::time::sleep(PAUSE) => {}
                changed = wish.changed() => if changed.is_err() { return },
            }
        }
    }

    /// Forgets the place in the journal of a hook that the settings do not have.
    async fn forget(&self, with: &Arc<Starter>, ledger: &Ledger) -> Result<()> {
        self.clear(with, u64::MAX).await?;
        if ledger.delivered(self.name).await? != Delivered::default() {
            ledger.set_delivered(self.name, &Delivered::default()).await?;
        }
        Ok(())
    }

    /// Delivers one notice after the other, until it is to end.
    async fn deliver_each(
        &self,
        with: &Arc<Starter>,
        ledger: &Ledger,
        wish: &mut watch::Receiver<Wish>,
    ) -> Result<()> {
        let mut writes = ledger.subscribe();
        let mut state = ledger.delivered(self.name).await?;
        let mut after = match state.after {
            Some(after) => after,
            None => {
                let head = ledger.0.head().await?.0;
                self.move_to(ledger, &mut state, head).await?;
                head
            }
        };
        self.clear(with, after).await?;
        loop {
            let rows = ledger.tail(after, PAGE).await?;
            if rows.is_empty() {
                if *wish.borrow() != Wish::GoOn {
                    return self.move_to(ledger, &mut state, after).await;
                }
                tokio::select! {
                    changed = writes.changed() => changed?,
                    changed = wish.changed() => if changed.is_err() { return Ok(()) },
                }
            }
            for row in rows {
                if *wish.borrow() == Wish::End {
                    return self.move_to(ledger, &mut state, after).await;
                }
                let notice = ledger.notice(&row).await?;
                let wanted = notice.filter(|notice| self.kind.is_none_or(|kind| kind == notice.kind));
                if let Some(notice) = wanted {
                    let failed = self.deliver(with, &notice).await?;
                    state.failed = failed.map(|why| FailedHook {
                        notice: row.seq,
                        at: clock::now(),
                        why,
                    });
                    self.move_to(ledger, &mut state, row.seq).await?;
                    self.clear(with, row.seq).await?;
                }
                after = row.seq;
            }
            // Rows without a notice for it are not read again at each start.
            if after >= state.after.unwrap_or_default() + u64::from(PAGE) {
                self.move_to(ledger, &mut state, after).await?;
            }
        }
    }

    /// Notes the hook's place in the journal, with its last failure.
    async fn move_to(&self, ledger: &Ledger, state: &mut Delivered, after: u64) -> Result<()> {
        if state.after.replace(after) != Some(after) {
            ledger.set_delivered(self.name, state).await?;
        }
        Ok(())
    }
}

impl Drop for Hooks {
    fn drop(&mut self) {
        for follower in self.0.values() {
            follower.task.abort();
        }
    }
}
