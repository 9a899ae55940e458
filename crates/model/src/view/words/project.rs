//! The project's events in words.

use crate::policy::attention;
use crate::project;
use crate::target::{Target, Verdict};

pub(super) fn of_project(event: &project::Event) -> String {
    match event {
        project::Event::Opened => "an engine took the repository".to_owned(),
        project::Event::Initialized => "the engine is up".to_owned(),
        project::Event::AgentsBusy => "there is work under way".to_owned(),
        project::Event::AgentsIdle => "no work is under way".to_owned(),
        project::Event::Closing => "the engine was asked to stop".to_owned(),
        project::Event::Closed => "the engine stopped".to_owned(),
        project::Event::AgentSpawned { name } => format!("agent {name} was spawned"),
        project::Event::AgentRetired { name } => format!("agent {name} was retired"),
        project::Event::HarnessPaused { harness, pause } => match pause.until {
            Some(until) if pause.asks_person() => format!(
                "no step is started: {} (next try not before {until})",
                attention::refused(harness, pause)
            ),
            Some(until) => format!(
                "no step is started on {harness} before {until} ({}): {}",
                pause.class.name(),
                pause.message
            ),
            None => format!("no step is started: {}", attention::refused(harness, pause)),
        },
        project::Event::HarnessFreed { harness, by } => {
            format!("steps are started on {harness} again: {by} asked for it")
        }
        project::Event::DayBudgetLow { budget, .. } => {
            format!("most of the day's budget is spent: {budget}")
        }
        project::Event::DayBudgetSpent { pause } => pause.to_string(),
        project::Event::DayBudgetFree => "the day's budget has room again: steps are started".to_owned(),
        project::Event::Target(target) => of_target(target),
        project::Event::Moved(moved) => moved.in_words(),
    }
}

fn of_target(target: &Target) -> String {
    let commit = target.commit.short();
    match &target.verdict {
        Verdict::Unchecked => {
            format!("the target is {commit}: agents are started, and its checks are not run")
        }
        Verdict::Checking { command: None, .. } => {
            format!("the target is {commit}: its checks come first")
        }
        Verdict::Checking {
            command: Some(command),
            is_canary: false,
        } => format!("runs on the bare target: {command}"),
        Verdict::Checking {
            command: Some(command),
            is_canary: true,
        } => format!("tries whether it looks at the tree, with broken sources: {command}"),
        Verdict::Passed => {
            let indifferent = target.indifferent();
            let others = match indifferent.is_empty() {
                true => String::new(),
                false => format!("; passed with broken sources too: {}", indifferent.join("; ")),
            };
            let flaky = match target.flaky.is_empty() {
                true => String::new(),
                false => format!("; passed only when repeated: {}", target.flaky.join("; ")),
            };
            format!("the target passes its checks ({commit}){flaky}{others}")
        }
        Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::OutOfReach { .. } if target.looks > 0 => {
            let remote = target.remote.as_deref().unwrap_or("the remote");
            let again = target.retry_at.map(|at| format!(" (again not before {at})"));
            format!("{remote} is asked for the target") + &again.unwrap_or_default()
        }
        Verdict::Failed { .. }
        | Verdict::Blind { .. }
        | Verdict::CouldNotRun { .. }
        | Verdict::OutOfReach { .. } => {
            let fault = target.verdict.fault().unwrap_or_default();
            let again = target.retry_at.map(|at| format!(" (next try not before {at})"));
            fault + &again.unwrap_or_default()
        }
    }
}
