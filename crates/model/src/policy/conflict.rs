//! Conflicts: of the tickets that conflict with the target in the same path, one resolves at a time.
//!
//! Two agents that resolve against the same target cannot both land: the one that comes second has resolved
//! for nothing, and is paid for again. So the others wait, each for the one before it.

use crate::attempt;
use crate::ticket::{Stage, State, Ticket, Verify, WhyUncoupled};
use crate::{TicketId, Time};

/// For each resolution that a ticket may need, so many may be right and too late. They are no failures of
/// its agent, but each of them is paid for.
pub const OVERTAKEN_FOR_EACH: u32 = 3;

/// The part that a ticket has in conflicts with the target.
enum Part<'a> {
    /// It resolves one in these paths, or has resolved it and is on its way to the target.
    Resolves(&'a [String]),
    /// It waits for another that resolves one in these paths.
    Waits(&'a [String]),
    /// None.
    Apart,
}

/// The ticket that has to land before `ticket` is merged again, if the latter conflicts with the target in
/// these paths: the last of those that wait before it in the line, or the one that resolves. `moves`:
/// whether a ticket moves by itself; for one that does not, nobody waits.
#[must_use]
pub fn ahead<'a>(
    tickets: impl IntoIterator<Item = &'a Ticket>,
    ticket: &Ticket,
    paths: &[String],
    moves: impl Fn(&Ticket) -> bool,
) -> Option<&'a TicketId> {
    let ahead = tickets
        .into_iter()
        .filter(|other| is_ahead(other, ticket, paths) && moves(other));
    let waits = |other: &Ticket| matches!(part(other), Part::Waits(_));
    ahead
        .max_by(|a, b| (waits(a), place(a)).cmp(&(waits(b), place(b))))
        .map(|other| &other.id)
}

/// Whether a ticket that conflicts with the target in these paths waits for another, as long as that one
/// moves by itself.
///
/// Only one that resolves is waited for by tickets that stand before it in the line, and it waits for
/// nobody. So no two wait for each other, and whoever stands first is next.
#[must_use]
pub fn is_ahead(other: &Ticket, ticket: &Ticket, paths: &[String]) -> bool {
    let meets = |of: &[String]| of.iter().any(|path| paths.contains(path));
    other.id != ticket.id
        && match part(other) {
            Part::Resolves(of) => meets(of),
            Part::Waits(of) => meets(of) && place(other) < place(ticket),
            Part::Apart => false,
        }
}

/// The place in the order of landing.
fn place(ticket: &Ticket) -> (Option<Time>, &TicketId) {
    (ticket.in_line_since, &ticket.id)
}

fn part(ticket: &Ticket) -> Part<'_> {
    if ticket.held.is_some() {
        return Part::Apart;
    }
    match &ticket.state {
        State::InProgress(attempt) => match &attempt.state {
            attempt::State::Preparing
            | attempt::State::Ready
            | attempt::State::Working(_)
            | attempt::State::Stuck { .. } => resolves(attempt),
            // Neither a person's answer nor the time that an agent names is waited for.
            attempt::State::WaitingForInput { .. } | attempt::State::WaitingForWakeup { .. } => Part::Apart,
            attempt::State::WaitingForChildren { .. } | attempt::State::Verifying | attempt::State::Done => {
                Part::Apart
            }
        },
        State::Verify(verify) => match &verify.stage {
            Stage::Queued | Stage::Building => {
                waits(verify).map_or_else(|| resolves(&verify.attempt), Part::Waits)
            }
            Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Reviewing(_)
            | Stage::Landing { waiting: None, .. } => resolves(&verify.attempt),
            // People merge it, or mend what is in the way, when they like.
            Stage::Proposed(_) | Stage::Landing { waiting: Some(_), .. } => Part::Apart,
            Stage::Unified { .. } => Part::Apart,
        },
        State::New | State::Open | State::Done(_) => Part::Apart,
    }
}

fn resolves(attempt: &attempt::Attempt) -> Part<'_> {
    match &attempt.conflict {
        Some(conflict) => Part::Resolves(&conflict.paths),
        None => Part::Apart,
    }
}

fn waits(verify: &Verify) -> Option<&[String]> {
    match verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why) {
        Some(WhyUncoupled::Behind { paths, .. }) => Some(paths),
        Some(_) | None => None,
    }
}
