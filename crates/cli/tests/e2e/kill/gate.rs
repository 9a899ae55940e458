//! The facts of batches, reviews and commitments. One queue comes by all of them, with a person who does what
//! they are needed for, and crew dies before and after each is durable.
//!
//! Six tickets are submitted one after another. While the first one is checked by itself, the others line up:
//! then they are two batches, each tried in a checkout of its own. The first entry breaks both. It is found
//! and sent back, and all others behind it land, but for one whose file the person has in the checkout. Three
//! more are reviewed, or have a commitment.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::time::Duration;

use model::ticket::{State, Ticket};

use crate::kill::actions::Seen;
use crate::kill::crew;
use crate::kill::facts::Hit;
use crate::kill::oracle::{self, Expected};
use crate::kill::rig::Rig;
use crate::kill::world::{Kit, World};
use testkit::wait;

/// Facts that the queue of this file comes by, and no other.
const FACTS: [&str; 21] = [
    "coupled",
    "joined_train",
    "trial_passed",
    "trial_failed",
    "trial_cancelled",
    "uncoupled",
    "batch_landing",
    "batch_put_off",
    "review_claimed",
    "review_started",
    "review_spawned",
    "review_finished",
    "review_failed",
    "verdict_noted",
    "approved",
    "rejected",
    "review_end_ordered",
    "review_approved",
    "returned",
    "commitment_added",
    "commitment_unmet",
];
/// Effects that it has performed, and no other.
const EFFECTS: [&str; 2] = ["start_review", "remove_review"];

/// The tickets, with what only their file says. Those of the train first, in order.
const TICKETS: [(&str, &str); 9] = [
    ("g-1", "deps: []\n"),
    ("g-2", "deps: []\n"),
    ("g-3", "deps: []\n"),
    ("g-4", "deps: []\n"),
    ("g-5", "deps: []\n"),
    ("g-6", "deps: []\n"),
    (
        "g-commits",
        "deps: [g-1]\ncommitments:\n  - says: There is more\n    run: [test, -e, work/more.txt]\n",
    ),
    ("g-person", "deps: [g-1]\ntags: [risky]\n"),
    ("g-review", "deps: [g-1]\ntags: [risky]\n"),
];
/// The number of those that line up.
const IN_LINE: usize = 6;
/// The one whose file the person has in the checkout.
const IN_THE_WAY: &str = "g-5";
/// The one that a person decides on.
const PERSON: &str = "g-person";

/// Whether nobody passes this point but the queue of this file.
pub(crate) fn has(point: &str) -> bool {
    all_points().iter().any(|one| one == point)
}

/// Before and after each is durable, or is performed.
fn all_points() -> Vec<String> {
    points(["decided", "begun"])
        .into_iter()
        .chain(points(["durable", "performed"]))
        .collect()
}

/// The points of facts and of effects at one of their moments.
fn points([of_fact, of_effect]: [&str; 2]) -> Vec<String> {
    let facts = FACTS.iter().map(|fact| format!("{of_fact}.{fact}"));
    facts
        .chain(EFFECTS.iter().map(|effect| format!("{of_effect}.{effect}")))
        .collect()
}

/// Something that the person does once, when its time has come.
type Action = (&'static str, fn(&Gate, &Seen) -> bool, fn(&mut Gate));

const ACTIONS: [Action; 5] = [
    (
        "lets the first one go",
        |_, seen| {
            TICKETS[..IN_LINE]
                .iter()
                .all(|(id, _)| seen.ticket(id).is_some_and(is_submitted))
        },
        |gate| gate.touch("lined-up"),
    ),
    (
        "lets the train go",
        |_, seen| {
            let last = TICKETS[IN_LINE - 1].0;
            let mut line = TICKETS[1..IN_LINE].iter();
            line.all(|(id, _)| seen.has(id, "joined_train")) && seen.has(last, "check_ordered")
        },
        |gate| gate.touch("full"),
    ),
    (
        "makes way",
        |_, seen| seen.any_has("batch_put_off") || seen.has(IN_THE_WAY, "checkout_edited"),
        |gate| {
            fs::remove_file(gate.rig.world.repo().join(format!("work/{IN_THE_WAY}.txt"))).unwrap();
        },
    ),
    (
        "sends it back",
        |_, seen| is_reviewed(seen),
        |gate| {
            gate.rig
                .command(&["reject", PERSON, "it needs more"], PERSON, |ticket| {
                    ticket
                        .reviewing()
                        .is_none_or(|reviewing| reviewing.then.is_some())
                });
        },
    ),
    (
        "approves",
        |gate, seen| gate.done.contains("sends it back") && seen.has(PERSON, "returned") && is_reviewed(seen),
        |gate| {
            gate.rig.command(&["approve", PERSON], PERSON, |ticket| {
                ticket
                    .reviewing()
                    .is_none_or(|reviewing| reviewing.then.is_some())
            });
        },
    ),
];

fn is_submitted(ticket: &Ticket) -> bool {
    match &ticket.state {
        State::Verify(_) | State::Done(_) => true,
        State::New | State::Open | State::InProgress(_) => false,
    }
}

/// Whether a gatekeeper is at work on the person's ticket, and nobody has decided.
fn is_reviewed(seen: &Seen) -> bool {
    let reviewing = seen.ticket(PERSON).and_then(Ticket::reviewing);
    reviewing.is_some_and(|reviewing| reviewing.then.is_none() && reviewing.is_live())
}

/// One queue, worked off.
struct Gate {
    rig: Rig,
    /// Where to die.
    points: Vec<Hit>,
    /// The actions that are done.
    done: BTreeSet<&'static str>,
    /// The agents that may end.
    may_end: usize,
}

impl Gate {
    fn new(points: Vec<Hit>) -> Self {
        let kit = Kit {
            agent: include_str!("gate.sh"),
            check: include_str!("gate-check.sh"),
            agents: 12,
            train: (4, 2),
            settings: ("", "\n[review]\nwhen = { labels = [\"risky\"] }\ncount = 2\n"),
            in_memory: true,
        };
        let world = World::with(kit, &BTreeMap::new());
        for (id, said) in TICKETS {
            world.add_ticket(id, said);
        }
        let way = world.repo().join("work");
        fs::create_dir(&way).unwrap();
        fs::write(way.join(format!("{IN_THE_WAY}.txt")), "the person's\n").unwrap();
        let mut rig = Rig::new(world);
        rig.is_anyway = true;
        if !points.is_empty() {
            let each: Vec<String> = points
                .iter()
                .map(|(point, hit)| format!("{point}:{hit}"))
                .collect();
            rig.arm([Some(each.join(","))]);
        }
        Self {
            rig,
            points,
            done: BTreeSet::new(),
            may_end: 0,
        }
    }

    fn touch(&self, name: &str) {
        fs::write(self.rig.world.outside(name), "").unwrap();
    }

    /// Works the queue off. Panics at the first promise that was not kept.
    fn play(&mut self) {
        self.rig.begin();
        let ended = wait::within(|| {
            let ended = self.rig.ended();
            if ended.is_none() {
                self.act();
            }
            ended
        });
        let log = || oracle::log(&self.rig.world);
        let status = ended.unwrap_or_else(|| {
            let done = &self.done;
            panic!("the queue is not worked off; the person did {done:?}\n{}", log())
        });
        assert!(status.success(), "{status}\n{}", log());
        self.check();
    }

    /// Does what its time has come for.
    fn act(&mut self) {
        // The journal is read from its beginning.
        wait::pause(Duration::from_millis(100));
        let Some(seen) = Seen::of(&self.rig.world) else {
            return;
        };
        let next = self.may_end;
        let follows = next == 0 || seen.ticket(TICKETS[next - 1].0).is_some_and(is_submitted);
        if next < IN_LINE && follows {
            self.touch(&format!("go-{}", TICKETS[next].0));
            self.may_end += 1;
        }
        let now = ACTIONS
            .iter()
            .find(|(name, is_time, _)| !self.done.contains(name) && is_time(self, &seen));
        if let Some((name, _, act)) = now {
            act(self);
            self.done.insert(name);
        }
    }

    fn check(&self) {
        let world = &self.rig.world;
        let all: BTreeSet<String> = TICKETS.iter().map(|(id, _)| (*id).to_owned()).collect();
        let expected = Expected {
            landed: all.clone(),
            closed: all,
        };
        oracle::check_world(world, &expected, &BTreeMap::new());
        oracle::no_commit_is_lost(world, TICKETS.len());
        oracle::each_step_started_once(world);
        oracle::each_review_started_once(world);
        assert_eq!(
            world.reported::<1>("gone"),
            Vec::<[String; 1]>::new(),
            "gatekeepers without a checkout"
        );
        let passed = self.rig.hits(0);
        let missed: Vec<_> = self
            .points
            .iter()
            .filter(|(point, hit)| passed.get(point).is_none_or(|passed| passed < hit))
            .collect();
        assert_eq!(
            self.rig.deaths,
            self.points.len() - missed.len(),
            "everybody died who was to"
        );
        println!("{} deaths; nobody came by {missed:?}", self.rig.deaths);
        // Of facts that become durable together, whoever dies after the first does not come by the others.
        assert!(missed.len() * 4 <= self.points.len(), "nobody came by {missed:?}");
        let (good, said, _) = crew::said(world, &["doctor"]);
        assert!(good, "crew doctor:\n{said}");
    }
}

/// Works the queue off once for each of these, side by side: what the target then holds, and how often the
/// points were passed.
pub(crate) fn play(deaths: Vec<Vec<Hit>>) -> Vec<(String, BTreeMap<String, u64>)> {
    std::thread::scope(|scope| {
        let play = |points| {
            scope.spawn(move || {
                let mut gate = Gate::new(points);
                gate.play();
                (gate.rig.content(), gate.rig.hits(0))
            })
        };
        let lives: Vec<_> = deaths.into_iter().map(play).collect();
        lives.into_iter().map(|life| life.join().unwrap()).collect()
    })
}

/// Before each fact is durable and each effect is begun.
pub(crate) fn before() -> Vec<Hit> {
    first(points(["decided", "begun"]))
}

/// After each fact is durable and each effect is performed.
pub(crate) fn after() -> Vec<Hit> {
    first(points(["durable", "performed"]))
}

fn first(points: Vec<String>) -> Vec<Hit> {
    points.into_iter().map(|point| (point, 1)).collect()
}

/// Panics unless each point of this file was passed.
pub(crate) fn every_point_was_passed(passed: &BTreeMap<String, u64>) {
    let missing: Vec<_> = all_points()
        .into_iter()
        .filter(|point| !passed.contains_key(point))
        .collect();
    assert!(missing.is_empty(), "nobody came by {missing:?}");
}

#[test]
fn killed_after_every_fact_of_the_gate_is_durable_it_comes_to_the_same() {
    let lived = play(vec![Vec::new(), after()]);
    every_point_was_passed(&lived[0].1);
    assert_eq!(lived[1].0, lived[0].0, "the target's content");
}
