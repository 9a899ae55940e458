//! Waiting agents: a question is answered, and a sleeping agent is woken.

use model::attempt::{self, AfterChildren, Attempt, Prompt};
use model::command::Question;
use model::policy::review::is_gatekeeper;
use model::ticket::{ClosedQuestion, Event, ReviewEvent, Reviewing, Ticket};
use model::{Actor, AgentName, TicketId, Time};

use super::Core;
use super::commands::Answer;

impl Core {
    /// Gives an agent the answer that it waits for; an answer that it has not been given yet is replaced.
    /// `question`: the one that is meant, when the sender knows.
    pub(super) fn answer(
        &mut self,
        agent: &AgentName,
        by: &Actor,
        text: String,
        question: Option<&Question>,
    ) -> Answer {
        let id = self.at(agent, question.map(|question| &question.ticket))?;
        let ticket = self.ticket(&id);
        let asked = ticket.and_then(Question::answerable);
        let answerable = ticket.and_then(Ticket::answerable);
        let (Some(ticket), Some(asked), Some(answerable)) = (ticket, asked, answerable) else {
            let closed = ticket.and_then(|ticket| ticket.closed_question.as_deref());
            if let Some(why) = closed.and_then(|closed| closed_words(&id, closed, (agent, question))) {
                return Err(why);
            }
            let stands = ticket.map(|ticket| answerless(ticket, agent));
            return Err(format!("{agent} asks nothing: {}", stands.unwrap_or_default()));
        };
        let asks = answerable.text.to_owned();
        if answerable.agent != agent {
            let other = answerable.agent;
            return Err(format!("{agent} asks nothing: {other} asks about {id}: {asks}"));
        }
        if let Some(meant) = question.filter(|meant| **meant != asked) {
            let number = asked.number;
            let what = match meant.number > number {
                true => format!("{agent} has not asked question {} about {id}", meant.number),
                false => format!("question {} about {id} is not open any more", meant.number),
            };
            return Err(format!(
                "{what}; question {number} is: {asks} (`crew answer {id} --question {number} <text>`)"
            ));
        }
        let instead = match answerable.answer {
            None => "",
            Some(_) => ", and not the answer before it",
        };
        let (fence, by) = (answerable.fence, by.clone());
        if ticket.reviewing().is_some() {
            let message = format!("{agent} hears it at its next step of the review of {id}{instead}");
            let event = ReviewEvent::Answered {
                by,
                text,
                question: asks,
            };
            return self.act(&id, Event::Review { fence, event }, message);
        }
        let event = attempt::Event::Answered {
            by,
            text,
            question: asks,
        };
        let message = format!("{agent} hears it at its next step on {id}{instead}");
        let answer = self.act(&id, Event::Attempt(event), message)?;
        Ok(self.with_wait_for_target(&id, answer))
    }

    /// The end of the time for which a question about the ticket is waited for.
    pub(super) fn wait_timed_out(&self, id: &TicketId) -> Event {
        let ticket = self.ticket(id);
        let of_review = ticket.filter(|ticket| ticket.reviewing().is_some());
        match of_review.and_then(Ticket::open_question) {
            Some(open) => Event::Review {
                fence: open.fence,
                event: ReviewEvent::WaitTimedOut,
            },
            None => Event::Attempt(attempt::Event::WaitTimedOut),
        }
    }

    /// Until when a question that is asked now is waited for; none for as long as it takes.
    pub(super) fn answer_by(&self) -> Option<Time> {
        self.settings.run.answer_within.map(|within| self.now + within)
    }

    /// Wakes an agent before its time.
    pub(super) fn wake(&mut self, agent: &AgentName, by: &Actor) -> Answer {
        let id = self.waiting(agent, None)?;
        let attempt = self.ticket(&id).and_then(Ticket::attempt);
        match attempt.map(|attempt| &attempt.state) {
            Some(attempt::State::WaitingForWakeup { .. }) => {
                let event = attempt::Event::WokenEarly { by: by.clone() };
                self.look_at_bad_target();
                self.act(&id, Event::Attempt(event), format!("{agent} goes on with {id}"))
            }
            Some(attempt::State::WaitingForInput { .. }) => Err(format!(
                "{agent} does not sleep, it asks something: `crew answer {id} <text>`"
            )),
            Some(attempt::State::WaitingForChildren { .. }) => {
                let then = AfterChildren::Unify { by: by.clone() };
                let message = format!("{agent} goes on with {id} once its children are ended");
                self.end_children(&id, then, message)
            }
            Some(
                attempt::State::Preparing
                | attempt::State::Ready
                | attempt::State::Working(_)
                | attempt::State::Verifying
                | attempt::State::Done
                | attempt::State::Stuck { .. },
            )
            | None => {
                let stands = attempt.map(|attempt| stands(&attempt.state));
                Err(format!("{agent} does not sleep: {}", stands.unwrap_or_default()))
            }
        }
    }

    /// Has an agent's children ended, and then what is wanted. Whoever asks again asks for nothing new.
    pub(super) fn end_children(&mut self, id: &TicketId, then: AfterChildren, message: String) -> Answer {
        let attempt = self.ticket(id).and_then(Ticket::attempt);
        if attempt.and_then(Attempt::after_children) == Some(&then) {
            return Ok(message);
        }
        self.act(
            id,
            Event::Attempt(attempt::Event::ChildrenEndOrdered { then }),
            message,
        )
    }

    /// The ticket that an agent is at, which is the meant one, if one is.
    fn waiting(&self, agent: &AgentName, meant: Option<&TicketId>) -> Result<TicketId, String> {
        self.expect_worker(agent)?;
        self.at(agent, meant)
    }

    /// The ticket that a worker is at, or that a gatekeeper reviews, which is the meant one, if one is.
    fn at(&self, agent: &AgentName, meant: Option<&TicketId>) -> Result<TicketId, String> {
        match (self.tickets.of_agent(agent), meant) {
            (Some(at), Some(meant)) if at != meant => {
                Err(format!("{agent} is at work on {at} by now, not on {meant}"))
            }
            (Some(at), _) => Ok(at.clone()),
            // The question of a review that is over, perhaps: its ticket knows why.
            (None, Some(meant)) if is_gatekeeper(agent) => Ok(meant.clone()),
            (None, _) => Err(self.idle(agent)),
        }
    }
}

/// That a question was closed, for a person whose answer comes too late; none where another question is
/// meant.
fn closed_words(
    id: &TicketId,
    closed: &ClosedQuestion,
    (agent, meant): (&AgentName, Option<&Question>),
) -> Option<String> {
    let is_meant = match meant {
        Some(meant) => meant.number == closed.number,
        None => closed.agent == *agent,
    };
    is_meant.then(|| closed.words(id))
}

/// Why there is nothing to be answered.
fn answerless(ticket: &Ticket, agent: &AgentName) -> String {
    if is_gatekeeper(agent) {
        let review = ticket.reviewing().and_then(Reviewing::open);
        return match review.filter(|review| review.agent == *agent) {
            Some(_) => "its review goes on".to_owned(),
            None => "its review is over".to_owned(),
        };
    }
    let Some(attempt) = ticket.attempt() else {
        return format!("{} is {}", ticket.id, ticket.state_name());
    };
    match &attempt.state {
        attempt::State::Working(working) if matches!(working.next, Prompt::Answer { .. }) => {
            "it has its answer, and goes on".to_owned()
        }
        attempt::State::Preparing
        | attempt::State::Ready
        | attempt::State::Working(_)
        | attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. }
        | attempt::State::Verifying
        | attempt::State::Done
        | attempt::State::Stuck { .. } => stands(&attempt.state),
    }
}

fn stands(state: &attempt::State) -> String {
    match state {
        attempt::State::Preparing => "its workspace is being made".to_owned(),
        attempt::State::Ready => "it is about to begin".to_owned(),
        attempt::State::Working(_) => "it is at work".to_owned(),
        attempt::State::WaitingForInput { .. } => "it waits for an answer".to_owned(),
        attempt::State::WaitingForWakeup { at, why } => {
            format!("it sleeps until {at} ({why}); `crew wake` wakes it")
        }
        attempt::State::WaitingForChildren { ids, .. } => {
            let ids: Vec<&str> = ids.iter().map(TicketId::as_str).collect();
            format!(
                "it waits for its children {}; `crew wake` has it go on without them",
                ids.join(", ")
            )
        }
        attempt::State::Verifying => "its work is being checked".to_owned(),
        attempt::State::Done => "its work waits for landing".to_owned(),
        attempt::State::Stuck { .. } => "it is stuck".to_owned(),
    }
}
