//! What an agent could have done for it without end, and the brake on each.

use model::TicketId;
use model::attempt::{Class, Signal};
use model::call::{Call, ChosenMode, MOST_TICKETS_OF_ONE, Task};
use model::command::Command;
use model::commitment::Promise;
use model::ticket::CheckCommand;

use crate::scene::{Scene, failed, id, name, secs};

fn task(title: &str) -> Task {
    Task {
        title: title.to_owned(),
        share: true,
        ..Task::default()
    }
}

fn leading() -> Scene {
    let mut scene = Scene::with(|settings| {
        settings.agents.leaders = vec![name("ann")];
        settings.agents.names.extend(["dan", "eve"].map(name));
    });
    scene.add("t-1");
    scene.workspace_ready("t-1");
    scene
}

/// What a person is told who asks for this of t-1-c1.
fn answer(scene: &mut Scene, command: impl FnOnce(TicketId) -> Command) -> String {
    scene.ask(command(id("t-1-c1"))).answer()
}

/// A ticket for the agent's own tool.
fn new_ticket(tags: &[&str]) -> Call {
    Call::CreateTicket {
        title: "Look further".to_owned(),
        description: None,
        design: None,
        acceptance: None,
        kind: None,
        parent: None,
        tags: tags.iter().map(|tag| (*tag).to_owned()).collect(),
        deps: <_>::default(),
        priority: None,
    }
}

#[test]
fn a_leader_whose_steps_go_on_failing_pays_for_children_once() {
    let mut scene = leading();
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    scene.run_ends("t-1", failed(Class::Crash));
    let (base, earlier_work) = (crate::scene::oid('a'), false);
    let ready = engine::Report::WorkspaceReady { base, earlier_work };
    scene.report("t-1-c1", "prepare_workspace", ready);
    scene.finishes("t-1-c1", Signal::Done);
    scene.report("t-1-c1", "unify", crate::delegation::unified());
    for number in 2..=3 {
        scene.wait(secs(1000));
        assert_eq!(scene.state("t-1"), "in_progress/working", "{number}");
        scene.delegates("t-1", &[task("One more")]).unwrap();
        scene.children_written("t-1");
        scene.run_ends("t-1", failed(Class::Crash));
        let child = format!("t-1-c{number}");
        assert_eq!(scene.state(&child), "done/dropped");
    }
    let held = scene.core.ticket(&id("t-1")).unwrap().held.clone();
    assert!(held.is_some(), "{}", scene.state("t-1"));
}

/// An agent that has not had the answer calls again: before the files of its children are seen, and when a
/// person has given one another title.
#[test]
fn what_is_delegated_once_more_is_not_paid_twice() {
    let mut scene = leading();
    let tasks = [task("One"), task("Two"), task("Two")];
    let told = scene.delegates("t-1", &tasks).unwrap();
    assert!(told.contains("delegated: t-1-c1, t-1-c2, t-1-c3."), "{told}");
    for _ in 0..2 {
        let again = scene.delegates("t-1", &tasks).unwrap();
        let before = "you have delegated t-1-c1, t-1-c2, t-1-c3 before";
        assert!(again.contains(before), "{again}");
        scene.children_written("t-1");
        scene.write("t-1-c1", |file| file.spec.title = "Uno".to_owned());
    }
    assert_eq!(scene.core.ticket(&id("t-1")).unwrap().children, 3);
    scene.calls("t-1", takes_back("t-1-c1")).unwrap();
    let told = scene.delegates("t-1", &[task("One")]).unwrap();
    assert!(told.contains("delegated: t-1-c4."), "what is taken back: {told}");
}

fn takes_back(child: &str) -> Call {
    Call::TeamKill {
        ticket: child.to_owned(),
        why: "not needed".to_owned(),
    }
}

#[test]
fn a_ticket_has_fifty_children_at_most_whatever_became_of_them() {
    let mut scene = Scene::with(|settings| {
        settings.agents.leaders = vec![name("ann")];
        settings.delegate.breadth = 100;
    });
    scene.add("t-1");
    scene.workspace_ready("t-1");
    let tasks = |from: u32, to: u32| (from..=to).map(|n| task(&format!("No. {n}"))).collect::<Vec<_>>();
    let told = scene.delegates("t-1", &tasks(1, 51)).unwrap_err();
    assert!(told.contains("51 children, and 50 are the most"), "{told}");
    scene.delegates("t-1", &tasks(1, 49)).unwrap();
    scene.children_written("t-1");
    for number in 1..=49 {
        scene.calls("t-1", takes_back(&format!("t-1-c{number}"))).unwrap();
    }
    let told = scene.delegates("t-1", &tasks(50, 51)).unwrap_err();
    assert!(told.contains("51 children, and 50 are the most"), "{told}");
    scene.delegates("t-1", &tasks(50, 50)).unwrap();
    assert_eq!(scene.core.ticket(&id("t-1")).unwrap().children, 50);
}

#[test]
fn a_question_does_not_keep_children_from_beginning() {
    let mut scene = leading();
    scene.delegates("t-1", &[task("One")]).unwrap();
    let question = "red or blue?".to_owned();
    let ask = Call::Ask {
        question: question.clone(),
    };
    let told = scene.calls("t-1", ask.clone()).unwrap_err();
    assert!(told.contains("you have delegated: end your turn now"), "{told}");
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::Asked { question });
    assert_eq!(scene.state("t-1"), "in_progress/waiting_for_children");
    assert_eq!(scene.state("t-1-c1"), "in_progress/preparing");
    let mut scene = leading();
    scene.calls("t-1", ask).unwrap();
    let told = scene.delegates("t-1", &[task("One")]).unwrap_err();
    assert!(told.contains("your first result stands (ask)"), "{told}");
}

#[test]
fn an_agent_makes_no_leaders_and_no_endless_row_of_tickets() {
    let mut scene = leading();
    let told = scene.calls("t-1", new_ticket(&["leader"])).unwrap_err();
    assert!(
        told.contains("only a person gives a ticket the tag `leader`"),
        "{told}"
    );
    scene.calls("t-1", new_ticket(&["ui"])).unwrap();
    for ticket in ["t-2", "t-2-n1", "t-2-n1-n1", "t-2-n1-n1-n1"] {
        let mut scene = leading();
        for maker in ["t-2", "t-2-n1", "t-2-n1-n1", "t-2-n1-n1-n1"] {
            scene.write(maker, |file| {
                file.spec.made_by = maker.contains("-n").then(|| "ann".to_owned());
            });
            scene.workspace_ready(maker);
            if maker == ticket {
                break;
            }
        }
        let told = scene.calls(ticket, new_ticket(&[]));
        assert_eq!(told.is_ok(), ticket != "t-2-n1-n1-n1", "{ticket}: {told:?}");
    }
    assert_eq!(MOST_TICKETS_OF_ONE, 50);
}

#[test]
fn a_part_does_not_wait_for_its_whole() {
    let mut scene = leading();
    let on_the_whole = || Call::CreateTicket {
        title: "A part".to_owned(),
        description: None,
        design: None,
        acceptance: None,
        kind: None,
        parent: None,
        tags: <_>::default(),
        deps: [id("t-1")].into(),
        priority: None,
    };
    // What is to be done afterwards is no part.
    scene.calls("t-1", on_the_whole()).unwrap();
    for mode in [ChosenMode::Plan, ChosenMode::BreakUp] {
        scene.calls("t-1", Call::SetMode { mode }).unwrap();
    }
    let told = scene.calls("t-1", on_the_whole()).unwrap_err();
    assert!(told.contains("leave t-1 out of its deps"), "{told}");
}

#[test]
fn a_part_promises_nothing_is_not_rewound_and_is_not_broken_up() {
    let mut scene = leading();
    scene.delegates("t-1", &[task("One")]).unwrap();
    scene.children_written("t-1");
    scene.finishes("t-1", Signal::None);
    let (base, earlier_work) = (crate::scene::oid('a'), false);
    let ready = engine::Report::WorkspaceReady { base, earlier_work };
    scene.report("t-1-c1", "prepare_workspace", ready);
    let promise = Call::AddCommitment {
        says: "a page".to_owned(),
        run: vec!["true".to_owned()],
    };
    let told = scene.calls("t-1-c1", promise).unwrap_err();
    assert!(told.contains("verified as a whole"), "{told}");
    let mode = |mode| Call::SetMode { mode };
    scene.calls("t-1-c1", mode(ChosenMode::Plan)).unwrap();
    let told = scene.calls("t-1-c1", mode(ChosenMode::BreakUp)).unwrap_err();
    assert!(told.contains("is not broken up"), "{told}");
    let told = answer(&mut scene, |ticket| Command::CommitTo {
        ticket,
        promise: Promise {
            says: "a page".to_owned(),
            run: Some(CheckCommand::Shell("true".to_owned())),
        },
    });
    assert!(told.contains("`crew commit-to t-1 …`"), "{told}");
    scene.finishes("t-1-c1", Signal::Done);
    scene.report("t-1-c1", "unify", crate::delegation::unified());
    let told = answer(&mut scene, |ticket| Command::Rewind {
        ticket,
        commit: crate::scene::oid('a'),
        at: 1,
    });
    assert!(told.contains("`crew rewind t-1`"), "{told}");
    let reason = "not wanted".to_owned();
    let told = answer(&mut scene, |ticket| Command::Drop { ticket, reason });
    assert!(told.contains("on the branch of t-1 already"), "{told}");
    assert_eq!(scene.state("t-1-c1"), "verify/unified");
}

#[test]
fn a_ticket_may_wait_for_one_that_the_same_step_has_just_made() {
    let mut scene = leading();
    let made = scene.calls("t-1", new_ticket(&[])).unwrap();
    assert_eq!(made, "made t-1-n1");
    let behind = |on: &str| {
        let mut call = new_ticket(&[]);
        if let Call::CreateTicket { title, deps, .. } = &mut call {
            *title = format!("After {on}");
            deps.insert(id(on));
        }
        call
    };
    // Its file is not there yet.
    assert_eq!(scene.calls("t-1", behind("t-1-n1")).unwrap(), "made t-1-n2");
    let told = scene.calls("t-1", behind("t-1-n7")).unwrap_err();
    assert!(told.contains("there is no ticket t-1-n7"), "{told}");
}
