//! The events of a review in words.

use crate::ticket::{ReviewEvent, Verdict};

pub(super) fn of_review(event: &ReviewEvent) -> String {
    match event {
        ReviewEvent::Started { run } => format!("step {run} of its review was ordered"),
        ReviewEvent::Spawned => "its review runs".to_owned(),
        ReviewEvent::StopOrdered { .. } => "its review is being stopped".to_owned(),
        ReviewEvent::Finished { .. } => "the step of its review ended".to_owned(),
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
                    feedback,
                } => format!(
                    "its gatekeeper approves. It has tested: {acceptance_test}{}",
                    with(feedback)
                ),
                Verdict::Reject { reason, feedback } => {
                    format!("its gatekeeper rejects it: {reason}{}", with(feedback))
                }
                Verdict::Fail { reason } => format!("its gatekeeper finds it impossible: {reason}"),
            }
        }
    }
}
