//! Repositories that an agent makes inside its workspace: git would record none of their files.

use testkit::world::World;

/// Makes the repository `web` beside a file of the agent's own, as a scaffolder does.
const SCAFFOLDS: &str = "work own x\nmkdir -p web/src\ngit init -q web\necho page > web/src/page\necho tmp > web/.gitignore\n\
                         touch web/tmp\n";
/// Commits in it.
const COMMITS: &str =
    "git -C web add .\ngit -C web -c user.name=A -c user.email=a@example.org commit -q -m made\n";
/// Does what the refusal says that makes its files land.
const MENDS: &str =
    "sh -c \"$(grep -o 'rm -rf web/.git && .* && git commit' \"$LOGS/t-1.$RUN.prompt\") -q -m mended\"\n";

/// An agent of two steps, each of which says DONE.
fn two_steps(first: &str, second: &str) -> String {
    format!("if [ \"$RUN\" = 1 ]; then\n{first}\nelse\n{second}\nfi\necho DONE")
}

fn told(world: &World, says: &[&str]) {
    let told = world.prompt("t-1", 2);
    for says in says {
        assert!(told.contains(says), "{says}: {told}");
    }
}

/// The refs of work that was kept for tickets.
fn kept(world: &World) -> String {
    world.git(&["for-each-ref", "--format=%(refname)", "refs/crew"])
}

#[test]
fn the_commands_for_a_repository_inside_the_workspace_make_its_files_land() {
    let staged = format!("{SCAFFOLDS}{COMMITS}git add -A 2> /dev/null\n");
    for first in [SCAFFOLDS, &format!("{SCAFFOLDS}{COMMITS}"), &staged] {
        let world = World::new();
        world.ticket("t-1").agent(&two_steps(first, MENDS)).write();
        world.drain_all();
        assert_eq!(world.runs("t-1"), 2);
        told(
            &world,
            &[
                "\"web\" is a repository inside the repository, and none of its files would land",
                "rm -rf web/.git && ",
                "name it in .gitignore",
                "The work is in ",
            ],
        );
        let landed = world.git(&["ls-tree", "-r", "--name-only", "main", "web"]);
        assert_eq!(landed, "web/.gitignore\nweb/src/page", "{first}");
        assert_eq!(world.on_main("own").as_deref(), Some("x\n"));
        world.assert_at_rest();
    }
}

#[test]
fn a_repository_that_is_no_part_of_the_work_is_ignored_or_deleted_as_the_refusal_says() {
    let ignores = "echo /web/ >> .gitignore\ngit add .gitignore\ngit commit -q -m ignored\n";
    for mends in [ignores, "rm -rf web\n"] {
        let world = World::new();
        world.ticket("t-1").agent(&two_steps(SCAFFOLDS, mends)).write();
        world.drain_all();
        assert_eq!(world.runs("t-1"), 2);
        assert_eq!(world.on_main("own").as_deref(), Some("x\n"));
        assert_eq!(world.on_main("web"), None);
        world.assert_at_rest();
    }
}

#[test]
fn work_that_is_all_in_a_repository_inside_the_workspace_is_not_called_nothing() {
    let world = World::new();
    let first = SCAFFOLDS.replace("work own x\n", "");
    world.ticket("t-1").agent(&two_steps(&first, MENDS)).write();
    world.drain_all();
    told(&world, &["\"web\" is a repository inside the repository"]);
    assert_eq!(world.on_main("web/src/page").as_deref(), Some("page\n"));
}

#[test]
fn a_repository_that_stays_in_the_workspace_is_shown_to_people_and_its_work_is_kept() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("[ -d web ] || {{\n{SCAFFOLDS}{COMMITS}}}\necho DONE"))
        .write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!((why.as_str(), world.runs("t-1")), ("no_progress", 3), "{note}");
    assert_eq!(world.on_main("own"), None, "nothing lands without it");
    assert_eq!(world.git(&["ls-tree", "main", "web"]), "", "nor an empty link");
    for shows in [&["inbox"][..], &["explain", "t-1"], &["--json", "inbox"]] {
        let shown = world.crew(shows).out;
        assert!(shown.contains("rm -rf web/.git"), "{shows:?}: {shown}");
        assert!(shown.contains("The work is in "), "{shows:?}: {shown}");
    }
    world.must(&["drop", "t-1"]);
    let work = world.json(&["explain", "t-1"])["kept"].clone();
    let web = work.as_array().unwrap().iter().find(|one| {
        let says = one["says"].as_str().unwrap_or_default();
        says.contains("the repository web of a workspace")
    });
    let place = web.unwrap_or_else(|| panic!("{work}"))["place"].as_str().unwrap();
    assert_eq!(world.git(&["show", &format!("{place}:src/page")]), "page");
    assert_eq!(world.git(&["log", "-1", "--format=%s", place]), "made");
    assert!(world.must(&["history", "t-1"]).out.contains(place));
}

#[test]
fn a_person_who_mends_the_workspace_has_the_work_land_without_another_step() {
    let world = World::new();
    world
        .ticket("t-1")
        .agent(&format!("[ -d web ] || {{\n{SCAFFOLDS}}}\necho DONE"))
        .write();
    world.drain_held();
    let printed = world.state("t-1").held.unwrap().output.unwrap();
    let line = printed
        .lines()
        .find_map(|line| line.strip_prefix("The work is in "));
    let workspace = std::path::Path::new(line.unwrap().trim_end_matches('.'));
    std::fs::remove_dir_all(workspace.join("web/.git")).unwrap();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.runs("t-1"), 3);
    assert_eq!(world.on_main("web/src/page").as_deref(), Some("page\n"));
}

#[test]
fn a_worktree_with_work_that_the_branch_does_not_have_is_refused_until_it_is_merged() {
    let first = "work own x\ngit worktree add -q -b side wt HEAD\necho side > wt/side\n";
    let second = "git -C wt add side\ngit -C wt commit -q -m side\ngit merge -q --no-edit side\n\
                  sh -c \"$(grep -o 'git worktree remove --force wt' \"$LOGS/t-1.$RUN.prompt\")\"\n";
    let world = World::new();
    world.ticket("t-1").agent(&two_steps(first, second)).write();
    world.drain_all();
    assert_eq!(world.runs("t-1"), 2);
    told(
        &world,
        &["\"wt\" is a worktree inside the repository", "git merge <commit>"],
    );
    assert_eq!(world.on_main("side").as_deref(), Some("side\n"));
}

#[test]
fn a_repository_with_nothing_of_its_own_or_in_an_ignored_folder_or_made_by_the_set_up_is_no_concern() {
    let clones = "git clone -q . copy 2> /dev/null\n";
    for (leaves, set_up) in [
        ("git init -q web\n", ""),
        ("git worktree add -q --detach wt HEAD\n", ""),
        (clones, ""),
        (
            "echo /deps/ >> .gitignore\ngit add .gitignore\ngit commit -q -m i\ngit init -q deps/d\necho x > deps/d/f\n",
            "",
        ),
        ("test -e made/f\n", "git init -q made && echo x > made/f"),
        ("git init -q src/kept\nmkdir -p src\n", ""),
        (
            "mkdir -p src\necho x > src/f\ngit add src\ngit commit -q -m s\ngit init -q src\n",
            "",
        ),
    ] {
        let world = World::with(|s| {
            if !set_up.is_empty() {
                s.land = format!("[workspace]\nsetup = ['''{set_up}''']");
            }
        });
        world
            .ticket("t-1")
            .agent(&format!("work own x\n{leaves}echo DONE"))
            .write();
        world.drain_all();
        assert_eq!(world.runs("t-1"), 1, "{leaves}");
        assert_eq!(world.on_main("own").as_deref(), Some("x\n"), "{leaves}");
        assert_eq!(kept(&world), "", "{leaves}");
    }
}
