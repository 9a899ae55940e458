//! The parts of an explanation, each in words.

use client::queue_facts::Facts;
use model::attempt::{self, Failure};
use model::journal::{self, Fact, Stream};
use model::policy::attention::Reason;
use model::policy::capacity;
use model::settings::Settings;
use model::ticket::{CheckPlan, Event, State, Ticket, Why};
use model::view::{CheckEnding, Snapshot, Standing, TrainEntry, printed};
use model::{Look, RunId, TicketId};
use store::Ledger;

use crate::error::Result;

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

/// What the last attempt of an open ticket came back with, in one line: its next agent is told.
pub(super) fn came_back_with(ticket: Option<&Ticket>) -> Option<&str> {
    let is_back = |ticket: &&Ticket| matches!(ticket.state, State::Open) && ticket.held.is_none();
    ticket.filter(is_back)?.feedback.last()?.lines().next()
}

/// Where submitted work stands, in words.
pub(super) fn submitted(standing: &Standing) -> String {
    let why = standing.why.as_ref().map(|why| format!(": {why}"));
    format!("it is submitted, {}{}", standing.word, why.unwrap_or_default())
}

/// The place of submitted work in the merge train, or before it; none where it is alone.
pub(super) fn place_in_train(train: &[TrainEntry], id: &TicketId) -> Option<String> {
    let at = train.iter().position(|entry| entry.ticket == *id)?;
    let entry = &train[at];
    let is_alone = train.iter().filter(|entry| entry.place.is_some()).count() < 2;
    Some(match (entry.place, &entry.ahead) {
        (Some(place), Some(ahead)) => format!("place {place} in the merge train, merged on {ahead}"),
        (Some(_), None) if is_alone => return None,
        (Some(place), None) => format!("place {place} in the merge train, merged on the target"),
        (None, _) if entry.word != "queued" => return None,
        (None, _) => match at {
            0 => "it is the next to be merged".to_owned(),
            1 => "one ticket is before it".to_owned(),
            before => format!("{before} tickets are before it"),
        },
    })
}

/// Why an agent that is ready for a step is not given one, or work no gatekeeper, where that is for want of a
/// process or of a gatekeeper.
pub(super) fn no_worker(facts: &Facts, settings: &Settings, ticket: Option<&Ticket>) -> Option<String> {
    let ticket = ticket?;
    let limits = capacity::Limits::new(&settings.agents, &settings.run);
    let tickets = || facts.tickets.values().map(AsRef::as_ref);
    let is_full = capacity::workers(tickets(), limits) == 0;
    let is_ready = ticket
        .attempt()
        .is_some_and(|attempt| matches!(attempt.state, attempt::State::Ready));
    let waits_for_gatekeeper = ticket.held.is_none()
        && ticket
            .reviewing()
            .is_some_and(|reviewing| reviewing.open().is_none());
    if (is_ready || waits_for_gatekeeper) && is_full {
        let n = limits.workers;
        return Some(format!(
            "as many agent processes run as may: [run] max_workers = {n}"
        ));
    }
    let reviews = tickets().flat_map(|other| other.open_reviews().map(move |review| (other, review)));
    let busy: Vec<String> = reviews
        .map(|(other, review)| format!("{} at {}", review.agent, other.id))
        .collect();
    (waits_for_gatekeeper && !busy.is_empty() && busy.len() >= settings.review.count as usize).then(|| {
        let n = settings.review.count;
        format!(
            "no gatekeeper is free ([review] count = {n}): {}",
            busy.join(", ")
        )
    })
}

/// The end of the output of the check for which a ticket is held, and its run.
pub(super) async fn of_its_check(
    ledger: &Ledger,
    ticket: &Ticket,
) -> Result<(Option<String>, Option<RunId>)> {
    let (mut last, mut failed, mut ended) = (None, None, None);
    if ticket.held.is_some() {
        let stream = Stream::Ticket(ticket.id.clone());
        let each = |fold: store::Recorded| {
            let held = match &fold.after {
                journal::State::Ticket(after) => after.held == ticket.held,
                journal::State::Project(_) => false,
            };
            if let Fact::Ticket(Event::CheckEnded { run, .. }) = &fold.fact {
                ended = Some(run.clone());
            }
            if held && let Some(text) = printed(&fold.fact) {
                (last, failed) = (Some(text.to_owned()), ended.clone());
            }
        };
        ledger.each_of(&stream, 0, each).await?;
    }
    Ok((last, failed))
}

/// The checks that passed on a ticket's work without any test, by what they printed.
pub(super) fn without_tests(crew: &Snapshot, settings: &Settings, id: &TicketId) -> Vec<String> {
    let names = CheckPlan::of(settings).names().into_iter();
    let is_empty = |name: &String| {
        let verdicts = crew.checks.of(name).map(|tally| tally.verdicts.as_slice());
        let mut of_it = verdicts.unwrap_or_default().iter().rev();
        let last = of_it.find(|verdict| verdict.ticket.as_ref() == Some(id) && verdict.tests.is_some());
        last.is_some_and(|last| last.tests == Some(0) && last.end == CheckEnding::Passed)
    };
    names.filter(is_empty).collect()
}

/// The failure that holds a ticket whose agent was freed.
pub(super) fn failure_of(ticket: Option<&Ticket>) -> Option<&Failure> {
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

/// Why the ticket waits for a person, and when it goes on without one.
pub(super) fn because(reason: &Reason<'_>, look: Look) -> String {
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

/// The answer that waits for the agent's next step, in words.
pub(super) fn waiting_answer(ticket: &Ticket, is_target_in_the_way: bool) -> Option<String> {
    let asked = ticket.answerable()?;
    let (agent, answer) = (asked.agent, asked.answer?);
    let when = match is_target_in_the_way {
        true => ", once the target passes its checks",
        false => "",
    };
    Some(format!(
        "the answer was taken, and {agent} gets it with the next step{when}: {answer}"
    ))
}
