//! What becomes of a branch that crew refuses, and of the work in it.

use testkit::world::{Settings, World};

/// A world with the submodule `lib`. Its origin is the folder `outer`.
fn with_submodule(change: impl FnOnce(&mut Settings)) -> World {
    let world = World::with(change);
    let outer = world.path("outer");
    std::fs::create_dir_all(&outer).unwrap();
    world.git_at(&outer, &["init", "-q", "-b", "main"]);
    for [key, value] in [["user.name", "User"], ["user.email", "user@example.org"]] {
        world.git_at(&outer, &["config", key, value]);
    }
    std::fs::write(outer.join("f"), "one\n").unwrap();
    world.git_at(&outer, &["add", "."]);
    world.git_at(&outer, &["commit", "-q", "-m", "one"]);
    world.git_at(&outer, &["config", "receive.denyCurrentBranch", "ignore"]);
    let url = outer.display().to_string();
    let add = ["submodule", "add", "-q", url.as_str(), "lib"];
    world.git(&[&["-c", "protocol.file.allow=always"][..], &add].concat());
    world.git(&["commit", "-q", "-m", "a submodule"]);
    world
}

/// Commits in the submodule, and records that, beside a file of its own.
const BUMPS: &str = "echo mine >> lib/f\ngit -C lib commit -q -a -m mine\n\
                     echo own > own\ngit add -A\ngit commit -q -m bump\necho DONE";

/// The workspace that a refusal names.
fn work_of(note: &str) -> std::path::PathBuf {
    let line = note.lines().find_map(|line| line.strip_prefix("The work is in "));
    line.unwrap_or_else(|| panic!("{note}"))
        .trim_end_matches('.')
        .into()
}

#[test]
fn a_retry_of_a_refused_branch_says_that_it_begins_anew_and_where_the_work_is() {
    let world = with_submodule(|_| {});
    world.ticket("t-1").agent(BUMPS).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3), "{note}");
    let told = world.prompt("t-1", 2);
    for says in [
        "\"lib\" is a submodule",
        "git -C lib checkout --detach ",
        "git -C lib push ",
    ] {
        assert!(told.contains(says), "{says}: {told}");
    }
    for command in [&["inbox"][..], &["explain", "t-1"], &["--json", "inbox"]] {
        let shown = world.crew(command).out;
        assert!(shown.contains("git -C lib checkout --detach "), "{shown}");
        assert!(shown.contains("The work is in "), "{shown}");
    }
    // The next attempt takes what is of use from the commit that its prompt names.
    world.script(
        "t-1",
        "commit=$(grep -o 'git log HEAD[.][.][0-9a-f]*' \"$LOGS/t-1.$RUN.prompt\" | cut -d. -f3)\n\
         git checkout -q \"$commit\" -- own\ngit commit -q -m own\necho DONE",
    );
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.on_main("own").as_deref(), Some("own\n"));
    assert_eq!(world.runs("t-1"), 4);
    let history = world.must(&["history", "t-1"]).out;
    assert!(
        history.contains("git log refs/crew/rescue/t-1/1 --not --branches"),
        "{history}"
    );
    world.assert_at_rest();
}

#[test]
fn the_commands_that_a_refusal_names_are_its_remedy() {
    let world = with_submodule(|_| {});
    let mends = "sh -c \"$(grep -o 'git -C lib checkout .* && git commit' \"$LOGS/t-1.$RUN.prompt\") -q -m back\"\necho DONE";
    let script = format!("if [ \"$RUN\" = 1 ]; then\n{BUMPS}\nelse\n{mends}\nfi");
    world.ticket("t-1").agent(&script).write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.on_main("own").as_deref(), Some("own\n"));
    world.assert_at_rest();
}

#[test]
fn work_that_was_refused_is_named_where_a_person_decides_and_told_to_the_next_agent() {
    let world = with_submodule(|s| s.run = "max_steps = 1\nattempts = 1".to_owned());
    world.ticket("t-1").agent(BUMPS).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "failed", "{note}");
    let tip = world.git(&["rev-parse", "refs/crew/rescue/t-1/1"]);
    assert_eq!(world.git(&["log", "-1", "--format=%s", &tip]), "bump");
    let command = "git log refs/crew/rescue/t-1/1 --not --branches";
    for shows in [
        &["inbox"][..],
        &["explain", "t-1"],
        &["history", "t-1"],
        &["--json", "inbox"],
        &["--json", "explain", "t-1"],
        &["--json", "history", "t-1"],
    ] {
        let shown = world.crew(shows).out;
        assert!(shown.contains(command), "{shows:?}: {shown}");
    }
    let explained = world.json(&["explain", "t-1"]);
    assert_eq!(
        explained["kept"][0]["place"], "refs/crew/rescue/t-1/1",
        "{explained}"
    );
    assert_eq!(explained["kept"][0]["command"], command);
    let shown = world.git(&[
        "log",
        "--format=%s",
        "refs/crew/rescue/t-1/1",
        "--not",
        "--branches",
    ]);
    assert_eq!(shown, "bump");
    // The next agent has the commit at hand, and knows why it was refused.
    world.script(
        "t-1",
        &format!("git checkout -q {tip} -- own\ngit commit -q -m own\necho DONE"),
    );
    world.must(&["retry", "t-1"]);
    world.drain_all();
    let told = world.prompt("t-1", 2);
    for says in [tip.as_str(), "git cherry-pick", "\"lib\" is a submodule"] {
        assert!(told.contains(says), "{says}: {told}");
    }
    assert_eq!(world.on_main("own").as_deref(), Some("own\n"));
    world.assert_at_rest();
}

#[test]
fn a_workspace_that_is_set_aside_is_named_where_a_person_decides() {
    let world = World::with(|s| s.run = "max_steps = 1\nattempts = 1".to_owned());
    let modules = "[submodule \"lib\"]\\n\\tpath = lib\\n\\turl = https://github.com:owner/lib.git\\n";
    world
        .ticket("t-1")
        .agent(&format!(
            "printf '{modules}' > .gitmodules\ngit add -A\ngit commit -q -m modules\necho DONE"
        ))
        .write();
    world.drain_held();
    let (_, note) = world.held("t-1");
    let aside = world.json(&["explain", "t-1"])["kept"][0]["place"]
        .as_str()
        .unwrap()
        .to_owned();
    assert!(aside.ends_with("ada-t-1~1"), "{aside}: {note}");
    assert!(std::path::Path::new(&aside).join(".gitmodules").exists());
    for shows in [&["inbox"][..], &["explain", "t-1"], &["history", "t-1"]] {
        let shown = world.crew(shows).out;
        assert!(shown.contains(&aside), "{shows:?}: {shown}");
    }
}

#[test]
fn a_commit_of_a_submodule_lands_once_a_person_has_brought_it_into_the_target() {
    let world = with_submodule(|_| {});
    world.ticket("t-1").agent(BUMPS).write();
    world.drain_held();
    let printed = world.state("t-1").held.unwrap().output.unwrap();
    let workspace = work_of(&printed);
    let outer = world.path("outer").display().to_string();
    world.git_at(&workspace.join("lib"), &["push", "-q", &outer, "HEAD:main"]);
    let lib = world.project("lib");
    world.git_at(
        &lib,
        &["-c", "protocol.file.allow=always", "fetch", "-q", &outer, "main"],
    );
    world.git_at(&lib, &["checkout", "-q", "FETCH_HEAD"]);
    world.git(&["commit", "-q", "-m", "take it", "lib"]);
    let taken = world.git(&["rev-parse", "main:lib"]);
    world.must(&["retry", "t-1"]);
    let said = world.drain_all().all();
    assert!(
        !said.contains("does not land") && !said.contains("refs/crew/"),
        "{said}"
    );
    assert_eq!(world.json(&["explain", "t-1"])["kept"], serde_json::json!([]));
    assert_eq!(world.git(&["for-each-ref", "refs/crew"]), "");
    assert_eq!(world.runs("t-1"), 3, "it costs no step");
    assert_eq!(world.on_main("own").as_deref(), Some("own\n"));
    assert_eq!(world.git(&["rev-parse", "main:lib"]), taken);
    world.assert_at_rest();
}

#[test]
fn a_commit_of_a_submodule_that_the_target_records_and_the_user_does_not_have_lands_and_is_kept() {
    let world = with_submodule(|_| {});
    world.ticket("t-1").agent(BUMPS).write();
    world.drain_held();
    let workspace = work_of(&world.state("t-1").held.unwrap().output.unwrap());
    let made = world.git_at(&workspace.join("lib"), &["rev-parse", "HEAD"]);
    let entry = format!("160000,{made},lib");
    world.git(&["update-index", "--cacheinfo", &entry]);
    world.git(&["commit", "-q", "-m", "take it"]);
    world.must(&["retry", "t-1"]);
    let said = world.drain_all().all();
    assert!(!said.contains("does not land"), "{said}");
    assert_eq!(world.git(&["rev-parse", "main:lib"]), made);
    let work = world.json(&["explain", "t-1"])["kept"].clone();
    let shown = format!(
        "{}:f",
        work[0]["place"].as_str().unwrap_or_else(|| panic!("{work}"))
    );
    assert_eq!(world.git(&["show", &shown]), "one\nmine\nmine\nmine");
}

#[test]
fn work_in_a_submodule_beside_the_commit_that_the_target_took_is_said_not_to_land() {
    let world = with_submodule(|_| {});
    world.ticket("t-1").agent(BUMPS).write();
    world.drain_held();
    let workspace = work_of(&world.state("t-1").held.unwrap().output.unwrap());
    let lib = world.project("lib");
    let from = workspace.join("lib").display().to_string();
    world.git_at(
        &lib,
        &["-c", "protocol.file.allow=always", "fetch", "-q", &from, "HEAD"],
    );
    world.git_at(&lib, &["checkout", "-q", "FETCH_HEAD"]);
    world.git(&["commit", "-q", "-m", "take it", "lib"]);
    std::fs::write(workspace.join("lib/more"), "more\n").unwrap();
    world.must(&["retry", "t-1"]);
    let said = world.drain_all().all();
    let says = "the work in the submodule lib does not land, since the branch does not record it";
    assert!(said.contains(says), "{said}");
    let place = world.json(&["explain", "t-1"])["kept"][0]["place"].clone();
    let shown = format!("{}:more", place.as_str().unwrap());
    assert_eq!(world.git(&["show", &shown]), "more");
}

#[test]
fn a_branch_that_merges_a_target_with_a_moved_submodule_is_not_refused_for_that() {
    let world = with_submodule(|_| {});
    world
        .ticket("t-1")
        .agent(
            "if [ \"$RUN\" = 1 ]; then work README mine; until_there \"$GATES/moved\"\n\
             else git merge -q $(grep -o 'git merge [0-9a-f]*' \"$LOGS/t-1.$RUN.prompt\" | cut -d' ' -f3) || true\n\
             echo both > README; git add README; git commit -q -m both; fi\necho DONE",
        )
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    let lib = world.project("lib");
    for [key, value] in [["user.name", "User"], ["user.email", "user@example.org"]] {
        world.git_at(&lib, &["config", key, value]);
    }
    std::fs::write(lib.join("f"), "two\n").unwrap();
    world.git_at(&lib, &["commit", "-q", "-a", "-m", "two"]);
    std::fs::write(world.project("README"), "theirs\n").unwrap();
    world.git(&["commit", "-q", "-m", "moved", "lib", "README"]);
    let moved = world.git(&["rev-parse", "main:lib"]);
    world.open("moved");
    world.wait("it lands", || world.is_landed("t-1"));
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.runs("t-1"), 2);
    assert_eq!(world.on_main("README").as_deref(), Some("both\n"));
    assert_eq!(world.git(&["rev-parse", "main:lib"]), moved);
}

/// Commits all files anew, without any of the target's history, on the branch of the attempt.
const ORPHANS: &str = "branch=$(git branch --show-current)\ngit checkout -q --orphan \"anew-$RUN\"\n\
                       git add -A\ngit commit -q -m \"anew $RUN\"\ngit branch -M \"$branch\"\necho DONE";

#[test]
fn an_attempt_after_one_without_the_targets_history_begins_on_the_target() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("echo own > own\n{ORPHANS}"))
        .write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "no_progress");
    world.ticket("t-2").agent("work other x\necho DONE").write();
    world.drain_held();
    world.script("t-1", "work own x\necho DONE");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-2", "t-1"]);
    assert_eq!(world.on_main("other").as_deref(), Some("x\n"));
    assert!(world.on_main("own").is_some());
}

#[test]
fn the_commands_of_a_refusal_take_nothing_back_that_has_landed_since_the_earlier_attempt_began() {
    let world = World::with(|s| s.run = "max_steps = 2\nattempts = 1".to_owned());
    // The first attempt ends with good work; the second goes on with it, and loses the history.
    let mends = "sed -n '/^git fetch/,/^git commit/p' \"$LOGS/t-1.$RUN.prompt\" > mend.sh\n\
                 grep -q 'git reset --soft' mend.sh\nmv mend.sh .git/mend.sh\nsh .git/mend.sh\necho DONE";
    world
        .ticket("t-1")
        .agent(&format!(
            "case $RUN in\n1 | 2 | 3) work \"own-$RUN\" x ;;\n4)\n{ORPHANS}\n;;\n*)\n{mends}\n;;\nesac"
        ))
        .write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "failed");
    world.ticket("t-2").agent("work other x\necho DONE").write();
    world.drain_held();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-2", "t-1"]);
    for (file, text) in [("own-1", "x\n"), ("own-3", "x\n"), ("other", "x\n")] {
        assert_eq!(world.on_main(file).as_deref(), Some(text), "{file}");
    }
}

/// The naive version lands it, and from then on nobody can push the target to GitHub.
#[test]
fn a_file_that_no_host_takes_is_refused_with_what_helps_until_a_person_allows_it() {
    let world = World::with(|s| s.land = "max_file_mib = 1".to_owned());
    let dump = "head -c 2097152 /dev/zero > 'a dump'\ngit add -A\ngit commit -q -m dump\n\
                git rm -q 'a dump'\necho own > own\ngit add -A\ngit commit -q -m own\necho DONE";
    world.ticket("t-1").agent(dump).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3), "{note}");
    let says = "\"a dump\" has 2.0 MiB, and a file may have 1 MiB";
    assert!(note.contains(says), "{note}");
    let told = world.prompt("t-1", 2);
    let shown = world.must(&["explain", "t-1"]).out;
    for part in [says, "git lfs track 'a dump'", ".gitignore", "max_file_mib"] {
        assert!(told.contains(part), "{part}: {told}");
        let joined = shown.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(joined.contains(part), "{part}: {shown}");
    }
    assert!(
        shown.contains("do what that says in the folder with the work"),
        "{shown}"
    );
    let history = world.must(&["history", "t-1"]).out;
    assert!(history.contains("(branch refused)"), "{history}");
    assert!(!history.contains("(checks failed)"), "{history}");
    world.change_settings("max_file_mib = 1", "max_file_mib = 2");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert!(world.is_landed("t-1"));
    assert_eq!(world.runs("t-1"), 3);
    world.assert_at_rest();
}

#[test]
fn submitted_work_of_another_ticket_does_not_land_in_a_branch() {
    let approve = r#"printf '{"crew":"verdict","run_id":"%s","verdict":"approve","acceptance_test":"read"}\n' "$CREW_RUN_ID""#;
    let world = World::with(|s| s.top = "[review]\nwhen = \"always\"\n".to_owned());
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ $CREW_ROLE = gatekeeper ]; then touch $GATES/seen; until_there $GATES/go; {approve}\n\
             else work theirs x; echo DONE; fi"
        ))
        .write();
    let project = world.project("").display().to_string();
    world
        .ticket("t-2")
        .agent(&format!(
            "if [ $CREW_ROLE = gatekeeper ]; then {approve}; exit; fi\n\
             case $RUN in\n\
             1) work own x; until_there $GATES/seen\n\
             branch=$(git -C '{project}' for-each-ref --format='%(refname)' 'refs/heads/agent/*t-1')\n\
             git fetch -q '{project}' \"$branch\"; git merge -q --no-edit FETCH_HEAD ;;\n\
             *) touch $GATES/go; git reset -q --hard HEAD^ ;;\n\
             esac\necho DONE"
        ))
        .write();
    world.drain();
    assert!(world.is_landed("t-1") && world.is_landed("t-2"));
    let told = world.prompt("t-2", 2);
    assert!(told.contains("of ticket t-1, which has not landed"), "{told}");
    let merge = world.git(&["log", "--merges", "--format=%H", "--grep=^Ticket: t-2$", "main"]);
    let brought = world.git(&["diff", "--name-only", &format!("{merge}^1"), &merge]);
    assert_eq!(brought, "own");
}

#[test]
fn a_secret_that_a_later_commit_takes_away_waits_for_a_person() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work .env KEY=1\ngit rm -q .env\ngit commit -qm 'no secret'\nwork own x\necho DONE")
        .write();
    world.drain_held();
    assert_eq!(world.held("t-1").0, "secrets");
    let inbox = world.crew(&["inbox"]).all();
    assert!(inbox.contains("with secrets), taken away again"), "{inbox}");
    world.must(&["approve", "t-1"]);
    world.drain();
    assert!(world.is_landed("t-1"));
}
