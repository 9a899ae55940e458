//! The commands that only look, before anything ever ran.

use crate::commands::repo::Repo;

#[test]
fn a_fresh_crew_has_nothing_to_show_and_says_what_to_do() {
    let repo = Repo::with_crew();
    let seen: String = [&["ps"][..], &["queue"], &["events"], &["stop"], &["clean"]]
        .map(|args| repo.seen(args))
        .concat();
    insta::assert_snapshot!(seen);
    assert!(!repo.root.join(".crew").exists(), "to look makes nothing");
}

#[test]
fn the_queue_is_the_files_before_any_engine_saw_them() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "First", "");
    repo.ticket("t-2", "Second", "");
    repo.ticket("t-3", "All of it", "");
    repo.write(
        ".tickets/t-3.md",
        &repo.read(".tickets/t-3.md").replace("type: task", "type: epic"),
    );
    repo.crew(&["ticket", "dep", "t-2", "t-1"]).ok();
    repo.ticket("t-4", "For bob", "assignee: bob");
    repo.crew(&["ticket", "start", "t-4"]).ok();
    // A change that was made a moment ago is waited for; what is seen here must not depend on when this runs.
    for id in ["t-2", "t-3", "t-4"] {
        let file = std::fs::File::options()
            .write(true)
            .open(repo.root.join(format!(".tickets/{id}.md")))
            .unwrap();
        file.set_modified(std::time::UNIX_EPOCH).unwrap();
    }
    let seen: String = [
        &["queue"][..],
        &["explain", "t-1"],
        &["explain", "t-2"],
        &["explain", "t-3"],
        &["explain", "t-4"],
        &["history", "t-1"],
    ]
    .map(|args| repo.seen(args))
    .concat();
    insta::assert_snapshot!(seen);
}

#[test]
fn everything_works_from_a_linked_worktree() {
    let repo = Repo::with_crew();
    repo.ticket("t-1", "First", "");
    repo.git(&["worktree", "add", "--quiet", "../linked"]);
    let linked = repo.root.parent().unwrap().join("linked");
    let said = repo.crew_in(&linked, &["queue"]).ok();
    assert!(said.out.contains("First"), "{said}");
    let said = repo.crew_in(&linked, &["ticket", "create", "From afar"]).ok();
    assert!(
        repo.root
            .join(format!(".tickets/{}.md", said.out.trim()))
            .is_file(),
        "the queue is the repository's"
    );
}

#[test]
fn commands_and_ids_may_be_shortened() {
    let repo = Repo::with_crew();
    repo.ticket("t-abc", "First", "");
    let said = repo.crew(&["expl", "abc"]).ok();
    assert!(said.out.starts_with("t-abc  First"), "{said}");
    repo.ticket("t-abd", "Second", "");
    let said = repo.crew(&["explain", "ab"]);
    assert_eq!(said.code, 2, "{said}");
    assert!(said.err.contains("t-abc, t-abd"), "{said}");
}

#[test]
fn a_terminal_of_forty_columns_loses_no_word() {
    let repo = Repo::with_crew();
    let seen = |args: &[&str], wanted: &str| {
        let mut screen = repo.terminal(args, (40, 10));
        screen.until(wanted);
        screen.left();
        screen.screen()
    };
    let screen = seen(&["ps"], "starts one");
    assert!(
        screen.contains("\nno agents yet: `crew run` spawns them as\nthere")
            || screen.starts_with("no agents yet"),
        "{screen}"
    );
    let screen = seen(&["summary", "nobody"], "lists the");
    assert!(screen.lines().all(|line| line.chars().count() <= 40), "{screen}");
    assert!(
        screen.contains("\n  ") && !screen.contains("nam\ned"),
        "broken between words: {screen}"
    );
}

#[test]
fn many_agents_are_asked_about_where_somebody_can_answer() {
    let repo = Repo::with_crew();
    let mut screen = repo.terminal(&["spawn", "21"], (80, 24));
    screen.until("Spawn them? [y/N]");
    screen.press("\n");
    screen.until("nobody was spawned");
    assert_eq!(screen.left().0, 1);
    let mut screen = repo.terminal(&["spawn", "21"], (80, 24));
    screen.until("Spawn them? [y/N]");
    screen.press("y\n");
    assert_eq!(screen.left().0, 0);
    let agents = repo.crew(&["ps", "--json"]).ok().json();
    assert_eq!(agents["agents"].as_array().map(Vec::len), Some(21));
}
