//! The parts of an explanation, each in words.

use client::queue_facts::Facts;
use model::TicketId;
use model::attempt;
use model::policy::capacity;
use model::settings::Settings;
use model::ticket::{CheckPlan, State, Ticket};
use model::view::{CheckEnding, Snapshot, TrainEntry};

/// What the last attempt of an open ticket came back with, in one line: its next agent is told.
pub(super) fn came_back_with(ticket: Option<&Ticket>) -> Option<&str> {
    let is_back = |ticket: &&Ticket| matches!(ticket.state, State::Open) && ticket.held.is_none();
    ticket.filter(is_back)?.feedback.last()?.lines().next()
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
