//! The facts of batches, reviews and commitments. One queue comes by all of them, with a person who does what
//! they are needed for, and crew dies before and after each is durable.
//!
//! Seven tickets are submitted one after another. While the first two are checked by themselves, one of them
//! for its commitment, the others line up: then they are two batches, each tried in a checkout of its own.
//! The first entry breaks both. It is found and sent back, and all others behind it land, but for the last
//! one, whose file the person has in the checkout. Two more are reviewed, and the gatekeeper of one asks the
//! person. Two wait for the person's word: one for its commitments, one for the tests that it takes away.
//! `gate-check.sh` says what waits for what,
//! so that each of the facts is certain on a machine of any speed.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::ticket::{State, Ticket};

use crate::kill::actions::Seen;
use crate::kill::crew;
use crate::kill::life::{Action, Hit, Life};
use crate::kill::oracle::{self, Expected};
use crate::kill::own::Own;
use crate::kill::world::{Kit, World};

/// The facts that the queue of this file comes by, and the effects that it has performed.
pub(crate) const OWN: Own = Own {
    facts: &[
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
        "review_asked",
        "review_answered",
        "verdict_noted",
        "approved",
        "rejected",
        "review_end_ordered",
        "review_approved",
        "returned",
        "commitment_added",
        "commitment_unmet",
        "commitments_held",
        "commitments_approved",
        "tests_held",
        "tests_approved",
    ],
    effects: &["start_review", "remove_review"],
    live,
};

/// What is reviewed, and a check whose tests are counted.
const SETTINGS: &str = "
[review]
when = { labels = [\"risky\"] }
count = 2

[[check]]
name = \"counted\"
command = \"[ -e work/g-fewer.txt ] && echo 2 ran || echo 9 ran\"
tests = \"([0-9]+) ran\"
";

/// The tickets, with what only their file says. Those that line up first, in order.
const TICKETS: [(&str, &str); 12] = [
    (
        "g-commits",
        "deps: []\ncommitments:\n  - says: There is more\n    run: [test, -e, work/more.txt]\n",
    ),
    ("g-1", "deps: []\n"),
    ("g-2", "deps: []\n"),
    ("g-3", "deps: []\n"),
    ("g-4", "deps: []\n"),
    ("g-5", "deps: []\n"),
    ("g-6", "deps: []\n"),
    ("g-person", "deps: [g-3]\ntags: [risky]\n"),
    ("g-review", "deps: [g-3]\ntags: [risky]\n"),
    (
        MADE,
        "deps: [g-6]\nmade_by: ada\ncommitments:\n  - says: It is there\n    run: test -e work/g-made.txt\n",
    ),
    (FEWER, "deps: [g-made, g-person, g-review]\n"),
    ("g-last", "deps: []\n"),
];
/// The number of those that line up.
const IN_LINE: usize = 7;
/// The number of those that are checked by themselves meanwhile, each in a checkout of its own.
const ALONE: usize = 2;
/// The last one in line, whose file the person has in the checkout.
const IN_THE_WAY: &str = "g-6";
/// The one that a person decides on.
const PERSON: &str = "g-person";
/// The one about which its gatekeeper asks.
const ASKED: &str = "g-review";
/// The one that an agent made, with shell text in its commitments.
const MADE: &str = "g-made";
/// The one with which far fewer tests run. It is alone in the train: of an entry behind another one it would
/// first have to be found out which of them takes the tests away.
const FEWER: &str = "g-fewer";

const ACTIONS: [Action; 9] = [
    (
        "lets the first ones go",
        |_, seen| {
            let mut behind = TICKETS[ALONE..IN_LINE].iter();
            behind.all(|(id, _)| seen.has(id, "joined_train"))
        },
        |life, _| life.touch("lined-up"),
    ),
    (
        "lets the first batch go",
        |_, seen| seen.has(TICKETS[IN_LINE - 1].0, "check_ordered"),
        |life, _| life.touch("both-tried"),
    ),
    (
        "makes way",
        |_, seen| seen.any_has("batch_put_off") || seen.has(IN_THE_WAY, "checkout_edited"),
        |life, _| {
            fs::remove_file(life.rig.world.repo().join(format!("work/{IN_THE_WAY}.txt"))).unwrap();
            life.touch("put-off");
        },
    ),
    (
        "sends it back",
        |_, seen| is_reviewed(seen),
        |life, _| {
            life.rig
                .command(&["reject", PERSON, "it needs more"], PERSON, |ticket| {
                    ticket
                        .reviewing()
                        .is_none_or(|reviewing| reviewing.then.is_some())
                });
        },
    ),
    (
        "approves",
        |life, seen| life.done.contains("sends it back") && seen.has(PERSON, "returned") && is_reviewed(seen),
        |life, _| {
            life.rig.command(&["approve", PERSON], PERSON, |ticket| {
                ticket
                    .reviewing()
                    .is_none_or(|reviewing| reviewing.then.is_some())
            });
        },
    ),
    (
        "answers the gatekeeper",
        |_, seen| {
            seen.ticket(ASKED)
                .is_some_and(|ticket| ticket.open_question().is_some())
        },
        |life, _| {
            life.rig
                .command(&["answer", ASKED, "it needs one"], ASKED, |ticket| {
                    ticket.open_question().is_none()
                });
        },
    ),
    (
        "lets the commitments count",
        |_, seen| is_held(seen, MADE),
        |life, _| {
            life.rig
                .command(&["approve", MADE], MADE, |ticket| ticket.held.is_none());
        },
    ),
    (
        "lets it land with fewer tests",
        |_, seen| is_held(seen, FEWER),
        |life, _| {
            life.rig
                .command(&["approve", FEWER], FEWER, |ticket| ticket.held.is_none());
        },
    ),
    (
        "lets the last one go",
        |_, seen| seen.ticket(FEWER).is_some_and(Ticket::is_done),
        |life, _| life.touch("over"),
    ),
];

fn is_held(seen: &Seen, id: &str) -> bool {
    seen.ticket(id).is_some_and(|ticket| ticket.held.is_some())
}

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

/// The queue, worked off. Panics at the first promise that was not kept.
fn live(points: Vec<Hit>) -> Life {
    let kit = Kit {
        agent: include_str!("gate.sh"),
        check: include_str!("gate-check.sh"),
        agents: 12,
        train: (4, 2),
        settings: ("", SETTINGS),
        in_memory: true,
    };
    let world = World::with(kit, &BTreeMap::new());
    for (id, said) in TICKETS {
        world.add_ticket(id, said);
    }
    let way = world.repo().join("work");
    fs::create_dir(&way).unwrap();
    fs::write(way.join(format!("{IN_THE_WAY}.txt")), "the person's\n").unwrap();
    let mut life = Life::new(world, points);
    life.play(&ACTIONS, let_the_next_end);
    check(&life);
    life
}

/// Those that line up end one after another.
fn let_the_next_end(life: &Life, seen: &Seen) {
    let gate = |id: &str| format!("go-{id}");
    let mut line = TICKETS[..IN_LINE].iter();
    let next = line.position(|(id, _)| !life.is_there(&gate(id)));
    let follows = |next: usize| match next.checked_sub(1) {
        None => true,
        // Before another one is in line, or it would be one of a batch.
        Some(last) if last < ALONE => seen.has(TICKETS[last].0, "check_ordered"),
        Some(last) => seen.ticket(TICKETS[last].0).is_some_and(is_submitted),
    };
    if let Some(next) = next.filter(|next| follows(*next)) {
        life.touch(&gate(TICKETS[next].0));
    }
}

fn check(life: &Life) {
    let world = &life.rig.world;
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
    assert_eq!(
        world.reported::<1>("unheard"),
        Vec::<[String; 1]>::new(),
        "gatekeepers that were not given the answer"
    );
    life.assert_missed(25, |_| true);
    let (good, said, _) = crew::said(world, &["doctor"]);
    assert!(good, "crew doctor:\n{said}");
}

#[test]
fn killed_after_every_fact_of_the_gate_is_durable_it_comes_to_the_same() {
    OWN.survives_what_is_durable();
}
