//! F3, F9, F16, F17: an engine that is told to end again and again, whose git is killed, that stands still, or whose clock jumps.

use std::fs;
use std::path::PathBuf;

use crate::gate::{Gate, real_git};
use crate::mounts::{cells, inside, must};
use crate::struck::{self, At, WAITS, lands_at_once};
use crate::support::{DONE, Engine, World, make_executable};
use crate::wait;

/// What happens to a ticket on its way, each made durable before the next begins.
const WAY: [&str; 8] = [
    "created",
    "claimed",
    "workspace_ready",
    "step_started",
    "worker_spawned",
    "step_finished",
    "candidate_built",
    "checks_passed",
];

fn in_order(world: &World, id: &str) {
    assert_eq!(world.landed(), [id]);
    assert_eq!((world.state(id).attempts, world.runs(id)), (1, 1));
    world.must(&["doctor", "--deep"]);
}

fn end(engine: &mut Engine) {
    engine.signal("TERM");
    engine.end();
}

/// Puts a git before the real one that, once, at the first call that has these words in it, leaves a stale lock and is killed.
fn deadly_git(words: &str, lock: &str) {
    let bin = inside().join("bin");
    let git = bin.join("git");
    let flag = bin.join("killed");
    let text = format!(
        "#!/bin/sh\ncase \"$*\" in *{words}*)\n if [ ! -e {flag} ]; then : > {flag}; {lock}; kill -KILL $$; fi ;;\nesac\n\
         PATH=${{PATH#{bin}:}} exec {real} \"$@\"\n",
        flag = flag.display(),
        bin = bin.display(),
        real = real_git().display(),
    );
    fs::write(&git, text).unwrap();
    make_executable(&git);
}

/// One ticket to its end, with a git killed on the way.
fn with_a_killed_git(words: &str, lock: &str) {
    let world = World::with(|settings| settings.checks = "commands = [\"test -e README\"]".to_owned());
    deadly_git(words, lock);
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert!(
        inside().join("bin/killed").exists(),
        "no git was called with {words}"
    );
    in_order(&world, "t-1");
    assert!(world.workspaces().is_empty());
}

fn stopped(engine: &Engine, is: bool) {
    engine.signal(if is { "STOP" } else { "CONT" });
    wait::until("the engine is as it was told", || {
        let stat = fs::read_to_string(format!("/proc/{}/stat", engine.pid())).unwrap();
        (stat.contains(") T ") == is).then_some(())
    });
}

/// Nobody takes the place of an engine that stands still.
fn no_other(world: &World, engine: &Engine) {
    let second = world.crew(&["run", "--until-idle"]);
    assert_eq!(second.code, Some(4), "{second}");
    let by = format!("process {}", engine.pid());
    assert!(second.all().contains(&by), "{second}");
}

/// The engine stands still while a ticket goes on from here, as far as it does without an engine.
fn with_a_stop_at(at: At, goes_on: impl FnOnce(&World) -> bool + Copy) {
    let world = struck::world(at);
    let mut engine = struck::bring(&world, at);
    stopped(&engine, true);
    struck::go_on(&world, at);
    world.wait("what needs no engine has gone on", || goes_on(&world));
    no_other(&world, &engine);
    stopped(&engine, false);
    lands_at_once(&world, &mut engine, "t-1");
}

/// The engine stands still in the middle of an operation, with a git of its that waits there. `after`: it is the second one, and
/// carries on what the first was killed at.
fn with_a_stop_in(words: &str, after: Option<At>) {
    let at = after.unwrap_or(At::Queue);
    let world = struck::world(at);
    let gate = Gate::at(words);
    let mut engine = struck::bring(&world, at);
    if after.is_some() {
        drop(engine);
        engine = world.engine();
    }
    struck::go_on(&world, at);
    gate.reached(1);
    stopped(&engine, true);
    gate.open();
    no_other(&world, &engine);
    stopped(&engine, false);
    lands_at_once(&world, &mut engine, "t-1");
}

/// An object that stands between a program and its clock, made of a few lines of C.
const CLOCK: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
int clock_gettime(clockid_t id, struct timespec *out) {
    static int (*real)(clockid_t, struct timespec *);
    if (!real) real = (int (*)(clockid_t, struct timespec *))dlsym(RTLD_NEXT, "clock_gettime");
    int said = real(id, out);
    const char *path = getenv("CLOCK_OFFSET");
    if (said == 0 && id == CLOCK_REALTIME && path) {
        FILE *file = fopen(path, "r");
        long long offset = 0;
        if (file) { if (fscanf(file, "%lld", &offset) == 1) out->tv_sec += offset; fclose(file); }
    }
    return said;
}
"#;

/// A crew whose clock is as far off as the file says.
struct Clock {
    offset: PathBuf,
}

impl Clock {
    fn of(world: &World) -> Self {
        let (source, object) = (world.path("clock.c"), world.path("clock.so"));
        fs::write(&source, CLOCK).unwrap();
        must(
            "cc",
            &[
                "-shared".as_ref(),
                "-fPIC".as_ref(),
                "-o".as_ref(),
                object.as_ref(),
                source.as_ref(),
                "-ldl".as_ref(),
            ],
        );
        let clock = Self {
            offset: world.path("offset"),
        };
        clock.set(0);
        world.around("LD_PRELOAD", &object);
        world.around("CLOCK_OFFSET", &clock.offset);
        clock
    }

    fn set(&self, seconds: i64) {
        let beside = self.offset.with_extension("new");
        fs::write(&beside, seconds.to_string()).unwrap();
        fs::rename(&beside, &self.offset).unwrap();
    }
}

const HOUR: i64 = 3600;
/// Past the nineteenth of January 2038.
const YEARS: i64 = 13 * 365 * 24 * HOUR;

fn with_a_clock_that_jumps(jumps: [i64; 3]) {
    let check = World::until_home("checked");
    let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
    let clock = Clock::of(&world);
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    clock.set(jumps[0]);
    // The next engine has another clock than the shim had, and than the one before.
    drop(engine);
    let mut engine = world.engine();
    world.wait("it is taken up again", || {
        engine.said().out.contains("t-1") || world.rows().len() > 8
    });
    world.open("go");
    world.wait_for("t-1", "verify/checking");
    clock.set(jumps[1]);
    fs::write(world.path("home/checked"), "").unwrap();
    world.wait_for("t-1", "done/landed");
    clock.set(jumps[2]);
    end(&mut engine);
    world.drain_all();
    in_order(&world, "t-1");
}

cells! {
    fn f3_signalled_twice_at_each_operation_it_goes_on_with_the_next_engine() {
        let world = World::with(|settings| settings.checks = "commands = [\"test -e README\"]".to_owned());
        world.ticket("t-1").agent(DONE).write();
        for fact in WAY {
            let mut engine = world.engine();
            world.wait(fact, || world.facts("t-1").iter().any(|name| name == fact));
            engine.signal("TERM");
            // The first may have ended it.
            if engine.is_up() {
                engine.signal("INT");
            }
            let said = engine.end();
            // None: it had not yet begun to listen, and was ended by the signal itself.
            assert!(matches!(said.code, Some(130) | None), "{fact}: {said}");
        }
        world.drain_all();
        in_order(&world, "t-1");
    }

    fn f9_pr_a_git_is_killed_as_it_makes_a_workspace() {
        with_a_killed_git("update-ref", ":");
    }

    fn f9_wk_a_git_is_killed_as_it_takes_the_branch_over() {
        with_a_killed_git("unpack-objects", ":");
    }

    fn f9_ga_a_git_is_killed_as_it_merges() {
        with_a_killed_git("merge-tree", ":");
    }

    fn f9_la_f9_re_a_git_is_killed_as_it_lands_and_leaves_its_lock() {
        with_a_killed_git("refs/heads/main", ": > \"$GIT_DIR/refs/heads/main.lock\"");
    }

    fn f16_cl_an_engine_that_stands_still_as_a_ticket_comes() {
        with_a_stop_at(At::Queue, |world| world.ticket_file("t-1").exists());
    }

    fn f16_st_an_engine_that_stands_still_as_a_step_ends() {
        let ended = |world: &World| world.project(".crew/runs/t-1.1.1/exit.json").exists();
        with_a_stop_at(At::Work, ended);
    }

    fn f16_ga_an_engine_that_stands_still_as_checks_pass() {
        let ended = |world: &World| {
            let run = fs::read_to_string(world.project(".crew/checks/current")).unwrap();
            PathBuf::from(run).join("exit.json").exists()
        };
        with_a_stop_at(At::Checks, ended);
    }

    fn f16_pr_f16_sp_an_engine_that_stands_still_as_a_workspace_is_made() {
        with_a_stop_in("read-tree", None);
    }

    fn f16_wk_an_engine_that_stands_still_as_the_branch_is_taken_over() {
        with_a_stop_in("unpack-objects", None);
    }

    fn f16_la_an_engine_that_stands_still_as_it_lands() {
        with_a_stop_in("update-ref*crew: land", None);
    }

    fn f16_re_an_engine_that_stands_still_as_it_carries_on_a_landing() {
        with_a_stop_in("update-ref*crew: land", Some(At::Checks));
    }

    fn f16_cu_an_engine_that_stands_still_as_the_workspace_goes() {
        with_a_stop_in("workspace no longer needed", None);
    }

    fn f17_cl_f17_ga_f17_la_f17_re_a_clock_that_jumps_forward_ends_nothing_early() {
        with_a_clock_that_jumps([HOUR, 2 * HOUR, 0]);
    }

    fn f17_cl_f17_ga_f17_la_f17_re_a_clock_that_jumps_back_holds_nothing_up() {
        with_a_clock_that_jumps([-HOUR, -2 * HOUR, 0]);
    }

    fn f17_cl_f17_ga_f17_la_f17_re_the_year_2038_is_a_year() {
        with_a_clock_that_jumps([YEARS, YEARS, YEARS]);
    }
}
