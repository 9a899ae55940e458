//! An answer on a red target: it was taken, waits for the target on every surface, and can be replaced.

use testkit::world::World;

use super::target::{NO_RED, mend, stop, verdict};

const ASKS: &str = "if [ \"$RUN\" = 1 ]; then work a first; echo 'QUESTION: red or blue?'; else work b second; echo DONE; fi";

/// A world whose agent asks something, on a target that has turned red since.
fn asked() -> World {
    let world = World::with(|s| s.checks = NO_RED.to_owned());
    world.in_session();
    world.ticket("t-1").agent(ASKS).write();
    world.drain_held();
    world.commit("red", "");
    world
}

fn shown(world: &World, args: &[&str]) -> String {
    let shown = world.crew(args).out;
    shown.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[test]
fn an_answered_agent_is_shown_as_waiting_for_the_target_and_gets_the_last_answer() {
    let world = asked();
    let engine = world.engine();
    world.wait("the target is red", || verdict(&world) == "failed");
    let said = world.must(&["answer", "t-1", "a dark BLUE"]);
    assert!(said.out.contains("the next step waits for the target"), "{said}");
    let agents = world.json(&["ps"]);
    assert_eq!(agents["agents"][0]["state"], "waiting", "{agents}");
    let ps = shown(&world, &["ps"]);
    for part in ["◌", "waits for the target: the target itself does not pass"] {
        assert!(ps.contains(part), "{part}: {ps}");
    }
    let taken = |text: &str| {
        format!(
            "the answer was taken, and ada gets it with the next step, once the target passes its checks: {text}"
        )
    };
    let explained = shown(&world, &["explain", "t-1"]);
    for part in [
        taken("a dark BLUE").as_str(),
        "`crew answer t-1 <text>` replaces it",
    ] {
        assert!(explained.contains(part), "{part}: {explained}");
    }
    let said = world.must(&["answer", "t-1", "a light GREEN"]);
    assert!(said.out.contains("and not the answer before it"), "{said}");
    let explained = shown(&world, &["explain", "t-1"]);
    assert!(explained.contains(&taken("a light GREEN")), "{explained}");
    assert_eq!(world.json(&["explain", "t-1"])["answer"], "a light GREEN");
    stop(&world, engine);
    // Without an engine it is replaced as well.
    let ps = shown(&world, &["ps"]);
    assert!(
        ps.contains("waits for the target") && ps.contains("goes on when an engine runs again (`crew run`)"),
        "{ps}"
    );
    world.must(&["answer", "t-1", "a dark RED"]);
    mend(&world);
    world.drain_all();
    let told = world.prompt("t-1", 2);
    assert!(told.contains("a dark RED"), "{told}");
    assert!(!told.contains("BLUE") && !told.contains("GREEN"), "{told}");
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
}

#[test]
fn an_answer_that_the_agent_has_been_given_is_not_replaced() {
    let world = asked();
    mend(&world);
    world.script("t-1", "until_there \"$GATES/go\"; work b second; echo DONE");
    let engine = world.engine();
    world.must(&["answer", "t-1", "a dark BLUE"]);
    world.wait_for_run("t-1", 2);
    let said = world.crew(&["answer", "t-1", "a light GREEN"]);
    assert!(
        said.code == Some(1) && said.err.contains("it has its answer, and goes on"),
        "{said}"
    );
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    stop(&world, engine);
}
