//! Own checks: work that is to be reviewed, or has commitments to meet, is merged on the target alone and
//! looked at there before it joins the train. What is to be reviewed is checked first; of other work only
//! the commitments are verified, and its checks are the train's. These runs have a free checkout beside the
//! train and beside each other. Nothing is merged on such a candidate.

use model::policy::review;
use model::ticket::{Candidate, Checks, Clearance, Event, Stage, State, Ticket, Verify, WhyUncoupled};
use model::{Oid, TicketId, Time};

use super::Core;
use super::train::{place_in_line, submitted};

impl Core {
    /// Whether the work at this tip has to be reviewed, or has commitments to meet, before it lands.
    /// `candidate`: the merged result of this tip, where there is one.
    fn is_owed_at(&self, ticket: &Ticket, verify: &Verify, tip: &Oid, candidate: Option<&Candidate>) -> bool {
        self.is_review_owed(ticket, verify, candidate) && verify.clearance(tip).is_none()
            || ticket.unmet(tip).next().is_some()
            || ticket.unconfirmed.is_some()
    }

    /// Whether the work has to be reviewed, as far as that is known, whoever may have approved it.
    fn is_review_owed(&self, ticket: &Ticket, verify: &Verify, candidate: Option<&Candidate>) -> bool {
        // What a candidate has shown holds until the branch is merged again.
        let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
        let is_known = matches!(why, Some(WhyUncoupled::NotCleared { review: Some(_), .. }));
        review::is_wanted(&self.settings, ticket, candidate) || candidate.is_none() && is_known
    }

    /// Whether only the commitments of work are verified before it joins the train. Work that somebody looks
    /// at first is checked before that: nobody's time is spent on what fails. Work that lands alone has no
    /// checks but its own.
    pub(super) fn are_commitments_first(
        &self,
        ticket: &Ticket,
        verify: &Verify,
        candidate: Option<&Candidate>,
    ) -> bool {
        let tip = tip_of(ticket, verify, candidate);
        let is_approved = tip.is_some_and(|tip| verify.clearance(tip).is_some());
        let mut due = ticket.commitments.iter().filter(|one| one.waived.is_none());
        let have_commands = due.all(|one| one.promise.run.is_some());
        self.has_train()
            && !verify.train.is_alone()
            && have_commands
            && (is_approved || !self.is_review_owed(ticket, verify, candidate))
    }

    /// Whether another ticket than this one is about to join the train, once its commitments are met.
    pub(super) fn is_coming(&self, but: Option<&TicketId>) -> bool {
        let is_coming = |ticket: &Ticket| {
            let Some((_, verify)) = submitted(ticket) else {
                return false;
            };
            let is_on_target = verify.train.ahead.is_none();
            let is_at_them = match &verify.stage {
                Stage::Queued => !self.waits_for_resolution(ticket, verify),
                Stage::Building => is_on_target,
                Stage::Checking(checks) => is_on_target && checks.plan.commitments_first,
                Stage::InTrain(_)
                | Stage::Reviewing(_)
                | Stage::Proposed(_)
                | Stage::Unified { .. }
                | Stage::Landing { .. } => false,
            };
            is_at_them
                && ticket.held.is_none()
                && ticket.unconfirmed.is_none()
                && self.is_checked_first(ticket, verify)
                && self.are_commitments_first(ticket, verify, ticket.candidate())
        };
        self.at_work()
            .any(|ticket| but != Some(&ticket.id) && is_coming(ticket))
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
        let candidate = ticket.candidate();
        match tip_of(ticket, verify, candidate) {
            Some(tip) => self.is_owed_at(ticket, verify, tip, candidate),
            None => {
                review::is_wanted(&self.settings, ticket, None)
                    || ticket.commitments.iter().any(|one| one.waived.is_none())
                    || ticket.unconfirmed.is_some()
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
        loop {
            let free = self.free_slots();
            if free == 0 {
                return;
            }
            let next = self
                .active_tickets()
                .filter(|(_, ticket)| ticket.held.is_none())
                .filter_map(|(id, ticket)| {
                    let (_, verify) = submitted(ticket)?;
                    let is_next =
                        matches!(verify.stage, Stage::Queued) && self.is_checked_first(ticket, verify);
                    // The train waits for work that only has to meet its commitments.
                    let has_room = || free > kept || self.are_commitments_first(ticket, verify, None);
                    let is_free = || !self.waits_for_resolution(ticket, verify);
                    (is_next && has_room() && is_free()).then(|| (place_in_line(ticket, verify), id.clone()))
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

    /// The work of a ticket has passed its own checks, or its commitments are met and its checks are about to
    /// begin, and there is a train: landing by itself would have the whole train merged anew, so it joins the
    /// train. One that nobody is ahead of or behind goes on in the checkout that it has.
    pub(super) fn joins_after_own_checks(&self, ticket: &Ticket, checks: &Checks) -> Option<Event> {
        let State::Verify(verify) = &ticket.state else {
            return None;
        };
        let candidate = &checks.candidate;
        let may_join = self.has_train()
            && verify.train.ahead.is_none()
            && !verify.train.is_alone()
            && !self.is_owed_at(ticket, verify, &candidate.tip, Some(candidate))
            && !self.is_in_line(&ticket.id);
        let is_worth_it = || {
            let would_move = checks.are_about_to_begin()
                && (self.is_coming(Some(&ticket.id)) || self.train.is_off_target(candidate));
            self.is_beside_a_train(&ticket.id) || would_move
        };
        (may_join && is_worth_it()).then_some(Event::Uncoupled {
            why: WhyUncoupled::Cleared,
            at: self.now,
        })
    }
}

/// The tip of the work, as far as it is known: before the branch is merged, the tip for which something was
/// found out last.
fn tip_of<'t>(ticket: &'t Ticket, verify: &'t Verify, candidate: Option<&'t Candidate>) -> Option<&'t Oid> {
    let why = verify.train.uncoupled.as_ref().map(|uncoupled| &uncoupled.why);
    let refused = match why {
        Some(WhyUncoupled::NotCleared { tip, .. }) => Some(tip),
        Some(_) | None => None,
    };
    let cleared = verify.cleared.as_ref().map(|cleared| &cleared.tip);
    let mut due = ticket.commitments.iter().filter(|one| one.waived.is_none());
    let met = due.next().and_then(|one| one.tip.as_ref());
    let tip = candidate.map(|candidate| &candidate.tip);
    tip.or(refused).or(cleared).or(met)
}
