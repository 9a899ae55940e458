//! Calls of agents: what a tool that is called in a step changes.

use model::attempt::{self, AfterStop, Mode};
use model::call::{Call, MOST_GENERATIONS, MOST_TICKETS, MOST_TICKETS_OF_ONE, Role, maker_of, says_made};
use model::commitment::By;
use model::policy::delegation::LEADER_TAG;
use model::ticket::{Event, NewTicket, ReviewEvent, Ticket};
use model::{Actor, AgentName, Fence, RunId, TicketId};

use super::commands::Answer;
use super::review::not_named;
use super::{Core, WriteMeta};
use crate::{End, RunEnd};

impl Core {
    /// An agent has called a tool in this run. Only what is called in the run of the step that its
    /// ticket waits for counts.
    pub(super) fn called(&mut self, run: &RunId, fence: Fence, call: Call) -> Answer {
        let is_over = || "your step is over, and what it calls does not count".to_owned();
        let id = self.tickets.of_run(run).cloned().ok_or_else(is_over)?;
        let ticket = self.ticket(&id).ok_or_else(is_over)?;
        let review = ticket.review_of_run(run);
        let stands = match (review, ticket.attempt()) {
            (Some(review), _) => Some(review.fence),
            (None, Some(attempt)) => Some(attempt.claim.fence),
            (None, None) => None,
        };
        let conversation = ticket.conversation_of(run).ok_or_else(is_over)?;
        let agent = ticket.agent_of_run(run).cloned().ok_or_else(is_over)?;
        if stands != Some(fence) {
            return Err(is_over());
        }
        if conversation.stopping.as_ref().is_some_and(AfterStop::is_final) {
            return Err("a person ends your step, and what it calls does not count".to_owned());
        }
        let role = match review {
            Some(_) => Role::Gatekeeper,
            None if self.is_leader(ticket, &agent) => Role::Leader,
            None => Role::Worker,
        };
        if let (Call::Delegate { .. }, Some(why)) = (&call, self.too_deep(ticket)) {
            return Err(why);
        }
        if let Some(why) = role.refusal(call.name()) {
            return Err(why);
        }
        let ends_step = call.is_result() || matches!(call, Call::Delegate { .. });
        if let Some(first) = conversation.result.as_ref().filter(|_| ends_step) {
            let first = first.call.name();
            return Err(format!("your first result stands ({first}): end your turn now"));
        }
        self.fault_of(ticket, &call).map_or(Ok(()), Err)?;
        let mut message = taken(&call, &id);
        let by = Actor::Agent { run: run.clone() };
        let event = match call {
            Call::TicketShow {} => return Ok(message),
            Call::Delegate { tasks } => return self.delegate(&id, &tasks, WriteMeta::default()),
            Call::TeamList {} => return self.team_list(&id),
            Call::TeamKill { ticket, why } => return self.team_kill(&id, &ticket, (by, why)),
            Call::TeamComment { text } => Event::Commented { by, text },
            Call::AddCommitment { .. } => match self.promised(ticket, agent, &call)? {
                Some(event) => event,
                None => return Ok("the ticket has this commitment already".to_owned()),
            },
            Call::SetMode { mode } => {
                let mode = Mode::from(mode);
                message = format!("your mode is {}", mode.name());
                Event::Attempt(attempt::Event::ModeSet { mode, by })
            }
            Call::CreateTicket { .. } if let Some(id) = self.made_before(&agent, &call) => {
                return Ok(says_made(&id, true));
            }
            Call::CreateTicket { .. } => {
                let ticket = self.made_ticket(ticket, agent, call)?;
                message = says_made(&ticket.id, false);
                Event::TicketMade {
                    by,
                    ticket: Box::new(ticket),
                }
            }
            Call::ReportProgress { .. }
            | Call::SubmitWork { .. }
            | Call::ReportBlocked { .. }
            | Call::Ask { .. }
            | Call::SleepUntil { .. }
            | Call::ApproveWork { .. }
            | Call::RejectWork { .. }
            | Call::FailWork { .. } => match role {
                Role::Gatekeeper => Event::Review {
                    fence,
                    event: ReviewEvent::Called { call, at: self.now },
                },
                Role::Worker | Role::Leader => Event::Attempt(attempt::Event::Called { call, at: self.now }),
            },
        };
        let done = self.apply(&id, [event], WriteMeta::default());
        done.map(|()| message).map_err(|no| no.why)
    }

    /// Why a call cannot be taken as things stand, for the agent.
    fn fault_of(&self, ticket: &Ticket, call: &Call) -> Option<String> {
        if let Call::ApproveWork { met, .. } = call {
            return not_named(ticket, met);
        }
        let has_delegated = ticket
            .attempt()
            .is_some_and(|attempt| !attempt.open_children().is_empty());
        if let (true, Call::Ask { .. } | Call::SleepUntil { .. }) = (has_delegated, call) {
            return Some(
                "you have delegated: end your turn now. What your tasks came to opens your next step; do this then".to_owned(),
            );
        }
        call.wake_at(self.now).err()
    }

    /// The event of a commitment that an agent makes; none where the ticket has it.
    fn promised(&self, ticket: &Ticket, agent: AgentName, call: &Call) -> Result<Option<Event>, String> {
        if let Some(why) = ticket.cannot_promise() {
            return Err(why.to_owned());
        }
        let Some(promise) = call.promise().filter(|promise| !ticket.has_promised(promise)) else {
            return Ok(None);
        };
        let by = By::Agent(agent);
        Ok(Some(Event::CommitmentAdded { by, promise }))
    }

    /// The ticket with the title of this call that the same agent has made before and that is not over: a
    /// step that is repeated makes its tickets again.
    fn made_before(&self, agent: &AgentName, call: &Call) -> Option<TicketId> {
        let Call::CreateTicket { title, .. } = call else {
            return None;
        };
        let is_it = |other: &Ticket| {
            !other.is_done()
                && other.spec.made_by.as_deref() == Some(agent.as_str())
                && other.spec.title.trim() == title.trim()
        };
        let mut all = self.tickets.all().values();
        all.find(|other| is_it(other)).map(|other| other.id.clone())
    }

    /// The ticket that an agent makes. What decides about reviews of its own work does for this too.
    fn made_ticket(&self, ticket: &Ticket, agent: AgentName, call: Call) -> Result<NewTicket, String> {
        let Call::CreateTicket {
            title,
            description,
            design,
            acceptance,
            kind,
            parent,
            mut tags,
            deps,
            priority,
        } = call
        else {
            return Err("it makes no ticket".to_owned());
        };
        let made = ticket.attempt().map_or(0, |attempt| attempt.conversation.made);
        if made >= MOST_TICKETS {
            return Err(format!(
                "this step has made {MOST_TICKETS} tickets, which are the most; ask a person for more"
            ));
        }
        if ticket.made >= MOST_TICKETS_OF_ONE {
            return Err(format!(
                "{} has made {MOST_TICKETS_OF_ONE} tickets, which are the most; ask a person for more",
                ticket.id
            ));
        }
        if self.generation(ticket) >= MOST_GENERATIONS {
            return Err(format!(
                "{} is the last of a row of tickets that agents or hooks made: write with `team_comment` what is left, and a \
                 person makes the ticket",
                ticket.id
            ));
        }
        // The file of one that was made a moment ago may be on its way.
        let is_on_its_way = |id: &TicketId| self.ticket(id).is_none() && self.is_ordered(id);
        let is_there = |id: &TicketId| self.folder.has(id) || is_on_its_way(id);
        if let Some(missing) = deps.iter().find(|id| !is_there(id)) {
            return Err(format!("there is no ticket {missing}, which it would wait for"));
        }
        if let Some(missing) = parent.as_ref().filter(|id| !self.folder.has(id)) {
            return Err(format!(
                "there is no ticket {missing}, of which it would be a part"
            ));
        }
        let is_part = ticket
            .attempt()
            .is_some_and(|attempt| attempt.mode == Mode::BreakUp);
        if is_part && deps.contains(&ticket.id) {
            return Err(format!(
                "it would be a part of {of}, which waits for its parts, and wait for {of} itself: leave {of} out of its deps",
                of = ticket.id
            ));
        }
        if tags.iter().any(|tag| tag == LEADER_TAG) {
            return Err(format!(
                "only a person gives a ticket the tag `{LEADER_TAG}`, with which its agent may delegate: leave it out"
            ));
        }
        tags.extend(self.tags_of_review(ticket));
        let id = format!("{}-n{}", ticket.id, ticket.made + 1);
        Ok(NewTicket {
            id: TicketId::new(&id).map_err(|_| format!("{id} is too long for a ticket's id"))?,
            title,
            description,
            design,
            acceptance,
            kind,
            parent,
            tags,
            deps,
            priority: priority.unwrap_or(2),
            made_by: agent,
        })
    }

    /// How many tickets in a row were made by agents up to this one.
    fn generation(&self, ticket: &Ticket) -> u32 {
        let maker = |of: &&Ticket| self.ticket(&maker_of(&of.id)?);
        let made = |of: &&Ticket| of.spec.made_by.is_some();
        let row = std::iter::successors(Some(ticket), maker).take_while(made);
        let most = MOST_GENERATIONS as usize;
        u32::try_from(row.take(most).count()).unwrap_or(MOST_GENERATIONS)
    }

    /// The end of a run whose agent has stated its result by a call: that stands, whatever its client said
    /// or did afterwards.
    pub(super) fn settled(&self, id: &TicketId, mut ended: RunEnd) -> RunEnd {
        let conversation = self
            .ticket(id)
            .and_then(|ticket| ticket.conversation_of(&ended.run));
        let Some(first) = conversation.and_then(|conversation| conversation.result.as_ref()) else {
            return ended;
        };
        let Some(signal) = first.call.signal(first.at) else {
            return ended;
        };
        ended.end = End::Finished(signal);
        ended.stated = None;
        ended.verdict = first.call.verdict();
        ended.summary = first.call.summary().or(ended.summary);
        ended.unusable.clear();
        ended
    }
}

/// The answer to a call that was taken.
fn taken(call: &Call, id: &TicketId) -> String {
    match call {
        Call::TicketShow {} | Call::Delegate { .. } | Call::TeamList {} | Call::TeamKill { .. } => {
            String::new()
        }
        Call::TeamComment { .. } => format!("noted on {id}"),
        Call::ReportProgress { .. } => "noted; go on".to_owned(),
        Call::SubmitWork { .. } => {
            "your work is submitted once your step is over: end your turn now".to_owned()
        }
        Call::ReportBlocked { .. } => "people are told: end your turn now".to_owned(),
        Call::Ask { .. } => "asked; the answer opens your next step: end your turn now".to_owned(),
        Call::SleepUntil { .. } => "you are started again then: end your turn now".to_owned(),
        Call::SetMode { .. } => "set".to_owned(),
        Call::CreateTicket { .. } => "made".to_owned(),
        Call::AddCommitment { .. } => "promised; crew verifies it before your work lands".to_owned(),
        Call::ApproveWork { .. } | Call::RejectWork { .. } | Call::FailWork { .. } => {
            "your verdict stands: end your turn now".to_owned()
        }
    }
}
