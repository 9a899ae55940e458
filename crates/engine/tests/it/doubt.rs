//! Doubt: files that an agent at work may have written, and what a person's word about them is worth.

use std::collections::BTreeSet;

use model::TicketId;
use model::call::Call;
use model::command::Command;
use model::journal::Fact;
use model::policy::review;
use model::settings::{ReviewOf, ReviewWhen, Settings};
use model::ticket::{Event, Origin};

use crate::delegation::task;
use crate::scene::{Scene, id};
use crate::words::Decided;

/// Work with the tag `risky` is reviewed, and t-1 has that tag.
fn risky(settings: &mut Settings) {
    settings.review.when = ReviewWhen::Some(ReviewOf {
        labels: tags(&["risky"]),
        ..ReviewOf::default()
    });
}

fn tags(all: &[&str]) -> BTreeSet<String> {
    all.iter().map(|tag| (*tag).to_owned()).collect()
}

fn add(scene: &mut Scene, ticket: &str, all: &[&str]) {
    scene.write(ticket, |file| file.spec.tags = tags(all));
}

/// An agent steps on t-1.
fn at_work() -> Scene {
    let mut scene = Scene::with(risky);
    add(&mut scene, "t-1", &["risky"]);
    scene.workspace_ready("t-1");
    scene
}

/// Whether the agent that steps on a ticket may delegate.
fn leads(scene: &mut Scene, ticket: &str) -> bool {
    let told = scene.delegates(ticket, &[task("A part")]);
    if let Err(why) = &told {
        assert!(why.contains("on this ticket you may not"), "{why}");
    }
    told.is_ok()
}

fn approve(scene: &mut Scene, ticket: &str) -> String {
    let (ticket, tip) = (id(ticket), None);
    scene.ask(Command::Approve { ticket, tip }).answer()
}

fn is_reviewed(scene: &Scene, ticket: &str) -> bool {
    let ticket = scene.core.ticket(&id(ticket)).unwrap();
    let mut settings = crate::scene::settings();
    risky(&mut settings);
    review::is_wanted(&settings, ticket, None)
}

#[test]
fn a_leader_that_comes_while_an_agent_is_at_work_leads_once_a_person_has_said_so() {
    let mut scene = at_work();
    add(&mut scene, "t-2", &["leader"]);
    let words = scene.core.ticket(&id("t-2")).unwrap().doubt_words().join("; ");
    assert!(
        words.contains("the tag `leader` does not count") && words.contains("`crew approve t-2`"),
        "{words}"
    );
    scene.workspace_ready("t-2");
    assert!(!leads(&mut scene, "t-2"));
    let told = approve(&mut scene, "t-2");
    assert!(told.contains("counts as it stands"), "{told}");
    assert!(leads(&mut scene, "t-2"));
    let again = approve(&mut scene, "t-2");
    assert!(!again.contains("counts as it stands"), "{again}");
}

#[test]
fn a_tag_that_an_edit_brings_while_an_agent_is_at_work_does_not_count_either() {
    let mut scene = at_work();
    // The first attempt is over before anybody gets it.
    scene.write("t-2", |file| file.spec.deps = [id("t-1")].into());
    scene.write("t-2", |file| file.spec.tags = tags(&["leader"]));
    scene.write("t-2", |file| file.spec.deps.clear());
    scene.workspace_ready("t-2");
    assert!(!leads(&mut scene, "t-2"));
}

#[test]
fn a_leader_of_a_quiet_time_or_of_gits_leads() {
    let mut scene = Scene::with(risky);
    add(&mut scene, "t-1", &["leader"]);
    scene.workspace_ready("t-1");
    assert!(leads(&mut scene, "t-1"));
    let mut scene = at_work();
    scene.origin = Origin::Git;
    add(&mut scene, "t-2", &["leader"]);
    scene.origin = Origin::Person;
    scene.workspace_ready("t-2");
    assert!(leads(&mut scene, "t-2") && !is_reviewed(&scene, "t-2"));
}

#[test]
fn a_ticket_that_says_an_agent_made_it_does_not_lead() {
    let mut scene = Scene::with(risky);
    scene.write("t-1", |file| {
        file.spec.tags = tags(&["leader"]);
        file.spec.made_by = Some("bob".to_owned());
    });
    scene.workspace_ready("t-1");
    assert!(!leads(&mut scene, "t-1"));
}

#[test]
fn a_ticket_that_comes_while_an_agent_is_at_work_on_reviewed_work_is_reviewed() {
    let mut scene = at_work();
    scene.add("t-2");
    assert!(is_reviewed(&scene, "t-2"));
    approve(&mut scene, "t-2");
    assert!(!is_reviewed(&scene, "t-2"));
    // What an agent makes by its tool has the tags of its maker, and no other's.
    add(&mut scene, "t-3", &[]);
    scene.workspace_ready("t-2");
    let made = Call::CreateTicket {
        title: "Look further".to_owned(),
        description: None,
        design: None,
        acceptance: None,
        kind: None,
        parent: None,
        tags: BTreeSet::new(),
        deps: BTreeSet::new(),
        priority: None,
    };
    scene.calls("t-2", made).unwrap();
    scene.write("t-2-n1", |file| file.spec.made_by = Some("bob".to_owned()));
    assert!(is_reviewed(&scene, "t-3") && !is_reviewed(&scene, "t-2-n1"));
}

#[test]
fn a_dependency_that_comes_while_an_agent_is_at_work_counts_and_its_history_names_who_may_have_written_it() {
    let mut scene = at_work();
    add(&mut scene, "t-2", &[]);
    add(&mut scene, "t-3", &[]);
    let edited = scene.write("t-3", |file| file.spec.deps = [id("t-2")].into());
    assert_eq!(writers(&edited), [id("t-1")]);
    scene.origin = Origin::Git;
    let by_git = scene.write("t-3", |file| file.spec.deps.clear());
    assert_eq!(writers(&by_git), []);
}

/// The tickets whose agents may have written an edit.
fn writers(decided: &Decided) -> Vec<TicketId> {
    let entries = decided.output.writes.iter().flat_map(|write| &write.entries);
    let mut edits = entries.filter_map(|entry| match &entry.fact {
        Fact::Ticket(Event::Edited { waited, .. }) => {
            let writers = waited.iter().flat_map(|waited| &waited.writers);
            Some(writers.cloned().collect())
        }
        Fact::Ticket(_) | Fact::Project(_) => None,
    });
    edits.next().unwrap()
}
