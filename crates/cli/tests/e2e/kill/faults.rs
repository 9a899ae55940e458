//! Tickets, four agents, and SIGKILL to one of them or the engine, again and again.

use std::collections::BTreeMap;
use std::time::{Duration, Instant};

use crate::kill::crew::Crew;
use crate::kill::moment::Moment;
use crate::kill::oracle::{self, Reported};
use crate::kill::processes::{self, Process};
use crate::kill::rng::Rng;
use crate::kill::world::{Plan, World};
use testkit::wait;

/// Who is killed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fault {
    Engine,
    /// And at times its git, in the middle of what it does.
    EngineAndShims,
    Shim,
    Agent,
}

impl Fault {
    pub(crate) const ALL: [Self; 4] = [Self::Engine, Self::EngineAndShims, Self::Shim, Self::Agent];
}

#[test]
fn killed_in_each_way_everything_lands_exactly_once() {
    killed(8, Fault::ALL.len());
}

/// Works so many tickets off while so many faults strike, each kind as often as the others.
pub(crate) fn killed(tickets: u64, faults: usize) {
    let seed = Rng::seed();
    println!("KILL_SEED={seed}");
    let mut rng = Rng::new(seed);
    let plans = plans(&mut rng, tickets);
    let world = World::new(include_str!("agent.sh"), &plans);
    let mut crew = Crew::start(&world);
    let mut order: Vec<Fault> = (0..faults).map(|n| Fault::ALL[n % Fault::ALL.len()]).collect();
    rng.shuffle(&mut order);
    let mut notes = BTreeMap::new();
    for (n, fault) in order.into_iter().enumerate() {
        // The faults go with the work, from its beginning to its end.
        wait::until("the work has gone on", || {
            still_runs(&mut crew, &world);
            (oracle::landed(&world).len() >= n * (plans.len() - 3) / faults).then_some(())
        });
        let moment = Moment::draw(&mut rng);
        moment.await_in(&world, &mut rng);
        let whom = strike(&mut crew, &world, fault, &mut rng);
        println!(
            "fault {n}: {moment:?}, {fault:?} {whom}; {} landed before",
            oracle::landed(&world).len()
        );
        // A person goes on working meanwhile.
        if n % 5 == 2 {
            let path = format!("src/part-{:02}.txt", 20 + n);
            let text = format!("by hand, number {n}\n");
            world.commit_by_hand(&path, &text, || still_runs(&mut crew, &world));
        }
        note(&world, &plans, &mut rng, n, &mut notes);
    }
    std::fs::write(world.outside("over"), "").unwrap();
    let status = crew.end(&world);
    // Each agent writes two tokens or more, and commits once or more.
    let least = Reported {
        tokens: 2 * plans.len(),
        commits: plans.len(),
    };
    oracle::check(&world, least, &plans, &notes, status, crew.pid());
}

/// The person writes a note into some ticket.
pub(crate) fn note(
    world: &World,
    plans: &BTreeMap<String, Plan>,
    rng: &mut Rng,
    n: usize,
    notes: &mut BTreeMap<String, String>,
) {
    let id = rng.pick(&plans.keys().collect::<Vec<_>>()).to_string();
    let note = format!("a thought of a person's, number {n}");
    let ticket = tickets::Id::new(&id).unwrap();
    world
        .queue()
        .add_note(&ticket, &note, jiff::Timestamp::now())
        .unwrap();
    notes.insert(note, id);
}

/// What each ticket's agent does, drawn from the seed.
fn plans(rng: &mut Rng, tickets: u64) -> BTreeMap<String, Plan> {
    let id = |n: u64| format!("k-{n:02}");
    (0..tickets)
        .map(|n| {
            let plan = Plan {
                steps: rng.between(2, 3),
                pieces: rng.between(1, 3),
                pause_ms: rng.between(20, 250),
                leaves: rng.one_in(2),
                child: ["none", "plain", "daemon"][rng.below(3)],
                breaks: rng.one_in(5),
                shares: rng.one_in(4),
                // So that there is somebody to be killed to the end.
                waits: n < 2,
                deps: if n > 3 && rng.one_in(3) {
                    vec![id(rng.between(2, n - 1))]
                } else {
                    Vec::new()
                },
            };
            (id(n), plan)
        })
        .collect()
}

/// Kills, and starts the engine again where it was killed. Says who it was.
pub(crate) fn strike(crew: &mut Crew, world: &World, fault: Fault, rng: &mut Rng) -> String {
    match fault {
        Fault::Engine => {
            let pid = crew.pid();
            still_runs(crew, world);
            crew.kill(&[]);
            crew.restart(world);
            format!("{pid}")
        }
        Fault::EngineAndShims => {
            let pid = crew.pid();
            still_runs(crew, world);
            let gits = if rng.one_in(2) { a_git_of(pid) } else { Vec::new() };
            crew.kill(&gits);
            // What the engine was starting as it died may begin after a look.
            let killed: usize = (0..2)
                .map(|_| shims(world).iter().filter(|shim| shim.kill()).count())
                .sum();
            crew.restart(world);
            format!("{pid}, {killed} shims and {} gits", gits.len())
        }
        Fault::Shim => one("a shim", crew, world, rng, shims),
        Fault::Agent => one("an agent", crew, world, rng, agents),
    }
}

fn one(
    what: &str,
    crew: &mut Crew,
    world: &World,
    rng: &mut Rng,
    find: fn(&World) -> Vec<Process>,
) -> String {
    let killed = wait::until(&format!("there is {what} to be killed"), || {
        still_runs(crew, world);
        let found = find(world);
        (!found.is_empty())
            .then(|| rng.pick(&found).clone())
            .filter(Process::kill)
    });
    format!("{}: {}", killed.pid, killed.command.replace('\0', " "))
}

/// Panics when the engine has ended by itself: it must not, while the faults go on.
pub(crate) fn still_runs(crew: &mut Crew, world: &World) {
    if let Some(status) = crew.ended(world) {
        panic!("the engine ended by itself: {status}\n{}", oracle::log(world));
    }
}

fn shims(world: &World) -> Vec<Process> {
    let mut all = processes::of_root(world.root());
    all.retain(Process::is_shim);
    all
}

/// The engine's own git, in the middle of what it does; none when it has nothing to do for a while.
fn a_git_of(engine: u32) -> Vec<Process> {
    let deadline = Instant::now() + Duration::from_secs(2);
    loop {
        let gits = processes::gits_of(engine);
        if !gits.is_empty() || Instant::now() > deadline {
            return gits;
        }
        wait::pause(Duration::from_micros(100));
    }
}

/// The programs of steps themselves, not what they started.
fn agents(world: &World) -> Vec<Process> {
    let all = processes::of_root(world.root());
    let shims: Vec<i32> = all.iter().filter(|p| p.is_shim()).map(|p| p.pid).collect();
    all.into_iter()
        .filter(|p| p.is_agents() && shims.contains(&p.parent) && p.command.contains("agent.sh"))
        .collect()
}
