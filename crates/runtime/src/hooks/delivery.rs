//! The delivery of a notice: the program of a hook runs with it on its standard input, under a shim, so that
//! an engine that is killed leaves it to the next one.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use harness::environment::{Environment, assemble};
use model::TicketId;
use model::view::Notice;
use process::{Exit, Reason, Run, Shim, Spec, Status};

use super::Hook;
use crate::blocking::Threads;
use crate::executor::{Executor, Owner, private_dir};
use crate::{Error, Place, Result, log, orphans, outputs, set_up};

/// The variable by which a program knows that it is a hook of crew's: its value is the hook's key in the
/// settings.
pub const HOOK_MARK: &str = "CREW_HOOK";
/// The variable with the ticket of the notice, where it has one.
pub const HOOK_TICKET: &str = "CREW_HOOK_TICKET";
/// The time between TERM and KILL for a program that takes too long, in milliseconds.
const GRACE_MS: u64 = 1_000;
/// Bytes that are read at the end of what a hook that failed has printed.
const END: u64 = 4 << 10;

/// What the program of a hook is started with.
#[derive(Debug)]
pub(super) struct Starter {
    owner: Owner,
    root: PathBuf,
    tickets_dir: PathBuf,
    /// The folder of the runs of hooks.
    dir: PathBuf,
    shim: Shim,
    env: Environment,
    threads: Arc<Threads>,
}

impl Starter {
    pub(super) fn of(executor: &Executor) -> Result<Self> {
        Ok(Self {
            owner: executor.owner.clone(),
            root: executor.place.root.clone(),
            tickets_dir: executor.place.tickets_dir.clone(),
            dir: executor.place.hook_runs_dir(),
            shim: executor.shim.clone(),
            env: environment(&executor.callers_env)?,
            threads: Arc::clone(&executor.threads),
        })
    }
}

/// The environment of the programs of hooks, without the mark.
pub(super) fn environment(callers: &Environment) -> Result<Environment> {
    Ok(assemble(callers, &BTreeMap::new(), &[])?)
}

impl Hook {
    /// Delivers a notice, unless an earlier engine has begun with that: then waits for the end. Gives the
    /// failure of the program, in words; none where it went well.
    pub(super) async fn deliver(&self, with: &Arc<Starter>, notice: &Notice) -> Result<Option<String>> {
        let (hook, starter) = (self.clone(), Arc::clone(with));
        let (id, ticket, stdin) = (notice.id, notice.ticket.clone(), self.stdin(notice));
        let run = with
            .on_thread(move || hook.begin(&starter, (id, ticket.as_ref()), &stdin))
            .await?;
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
    fn begin(&self, with: &Starter, (notice, ticket): (u64, Option<&TicketId>), stdin: &[u8]) -> Result<Run> {
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
        spec.env.insert(HOOK_MARK.into(), self.name.into());
        spec.env
            .insert(process::QUEUE_MARK.into(), with.tickets_dir.clone().into());
        if let Some(ticket) = ticket {
            spec.env.insert(HOOK_TICKET.into(), ticket.as_str().into());
        }
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
    pub(super) async fn clear(&self, with: &Arc<Starter>, up_to: u64) -> Result<()> {
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
