//! What lands is what was submitted: an agent that goes on after that, and has to be stopped, gets its work
//! back.

use testkit::world::World;

/// Goes on with half of something else once it has submitted, and looks at that in its second step.
fn goes_on_after(submits: &str) -> String {
    format!(
        r#"case "$RUN" in
1) work app good
   {submits}
   echo 'half(' > app; while :; do echo line >> new-half; sleep 0.2; done ;;
*) git checkout -q app; rm new-half; echo DONE ;;
esac
"#
    )
}

const CALLS: &str = r#""$CREW_TOOL" tool submit_work '{"summary": "app is good"}'"#;

/// What comes after is younger than the output, by the system's time of files.
const PRINTS: &str = r#"echo DONE; until grep -qs DONE "$CREW_RUN_DIR/out"; do sleep 0.01; done; sleep 0.05"#;

fn quick() -> World {
    World::with(|s| s.run = "exit_within = \"1s\"".to_owned())
}

#[test]
fn what_an_agent_changes_after_it_has_submitted_does_not_land() {
    for submits in [CALLS, PRINTS] {
        let world = quick();
        world.ticket("t-1").agent(&goes_on_after(submits)).write();
        world.drain_all();
        assert_eq!(
            (world.landed(), world.runs("t-1")),
            (vec!["t-1".to_owned()], 2),
            "{submits}"
        );
        assert_eq!(world.on_main("app").as_deref(), Some("good\n"), "{submits}");
        assert_eq!(world.on_main("new-half"), None, "{submits}");
        let prompt = world.prompt("t-1", 2);
        assert!(prompt.contains("had to be stopped: app, new-half"), "{prompt}");
        let history = world.must(&["history", "t-1"]).out;
        assert!(
            history.contains("it changed files after it had submitted, until it was stopped: app, new-half"),
            "{history}"
        );
    }
}

#[test]
fn an_agent_that_always_goes_on_is_paid_three_times() {
    let world = quick();
    let goes_on = format!("work app.$RUN good\n{CALLS}\nwhile :; do echo line >> half.$RUN; sleep 0.2; done");
    world.ticket("t-1").agent(&goes_on).write();
    world.drain_held();
    assert_eq!((world.landed(), world.runs("t-1")), (Vec::<String>::new(), 3));
    let explain = world.crew(&["explain", "t-1"]).out;
    assert!(explain.contains("half.3"), "{explain}");
}

/// A call is a file: the engine that finds it notes what was changed since it was written, also where it
/// finds the agent dead.
#[test]
fn what_is_changed_while_no_engine_runs_is_known_by_its_time() {
    for then in ["while :; do sleep 0.2; done", "kill -9 $$"] {
        let world = quick();
        world
            .ticket("t-1")
            .agent(&format!(
                r#"case "$RUN" in
1) work app good
   touch "$GATES/ready"; until_there "$GATES/down"
   {CALLS}
   echo 'half(' > app; touch "$GATES/changed"
   {then} ;;
*) git checkout -q app; echo DONE ;;
esac
"#
            ))
            .write();
        let mut engine = world.engine();
        world.wait("it has worked", || world.path("gates/ready").exists());
        engine.signal("KILL");
        engine.end();
        std::fs::write(world.path("gates/down"), "").unwrap();
        world.wait("it has gone on", || world.path("gates/changed").exists());
        if then.starts_with("kill") {
            let run = world.variable("t-1", 1, "CREW_RUN_DIR").unwrap();
            let record = std::path::Path::new(&run).join("exit.json");
            world.wait("it is dead", || record.exists());
        }
        world.drain_all();
        assert_eq!(
            (world.landed(), world.runs("t-1")),
            (vec!["t-1".to_owned()], 2),
            "{then}"
        );
        assert_eq!(world.on_main("app").as_deref(), Some("good\n"), "{then}");
        assert!(
            world.prompt("t-1", 2).contains("had to be stopped: app."),
            "{then}"
        );
    }
}

/// A build that goes on beside it writes what git ignores.
#[test]
fn ignored_files_are_no_change_and_neither_is_a_commit_of_what_was_there() {
    let world = quick();
    let goes_on = format!(
        "echo cache > .gitignore; work app good; echo more > more\n{CALLS}\ngit add -A; git commit -qm more\n\
         while :; do echo line >> cache; sleep 0.2; done"
    );
    world.ticket("t-1").agent(&goes_on).write();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    assert_eq!(world.on_main("more").as_deref(), Some("more\n"));
}
