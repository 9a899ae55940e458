//! The reason in one sentence.

use model::policy::attention::{Need, Others, Reason};
use model::policy::route::Refusal;
use model::ticket::{Done, State, Ticket};
use model::view::{self, Standing};
use model::{AgentName, Look};

use super::Gathered;

/// What the sentence depends on.
pub(super) struct Says<'a> {
    pub(super) of: &'a Gathered<'a>,
    pub(super) ticket: Option<&'a Ticket>,
    pub(super) need: Option<&'a Need<'a>>,
}

impl Says<'_> {
    /// The sentence.
    pub(super) fn words(&self) -> String {
        let Self { of, ticket, need } = self;
        let (look, beside) = (of.look, &of.beside);
        let waits = |name: &AgentName| {
            let mut all = of.agents.iter();
            all.any(|agent| agent.name == *name && agent.waiting(look).is_some())
        };
        match (need, &of.refusal) {
            (_, _) if let Some(commit) = &of.landed_before => {
                format!("it landed in {commit}, by an earlier journal")
            }
            (Some(Need::Person(reason)), _) => because(reason, look),
            (Some(Need::Others(Others::Parent(_))), _)
                if let Some(ticket) = ticket.filter(|ticket| ticket.is_unified()) =>
            {
                let where_it_is = beside.standing(ticket, look.now).why;
                format!("it is done: {}", where_it_is.unwrap_or_default())
            }
            (Some(Need::Others(others)), _) => others.to_string(),
            (_, _) if let Some(renamed) = of.facts.renamed.get(&of.id) => {
                let id = &of.id;
                format!("{id}.md seems to be the file of {renamed} under another name")
            }
            (_, Some(Refusal::Submitted { .. })) if let Some(ticket) = ticket => {
                submitted(&beside.standing(ticket, look.now))
            }
            (_, Some(Refusal::InProgress { agent })) if waits(agent) => format!("{agent} has it"),
            (_, Some(refusal)) if let Some(ticket) = ticket.filter(|ticket| ticket.brought_nothing()) => {
                format!("{refusal}, {}", view::brought_nothing(ticket))
            }
            (_, Some(refusal @ Refusal::Done { .. }))
                if let Some(State::Done(Done::Dropped { by, reason })) =
                    ticket.map(|ticket| &ticket.state) =>
            {
                format!("{refusal}, by {by}: {reason}")
            }
            (_, Some(refusal)) => refusal.to_string(),
            (_, None) if look.engine => "nothing is in the way: it is given out next".to_owned(),
            (_, None) => "nothing is in the way: it is given out as soon as an engine runs".to_owned(),
        }
    }
}

/// Where submitted work stands, in words.
fn submitted(standing: &Standing) -> String {
    let why = standing.why.as_ref().map(|why| format!(": {why}"));
    format!("it is submitted, {}{}", standing.word, why.unwrap_or_default())
}

/// Why the ticket waits for a person, and when it goes on without one.
fn because(reason: &Reason<'_>, look: Look) -> String {
    let again = reason.until().and_then(|at| match reason {
        Reason::Question { .. } => Some(format!("goes on without an answer {}", look.due(at)?)),
        Reason::Proposal { .. } => look.looked_at_again(at),
        Reason::Held(_)
        | Reason::Edits(_)
        | Reason::Failure(_)
        | Reason::Impossible(_)
        | Reason::Harness { .. }
        | Reason::Dependency(_)
        | Reason::File(_)
        | Reason::Target(_) => look.tried_again(at),
    });
    format!("{reason}{}", look.added(again))
}

/// The words of people that its agent gets with the next step.
pub(super) fn messages(ticket: Option<&Ticket>) -> impl Iterator<Item = String> {
    let attempt = ticket.and_then(Ticket::attempt);
    let messages = attempt.into_iter().flat_map(|attempt| {
        let baited = attempt
            .baited
            .iter()
            .map(|by| format!("{by}: this is your last step"));
        let said = attempt.messages.iter().skip(attempt.messages_shown as usize);
        baited.chain(said.map(|one| format!("{}: {}", one.by, one.text)))
    });
    messages.map(|one| text::sanitise::line(&one))
}
