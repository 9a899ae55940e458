//! Observation of runs: waits for the end of each run's shim, samples the run meanwhile, and reads what it
//! printed.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use engine::{CheckEnd, End, Input, RunEnd, driver};
use harness::Reader;
use model::attempt::{Class, Failure, HarnessId, Mode, Signal, Usage};
use model::commitment::Promise;
use model::policy::stall::Sample;
use model::ticket::{CheckCommand, CheckOutcome, CheckTask, Fingerprint, Loss, Ticket, Verdict};
use model::{RunId, Time};
use process::{Beat, Exit, Pulse, Run, Status, Stream, Swept, Tail};
use store::Ledger;
use tokio::io::unix::AsyncFd;
use tokio::sync::Notify;
use tokio::sync::mpsc::UnboundedSender;

use crate::blocking::Threads;
use crate::calls::{Calls, Notices};
use crate::check::missing_of_promise;
use crate::clock;
use crate::dispatcher::Event;
use crate::executor::{Executor, Work};
use crate::timing;

/// How often a run is looked at.
pub(crate) const LOOK_EVERY: Duration = Duration::from_secs(5);
/// Bytes of output that are read at a time.
const PIECE: usize = 256 * 1024;
/// Pieces of each stream that are read at one look. A flood takes several looks.
const PIECES: usize = 16;

/// Tools of a client that are kept in mind at once.
const TOOLS: usize = 32;

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
    /// The role of the agent whose step it is; none of a check, which calls nothing.
    fn caller(&self) -> Option<harness::Role> {
        match self {
            Subject::Step(..) => Some(harness::Role::Worker),
            Subject::Review(..) => Some(harness::Role::Gatekeeper),
            Subject::Check(_) => None,
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
/// `asked`: notified when somebody has asked the run to stop. `heard`: the journal whose inbox the calls of
/// its agent come into, and what gives notice of them.
pub(crate) async fn watch(
    dir: PathBuf,
    id: RunId,
    subject: Subject,
    asked: Arc<Notify>,
    executor: Arc<Executor>,
    heard: Option<(Ledger, Arc<Notices>)>,
    tell: UnboundedSender<Event>,
) {
    let mut calls = match subject.caller().zip(heard) {
        Some((role, (ledger, notices))) => Run::open(&dir)
            .and_then(|run| Calls::of(&run, &id, role, ledger, Arc::clone(&executor), notices))
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
    let end = tokio::select! {
        end = end(&dir, &id, &subject, &asked, &executor, &tell) => end,
        () = serving => return,
    };
    let Some(end) = end else { return };
    failpoint::hit("stream.read");
    // A call that was written before the run ended is heard before its end.
    while let Some(calls) = &mut calls
        && let Err(error) = calls.take_last().await
    {
        crate::log::watch_retried(&id, &text::with_causes(&error));
        if tell.is_closed() {
            return;
        }
        tokio::time::sleep(Duration::from_secs(1)).await;
    }
    drop(tell.send(Event::Driver(end)));
}

/// Waits for the end of a run, however often that fails; none when nobody listens any more.
async fn end(
    dir: &Path,
    id: &RunId,
    subject: &Subject,
    asked: &Notify,
    executor: &Arc<Executor>,
    tell: &UnboundedSender<Event>,
) -> Option<driver::Event> {
    let mut told = String::new();
    loop {
        match end_of(dir, id, subject, asked, executor, tell).await {
            Ok(end) => return Some(end),
            Err(process::Error::NoRun { .. }) => {
                let why = "it was never started".to_owned();
                return Some(subject.lost(id, Loss::NotStarted { why }, "it was never started"));
            }
            Err(error) => {
                if let process::Error::Damaged { .. } = error
                    && is_swept(dir, executor).await
                {
                    return Some(subject.lost(id, Loss::Vanished, &error.to_string()));
                }
                // While a process of the step may be alive, the step has not ended: the next step would work
                // beside it.
                let error = text::with_causes(&error);
                crate::log::watch_retried(id, &error);
                if told != error {
                    tracing::warn!("run {id} cannot be watched, and is looked at again: {error}");
                    told = error;
                }
                if tell.is_closed() {
                    return None;
                }
                tokio::time::sleep(Duration::from_secs(1)).await;
            }
        }
    }
}

/// Ends what is left of a run whose record cannot be read; gives whether nothing is left. Without the run's
/// specification nobody knows what to look for, and that counts as nothing.
async fn is_swept(dir: &Path, executor: &Executor) -> bool {
    let run = Run::open(dir);
    let swept = executor.threads.end(move || run?.sweep().map(drop)).await;
    matches!(swept, Some(Ok(()) | Err(process::Error::Damaged { .. })))
}

/// Waits for the end of a run, leaves nothing of it alive, and reads what it comes to.
async fn end_of(
    dir: &Path,
    id: &RunId,
    subject: &Subject,
    asked: &Notify,
    executor: &Arc<Executor>,
    tell: &UnboundedSender<Event>,
) -> Result<driver::Event, process::Error> {
    let (run, run_id) = (Run::open(dir)?, id.clone());
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
    let said = reader.map(|reader| Said::new(&run, reader, review));
    let elsewhere = executor.held_elsewhere(&run)?;
    let (said, swept) = wait(&run, id, said, asked, &executor.threads, tell).await?;
    let noticed = clock::now();
    let reads = executor.work == Work::All;
    let (with, of) = (Arc::clone(executor), subject.clone());
    let ended = executor
        .threads
        .end(move || {
            if swept.is_none()
                && let Status::Running { .. } = run.status()?
            {
                run.watch()?.wait(Duration::from_secs(5))?;
            }
            let watch = clock::Stopwatch::start();
            let exit = match swept {
                Some(swept) => swept.exit,
                None => run.sweep()?.exit,
            };
            failpoint::hit("stream.swept");
            if let Some(held) = elsewhere {
                let why = format!(
                    "its process belongs to {}, of which this is a copy",
                    held.display()
                );
                return Ok(of.lost(&run_id, Loss::Vanished, &why));
            }
            timing::read(&run_id, watch);
            timing::noticed(&run_id, ended_at(&exit), noticed);
            let ticket = match of {
                Subject::Check(task) => {
                    let end = with.check_end(&run, &run_id, task, &exit)?;
                    return Ok(driver::Event::CheckEnded(end));
                }
                Subject::Step(ticket, _) => ticket,
                // Nothing of the gatekeeper's checkout counts but its verdict.
                Subject::Review(..) => None,
            };
            Ok(driver::Event::RunEnded(match said {
                Some(said) => match said.end(&exit) {
                    Ok((outcome, last_line)) => {
                        let mut end = of_outcome(&run_id, outcome, ended_at(&exit), |one| {
                            missing_of_promise(one, &with.check_env.variables)
                        });
                        let digest = || ticket.as_deref().and_then(|ticket| with.workspace_digest(ticket));
                        match (&mut end.end, &end.stated) {
                            (End::Finished(Signal::Done), _) => {
                                if let Some(ticket) = &ticket {
                                    with.save_ahead(ticket);
                                    end.made = with.parts_made(ticket, &end.modes);
                                }
                            }
                            (End::Finished(Signal::None), _) | (_, Some(End::Finished(Signal::None))) => {
                                end.left = digest().map(|workspace| match end.unusable.as_slice() {
                                    [] => Fingerprint::Step {
                                        workspace,
                                        words: end.summary.clone().unwrap_or(last_line),
                                    },
                                    lines => Fingerprint::Unusable {
                                        workspace,
                                        lines: lines.to_vec(),
                                    },
                                });
                            }
                            (End::Failed(failure), _) if failure.class == Class::Lost => {
                                failure.left = digest();
                            }
                            (End::Finished(_) | End::Failed(_), _) => {}
                        }
                        end
                    }
                    Err(error) => failed(&run_id, Class::Lost, &error.to_string()),
                },
                None if reads => failed(&run_id, Class::Lost, "its output could not be read"),
                // This engine is up for one command only, which starts no step and wanted this one stopped.
                None => failed(&run_id, Class::KilledByUs, "it was stopped"),
            }))
        })
        .await;
    ended.unwrap_or_else(|| Ok(subject.lost(id, Loss::Vanished, "its record could not be read")))
}

/// Waits until a run's shim has ended; looks at the run, and reads its output, meanwhile. A run that is to
/// stop is ended, whether or not its shim helps. Gives what was read so far, and how the run was ended if it
/// was.
async fn wait(
    run: &Run,
    id: &RunId,
    mut said: Option<Said>,
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
        }
        let looked = run.clone();
        // If there is no thread to be had, the next look comes later.
        let look = threads.begin(move || Look::at(&looked)).await;
        let Ok(Some(Look {
            beat,
            pulse,
            is_to_stop,
        })) = look
        else {
            continue;
        };
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
        // A client that ends by itself after its failure need not be stopped: it has until the next look.
        let given_up = said.as_ref().and_then(|said| said.given_up.clone());
        if let Some(behind) = said.take() {
            let noted = run.clone();
            said = threads.end(move || behind.read_on(&noted)).await;
        }
        // Reported at every look, for the same reason as a failure below; there are few.
        let modes = said.as_ref().map_or_else(Vec::new, |said| said.modes.clone());
        if !modes.is_empty() {
            let input = Input::ModesAnnounced {
                run: id.clone(),
                modes,
            };
            drop(tell.send(Event::Driver(driver::Event::Input(input))));
        }
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

/// A look at a run.
struct Look {
    /// The last heartbeat, if it can be read.
    beat: Option<Beat>,
    pulse: Option<Pulse>,
    is_to_stop: bool,
}

impl Look {
    /// A file that cannot be read now is read at the next look.
    fn at(run: &Run) -> Self {
        Self {
            beat: run.beat().unwrap_or_default(),
            pulse: run.pulse().unwrap_or_default(),
            is_to_stop: run.is_stop_wished().unwrap_or_default(),
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

/// The use of a tool in words, without what may hold a secret: the tool, and of a command the program's
/// name with its first argument.
fn tool(name: &str) -> String {
    match name.split_once(": ") {
        Some((tool, target)) => format!("{tool}: {}", process::short(target)),
        None => name.to_owned(),
    }
}

/// The output of a run, read once from its beginning, piece by piece while the run goes on. An engine that
/// adopts the run reads it anew and comes to the same result.
///
/// Text, tools and usage are not taken here: a frontend that shows them reads the same files with a reader of
/// its own.
struct Said {
    reader: Box<dyn Reader>,
    tails: [(Stream, Tail); 2],
    /// Bytes that were read, and whether the last reading came to the end of the output.
    bytes: u64,
    whole: bool,
    /// The last line of standard output.
    last_line: String,
    /// The id that the verdict of a review has to name, as the gatekeeper was told it; none for another run.
    review: Option<String>,
    /// The failure that ends the step, though its client has not noticed.
    given_up: Option<harness::Failure>,
    /// The modes that the agent announced so far.
    modes: Vec<Mode>,
    /// The tools that the client uses, by its ids for them, in the words of people.
    tools: Vec<(String, String)>,
    /// Whether the last of them is noted beside the run.
    has_noted: bool,
}

impl Said {
    fn new(run: &Run, reader: Box<dyn Reader>, review: Option<String>) -> Self {
        Self {
            reader,
            tails: [Stream::Out, Stream::Err].map(|stream| (stream, Tail::new(run, stream, 0))),
            bytes: 0,
            whole: true,
            last_line: String::new(),
            review,
            given_up: None,
            modes: Vec::new(),
            tools: Vec::new(),
            // A client that uses no tool says nothing of its work, and neither does the file.
            has_noted: true,
        }
    }

    /// The bytes that were read, if all of them were and a result is in them.
    fn stated(&self) -> Option<u64> {
        let given = self.review.as_ref().zip(self.reader.verdict());
        let has_verdict = given.is_some_and(|(run, given)| given.of_run(run).is_ok());
        let has_result = self.reader.has_result() || has_verdict;
        (self.whole && has_result).then_some(self.bytes)
    }

    /// Reads new output, a bounded amount of it. An error is ignored here: the last reading meets it again,
    /// and reports it.
    fn read_on(mut self, run: &Run) -> Self {
        let before = self.tools.last().cloned();
        self.whole = self.read(PIECES).unwrap_or(true);
        let now = self.tools.last().cloned();
        if now != before || !self.has_noted {
            let at = u64::try_from(clock::now().0).unwrap_or_default();
            let tool = now.map(|(_, name)| name);
            // It is for people to look at, and the next look notes it again.
            self.has_noted = run.note_said(&process::Said { at, tool }).is_ok();
        }
        self
    }

    /// Reads at most so many pieces of each stream; gives whether that was everything.
    fn read(&mut self, pieces: usize) -> Result<bool, process::Error> {
        let mut whole = true;
        for (stream, tail) in &mut self.tails {
            let mut left = pieces;
            loop {
                if left == 0 {
                    whole = false;
                    break;
                }
                let piece = tail.read(PIECE)?;
                if piece.is_empty() {
                    break;
                }
                self.bytes += piece.len() as u64;
                for event in self.reader.feed(*stream, &piece) {
                    if let harness::Event::ToolStart { id, name } = &event {
                        self.tools.push((id.clone(), tool(name)));
                        // A client that names no end of its tools is at the last of them.
                        let many = self.tools.len().saturating_sub(TOOLS);
                        self.tools.drain(..many);
                    } else if let harness::Event::ToolEnd { id, .. } = &event {
                        self.tools.retain(|(of, _)| of != id);
                    }
                    if let harness::Event::GivenUp { failure } = event {
                        self.given_up = Some(failure);
                    } else if let harness::Event::Mode { mode: announced } = event {
                        self.modes.push(mode(announced));
                    } else if let (harness::Event::Text { line }, Stream::Out) = (event, *stream) {
                        self.last_line = line;
                    }
                }
                left -= 1;
            }
        }
        Ok(whole)
    }

    /// Reads the rest, and gives the outcome of the step, and the last line of its output.
    fn end(mut self, exit: &Exit) -> Result<(harness::Outcome, String), process::Error> {
        while !self.read(PIECES)? {}
        let (events, mut outcome) = self.reader.end(exit);
        let given = outcome.verdict.take();
        if let (Some(run), Some(given)) = (&self.review, given) {
            match given.of_run(run).map(drop) {
                Ok(()) => outcome.verdict = Some(given),
                Err(why) => outcome.unusable = vec![format!("its last line is no verdict: {why}")],
            }
        }
        if outcome.verdict.is_some() && exit.reason == process::Reason::Stopped {
            // crew ended a process that had nothing to add to its verdict.
            outcome.stated = Some(Ok(harness::Signal::None));
        }
        let last = events.into_iter().rev().find_map(|event| {
            if let harness::Event::Text { line } = event {
                Some(line)
            } else {
                None
            }
        });
        Ok((outcome, last.unwrap_or(self.last_line)))
    }
}

/// When a run ended, by its own record: the same for every reader, however late. Without a time in the
/// record, now.
fn ended_at(exit: &Exit) -> Time {
    match i64::try_from(exit.ended_at) {
        Ok(at) if at > 0 => Time(at).min(clock::now()),
        Ok(_) | Err(_) => clock::now(),
    }
}

/// The end of a step that came to this outcome. `ended_at`: a wakeup counts from the end of the run that
/// asked for it, not from the time when the engine learns of it. `missing`: the program of a commitment that
/// checks would not find.
///
/// Work whose agent has made a commitment that is refused is not submitted before the agent was told: it
/// takes the commitment for made.
fn of_outcome(
    id: &RunId,
    outcome: harness::Outcome,
    ended_at: Time,
    missing: impl Fn(&Promise) -> Option<String>,
) -> RunEnd {
    let mut unusable = outcome.refused_commitments;
    let mut commitments = Vec::new();
    for promise in outcome.commitments.into_iter().map(promise) {
        match missing(&promise) {
            Some(program) => unusable.push(impossible(&promise, &program)),
            None => commitments.push(promise),
        }
    }
    let is_held_back = !unusable.is_empty();
    unusable.extend(outcome.unusable);
    let end = |result| match result {
        Ok(harness::Signal::Done) if is_held_back => End::Finished(Signal::None),
        Ok(signal) => End::Finished(of_signal(signal, ended_at)),
        Err(failure) => End::Failed(of_failure(failure)),
    };
    RunEnd {
        run: id.clone(),
        usage: Usage {
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            cost_micro_usd: outcome.usage.cost_micro_usd,
            estimated_micro_usd: if outcome.estimated {
                outcome.usage.cost_micro_usd
            } else {
                0
            },
        },
        total_micro_usd: outcome.total_micro_usd,
        summary: outcome.summary,
        modes: outcome.modes.into_iter().map(mode).collect(),
        made: Vec::new(),
        end: end(outcome.result),
        stated: outcome.stated.map(end),
        verdict: outcome
            .verdict
            .and_then(|given| given.verdict.ok())
            .map(of_verdict),
        left: None,
        unusable,
        commitments,
    }
}

/// Why a commitment is not taken whose program checks would not find: nothing that the agent does makes it
/// pass.
fn impossible(promise: &Promise, program: &str) -> String {
    format!(
        "the commitment “{}” is not taken: checks do not find the program {program} on their PATH",
        text::sanitise::fit(&promise.says, 80)
    )
}

fn of_signal(signal: harness::Signal, ended_at: Time) -> Signal {
    match signal {
        harness::Signal::None => Signal::None,
        harness::Signal::Done => Signal::Done,
        harness::Signal::Blocked { why } => Signal::Blocked { why },
        harness::Signal::Asked { question } => Signal::Asked { question },
        harness::Signal::Wakeup { after_ms, why } => Signal::WakeupSet {
            at: ended_at + Duration::from_millis(after_ms),
            why: if why.is_empty() {
                "it did not say why".to_owned()
            } else {
                why
            },
        },
    }
}

fn of_verdict(verdict: harness::Verdict) -> Verdict {
    match verdict {
        harness::Verdict::Approve {
            acceptance_test,
            met,
            feedback,
        } => Verdict::Approve {
            acceptance_test,
            met,
            feedback,
        },
        harness::Verdict::Reject { reason, feedback } => Verdict::Reject { reason, feedback },
        harness::Verdict::Fail { reason } => Verdict::Fail { reason },
    }
}

/// A commitment of an agent: no shell reads its command.
fn promise(made: harness::Commitment) -> Promise {
    Promise {
        says: made.says,
        run: Some(CheckCommand::Argv(made.run)),
    }
}

fn mode(mode: harness::Mode) -> Mode {
    match mode {
        harness::Mode::Execute => Mode::Execute,
        harness::Mode::Delegate => Mode::Delegate,
        harness::Mode::Plan => Mode::Plan,
        harness::Mode::BreakUp => Mode::BreakUp,
        harness::Mode::Unify => Mode::Unify,
    }
}

fn of_failure(failure: harness::Failure) -> Failure {
    Failure {
        until: failure
            .until_ms
            .map(|ms| Time(i64::try_from(ms).unwrap_or(i64::MAX))),
        ..Failure::new(class(failure.class), failure.message)
    }
}

fn class(class: harness::Class) -> Class {
    match class {
        harness::Class::Transient => Class::Transient,
        harness::Class::RateLimited => Class::RateLimited,
        harness::Class::Overloaded => Class::Overloaded,
        harness::Class::Auth => Class::Auth,
        harness::Class::SessionInUse => Class::SessionInUse,
        harness::Class::SessionMissing => Class::SessionMissing,
        harness::Class::Timeout => Class::Timeout,
        harness::Class::Crash => Class::Crash,
        harness::Class::Lost => Class::Lost,
        harness::Class::KilledByUs => Class::KilledByUs,
        harness::Class::MalformedOutput => Class::MalformedOutput,
        harness::Class::Budget => Class::Budget,
    }
}

fn failed(id: &RunId, class: Class, message: &str) -> RunEnd {
    RunEnd {
        run: id.clone(),
        usage: Usage::default(),
        total_micro_usd: None,
        summary: None,
        modes: Vec::new(),
        made: Vec::new(),
        end: End::Failed(Failure::new(class, message)),
        stated: None,
        verdict: None,
        left: None,
        unusable: Vec::new(),
        commitments: Vec::new(),
    }
}
