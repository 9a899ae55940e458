//! The real crew under a history, and what is there after each of its steps.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::{Child, Stdio};

use model::journal::Fact;
use model::project;
use proptest_state_machine::StateMachineTest;

use crate::histories::reference::{Act, BUSY, End, Reference, State, Transition};
use testkit::world::{Engine, World, crew};

/// What the agent of a ticket does at each step: it waits to be told how the step ends.
const AGENT: &str = "\
gate=\"$GATES/$CREW_TICKET_ID.$RUN\"
# Ten minutes: a history that takes longer has failed, and nothing may be left behind.
left=30000
until [ -e \"$gate\" ]; do
    left=$((left - 1))
    [ $left -gt 0 ] || exit 9
    sleep 0.02
done
leave() {
    mkdir -p work
    echo \"$CREW_TICKET_ID $RUN\" > \"work/$CREW_TICKET_ID.$RUN\"
}
commit() {
    leave
    git add \"work/$CREW_TICKET_ID.$RUN\"
    git commit -q -m \"piece $RUN\"
}
. \"$gate\"
";

/// A repository with a crew, and the engine while one is up.
pub(crate) struct Crew {
    world: World,
    engine: Option<Engine>,
    /// How often engines had opened the project when this one was started.
    opened: usize,
}

impl StateMachineTest for Crew {
    type SystemUnderTest = Self;
    type Reference = Reference;

    fn init_test(_: &Reference) -> Self {
        let world = World::with(|settings| settings.agents = format!("count = {BUSY}"));
        let mut crew = Self {
            world,
            engine: None,
            opened: 0,
        };
        crew.start();
        crew
    }

    fn apply(mut crew: Self, reference: &Reference, transition: Transition) -> Self {
        eprintln!("{transition:?}");
        let before = crew.world.rows().len();
        let asked = crew.act(&transition.act, reference);
        match transition.crash {
            None => {}
            // What a command asks for must be on its way, or it would not have happened at all.
            Some(facts) => crew.crash(before + usize::from(facts), reference),
        }
        if let Some(asked) = asked {
            let said = asked.wait_with_output().unwrap();
            let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
            let said = (said.status.code(), text(&said.stdout), text(&said.stderr));
            assert_eq!(said.0, Some(0), "{transition:?}: {said:?}");
        }
        if reference.is_up {
            crew.comes_to_rest(reference);
        }
        crew
    }

    fn check_invariants(crew: &Self, reference: &Reference) {
        crew.nothing_is_lost(reference);
        crew.target_has_what_landed(reference);
        crew.words_of_people_stay(reference);
    }

    fn teardown(mut crew: Self, mut reference: Reference) {
        if !reference.is_up {
            crew.start();
            reference = <Reference as proptest_state_machine::ReferenceStateMachine>::apply(
                reference,
                &Transition {
                    act: Act::Start,
                    crash: None,
                },
            );
            crew.comes_to_rest(&reference);
        }
        crew.world.must(&["stop", "--kill", "--wait"]);
        if let Some(mut engine) = crew.engine.take() {
            engine.end();
        }
        Self::check_invariants(&crew, &reference);
        crew.world.assert_at_rest();
    }
}

impl Crew {
    fn start(&mut self) {
        self.opened = self.times_opened();
        self.engine = Some(self.world.engine());
    }

    /// How often an engine has opened the project.
    fn times_opened(&self) -> usize {
        let rows = self.world.rows().into_iter();
        let opened = rows.filter(|(_, _, fact)| matches!(fact, Fact::Project(project::Event::Opened)));
        opened.count()
    }

    /// Does it, and gives the command that carries it out, where it is one.
    fn act(&mut self, act: &Act, reference: &Reference) -> Option<Child> {
        let world = &self.world;
        let id = |number: &usize| format!("t-{number}");
        match act {
            Act::Write => world.ticket(&id(&reference.tickets.len())).agent(AGENT).write(),
            Act::WriteTaken => {
                let ticket = world.ticket(&id(&reference.tickets.len()));
                ticket.agent(AGENT).status("in_progress").write();
            }
            Act::Edit(number) => {
                let word = words(*number, reference.tickets[number].edits);
                world.edit(&id(number), |text| format!("{text}\n{word}\n"));
            }
            Act::Commit => world.commit(&format!("by-hand.{}", reference.commits), "by hand\n"),
            Act::Step(number, end) => self.step(*number, *end, reference),
            Act::Start => self.start(),
            Act::Spawn => return Some(self.asks(&["spawn", &spawned(reference.spawned)])),
            Act::Kill(number) => {
                let agent = world.agent_of(&id(number));
                return Some(self.asks(&["kill", &agent]));
            }
            Act::Retry(number) => return Some(self.asks(&["retry", &id(number)])),
            Act::Drop(number) => return Some(self.asks(&["drop", &id(number), "enough"])),
            Act::Assign(number) => {
                let idle = self.agents("idle");
                return Some(self.asks(&["assign", &idle[0], &id(number)]));
            }
        }
        None
    }

    /// A command of the person's, under way: where the engine is killed before it answers, it is carried out
    /// without one.
    fn asks(&self, args: &[&str]) -> Child {
        let mut command = self.world.program(&crew());
        command.current_dir(self.world.path("project")).args(args);
        command
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        command.spawn().unwrap()
    }

    /// Tells the agent how its step ends: the step is the last that has left a piece, or the one that runs.
    fn step(&self, number: usize, end: End, reference: &Reference) {
        let ticket = &reference.tickets[&number];
        let (run, script) = match end {
            End::Blocked => (ticket.run, "echo 'BLOCKED: I am told so'\n"),
            End::Piece => (ticket.pieces.last().copied().unwrap(), "commit\n"),
            End::Uncommitted => (ticket.pieces.last().copied().unwrap(), "leave\n"),
            End::Done => (ticket.pieces.last().copied().unwrap(), "commit\necho DONE\n"),
            End::DoneUncommitted => (ticket.pieces.last().copied().unwrap(), "leave\necho DONE\n"),
        };
        let gate = self.world.path("gates").join(format!("t-{number}.{run}"));
        let beside = self.world.path("gate");
        fs::write(&beside, script).unwrap();
        fs::rename(&beside, &gate).unwrap();
    }

    /// Kills the engine, if one is up, as soon as the journal has so many facts, or there is nothing more to
    /// come.
    fn crash(&mut self, facts: usize, reference: &Reference) {
        let Some(mut engine) = self.engine.take() else {
            return;
        };
        self.world.wait("the facts before the crash", || {
            self.world.rows().len() >= facts || self.unsettled(reference).is_empty()
        });
        engine.signal("KILL");
        engine.end();
    }

    fn comes_to_rest(&self, reference: &Reference) {
        // Where there is no ticket, nothing else tells that the engine is up; until it is, commands are
        // carried out without it.
        let is_up = || self.times_opened() > self.opened;
        let rested =
            testkit::wait::within(|| (is_up() && self.unsettled(reference).is_empty()).then_some(()));
        assert!(
            rested.is_some(),
            "up: {}, not so: {:#?}",
            is_up(),
            self.unsettled(reference)
        );
    }

    /// What is not yet as the reference has it, in words.
    fn unsettled(&self, reference: &Reference) -> Vec<String> {
        let mut found = Vec::new();
        for (number, ticket) in &reference.tickets {
            let id = format!("t-{number}");
            let state = self.world.try_state(&id).map(|ticket| state(&ticket));
            // Who has taken it is in its file alone.
            let wanted = if ticket.state == State::Taken {
                State::Open
            } else {
                ticket.state
            };
            if state != Some(wanted) {
                found.push(format!("{id} is {state:?}, not {:?}", ticket.state));
            }
            if self.world.runs(&id) != ticket.run {
                found.push(format!(
                    "{id} had {} runs, not {}",
                    self.world.runs(&id),
                    ticket.run
                ));
            }
            let wanted = match ticket.state {
                State::Running | State::Taken => "in_progress",
                State::Open | State::Held => "open",
                State::Landed | State::Dropped => "closed",
            };
            let status = self.world.front(&id, "status");
            if status != wanted {
                found.push(format!("{id} says {status}, not {wanted}"));
            }
        }
        found
    }

    /// The agents in this state, by name.
    fn agents(&self, state: &str) -> Vec<String> {
        let said = self.world.must(&["ps", "--json"]).out;
        let said: serde_json::Value = serde_json::from_str(&said).unwrap();
        let agents = said["agents"].as_array().unwrap().iter();
        agents
            .filter(|agent| agent["state"] == state)
            .map(|agent| agent["name"].as_str().unwrap().to_owned())
            .collect()
    }

    /// Every piece of work is in a workspace, or under a ref. It goes from the one to the other, never out of
    /// both.
    fn nothing_is_lost(&self, reference: &Reference) {
        let here: BTreeSet<String> = self
            .world
            .workspaces()
            .iter()
            .flat_map(|workspace| names(&workspace.join("work")))
            .collect();
        let listed = self.world.git(&["rev-list", "--objects", "--all"]);
        let kept: BTreeSet<&str> = listed
            .lines()
            .filter_map(|line| line.split_once(" work/"))
            .map(|(_, name)| name)
            .collect();
        let uncertain =
            |run: u32, ticket: &crate::histories::reference::Ticket| ticket.pieces.last() == Some(&run);
        for (number, ticket) in &reference.tickets {
            for run in &ticket.pieces {
                let piece = format!("t-{number}.{run}");
                // The last one may be told and not yet made, while nobody waits for it.
                let is_there = here.contains(&piece) || kept.contains(piece.as_str());
                assert!(
                    is_there || (!reference.is_up && uncertain(*run, ticket)),
                    "{piece} is lost: {here:?} {kept:?}"
                );
            }
        }
    }

    /// The target has what landed, what people committed, and nothing of any other ticket.
    fn target_has_what_landed(&self, reference: &Reference) {
        let listed = self.world.git(&["ls-tree", "-r", "--name-only", "main"]);
        let mut by_ticket: BTreeMap<usize, BTreeSet<u32>> = BTreeMap::new();
        for name in listed.lines().filter_map(|name| name.strip_prefix("work/t-")) {
            let (ticket, run) = name.split_once('.').unwrap();
            by_ticket
                .entry(ticket.parse().unwrap())
                .or_default()
                .insert(run.parse().unwrap());
        }
        for n in 1..=reference.commits {
            assert!(
                listed.lines().any(|name| name == format!("by-hand.{n}")),
                "commit {n} is lost"
            );
        }
        for (number, ticket) in &reference.tickets {
            let found = by_ticket.remove(number);
            if ticket.state == State::Landed && reference.is_up {
                let last = ticket.pieces.last().unwrap();
                assert!(
                    found.as_ref().is_some_and(|found| found.contains(last)),
                    "t-{number}: {found:?}"
                );
            }
            let may_be_there = ticket.state == State::Landed;
            assert!(
                found.is_none() || may_be_there,
                "t-{number} has not landed: {found:?}"
            );
        }
        assert!(by_ticket.is_empty(), "{by_ticket:?}");
        let merges = self.world.landed();
        let once: BTreeSet<&String> = merges.iter().collect();
        assert_eq!(once.len(), merges.len(), "landed twice: {merges:?}");
    }

    /// What a person wrote into a ticket's file is in it.
    fn words_of_people_stay(&self, reference: &Reference) {
        for (number, ticket) in &reference.tickets {
            let text = fs::read_to_string(self.world.ticket_file(&format!("t-{number}"))).unwrap();
            for edit in 1..=ticket.edits {
                assert!(
                    text.contains(&words(*number, edit)),
                    "edit {edit} is lost: {text}"
                );
            }
        }
        if reference.is_up {
            let agents: BTreeSet<String> = self
                .agents("idle")
                .into_iter()
                .chain(self.agents("working"))
                // Between two steps, while no engine runs.
                .chain(self.agents("waiting"))
                .collect();
            for n in 1..=reference.spawned {
                assert!(
                    agents.contains(&spawned(n)),
                    "{} is not in {agents:?}",
                    spawned(n)
                );
            }
        }
    }
}

fn state(ticket: &model::ticket::Ticket) -> State {
    use model::ticket::{Done, State as Real};
    match &ticket.state {
        _ if ticket.held.is_some() => State::Held,
        Real::New | Real::Open => State::Open,
        Real::InProgress(_) | Real::Verify(_) => State::Running,
        Real::Done(Done::Dropped { .. }) => State::Dropped,
        Real::Done(_) => State::Landed,
    }
}

fn words(number: usize, edit: u32) -> String {
    format!("A person adds to t-{number}: this is edit {edit}.")
}

fn spawned(n: u32) -> String {
    format!("spawned-{n}")
}

/// The files of a folder, if it is there.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    entries
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect()
}
