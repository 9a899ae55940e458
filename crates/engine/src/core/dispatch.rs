//! Dispatch: after every input, everything starts that the rules allow now, in a fixed order.

use std::collections::BTreeSet;

use model::attempt::{self, AfterStop};
use model::command::OnStop;
use model::journal::TimerRef;
use model::machine::Rejected;
use model::policy::{capacity, route};
use model::project;
use model::ticket::{Event, Stage, State, Ticket, TimerKey};
use model::{AgentName, RunId, SessionId, TicketId, worker};

use super::train::place_in_line;
use super::{Core, Duty, WriteMeta};
use crate::names;

impl Core {
    /// Moves everything that can move.
    pub(super) fn advance(&mut self) {
        self.end_renames();
        self.drop_what_is_gone();
        self.submit_what_is_closed();
        match self.duty {
            Duty::Drain if self.stopping.is_none() => {
                // Before the budgets: what goes back is not stepped past one.
                self.tell_edits();
                self.follow_budgets();
                // A parent that goes on may have spent its budget by its children.
                if self.follow_children() {
                    self.follow_budgets();
                }
                self.check_target_again();
                self.submit_reverts();
                self.start_check();
                self.resume_checks();
                self.start_reviews();
                self.start_steps();
                if self.folder.is_read() && self.ready.take_touched() {
                    self.dispatch();
                }
            }
            Duty::Command { lands: Some(ref id) } => {
                let id = id.clone();
                self.follow_children();
                self.start_check();
                self.resume_checks();
                // It starts no gatekeeper, and a person needs none.
                self.leave_to_person(&id);
            }
            Duty::Drain | Duty::Command { lands: None } => {
                self.follow_children();
            }
        }
        if let Duty::Drain = self.duty {
            self.follow_activity();
            self.follow_stop();
        }
    }

    /// One candidate at a time, oldest first: what is checked is the next state of the target.
    fn start_check(&mut self) {
        if self.has_train() {
            return self.follow_train();
        }
        self.dissolve_train();
        // The target's own checks have the checkout.
        if self.checking_target().is_some() {
            return;
        }
        let mut next: Option<(model::Time, &TicketId)> = None;
        for (id, ticket) in self.active_tickets() {
            let State::Verify(verify) = &ticket.state else {
                continue;
            };
            if ticket.held.is_some() {
                continue;
            }
            match &verify.stage {
                Stage::Queued if !self.may_land(id) || self.waits_for_resolution(ticket, verify) => {}
                Stage::Queued => {
                    let key = (place_in_line(ticket, verify), id);
                    next = Some(next.map_or(key, |old| old.min(key)));
                }
                // Its checks are paused, and are the next engine's.
                Stage::Checking(checks) if checks.run.is_none() && !self.may_land(id) => {}
                Stage::Building | Stage::Checking(_) | Stage::Landing { waiting: None, .. } => return,
                Stage::InTrain(_)
                | Stage::Reviewing(_)
                | Stage::Proposed(_)
                | Stage::Unified { .. }
                | Stage::Landing { waiting: Some(_), .. } => {}
            }
        }
        if let Some(id) = next.map(|(_, id)| id.clone()) {
            self.apply_or_note(
                &id,
                Event::CheckStarted,
                "it was the next in the queue for checks",
            );
        }
    }

    /// Whether this engine brings a ticket to landing.
    pub(super) fn may_land(&self, id: &TicketId) -> bool {
        match &self.duty {
            Duty::Drain => true,
            Duty::Command { lands } => lands.as_ref() == Some(id),
        }
    }

    /// Submits work that crew has made itself: no agent has a part in a revert that merges and passes.
    fn submit_reverts(&mut self) {
        let made = self.active_tickets().filter(|(_, ticket)| {
            let is_made = ticket.attempt().is_some_and(attempt::Attempt::is_made_by_crew);
            is_made && ticket.held.is_none() && matches!(ticket.state, State::InProgress(_))
        });
        let made: Vec<TicketId> = made.map(|(id, _)| id.clone()).collect();
        for id in made {
            let event = Event::Submitted {
                by: model::Actor::Engine,
                at: self.now,
            };
            self.apply_or_note(&id, event, "crew has made the commit that takes the merge back");
        }
    }

    fn start_steps(&mut self) {
        if self.project().pause.is_some() || self.has_touched_settings {
            return;
        }
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        let free = (limits.workers as usize).saturating_sub(self.live_steps());
        let mut ready: Vec<(model::Time, TicketId)> = Vec::new();
        let mut paused_until: Option<model::Time> = None;
        let may_begin = self.lets_agents_start();
        for (id, ticket) in self.active_tickets().filter(|(_, t)| t.held.is_none()) {
            match &ticket.state {
                State::InProgress(attempt) if attempt.needs_target() && !may_begin => {}
                State::InProgress(attempt) if attempt.can_step(self.now) => match self.pause_of(attempt) {
                    None => ready.push((attempt.since, id.clone())),
                    Some((_, pause)) => paused_until = paused_until.into_iter().chain(pause.until).min(),
                },
                State::InProgress(_) | State::New | State::Open | State::Verify(_) | State::Done(_) => {}
            }
        }
        if let Some(until) = paused_until {
            self.wake_at(until);
        }
        ready.sort();
        for (_, id) in ready.into_iter().take(free) {
            let Some(attempt) = self.ticket(&id).and_then(Ticket::attempt) else {
                continue;
            };
            let run = RunId::of_step(&id, attempt.claim.fence, attempt.conversation.runs + 1);
            let budget = self.warning(&id);
            let change = self.harness_change(&id);
            self.apply_or_note(
                &id,
                Event::Attempt(attempt::Event::StepStarted { run, budget, change }),
                "its next step may start",
            );
        }
    }

    /// Gives eligible tickets to agents, naming further ones while there is work for them.
    fn dispatch(&mut self) {
        self.refresh_ready();
        let over: Vec<TicketId> = self.ready.not_needed().cloned().collect();
        for id in over {
            self.apply_or_note(
                &id,
                Event::RecoveryNotNeeded,
                "the ticket that it recovers is done",
            );
        }
        self.refresh_ready();
        let limits = capacity::Limits::new(&self.settings.agents, &self.settings.run);
        let work = match self.project().pause {
            None if self.lets_agents_start() && !self.has_touched_settings => self.ready.order().len(),
            Some(_) | None => 0,
        };
        let work = work.min(
            self.hindrances
                .workspaces_to_begin(self.at_work())
                .unwrap_or(work),
        );
        // Those that the settings name by now; the others are there since the start.
        if limits.fixed && work > 0 {
            for named in self.missing_agents() {
                self.apply_to_project([named], "the settings name it");
            }
        }
        let further = capacity::further(self.at_work(), &self.project().agents, limits, work);
        for _ in 0..further {
            let name = names::next(&self.names_taken());
            self.apply_to_project(
                [project::Event::AgentSpawned { name }],
                "there is work for one more agent",
            );
        }
        for (id, agent) in self.pairs(limits, work) {
            if let Err(no) = self.claim(&id, &agent, WriteMeta::because("it was the next in the queue")) {
                self.out.refused.push(format!("{id}: {no}"));
            }
        }
        self.refresh_ready();
        if let Some(at) = self.ready.debounce_ends_at() {
            self.ready.touch();
            self.wake_at(at);
        }
    }

    /// The tickets that are given out now, each with its agent, of so many eligible tickets.
    fn pairs(&self, limits: capacity::Limits, work: usize) -> Vec<(TicketId, AgentName)> {
        let queue = self.queue();
        let free = capacity::free(self.at_work(), limits);
        let idle = capacity::idle(self.at_work(), &self.project().agents);
        let meant = self
            .ready
            .named()
            .filter_map(|id| route::assignee(queue, id))
            .collect();
        route::assign_in(self.ready.order().take(work), queue, &meant, &idle, free)
            .into_iter()
            .map(|(id, agent)| (id.clone(), agent.clone()))
            .collect()
    }

    /// Brings the ready queue up to date.
    fn refresh_ready(&mut self) {
        let mut ready = std::mem::take(&mut self.ready);
        ready.refresh(self.queue());
        self.ready = ready;
        #[cfg(debug_assertions)]
        self.ready.check(self.queue());
    }

    /// Gives a ticket to an agent.
    pub(super) fn claim(
        &mut self,
        id: &TicketId,
        agent: &AgentName,
        answering: WriteMeta,
    ) -> Result<(), Rejected> {
        let Some(harness) = self.settings.harness_of_new_attempts() else {
            return Err(Rejected {
                state: self.ticket(id).map(Ticket::state_name).unwrap_or_default(),
                event: "claimed".to_owned(),
                why: "crew.toml names no harness for it: [agents] harness".to_owned(),
            });
        };
        let fence = self.ticket(id).map(|t| t.fence).unwrap_or_default().next();
        let event = Event::Claimed {
            agent: agent.clone(),
            fence,
            harness,
            session: SessionId::of_attempt(self.journal, id, fence, 1),
            at: self.now,
            eligible: true,
        };
        let events = self.parts_over(id).into_iter().chain([event]);
        self.apply(id, events.collect::<Vec<_>>(), answering)
    }

    /// The facts on which routing depends.
    pub(super) fn queue(&self) -> route::Queue<'_> {
        route::Queue {
            tickets: self.tickets.all(),
            files: self.folder.files(),
            roster: &self.project().agents,
            names: &self.settings.agents.names,
            debounce: self.settings.run.debounce,
            pause: self.project().pause,
            target: self.project().target.as_deref(),
            set_up: self.hindrances.shows_no_set_up(),
            now: self.now,
        }
    }

    /// The agents that the settings ask for and the roster does not have.
    pub(super) fn missing_agents(&self) -> Vec<project::Event> {
        let fixed = &self.settings.agents.names;
        if !fixed.is_empty() {
            let project = self.project();
            let is_known = |name| project.agents.contains(name) || project.retired.contains(name);
            let missing = fixed.iter().filter(|name| !is_known(*name));
            return missing
                .map(|name| project::Event::AgentSpawned { name: name.clone() })
                .collect();
        }
        let mut taken = self.names_taken();
        let have = self.project().agents.len();
        (have..self.settings.agents.count as usize)
            .map(|_| {
                let name = names::next(&taken);
                taken.insert(name.clone());
                project::Event::AgentSpawned { name }
            })
            .collect()
    }

    /// Names that cannot be given to another agent.
    pub(super) fn names_taken(&self) -> BTreeSet<AgentName> {
        self.project()
            .agents
            .union(&self.project().retired)
            .cloned()
            .collect()
    }

    /// A timer's time has come; a stale one is passed over, and one that only opens a door is heeded by what
    /// follows.
    pub(super) fn timer_due(&mut self, timer: TimerRef) {
        self.ready.touch();
        let model::journal::Stream::Ticket(id) = timer.stream.clone() else {
            return;
        };
        let Some(deadline) = self.ticket(&id).and_then(Ticket::deadline) else {
            return;
        };
        if TimerKey::parse(&timer.key) != Some(deadline.key) || deadline.at > self.now {
            return;
        }
        let event = match deadline.key {
            TimerKey::Due | TimerKey::Step | TimerKey::Review => return,
            TimerKey::Retry => Event::RetryDue,
            TimerKey::Wakeup => Event::Attempt(attempt::Event::Woken),
            TimerKey::Answer => self.wait_timed_out(&id),
            TimerKey::Land => Event::LandingRetried,
            TimerKey::Proposal => Event::LookOrdered,
        };
        let answering = WriteMeta {
            fires: Some(timer),
            ..WriteMeta::because("its wait is over")
        };
        if let Err(no) = self.apply(&id, [event], answering) {
            self.out.refused.push(format!("{id}: {no}"));
        }
    }

    fn follow_activity(&mut self) {
        let busy = self.active_tickets().next().is_some();
        let event = match self.project().state {
            project::State::Ready if busy => project::Event::AgentsBusy,
            project::State::Busy if !busy => project::Event::AgentsIdle,
            project::State::Uninitialized
            | project::State::Initializing
            | project::State::Ready
            | project::State::Busy
            | project::State::ShuttingDown
            | project::State::Closed => return,
        };
        self.apply_to_project([event], "activity changed");
    }

    /// A stop waits for what it was told to wait for.
    fn follow_stop(&mut self) {
        let Some(how) = self.stopping else { return };
        let live: Vec<TicketId> = self
            .active_tickets()
            .filter(|(id, t)| t.live_runs().next().is_some() && !self.is_kept_from_starting(id, t))
            .map(|(id, _)| id.clone())
            .collect();
        if let OnStop::Kill = how {
            for id in &live {
                self.pause_check(id);
                let ticket = self.ticket(id);
                let runs = ticket.into_iter().flat_map(Ticket::live_conversations);
                let runs = runs.filter(|conversation| conversation.stopping.is_none());
                let runs: Vec<RunId> = runs.filter_map(|one| one.live_run().cloned()).collect();
                for run in runs {
                    let event = self.stop_ordered(id, &run, AfterStop::Pause);
                    self.apply_or_note(id, event, "the engine is being stopped");
                }
            }
        }
        if live.is_empty() || matches!(how, OnStop::Leave) {
            if self.project().state == project::State::ShuttingDown {
                self.apply_to_project([project::Event::Closed], "the engine has stopped");
            }
            self.out.ended = true;
        }
    }

    /// Whether its step was ordered and could not begin yet: nothing of it runs, and the next engine begins
    /// the step.
    fn is_kept_from_starting(&self, id: &TicketId, ticket: &Ticket) -> bool {
        let workers = ticket.live_conversations().filter_map(|one| one.worker.as_ref());
        let mut states = workers.map(|worker| worker.state);
        states.any(|state| state == worker::State::Spawning) && self.failures.has_work(id)
    }

    /// Tickets with an attempt.
    pub(super) fn at_work(&self) -> impl Iterator<Item = &Ticket> + Clone {
        self.tickets.active().map(|(_, ticket)| ticket)
    }
}
