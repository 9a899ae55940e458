//! F23: a journal that is gone, replaced or in parts, before an engine is up or while it is.

use std::fs;
use std::path::PathBuf;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::faults::deep::damage::{at_work, journal_files, opened};
use testkit::world::{DONE, Engine, World};

/// Every command that opens the journal.
const ALL: [&[&str]; 7] = [
    &["run", "--until-idle"],
    &["ps"],
    &["queue"],
    &["inbox"],
    &["events"],
    &["retry", "t-1"],
    &["doctor"],
];

fn names(world: &World) -> Vec<PathBuf> {
    let mut files = journal_files(world);
    files.sort();
    files
}

#[test]
fn what_belongs_to_a_journal_that_is_missing_is_not_mixed_with_a_new_one() {
    let (world, engine) = at_work();
    drop(engine);
    let (journal, log) = (
        world.project(".crew/journal.db"),
        world.project(".crew/journal.db-wal"),
    );
    let aside = world.path("aside");
    fs::rename(&journal, &aside).unwrap();
    let (left, bytes) = (names(&world), fs::read(&log).unwrap());
    assert_eq!(left.len(), 2, "{left:?}");
    for command in ALL {
        let said = world.crew(command);
        assert_eq!(said.code, Some(1), "{command:?}: {said}");
        assert!(
            said.all().contains("journal.db is missing, its -wal is here")
                && said.all().contains("put it back, or move"),
            "{command:?}: {said}"
        );
        assert_eq!(names(&world), left, "{command:?}: {said}");
    }
    assert_eq!(fs::read(&log).unwrap(), bytes);
    fs::rename(&aside, &journal).unwrap();
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_journal_that_refuses_the_same_again_and_again_ends_the_engine() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    // Whatever is decided about ada, the journal has given her away.
    let sql = "INSERT INTO slots (agent, ticket, fence) VALUES ('ada', 't-0', 1)";
    world.ticket("t-2").agent(DONE).write();
    runtime.block_on(async {
        let options = SqliteConnectOptions::new().filename(world.project(".crew/journal.db"));
        let mut conn = options.connect().await.unwrap();
        sqlx::raw_sql(sql).execute(&mut conn).await.unwrap();
        conn.close().await.unwrap();
    });
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(1), "{said}");
    let told = said.all();
    assert!(
        told.contains("refused the same decision") && told.contains("ada") && told.contains("crew doctor"),
        "{said}"
    );
    assert!(told.matches("starting over").count() < 10, "{said}");
}

/// What becomes of the journal of an engine that has landed one ticket and has another at work: it ends and
/// lands no more, and what it has landed is not landed again.
fn loses_its_journal(lose: impl FnOnce(&World)) -> World {
    let world = World::new();
    world.ticket("t-0").agent(DONE).write();
    world
        .ticket("t-1")
        .agent("until_there \"$GATES/go\"\nwork t-1.txt done\n: > \"$GATES/over\"\necho DONE\n")
        .write();
    let mut engine = world.engine();
    world.wait_for("t-0", "done/landed");
    world.wait("its file says so", || world.front("t-0", "status") == "closed");
    // What a lost journal knew of and had not yet tidied up is for doctor to tell, not for these tests.
    world.wait("nothing is left of t-0", || {
        !world.git(&["for-each-ref", "refs/crew"]).contains("/t-0/")
    });
    world.wait_for_run("t-1", 1);
    lose(&world);
    ended(&mut engine);
    world.open("go");
    world.wait("the agent has ended", || world.path("gates/over").exists());
    assert_eq!(world.landed(), ["t-0"]);
    world
}

fn ended(engine: &mut Engine) {
    let said = engine.end();
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.all()
            .contains("journal.db was deleted or replaced while it was in use")
            && said.all().contains("nothing more is begun"),
        "{said}"
    );
}

fn goes_on_with_a_new_one(world: &World) {
    world.script("t-1", DONE);
    opened(world, "t-1");
    world.drain_all();
    assert_eq!(world.landed(), ["t-0", "t-1"]);
    world.must(&["doctor", "--deep"]);
}

#[test]
fn an_engine_whose_journal_is_deleted_ends_and_lands_no_more() {
    let world = loses_its_journal(|world| fs::remove_file(world.project(".crew/journal.db")).unwrap());
    let said = world.crew(&["run", "--until-idle"]);
    assert!(
        said.code == Some(1) && said.all().contains("is missing"),
        "{said}"
    );
    for file in journal_files(&world) {
        fs::remove_file(file).unwrap();
    }
    goes_on_with_a_new_one(&world);
}

#[test]
fn an_engine_whose_folder_is_deleted_ends_and_lands_no_more() {
    let world = loses_its_journal(|world| {
        // What the engine still writes into it comes in between.
        let gone = || match fs::remove_dir_all(world.project(".crew")) {
            Ok(()) => true,
            Err(error) => error.kind() == std::io::ErrorKind::NotFound,
        };
        world.wait("the folder is gone", gone);
    });
    goes_on_with_a_new_one(&world);
}

#[test]
fn an_engine_whose_journal_is_replaced_ends_and_leaves_the_new_one_alone() {
    let world = loses_its_journal(|world| {
        let journal = world.project(".crew/journal.db");
        let beside = world.path("beside");
        fs::copy(&journal, &beside).unwrap();
        fs::rename(&beside, &journal).unwrap();
    });
    for file in journal_files(&world) {
        fs::remove_file(file).unwrap();
    }
    goes_on_with_a_new_one(&world);
}

#[test]
fn what_a_dead_engines_git_holds_is_waited_for_and_then_named() {
    let (world, engine) = at_work();
    let pid = engine.pid();
    drop(engine);
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    // As a git child does that got the lock from it.
    let git = fs::File::open(world.project(".git/crew.lock")).unwrap();
    git.lock().unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(4), "{said}");
    assert!(
        said.all().contains(&format!("is dead (process {pid}"))
            && said.all().contains("try again in a moment")
            && !said.all().contains("another engine"),
        "{said}"
    );
    let mut next = world.start_at(&world.path("project"), &["run", "--until-idle"]);
    git.unlock().unwrap();
    let said = next.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn doctor_tells_of_what_stands_where_a_folder_of_crews_belongs() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let runs = world.project(".crew/runs");
    fs::remove_dir_all(&runs).unwrap();
    fs::write(&runs, "").unwrap();
    assert_eq!(world.crew(&["run", "--until-idle"]).code, Some(1));
    let said = world.crew(&["doctor"]);
    assert!(
        said.code == Some(1) && said.all().contains(".crew/runs is no folder"),
        "{said}"
    );
    fs::remove_file(&runs).unwrap();
    world.must(&["doctor"]);
}
