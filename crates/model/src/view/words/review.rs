//! The events of a review in words.

use super::attempt::{STIRRED, went_quiet};
use crate::AgentName;
use crate::conversation::Class;
use crate::ticket::{ReviewEvent, Verdict};

pub(super) fn of_review(event: &ReviewEvent) -> String {
    match event {
        ReviewEvent::Started { run } => format!("step {run} of its review was ordered"),
        ReviewEvent::Spawned => "its review runs".to_owned(),
        ReviewEvent::Called { call, .. } => super::attempt::of_call(call).replacen("agent", "gatekeeper", 1),
        ReviewEvent::StopOrdered { .. } => "its review is being stopped".to_owned(),
        ReviewEvent::Finished { .. } => "the step of its review ended".to_owned(),
        // crew has stopped it, so nothing has failed.
        ReviewEvent::Failed { failure, .. } if failure.class == Class::KilledByUs => {
            format!("its review ended without a verdict: {}", failure.message)
        }
        ReviewEvent::Failed { failure, .. } => {
            format!(
                "its review failed ({}): {}",
                failure.class.name(),
                failure.message
            )
        }
        ReviewEvent::VerdictNoted { verdict } => {
            let with = |feedback: &str| match feedback {
                "" => String::new(),
                feedback => format!("; {feedback}"),
            };
            match verdict {
                Verdict::Approve {
                    acceptance_test,
                    met,
                    feedback,
                } => format!(
                    "its gatekeeper approves. It has tested: {acceptance_test}{}{}",
                    named(met),
                    with(feedback)
                ),
                Verdict::Reject { reason, feedback } => {
                    format!("its gatekeeper rejects it: {reason}{}", with(feedback))
                }
                Verdict::Fail { reason } => format!("its gatekeeper finds it impossible: {reason}"),
            }
        }
        ReviewEvent::WentQuiet(quiet) => format!("in its review, {}", went_quiet(quiet)),
        ReviewEvent::Stirred => format!("in its review, {STIRRED}"),
        ReviewEvent::Asked { asks } => format!("its gatekeeper asks: {}", asks.question),
        ReviewEvent::Answered { by, text, .. } => format!("{by} answers its gatekeeper: {text}"),
        ReviewEvent::WaitTimedOut => "nobody answered its gatekeeper in time".to_owned(),
    }
}

/// The commitments that a gatekeeper names as met.
fn named(met: &[u32]) -> String {
    let numbers: Vec<String> = met.iter().map(u32::to_string).collect();
    match numbers.as_slice() {
        [] => String::new(),
        [one] => format!("; commitment {one} is met"),
        many => format!("; commitments {} are met", many.join(", ")),
    }
}

/// The approval of an earlier tip holds.
pub(super) fn of_kept(by: &[AgentName], paths: &[String]) -> String {
    let by: Vec<&str> = by.iter().map(AgentName::as_str).collect();
    let approval = match by.as_slice() {
        [] => "its approval".to_owned(),
        by => format!("the approval of {}", by.join(" and ")),
    };
    match paths {
        [] => format!("{approval} holds: nothing but the target was merged into the branch"),
        paths => format!(
            "{approval} holds for the resolved conflict in {}",
            paths.join(", ")
        ),
    }
}
