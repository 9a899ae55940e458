//! A shell around a driver: it makes each batch durable in the journal of a scene, and performs nothing by
//! itself.

use engine::driver::{Action, Batch, Driver, Event, Performance, Purpose};
use engine::{Duty, End, Report, RunEnd};
use model::attempt::Usage;
use model::command::{Asked, Command, OnStop};
use model::journal::{Ordered, Stream};
use model::ticket::Effect;
use model::{RunId, Time};

use crate::scene::{JOURNAL, Scene, id};
use crate::words::effect_name;

#[derive(Clone)]
pub(super) struct Shell {
    pub(super) driver: Driver,
    /// The journal, the ticket files and the clock. Its core is not used any more.
    pub(super) scene: Scene,
    commands: u64,
}

/// What the driver decided on some events, and the actions that it asked for then.
pub(super) struct Turned {
    pub(super) batch: Batch,
    pub(super) actions: Vec<Action>,
}

impl Shell {
    /// An engine with this duty is started over the journal of the scene. It has not read the ticket folder.
    pub(super) fn start(scene: Scene, duty: Duty) -> (Self, Turned) {
        let settings = scene.core.settings().clone();
        let mut shell = Self {
            driver: Driver::new(settings, JOURNAL, duty).unwrap(),
            scene,
            commands: 0,
        };
        let turned = shell.load();
        (shell, turned)
    }

    /// An engine that drains the queue, and has read the ticket folder. Returns the actions of both turns.
    pub(super) fn up(scene: Scene) -> (Self, Vec<Action>) {
        let (mut shell, mut turned) = Self::start(scene, Duty::Drain);
        turned.actions.extend(shell.look().actions);
        (shell, turned.actions)
    }

    /// A core is loaded from the journal, as after a decision that was refused.
    pub(super) fn load(&mut self) -> Turned {
        self.driver.load(self.scene.journal.loaded()).unwrap();
        let batch = self.driver.open(self.scene.now);
        self.record(batch)
    }

    pub(super) fn handle(&mut self, events: impl IntoIterator<Item = Event>) -> Turned {
        let batch = self.driver.handle(events, self.scene.now);
        self.record(batch)
    }

    /// The journal refuses what is decided on these events, and a new core is loaded.
    pub(super) fn refuse(&mut self, events: impl IntoIterator<Item = Event>) -> Turned {
        drop(self.driver.handle(events, self.scene.now));
        self.driver.refused("another engine was here".to_owned()).unwrap();
        self.load()
    }

    fn record(&mut self, batch: Batch) -> Turned {
        let journal = &mut self.scene.journal;
        let ordered: Vec<Ordered> = batch
            .writes
            .iter()
            .flat_map(|write| journal.record(write))
            .collect();
        for effect in &batch.finished {
            journal.finish(*effect);
        }
        for (command, _) in &batch.answers {
            journal.answer(command);
        }
        let actions = self.driver.recorded(ordered, self.scene.now);
        Turned { batch, actions }
    }

    /// The whole ticket folder is read.
    pub(super) fn look(&mut self) -> Turned {
        let look = self.driver.look();
        self.handle([self.observed(look)])
    }

    pub(super) fn observed(&self, look: u64) -> Event {
        let seen = self.scene.observe_all();
        let whole = true;
        Event::Observed { look, seen, whole }
    }

    /// The inbox is read, and has these commands.
    pub(super) fn ask(&mut self, commands: impl IntoIterator<Item = Command>) -> Turned {
        let asked = commands.into_iter().map(|command| {
            self.commands += 1;
            Asked {
                number: self.commands,
                id: format!("asked-{}", self.commands),
                by: "someone".to_owned(),
                at: self.scene.now,
                command,
            }
        });
        let asked = asked.collect();
        self.handle([Event::InboxRead(asked)])
    }

    pub(super) fn stop(&mut self, running: OnStop) -> Turned {
        self.handle([Event::StopAsked(running)])
    }

    pub(super) fn report(&mut self, performance: Performance, report: Report) -> Turned {
        let Ordered { ticket, effect, .. } = &performance.ordered;
        if let (Effect::WriteFile(filing), Purpose::Perform, Report::Done) =
            (effect, performance.purpose, &report)
        {
            self.scene.file_written(ticket, filing);
        }
        self.handle([performance.ended(report)])
    }

    /// Everything is performed, and reported as done, until there is nothing more. Returns all that was.
    pub(super) fn perform_all(&mut self, actions: &[Action]) -> Vec<Performance> {
        let mut all: Vec<Performance> = Vec::new();
        let mut next: Vec<Performance> = performances(actions).cloned().collect();
        while let Some(one) = next.pop() {
            assert!(all.len() < 50, "the work has no end: {all:?}");
            all.push(one.clone());
            let done = self.report(one, Report::Done);
            next.extend(performances(&done.actions).cloned());
        }
        all
    }

    /// The moment that the driver waits for has come.
    pub(super) fn wake(&mut self) -> Turned {
        self.scene.now = self.driver.next_wake().unwrap();
        self.look_at_clock()
    }

    pub(super) fn look_at_clock(&mut self) -> Turned {
        let due = self.scene.journal.due(self.scene.now);
        self.handle([Event::Woken { due }])
    }

    pub(super) fn state(&self, ticket: &str) -> String {
        let ticket = self.driver.core().ticket(&id(ticket));
        ticket.map_or("unknown".to_owned(), model::ticket::Ticket::state_name)
    }

    pub(super) fn run(&self) -> RunId {
        let ticket = self.driver.core().ticket(&id("t-1")).unwrap();
        ticket.live_run().unwrap().clone()
    }
}

pub(super) fn ended(run: RunId, end: End) -> Event {
    Event::RunEnded(RunEnd {
        verdict: None,
        commitments: Vec::new(),
        run,
        usage: Usage::default(),
        total_micro_usd: None,
        summary: None,
        modes: Vec::new(),
        made: Vec::new(),
        end,
        stated: None,
        left: None,
        unusable: Vec::new(),
    })
}

impl Turned {
    /// The facts about tickets, in order.
    pub(super) fn facts(&self) -> Vec<String> {
        let mut facts = Vec::new();
        for write in &self.batch.writes {
            let Stream::Ticket(ticket) = &write.stream else {
                continue;
            };
            facts.extend(
                write
                    .entries
                    .iter()
                    .map(|one| format!("{ticket} {}", one.fact.name())),
            );
        }
        facts
    }

    pub(super) fn performed(&self) -> Vec<String> {
        performed(&self.actions)
    }

    pub(super) fn watched(&self) -> Vec<RunId> {
        watched(&self.actions)
    }

    pub(super) fn reads_inbox(&self) -> bool {
        self.actions.contains(&Action::ReadInbox)
    }

    /// The performance of the first effect of this name.
    pub(super) fn take(&self, kind: &str) -> Performance {
        take(&self.actions, kind)
    }
}

/// The effects that are to be performed, in order, each with its ticket and its purpose.
pub(super) fn performed(actions: &[Action]) -> Vec<String> {
    let words = |one: &Performance| {
        let purpose = match one.purpose {
            Purpose::Perform => "",
            Purpose::End => ", to its end",
            Purpose::Nothing => ", as done",
        };
        let name = effect_name(&one.ordered.effect);
        format!("{} {name}{purpose}", one.ordered.ticket)
    };
    performances(actions).map(words).collect()
}

pub(super) fn performances(actions: &[Action]) -> impl Iterator<Item = &Performance> {
    actions.iter().filter_map(|action| match action {
        Action::Perform(one) => Some(&**one),
        Action::Watch(_) | Action::StopIfBegun(_) | Action::ReadInbox | Action::LookAtTarget => None,
    })
}

pub(super) fn take(actions: &[Action], kind: &str) -> Performance {
    let mut of_kind = performances(actions).filter(|one| effect_name(&one.ordered.effect) == kind);
    let found = of_kind.next();
    found
        .unwrap_or_else(|| panic!("no {kind} is performed: {:?}", performed(actions)))
        .clone()
}

pub(super) fn watched(actions: &[Action]) -> Vec<RunId> {
    let runs = actions.iter().filter_map(|action| match action {
        Action::Watch(run) => Some(run.clone()),
        Action::Perform(_) | Action::StopIfBegun(_) | Action::ReadInbox | Action::LookAtTarget => None,
    });
    runs.collect()
}

pub(super) fn before(time: Time) -> Time {
    Time(time.0 - 1)
}
