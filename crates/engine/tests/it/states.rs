//! The states that a ticket can be in, each reached by inputs alone. The ticket is always t-1, and its agent
//! ann; where another one is needed it is t-2, of bob. Cat is idle.

use engine::{End, Report};
use model::attempt::{Class, Signal, Usage};
use model::command::Command;
use model::settings::Settings;
use model::ticket::{FileStatus, InTheWay, Obstacle};

use crate::scene::{Scene, Verdict, asked, failed, id, name, oid, secs};

/// A state's name, and how it is reached.
pub(crate) type Reached = (&'static str, fn() -> Scene);

/// Every state, with its name.
pub(crate) fn all() -> Vec<(&'static str, Scene)> {
    let states: &[Reached] = &[
        ("nobody knows it", Scene::new),
        ("its file has just changed", debouncing),
        ("it waits for t-2", waits_for_another),
        ("a person has taken it", taken_by_person),
        ("it came back and is not due", not_due),
        ("its agent is blocked", blocked),
        ("its agent was killed", killed),
        ("its attempts are spent", spent),
        ("its workspace is being made", preparing),
        ("every worker is at work", ready),
        ("its step is being started", starting),
        ("its step runs", working),
        ("its step is being stopped for a kill", being_killed),
        ("its step is being stopped for a drop", being_dropped),
        ("its step was stopped for its silence", stalled),
        ("its next step waits", waits_to_step),
        ("its harness is paused", throttled),
        ("its agent has asked", waits_for_answer),
        ("its agent sleeps", asleep),
        ("too many steps have failed", stuck),
        ("its credentials are refused", refused),
        ("the same failure came three times", no_progress),
        ("its budget is spent", out_of_budget),
        ("it waits behind another submission", queued),
        ("its work is being merged", building),
        ("its checks run", checking),
        ("its checks could not be run", could_not_run),
        ("its target is red", target_red),
        ("its paths want a word", sensitive),
        ("its conflicts are not resolved", in_conflict),
        ("nothing was committed three times", nothing_committed),
        ("it is landing", landing),
        ("landing it fails", landing_failed),
        ("edits are in the way", edits_in_the_way),
        ("it has landed", landed),
        ("it was dropped", dropped),
        ("a person has closed it", closed),
        ("it was not needed", not_needed),
    ];
    states.iter().map(|(label, scene)| (*label, scene())).collect()
}

/// As [`all`], when the writings of crew have arrived in the files.
pub(crate) fn all_at_rest() -> Vec<(&'static str, Scene)> {
    let mut states = all();
    for (_, scene) in &mut states {
        scene.files_written("t-1");
    }
    states
}

pub(crate) fn debouncing() -> Scene {
    let mut scene = Scene::with(|settings| settings.run.debounce = secs(1));
    scene.add("t-1");
    scene
}

pub(crate) fn waits_for_another() -> Scene {
    let mut scene = Scene::new();
    scene.write("t-1", |file| drop(file.spec.deps.replace(id("t-2"))));
    scene
}

pub(crate) fn taken_by_person() -> Scene {
    let mut scene = Scene::new();
    scene.set_status("t-1", FileStatus::InProgress);
    scene
}

pub(crate) fn not_due() -> Scene {
    let mut scene = preparing();
    workspace_fails(&mut scene);
    scene
}

fn workspace_fails(scene: &mut Scene) {
    let why = "no such remote".to_owned();
    scene.report("t-1", "prepare_workspace", Report::WorkspaceFailed { why });
}

pub(crate) fn blocked() -> Scene {
    let mut scene = working();
    let why = "no key".to_owned();
    scene.finishes("t-1", Signal::Blocked { why });
    scene
}

pub(crate) fn killed() -> Scene {
    let mut scene = being_killed();
    scene.run_ends("t-1", failed(Class::Lost));
    scene
}

pub(crate) fn spent() -> Scene {
    let mut scene = not_due();
    for _ in 0..2 {
        scene.wait(secs(600));
        workspace_fails(&mut scene);
    }
    scene
}

pub(crate) fn preparing() -> Scene {
    preparing_with(|_| {})
}

fn preparing_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = Scene::with(change);
    scene.add("t-1");
    scene
}

pub(crate) fn ready() -> Scene {
    let mut scene = Scene::with(|settings| settings.run.max_workers = 1);
    scene.add("t-1");
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.workspace_ready("t-1");
    scene
}

pub(crate) fn starting() -> Scene {
    starting_with(|_| {})
}

fn starting_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = preparing_with(change);
    scene.workspace_ready("t-1");
    scene
}

pub(crate) fn working() -> Scene {
    working_with(|_| {})
}

pub(crate) fn working_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = starting_with(change);
    scene.report("t-1", "start_step", Report::StepSpawned);
    scene
}

pub(crate) fn being_killed() -> Scene {
    let mut scene = working();
    scene.ask(Command::Kill { agent: name("ann") });
    scene
}

pub(crate) fn being_dropped() -> Scene {
    let mut scene = working();
    scene.ask(drop_it());
    scene
}

pub(crate) fn drop_it() -> Command {
    let reason = "not wanted".to_owned();
    Command::Drop {
        ticket: id("t-1"),
        reason,
    }
}

pub(crate) fn stalled() -> Scene {
    let mut scene = working();
    crate::runs::watch(&mut scene, secs(700));
    scene
}

pub(crate) fn waits_to_step() -> Scene {
    let mut scene = working();
    scene.run_ends("t-1", failed(Class::Transient));
    scene
}

pub(crate) fn throttled() -> Scene {
    let mut scene = working();
    scene.run_ends("t-1", failed(Class::RateLimited));
    scene
}

pub(crate) fn waits_for_answer() -> Scene {
    let mut scene = working();
    scene.run_ends("t-1", asked());
    scene
}

pub(crate) fn asleep() -> Scene {
    let mut scene = working();
    let (at, why) = (scene.now + secs(600), "the build takes long".to_owned());
    scene.finishes("t-1", Signal::WakeupSet { at, why });
    scene
}

pub(crate) fn stuck() -> Scene {
    let mut scene = working();
    for _ in 0..4 {
        scene.run_ends("t-1", failed(Class::Transient));
        scene.wait(secs(60));
    }
    scene.run_ends("t-1", failed(Class::Transient));
    scene
}

pub(crate) fn refused() -> Scene {
    let mut scene = working();
    scene.run_ends("t-1", failed(Class::Auth));
    scene
}

pub(crate) fn no_progress() -> Scene {
    let mut scene = working();
    for _ in 0..2 {
        scene.run_ends("t-1", failed(Class::Crash));
        scene.wait(secs(60));
    }
    scene.run_ends("t-1", failed(Class::Crash));
    scene
}

pub(crate) fn cost(dollars: u64) -> Usage {
    Usage {
        cost_micro_usd: dollars * 1_000_000,
        ..Usage::default()
    }
}

pub(crate) fn out_of_budget() -> Scene {
    let mut scene = working_with(|settings| settings.budget.ticket_usd = model::money::Usd::parse("5").ok());
    scene.run_ends_for("t-1", End::Finished(Signal::None), cost(5));
    scene
}

pub(crate) fn queued() -> Scene {
    let mut scene = working();
    scene.add("t-2");
    scene.workspace_ready("t-2");
    scene.finishes("t-2", Signal::Done);
    scene.finishes("t-1", Signal::Done);
    scene
}

pub(crate) fn building() -> Scene {
    building_with(|_| {})
}

pub(crate) fn building_with(change: impl FnOnce(&mut Settings)) -> Scene {
    let mut scene = working_with(change);
    scene.finishes("t-1", Signal::Done);
    scene
}

pub(crate) fn checking() -> Scene {
    let mut scene = building();
    scene.built("t-1", 'b');
    scene
}

pub(crate) fn could_not_run() -> Scene {
    let mut scene = building();
    let why = "no disk".to_owned();
    scene.report("t-1", "build_candidate", Report::CouldNotRun { why });
    scene
}

pub(crate) fn target_red() -> Scene {
    let mut scene = checking();
    scene.checked("t-1", Verdict::TargetRed);
    scene
}

pub(crate) fn sensitive() -> Scene {
    let mut scene = building();
    let paths = vec!["crew.toml".to_owned()];
    scene.report(
        "t-1",
        "build_candidate",
        Report::Sensitive {
            paths,
            secrets: Vec::new(),
            tip: oid('b'),
        },
    );
    scene
}

pub(crate) fn conflicted() -> Report {
    Report::Conflicted {
        paths: vec!["src/lib.rs".to_owned()],
        tip: oid('b'),
        target: oid('a'),
        resolved: false,
    }
}

pub(crate) fn in_conflict() -> Scene {
    let mut scene = building_with(|settings| settings.run.conflict_resolutions = 0);
    scene.report("t-1", "build_candidate", conflicted());
    scene
}

pub(crate) fn nothing_committed() -> Scene {
    let mut scene = building();
    for _ in 0..2 {
        scene.report("t-1", "build_candidate", Report::NoCommits);
        scene.finishes("t-1", Signal::Done);
    }
    scene.report("t-1", "build_candidate", Report::NoCommits);
    scene
}

pub(crate) fn landing() -> Scene {
    let mut scene = checking();
    scene.checks_pass("t-1");
    scene
}

/// Held, because landing it failed twice.
pub(crate) fn landing_failed() -> Scene {
    let mut scene = landing();
    for _ in 0..2 {
        let why = "no right to write".to_owned();
        scene.report("t-1", "land", Report::CouldNotRun { why });
    }
    scene.report("t-1", "land", Report::NotLanded);
    scene
}

pub(crate) fn edited_checkout() -> Report {
    let (path, what) = ("src/lib.rs".to_owned(), Obstacle::Edited);
    Report::CheckoutEdited {
        paths: vec![InTheWay { path, what }],
    }
}

pub(crate) fn edits_in_the_way() -> Scene {
    let mut scene = landing();
    scene.report("t-1", "land", edited_checkout());
    scene
}

pub(crate) fn landed() -> Scene {
    let mut scene = landing();
    scene.landed("t-1");
    scene
}

pub(crate) fn dropped() -> Scene {
    let mut scene = waits_for_another();
    scene.ask(drop_it());
    scene
}

pub(crate) fn closed() -> Scene {
    let mut scene = waits_for_another();
    scene.set_status("t-1", FileStatus::Closed);
    scene
}

pub(crate) fn not_needed() -> Scene {
    let mut scene = Scene::new();
    scene.write("t-1", |file| file.spec.recovers = Some(id("t-2")));
    scene.set_status("t-2", FileStatus::InProgress);
    let reason = "not wanted".to_owned();
    scene.ask(Command::Drop {
        ticket: id("t-2"),
        reason,
    });
    scene
}
