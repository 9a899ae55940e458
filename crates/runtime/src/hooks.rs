//! Hooks: programs of the user's that get the notices of the journal, each at least once and in order.
//!
//! A hook is a follower of the journal with a place of its own in it, which moves on once a notice was
//! delivered. It is in nobody's way: a ticket does not wait for it, and no hook waits for another. Its
//! program runs under a shim, so that an engine that is killed leaves it to the next one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harness::environment::{Environment, assemble};
use model::settings;
use model::view::Notice;
use model::view::notice::Kind;
use process::{Exit, Reason, Run, Shim, Spec, Status};
use store::{Delivered, FailedHook, Journal as _, Ledger};
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::blocking::Threads;
use crate::executor::{Executor, Owner, private_dir};
use crate::{Error, Place, Result, clock, log, orphans, outputs, set_up};

/// The variable by which a program knows that it is a hook of crew's.
const HOOK_MARK: &str = "CREW_HOOK";
/// Rows of the journal that are read at a time.
const PAGE: u32 = 100;
/// The pause after something failed that is no fault of a hook.
const PAUSE: Duration = Duration::from_secs(5);
/// The longest that an engine which ends waits for its hooks. The next engine delivers the rest.
const FAREWELL: Duration = Duration::from_secs(10);
/// The time between TERM and KILL for a program that takes too long, in milliseconds.
const GRACE_MS: u64 = 1_000;
/// Bytes that are read at the end of what a hook that failed has printed.
const END: u64 = 4 << 10;

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

/// What the program of a hook is started with.
#[derive(Debug)]
struct Starter {
    owner: Owner,
    root: PathBuf,
    /// The folder of the runs of hooks.
    dir: PathBuf,
    shim: Shim,
    env: Environment,
    threads: Arc<Threads>,
}

impl Starter {
    fn of(executor: &Executor) -> Result<Self> {
        let mut env = assemble(&executor.callers_env, &BTreeMap::new(), &[])?;
        env.insert(HOOK_MARK.into(), "1".into());
        Ok(Self {
            owner: executor.owner.clone(),
            root: executor.place.root.clone(),
            dir: executor.place.hook_runs_dir(),
            shim: executor.shim.clone(),
            env,
            threads: Arc::clone(&executor.threads),
        })
    }
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

    /// Delivers what is left, for a while.
    pub(crate) async fn finish(&mut self) {
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
        drop(tokio::time::timeout(FAREWELL, all).await);
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
                state.after = Some(head);
                ledger.set_delivered(self.name, &state).await?;
                head
            }
        };
        self.clear(with, after).await?;
        loop {
            let rows = ledger.tail(after, PAGE).await?;
            if rows.is_empty() {
                if *wish.borrow() != Wish::GoOn {
                    return Ok(());
                }
                tokio::select! {
                    changed = writes.changed() => changed?,
                    changed = wish.changed() => if changed.is_err() { return Ok(()) },
                }
            }
            for row in rows {
                if *wish.borrow() == Wish::End {
                    return Ok(());
                }
                let notice = ledger.notice(&row).await?;
                let wanted = notice.filter(|notice| self.kind.is_none_or(|kind| kind == notice.kind));
                if let Some(notice) = wanted {
                    let failed = self.deliver(with, &notice).await?;
                    state = Delivered {
                        after: Some(row.seq),
                        failed: failed.map(|why| FailedHook {
                            notice: row.seq,
                            at: clock::now(),
                            why,
                        }),
                    };
                    ledger.set_delivered(self.name, &state).await?;
                    self.clear(with, row.seq).await?;
                }
                after = row.seq;
            }
        }
    }

    /// Delivers a notice, unless an earlier engine has begun with that: then waits for the end. Gives the
    /// failure of the program, in words; none where it went well.
    async fn deliver(&self, with: &Arc<Starter>, notice: &Notice) -> Result<Option<String>> {
        let (hook, starter) = (self.clone(), Arc::clone(with));
        let (id, stdin) = (notice.id, self.stdin(notice));
        let run = with.on_thread(move || hook.begin(&starter, id, &stdin)).await?;
        let watched = run.clone();
        let pidfd = with
            .on_thread(move || Ok(watched.watch()?.try_clone_pidfd()?))
            .await?;
        if let Some(pidfd) = pidfd.and_then(set_up::readable) {
            drop(pidfd.readable().await);
        }
        let ended = run.clone();
        let exit = with
            .on_thread(move || {
                if let Status::Running { .. } = ended.status()? {
                    ended.watch()?.wait(Duration::from_secs(5))?;
                }
                Ok(ended.sweep()?.exit)
            })
            .await?;
        let failure = self.failure(&exit, run.dir());
        log::hook_ended(self.name, id, failure.as_deref());
        if let Some(failure) = &failure {
            tracing::warn!(
                "the hook `{}` failed on notice {id}: {}",
                self.name,
                text::sanitise::line(failure)
            );
        }
        Ok(failure)
    }

    /// The notice on one line.
    fn stdin(&self, notice: &Notice) -> Vec<u8> {
        let mut line = serde_json::to_vec(notice).unwrap_or_default();
        line.push(b'\n');
        line
    }

    /// Starts the program, unless it was started for this notice.
    fn begin(&self, with: &Starter, notice: u64, stdin: &[u8]) -> Result<Run> {
        let dir = with.dir.join(format!("{}-{notice}", self.name));
        private_dir(&with.dir)?;
        if let Ok(run) = Run::open(&dir)
            && let Status::Lost { .. } = run.status()?
        {
            // Its shim was killed: nobody knows how far the program came.
            orphans::end_run(&run)?;
            take_away(&dir)?;
        }
        let mut words = self.command.iter().map(OsString::from);
        let program = words.next().unwrap_or_default();
        let id = with.owner.run_id(&format!("hook.{}.{notice}", self.name));
        let mut spec = Spec::new(id, program, &with.root);
        spec.args = words.collect();
        spec.env = with.env.clone();
        spec.grace_ms = GRACE_MS;
        spec.timeout_ms = u64::try_from(self.timeout.as_millis()).ok();
        let run = Run::create(&dir, &spec, Some(stdin))?;
        run.start(&with.shim)?;
        log::hook_started(self.name, notice);
        Ok(run)
    }

    /// How the program failed, in words; none where it went well.
    fn failure(&self, exit: &Exit, dir: &Path) -> Option<String> {
        if exit.is_success() {
            return None;
        }
        let how = match (&exit.reason, exit.code, exit.signal) {
            (Reason::SpawnFailed { error, .. }, _, _) => {
                return Some(format!("it cannot be started: {error}"));
            }
            (Reason::TimedOut, _, _) => format!(
                "it took longer than {}, and was stopped ([hooks] timeout)",
                model::view::span(self.timeout)
            ),
            (Reason::Stopped | Reason::Lost, _, _) => "somebody has ended it".to_owned(),
            (Reason::Exited, Some(code), _) => format!("exit code {code}"),
            (Reason::Exited, None, Some(signal)) => format!("ended by signal {signal}"),
            (Reason::Exited, None, None) => "nobody knows how it ended".to_owned(),
        };
        let last = [process::Stream::Err, process::Stream::Out]
            .into_iter()
            .find_map(|stream| last_line(&dir.join(stream.file())));
        Some(match last {
            Some(last) => format!("{how}: {last}"),
            None => how,
        })
    }

    /// Ends and removes the runs for notices up to this one: they were delivered.
    async fn clear(&self, with: &Arc<Starter>, up_to: u64) -> Result<()> {
        let (dir, name) = (with.dir.clone(), self.name);
        let clear = move || {
            let listed = crate::folders(&dir).map_err(|source| Error::Io {
                doing: "list",
                path: dir.clone(),
                source,
            })?;
            for one in listed {
                if notice_of(&one, name).is_some_and(|notice| notice <= up_to) {
                    if let Ok(run) = Run::open(&one)
                        && !matches!(run.status(), Ok(Status::Ended(_)))
                    {
                        orphans::end_run(&run)?;
                    }
                    take_away(&one)?;
                }
            }
            Ok(())
        };
        with.on_thread(clear).await
    }
}

impl Starter {
    async fn on_thread<T: Send + 'static>(
        &self,
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let failed = |source| Error::Io {
            doing: "start a thread for the hooks in",
            path: self.root.clone(),
            source,
        };
        let done = self.threads.begin(work).await.map_err(failed)?;
        done.unwrap_or_else(|| Err(failed(std::io::Error::other("it ended unexpectedly"))))
    }
}

impl Place {
    /// The folder of the runs of hooks.
    pub(crate) fn hook_runs_dir(&self) -> PathBuf {
        self.crew_dir.join("hooks")
    }
}

/// The notice that a run of this hook is for.
fn notice_of(dir: &Path, hook: &str) -> Option<u64> {
    let (of, notice) = dir.file_name()?.to_str()?.rsplit_once('-')?;
    notice.parse().ok().filter(|_| of == hook)
}

fn take_away(dir: &Path) -> Result<()> {
    outputs::take_away(dir).map_err(|source| Error::Io {
        doing: "remove",
        path: dir.to_owned(),
        source,
    })
}

/// The last line of a file that is not empty.
fn last_line(path: &Path) -> Option<String> {
    use std::io::{Read as _, Seek as _, SeekFrom};
    let mut file = std::fs::File::open(path).ok()?;
    let length = file.metadata().ok()?.len();
    file.seek(SeekFrom::Start(length.saturating_sub(END))).ok()?;
    let mut end = Vec::new();
    file.take(END).read_to_end(&mut end).ok()?;
    let end = String::from_utf8_lossy(&end).into_owned();
    let last = end.lines().rev().map(text::sanitise::output_line);
    last.into_iter().find(|line| !line.is_empty())
}

impl Drop for Hooks {
    fn drop(&mut self) {
        for follower in self.0.values() {
            follower.task.abort();
        }
    }
}
