//! Runs: what is seen of a step's process, and what its end means.

use std::time::Duration;

use engine::{AtRemote, End, Input, RunEnd};
use model::attempt::{Class, Failure, Prompt, Signal, State, Usage};
use model::call::Call;
use model::command::{Command, OnStop};
use model::policy::stall::Sample;
use model::ticket::Why;
use model::{RunId, Time};

use crate::matrix::table;
use crate::scene::{NOON, Scene, asked, failed, id, name, oid, secs};
use crate::states;

/// Looks at the step of t-1 every ten seconds, for as long as it runs and no longer than `span`: a step that
/// neither says nor does anything, under a shim that lives.
pub(crate) fn watch(scene: &mut Scene, span: Duration) -> Vec<String> {
    watch_as(scene, span, |seen, _| seen)
}

/// As [`watch`]; `change` makes the n-th look from the plain one.
fn watch_as(scene: &mut Scene, span: Duration, change: impl Fn(Sample, u64) -> Sample) -> Vec<String> {
    let end = scene.now + span;
    let mut lines = Vec::new();
    for n in 0.. {
        let run = scene.core.ticket(&id("t-1")).and_then(|t| t.live_run()).cloned();
        let Some(run) = run.filter(|_| scene.now < end) else {
            break;
        };
        scene.later(secs(10));
        let sample = Sample {
            at: scene.now,
            seen: scene.now,
            output_bytes: 1,
            stated: None,
            cpu_ms: 1,
            children: 1,
            child: None,
            shim: 42,
            pulse: n,
        };
        let sample = change(sample, n);
        let decided = scene.step(Input::Sampled { run, sample });
        let since = scene.now.since(NOON).as_secs();
        let told = decided.lines().iter().map(|line| format!("{since} s: {line}"));
        lines.extend(told);
    }
    lines
}

fn ends() -> Vec<(&'static str, End)> {
    let finished = End::Finished;
    let blocked = Signal::Blocked {
        why: "no key".to_owned(),
    };
    let sleeps = Signal::WakeupSet {
        at: NOON + secs(600),
        why: "the build".to_owned(),
    };
    let mut ends = vec![
        ("finished", finished(Signal::None)),
        ("done", finished(Signal::Done)),
        ("blocked", finished(blocked)),
        ("asked", asked()),
        ("sleeps", finished(sleeps)),
    ];
    let classes = [
        Class::Transient,
        Class::RateLimited,
        Class::Overloaded,
        Class::Auth,
        Class::SessionInUse,
        Class::SessionMissing,
        Class::Timeout,
        Class::Stalled,
        Class::Crash,
        Class::Lost,
        Class::KilledByUs,
        Class::MalformedOutput,
        Class::Budget,
    ];
    ends.extend(classes.map(|class| (class.name(), failed(class))));
    ends
}

/// One end of each kind, for states in which the class of a failure does not matter.
fn few_ends() -> Vec<(&'static str, End)> {
    let few = ["finished", "done", "blocked", "asked", "auth", "lost"];
    ends()
        .into_iter()
        .filter(|(name, _)| few.contains(name))
        .collect()
}

fn after_every_end(scene: &Scene, ends: Vec<(&'static str, End)>) -> String {
    table(scene, ends, |scene, end| scene.run_ends("t-1", end))
}

#[test]
fn the_end_of_a_step_moves_its_ticket() {
    insta::assert_snapshot!(after_every_end(&states::working(), ends()));
}

#[test]
fn the_end_of_a_step_that_is_stopped_for_a_kill_gives_the_ticket_back() {
    insta::assert_snapshot!(after_every_end(&states::being_killed(), few_ends()));
}

#[test]
fn the_end_of_a_step_that_is_stopped_for_a_drop_drops_the_ticket() {
    insta::assert_snapshot!(after_every_end(&states::being_dropped(), few_ends()));
}

#[test]
fn the_end_of_a_step_that_was_silent_is_a_stall_unless_it_ended_well() {
    insta::assert_snapshot!(after_every_end(&states::stalled(), few_ends()));
}

#[test]
fn the_end_of_a_step_that_took_too_long_is_a_timeout_unless_it_ended_well() {
    let mut scene = states::working_with(|settings| settings.run.step_timeout = secs(60));
    watch(&mut scene, secs(100));
    insta::assert_snapshot!(after_every_end(&scene, few_ends()));
}

#[test]
fn the_end_of_a_step_whose_client_had_given_up_is_what_the_client_could_not_say() {
    let mut scene = states::working();
    give_up(&mut scene);
    insta::assert_snapshot!(after_every_end(&scene, few_ends()));
}

fn give_up(scene: &mut Scene) -> crate::words::Decided {
    let run = RunId::new("t-1.1.1").unwrap();
    let failure = Failure::new(Class::SessionMissing, "no such session");
    scene.step(Input::GivenUp { run, failure })
}

#[test]
fn a_client_that_has_given_up_is_stopped_once() {
    let mut scene = states::working();
    assert_eq!(
        give_up(&mut scene).to_string(),
        "t-1: stop_ordered, then fail (session_missing) → stop_run t-1.1.1 ⇒ in_progress/working"
    );
    assert_eq!(give_up(&mut scene).to_string(), "nothing");
    let mut killed = states::being_killed();
    assert_eq!(give_up(&mut killed).to_string(), "nothing");
    let mut over = states::asleep();
    assert_eq!(give_up(&mut over).to_string(), "nothing");
}

#[test]
fn the_end_of_a_run_that_nobody_waits_for_is_refused() {
    let end = |run: &str| {
        Input::RunEnded(RunEnd {
            verdict: None,
            commitments: Vec::new(),
            run: RunId::new(run).unwrap(),
            usage: Usage::default(),
            total_micro_usd: None,
            summary: None,
            modes: Vec::new(),
            made: Vec::new(),
            end: End::Finished(Signal::Done),
            stated: None,
            left: None,
            unusable: Vec::new(),
        })
    };
    for (mut scene, run) in [
        (states::working(), "t-1.1.2"),
        (states::working(), "t-1.2.1"),
        (states::waits_to_step(), "t-1.1.1"),
        (states::killed(), "t-1.1.1"),
        (Scene::new(), "t-1.1.1"),
    ] {
        let decided = scene.step(end(run));
        let refused = format!("refused: run {run} ended, and no attempt waits for it");
        assert_eq!(decided.to_string(), refused);
    }
}

#[test]
fn a_silent_step_is_warned_of_and_then_stopped() {
    let lines = watch(&mut states::working(), secs(700));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_silent_step_that_prints_again_has_stirred_and_may_fall_silent_once_more() {
    let prints_at_500 = |seen: Sample, n| Sample {
        output_bytes: 1 + u64::from(n >= 50),
        child: Some("curl".to_owned()),
        ..seen
    };
    let lines = watch_as(&mut states::working(), secs(1000), prints_at_500);
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn an_engine_that_adopts_a_silent_step_records_no_second_silence_and_sees_it_stir() {
    let mut scene = states::working();
    let lines = watch(&mut scene, secs(320));
    assert_eq!(lines.len(), 1, "{lines:?}");
    scene.restart();
    let prints = |seen: Sample, n| Sample {
        output_bytes: 1 + u64::from(n >= 40),
        ..seen
    };
    let lines = watch_as(&mut scene, secs(450), prints);
    let of_ticket: Vec<&String> = lines.iter().filter(|line| line.contains("t-1")).collect();
    let stirs = matches!(of_ticket.as_slice(), [only] if only.contains("stirred"));
    assert!(stirs, "{lines:?}");
}

#[test]
fn a_step_that_says_or_does_something_is_left_alone() {
    let says = |seen: Sample, n| Sample {
        output_bytes: n,
        ..seen
    };
    let does = |seen: Sample, n| Sample { cpu_ms: n, ..seen };
    for change in [says as fn(Sample, u64) -> Sample, does] {
        let lines = watch_as(&mut states::working(), secs(3000), change);
        assert_eq!(lines, Vec::<String>::new());
    }
}

#[test]
fn a_step_whose_shim_is_frozen_is_warned_of_and_then_stopped() {
    let frozen = |seen: Sample, _| Sample { pulse: 7, ..seen };
    let lines = watch_as(&mut states::working(), secs(700), frozen);
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_step_over_its_limit_is_stopped_whatever_it_does() {
    let busy = |seen: Sample, n| Sample {
        output_bytes: n,
        cpu_ms: n,
        ..seen
    };
    let mut scene = states::working_with(|settings| settings.run.step_timeout = secs(60));
    let lines = watch_as(&mut scene, secs(300), busy);
    let stop = "70 s: t-1: stop_ordered, then retry (timeout) → stop_run t-1.1.1 ⇒ in_progress/working";
    assert_eq!(lines, [stop]);
}

/// A step that has stated its result and stays, as an engine sees it that stops it for that.
fn overstayed() -> Scene {
    let mut scene = states::working();
    let lines = watch_as(&mut scene, secs(50), |seen, _| Sample {
        stated: Some(1),
        ..seen
    });
    let stop = "40 s: t-1: stop_ordered, then conclude → stop_run t-1.1.1 ⇒ in_progress/working";
    assert_eq!(lines, [stop]);
    scene
}

#[test]
fn a_step_that_stays_after_its_result_is_taken_at_its_word() {
    let stated = |end: End| {
        let mut scene = overstayed();
        scene
            .run_ends_as("t-1", failed(Class::KilledByUs), Some(end))
            .to_string()
    };
    let exited = |end: End| {
        let mut scene = states::working();
        scene.later(secs(50));
        scene.run_ends("t-1", end).to_string()
    };
    for (_, end) in ends() {
        assert_eq!(stated(end.clone()), exited(end));
    }
}

#[test]
fn a_step_that_has_called_its_result_is_not_silent_while_its_process_stays() {
    let mut scene = states::working_with(|settings| {
        settings.run.stall_after = secs(20);
        settings.run.exit_within = secs(100);
    });
    let call = Call::SubmitWork {
        summary: "it is done".to_owned(),
        output: None,
        acceptance_test_result: None,
    };
    scene.calls("t-1", call).unwrap();
    let lines = watch(&mut scene, secs(120));
    assert_eq!(lines.len(), 1, "{lines:?}");
    assert!(lines[0].contains("stop_ordered, then conclude"), "{lines:?}");
}

#[test]
fn a_step_that_ends_by_itself_as_it_is_stopped_for_its_result_has_ended_so() {
    insta::assert_snapshot!(after_every_end(&overstayed(), few_ends()));
}

#[test]
fn a_step_that_is_stopped_for_its_result_is_not_repeated_when_the_engine_stops() {
    let mut scene = overstayed();
    let stop = scene.ask(Command::Stop {
        running: OnStop::Kill,
    });
    assert!(!stop.events().contains(&"stop_ordered"), "{stop}");
    let done = Some(End::Finished(Signal::Done));
    let ended = scene.run_ends_as("t-1", failed(Class::KilledByUs), done);
    assert!(ended.events().contains(&"step_finished"), "{ended}");
}

#[test]
fn a_result_does_not_count_against_a_person_who_wants_the_step_gone() {
    for mut scene in [states::being_killed(), states::being_dropped(), states::stalled()] {
        let done = Some(End::Finished(Signal::Done));
        let ended = scene.run_ends_as("t-1", failed(Class::KilledByUs), done);
        assert!(ended.events().contains(&"step_failed"), "{ended}");
    }
}

#[test]
fn a_step_that_is_being_stopped_is_neither_stopped_again_for_its_silence_nor_warned_of() {
    let silent = |seen: Sample, _| seen;
    // The executor warns of a shim that does not run, as it waits for the shim.
    let frozen = |seen: Sample, _| Sample { pulse: 7, ..seen };
    for change in [silent as fn(Sample, u64) -> Sample, frozen] {
        let lines = watch_as(&mut states::being_killed(), secs(3000), change);
        assert_eq!(lines, Vec::<String>::new());
    }
}

#[test]
fn a_look_that_decides_nothing_leaves_everything_else_alone() {
    let mut scene = states::working();
    let mut settings = scene.core.settings().clone();
    settings.run.debounce = secs(1);
    scene.core.set_settings(settings);
    scene.add("t-2");
    assert_eq!(
        watch(&mut scene, secs(10)),
        Vec::<String>::new(),
        "t-2 waits for a tick"
    );
    assert_eq!(scene.tick().events(), ["claimed"]);
}

#[test]
fn a_look_at_a_run_that_nobody_waits_for_decides_nothing() {
    let mut scene = states::killed();
    let sample = Sample {
        at: Time(0),
        seen: Time(0),
        output_bytes: 0,
        stated: None,
        cpu_ms: 0,
        children: 0,
        child: None,
        shim: 0,
        pulse: 0,
    };
    let run = RunId::new("t-1.1.1").unwrap();
    assert_eq!(scene.step(Input::Sampled { run, sample }).to_string(), "nothing");
}

#[test]
fn a_step_that_is_heard_of_only_by_its_end_has_run() {
    let mut scene = states::starting();
    let decided = scene.step(Input::RunEnded(RunEnd {
        verdict: None,
        commitments: Vec::new(),
        run: RunId::new("t-1.1.1").unwrap(),
        usage: Usage::default(),
        total_micro_usd: None,
        summary: None,
        modes: Vec::new(),
        made: Vec::new(),
        end: End::Finished(Signal::Done),
        stated: None,
        left: None,
        unusable: Vec::new(),
    }));
    assert_eq!(decided.events(), ["step_finished", "check_started"], "{decided}");
}

/// A kill is more than the end of the engine, and a drop more than a kill: the greater one counts.
#[test]
fn the_greater_of_two_stops_counts() {
    let mut scene = states::stalled();
    let kill = scene.ask(Command::Kill { agent: name("ann") });
    assert_eq!(kill.events(), ["stop_ordered"], "{kill}");
    let drop = scene.ask(states::drop_it());
    assert_eq!(drop.events(), ["stop_ordered"], "{drop}");
    let ended = scene.run_ends("t-1", failed(Class::Lost));
    assert_eq!(
        ended.events(),
        ["step_failed", "dropped", "agents_idle"],
        "{ended}"
    );
}

/// Steps of t-1 that each leave this workspace with these words: whether it is held after each.
fn held_after(scene: &mut Scene, steps: &[(&str, &str)]) -> Vec<bool> {
    let mut held = Vec::new();
    for (workspace, words) in steps {
        scene.run_leaves("t-1", workspace, words);
        let ticket = scene.core.ticket(&id("t-1")).unwrap();
        held.push(
            ticket
                .held
                .as_ref()
                .is_some_and(|held| held.why == Why::NoProgress),
        );
    }
    held
}

#[test]
fn three_steps_in_a_row_that_change_nothing_and_say_the_same_are_no_progress() {
    let same = ("a", "I could not find it.");
    let mut scene = states::working();
    assert_eq!(held_after(&mut scene, &[same; 3]), [false, false, true]);
    assert_eq!(scene.tick().to_string(), "nothing", "it is not stepped again");
    for other in [("b", same.1), (same.0, "I have read half of it.")] {
        let steps = [same, same, other, same, same];
        assert_eq!(
            held_after(&mut states::working(), &steps),
            [false; 5],
            "{other:?}"
        );
    }
}

#[test]
fn three_lost_steps_in_a_row_that_change_nothing_are_no_progress() {
    let held_after = |left: [&str; 3]| {
        let mut scene = states::working();
        for left in left {
            let mut lost = Failure::new(Class::Lost, format!("gone after {left}"));
            lost.left = Some(left.to_owned());
            scene.run_ends("t-1", End::Failed(lost));
            scene.later(secs(60));
            scene.tick();
        }
        let ticket = scene.core.ticket(&id("t-1")).unwrap();
        ticket.held.as_ref().map(|held| held.why.name())
    };
    assert_eq!(held_after(["a", "a", "a"]), Some("no_progress"));
    assert_eq!(held_after(["a", "b", "b"]), None);
}

#[test]
fn a_landing_that_failed_is_tried_once_when_the_engine_starts() {
    let mut scene = states::landing_failed();
    assert!(scene.state("t-1").ends_with("(held)"));
    scene.later(secs(1));
    let opened = scene.restart();
    assert!(opened.events().contains(&"retry_due"), "{opened}");
    assert!(!scene.state("t-1").ends_with("(held)"));
}

#[test]
fn a_target_that_is_back_has_the_work_checked_again_that_could_not_be() {
    let mut scene = states::could_not_run();
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
    let seen = |is_back| {
        Input::TargetSeen(engine::TargetSeen {
            commit: oid('a'),
            tree: oid('b'),
            environment: String::new(),
            anyway: false,
            anew: false,
            canary_due: false,
            is_back,
            at_remote: AtRemote::Free,
            moved: None,
        })
    };
    scene.step(seen(false));
    assert_eq!(scene.state("t-1"), "verify/checking (held)");
    let events = scene.step(seen(true)).events().join(" ");
    assert!(events.starts_with("retry_due"), "{events}");
}

#[test]
fn a_retry_an_edit_and_a_failed_step_begin_the_count_of_same_steps_anew() {
    let same = ("a", "I could not find it.");
    let mut scene = states::working();
    assert_eq!(held_after(&mut scene, &[same; 2]), [false; 2]);
    scene.write("t-1", |file| file.spec.digest = "other".to_owned());
    assert_eq!(held_after(&mut scene, &[same; 2]), [false; 2]);
    scene.run_ends("t-1", failed(Class::Crash));
    scene.later(secs(2));
    scene.tick();
    assert_eq!(held_after(&mut scene, &[same; 3]), [false, false, true]);
    scene.ask(Command::Retry { ticket: id("t-1") });
    scene.tick();
    assert_eq!(held_after(&mut scene, &[same; 2]), [false; 2]);
}

#[test]
fn a_retry_keeps_the_count_by_which_the_wait_grows_and_a_good_step_ends_it() {
    let mut scene = states::working();
    let mut fails = || {
        let failed = scene.run_ends("t-1", failed(Class::Transient)).to_string();
        scene.ask(Command::Retry { ticket: id("t-1") });
        scene.tick();
        failed
    };
    for wait in ["2", "4", "8", "16", "32", "60", "60"] {
        let failed = fails();
        assert!(
            failed.contains(&format!("again in {wait} s, 4 errors")),
            "{failed}"
        );
    }
    scene.finishes("t-1", Signal::None);
    let failed = scene.run_ends("t-1", failed(Class::Transient)).to_string();
    assert!(failed.contains("again in 2 s"), "{failed}");
}

/// The prompt of the next step of t-1, and the lines that it names.
fn next_prompt(scene: &Scene) -> (Prompt, Vec<String>) {
    let attempt = scene.core.ticket(&id("t-1")).and_then(|t| t.attempt()).cloned();
    let attempt = attempt.unwrap();
    match attempt.state {
        State::Working(working) => (working.next, attempt.unusable),
        other => panic!("{other:?}"),
    }
}

const UNUSABLE: &str = "WAKEUP: soon is no duration like 90s, 10m or 1h30m";

#[test]
fn a_line_that_could_not_be_used_is_told_at_the_next_step() {
    let mut scene = states::working();
    scene.run_says_unusable("t-1", Signal::None, UNUSABLE);
    assert_eq!(next_prompt(&scene), (Prompt::Step, vec![UNUSABLE.to_owned()]));
    scene.finishes("t-1", Signal::None);
    assert_eq!(next_prompt(&scene), (Prompt::Step, Vec::new()));
}

#[test]
fn the_same_unusable_line_three_times_on_unchanged_input_is_no_progress() {
    let mut scene = states::working();
    for _ in 0..3 {
        scene.run_says_unusable("t-1", Signal::None, UNUSABLE);
    }
    let ticket = scene.core.ticket(&id("t-1")).unwrap();
    let held = ticket.held.as_ref().unwrap();
    assert_eq!(held.why, Why::NoProgress);
    assert!(held.note.contains(UNUSABLE), "{}", held.note);
}
