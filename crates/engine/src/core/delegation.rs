//! Delegation: an agent orders children, waits for them, and hears what they came to.
//!
//! Everything that follows from a delegation is found in the tickets' states after every input, so that a
//! crash at any point changes nothing.

use std::sync::Arc;

use model::attempt::{self, AfterChildren, AfterStop, Attempt, Child, ChildEnd, ChildResult};
use model::call::Task;
use model::policy::{capacity, route};
use model::settings::MAX_AGENTS;
use model::ticket::{Delegated, Done, Event, Stage, State, Ticket, Why};
use model::{Actor, AgentName, TicketId, project};

use super::commands::Answer;
use super::{Core, Duty, WriteMeta};
use crate::names;

/// The tag of a ticket whose agent may delegate.
const LEADER: &str = "leader";

/// The longest title of a task, in bytes.
const MAX_TITLE: usize = 200;

impl Core {
    /// Delegates tasks for the agent of a ticket whose step runs. All of them, or none.
    ///
    /// # Errors
    /// The reason against it, for the agent.
    pub(super) fn delegate(&mut self, id: &TicketId, tasks: &[Task], meta: WriteMeta) -> Answer {
        let children = self.children_of_tasks(id, tasks)?;
        let named: Vec<&str> = children.iter().map(|child| child.id.as_str()).collect();
        let named = named.join(", ");
        let event = Event::Attempt(attempt::Event::Delegated { children });
        self.apply(id, [event], meta)
            .map_err(|no| format!("nothing was delegated: {}", no.why))?;
        Ok(format!(
            "delegated: {named}. End your turn now: they begin, one after the other and in this folder, once your step is over, \
             and what they came to opens your next step"
        ))
    }

    /// The children of a ticket, for its agent: how each stands.
    pub(super) fn team_list(&self, id: &TicketId) -> Answer {
        self.expect_leader(id)?;
        let children = self
            .tickets
            .all()
            .values()
            .filter(|ticket| self.parent_of(ticket) == Some(id));
        let line = |child: &Arc<Ticket>| {
            let held = child.held.as_ref().map(|held| format!(": {}", held.note));
            format!(
                "{} ({}): {}{}",
                child.id,
                child.spec.title,
                child.state_name(),
                held.unwrap_or_default()
            )
        };
        let lines: Vec<String> = children.map(line).collect();
        let open = self
            .ticket(id)
            .and_then(Ticket::attempt)
            .map_or(&[][..], Attempt::open_children);
        let unseen = open.iter().filter(|child| self.ticket(child).is_none());
        let lines: Vec<String> = lines
            .into_iter()
            .chain(unseen.map(|child| format!("{child}: ordered")))
            .collect();
        Ok(match lines.is_empty() {
            true => "you have delegated nothing on this ticket".to_owned(),
            false => lines.join("\n"),
        })
    }

    /// Takes back a child that has not begun.
    pub(super) fn team_kill(&mut self, id: &TicketId, child: &str, (by, why): (Actor, String)) -> Answer {
        self.expect_leader(id)?;
        let child = TicketId::new(child).map_err(|error| error.to_string())?;
        let open = self
            .ticket(id)
            .and_then(Ticket::attempt)
            .map_or(&[][..], Attempt::open_children);
        if !open.contains(&child) {
            return Err(format!(
                "{child} is no task of yours that is to be done: `team_list` lists what you have delegated"
            ));
        }
        if self.ticket(&child).is_none() {
            return Err(format!("{child} is not written yet: ask again"));
        }
        let reason = match why.trim() {
            "" => "its parent's agent does not want it any more".to_owned(),
            why => why.to_owned(),
        };
        self.apply(&child, [Event::Dropped { by, reason }], WriteMeta::default())
            .map_err(|no| format!("{child} was not taken back: {}", no.why))?;
        Ok(format!("{child} is not done any more"))
    }

    fn parent_of<'a>(&self, ticket: &'a Ticket) -> Option<&'a TicketId> {
        ticket.delegated().map(|it| &it.by)
    }

    fn expect_leader(&self, id: &TicketId) -> Result<(), String> {
        let found = self
            .ticket(id)
            .and_then(|ticket| Some((ticket, &ticket.attempt()?.claim.agent)));
        match found {
            Some((ticket, me)) if !self.is_leader(ticket, me) => Err(format!(
                "{me} may not delegate: a person names it in `[agents] leaders` of crew.toml, or gives {id} the tag `{LEADER}`"
            )),
            Some(_) => Ok(()),
            None => Err(format!("no agent has {id} any more")),
        }
    }

    fn children_of_tasks(&self, id: &TicketId, tasks: &[Task]) -> Result<Vec<Child>, String> {
        let found = self
            .ticket(id)
            .and_then(|ticket| Some((ticket, ticket.attempt()?)));
        let Some((ticket, attempt)) = found else {
            return Err(format!("nothing was delegated: no agent has {id} any more"));
        };
        let me = &attempt.claim.agent;
        self.expect_leader(id)?;
        if tasks.is_empty() {
            return Err("nothing was delegated: name at least one task".to_owned());
        }
        let limits = self.settings.delegate;
        let depth = self.depth(id);
        if depth >= limits.depth {
            return Err(format!(
                "nothing was delegated: {id} is {depth} deep, and `[delegate] depth` in crew.toml is {}; do it yourself",
                limits.depth
            ));
        }
        let at_once = attempt.open_children().len() + tasks.len();
        if at_once > limits.breadth as usize {
            return Err(format!(
                "nothing was delegated: that would be {at_once} children at once, and `[delegate] breadth` in crew.toml is {}; \
                 delegate fewer, and the rest when they are over",
                limits.breadth
            ));
        }
        // A last step has to come to an end itself.
        if self.steps_left(id) <= 1 {
            return Err(
                "nothing was delegated: this is your last step; submit, or say what blocks you".to_owned(),
            );
        }
        if let model::policy::budget::Standing::Spent(budget) = self.stands(ticket) {
            return Err(format!(
                "nothing was delegated: {budget} of the ticket's budget are spent; come to an end"
            ));
        }
        let ids = self.child_ids(ticket, tasks.len())?;
        let make = |(task, child): (&Task, TicketId)| {
            let title = checked_title(&task.title)?;
            if !task.share {
                return Err(format!(
                    "nothing was delegated: {title:?} asks for a workspace of its own, which crew does not have: children share \
                     their parent's (leave `share` out)"
                ));
            }
            let agent = task
                .agent
                .as_deref()
                .map(|name| self.named(id, me, name))
                .transpose()?;
            Ok(Child {
                id: child,
                title,
                task: task.task.trim().to_owned(),
                acceptance: task.acceptance.clone().filter(|text| !text.trim().is_empty()),
                agent,
                is_leader: task.leader,
                by: me.clone(),
                at: self.now,
            })
        };
        tasks.iter().zip(ids).map(make).collect()
    }

    /// Whether an agent may delegate: the settings name it, or its ticket had the tag when it was given out.
    pub(crate) fn is_leader(&self, ticket: &Ticket, agent: &AgentName) -> bool {
        self.settings.agents.leaders.contains(agent) || ticket.tags_given.contains(LEADER)
    }

    /// The number of tickets above it, which were delegated one by another.
    fn depth(&self, id: &TicketId) -> u32 {
        let above = self.above(id).count();
        u32::try_from(above).unwrap_or(u32::MAX)
    }

    /// The tickets above it, the nearest first. No ticket is above itself: a child is younger than its
    /// parent.
    fn above<'a>(&'a self, id: &TicketId) -> impl Iterator<Item = &'a Ticket> {
        let parent = |ticket: &Ticket| ticket.delegated().and_then(|it| self.ticket(&it.by));
        std::iter::successors(self.ticket(id).and_then(parent), move |ticket| parent(ticket))
    }

    /// The ids of further children.
    fn child_ids(&self, ticket: &Ticket, count: usize) -> Result<Vec<TicketId>, String> {
        let numbers = (ticket.children.saturating_add(1)..).take(count);
        let ids = numbers.map(|n| {
            let id = TicketId::new(format!("{}-c{n}", ticket.id)).map_err(|error| error.to_string())?;
            if self.ticket(&id).is_some() || self.folder.has(&id) {
                return Err(format!(
                    "nothing was delegated: there is a ticket {id} already, which is nobody's child; rename it"
                ));
            }
            Ok(id)
        });
        ids.collect()
    }

    /// The agent that a task names.
    fn named(&self, id: &TicketId, me: &AgentName, name: &str) -> Result<AgentName, String> {
        let agent = AgentName::new(name).map_err(|error| format!("nothing was delegated: {error}"))?;
        if agent == *me {
            return Err(format!(
                "nothing was delegated: {me} cannot delegate to itself; leave `agent` out, and crew finds one"
            ));
        }
        let waits = |ticket: &Ticket| ticket.attempt().is_some_and(|it| it.claim.agent == agent);
        if let Some(above) = self.above(id).find(|ticket| waits(ticket)) {
            return Err(format!(
                "nothing was delegated: {agent} waits for {id} itself, with {}; leave `agent` out, and crew finds one",
                above.id
            ));
        }
        if !self.project().agents.contains(&agent) {
            return Err(format!(
                "nothing was delegated: there is no agent named {agent}; leave `agent` out, and crew finds one"
            ));
        }
        Ok(agent)
    }

    /// The events with which a ticket begins that an agent has ordered: its file was seen now.
    pub(super) fn delegated_at_creation(&self, id: &TicketId) -> Vec<Event> {
        let Some(parent) = self.parent_by_id(id) else {
            return Vec::new();
        };
        let attempt = parent
            .attempt()
            .filter(|attempt| attempt.open_children().contains(id));
        match attempt {
            Some(attempt) => vec![Event::Delegated {
                delegated: Delegated {
                    by: parent.id.clone(),
                    fence: attempt.claim.fence,
                    shared: attempt.workspace(&parent.id),
                },
            }],
            None => vec![Event::Dropped {
                by: Actor::Engine,
                reason: format!(
                    "the agent of {} that delegated it does not wait for it any more",
                    parent.id
                ),
            }],
        }
    }

    /// The ticket whose agent has ordered this one. What a file says of that counts for nothing: anybody can
    /// write it.
    fn parent_by_id(&self, id: &TicketId) -> Option<&Ticket> {
        let (parent, number) = id.as_str().rsplit_once("-c")?;
        let parent = self.ticket(&TicketId::new(parent).ok()?)?;
        let number: u32 = number.parse().ok()?;
        (1..=parent.children).contains(&number).then_some(parent)
    }

    /// Moves children and their parents on: the next child begins, a parent hears that all are over, and
    /// what belongs to an attempt that is over ends with it. Returns whether anything was decided.
    pub(super) fn follow_children(&mut self) -> bool {
        let begin = self.out.writes.len();
        loop {
            let before = self.out.writes.len();
            let parents = self
                .active_tickets()
                .filter(|(_, ticket)| ticket.waits_for_children());
            let parents: Vec<TicketId> = parents.map(|(id, _)| id.clone()).collect();
            for parent in parents {
                self.follow_parent(&parent);
            }
            for child in self.tickets.delegated_ids() {
                self.follow_child(&child);
            }
            if self.out.writes.len() == before {
                return before > begin;
            }
        }
    }

    fn follow_parent(&mut self, parent: &TicketId) {
        let Some(attempt) = self.ticket(parent).and_then(Ticket::attempt) else {
            return;
        };
        let ids = attempt.open_children().to_vec();
        let ending = attempt.after_children().cloned();
        if let Some(ending) = &ending {
            let reason = match ending {
                AfterChildren::Unify { by } => format!("{by} has {parent} go on without it"),
                AfterChildren::Stop { then } => format!("it is a part of {parent}: {}", then.words()),
            };
            // What is done stays a part of the work.
            let is_unified = |id: &&TicketId| {
                let stage = self.ticket(id).and_then(Ticket::stage);
                matches!(stage, Some(Stage::Unified { .. }))
            };
            let open: Vec<&TicketId> = ids.iter().filter(|id| !is_unified(id)).collect();
            for id in open {
                self.end_child(id, &reason);
            }
        }
        let is_over = |id: &TicketId| match self.ticket(id) {
            Some(child) => is_over(child),
            // It does not begin any more.
            None => ending.is_some(),
        };
        match ids.iter().find(|id| !is_over(id)).cloned() {
            None => self.children_over(parent, &ids, ending),
            Some(next) if ending.is_none() => self.begin_child(&next),
            Some(_) => {}
        }
    }

    fn children_over(&mut self, parent: &TicketId, ids: &[TicketId], then: Option<AfterChildren>) {
        let results = ids.iter().map(|id| self.result_of(id)).collect();
        let over = Event::Attempt(attempt::Event::ChildrenOver { results });
        let follows = match then {
            Some(AfterChildren::Stop { then }) => self.follows(parent, then),
            Some(AfterChildren::Unify { .. }) | None => None,
        };
        let agent = self.ticket(parent).and_then(Ticket::attempt);
        let agent = agent.map(|attempt| attempt.claim.agent.clone());
        let events = [over].into_iter().chain(follows);
        if let Err(no) = self.apply(parent, events, WriteMeta::because("its children are over")) {
            return self.note_refusal(parent, &no);
        }
        let held = self.ticket(parent).and_then(|ticket| ticket.held.as_ref());
        if let (Some(name), Some(Why::Reaped)) = (agent, held.map(|held| &held.why)) {
            self.apply_to_project([project::Event::AgentRetired { name }], "it was given up");
        }
    }

    fn result_of(&self, id: &TicketId) -> ChildResult {
        let Some(child) = self.ticket(id) else {
            return ChildResult {
                id: id.clone(),
                title: String::new(),
                agent: None,
                end: ChildEnd::Ended {
                    why: "it did not begin".to_owned(),
                },
                summary: None,
                cost_micro_usd: 0,
            };
        };
        let end = match (&child.held, &child.state) {
            (Some(held), _) => ChildEnd::GivenUp {
                why: held.note.clone(),
            },
            (None, State::Verify(_)) => ChildEnd::Unified,
            (None, State::Done(done)) => ChildEnd::Ended {
                why: match done {
                    Done::Dropped { by, reason } if *by == Actor::Engine => reason.clone(),
                    Done::Dropped { by, reason } => format!("dropped by {by}: {reason}"),
                    Done::ClosedByPerson => "a person closed it".to_owned(),
                    Done::Landed { .. } | Done::Failed { .. } | Done::NotNeeded | Done::Replaced { .. } => {
                        done.name().replace('_', " ")
                    }
                },
            },
            (None, State::New | State::Open | State::InProgress(_)) => ChildEnd::Ended {
                why: "it did not come to an end".to_owned(),
            },
        };
        let attempt = child.attempt();
        ChildResult {
            id: id.clone(),
            title: child.spec.title.clone(),
            agent: attempt
                .map(|attempt| attempt.claim.agent.clone())
                .or_else(|| child.authors.last().cloned()),
            end,
            summary: attempt.and_then(|attempt| attempt.summary.clone()),
            cost_micro_usd: child.spent.since_grant_micro_usd,
        }
    }

    /// Gives a child to an agent, while its parent's agent waits for it.
    fn begin_child(&mut self, id: &TicketId) {
        let is_up = self.duty == Duty::Drain && self.stopping.is_none();
        let is_open = self
            .ticket(id)
            .is_some_and(|child| matches!(child.state, State::Open));
        if !is_up || !is_open || self.has_touched_settings {
            return;
        }
        if route::delegable(self.queue(), id).is_err() {
            return;
        }
        let Some(agent) = self.agent_for_child(id) else {
            return;
        };
        if let Err(no) = self.claim(id, &agent, WriteMeta::because("its parent's agent waits for it")) {
            self.note_refusal(id, &no);
        }
    }

    /// The agent that a child gets: the one that it is meant for if that one is idle, another idle one, or a
    /// further one. A parent that waits leaves its place, so that no child waits for an agent.
    fn agent_for_child(&mut self, id: &TicketId) -> Option<AgentName> {
        let idle = capacity::idle(self.at_work(), &self.project().agents);
        let meant = route::assignee(self.queue(), id).filter(|agent| idle.contains(agent));
        let names = &self.settings.agents.names;
        let any = idle.iter().copied().find(|agent| route::takes_any(names, agent));
        let extra = idle.first().copied();
        if let Some(agent) = meant.or(any).or(extra) {
            return Some(agent.clone());
        }
        if self.project().agents.len() >= MAX_AGENTS as usize {
            return None;
        }
        let name = names::next(&self.names_taken());
        self.apply_to_project(
            [project::Event::AgentSpawned { name: name.clone() }],
            "a child needs an agent",
        );
        self.ready.touch();
        Some(name)
    }

    /// A child lands with its parent, and ends with the attempt that delegated it.
    fn follow_child(&mut self, id: &TicketId) {
        let Some((child, delegated)) = self
            .ticket(id)
            .and_then(|child| Some((child, child.delegated()?)))
        else {
            return;
        };
        let parent = self.ticket(&delegated.by);
        let attempt = parent.and_then(|parent| parent.claim(delegated.fence));
        let is_awaited = attempt.is_some_and(|attempt| attempt.open_children().contains(id));
        let is_unified = matches!(child.stage(), Some(Stage::Unified { .. })) && child.held.is_none();
        if is_awaited || attempt.is_some() && is_unified {
            return;
        }
        let by = delegated.by.clone();
        if let Some(State::Done(Done::Landed { commit, .. })) = parent.map(|parent| &parent.state)
            && child.is_unified()
        {
            let event = Event::LandedWithParent {
                parent: by,
                commit: commit.clone(),
            };
            return self.apply_or_note(id, event, "its parent has landed");
        }
        let reason = match (&child.held, attempt) {
            (Some(held), _) => held.note.clone(),
            (None, Some(_)) => format!("{by} goes on without it"),
            (None, None) => format!("the attempt at {by} that it was a part of has ended"),
        };
        self.end_child(id, &reason);
    }

    /// Ends a child: what runs of it is stopped first, with its own children.
    fn end_child(&mut self, id: &TicketId, reason: &str) {
        let Some(child) = self.ticket(id) else { return };
        let (by, reason) = (Actor::Engine, reason.to_owned());
        let attempt = child.attempt();
        let event = if child.is_done() {
            return;
        } else if child.live_run().is_some() {
            let then = AfterStop::Drop { by, reason };
            let stopping = attempt.and_then(|attempt| attempt.conversation.stopping.as_ref());
            if stopping.is_some_and(|stopping| !then.outranks(stopping)) {
                return;
            }
            Event::Attempt(attempt::Event::StopOrdered { then })
        } else if child.waits_for_children() {
            let then = AfterStop::Drop { by, reason };
            match attempt.and_then(Attempt::after_children) {
                Some(AfterChildren::Stop { then: before }) if !then.outranks(before) => return,
                Some(AfterChildren::Stop { .. } | AfterChildren::Unify { .. }) | None => {}
            }
            let then = AfterChildren::Stop { then };
            Event::Attempt(attempt::Event::ChildrenEndOrdered { then })
        } else {
            Event::Dropped { by, reason }
        };
        self.apply_or_note(id, event, "it belongs to an attempt that ends, or goes on");
    }
}

/// Whether nothing of a child is at work any more, and its parent need not wait for it: its work is the
/// parent's, it is over, or only a person could move it on.
fn is_over(child: &Ticket) -> bool {
    if child.live_run().is_some() {
        return false;
    }
    let is_given_up = child.held.as_ref().is_some_and(|held| held.retry_at.is_none());
    is_given_up || child.is_done() || child.is_unified()
}

/// The title of a task, which is one line of a ticket's file.
fn checked_title(title: &str) -> Result<String, String> {
    let title = title.trim();
    if title.is_empty() {
        return Err("nothing was delegated: a task has no title".to_owned());
    }
    if title.chars().any(char::is_control) {
        return Err(
            "nothing was delegated: the title of a task is one line; the rest belongs into `task`".to_owned(),
        );
    }
    if title.len() > MAX_TITLE {
        return Err(format!(
            "nothing was delegated: a title is at most {MAX_TITLE} bytes long; the rest belongs into `task`"
        ));
    }
    Ok(title.to_owned())
}
