//! The person's own checkout: it follows what lands, and nothing of it is ever lost.

use std::fs;

use testkit::world::{DONE, World};

#[test]
fn what_a_person_has_in_the_way_makes_one_ticket_wait_and_goes_on_by_itself() {
    let world = World::with(|s| s.agents = "count = 5".to_owned());
    world.commit(".gitignore", "local.ini\n");
    world.commit("staged", "old\n");
    world
        .ticket("edited")
        .agent("echo agent >> README\necho DONE")
        .write();
    world
        .ticket("staged")
        .agent("echo agent > staged\necho DONE")
        .write();
    world
        .ticket("untracked")
        .agent("work untracked agent\necho DONE")
        .write();
    world
        .ticket("ignored")
        .agent("echo agent > local.ini\ngit add -f local.ini\ngit commit -qm env\necho DONE")
        .write();
    world.ticket("free").agent(DONE).write();
    world.write("README", "hello\nmine\n");
    world.write("staged", "mine\n");
    world.git(&["add", "staged"]);
    world.write("untracked", "mine\n");
    world.write("local.ini", "NAME=mine\n");
    let mut engine = world.engine();
    let waiting = ["edited", "staged", "untracked", "ignored"];
    for id in waiting {
        world.wait(&format!("{id} waits"), || world.count(id, "checkout_edited") > 0);
    }
    for (id, path, what) in [
        ("edited", "README", "edited"),
        ("staged", "staged", "staged"),
        ("untracked", "untracked", "not tracked"),
        ("ignored", "local.ini", "ignored"),
    ] {
        let says = format!("your edits are in the way of landing it: {path} ({what})");
        assert!(world.says(id, &says), "{id}: {says}");
    }
    world.wait("the other lands", || world.is_landed("free"));
    assert_eq!(world.landed(), ["free"]);
    assert_eq!(
        (world.read("README"), world.read("staged")),
        ("hello\nmine\n".to_owned(), "mine\n".to_owned())
    );
    assert_eq!(
        (world.read("untracked"), world.read("local.ini")),
        ("mine\n".to_owned(), "NAME=mine\n".to_owned())
    );
    // What landed moved the target: they are built on it anew, and wait again.
    for id in waiting {
        world.wait_for(id, "verify/landing");
    }
    // The person makes way, each in another manner.
    world.git(&["checkout", "-q", "--", "README"]);
    world.git(&["rm", "-q", "--cached", "staged"]);
    world.git(&["checkout", "-q", "main", "--", "staged"]);
    fs::rename(world.project("untracked"), world.project("moved")).unwrap();
    fs::remove_file(world.project("local.ini")).unwrap();
    for id in waiting {
        world.wait(&format!("{id} lands"), || world.is_landed(id));
    }
    world.must(&["stop"]);
    engine.end();
    assert_eq!(
        (world.read("README"), world.read("moved")),
        ("hello\nagent\n".to_owned(), "mine\n".to_owned())
    );
    assert_eq!(
        (world.read("staged"), world.read("local.ini")),
        ("agent\n".to_owned(), "agent\n".to_owned())
    );
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn until_idle_ends_when_only_a_persons_edits_are_in_the_way() {
    let world = World::with(|s| s.agents = "names = [\"ada\"]".to_owned());
    world
        .ticket("edited")
        .priority(0)
        .agent("echo agent >> README\necho DONE")
        .write();
    world.ticket("free").agent(DONE).write();
    world.write("README", "hello\nmine\n");
    let said = world.drain_held();
    assert!(said.tells_of("edited", "README"), "{said}");
    assert_eq!(world.read("README"), "hello\nmine\n");
    assert!(world.landed().is_empty());
    // The person commits: now it is a conflict, and the agent's.
    world.commit("README", "hello\nmine\n");
    world.script("edited", "git merge -q -X ours $(sed -n 's/.*`git merge \\([0-9a-f]*\\)`.*/\\1/p' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\") || true\nprintf 'hello\\nmine\\nagent\\n' > README\ngit commit -qam both || true\necho DONE");
    world.drain_all();
    assert_eq!(world.read("README"), "hello\nmine\nagent\n");
    assert_eq!(world.landed(), ["edited", "free"]);
}

/// `git commit` holds no lock while its hooks run, and the pre-commit framework hides edits that are not
/// staged for as long. The naive version writes the file, which looks clean, and then the edit is in no
/// checkout.
#[test]
fn a_landing_waits_for_a_persons_commit_whose_hook_hides_their_edits() {
    let world = World::new();
    let (gate, aside) = (world.path("hook-runs"), world.path("aside"));
    let hook = world.project(".git/hooks/pre-commit");
    let text = format!(
        "#!/bin/sh\ngit diff --no-ext-diff >{1} && git checkout -q -- . || exit 1\n: >{0}\n\
         while test -e {0}; do sleep 0.1; done\ngit apply {1}\n",
        gate.display(),
        aside.display()
    );
    fs::create_dir_all(hook.parent().unwrap()).unwrap();
    fs::write(&hook, text).unwrap();
    testkit::world::make_executable(&hook);
    world
        .ticket("t-1")
        .agent("echo agent >> README\necho DONE")
        .write();
    world.write("staged", "mine\n");
    world.git(&["add", "staged"]);
    world.write("README", "hello\nmine\n");
    let mut git = world.program("git");
    git.args(["commit", "-q", "-m", "mine"]);
    let mut commit = git.current_dir(world.path("project")).spawn().unwrap();
    world.wait("the hook runs", || gate.exists());
    // The run does not end for a git that ends by itself.
    let mut engine = world.start_at(&world.path("project"), &["run", "--until-idle"]);
    world.wait("it waits, and waits on", || {
        world.count("t-1", "checkout_edited") > 1
    });
    let inbox = world.crew(&["inbox"]).out;
    assert!(
        inbox.contains("`git commit` is under way, process ") && inbox.contains("let `git commit` end"),
        "{inbox}"
    );
    assert!(!world.is_landed("t-1"));
    fs::remove_file(&gate).unwrap();
    assert!(commit.wait().unwrap().success());
    assert_eq!(world.read("README"), "hello\nmine\n");
    assert_eq!(world.on_main("staged").as_deref(), Some("mine\n"));
    // Now that it shows again, the edit itself is in the way.
    let says = "your edits are in the way of landing it: README (edited)";
    // And for that it ends: it takes a person.
    let said = engine.end();
    assert_eq!(said.code, Some(3), "{said}");
    assert!(world.says("t-1", says), "{said}");
    // Each is said once, however often landing is tried.
    assert_eq!(
        said.out.matches("t-1         your edits are in the way").count(),
        2,
        "{said}"
    );
    world.git(&["checkout", "-q", "--", "README"]);
    world.drain_all();
    assert_eq!(world.read("README"), "hello\nagent\n");
}

#[test]
fn edits_that_are_not_in_the_way_stay() {
    let world = World::new();
    world.commit("other", "old\n");
    world.write("other", "edited\n");
    world.write("staged-new", "staged\n");
    world.git(&["add", "staged-new"]);
    world.write("untracked", "mine\n");
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(
        world.git(&["status", "--porcelain"]),
        " M other\nA  staged-new\n?? .tickets/\n?? untracked"
    );
    assert_eq!(
        (world.read("other"), world.read("t-1.txt")),
        ("edited\n".to_owned(), "done\n".to_owned())
    );
}

#[test]
fn another_branch_in_the_checkout_is_left_alone() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "mine"]);
    world.commit("mine", "x\n");
    world.write("README", "edited\n");
    world
        .ticket("t-1")
        .agent("echo agent >> README\necho DONE")
        .write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.on_main("README").as_deref(), Some("hello\nagent\n"));
    assert_eq!(world.git(&["branch", "--show-current"]), "mine");
    assert_eq!(world.read("README"), "edited\n");
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), " M README");
}

#[test]
fn a_linked_worktree_follows_too() {
    let world = World::new();
    world.git(&["checkout", "-q", "-b", "mine"]);
    let linked = world.path("linked");
    world.git(&["worktree", "add", "-q", &linked.display().to_string(), "main"]);
    world.ticket("t-1").agent(DONE).write();
    let said = world.crew_at(&linked, &["run", "--until-idle"]);
    assert_eq!(said.code, Some(0), "{said}");
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(fs::read_to_string(linked.join("t-1.txt")).unwrap(), "done\n");
    assert_eq!(world.git_at(&linked, &["status", "--porcelain"]), "");
    assert!(!world.project("t-1.txt").exists());
}

#[test]
fn a_landing_takes_away_what_the_agent_took_away_and_no_more() {
    let world = World::new();
    world.commit("folder/gone", "x\n");
    world.commit("folder/stays", "x\n");
    world.commit("whole/gone", "x\n");
    world.write("folder/mine", "mine\n");
    world.ticket("t-1").agent("git rm -q folder/gone whole/gone\ngit commit -qm remove\nprintf '#!/bin/sh\\n' > run.sh\nchmod +x run.sh\nln -s run.sh link\necho DONE").write();
    world.drain_all();
    assert!(!world.project("folder/gone").exists() && !world.project("whole").exists());
    assert_eq!(world.read("folder/mine"), "mine\n");
    assert_eq!(
        fs::read_link(world.project("link")).unwrap().to_str(),
        Some("run.sh")
    );
    assert_eq!(
        world.git(&["ls-files", "-s", "run.sh"]).split(' ').next(),
        Some("100755")
    );
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn paths_are_data() {
    use std::os::unix::ffi::OsStrExt as _;
    let world = World::new();
    world.commit("becomes-a-folder", "x\n");
    world.commit("becomes-a-file/inner", "x\n");
    world.commit("becomes-a-link", "x\n");
    world
        .ticket("t-1")
        .agent(
            "echo x > \"$(printf 'new\\nline')\"\n\
             echo x > ./-rf\n\
             echo x > ' spaces \"quoted\" '\n\
             echo x > ':(top)magic'\n\
             echo x > \"$(printf 'not-text-\\377')\"\n\
             git rm -q becomes-a-folder becomes-a-file/inner becomes-a-link\n\
             mkdir becomes-a-folder; echo y > becomes-a-folder/inner\n\
             echo y > becomes-a-file\n\
             ln -s /etc/passwd becomes-a-link\n\
             echo DONE",
        )
        .write();
    world.drain_all();
    for name in ["new\nline", "-rf", " spaces \"quoted\" ", ":(top)magic"] {
        assert_eq!(world.read(name), "x\n", "{name:?}");
    }
    let odd = world
        .path("project")
        .join(std::ffi::OsStr::from_bytes(b"not-text-\xff"));
    assert_eq!(fs::read_to_string(odd).unwrap(), "x\n");
    assert_eq!(world.read("becomes-a-folder/inner"), "y\n");
    assert_eq!(world.read("becomes-a-file"), "y\n");
    assert_eq!(
        fs::read_link(world.project("becomes-a-link")).unwrap().to_str(),
        Some("/etc/passwd")
    );
    assert_eq!(world.git(&["status", "--porcelain", "-uno"]), "");
}

#[test]
fn a_folder_of_the_persons_own_is_not_taken_away_for_a_file() {
    let world = World::new();
    world.commit("place/tracked", "x\n");
    world.write("place/mine", "mine\n");
    world
        .ticket("t-1")
        .agent("git rm -q place/tracked\necho y > place\ngit add place\ngit commit -qm file\necho DONE")
        .write();
    let said = world.drain_held();
    assert!(said.tells_of("t-1", "place"), "{said}");
    assert_eq!(
        (world.read("place/mine"), world.read("place/tracked")),
        ("mine\n".to_owned(), "x\n".to_owned())
    );
    fs::rename(world.project("place/mine"), world.project("mine")).unwrap();
    world.drain_all();
    assert_eq!(
        (world.read("place"), world.read("mine")),
        ("y\n".to_owned(), "mine\n".to_owned())
    );
}
