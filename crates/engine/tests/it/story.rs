//! Stories: a ticket from its file to the target, with what led to each decision.

use engine::Report;
use model::attempt::Signal;
use model::journal::Stream;

use crate::scene::{Scene, secs};
use crate::states;
use crate::words::Decided;

/// The decisions with their causes, as the history of a ticket shows them.
fn told(decided: &Decided) -> String {
    let mut text = String::new();
    for write in &decided.output.writes {
        if let Stream::Project = write.stream {
            continue;
        }
        let facts: Vec<&str> = write.entries.iter().map(|entry| entry.fact.name()).collect();
        let completes = if write.completes.is_some() {
            ", which completes an effect"
        } else {
            ""
        };
        text.push_str(&format!(
            "{} because {}{completes}\n",
            facts.join(" "),
            write.cause
        ));
    }
    text
}

#[test]
fn a_ticket_is_made_claimed_stepped_checked_and_landed() {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(1));
    let mut story = Vec::new();
    story.push(scene.add("t-1"));
    scene.later(secs(1));
    story.push(scene.tick());
    story.push(scene.report("t-1", "write_file", Report::Done));
    story.push(scene.workspace_ready("t-1"));
    story.push(scene.report("t-1", "start_step", Report::StepSpawned));
    story.push(scene.finishes("t-1", Signal::None));
    story.push(scene.report("t-1", "start_step", Report::StepSpawned));
    story.push(scene.finishes("t-1", Signal::Done));
    story.push(scene.built("t-1", 'b'));
    story.push(scene.checks_pass("t-1"));
    story.push(scene.landed("t-1"));
    story.push(scene.report("t-1", "remove_workspace", Report::Done));
    let lines: Vec<String> = story.iter().map(ToString::to_string).collect();
    insta::assert_snapshot!("decisions", lines.join("\n"));
    let causes: String = story.iter().map(told).collect();
    insta::assert_snapshot!("causes", causes);
}

#[test]
fn a_decision_of_a_person_or_a_limit_says_its_cause() {
    let mut lines = String::new();
    let mut add = |decided: &Decided| lines.push_str(&told(decided));
    add(&states::stuck().report(
        "t-1",
        "inspect_workspace",
        Report::Inspected {
            workspace: model::attempt::Workspace::Changed,
        },
    ));
    add(&states::starting().report("t-1", "start_step", Report::WorkspaceMissing));
    let failure = model::attempt::Failure::new(model::attempt::Class::Crash, "no such program");
    add(&states::starting().report("t-1", "start_step", Report::StepNotSpawned { failure }));
    add(&states::preparing().delete("t-1"));
    add(&states::waits_for_another().set_status("t-1", model::ticket::FileStatus::Closed));
    add(&states::asleep().ask(model::command::Command::Wake {
        agent: crate::scene::name("ann"),
    }));
    insta::assert_snapshot!(lines);
}
