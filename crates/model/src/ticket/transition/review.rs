//! The rows of a candidate in review.

use super::{Draft, Taken};
use crate::attempt::{self, AfterStop, Prompt};
use crate::machine::Rejected;
use crate::ticket::review::Order;
use crate::ticket::{
    AfterReview, Clearance, Done, Effect, Event, Label, Review, ReviewEvent, Reviewing, Stage, Ticket,
    Verdict, Why, for_its_agent,
};
use crate::{Actor, AgentName, Fence, Oid, Time};

impl Draft<'_> {
    fn in_review(&mut self) -> Result<&mut Reviewing, Rejected> {
        let is_reviewing = |stage: &Stage| matches!(stage, Stage::Reviewing(_));
        let verify = self.stage(is_reviewing, "it is not in review")?;
        let Stage::Reviewing(reviewing) = &mut verify.stage else {
            unreachable!("asked above")
        };
        Ok(reviewing)
    }

    /// In review with no process of a gatekeeper alive: only then a verdict is applied.
    fn at_rest(&mut self) -> Result<&mut Reviewing, Rejected> {
        if self.in_review()?.is_live() {
            return self.no("a gatekeeper is at work on it; its step is ended first");
        }
        self.in_review()
    }

    pub(super) fn claim_review(&mut self) -> Taken {
        let Event::ReviewClaimed {
            agent,
            fence,
            harness,
            session,
            at,
        } = self.event
        else {
            return self.no("not the claim of a review");
        };
        let reviewing = self.in_review()?;
        if reviewing.open().is_some() {
            return self.no("a gatekeeper has it");
        }
        if reviewing.due.is_some_and(|due| due > *at) {
            return self.no("its review is not due yet");
        }
        if reviewing.approvers().any(|approver| approver == agent) {
            return self.no("this gatekeeper has approved of it already");
        }
        if self.ticket.authors.contains(agent) {
            return self.no("an author does not review its own work");
        }
        if *fence <= self.ticket.fence {
            return self.no("the review's fence is not newer than the last");
        }
        let review = Review::new(agent.clone(), *fence, harness.clone(), session.clone(), *at);
        let reviewing = self.in_review()?;
        reviewing.due = None;
        reviewing.reviews.push(review);
        self.ticket.fence = *fence;
        Ok(())
    }

    pub(super) fn review(&mut self, fence: Fence, event: &ReviewEvent) -> Taken {
        let reviewing = self.in_review()?;
        if let (Some(_), ReviewEvent::Started { .. }) = (&reviewing.then, event) {
            return self.no("a person has decided meanwhile");
        }
        let candidate = reviewing.candidate.clone();
        let Some(review) = reviewing.reviews.iter_mut().find(|review| review.fence == fence) else {
            return self.no("there is no such review of it");
        };
        let was_answered = review.is_answered;
        let taken = review.take(event);
        let (agent, conversation) = (review.agent.clone(), review.conversation.clone());
        match taken {
            Err(refused) => self.no(&refused.0),
            Ok(Order::Nothing) => {
                match event {
                    ReviewEvent::Asked { .. } => self.ticket.count_question(),
                    ReviewEvent::Answered { text, question, .. } => {
                        self.ticket.note_answer(question, text, was_answered);
                    }
                    ReviewEvent::Started { .. }
                    | ReviewEvent::Spawned
                    | ReviewEvent::StopOrdered { .. }
                    | ReviewEvent::Finished { .. }
                    | ReviewEvent::Failed { .. }
                    | ReviewEvent::VerdictNoted { .. }
                    | ReviewEvent::Called { .. }
                    | ReviewEvent::WentQuiet(_)
                    | ReviewEvent::Stirred
                    | ReviewEvent::WaitTimedOut => {}
                }
                Ok(())
            }
            Ok(Order::Stop(run)) => {
                self.effects
                    .push(Effect::Attempt(attempt::Effect::StopRun { run }));
                Ok(())
            }
            Ok(Order::Start { new_session }) => {
                let Some(run) = conversation.live_run().cloned() else {
                    return self.no("no step of it was started");
                };
                self.effects.push(Effect::StartReview {
                    agent,
                    run,
                    fence,
                    step: conversation.steps + 1,
                    harness: conversation.harness,
                    session: conversation.session.id,
                    new_session,
                    candidate,
                });
                Ok(())
            }
        }
    }

    /// The review of this fence, with no process of it alive and without a verdict, comes to nothing. `why`:
    /// the reason why its answer is no verdict, where it gave one.
    pub(super) fn review_again(
        &mut self,
        fence: Fence,
        label: Label,
        why: &str,
        (left, due): (u32, Time),
    ) -> Taken {
        let reviewing = self.at_rest()?;
        let Some(review) = reviewing.review(fence).filter(|review| review.verdict.is_none()) else {
            return self.no("there is no such review of it");
        };
        let failure = review.conversation.failure.as_ref();
        let end = match failure.filter(|_| label == Label::EvaluatorError) {
            Some(failure) => format!(
                "in errors too often, at last in this one ({}): {}",
                failure.class.name(),
                failure.message
            ),
            None if why.is_empty() => "without a verdict too often".to_owned(),
            None => format!("without a verdict too often, at last for this reason: {why}"),
        };
        reviewing.reviews.retain(|review| review.fence != fence);
        reviewing.due = Some(due);
        for other in [Label::EvaluatorError, Label::EvaluatorIncomplete] {
            self.ticket.labels.remove(&other);
        }
        self.ticket.labels.insert(label);
        self.ticket.review_tries += 1;
        if left == 0 {
            let id = &self.ticket.id;
            let note = format!(
                "its review ended {end}; `crew retry {id}` has it reviewed again, \
                 `crew approve {id}` or `crew reject {id} <why>` decides in the gatekeeper's place"
            );
            self.hold_for_review(note)?;
        }
        Ok(())
    }

    pub(super) fn nobody_reviews(&mut self, why: &str) -> Taken {
        if self.at_rest()?.open().is_some() {
            return self.no("a gatekeeper has it");
        }
        let id = &self.ticket.id;
        let note = format!(
            "nobody may review it: {why}; `crew approve {id}` or `crew reject {id} <why>` decides in a \
             gatekeeper's place"
        );
        self.hold_for_review(note)
    }

    /// Nobody else is to look at it, and a person looks at all work.
    pub(super) fn leave_to_person(&mut self) -> Taken {
        if self.at_rest()?.open().is_some() {
            return self.no("a gatekeeper has it");
        }
        let id = &self.ticket.id;
        // The inbox names the commands that decide below this; none of them shows the work.
        let note = format!("a person looks at all work before it lands: `crew diff {id}` shows it");
        self.hold_in_review(Why::Hold, note)
    }

    fn hold_for_review(&mut self, note: String) -> Taken {
        self.hold_in_review(Why::Review, note)
    }

    fn hold_in_review(&mut self, why: Why, note: String) -> Taken {
        self.in_review()?.due = None;
        self.free_slot();
        self.hold(why, note, None);
        Ok(())
    }

    /// The review of this fence has stopped in a way that only a person can help with.
    pub(super) fn review_refused(&mut self, fence: Fence, message: &str) -> Taken {
        let reviewing = self.at_rest()?;
        if reviewing
            .review(fence)
            .is_none_or(|review| review.verdict.is_some())
        {
            return self.no("there is no such review of it");
        }
        reviewing.reviews.retain(|review| review.fence != fence);
        self.free_slot();
        let note = format!("the gatekeeper's credentials are refused: {message}");
        self.hold(Why::Auth, note, None);
        Ok(())
    }

    /// Enough gatekeepers approved: the branch's tip is cleared, and the work goes on to land.
    pub(super) fn approve(&mut self, fence: Fence, agree: u32) -> Taken {
        let reviewing = self.at_rest()?;
        let verdict = reviewing.review(fence).and_then(|review| review.verdict.clone());
        let Some(Verdict::Approve {
            acceptance_test,
            feedback,
            ..
        }) = verdict
        else {
            return self.no("its gatekeeper has not approved of it");
        };
        let by: Vec<_> = reviewing.approvers().cloned().collect();
        if by.len() < agree as usize {
            return self.no("not enough gatekeepers have approved of it");
        }
        if by.iter().any(|agent| self.ticket.authors.contains(agent)) {
            return self.no("an author does not review its own work");
        }
        let reviewing = self.in_review()?.clone();
        let tip = &reviewing.candidate.tip;
        let is_named = |id: u32| reviewing.approvals().all(|(_, met)| met.contains(&id));
        if !self.ticket.unnamed(tip).all(|one| is_named(one.id)) {
            return self.no("not every commitment without a command is named as met");
        }
        if !feedback.trim().is_empty() {
            self.ticket.feedback.push(feedback);
        }
        self.cleared(Clearance::Approved { acceptance_test, by })
    }

    /// A person approves in a gatekeeper's place.
    pub(super) fn approve_in_place(&mut self, by: &Actor) -> Taken {
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        if let Some(Why::Review | Why::Hold | Why::Auth) = held {
            self.ticket.held = None;
        }
        self.at_rest()?;
        self.take_as_it_is()?;
        self.cleared(Clearance::Approved {
            acceptance_test: format!("approved by {by}"),
            by: Vec::new(),
        })
    }

    fn cleared(&mut self, by: Clearance) -> Taken {
        let tip = self.in_review()?.candidate.tip.clone();
        self.forget_tries();
        self.name_as_met(&tip)?;
        self.clear(&tip, by)?;
        self.verify()?.stage = Stage::Queued;
        Ok(())
    }

    /// The tip does nothing but resolve conflicts of one that was approved: the approval holds for it, and so
    /// does the word on commitments that no command verifies.
    pub(super) fn keep_approval(&mut self, by: &[AgentName], of: &Oid, tip: &Oid, paths: &[String]) -> Taken {
        self.building()?;
        let approved = self.ticket.approved_before.clone();
        let Some(approved) = approved.filter(|approved| approved.tip == *of) else {
            return self.no("this tip was not approved before the conflict");
        };
        let Clearance::Approved {
            acceptance_test,
            by: approvers,
        } = approved.by
        else {
            return self.no("it was waived, and not approved");
        };
        if approvers != by {
            return self.no("others have approved of it");
        }
        // The author of the resolution may be another than that of the work.
        if by.iter().any(|agent| self.ticket.authors.contains(agent)) {
            return self.no("an author does not review its own work");
        }
        for one in &mut self.ticket.commitments {
            if one.promise.run.is_none() && one.is_met_on(of) {
                one.tip = Some(tip.clone());
            }
        }
        let acceptance_test = match paths {
            [] => acceptance_test,
            paths => format!(
                "{acceptance_test} (before the conflict in {} was resolved)",
                paths.join(", ")
            ),
        };
        self.ticket.approved_before = None;
        self.clear(
            tip,
            Clearance::Approved {
                acceptance_test,
                by: approvers,
            },
        )
    }

    pub(super) fn reject(&mut self, fence: Fence, attempts_left: u32, reopen_at: Time) -> Taken {
        let reviewing = self.at_rest()?;
        let verdict = reviewing.review(fence).and_then(|review| review.verdict.clone());
        let Some(Verdict::Reject { reason, feedback }) = verdict else {
            return self.no("its gatekeeper has not rejected it");
        };
        self.ticket
            .feedback
            .push(story("A gatekeeper", &reason, &feedback));
        self.ticket.approved_before = None;
        self.ticket.rejected = self.ticket.tip_to_approve().cloned();
        self.forget_tries();
        self.give_back(Label::Rejected, attempts_left, reopen_at)?;
        if let Some(held) = &mut self.ticket.held {
            held.note = format!("it was rejected in review ({reason}), and {}", held.note);
        }
        Ok(())
    }

    pub(super) fn fail_work(&mut self, fence: Fence) -> Taken {
        let reviewing = self.at_rest()?;
        let verdict = reviewing.review(fence).and_then(|review| review.verdict.clone());
        let Some(Verdict::Fail { reason }) = verdict else {
            return self.no("its gatekeeper has not found it impossible");
        };
        self.keep_work();
        self.forget_tries();
        self.finish(Done::Failed { reason });
        self.ticket.labels.insert(Label::Failed);
        Ok(())
    }

    /// A person sends the work back: to the same agent and session when it still has the ticket, else to the
    /// queue.
    pub(super) fn give_back_to_author(&mut self, by: &Actor, why: &str, reopen_at: Time) -> Taken {
        let held = self.ticket.held.as_ref().map(|held| &held.why);
        let is_before_review = held.is_some_and(Why::is_asked_before_review);
        let secrets = match held {
            Some(Why::Secrets { secrets, .. }) => Some(for_its_agent(secrets)),
            Some(_) | None => None,
        };
        let tip = self.ticket.tip_to_approve().cloned();
        if is_before_review || matches!(held, Some(Why::Review | Why::Hold | Why::Auth)) {
            self.ticket.held = None;
        }
        if !is_before_review {
            self.at_rest()?;
        }
        self.ticket.approved_before = None;
        self.ticket.rejected = tip;
        self.forget_tries();
        self.ticket.labels.insert(Label::Rejected);
        // Its agent has to find them.
        let why = match secrets {
            Some(secrets) => format!("{why}\n\n{secrets}"),
            None => why.to_owned(),
        };
        let told = story(&by.to_string(), &why, "");
        let prompt = Prompt::Returned {
            by: by.to_string(),
            why,
        };
        self.send_back(prompt, 1, reopen_at, &told)
    }

    fn forget_tries(&mut self) {
        self.ticket.review_tries = 0;
        self.ticket.labels.remove(&Label::EvaluatorError);
        self.ticket.labels.remove(&Label::EvaluatorIncomplete);
    }

    /// A person wants something else while a gatekeeper is at work: the gatekeeper's step is ended first, and
    /// its cost is counted.
    pub(super) fn end_review(&mut self, then: &AfterReview) -> Taken {
        let reviewing = self.in_review()?;
        if !reviewing.is_live() {
            return self.no("no gatekeeper is at work on it");
        }
        reviewing.then = Some(then.clone());
        let stop = AfterStop::Release { by: Actor::Engine };
        let mut runs = Vec::new();
        for review in &mut reviewing.reviews {
            runs.extend(review.conversation.stop(&stop).ok());
        }
        let stops = runs.into_iter().map(|run| attempt::Effect::StopRun { run });
        self.effects.extend(stops.map(Effect::Attempt));
        Ok(())
    }

    /// A review that is over leaves nothing behind: its run is ended, and its checkout removed. This follows
    /// from the states before and after, so no row can forget it.
    pub(super) fn end_left_reviews(&mut self, before: &Ticket) {
        let Some(reviewing) = before.reviewing() else {
            return;
        };
        for review in reviewing.reviews.iter().filter(|review| review.verdict.is_none()) {
            let now = self.ticket.reviewing().and_then(|now| now.review(review.fence));
            if now.is_some_and(|now| now.verdict.is_none()) {
                continue;
            }
            let run = review
                .conversation
                .worker
                .as_ref()
                .map(|worker| worker.run.clone());
            if let Some(run) = review.conversation.live_run() {
                let run = run.clone();
                self.effects
                    .push(Effect::Attempt(attempt::Effect::StopRun { run }));
            }
            self.effects.push(Effect::RemoveReview {
                agent: review.agent.clone(),
                run,
            });
        }
    }
}

/// The story of a rejection, for the next attempt.
fn story(who: &str, reason: &str, feedback: &str) -> String {
    let advice = match feedback.trim() {
        "" => String::new(),
        advice => format!("\n{advice}"),
    };
    format!("{who} has rejected the work in review: {reason}{advice}")
}
