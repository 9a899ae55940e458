//! Reviews: a gatekeeper is found for each candidate that waits for one, and the end of its step means a
//! verdict, or none.

use std::collections::BTreeSet;

use model::attempt::{AfterStop, Class, Failure, Signal, Usage};
use model::machine::Rejected;
use model::policy::{backoff, failure, review};
use model::project::HarnessPause;
use model::ticket::{
    AfterReview, Asking, Candidate, Clearance, Event, Review, ReviewEvent, State, Ticket, Verdict,
};
use model::{Actor, AgentName, Fence, Oid, RunId, SessionId, TicketId, Time};

use super::commands::Answer;
use super::{Core, WriteMeta};
use crate::{End, Report, RunEnd};

impl Core {
    /// Gives candidates in review to gatekeepers, the oldest submission first, and starts their steps.
    pub(super) fn start_reviews(&mut self) {
        if self.project().pause.is_some() || self.has_touched_settings {
            return;
        }
        let mut waiting: Vec<(Time, TicketId)> = Vec::new();
        let mut paused_until: Option<Time> = None;
        for (id, ticket) in self.active_tickets().filter(|(_, ticket)| ticket.held.is_none()) {
            if let (State::Verify(verify), Some(reviewing)) = (&ticket.state, ticket.reviewing())
                && reviewing.then.is_none()
                && !reviewing.is_live()
                && ticket.open_question().is_none()
            {
                waiting.push((verify.submitted_at, id.clone()));
                let pause = self.pause_of_review(ticket).and_then(|(_, pause)| pause.until);
                paused_until = paused_until.into_iter().chain(pause).min();
            }
        }
        if let Some(until) = paused_until {
            self.wake_at(until);
        }
        waiting.sort();
        for (_, id) in waiting {
            self.start_review(&id);
        }
    }

    /// Leaves a candidate that waits for no gatekeeper to the person who looks at all work.
    pub(super) fn leave_to_person(&mut self, id: &TicketId) {
        let is_for_person = self.ticket(id).is_some_and(|ticket| {
            let reviewing = ticket.reviewing().filter(|reviewing| reviewing.open().is_none());
            ticket.held.is_none()
                && reviewing.is_some_and(|reviewing| review::is_for_person(&self.settings, ticket, reviewing))
        });
        if is_for_person {
            self.apply_or_note(id, Event::LeftToPerson, "a person looks at all work");
        }
    }

    fn start_review(&mut self, id: &TicketId) {
        let Some(ticket) = self.ticket(id) else { return };
        let Some(reviewing) = ticket.reviewing() else {
            return;
        };
        let (events, cause) = match reviewing.open() {
            Some(open) if !self.settings.has_harness(&open.conversation.harness) => {
                let crashed = self.review_crashed(ticket, open.fence);
                (vec![crashed], "its harness is not in crew.toml any more")
            }
            Some(open) => {
                let run = RunId::of_step(id, open.fence, open.conversation.runs + 1);
                let (fence, event) = (open.fence, ReviewEvent::Started { run });
                if !open.can_step(self.now) || !self.has_room_for_review(&open.conversation.harness.name) {
                    return;
                }
                (
                    vec![Event::Review { fence, event }],
                    "the next step of its review may start",
                )
            }
            None if reviewing.due.is_some_and(|due| due > self.now) => return,
            None => {
                if review::is_for_person(&self.settings, ticket, reviewing) {
                    return self.apply_or_note(id, Event::LeftToPerson, "a person looks at all work");
                }
                if let Some(why) = review::nobody(&self.settings, ticket, reviewing) {
                    let why = why.to_owned();
                    return self.apply_or_note(id, Event::NobodyReviews { why }, "there is no gatekeeper");
                }
                let busy: BTreeSet<&AgentName> =
                    self.at_work().flat_map(Ticket::slots).map(|s| s.0).collect();
                // A gatekeeper that waits for a person keeps its review, and another one takes its place.
                let waiting = self.at_work().filter(|ticket| ticket.open_question().is_some());
                let waiting = waiting.filter(|ticket| ticket.reviewing().is_some()).count();
                let eligible = review::eligible(&self.settings.review, waiting, ticket, reviewing);
                let Some(agent) = eligible.into_iter().find(|name| !busy.contains(name)) else {
                    return;
                };
                let Some(harness) = self.settings.harness_of_new_reviews() else {
                    return;
                };
                if !self.has_room_for_review(&harness.name) {
                    return;
                }
                let fence = ticket.fence.next();
                let claimed = Event::ReviewClaimed {
                    agent,
                    fence,
                    harness,
                    session: SessionId::of_attempt(self.journal, id, fence, 1),
                    at: self.now,
                };
                let run = RunId::of_step(id, fence, 1);
                let event = ReviewEvent::Started { run };
                (
                    vec![claimed, Event::Review { fence, event }],
                    "a gatekeeper is free for its review",
                )
            }
        };
        if let Err(no) = self.apply(id, events, WriteMeta::because(cause)) {
            self.note_refusal(id, &no);
        }
    }

    /// Whether one more process of an agent may run, on this harness.
    fn has_room_for_review(&self, harness: &str) -> bool {
        let is_paused = self.pause(harness).is_some();
        !is_paused && self.live_steps() < self.settings.run.max_workers as usize
    }

    /// Processes of agents that may be alive, those of gatekeepers among them.
    pub(super) fn live_steps(&self) -> usize {
        let runs = self.at_work().flat_map(Ticket::live_runs);
        runs.filter(|run| !run.is_check()).count()
    }

    /// The pause that the next step of a ticket's review waits for, and the name of the harness.
    pub(super) fn pause_of_review(&self, ticket: &Ticket) -> Option<(&str, &HarnessPause)> {
        let reviewing = ticket.reviewing()?;
        match reviewing.open() {
            Some(open) => self.pause(&open.conversation.harness.name),
            None => self.pause(&self.settings.harness_of_new_reviews()?.name),
        }
    }

    /// The order to stop a run, as the ticket takes it: a step's or a review's.
    pub(super) fn stop_ordered(&self, id: &TicketId, run: &RunId, then: AfterStop) -> Event {
        match self.ticket(id).and_then(|ticket| ticket.review_of_run(run)) {
            Some(review) => Event::Review {
                fence: review.fence,
                event: ReviewEvent::StopOrdered { then },
            },
            None => Event::Attempt(model::attempt::Event::StopOrdered { then }),
        }
    }

    /// The events of a report about the start of a review's step; none where the report says no more than
    /// any other.
    pub(super) fn review_reported(&self, id: &TicketId, fence: Fence, report: &Report) -> Option<Vec<Event>> {
        if *report == Report::StepSpawned {
            let event = ReviewEvent::Spawned;
            return Some(vec![Event::Review { fence, event }]);
        }
        if *report == Report::TargetMoved {
            let gone = Failure::new(Class::KilledByUs, "the candidate is gone");
            let failed = self.review_failed(id, fence, (Usage::default(), None), gone)?;
            // A person may have decided while the gatekeeper was being stopped.
            let next = self.after_review(id).unwrap_or(Event::TargetMoved);
            return Some(vec![failed, next]);
        }
        None
    }

    /// The step of a review is over, however that was learnt.
    pub(super) fn review_ended(
        &mut self,
        id: &TicketId,
        ended: RunEnd,
        answering: WriteMeta,
    ) -> Result<(), Rejected> {
        let ended = self.settled(id, ended);
        let Some(review) = self
            .ticket(id)
            .and_then(|ticket| ticket.review_of_run(&ended.run))
        else {
            self.out
                .refused
                .push(format!("{id}: no review waits for run {}", ended.run));
            return Ok(());
        };
        let (fence, stopping) = (review.fence, review.conversation.stopping.clone());
        let harness = review.conversation.harness.clone();
        let usage = (ended.usage, ended.total_micro_usd);
        let unusable = (!ended.unusable.is_empty()).then(|| ended.unusable.join("; "));
        let end = match (&stopping, ended.stated) {
            (Some(AfterStop::Conclude), Some(stated)) => stated,
            (_, _) => ended.end,
        };
        let stopped = |class, message: &str| Err(Failure::new(class, message));
        let end = match (stopping, end) {
            (Some(AfterStop::Release { .. } | AfterStop::Reap { .. } | AfterStop::Drop { .. }), _) => {
                stopped(Class::KilledByUs, "it was stopped")
            }
            (_, End::Finished(signal)) => Ok((ended.verdict, asked(signal))),
            (Some(AfterStop::Pause), End::Failed(_)) => stopped(Class::KilledByUs, "the engine was stopped"),
            (Some(AfterStop::Retry { class }), End::Failed(_)) => {
                stopped(class, "its step did not end in time")
            }
            (Some(AfterStop::Fail { failure }), End::Failed(_)) => Err(failure),
            (None | Some(AfterStop::Conclude), End::Failed(failure)) => Err(failure),
        };
        let mut pause = None;
        let mut events = Vec::new();
        let mut verdict = None;
        let mut question = None;
        let mut is_over = true;
        match end {
            Ok((found, asked)) => {
                events.push(Event::Review {
                    fence,
                    event: ReviewEvent::Finished {
                        usage: usage.0,
                        total_micro_usd: usage.1,
                    },
                });
                // Whoever has decided does not wait for an answer.
                question = asked.filter(|_| found.is_none());
                verdict = found;
            }
            Err(failure) => {
                let failed = self.review_failed(id, fence, usage, failure.clone());
                if let Some(Event::Review {
                    event: ReviewEvent::Failed { retry_at, .. },
                    ..
                }) = &failed
                    && failure.class.pauses_harness()
                {
                    pause = Some(HarnessPause {
                        class: failure.class,
                        message: failure.message.clone(),
                        until: (failure.class != Class::Auth).then_some(*retry_at),
                        since: self.now,
                        ticket: id.clone(),
                    });
                }
                events.extend(failed);
                is_over = failure.class.counts();
                if let (Class::Auth, None) = (failure.class, self.after_review(id)) {
                    let message = failure.message;
                    events.push(Event::ReviewRefused { fence, message });
                    is_over = false;
                }
            }
        }
        match (self.after_review(id), is_over) {
            (Some(then), _) => events.push(then),
            (None, true) if let Some(question) = question => {
                events.push(self.review_asks(id, fence, question));
            }
            (None, true) => events.extend(self.verdict_of_review(id, fence, (verdict, unusable), &events)),
            (None, false) => {}
        }
        self.apply(id, events, answering)?;
        if let Some(pause) = pause {
            self.pause_harness(harness, pause);
        }
        Ok(())
    }

    /// The event that follows a step of a review which has ended with a question. A gatekeeper that could ask
    /// without a step left would never come to a verdict.
    fn review_asks(&self, id: &TicketId, fence: Fence, question: String) -> Event {
        let steps = self
            .review_of(id, fence)
            .map_or(0, |review| review.conversation.steps + 1);
        let most = self.settings.run.max_steps;
        if let Some(ticket) = self.ticket(id).filter(|_| steps >= most) {
            let (left, due) = self.review_tries(ticket);
            let why = format!("it asks in the last of its {most} steps: {question}");
            return Event::ReviewGaveUp {
                fence,
                why,
                left,
                due,
            };
        }
        let asks = Asking {
            question,
            until: self.answer_by(),
            since: self.now,
        };
        let event = ReviewEvent::Asked { asks };
        Event::Review { fence, event }
    }

    /// The events that follow the end of a review: those of its verdict, or of its lack.
    fn verdict_of_review(
        &self,
        id: &TicketId,
        fence: Fence,
        (verdict, unusable): (Option<Verdict>, Option<String>),
        before: &[Event],
    ) -> Vec<Event> {
        let Some(ticket) = self.ticket(id) else {
            return Vec::new();
        };
        let unusable = match &verdict {
            Some(Verdict::Approve { met, .. }) => not_named(ticket, met),
            Some(Verdict::Reject { .. } | Verdict::Fail { .. }) => None,
            None => unusable,
        };
        let Some(verdict) = verdict.filter(|_| unusable.is_none()) else {
            let has_failed = before.iter().any(|event| {
                matches!(
                    event,
                    Event::Review {
                        event: ReviewEvent::Failed { .. },
                        ..
                    }
                )
            });
            return vec![match has_failed {
                true => self.review_crashed(ticket, fence),
                false => {
                    let (left, due) = self.review_tries(ticket);
                    let why = unusable.unwrap_or_default();
                    Event::ReviewGaveUp {
                        fence,
                        why,
                        left,
                        due,
                    }
                }
            }];
        };
        let agree = self.settings.review.agree;
        let approvals = ticket
            .reviewing()
            .map_or(0, |reviewing| reviewing.approvers().count());
        let follows = match &verdict {
            Verdict::Approve { .. } if approvals + 1 < agree as usize => None,
            Verdict::Approve { .. } if self.settings.land.holds_all() => Some(Event::LeftToPerson),
            Verdict::Approve { .. } => Some(Event::Approved { fence, agree }),
            // The next attempt knows more than this one, so there is nothing to wait for.
            Verdict::Reject { .. } => Some(Event::Rejected {
                fence,
                attempts_left: self.attempts_left(id),
                reopen_at: self.now,
            }),
            Verdict::Fail { .. } => Some(Event::WorkFailed { fence }),
        };
        let noted = Event::Review {
            fence,
            event: ReviewEvent::VerdictNoted { verdict },
        };
        std::iter::once(noted).chain(follows).collect()
    }

    fn review_crashed(&self, ticket: &Ticket, fence: Fence) -> Event {
        let (left, due) = self.review_tries(ticket);
        Event::ReviewCrashed { fence, left, due }
    }

    /// The tries that a review has left after this one, and when the next one begins.
    fn review_tries(&self, ticket: &Ticket) -> (u32, Time) {
        let tries = ticket.review_tries.saturating_add(1);
        let left = self.settings.review.tries.saturating_sub(tries);
        (left, self.now + backoff::review(tries))
    }

    fn review_failed(
        &self,
        id: &TicketId,
        fence: Fence,
        (usage, total_micro_usd): (Usage, Option<u64>),
        failure: Failure,
    ) -> Option<Event> {
        let conversation = &self.review_of(id, fence)?.conversation;
        let next = failure::after(Some(conversation), &failure, self.now);
        let number = conversation.session.number + 1;
        let event = ReviewEvent::Failed {
            usage,
            total_micro_usd,
            retry_at: self.now + next.wait,
            fresh: SessionId::of_attempt(self.journal, id, fence, number),
            failure,
        };
        Some(Event::Review { fence, event })
    }

    fn review_of(&self, id: &TicketId, fence: Fence) -> Option<&Review> {
        self.ticket(id)?.reviewing()?.review(fence)
    }

    /// The event for which a person has ended a review.
    fn after_review(&self, id: &TicketId) -> Option<Event> {
        let then = self.ticket(id)?.reviewing()?.then.clone()?;
        Some(self.of_person(id, then))
    }

    fn of_person(&self, id: &TicketId, then: AfterReview) -> Event {
        match then {
            AfterReview::Approve { by } => Event::ReviewApproved { by },
            AfterReview::Return { by, why } => Event::Returned {
                by,
                why,
                reopen_at: self.reopen_at(id),
            },
            AfterReview::TellEdit => self.edit_returned(id),
            AfterReview::Drop { by, reason } => Event::Dropped { by, reason },
        }
    }

    /// A person decides on a ticket in review: at once where no gatekeeper is at work, else when its step has
    /// ended. `decided` says so.
    pub(super) fn decide_in_review(&mut self, id: &TicketId, then: AfterReview, decided: String) -> Answer {
        let is_live = self
            .ticket(id)
            .and_then(Ticket::reviewing)
            .is_some_and(model::ticket::Reviewing::is_live);
        if is_live {
            let message = format!("its gatekeeper is being stopped; then {decided}");
            return self.act(id, Event::ReviewEndOrdered { then }, message);
        }
        let event = self.of_person(id, then);
        self.act(id, event, decided)
    }

    /// Approves of a ticket: of its review, the paths that it touches, what looks like secrets, or its fewer
    /// tests. `tip`: the tip that the person has looked at, or the beginning of its name.
    pub(super) fn approve(&mut self, id: &TicketId, by: &Actor, tip: Option<&str>) -> Answer {
        let by = by.clone();
        let ticket = self.ticket(id);
        let now = ticket.and_then(Ticket::tip_to_approve).cloned();
        match (ticket, tip, &now) {
            (None, _, _) | (Some(_), None, _) => {}
            (Some(_), Some(tip), Some(now)) if now.as_str().starts_with(tip) => {}
            (Some(ticket), Some(merge), Some(now)) if is_merge_of(ticket, merge, now) => {}
            (Some(_), Some(tip), Some(now)) => {
                return Err(format!(
                    "{id} has the tip {now} now, not {tip}: look at it, then `crew approve {id} --tip {}`",
                    now.short()
                ));
            }
            (Some(ticket), Some(_), None) => {
                let state = ticket.state_name();
                return Err(format!("{id} is {state}: no tip of it waits for approval"));
            }
        }
        if ticket.is_some_and(|ticket| ticket.may_be_vouched_for() && !ticket.asks_about_commitments()) {
            return self.vouch_for(id, &by);
        }
        let unnamed = ticket.zip(now.as_ref()).map(|(ticket, tip)| unnamed(ticket, tip));
        let at = now.map(|now| format!(" at {}", now.short())).unwrap_or_default();
        let goes_on = format!("{id} is approved{at} and goes on");
        if ticket.is_some_and(Ticket::asks_about_tests) {
            return self.act(id, Event::TestsApproved { by }, goes_on);
        }
        if ticket.is_some_and(Ticket::asks_about_commitments) {
            return self.act(id, Event::CommitmentsApproved { by }, goes_on);
        }
        if ticket.is_some_and(|ticket| ticket.reviewing().is_some()) {
            let counts = match unnamed.unwrap_or_default().as_slice() {
                [] => String::new(),
                [one] => format!("; commitment {one} counts as met"),
                many => format!("; commitments {} count as met", many.join(", ")),
            };
            let decided = format!("{goes_on} to land{counts}");
            return self.decide_in_review(id, AfterReview::Approve { by }, decided);
        }
        self.act(id, Event::SensitiveApproved { by }, goes_on)
    }

    /// Sends a ticket back to its agent: one in review, or one whose work waits for a person's word.
    pub(super) fn reject(&mut self, id: &TicketId, by: &Actor, why: String) -> Answer {
        let is_asked = |ticket: &Ticket| {
            let held = ticket.held.as_ref();
            ticket.reviewing().is_some() || held.is_some_and(|held| held.why.is_asked_before_review())
        };
        if self.ticket(id).is_some_and(|ticket| !is_asked(ticket)) {
            let state = self.ticket(id).map(Ticket::state_name).unwrap_or_default();
            return Err(format!(
                "{id} is {state}: only work that waits for a person, or is in review, is sent back"
            ));
        }
        let decided = format!("{id} is sent back");
        let then = AfterReview::Return { by: by.clone(), why };
        self.decide_in_review(id, then, decided)
    }

    /// A branch was merged that came into conflict after it was approved `before`. All that its `tip` adds to
    /// that is the resolution of conflicts in these paths, so the approval holds.
    pub(super) fn keep_approval(&mut self, id: &TicketId, (before, tip): (&Oid, &Oid), paths: &[String]) {
        // A resolution may have any content in the paths that were in conflict.
        if self.settings.land.holds_all() {
            return;
        }
        let Some(ticket) = self.ticket(id) else { return };
        let approved = ticket.approved_before.as_ref();
        let Some(approved) = approved.filter(|approved| approved.tip == *before) else {
            return;
        };
        let Clearance::Approved { by, .. } = &approved.by else {
            return;
        };
        // Nobody approves of a resolution of their own: it is reviewed.
        if by.iter().any(|agent| ticket.authors.contains(agent)) {
            return;
        }
        let event = Event::ApprovalKept {
            by: by.clone(),
            of: before.clone(),
            tip: tip.clone(),
            paths: paths.to_vec(),
        };
        self.apply_or_note(
            id,
            event,
            "its branch adds nothing but the resolution of a conflict",
        );
    }

    /// Refuses to do with a gatekeeper what is for agents that work.
    pub(super) fn expect_worker(&self, agent: &AgentName) -> Result<(), String> {
        if !review::is_gatekeeper(agent) {
            return Ok(());
        }
        let remedy = match self.tickets.of_agent(agent) {
            Some(id) => format!(
                "it reviews {id}: `crew approve {id}` or `crew reject {id} <why>` decides in its place, \
                 `crew drop {id}` gives the ticket up"
            ),
            None => "it is at no review".to_owned(),
        };
        Err(format!(
            "{agent} is the name of a gatekeeper, and no worker's; {remedy}"
        ))
    }
}

/// The question that a step ended with.
fn asked(signal: Signal) -> Option<String> {
    match signal {
        Signal::Asked { question } => Some(question),
        Signal::None
        | Signal::Done
        | Signal::Blocked { .. }
        | Signal::WakeupSet { .. }
        | Signal::BrokenUp { .. } => None,
    }
}

/// Whether a commit, or the beginning of its name, is the merge of this tip that the surfaces show.
fn is_merge_of(ticket: &Ticket, merge: &str, tip: &Oid) -> bool {
    let is_it = |candidate: &Candidate| candidate.tip == *tip && candidate.commit.as_str().starts_with(merge);
    ticket.candidate().is_some_and(is_it)
}

/// The numbers of the commitments that no command verifies and nobody has named as met by the work at this
/// tip.
fn unnamed(ticket: &Ticket, tip: &Oid) -> Vec<String> {
    ticket.unnamed(tip).map(|one| one.id.to_string()).collect()
}

/// The reason for which an approval that names these commitments as met is incomplete.
pub(super) fn not_named(ticket: &Ticket, met: &[u32]) -> Option<String> {
    let tip = &ticket.candidate()?.tip;
    let missing: Vec<String> = ticket
        .unnamed(tip)
        .filter(|one| !met.contains(&one.id))
        .map(|one| format!("{} ({})", one.id, one.promise.says))
        .collect();
    match missing.as_slice() {
        [] => None,
        [one] => Some(format!("it approves, and does not name commitment {one} as met")),
        many => Some(format!(
            "it approves, and does not name commitments {} as met",
            many.join(", ")
        )),
    }
}
