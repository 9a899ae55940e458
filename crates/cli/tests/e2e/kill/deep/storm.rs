//! Two hundred tickets, and SIGKILL to whoever is there, over and over: as many drains as the kills take.

use std::collections::BTreeMap;
use std::time::Instant;

use crate::kill::crew::Crew;
use crate::kill::faults::{self, Fault};
use crate::kill::oracle::{self, Reported};
use crate::kill::rng::Rng;
use crate::kill::world::{Kit, Plan, World};
use testkit::wait;

const TICKETS: usize = 200;
/// In one drain: so many that the work gets on between them.
const KILLS: usize = 102;
/// In all, unless `KILL_STORM` says how many.
const ALL_KILLS: usize = 306;

#[test]
fn three_hundred_kills_lose_nothing_and_repeat_nothing() {
    let seed = Rng::seed();
    println!("KILL_SEED={seed}");
    let all =
        std::env::var("KILL_STORM").map_or(ALL_KILLS, |all| all.parse().expect("KILL_STORM is a number"));
    let mut rng = Rng::new(seed);
    let mut left = all;
    while left > 0 {
        let kills = left.min(KILLS);
        drain(&mut rng, kills);
        left -= kills;
    }
}

/// One queue, worked off while so many are killed.
fn drain(rng: &mut Rng, kills: usize) {
    let begun = Instant::now();
    let plans: BTreeMap<String, Plan> = (0..TICKETS)
        .map(|n| (format!("k-{n:03}"), Plan::default()))
        .collect();
    let kit = Kit {
        agent: include_str!("../storm.sh"),
        check: include_str!("../scenario-check.sh"),
        agents: 8,
        train: (1, 1),
        settings: ("", ""),
        in_memory: true,
    };
    let world = World::with(kit, &plans);
    let mut crew = Crew::start(&world);
    let mut notes = BTreeMap::new();
    let mut struck: BTreeMap<String, usize> = BTreeMap::new();
    for n in 0..kills {
        // From the first ticket to almost the last.
        wait::until("the work has gone on", || {
            faults::still_runs(&mut crew, &world);
            (moves(&world) >= n * (TICKETS - 20) / kills).then_some(())
        });
        wait::pause(rng.millis(0, 100));
        let fault = *rng.pick(&Fault::ALL);
        faults::strike(&mut crew, &world, fault, rng);
        *struck.entry(format!("{fault:?}")).or_default() += 1;
        if n % 25 == 12 {
            let path = format!("src/part-{:02}.txt", 20 + n / 25);
            let text = format!("by hand, number {n}\n");
            world.commit_by_hand(&path, &text, || faults::still_runs(&mut crew, &world));
        }
        if n % 5 == 0 {
            faults::note(&world, &plans, rng, n, &mut notes);
        }
    }
    let status = crew.end(&world);
    let drained = begun.elapsed();
    // Each agent writes one token or two, and a fifth of them leaves the commit to crew.
    let least = Reported {
        tokens: TICKETS,
        commits: TICKETS / 5 * 4,
    };
    oracle::check(&world, least, &plans, &notes, status, crew.pid());
    println!(
        "{kills} kills {struck:?}: drained in {drained:?}, looked at in {:?}",
        begun.elapsed() - drained
    );
}

/// How often the target has moved.
fn moves(world: &World) -> usize {
    let log = std::fs::read_to_string(world.repo().join(".git/logs/refs/heads/main")).unwrap_or_default();
    log.lines().count()
}
