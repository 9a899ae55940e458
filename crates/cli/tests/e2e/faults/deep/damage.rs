//! F11, F19, F23, F24: what is broken, missing or doubled around an engine.

use std::fs;

use crate::faults::mounts::{must, program};
use testkit::world::{DONE, Engine, Said, World, crew};

const WAITS: &str = "until_there \"$GATES/go\"\nwork \"$CREW_TICKET_ID.txt\" done\necho DONE\n";

/// It landed once, by one step of one attempt, and everything is in order.
pub(crate) fn landed_at_once(world: &World, engine: &mut Engine, id: &str) {
    world.wait_for(id, "done/landed");
    engine.signal("TERM");
    engine.end();
    assert_eq!(world.landed(), [id]);
    assert_eq!((world.state(id).attempts, world.runs(id)), (1, 1));
    world.drain_all();
    world.must(&["doctor", "--deep"]);
}

/// A world whose agent works and waits, with its engine.
pub(crate) fn at_work() -> (World, Engine) {
    let check = World::until_home("checked");
    let world = World::with(|settings| settings.checks = format!("commands = ['''{check}''']"));
    world.anyway();
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    (world, engine)
}

/// No further descriptor: those that there are stay.
const NONE: usize = 3;

fn limit_files(pid: u32, limit: usize) {
    let (pid, limit) = (format!("--pid={pid}"), format!("--nofile={limit}:"));
    must("prlimit", &[pid.as_ref(), limit.as_ref()]);
}

#[test]
fn no_descriptors_while_work_is_given_out() {
    let world = World::new();
    let mut engine = world.engine();
    world.wait("the engine is up", || !world.rows().is_empty());
    limit_files(engine.pid(), NONE);
    world.ticket("t-1").agent(DONE).write();
    let lacks = || {
        ["open files", "journal", "cannot be read"]
            .iter()
            .any(|words| engine.said().all().contains(words))
    };
    world.wait("it says what it lacks", lacks);
    assert!(engine.is_up());
    limit_files(engine.pid(), 1024);
    landed_at_once(&world, &mut engine, "t-1");
}

#[test]
fn no_descriptors_while_an_agent_works() {
    let (world, mut engine) = at_work();
    limit_files(engine.pid(), NONE);
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    world.wait("it says what it lacks", || {
        engine.said().all().contains("open files") || engine.said().all().contains("journal")
    });
    assert!(engine.is_up());
    limit_files(engine.pid(), 1024);
    landed_at_once(&world, &mut engine, "t-1");
}

#[test]
fn an_engine_that_gets_no_descriptors_loses_nothing() {
    let (world, engine) = at_work();
    drop(engine);
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    world.run_as(&["prlimit", "--nofile=12:"], crew().as_ref());
    let mut engine = world.engine();
    world.wait("it says what it lacks", || {
        engine.said().all().contains("open files")
    });
    if engine.is_up() {
        limit_files(engine.pid(), 1024);
    } else {
        let said = engine.end();
        assert!(
            said.code == Some(1) && said.all().contains("open files"),
            "{said}"
        );
    }
    world.run_as(&["env"], crew().as_ref());
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

/// A target that is rewritten while work that began from it is checked; no engine sees that, or one does.
fn rewritten(is_seen: bool) {
    let (world, first) = at_work();
    world.open("go");
    world.wait_for("t-1", "verify/checking");
    let seeing = is_seen.then_some(first);
    let before = world.git(&["rev-parse", "main"]);
    world.git(&["commit", "-q", "--amend", "-m", "rewritten by hand"]);
    let rewritten = world.git(&["rev-parse", "main"]);
    // What is no longer in the target must not come back with the work: its agent is told how to take it out.
    let command = format!("git rebase --onto {rewritten} {before}");
    world.script("t-1", &format!("{command}\necho DONE\n"));
    fs::write(world.path("home/checked"), "").unwrap();
    let mut engine = seeing.unwrap_or_else(|| world.engine());
    world.wait_for("t-1", "done/landed");
    assert!(world.prompt("t-1", 2).contains(&command));
    engine.signal("TERM");
    engine.end();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 2));
    let history = world.git(&["log", "--format=%H", "main"]);
    assert!(
        history.contains(&rewritten) && !history.contains(&before),
        "{history}"
    );
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_target_that_was_rewritten_meanwhile_is_built_upon() {
    rewritten(true);
}

#[test]
fn a_target_that_was_rewritten_while_no_engine_was_up_is_built_upon() {
    rewritten(false);
}

#[test]
fn a_letter_that_flips_in_the_journal_is_found() {
    let world = World::new();
    world.ticket("t-1").title("To Zanzibar").agent(DONE).write();
    world.drain_all();
    world.must(&["doctor", "--deep"]);
    let told = || world.must(&["events", "--all", "--json"]).out;
    let (journal, before) = (world.project(".crew/journal.db"), told());
    let whole = fs::read(&journal).unwrap();
    let mut found = 0;
    for at in memmem(&whole, b"Zanzibar") {
        let mut flipped = whole.clone();
        flipped[at] ^= 0x20;
        fs::write(&journal, flipped).unwrap();
        let doctor = world.crew(&["doctor"]);
        if doctor.code == Some(0) {
            // What stood in room that is free again.
            assert_eq!(told(), before, "byte {at}: {doctor}");
        } else {
            assert!(doctor.all().contains("t-1"), "byte {at}: {doctor}");
            found += usize::from(doctor.all().contains("is not as it was written"));
        }
    }
    assert!(
        found >= 2,
        "{found} letters were found: of the events and of the state"
    );
}

/// Where this stands in these bytes.
fn memmem(bytes: &[u8], sought: &[u8]) -> Vec<usize> {
    let windows = bytes.windows(sought.len()).enumerate();
    windows
        .filter(|(_, found)| *found == sought)
        .map(|(at, _)| at)
        .collect()
}

/// Gives a ticket back to the queue, as a person does in an editor.
pub(crate) fn opened(world: &World, id: &str) {
    world.edit(id, |text| {
        let lines = text.lines().map(|line| {
            if line.starts_with("status: ") {
                "status: open"
            } else {
                line
            }
        });
        lines.map(|line| format!("{line}\n")).collect()
    });
}

pub(crate) fn journal_files(world: &World) -> Vec<std::path::PathBuf> {
    let entries = fs::read_dir(world.project(".crew")).unwrap().flatten();
    let is_its = |path: &std::path::PathBuf| {
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        name.starts_with("journal.db")
    };
    entries.map(|entry| entry.path()).filter(is_its).collect()
}

#[test]
fn a_new_journal_beside_old_folders_takes_no_old_run_for_its_own() {
    let world = World::new();
    world.ticket("t-0").agent(DONE).write();
    world.drain_all();
    let backup: Vec<_> = journal_files(&world)
        .into_iter()
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    for (run, restored) in [(2, backup.as_slice()), (3, &[])] {
        for file in journal_files(&world) {
            fs::remove_file(file).unwrap();
        }
        for (path, bytes) in restored {
            fs::write(path, bytes).unwrap();
        }
        world.script("t-1", &format!("work again-{run} done\necho DONE\n"));
        opened(&world, "t-1");
        world.drain_all();
        assert_eq!(world.runs("t-1"), run);
        assert!(world.on_main(&format!("again-{run}")).is_some());
    }
}

#[test]
fn with_a_damaged_journal_moved_away_work_goes_on_alone() {
    let world = World::new();
    let script = "echo precious > left.txt\n: > \"$GATES/left\"\nuntil_there \"$GATES/never\"\n";
    world.ticket("t-1").agent(script).write();
    let engine = world.engine();
    world.wait("the agent has left something", || {
        world.path("gates/left").exists()
    });
    drop(engine);
    fs::write(world.project(".crew/journal.db"), vec![0xff; 40_000]).unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert!(
        said.code == Some(1) && said.all().contains("move all three away"),
        "{said}"
    );
    let kept = world.path("kept");
    fs::create_dir(&kept).unwrap();
    for file in journal_files(&world) {
        fs::rename(&file, kept.join(file.file_name().unwrap())).unwrap();
    }
    world.script("t-1", DONE);
    opened(&world, "t-1");
    // Nobody is at work but the new journal's own, and what there was is not lost.
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.on_main("left.txt").as_deref(), Some("precious\n"));
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_log_cut_short_loses_no_more_than_was_cut() {
    let (world, engine) = at_work();
    let wal = world.project(".crew/journal.db-wal");
    drop(engine);
    let bytes = fs::read(&wal).unwrap();
    // Torn in its last transaction, as a disk that lost its power does.
    fs::write(&wal, &bytes[..bytes.len() - 100]).unwrap();
    // The runs may stand on another disk than the workspaces, with a clock that is behind.
    let behind = std::time::UNIX_EPOCH + std::time::Duration::from_secs(1_000_000_000);
    for run in fs::read_dir(world.project(".crew/runs")).unwrap().flatten() {
        for file in fs::read_dir(run.path()).unwrap().flatten() {
            fs::File::open(file.path()).unwrap().set_modified(behind).unwrap();
        }
    }
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.runs("t-1"), 1, "the step was started twice");
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_step_whose_record_is_damaged_is_not_started_beside_itself() {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait("the step runs", || world.runs("t-1") == 1);
    drop(engine);
    let run = world.project(".crew/runs/t-1.1.1");
    fs::write(run.join("shim.json"), "{").unwrap();
    let mut engine = world.engine();
    world.wait("the damage is seen", || engine.said().all().contains("shim.json"));
    world.open("go");
    landed_at_once(&world, &mut engine, "t-1");
}

#[test]
fn a_missing_object_is_named_and_nothing_lands_without_it() {
    let (world, mut engine) = at_work();
    let blob = world.git(&["rev-parse", "main:README"]);
    let file = world.project(&format!(".git/objects/{}/{}", &blob[..2], &blob[2..]));
    let aside = world.path("aside");
    fs::rename(&file, &aside).unwrap();
    world.open("go");
    fs::write(world.path("home/checked"), "").unwrap();
    world.wait("it says that it cannot", || {
        world.says("t-1", &blob)
            || engine.said().all().contains(&blob)
            || world.state_name("t-1").contains("held")
    });
    assert!(!world.is_landed("t-1"));
    let doctor = world.crew(&["doctor", "--deep"]);
    assert!(
        doctor.all().contains(&blob) && doctor.all().contains("missing"),
        "{doctor}"
    );
    fs::rename(&aside, &file).unwrap();
    world.must(&["retry", "t-1"]);
    world.wait_for("t-1", "done/landed");
    engine.signal("TERM");
    engine.end();
    world.must(&["doctor", "--deep"]);
}

/// A ticket at work whose base is gone from the repository: the world, its engine, the base, and a clone that
/// has it.
fn without_base() -> (World, Engine, String, String) {
    let world = World::new();
    world.ticket("t-1").agent(WAITS).write();
    let engine = world.engine();
    world.wait_for_run("t-1", 1);
    let base = world.git(&["rev-parse", "main"]);
    let clone = world.path("clone").to_string_lossy().into_owned();
    world.git(&["clone", "-q", ".", &clone]);
    world.commit("by-hand.txt", "by hand\n");
    fs::remove_file(world.project(&format!(".git/objects/{}/{}", &base[..2], &base[2..]))).unwrap();
    (world, engine, base, clone)
}

#[test]
fn a_base_commit_that_is_gone_is_named_with_what_to_do() {
    let (world, mut engine, base, clone) = without_base();
    world.open("go");
    world.wait("it is held", || {
        world.try_state("t-1").is_some_and(|ticket| ticket.held.is_some())
    });
    let told = format!("commit {base}, from which the work on t-1 began, is gone");
    for (look, code) in [("inbox", 3), ("history", 0)] {
        let args = [look, "t-1"];
        let said = world.crew(if look == "inbox" { &args[..1] } else { &args });
        assert_eq!(said.code, Some(code), "{said}");
        let words: Vec<&str> = said.out.split_whitespace().collect();
        assert!(words.join(" ").contains(&told), "{said}");
    }
    let said = world.crew(&["doctor"]);
    assert!(
        said.code == Some(1)
            && said
                .out
                .contains("git fetch --refetch <clone>; if t-1 is held, then crew retry t-1"),
        "{said}"
    );
    world.git(&["fetch", "-q", "--refetch", &clone]);
    world.must(&["retry", "t-1"]);
    world.wait_for("t-1", "done/landed");
    engine.signal("TERM");
    engine.end();
    world.must(&["doctor", "--deep"]);
}

#[test]
fn work_whose_base_is_gone_waits_to_be_kept_and_says_so() {
    let (world, mut engine, base, clone) = without_base();
    world.must(&["kill", "ada"]);
    let told = format!("commit {base}, from which the work on t-1 began, is gone");
    world.wait("it says what is gone", || engine.said().all().contains(&told));
    let words = |said: &Said| {
        let all = said.all();
        let words: Vec<&str> = all.split_whitespace().collect();
        words.join(" ")
    };
    let undone = "the work of ada could not be kept";
    world.wait("it is a person's to mend", || {
        world.crew(&["inbox"]).all().contains(undone)
    });
    for asks in [&["inbox"] as &[&str], &["explain", "t-1"], &["doctor"]] {
        let said = world.crew(asks);
        assert!(
            words(&said).contains(undone) && words(&said).contains(&told),
            "{said}"
        );
    }
    // Nobody waits for a repair: who waits for the end of the queue is told.
    engine.signal("TERM");
    engine.end();
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(3), "{said}");
    assert!(words(&said).contains(undone), "{said}");
    let mut engine = world.engine();
    world.git(&["fetch", "-q", "--refetch", &clone]);
    world.must(&["retry", "t-1"]);
    world.open("go");
    world.wait_for("t-1", "done/landed");
    engine.signal("TERM");
    engine.end();
    world.must(&["doctor", "--deep"]);
}

#[test]
fn two_engines_at_once_are_one() {
    let world = World::new();
    world.ticket("t-1").agent(DONE).write();
    let started: Vec<_> = (0..4)
        .map(|_| {
            let mut command = world.program(&crew());
            command
                .args(["run", "--until-idle"])
                .current_dir(world.path("project"));
            command
                .stdout(std::process::Stdio::null())
                .stderr(std::process::Stdio::null());
            command.spawn().unwrap()
        })
        .collect();
    let mut codes: Vec<_> = started
        .into_iter()
        .map(|mut child| child.wait().unwrap().code())
        .collect();
    codes.sort();
    assert!(
        codes.contains(&Some(0)) && codes.iter().all(|code| matches!(code, Some(0 | 4))),
        "{codes:?}"
    );
    world.drain_all();
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn a_second_journal_on_the_repository_is_kept_out_and_destroys_nothing() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "if [ -e \"$GATES/left\" ]; then echo other > other.txt; echo DONE; exit; fi\n\
             echo precious > left.txt\n: > \"$GATES/left\"\nuntil_there \"$GATES/go\"\necho DONE\n",
        )
        .write();
    let first = world.engine();
    world.wait("the agent has left something", || {
        world.path("gates/left").exists()
    });
    // Somebody moves the journal away under an engine that has not seen it yet, and starts another.
    first.signal("STOP");
    fs::rename(world.project(".crew"), world.path("moved")).unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(4), "{said}");
    // The first one is killed, and the second has a journal of its own: it gives the ticket out again.
    drop(first);
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(
        (said.code, world.landed()),
        (Some(0), vec!["t-1".to_owned()]),
        "{said}"
    );
    let left = world
        .workspaces()
        .iter()
        .any(|workspace| workspace.join("left.txt").exists());
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew", "refs/heads"]);
    let found = kept.lines().any(|name| {
        let show = program("git")
            .current_dir(world.path("project"))
            .args(["show", &format!("{name}:left.txt")])
            .output();
        show.unwrap().status.success()
    });
    assert!(left || found, "uncommitted work is gone: {kept}");
    world.open("go");
    world.kill_everything();
}
