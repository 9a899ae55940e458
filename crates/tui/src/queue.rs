//! The order of the tickets in the queue and in the train, and the filter.

use std::collections::BTreeSet;

use model::ticket::{State, Ticket};
use model::view::{self, Context, Sign, Snapshot};
use model::{Look, TicketId, Time};

use crate::theme::Tone;

/// The symbol and the tone of a ticket's standing.
pub(crate) fn symbol_and_tone(sign: Sign) -> (&'static str, Tone) {
    let tone = match sign {
        Sign::Wrong | Sign::Failed => Tone::Wrong,
        Sign::Asks | Sign::InTheWay | Sign::Waits => Tone::Waiting,
        Sign::Ready | Sign::Landing | Sign::Landed => Tone::Good,
        Sign::Preparing | Sign::Ended | Sign::Verifying => Tone::Moving,
        Sign::Working => Tone::Bold,
        Sign::Queued | Sign::Apart | Sign::Closed | Sign::Dropped => Tone::Dim,
    };
    (sign.symbol(), tone)
}

/// The order of the queue: first the unfinished tickets, the closest to landing first, and those that wait
/// for a person though they are over; then the finished ones, the latest first.
pub(crate) fn order(crew: &Snapshot) -> Vec<TicketId> {
    let first = crew.order();
    let listed: BTreeSet<&TicketId> = first.iter().map(|ticket| &ticket.id).collect();
    let mut over: Vec<&Ticket> = crew.tickets.values().map(AsRef::as_ref).collect();
    over.retain(|ticket| ticket.is_done() && !listed.contains(&ticket.id));
    over.sort_by_key(|ticket| (std::cmp::Reverse(ticket.since), &ticket.id));
    first
        .into_iter()
        .chain(over)
        .map(|ticket| ticket.id.clone())
        .collect()
}

/// The submitted tickets: the merge train with those that wait for a place in it, then the held ones.
pub(crate) fn train(crew: &Snapshot, look: Look) -> Vec<TicketId> {
    let is_held = |ticket: &Ticket| ticket.held.is_some() && matches!(ticket.state, State::Verify(_));
    let held = crew.tickets.values().filter(|ticket| is_held(ticket));
    let train = view::train(crew, look).into_iter().map(|entry| entry.ticket);
    train.chain(held.map(|ticket| ticket.id.clone())).collect()
}

/// Whether a ticket has all words of a filter: in its title, state, agent, type or tags, as its priority, or
/// in its id.
pub(crate) fn matches(ticket: &Ticket, beside: &Context, filter: &str, now: Time) -> bool {
    if filter.is_empty() {
        return true;
    }
    let standing = beside.standing(ticket, now);
    let agent = ticket.attempt().map(|attempt| attempt.claim.agent.as_str());
    let tags: Vec<&str> = ticket.spec.tags.iter().map(String::as_str).collect();
    let text = format!(
        "{} {} {} {} {}",
        ticket.spec.title,
        standing.word,
        agent.unwrap_or_default(),
        ticket.spec.kind,
        tags.join(" ")
    );
    has_words(Some(ticket), &text, filter)
}

/// Whether a text about a ticket, or about none, has all words of a filter, ignoring case. `p0` to `p4` are
/// priorities. A word is found in an id where it has a dash as ids have, or begins the part behind the last
/// dash: all ids of a folder begin alike, and a word of a title is none of them.
pub(crate) fn has_words(ticket: Option<&Ticket>, text: &str, filter: &str) -> bool {
    let text = text.to_lowercase();
    let id = ticket.map_or_else(String::new, |ticket| ticket.id.as_str().to_lowercase());
    let own = id.rsplit('-').next().unwrap_or_default();
    let is_of_id = |word: &str| match word.contains('-') {
        true => id.contains(word),
        false => own.starts_with(word),
    };
    filter
        .to_lowercase()
        .split_whitespace()
        .all(|word| match (priority(word), ticket) {
            (Some(priority), Some(ticket)) => ticket.spec.priority == priority,
            (_, _) => text.contains(word) || is_of_id(word),
        })
}

/// The priority that a word names.
fn priority(word: &str) -> Option<u8> {
    let number = word.strip_prefix('p')?.parse().ok()?;
    (word.len() == 2 && number <= 4).then_some(number)
}
