//! Own checks: work that is to be reviewed, or has commitments to meet, is merged on the target alone and
//! checked there before it joins the train. These checks run in a free checkout beside the train and beside
//! each other. Nothing is merged on such a candidate.

use std::collections::BTreeSet;

use model::policy::review;
use model::ticket::{
    Candidate, CheckSlot, Checks, Clearance, Event, Stage, State, Ticket, Verify, WhyUncoupled,
};
use model::{Oid, TicketId, Time};

use super::Core;
use super::train::{place_in_line, submitted};

impl Core {
    /// Whether the work at this tip has to be reviewed, or has commitments to meet, before it lands.
    /// `candidate`: the merged result of this tip, where there is one.
    fn is_owed_at(&self, ticket: &Ticket, verify: &Verify, tip: &Oid, candidate: Option<&Candidate>) -> bool {
        // What a candidate has shown holds until the branch is merged again.
        let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
        let is_known = matches!(why, Some(WhyUncoupled::NotCleared { review: Some(_), .. }));
        let is_reviewed =
            review::is_wanted(&self.settings, ticket, candidate) || candidate.is_none() && is_known;
        is_reviewed && verify.clearance(tip).is_none()
            || ticket.unmet(tip).next().is_some()
            || ticket.proposed.is_some()
    }

    /// The reason to take a candidate out of the train that is owed its own checks.
    pub(super) fn not_cleared(&self, candidate: &Candidate) -> WhyUncoupled {
        let is_by_change = self.settings.review.is_by_change();
        WhyUncoupled::NotCleared {
            tip: candidate.tip.clone(),
            review: candidate.review.clone().filter(|_| is_by_change),
        }
    }

    /// Whether the work is checked by itself before it joins the train. Its tip is known only once it is
    /// merged; until then the tip counts for which it was cleared.
    pub(super) fn is_checked_first(&self, ticket: &Ticket, verify: &Verify) -> bool {
        let cleared = verify.cleared.as_ref();
        if cleared.is_some_and(|cleared| matches!(cleared.by, Clearance::Waived { .. })) {
            return false;
        }
        let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
        let refused = match why {
            Some(WhyUncoupled::NotCleared { tip, .. }) => Some(tip),
            Some(_) | None => None,
        };
        let met = ticket.commitments.first().and_then(|one| one.tip.as_ref());
        let candidate = ticket.candidate();
        let tip = candidate.map(|candidate| &candidate.tip);
        let tip = tip.or(refused).or(cleared.map(|cleared| &cleared.tip)).or(met);
        match tip {
            Some(tip) => self.is_owed_at(ticket, verify, tip, candidate),
            None => {
                review::is_wanted(&self.settings, ticket, None)
                    || !ticket.commitments.is_empty()
                    || ticket.proposed.is_some()
            }
        }
    }

    /// Whether a ticket is at its own checks, or is being merged for them.
    pub(super) fn is_beside(&self, ticket: &Ticket) -> bool {
        let Some((_, verify)) = submitted(ticket) else {
            return false;
        };
        let is_at_them = matches!(verify.stage, Stage::Building | Stage::Checking(_));
        is_at_them && verify.train.ahead.is_none() && self.is_checked_first(ticket, verify)
    }

    /// Begins the own checks of tickets, the one that was submitted first before all others, as far as
    /// checkouts are free. `kept`: the number of checkouts that are left free for the train. `before`: only
    /// of those that stand before this place.
    pub(super) fn begin_own_checks(&mut self, kept: usize, before: Option<&(Time, TicketId)>) {
        while self.free_slots() > kept {
            let next = self
                .active_tickets()
                .filter(|(_, ticket)| ticket.held.is_none())
                .filter_map(|(id, ticket)| {
                    let (_, verify) = submitted(ticket)?;
                    let is_next =
                        matches!(verify.stage, Stage::Queued) && self.is_checked_first(ticket, verify);
                    is_next.then(|| (place_in_line(ticket, verify), id.clone()))
                })
                .filter(|place| before.is_none_or(|before| place < before))
                .min();
            let Some((_, id)) = next else { return };
            let version = self.tickets.version(&id);
            self.apply_or_note(&id, Event::CheckStarted, "a checkout is free for its own checks");
            if self.tickets.version(&id) == version {
                return;
            }
        }
    }

    /// The checkouts that runs of checks have. One whose checks have not begun has none yet.
    fn used_slots(&self) -> BTreeSet<CheckSlot> {
        let has_begun = |checks: &&Checks| checks.runs > 0;
        self.at_work()
            .filter(|ticket| ticket.held.is_none())
            .filter_map(|ticket| Some(ticket.checks().filter(has_begun)?.slot))
            .collect()
    }

    /// The first checkout that is free.
    pub(super) fn free_slot(&self) -> Option<CheckSlot> {
        let used = self.used_slots();
        let mut slots = (1..=self.settings.train.slots).map(CheckSlot);
        slots.find(|slot| !used.contains(slot))
    }

    /// The number of checkouts that are neither used nor kept for a ticket that is being merged for its own
    /// checks.
    pub(super) fn free_slots(&self) -> usize {
        let is_kept = |ticket: &&Ticket| {
            let has_begun = ticket.checks().is_some_and(|checks| checks.runs > 0);
            ticket.held.is_none() && !has_begun && self.is_beside(ticket)
        };
        let kept = self.at_work().filter(is_kept).count();
        let slots = self.settings.train.slots as usize;
        slots.saturating_sub(self.used_slots().len() + kept)
    }

    /// The checkout of the next run of these checks. All runs of one ticket's checks have the same.
    pub(super) fn slot_of(&self, checks: &Checks) -> Option<CheckSlot> {
        match checks.runs {
            0 => self.free_slot(),
            _ => Some(checks.slot),
        }
    }

    /// A merged result with the reason for a review that another merge of the same tip has shown. What a tip
    /// changes differs with the commit that it is merged on, and the tip is reviewed once for all of them.
    pub(super) fn reviewed_as_before(&self, id: &TicketId, candidate: Candidate) -> Candidate {
        let verify = self.ticket(id).and_then(submitted).map(|(_, verify)| verify);
        let why = verify.and_then(|verify| verify.train.uncoupled.as_ref());
        match why.map(|uncoupled| &uncoupled.why) {
            Some(WhyUncoupled::NotCleared { tip, review })
                if *tip == candidate.tip && candidate.review.is_none() =>
            {
                let review = review.clone();
                Candidate { review, ..candidate }
            }
            Some(_) | None => candidate,
        }
    }

    /// The event that takes a ticket whose branch was just merged back to the queue: it was merged for the
    /// train and is owed its own checks at this tip, or the other way round.
    pub(super) fn uncoupled_for_own_checks(&self, id: &TicketId, candidate: &Candidate) -> Option<Event> {
        let (ticket, verify) = self.ticket(id).and_then(submitted)?;
        let is_owed = self.is_owed_at(ticket, verify, &candidate.tip, Some(candidate));
        let why = match (self.has_train(), verify.train.ahead.is_some(), is_owed) {
            (true, true, true) => self.not_cleared(candidate),
            // Nobody knew before that it would have to be reviewed: others would be merged on it.
            (true, false, true) if self.joins_train(id) => self.not_cleared(candidate),
            // It was merged for its own checks, and the tip that came out needs none.
            (true, false, false)
                if self.is_checked_first(ticket, verify)
                    && self.is_beside_a_train(id)
                    && !verify.train.is_alone() =>
            {
                WhyUncoupled::Cleared
            }
            (_, _, _) => return None,
        };
        Some(Event::Uncoupled { why, at: self.now })
    }

    /// The work of a ticket has passed its own checks, and there is a train: landing by itself would have the
    /// whole train merged anew, so it joins the train.
    pub(super) fn joins_after_own_checks(&self, ticket: &Ticket, checks: &Checks) -> Option<Event> {
        let State::Verify(verify) = &ticket.state else {
            return None;
        };
        let candidate = &checks.candidate;
        let joins = self.has_train()
            && verify.train.ahead.is_none()
            && !verify.train.is_alone()
            && !self.is_owed_at(ticket, verify, &candidate.tip, Some(candidate))
            && self.is_beside_a_train(&ticket.id);
        joins.then_some(Event::Uncoupled {
            why: WhyUncoupled::Cleared,
            at: self.now,
        })
    }
}
