//! Commands: from which states each is possible, and what it changes.

use model::attempt::{self, AfterChildren, AfterStop, Attempt};
use model::command::{Command, OnStop, Outcome, Seen};
use model::machine::Rejected;
use model::policy::route;
use model::project;
use model::ticket::{
    AfterLanding, AfterReview, Event, Released, Reviewing, Stage, State, Ticket, TimerKey, Why,
};
use model::{Actor, AgentName, TicketId};

use super::{Core, WriteMeta};
use crate::names;

/// The outcome of a command: a message for the person who asked, or the reason of a refusal.
pub(crate) type Answer = Result<String, String>;

impl Core {
    pub(super) fn commanded(&mut self, id: &str, by: &Actor, command: Command) {
        let writes = self.out.writes.len();
        let answer = self.command(by, command);
        let outcome = match answer {
            Ok(message) => Outcome::Accepted { message },
            Err(why) => Outcome::Refused { why },
        };
        // The answer is durable with the first thing the command changed, so that it is never carried out
        // twice.
        match self.out.writes.get_mut(writes) {
            Some(write) => {
                write.answers = Some((id.to_owned(), outcome));
                write.cause = format!("asked by {by}");
            }
            None => self.out.answers.push((id.to_owned(), outcome)),
        }
    }

    fn command(&mut self, by: &Actor, command: Command) -> Answer {
        match command {
            Command::Spawn { name } => self.spawn([name]),
            Command::SpawnMany { count } => {
                let mut taken = self.names_taken();
                let named = (0..count).map(|_| {
                    let name = names::next(&taken);
                    taken.insert(name.clone());
                    name
                });
                let named: Vec<AgentName> = named.collect();
                self.spawn(named)
            }
            Command::Assign { agent, ticket } => self.assign(&agent, &ticket),
            Command::Kill { agent } => self.kill(&agent, by),
            Command::Cleanup { agent } => self.cleanup(&agent, by),
            Command::Merge { ticket } => self.merge(&ticket, by),
            Command::Retry { ticket } => self.retry(&ticket, by),
            Command::Drop { ticket, reason } => self.drop_ticket(&ticket, by, &reason),
            Command::SetStatus {
                ticket,
                status,
                fence,
            } => self.set_status(&ticket, by, status, fence),
            Command::Waive { ticket, reason } => {
                let event = Event::Waived {
                    by: by.clone(),
                    reason,
                };
                self.act(&ticket, event, format!("{ticket} goes on"))
            }
            Command::WaiveCommitment { ticket, id, reason } => {
                self.waive_commitment(&ticket, (id, by, reason))
            }
            Command::Approve { ticket, tip } => self.approve(&ticket, by, tip.as_deref()),
            Command::Reject { ticket, why } => self.reject(&ticket, by, why),
            Command::CommitTo { ticket, promise } => self.commit_to(&ticket, by, promise),
            Command::Answer {
                agent,
                text,
                question,
            } => self.answer(&agent, by, text, question.as_ref()),
            Command::Wake { agent } => self.wake(&agent, by),
            Command::Say { agent, text } => self.say(&agent, by, text),
            Command::Bait { agent } => self.bait(&agent, by),
            Command::Reap { agent } => self.reap(&agent, by),
            Command::SetMode { agent, mode } => self.set_mode(&agent, by, mode),
            Command::Rewind { ticket, commit, at } => self.rewind(&ticket, by, commit, at),
            Command::Stop { running } => self.stop(running),
            Command::Tool { run, fence, call } => self.called(&run, fence, call),
            Command::IfSeen { seen, then } => {
                self.expect_as_seen(&seen)?;
                self.command(by, *then)
            }
            Command::IfIdle { agent, then } => match self.tickets.of_agent(&agent) {
                Some(id) => Err(format!(
                    "{agent} was given {id} since you looked at it: `crew explain {id}` shows where that stands"
                )),
                None => self.command(by, *then),
            },
        }
    }

    /// Refuses a command whose ticket is not as the person saw it.
    fn expect_as_seen(&self, seen: &Seen) -> Result<(), String> {
        let id = &seen.ticket;
        match self.ticket(id) {
            Some(ticket) if seen.holds(ticket) => Ok(()),
            Some(ticket) => Err(format!(
                "{id} has moved on since you looked at it: it is {} now",
                ticket.state_name()
            )),
            None => Err(unknown(id)),
        }
    }

    pub(super) fn act(&mut self, ticket: &TicketId, event: Event, message: String) -> Answer {
        if self.ticket(ticket).is_none() {
            return Err(unknown(ticket));
        }
        match self.apply(ticket, [event], WriteMeta::default()) {
            Ok(()) => Ok(message),
            Err(no) => Err(refused(ticket, &no)),
        }
    }

    fn spawn(&mut self, named: impl IntoIterator<Item = AgentName>) -> Answer {
        let named: Vec<AgentName> = named.into_iter().collect();
        for name in &named {
            self.expect_worker(name)?;
            if self.project().agents.contains(name) {
                return Err(format!("there is an agent named {name}: choose another name"));
            }
            if self.project().retired.contains(name) {
                return Err(format!(
                    "{name} was retired, and its name is not given again: choose another"
                ));
            }
        }
        let list: Vec<&str> = named.iter().map(AgentName::as_str).collect();
        let names = &self.settings.agents.names;
        let only_by_hand = match named.iter().all(|name| route::takes_any(names, name)) {
            true => "",
            false => "; no ticket goes there unless it is assigned: [agents] names in crew.toml has others",
        };
        let message = format!("spawned {}{only_by_hand}", list.join(", "));
        self.apply_to_project(
            named
                .into_iter()
                .map(|name| project::Event::AgentSpawned { name }),
            "",
        );
        self.ready.touch();
        Ok(message)
    }

    fn assign(&mut self, agent: &AgentName, ticket: &TicketId) -> Answer {
        if !self.project().agents.contains(agent) {
            return Err(format!(
                "there is no agent named {agent}: `crew spawn {agent}` makes one"
            ));
        }
        if let Some(other) = self.tickets.of_agent(agent) {
            // It came to its agent by the queue in the meantime.
            if other == ticket {
                return Ok(format!("{agent} has {ticket}"));
            }
            return Err(format!(
                "{agent} is at work on {other}: only an idle agent can be assigned"
            ));
        }
        if let Err(why) = route::assignable(self.queue(), ticket) {
            return Err(format!("{ticket} cannot be assigned: {why}"));
        }
        match self.claim(ticket, agent, WriteMeta::default()) {
            Ok(()) => Ok(format!("{agent} has {ticket}")),
            Err(no) => Err(refused(ticket, &no)),
        }
    }

    fn kill(&mut self, agent: &AgentName, by: &Actor) -> Answer {
        self.expect_worker(agent)?;
        let Some(id) = self.tickets.of_agent(agent).cloned() else {
            return Err(self.idle(agent));
        };
        let Some(ticket) = self.ticket(&id) else {
            return Err(unknown(&id));
        };
        let goes_back = goes_back(ticket);
        let being_stopped = format!("{agent} is being stopped; {goes_back}");
        let stopping = ticket
            .attempt()
            .and_then(|attempt| attempt.conversation.stopping.as_ref());
        if let Some(AfterStop::Release { .. }) = stopping {
            // Whoever asks again, for want of an engine say, asks for nothing new.
            return Ok(being_stopped);
        }
        if ticket.waits_for_children() {
            let then = AfterChildren::Stop {
                then: AfterStop::Release { by: by.clone() },
            };
            let message = format!("the children of {id} are ended; then {goes_back}");
            return self.end_children(&id, then, message);
        }
        let (event, message) = if ticket.live_run().is_some() {
            let then = AfterStop::Release { by: by.clone() };
            (
                Event::Attempt(attempt::Event::StopOrdered { then }),
                being_stopped,
            )
        } else if let State::Verify(verify) = &ticket.state {
            let stage = verify.stage.name();
            return Err(format!(
                "{agent} has no process to kill: {id} is submitted ({stage}); `crew drop {id}` gives it up"
            ));
        } else {
            let why = Released::Killed { by: by.clone() };
            (
                Event::Released { why },
                format!("{id} is back in the queue, held: `crew retry {id}` gives it out again"),
            )
        };
        self.act(&id, event, message)
    }

    fn cleanup(&mut self, agent: &AgentName, by: &Actor) -> Answer {
        self.expect_worker(agent)?;
        let Some(id) = self.tickets.of_agent(agent).cloned() else {
            return if let Some(id) = self.held_with_workspace_of(agent) {
                Err(format!(
                    "the workspace of {agent} stands while {id} is held: `crew retry {id}` goes on with it, \
                     `crew drop {id}` gives it up"
                ))
            } else if self.project().agents.contains(agent) {
                Ok(format!(
                    "{agent} is idle and has no workspace: `crew reap {agent}` takes it off the list"
                ))
            } else {
                Err(self.idle(agent))
            };
        };
        let Some(ticket) = self.ticket(&id) else {
            return Err(unknown(&id));
        };
        if ticket.live_run().is_some() {
            return Err(format!("a step of {agent} is running: `crew kill {agent}` first"));
        }
        if let State::Verify(_) = ticket.state {
            return Err(format!(
                "the work of {agent} on {id} is submitted; its workspace goes when it has landed"
            ));
        }
        if ticket.waits_for_children() {
            return Err(format!(
                "the children of {id} are at work in the workspace of {agent}: `crew kill {agent}` ends them first"
            ));
        }
        if let Some(shared) = ticket.shared_workspace() {
            return Err(format!(
                "{agent} works in the workspace of {}: `crew kill {agent}` takes {id} from it",
                shared.of
            ));
        }
        let why = Released::Killed { by: by.clone() };
        let message = format!("the workspace of {agent} is removed, its work on {id} kept; {id} is held");
        self.act(&id, Event::Released { why }, message)
    }

    /// A ticket that is held and has freed its agent, whose workspace stands.
    fn held_with_workspace_of(&self, agent: &AgentName) -> Option<&TicketId> {
        let has_workspace = |ticket: &Ticket| {
            let attempt = ticket.attempt().filter(|attempt| attempt.claim.agent == *agent);
            attempt.is_some_and(Attempt::may_have_work)
        };
        let mut tickets = self.active_tickets();
        tickets
            .find(|(_, ticket)| has_workspace(ticket))
            .map(|(id, _)| id)
    }

    fn merge(&mut self, id: &TicketId, by: &Actor) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        match &ticket.state {
            State::Done(done) => Err(format!("{id} is done ({})", done.name().replace('_', " "))),
            State::New | State::Open => Err(format!("nothing of {id} was submitted: no agent has it")),
            // Another try would come to the same person.
            State::Verify(_) if waits_for_look(ticket) && self.settings.land.holds_all() => Err(format!(
                "{id} waits for a person, who looks at all work before it lands: `{}` lets it land, `crew reject {id} <why>` \
                 sends it back",
                ticket.approve_command()
            )),
            State::Verify(_) if ticket.held.is_some() => self.retry(id, by),
            State::Verify(verify) => match verify.stage {
                Stage::Landing { waiting: Some(_), .. } => {
                    self.act(id, Event::LandingRetried, format!("landing {id} is tried again"))
                }
                Stage::Proposed(_) => self.look_now(id),
                Stage::Unified { .. } => Err(format!(
                    "the work of {id} is its parent's, and lands with it: `crew merge {}`",
                    ticket.delegated().map_or("", |it| it.by.as_str())
                )),
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::InTrain(_)
                | Stage::Reviewing(_)
                | Stage::Landing { waiting: None, .. } => {
                    Ok(format!("{id} is on its way: {}", verify.stage.name()))
                }
            },
            State::InProgress(attempt) if attempt.waits_for_children() => Err(format!(
                "the children of {id} are not over: `crew wake {}` has it go on without them",
                attempt.claim.agent
            )),
            State::InProgress(_) if ticket.live_run().is_some() => Err(format!(
                "a step is running on {id}: it can be merged between two steps"
            )),
            State::InProgress(_) => {
                let event = Event::Submitted {
                    by: by.clone(),
                    at: self.now,
                };
                self.act(id, event, format!("{id} is submitted as it is"))
            }
        }
    }

    fn retry(&mut self, id: &TicketId, by: &Actor) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if ticket.held.is_none() && ticket.proposal().is_some() {
            return self.look_now(id);
        }
        if ticket.is_landing() {
            return self.end_landing(id, AfterLanding::Retry { by: by.clone() }, "merged anew");
        }
        let deadline = ticket.deadline();
        let waits = deadline.is_some_and(|d| d.key == TimerKey::Step && d.at > self.now);
        let is_looked_at = self.look_at_bad_target();
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if ticket.held.is_none() && !(waits && ticket.live_run().is_none()) {
            let state = ticket.state_name();
            // The ticket whose step was refused may be over by now: any will do to say that somebody has
            // mended it.
            let idle = matches!(ticket.state, State::InProgress(_)) && ticket.live_run().is_none();
            let paused = self.paused_harness(id);
            if let Some((harness, _)) = paused.filter(|(_, pause)| idle || pause.until.is_none()) {
                let harness = harness.to_owned();
                let message = format!("steps are started on {harness} again");
                self.free_harness(harness, by);
                return Ok(message);
            }
            if is_looked_at && self.waits_for_target(id) {
                return Ok(format!(
                    "{id} is not held: it waits for the target, which is looked at now"
                ));
            }
            return Err(self.with_wait_for_target(id, format!("{id} is not held: it is {state}")));
        }
        let agent = ticket.attempt().map(|a| a.claim.agent.clone());
        let slot_free = agent.is_some_and(|a| {
            self.project().agents.contains(&a) && self.tickets.of_agent(&a).is_none() && self.has_turn(id)
        });
        let event = Event::Retried {
            by: by.clone(),
            slot_free,
            fresh: self.fresh_session(id),
        };
        let paused = self.paused_harness(id).map(|(harness, _)| harness.to_owned());
        let answer = self.act(id, event, format!("{id} is tried again"))?;
        // Whoever retries has mended what was refused, or wants to know.
        if let Some(harness) = paused {
            self.free_harness(harness, by);
        }
        Ok(self.with_wait_for_target(id, answer))
    }

    /// Looks at a ticket's pull request before its time.
    fn look_now(&mut self, id: &TicketId) -> Answer {
        let found = self.ticket(id).and_then(Ticket::proposal);
        let Some((request, proposal)) = found else {
            return Err(unknown(id));
        };
        let message = format!("pull request #{} of {id} is looked at now", request.number);
        if proposal.is_looked_at() {
            return Ok(message);
        }
        self.act(id, Event::LookOrdered, message)
    }

    /// Ends a landing first: the wish of a person follows where the target does not hold the ticket's work.
    fn end_landing(&mut self, id: &TicketId, then: AfterLanding, wish: &str) -> Answer {
        let message = format!("{id} is landing at this moment: it is {wish} unless it has landed");
        let answer = self.act(id, Event::LandingEndOrdered { then }, message)?;
        self.end_batch_of(id);
        Ok(answer)
    }

    /// The events that drop a ticket whose work is in a pull request: people may have merged it since the
    /// last look.
    pub(super) fn drop_proposed(&self, id: &TicketId, by: Actor, reason: String) -> Vec<Event> {
        let proposal = self.ticket(id).and_then(Ticket::proposal);
        let is_looked_at = proposal.is_some_and(|(_, proposal)| proposal.is_looked_at());
        let look = (!is_looked_at).then_some(Event::LookOrdered);
        let then = AfterLanding::Drop { by, reason };
        look.into_iter()
            .chain([Event::LandingEndOrdered { then }])
            .collect()
    }

    fn drop_ticket(&mut self, id: &TicketId, by: &Actor, reason: &str) -> Answer {
        let Some(ticket) = self.ticket(id) else {
            return Err(unknown(id));
        };
        if let (Some(delegated), true) = (ticket.delegated(), ticket.is_unified()) {
            let parent = &delegated.by;
            return Err(format!(
                "the work of {id} is on the branch of {parent} already: `crew say` tells the agent of {parent} what to take out, \
                 `crew reject {parent}` sends it back, `crew drop {parent}` gives up the whole"
            ));
        }
        let (by, reason) = (by.clone(), reason.to_owned());
        let being_dropped = format!("its agent is being stopped; then {id} is dropped");
        let stopping = ticket
            .attempt()
            .and_then(|attempt| attempt.conversation.stopping.as_ref());
        if let Some(AfterStop::Drop { .. }) = stopping {
            // Asked again, as a kill may be.
            return Ok(being_dropped);
        }
        if ticket.waits_for_children() {
            let then = AfterChildren::Stop {
                then: AfterStop::Drop { by, reason },
            };
            let message = format!("the children of {id} are ended; then it is dropped");
            return self.end_children(id, then, message);
        }
        if ticket.live_run().is_some() {
            let event = attempt::Event::StopOrdered {
                then: AfterStop::Drop { by, reason },
            };
            return self.act(id, Event::Attempt(event), being_dropped);
        }
        if ticket.held.is_none()
            && let Some((request, _)) = ticket.proposal()
        {
            let message = format!(
                "pull request #{} of {id} is looked at first: {id} is dropped unless it was merged; the pull request \
                 stays as it is: {}",
                request.number, request.url
            );
            let events = self.drop_proposed(id, by, reason);
            return match self.apply(id, events, WriteMeta::default()) {
                Ok(()) => Ok(message),
                Err(no) => Err(refused(id, &no)),
            };
        }
        if ticket.is_landing() {
            return self.end_landing(id, AfterLanding::Drop { by, reason }, "dropped");
        }
        if ticket.reviewing().is_some_and(Reviewing::is_live) {
            let then = AfterReview::Drop { by, reason };
            return self.decide_in_review(id, then, format!("{id} is dropped"));
        }
        if ticket.is_done() && ticket.unheeded.is_some() {
            return self.act(
                id,
                Event::FileDrifted,
                format!("{id} stays done, and its file is closed"),
            );
        }
        // A pull request is other people's page too: what becomes of it is theirs to say.
        let left = ticket.pull_request.as_deref().filter(|_| !ticket.is_done());
        let left = left.map(|request| format!("; its pull request stays as it is: {}", request.url));
        // Which number the ref gets is git's: what has left nothing to keep has none.
        let message = match ticket.attempt() {
            Some(_) => {
                format!("{id} is dropped; what there is of its work is kept under refs/crew/attempts/{id}/")
            }
            None => format!("{id} is dropped"),
        };
        let message = message + &left.unwrap_or_default();
        self.act(id, Event::Dropped { by, reason }, message)
    }

    fn stop(&mut self, running: OnStop) -> Answer {
        let was_asked = self.stopping.replace(running).is_some();
        let live = self.live_steps();
        let set_ups = self
            .tickets
            .active()
            .filter(|(_, ticket)| is_prepared(ticket))
            .count();
        let set_ups = match set_ups {
            _ if self.settings.workspace.setup.is_empty() => String::new(),
            0 => String::new(),
            1 => "; the set-up of a workspace is ended, and begins again with the next engine".to_owned(),
            n => format!("; the set-ups of {n} workspaces are ended, and begin again with the next engine"),
        };
        self.apply_to_project([project::Event::Closing], "");
        let message = match (running, live) {
            (_, 0) => "the engine stops".to_owned(),
            (OnStop::Finish, 1) => "the engine stops when the running step has ended".to_owned(),
            (OnStop::Kill, 1) => "the engine stops when the running step has been ended".to_owned(),
            (OnStop::Leave, 1) => {
                "the engine stops; the running step runs on, and the next engine adopts it".to_owned()
            }
            (OnStop::Finish, n) => format!("the engine stops when {n} running steps have ended"),
            (OnStop::Leave, n) => {
                format!("the engine stops; {n} steps run on, and the next engine adopts them")
            }
            (OnStop::Kill, n) => format!("the engine stops when {n} running steps have been ended"),
        };
        let at_once = match (was_asked, running, live) {
            (true, OnStop::Finish, 1) => "; `crew stop --kill` ends it at once",
            (true, OnStop::Finish, 2..) => "; `crew stop --kill` ends them at once",
            (_, _, _) => "",
        };
        Ok(message + at_once + &set_ups)
    }

    pub(super) fn idle(&self, agent: &AgentName) -> String {
        if self.project().agents.contains(agent) {
            format!("{agent} is idle: it has no ticket")
        } else {
            format!("there is no agent named {agent}: `crew ps` lists them")
        }
    }
}

/// Whether it is held, since a person looks at all work.
fn waits_for_look(ticket: &Ticket) -> bool {
    let held = ticket.held.as_ref().map(|held| &held.why);
    matches!(held, Some(Why::Hold))
}

/// Whether its workspace is being made.
fn is_prepared(ticket: &Ticket) -> bool {
    let attempt = ticket.attempt();
    attempt.is_some_and(|attempt| matches!(attempt.state, attempt::State::Preparing))
}

/// What becomes of a ticket whose agent a person takes from it, in words.
pub(super) fn goes_back(ticket: &Ticket) -> String {
    match ticket.delegated() {
        Some(delegated) => format!(
            "{} is given up, and the agent of {} hears of it",
            ticket.id, delegated.by
        ),
        None => format!("{} goes back, held", ticket.id),
    }
}

pub(super) fn unknown(ticket: &TicketId) -> String {
    format!("crew knows no ticket {ticket}: `crew ticket ls` lists them")
}

fn refused(ticket: &TicketId, no: &Rejected) -> String {
    format!("{ticket} is {}: {}", no.state, no.why)
}
