//! An agent as it is shown: its status is folded from its attempt.

use schemars::JsonSchema;
use serde::Serialize;

use super::{Member, Snapshot};
use crate::attempt::{self, Attempt, Failure, Mode, Progress, Quiet, Stuck, Usage, Working};
use crate::conversation::Conversation;
use crate::policy::attention::{self, Reason};
use crate::policy::failure;
use crate::target::Target;
use crate::ticket::{Review, Stage, State, Ticket};
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

/// The state of an agent, in the words and symbols of every surface.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// It has no ticket.
    Idle,
    /// Its workspace is being made.
    Preparing,
    /// It waits for its first step.
    Ready,
    /// It is being stepped.
    Working,
    /// It waits for a person or for a time.
    Waiting,
    /// Its submitted work is being checked.
    Verifying,
    /// It reviews the work of others.
    Reviewing,
    /// Its submitted work passed, and waits for landing.
    Done,
    /// It failed too often.
    Stuck,
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
            let due = match waits.ended_by {
                EndedBy::Person => String::new(),
                EndedBy::Target => format!(", and goes on {}", look.by_itself()),
                EndedBy::Engine => {
                    let due = look.due(waits.until.unwrap_or(look.now));
                    format!(", and goes on {}", due.unwrap_or_default())
                }
            };
            return Some(format!("waits for {}{due}", waits.what));
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

/// The reason and the end of an agent's wait.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Waits {
    /// For what, in words: partly text of the agent, not sanitised.
    pub what: String,
    /// Until when at most; none when nothing but a fact ends it.
    pub until: Option<Time>,
    /// Who ends it.
    pub ended_by: EndedBy,
}

/// Who ends the wait of an agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum EndedBy {
    /// A person, who has to act.
    Person,
    /// Whoever mends the target, or the next try of its checks.
    Target,
    /// An engine, at the end of the wait at the latest.
    Engine,
}

impl EndedBy {
    /// The end of a wait that a person may end earlier.
    fn at(until: Option<Time>) -> Self {
        match until {
            Some(_) => Self::Engine,
            None => Self::Person,
        }
    }
}

impl Status {
    /// Its symbol.
    #[must_use]
    pub fn symbol(self) -> &'static str {
        match self {
            Status::Idle => "○",
            Status::Preparing | Status::Ready => "◐",
            Status::Working => "●",
            Status::Waiting => "◌",
            Status::Verifying => "◍",
            Status::Reviewing => "◎",
            Status::Done => "✓",
            Status::Stuck => "!",
        }
    }

    /// Its word.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Status::Idle => "idle",
            Status::Preparing => "preparing",
            Status::Ready => "ready",
            Status::Working => "working",
            Status::Waiting => "waiting",
            Status::Verifying => "verifying",
            Status::Reviewing => "reviewing",
            Status::Done => "done",
            Status::Stuck => "stuck",
        }
    }

    /// The one of the Crew seed's five words that it is nearest to, for programs that know only those.
    #[must_use]
    pub fn seed_name(self) -> &'static str {
        match self {
            Status::Idle => "idle",
            Status::Preparing | Status::Ready => "ready",
            Status::Working | Status::Waiting | Status::Reviewing => "working",
            Status::Verifying | Status::Done => "done",
            Status::Stuck => "stuck",
        }
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
            None if running => None,
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
            status: Status::Reviewing,
            ticket: Some(ticket.id.clone()),
            title: Some(ticket.spec.title.clone()),
            attempt: ticket.attempt().map(|attempt| attempt.claim.number),
            step: conversation.steps + u32::from(running),
            running,
            run: conversation.worker.as_ref().map(|worker| worker.run.clone()),
            session: Some(Session::of(conversation)),
            mode: None,
            usage: conversation.usage,
            since: Some(review.since.max(ticket.since)),
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
            None => status(attempt),
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

impl Snapshot {
    /// The wait for its harness, which is paused: no next step is started, whatever the agent did. As of the
    /// journal's last row; a frontend checks whether the time has passed.
    fn paused(&self, ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
        let next = match &attempt.state {
            attempt::State::Ready => attempt.resumes_at,
            attempt::State::Working(working) => working.due,
            attempt::State::Preparing
            | attempt::State::WaitingForInput { .. }
            | attempt::State::WaitingForWakeup { .. }
            | attempt::State::WaitingForChildren { .. }
            | attempt::State::Verifying
            | attempt::State::Done
            | attempt::State::Stuck { .. } => return None,
        };
        if ticket.held.is_some() || attempt.conversation.has_live_worker() {
            return None;
        }
        let harness = &attempt.conversation.harness.name;
        let pause = self.project.paused.get(harness)?;
        if !pause.holds(self.at) || next.is_some_and(|next| !pause.outlasts(Some(next))) {
            return None;
        }
        let what = match pause.until {
            Some(_) => format!("{harness} ({}): {}", pause.class.name(), pause.message),
            None => format!("a person: {}", attention::refused(harness, pause)),
        };
        Some(Waits {
            what,
            until: pause.until,
            ended_by: EndedBy::at(pause.until),
        })
    }
}

fn status(attempt: &Attempt) -> (Status, Option<Mode>) {
    match &attempt.state {
        attempt::State::Preparing => (Status::Preparing, Some(attempt.mode)),
        attempt::State::Ready => (Status::Ready, Some(attempt.mode)),
        attempt::State::Working(_) => (Status::Working, Some(attempt.mode)),
        attempt::State::WaitingForInput { .. }
        | attempt::State::WaitingForWakeup { .. }
        | attempt::State::WaitingForChildren { .. } => (Status::Waiting, Some(attempt.mode)),
        attempt::State::Verifying => (Status::Verifying, None),
        attempt::State::Done => (Status::Done, None),
        attempt::State::Stuck { .. } => (Status::Stuck, Some(attempt.mode)),
    }
}

impl Snapshot {
    fn waits(&self, ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
        if ticket.held.is_some() || !attempt.is_between_steps() {
            return waits(ticket, attempt);
        }
        if let Some(pause) = &self.project.pause {
            return Some(Waits {
                what: format!("the next day's budget: {} are spent today", pause.budget),
                until: Some(pause.until),
                ended_by: EndedBy::Engine,
            });
        }
        match self.target_of(ticket, attempt) {
            Some((target, why)) => Some(Waits {
                what: format!("the target: {why}"),
                until: target.retry_at,
                ended_by: EndedBy::Target,
            }),
            None => waits(ticket, attempt),
        }
    }

    /// The target that the next step of an agent waits for, with the reason in words; none where the target
    /// is not in its way.
    fn target_of(&self, ticket: &Ticket, attempt: &Attempt) -> Option<(&Target, String)> {
        let needs_it = ticket.held.is_none() && attempt.needs_target();
        let target = self.project.target.as_deref().filter(|_| needs_it)?;
        Some((target, target.in_the_way()?))
    }
}

fn waits(ticket: &Ticket, attempt: &Attempt) -> Option<Waits> {
    let waits_for = |what: &str, ended_by| {
        Some(Waits {
            what: what.to_owned(),
            until: None,
            ended_by,
        })
    };
    let fact = |what| waits_for(what, EndedBy::Engine);
    if let Some(held) = &ticket.held {
        return Some(Waits {
            what: Reason::Held(held).to_string(),
            until: held.retry_at,
            ended_by: EndedBy::at(held.retry_at),
        });
    }
    if attempt.conversation.has_live_worker() {
        return attempt
            .conversation
            .stopping
            .as_ref()
            .and_then(|_| fact("its step, which is being stopped, to end"));
    }
    match &attempt.state {
        attempt::State::Preparing => fact("its workspace"),
        attempt::State::Ready if let Some(at) = attempt.resumes_at => Some(Waits {
            what: "its next step, after too many failed steps in a row".to_owned(),
            until: Some(at),
            ended_by: EndedBy::Engine,
        }),
        attempt::State::Ready => fact("its first step"),
        attempt::State::Working(working) => Some(between_steps(attempt, working)),
        attempt::State::WaitingForInput { question, until } => Some(Waits {
            what: format!("an answer: {question}"),
            until: *until,
            ended_by: EndedBy::at(*until),
        }),
        attempt::State::WaitingForWakeup { at, why } => Some(Waits {
            what: format!("its wakeup: {why}"),
            until: Some(*at),
            ended_by: EndedBy::Engine,
        }),
        attempt::State::WaitingForChildren { ids, then } => {
            let ids: Vec<&str> = ids.iter().map(TicketId::as_str).collect();
            let ends = match then {
                None => "",
                Some(_) => ", which are being ended",
            };
            Some(Waits {
                what: format!("its children {}{ends}", ids.join(", ")),
                until: None,
                ended_by: EndedBy::Engine,
            })
        }
        attempt::State::Verifying | attempt::State::Done => verification(ticket),
        attempt::State::Stuck { why } => match why {
            Stuck::Errors => fact("recovery, after too many failed steps in a row"),
            Stuck::Auth => waits_for("a person: the credentials are refused", EndedBy::Person),
            Stuck::NoProgress => waits_for("a person: the same failure came three times", EndedBy::Person),
        },
    }
}

/// The next step that follows a failed one, in words; none where none has failed.
pub(super) fn after_failure(attempt: &Attempt, working: &Working) -> Option<String> {
    let failure = attempt.conversation.throttled.as_ref().map(|t| &t.failure);
    let failure = failure.or(attempt.conversation.failure.as_ref());
    let failure = failure.filter(|_| working.due.is_some())?;
    let count = failure::in_a_row(
        failure.class,
        attempt.conversation.errors,
        attempt.conversation.in_a_row,
    );
    let count = count.map(|count| format!(", {count}")).unwrap_or_default();
    Some(format!(
        "its next step, after a failure ({}{count}): {}",
        failure.class.name(),
        failure.message
    ))
}

fn between_steps(attempt: &Attempt, working: &Working) -> Waits {
    let what = after_failure(attempt, working).unwrap_or_else(|| "its next step".to_owned());
    Waits {
        what,
        until: working.due,
        ended_by: EndedBy::Engine,
    }
}

fn verification(ticket: &Ticket) -> Option<Waits> {
    let State::Verify(verify) = &ticket.state else {
        return None;
    };
    let is_in_the_way = matches!(
        verify.stage,
        Stage::Landing { waiting: Some(_), .. } | Stage::Proposed(_)
    );
    let ended_by = match is_in_the_way {
        true => EndedBy::Person,
        false => EndedBy::Engine,
    };
    let (what, until) = match &verify.stage {
        Stage::Queued => {
            let uncoupled = verify.train.uncoupled.as_ref();
            let why = uncoupled.map(|uncoupled| format!(" ({})", uncoupled.why.story()));
            (format!("its turn to be checked{}", why.unwrap_or_default()), None)
        }
        Stage::Building => ("the merge with the target".to_owned(), None),
        Stage::Checking(checks) => match super::checking(checks, None) {
            Some(check) => (format!("the checks: {check}"), None),
            None => ("the checks".to_owned(), None),
        },
        Stage::InTrain(entry) => (
            format!("the merge train: {}", super::standing::in_train(entry)),
            None,
        ),
        Stage::Reviewing(reviewing) => match reviewing.open() {
            Some(review) => (format!("the review by {}", review.agent), reviewing.waits_until()),
            None => ("a gatekeeper".to_owned(), reviewing.due),
        },
        Stage::Landing { waiting: None, .. } => ("landing".to_owned(), None),
        Stage::Landing {
            waiting: Some(waiting),
            ..
        } => (
            format!("a person: {}", attention::edits(&waiting.paths)),
            Some(waiting.retry_at),
        ),
        Stage::Unified { is_saved } => (super::standing::unified(ticket, *is_saved), None),
        Stage::Proposed(proposal) => (super::standing::in_proposal(ticket, proposal), proposal.due),
    };
    Some(Waits {
        what,
        until,
        ended_by,
    })
}
