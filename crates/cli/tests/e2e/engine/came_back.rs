//! Work that came back: an agent without a memory is told why with each prompt until it submits again, and
//! stays in the role that resolves a conflict.

use testkit::world::World;

#[test]
fn the_failed_check_is_told_until_the_work_is_submitted_again() {
    let world = World::with(|s| s.checks = "commands = ['test ! -e bad']".to_owned());
    let agent = "case $RUN in
        1) work bad x; echo DONE ;;
        2) echo 'QUESTION: which one?' ;;
        3) echo 'WAKEUP: 1s the build runs' ;;
        4) echo 'only thinking' ;;
        5) git rm -q bad; work good x; echo DONE ;;
        esac";
    world.ticket("t-1").agent(agent).write();
    world.drain_held();
    world.must(&["answer", "t-1", "the good one"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    let tells = |run| {
        let prompt = world.prompt("t-1", run);
        prompt.matches("does not pass: test ! -e bad").count()
    };
    let told: Vec<usize> = (1..=5).map(tells).collect();
    assert_eq!(told, [0, 1, 1, 1, 1]);
    assert!(world.prompt("t-1", 3).contains("the good one"));
    let role = |run| world.variable("t-1", run, "CREW_ROLE");
    assert_eq!(role(4).as_deref(), Some("worker"));
}

#[test]
fn an_agent_that_asks_while_it_resolves_a_conflict_is_still_told_of_it() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    let first = "touch \"$GATES/f\"\nuntil_there \"$GATES/s\"\nwork same first\necho DONE";
    world.ticket("first").agent(first).write();
    let second = "case $RUN in
        1) touch \"$GATES/s\"; until_there \"$GATES/f\"; until_there \"$GATES/go\"; work same second; echo DONE ;;
        2) echo 'QUESTION: which side?' ;;
        *) oid=$(sed -n 's/.*`git merge \\([0-9a-f]*\\)`.*/\\1/p' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\" | tail -n 1)
           git merge -q \"$oid\" >/dev/null 2>&1 || true
           printf 'first\\nsecond\\n' > same; git add same; git commit -q -m resolve; echo DONE ;;
        esac";
    world.ticket("second").agent(second).write();
    let mut engine = world.engine();
    world.wait("first lands", || world.is_landed("first"));
    world.open("go");
    world.wait_for("second", "in_progress/waiting_for_input");
    world.must(&["answer", "second", "both of them"]);
    world.wait("second lands", || world.is_landed("second"));
    world.must(&["stop"]);
    engine.end();
    let told = world.prompt("second", 3);
    assert!(told.contains("both of them") && told.contains("- same"), "{told}");
    let roles = [1, 2, 3].map(|run| world.variable("second", run, "CREW_ROLE").unwrap_or_default());
    assert_eq!(roles, ["worker", "resolver", "resolver"]);
}
