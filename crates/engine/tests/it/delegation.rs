//! Delegation: children of an attempt, their turns, and what becomes of them and of their parent.

use std::collections::BTreeSet;

use engine::{End, Report};
use model::attempt::{Class, Signal};
use model::call::{Call, Task};
use model::command::Command;
use model::money::Usd;
use model::settings::Settings;
use model::ticket::{Done, FileStatus};

use crate::scene::{Scene, failed, id, name, oid, secs};
use crate::states::cost;

pub(crate) fn task(title: &str) -> Task {
    Task {
        title: title.to_owned(),
        share: true,
        ..Task::default()
    }
}

/// The agent ann, whose step on t-1 runs, may delegate.
pub(crate) fn leading(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.leaders = vec![name("ann")];
        change(settings);
    });
    scene.add("t-1");
    scene.workspace_ready("t-1");
    scene
}

/// t-1 has delegated two tasks and waits for them; the first one's step runs.
pub(crate) fn waiting(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = leading(change);
    let told = scene.delegates("t-1", &[task("The first half"), task("The second half")]);
    assert!(
        told.clone().is_ok_and(|told| told.contains("t-1-c1, t-1-c2")),
        "{told:?}"
    );
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    scene
}

/// The child has an agent, and its workspace is there.
pub(crate) fn begins(scene: &mut Scene, child: &str) {
    let (base, earlier_work) = (oid('a'), false);
    let ready = Report::WorkspaceReady { base, earlier_work };
    scene.report(child, "prepare_workspace", ready);
    assert_eq!(scene.state(child), "in_progress/working");
}

/// Its work is in its parent's workspace; what it did is not told.
pub(crate) fn unified() -> Report {
    Report::Unified {
        work: None,
        unmerged: None,
        absent: BTreeSet::new(),
    }
}

/// The child is done, and its work is its parent's.
pub(crate) fn unifies(scene: &mut Scene, child: &str) {
    scene.finishes(child, Signal::Done);
    scene.report(child, "unify", unified());
    assert_eq!(scene.state(child), "verify/unified");
}

fn agent(scene: &Scene, ticket: &str) -> String {
    let attempt = scene.core.ticket(&id(ticket)).and_then(|t| t.attempt());
    attempt
        .map(|attempt| attempt.claim.agent.to_string())
        .unwrap_or_default()
}

fn refused(scene: &mut Scene, tasks: &[Task]) -> String {
    let told = scene.delegates("t-1", tasks).unwrap_err();
    assert_eq!(
        scene.core.ticket(&id("t-1")).unwrap().children,
        0,
        "nothing was ordered"
    );
    told
}

#[test]
fn children_work_one_after_the_other_and_land_with_their_parent() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One"), task("Two")]).unwrap();
    scene.children_written("t-1");
    assert_eq!(scene.state("t-1-c1"), "open", "its parent's step still runs");
    scene.finishes("t-1", Signal::Done);
    assert_eq!(scene.state("t-1"), "in_progress/waiting_for_children");
    begins(&mut scene, "t-1-c1");
    assert_eq!(scene.state("t-1-c2"), "open", "one writer at a time");
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
    unifies(&mut scene, "t-1-c2");
    assert_eq!(scene.state("t-1"), "in_progress/working");
    assert!(scene.all_pending("t-1").contains(&"start_step"));
    scene.finishes("t-1", Signal::Done);
    assert_eq!(scene.state("t-1"), "verify/checking");
    scene.built("t-1", '1');
    scene.checks_pass("t-1");
    scene.landed("t-1");
    for ticket in ["t-1", "t-1-c1", "t-1-c2"] {
        assert_eq!(scene.state(ticket), "done/landed");
    }
}

#[test]
fn one_agent_suffices_and_a_further_one_gets_the_child() {
    let mut scene = waiting(|settings| settings.agents.names = vec![name("ann")]);
    assert_ne!(agent(&scene, "t-1-c1"), "ann");
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
}

#[test]
fn the_queue_gives_a_child_to_nobody() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    let refused = scene.ask(Command::Assign {
        agent: name("bob"),
        ticket: id("t-1-c1"),
    });
    assert!(refused.to_string().contains("a part of t-1"), "{refused}");
    assert_eq!(scene.state("t-1-c1"), "open");
}

#[test]
fn a_file_that_calls_itself_a_child_is_a_ticket_like_any_other() {
    let mut scene = leading(|_| {});
    scene.add("t-1-c1");
    assert_eq!(scene.state("t-1-c1"), "in_progress/preparing");
    let told = scene.delegates("t-1", &[task("One"), task("Two")]).unwrap();
    assert!(told.contains("t-1-c2, t-1-c3"), "{told}");
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c2");
}

#[test]
fn what_is_refused_says_why() {
    let mut scene = leading(|settings| settings.delegate.breadth = 2);
    let told = refused(&mut scene, &[]);
    assert!(told.contains("at least one task"), "{told}");
    let told = refused(&mut scene, &[task("1"), task("2"), task("3")]);
    assert!(told.contains("`[delegate] breadth`"), "{told}");
    let to = |agent: &str| Task {
        agent: Some(agent.to_owned()),
        ..task("One")
    };
    let told = refused(&mut scene, &[to("ann")]);
    assert!(told.contains("cannot delegate to itself"), "{told}");
    let told = refused(&mut scene, &[to("zoe")]);
    assert!(told.contains("no agent named zoe"), "{told}");
    let told = refused(&mut scene, &[task(" ")]);
    assert!(told.contains("no title"), "{told}");
    let told = refused(&mut scene, &[task("two\nlines")]);
    assert!(told.contains("one line"), "{told}");

    let mut scene = leading(|settings| settings.agents.leaders.clear());
    let told = refused(&mut scene, &[task("One")]);
    assert!(told.contains("[agents] leaders"), "{told}");
    let mut scene = leading(|settings| settings.delegate.depth = 0);
    let told = refused(&mut scene, &[task("One")]);
    assert!(told.contains("`[delegate] depth`"), "{told}");
    let mut scene = leading(|settings| settings.run.max_steps = 1);
    let told = refused(&mut scene, &[task("One")]);
    assert!(told.contains("last step"), "{told}");
}

#[test]
fn a_child_delegates_as_deep_as_the_settings_say_and_not_in_a_circle() {
    let mut scene = waiting(|settings| settings.agents.leaders.extend(["bob", "cat"].map(name)));
    assert_eq!(agent(&scene, "t-1-c1"), "bob");
    let circle = Task {
        agent: Some("ann".to_owned()),
        ..task("Back")
    };
    let told = scene.delegates("t-1-c1", &[circle]).unwrap_err();
    assert!(told.contains("ann waits for t-1-c1 itself"), "{told}");
    scene.delegates("t-1-c1", &[task("Deeper")]).unwrap();
    scene.children_written("t-1-c1");
    scene.finishes("t-1-c1", Signal::None);
    begins(&mut scene, "t-1-c1-c1");
    let shared = scene
        .core
        .ticket(&id("t-1-c1-c1"))
        .and_then(|t| t.shared_workspace())
        .unwrap();
    assert_eq!(shared.of, id("t-1"), "the whole tree works in one workspace");
    let told = scene.delegates("t-1-c1-c1", &[task("Too deep")]).unwrap_err();
    assert!(told.contains("t-1-c1-c1 is 2 deep"), "{told}");
    unifies(&mut scene, "t-1-c1-c1");
    assert_eq!(scene.state("t-1-c1"), "in_progress/working");
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
}

#[test]
fn a_child_that_fails_for_good_is_given_up_and_its_parent_hears_of_it() {
    let mut scene = waiting(|_| {});
    let why = "no such file".to_owned();
    scene.finishes("t-1-c1", Signal::Blocked { why });
    begins(&mut scene, "t-1-c2");
    unifies(&mut scene, "t-1-c2");
    let dropped = scene.core.ticket(&id("t-1-c1")).unwrap();
    assert!(
        matches!(&dropped.state, model::ticket::State::Done(Done::Dropped { reason, .. }) if reason == "no such file")
    );
    let (_, effect) = scene.pending("t-1", "start_step").unwrap();
    let said = format!("{effect:?}");
    assert!(
        said.contains("GivenUp { why: \"no such file\" }") && said.contains("Unified"),
        "{said}"
    );
}

#[test]
fn a_step_that_fails_after_it_has_delegated_is_not_repeated_first() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    scene.run_ends("t-1", failed(Class::Crash));
    assert_eq!(scene.state("t-1"), "in_progress/waiting_for_children");
    begins(&mut scene, "t-1-c1");
}

#[test]
fn a_parent_that_is_dropped_ends_its_children_first() {
    let mut scene = waiting(|_| {});
    scene.ask(Command::Drop {
        ticket: id("t-1"),
        reason: "not wanted".to_owned(),
    });
    assert_eq!(
        scene.state("t-1"),
        "in_progress/waiting_for_children",
        "a child's step runs"
    );
    assert!(scene.all_pending("t-1-c1").contains(&"stop_run"));
    assert_eq!(scene.state("t-1-c2"), "done/dropped");
    scene.restart();
    scene.look_at_all();
    assert_eq!(
        scene.state("t-1"),
        "in_progress/waiting_for_children",
        "it still runs"
    );
    scene.run_ends("t-1-c1", failed(Class::KilledByUs));
    for ticket in ["t-1", "t-1-c1", "t-1-c2"] {
        assert_eq!(scene.state(ticket), "done/dropped");
    }
}

#[test]
fn a_parent_whose_agent_is_killed_ends_its_children_first() {
    let mut scene = waiting(|_| {});
    scene.ask(Command::Kill { agent: name("ann") });
    let again = scene.ask(Command::Kill { agent: name("ann") });
    assert!(
        again.to_string().contains("the children of t-1 are ended"),
        "{again}"
    );
    scene.run_ends("t-1-c1", failed(Class::KilledByUs));
    assert_eq!(scene.state("t-1"), "open (held)");
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
}

#[test]
fn a_whole_tree_ends_from_below() {
    let mut scene = waiting(|settings| settings.agents.leaders.extend(["bob", "cat"].map(name)));
    scene.delegates("t-1-c1", &[task("Deeper")]).unwrap();
    scene.children_written("t-1-c1");
    scene.finishes("t-1-c1", Signal::None);
    begins(&mut scene, "t-1-c1-c1");
    scene.ask(Command::Kill { agent: name("ann") });
    assert_eq!(scene.state("t-1-c1"), "in_progress/waiting_for_children");
    scene.run_ends("t-1-c1-c1", failed(Class::KilledByUs));
    assert_eq!(scene.state("t-1-c1-c1"), "done/dropped");
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
    assert_eq!(scene.state("t-1"), "open (held)");
}

#[test]
fn a_person_wakes_a_parent_before_its_children_are_over() {
    let mut scene = waiting(|_| {});
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
    scene.ask(Command::Wake { agent: name("ann") });
    scene.run_ends("t-1-c2", failed(Class::KilledByUs));
    assert_eq!(scene.state("t-1"), "in_progress/working");
    assert_eq!(scene.state("t-1-c1"), "verify/unified", "what is done stays done");
    assert_eq!(scene.state("t-1-c2"), "done/dropped");
    let (_, effect) = scene.pending("t-1", "start_step").unwrap();
    let said = format!("{effect:?}");
    assert!(said.contains("someone has t-1 go on without it"), "{said}");
}

#[test]
fn the_whole_tree_spends_of_one_budget() {
    let mut scene = leading(|settings| settings.budget.ticket_usd = Some(Usd::parse("5").unwrap()));
    scene.delegates("t-1", &[task("One"), task("Two")]).unwrap();
    scene.children_written("t-1");
    scene.run_ends_for("t-1", End::Finished(Signal::None), cost(2));
    begins(&mut scene, "t-1-c1");
    scene.run_ends_for("t-1-c1", End::Finished(Signal::None), cost(3));
    // Neither a step of the child nor the other child begins, and nothing is left for the parent.
    assert_eq!(scene.state("t-1"), "in_progress/working (held)");
    for child in ["t-1-c1", "t-1-c2"] {
        let ticket = scene.core.ticket(&id(child)).unwrap();
        let said = format!("{:?}", ticket.state);
        assert!(said.contains("spent $5.00 of $5.00"), "{said}");
    }
    let parent = scene.core.ticket(&id("t-1")).unwrap();
    assert_eq!(
        parent.spent.since_grant_micro_usd, 5_000_000,
        "it is counted once"
    );
    let granted = scene.ask(Command::Retry { ticket: id("t-1") });
    assert!(granted.events().contains(&"step_started"), "{granted}");
}

#[test]
fn a_child_that_is_seen_when_nobody_waits_for_it_any_more_is_dropped() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    let why = "no".to_owned();
    scene.finishes("t-1", Signal::Blocked { why });
    scene.add("t-1-c1");
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
}

#[test]
fn an_engine_is_not_at_rest_while_a_child_is_about_to_begin() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.finishes("t-1", Signal::None);
    assert!(scene.core.rest().moving, "its file is not written yet");
    scene.children_written("t-1");
    begins(&mut scene, "t-1-c1");
    let question = "which?".to_owned();
    scene.finishes("t-1-c1", Signal::Asked { question });
    let rest = scene.core.rest();
    assert!(!rest.moving, "a person is asked");
    let waits: Vec<String> = rest
        .waits
        .iter()
        .map(|one| format!("{}: {}", one.ticket, one.why))
        .collect();
    assert!(
        waits
            .iter()
            .any(|line| line.contains("t-1: its agent waits for t-1-c1")),
        "{waits:?}"
    );
}

#[test]
fn a_child_opened_again_is_a_ticket_like_any_other() {
    let mut scene = waiting(|_| {});
    let why = "no such file".to_owned();
    scene.finishes("t-1-c1", Signal::Blocked { why });
    begins(&mut scene, "t-1-c2");
    unifies(&mut scene, "t-1-c2");
    scene.files_written("t-1-c1");
    scene.set_status("t-1-c1", FileStatus::Open);
    assert_eq!(scene.state("t-1-c1"), "in_progress/preparing");
    assert!(scene.core.ticket(&id("t-1-c1")).unwrap().delegated().is_none());
}

#[test]
fn a_child_has_attempts_like_any_ticket_and_its_parent_waits_for_the_next_one() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    let why = "no room".to_owned();
    scene.report("t-1-c1", "prepare_workspace", Report::WorkspaceFailed { why });
    assert_eq!(scene.state("t-1-c1"), "open");
    assert!(scene.core.rest().moving, "it is given out again by itself");
    scene.wait(secs(3600));
    begins(&mut scene, "t-1-c1");
    unifies(&mut scene, "t-1-c1");
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn a_leader_lists_its_children_and_takes_one_back_that_has_not_begun() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[task("One"), task("Two")]).unwrap();
    scene.children_written("t-1");
    let list = scene.calls("t-1", Call::TeamList {}).unwrap();
    let says = "begins when your step is over: end your turn now";
    let expected = format!("t-1-c1 (One): open, {says}\nt-1-c2 (Two): open, {says}");
    assert_eq!(list, expected);
    let kill = |ticket: &str| Call::TeamKill {
        ticket: ticket.to_owned(),
        why: "not needed".to_owned(),
    };
    let told = scene.calls("t-1", kill("t-9")).unwrap_err();
    assert!(told.contains("no task of yours"), "{told}");
    scene.calls("t-1", kill("t-1-c1")).unwrap();
    let more = [task("Three"), task("Four"), task("Five")];
    scene
        .delegates("t-1", &more)
        .expect("the place of one that is taken back is free");
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
    begins(&mut scene, "t-1-c2");
    let told = scene.calls("t-1-c2", Call::TeamList {}).unwrap_err();
    assert!(told.contains("on this ticket you may not"), "{told}");
}

fn apart(title: &str) -> Task {
    Task {
        share: false,
        ..task(title)
    }
}

#[test]
fn children_with_workspaces_of_their_own_work_side_by_side_in_their_turn() {
    let mut scene = leading(|settings| settings.agents.count = 3);
    let tasks = [task("One"), apart("Two"), apart("Three"), task("Four")];
    scene.delegates("t-1", &tasks).unwrap();
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    assert_eq!(
        scene.state("t-1-c2"),
        "open",
        "nobody begins with half of its work"
    );
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
    begins(&mut scene, "t-1-c3");
    assert!(
        scene
            .core
            .ticket(&id("t-1-c3"))
            .unwrap()
            .shared_workspace()
            .is_none()
    );
    scene.finishes("t-1-c3", Signal::Done);
    assert_eq!(scene.state("t-1-c4"), "open", "the other one is at work still");
    scene.report("t-1-c3", "unify", unified());
    assert!(
        scene.all_pending("t-1-c3").contains(&"keep_work"),
        "its workspace goes"
    );
    unifies(&mut scene, "t-1-c2");
    begins(&mut scene, "t-1-c4");
    unifies(&mut scene, "t-1-c4");
    assert_eq!(scene.state("t-1"), "in_progress/working");
}

#[test]
fn only_one_child_has_the_place_of_its_parent() {
    let mut scene = leading(|settings| settings.agents.names = vec![name("ann")]);
    scene.delegates("t-1", &[apart("One"), apart("Two")]).unwrap();
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    assert_eq!(scene.state("t-1-c2"), "open", "no place is free");
    let question = "which?".to_owned();
    scene.finishes("t-1-c1", Signal::Asked { question });
    begins(&mut scene, "t-1-c2");
}

#[test]
fn work_that_cannot_be_merged_into_its_parents_is_kept_and_its_parent_hears_why() {
    let mut scene = leading(|_| {});
    scene.delegates("t-1", &[apart("One")]).unwrap();
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    begins(&mut scene, "t-1-c1");
    scene.finishes("t-1-c1", Signal::Done);
    let why = "in conflict".to_owned();
    scene.report("t-1-c1", "unify", Report::NotUnified { why });
    assert_eq!(scene.state("t-1-c1"), "done/dropped");
    assert!(scene.all_pending("t-1-c1").contains(&"keep_work"));
    let (_, effect) = scene.pending("t-1", "start_step").unwrap();
    let said = format!("{effect:?}");
    assert!(said.contains("GivenUp { why: \"in conflict\" }"), "{said}");
}

#[test]
fn an_engine_is_at_rest_while_a_child_waits_behind_one_that_asks() {
    let mut scene = waiting(|_| {});
    let question = "which?".to_owned();
    scene.finishes("t-1-c1", Signal::Asked { question });
    assert_eq!(scene.state("t-1-c2"), "open");
    assert!(!scene.core.rest().moving, "only a person can move it on");
}

#[test]
fn a_child_that_is_opened_again_while_its_parent_waits_is_a_ticket_of_its_own() {
    let mut scene = waiting(|_| {});
    scene.ask(Command::Drop {
        ticket: id("t-1-c2"),
        reason: "not now".to_owned(),
    });
    scene.files_written("t-1-c2");
    scene.set_status("t-1-c2", FileStatus::Open);
    begins(&mut scene, "t-1-c2");
    let opened = scene.core.ticket(&id("t-1-c2")).unwrap();
    assert!(opened.shared_workspace().is_none(), "beside its sibling");
    unifies(&mut scene, "t-1-c1");
    assert_eq!(scene.state("t-1"), "in_progress/working");
    assert_eq!(scene.state("t-1-c2"), "in_progress/working");
    let (_, effect) = scene.pending("t-1", "start_step").unwrap();
    let said = format!("{effect:?}");
    assert!(said.contains("as a ticket of its own"), "{said}");
}

#[test]
fn a_child_may_depend_on_one_of_the_same_agent_which_is_done_only_with_its_parent() {
    let mut scene = waiting(|_| {});
    scene.write("t-1-c2", |file| drop(file.spec.deps.replace(id("t-1-c1"))));
    assert_eq!(scene.state("t-1-c2"), "open");
    unifies(&mut scene, "t-1-c1");
    begins(&mut scene, "t-1-c2");
}

#[test]
fn a_child_that_depends_on_a_later_one_asks_a_person_and_goes_on_without_the_dependency() {
    let mut scene = leading(|_| {});
    let told = scene.delegates("t-1", &[task("The first half"), task("The second half")]);
    assert!(told.is_ok(), "{told:?}");
    scene.children_written("t-1");
    scene.write("t-1-c1", |file| drop(file.spec.deps.replace(id("t-1-c2"))));
    scene.finishes("t-1", Signal::None);
    assert_eq!(
        (scene.state("t-1-c1"), scene.state("t-1-c2")),
        ("open".into(), "open".into())
    );
    let rest = scene.core.rest();
    let why = rest.waits.iter().find(|waits| waits.ticket == id("t-1-c1"));
    let why = why.map(|waits| waits.why.as_str()).unwrap_or_default();
    assert!(
        !rest.moving && why.contains("t-1-c1 → t-1-c2 → t-1-c1"),
        "{rest:?}"
    );
    scene.write("t-1-c1", |file| file.spec.deps.clear());
    begins(&mut scene, "t-1-c1");
}
