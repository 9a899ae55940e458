//! Explanation: why a ticket is, or is not, given to an agent, why it stands as it does, and what helps.
//!
//! [`Gathered`] has the facts of a moment, and [`Explained`] is what follows from them.

mod landed;
mod printed;
mod remedies;
mod says;

use std::path::PathBuf;

use model::attempt::{Attempt, Failure};
use model::policy::attention::{self, Need, Reason, attention};
use model::policy::review;
use model::policy::route::Refusal;
use model::settings::Settings;
use model::ticket::{KeptWork, Ticket, Why};
use model::view::{Agent, Context, Snapshot, standing_since};
use model::{Look, Moment, Oid, TicketId, Time};
use runtime::Place;
use store::Ledger;

use crate::activity::Activity;
use crate::engine::{self, Engine};
use crate::error::Result;
use crate::outbox::Outbox;
use crate::queue_facts::Facts;
use crate::{commits, documents, inbox, kept, refusals};

pub use landed::Landed;
pub use remedies::{Help, answer_hint, file_hint, promises_hint};
use says::{Says, messages};

/// The facts about a ticket at a moment, and about all that it may wait for.
#[derive(Debug)]
pub struct Gathered<'a> {
    /// The ticket.
    pub id: TicketId,
    /// The fold of the journal.
    pub crew: &'a Snapshot,
    /// The queue as the router sees it.
    pub facts: Facts,
    /// The facts beside the tickets.
    pub beside: Context,
    /// The moment, and whether an engine runs.
    pub look: Look,
    /// The reason for which the router gives the ticket to nobody; none where it does.
    pub refusal: Option<Refusal>,
    agents: Vec<Agent>,
    /// The commit as which it landed by an earlier journal.
    landed_before: Option<Oid>,
    /// What runs in the step of its agent.
    activity: Option<Activity>,
    kept: Vec<KeptWork>,
    /// What the check printed that is in its way, and the folder with the whole.
    printed: (Option<String>, Option<PathBuf>),
    review: Option<String>,
}

impl<'a> Gathered<'a> {
    /// Gathers the facts: of the ticket folder, git and the engine as they are now. `crew` is the fold of the
    /// journal, to which the ticket is restored where it is archived.
    ///
    /// # Errors
    /// The journal, the ticket folder or the repository cannot be read.
    pub async fn of(
        place: &Place,
        settings: &Settings,
        ledger: Option<&Ledger>,
        crew: &'a Snapshot,
        id: TicketId,
    ) -> Result<Self> {
        let look = engine::look(Engine::of(place)?.as_ref());
        let now = look.now;
        let outbox = Outbox::read(ledger).await?;
        let facts = Facts::gather(crew, place, settings, &outbox.unwritten, now)?;
        let beside = inbox::context(crew, place, settings, &facts, outbox.failing, now)?;
        let refusal = match facts.is_closed_unseen(&id) {
            true => Some(Refusal::FileClosed),
            false => refusals::refusal(&facts, settings, &id),
        };
        let ticket = facts.tickets.get(&id).map(AsRef::as_ref);
        let agents = crew.agents();
        let agent = agents.iter().find(|agent| agent.ticket.as_ref() == Some(&id));
        let of_target = match refusal {
            Some(Refusal::TargetRed { .. }) => {
                facts.target.as_ref().and_then(|target| target.verdict.printed())
            }
            Some(_) | None => None,
        };
        let (printed, run) = match (ledger, ticket) {
            (Some(ledger), Some(ticket)) => printed::of_its_check(ledger, ticket).await?,
            (None, _) | (_, None) => (None, None),
        };
        let whole = run.map(|run| place.run_dir(&run)).filter(|dir| dir.is_dir());
        Ok(Self {
            landed_before: match ticket {
                Some(_) => None,
                None => commits::landed_as(place, settings, &id),
            },
            activity: agent.and_then(|agent| Activity::of(place, agent, look.engine, now)),
            kept: kept::apart(place, ticket)?,
            printed: (printed.or_else(|| of_target.map(str::to_owned)), whole),
            review: ticket.and_then(|ticket| review::why(settings, ticket)),
            id,
            crew,
            beside,
            look,
            refusal,
            agents,
            facts,
        })
    }

    /// What follows from the facts.
    #[must_use]
    pub fn explained(&self) -> Explained<'_> {
        let ticket = self.facts.tickets.get(&self.id).map(AsRef::as_ref);
        let need = ticket.map(|ticket| {
            let refusal = self.refusal.as_ref();
            let facts = self.beside.facts(&self.id);
            attention(ticket, attention::Facts { refusal, ..facts })
        });
        let mut agents = self.agents.iter();
        let agent = agents.find(|agent| agent.ticket.as_ref() == Some(&self.id));
        let says = Says {
            of: self,
            ticket,
            need: need.as_ref(),
        };
        Explained {
            says: says.words(),
            landed: Landed::of(self.crew, ticket),
            of: self,
            ticket,
            need,
            agent,
        }
    }
}

/// The explanation of a ticket.
#[derive(Debug)]
pub struct Explained<'a> {
    of: &'a Gathered<'a>,
    /// The ticket, as its file says it; none where it cannot be read.
    pub ticket: Option<&'a Ticket>,
    /// The next thing that it needs.
    pub need: Option<Need<'a>>,
    /// The agent that has it.
    pub agent: Option<&'a Agent>,
    /// The reason in words.
    pub says: String,
    /// The work that it has landed.
    pub landed: Option<Landed<'a>>,
}

impl<'a> Explained<'a> {
    /// The reason for which a person has to act.
    #[must_use]
    pub fn reason(&self) -> Option<&Reason<'a>> {
        match &self.need {
            Some(Need::Person(reason)) => Some(reason),
            Some(Need::Over | Need::Apart | Need::Time | Need::Agent | Need::Others(_)) | None => None,
        }
    }

    /// The ticket's title; empty when it cannot be read.
    #[must_use]
    pub fn title(&self) -> &'a str {
        self.ticket.map_or("", |ticket| ticket.spec.title.as_str())
    }

    /// The ticket's state, with that of its attempt.
    #[must_use]
    pub fn state(&self) -> String {
        match self.ticket {
            Some(ticket) => ticket.state_name(),
            None if self.of.landed_before.is_some() => "landed".to_owned(),
            None if self.of.facts.is_closed_unseen(&self.of.id) => "closed".to_owned(),
            None => "unknown".to_owned(),
        }
    }

    /// The time since which it stands so; none where no engine has seen it.
    #[must_use]
    pub fn since(&self) -> Option<Time> {
        let seen = self
            .ticket
            .filter(|_| self.of.crew.tickets.contains_key(&self.of.id));
        seen.and_then(standing_since)
    }

    /// The failure that it waits or is held for.
    #[must_use]
    pub fn failure(&self) -> Option<&'a Failure> {
        let of_agent = self.agent.and_then(|agent| agent.failure.as_ref());
        of_agent.or_else(|| held_for(self.ticket))
    }

    /// What runs in its agent's step at this moment.
    #[must_use]
    pub fn activity(&self) -> Option<&'a Activity> {
        self.of.activity.as_ref()
    }

    /// The reason for which somebody looks at its work before it lands.
    #[must_use]
    pub fn review(&self) -> Option<&'a str> {
        self.of.review.as_deref()
    }

    /// The end of the output of the check that is in its way.
    #[must_use]
    pub fn printed(&self) -> Option<&'a str> {
        self.of.printed.0.as_deref()
    }

    /// The folder with the whole of that output.
    #[must_use]
    pub fn printed_in(&self) -> Option<&'a PathBuf> {
        self.of.printed.1.as_ref()
    }

    /// The work of its attempts that no branch holds.
    #[must_use]
    pub fn kept(&self) -> &'a [KeptWork] {
        &self.of.kept
    }

    /// The words of people that its agent gets with the next step.
    pub fn messages(&self) -> impl Iterator<Item = String> {
        messages(self.ticket)
    }

    /// The lines of its agent's last step that crew could not use.
    #[must_use]
    pub fn unusable(&self) -> Vec<String> {
        let attempt = self.ticket.and_then(Ticket::attempt);
        attempt.map(Attempt::lines_not_used).unwrap_or_default()
    }

    /// The document.
    #[must_use]
    pub fn document(&self) -> documents::Explanation {
        let (ticket, agent) = (self.ticket, self.agent);
        let session = agent.and_then(|agent| agent.session.as_ref());
        let waits = agent.and_then(|agent| agent.waits.as_ref());
        let parts = ticket.map(|ticket| ticket.parts.as_slice()).unwrap_or_default();
        let commitments = ticket.map(|ticket| ticket.commitments.as_slice());
        documents::Explanation {
            ticket: self.of.id.clone(),
            title: self.title().to_owned(),
            state: self.state(),
            since: self.since().map(Moment),
            engine: self.of.look.engine,
            says: self.says.clone(),
            refusal: self.of.refusal.clone(),
            remedies: self.remedies(),
            file_change: ticket.and_then(|ticket| Some(ticket.unheeded.as_ref()?.words())),
            waits_for: waits.map(|waits| waits.what.clone()),
            waits_until: waits.and_then(|waits| waits.until).map(Moment),
            activity: self.activity().cloned().map(documents::Activity::from),
            progress: agent
                .and_then(|agent| agent.progress.as_ref())
                .map(documents::Progress::from),
            answer: ticket
                .and_then(Ticket::answerable)
                .and_then(|asked| Some(asked.answer?.to_owned())),
            mode: agent.and_then(|agent| agent.mode),
            session: session.map(|session| session.id.clone()),
            session_state: session.map(|session| session.state),
            messages: self.messages().collect(),
            parts: parts.iter().map(|part| part.ticket.clone()).collect(),
            unusable: self.unusable(),
            changed_after: ticket
                .and_then(Ticket::attempt)
                .and_then(Attempt::changed_after)
                .map(|paths| paths.first.clone())
                .unwrap_or_default(),
            failure: self.failure().map(documents::Failure::of),
            failing: inbox::why_of(&self.of.beside.failing, &self.of.id),
            commitments: commitments
                .unwrap_or_default()
                .iter()
                .map(documents::Commitment::of)
                .collect(),
            review: self.of.review.clone(),
            pull_request: ticket.and_then(documents::PullRequest::of),
            landed: self.landed.as_ref().map(Landed::document),
            kept: self.kept().iter().map(documents::KeptWork::from).collect(),
            printed: self.printed().map(str::to_owned),
            printed_in: self.printed_in().map(|dir| dir.display().to_string()),
        }
    }
}

/// The failure that holds a ticket whose agent was freed.
fn held_for(ticket: Option<&Ticket>) -> Option<&Failure> {
    let ticket = ticket?;
    match ticket.held.as_ref()?.why {
        Why::Auth | Why::NoProgress => ticket.attempt()?.conversation.failure.as_ref(),
        Why::Failed
        | Why::Blocked
        | Why::Killed
        | Why::Reaped
        | Why::CouldNotRun
        | Why::Landing
        | Why::TargetRed
        | Why::Paths { .. }
        | Why::Secrets { .. }
        | Why::Commitments { .. }
        | Why::Tests { .. }
        | Why::Conflict
        | Why::Review
        | Why::Hold
        | Why::Diverged
        | Why::Closed
        | Why::Budget { .. } => None,
    }
}
