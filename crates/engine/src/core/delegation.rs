//! Delegation: an agent orders children, lists them, and takes one back.

use std::sync::Arc;

use model::attempt::{self, Attempt, Child};
use model::call::{MOST_TICKETS_OF_ONE, Task};
use model::policy::delegation;
use model::ticket::{Event, State, Ticket};
use model::{Actor, AgentName, TicketId};

use super::commands::Answer;
use super::{Core, WriteMeta};

/// Said of a child to its parent's agent, whose step runs.
const BEGINS: &str = "begins when your step is over: end your turn now";
/// The longest title of a task, in bytes.
const MAX_TITLE: usize = 200;

impl Core {
    /// Delegates tasks for the agent of a ticket whose step runs. All of them, or none.
    ///
    /// # Errors
    /// The reason against it, for the agent.
    pub(super) fn delegate(&mut self, id: &TicketId, tasks: &[Task], meta: WriteMeta) -> Answer {
        if let Some(before) = self.delegated_before(id, tasks) {
            return Ok(format!(
                "you have delegated {before} before, with these titles, and nothing else was delegated: another task has another title. \
                 End your turn now: they begin once your step is over"
            ));
        }
        let children = self.children_of_tasks(id, tasks)?;
        let named: Vec<&str> = children.iter().map(|child| child.id.as_str()).collect();
        let named = named.join(", ");
        let event = Event::Attempt(attempt::Event::Delegated { children });
        self.apply(id, [event], meta)
            .map_err(|no| format!("nothing was delegated: {}", no.why))?;
        Ok(format!(
            "delegated: {named}. End your turn now: they begin once your step is over, and what they came to opens your next step"
        ))
    }

    /// The children of a ticket that are to be done and were ordered with the titles of these tasks, one for
    /// each: an agent that has not had the answer calls again, and each would be paid twice.
    fn delegated_before(&self, id: &TicketId, tasks: &[Task]) -> Option<String> {
        let attempt = self.ticket(id)?.attempt()?;
        let is_over = |child: &TicketId| self.ticket(child).is_some_and(Ticket::is_over_for_parent);
        let mut before: Vec<&str> = Vec::new();
        for task in tasks {
            let title = checked_title(&task.title).ok()?;
            let is_it = |child: &&TicketId| {
                let is_titled = attempt
                    .orders
                    .get(*child)
                    .is_some_and(|order| order.title == title);
                is_titled && !before.contains(&child.as_str()) && !is_over(child)
            };
            before.push(attempt.open_children().iter().find(is_it)?.as_str());
        }
        (!before.is_empty()).then(|| before.join(", "))
    }

    /// The children of a ticket, for its agent: how each stands.
    pub(super) fn team_list(&self, id: &TicketId) -> Answer {
        let children = self
            .tickets
            .all()
            .values()
            .filter(|ticket| self.parent_of(ticket) == Some(id));
        let open = self
            .ticket(id)
            .and_then(Ticket::attempt)
            .map_or(&[][..], Attempt::open_children);
        let line = |child: &Arc<Ticket>| {
            let held = child.held.as_ref().map(|held| format!(": {}", held.note));
            let begins =
                (open.contains(&child.id) && child.state == State::Open).then(|| format!(", {BEGINS}"));
            format!(
                "{} ({}): {}{}",
                child.id,
                child.spec.title,
                child.state_name(),
                held.or(begins).unwrap_or_default()
            )
        };
        let lines: Vec<String> = children.map(line).collect();
        let unseen = open.iter().filter(|child| self.ticket(child).is_none());
        let lines: Vec<String> = lines
            .into_iter()
            .chain(unseen.map(|child| format!("{child}: {BEGINS}")))
            .collect();
        Ok(match lines.is_empty() {
            true => "you have delegated nothing on this ticket".to_owned(),
            false => lines.join("\n"),
        })
    }

    /// Takes back a child that has not begun.
    pub(super) fn team_kill(&mut self, id: &TicketId, child: &str, (by, why): (Actor, String)) -> Answer {
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

    fn children_of_tasks(&self, id: &TicketId, tasks: &[Task]) -> Result<Vec<Child>, String> {
        let found = self
            .ticket(id)
            .and_then(|ticket| Some((ticket, ticket.attempt()?)));
        let Some((ticket, attempt)) = found else {
            return Err(format!("nothing was delegated: no agent has {id} any more"));
        };
        let me = &attempt.claim.agent;
        if tasks.is_empty() {
            return Err("nothing was delegated: name at least one task".to_owned());
        }
        let limits = self.settings.delegate;
        if let Some(why) = self.too_deep(ticket) {
            return Err(why);
        }
        let is_open = |id: &&TicketId| !self.ticket(id).is_some_and(Ticket::is_over_for_parent);
        let at_once = attempt.open_children().iter().filter(is_open).count() + tasks.len();
        if at_once > limits.breadth as usize {
            return Err(format!(
                "nothing was delegated: that would be {at_once} children at once, and `[delegate] breadth` in crew.toml is {}; \
                 delegate fewer, and the rest when they are over",
                limits.breadth
            ));
        }
        let ever = ticket.children as usize + tasks.len();
        if ever > MOST_TICKETS_OF_ONE as usize {
            return Err(format!(
                "nothing was delegated: {id} would have had {ever} children, and {MOST_TICKETS_OF_ONE} are the most; do the rest \
                 yourself, or ask a person"
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
                is_apart: !task.share,
                is_leader: task.leader,
                by: me.clone(),
                at: self.now,
            })
        };
        tasks.iter().zip(ids).map(make).collect()
    }

    /// Whether an agent may delegate parts of a ticket, as the settings stand.
    pub(super) fn is_leader(&self, ticket: &Ticket, agent: &AgentName) -> bool {
        delegation::may_delegate(&self.settings, ticket, agent)
    }

    /// Why parts of a ticket would be deeper than the settings let them be, for its agent.
    pub(super) fn too_deep(&self, ticket: &Ticket) -> Option<String> {
        let (depth, most) = (ticket.depth(), self.settings.delegate.depth);
        (depth >= most).then(|| {
            format!(
                "nothing was delegated: {} is {depth} deep, and `[delegate] depth` in crew.toml is {most}; do it yourself",
                ticket.id
            )
        })
    }

    /// The tickets above it, the nearest first. No ticket is above itself: a child is younger than its
    /// parent.
    fn above<'a>(&'a self, id: &TicketId) -> impl Iterator<Item = &'a Ticket> {
        let parent = |ticket: &Ticket| ticket.delegated().and_then(|it| self.ticket(&it.by));
        std::iter::successors(self.ticket(id).and_then(parent), move |ticket| parent(ticket))
    }

    /// The ids of further children: the next numbers that no ticket has.
    fn child_ids(&self, ticket: &Ticket, count: usize) -> Result<Vec<TicketId>, String> {
        let ids = (ticket.children.saturating_add(1)..).map(|n| TicketId::new(format!("{}-c{n}", ticket.id)));
        let is_free = |id: &TicketId| self.ticket(id).is_none() && !self.folder.has(id);
        ids.filter(|id| id.as_ref().map_or(true, is_free))
            .take(count)
            .collect::<Result<_, _>>()
            .map_err(|error| error.to_string())
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
