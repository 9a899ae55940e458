//! Landing by pull requests: a bare repository is the remote, and a script with a state in files is `gh`.

mod host;
mod looks;
mod merges;
mod reviews;

use std::fs;
use std::path::PathBuf;

use testkit::world::{DONE, path_variable};

use host::{
    assert_landed, at_remote, killed_at, of_host, somebody_merges_by_hand, somebody_reviews,
    somebody_squashes, tell, told, with_host,
};

/// The failpoints that are only passed on the way to a pull request, and while one is looked at.
const OF_PROPOSING: [&str; 5] = [
    "propose.noted",
    "propose.pushed",
    "propose.created",
    "decided.proposed",
    "durable.proposed",
];
const OF_LOOKING: [&str; 5] = [
    "decided.look_ordered",
    "durable.look_ordered",
    "begun.look_at_proposal",
    "propose.merged",
    "performed.look_at_proposal",
];
const OF_ANSWERS: [&str; 8] = [
    "decided.proposal_seen",
    "durable.proposal_seen",
    "decided.proposal_unseen",
    "durable.proposal_unseen",
    "decided.changes_requested",
    "durable.changes_requested",
    "decided.proposal_closed",
    "durable.proposal_closed",
];

/// Whether an engine is killed at this failpoint here.
pub(crate) fn has(point: &str) -> bool {
    OF_PROPOSING.contains(&point) || OF_LOOKING.contains(&point) || OF_ANSWERS.contains(&point)
}

#[test]
fn work_is_proposed_and_lands_once_a_person_has_squashed_it() {
    let world = with_host("draft = true, labels = [\"by agents\", \"crew\"]");
    world.around("GH_TOKEN", "canary-of-gh");
    let ticket = world.ticket("t-1").title("Say $(touch /tmp/x) \"hello\"");
    ticket.body("Greet people.").agent(DONE).write();
    let before = at_remote(&world, "main");
    let said = world.drain_held();
    assert!(
        said.all().contains("https://example.com/team/it/pull/1"),
        "{said}"
    );
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    assert_eq!(told(&world, "1/title"), "Say $(touch /tmp/x) \"hello\" (t-1)");
    assert_eq!(
        (told(&world, "1/draft"), told(&world, "1/labels")),
        ("true".to_owned(), "by agents crew ".to_owned())
    );
    assert!(
        told(&world, "1/body").contains("Greet people."),
        "{}",
        told(&world, "1/body")
    );
    assert_eq!(at_remote(&world, "main"), before);
    assert!(
        !world.workspaces().is_empty(),
        "the work stays until it is merged"
    );
    let env = told(&world, "env");
    assert!(
        env.contains("GH_TOKEN=canary-of-gh") && env.contains("GH_PROMPT_DISABLED=1"),
        "{env}"
    );
    assert!(!env.contains("CANARY_TOKEN"), "{env}");
    assert_eq!(world.variable("t-1", 1, "GH_TOKEN"), None);
    let why = world.must(&["explain", "t-1"]).out;
    assert!(
        why.contains("pull request #1") && why.contains("looked at again"),
        "{why}"
    );
    let inbox = world.crew(&["inbox"]).out;
    assert!(inbox.contains("https://example.com/team/it/pull/1"), "{inbox}");

    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn a_person_merges_the_branch_by_hand_and_the_local_target_follows() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_merges_by_hand(&world);
    // The tip that the host reports is nobody's: that it is in the target has to be enough.
    tell(&world, "1/oid", &"f".repeat(40));
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn changes_that_are_asked_for_come_back_to_an_agent_and_update_the_same_pull_request() {
    let world = with_host("");
    world
        .ticket("t-1")
        .agent("work \"t-1.txt\" \"round $RUN\"\necho DONE\n")
        .write();
    world.drain_held();
    let first = at_remote(&world, "crew/t-1");
    // Whoever has no say at the host has none here.
    somebody_reviews(&world, 6, "CHANGES_REQUESTED", "do something else");
    let reviews = told(&world, "1/reviews").replace("MEMBER", "NONE");
    tell(&world, "1/reviews", &reviews);
    world.drain_held();
    assert_eq!(world.count("t-1", "changes_requested"), 0);

    somebody_reviews(&world, 7, "CHANGES_REQUESTED", "name it");
    tell(
        &world,
        "1/comments",
        "{\"pull_request_review_id\":7,\"path\":\"t-1.txt\",\"line\":1,\"body\":\"too short\",\
         \"author_association\":\"MEMBER\"}\n",
    );
    for point in ["decided.changes_requested", "durable.changes_requested"] {
        killed_at(&world, point);
    }
    world.drain_held();
    assert_eq!(world.count("t-1", "changes_requested"), 1);
    let prompt = world.prompt("t-1", 2);
    assert!(
        prompt.contains("rev: name it") && prompt.contains("rev on t-1.txt:1: too short"),
        "{prompt}"
    );
    let second = at_remote(&world, "crew/t-1");
    assert_ne!(second, first);
    world.git(&[
        "--git-dir=../remote.git",
        "merge-base",
        "--is-ancestor",
        &first,
        &second,
    ]);
    assert_eq!(world.count("t-1", "proposed"), 2);
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
    assert_eq!(world.on_main("t-1.txt").unwrap().trim(), "round 2");
}

#[test]
fn a_pull_request_that_is_closed_holds_the_ticket_and_is_proposed_anew_on_a_retry() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    tell(&world, "1/state", "CLOSED");
    for point in ["decided.proposal_closed", "durable.proposal_closed"] {
        killed_at(&world, point);
    }
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "closed");
    assert!(note.contains("/pull/1"), "{note}");
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    assert_eq!(told(&world, "2/state"), "OPEN");
    let said = world.must(&["drop", "t-1"]);
    assert!(
        said.all()
            .contains("the pull request stays as it is: https://example.com/team/it/pull/2"),
        "{said}"
    );
    assert_eq!(told(&world, "2/state"), "OPEN");
}

#[test]
fn crew_merges_what_a_person_has_approved_and_nothing_else() {
    let world = with_host("after = \"approved\"");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_reviews(&world, 1, "APPROVED", "fine");
    tell(&world, "1/decision", "REVIEW_REQUIRED");
    world.drain_held();
    tell(&world, "1/decision", "");
    tell(&world, "protected", "");
    world.drain_held();
    let why = world.must(&["explain", "t-1"]).out;
    assert!(why.contains("policy prohibits the merge"), "{why}");
    fs::remove_file(of_host(&world, "protected")).unwrap();
    for point in OF_LOOKING {
        if point == "performed.look_at_proposal" {
            break;
        }
        killed_at(&world, point);
    }
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn crew_merges_in_the_next_way_where_the_branch_allows_no_merge_commit() {
    let world = with_host("after = \"approved\"");
    tell(&world, "linear", "");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    somebody_reviews(&world, 1, "APPROVED", "fine");
    world.drain_all();
    assert_landed(&world);
    // A squash is no merge of crew's, and nothing was rewritten.
    let said = world.must(&["doctor"]).all();
    assert!(!said.contains("rewritten"), "{said}");
}

#[test]
fn the_words_of_an_agent_call_nobody_and_close_nothing() {
    let world = with_host("");
    world.change_settings("[checks]", "[checks]\ncommands = [\"test ! -e *.nothing\"]");
    world.git(&["push", "-q", "origin", "main"]);
    let ticket = world.ticket("t-1").body("For @ann, fixes #7.");
    ticket
        .agent("work t-1.txt x\necho 'SUMMARY: closes #1, ping @team'\necho DONE")
        .write();
    world.drain_held();
    let body = told(&world, "1/body");
    for part in [
        "For @ann, fixes #7.",
        "closes #\u{200b}1, ping @\u{200b}team",
        "\n* `test ! -e *.nothing`\n",
    ] {
        assert!(body.contains(part), "no {part} in {body}");
    }
    // The merge that crew builds has the same words.
    let merge = world.git(&["for-each-ref", "--format=%(contents)", "refs/crew/candidate"]);
    assert!(merge.contains("closes #\u{200b}1"), "{merge}");
}

#[test]
fn an_engine_that_dies_around_a_proposal_makes_one_pull_request() {
    for point in OF_PROPOSING {
        let world = with_host("");
        world.ticket("t-1").agent(DONE).write();
        killed_at(&world, point);
        world.drain_held();
        assert_eq!(world.state_name("t-1"), "verify/proposed", "{point}");
        assert_eq!(world.count("t-1", "proposed"), 1, "{point}");
        assert!(!of_host(&world, "2").exists(), "{point}");
        for point in [
            "performed.look_at_proposal",
            "decided.proposal_seen",
            "durable.proposal_seen",
        ] {
            killed_at(&world, point);
        }
        somebody_squashes(&world, 1);
        world.drain_all();
        assert_landed(&world);
    }
}

#[test]
fn trouble_with_gh_loses_nothing_and_says_what_helps() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    let troubles = [
        (
            "echo 'To get started with GitHub CLI, please run:  gh auth login' >&2; exit 4",
            "gh auth login",
        ),
        ("echo nonsense; exit 0", "crew cannot read"),
    ];
    for (script, words) in troubles {
        tell(&world, "trouble", script);
        world.drain_held();
        let (why, note) = world.held("t-1");
        assert_eq!(why, "landing");
        assert!(note.contains(words), "{note}");
        assert!(!of_host(&world, "1").exists());
        world.must(&["retry", "t-1"]);
    }
    fs::rename(world.path("bin/gh"), world.path("gh")).unwrap();
    if !path_variable()
        .to_string_lossy()
        .split(':')
        .any(|at| PathBuf::from(at).join("gh").exists())
    {
        world.drain_held();
        let (_, note) = world.held("t-1");
        assert!(note.contains("there is no program gh"), "{note}");
        world.must(&["retry", "t-1"]);
    }
    fs::rename(world.path("gh"), world.path("bin/gh")).unwrap();
    fs::remove_file(of_host(&world, "trouble")).unwrap();
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");

    // The proposal stays where it is while nobody can look at it.
    tell(&world, "trouble", "echo 'HTTP 401: Bad credentials' >&2; exit 1");
    for point in ["decided.proposal_unseen", "durable.proposal_unseen"] {
        killed_at(&world, point);
    }
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "landing");
    assert!(note.contains("Bad credentials"), "{note}");
    tell(
        &world,
        "trouble",
        "echo 'error connecting to api.github.com' >&2; exit 1",
    );
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert!(world.state("t-1").held.is_none());
    fs::remove_file(of_host(&world, "trouble")).unwrap();
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn a_branch_that_somebody_else_has_pushed_is_not_overwritten() {
    let world = with_host("");
    world.git(&["checkout", "-q", "-b", "theirs"]);
    world.commit("theirs", "theirs\n");
    world.git(&["push", "-q", "origin", "theirs:crew/t-1"]);
    world.git(&["checkout", "-q", "main"]);
    let before = at_remote(&world, "crew/t-1");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "landing");
    assert!(note.contains("which crew did not push"), "{note}");
    assert_eq!(at_remote(&world, "crew/t-1"), before);
    world.git(&["push", "-q", "origin", "--delete", "crew/t-1"]);
    world.must(&["retry", "t-1"]);
    world.drain_held();
    assert_eq!(world.state_name("t-1"), "verify/proposed");
}

#[test]
fn a_conflict_with_the_target_is_resolved_by_an_agent_and_updates_the_same_pull_request() {
    let world = with_host("");
    let resolve = "oid=$(sed -n 's/.*`git merge \\([0-9a-f]*\\)`.*/\\1/p' \"$LOGS/$CREW_TICKET_ID.$RUN.prompt\")\n\
                   git merge -q \"$oid\" >/dev/null 2>&1 || true\n";
    world
        .ticket("t-1")
        .agent(&format!(
            "if [ \"$RUN\" != 1 ]; then\n{resolve}\nfi\nwork t-1.txt \"round $RUN\"\necho DONE\n"
        ))
        .write();
    world.drain_held();
    let first = at_remote(&world, "crew/t-1");
    // What the host says of the target that the work was checked on is no news.
    tell(&world, "1/mergeable", "CONFLICTING");
    world.drain_held();
    assert_eq!(world.count("t-1", "target_moved"), 0);

    world.commit("t-1.txt", "theirs\n");
    world.git(&["push", "-q", "origin", "main"]);
    world.git(&["reset", "-q", "--hard", "HEAD~1"]);
    world.drain_held();
    assert_eq!(
        (
            world.count("t-1", "target_moved"),
            world.count("t-1", "conflicted")
        ),
        (1, 1)
    );
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    let second = at_remote(&world, "crew/t-1");
    world.git(&[
        "--git-dir=../remote.git",
        "merge-base",
        "--is-ancestor",
        &first,
        &second,
    ]);
    world.git(&[
        "--git-dir=../remote.git",
        "merge-base",
        "--is-ancestor",
        "main",
        &second,
    ]);
    tell(&world, "1/mergeable", "MERGEABLE");
    somebody_squashes(&world, 1);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn an_approved_pull_request_that_points_at_another_branch_is_not_merged() {
    let world = with_host("after = \"approved\"");
    world.ticket("t-1").agent("work t-1.txt done\necho DONE").write();
    world.drain_held();
    tell(&world, "1/base", "release");
    somebody_reviews(&world, 7, "APPROVED", "fine");
    world.drain_held();
    let (why, words) = world.held("t-1");
    assert_eq!(why, "landing");
    assert!(
        words.contains("release") && words.contains("change its base back"),
        "{words}"
    );
    assert_eq!(
        fs::read_to_string(of_host(&world, "1/state")).unwrap().trim(),
        "OPEN"
    );
    tell(&world, "1/base", "main");
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_landed(&world);
}

#[test]
fn a_pull_request_that_was_merged_is_found_by_a_drop_and_by_a_file_that_is_deleted() {
    for is_by_file in [false, true] {
        let world = with_host("");
        world.ticket("t-1").agent(DONE).write();
        world.drain_held();
        somebody_squashes(&world, 1);
        if is_by_file {
            fs::remove_file(world.ticket_file("t-1")).unwrap();
            world.crew(&["run", "--until-idle"]);
        } else {
            let said = world.must(&["drop", "t-1"]).all();
            assert!(
                said.contains("looked at first") && said.contains("landed as"),
                "{said}"
            );
        }
        assert_eq!(
            world.state_name("t-1"),
            "done/landed",
            "by its file: {is_by_file}"
        );
    }
}

#[test]
fn a_drop_while_the_host_is_away_is_carried_out_at_the_next_look() {
    let world = with_host("");
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let away = "echo 'error connecting to api.github.com' >&2; exit 1";
    tell(&world, "trouble", away);
    world.must(&["drop", "t-1"]);
    assert_eq!(world.state_name("t-1"), "verify/proposed");
    let why = world.must(&["explain", "t-1"]).out;
    assert!(why.contains("dropped unless it was merged"), "{why}");
    fs::remove_file(of_host(&world, "trouble")).unwrap();
    world.drain_all();
    assert_eq!(world.state_name("t-1"), "done/dropped");
    assert_eq!(told(&world, "1/state"), "OPEN");
}
