//! Invariants of every state. The names are those of the design's one list of invariants.

use crate::book::{Book, Stands};
use crate::chain::Commit;
use crate::journal::Ordered;
use crate::order::Order;
use crate::state::State;
use crate::team;

/// An invariant that does not hold.
#[derive(Clone, Debug)]
pub(crate) struct Broken {
    pub(crate) invariant: &'static str,
    pub(crate) what: String,
}

impl Broken {
    pub(crate) fn new(invariant: &'static str, what: String) -> Self {
        Self { invariant, what }
    }
}

/// Checks a state.
pub(crate) fn check(state: &State, book: &Book) -> Result<(), Broken> {
    let (chains, target) = (&book.chains, state.world.target);
    for chain in chains.back(target) {
        let work = matches!(chains.commit(chain), Some(Commit::Work { .. }));
        if work && state.world.passed.binary_search(&chain).is_err() {
            return Err(Broken::new(
                "I4",
                "a tree is on the target that no check has passed".to_owned(),
            ));
        }
    }
    if !chains.is_green(target) {
        return Err(Broken::new("G4", "the target is red".to_owned()));
    }
    if let Some(check) = state.world.check.filter(|check| check.end.is_none()) {
        let row = state.journal.rows[usize::from(check.ticket)];
        let waited = book.facts(row.value).check == Some(check.run);
        let stop = Order::StopCheck { run: check.run };
        let is_stopped = |one: &Ordered| (one.ticket, one.order) == (check.ticket, stop);
        if !state.may_be_overtaken() && !waited && !state.journal.outbox.iter().any(is_stopped) {
            let what = format!("t-{} has a check that no stage waits for", check.ticket);
            return Err(Broken::new("I7", what));
        }
    }
    if state.left.gatekeepers > 0 {
        let is_approved = |work| state.world.approved.binary_search(&work).is_ok();
        let mut work = chains.back(target).filter_map(|chain| chains.commit(chain));
        if let Some(work) = work.find(|work| matches!(work, Commit::Work { .. }) && !is_approved(*work)) {
            return Err(Broken::new(
                "R1",
                format!("{work:?} is on the target, and no gatekeeper has approved of it"),
            ));
        }
    }
    team::check(state, book)?;
    for (row, ticket) in state.journal.rows.iter().zip(0..) {
        let facts = book.facts(row.value);
        let landed = chains.work_of(target, ticket).count();
        let broken = |invariant, what: &str| Err(Broken::new(invariant, format!("t-{ticket} {what}")));
        if landed > 1 {
            return broken("G3", "is on the target twice");
        }
        if let Some(review) = state.world.reviews[usize::from(ticket)].filter(|review| review.end.is_none()) {
            let run = review.run;
            let ends = [Order::StopReview { run }, Order::RemoveReview { run }];
            let is_ended = |one: &Ordered| one.ticket == ticket && ends.contains(&one.order);
            if !state.may_be_overtaken()
                && facts.review != Some(run)
                && !state.journal.outbox.iter().any(is_ended)
            {
                return broken("I7", "has a gatekeeper that no review waits for");
            }
            let is_to_end = matches!(facts.stands, Stands::InReview { ending: true, .. });
            if !state.may_be_overtaken() && is_to_end && !state.journal.outbox.iter().any(is_ended) {
                return broken("I7", "has a gatekeeper that is to end, and that nobody stops");
            }
        }
        match facts.stands {
            Stands::Landed { candidate } if !chains.holds(target, candidate) => {
                return broken("I3", "is closed as landed, and its merge is not on the target");
            }
            Stands::Landing { candidate, .. } if landed == 1 && !chains.holds(target, candidate) => {
                return broken("G2", "is landing, and other work of its is on the target");
            }
            Stands::Landed { .. } | Stands::Landing { .. } => {}
            Stands::Open
            | Stands::Held
            | Stands::AtWork { .. }
            | Stands::Queued
            | Stands::Checked
            | Stands::InReview { .. }
            | Stands::Absent
            | Stands::Unified { .. }
            | Stands::Over => {
                if landed > 0 {
                    return broken(
                        "G2",
                        &format!("is {}, and its work is on the target", book.name(row.value)),
                    );
                }
            }
        }
        let place = state.world.places[usize::from(ticket)];
        for number in place.missing() {
            let landed = chains.work_of(target, ticket).any(|(of, _)| of == number);
            if !landed {
                return broken("G7", &format!("has lost the work of its attempt {number}"));
            }
        }
        // Under a lease that runs out, a process of the sleeper's may still run; none of its reports counts.
        if !state.may_be_overtaken() && place.alive.count_ones() > 1 {
            return broken("I7", "has two processes");
        }
        let waited = facts.live.map_or(0, |run| crate::world::run(facts.number, run));
        if !state.may_be_overtaken() && place.alive & !waited != 0 {
            return broken("I7", "has a process that no attempt waits for");
        }
        let is_stopped = |one: &Ordered| {
            let Order::Stop { number, run } = one.order else {
                return false;
            };
            one.ticket == ticket && number == facts.number && Some(run) == facts.live
        };
        if !state.may_be_overtaken()
            && facts.stopping
            && place.alive & waited != 0
            && !state.journal.outbox.iter().any(is_stopped)
        {
            return broken("I7", "has a process that is to end, and that nobody stops");
        }
    }
    Ok(())
}

/// True if everything has come to rest.
pub(crate) fn is_at_rest(state: &State, book: &Book) -> bool {
    let over = |(row, ticket): (&crate::journal::Row, u8)| match book.facts(row.value).stands {
        Stands::Landed { .. } | Stands::Over => true,
        Stands::Absent => state.world.files & 1 << ticket == 0,
        Stands::Open
        | Stands::Held
        | Stands::AtWork { .. }
        | Stands::Queued
        | Stands::InReview { .. }
        | Stands::Checked
        | Stands::Landing { .. }
        | Stands::Unified { .. } => false,
    };
    state.journal.rows.iter().zip(0..).all(over)
        && state.journal.outbox.is_empty()
        && state.world.places.iter().all(|place| place.alive == 0)
        && state.world.check.is_none_or(|check| check.end.is_some())
        && state
            .world
            .reviews
            .iter()
            .flatten()
            .all(|review| review.end.is_some())
}
