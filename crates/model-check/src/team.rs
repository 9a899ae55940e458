//! A team: the first ticket's agent delegates, and all other tickets are its children. They work in its
//! workspace, one after the other, while it waits.

use model::attempt::{self, AfterChildren, AfterStop, Child, ChildEnd, ChildResult, Shared};
use model::ticket::{Delegated, Event, Spec, Ticket};
use model::{Actor, Fence, TicketId, Time};

use crate::book::{Book, Children, Facts, Stands};
use crate::bounds::Guards;
use crate::chain;
use crate::deed::{Deed, agent_name};
use crate::engine::Up;
use crate::invariant::Broken;
use crate::journal::Row;
use crate::state::{State, TICKETS};

/// The id of the n-th child of the first ticket, from 1.
pub(crate) fn child(n: u8) -> TicketId {
    TicketId::new(format!("t-0-c{n}")).expect("an id")
}

/// The number of the ticket that a child is: its place among the children, from 1.
pub(crate) fn number_of(child: &TicketId) -> u8 {
    let number = child.as_str().rsplit_once("-c").map(|(_, number)| number.parse());
    number.and_then(Result::ok).expect("<parent>-c<n>")
}

/// True for the id of a child.
pub(crate) fn is_child(id: &TicketId) -> bool {
    id.as_str().contains("-c")
}

/// True if its agent waits for its children.
pub(crate) fn is_waiting(facts: &Facts) -> bool {
    match facts.children {
        Children::Awaited | Children::EndedToGoOn | Children::EndedToStop => true,
        Children::None | Children::Ordered => false,
    }
}

/// The events of a deed of a team.
pub(crate) fn events(deed: Deed, ticket: &Ticket) -> Vec<Event> {
    let attempt = |event| vec![Event::Attempt(event)];
    let (pat, reason) = (Actor::person("pat"), "not wanted".to_owned());
    let ended = "it is a part of what ends".to_owned();
    match deed {
        Deed::Answer => attempt(attempt::Event::Answered {
            by: pat,
            text: "that one".to_owned(),
            question: "which?".to_owned(),
        }),
        Deed::Delegate { children } => {
            let children = (1..=children).map(|n| Child {
                id: child(n),
                title: "a part".to_owned(),
                task: String::new(),
                acceptance: None,
                agent: None,
                is_apart: false,
                is_leader: false,
                by: agent_name(0),
                at: Time::default(),
            });
            let children = children.collect();
            attempt(attempt::Event::Delegated { children })
        }
        Deed::Appear { fence, agent, number } => {
            let parent = TicketId::new("t-0").expect("an id");
            let delegated = Delegated {
                by: parent.clone(),
                fence: Fence(fence.into()),
                workspace: Shared {
                    of: parent,
                    agent: agent_name(agent),
                    number: number.into(),
                },
                is_apart: false,
                depth: 1,
                work: None,
                unmerged: None,
            };
            let spec = Spec::default();
            vec![Event::Created { spec }, Event::Delegated { delegated }]
        }
        Deed::AppearLate => {
            let spec = Spec::default();
            let (by, reason) = (Actor::Engine, ended);
            vec![Event::Created { spec }, Event::Dropped { by, reason }]
        }
        Deed::HearOfChildren => {
            let children = ticket
                .attempt()
                .map_or(&[][..], |attempt| attempt.open_children());
            let result = |id: &TicketId| ChildResult {
                id: id.clone(),
                title: String::new(),
                agent: None,
                end: ChildEnd::Unified,
                summary: None,
                cost_micro_usd: 0,
                work: None,
                tags: std::collections::BTreeSet::new(),
            };
            let results = children.iter().map(result).collect();
            let mut events = attempt(attempt::Event::ChildrenOver { results });
            let then = ticket.attempt().and_then(|attempt| attempt.after_children());
            if let Some(AfterChildren::Stop {
                then: AfterStop::Drop { by, reason },
            }) = then.cloned()
            {
                events.push(Event::Dropped { by, reason });
            }
            events
        }
        Deed::EndChildren => attempt(attempt::Event::ChildrenEndOrdered {
            then: AfterChildren::Stop {
                then: AfterStop::Drop { by: pat, reason },
            },
        }),
        Deed::WakeLeader => attempt(attempt::Event::ChildrenEndOrdered {
            then: AfterChildren::Unify { by: pat },
        }),
        Deed::EndChild => vec![Event::Dropped {
            by: Actor::Engine,
            reason: ended,
        }],
        Deed::StopChild => attempt(attempt::Event::StopOrdered {
            then: AfterStop::Drop {
                by: Actor::Engine,
                reason: ended,
            },
        }),
        Deed::Unify => vec![Event::Unified {
            work: None,
            unmerged: None,
        }],
        Deed::LandWithParent { candidate } => vec![Event::LandedWithParent {
            parent: TicketId::new("t-0").expect("an id"),
            commit: chain::oid('c', candidate.into()),
        }],
        other => unreachable!("{other:?} is no deed of a team"),
    }
}

/// The file of a child that an engine has not seen yet is seen.
pub(crate) fn appears(state: &State, up: &Up, ticket: u8, book: &Book) -> Option<Deed> {
    let facts = book.facts(up.seen[usize::from(ticket)].value);
    if facts.stands != Stands::Absent || state.world.files & 1 << ticket == 0 || up.seen[0] == Row::BEHIND {
        return None;
    }
    let parent = book.facts(up.seen[0].value);
    let waits = parent.children != Children::None;
    let of = parent.claim.zip(parent.agent).filter(|_| waits);
    Some(of.map_or(Deed::AppearLate, |(fence, agent)| Deed::Appear {
        fence,
        agent,
        number: parent.number,
    }))
}

/// The children that an engine knows of, with the numbers of their tickets.
fn children(up: &Up, book: &Book) -> Vec<(Facts, u8)> {
    let rows = up.seen.iter().zip(0..);
    let facts = rows.map(|(row, ticket)| (book.facts(row.value), ticket));
    facts.filter(|(facts, _)| facts.is_child).collect()
}

/// True if nothing of a child is at work any more, and its parent need not wait for it.
fn is_over(child: &Facts) -> bool {
    let is_done = match child.stands {
        Stands::Held | Stands::Landed { .. } | Stands::Over => true,
        Stands::Unified { is_saved } => is_saved,
        Stands::Open
        | Stands::AtWork { .. }
        | Stands::Queued
        | Stands::InReview { .. }
        | Stands::Checked
        | Stands::Landing { .. }
        | Stands::Absent => false,
    };
    is_done && child.live.is_none()
}

/// As the core moves children and their parents on, after every input and in its transaction.
pub(crate) fn next_deed(up: &Up, agents: u8, guards: Guards, book: &Book) -> Option<(u8, Deed)> {
    let children = children(up, book);
    if children.is_empty() || up.seen.contains(&Row::BEHIND) {
        return None;
    }
    let parent = book.facts(up.seen[0].value);
    if is_waiting(&parent) {
        let is_ended = parent.children != Children::Awaited;
        if let Some(next) = children.iter().filter(|_| is_ended).find_map(|child| {
            let is_unified = child.0.stands == Stands::Unified { is_saved: true };
            end(child).filter(|_| !is_unified)
        }) {
            return Some(next);
        }
        // One that nobody has seen does not begin any more.
        let is_waited_for = |(child, _): &&(Facts, u8)| match child.stands {
            Stands::Absent => !is_ended,
            Stands::Open
            | Stands::Held
            | Stands::AtWork { .. }
            | Stands::Queued
            | Stands::InReview { .. }
            | Stands::Checked
            | Stands::Landing { .. }
            | Stands::Landed { .. }
            | Stands::Over
            | Stands::Unified { .. } => !is_over(child) && (guards.waits || !child.stopping),
        };
        match children.iter().find(is_waited_for) {
            None => return Some((0, Deed::HearOfChildren)),
            Some((child, ticket)) if child.stands == Stands::Open && !is_ended => {
                let is_taken = |agent| {
                    let all = children.iter().map(|(child, _)| child).chain([&parent]);
                    all.into_iter().any(|facts| facts.agent == Some(agent))
                };
                let agent = (0..agents).find(|agent| !is_taken(*agent));
                if let Some(agent) = agent {
                    return Some((*ticket, Deed::Claim { agent }));
                }
            }
            Some(_) => {}
        }
    }
    children.iter().find_map(|child| follow(child, &parent))
}

/// A child lands with its parent, and ends with the attempt that delegated it.
fn follow(child: &(Facts, u8), parent: &Facts) -> Option<(u8, Deed)> {
    let is_unified = child.0.stands == Stands::Unified { is_saved: true };
    let is_of_attempt = parent.claim.is_some() && parent.claim == child.0.of_claim;
    let is_awaited = is_of_attempt && parent.children != Children::None;
    if is_awaited || is_of_attempt && is_unified {
        return None;
    }
    match parent.stands {
        Stands::Landed { candidate } if is_unified => Some((child.1, Deed::LandWithParent { candidate })),
        Stands::Open
        | Stands::Held
        | Stands::AtWork { .. }
        | Stands::Queued
        | Stands::InReview { .. }
        | Stands::Checked
        | Stands::Landing { .. }
        | Stands::Landed { .. }
        | Stands::Over
        | Stands::Absent
        | Stands::Unified { .. } => end(child),
    }
}

/// Ends a child: what runs of it is stopped first.
fn end((child, ticket): &(Facts, u8)) -> Option<(u8, Deed)> {
    let is_there = !matches!(
        child.stands,
        Stands::Absent | Stands::Landed { .. } | Stands::Over
    );
    let deed = match (child.live, child.stopping) {
        (None, _) => Deed::EndChild,
        (Some(_), false) => Deed::StopChild,
        (Some(_), true) => return None,
    };
    is_there.then_some((*ticket, deed))
}

/// One writer in the workspace; a child has a process only while its parent waits for it; it lands with its
/// parent, and ends with its parent's attempt.
pub(crate) fn check(state: &State, book: &Book) -> Result<(), Broken> {
    let facts: [Facts; TICKETS] = state.journal.rows.each_ref().map(|row| book.facts(row.value));
    let parent = &facts[0];
    let places = &state.world.places;
    for (child, ticket) in facts.iter().zip(0..).filter(|(facts, _)| facts.is_child) {
        let broken = |invariant, what: &str| Err(Broken::new(invariant, format!("t-0-c{ticket} {what}")));
        let is_alive = |ticket: u8| places[usize::from(ticket)].alive != 0;
        let is_of_attempt = parent.claim.is_some() && parent.claim == child.of_claim;
        let is_beside = (0..)
            .zip(places)
            .any(|(other, _)| other != ticket && is_alive(other));
        if is_alive(ticket) && is_beside {
            return broken("T1", "is at work, and so is another one in its workspace");
        }
        if is_alive(ticket) && !(is_of_attempt && is_waiting(parent)) {
            return broken("T2", "is at work, and its parent does not wait for it");
        }
        let has_landed = matches!(child.stands, Stands::Landed { .. });
        if has_landed && child.stands != parent.stands {
            return broken("T3", "has landed, and not with its parent");
        }
        let is_open = !has_landed && !matches!(child.stands, Stands::Over | Stands::Absent);
        if is_open && !is_of_attempt && !(child.stopping && child.live.is_some()) {
            return broken("T4", "outlives the attempt that it is a part of");
        }
        let is_left = is_of_attempt && parent.children == Children::None && is_open;
        if is_left && child.stands != (Stands::Unified { is_saved: true }) {
            return broken("T5", "is not over, and nobody waits for it");
        }
    }
    Ok(())
}
