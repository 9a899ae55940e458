//! Faults that the simulation has found in the engine and the machines, reduced to the inputs that they need.

use std::collections::BTreeSet;
use std::time::Duration;

use engine::{Core, Duty, End, Input, Loaded, Observation, Output, Report, RunEnd};
use model::attempt::{self, Class, Failure, Prompt, Signal, Usage};
use model::command::Command;
use model::journal::EffectId;
use model::settings::Settings;
use model::ticket::{Effect, FileStatus, Spec, State};
use model::{Actor, Oid, RunId, TicketId, Time};

/// A core with one ticket, and its orders that are not reported yet.
struct Crew {
    core: Core,
    ordered: Vec<(EffectId, TicketId, Effect)>,
    now: Time,
}

impl Crew {
    /// A crew of one whose agent has just been asked to begin: its first step is ordered.
    fn at_work(settings: Settings) -> Self {
        let core = Core::load(settings, uuid::Uuid::nil(), Loaded::default()).unwrap();
        let mut crew = Self {
            core,
            ordered: Vec::new(),
            now: Time(1_000_000),
        };
        let opened = crew.core.open(crew.now, Duty::Drain);
        crew.take(&opened);
        crew.hear(an_open_file());
        crew.report(
            |effect| matches!(effect, Effect::PrepareWorkspace { .. }),
            Report::WorkspaceReady {
                base: Oid::new("a".repeat(40)).unwrap(),
                earlier_work: false,
            },
        );
        crew
    }

    fn take(&mut self, output: &Output) {
        for (ticket, effect) in output.effects() {
            let id = EffectId {
                seq: self.ordered.len() as u64 + 1,
                index: 0,
            };
            self.ordered.push((id, ticket.clone(), effect.clone()));
        }
    }

    fn hear(&mut self, input: Input) {
        self.now.0 += 1000;
        let output = self.core.step(input, self.now);
        self.take(&output);
    }

    /// Reports the last effect that `which` picks.
    fn report(&mut self, which: fn(&Effect) -> bool, report: Report) {
        let at = self
            .ordered
            .iter()
            .rposition(|(_, _, effect)| which(effect))
            .unwrap();
        let (id, ticket, effect) = self.ordered[at].clone();
        self.hear(Input::Reported {
            id,
            ticket,
            effect,
            report,
        });
    }

    fn run(&self) -> RunId {
        self.core.live_runs().next().unwrap().1.clone()
    }

    fn ended(&mut self, signal: Signal) {
        let (run, usage, end) = (self.run(), Usage::default(), End::Finished(signal));
        self.hear(Input::RunEnded(RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run,
            usage,
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end,
            stated: None,
            left: None,
            unusable: Vec::new(),
        }));
    }

    fn failed(&mut self, failure: Failure) {
        let (run, usage, end) = (self.run(), Usage::default(), End::Failed(failure));
        self.hear(Input::RunEnded(RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run,
            usage,
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end,
            stated: None,
            left: None,
            unusable: Vec::new(),
        }));
    }

    fn state(&self) -> String {
        self.core.ticket(&ticket()).unwrap().state_name()
    }
}

fn ticket() -> TicketId {
    TicketId::new("t-1").unwrap()
}

/// All that is in the folder: the ticket's file, open.
fn an_open_file() -> Input {
    a_file(FileStatus::Open)
}

/// All that is in the folder: the ticket's file.
fn a_file(status: FileStatus) -> Input {
    let spec = Spec {
        title: "One".to_owned(),
        kind: "task".to_owned(),
        ..Spec::default()
    };
    let sighting = Observation::Read {
        ticket: ticket(),
        spec,
        status,
        tags: BTreeSet::new(),
        notes: Vec::new(),
        changed_at: Time(0),
        origin: model::ticket::Origin::Person,
        renamed: None,
    };
    Input::Observed {
        seen: vec![sighting],
        whole: true,
    }
}

fn writes(effect: &Effect) -> bool {
    matches!(effect, Effect::WriteFile(_))
}

fn starts(effect: &Effect) -> bool {
    matches!(effect, Effect::Attempt(attempt::Effect::StartStep { .. }))
}

#[test]
fn a_kill_is_not_forgotten_when_the_step_could_not_be_started() {
    for (report, wanted) in [
        (
            Report::StepNotSpawned {
                failure: Failure::new(Class::Crash, "no such program"),
            },
            "open (held)",
        ),
        (Report::WorkspaceMissing, "open (held)"),
    ] {
        let mut crew = Crew::at_work(model::samples::settings());
        let agent = crew.core.ticket(&ticket()).unwrap().slot().unwrap().clone();
        crew.hear(Input::Commanded {
            id: "c".to_owned(),
            by: Actor::person("pat"),
            command: Command::Kill { agent },
        });
        crew.report(starts, report);
        assert_eq!(crew.state(), wanted);
    }
}

#[test]
fn a_drop_is_not_forgotten_when_the_workspace_is_gone() {
    let mut crew = Crew::at_work(model::samples::settings());
    let command = Command::Drop {
        ticket: ticket(),
        reason: "no need".to_owned(),
    };
    crew.hear(Input::Commanded {
        id: "c".to_owned(),
        by: Actor::person("pat"),
        command,
    });
    crew.report(starts, Report::WorkspaceMissing);
    assert_eq!(crew.state(), "done/dropped");
}

#[test]
fn a_branch_that_is_refused_goes_back_to_its_agent_and_the_line_goes_on() {
    let mut crew = Crew::at_work(model::samples::settings());
    crew.ended(Signal::Done);
    assert_eq!(crew.state(), "verify/checking");
    let why = "an object is too large".to_owned();
    crew.report(
        |effect| matches!(effect, Effect::BuildCandidate { .. }),
        Report::ImportRefused { why },
    );
    let State::InProgress(attempt) = &crew.core.ticket(&ticket()).unwrap().state else {
        panic!("it is {}", crew.state());
    };
    let attempt::State::Working(working) = &attempt.state else {
        panic!("{:?}", attempt.state)
    };
    assert!(
        matches!(working.next, Prompt::ChecksFailed { .. }),
        "{:?}",
        working.next
    );
}

#[test]
fn an_agent_out_of_steps_cannot_go_on_by_asking_or_sleeping() {
    for signal in [
        Signal::Asked {
            question: "which?".to_owned(),
        },
        Signal::WakeupSet {
            at: Time(0),
            why: "a build".to_owned(),
        },
    ] {
        let mut settings = model::samples::settings();
        settings.run.max_steps = 1;
        let mut crew = Crew::at_work(settings);
        crew.ended(signal.clone());
        let (_, _, last) = crew
            .ordered
            .iter()
            .rfind(|(_, _, effect)| starts(effect))
            .unwrap();
        let Effect::Attempt(attempt::Effect::StartStep { prompt, step, .. }) = last else {
            panic!("{last:?}")
        };
        assert_eq!((prompt, *step), (&Prompt::LastChance, 2));
        crew.ended(signal);
        assert_eq!(crew.state(), "open", "its last chance is spent");
    }
}

#[test]
fn a_writing_that_is_reported_twice_has_arrived_once() {
    let mut crew = Crew::at_work(model::samples::settings());
    crew.report(writes, Report::Done);
    // It is submitted and dropped: two more writings are on their way, and an executor of an earlier core
    // reports the first.
    crew.ended(Signal::Done);
    let submitted = crew
        .ordered
        .iter()
        .rfind(|(_, _, effect)| writes(effect))
        .unwrap()
        .clone();
    let reason = "no need".to_owned();
    let command = Command::Drop {
        ticket: ticket(),
        reason,
    };
    crew.hear(Input::Commanded {
        id: "c".to_owned(),
        by: Actor::person("pat"),
        command,
    });
    assert_eq!(crew.state(), "done/dropped");
    for _ in 0..2 {
        let (id, ticket, effect) = submitted.clone();
        let report = Report::Done;
        crew.hear(Input::Reported {
            id,
            ticket,
            effect,
            report,
        });
    }
    assert_eq!(
        crew.state(),
        "done/dropped",
        "crew's own closing has not arrived; nobody opened it"
    );
}

#[test]
fn a_client_that_cannot_succeed_is_stopped_for_that_and_a_person_goes_on() {
    let mut crew = Crew::at_work(model::samples::settings());
    let failure = || Failure::new(Class::Auth, "401");
    for _ in 0..2 {
        crew.hear(Input::GivenUp {
            run: crew.run(),
            failure: failure(),
        });
    }
    let stops = |effect: &Effect| matches!(effect, Effect::Attempt(attempt::Effect::StopRun { .. }));
    let ordered = crew.ordered.iter().filter(|(_, _, effect)| stops(effect));
    assert_eq!(ordered.count(), 1, "asked twice, stopped once");
    crew.failed(Failure::new(Class::KilledByUs, "it was stopped"));
    assert_eq!(crew.state(), "in_progress/stuck (held)");
    let starts_before = crew
        .ordered
        .iter()
        .filter(|(_, _, effect)| starts(effect))
        .count();
    let retry = || Command::Retry { ticket: ticket() };
    crew.hear(Input::Commanded {
        id: "c".to_owned(),
        by: Actor::person("pat"),
        command: retry(),
    });
    let starts_after = crew
        .ordered
        .iter()
        .filter(|(_, _, effect)| starts(effect))
        .count();
    assert_eq!(starts_after, starts_before + 1);
}

#[test]
fn a_stop_for_another_reason_is_not_changed_by_what_the_client_says() {
    let mut crew = Crew::at_work(model::samples::settings());
    let agent = crew.core.ticket(&ticket()).unwrap().slot().unwrap().clone();
    crew.hear(Input::Commanded {
        id: "c".to_owned(),
        by: Actor::person("pat"),
        command: Command::Kill { agent },
    });
    crew.hear(Input::GivenUp {
        run: crew.run(),
        failure: Failure::new(Class::Auth, "401"),
    });
    crew.failed(Failure::new(Class::KilledByUs, "it was stopped"));
    assert_eq!(crew.state(), "open (held)");
    assert!(
        crew.core.project().paused.is_empty(),
        "nothing was learnt of the service"
    );
}

#[test]
fn a_client_that_ends_well_before_the_stop_has_not_failed() {
    let mut crew = Crew::at_work(model::samples::settings());
    crew.hear(Input::GivenUp {
        run: crew.run(),
        failure: Failure::new(Class::Overloaded, "529"),
    });
    crew.ended(Signal::Done);
    assert_eq!(crew.state(), "verify/checking");
}

#[test]
fn a_ticket_that_is_dropped_for_its_file_says_nothing_to_the_next_of_that_name() {
    let mut crew = Crew::at_work(model::samples::settings());
    crew.report(writes, Report::Done);
    let ordered_before = crew.ordered.len();
    let gone = Observation::Gone {
        ticket: ticket(),
        origin: model::ticket::Origin::Person,
        is_tracked: true,
    };
    crew.hear(Input::Observed {
        seen: vec![gone],
        whole: false,
    });
    // It has been gone for long enough, and its agent is stopped.
    crew.hear(Input::Ticked);
    crew.failed(Failure::new(Class::KilledByUs, "it was stopped"));
    assert_eq!(crew.state(), "done/dropped");
    // A writing would be performed whenever there is a file again, and close it.
    let written = crew.ordered[ordered_before..].iter();
    assert_eq!(written.filter(|(_, _, effect)| writes(effect)).count(), 0);
    crew.hear(an_open_file());
    assert!(
        !crew.core.ticket(&ticket()).unwrap().is_done(),
        "{}",
        crew.state()
    );
}

/// Its file was moved away for a moment, and that was when crew would have closed it.
#[test]
fn what_is_done_is_not_begun_again_because_its_file_was_away() {
    let mut settings = model::samples::settings();
    settings.run.debounce = Duration::from_secs(10);
    let mut crew = Crew::at_work(settings);
    crew.report(writes, Report::Done);
    crew.hear(a_file(FileStatus::InProgress));
    crew.hear(Input::Commanded {
        id: "c-1".to_owned(),
        by: Actor::person("pat"),
        command: Command::Drop {
            ticket: ticket(),
            reason: "enough".to_owned(),
        },
    });
    crew.failed(Failure::new(Class::KilledByUs, "it was stopped"));
    assert_eq!(crew.state(), "done/dropped");
    // The second time, it is there.
    crew.report(writes, Report::FileMissing);
    crew.hear(a_file(FileStatus::InProgress));
    assert_eq!(crew.state(), "done/dropped", "crew's own word is nobody's wish");
    crew.report(writes, Report::Done);
    crew.hear(a_file(FileStatus::Closed));
    // From now on, it is a person who has taken it.
    crew.hear(a_file(FileStatus::InProgress));
    assert_eq!(crew.state(), "done/dropped");
    crew.hear(an_open_file());
    assert_ne!(crew.state(), "done/dropped");
}

/// A person who moves a file away for so long has deleted it: nothing is owed to the next one of its name.
#[test]
fn a_writing_is_owed_to_a_file_for_as_long_as_a_file_must_be_still() {
    let mut settings = model::samples::settings();
    settings.run.debounce = Duration::from_secs(10);
    let mut crew = Crew::at_work(settings);
    let missing = |crew: &mut Crew| {
        let (id, ticket, effect) = crew
            .ordered
            .iter()
            .rfind(|(_, _, it)| writes(it))
            .unwrap()
            .clone();
        crew.now.0 += 1000;
        let report = Report::FileMissing;
        let input = Input::Reported {
            id,
            ticket,
            effect,
            report,
        };
        let output = crew.core.step(input, crew.now);
        (output.postponed.len(), output.finished.len())
    };
    assert_eq!(missing(&mut crew), (1, 0));
    assert_eq!(missing(&mut crew), (1, 0));
    crew.now.0 += 10_000;
    assert_eq!(missing(&mut crew), (0, 1));
}
