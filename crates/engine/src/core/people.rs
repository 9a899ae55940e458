//! What people tell agents at work, and the tickets that they take back to an earlier commit.

use model::attempt::{self, AfterChildren, AfterStop, Attempt, MOST_MESSAGES, Mode, Prompt};
use model::project;
use model::ticket::{Event, Released, State, Ticket};
use model::{Actor, AgentName, Oid, TicketId};

use super::Core;
use super::commands::{Answer, goes_back, unknown};

/// The longest message for an agent, in bytes: it stands in the journal and in a prompt.
const LONGEST_MESSAGE: usize = 4 << 10;

impl Core {
    /// Tells an agent something. It is not woken for that.
    pub(super) fn say(&mut self, agent: &AgentName, by: &Actor, text: String) -> Answer {
        let (id, attempt) = self.attempt_of(agent)?;
        has_another_step(agent, &id, attempt)?;
        if text.len() > LONGEST_MESSAGE {
            return Err(format!("a message is at most {} KiB", LONGEST_MESSAGE >> 10));
        }
        if attempt.messages.len() >= MOST_MESSAGES {
            return Err(format!(
                "{MOST_MESSAGES} messages wait for the next step of {agent} on {id} already, which are the most: \
                 `crew explain {id}` shows them. What is to stay belongs into the ticket: `crew ticket add-note {id} <text>`"
            ));
        }
        let message = match &attempt.state {
            attempt::State::WaitingForInput { .. } => format!(
                "{agent} waits for an answer, and gets these words with it: `crew answer {id} <text>` answers"
            ),
            attempt::State::WaitingForWakeup { at, .. } => format!(
                "{agent} sleeps until {at}, and gets these words then: `crew wake {agent}` wakes it now"
            ),
            attempt::State::WaitingForChildren { .. } => format!(
                "{agent} waits for its children, and gets these words then: `crew wake {agent}` ends them first"
            ),
            attempt::State::Working(_) if attempt.conversation.has_live_worker() => {
                format!("{agent} gets these words with its next step on {id}: one is running")
            }
            attempt::State::Verifying | attempt::State::Done => {
                return Err(format!(
                    "the work of {agent} on {id} is submitted: `crew reject {id} <why>` sends it back where it is \
                     reviewed"
                ));
            }
            attempt::State::Preparing
            | attempt::State::Ready
            | attempt::State::Working(_)
            | attempt::State::Stuck { .. } => format!("{agent} gets these words with its next step on {id}"),
        };
        let event = attempt::Event::Said { by: by.clone(), text };
        let answer = self.act(&id, Event::Attempt(event), message)?;
        Ok(self.with_wait_for_target(&id, answer))
    }

    /// Has an agent come to an end with one more step.
    pub(super) fn bait(&mut self, agent: &AgentName, by: &Actor) -> Answer {
        let (id, attempt) = self.attempt_of(agent)?;
        has_another_step(agent, &id, attempt)?;
        let running = attempt.conversation.has_live_worker();
        if attempt.baited.is_some() || is_last(attempt) {
            // Asked again, it asks for nothing new.
            return Ok(format!(
                "the next step of {agent} on {id} is its last one already"
            ));
        }
        if let attempt::State::Stuck { .. } = attempt.state {
            return Err(format!("{agent} is stuck: `crew retry {id}` has it go on first"));
        }
        if attempt.waits_for_children() {
            return Err(format!(
                "{agent} waits for its children: `crew wake {agent}` ends them, and it goes on"
            ));
        }
        let message = match running {
            true => format!("{agent} gets one step more on {id} after the running one"),
            false => format!("{agent} gets one step more on {id}"),
        };
        let event = attempt::Event::Baited { by: by.clone() };
        let answer = self.act(
            &id,
            Event::Attempt(event),
            format!("{message}: then it has submitted its work, or the work goes back to the queue"),
        )?;
        Ok(self.with_wait_for_target(&id, answer))
    }

    /// Gives an agent up for good.
    pub(super) fn reap(&mut self, agent: &AgentName, by: &Actor) -> Answer {
        self.expect_worker(agent)?;
        let names = &self.settings.agents.names;
        let mut others = names.iter().filter(|name| *name != agent);
        if names.contains(agent) && !others.any(|name| self.project().agents.contains(name)) {
            return Err(format!(
                "{agent} is the last of `[agents] names` in crew.toml, and nobody would be left: name another one                  there first, or end its work by `crew kill {agent}`"
            ));
        }
        let why = format!("{by} reaped it");
        let Some(id) = self.tickets.of_agent(agent).cloned() else {
            if !self.project().agents.contains(agent) {
                return Err(self.idle(agent));
            }
            let retired = project::Event::AgentRetired { name: agent.clone() };
            self.apply_to_project([retired], &why);
            return Ok(format!("{agent} had no ticket; its name is retired"));
        };
        let Some(ticket) = self.ticket(&id) else {
            return Err(unknown(&id));
        };
        let goes_back = goes_back(ticket);
        let being_stopped = format!("{agent} is being stopped; {goes_back}, and the name is retired");
        let stopping = ticket
            .attempt()
            .and_then(|attempt| attempt.conversation.stopping.as_ref());
        if let Some(AfterStop::Reap { .. }) = stopping {
            return Ok(being_stopped);
        }
        if ticket.waits_for_children() {
            let then = AfterChildren::Stop {
                then: AfterStop::Reap { why },
            };
            let message =
                format!("the children of {id} are ended; then {goes_back}, and the name {agent} is retired");
            return self.end_children(&id, then, message);
        }
        if ticket.live_run().is_some() {
            let then = AfterStop::Reap { why };
            let event = Event::Attempt(attempt::Event::StopOrdered { then });
            return self.act(&id, event, being_stopped);
        }
        if let State::Verify(verify) = &ticket.state {
            let stage = verify.stage.name();
            return Err(format!(
                "{agent} has no process to stop: {id} is submitted ({stage}); `crew drop {id}` gives it up"
            ));
        }
        let released = Event::Released {
            why: Released::Reaped { why: why.clone() },
        };
        let message = format!(
            "{id} is back in the queue, held: `crew retry {id}` gives it out again; {agent} is retired"
        );
        let answer = self.act(&id, released, message)?;
        self.apply_to_project([project::Event::AgentRetired { name: agent.clone() }], &why);
        Ok(answer)
    }

    /// Sets an agent's task mode.
    pub(super) fn set_mode(&mut self, agent: &AgentName, by: &Actor, mode: Mode) -> Answer {
        let (id, attempt) = self.attempt_of(agent)?;
        let name = mode.name();
        let message = match attempt.conversation.has_live_worker() {
            true => format!("{agent} is in mode {name}: its next step says so, after the running one"),
            false => format!("{agent} is in mode {name}: its next step says so"),
        };
        let event = attempt::Event::ModeSet { mode, by: by.clone() };
        self.act(&id, Event::Attempt(event), message)
    }

    /// Takes a ticket back to a commit of an earlier attempt.
    pub(super) fn rewind(&mut self, id: &TicketId, by: &Actor, commit: Oid, at: u64) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if let Some(delegated) = ticket.delegated() {
            let parent = &delegated.by;
            return Err(format!(
                "{id} is a part of {parent}, and its work is on that one's branch: `crew rewind {parent}` takes the whole back"
            ));
        }
        if ticket.live_runs().next().is_some() {
            let remedy = match ticket.slot() {
                Some(agent) => format!("`crew kill {agent}` ends it first"),
                None => "it has to end first".to_owned(),
            };
            return Err(format!("a process works on {id}: {remedy}"));
        }
        if let Some(agent) = ticket.slot().filter(|_| ticket.waits_for_children()) {
            return Err(format!(
                "agents work on parts of {id}: `crew kill {agent}` ends them first"
            ));
        }
        if ticket.is_done() {
            return Err(format!(
                "{id} is done: `crew ticket reopen {id}` opens it again, `crew revert {id}` takes back what landed"
            ));
        }
        let message = format!(
            "{id} is back in the queue: its next attempt begins at {}, in a new session",
            commit.short()
        );
        let event = Event::Rewound {
            by: by.clone(),
            commit,
            at,
        };
        self.act(id, event, message)
    }

    /// The ticket that a worker is at, with its attempt.
    fn attempt_of(&self, agent: &AgentName) -> Result<(TicketId, &Attempt), String> {
        self.expect_worker(agent)?;
        let Some(id) = self.tickets.of_agent(agent) else {
            return Err(self.idle(agent));
        };
        let attempt = self.ticket(id).and_then(Ticket::attempt);
        attempt
            .map(|attempt| (id.clone(), attempt))
            .ok_or_else(|| unknown(id))
    }
}

/// Refuses words for an agent that is being taken from its ticket: they would reach nobody.
fn has_another_step(agent: &AgentName, id: &TicketId, attempt: &Attempt) -> Result<(), String> {
    match attempt.being_ended() {
        Some(then) => Err(format!(
            "{agent} gets no other step on {id}: {}. What the next agent is to know stands best in the ticket: \
             `crew ticket add-note {id} <text>`",
            then.words()
        )),
        None => Ok(()),
    }
}

/// Whether its steps are spent, so that its last one comes anyway.
fn is_last(attempt: &Attempt) -> bool {
    match &attempt.state {
        attempt::State::Working(working) => working.next == Prompt::LastChance,
        attempt::State::Preparing
        | attempt::State::Ready
        | attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. }
        | attempt::State::Verifying
        | attempt::State::Done
        | attempt::State::Stuck { .. } => false,
    }
}
