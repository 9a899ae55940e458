//! Every failpoint of the real program: killed there, started again, worked off, and compared.

use std::collections::{BTreeMap, BTreeSet};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Mutex;
use std::time::Instant;

use failpoint::POINTS;

use crate::engine::{apart, notify, pull_requests, push, sent_back, tools};
use crate::kill::rng::Rng;
use crate::kill::scenario::{Scenario, Size};
use crate::kill::{clean, facts, gate, old_journal, stop, team};

/// What nobody passes unless a shim died.
const AFTER_A_SHIM: [&str; 2] = ["sweep.killed", "sweep.recorded"];
/// The deaths that lead there once, and twice.
const SHIMS: [&str; 2] = ["shim.child_known:1", "shim.child_known:1,shim.child_known:2"];
/// Pairs of points that are tried, unless `KILL_PAIRS` says how many.
const PAIRS: usize = 40;

/// A workspace is made of a pooled checkout if an earlier one's removal was faster: most runs come by there.
const BY_CHANCE: &str = "prepare.pooled";
/// A run in which nobody died.
pub(crate) struct Recording {
    pub(crate) content: String,
    pub(crate) hits: BTreeMap<String, u64>,
}

impl Recording {
    pub(crate) fn of(size: Size) -> Self {
        let mut scenario = Scenario::new(size, &[]);
        scenario.play();
        Self {
            content: scenario.rig.content(),
            hits: scenario.rig.hits(0),
        }
    }
}

/// One run that is killed.
pub(crate) struct Death {
    pub(crate) size: Size,
    pub(crate) points: Vec<String>,
    /// Whether it is no death when somebody lived.
    pub(crate) must: bool,
}

impl Death {
    /// Lives through it, and compares. Whether somebody died wherever it was wanted, which may have to be.
    fn check(&self, content: &str) -> Result<bool, String> {
        let lived = catch_unwind(AssertUnwindSafe(|| {
            let mut scenario = Scenario::new(self.size, &self.points);
            scenario.play();
            assert_eq!(scenario.rig.content(), content, "the target's content");
            let died = scenario.rig.died_everywhere();
            assert!(died || !self.must, "somebody lived who was to die");
            died
        }));
        lived.map_err(|panic| {
            let text = panic.downcast_ref::<String>().cloned();
            let text = text.or_else(|| panic.downcast_ref::<&str>().map(|text| (*text).to_owned()));
            format!("{:?} {:?}: {}", self.size, self.points, text.unwrap_or_default())
        })
    }
}

#[test]
fn killed_at_every_point_it_comes_to_the_same() {
    let (few, all) = (Recording::of(Size::Few), Recording::of(Size::All));
    every_point_was_passed(&all);
    let mut deaths = Vec::new();
    for point in POINTS.iter().filter(|point| !is_elsewhere(point.name)) {
        if AFTER_A_SHIM.contains(&point.name) {
            deaths.extend(SHIMS.iter().zip(1..).map(|(shims, hit)| Death {
                size: Size::Few,
                points: vec![format!("{shims},{}:{hit}", point.name)],
                must: true,
            }));
            continue;
        }
        let (size, hits) = match (few.hits.get(point.name), all.hits.get(point.name)) {
            (Some(hits), _) => (Size::Few, *hits),
            (None, Some(hits)) => (Size::All, *hits),
            (None, None) => continue,
        };
        let hits: BTreeSet<u64> = [1, 2.min(hits), hits].into();
        deaths.extend(hits.into_iter().map(|hit| Death {
            size,
            points: vec![format!("{}:{hit}", point.name)],
            // The second and the last hit of one run need not be there in the next; the first is.
            must: hit == 1 && point.name != BY_CHANCE,
        }));
    }
    let (done, missed) = run(&deaths, &few.content, &all.content);
    println!("{done} deaths, {missed} last hits that did not come again");
    assert!(missed * 10 <= done, "{missed} of {done} did not die");
}

/// Whether it has a test of its own: of a repository with a past, of what happens to few tickets, of the
/// gate, of `crew clean`, of an engine that is stopped, of a remote, of tools, of delegation, of a notifier,
/// or of a team.
fn is_elsewhere(point: &str) -> bool {
    old_journal::has(point)
        || facts::has(point)
        || gate::OWN.has(point)
        || clean::has(point)
        || stop::has(point)
        || push::has(point)
        || pull_requests::has(point)
        || tools::has(point)
        || apart::has(point)
        || sent_back::has(point)
        || notify::has(point)
        || team::OWN.has(point)
}

/// The table and the code agree, and there is nothing in the table that cannot be tried.
pub(crate) fn every_point_was_passed(all: &Recording) {
    let table: BTreeSet<&str> = POINTS
        .iter()
        .map(|point| point.name)
        .filter(|name| !AFTER_A_SHIM.contains(name) && !is_elsewhere(name))
        .collect();
    let passed: BTreeSet<&str> = all.hits.keys().map(String::as_str).collect();
    let missing: Vec<_> = table
        .difference(&passed)
        .filter(|name| **name != BY_CHANCE)
        .collect();
    let unknown: Vec<_> = passed.difference(&table).collect();
    assert!(
        missing.is_empty() && unknown.is_empty(),
        "nobody came by {missing:?}; not in the table: {unknown:?}"
    );
}

#[test]
fn killed_again_while_it_recovers_it_comes_to_the_same() {
    let seed = Rng::seed();
    println!("KILL_SEED={seed}");
    let mut rng = Rng::new(seed);
    let pairs =
        std::env::var("KILL_PAIRS").map_or(PAIRS, |pairs| pairs.parse().expect("KILL_PAIRS is a number"));
    let (few, all) = (Recording::of(Size::Few), Recording::of(Size::All));
    let mut point = |recording: &Recording, most: u64| {
        let names: Vec<_> = recording.hits.iter().collect();
        let (name, hits) = *rng.pick(&names);
        format!("{name}:{}", rng.between(1, most.min(*hits)))
    };
    let deaths: Vec<Death> = (0..pairs)
        .map(|n| {
            let (size, recording) = if n % 2 == 0 {
                (Size::Few, &few)
            } else {
                (Size::All, &all)
            };
            let points = vec![point(recording, u64::MAX), point(recording, 2)];
            Death {
                size,
                points,
                must: false,
            }
        })
        .collect();
    let (done, missed) = run(&deaths, &few.content, &all.content);
    println!("{done} pairs, in {missed} of them the second point was not passed");
    assert!(missed * 2 <= done, "{missed} of {done} did not die twice");
}

/// Runs all of them, some at a time; how many there were, and in how many not everybody died who was to.
pub(crate) fn run(deaths: &[Death], few: &str, all: &str) -> (usize, usize) {
    let threads = std::thread::available_parallelism().map_or(2, usize::from) + 1;
    let left = Mutex::new(deaths.iter());
    let (failures, missed) = (Mutex::new(Vec::new()), Mutex::new(0));
    let begun = Instant::now();
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                loop {
                    let next = left.lock().unwrap().next();
                    let Some(death) = next else { break };
                    let content = match death.size {
                        Size::Few => few,
                        Size::All => all,
                    };
                    match death.check(content) {
                        Ok(died) => *missed.lock().unwrap() += usize::from(!died),
                        Err(why) => failures.lock().unwrap().push(why),
                    }
                }
            });
        }
    });
    println!("{} runs in {:?}", deaths.len(), begun.elapsed());
    let failures = failures.into_inner().unwrap();
    assert!(
        failures.is_empty(),
        "{}:\n{}",
        failures.len(),
        failures.join("\n\n")
    );
    (deaths.len(), missed.into_inner().unwrap())
}
