//! Whether a pull request that was merged holds the work that crew has pushed.

use testkit::world::{DONE, World};

use super::host::{
    assert_landed, assert_landed_once, at_remote, holds, of_host, somebody_merges_by_hand,
    somebody_pushes_to_the_target, somebody_reviews, somebody_squashes, somebody_updates_the_branch, tell,
    told, with_host,
};

/// Each run of the agent adds a file; the first adds another one.
const A_FILE_A_RUN: &str = "[ -e t-1.txt ] || work t-1.txt done\nwork \"t-1.$RUN.txt\" done\necho DONE\n";

#[test]
fn what_is_pushed_while_somebody_merges_an_older_tip_gets_a_pull_request_of_its_own() {
    let world = with_host("");
    world.ticket("t-1").agent(A_FILE_A_RUN).write();
    world.drain_held();
    let first = at_remote(&world, "crew/t-1");
    somebody_reviews(&world, 7, "CHANGES_REQUESTED", "more");
    // Right after crew has seen the open one, and before it pushes.
    tell(
        &world,
        "after",
        "if [ \"$kind\" = \"pr list\" ]; then rm \"$state/after\"; at=$state/1; . \"$home/bin/squash\"; fi",
    );
    world.drain_held();
    assert!(!of_host(&world, "after").exists());
    let second = at_remote(&world, "crew/t-1");
    assert_eq!(told(&world, "1/oid").trim(), first);
    assert!(second != first && holds(&world, &second, &first));

    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    assert_eq!(told(&world, "2/state"), "OPEN");
    assert_eq!(world.on_main("t-1.2.txt"), None);
    somebody_squashes(&world, 2);
    world.drain_all();
    assert_landed_once(&world);
    assert!(world.on_main("t-1.2.txt").is_some());
    assert_eq!(world.runs("t-1"), 2);
}

#[test]
fn a_branch_that_the_host_has_updated_and_deleted_after_the_merge_has_landed() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_pushes_to_the_target(&world, "other.txt");
    somebody_updates_the_branch(&world);
    somebody_squashes(&world, 1);
    world.git(&["--git-dir=../remote.git", "branch", "-q", "-D", "crew/t-1"]);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn what_was_merged_has_landed_though_the_settings_say_push_by_now() {
    for is_squashed in [true, false] {
        let world = with_host("");
        world.ticket("t-1").agent(DONE).write();
        world.drain_held();
        match is_squashed {
            true => somebody_squashes(&world, 1),
            false => somebody_merges_by_hand(&world),
        }
        let merged = at_remote(&world, "main");
        world.change_settings("mode = \"pr\"", "mode = \"push\"");
        world.drain_all();
        assert_landed(&world);
        assert_eq!((at_remote(&world, "main"), world.runs("t-1")), (merged, 1));
    }
}

#[test]
fn what_was_merged_has_landed_though_gh_is_of_no_use_any_more() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_merges_by_hand(&world);
    let merged = at_remote(&world, "main");
    world.change_settings("mode = \"pr\"", "mode = \"push\"");
    tell(&world, "trouble", "echo 'HTTP 401: Bad credentials' >&2; exit 1");
    world.drain_all();
    assert_landed(&world);
    assert_eq!((at_remote(&world, "main"), world.runs("t-1")), (merged, 1));
}

#[test]
fn what_was_merged_and_pulled_has_landed_though_the_settings_say_local_by_now() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_merges_by_hand(&world);
    world.git(&["pull", "-q", "--ff-only", "origin", "main"]);
    let merged = at_remote(&world, "main");
    world.change_settings("mode = \"pr\"", "mode = \"local\"");
    world.drain_all();
    assert_landed(&world);
    assert_eq!((at_remote(&world, "main"), world.runs("t-1")), (merged, 1));
}

#[test]
fn a_ticket_that_was_squashed_and_is_open_again_gets_a_second_pull_request() {
    let world = with_host("");
    world.ticket("t-1").agent(A_FILE_A_RUN).write();
    world.drain_held();
    somebody_squashes(&world, 1);
    world.drain_all();
    let first = at_remote(&world, "crew/t-1");
    world.must(&["ticket", "reopen", "t-1"]);
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    assert_eq!(told(&world, "2/state"), "OPEN");
    assert_ne!(at_remote(&world, "crew/t-1"), first);
    somebody_squashes(&world, 2);
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/landed");
    assert!(world.on_main("t-1.2.txt").is_some());
}

#[test]
fn an_updated_branch_takes_the_changes_that_are_asked_for() {
    let world = with_host("");
    world.ticket("t-1").agent(A_FILE_A_RUN).write();
    world.drain_held();
    for name in ["other.txt", "more.txt"] {
        somebody_pushes_to_the_target(&world, name);
        world.git(&["fetch", "-q", "origin", "main"]);
        world.git(&["merge", "-q", "--ff-only", "FETCH_HEAD"]);
        somebody_updates_the_branch(&world);
    }
    somebody_reviews(&world, 7, "CHANGES_REQUESTED", "more");
    world.drain_held();
    assert_eq!((world.runs("t-1"), world.state("t-1").held), (2, None));
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
    assert!(world.on_main("t-1.2.txt").is_some());
}

/// A world with a pull request to which somebody has pushed a commit of their own, so that its changes cannot
/// be pushed. Gives what is at the host, and what crew had pushed there.
fn with_a_commit_of_somebodys() -> (World, String, String) {
    let world = with_host("");
    world.ticket("t-1").agent(A_FILE_A_RUN).write();
    world.drain_held();
    let pushed = at_remote(&world, "crew/t-1");
    world.git(&["fetch", "-q", "origin", "crew/t-1"]);
    world.git(&["checkout", "-q", "-b", "theirs", "FETCH_HEAD"]);
    world.commit("theirs", "theirs\n");
    world.git(&["push", "-q", "origin", "theirs:crew/t-1"]);
    world.git(&["checkout", "-q", "main"]);
    let theirs = at_remote(&world, "crew/t-1");
    somebody_reviews(&world, 7, "CHANGES_REQUESTED", "more");
    world.drain_held();
    assert_eq!(at_remote(&world, "crew/t-1"), theirs);
    (world, theirs, pushed)
}

/// The work is pushed, and lands by the same pull request.
fn assert_goes_on(world: &World) {
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    somebody_squashes(world, 1);
    world.drain_all();
    assert_landed(world);
    assert!(world.on_main("t-1.2.txt").is_some());
}

#[test]
fn a_commit_that_somebody_has_pushed_stays_and_the_branch_is_set_back_as_the_advice_says() {
    let (world, theirs, pushed) = with_a_commit_of_somebodys();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "landing");
    let advice = format!("git push --force-with-lease=crew/t-1:{theirs} origin {pushed}:crew/t-1");
    assert!(note.contains(&advice) && !note.contains("--delete"), "{note}");
    let words: Vec<&str> = advice.split(' ').skip(1).collect();
    world.git(&words);
    assert_goes_on(&world);
    assert_eq!(world.on_main("theirs"), None);
}

#[test]
fn a_commit_that_somebody_has_pushed_is_merged_into_the_work_as_the_advice_says() {
    let (world, theirs, _) = with_a_commit_of_somebodys();
    let (_, note) = world.held("t-1");
    let from = world.git(&["rev-parse", "--path-format=absolute", "--git-common-dir"]);
    let advice = format!("git fetch '{from}' {theirs} && git merge {theirs}");
    assert!(note.contains(&advice), "{note}");
    let workspace = &world.workspaces()[0];
    world.git_at(workspace, &["fetch", "-q", &from, &theirs]);
    world.git_at(workspace, &["merge", "-q", &theirs]);
    assert_goes_on(&world);
    assert!(world.on_main("theirs").is_some());
}
