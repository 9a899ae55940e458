//! What an agent left half done, and what a person took back, does not land.

use testkit::world::World;

/// Two branches that say different things of one file, the second checked out.
const APART: &str = "git checkout -qb other; work README theirs\ngit checkout -q -; work README ours\n";

/// The first run leaves `begun` behind, says that it is done and is told; the second does what it was told.
fn is_told(begun: &str, told: &str, ends: &str) {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ $RUN = 1 ]; then\n{APART}{begun}\nelse\n{ends}\nwork more.txt more\nfi\necho DONE\n"
        ))
        .write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2, "{begun}");
    let prompt = world.prompt("t-1", 2);
    assert!(prompt.contains(told), "{begun}: {prompt}");
    assert_eq!(world.read("README"), "ours\n", "{begun}");
    assert_eq!(world.on_main("more.txt").as_deref(), Some("more\n"), "{begun}");
    world.must(&["doctor", "--deep"]);
}

#[test]
fn a_merge_that_is_under_way_is_not_landed() {
    is_told(
        "git merge other || true",
        "git merge --abort",
        "git merge --abort",
    );
}

#[test]
fn a_merge_that_is_resolved_and_not_committed_is_the_agents_to_finish() {
    let resolved = "git merge other || true; echo ours > README; git add README";
    is_told(resolved, "git merge --continue", "git commit -qm merged");
}

#[test]
fn a_rebase_that_is_under_way_is_not_landed() {
    is_told(
        "git rebase other || true",
        "git rebase --abort",
        "git rebase --abort",
    );
}

#[test]
fn a_cherry_pick_that_is_under_way_is_not_landed() {
    let picks = "git cherry-pick other || true";
    is_told(picks, "git cherry-pick --abort", "git cherry-pick --abort");
}

#[test]
fn files_in_conflict_are_not_landed() {
    let stashed =
        "git checkout -q other; echo mine > README; git stash -q; git checkout -q -; git stash pop || true";
    is_told(
        stashed,
        "\"README\" is in conflict",
        "git checkout -q HEAD -- README",
    );
}

#[test]
fn files_too_large_to_be_saved_are_told_before_anything_is_checked() {
    let world = World::with(|s| s.checks = "commands = ['''echo ran >> \"$HOME/ran\"''']".to_owned());
    world
        .ticket("t-1")
        .agent("if [ $RUN = 1 ]; then work one.txt one; truncate -s 1200M big; else rm big; fi\necho DONE\n")
        .write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    let prompt = world.prompt("t-1", 2);
    assert!(prompt.contains("too large to be saved"), "{prompt}");
    assert!(prompt.contains("big"), "{prompt}");
    let ran = std::fs::read_to_string(world.path("home/ran")).unwrap();
    // The target, and the candidate without the file.
    assert_eq!(ran.lines().count(), 2);
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
}

#[test]
fn files_too_large_together_are_told_before_anything_is_checked() {
    let world = World::with(|s| s.checks = "commands = ['''echo ran >> \"$HOME/ran\"''']".to_owned());
    let many = "mkdir d; for n in 1 2 3 4 5 6 7 8 9 10 11 12; do truncate -s 100M d/$n; done";
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ $RUN = 1 ]; then work one.txt one; {many}; else rm -r d; fi\necho DONE\n"
        ))
        .write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    let prompt = world.prompt("t-1", 2);
    assert!(prompt.contains("too large to be saved together"), "{prompt}");
    let ran = std::fs::read_to_string(world.path("home/ran")).unwrap();
    // The target, and the candidate without the files.
    assert_eq!(ran.lines().count(), 2);
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
    assert_eq!(world.git(&["ls-tree", "main", "d"]), "");
}

#[test]
fn an_earlier_commit_that_git_refuses_is_told_and_its_branch_is_kept() {
    let world = World::new();
    let begun = "printf '[submodule \"lib\"]\\n\\tpath = lib\\n\\turl = https://github.com:o/l.git\\n' > .gitmodules\n\
                 git add -A; git commit -qm modules; git rm -q .gitmodules; git commit -qm 'no modules'\n\
                 work one.txt one";
    let mended = "git reset -q --soft HEAD~3; git commit -qm 'the work'";
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ $RUN = 1 ]; then\n{begun}\nelse\n{mended}\nfi\necho DONE\n"
        ))
        .write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    let prompt = world.prompt("t-1", 2);
    assert!(prompt.contains("gitmodulesUrl"), "{prompt}");
    assert!(prompt.contains("rewrite that commit"), "{prompt}");
    assert_eq!(world.git(&["log", "-1", "--format=%s", "main^2"]), "the work");
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
}

/// Its first run works while a person takes the last commit off the target; `then` is what the others do.
fn taken_back(then: &str) -> World {
    let world = World::new();
    world.commit("secret.txt", "oops\n");
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ $RUN = 1 ]; then work one.txt one; until_there \"$GATES/go\"\nelse\n{then}\nfi\necho DONE\n"
        ))
        .write();
    let mut engine = world.engine();
    world.wait_for_run("t-1", 1);
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.open("go");
    world.wait("it is over", || {
        world.is_landed("t-1") || world.state_name("t-1").contains("held")
    });
    engine.signal("TERM");
    engine.end();
    assert_eq!(world.on_main("secret.txt"), None);
    world
}

#[test]
fn a_commit_that_a_person_took_back_does_not_come_back_with_the_work() {
    // The command stands in the prompt.
    let world =
        taken_back("sh -c \"$(grep -o 'git rebase --onto [0-9a-f]* [0-9a-f]*' \"$LOGS/t-1.$RUN.prompt\")\"");
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(world.on_main("one.txt").as_deref(), Some("one\n"));
    assert!(
        world
            .git(&["log", "--format=%s", "main", "--", "secret.txt"])
            .is_empty()
    );
    world.must(&["doctor", "--deep"]);
}

#[test]
fn an_attempt_that_goes_on_from_earlier_work_does_not_bring_back_what_was_taken() {
    let world = taken_back("work one.txt \"$RUN\"");
    assert!(world.landed().is_empty());
    world.script("t-1", "[ ! -e secret.txt ] && work two.txt two\necho DONE\n");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(
        (world.on_main("secret.txt"), world.on_main("two.txt").as_deref()),
        (None, Some("two\n"))
    );
    world.must(&["doctor", "--deep"]);
}

#[test]
fn what_an_agent_leaves_beside_its_commit_is_named_and_secrets_and_dependencies_stay_out() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(
            "work mine.txt mine\n\
             mkdir -p node_modules/x; echo j > node_modules/x/i.js; echo KEY=secret > .env\n\
             for n in $(seq 12); do echo $n > left-$n; done\n\
             echo DONE",
        )
        .write();
    world.drain_all();
    let files = world.git(&["ls-tree", "-r", "--name-only", "main"]);
    assert!(files.contains("left-12") && files.contains("mine.txt"), "{files}");
    assert!(
        !files.contains(".env\n") && !files.contains("node_modules"),
        "{files}"
    );
    let message = world.git(&["log", "-1", "--format=%B", "main"]);
    let named = "crew committed what its agent had not: left-1, left-10,";
    assert!(
        message.contains(named) && message.contains("and 2 more."),
        "{message}"
    );
    for command in ["history", "explain"] {
        let said = world.must(&[command, "t-1"]).out.replace("\n", " ");
        let said = said.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(
            said.contains("crew committed what its agent had not: left-1,"),
            "{said}"
        );
        let left_out = "left out by crew: .env (its name is that of a file with secrets), node_modules (a folder of dependencies";
        assert!(said.contains(left_out), "{said}");
    }
    // The file may be the only one with its content.
    let kept = world.git(&["for-each-ref", "--format=%(refname)", "refs/crew/rescue"]);
    assert_eq!(
        world.git(&["show", &format!("{}:.env", kept.trim())]).trim(),
        "KEY=secret"
    );
}

#[test]
fn a_secret_that_the_agent_commits_itself_waits_for_a_persons_word() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent("work test.key secret\necho DONE")
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "secrets");
    assert!(
        note.contains("test.key (its name is that of a file with secrets)"),
        "{note}"
    );
    world.must(&["approve", "t-1"]);
    world.drain_all();
    assert_eq!(world.on_main("test.key").as_deref(), Some("secret\n"));
}
