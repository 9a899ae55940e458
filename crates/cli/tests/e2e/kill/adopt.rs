//! A restarted engine goes on with what runs: it starts nothing twice, and reads on where the one before it
//! had read to.

use std::collections::BTreeMap;

use model::attempt;
use model::ticket::Event;

use crate::kill::crew::{Crew, said, upgrade};
use crate::kill::oracle;
use crate::kill::processes::{self, Process};
use crate::kill::world::{Plan, World};
use testkit::wait;

#[test]
fn a_restarted_engine_adopts_the_step_that_runs() {
    let (world, plans, mut crew) = between_the_halves();
    crew.kill(&[]);
    crew.restart(&world);
    wait::until("the second engine is up", || {
        assert!(crew.ended(&world).is_none());
        (oracle::engines(&world) == 2).then_some(())
    });
    std::fs::write(world.outside("go"), "").unwrap();
    let status = crew.end(&world);
    one_step_did_it(&world, &plans, &crew, status);
}

#[test]
fn a_crew_that_is_upgraded_adopts_the_step_that_runs() {
    for is_killed in [false, true] {
        let (world, plans, mut crew) = between_the_halves();
        let at_work = || -> Vec<(i32, String)> {
            let all = processes::of_root(world.root());
            let shims = all.iter().filter(|process| process.is_shim());
            let shims: Vec<i32> = shims.map(|process| process.pid).collect();
            // What the agent starts itself comes and goes.
            let of_step = |process: &Process| process.is_shim() || shims.contains(&process.parent);
            let of_step = all.into_iter().filter(of_step);
            let mut pids: Vec<_> = of_step.map(|process| (process.pid, process.command)).collect();
            pids.sort();
            pids
        };
        let before = at_work();
        assert_eq!(before.len(), 2, "a shim and an agent: {before:?}");
        if is_killed {
            crew.kill(&[]);
        } else {
            let (stopped, out, err) = said(&world, &["stop", "--leave"]);
            assert!(stopped, "{out}{err}");
            wait::until("the old engine has left", || crew.ended(&world));
        }
        upgrade(&world);
        crew.restart(&world);
        wait::until("the new engine is up", || {
            assert!(crew.ended(&world).is_none());
            (oracle::engines(&world) == 2).then_some(())
        });
        assert_eq!(at_work(), before, "the same processes, none started anew");
        std::fs::write(world.outside("go"), "").unwrap();
        let status = crew.end(&world);
        one_step_did_it(&world, &plans, &crew, status);
    }
}

#[test]
fn a_step_that_ends_while_no_engine_is_up_counts_all_the_same() {
    let (world, plans, mut crew) = between_the_halves();
    crew.kill(&[]);
    std::fs::write(world.outside("go"), "").unwrap();
    wait::until("the step has ended", || {
        processes::of_root(world.root()).is_empty().then_some(())
    });
    crew.restart(&world);
    let status = crew.end(&world);
    one_step_did_it(&world, &plans, &crew, status);
}

#[test]
fn a_check_whose_shim_is_killed_is_run_again() {
    let plans = plans();
    let world = World::new(include_str!("halves.sh"), &plans);
    std::fs::write(world.outside("go"), "").unwrap();
    let hold = world.outside("hold");
    std::fs::write(&hold, "").unwrap();
    let mut crew = Crew::start(&world);
    wait::until("a check's shim was killed", || {
        assert!(crew.ended(&world).is_none());
        let all = processes::of_root(world.root());
        let mut shims = all.iter().filter(|p| p.is_shim() && p.is_of_check());
        shims.next().filter(|shim| Process::kill(shim)).map(drop)
    });
    std::fs::remove_file(hold).unwrap();
    let status = crew.end(&world);
    one_step_did_it(&world, &plans, &crew, status);
}

#[test]
fn a_repository_with_tickets_of_the_same_names_leaves_ours_alone() {
    let (world, plans, mut crew) = between_the_halves();
    {
        let (theirs, plans, mut crew) = between_the_halves();
        std::fs::write(theirs.outside("go"), "").unwrap();
        let status = crew.end(&theirs);
        one_step_did_it(&theirs, &plans, &crew, status);
    }
    std::fs::write(world.outside("go"), "").unwrap();
    let status = crew.end(&world);
    one_step_did_it(&world, &plans, &crew, status);
}

fn plans() -> BTreeMap<String, Plan> {
    [("k-00".to_owned(), Plan::default())].into()
}

/// A world whose one step has done its first half and waits, with the engine that started it.
fn between_the_halves() -> (World, BTreeMap<String, Plan>, Crew) {
    let plans = plans();
    let world = World::new(include_str!("halves.sh"), &plans);
    let mut crew = Crew::start(&world);
    wait::until("the step has done its first half", || {
        assert!(crew.ended(&world).is_none());
        world.outside("half").exists().then_some(())
    });
    (world, plans, crew)
}

fn one_step_did_it(
    world: &World,
    plans: &BTreeMap<String, Plan>,
    crew: &Crew,
    status: std::process::ExitStatus,
) {
    oracle::check_all_but_the_reports(world, plans, &BTreeMap::new(), status, crew.pid());
    assert_eq!(world.reported::<1>("starts").len(), 1);
    let ends: Vec<attempt::Event> = oracle::events(world)
        .into_iter()
        .filter_map(|(_, event)| match event {
            Event::Attempt(
                event @ (attempt::Event::StepFinished { .. } | attempt::Event::StepFailed { .. }),
            ) => Some(event),
            _ => None,
        })
        .collect();
    let [attempt::Event::StepFinished { usage, summary, .. }] = ends.as_slice() else {
        panic!("{ends:#?}");
    };
    let used = (usage.input_tokens, usage.output_tokens, usage.cost_micro_usd);
    assert_eq!(used, (7, 70, 750_000), "what both halves used");
    assert_eq!(summary.as_deref(), Some("both halves"));
    let landed = std::fs::read_to_string(world.repo().join("halves.txt")).unwrap();
    assert_eq!(landed, "first\nsecond\n");
}
