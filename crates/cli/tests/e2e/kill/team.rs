//! The facts of a team. One queue comes by all of them, with a person who does what they are needed for, and
//! crew dies before and after each is durable.
//!
//! One agent delegates four parts: two in workspaces of their own, which are in conflict with each other, and
//! two in its own workspace. The agent of one asks something; that of the other takes commits of others away,
//! and is given up. It lands with the other three. Another one delegates a part that never ends, until a
//! person has it go on without; and a third one says how it goes about its ticket, and is talked to. A hook
//! hears of it all.

use std::collections::BTreeMap;

use model::attempt::{Attempt, Mode};
use model::ticket::Ticket;
use serde_json::Value;

use crate::kill::crew;
use crate::kill::git::git;
use crate::kill::life::{Action, Hit, Life};
use crate::kill::oracle::{self, Expected};
use crate::kill::own::Own;
use crate::kill::world::{Kit, World};

/// The facts that the queue of this file comes by, and the effects that it has performed.
pub(crate) const OWN: Own = Own {
    facts: &[
        "delegated",
        "delegated_by",
        "children_end_ordered",
        "children_over",
        "unified",
        "not_unified",
        "landed_with_parent",
        "mode_announced",
        "mode_set",
        "said",
        "baited",
    ],
    effects: &["create_child", "unify"],
    live,
};

/// The tickets of the beginning, with what only their file says.
const TICKETS: [(&str, &str); 3] = [
    ("t-lead", "deps: []\ntags: [leader]\n"),
    (ENDS, "deps: []\ntags: [leader]\n"),
    (TOLD, "deps: []\n"),
];
/// The tickets, what becomes of each, and how many steps its agents take.
const BECOME_OF: [(&str, &str, usize); 8] = [
    (ENDS, "done/landed", 2),
    (ENDLESS, "done/dropped", 1),
    ("t-lead", "done/landed", 2),
    (MERGED, "done/landed", 1),
    (CONFLICTING, "done/landed", 1),
    (ASKS, "done/landed", 2),
    (TAKES, "done/dropped", 1),
    (TOLD, "done/landed", 2),
];
/// The child whose work is merged.
const MERGED: &str = "t-lead-c1";
/// The one whose work is in conflict with that.
const CONFLICTING: &str = "t-lead-c2";
/// The one that asks.
const ASKS: &str = "t-lead-c3";
/// The one that takes commits of others away.
const TAKES: &str = "t-lead-c4";
/// The one whose child is ended.
const ENDS: &str = "t-ends";
/// That child.
const ENDLESS: &str = "t-ends-c1";
/// The one that people talk to.
const TOLD: &str = "t-told";

/// A hook that writes down each notice, in the folder that the agents report to.
const HOOK: &str = "\n[hooks]\nall = [\"sh\", \"-c\", \"cat >> ../outside/notices\"]\n";

const ACTIONS: [Action; 7] = [
    (
        "lets the other one end",
        |_, seen| seen.has(MERGED, "unified"),
        |life, _| life.touch("merged"),
    ),
    (
        "answers",
        |_, seen| {
            let asks = seen.ticket(ASKS).and_then(model::command::Question::of);
            asks.is_some()
        },
        |life, _| {
            life.rig
                .command(&["answer", ASKS, "the third one"], ASKS, |ticket| {
                    model::command::Question::of(ticket).is_none()
                });
        },
    ),
    (
        "has it go on without",
        |life, _| life.is_there("worked"),
        |life, _| {
            life.rig.command(&["wake", ENDS], ENDS, |ticket| {
                !ticket.waits_for_children() || of(ticket, |attempt| attempt.after_children().is_some())
            });
        },
    ),
    (
        "sets its mode",
        |_, seen| seen.has(TOLD, "mode_announced"),
        |life, _| {
            life.rig.command(&["mode", TOLD, "execute"], TOLD, |ticket| {
                of(ticket, |attempt| attempt.mode == Mode::Execute)
            });
        },
    ),
    (
        "tells it something",
        |_, seen| seen.has(TOLD, "mode_set"),
        |life, _| {
            life.rig.command(&["say", TOLD, "mind the gap"], TOLD, |ticket| {
                of(ticket, |attempt| !attempt.messages.is_empty())
            });
        },
    ),
    (
        "has it come to an end",
        |_, seen| seen.has(TOLD, "said"),
        |life, _| {
            life.rig.command(&["bait", TOLD], TOLD, |ticket| {
                of(ticket, |attempt| attempt.baited.is_some())
            });
        },
    ),
    (
        // The engine has something to do until all others are over, whoever waits for an answer.
        "has talked",
        |_, seen| seen.has(TOLD, "baited") && seen.is_done("t-lead") && seen.is_done(ENDS),
        |life, _| life.touch("talked"),
    ),
];

fn of(ticket: &Ticket, is: impl Fn(&Attempt) -> bool) -> bool {
    ticket.attempt().is_some_and(is)
}

/// The queue, worked off. Panics at the first promise that was not kept.
fn live(points: Vec<Hit>) -> Life {
    let kit = Kit {
        agent: include_str!("team.sh"),
        check: "test \"$(cat src/part-07.txt)\" = \"part 7\"\n",
        agents: 6,
        train: (1, 1),
        settings: ("", HOOK),
        in_memory: true,
    };
    let world = World::with(kit, &BTreeMap::new());
    for (id, said) in TICKETS {
        world.add_ticket(id, said);
    }
    let mut life = Life::new(world, points);
    life.play(&ACTIONS, |_, _| {});
    check(&life);
    life
}

fn check(life: &Life) {
    let world = &life.rig.world;
    let expected = Expected {
        landed: TICKETS.iter().map(|(id, _)| (*id).to_owned()).collect(),
        closed: BECOME_OF.iter().map(|(id, ..)| (*id).to_owned()).collect(),
    };
    oracle::check_world(world, &expected, &BTreeMap::new());
    // Those of the leaders, of the one that is talked to, and of the children that commit.
    oracle::no_commit_is_lost(world, TICKETS.len() + 3);
    oracle::each_step_started_once(world);
    let tickets = oracle::tickets(world);
    let starts = world.reported::<3>("starts");
    let became: Vec<(&str, String, usize)> = BECOME_OF
        .iter()
        .map(|(id, ..)| {
            let steps = starts.iter().filter(|[_, ticket, _]| ticket == id).count();
            (*id, tickets[*id].state_name(), steps)
        })
        .collect();
    let wanted = BECOME_OF.map(|(id, state, steps)| (id, state.to_owned(), steps));
    assert_eq!(became, wanted, "what became of each, and its steps");
    what_does_not_count_is_kept(world);
    let heard = world.reported::<1>("heard");
    assert_ne!(heard, [["0".to_owned()]], "what people said is in the prompt");
    each_notice_was_delivered(world);
    // Of facts that become durable together only one is died at.
    life.assert_missed(25, |_| true);
    let (good, said, _) = crew::said(world, &["doctor"]);
    assert!(good, "crew doctor:\n{said}");
}

/// What the children did that are not done is not on the target, and not lost.
fn what_does_not_count_is_kept(world: &World) {
    for (child, path, text) in [
        (ENDLESS, "work/ended.txt", "ended\n"),
        (ENDLESS, "work/left.txt", "left\n"),
        (TAKES, "work/t-lead-c4.txt", "t-lead-c4\n"),
    ] {
        let kept = format!("refs/crew/attempts/{child}/1:{path}");
        assert_eq!(git(&world.repo(), &["show", &kept]), text, "{path}");
        assert_eq!(git(&world.repo(), &["ls-tree", "main", path]), "", "{path}");
    }
}

/// The hook got each notice at least once, and none before an earlier one.
fn each_notice_was_delivered(world: &World) {
    let text = std::fs::read_to_string(world.outside("notices")).unwrap();
    let ids = |notice: &Value| notice["id"].as_u64().unwrap();
    let mut delivered: Vec<u64> = text
        .lines()
        .map(|line| ids(&serde_json::from_str(line).unwrap()))
        .collect();
    delivered.dedup();
    let (good, said, complaint) = crew::said(world, &["events", "--leader", "--all", "--json"]);
    assert!(good, "{complaint}");
    let said: Value = serde_json::from_str(&said).unwrap();
    let notices: Vec<u64> = said["notices"].as_array().unwrap().iter().map(ids).collect();
    assert!(notices.len() >= BECOME_OF.len(), "{said}");
    assert_eq!(
        delivered, notices,
        "what the hook got, and what there was:\n{said}"
    );
}

#[test]
fn killed_after_every_fact_of_a_team_is_durable_it_comes_to_the_same() {
    OWN.survives_what_is_durable();
}
