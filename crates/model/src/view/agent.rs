//! An agent as it is shown: its status is folded from its attempt.

mod status;
mod waits;

use schemars::JsonSchema;
use serde::Serialize;

pub use self::status::Status;
pub use self::waits::{EndedBy, Waits};
pub(super) use self::waits::{after_failure, for_engine, for_process};
use super::{Member, Snapshot};
use crate::attempt::{Failure, Mode, Progress, Quiet, Usage};
use crate::conversation::Conversation;
use crate::policy::attention::Reason;
use crate::ticket::{Review, Ticket};
use crate::{AgentName, Look, RunId, SessionId, TicketId, Time, session};

/// An agent of the roster.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Agent {
    /// Its name.
    pub name: AgentName,
    /// Its role.
    pub role: Role,
    /// The current state.
    pub status: Status,
    /// Its ticket; none when it is idle, and everything below belongs to that ticket's attempt.
    pub ticket: Option<TicketId>,
    /// The ticket's title: text of its author, not sanitised.
    pub title: Option<String>,
    /// The ticket's n-th attempt, from 1.
    pub attempt: Option<u32>,
    /// The step that runs, or the last one that ended well; 0 before the first.
    pub step: u32,
    /// True if a step's process may be alive.
    pub running: bool,
    /// The run of that step, or of the last one.
    pub run: Option<RunId>,
    /// The session with its client.
    pub session: Option<Session>,
    /// The way in which it goes about the task, until its work is submitted.
    pub mode: Option<Mode>,
    /// The usage of this attempt so far.
    pub usage: Usage,
    /// The time at which the present state began.
    pub since: Option<Time>,
    /// When it got the ticket.
    pub assigned_at: Option<Time>,
    /// The reason and the end of its wait, if it waits.
    pub waits: Option<Waits>,
    /// The silence of the step that runs; none while it shows signs of life.
    pub quiet: Option<Quiet>,
    /// The last progress that it has reported in the step that runs: its own words, not sanitised.
    pub progress: Option<Progress>,
    /// Failed steps in a row.
    pub errors: u32,
    /// The last failure, while it waits for its service, there are errors in a row, or it is stuck.
    pub failure: Option<Failure>,
    /// Over all its tickets.
    pub totals: Member,
}

/// The session of an agent with its client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Session {
    /// Its id at the client.
    pub id: SessionId,
    /// The number of sessions of the attempt, this one included.
    pub number: u32,
    /// Its state.
    pub state: session::State,
}

impl Session {
    fn of(conversation: &Conversation) -> Self {
        let session = &conversation.session;
        Self {
            id: session.id.clone(),
            number: session.number,
            state: session.state,
        }
    }
}

/// The role of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// It works on tickets.
    Worker,
    /// It reviews the work of others.
    Gatekeeper,
}

impl Role {
    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Role::Worker => "worker",
            Role::Gatekeeper => "gatekeeper",
        }
    }
}

impl Agent {
    /// A state of it in words, with the mode where that is another than the usual one: `working: plan`.
    #[must_use]
    pub fn in_mode(&self, status: Status) -> String {
        match self.mode {
            Some(mode) if mode != Mode::default() => format!("{}: {}", status.name(), mode.name()),
            Some(_) | None => status.name().to_owned(),
        }
    }

    /// Its state as it is to be shown: an agent between two steps waits while no engine runs that would start
    /// the next one.
    #[must_use]
    pub fn status_at(&self, look: Look) -> Status {
        let is_at_steps = matches!(self.status, Status::Ready | Status::Working | Status::Reviewing);
        let is_between_steps = is_at_steps && !self.running;
        match is_between_steps && !look.engine {
            true => Status::Waiting,
            false => self.status,
        }
    }

    /// The progress that it has reported last in the step that runs, in words: text of the agent, not
    /// sanitised. None where it has reported none.
    #[must_use]
    pub fn reports(&self, now: Time) -> Option<String> {
        let progress = self.progress.as_ref()?;
        let ago = super::span(now.since(progress.at));
        Some(format!("reports: {}, {ago} ago", progress.text))
    }

    /// The reason and the end of its wait, or the silence of its step, in words: partly text of the agent,
    /// not sanitised. None while it works.
    #[must_use]
    pub fn waiting(&self, look: Look) -> Option<String> {
        let Some(waits) = &self.waits else {
            return self.quiet.as_ref().map(|quiet| quiet.words(look.now));
        };
        // A step that runs ends without an engine too.
        if !look.engine && !self.running {
            return Some(waits.without_engine(look));
        }
        let until = waits.until.filter(|until| *until > look.now);
        // Between two steps a wait has an end; other waits end earlier when what they wait for comes.
        let when = match (waits.ended_by, self.status) {
            (EndedBy::Target, _) => "tried again by itself in",
            (_, Status::Ready | Status::Working | Status::Reviewing) => "again in",
            // The files in the way of a landing are looked at again and again.
            (_, Status::Verifying | Status::Done) => "looked at again in",
            (_, Status::Idle | Status::Preparing | Status::Waiting | Status::Stuck) => "at the latest in",
        };
        let until = until.map(|until| format!(", {when} {}", super::left(until.since(look.now))));
        Some(format!("waits for {}{}", waits.what, until.unwrap_or_default()))
    }
}

impl Snapshot {
    /// The roster, by name, and after it the gatekeepers that are at a review.
    #[must_use]
    pub fn agents(&self) -> Vec<Agent> {
        let workers = self.project.agents.iter().map(|name| self.seen(name));
        workers.chain(self.gatekeepers()).collect()
    }

    /// One agent of the roster, or a gatekeeper that is at a review.
    #[must_use]
    pub fn agent(&self, name: &AgentName) -> Option<Agent> {
        let worker = self.project.agents.get(name).map(|name| self.seen(name));
        worker.or_else(|| self.gatekeepers().into_iter().find(|agent| agent.name == *name))
    }

    fn gatekeepers(&self) -> Vec<Agent> {
        let tickets = self.tickets.values();
        let reviews = tickets.flat_map(|ticket| ticket.open_reviews().map(move |review| (ticket, review)));
        let mut agents: Vec<Agent> = reviews
            .map(|(ticket, review)| self.at_review(ticket, review))
            .collect();
        agents.sort_by(|a, b| a.name.cmp(&b.name));
        agents
    }

    fn at_review(&self, ticket: &Ticket, review: &Review) -> Agent {
        let conversation = &review.conversation;
        let running = conversation.has_live_worker();
        let asked_at = review.asks.as_ref().map(|asks| asks.since);
        let failure = conversation
            .throttled
            .as_ref()
            .map(|throttled| &throttled.failure);
        let failure = failure.or(conversation.failure.as_ref());
        let waits = match &ticket.held {
            Some(held) => Some(Waits {
                what: Reason::Held(held).to_string(),
                until: held.retry_at,
                ended_by: EndedBy::at(held.retry_at),
            }),
            None if running => for_process(conversation),
            None if let Some(asks) = &review.asks => Some(Waits {
                what: format!("an answer: {}", asks.question),
                until: asks.until,
                ended_by: EndedBy::at(asks.until),
            }),
            None => Some(Waits {
                what: match failure {
                    Some(failure) => format!(
                        "its next step, after a failure ({}): {}",
                        failure.class.name(),
                        failure.message
                    ),
                    None => "its next step".to_owned(),
                },
                until: review.due,
                ended_by: EndedBy::Engine,
            }),
        };
        Agent {
            name: review.agent.clone(),
            role: Role::Gatekeeper,
            status: match review.asks {
                Some(_) => Status::Waiting,
                None => Status::Reviewing,
            },
            ticket: Some(ticket.id.clone()),
            title: Some(ticket.spec.title.clone()),
            attempt: ticket.attempt().map(|attempt| attempt.claim.number),
            step: conversation.steps + u32::from(running),
            running,
            run: conversation.worker.as_ref().map(|worker| worker.run.clone()),
            session: Some(Session::of(conversation)),
            mode: None,
            usage: conversation.usage,
            since: Some(asked_at.unwrap_or(review.since.max(ticket.since))),
            assigned_at: Some(review.since),
            waits,
            quiet: conversation.quiet.as_deref().cloned(),
            progress: conversation.progress.as_deref().cloned(),
            errors: conversation.errors,
            failure: failure.cloned(),
            totals: self.members.get(&review.agent).cloned().unwrap_or_default(),
        }
    }

    fn seen(&self, name: &AgentName) -> Agent {
        let totals = self.members.get(name).cloned().unwrap_or_default();
        let taken = self.tickets.values().find(|ticket| ticket.slot() == Some(name));
        let Some((ticket, attempt)) = taken.and_then(|t| t.attempt().map(|a| (t, a))) else {
            return Agent {
                name: name.clone(),
                role: Role::Worker,
                status: Status::Idle,
                ticket: None,
                title: None,
                attempt: None,
                step: 0,
                running: false,
                run: None,
                session: None,
                mode: None,
                usage: Usage::default(),
                since: totals.idle_since,
                assigned_at: None,
                waits: None,
                quiet: None,
                progress: None,
                errors: 0,
                failure: None,
                totals,
            };
        };
        let running = attempt.conversation.has_live_worker();
        let (status, mode) = match self.target_of(ticket, attempt) {
            Some(_) => (Status::Waiting, Some(attempt.mode)),
            None => status::of(attempt),
        };
        let failure = attempt.conversation.throttled.as_ref().map(|t| &t.failure);
        let counted = || {
            attempt
                .conversation
                .failure
                .as_ref()
                .filter(|_| attempt.conversation.errors > 0 || status == Status::Stuck)
        };
        Agent {
            name: name.clone(),
            role: Role::Worker,
            status,
            ticket: Some(ticket.id.clone()),
            title: Some(ticket.spec.title.clone()),
            attempt: Some(attempt.claim.number),
            step: attempt.conversation.steps + u32::from(running),
            running,
            run: attempt
                .conversation
                .worker
                .as_ref()
                .map(|worker| worker.run.clone()),
            session: Some(Session::of(&attempt.conversation)),
            mode,
            usage: attempt.conversation.usage,
            since: Some(attempt.since.max(ticket.since)),
            assigned_at: Some(attempt.claimed_at),
            waits: self
                .paused(ticket, attempt)
                .or_else(|| self.waits(ticket, attempt)),
            quiet: attempt.conversation.quiet.as_deref().cloned(),
            progress: attempt.conversation.progress.as_deref().cloned(),
            errors: attempt.conversation.errors,
            failure: failure.or_else(counted).cloned(),
            totals,
        }
    }
}
