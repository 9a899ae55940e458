//! Moves: the events that can come next.

use crate::book::{Book, Children, Facts, Stands};
use crate::bounds::{Guards, Lease};
use crate::deed::Deed;
use crate::engine::{Engine, Up};
use crate::journal::{Ordered, Row};
use crate::order::Order;
use crate::state::State;
use crate::team;
use crate::world::{self, CheckEnd, ReviewEnd};

/// Something that can happen.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Move {
    /// An engine starts: it takes the repository and loads the journal.
    Start { engine: u8 },
    /// An engine is killed.
    Kill { engine: u8 },
    /// The holder's lease runs out, and it does not know.
    RunOut,
    /// Somebody else commits to the target.
    Push,
    /// The push is taken back by force.
    Rewind,
    /// A process ends: it has done its work.
    End { ticket: u8, run: u16 },
    /// A process is lost.
    Vanish { ticket: u8, run: u16 },
    /// A process ends with a question.
    Ask { ticket: u8, run: u16 },
    /// The check that runs ends by itself.
    EndCheck,
    /// The check that runs is lost.
    VanishCheck,
    /// A gatekeeper ends with an approval.
    Approve { ticket: u8 },
    /// A gatekeeper sends the work back.
    Reject { ticket: u8 },
    /// A gatekeeper's process is lost.
    VanishReview { ticket: u8 },
    /// An engine gets an input, decides, and writes the decision with all of its consequences.
    Hear { engine: u8, ticket: u8, deed: Deed },
    /// An engine that was overtaken tries to write, and is refused.
    Notice { engine: u8 },
    /// An engine's executor performs an effect.
    Perform { engine: u8, place: u8, edited: bool },
    /// It fails, and will be tried again.
    Fail { engine: u8, place: u8 },
    /// It cannot be done now, and the ticket is to be held for that.
    Hinder { engine: u8, place: u8 },
    /// The report of an effect is written down.
    Tell { engine: u8, place: u8 },
}

impl Move {
    /// True if it belongs to the ordinary course of things: no fault, and nobody's interference.
    pub(crate) fn is_ordinary(self, guards: Guards) -> bool {
        match self {
            Self::Start { .. }
            | Self::End { .. }
            | Self::EndCheck
            | Self::Approve { .. }
            | Self::Tell { .. }
            | Self::Notice { .. } => true,
            Self::Perform { edited, .. } => !edited,
            Self::Fail { .. } => !guards.counted,
            Self::Hear { deed, .. } => !matches!(
                deed,
                Deed::Drop
                    | Deed::StopForDrop
                    | Deed::StopReviewForDrop
                    | Deed::EndLanding
                    | Deed::HoldLanding
                    | Deed::WorkerLost
                    | Deed::Delegate { .. }
                    | Deed::EndChildren
                    | Deed::WakeLeader
            ),
            Self::Kill { .. }
            | Self::RunOut
            | Self::Push
            | Self::Rewind
            | Self::Vanish { .. }
            | Self::Ask { .. }
            | Self::VanishCheck
            | Self::Reject { .. }
            | Self::VanishReview { .. }
            | Self::Hinder { .. } => false,
        }
    }
}

/// Everything that can happen in a state.
pub(crate) fn moves(state: &State, guards: Guards, book: &Book) -> Vec<Move> {
    let mut out = Vec::new();
    for engine in 0..2 {
        match &state.engines[usize::from(engine)] {
            Engine::Down => {
                if state.holder.is_none_or(|holder| holder == engine) {
                    out.push(Move::Start { engine });
                }
            }
            Engine::Up(up) => {
                if state.left.stops > 0 {
                    out.push(Move::Kill { engine });
                }
                of_engine(state, engine, up, guards, book, &mut out);
            }
        }
    }
    let left = state.left;
    if left.lease == Lease::RunsOut && left.stops > 0 && state.holder.is_some() {
        out.push(Move::RunOut);
    }
    if left.pushes > 0 {
        out.push(Move::Push);
    }
    let top = book.chains.commit(state.world.target);
    if left.rewinds > 0 && matches!(top, Some(crate::chain::Commit::Foreign(_))) {
        out.push(Move::Rewind);
    }
    if state.world.check.is_some_and(|check| check.end.is_none()) {
        out.push(Move::EndCheck);
        if left.losses > 0 {
            out.push(Move::VanishCheck);
        }
    }
    for (review, ticket) in state.world.reviews.iter().zip(0..) {
        if review.is_some_and(|review| review.end.is_none()) {
            out.push(Move::Approve { ticket });
            if left.rejections > 0 {
                out.push(Move::Reject { ticket });
            }
            if left.losses > 0 {
                out.push(Move::VanishReview { ticket });
            }
        }
    }
    for (place, ticket) in state.world.places.iter().zip(0..) {
        let runs = (0..16).map(|bit| 1 << bit).filter(|run| place.alive & run != 0);
        for run in runs {
            out.push(Move::End { ticket, run });
            if left.losses > 0 {
                out.push(Move::Vanish { ticket, run });
            }
            if left.questions > 0 {
                out.push(Move::Ask { ticket, run });
            }
        }
    }
    out
}

fn of_engine(state: &State, engine: u8, up: &Up, guards: Guards, book: &Book, out: &mut Vec<Move>) {
    if up.seen.contains(&Row::BEHIND) {
        out.push(Move::Notice { engine });
    }
    for (row, ticket) in up.seen.iter().zip(0..) {
        if *row == Row::BEHIND {
            continue;
        }
        let facts = book.facts(row.value);
        let mut hear = |deed| out.push(Move::Hear { engine, ticket, deed });
        if let Some(deed) = team::appears(state, up, ticket, book) {
            hear(deed);
        }
        if facts.stands == Stands::Absent {
            continue;
        }
        if facts.asks {
            hear(Deed::Answer);
        }
        if let Stands::Landing { waiting: true, .. } = facts.stands {
            hear(Deed::RetryLanding);
        }
        if let Some(run) = facts.live {
            let place = state.world.places[usize::from(ticket)];
            let bit = world::run(facts.number, run);
            if place.finished & bit != 0 {
                hear(Deed::Finish);
            }
            if place.lost & bit != 0 {
                hear(Deed::Lose);
            }
            if place.asked & bit != 0 {
                hear(Deed::Ask);
            }
            if ticket == 0 && state.left.children > 0 && place.alive & bit != 0 && !facts.stopping {
                let children = state.left.children;
                hear(Deed::Delegate { children });
            }
        }
        if let Some(run) = facts.check {
            let has_it = |check: &world::Check| (check.ticket, check.run) == (ticket, run);
            let is_ordered = |one: &Ordered| {
                one.ticket == ticket && matches!(one.order, Order::Check { run: of, .. } if of == run)
            };
            match state.world.check.filter(has_it) {
                Some(check) => match check.end {
                    Some(CheckEnd::Passed) => hear(Deed::Pass {
                        candidate: check.candidate,
                    }),
                    Some(CheckEnd::Failed) => hear(Deed::FailCheck),
                    Some(CheckEnd::Lost) => hear(Deed::LoseCheck),
                    None => {}
                },
                // It was ended for another's, or never begun.
                None if !state.journal.outbox.iter().any(is_ordered) => hear(Deed::LoseCheck),
                None => {}
            }
        }
        if let Some(run) = facts.review {
            let review = state.world.reviews[usize::from(ticket)].filter(|review| review.run == run);
            let is_ordered = |one: &Ordered| {
                one.ticket == ticket && matches!(one.order, Order::Review { run: of, .. } if of == run)
            };
            match review.map(|review| review.end) {
                Some(Some(ReviewEnd::Approved)) => hear(Deed::Approve),
                Some(Some(ReviewEnd::Rejected)) => hear(Deed::Reject),
                Some(Some(ReviewEnd::Lost)) => hear(Deed::LoseReview),
                Some(None) => {}
                None if !state.journal.outbox.iter().any(is_ordered) => hear(Deed::LoseReview),
                None => {}
            }
        }
        if facts.stands == Stands::Held {
            hear(Deed::RetryHeld);
        }
        // Under a lease that runs out, the sleeper could land a commit that the other engine has found not
        // landed: to prevent that takes a fence at the target itself.
        let can_be_ended = match facts.stands {
            Stands::Landing { waiting, ending, .. } => !waiting && !ending && !state.may_be_overtaken(),
            Stands::Open
            | Stands::Held
            | Stands::AtWork { .. }
            | Stands::Queued
            | Stands::Checked
            | Stands::InReview { .. }
            | Stands::Landed { .. }
            | Stands::Absent
            | Stands::Unified { .. }
            | Stands::Over => false,
        };
        if can_be_ended && state.left.holds > 0 {
            hear(Deed::HoldLanding);
        }
        let is_dropped = state.left.drops > 0
            // What is on its parent's branch is dropped with that.
            && !matches!(facts.stands, Stands::Landed { .. } | Stands::Over | Stands::Unified { .. });
        if is_dropped && team::is_waiting(&facts) {
            if facts.children == Children::Awaited {
                hear(Deed::WakeLeader);
            }
            if facts.children != Children::EndedToStop {
                hear(Deed::EndChildren);
            }
        } else if is_dropped {
            if can_be_ended {
                hear(Deed::EndLanding);
            }
            match (facts.live, facts.stopping) {
                (None, _) if facts.review.is_some() => {
                    if !matches!(facts.stands, Stands::InReview { ending: true, .. }) {
                        hear(Deed::StopReviewForDrop);
                    }
                }
                (None, _) => hear(Deed::Drop),
                (Some(_), false) => hear(Deed::StopForDrop),
                (Some(_), true) => {}
            }
        }
        if up.orphans & (1 << ticket) != 0 && matches!(facts.stands, Stands::AtWork { .. }) {
            hear(Deed::WorkerLost);
        }
    }
    for ticket in 0..3 {
        for (place, ordered, report) in up.first(ticket) {
            let place = u8::try_from(place).expect("a short line");
            if report.is_some() {
                out.push(Move::Tell { engine, place });
                continue;
            }
            out.push(Move::Perform {
                engine,
                place,
                edited: false,
            });
            if state.left.failures > 0 || !guards.counted {
                out.push(Move::Fail { engine, place });
            }
            if state.left.holds > 0 && matches!(ordered.order, Order::Build { .. } | Order::Check { .. }) {
                out.push(Move::Hinder { engine, place });
            }
            if state.left.edits > 0 && matches!(ordered.order, Order::Land { .. }) {
                out.push(Move::Perform {
                    engine,
                    place,
                    edited: true,
                });
            }
        }
    }
}

/// The deed that an engine begins by itself with the state that it sees. The core does so after every input,
/// in the same transaction. The order of tickets is a policy; the first will do for any.
pub(crate) fn next_deed(up: &Up, agents: u8, guards: Guards, book: &Book) -> Option<(u8, Deed)> {
    let seen = up.seen.iter().zip(0..).filter(|(row, _)| **row != Row::BEHIND);
    let facts: Vec<(Facts, u8)> = seen
        .map(|(row, ticket)| (book.facts(row.value), ticket))
        .collect();
    if let Some(next) = team::next_deed(up, agents, guards, book) {
        return Some(next);
    }
    let first = |wanted: fn(&Facts) -> bool| facts.iter().find(|(f, _)| wanted(f)).map(|(_, ticket)| *ticket);
    let is_checked =
        |(f, _): &(Facts, u8)| matches!(f.stands, Stands::Checked | Stands::Landing { waiting: false, .. });
    if let (Some(ticket), false) = (
        first(|f| f.stands == Stands::Queued),
        facts.iter().any(is_checked),
    ) {
        return Some((ticket, Deed::StartCheck));
    }
    if let Some(ticket) = first(|f| matches!(f.stands, Stands::InReview { can_step: true, .. })) {
        return Some((ticket, Deed::StartReview));
    }
    if let (Some(ticket), false) = (
        first(|f| matches!(f.stands, Stands::InReview { is_free: true, .. })),
        facts.iter().any(|(f, _)| f.has_gatekeeper),
    ) {
        return Some((ticket, Deed::ClaimReview));
    }
    if let Some(ticket) = first(|f| f.stands == Stands::AtWork { can_step: true }) {
        return Some((ticket, Deed::StartStep));
    }
    let is_taken = |agent| facts.iter().any(|(f, _)| f.agent == Some(agent));
    let ticket = first(|f| f.stands == Stands::Open && !f.is_child)?;
    let agent = (0..agents).find(|agent| !is_taken(*agent))?;
    Some((ticket, Deed::Claim { agent }))
}
