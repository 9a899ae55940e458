//! Questions about a ticket: the one that is open, whoever asks it, and the last one that was closed without
//! an answer.

use serde::{Deserialize, Serialize};

use super::{Answer, Event, ReviewEvent, Ticket};
use crate::attempt;
use crate::{AgentName, Fence, TicketId, Time};

/// A question that waits for a person's answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpenQuestion<'a> {
    /// The agent that asks: the one at work, or a gatekeeper.
    pub agent: &'a AgentName,
    /// The fence of its claim.
    pub fence: Fence,
    /// The question, as the agent put it.
    pub text: &'a str,
    /// The time at which the agent goes on without an answer; none when it waits for as long as it takes.
    pub until: Option<Time>,
    /// The time since which it waits.
    pub since: Time,
}

/// A question that can be answered: an open one, or one whose answer its agent has not been given yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answerable<'a> {
    /// The agent that asks, or asked.
    pub agent: &'a AgentName,
    /// The fence of its claim.
    pub fence: Fence,
    /// The question, as the agent put it.
    pub text: &'a str,
    /// The answer that the agent has not been given yet; none while the question is open.
    pub answer: Option<&'a str>,
}

/// A question that was closed without an answer: its agent does not wait for one any more.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClosedQuestion {
    /// The agent that asked.
    pub agent: AgentName,
    /// The number of the question.
    pub number: u32,
    /// The reason, as a clause.
    pub why: String,
    /// The last event of the ticket has closed it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_new: bool,
}

impl ClosedQuestion {
    /// That it was closed, and why, for whoever answers it too late.
    #[must_use]
    pub fn words(&self, about: &TicketId) -> String {
        let Self {
            agent, number, why, ..
        } = self;
        format!("question {number} of {agent} about {about} is closed: {why}")
    }
}

impl Ticket {
    /// The question that waits for a person's answer: that of its agent, or of its gatekeeper.
    #[must_use]
    pub fn open_question(&self) -> Option<OpenQuestion<'_>> {
        if let Some(reviewing) = self.reviewing() {
            let review = reviewing.open()?;
            let asks = review.asks.as_ref()?;
            return Some(OpenQuestion {
                agent: &review.agent,
                fence: review.fence,
                text: &asks.question,
                until: asks.until,
                since: asks.since,
            });
        }
        let attempt = self.attempt()?;
        let attempt::State::WaitingForInput { question, until } = &attempt.state else {
            return None;
        };
        Some(OpenQuestion {
            agent: &attempt.claim.agent,
            fence: attempt.claim.fence,
            text: question,
            until: *until,
            since: attempt.since,
        })
    }

    /// The question that an answer goes to: the open one, or the one whose answer its agent has not been
    /// given yet.
    #[must_use]
    pub fn answerable(&self) -> Option<Answerable<'_>> {
        if let Some(open) = self.open_question() {
            return Some(Answerable {
                agent: open.agent,
                fence: open.fence,
                text: open.text,
                answer: None,
            });
        }
        let last = self.answers.last()?;
        let (agent, fence) = match self.reviewing() {
            Some(reviewing) => {
                let review = reviewing.open().filter(|review| review.is_answered)?;
                (&review.agent, review.fence)
            }
            None => {
                let attempt = self.attempt()?;
                attempt.waiting_answer()?;
                (&attempt.claim.agent, attempt.claim.fence)
            }
        };
        Some(Answerable {
            agent,
            fence,
            text: &last.question,
            answer: Some(&last.text),
        })
    }

    /// A question is asked: it gets its number.
    pub(super) fn count_question(&mut self) {
        self.questions += 1;
    }

    /// A person has answered. `instead`: in place of an answer that the agent has not been given yet.
    pub(super) fn note_answer(&mut self, question: &str, text: &str, instead: bool) {
        if instead {
            self.answers.pop();
        }
        self.answers.push(Answer {
            question: question.to_owned(),
            text: text.to_owned(),
        });
    }

    /// Notes whether the open question of the ticket `before` this event is closed by it. That follows from
    /// the states before and after, so that no event can forget it.
    pub(super) fn close_question(&mut self, before: &Ticket, event: &Event) {
        if let Some(closed) = &mut self.closed_question {
            closed.is_new = false;
        }
        let Some(asked) = before.open_question() else {
            return;
        };
        let is_open = self.open_question().is_some_and(|open| open.fence == asked.fence);
        if is_open || ends_question(event) {
            return;
        }
        self.closed_question = Some(Box::new(ClosedQuestion {
            agent: asked.agent.clone(),
            number: before.questions,
            why: why(event, before.reviewing().is_some()),
            is_new: true,
        }));
    }
}

/// Whether the wait for an answer has come to its end with it: a person has answered, or nobody has in time.
fn ends_question(event: &Event) -> bool {
    matches!(
        event,
        Event::Attempt(attempt::Event::Answered { .. } | attempt::Event::WaitTimedOut)
            | Event::Review {
                event: ReviewEvent::Answered { .. } | ReviewEvent::WaitTimedOut,
                ..
            }
    )
}

/// Why an event closes a question, as a clause.
fn why(event: &Event, is_of_review: bool) -> String {
    if let Event::Dropped { by, .. } = event {
        return format!("the ticket was dropped by {by}");
    }
    if let Event::ReviewApproved { by } = event {
        return format!("{by} has approved in the gatekeeper's place");
    }
    if let Event::Returned { by, .. } = event {
        return format!("{by} has sent the work back");
    }
    if let Event::Waived { by, .. } = event {
        return format!("{by} lets the work land as it is");
    }
    if let Event::EditReturned { .. } = event {
        return "the ticket's text has changed, and its agent is told first".to_owned();
    }
    if let Event::TargetMoved = event {
        return "the merged result that it was about is gone, and the work is merged anew".to_owned();
    }
    if let Event::Submitted { by, .. } = event {
        return format!("{by} has submitted the work");
    }
    if let Event::Rewound { .. } = event {
        return "the work begins again at an earlier moment".to_owned();
    }
    match is_of_review {
        true => "its review is over".to_owned(),
        false => "its agent does not wait for an answer any more".to_owned(),
    }
}
