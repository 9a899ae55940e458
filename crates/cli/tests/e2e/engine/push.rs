//! Landing on the branch of a remote: what the remote has is the truth.

use std::fs;
use std::path::Path;

use crate::engine::train::Submitted;
use testkit::world::{DONE, World, make_executable};

/// The failpoints that are only passed on the way to a remote.
const OF_A_PUSH: [&str; 4] = ["push.checked", "push.noted", "push.sent", "push.landed"];
/// Those of a local branch that follows, or cannot.
const OF_FOLLOWING: [&str; 3] = ["remote.fetched", "decided.diverged", "durable.diverged"];

/// Whether an engine is killed at this failpoint here.
pub(crate) fn has(point: &str) -> bool {
    OF_A_PUSH.contains(&point) || OF_FOLLOWING.contains(&point)
}

/// A world whose remote is a bare repository beside it, which has the target.
pub(super) fn with_remote() -> World {
    let world = World::with(|settings| settings.land = "mode = \"push\"".to_owned());
    remote_of(&world);
    world
}

/// Makes the remote of a world.
fn remote_of(world: &World) {
    world.git(&["init", "-q", "--bare", "-b", "main", "../remote.git"]);
    world.git(&["remote", "add", "origin", "../remote.git"]);
    world.git(&["push", "-q", "origin", "main"]);
}

/// The remote's main branch.
pub(super) fn at_remote(world: &World) -> String {
    world.git(&["--git-dir=../remote.git", "rev-parse", "main"])
}

/// The subjects of the merges that landed on the remote, oldest first.
fn merges_at_remote(world: &World) -> Vec<String> {
    let format = [
        "log",
        "--first-parent",
        "--merges",
        "--reverse",
        "--format=%s",
        "main",
    ];
    let said = world.git(&[&["--git-dir=../remote.git"], format.as_slice()].concat());
    said.lines().map(str::to_owned).collect()
}

/// Somebody else pushes a commit from a clone of their own.
pub(super) fn somebody_pushes(world: &World, file: &str) {
    somebody_at_remote(world, |world, clone| {
        fs::write(clone.join(file), "theirs\n").unwrap();
        world.git_at(clone, &["add", "-A"]);
    });
}

/// Somebody else pushes from a clone of their own what they have staged there.
pub(super) fn somebody_at_remote(world: &World, stage: impl FnOnce(&World, &Path)) {
    let clone = world.path("clone");
    if !clone.exists() {
        world.git(&["clone", "-q", "../remote.git", "../clone"]);
        world.git_at(&clone, &["config", "user.name", "Eve"]);
        world.git_at(&clone, &["config", "user.email", "eve@example.org"]);
    }
    world.git_at(&clone, &["pull", "-q", "--rebase"]);
    stage(world, &clone);
    world.git_at(&clone, &["commit", "-q", "-m", "theirs"]);
    world.git_at(&clone, &["push", "-q"]);
}

/// A hook of the remote's.
pub(super) fn hook(world: &World, name: &str, script: &str) {
    let hook = world.path(&format!("remote.git/hooks/{name}"));
    fs::write(&hook, format!("#!/bin/sh\n{script}\n")).unwrap();
    make_executable(&hook);
}

fn assert_both_have(world: &World, file: &str) {
    assert_eq!(at_remote(world), world.git(&["rev-parse", "main"]));
    assert!(world.on_main(file).is_some(), "{file}");
    assert!(world.project(file).exists(), "the checkout follows: {file}");
    assert_eq!(world.git(&["for-each-ref", "refs/crew/pushing"]), "");
}

#[test]
fn work_lands_on_the_remote_and_the_local_branch_and_no_hook_of_the_users_runs() {
    let world = with_remote();
    let ours = world.project(".git/hooks/pre-push");
    fs::create_dir_all(ours.parent().unwrap()).unwrap();
    fs::write(&ours, "#!/bin/sh\ntouch \"$0.ran\"\nexit 1\n").unwrap();
    make_executable(&ours);
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_eq!(merges_at_remote(&world).len(), 1);
    assert_both_have(&world, "t-1.txt");
    assert!(!world.project(".git/hooks/pre-push.ran").exists());
}

#[test]
fn the_doctor_asks_the_remote_and_says_what_is_wrong_with_it() {
    let world = with_remote();
    let says = |code: i32, what: &str| {
        let said = world.crew(&["doctor"]);
        assert_eq!(said.code, Some(code), "{}", said.all());
        assert!(said.all().contains(what), "no {what:?} in {}", said.all());
    };
    says(0, "the remote origin answers, and has main at");
    world.commit("mine", "not pushed\n");
    says(1, "main has commits that the remote origin does not have");
    world.git(&["--git-dir=../remote.git", "branch", "-m", "main", "trunk"]);
    says(1, "the remote origin answers, and has no branch main");
    fs::rename(world.path("remote.git"), world.path("elsewhere.git")).unwrap();
    says(1, "there is no repository at the remote origin");
    world.git(&["remote", "remove", "origin"]);
    says(1, "this repository has no remote `origin`");
}

#[test]
fn work_is_built_on_what_somebody_else_has_pushed() {
    let world = with_remote();
    somebody_pushes(&world, "theirs-1");
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_both_have(&world, "theirs-1");
    assert_both_have(&world, "t-1.txt");
    assert_eq!(world.count("t-1", "candidate_built"), 1);
}

#[test]
fn a_push_that_comes_between_loses_nothing_and_the_work_is_built_again() {
    let world = with_remote();
    // The check of the first candidate waits until somebody has pushed.
    world.change_settings(
        "[checks]",
        "[checks]\ncommands = [\"touch $GATES/checked; while [ ! -e $GATES/pushed ]; do sleep 0.02; done\"]\npass_env = [\"GATES\"]",
    );
    world.git(&["push", "-q", "origin", "main"]);
    world.around("GATES", world.path("gates"));
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("its check runs", || world.path("gates/checked").exists());
    somebody_pushes(&world, "theirs-1");
    world.open("pushed");
    world.wait_for("t-1", "done/landed");
    world.must(&["stop"]);
    engine.end();
    assert_eq!(world.count("t-1", "target_moved"), 1);
    assert_both_have(&world, "theirs-1");
    assert_both_have(&world, "t-1.txt");
}

#[test]
fn commits_that_the_remote_does_not_have_hold_the_work_until_they_are_pushed() {
    let world = with_remote();
    world.commit("mine", "not pushed\n");
    let before = at_remote(&world);
    // Else no agent starts.
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    for point in ["decided.diverged", "durable.diverged"] {
        world.around("CREW_FAILPOINT_AT", point);
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.signal, Some(9), "{point}: {said}");
        world.around("CREW_FAILPOINT_AT", "");
    }
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "diverged");
    assert!(note.contains("git push origin main"), "{note}");
    assert_eq!(at_remote(&world), before);
    world.git(&["push", "-q", "origin", "main"]);
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_eq!(world.landed(), ["t-1"]);
    assert_both_have(&world, "t-1.txt");
}

#[test]
fn a_remote_that_refuses_holds_the_work_with_its_words() {
    let world = with_remote();
    hook(&world, "pre-receive", "echo 'no pushes on Fridays' >&2; exit 1");
    let before = at_remote(&world);
    world.ticket("t-1").agent(DONE).write();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "landing");
    assert!(
        note.contains("the remote origin refuses the push") && note.contains("no pushes on Fridays"),
        "{note}"
    );
    assert_eq!(
        (at_remote(&world), world.git(&["rev-parse", "main"])),
        (before.clone(), before)
    );
    fs::remove_file(world.path("remote.git/hooks/pre-receive")).unwrap();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_both_have(&world, "t-1.txt");
}

#[test]
fn a_remote_that_is_gone_holds_the_work_and_loses_nothing() {
    let world = with_remote();
    fs::rename(world.path("remote.git"), world.path("elsewhere.git")).unwrap();
    world.ticket("t-1").agent(DONE).write();
    // Else no agent starts.
    world.anyway();
    world.drain_held();
    let (why, note) = world.held("t-1");
    assert_eq!(why, "could_not_run");
    assert!(
        note.contains("there is no repository at the remote origin"),
        "{note}"
    );
    fs::rename(world.path("elsewhere.git"), world.path("remote.git")).unwrap();
    world.must(&["retry", "t-1"]);
    world.drain_all();
    assert_both_have(&world, "t-1.txt");
}

#[test]
fn a_remote_that_the_settings_name_and_git_does_not_know_is_refused_at_the_start() {
    let world = with_remote();
    world.git(&["remote", "rename", "origin", "upstream"]);
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.code, Some(1), "{said}");
    assert!(said.err.contains("no remote `origin`"), "{said}");
}

#[test]
fn edits_in_the_way_are_waited_for_before_anything_is_pushed() {
    let world = with_remote();
    let before = at_remote(&world);
    world.write("t-1.txt", "mine\n");
    world.ticket("t-1").agent(DONE).write();
    let mut engine = world.engine();
    world.wait("the edits are in its way", || {
        world.count("t-1", "checkout_edited") > 0
    });
    assert_eq!(at_remote(&world), before);
    fs::remove_file(world.project("t-1.txt")).unwrap();
    world.wait_for("t-1", "done/landed");
    world.must(&["stop"]);
    engine.end();
    assert_both_have(&world, "t-1.txt");
}

#[test]
fn an_engine_that_dies_around_a_push_lands_it_once() {
    let further = [
        "land.ready",
        "land.moved",
        "land.followed",
        "performed.land",
        "durable.landed",
    ];
    for point in OF_A_PUSH.into_iter().chain(further) {
        let world = with_remote();
        world.ticket("t-1").agent(DONE).write();
        world.around("CREW_FAILPOINT_AT", point);
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.signal, Some(9), "{point}: {said}");
        world.around("CREW_FAILPOINT_AT", "");
        world.drain_all();
        assert_eq!(world.landed(), ["t-1"], "{point}");
        assert_eq!(merges_at_remote(&world).len(), 1, "{point}");
        assert_eq!(world.count("t-1", "landed"), 1, "{point}");
        assert_both_have(&world, "t-1.txt");
    }
}

#[test]
fn an_engine_that_dies_as_the_local_branch_follows_leaves_the_checkout_whole() {
    for point in ["remote.fetched", "land.moved"] {
        let world = with_remote();
        somebody_pushes(&world, "theirs-1");
        world.ticket("t-1").agent(DONE).write();
        world.around("CREW_FAILPOINT_AT", point);
        let said = world.crew(&["run", "--until-idle"]);
        assert_eq!(said.signal, Some(9), "{point}: {said}");
        assert_eq!(world.landed(), Vec::<String>::new());
        world.around("CREW_FAILPOINT_AT", "");
        world.drain_all();
        assert_eq!(merges_at_remote(&world).len(), 1, "{point}");
        assert_both_have(&world, "theirs-1");
        assert_both_have(&world, "t-1.txt");
        assert_eq!(world.git(&["status", "--porcelain", "--untracked-files=no"]), "");
    }
}

#[test]
fn a_ticket_that_the_remote_has_when_it_is_dropped_is_landed() {
    let world = with_remote();
    world.ticket("t-1").agent(DONE).write();
    world.around("CREW_FAILPOINT_AT", "push.landed");
    let said = world.crew(&["run", "--until-idle"]);
    assert_eq!(said.signal, Some(9), "{said}");
    world.around("CREW_FAILPOINT_AT", "");
    world.must(&["drop", "t-1"]);
    assert_eq!(world.state_name("t-1"), "done/landed");
    assert_both_have(&world, "t-1.txt");
}

/// The engine dies as it is about to push a batch, the batch is given up, and then the remote takes it: as
/// with a push that comes later than anybody waits for it.
#[test]
fn a_batch_that_the_remote_takes_late_is_landed_and_no_agent_works_again() {
    let it = Submitted::with(2, (2, 1), None, "mode = \"push\"", remote_of);
    let world = &it.world;
    world.git(&["push", "-q", "origin", "main"]);
    world.around("CREW_FAILPOINT_AT", "push.noted");
    let said = it.begin(&["run", "--until-idle"]).end();
    assert_eq!(said.signal, Some(9), "{said}");
    world.around("CREW_FAILPOINT_AT", "");
    let noted = world.git(&[
        "for-each-ref",
        "--format=%(refname) %(objectname)",
        "refs/crew/pushing",
    ]);
    let mut noted: Vec<(&str, &str)> = noted
        .lines()
        .filter_map(|line| line.strip_prefix("refs/crew/pushing/")?.split_once(' '))
        .collect();
    // The one that was submitted first is merged first.
    noted.sort_by_key(|(_, commit)| {
        let count = world.git(&["rev-list", "--count", commit]);
        count.trim().parse::<u32>().unwrap()
    });
    let [(first, _), (last, tip)] = noted[..] else {
        panic!("{noted:?}")
    };
    world.must(&["drop", last]);
    assert_eq!(world.state_name(last), "done/dropped");
    world.git(&["push", "-q", "origin", &format!("{tip}:refs/heads/main")]);
    let runs = world.runs(first);
    world.drain_all();
    assert_eq!(world.state_name(first), "done/landed");
    assert_eq!(world.runs(first), runs, "no agent is asked for what has landed");
    assert_eq!(merges_at_remote(world).len(), 2);
    assert_both_have(world, &format!("{first}.txt"));
}

#[test]
fn of_a_batch_that_the_remote_refuses_only_the_work_at_fault_is_held() {
    let it = Submitted::with(4, (4, 1), None, "mode = \"push\"", remote_of);
    let world = &it.world;
    world.git(&["push", "-q", "origin", "main"]);
    hook(
        world,
        "pre-receive",
        "read old new ref\nif git diff --name-only \"$old\" \"$new\" | grep -qx t-02.txt; then echo 'no t-02 here' >&2; exit 1; fi",
    );
    let said = it.begin(&["run", "--until-idle"]).end();
    assert_eq!(said.code, Some(3), "{said}");
    let mut landed = world.landed();
    landed.sort();
    assert_eq!(landed, ["t-01", "t-03", "t-04"]);
    assert_eq!(merges_at_remote(world).len(), 3);
    let (why, note) = world.held("t-02");
    assert!(why == "landing" && note.contains("no t-02 here"), "{why}: {note}");
    // Whoever watches the run reads why, as it happens.
    let line = said
        .out
        .lines()
        .find(|line| line.contains("t-02        it could not be landed"));
    assert!(line.is_some_and(|line| line.contains("no t-02 here")), "{said}");
}

#[test]
fn agents_and_checks_see_no_credentials() {
    let world = with_remote();
    world.change_settings(
        "[checks]",
        "[checks]\ncommands = [\"env > $GATES/check.env\"]\npass_env = [\"GATES\"]",
    );
    world.git(&["push", "-q", "origin", "main"]);
    world.around("GATES", world.path("gates"));
    world.around("GH_TOKEN", "canary-of-gh");
    world.around("SSH_AUTH_SOCK", "/canary/agent");
    world.anyway();
    world.ticket("t-1").agent(DONE).write();
    world.drain_all();
    let check = fs::read_to_string(world.path("gates/check.env")).unwrap();
    for name in ["GH_TOKEN", "SSH_AUTH_SOCK"] {
        assert_eq!(world.variable("t-1", 1, name), None);
        assert!(!check.contains(name), "{check}");
    }
}
