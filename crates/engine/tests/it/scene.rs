//! A scene: a core with the journal that it writes, the ticket files and a clock. A test moves it by inputs
//! alone, as the runtime does.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use engine::{CheckEnd, Core, Duty, End, Input, Observation, Report, RunEnd};
use model::attempt::{self, Class, Failure, Signal, Usage};
use model::call::{Call, Task};
use model::command::{Command, Outcome};
use model::journal::EffectId;
use model::settings::{Harness, HarnessKind, Settings, Train};
use model::ticket::{Candidate, CheckOutcome, Effect, FileStatus, Filing, Fingerprint, Listed, Origin, Spec};
use model::{Actor, AgentName, Oid, TicketId, Time};

use crate::journal::Journal;
use crate::words::{Decided, effect, effect_name};

/// 2026-01-01T12:00:00Z.
pub(crate) const NOON: Time = Time(1_767_268_800_000);

/// The journal's id: session ids are made of it.
pub(crate) const JOURNAL: uuid::Uuid = uuid::Uuid::nil();

/// A verdict of the checks.
#[derive(Clone, Copy)]
pub(crate) enum Verdict {
    /// The command passes.
    Passed,
    /// It fails, and passes on the target.
    Failed,
    /// It fails, on the target too.
    TargetRed,
    /// It cannot be run.
    CouldNotRun,
}

#[derive(Clone)]
pub(crate) struct Scene {
    pub(crate) core: Core,
    pub(crate) journal: Journal,
    pub(crate) now: Time,
    files: BTreeMap<TicketId, File>,
    deleted: BTreeMap<TicketId, File>,
    commands: u32,
    /// The origin of what is seen of files.
    pub(crate) origin: Origin,
}

/// A ticket file, as it is in the folder.
#[derive(Clone, Default)]
pub(crate) struct File {
    pub(crate) spec: Spec,
    pub(crate) status: Option<FileStatus>,
    pub(crate) tags: BTreeSet<String>,
    /// Its notes, without those of crew and of agents.
    pub(crate) notes: Vec<String>,
}

pub(crate) fn id(text: &str) -> TicketId {
    TicketId::new(text).unwrap()
}

pub(crate) fn name(text: &str) -> AgentName {
    AgentName::new(text).unwrap()
}

pub(crate) fn someone() -> Actor {
    Actor::person("someone")
}

pub(crate) fn oid(digit: char) -> Oid {
    Oid::new(String::from(digit).repeat(40)).unwrap()
}

pub(crate) fn secs(n: u64) -> Duration {
    Duration::from_secs(n)
}

/// A merged result whose branch ends in the commit `tip`.
pub(crate) fn candidate(tip: char) -> Candidate {
    Candidate {
        commit: oid('c'),
        tree: oid('e'),
        target: oid('a'),
        tip: oid(tip),
        passed: Vec::new(),
        review: None,
        brings_nothing: false,
    }
}

pub(crate) fn failed(class: Class) -> End {
    End::Failed(Failure::new(class, "it went wrong"))
}

pub(crate) fn asked() -> End {
    End::Finished(Signal::Asked {
        question: "Which colour?".to_owned(),
    })
}

/// The agents ann, bob and cat, a harness that needs nothing, and no wait for a file to be still.
pub(crate) fn settings() -> Settings {
    let mut settings = Settings::default();
    settings.agents.names = ["ann", "bob", "cat"].map(name).to_vec();
    settings.agents.harness = Some("scripted".to_owned());
    let scripted = Harness::new(HarnessKind::Command);
    settings.harness.insert("scripted".to_owned(), scripted);
    settings.run.debounce = Duration::ZERO;
    settings.train = Train::SINGLE;
    settings.checks.commands = vec!["make test".to_owned()];
    settings
}

impl Scene {
    /// An engine that is up, over an empty folder.
    pub(crate) fn new() -> Self {
        Self::with(|_| {})
    }

    pub(crate) fn with(change: impl FnOnce(&mut Settings)) -> Self {
        let mut scene = Self::loaded(change);
        scene.open(Duty::Drain);
        scene.look_at_all();
        scene
    }

    /// A core that has loaded an empty journal, and is not open.
    pub(crate) fn loaded(change: impl FnOnce(&mut Settings)) -> Self {
        let mut settings = settings();
        change(&mut settings);
        let journal = Journal::default();
        Self {
            core: Core::load(settings, JOURNAL, journal.loaded()).unwrap(),
            journal,
            now: NOON,
            files: BTreeMap::new(),
            deleted: BTreeMap::new(),
            commands: 0,
            origin: Origin::Person,
        }
    }

    pub(crate) fn open(&mut self, duty: Duty) -> Decided {
        let output = self.core.open(self.now, duty);
        self.recorded(output)
    }

    /// The engine is killed, and the next one loads the journal; it has not read the folder yet.
    pub(crate) fn restart(&mut self) -> Decided {
        self.restart_for(Duty::Drain)
    }

    pub(crate) fn restart_for(&mut self, duty: Duty) -> Decided {
        let settings = self.core.settings().clone();
        self.core = Core::load(settings, JOURNAL, self.journal.loaded()).unwrap();
        self.open(duty)
    }

    pub(crate) fn step(&mut self, input: Input) -> Decided {
        let output = self.core.step(input, self.now);
        self.recorded(output)
    }

    fn recorded(&mut self, output: engine::Output) -> Decided {
        let finished: Vec<String> = output.finished.iter().map(|id| self.words_of(*id)).collect();
        for write in &output.writes {
            self.journal.record(write);
        }
        for effect in &output.finished {
            self.journal.finish(*effect);
        }
        for (command, _) in &output.answers {
            self.journal.answer(command);
        }
        Decided::new(output, &finished, self.now)
    }

    fn words_of(&self, wanted: EffectId) -> String {
        let pending = self.journal.pending().find(|(id, ..)| *id == wanted);
        pending.map_or("an effect that is over".to_owned(), |(_, ticket, ordered)| {
            format!("{} of {ticket}", effect(ordered))
        })
    }

    pub(crate) fn state(&self, ticket: &str) -> String {
        let ticket = self.core.ticket(&id(ticket));
        ticket.map_or("unknown".to_owned(), model::ticket::Ticket::state_name)
    }

    // The clock.

    pub(crate) fn tick(&mut self) -> Decided {
        self.step(Input::Ticked)
    }

    /// Time passes, and nothing else is noticed yet.
    pub(crate) fn later(&mut self, by: Duration) {
        self.now = self.now + by;
    }

    /// Time passes; every timer that is due fires, and the core looks again.
    pub(crate) fn wait(&mut self, by: Duration) -> Vec<String> {
        self.later(by);
        let mut lines = Vec::new();
        for timer in self.journal.due(self.now) {
            lines.extend_from_slice(self.step(Input::TimerDue(timer)).lines());
        }
        lines.extend_from_slice(self.tick().lines());
        lines
    }

    // People.

    pub(crate) fn ask(&mut self, command: Command) -> Decided {
        self.commands += 1;
        let command_id = format!("command-{}", self.commands);
        let decided = self.step(Input::Commanded {
            id: command_id.clone(),
            by: someone(),
            command,
        });
        assert!(
            self.journal.has_answered(&command_id),
            "a command without an answer"
        );
        decided
    }

    /// A person writes, or changes, a ticket's file, and it is seen.
    pub(crate) fn write(&mut self, ticket: &str, change: impl FnOnce(&mut File)) -> Decided {
        self.edit(ticket, change);
        self.look_at(ticket)
    }

    /// A person changes a file, and nobody has seen it yet.
    pub(crate) fn edit(&mut self, ticket: &str, change: impl FnOnce(&mut File)) {
        let file = self.files.entry(id(ticket)).or_default();
        if file.spec.title.is_empty() {
            file.spec.title = format!("The ticket {ticket}");
        }
        change(file);
    }

    /// A new ticket, which is open.
    pub(crate) fn add(&mut self, ticket: &str) -> Decided {
        self.write(ticket, |_| {})
    }

    /// The status in a ticket's file.
    pub(crate) fn status(&self, ticket: &str) -> FileStatus {
        let file = self.files.get(&id(ticket));
        file.and_then(|file| file.status).unwrap_or(FileStatus::Open)
    }

    pub(crate) fn set_status(&mut self, ticket: &str, status: FileStatus) -> Decided {
        self.write(ticket, |file| file.status = Some(status))
    }

    /// A person deletes a file, and it is seen.
    pub(crate) fn delete(&mut self, ticket: &str) -> Decided {
        let file = self.files.remove(&id(ticket));
        self.deleted.extend(file.map(|file| (id(ticket), file)));
        self.look_at(ticket)
    }

    /// A file that was deleted is there again as it was, and is seen.
    pub(crate) fn bring_back(&mut self, ticket: &str) -> Decided {
        let file = self.deleted.remove(&id(ticket));
        self.files.extend(file.map(|file| (id(ticket), file)));
        self.look_at(ticket)
    }

    /// The file of a ticket is looked at.
    pub(crate) fn look_at(&mut self, ticket: &str) -> Decided {
        let seen = vec![self.observation(&id(ticket))];
        self.step(Input::Observed { seen, whole: false })
    }

    /// A look at the whole folder.
    pub(crate) fn look_at_all(&mut self) -> Decided {
        let seen = self.observe_all();
        self.step(Input::Observed { seen, whole: true })
    }

    pub(crate) fn observe_all(&self) -> Vec<Observation> {
        self.files.keys().map(|ticket| self.observation(ticket)).collect()
    }

    pub(crate) fn make_unreadable(&mut self, ticket: &str) -> Decided {
        let (ticket, at) = (id(ticket), self.now);
        let seen = vec![Observation::Unreadable { ticket, at }];
        self.step(Input::Observed { seen, whole: false })
    }

    pub(crate) fn observation(&self, ticket: &TicketId) -> Observation {
        let ticket = ticket.clone();
        let Some(file) = self.files.get(&ticket) else {
            return Observation::Gone {
                ticket,
                origin: self.origin,
                is_tracked: true,
            };
        };
        Observation::Read {
            ticket,
            spec: file.spec.clone(),
            status: file.status.unwrap_or(FileStatus::Open),
            tags: file.tags.clone(),
            notes: file.notes.clone(),
            changed_at: self.now,
            origin: self.origin,
            renamed: None,
        }
    }

    // Effects and runs.

    /// The ticket's first pending effect of this name.
    pub(crate) fn pending(&self, ticket: &str, kind: &str) -> Option<(EffectId, Effect)> {
        let ticket = id(ticket);
        let mut of_it = self.journal.pending().filter(|(_, of, _)| **of == ticket);
        let found = of_it.find(|(_, _, effect)| effect_name(effect) == kind);
        found.map(|(id, _, effect)| (id, effect.clone()))
    }

    /// The names of the ticket's pending effects, in order.
    pub(crate) fn all_pending(&self, ticket: &str) -> Vec<&'static str> {
        let ticket = id(ticket);
        let of_it = self.journal.pending().filter(|(_, of, _)| **of == ticket);
        of_it.map(|(_, _, effect)| effect_name(effect)).collect()
    }

    /// The ticket's first pending effect of this name comes to something.
    pub(crate) fn report(&mut self, ticket: &str, kind: &str, report: Report) -> Decided {
        let found = self.pending(ticket, kind);
        let (effect_id, effect) = found.unwrap_or_else(|| panic!("{ticket} has no pending {kind}"));
        self.report_of(ticket, (effect_id, effect), report)
    }

    pub(crate) fn report_of(
        &mut self,
        ticket: &str,
        (effect_id, effect): (EffectId, Effect),
        report: Report,
    ) -> Decided {
        if let (Effect::WriteFile(filing), Report::Done) = (&effect, &report) {
            self.file_written(&id(ticket), filing);
        }
        self.step(Input::Reported {
            id: effect_id,
            ticket: id(ticket),
            effect,
            report,
        })
    }

    /// crew has written into the ticket's file.
    pub(crate) fn file_written(&mut self, ticket: &TicketId, filing: &Filing) {
        if let Some(file) = self.files.get_mut(ticket) {
            (file.status, file.tags) = (Some(filing.status), filing.tags.clone());
        }
    }

    /// Everything that is to be written into the ticket's file is written.
    pub(crate) fn files_written(&mut self, ticket: &str) {
        for kind in ["write_file", "add_note"] {
            for round in 0.. {
                assert!(round < 20, "{ticket} is written without end");
                if self.pending(ticket, kind).is_none() {
                    break;
                }
                self.report(ticket, kind, Report::Done);
            }
        }
    }

    pub(crate) fn workspace_ready(&mut self, ticket: &str) -> Decided {
        let (base, earlier_work) = (oid('a'), false);
        self.report(
            ticket,
            "prepare_workspace",
            Report::WorkspaceReady { base, earlier_work },
        )
    }

    /// The step that runs ends.
    pub(crate) fn run_ends(&mut self, ticket: &str, end: End) -> Decided {
        self.run_ends_for(ticket, end, Usage::default())
    }

    /// The step that runs ends, and has used this.
    pub(crate) fn run_ends_for(&mut self, ticket: &str, end: End, usage: Usage) -> Decided {
        self.run_over(ticket, (end, None), usage, None)
    }

    /// The step that runs ends without a signal, and leaves this.
    pub(crate) fn run_leaves(&mut self, ticket: &str, workspace: &str, words: &str) -> Decided {
        let left = Fingerprint::Step {
            workspace: workspace.to_owned(),
            words: words.to_owned(),
        };
        let end = End::Finished(Signal::None);
        self.run_over(ticket, (end, None), Usage::default(), Some(left))
    }

    /// The step that runs ends with this signal and with a line that crew could not use, and leaves the
    /// workspace as it was.
    pub(crate) fn run_says_unusable(&mut self, ticket: &str, signal: Signal, line: &str) -> Decided {
        let left = Fingerprint::Unusable {
            workspace: "as it was".to_owned(),
            lines: vec![line.to_owned()],
        };
        let run = self.core.ticket(&id(ticket)).and_then(|t| t.live_run()).cloned();
        self.step(Input::RunEnded(RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run: run.unwrap_or_else(|| panic!("no step of {ticket} runs")),
            usage: Usage::default(),
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end: End::Finished(signal),
            left: Some(left),
            unusable: vec![line.to_owned()],
            stated: None,
        }))
    }

    /// The step that runs submits, changes a file after that, and has to be stopped.
    pub(crate) fn run_changes_after(&mut self, ticket: &str, path: &str) -> Decided {
        let left = Fingerprint::ChangedAfter {
            paths: Listed::of([path.to_owned()]),
        };
        let end = End::Finished(Signal::Done);
        self.run_over(ticket, (end, None), Usage::default(), Some(left))
    }

    /// The step that runs ends, and its output states an end.
    pub(crate) fn run_ends_as(&mut self, ticket: &str, end: End, stated: Option<End>) -> Decided {
        self.run_over(ticket, (end, stated), Usage::default(), None)
    }

    fn run_over(
        &mut self,
        ticket: &str,
        (end, stated): (End, Option<End>),
        usage: Usage,
        left: Option<Fingerprint>,
    ) -> Decided {
        let run = self.core.ticket(&id(ticket)).and_then(|t| t.live_run()).cloned();
        // The start of a process is reported before its end is seen.
        if self.pending(ticket, "start_step").is_some() {
            self.report(ticket, "start_step", Report::StepSpawned);
        }
        self.step(Input::RunEnded(RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run: run.unwrap_or_else(|| panic!("no step of {ticket} runs")),
            usage,
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end,
            stated,
            left,
            unusable: Vec::new(),
        }))
    }

    pub(crate) fn finishes(&mut self, ticket: &str, signal: Signal) -> Decided {
        self.run_ends(ticket, End::Finished(signal))
    }

    pub(crate) fn built(&mut self, ticket: &str, tip: char) -> Decided {
        self.built_without(ticket, tip, &[])
    }

    /// The candidate is built, and has not the commits of these children any more.
    pub(crate) fn built_without(&mut self, ticket: &str, tip: char, absent: &[&str]) -> Decided {
        let candidate = candidate(tip);
        self.report(
            ticket,
            "build_candidate",
            Report::Built {
                candidate,
                untouched: Vec::new(),
                leftovers: model::ticket::Leftovers::default(),
                absent: Box::new(absent.iter().map(|child| id(child)).collect()),
                resolves: None,
                ahead: Box::default(),
            },
        )
    }

    /// The check that runs ends.
    pub(crate) fn check_ends(&mut self, ticket: &str, outcome: CheckOutcome) -> Decided {
        let check = self.core.ticket(&id(ticket)).and_then(|t| t.check_run());
        let run = check.map(|check| check.run.clone());
        // The start of a process is reported before its end is seen.
        if self.pending(ticket, "start_check").is_some() {
            self.report(ticket, "start_check", Report::CheckSpawned);
        }
        self.step(Input::CheckEnded(CheckEnd::new(
            run.unwrap_or_else(|| panic!("no check of {ticket} runs")),
            outcome,
        )))
    }

    /// The checks of the candidate come to this verdict; gives what was decided last.
    pub(crate) fn checked(&mut self, ticket: &str, verdict: Verdict) -> Decided {
        let failed = || CheckOutcome::Failed {
            output: "1 failed".to_owned(),
        };
        match verdict {
            Verdict::Passed => self.check_ends(ticket, CheckOutcome::Passed),
            Verdict::Failed => {
                self.check_ends(ticket, failed());
                self.check_ends(ticket, CheckOutcome::Passed)
            }
            Verdict::TargetRed => {
                self.check_ends(ticket, failed());
                self.check_ends(ticket, failed())
            }
            Verdict::CouldNotRun => {
                let why = || "no shell".to_owned();
                self.check_ends(ticket, CheckOutcome::CouldNotRun { why: why() });
                self.check_ends(ticket, CheckOutcome::CouldNotRun { why: why() })
            }
        }
    }

    pub(crate) fn checks_pass(&mut self, ticket: &str) -> Decided {
        self.checked(ticket, Verdict::Passed)
    }

    /// The agent whose step runs delegates; gives what it is told.
    pub(crate) fn delegates(&mut self, ticket: &str, tasks: &[Task]) -> Result<String, String> {
        let tasks = tasks.to_vec();
        self.calls(ticket, Call::Delegate { tasks })
    }

    /// The agent whose step runs calls a tool; gives what it is told.
    pub(crate) fn calls(&mut self, ticket: &str, call: Call) -> Result<String, String> {
        let ticket = self.core.ticket(&id(ticket));
        let run = ticket
            .and_then(|t| t.live_run())
            .cloned()
            .expect("a step that runs");
        let fence = ticket.map(|t| t.fence).unwrap_or_default();
        self.commands += 1;
        let command_id = format!("command-{}", self.commands);
        let output = self.core.step(
            Input::Commanded {
                id: command_id.clone(),
                by: someone(),
                command: Command::Tool { run, fence, call },
            },
            self.now,
        );
        let told = output.answers.iter().map(|(_, outcome)| outcome.clone());
        let written = output
            .writes
            .iter()
            .filter_map(|write| Some(write.answers.clone()?.1));
        let told = told.chain(written).next();
        self.recorded(output);
        match told.expect("a command without an answer") {
            Outcome::Accepted { message } => Ok(message),
            Outcome::Refused { why } => Err(why),
        }
    }

    /// The files of the children that were ordered are written, and seen.
    pub(crate) fn children_written(&mut self, ticket: &str) {
        while let Some((effect_id, effect)) = self.pending(ticket, "create_child") {
            if let Effect::Attempt(attempt::Effect::CreateChild { child }) = &effect {
                let (title, assignee) = (child.title.clone(), child.agent.as_ref().map(ToString::to_string));
                self.write(child.id.as_str(), |file| {
                    (file.spec.title, file.spec.assignee) = (title, assignee);
                });
            }
            self.report_of(ticket, (effect_id, effect), Report::Done);
        }
    }

    pub(crate) fn landed(&mut self, ticket: &str) -> Decided {
        self.report(ticket, "land", Report::Landed { commit: oid('c') })
    }
}
