//! The facts that the small queue of `scenario.rs` does not come by. One queue comes by all of them, with a
//! person who does what they are needed for, and crew dies before, after, and before and after each is
//! durable.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;

use model::ticket::Ticket;

use crate::kill::actions::{ACTIONS, Seen};
use crate::kill::crew;
use crate::kill::life::{self, Hit, Life};
use crate::kill::oracle::{self, Expected};
use crate::kill::world::{Kit, World};
use testkit::wait;

/// Facts that the queue of this file comes by, and no other.
const FACTS: [&str; 26] = [
    "target_left_unchecked",
    "woken",
    "woken_early",
    "wait_timed_out",
    "recovered",
    "submitted",
    "released",
    "no_commits",
    "could_not_run",
    "waived",
    "target_red",
    "retry_due",
    "target_moved",
    "checkout_edited",
    "landing_retried",
    "sensitive",
    "sensitive_approved",
    "file_drifted",
    "closed_by_person",
    "reopened",
    "recovery_not_needed",
    "harness_paused",
    "harness_freed",
    "budget_spent",
    "budget_raised",
    "day_budget_low",
];
/// As [`FACTS`]; those of a day.
const OF_THE_DAY: [&str; 2] = ["day_budget_spent", "day_budget_free"];

/// Whether nobody passes this point but the queue of this file.
pub(crate) fn has(point: &str) -> bool {
    let fact = point
        .strip_prefix("decided.")
        .or_else(|| point.strip_prefix("durable."));
    fact.is_some_and(|fact| FACTS.contains(&fact) || OF_THE_DAY.contains(&fact))
}

/// The tickets of the beginning, with what only their file says.
pub(crate) const FIRST: [(&str, &str); 14] = [
    ("f-nap", "deps: []\n"),
    ("f-early", "deps: []\n"),
    ("f-merged", "deps: []\n"),
    ("f-asks", "deps: []\n"),
    ("f-empty", "deps: []\n"),
    ("f-stuck", "deps: []\n"),
    ("f-hangs", "deps: []\n"),
    ("f-behind", "deps: [f-hangs]\n"),
    ("f-extra", "deps: []\nrecovers: f-nap\n"),
    ("f-held", "deps: []\n"),
    ("f-edits", "deps: []\n"),
    ("f-waived", "deps: []\n"),
    ("f-moved", "deps: []\n"),
    ("f-last", "deps: []\n"),
];
/// Those that are added, one after another.
const LATER: [&str; 3] = ["f-red", "f-auth", "f-costs"];
/// The one that turns out not to be needed.
const NOT_NEEDED: &str = "f-extra";

/// A queue of these tickets.
fn of(tickets: &[(&str, &str)], points: Vec<Hit>) -> Life {
    let kit = Kit {
        agent: include_str!("facts.sh"),
        check: include_str!("facts-check.sh"),
        agents: 16,
        train: (1, 1),
        settings: ("answer_within = \"1s\"\n", "\n[land]\nhold_paths = [\"held\"]\n"),
        in_memory: true,
    };
    let world = World::with(kit, &BTreeMap::new());
    for (id, said) in tickets {
        world.add_ticket(id, said);
    }
    Life::new(world, points)
}

/// The queue, worked off. Panics at the first promise that was not kept.
fn live(points: Vec<Hit>) -> Life {
    let mut life = of(&FIRST, points);
    fs::write(life.rig.world.repo().join("src/part-31.txt"), "in the way\n").unwrap();
    life.play(ACTIONS, |_, _| {});
    check(&life);
    life
}

impl Life {
    pub(crate) fn edit(&self, id: &str, from: &str, to: &str) {
        let file = self.rig.world.ticket_file(id);
        let text = fs::read_to_string(&file).unwrap();
        assert!(text.contains(from), "{id}:\n{text}");
        fs::write(&file, text.replace(from, to)).unwrap();
    }

    /// Commits the settings with a budget.
    pub(crate) fn budget(&self, lines: &str) {
        let text = fs::read_to_string(self.rig.world.repo().join("crew.toml")).unwrap();
        let text = text.split("\n[budget]\n").next().unwrap();
        self.rig
            .world
            .commit_by_hand("crew.toml", &format!("{text}\n[budget]\n{lines}"), || {});
    }
}

fn check(life: &Life) {
    let world = &life.rig.world;
    let all = FIRST.iter().map(|(id, _)| *id).chain(LATER);
    let closed: BTreeSet<String> = all.map(str::to_owned).collect();
    let landed: BTreeSet<String> = closed.iter().filter(|id| *id != NOT_NEEDED).cloned().collect();
    let at_least = landed.len();
    oracle::check_world(world, &Expected { landed, closed }, &BTreeMap::new());
    oracle::no_commit_is_lost(world, at_least);
    oracle::each_step_started_once(world);
    // There is no pause that could end, where an engine died as it ended. How often the target moves under a
    // landing is a matter of chance.
    life.assert_missed(10, |(_, hit)| *hit == 1);
    let (good, said, _) = crew::said(world, &["doctor"]);
    assert!(good, "crew doctor:\n{said}");
}

/// The points before and after these facts are durable, as `which` of them says.
pub(crate) fn points(which: &[&str]) -> Vec<String> {
    let facts = FACTS.iter().chain(&OF_THE_DAY);
    facts
        .flat_map(|fact| which.iter().map(move |when| format!("{when}.{fact}")))
        .collect()
}

/// As [`life::play`].
pub(crate) fn play(deaths: Vec<Vec<Hit>>) -> Vec<(String, BTreeMap<String, u64>)> {
    life::play(deaths, live)
}

#[test]
fn a_merge_that_no_engine_is_up_for_ends_what_is_being_landed_before_it() {
    let tickets = [("f-merged", "deps: []\n"), ("f-moved", "deps: []\n")];
    let mut facts = of(&tickets, vec![("begun.land".to_owned(), 1)]);
    let mut engine = facts.rig.start(&["run", "--until-idle", "--anyway"]);
    wait::until("one is being checked, the other sleeps", || {
        let sleeps = Seen::of(&facts.rig.world).is_some_and(|seen| seen.sleeps("f-merged"));
        (sleeps && facts.is_there("checking")).then_some(())
    });
    facts.touch("moved");
    let status = engine.wait().unwrap();
    assert!(
        facts.rig.goes_on_after(status),
        "{status}\n{}",
        oracle::log(&facts.rig.world)
    );
    facts
        .rig
        .command(&["merge", "f-merged"], "f-merged", Ticket::is_done);
    let landed: Vec<String> = oracle::landed(&facts.rig.world)
        .into_iter()
        .map(|(_, id)| id)
        .collect();
    assert_eq!(landed, ["f-moved", "f-merged"]);
}

/// These points, at their first hit each.
pub(crate) fn first(which: &[&str]) -> Vec<Hit> {
    life::first(points(which))
}

/// Panics unless each rare fact's points were passed.
pub(crate) fn every_point_was_passed(passed: &BTreeMap<String, u64>) {
    life::assert_passed(&points(&["decided", "durable"]), passed);
}

#[test]
fn killed_before_and_after_every_rare_fact_is_durable_it_comes_to_the_same() {
    let lived = play(vec![Vec::new(), first(&["decided", "durable"])]);
    every_point_was_passed(&lived[0].1);
    assert_eq!(lived[1].0, lived[0].0, "the target's content");
}
