//! The landing of a batch: entries of the train that reach the target by one move of it. The tip's ticket
//! orders that move, and the report on it is taken in for all of them.

use std::cmp::Ordering;

use model::TicketId;
use model::ticket::{
    self, AfterLanding, Batch, BatchEntry, CheckPlan, Clearance, Event, InTheWay, Stage, Ticket, WhyUncoupled,
};

use super::Core;
use super::train::{Member, submitted};

impl Core {
    /// Lands every entry up to one on which the checks have passed.
    pub(super) fn land_batch(&mut self, entries: &[Member], tip: &TicketId) {
        let Some(last) = entries.iter().position(|member| member.id == *tip) else {
            return;
        };
        let entries = &entries[..=last];
        let by = match self.ticket(tip).and_then(Ticket::stage) {
            Some(Stage::InTrain(entry)) => match &entry.trial {
                ticket::Trial::Passed { by } => by.clone(),
                ticket::Trial::Untried | ticket::Trial::Failed { .. } => return,
            },
            Some(_) | None => return,
        };
        let batch = Batch {
            base: entries[0].target.clone(),
            entries: entries
                .iter()
                .map(|member| BatchEntry {
                    ticket: member.id.clone(),
                    commit: member.commit.clone(),
                })
                .collect(),
        };
        let with_tip = by
            .iter()
            .map(|command| format!("{command} (on {tip}, with which it landed)"));
        let with_tip: Vec<String> = with_tip.collect();
        for member in entries {
            let mut passed = match member.id == *tip {
                true => by.clone(),
                false => with_tip.clone(),
            };
            passed.extend(self.passed_before(&member.id));
            let event = Event::BatchLanding {
                tip: tip.clone(),
                batch: batch.clone(),
                passed,
            };
            self.apply_or_note(
                &member.id,
                event,
                "the train up to the tip of its batch has passed",
            );
        }
    }

    /// What an entry has passed before it joined the train: its commitments, and its review.
    fn passed_before(&self, id: &TicketId) -> Vec<String> {
        let Some((ticket, verify)) = self.ticket(id).and_then(submitted) else {
            return Vec::new();
        };
        let mut passed: Vec<String> = ticket
            .commitments
            .iter()
            .filter(|one| one.waived.is_none())
            .map(|one| one.promise.to_string())
            .collect();
        let candidate = ticket.candidate();
        let clearance = candidate.and_then(|candidate| verify.clearance(&candidate.tip));
        if let Some(Clearance::Approved { acceptance_test, .. }) = clearance {
            passed.push(acceptance_test.clone());
        }
        passed
    }

    /// The other tickets that land with a ticket by the same move of the target.
    fn others_of_batch(&self, id: &TicketId) -> Vec<TicketId> {
        let tip_of = |ticket: &Ticket| {
            let (_, verify) = submitted(ticket)?;
            let lands = matches!(verify.stage, Stage::Landing { .. });
            verify.train.lands_with.clone().filter(|_| lands)
        };
        let Some(tip) = self.ticket(id).and_then(tip_of) else {
            return Vec::new();
        };
        self.active_tickets()
            .filter(|(other, ticket)| *other != id && tip_of(ticket).as_ref() == Some(&tip))
            .map(|(other, _)| other.clone())
            .collect()
    }

    /// Has the landing of a ticket's whole batch ended, since a person wants something else for the ticket:
    /// the other entries go back to the queue where the target does not hold the batch.
    pub(super) fn end_batch_of(&mut self, id: &TicketId) {
        for other in self.others_of_batch(id) {
            let is_ended = self
                .ticket(&other)
                .is_some_and(|ticket| !matches!(ticket.stage(), Some(Stage::Landing { then: None, .. })));
            if !is_ended {
                let then = AfterLanding::Uncouple;
                let cause = "the landing of its batch is ended";
                self.apply_or_note(&other, Event::LandingEndOrdered { then }, cause);
            }
        }
    }

    /// The event with which an entry of a batch that did not land goes back to the queue: with the reason, so
    /// that people see it. `event`: the event for a ticket that lands by itself. None where it has another
    /// meaning for the entry than that.
    fn back_from_batch(&self, id: &TicketId, batch: &Batch, event: &Event) -> Option<Event> {
        let verify = self.ticket(id).and_then(submitted).map(|(_, verify)| verify)?;
        let wish = match &verify.stage {
            Stage::Landing { then, .. } if verify.train.lands_with.is_some() => then.as_ref(),
            Stage::Landing { .. }
            | Stage::Queued
            | Stage::Building
            | Stage::Checking(_)
            | Stage::InTrain(_)
            | Stage::Reviewing(_)
            | Stage::Unified { .. }
            | Stage::Proposed(_) => return None,
        };
        let why = match (event, wish) {
            (Event::TargetMoved, None | Some(AfterLanding::Uncouple)) => WhyUncoupled::TargetMoved,
            (Event::NotLanded, Some(AfterLanding::Uncouple)) => WhyUncoupled::BatchEnded {
                of: self.ends_batch(batch)?,
            },
            (_, _) => return None,
        };
        Some(Event::Uncoupled { why, at: self.now })
    }

    /// The entry for whose sake the landing of its batch is ended.
    fn ends_batch(&self, batch: &Batch) -> Option<TicketId> {
        let ends = |id: &&TicketId| match self.ticket(id).and_then(Ticket::stage) {
            Some(Stage::Landing { then: Some(then), .. }) => *then != AfterLanding::Uncouple,
            Some(_) | None => false,
        };
        batch
            .entries
            .iter()
            .map(|entry| &entry.ticket)
            .find(ends)
            .cloned()
    }

    /// Takes the report on a batch's landing in for every entry but the tip, whose own events are given and
    /// changed where the tip goes back to the queue.
    pub(super) fn batch_reported(&mut self, tip: &TicketId, batch: &Batch, of_tip: &mut [Event]) {
        let others = self.others_of_batch(tip);
        let mut events = Vec::new();
        for entry in batch
            .entries
            .iter()
            .filter(|entry| others.contains(&entry.ticket))
        {
            let stage = self.ticket(&entry.ticket).and_then(Ticket::stage);
            let is_ended = matches!(stage, Some(Stage::Landing { then: Some(_), .. }));
            let event = match of_tip.first() {
                Some(Event::Landed { .. }) => Event::Landed {
                    commit: entry.commit.clone(),
                },
                Some(Event::TargetMoved) => Event::TargetMoved,
                // Each entry has a wish of its own, or none, whatever became of the tip.
                Some(_) if is_ended => Event::NotLanded,
                Some(_) => Event::BatchPutOff {
                    plan: CheckPlan::of(&self.settings),
                },
                None => continue,
            };
            let back = self.back_from_batch(&entry.ticket, batch, &event);
            events.push((&entry.ticket, back.unwrap_or(event)));
        }
        if let Some(first) = of_tip.first_mut()
            && let Some(back) = self.back_from_batch(tip, batch, first)
        {
            *first = back;
        }
        for (id, event) in events {
            self.apply_or_note(id, event, "the landing of its batch was tried");
        }
    }

    /// The remote refuses a batch, and nobody knows for which of its entries: each lands by itself, so that
    /// only the one at fault is held. Gives the tip's own event.
    pub(super) fn batch_refused(&mut self, tip: &TicketId, batch: &Batch, why: &str) -> Event {
        let refused = Event::Uncoupled {
            why: WhyUncoupled::Refused { why: why.to_owned() },
            at: self.now,
        };
        self.break_up(tip, batch, "the remote refused its batch", |_| refused.clone())
            .unwrap_or(Event::NotLanded)
    }

    /// A person's edits are in the way of one entry of a batch: it is taken out with those behind it, and
    /// those ahead of it are tried by themselves. Gives the tip's own event.
    pub(super) fn batch_in_the_way(
        &mut self,
        tip: &TicketId,
        batch: &Batch,
        (edited, paths): (&TicketId, &[InTheWay]),
    ) -> Option<Event> {
        let edited_at = batch.entries.iter().position(|entry| entry.ticket == *edited)?;
        let (plan, now) = (CheckPlan::of(&self.settings), self.now);
        let event = |at: usize| {
            let why = match at.cmp(&edited_at) {
                Ordering::Less => return Event::BatchPutOff { plan: plan.clone() },
                Ordering::Equal => WhyUncoupled::Edited {
                    paths: paths.to_vec(),
                },
                Ordering::Greater => WhyUncoupled::AheadLeft {
                    ahead: edited.clone(),
                },
            };
            Event::Uncoupled { why, at: now }
        };
        self.break_up(tip, batch, "edits are in the way of its batch", event)
    }

    /// Each entry of a batch whose landing ended without it gets the event for its place, but for one that
    /// somebody has decided on meanwhile. Gives the tip's own event.
    fn break_up(
        &mut self,
        tip: &TicketId,
        batch: &Batch,
        why: &str,
        event: impl Fn(usize) -> Event,
    ) -> Option<Event> {
        let mut of_tip = None;
        let mut of_others = Vec::new();
        for (at, entry) in batch.entries.iter().enumerate() {
            let event = match self.ticket(&entry.ticket).and_then(Ticket::stage) {
                Some(Stage::Landing { then: Some(_), .. }) => Event::NotLanded,
                Some(_) => event(at),
                None => continue,
            };
            let event = self
                .back_from_batch(&entry.ticket, batch, &event)
                .unwrap_or(event);
            match entry.ticket == *tip {
                true => of_tip = Some(event),
                false => of_others.push((&entry.ticket, event)),
            }
        }
        for (id, event) in of_others {
            self.apply_or_note(id, event, why);
        }
        of_tip
    }
}
