//! The events of an attempt in words.

use crate::attempt::{self, AfterStop, Class, Signal, Workspace};
use crate::policy::failure;

/// `in_a_row`: the number of failed steps in a row after it, where the state is known.
pub(super) fn of_attempt(event: &attempt::Event, in_a_row: Option<u32>) -> String {
    use attempt::Event;
    match event {
        Event::WorkspaceReady {
            base,
            earlier_work: false,
        } => format!("workspace ready on {}", base.short()),
        Event::WorkspaceReady {
            base,
            earlier_work: true,
        } => {
            format!("workspace ready on {}, with earlier work", base.short())
        }
        Event::StepStarted { run, budget, change } => {
            let on = change
                .as_ref()
                .map(|change| format!(", now on {}", change.to.name));
            let warning = budget.map(|budget| format!(", with the warning that {budget} are spent"));
            format!(
                "step started ({run}){}{}",
                on.unwrap_or_default(),
                warning.unwrap_or_default()
            )
        }
        Event::WorkerSpawned => "its process runs".to_owned(),
        Event::StopOrdered { then } => match then {
            AfterStop::Retry { class } => format!("step stopped: {}", class.name()),
            AfterStop::Fail { failure } => {
                format!(
                    "step stopped, its client would try for ever ({}): {}",
                    failure.class.name(),
                    failure.message
                )
            }
            AfterStop::Conclude => {
                "step stopped: it has stated its result, and did not exit within `exit_within`".to_owned()
            }
            AfterStop::Pause => "step stopped with the engine".to_owned(),
            AfterStop::Release { by } => format!("step stopped: the agent was killed by {by}"),
            AfterStop::Reap { why } => format!("step stopped, the agent is given up: {why}"),
            AfterStop::Drop { by, .. } => format!("step stopped: the ticket was dropped by {by}"),
        },
        Event::StepFinished {
            signal,
            summary,
            unusable,
            ..
        } => {
            let ending = match signal {
                Signal::None => "step finished".to_owned(),
                Signal::Done => "step finished: DONE".to_owned(),
                Signal::Blocked { why } => format!("step finished: BLOCKED: {why}"),
                Signal::Asked { question } => format!("asks: {question}"),
                Signal::WakeupSet { at, why } => format!("sleeps until {at}: {why}"),
            };
            let summary = summary.as_ref().map(|summary| format!(" ({summary})"));
            let unusable = attempt::unusable_words(unusable).map(|lines| format!("; {lines}"));
            format!(
                "{ending}{}{}",
                summary.unwrap_or_default(),
                unusable.unwrap_or_default()
            )
        }
        // Nobody's failure: it costs no try.
        Event::StepFailed { failure, .. } if failure.class == Class::KilledByUs => {
            format!("step over: {}", failure.message)
        }
        Event::StepFailed {
            failure,
            errors_left,
            repeats_left,
            retry_at,
            ..
        } => {
            let class = failure.class;
            let errors = failure::ERRORS.saturating_sub(*errors_left);
            let count = failure::in_a_row(class, errors, in_a_row.unwrap_or(errors));
            let count = count.map(|count| format!(", {count}")).unwrap_or_default();
            let again = if *errors_left == 0 || *repeats_left == 0 || class == Class::Auth {
                String::new()
            } else {
                format!(", next try not before {retry_at}")
            };
            format!(
                "step failed ({}{count}{again}): {}",
                class.name(),
                failure.message
            )
        }
        Event::Answered { by, text, .. } => format!("{by} answers: {text}"),
        Event::Woken => "woken: its wait is over".to_owned(),
        Event::WokenEarly { by } => format!("woken before its time by {by}"),
        Event::WaitTimedOut => "nobody answered in time".to_owned(),
        Event::Recovered { workspace, .. } => {
            let found = match workspace {
                Workspace::Missing => "its workspace is gone",
                Workspace::Clean => "its workspace is clean",
                Workspace::Changed => "there is work in its workspace",
            };
            format!("recovered from being stuck: {found}")
        }
        Event::Retried { by, .. } => format!("tried again: {by} asked for it"),
        Event::TicketEdited => "the ticket's text changed: its agent gets the new text".to_owned(),
        Event::Submitted => "submitted".to_owned(),
        Event::ChecksPassed => "its submitted work passed".to_owned(),
        Event::Returned { .. } => "came back to its agent".to_owned(),
    }
}
