//! F13: another process keeps the journal locked, by a transaction of its own on the real file. Nothing is
//! lost or done twice, nobody is blamed, and it goes on by itself.

use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;

use sqlx::sqlite::SqliteConnectOptions;
use sqlx::{ConnectOptions as _, Connection as _};

use crate::faults::gate::Gate;
use crate::faults::mounts::cells;
use crate::faults::struck::{self, At, in_order, lands_at_once};
use testkit::wait;
use testkit::world::{Engine, World};

/// How long it is held where whoever writes is to wait for it: shorter than crew's patience.
const HELD: Duration = Duration::from_secs(5);

/// A transaction of another process's on the journal; it ends with the value.
struct Busy {
    end: Option<mpsc::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Busy {
    fn begin(world: &World) -> Self {
        let journal = world.project(".crew/journal.db");
        let (held, is_held) = mpsc::channel();
        let (end, ended) = mpsc::channel::<()>();
        let thread = std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build()
                .unwrap();
            runtime.block_on(async {
                let mut other = SqliteConnectOptions::new()
                    .filename(journal)
                    .busy_timeout(Duration::from_secs(60))
                    .connect()
                    .await
                    .unwrap();
                sqlx::query("BEGIN EXCLUSIVE").execute(&mut other).await.unwrap();
                held.send(()).unwrap();
                // Also when its sender is gone.
                let _gone = ended.recv();
                sqlx::query("ROLLBACK").execute(&mut other).await.unwrap();
                other.close().await.unwrap();
            });
        });
        is_held.recv().unwrap();
        Self {
            end: Some(end),
            thread: Some(thread),
        }
    }

    /// Holds it for a while, and lets go.
    fn for_a_while(self) {
        wait::pause(HELD);
        drop(self);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        drop(self.end.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn told(world: &World, engine: &Engine) {
    world.wait("the engine says that the journal is locked", || {
        engine.said().all().contains("locked by another process")
    });
}

/// The journal is locked while a ticket goes on from here.
fn struck_at(at: At) {
    let world = struck::world(at);
    let mut engine = struck::bring(&world, at);
    let busy = Busy::begin(&world);
    struck::go_on(&world, at);
    busy.for_a_while();
    lands_at_once(&world, &mut engine, "t-1");
}

#[test]
fn a_locked_journal_is_waited_for_when_a_ticket_comes() {
    struck_at(At::Queue);
}

#[test]
fn a_locked_journal_is_waited_for_when_a_step_ends() {
    struck_at(At::Work);
}

#[test]
fn a_locked_journal_is_waited_for_when_the_checks_pass() {
    struck_at(At::Checks);
}

#[test]
fn a_locked_journal_is_waited_for_and_not_for_ever() {
    let world = struck::world(At::Work);
    let mut engine = struck::bring(&world, At::Work);
    let busy = Busy::begin(&world);
    let rows = world.rows().len();
    let said = world.crew(&["drop", "t-1", "because"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.all().contains("locked by another process"), "{said}");
    assert!(said.all().contains("try again"), "{said}");
    assert_eq!(world.rows().len(), rows);
    drop(busy);
    // What was refused is not carried out later.
    struck::go_on(&world, At::Work);
    lands_at_once(&world, &mut engine, "t-1");
}

#[test]
fn a_command_waits_its_turn() {
    let world = struck::world(At::Work);
    let mut engine = struck::bring(&world, At::Work);
    let busy = Busy::begin(&world);
    let waits = std::thread::spawn(move || busy.for_a_while());
    world.must(&["drop", "t-1", "because"]);
    waits.join().unwrap();
    world.wait_for("t-1", "done/dropped");
    engine.signal("TERM");
    engine.end();
    in_order(&world);
}

#[test]
fn a_journal_that_stays_locked_is_said_and_gone_on_with() {
    let world = struck::world(At::Work);
    let mut engine = struck::bring(&world, At::Work);
    let busy = Busy::begin(&world);
    struck::go_on(&world, At::Work);
    told(&world, &engine);
    assert!(engine.is_up(), "{}", engine.said());
    drop(busy);
    lands_at_once(&world, &mut engine, "t-1");
}

#[test]
fn a_locked_journal_is_waited_for_by_the_next_engine() {
    let world = struck::world(At::Work);
    drop(struck::bring(&world, At::Work));
    let busy = Busy::begin(&world);
    struck::go_on(&world, At::Work);
    world.wait("the step has ended", || {
        world.project(".crew/runs/t-1.1.1/exit.json").exists()
    });
    let mut engine = world.engine();
    told(&world, &engine);
    assert!(engine.is_up(), "{}", engine.said());
    drop(busy);
    lands_at_once(&world, &mut engine, "t-1");
}

/// The journal is locked while a git of the engine's waits at this call.
pub(crate) fn struck_in(words: &str) {
    let world = struck::world(At::Work);
    let gate = Gate::at(words);
    let mut engine = struck::bring(&world, At::Work);
    struck::go_on(&world, At::Work);
    gate.reached(1);
    let busy = Busy::begin(&world);
    gate.open();
    busy.for_a_while();
    lands_at_once(&world, &mut engine, "t-1");
    assert!(world.workspaces().is_empty());
}

cells! {
    fn a_locked_journal_is_waited_for_as_the_workspace_goes() {
        struck_in("workspace no longer needed");
    }
}
