//! F15: a COMMIT of SQLite's fails, and whoever asked for it cannot know whether it counts. What was written
//! of it is in the log, and the system says that it could not be synced. Whoever reads the log next decides:
//! with another connection open nobody takes it over, and the commit is not there; with none it is. Either
//! way it comes to exactly one effect.

use std::fs;

use sqlx::sqlite::{SqliteConnectOptions, SqliteConnection};
use sqlx::{ConnectOptions as _, Connection as _};

use crate::faults::deep::stops::object;
use crate::faults::struck::{self, At, in_order, lands_at_once};
use testkit::world::{Engine, Said, World};

/// An object that lets one sync of a journal's log fail: the first after `$DOUBT/word` was written to it.
/// While `$DOUBT/stays` is there, nothing more of that log is written or synced.
const DOUBT: &str = r#"
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>
static __thread int met;
static const char *in(const char *name, char *path) {
    snprintf(path, 4096, "%s/%s", getenv("DOUBT"), name);
    return path;
}
static int is_log(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0 || !getenv("DOUBT")) return 0;
    path[length] = 0;
    const char *end = "/journal.db-wal";
    return (size_t)length > strlen(end) && !strcmp(path + length - strlen(end), end);
}
static int stays(void) {
    char path[4096];
    return !access(in("struck", path), F_OK) && !access(in("stays", path), F_OK);
}
static int refused(int fd, const void *bytes, size_t size) {
    char path[4096], word[256];
    if (!is_log(fd)) return 0;
    if (stays()) { errno = EIO; return 1; }
    FILE *file = fopen(in("word", path), "r");
    if (file) {
        size_t length = fread(word, 1, sizeof word, file);
        fclose(file);
        met |= length && memmem(bytes, size, word, length) != NULL;
    }
    return 0;
}
static int unsynced(int fd) {
    char word[4096], struck[4096];
    if (!is_log(fd)) return 0;
    if (!stays() && !(met && !rename(in("word", word), in("struck", struck)))) return 0;
    met = 0;
    errno = EIO;
    return 1;
}
#define REAL(name) ((__typeof__(&name))dlsym(RTLD_NEXT, #name))
ssize_t write(int fd, const void *bytes, size_t size) {
    return refused(fd, bytes, size) ? -1 : REAL(write)(fd, bytes, size);
}
ssize_t pwrite(int fd, const void *bytes, size_t size, off_t at) {
    return refused(fd, bytes, size) ? -1 : REAL(pwrite)(fd, bytes, size, at);
}
ssize_t pwrite64(int fd, const void *bytes, size_t size, off64_t at) {
    return refused(fd, bytes, size) ? -1 : REAL(pwrite64)(fd, bytes, size, at);
}
int fsync(int fd) { return unsynced(fd) ? -1 : REAL(fsync)(fd); }
int fdatasync(int fd) { return unsynced(fd) ? -1 : REAL(fdatasync)(fd); }
"#;

/// The one failure, around every crew of a world.
struct Doubt<'w>(&'w World);

impl<'w> Doubt<'w> {
    fn around(world: &'w World) -> Self {
        let folder = world.path("doubt");
        fs::create_dir(&folder).unwrap();
        let preloaded = world.path("doubt.so");
        object(DOUBT, &preloaded);
        world.around("LD_PRELOAD", &preloaded);
        world.around("DOUBT", &folder);
        Self(world)
    }

    /// The next COMMIT that tells of this fails. `stays`: so does whatever is written after it.
    fn strikes(&self, word: &str, stays: bool) {
        if stays {
            fs::write(self.0.path("doubt/stays"), "").unwrap();
        }
        let beside = self.0.path("doubt/word.new");
        fs::write(&beside, word).unwrap();
        fs::rename(beside, self.0.path("doubt/word")).unwrap();
    }

    fn struck(&self) {
        self.0
            .wait("a commit has failed", || self.0.path("doubt/struck").exists());
    }

    fn passes(&self) {
        fs::remove_file(self.0.path("doubt/stays")).unwrap();
    }
}

/// Somebody who reads the journal, and stays.
struct Reader(tokio::runtime::Runtime, Option<SqliteConnection>);

impl Reader {
    fn of(world: &World) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        let reader = runtime.block_on(async {
            let options = SqliteConnectOptions::new().filename(world.project(".crew/journal.db"));
            let mut reader = options.connect().await.unwrap();
            sqlx::query("SELECT count(*) FROM events")
                .fetch_one(&mut reader)
                .await
                .unwrap();
            reader
        });
        Self(runtime, Some(reader))
    }
}

impl Drop for Reader {
    fn drop(&mut self) {
        if let Some(reader) = self.1.take() {
            self.0.block_on(reader.close()).unwrap();
        }
    }
}

fn says_so(world: &World, engine: &Engine) {
    world.wait("the engine says that a commit has failed", || {
        engine.said().all().contains("committing to the journal")
    });
}

fn ends(mut engine: Engine) {
    engine.signal("TERM");
    engine.end();
}

/// Whose commit fails.
#[derive(Clone, Copy)]
pub(crate) enum Whose {
    /// The engine's that brought the ticket there.
    Its,
    /// The next one's, that takes up what went on without one.
    TheNext,
}

/// Brings a ticket there and lets it go on, with the commit that tells of `word` failing, and those that come
/// after it. Gives the engine whose they are, and whoever reads meanwhile.
fn failing(
    world: &World,
    doubt: &Doubt<'_>,
    (at, whose): (At, Whose),
    word: &str,
    is_read: bool,
) -> (Engine, Option<Reader>) {
    let mut engine = Some(struck::bring(world, at));
    let reader = is_read.then(|| Reader::of(world));
    if matches!(whose, Whose::TheNext) {
        engine = None;
    }
    doubt.strikes(word, true);
    struck::go_on(world, at);
    let engine = engine.unwrap_or_else(|| world.engine());
    doubt.struck();
    says_so(world, &engine);
    (engine, reader)
}

/// A commit fails and is not there: the engine goes on by itself.
pub(crate) fn not_there(at: (At, Whose), word: &str, fact: &str) {
    let world = struck::world(at.0);
    let doubt = Doubt::around(&world);
    let (mut engine, reader) = failing(&world, &doubt, at, word, true);
    assert_eq!(world.count("t-1", fact), 0, "the commit that failed is there");
    doubt.passes();
    lands_at_once(&world, &mut engine, "t-1");
    drop(reader);
    assert_eq!(world.count("t-1", fact), 1);
}

/// A commit fails and is there: the next engine finds it.
fn there(at: (At, Whose), word: &str, fact: &str) {
    let world = struck::world(at.0);
    let doubt = Doubt::around(&world);
    let (engine, _nobody) = failing(&world, &doubt, at, word, false);
    ends(engine);
    doubt.passes();
    assert_eq!(world.count("t-1", fact), 1, "the commit that failed is not there");
    in_order(&world);
    let ticket = world.state("t-1");
    assert_eq!(
        (world.landed(), ticket.attempts, world.runs("t-1")),
        (vec!["t-1".to_owned()], 1, 1)
    );
    assert_eq!(world.count("t-1", fact), 1);
}

#[test]
fn a_claim_whose_commit_failed_and_is_not_there_is_made_once() {
    not_there((At::Queue, Whose::Its), "\"claimed\":{", "claimed");
}

#[test]
fn a_claim_whose_commit_failed_and_is_there_is_made_once() {
    there((At::Queue, Whose::Its), "\"claimed\":{", "claimed");
}

#[test]
fn an_end_whose_commit_failed_and_is_not_there_is_told_once() {
    not_there((At::Work, Whose::Its), "\"step_finished\":{", "step_finished");
}

#[test]
fn an_end_whose_commit_failed_and_is_there_is_told_once() {
    there((At::Work, Whose::Its), "\"step_finished\":{", "step_finished");
}

#[test]
fn a_candidate_whose_commit_failed_and_is_not_there_is_one() {
    not_there((At::Work, Whose::Its), "\"candidate_built\":{", "candidate_built");
}

#[test]
fn a_candidate_whose_commit_failed_and_is_there_is_one() {
    there((At::Work, Whose::Its), "\"candidate_built\":{", "candidate_built");
}

#[test]
fn a_verdict_whose_commit_failed_and_is_not_there_counts_once() {
    not_there((At::Checks, Whose::Its), "\"checks_passed\":{", "checks_passed");
}

#[test]
fn a_verdict_whose_commit_failed_and_is_there_counts_once() {
    there((At::Checks, Whose::Its), "\"checks_passed\":{", "checks_passed");
}

#[test]
fn a_landing_whose_commit_failed_and_is_there_is_one() {
    there((At::Checks, Whose::Its), "\"landed\":{", "landed");
}

#[test]
fn an_end_that_a_next_engine_finds_whose_commit_failed_and_is_not_there_is_told_once() {
    not_there((At::Work, Whose::TheNext), "\"step_finished\":{", "step_finished");
}

#[test]
fn an_end_that_a_next_engine_finds_whose_commit_failed_and_is_there_is_told_once() {
    there((At::Work, Whose::TheNext), "\"step_finished\":{", "step_finished");
}

/// The ticket is given up once, with what was done for it.
fn dropped_once(world: &World) {
    world.drain_all();
    world.must(&["doctor", "--deep"]);
    assert_eq!(world.state_name("t-1"), "done/dropped");
    assert_eq!((world.count("t-1", "dropped"), world.runs("t-1")), (1, 1));
    assert!(world.landed().is_empty() && world.workspaces().is_empty());
}

/// Whoever asked is told that it failed.
fn refused(said: &Said) {
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.all().contains("committing to the journal"), "{said}");
}

#[test]
fn a_command_whose_commit_failed_and_is_not_there_is_asked_again() {
    let world = struck::world(At::Work);
    let doubt = Doubt::around(&world);
    let engine = struck::bring(&world, At::Work);
    doubt.strikes("because of doubt", false);
    // By itself, under the same id.
    world.must(&["drop", "t-1", "because of doubt"]);
    doubt.struck();
    ends(engine);
    dropped_once(&world);
}

#[test]
fn a_command_whose_commit_failed_and_is_there_is_carried_out_once() {
    let world = struck::world(At::Work);
    let doubt = Doubt::around(&world);
    let engine = struck::bring(&world, At::Work);
    drop(engine);
    doubt.strikes("because of doubt", true);
    refused(&world.crew(&["drop", "t-1", "because of doubt"]));
    doubt.struck();
    doubt.passes();
    // Asked again it is one all the same.
    world.must(&["drop", "t-1", "because of doubt"]);
    dropped_once(&world);
}

#[test]
fn a_stop_whose_commit_failed_and_is_not_there_is_ordered_once() {
    let world = struck::world(At::Work);
    let doubt = Doubt::around(&world);
    let engine = struck::bring(&world, At::Work);
    let reader = Reader::of(&world);
    doubt.strikes("\"stop_ordered\":{", true);
    let mut asked = world.start_at(&world.path("project"), &["drop", "t-1", "because of doubt"]);
    doubt.struck();
    says_so(&world, &engine);
    assert_eq!(
        world.count("t-1", "stop_ordered"),
        0,
        "the commit that failed is there"
    );
    doubt.passes();
    world.wait_for("t-1", "done/dropped");
    asked.end();
    drop(reader);
    ends(engine);
    dropped_once(&world);
    assert_eq!(world.count("t-1", "stop_ordered"), 1);
}

#[test]
fn a_stop_whose_commit_failed_and_is_there_is_ordered_once() {
    let world = struck::world(At::Work);
    let doubt = Doubt::around(&world);
    let engine = struck::bring(&world, At::Work);
    doubt.strikes("\"stop_ordered\":{", true);
    let mut asked = world.start_at(&world.path("project"), &["drop", "t-1", "because of doubt"]);
    doubt.struck();
    says_so(&world, &engine);
    ends(engine);
    asked.end();
    doubt.passes();
    assert_eq!(
        world.count("t-1", "stop_ordered"),
        1,
        "the commit that failed is not there"
    );
    dropped_once(&world);
    assert_eq!(world.count("t-1", "stop_ordered"), 1);
}
