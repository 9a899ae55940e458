//! The review machine's alphabet.

use super::ticket::{approve, review, untested};
use super::{Alphabet, EARLY, LATE, agent, session_id};
use crate::attempt::{AfterStop, Class, Failure, Quiet, Silence, Usage};
use crate::call::Call;
use crate::machine::{self, Explored, Machine as _, Sample};
use crate::ticket::{Asking, Review, ReviewEvent, ReviewMachine, Verdict};
use crate::{Actor, Fence};

/// A description for the page.
pub const ABOUT: &str = "A review is one gatekeeper at work on a candidate, up to its verdict: a second claim on a ticket that is in \
    `verify/reviewing`. Like the attempt it owns a conversation, with a session and, while a step runs, a worker. Whether its verdict \
    counts, and what follows, the ticket decides: its events `approved`, `rejected`, `work_failed`, `review_crashed` and \
    `review_gave_up` are in the ticket's own tables.";

/// Every event of the review with this fence, with its guards.
#[must_use]
pub fn alphabet(fence: Fence) -> Vec<Sample<ReviewEvent>> {
    let why = || "so".to_owned();
    let verdict = |verdict| ReviewEvent::VerdictNoted { verdict };
    let mut all = Alphabet::new();
    all.event(ReviewEvent::Started {
        run: super::run(fence, 1),
    })
    .event(ReviewEvent::Spawned)
    .event(ReviewEvent::WentQuiet(Quiet {
        since: EARLY,
        how: Silence::Frozen { shim: 7 },
    }))
    .event(ReviewEvent::Stirred)
    .event(ReviewEvent::StopOrdered {
        then: AfterStop::Pause,
    })
    .event(ReviewEvent::Finished {
        usage: Usage::default(),
        total_micro_usd: None,
    })
    .event(ReviewEvent::Failed {
        usage: Usage::default(),
        total_micro_usd: None,
        failure: Failure::new(Class::Overloaded, "full"),
        retry_at: LATE,
        fresh: session_id(2),
    })
    .event(ReviewEvent::Called {
        call: Call::RejectWork {
            reason: why(),
            feedback: String::new(),
        },
        at: EARLY,
    })
    .event(ReviewEvent::Asked {
        asks: Asking {
            question: why(),
            until: Some(LATE),
            since: EARLY,
        },
    })
    .event(ReviewEvent::Answered {
        by: Actor::person("pat"),
        text: why(),
        question: why(),
    })
    .event(ReviewEvent::WaitTimedOut)
    .when("approve", verdict(approve()))
    .when("untested", verdict(untested()))
    .when(
        "reject",
        verdict(Verdict::Reject {
            reason: why(),
            feedback: why(),
        }),
    )
    .when("fail", verdict(Verdict::Fail { reason: why() }));
    all.0
}

/// The differences between reviews that matter.
fn shape(review: &Review) -> String {
    let conversation = &review.conversation;
    let worker = conversation.worker.as_ref().map(|worker| worker.state);
    let session = conversation.session.state;
    format!("{} {worker:?} {session:?}", ReviewMachine::state_name(review))
}

/// The machine, explored.
#[must_use]
pub fn explored() -> Explored {
    let first = review(agent("gate-1"), Fence(2));
    let samples = |review: &Review| alphabet(review.fence);
    machine::explore::<ReviewMachine>(&[first], samples, |review| vec![shape(review)])
}
