//! Acts: the state that each move leads to.

use crate::book::{Book, Stands};
use crate::bounds::Guards;
use crate::chain::Commit;
use crate::deed::Deed;
use crate::engine::{Engine, Up};
use crate::invariant::Broken;
use crate::journal::{Decision, Ordered, Row};
use crate::moves::{Move, next_deed};
use crate::order::Order;
use crate::state::State;
use crate::world::{Report, ReviewEnd};

/// The state after a move; nothing when a machine refused it, and nothing changed.
pub(crate) fn act(
    state: &State,
    what: Move,
    guards: Guards,
    book: &mut Book,
) -> Result<Option<State>, Broken> {
    let mut next = state.clone();
    match what {
        Move::Start { engine } => {
            let orphans = if next.may_be_overtaken() && next.holder.is_none() {
                let at_work = next.journal.rows.iter().zip(0..);
                let at_work = at_work.filter(|(row, _)| book.facts(row.value).number > 0);
                at_work.fold(0, |bits, (_, ticket)| bits | 1 << ticket)
            } else {
                0
            };
            next.holder = Some(engine);
            next.engines[usize::from(engine)] = Engine::Up(Up::load(&next.journal, orphans));
            write(&mut next, engine, None, guards, book)?;
        }
        Move::Kill { engine } => {
            next.left.stops -= 1;
            next.engines[usize::from(engine)] = Engine::Down;
            if next.holder == Some(engine) {
                next.holder = None;
            }
        }
        Move::RunOut => {
            next.left.stops -= 1;
            next.holder = None;
        }
        Move::Push => {
            next.left.pushes -= 1;
            let foreign = Commit::Foreign(next.left.pushes);
            next.world.target = book.chains.on(next.world.target, foreign);
        }
        Move::Rewind => {
            next.left.rewinds -= 1;
            next.world.target = book.chains.parent(next.world.target);
        }
        Move::End { ticket, run } => next.world.end(ticket, run, true),
        Move::Vanish { ticket, run } => {
            next.left.losses -= 1;
            next.world.end(ticket, run, false);
        }
        Move::Ask { ticket, run } => {
            next.left.questions -= 1;
            next.world.ask(ticket, run);
        }
        Move::EndCheck => next.world.end_check(true, &book.chains),
        Move::VanishCheck => {
            next.left.losses -= 1;
            next.world.end_check(false, &book.chains);
        }
        Move::Approve { ticket } => next.world.end_review(ticket, ReviewEnd::Approved, &book.chains),
        Move::Reject { ticket } => {
            next.left.rejections -= 1;
            next.world.end_review(ticket, ReviewEnd::Rejected, &book.chains);
        }
        Move::VanishReview { ticket } => {
            next.left.losses -= 1;
            next.world.end_review(ticket, ReviewEnd::Lost, &book.chains);
        }
        Move::Notice { engine } => next.engines[usize::from(engine)] = Engine::Down,
        Move::Hear { engine, ticket, deed } => {
            if write(&mut next, engine, Some((ticket, deed, None)), guards, book)? == Event::No {
                return Ok(None);
            }
            if matches!(
                deed,
                Deed::Drop
                    | Deed::StopForDrop
                    | Deed::StopReviewForDrop
                    | Deed::EndLanding
                    | Deed::EndChildren
                    | Deed::WakeLeader
            ) {
                next.left.drops -= 1;
            }
            if let Deed::Delegate { .. } = deed {
                next.left.children = 0;
            }
            if deed == Deed::HoldLanding {
                next.left.holds -= 1;
            }
        }
        Move::Perform {
            engine,
            place,
            edited,
        } => {
            let Engine::Up(up) = &mut next.engines[usize::from(engine)] else {
                return Ok(None);
            };
            let (ordered, report) = &mut up.todo[usize::from(place)];
            let seen = up.seen[usize::from(ordered.ticket)];
            let facts = book.facts(seen.value);
            let is_ended =
                seen != Row::BEHIND && matches!(facts.stands, Stands::Landing { ending: true, .. });
            let came = match ordered.order {
                Order::Land { candidate } if is_ended => next.world.end_landing(candidate, &book.chains),
                // Nobody waits for it, as far as this engine knows.
                Order::Check { run, .. } if facts.check != Some(run) => Report::Nothing,
                Order::Review { run, .. } if facts.review != Some(run) => Report::Nothing,
                _ => next
                    .world
                    .perform(*ordered, edited, guards.swap, &mut book.chains),
            };
            if edited && came != Report::InTheWay {
                return Ok(None);
            }
            next.left.edits -= u8::from(edited);
            *report = Some(came);
            if !book.chains.holds(next.world.target, state.world.target) {
                return Err(Broken::new(
                    "G5",
                    "a landing took somebody else's commit off the target".to_owned(),
                ));
            }
        }
        Move::Fail { engine, place } => {
            let Engine::Up(up) = &mut next.engines[usize::from(engine)] else {
                return Ok(None);
            };
            next.left.failures -= u8::from(guards.counted);
            up.todo[usize::from(place)].1 = Some(Report::Again);
        }
        Move::Hinder { engine, place } => {
            let Engine::Up(up) = &mut next.engines[usize::from(engine)] else {
                return Ok(None);
            };
            next.left.holds -= 1;
            up.todo[usize::from(place)].1 = Some(Report::CouldNotRun);
        }
        Move::Tell { engine, place } => {
            let Engine::Up(up) = &mut next.engines[usize::from(engine)] else {
                return Ok(None);
            };
            if up.todo[usize::from(place)].1 == Some(Report::Again) {
                up.todo[usize::from(place)].1 = None;
                return Ok(Some(next));
            }
            let (ordered, report) = up.todo.remove(usize::from(place));
            if let Some(report) = report {
                tell(&mut next, engine, ordered, report, guards, book)?;
            }
        }
    }
    for engine in &mut next.engines {
        if let (Engine::Up(up), true) = (engine, guards.admission) {
            up.forget(&next.journal);
        }
    }
    Ok(Some(next))
}

/// The result of an engine's event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// It is written, with all that followed from it.
    Yes,
    /// The machine refused it.
    No,
    /// The journal refused it: the engine is out of date, and goes down.
    OutOfDate,
}

/// Writes an engine's decision on an event, and the deed that it begins then: one transaction.
fn write(
    state: &mut State,
    engine: u8,
    heard: Option<(u8, Deed, Option<Ordered>)>,
    guards: Guards,
    book: &mut Book,
) -> Result<Event, Broken> {
    let place = &mut state.engines[usize::from(engine)];
    let Engine::Up(up) = place else {
        return Ok(Event::No);
    };
    let mut journal = state.journal.clone();
    let mut told = heard;
    loop {
        let next = told.take().or_else(|| {
            next_deed(up, state.left.agents, guards, book).map(|(ticket, deed)| (ticket, deed, None))
        });
        let Some((ticket, deed, completes)) = next else {
            break;
        };
        let seen = up.seen[usize::from(ticket)];
        let Some(after) = book.after(seen.value, deed) else {
            // The machine accepts every deed that it begins by itself: this one was an event.
            return Ok(Event::No);
        };
        let decision = Decision {
            ticket,
            seen,
            after: &after,
            completes,
        };
        let Ok(ordered) = journal.append(&decision, guards, book)? else {
            *place = Engine::Down;
            return Ok(Event::OutOfDate);
        };
        up.seen[usize::from(ticket)] = journal.rows[usize::from(ticket)];
        up.todo.extend(ordered.into_iter().map(|ordered| (ordered, None)));
        up.todo.sort_unstable_by_key(|(ordered, _)| *ordered);
        if deed == Deed::WorkerLost {
            up.orphans &= !(1 << ticket);
        }
    }
    state.journal = journal;
    Ok(Event::Yes)
}

/// A report counts as it does for the core: not for a later claim, and a report that the machine refuses is
/// finished without a fact.
fn tell(
    state: &mut State,
    engine: u8,
    ordered: Ordered,
    report: Report,
    guards: Guards,
    book: &mut Book,
) -> Result<(), Broken> {
    let Engine::Up(up) = &state.engines[usize::from(engine)] else {
        return Ok(());
    };
    let seen = up.seen[usize::from(ordered.ticket)];
    if seen == Row::BEHIND && ordered.order.is_reported() {
        state.engines[usize::from(engine)] = Engine::Down;
        return Ok(());
    }
    let facts = book.facts(seen.value);
    let of_another_claim = ordered
        .order
        .fence()
        .is_some_and(|fence| facts.claim != Some(fence));
    let deed = meaning(ordered.order, report).filter(|_| !guards.claim || !of_another_claim);
    let waited = match ordered.order {
        // A report of a run counts for the run that is waited for.
        Order::Start { run, .. } => !guards.claim || facts.live == Some(run),
        Order::Check { run, .. } => facts.check == Some(run),
        Order::Review { run, .. } => facts.review == Some(run),
        Order::Prepare { .. }
        | Order::Stop { .. }
        | Order::StopCheck { .. }
        | Order::StopReview { .. }
        | Order::RemoveReview { .. }
        | Order::Build { .. }
        | Order::Land { .. }
        | Order::CreateChild { .. }
        | Order::PrepareIn { .. }
        | Order::Unify { .. }
        | Order::Keep { .. }
        | Order::Remove { .. } => true,
    };
    let heard = match deed.filter(|_| waited) {
        Some(deed) => write(
            state,
            engine,
            Some((ordered.ticket, deed, Some(ordered))),
            guards,
            book,
        )?,
        None => Event::No,
    };
    if heard == Event::No {
        state.journal.finish(ordered);
    }
    Ok(())
}

fn meaning(order: Order, report: Report) -> Option<Deed> {
    Some(match (order, report) {
        (_, Report::Ready) => Deed::WorkspaceReady,
        (Order::Check { .. }, Report::Spawned) => return None,
        (Order::Review { .. }, Report::Spawned) => Deed::ReviewSpawned,
        (_, Report::Spawned) => Deed::Spawned,
        (_, Report::NoWorkspace) => Deed::WorkspaceLost,
        (_, Report::Built { candidate, on, tip }) => Deed::Build { candidate, on, tip },
        (_, Report::NoCommits) => Deed::NothingCommitted,
        (Order::Check { candidate, .. }, Report::Passed) => Deed::Pass { candidate },
        (Order::Land { candidate }, Report::Landed) => Deed::Land { candidate },
        (_, Report::NotLanded) => Deed::NotLanded,
        (_, Report::Moved) => Deed::TargetMoved,
        (_, Report::InTheWay) => Deed::InTheWay,
        (_, Report::CouldNotRun) => Deed::CouldNotRun,
        (_, Report::Unified) => Deed::Unify,
        (_, Report::Nothing | Report::Passed | Report::Landed | Report::Again) => return None,
    })
}
