//! Harness pauses: what a service says to one agent holds for all of its harness.

use engine::End;
use model::attempt::{Class, Failure};
use model::command::Command;
use model::settings::{Harness, HarnessKind, Settings};

use crate::scene::{Scene, failed, id, secs};
use crate::states;
use crate::words::Decided;

/// Two agents of one harness at work.
fn two_at_work() -> Scene {
    let mut scene = states::working();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene
}

fn change(scene: &mut Scene, change: impl FnOnce(&mut Settings)) -> Decided {
    let mut settings = scene.core.settings().clone();
    change(&mut settings);
    scene.core.set_settings(settings);
    scene.tick()
}

fn refused_until(class: Class, scene: &Scene, seconds: u64) -> End {
    let until = Some(scene.now + secs(seconds));
    End::Failed(Failure {
        until,
        ..Failure::new(class, "come back later")
    })
}

fn retry(scene: &mut Scene, ticket: &str) -> Decided {
    scene.ask(Command::Retry { ticket: id(ticket) })
}

#[test]
fn a_rate_limit_stops_the_steps_of_all_agents_until_it_is_over() {
    let mut scene = two_at_work();
    let end = refused_until(Class::RateLimited, &scene, 300);
    let limited = scene.run_ends("t-1", end);
    assert!(
        limited
            .to_string()
            .contains("crew: harness_paused scripted (rate_limited), over in 300 s"),
        "{limited}"
    );
    let other = scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    assert_eq!(other.events(), ["step_finished"], "{other}");
    assert_eq!(
        other.output.wake_at,
        Some(scene.now + secs(300)),
        "it looks again when the limit is over"
    );
    let over = scene.wait(secs(300)).join("\n");
    assert_eq!(over.matches("step_started").count(), 2, "{over}");
}

#[test]
fn refused_credentials_stop_the_steps_of_all_agents_until_a_person_retries() {
    let mut scene = two_at_work();
    scene.run_ends("t-1", failed(Class::Auth));
    scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    let day = scene.wait(secs(24 * 3600));
    assert!(!day.join("\n").contains("step_started"), "{day:?}");
    let retried = retry(&mut scene, "t-1");
    assert_eq!(
        retried.events(),
        ["retried", "harness_freed", "step_started", "step_started"],
        "{retried}"
    );
}

#[test]
fn a_shorter_pause_does_not_replace_a_longer_one() {
    let mut scene = two_at_work();
    let long = refused_until(Class::RateLimited, &scene, 300);
    scene.run_ends("t-1", long);
    let short = refused_until(Class::Overloaded, &scene, 60);
    let second = scene.run_ends("t-2", short);
    assert_eq!(second.events(), ["step_failed"], "{second}");
    let early = scene.wait(secs(60));
    assert!(!early.join("\n").contains("step_started"), "{early:?}");
}

#[test]
fn a_longer_pause_replaces_a_shorter_one() {
    let mut scene = two_at_work();
    let short = refused_until(Class::RateLimited, &scene, 60);
    scene.run_ends("t-1", short);
    let auth = scene.run_ends("t-2", failed(Class::Auth));
    assert_eq!(auth.events(), ["step_failed", "harness_paused"], "{auth}");
    let later = scene.wait(secs(60));
    assert!(!later.join("\n").contains("step_started"), "{later:?}");
}

#[test]
fn a_failure_of_its_own_pauses_nobody_else() {
    let mut scene = two_at_work();
    scene.run_ends("t-1", failed(Class::Crash));
    let other = scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    assert_eq!(other.events(), ["step_finished", "step_started"], "{other}");
}

#[test]
fn a_retry_of_any_ticket_that_waits_for_the_harness_frees_it() {
    let mut scene = two_at_work();
    scene.run_ends("t-1", failed(Class::Auth));
    scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    let retried = retry(&mut scene, "t-2");
    assert_eq!(retried.answer(), "accepted: steps are started on scripted again");
    assert_eq!(retried.events(), ["harness_freed", "step_started"], "{retried}");
    assert_eq!(scene.state("t-1"), "in_progress/stuck (held)");
}

#[test]
fn a_pause_that_only_a_person_ends_can_be_ended_by_a_retry_of_a_ticket_that_is_over() {
    let mut scene = states::refused();
    scene.ask(states::drop_it());
    let retried = retry(&mut scene, "t-1");
    assert_eq!(retried.answer(), "accepted: steps are started on scripted again");
    assert!(scene.core.project().paused.is_empty());
}

#[test]
fn a_rate_limit_is_not_ended_by_a_retry_of_a_ticket_that_is_over() {
    let mut scene = states::throttled();
    scene.ask(states::drop_it());
    assert_eq!(
        retry(&mut scene, "t-1").answer(),
        "not possible: t-1 is not held: it is done/dropped"
    );
}

#[test]
fn an_agent_changes_to_the_harness_that_the_settings_name_when_its_own_is_gone() {
    let mut scene = states::waits_to_step();
    change(&mut scene, |settings| {
        settings.harness.clear();
        let claude = Harness::new(HarnessKind::Claude);
        settings.harness.insert("claude".to_owned(), claude);
        settings.agents.harness = Some("claude".to_owned());
    });
    let lines = scene.wait(secs(2));
    assert_eq!(
        lines,
        ["t-1: step_started t-1.1.2, changed to claude → \
          start_step t-1.1.2 on claude (resume, new session); cancels step ⇒ in_progress/working"]
    );
}

#[test]
fn an_agent_keeps_its_harness_while_the_settings_name_it() {
    let mut scene = states::waits_to_step();
    change(&mut scene, |settings| {
        let claude = Harness::new(HarnessKind::Claude);
        settings.harness.insert("claude".to_owned(), claude);
        settings.agents.harness = Some("claude".to_owned());
    });
    let lines = scene.wait(secs(2)).join("\n");
    assert!(lines.contains("start_step t-1.1.2 on scripted"), "{lines}");
    let other = scene.add("t-2");
    assert_eq!(other.events(), ["created", "claimed"]);
    let ready = scene.workspace_ready("t-2").to_string();
    assert!(ready.contains("on claude (init, new session)"), "{ready}");
}

#[test]
fn a_pause_of_one_harness_leaves_the_others_alone() {
    let mut scene = states::refused();
    change(&mut scene, |settings| {
        let claude = Harness::new(HarnessKind::Claude);
        settings.harness.insert("claude".to_owned(), claude);
        settings.agents.harness = Some("claude".to_owned());
    });
    scene.add("t-2");
    let ready = scene.workspace_ready("t-2");
    assert_eq!(ready.events(), ["workspace_ready", "step_started"], "{ready}");
}

/// Which pause is ended by a retry of a ticket that no pause stops: the one that its own step has caused.
#[test]
fn a_retry_frees_the_harness_that_refused_the_ticket_though_new_attempts_use_another() {
    let mut scene = states::refused();
    change(&mut scene, |settings| {
        settings.harness.clear();
        let claude = Harness::new(HarnessKind::Claude);
        settings.harness.insert("claude".to_owned(), claude);
        settings.agents.harness = Some("claude".to_owned());
    });
    let retried = retry(&mut scene, "t-1");
    assert_eq!(
        retried.events(),
        ["retried", "harness_freed", "step_started"],
        "{retried}"
    );
    assert!(scene.core.project().paused.is_empty());
}

/// Two harnesses: scripted, on which the agents are at work, and claude, which new attempts use.
fn prefer_claude(scene: &mut Scene, keep_scripted: bool) {
    change(scene, |settings| {
        if !keep_scripted {
            settings.harness.clear();
        }
        let claude = Harness::new(HarnessKind::Claude);
        settings.harness.insert("claude".to_owned(), claude);
        settings.agents.harness = Some("claude".to_owned());
    });
}

#[test]
fn a_retry_frees_the_harness_that_the_ticket_waits_for_though_another_was_refused() {
    let mut scene = two_at_work();
    prefer_claude(&mut scene, true);
    scene.run_ends("t-1", failed(Class::Auth));
    scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    let retried = retry(&mut scene, "t-2");
    assert_eq!(retried.events(), ["harness_freed", "step_started"], "{retried}");
}

#[test]
fn a_retry_of_a_ticket_that_nobody_has_frees_the_harness_of_new_attempts() {
    let mut scene = states::refused();
    scene.write("t-2", |file| file.spec.kind = "epic".to_owned());
    let retried = retry(&mut scene, "t-2");
    assert_eq!(retried.answer(), "accepted: steps are started on scripted again");
}

#[test]
fn an_agent_whose_harness_is_gone_waits_for_the_one_that_it_changes_to() {
    let mut scene = states::waits_to_step();
    prefer_claude(&mut scene, false);
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.run_ends("t-2", failed(Class::Auth));
    let waited = scene.wait(secs(60));
    assert!(!waited.join("\n").contains("step_started"), "{waited:?}");
}

#[test]
fn a_pause_that_is_no_longer_than_the_one_there_is_is_not_even_tried() {
    let mut scene = two_at_work();
    scene.run_ends("t-1", failed(Class::Auth));
    let second = scene.run_ends("t-2", failed(Class::Auth));
    assert_eq!(second.events(), ["step_failed"], "{second}");
    assert!(second.output.refused.is_empty(), "{second}");
}

#[test]
fn a_step_that_runs_while_its_harness_is_paused_moves() {
    let mut scene = two_at_work();
    scene.run_ends("t-1", failed(Class::Auth));
    assert!(scene.core.moves(&id("t-2")));
    scene.run_ends("t-2", End::Finished(model::attempt::Signal::None));
    assert!(!scene.core.moves(&id("t-2")));
    let waits = scene.core.rest().waits;
    assert_eq!(
        waits[1].why,
        "scripted refuses (auth): it went wrong; `crew retry t-1` once that is mended"
    );
}
