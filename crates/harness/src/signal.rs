//! The lines that an agent writes for crew, as entries of a transcript.

use crate::commitment::{self, Commitment};
use crate::directive::{self, Directive};
use crate::entry::Content;
use crate::outcome::Signal;
use crate::verdict::{self, Given, Verdict};
use text::sanitise;

/// The content of a line for crew; `None` when the line is text.
pub(crate) fn of_line(line: &str) -> Option<Content> {
    if line.starts_with('{') {
        if let Some(made) = commitment::parse(line) {
            return Some(of_commitment(made));
        }
        return verdict::parse(line).map(of_verdict);
    }
    directive::parse(line).map(of_directive)
}

/// The content of a directive.
pub(crate) fn of_directive(directive: Directive) -> Content {
    let states_result = matches!(directive, Directive::Signal(_));
    let text = match directive {
        Directive::Invalid(text) => return Content::Unusable { text },
        Directive::Mode(mode) => format!("MODE: {}", mode.name()),
        Directive::Summary(text) => format!("SUMMARY: {text}"),
        Directive::Signal(Signal::None) => String::new(),
        Directive::Signal(Signal::Done) => "DONE".to_owned(),
        Directive::Signal(Signal::Blocked { why }) => format!("BLOCKED: {why}"),
        Directive::Signal(Signal::Asked { question }) => format!("QUESTION: {question}"),
        Directive::Signal(Signal::Wakeup { after_ms, why }) => {
            format!("WAKEUP: {} s {why}", after_ms / 1_000)
                .trim_end()
                .to_owned()
        }
    };
    Content::Signal { text, states_result }
}

/// The content of a line that was meant as a commitment.
pub(crate) fn of_commitment(made: Result<Commitment, String>) -> Content {
    match made {
        Ok(Commitment { says, run }) => Content::Signal {
            text: format!(
                "commitment: {says} (`{}`)",
                sanitise::fit(&sanitise::line(&run.join(" ")), 200)
            ),
            states_result: false,
        },
        Err(why) => Content::Unusable {
            text: format!(
                "a line of commitment that does not count: {}",
                sanitise::line(&why)
            ),
        },
    }
}

/// The content of a line that was meant as a gatekeeper's verdict.
fn of_verdict(given: Given) -> Content {
    let text = match given.verdict {
        Ok(Verdict::Approve { acceptance_test, .. }) => format!("approve, tested by: {acceptance_test}"),
        Ok(Verdict::Reject { reason, .. }) => format!("reject: {reason}"),
        Ok(Verdict::Fail { reason }) => format!("fail: {reason}"),
        Err(why) => {
            return Content::Unusable {
                text: format!("a line of verdict that does not count: {}", sanitise::line(&why)),
            };
        }
    };
    Content::Signal {
        text: format!("verdict: {}", sanitise::excerpt(&text)),
        states_result: true,
    }
}
