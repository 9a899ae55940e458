//! Edits of a ticket's file while agents are at work: a new text is told before work counts as done, and no
//! ticket is over because a file says so.

use model::attempt::Signal;
use model::command::Command;
use model::ticket::{FileStatus, Origin};

use crate::scene::{Scene, Verdict, id, secs};
use crate::states;
use crate::words::Decided;

fn edit(scene: &mut Scene, digest: &str) -> Decided {
    scene.write("t-1", |file| digest.clone_into(&mut file.spec.digest))
}

fn is_told(decided: &Decided) -> bool {
    decided.to_string().contains("the text has changed")
}

#[test]
fn a_step_that_began_before_an_edit_is_done_once_its_agent_was_told() {
    let mut scene = states::working();
    edit(&mut scene, "another");
    let done = scene.finishes("t-1", Signal::Done);
    assert_eq!(done.events(), ["step_finished", "step_started"], "{done}");
    assert!(is_told(&done), "{done}");
    let done = scene.finishes("t-1", Signal::Done);
    assert_eq!(done.events(), ["step_finished", "check_started"], "{done}");
}

/// An agent that writes something new into its ticket in each step comes to an end all the same.
#[test]
fn an_agent_that_edits_its_own_ticket_in_each_step_is_held_in_the_end() {
    let mut scene = states::working_with(|settings| settings.run.max_steps = 3);
    let mut steps = 1;
    while scene.state("t-1").starts_with("in_progress") {
        edit(&mut scene, &format!("text {steps}"));
        scene.finishes("t-1", Signal::Done);
        steps += 1;
        assert!(steps < 9, "it goes on and on");
    }
    assert_eq!(scene.state("t-1"), "open (held)");
}

#[test]
fn an_edit_that_is_no_edit_of_the_text_is_told_nobody() {
    let mut scene = states::working();
    scene.write("t-1", |file| file.spec.priority = 4);
    let done = scene.finishes("t-1", Signal::Done);
    assert_eq!(done.events(), ["step_finished", "check_started"], "{done}");
}

#[test]
fn work_whose_ticket_is_edited_on_its_way_goes_back_to_its_agent() {
    for mut scene in [states::checking(), states::edits_in_the_way()] {
        let edited = edit(&mut scene, "another");
        assert_eq!(edited.events()[..2], ["edited", "edit_returned"], "{edited}");
        assert!(is_told(&edited), "{edited}");
        assert!(scene.state("t-1").starts_with("in_progress"), "{edited}");
    }
}

/// Its branch is being merged, and no other effect of the ticket may begin: the edit is told after that.
#[test]
fn an_edit_while_work_is_being_merged_is_told_before_its_checks() {
    let mut scene = states::building();
    let edited = edit(&mut scene, "another");
    assert_eq!(edited.events(), ["edited"], "{edited}");
    let built = scene.built("t-1", 'b');
    assert_eq!(
        built.events()[..2],
        ["candidate_built", "edit_returned"],
        "{built}"
    );
}

#[test]
fn work_that_a_person_has_submitted_is_taken_as_it_is() {
    let mut scene = states::waits_to_step();
    edit(&mut scene, "another");
    scene.ask(Command::Merge { ticket: id("t-1") });
    scene.built("t-1", 'b');
    scene.checked("t-1", Verdict::Passed);
    assert_eq!(scene.state("t-1"), "verify/landing");
}

/// The agent of t-1 is at work, and t-2 waits for that ticket.
fn beside_an_agent() -> Scene {
    let mut scene = states::working();
    scene.write("t-2", |file| file.spec.deps.extend([id("t-1")]));
    assert_eq!(scene.state("t-2"), "open");
    scene
}

fn says(scene: &Scene, ticket: &str) -> Option<Origin> {
    let ticket = scene.core.ticket(&id(ticket)).unwrap();
    ticket.unheeded.as_ref().map(|change| change.origin)
}

#[test]
fn a_file_that_is_closed_or_deleted_while_an_agent_is_at_work_is_asked_about() {
    for act in [
        (|scene: &mut Scene| scene.set_status("t-2", FileStatus::Closed)) as fn(&mut Scene) -> Decided,
        |scene: &mut Scene| scene.delete("t-2"),
    ] {
        let mut scene = beside_an_agent();
        let changed = act(&mut scene);
        assert_eq!(changed.events(), ["file_unheeded"], "{changed}");
        assert_eq!(
            (scene.state("t-2"), says(&scene, "t-2")),
            ("open".to_owned(), Some(Origin::Agents))
        );
        scene.later(secs(3600));
        assert!(scene.tick().events().is_empty());
    }
}

#[test]
fn a_person_who_closes_a_ticket_by_the_command_is_not_asked() {
    let mut scene = beside_an_agent();
    scene.set_status("t-2", FileStatus::Closed);
    let fence = scene.core.ticket(&id("t-2")).unwrap().fence;
    let closed = scene.ask(Command::SetStatus {
        ticket: id("t-2"),
        status: FileStatus::Closed,
        fence,
    });
    assert_eq!(scene.state("t-2"), "done/closed_by_person", "{closed}");
}

#[test]
fn a_file_that_says_open_again_needs_no_answer() {
    let mut scene = beside_an_agent();
    scene.set_status("t-2", FileStatus::Closed);
    scene.set_status("t-2", FileStatus::Open);
    assert_eq!(
        (scene.state("t-2"), says(&scene, "t-2")),
        ("open".to_owned(), None)
    );
}

/// What an agent wrote last may be seen after its end.
#[test]
fn a_file_that_is_closed_just_after_an_agents_end_is_asked_about() {
    let end = |wait| {
        let mut scene = beside_an_agent();
        scene.core.set_settings({
            let mut settings = scene.core.settings().clone();
            settings.run.debounce = secs(1);
            settings
        });
        let why = "no key".to_owned();
        scene.finishes("t-1", Signal::Blocked { why });
        scene.later(wait);
        scene.set_status("t-2", FileStatus::Closed);
        scene.state("t-2")
    };
    assert_eq!(end(secs(0)), "open");
    assert_eq!(end(secs(1)), "done/closed_by_person");
}
