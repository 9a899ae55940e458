//! The events of an attempt in words.

use crate::attempt::{self, AfterChildren, AfterStop, Class, Quiet, Signal, Workspace};
use crate::call::Call;
use crate::policy::failure;

/// A step that was silent shows signs of life.
pub(super) const STIRRED: &str = "its step shows signs of life again";

/// A step that shows no sign of life.
pub(super) fn went_quiet(quiet: &Quiet) -> String {
    let remedy = quiet.how.remedy();
    let remedy = remedy.map(|remedy| format!(" {remedy}")).unwrap_or_default();
    format!("its step is silent since {}: {}{remedy}", quiet.since, quiet.how)
}

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
                "step stopped: it has stated its result, and its process ran on for longer than `exit_within`"
                    .to_owned()
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
            repeat,
            ..
        } => {
            let ending = match signal {
                Signal::None => "step finished".to_owned(),
                Signal::Done => "step finished: DONE".to_owned(),
                Signal::Blocked { why } => format!("step finished: BLOCKED: {why}"),
                Signal::Asked { question } => format!("asks: {question}"),
                Signal::WakeupSet { at, why } => format!("sleeps until {at}: {why}"),
                Signal::BrokenUp { parts } => {
                    let ids: Vec<&str> = parts.iter().map(|part| part.ticket.as_str()).collect();
                    format!("step finished: broken up into {}", ids.join(", "))
                }
            };
            let summary = summary.as_ref().map(|summary| format!(" ({summary})"));
            let unusable = attempt::unusable_words(unusable).map(|lines| format!("; {lines}"));
            let changed = repeat.as_ref().and_then(|repeat| repeat.of.changed_after());
            let changed = changed.map(|paths| format!("; {}", attempt::changed_after_words(paths)));
            format!(
                "{ending}{}{}{}",
                summary.unwrap_or_default(),
                unusable.unwrap_or_default(),
                changed.unwrap_or_default()
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
        Event::Called { call, .. } => of_call(call),
        Event::TicketEdited => "the ticket's text changed: its agent gets the new text".to_owned(),
        Event::Submitted => "submitted".to_owned(),
        Event::ChecksPassed => "its submitted work passed".to_owned(),
        Event::Returned { .. } => "came back to its agent".to_owned(),
        Event::Delegated { children } => {
            let named = children
                .iter()
                .map(|child| format!("{} ({})", child.id, child.title));
            format!("delegates {}", named.collect::<Vec<_>>().join(", "))
        }
        Event::ChildrenEndOrdered { then } => match then {
            AfterChildren::Unify { by } => format!("its children are ended: {by} has it go on without them"),
            AfterChildren::Stop { then } => format!("its children are ended first: {}", then.words()),
        },
        Event::ChildrenOver { results } => {
            let ends = results
                .iter()
                .map(|result| format!("{} {}", result.id, result.words()));
            format!("its children are over: {}", ends.collect::<Vec<_>>().join("; "))
        }
        Event::ModeSet { mode, by } => format!("mode {}, set by {by}", mode.name()),
        Event::ModeAnnounced { mode, .. } => format!("says MODE: {}", mode.name()),
        Event::Said { by, text } => format!("{by} says: {text}"),
        Event::Baited { by } => format!("its next step is the last one: {by} wants it to come to an end"),
        Event::WentQuiet(quiet) => went_quiet(quiet),
        Event::Stirred => STIRRED.to_owned(),
    }
}

/// A call of an agent's, as it is called.
pub(super) fn of_call(call: &Call) -> String {
    let says = match call {
        Call::TicketShow {} => return "its agent looks at the ticket".to_owned(),
        Call::TeamComment { text } => format!("notes: {text}"),
        Call::ReportProgress { text } => format!("reports: {text}"),
        Call::SubmitWork { summary, .. } => format!("submits its work: {summary}"),
        Call::ReportBlocked { why } => format!("is blocked: {why}"),
        Call::Ask { question } => format!("asks: {question}"),
        Call::SleepUntil { until, why } => format!("asks to be woken ({until}): {why}"),
        Call::SetMode { mode } => format!("sets its mode: {}", attempt::Mode::from(*mode).name()),
        Call::CreateTicket { title, .. } => format!("makes a ticket: {title}"),
        Call::AddCommitment { says, .. } => format!("promises: {says}"),
        Call::ApproveWork { acceptance_test, .. } => format!("approves. It has tested: {acceptance_test}"),
        Call::RejectWork { reason, .. } => format!("rejects it: {reason}"),
        Call::FailWork { reason } => format!("finds it impossible: {reason}"),
        Call::Delegate { tasks } => format!("delegates {} tasks", tasks.len()),
        Call::TeamList {} => "looks at what it has delegated".to_owned(),
        Call::TeamKill { ticket, .. } => format!("takes {ticket} back"),
    };
    format!("its agent {says}")
}
