//! Trees: children below the ticket whose agent has delegated them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::{Agent, Snapshot};
use crate::TicketId;
use crate::ticket::Ticket;

/// What stands before the name of a child in a list, so many levels deep.
#[must_use]
pub fn branch(depth: usize) -> String {
    match depth.checked_sub(1) {
        None => String::new(),
        Some(deeper) => format!("{}└ ", "  ".repeat(deeper)),
    }
}

impl Snapshot {
    /// The agents as [`Snapshot::agents`] has them, those at work on a child below the one that has delegated
    /// it; each with its depth.
    #[must_use]
    pub fn agents_in_trees(&self) -> Vec<(usize, Agent)> {
        let agents = self.agents();
        let place = |agent: &Agent| {
            let ticket = agent.ticket.as_ref()?;
            let parent = self.tickets.get(ticket)?.delegated().map(|it| it.by.clone());
            Some((ticket.clone(), parent))
        };
        in_trees(agents, place)
    }
}

/// The tickets in their order, each child below its parent, if that is among them.
pub(super) fn tickets_in_trees(tickets: Vec<&Ticket>) -> Vec<&Ticket> {
    if tickets.iter().all(|ticket| ticket.delegated().is_none()) {
        return tickets;
    }
    let place = |ticket: &&Ticket| {
        let parent = ticket.delegated().map(|it| it.by.clone());
        Some((ticket.id.clone(), parent))
    };
    let placed = in_trees(tickets, place);
    placed.into_iter().map(|(_, ticket)| ticket).collect()
}

/// Things in their order, each below its parent, with its depth. `place`: the ticket that a thing is about,
/// and the parent of that.
fn in_trees<T>(
    things: Vec<T>,
    place: impl Fn(&T) -> Option<(TicketId, Option<TicketId>)>,
) -> Vec<(usize, T)> {
    let places: Vec<_> = things.iter().map(place).collect();
    let there: BTreeSet<TicketId> = places
        .iter()
        .flatten()
        .map(|(ticket, _)| ticket.clone())
        .collect();
    let mut below: BTreeMap<TicketId, Vec<usize>> = BTreeMap::new();
    let mut firsts = Vec::new();
    for (at, place) in places.iter().enumerate() {
        let parent = place.as_ref().and_then(|(_, parent)| parent.as_ref());
        match parent.filter(|parent| there.contains(*parent)) {
            Some(parent) => below.entry(parent.clone()).or_default().push(at),
            None => firsts.push(at),
        }
    }
    let mut things: Vec<Option<T>> = things.into_iter().map(Some).collect();
    let mut open: Vec<(usize, usize)> = firsts.into_iter().rev().map(|at| (0, at)).collect();
    let mut ordered = Vec::new();
    while let Some((depth, at)) = open.pop() {
        ordered.extend(
            things
                .get_mut(at)
                .and_then(Option::take)
                .map(|thing| (depth, thing)),
        );
        let children = places
            .get(at)
            .and_then(Option::as_ref)
            .and_then(|(ticket, _)| below.remove(ticket));
        open.extend(children.into_iter().flatten().rev().map(|at| (depth + 1, at)));
    }
    // A damaged journal may have parents in a circle, below none that is first.
    ordered.extend(things.into_iter().flatten().map(|thing| (0, thing)));
    ordered
}

/// The tickets that a ticket's agent has delegated and that are not over, in the order of their turns.
#[must_use]
pub fn open_children(tickets: &BTreeMap<TicketId, Arc<Ticket>>, of: &Ticket) -> Vec<TicketId> {
    let all = of.attempt().map_or(&[][..], |attempt| attempt.open_children());
    let is_over = |id: &TicketId| tickets.get(id).is_some_and(|child| child.is_over_for_parent());
    all.iter().filter(|id| !is_over(id)).cloned().collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_stand_below_their_parents_in_the_order_that_they_have() {
        let id = |text: &str| TicketId::new(text).unwrap();
        let things = vec![
            ("c1-c1", Some("c1")),
            ("b", None),
            ("c2", Some("a")),
            ("c1", Some("a")),
            ("a", None),
            ("d", Some("gone")),
            ("e", Some("f")),
            ("f", Some("e")),
        ];
        let place = |(ticket, parent): &(&str, Option<&str>)| Some((id(ticket), parent.map(id)));
        let ordered = in_trees(things, place);
        let words: Vec<(usize, &str)> = ordered
            .into_iter()
            .map(|(depth, (ticket, _))| (depth, ticket))
            .collect();
        assert_eq!(
            words,
            [
                (0, "b"),
                (0, "a"),
                (1, "c2"),
                (1, "c1"),
                (2, "c1-c1"),
                (0, "d"),
                (0, "e"),
                (0, "f")
            ]
        );
    }
}
