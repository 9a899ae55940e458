//! Observation of runs: waits for the end of each run's shim, samples the run meanwhile, and reads what it
//! printed.

mod outcome;
mod over;
mod said;
mod tools;
mod unread;

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{CheckEnd, Input, driver};
use model::attempt::{Class, HarnessId};
use model::call::Role;
use model::policy::stall::Sample;
use model::ticket::{CheckOutcome, CheckTask, Loss, Ticket};
use model::{RunId, Time};
use process::{Beat, Pulse, Run, Status, Stream, Swept};
use store::Ledger;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use self::outcome::{failed, of_failure};
use self::over::Over;
use self::said::{NoteSubmitted, Said};
use self::unread::{Failures, Unread};
use crate::blocking::Threads;
use crate::calls::{Calls, Notices, Written};
use crate::clock;
use crate::dispatcher::Event;
use crate::executor::Executor;

/// How often a run is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(5);
/// How long more output is waited for before what is new is read: a client that prints all the time is read a
/// few times a second.
const OUTPUT_RESTS: Duration = Duration::from_millis(200);

/// What is said of a run whose record a thread could not read.
const UNREADABLE: &str = "its record could not be read";

/// The subject of a run.
#[derive(Clone, Debug)]
pub(crate) enum Subject {
    /// A step of a ticket, with the conversation.
    Step(Option<Box<Ticket>>, harness::Session),
    /// A step of a review, with the client that it was started with and the conversation.
    Review(HarnessId, harness::Session),
    /// A check, with its task while a ticket waits for it.
    Check(Option<CheckTask>),
}

impl Subject {
    /// The role of the agent whose step it is, as the settings stand; none of a check, which calls nothing.
    fn role(&self, executor: &Executor) -> Option<Role> {
        match self {
            Subject::Step(ticket, _) => {
                let ticket = ticket.as_deref();
                let agent = ticket.and_then(|ticket| Some((ticket, &ticket.attempt()?.claim.agent)));
                Some(match agent {
                    Some((ticket, agent)) if executor.is_leader(ticket, agent) => Role::Leader,
                    Some(_) | None => Role::Worker,
                })
            }
            Subject::Review(..) => Some(Role::Gatekeeper),
            Subject::Check(_) => None,
        }
    }

    /// The ticket whose step it is.
    fn stepped(&self) -> Option<Box<Ticket>> {
        match self {
            Subject::Step(ticket, _) => ticket.clone(),
            Subject::Review(..) | Subject::Check(_) => None,
        }
    }

    /// The end of a run of which there is no record: of a check `how` it was lost, of a step in a `message`.
    fn lost(&self, id: &RunId, how: Loss, message: &str) -> driver::Event {
        match self {
            Subject::Step(..) | Subject::Review(..) => {
                driver::Event::RunEnded(failed(id, Class::Lost, message))
            }
            Subject::Check(_) => {
                driver::Event::CheckEnded(CheckEnd::new(id.clone(), CheckOutcome::Lost { how }))
            }
        }
    }
}

/// Watches a run until it has ended, and reports its end. Returns early when nobody listens any more.
/// `asked`: notified when somebody has asked the run to stop. `inbox`: the journal whose inbox the calls of
/// its agent come into, and the notices of them.
pub(crate) async fn watch(
    dir: PathBuf,
    id: RunId,
    subject: Subject,
    asked: Arc<Notify>,
    executor: Arc<Executor>,
    inbox: Option<(Ledger, Arc<Notices>)>,
    tell: UnboundedSender<Event>,
) {
    let notices = inbox.as_ref().map(|(_, notices)| Arc::clone(notices));
    let notices = notices.as_ref();
    let mut calls = match subject.role(&executor).zip(inbox) {
        Some((role, (ledger, notices))) => Run::open(&dir)
            .and_then(|run| {
                let of = (&id, subject.stepped());
                Calls::of(&run, of, role, ledger, Arc::clone(&executor), notices)
            })
            // The end of the run says what is wrong with its folder.
            .unwrap_or_default(),
        None => None,
    };
    let serving = async {
        match &mut calls {
            Some(calls) => calls.serve().await,
            None => std::future::pending().await,
        }
    };
    let mut failures = Failures::of(&dir, &id, &subject, &executor, &tell);
    let over = async {
        loop {
            match over(&dir, &id, &subject, &asked, (&executor, notices), &tell).await {
                Ok(over) => return Ok(over),
                Err(error) => failures.meet(error).await?,
            }
        }
    };
    let over = tokio::select! {
        over = over => over,
        () = serving => return,
    };
    failpoint::hit("stream.read");
    // A call that was written before the run ended counts before its end, which tells what has changed since
    // the agent submitted.
    while let Some(calls) = &mut calls
        && let Err(error) = calls.take_last().await
    {
        crate::log::watch_retried(&id, &text::with_causes(&error));
        if tell.is_closed() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    let end = match over {
        Ok(Some(mut over)) => loop {
            match over.read(&id, &subject, &executor).await {
                Ok(end) => break Ok(Box::new(end)),
                Err(error) => {
                    if let Err(unread) = failures.meet(error).await {
                        break Err(unread);
                    }
                }
            }
        },
        Ok(None) => Ok(Box::new(subject.lost(&id, Loss::Vanished, UNREADABLE))),
        Err(unread) => Err(unread),
    };
    if let Ok(end) | Err(Unread::Lost(end)) = end {
        drop(tell.send(Event::Driver(*end)));
    }
}

/// Waits for the end of a run, and leaves nothing of it alive. Returns none where the thread that looked at
/// it panicked.
async fn over(
    dir: &Path,
    id: &RunId,
    subject: &Subject,
    asked: &Notify,
    (executor, notices): (&Arc<Executor>, Option<&Arc<Notices>>),
    tell: &UnboundedSender<Event>,
) -> Result<Option<Over>, process::Error> {
    let run = Run::open(dir)?;
    let reader = match subject {
        Subject::Step(ticket, session) => {
            let attempt = ticket.as_deref().and_then(Ticket::attempt);
            attempt.and_then(|attempt| executor.reader(&attempt.conversation.harness, session))
        }
        Subject::Review(harness, session) => executor.reader(harness, session),
        Subject::Check(_) => None,
    };
    let review = match subject {
        Subject::Review(..) => Some(run.spec()?.run_id),
        Subject::Step(..) | Subject::Check(_) => None,
    };
    let own_id = run.spec()?.run_id;
    let note = subject.stepped().map(|ticket| -> NoteSubmitted {
        let (executor, run) = (Arc::clone(executor), own_id.clone());
        Box::new(move |at| {
            let made = git::Submission {
                run: &run,
                at,
                is_called: false,
            };
            executor.note_submitted(&ticket, made);
        })
    });
    let said = reader.map(|reader| Said::new(&run, reader, review, note));
    let elsewhere = executor.held_elsewhere(&run)?;
    let output = notices.filter(|_| said.is_some());
    let output = output.map(|notices| notices.output(dir.join(Stream::Out.file())));
    let (said, swept) = wait(&run, id, (said, output), asked, &executor.threads, tell).await?;
    let noticed = clock::now();
    let since = clock::Stopwatch::start();
    let ended = run.clone();
    let exit = executor.threads.end(move || {
        if let Some(swept) = swept {
            return Ok(swept.exit);
        }
        if let Status::Running { .. } = ended.status()? {
            ended.watch()?.wait(Duration::from_secs(5))?;
        }
        Ok(ended.sweep()?.exit)
    });
    let Some(exit) = exit.await else {
        return Ok(None);
    };
    failpoint::hit("stream.swept");
    Ok(Some(Over {
        run,
        exit: exit?,
        said,
        elsewhere,
        noticed,
        since,
    }))
}

/// Waits until a run's shim has ended; looks at the run, and reads its output, meanwhile. A run that is to
/// stop is ended, whether or not its shim helps. Gives what was read so far, and how the run was ended if it
/// was.
async fn wait(
    run: &Run,
    id: &RunId,
    (mut said, output): (Option<Said>, Option<Written>),
    asked: &Notify,
    threads: &Threads,
    tell: &UnboundedSender<Event>,
) -> Result<(Option<Said>, Option<Swept>), process::Error> {
    let watched = run.clone();
    // In the first moments of a run nobody knows its shim yet, and this call waits for that.
    let pidfd = threads.end(move || watched.watch()?.try_clone_pidfd()).await;
    let Some(pidfd) = pidfd.transpose()?.flatten().and_then(readable) else {
        return Ok((said, None));
    };
    let began = clock::now();
    let mut looks = tokio::time::interval(LOOK_EVERY);
    looks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            _ = pidfd.readable() => return Ok((said, None)),
            () = asked.notified() => {}
            _ = looks.tick() => {}
            // What an agent announces counts at once: it may act on that in the same breath.
            () = printed(output.as_ref()) => {
                let before = said.as_ref().map_or(0, |said| said.modes.len());
                said = read_on(said, output.as_ref(), run, threads).await;
                if said.as_ref().is_some_and(|said| said.modes.len() > before) {
                    report_modes(said.as_ref(), id, tell);
                }
                continue;
            }
        }
        // A client that ends by itself after its failure need not be stopped: it has until the next look.
        let given_up = said.as_ref().and_then(|said| said.given_up.clone());
        if let Some(output) = &output {
            output.look_out();
        }
        let (looked, behind) = (run.clone(), said.take());
        let look = threads.end(move || Look::at(&looked, behind)).await;
        let Some(Look {
            beat,
            pulse,
            is_to_stop,
            said: read,
        }) = look
        else {
            continue;
        };
        said = read;
        if is_to_stop {
            let ending = run.clone();
            let Ok(ended) = threads.begin(move || ending.end()).await else {
                continue;
            };
            let swept = ended.transpose()?;
            if swept.as_ref().is_some_and(|swept| swept.by_force) {
                tracing::warn!("{}", crate::orphans::forced(&format!("run {id}")));
            }
            return Ok((said, swept));
        }
        report_modes(said.as_ref(), id, tell);
        let sample = Sample {
            stated: said.as_ref().and_then(Said::stated),
            ..sample(beat.as_ref(), pulse, began)
        };
        let input = Input::Sampled {
            run: id.clone(),
            sample,
        };
        drop(tell.send(Event::Driver(driver::Event::Input(input))));
        // Reported at every look: an engine that could not make it durable gets it again.
        if let Some(failure) = given_up {
            let failure = of_failure(failure);
            let input = Input::GivenUp {
                run: id.clone(),
                failure,
            };
            drop(tell.send(Event::Driver(driver::Event::Input(input))));
        }
    }
}

/// Waits until a run has printed something, and a moment longer.
async fn printed(output: Option<&Written>) {
    match output {
        Some(output) => output.changed().await,
        None => std::future::pending().await,
    }
    tokio::time::sleep(OUTPUT_RESTS).await;
}

/// Reads what a run has printed since.
async fn read_on(said: Option<Said>, output: Option<&Written>, run: &Run, threads: &Threads) -> Option<Said> {
    let behind = said?;
    if let Some(output) = output {
        output.look_out();
    }
    let noted = run.clone();
    threads.end(move || behind.read_on(&noted)).await
}

/// Reports the modes that the agent has announced. They are reported at every look, for the same reason as a
/// failure is; there are few.
fn report_modes(said: Option<&Said>, id: &RunId, tell: &UnboundedSender<Event>) {
    let modes = said.map_or_else(Vec::new, |said| said.modes.clone());
    if modes.is_empty() {
        return;
    }
    let input = Input::ModesAnnounced {
        run: id.clone(),
        modes,
    };
    drop(tell.send(Event::Driver(driver::Event::Input(input))));
}

/// A look at a run.
struct Look {
    /// The last heartbeat, if it can be read.
    beat: Option<Beat>,
    pulse: Option<Pulse>,
    is_to_stop: bool,
    /// What the run has said by now; where it is to stop, as far as it was read before.
    said: Option<Said>,
}

impl Look {
    /// A file that cannot be read now is read at the next look. `said`: as far as it was read before.
    fn at(run: &Run, said: Option<Said>) -> Self {
        let is_to_stop = run.is_stop_wished().unwrap_or_default();
        Self {
            beat: run.beat().unwrap_or_default(),
            pulse: run.pulse().unwrap_or_default(),
            is_to_stop,
            said: match is_to_stop {
                true => said,
                false => said.map(|said| said.read_on(run)),
            },
        }
    }
}

#[expect(
    deprecated,
    reason = "sound for a descriptor that is owned; the successor asks for `unsafe`, which only `process` may use"
)]
fn readable(pidfd: OwnedFd) -> Option<AsyncFd<OwnedFd>> {
    AsyncFd::with_interest(pidfd, tokio::io::Interest::READABLE).ok()
}

/// The sample that a look comes to. `began`: the time of the first look, which stands for a heartbeat that is
/// not there yet.
fn sample(beat: Option<&Beat>, pulse: Option<Pulse>, began: Time) -> Sample {
    let none = Beat {
        at: u64::try_from(began.0).unwrap_or_default(),
        ..Beat::default()
    };
    let beat = beat.unwrap_or(&none);
    let mut children = DefaultHasher::new();
    for child in &beat.children {
        child.pid.hash(&mut children);
    }
    Sample {
        at: clock::now(),
        seen: Time(i64::try_from(beat.at).unwrap_or(i64::MAX)),
        output_bytes: beat.out_bytes.saturating_add(beat.err_bytes),
        stated: None,
        cpu_ms: beat.children_cpu_ms,
        children: children.finish(),
        child: beat.work().map(process::Child::name),
        shim: pulse.map_or(0, |pulse| pulse.shim),
        pulse: pulse.map_or(0, |pulse| pulse.count),
    }
}
