//! F3, F9, F16, F17: an engine that is told to end again and again, whose git is killed, that stands still,
//! or whose clock jumps.

use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use model::journal::Fact;
use model::ticket;

use crate::faults::gate::{Gate, real_git};
use crate::faults::mounts::{cells, inside, must};
use crate::faults::struck::{self, At, WAITS, lands_at_once};
use testkit::wait;
use testkit::world::{DONE, Engine, World, make_executable};

fn in_order(world: &World, id: &str) {
    assert_eq!(world.landed(), [id]);
    assert_eq!((world.state(id).attempts, world.runs(id)), (1, 1));
    world.must(&["doctor", "--deep"]);
}

fn end(engine: &mut Engine) {
    engine.signal("TERM");
    engine.end();
}

/// Another engine, that has begun.
fn next_engine(world: &World) -> Engine {
    let opened = || ahead(world, "opened").len();
    let before = opened();
    let engine = world.engine();
    world.wait("the engine is up", || opened() > before);
    engine
}

/// Tells an engine to end, and again at once.
fn signal_twice(engine: &mut Engine) {
    engine.signal("TERM");
    // The first may have ended it.
    if engine.is_up() {
        engine.signal("INT");
    }
}

/// An engine is told to end twice in the middle of this, and does, whatever goes on without it.
fn ended_by_two(operation: &str, mut engine: Engine) {
    signal_twice(&mut engine);
    let told = engine.end();
    assert_eq!(told.code, Some(130), "{operation}: {told}");
}

/// A git that waits at a gate goes on, without its engine if that has ended: it holds the repository's lock
/// until its end.
fn goes_on(world: &World, gate: &Gate) {
    gate.open();
    world.wait("no git is left", || {
        !world.processes().iter().any(|line| line.contains("git -c"))
    });
}

/// An object that ends a git as it is about to give something its name, or takes the name of an agent's
/// branch away: all that it has written stays as it is, its lock too.
const DEADLY: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void die(const char *from, const char *to) {
    FILE *file = fopen(getenv("DEADLY"), "w");
    fprintf(file, "%s\n%s\n", from, to);
    fclose(file);
    kill(getpid(), SIGKILL);
    for (;;) pause();
}
int rename(const char *from, const char *to) { die(from, to); return -1; }
int link(const char *from, const char *to) { die(from, to); return -1; }
int unlink(const char *path) {
    if (strstr(path, "refs/heads/agent/")) die(path, "nothing");
    return ((int (*)(const char *))dlsym(RTLD_NEXT, "unlink"))(path);
}
"#;

/// An object to be loaded before others, made of a few lines of C.
pub(crate) fn object(source: &str, at: &Path) {
    let written = at.with_extension("c");
    fs::write(&written, source).unwrap();
    must(
        "cc",
        &[
            "-shared".as_ref(),
            "-fPIC".as_ref(),
            "-o".as_ref(),
            at.as_ref(),
            written.as_ref(),
            "-ldl".as_ref(),
        ],
    );
}

/// Sees to it that the first git that is called with these words is killed in its work.
fn deadly_git(words: &str) {
    let bin = inside().join("bin");
    let (git, fatal) = (bin.join("git"), bin.join("deadly.so"));
    object(DEADLY, &fatal);
    let words = words.replace(' ', "\\ ");
    let text = format!(
        "#!/bin/sh\nPATH=${{PATH#{bin}:}}\ncase \"$*\" in *{words}*)\n if [ ! -e {bin}/called ]; then : > {bin}/called\n  \
         LD_PRELOAD={fatal} DEADLY={bin}/died exec {real} \"$@\"\n fi ;;\nesac\nexec {real} \"$@\"\n",
        bin = bin.display(),
        fatal = fatal.display(),
        real = real_git().display(),
    );
    fs::write(&git, text).unwrap();
    make_executable(&git);
}

/// One ticket to its end, with a git killed on the way as it was about to name something of this.
pub(crate) fn with_a_killed_git(words: &str, named: &str) {
    let world = World::with(|settings| settings.checks = "commands = [\"test -e README\"]".to_owned());
    deadly_git(words);
    world.ticket("t-1").agent(WAITS).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    // There is something to be merged.
    world.commit("by-hand.txt", "by hand\n");
    world.open("go");
    lands_at_once(&world, &mut engine, "t-1");
    let died = fs::read_to_string(inside().join("bin/died")).unwrap_or_default();
    assert!(
        died.contains(named),
        "no git was killed at {named} with {words}: {died:?}"
    );
    assert!(world.workspaces().is_empty());
}

fn stopped(engine: &Engine, is: bool) {
    engine.signal(if is { "STOP" } else { "CONT" });
    stands_still(engine, is);
}

fn stands_still(engine: &Engine, is: bool) {
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

/// The engine stands still in the middle of an operation, with a git of its that waits there. `after`: it is
/// the second one, and carries on what the first was killed at.
pub(crate) fn with_a_stop_in(words: &str, after: Option<At>) {
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
        let preloaded = world.path("clock.so");
        object(CLOCK, &preloaded);
        let clock = Self {
            offset: world.path("offset"),
        };
        clock.set(0);
        world.around("LD_PRELOAD", &preloaded);
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

/// Gives a file, or all files of a folder, times that are so much later.
fn shift(path: &Path, seconds: i64) {
    if path.is_dir() {
        for entry in fs::read_dir(path).unwrap() {
            shift(&entry.unwrap().path(), seconds);
        }
    } else if path.is_file() {
        let file = fs::File::open(path).unwrap();
        let was = file.metadata().unwrap().modified().unwrap();
        let by = Duration::from_secs(seconds.unsigned_abs());
        let now = if seconds < 0 { was - by } else { was + by };
        file.set_modified(now).unwrap();
    }
}

/// By how many seconds crew's clock was ahead of this test's when facts of this name were made durable.
fn ahead(world: &World, name: &str) -> Vec<i64> {
    let real = jiff::Timestamp::now().as_second();
    let rows = world.rows().into_iter();
    rows.filter(|(_, _, fact)| match fact {
        Fact::Ticket(ticket::Event::Attempt(event)) => event.name() == name,
        fact => fact.name() == name,
    })
    .map(|(_, at, _)| at.0 / 1000 - real)
    .collect()
}

/// Panics unless the clock was as far off as this at the last such fact.
fn assert_ahead(world: &World, name: &str, seconds: i64) {
    let all = ahead(world, name);
    let last = *all.last().unwrap_or_else(|| panic!("there is no {name}"));
    // A test takes some seconds; the smallest jump is an hour.
    assert!((last - seconds).abs() < 300, "{name}: {all:?}, not {seconds}");
}

/// Each jump comes while something is under way, and has a ticket claimed after it.
fn with_a_clock_that_jumps(jumps: [i64; 3]) {
    let check = World::until_home("checked");
    let world = World::with(|settings| {
        settings.run = "debounce = \"100ms\"".to_owned();
        settings.checks = format!("commands = ['''{check}''']");
    });
    world.anyway();
    let clock = Clock::of(&world);
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    assert_ahead(&world, "claimed", 0);
    // The next engine has another clock than the shim had, and than the one before.
    drop(engine);
    clock.set(jumps[0]);
    // What is there was made by the old clock: it is older by the jump, or of a time that is still to come. A
    // git that died with the engine left its lock.
    let lock = world.project(".git/refs/heads/main.lock");
    fs::write(&lock, "").unwrap();
    for place in [lock, world.project(".crew/runs"), world.ticket_file("t-1")] {
        shift(&place, -jumps[0]);
    }
    let mut engine = next_engine(&world);
    assert_ahead(&world, "opened", jumps[0]);
    world.open("go");
    world.wait_for("t-1", "verify/checking");
    assert_ahead(&world, "check_started", jumps[0]);
    clock.set(jumps[1]);
    // An engine follows a clock that is set forward, and none that is set back.
    let followed = jumps[0].max(jumps[1]);
    world.ticket("t-2").agent(DONE).write();
    fs::write(world.path("home/checked"), "").unwrap();
    for id in ["t-1", "t-2"] {
        world.wait_for(id, "done/landed");
        assert_ahead(&world, "landed", followed);
    }
    assert_ahead(&world, "claimed", followed);
    clock.set(jumps[2]);
    world.ticket("t-3").agent(DONE).write();
    world.wait_for("t-3", "done/landed");
    assert_ahead(&world, "claimed", followed.max(jumps[2]));
    end(&mut engine);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1", "t-2", "t-3"]);
    for id in ["t-1", "t-2", "t-3"] {
        assert_eq!((world.state(id).attempts, world.runs(id)), (1, 1), "{id}");
    }
    world.must(&["doctor", "--deep"]);
}

/// An object that stops its program as it writes into the journal's log, which only who keeps everybody else
/// from writing does, once the file is there that says so.
const STILL: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static void writes(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path);
    if (length > 4 && !memcmp(path + length - 4, "-wal", 4) && !unlink(getenv("STANDS_STILL")))
        // To this thread: it would go on for a moment after one to the process, which another may take.
        raise(SIGSTOP);
}
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))
ssize_t write(int fd, const void *from, size_t n) {
    writes(fd);
    return REAL(ssize_t (*)(int, const void *, size_t), "write")(fd, from, n);
}
ssize_t pwrite(int fd, const void *from, size_t n, off_t at) {
    writes(fd);
    return REAL(ssize_t (*)(int, const void *, size_t, off_t), "pwrite")(fd, from, n, at);
}
ssize_t pwrite64(int fd, const void *from, size_t n, off64_t at) {
    writes(fd);
    return REAL(ssize_t (*)(int, const void *, size_t, off64_t), "pwrite64")(fd, from, n, at);
}
"#;

cells! {
    fn signalled_twice_it_goes_on_with_the_next_engine() {
        let world = struck::world(At::Checks);
        let has = |fact: &str| world.facts("t-1").iter().any(|name| name == fact);
        // Before it has written anything it may not have begun to listen, and is ended by the signal itself.
        let mut engine = world.engine();
        signal_twice(&mut engine);
        let told = engine.end();
        let by_the_signal = told.signal == Some(15) && world.rows().is_empty();
        assert!(told.code == Some(130) || by_the_signal, "{told}");

        // Each from here on takes up what the one before was ended in.
        let _keeps = Gate::at("read-tree");
        let engine = next_engine(&world);
        world.ticket("t-1").agent(WAITS).write();
        world.wait("it is seen", || has("created"));
        ended_by_two("submit", engine);
        // Its git may have come to the gate, and waits there.
        world.kill_everything();
        let gate = Gate::at("read-tree");

        let engine = next_engine(&world);
        gate.reached(1);
        assert!(has("claimed") && !has("workspace_ready"));
        ended_by_two("claim and provision", engine);
        goes_on(&world, &gate);

        let engine = next_engine(&world);
        world.wait("a step is started", || has("step_started"));
        ended_by_two("spawn", engine);

        let engine = next_engine(&world);
        world.wait_for_run("t-1", 1);
        assert!(!has("step_finished"));
        ended_by_two("step", engine);

        let gate = Gate::at("unpack-objects");
        world.open("go");
        let engine = next_engine(&world);
        gate.reached(1);
        assert!(!has("candidate_built"));
        ended_by_two("submit work", engine);
        goes_on(&world, &gate);

        let engine = next_engine(&world);
        world.wait("its check runs", || world.path("home/checking").exists());
        assert!(!has("checks_passed"));
        ended_by_two("gate", engine);

        let gate = Gate::at("update-ref*crew: land");
        fs::write(world.path("home/checked"), "").unwrap();
        let mut engine = next_engine(&world);
        gate.reached(1);
        assert!(has("checks_passed") && !has("landed"));
        // A landing is seen to its end.
        signal_twice(&mut engine);
        goes_on(&world, &gate);
        let told = engine.end();
        assert_eq!(told.code, Some(130), "land: {told}");

        let gate = Gate::at("workspace no longer needed");
        let engine = next_engine(&world);
        gate.reached(1);
        assert!(has("landed"));
        ended_by_two("clean up", engine);
        goes_on(&world, &gate);

        world.drain_all();
        in_order(&world, "t-1");
        assert!(world.workspaces().is_empty());
    }

    fn a_git_is_killed_as_it_makes_a_workspace() {
        with_a_killed_git("update-ref", "refs/");
    }

    fn a_git_is_killed_as_it_takes_the_branch_over() {
        with_a_killed_git("unpack-objects", "objects/");
    }

    fn a_git_is_killed_as_it_merges() {
        with_a_killed_git("merge-tree", "objects/");
    }

    fn a_git_is_killed_as_the_workspace_goes() {
        with_a_killed_git("workspace no longer needed", "refs/heads/agent/");
    }

    fn a_git_is_killed_as_the_next_engine_carries_a_landing_on() {
        let world = struck::world(At::Checks);
        drop(struck::bring(&world, At::Checks));
        deadly_git("refs/heads/main");
        struck::go_on(&world, At::Checks);
        let mut engine = world.engine();
        lands_at_once(&world, &mut engine, "t-1");
        let died = fs::read_to_string(inside().join("bin/died")).unwrap_or_default();
        assert!(died.contains("refs/heads/main.lock"), "{died:?}");
    }

    fn an_engine_that_stands_still_as_a_ticket_comes() {
        with_a_stop_at(At::Queue, |world| world.ticket_file("t-1").exists());
    }

    fn an_engine_that_stands_still_as_a_step_ends() {
        let ended = |world: &World| world.project(".crew/runs/t-1.1.1/exit.json").exists();
        with_a_stop_at(At::Work, ended);
    }

    fn an_engine_that_stands_still_as_checks_pass() {
        let ended = |world: &World| {
            let run = fs::read_to_string(world.project(".crew/checks/current.1")).unwrap();
            world
                .project(".crew/checks/runs")
                .join(run)
                .join("exit.json")
                .exists()
        };
        with_a_stop_at(At::Checks, ended);
    }

    fn an_engine_that_stands_still_as_a_workspace_is_made() {
        with_a_stop_in("read-tree", None);
    }

    fn an_engine_that_stands_still_as_the_branch_is_taken_over() {
        with_a_stop_in("unpack-objects", None);
    }

    fn an_engine_that_stands_still_as_it_carries_on_a_landing() {
        with_a_stop_in("update-ref*crew: land", Some(At::Checks));
    }

    fn an_engine_that_stands_still_as_the_workspace_goes() {
        with_a_stop_in("workspace no longer needed", None);
    }

    fn a_clock_that_jumps_forward_ends_nothing_early() {
        with_a_clock_that_jumps([HOUR, 2 * HOUR, 0]);
    }

    fn a_clock_that_jumps_back_holds_nothing_up() {
        with_a_clock_that_jumps([-HOUR, -2 * HOUR, 0]);
    }

    fn the_year_2038_is_a_year() {
        with_a_clock_that_jumps([YEARS, YEARS, YEARS]);
    }
}

#[test]
fn an_engine_that_a_signal_has_stopped_is_said_to_be() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/never\"\n")
        .write();
    let mut engine = world.engine();
    // Stopped while it writes, it would keep everybody from the journal.
    world.wait("the engine has nothing to write", || {
        let all = model::Time(i64::MAX);
        let rests = world.journal(async |ledger| ledger.pending(all).await.unwrap().is_empty());
        world.count("t-1", "worker_spawned") == 1 && rests == Some(true)
    });
    let goes_on = format!("kill -CONT {}", engine.pid());
    stopped(&engine, true);
    let ps = world.must(&["ps"]);
    assert!(ps.all().contains(&goes_on), "{ps}");
    let asked = world.crew(&["drop", "t-1"]);
    assert_eq!(asked.code, Some(1), "{asked}");
    assert!(asked.all().contains(&goes_on), "{asked}");
    stopped(&engine, false);
    let ps = world.must(&["ps"]);
    assert!(!ps.all().contains(&goes_on), "{ps}");
    end(&mut engine);
}

#[test]
fn an_engine_that_a_signal_stops_as_it_writes_is_said_to_keep_the_journal() {
    let world = World::new();
    let (preloaded, still) = (world.path("still.so"), world.path("stands-still"));
    object(STILL, &preloaded);
    world.around("LD_PRELOAD", &preloaded);
    world.around("STANDS_STILL", &still);
    world.ticket("t-1").agent(WAITS).write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    fs::write(&still, "").unwrap();
    // There is something to be written.
    world.ticket("t-2").agent(DONE).write();
    stands_still(&engine, true);
    let goes_on = format!("kill -CONT {}", engine.pid());
    let asked = world.crew(&["drop", "t-2"]);
    assert_eq!(asked.code, Some(1), "{asked}");
    let said = asked.all();
    assert!(
        said.contains(&goes_on) && said.contains("keeps the journal locked"),
        "{asked}"
    );
    stopped(&engine, false);
    world.must(&["drop", "t-2"]);
    world.open("go");
    world.wait_for("t-1", "done/landed");
    end(&mut engine);
}
