//! Budgets: what a ticket and a day may cost, and what follows when it is spent.

use engine::End;
use model::attempt::{Class, Signal};
use model::command::Command;
use model::money::Usd;
use model::settings::Settings;
use model::ticket::FileStatus;

use crate::scene::{Scene, failed, id, secs};
use crate::states::{self, cost};
use crate::words::Decided;

fn usd(text: &str) -> Option<Usd> {
    Some(Usd::parse(text).unwrap())
}

fn change(scene: &mut Scene, change: impl FnOnce(&mut Settings)) -> Decided {
    let mut settings = scene.core.settings().clone();
    change(&mut settings);
    scene.core.set_settings(settings);
    scene.tick()
}

fn step_costs(scene: &mut Scene, ticket: &str, dollars: u64) -> Decided {
    scene.run_ends_for(ticket, End::Finished(Signal::None), cost(dollars))
}

#[test]
fn an_agent_is_warned_once_when_most_of_the_budget_is_spent_and_held_when_all_is() {
    let mut scene = states::working_with(|settings| settings.budget.ticket_usd = usd("10"));
    let steps: Vec<String> = [7, 1, 1, 1]
        .into_iter()
        .map(|dollars| step_costs(&mut scene, "t-1", dollars).to_string())
        .collect();
    insta::assert_snapshot!(steps.join("\n---\n"));
}

#[test]
fn a_step_that_failed_has_not_shown_the_warning() {
    let mut scene = states::working_with(|settings| settings.budget.ticket_usd = usd("10"));
    let warned = step_costs(&mut scene, "t-1", 8).to_string();
    assert!(warned.contains("warned of $8.00 of $10.00"), "{warned}");
    scene.run_ends("t-1", failed(Class::Transient));
    let again = scene.wait(secs(2)).join("\n");
    assert!(again.contains("warned of $8.00 of $10.00"), "{again}");
}

#[test]
fn a_ticket_goes_on_when_its_budget_is_raised_and_its_agent_is_free() {
    let mut scene = states::out_of_budget();
    let more = change(&mut scene, |settings| settings.budget.ticket_usd = usd("6"));
    assert_eq!(more.events(), ["budget_raised", "step_started"], "{more}");
}

#[test]
fn a_ticket_whose_agent_has_another_goes_back_to_the_queue_when_its_budget_is_raised() {
    let mut scene = states::out_of_budget();
    scene.set_status("t-2", FileStatus::Open);
    let more = change(&mut scene, |settings| settings.budget.ticket_usd = None);
    assert_eq!(more.events(), ["budget_raised", "claimed"], "{more}");
    assert!(more.to_string().contains("claimed by bob"), "{more}");
}

#[test]
fn a_budget_that_is_changed_and_still_spent_says_the_new_figures() {
    let mut scene = states::out_of_budget();
    let changed = change(&mut scene, |settings| settings.budget.ticket_usd = usd("4"));
    assert_eq!(
        changed.to_string(),
        "t-1: budget_spent $5.00 of $4.00 ⇒ in_progress/working (held)"
    );
    assert!(scene.tick().events().is_empty(), "it is said once");
}

#[test]
fn a_retry_grants_as_much_again() {
    let mut scene = states::out_of_budget();
    let retry = scene.ask(Command::Retry { ticket: id("t-1") });
    assert_eq!(retry.events(), ["retried", "step_started"], "{retry}");
    let less = step_costs(&mut scene, "t-1", 3);
    assert_eq!(less.events(), ["step_finished", "step_started"], "{less}");
    let spent = step_costs(&mut scene, "t-1", 2);
    assert_eq!(spent.events(), ["step_finished", "budget_spent"], "{spent}");
}

#[test]
fn a_ticket_that_came_back_to_the_queue_is_held_for_its_budget_too() {
    let mut scene = states::working_with(|settings| settings.budget.ticket_usd = usd("5"));
    let why = "no key".to_owned();
    scene.run_ends_for("t-1", End::Finished(Signal::Blocked { why }), cost(5));
    assert_eq!(
        scene.state("t-1"),
        "open (held)",
        "its agent says more than its budget"
    );
    let retry = scene.ask(Command::Retry { ticket: id("t-1") });
    assert_eq!(retry.events(), ["retried", "budget_spent"], "{retry}");
}

#[test]
fn submitted_work_is_checked_and_landed_whatever_it_has_cost() {
    let mut scene = states::working_with(|settings| settings.budget.ticket_usd = usd("5"));
    let done = scene.run_ends_for("t-1", End::Finished(Signal::Done), cost(9));
    assert_eq!(done.events(), ["step_finished", "check_started"], "{done}");
    scene.built("t-1", 'b');
    assert_eq!(scene.state("t-1"), "verify/checking");
}

#[test]
fn nothing_is_started_on_a_day_whose_budget_is_spent() {
    let mut scene = Scene::with(|settings| settings.budget.day_usd = usd("10"));
    scene.add("t-1");
    scene.add("t-2");
    scene.workspace_ready("t-1");
    scene.workspace_ready("t-2");
    let low = step_costs(&mut scene, "t-1", 8);
    assert_eq!(
        low.to_string(),
        "t-1: step_finished without a signal, 19 steps left ⇒ in_progress/working\n\
         crew: day_budget_low $8.00 of $10.00\n\
         t-1: step_started t-1.1.2 → start_step t-1.1.2 on scripted (step, old session) ⇒ in_progress/working"
    );
    let spent = step_costs(&mut scene, "t-1", 2);
    assert_eq!(
        spent.to_string(),
        "t-1: step_finished without a signal, 18 steps left ⇒ in_progress/working\n\
         crew: day_budget_spent $10.00 of $10.00, over in 43200 s\n\
         wakes in 43200 s"
    );
    // A step that runs goes on. Its cost comes on top, and nobody is told again.
    let more = step_costs(&mut scene, "t-2", 1);
    assert_eq!(more.events(), ["step_finished"], "{more}");
    scene.add("t-3");
    assert_eq!(scene.state("t-3"), "open", "nothing is given out");

    scene.later(secs(12 * 3600));
    let morning = scene.tick();
    let events = ["day_budget_free", "step_started", "step_started", "claimed"];
    assert_eq!(morning.events(), events, "{morning}");
}

#[test]
fn a_day_goes_on_when_its_budget_is_raised_and_says_so_when_it_is_lowered() {
    let mut scene = states::working_with(|settings| settings.budget.day_usd = usd("10"));
    step_costs(&mut scene, "t-1", 10);
    let raised = change(&mut scene, |settings| settings.budget.day_usd = usd("20"));
    assert_eq!(raised.events(), ["day_budget_free", "step_started"], "{raised}");
    let lowered = change(&mut scene, |settings| settings.budget.day_usd = usd("9"));
    assert_eq!(lowered.events(), ["day_budget_spent"], "{lowered}");
    let lower = change(&mut scene, |settings| settings.budget.day_usd = usd("8"));
    assert_eq!(
        lower.events(),
        ["day_budget_spent"],
        "the figures are others: {lower}"
    );
    let none = change(&mut scene, |settings| settings.budget.day_usd = None);
    assert_eq!(none.events(), ["day_budget_free"], "{none}");
}

#[test]
fn a_restart_forgets_no_cost() {
    let mut scene = states::working_with(|settings| settings.budget.day_usd = usd("10"));
    step_costs(&mut scene, "t-1", 10);
    scene.restart();
    let read = scene.look_at_all();
    assert!(!read.events().contains(&"step_started"), "{read}");
    let raised = change(&mut scene, |settings| settings.budget.day_usd = usd("11"));
    assert_eq!(raised.events(), ["day_budget_free", "step_started"], "{raised}");
}

#[test]
fn a_ticket_is_given_out_on_the_day_after_one_whose_budget_was_spent() {
    let mut scene = states::working_with(|settings| {
        settings.budget.day_usd = usd("10");
        settings.run.max_workers = 1;
    });
    step_costs(&mut scene, "t-1", 10);
    scene.ask(states::drop_it());
    scene.add("t-2");
    assert_eq!(scene.state("t-2"), "open");
    scene.tick();
    scene.later(secs(12 * 3600));
    let morning = scene.tick();
    assert_eq!(
        morning.events(),
        ["day_budget_free", "claimed", "agents_busy"],
        "{morning}"
    );
}

#[test]
fn people_are_told_once_a_day_that_its_budget_is_low() {
    let mut scene = states::working_with(|settings| settings.budget.day_usd = usd("10"));
    let low = step_costs(&mut scene, "t-1", 8);
    assert!(low.events().contains(&"day_budget_low"), "{low}");
    let again = step_costs(&mut scene, "t-1", 1);
    assert!(!again.events().contains(&"day_budget_low"), "{again}");
    assert!(again.output.refused.is_empty(), "{again}");
    scene.later(secs(24 * 3600));
    let tomorrow = step_costs(&mut scene, "t-1", 8);
    assert!(tomorrow.events().contains(&"day_budget_low"), "{tomorrow}");
}

#[test]
fn a_step_that_runs_is_not_stopped_for_a_budget_that_was_lowered() {
    let mut scene = states::working_with(|settings| settings.budget.ticket_usd = usd("10"));
    step_costs(&mut scene, "t-1", 5);
    let lowered = change(&mut scene, |settings| settings.budget.ticket_usd = usd("4"));
    assert_eq!(lowered.to_string(), "nothing");
    let ended = step_costs(&mut scene, "t-1", 1);
    assert_eq!(ended.events(), ["step_finished", "budget_spent"], "{ended}");
}
