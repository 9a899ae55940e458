//! The log for operators, as real engines write it.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use testkit::world::{DONE, World};

const LOG: &str = ".crew/logs/engine.log";

/// A world with one ticket whose agent does its work at once.
fn world() -> World {
    let world = World::with(|settings| settings.checks = "commands = [\"test -e t-1.txt\"]".to_owned());
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    world
}

/// The lines of a target that hold all of these texts.
fn lines<'l>(log: &'l str, target: &str, texts: &[&str]) -> Vec<&'l str> {
    log.lines()
        .filter(|line| line.split_whitespace().nth(2) == Some(target))
        .filter(|line| texts.iter().all(|text| line.contains(text)))
        .collect()
}

#[track_caller]
fn has(log: &str, target: &str, texts: &[&str]) {
    assert!(
        !lines(log, target, texts).is_empty(),
        "no {target} {texts:?} in\n{log}"
    );
}

#[test]
fn the_log_has_the_decisions_effects_and_runs_of_a_ticket_that_landed() {
    let world = world();
    world.drain_all();
    let log = world.read(LOG);
    for event in [
        "created",
        "claimed",
        "step_started",
        "candidate_built",
        "checks_passed",
        "landed",
    ] {
        has(
            &log,
            "decision",
            &["stream=ticket/t-1", &format!("event={event} "), "cause="],
        );
    }
    has(&log, "decision", &["event=claimed", "agent=", "fence=1"]);
    for effect in [
        "prepare_workspace",
        "start_step",
        "start_check",
        "land",
        "remove_workspace",
    ] {
        has(
            &log,
            "effect",
            &["state=done", "ticket=t-1", &format!("effect={effect} ")],
        );
    }
    has(
        &log,
        "run",
        &["state=started", "run=t-1.1.1", "pid=", "command=agent.sh"],
    );
    has(&log, "run", &["state=ended", "run=t-1.1.1", "signal=done"]);
    // It may have ended before anybody could look at its process.
    has(&log, "check", &["state=started", "command=test"]);
    has(&log, "check", &["state=ended", "outcome=passed"]);
    let (first, last) = (log.lines().next().unwrap(), log.lines().last().unwrap());
    assert!(first.contains("engine state=started"), "{first}");
    assert!(last.contains("engine state=ended"), "{last}");
    let mode = world.project(LOG).metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);
}

#[test]
fn the_terminal_shows_the_same_whatever_is_logged() {
    let shown = |filter: &str| {
        let world = world();
        let said = world.must(&["run", "--until-idle", "--log", filter]);
        let is_written = world.project(LOG).exists();
        (said.err, said.out.lines().count(), is_written)
    };
    let (quiet, loud) = (shown("off"), shown("trace"));
    assert_eq!((quiet.0, quiet.1), (loud.0, loud.1));
    assert_eq!((quiet.2, loud.2), (false, true));
}

#[test]
fn a_filter_from_the_command_line_or_the_environment_chooses_the_events() {
    let usual = world();
    usual.drain_all();
    assert!(!usual.read(LOG).contains("DEBUG"));

    let debug = world();
    debug.must(&["run", "--until-idle", "--log", "debug"]);
    let log = debug.read(LOG);
    has(
        &log,
        "effect",
        &["DEBUG", "state=begun", "ticket=t-1", "effect=land "],
    );
    assert!(log.lines().count() > usual.read(LOG).lines().count(), "{log}");

    let chosen = world();
    chosen.around("CREW_LOG", "warn,effect=info");
    chosen.drain_all();
    let log = chosen.read(LOG);
    has(&log, "effect", &["state=done"]);
    assert!(lines(&log, "decision", &[]).is_empty(), "{log}");

    let both = world();
    both.around("CREW_LOG", "no such filter");
    both.must(&["run", "--until-idle", "--log", "decision=info"]);
    has(&both.read(LOG), "decision", &["event=landed"]);
}

#[test]
fn a_wrong_filter_is_refused_before_anything_starts() {
    let world = world();
    let refused = world.crew(&["run", "--until-idle", "--log", "debgu"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(
        refused.err.contains("--log") && refused.err.contains("\"debgu\""),
        "{refused}"
    );
    world.around("CREW_LOG", "effect=loud");
    let refused = world.crew(&["run", "--until-idle"]);
    assert_eq!(refused.code, Some(2), "{refused}");
    assert!(refused.err.contains("CREW_LOG"), "{refused}");
    assert!(!world.project(".crew").exists());
}

#[test]
fn no_secret_of_the_environment_and_no_prompt_is_logged() {
    let world = World::with(|settings| {
        settings.checks = "commands = [\"TOKEN=canary-in-a-check test -e t-1.txt\"]".to_owned();
    });
    world.anyway();
    world.around("DEPLOY_TOKEN", "canary-for-nobody-1");
    // The agent's own words hold the secret in the end of a step, and its failure does.
    let script = "case $RUN in\n\
         1) echo 'canary-for-nobody-1 was refused' >&2; exit 3 ;;\n\
         2) echo 'BLOCKED: canary-in-its-words' ;;\n\
         *) work t-1.txt x; echo DONE ;;\nesac\n";
    world
        .ticket("t-1")
        .title("Title canary-in-the-title")
        .body("canary-in-the-prompt")
        .agent(script)
        .write();
    world.drain_held();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let log = world.read(LOG);
    has(&log, "run", &["state=failed", "class=crash"]);
    has(&log, "check", &["command=test"]);
    assert!(!log.contains("canary"), "{log}");
}

#[test]
fn a_command_from_the_inbox_is_logged_with_its_answer_and_without_its_text() {
    let world = World::new();
    world.ticket("t-1").agent("until_there \"$GATES/go\"").write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.must(&["drop", "t-1", "canary-in-a-reason"]);
    engine.signal("INT");
    let said = engine.end();
    let log = world.read(LOG);
    has(
        &log,
        "command",
        &["state=read", "command=drop", "ticket=t-1", "by="],
    );
    has(&log, "command", &["state=accepted"]);
    assert!(!log.contains("canary"), "{log}");
    // The last lines are there although a signal ended the engine.
    has(&log, "engine", &["state=ended"]);
    assert!(!said.out.contains("cannot be written"), "{said}");
}

#[test]
fn a_log_that_cannot_be_written_is_reported_once_and_the_work_lands() {
    let world = world();
    fs::create_dir(world.project(".crew")).unwrap();
    fs::write(world.project(".crew/logs"), "no folder").unwrap();
    let said = world.drain_all();
    assert_eq!(world.landed(), ["t-1"], "{said}");
    let all = format!("{}{}", said.out, said.err);
    assert_eq!(all.matches("engine.log cannot be written").count(), 1, "{said}");
}

#[test]
fn a_second_engine_that_is_refused_writes_nothing_into_the_log() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork t x\necho DONE")
        .write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    let refused = world.crew(&["run", "--log", "trace"]);
    assert_eq!(refused.code, Some(4), "{refused}");
    assert_eq!(lines(&world.read(LOG), "engine", &["state=started"]).len(), 1);
    world.open("go");
    drop(engine);
}
