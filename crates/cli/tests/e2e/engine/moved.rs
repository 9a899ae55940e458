//! Work goes on where it began, whatever settings, surroundings and the repository's place have become since.

use std::fs;
use std::path::{Path, PathBuf};

use testkit::world::{DONE, Said, World};

/// The first run commits one file, leaves another and is ended there; the others commit what is left, or say
/// that nothing is.
const GOES_ON: &str = "if [ $RUN = 1 ]; then\n\
    work one.txt one; echo loose > loose.txt; touch \"$GATES/begun\"; until_there \"$GATES/never\"\n\
    fi\n\
    [ -e loose.txt ] || echo anew > anew.txt\n\
    git add -A; git commit -qm more; echo DONE\n";

/// A ticket that is worked on, and no engine any more.
fn under_way() -> World {
    let world = World::new();
    begin(&world);
    world
}

fn begin(world: &World) {
    world.ticket("t-1").agent(GOES_ON).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.must(&["stop", "--kill", "--wait"]);
    engine.end();
}

/// The one workspace below a folder of state.
fn workspace(state: &Path) -> Option<PathBuf> {
    let folders = |folder: &Path| -> Vec<PathBuf> {
        let entries = fs::read_dir(folder).into_iter().flatten().flatten();
        entries.map(|entry| entry.path()).collect()
    };
    let mut found = folders(state)
        .into_iter()
        .filter(|folder| !folder.to_string_lossy().ends_with(".checks"))
        .flat_map(|repository| folders(&repository));
    found.find(|path| !path.file_name().unwrap().to_string_lossy().starts_with('.'))
}

fn is_whole(world: &World) {
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
    assert_eq!(world.on_main("loose.txt").as_deref(), Some("loose\n"));
    assert_eq!(world.on_main("anew.txt"), None);
    world.must(&["doctor", "--deep"]);
}

/// Where the next ticket is worked on.
fn next(world: &World) -> String {
    world.ticket("t-2").agent("work two.txt two\necho DONE\n").write();
    world.drain_all();
    fs::read_to_string(world.path("logs/t-2.1.pwd")).unwrap()
}

#[test]
fn under_another_state_folder() {
    let world = under_way();
    let other = world.path("other-state");
    world.around("XDG_STATE_HOME", &other);
    let said = world.must(&["doctor"]);
    assert!(said.out.contains("go on there"), "{said}");
    let said = world.drain_all();
    assert!(said.out.contains("workspaces stand in"), "{said}");
    is_whole(&world);
    // None is left where they stood.
    assert!(next(&world).starts_with(other.to_str().unwrap()));
}

#[test]
fn with_another_workspace_dir() {
    let world = under_way();
    let settings = world.read("crew.toml");
    world.commit("crew.toml", &format!("workspace_dir = \"agents\"\n{settings}"));
    world.drain_all();
    is_whole(&world);
    assert!(next(&world).contains("/project/agents/"));
}

/// Moves the repository away, works the queue off there, and moves it back.
fn moved(world: &World) {
    let (home, elsewhere) = (world.path("project"), world.path("elsewhere"));
    fs::rename(&home, &elsewhere).unwrap();
    let said = world.crew_at(&elsewhere, &["run", "--until-idle"]);
    fs::rename(&elsewhere, &home).unwrap();
    assert_eq!(said.code, Some(0), "{said}");
}

#[test]
fn in_a_repository_that_has_moved() {
    let world = under_way();
    moved(&world);
    is_whole(&world);
}

#[test]
fn of_a_step_that_was_running_as_the_repository_was_moved() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work one.txt one; touch \"$GATES/begun\"; until_there \"$GATES/go\"; echo DONE")
        .write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    let (home, elsewhere) = (world.path("project"), world.path("elsewhere"));
    fs::rename(&home, &elsewhere).unwrap();
    fs::write(world.path("gates/go"), "").unwrap();
    let said = world.crew_at(&elsewhere, &["run", "--until-idle"]);
    fs::rename(&elsewhere, &home).unwrap();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!((world.landed(), world.runs("t-1")), (vec!["t-1".to_owned()], 1));
}

#[test]
fn in_a_repository_that_has_moved_with_its_workspaces() {
    let world = World::new();
    let settings = world.read("crew.toml");
    world.commit("crew.toml", &format!("workspace_dir = \"agents\"\n{settings}"));
    begin(&world);
    moved(&world);
    is_whole(&world);
}

#[test]
fn a_way_to_the_same_tickets_is_no_other_folder() {
    let world = under_way();
    let shared = world.path("shared");
    fs::rename(world.project(".tickets"), &shared).unwrap();
    std::os::unix::fs::symlink(&shared, world.project(".tickets")).unwrap();
    world.drain_all();
    is_whole(&world);
}

/// A copy of the repository, with everything in it.
fn copied(world: &World, name: &str) -> PathBuf {
    let copy = world.path(name);
    let copied = world
        .program("cp")
        .arg("-a")
        .arg(world.path("project"))
        .arg(&copy)
        .status();
    assert!(copied.unwrap().success());
    copy
}

#[test]
fn a_copy_leaves_the_work_of_its_model_alone() {
    let world = under_way();
    let copy = copied(&world, "copy");
    let state = world.path("home/.local/state/crew");
    let before = workspace(&state).unwrap();
    let said = world.crew_at(&copy, &["run", "--until-idle"]);
    assert_eq!(said.code, Some(0), "{said}");
    let anew = world.git_at(&copy, &["show", "main:anew.txt"]);
    assert_eq!(anew.trim(), "anew");
    assert_eq!(fs::read_to_string(before.join("loose.txt")).unwrap(), "loose\n");
    world.drain_all();
    is_whole(&world);
}

/// The engine of the original is at work, on a step and then on a check.
#[test]
fn a_copy_leaves_the_processes_of_its_model_alone() {
    let check = "commands = ['''if mkdir \"$HOME/first\"; then \
        trap 'touch \"$HOME/ended\"; exit 1' TERM; touch \"$HOME/checked\"; \
        until [ -e \"$HOME/go\" ]; do sleep 0.02; done; fi''']";
    let world = World::with(|s| s.checks = check.to_owned());
    world.anyway();
    let script = "if [ $RUN = 1 ]; then\n\
        trap 'touch \"$GATES/ended\"; exit 1' TERM; touch \"$GATES/begun\"; until_there \"$GATES/go\"\n\
        fi\n\
        work one.txt $RUN; echo DONE\n";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    let names_the_original = |said: &Said| {
        said.all()
            .contains(&format!("copy of {}", world.path("project").display()))
    };
    let copy = copied(&world, "copy");
    let said = world.crew_at(&copy, &["doctor"]);
    assert!(names_the_original(&said), "{said}");
    let agent = world.agent_of("t-1");
    for ends in [
        &["kill", &agent] as &[&str],
        &["stop", "--kill"],
        &["doctor", "--fix"],
    ] {
        let said = world.crew_at(&copy, ends);
        assert_ne!(said.code, Some(2), "{said}");
    }
    assert!(!world.path("gates/ended").exists());
    let copy = copied(&world, "copy-of-step");
    fs::create_dir(world.path("home/first")).unwrap();
    let said = world.crew_at(&copy, &["run", "--until-idle"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert!(names_the_original(&said), "{said}");
    assert!(said.all().contains("of which this is a copy"), "{said}");
    assert_eq!(world.git_at(&copy, &["show", "main:one.txt"]).trim(), "2");
    fs::remove_dir(world.path("home/first")).unwrap();
    world.open("go");
    world.wait("it is checked", || world.path("home/checked").exists());
    let copy = copied(&world, "copy-of-check");
    let said = world.crew_at(&copy, &["run", "--until-idle"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.git_at(&copy, &["show", "main:one.txt"]).trim(), "1");
    fs::write(world.path("home/go"), "").unwrap();
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    engine.end();
    for ended in ["gates/ended", "home/ended"] {
        assert!(!world.path(ended).exists(), "{ended}");
    }
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.on_main("one.txt").as_deref(), Some("1\n"));
    let said = world.must(&["history", "t-1"]);
    assert!(
        !said.out.contains("failed") && !said.out.contains("vanished"),
        "{said}"
    );
    world.must(&["doctor", "--deep"]);
}

/// Both have the same workspaces: a step of the one would work beside that of the other.
#[test]
fn a_backup_in_the_place_of_its_model_waits_for_the_step_of_its_model() {
    let world = World::new();
    let script = "trap 'touch \"$GATES/ended\"; exit 1' TERM; touch \"$GATES/begun\"; until_there \"$GATES/go\"\n\
        work $RUN.txt one; echo DONE\n";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    world.must(&["stop", "--leave"]);
    engine.end();
    let (home, elsewhere) = (world.path("project"), world.path("elsewhere"));
    let backup = copied(&world, "backup");
    fs::rename(&home, &elsewhere).unwrap();
    fs::rename(&backup, &home).unwrap();
    let mut engine = world.engine();
    world.wait("it waits", || {
        engine.said().all().contains("elsewhere/.crew/runs")
    });
    assert_eq!(world.runs("t-1"), 1);
    world.open("go");
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop", "--wait"]);
    engine.end();
    assert!(!world.path("gates/ended").exists());
}

#[test]
fn a_copy_in_which_nothing_was_done_yet_goes_on() {
    let world = World::new();
    let asks = "if [ $RUN = 1 ]; then work one.txt one; echo 'QUESTION: red or blue?'; else work two.txt two; echo DONE; fi\n";
    world.ticket("t-1").agent(asks).write();
    world.drain_held();
    let copy = copied(&world, "copy");
    // The question is still asked, and nothing is done about it.
    for _ in 0..2 {
        let said = world.crew_at(&copy, &["run", "--until-idle"]);
        assert_eq!(said.code, Some(3), "{said}");
    }
    for go_on in [&["answer", "t-1", "blue"] as &[&str], &["run", "--until-idle"]] {
        let said = world.crew_at(&copy, go_on);
        assert_eq!(said.code, Some(0), "{said}");
    }
    let two = world.git_at(&copy, &["show", "main:two.txt"]);
    assert_eq!(two.trim(), "two");
    world.must(&["answer", "t-1", "red"]);
    world.drain_all();
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
}

#[test]
fn a_clone_where_a_repository_stood_leaves_its_work_alone() {
    let world = under_way();
    let (home, elsewhere) = (world.path("project"), world.path("elsewhere"));
    fs::rename(&home, &elsewhere).unwrap();
    let state = world.path("home/.local/state/crew");
    let before = workspace(&state).unwrap();
    world.git_at(&elsewhere, &["clone", "-q", ".", home.to_str().unwrap()]);
    fs::create_dir(home.join(".tickets")).unwrap();
    world.ticket("t-1").agent(GOES_ON).write();
    world.drain_all();
    assert_eq!(world.on_main("anew.txt").as_deref(), Some("anew\n"));
    assert_eq!(world.on_main("loose.txt"), None);
    assert_eq!(fs::read_to_string(before.join("loose.txt")).unwrap(), "loose\n");
    world.must(&["doctor", "--deep"]);
    fs::rename(&home, world.path("cloned")).unwrap();
    fs::rename(&elsewhere, &home).unwrap();
    world.drain_all();
    is_whole(&world);
}

/// The clone is at work first, and the repository that was moved away goes on beside it.
#[test]
fn a_clone_where_a_repository_stood_and_that_work_side_by_side() {
    let world = under_way();
    let (home, elsewhere) = (world.path("project"), world.path("elsewhere"));
    fs::rename(&home, &elsewhere).unwrap();
    world.git_at(&elsewhere, &["clone", "-q", ".", home.to_str().unwrap()]);
    fs::create_dir(home.join(".tickets")).unwrap();
    let script = "if ! [ -e loose.txt ]; then echo half > half.txt; touch \"$GATES/cloned\"; until_there \"$GATES/go\"; fi\n\
        git add -A; git commit -qm more; echo DONE\n";
    world.ticket("t-1").agent(script).write();
    let mut cloned = world.start_at(&home, &["run", "--until-idle"]);
    world.wait("the clone is at work", || world.path("gates/cloned").exists());
    for crew in [
        &["doctor"] as &[&str],
        &["run", "--until-idle"],
        &["doctor", "--deep"],
    ] {
        let said = world.crew_at(&elsewhere, crew);
        assert_eq!(said.code, Some(0), "{said}");
        assert!(!said.all().contains("copy of"), "{said}");
    }
    let loose = world.git_at(&elsewhere, &["show", "main:loose.txt"]);
    assert_eq!(loose.trim(), "loose");
    world.must(&["doctor"]);
    world.open("go");
    let said = cloned.end();
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.on_main("half.txt").as_deref(), Some("half\n"));
    assert_eq!(world.on_main("loose.txt"), None);
    world.must(&["doctor", "--deep"]);
}

#[test]
fn where_nobody_can_look_nothing_is_begun_anew() {
    let world = under_way();
    let state = world.path("home/.local/state/crew");
    let stands = workspace(&state).unwrap().parent().unwrap().to_owned();
    let hidden = world.path("hidden");
    fs::rename(&stands, &hidden).unwrap();
    // A link that leads round in a circle cannot be looked into by anybody, root neither.
    std::os::unix::fs::symlink(&stands, &stands).unwrap();
    world.around("XDG_STATE_HOME", world.path("other-state"));
    let said = world.crew(&["run", "--until-idle"]);
    assert_ne!(said.code, Some(0), "{said}");
    assert!(said.err.contains("which cannot be looked into"), "{said}");
    let said = world.crew(&["doctor"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.out.contains("which cannot be looked into"), "{said}");
    fs::remove_file(&stands).unwrap();
    fs::rename(&hidden, &stands).unwrap();
    world.drain_all();
    is_whole(&world);
}

#[test]
fn where_the_folder_of_the_workspaces_is_gone_nothing_is_begun_anew() {
    let world = under_way();
    let (disk, unmounted) = (world.path("home/.local"), world.path("unmounted"));
    fs::rename(&disk, &unmounted).unwrap();
    is_missed(&world);
    // The way to it is there, and what it leads to is not.
    std::os::unix::fs::symlink(world.path("mounted"), &disk).unwrap();
    is_missed(&world);
    fs::rename(&unmounted, world.path("mounted")).unwrap();
    world.drain_all();
    is_whole(&world);
}

fn is_missed(world: &World) {
    let commands = [
        &["run", "--until-idle"] as &[&str],
        &["drop", "t-1"],
        &["clean", "--yes"],
        &["doctor"],
    ];
    for refused in commands {
        let said = world.crew(refused);
        assert_eq!(said.code, Some(1), "{said}");
        assert!(said.all().contains("that is not there"), "{said}");
    }
}

/// What is refused goes back to its workspace.
#[test]
fn nor_while_work_is_being_verified() {
    let check = "commands = ['''touch \"$HOME/begun\"; until [ -e \"$HOME/go\" ]; do sleep 0.02; done; ! [ -e one.txt ] || [ -e more.txt ]''']";
    let world = World::with(|s| s.checks = check.to_owned());
    world.anyway();
    let more = "if [ $RUN = 1 ]; then work one.txt one; else work more.txt more; fi; echo DONE\n";
    world.ticket("t-1").agent(more).write();
    let engine = world.engine();
    world.wait("it is checked", || world.path("home/begun").exists());
    drop(engine);
    world.kill_everything();
    let (disk, unmounted) = (world.path("home/.local"), world.path("unmounted"));
    fs::rename(&disk, &unmounted).unwrap();
    is_missed(&world);
    fs::rename(&unmounted, &disk).unwrap();
    fs::write(world.path("home/go"), "").unwrap();
    world.drain_all();
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
    assert_eq!(world.on_main("more.txt").as_deref(), Some("more\n"));
}

/// A folder of workspaces is moved away while a step is at work in it, and put back once crew has said that
/// it waits for it.
#[test]
fn nor_where_it_goes_while_an_engine_works() {
    let world = World::with(|s| s.agents = "count = 2".to_owned());
    // Nothing says that it is done: there is a next step.
    let script = "if [ $RUN = 1 ]; then\n\
        work one.txt one; echo loose > loose.txt; touch \"$GATES/begun\"; until_there \"$GATES/go\"; exit\n\
        fi\n\
        [ -e loose.txt ] || echo anew > anew.txt\n\
        git add -A; git commit -qm more; echo DONE\n";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    let stands = workspace(&world.path("home/.local/state/crew")).unwrap();
    let (stands, away) = (stands.parent().unwrap(), world.path("away"));
    fs::rename(stands, &away).unwrap();
    world.ticket("t-2").agent(DONE).write();
    world.open("go");
    for id in ["t-1", "t-2"] {
        world.wait("it is said", || {
            world.crew(&["explain", id]).all().contains("that is not there")
        });
    }
    let said = world.crew(&["inbox"]);
    for id in ["t-1", "t-2"] {
        assert!(said.tells_of(id, "remove .crew/places"), "{said}");
    }
    assert!(!stands.exists());
    assert_eq!((world.runs("t-1"), world.runs("t-2")), (1, 0));
    assert!(engine.is_up(), "{}", engine.said());
    fs::rename(&away, stands).unwrap();
    for id in ["t-1", "t-2"] {
        world.wait("it lands", || world.is_landed(id));
    }
    assert_eq!(world.runs("t-1"), 2);
    world.must(&["stop", "--wait"]);
    engine.end();
    is_whole(&world);
}

/// What is in a workspace and on no branch lands with the rest.
#[test]
fn nor_where_it_goes_before_the_work_is_taken_over() {
    let world = World::new();
    let script = "work one.txt one; echo loose > loose.txt; touch \"$GATES/begun\"; until_there \"$GATES/go\"; echo DONE\n";
    world.ticket("t-1").agent(script).write();
    let mut engine = world.engine();
    world.wait("it has begun", || world.path("gates/begun").exists());
    let stands = workspace(&world.path("home/.local/state/crew")).unwrap();
    let (stands, away) = (stands.parent().unwrap(), world.path("away"));
    fs::rename(stands, &away).unwrap();
    world.open("go");
    world.wait("it is said", || world.says("t-1", "that is not there"));
    assert!(world.crew(&["inbox"]).tells_of("t-1", "that is not there"));
    fs::rename(&away, stands).unwrap();
    world.wait("it lands", || world.is_landed("t-1"));
    assert_eq!(world.runs("t-1"), 1);
    world.must(&["stop", "--wait"]);
    engine.end();
    is_whole(&world);
}

/// In a folder without work there is nothing to be waited for.
#[test]
fn a_folder_in_which_no_work_is_may_go_while_an_engine_works() {
    let world = World::new();
    let mut engine = world.engine();
    let land = |id: &str| {
        world.ticket(id).agent(DONE).write();
        world.wait("it lands", || {
            world.is_landed(id) && world.workspaces().is_empty()
        });
    };
    land("t-1");
    fs::rename(world.path("home/.local"), world.path("away")).unwrap();
    fs::remove_file(world.project(".crew/places")).unwrap();
    land("t-2");
    assert!(world.project(".crew/places").exists());
    world.must(&["stop", "--wait"]);
    engine.end();
}

#[test]
fn whoever_makes_the_folder_of_the_workspaces_anew_means_it() {
    let world = under_way();
    let stands = workspace(&world.path("home/.local/state/crew")).unwrap();
    let stands = stands.parent().unwrap();
    fs::remove_dir_all(stands).unwrap();
    world.around("XDG_STATE_HOME", world.path("other-state"));
    let said = world.crew(&["run", "--until-idle"]);
    assert!(said.err.contains("that is not there"), "{said}");
    fs::create_dir(stands).unwrap();
    world.drain_all();
    assert_eq!(world.on_main("anew.txt").as_deref(), Some("anew\n"));
}

#[test]
fn whoever_knows_that_the_work_is_gone_says_so() {
    let world = under_way();
    let stands = workspace(&world.path("home/.local/state/crew")).unwrap();
    fs::remove_dir_all(stands.parent().unwrap()).unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert!(said.err.contains("remove .crew/places"), "{said}");
    fs::remove_file(world.project(".crew/places")).unwrap();
    world.drain_all();
    assert_eq!(world.on_main("anew.txt").as_deref(), Some("anew\n"));
}

#[test]
fn another_folder_of_tickets_is_refused_as_long_as_the_old_one_is_there() {
    let world = under_way();
    let other = world.path("other-tickets");
    fs::create_dir(&other).unwrap();
    world.around("TICKETS_DIR", &other);
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(
        said.err.contains("the tickets of this crew are in") && said.err.contains("TICKETS_DIR"),
        "{said}"
    );
    let said = world.crew(&["doctor"]);
    assert!(said.out.contains("the tickets of this crew are in"), "{said}");
    // Whoever moves them over means it.
    fs::remove_dir(&other).unwrap();
    fs::rename(world.project(".tickets"), &other).unwrap();
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(0), "{said}");
    is_whole(&world);
}
