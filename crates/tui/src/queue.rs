//! The order of the tickets in the queue and in the train, and the filter.

use model::ticket::{Stage, State, Ticket};
use model::view::{Context, Sign, Snapshot};
use model::{TicketId, Time};

use crate::theme::Tone;

/// The symbol and the tone of a ticket's standing.
pub(crate) fn symbol_and_tone(sign: Sign) -> (&'static str, Tone) {
    match sign {
        Sign::Wrong => ("!", Tone::Wrong),
        Sign::Asks => ("?", Tone::Waiting),
        Sign::InTheWay => ("!", Tone::Waiting),
        Sign::Waits => ("◌", Tone::Waiting),
        Sign::Ready => ("○", Tone::Good),
        Sign::Preparing => ("◐", Tone::Moving),
        Sign::Working => ("●", Tone::Bold),
        Sign::Ended | Sign::Verifying => ("◍", Tone::Moving),
        Sign::Queued => ("◌", Tone::Dim),
        Sign::Landing => ("◍", Tone::Good),
        Sign::Apart => ("▪", Tone::Dim),
        Sign::Landed => ("✓", Tone::Good),
        Sign::Closed => ("✓", Tone::Dim),
        Sign::Failed => ("✗", Tone::Wrong),
        Sign::Dropped => ("✗", Tone::Dim),
    }
}

/// The order of the queue: first the unfinished tickets, the closest to landing first; then the finished
/// ones, the latest first.
pub(crate) fn order(crew: &Snapshot) -> Vec<TicketId> {
    let mut over: Vec<&Ticket> = crew.tickets.values().map(AsRef::as_ref).collect();
    over.retain(|ticket| ticket.is_done());
    over.sort_by_key(|ticket| (std::cmp::Reverse(ticket.since), &ticket.id));
    crew.order()
        .into_iter()
        .chain(over)
        .map(|ticket| ticket.id.clone())
        .collect()
}

/// The submitted tickets in the order in which they will land: those that land or are checked, then the
/// waiting ones, the oldest first, then the held ones.
pub(crate) fn train(crew: &Snapshot) -> Vec<TicketId> {
    let mut train: Vec<_> = crew
        .tickets
        .values()
        .filter_map(|ticket| {
            let State::Verify(verify) = &ticket.state else {
                return None;
            };
            let rank = match &verify.stage {
                _ if ticket.held.is_some() => 4,
                Stage::Landing { waiting: None, .. } => 0,
                Stage::Building | Stage::Checking(_) | Stage::InTrain(_) => 1,
                Stage::Queued => 2,
                Stage::Reviewing(_) | Stage::Proposed(_) | Stage::Landing { waiting: Some(_), .. } => 3,
            };
            let since = ticket.in_line_since.unwrap_or(verify.submitted_at);
            Some((rank, since, &ticket.id))
        })
        .collect();
    train.sort();
    train.into_iter().map(|(.., id)| id.clone()).collect()
}

/// Whether a ticket has all words of a filter in its id, title, state, agent, priority, type or tags.
pub(crate) fn matches(ticket: &Ticket, beside: &Context, filter: &str, now: Time) -> bool {
    if filter.is_empty() {
        return true;
    }
    let standing = beside.standing(ticket, now);
    let agent = ticket.attempt().map(|attempt| attempt.claim.agent.as_str());
    let tags: Vec<&str> = ticket.spec.tags.iter().map(String::as_str).collect();
    let all = format!(
        "{} {} {} {} p{} {} {}",
        ticket.id,
        ticket.spec.title,
        standing.word,
        agent.unwrap_or_default(),
        ticket.spec.priority,
        ticket.spec.kind,
        tags.join(" ")
    );
    contains_words(&all, filter)
}

/// Whether a text contains all words of a filter, ignoring case.
pub(crate) fn contains_words(text: &str, filter: &str) -> bool {
    let text = text.to_lowercase();
    filter
        .to_lowercase()
        .split_whitespace()
        .all(|word| text.contains(word))
}
