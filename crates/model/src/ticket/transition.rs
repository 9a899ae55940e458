//! The ticket's table: what each state makes of each event.

mod checks;
mod comment;
mod commitments;
mod delegation;
mod doubt;
mod fewer_tests;
mod hold;
mod parts;
mod proposal;
mod recovery;
mod review;
mod train;
mod verify;
mod work;

use super::{
    Done, Effect, Event, Label, Stage, State, Ticket, Waiting, Why, approve_command, how_it_ended,
    sensitive_words,
};
use crate::Actor;
use crate::attempt::{self, Prompt};
use crate::machine::{self, Rejected, Step};

/// The machine.
#[derive(Clone, Copy, Debug)]
pub struct Machine;

impl machine::Machine for Machine {
    type State = Ticket;
    type Event = Event;
    type Effect = Effect;
    const NAME: &'static str = "ticket";

    fn transition(state: &Ticket, event: &Event) -> Result<Step<Ticket, Effect>, Rejected> {
        let mut next = Draft {
            ticket: state.clone(),
            effects: Vec::new(),
            event,
        };
        next.take()?;
        next.end_left_check(state);
        next.end_left_reviews(state);
        next.end_left_commitment()?;
        next.ticket.close_question(state, event);
        Ok(Step {
            state: next.ticket,
            effects: next.effects,
        })
    }

    fn state_name(state: &Ticket) -> String {
        state.state_name()
    }

    fn effect_name(effect: &Effect) -> &'static str {
        effect.name()
    }

    fn event_name(event: &Event) -> &'static str {
        event.name()
    }
}

/// A ticket on its way to the next state.
struct Draft<'a> {
    ticket: Ticket,
    effects: Vec<Effect>,
    event: &'a Event,
}

type Taken = Result<(), Rejected>;

impl Draft<'_> {
    fn no<T>(&self, why: &str) -> Result<T, Rejected> {
        Err(Rejected {
            state: self.ticket.state_name(),
            event: self.event.name().to_owned(),
            why: why.to_owned(),
        })
    }

    fn take(&mut self) -> Taken {
        if let State::New = self.ticket.state {
            let Event::Created { spec } = self.event else {
                return self.no("it has not been created");
            };
            self.ticket.spec = spec.clone();
            self.ticket.take_from_file(&spec.commitments);
            self.doubt_maker();
            self.ticket.state = State::Open;
            return Ok(());
        }
        let event = self.event;
        match event {
            Event::Created { .. } => self.no("it exists already"),
            Event::Edited { spec, .. } => self.edit(spec),
            Event::WriterDoubted { tags } => self.doubt_writer(tags),
            Event::VouchedFor { .. } => self.vouch(),
            Event::FileDrifted => Ok(()),
            Event::FileUnheeded { change } => {
                self.ticket.unheeded = Some(change.clone());
                Ok(())
            }
            Event::FileHeeded => {
                self.ticket.unheeded = None;
                Ok(())
            }
            Event::WorkFound => {
                self.expect_open()?;
                self.ticket.labels.insert(Label::AutoRecovered);
                Ok(())
            }
            Event::WorkKept { work } => {
                for one in work {
                    let kept = &mut self.ticket.kept;
                    if kept.contains(one) {
                        continue;
                    }
                    // An attempt goes on with the last commit of the one before it.
                    kept.retain(|known| !(known.is_attempt() && one.is_attempt()));
                    kept.push(one.clone());
                }
                Ok(())
            }
            Event::LeftoversFound { leftovers } => {
                self.building()?;
                self.ticket.leftovers = leftovers.clone();
                Ok(())
            }
            Event::Claimed { .. } => self.claim(),
            Event::RecoveryNotNeeded => self.recovery_not_needed(),
            Event::RecoveryLanded { by, commit, replaces } => self.recovery_landed(by, commit, *replaces),
            Event::ClosedByPerson { .. } => self.close(),
            Event::Reopened { .. } => self.reopen(),
            Event::Dropped { by, reason } => self.drop_by(by, reason),
            Event::Retried { by, slot_free, fresh } => self.retry(by, *slot_free, fresh),
            Event::RetryDue => self.retry_due(),
            Event::Waived { by, reason } => self.waive(by, reason),
            Event::SensitiveApproved { .. } => self.approve_sensitive(),
            Event::BudgetSpent { budget } => self.spend_budget(*budget),
            Event::BudgetRaised { slot_free } => self.raise_budget(*slot_free),
            Event::Delegated { delegated } => self.delegated(delegated),
            Event::Unified { work, unmerged } => self.unify(work.as_deref(), unmerged.as_ref()),
            Event::ChildrenAbsent { absent } => self.miss_children(absent),
            Event::NotUnified { why } => self.fail_to_unify(why),
            Event::LandedWithParent { parent, commit } => self.land_with_parent(parent, commit),
            Event::Commented { by, text } => self.comment(by, text),
            Event::TicketMade { ticket, .. } => self.make_ticket(ticket),

            Event::Attempt(event) => self.attempt(event),
            Event::Submitted { by, at } => {
                let attempt = self.working()?.after(&attempt::Event::Submitted)?.0;
                self.submit(attempt, by.clone(), *at);
                Ok(())
            }
            Event::Released { why } => self.release(why),

            Event::CheckStarted => self.start_check(),
            Event::CandidateBuilt { candidate, plan } => self.built(candidate, plan),
            Event::Coupled { coupling } => self.couple(coupling),
            Event::JoinedTrain { candidate, plan, at } => self.join_train(candidate, plan, *at),
            Event::TrialPassed { tree, passed } => self.pass_trial(tree, passed),
            Event::TrialFailed { which, output, fewer } => self.fail_trial(which, output, *fewer),
            Event::TrialCancelled => self.cancel_trial(),
            Event::Uncoupled { why, at } => self.uncouple(why, *at),
            Event::BatchLanding { tip, batch, passed } => self.land_in_batch(tip, batch, passed),
            Event::BatchPutOff { plan } => self.put_off_landing(plan),
            Event::CheckOrdered {
                run,
                task,
                slot,
                anew,
                at,
            } => self.order_check(run, *task, (*slot, *anew), *at),
            Event::CheckStopOrdered { why } => self.stop_check(*why),
            Event::CheckEnded { run, outcome, .. } => self.check_ended(run, outcome),
            Event::ChecksPassed { tree, passed, review } => self.pass(tree, passed, *review),
            Event::ChecksFailed {
                which,
                output,
                steps_left,
                reopen_at,
                repeat,
            } => {
                // Taking the branch over is the first of the checks: it can fail while nothing is merged yet.
                // It is the only one of a child by itself.
                let runs = |s: &Stage| {
                    matches!(
                        s,
                        Stage::Building | Stage::Checking(_) | Stage::Unified { is_saved: false }
                    )
                };
                let is_child = matches!(
                    self.stage(runs, "its checks do not run")?.stage,
                    Stage::Unified { .. }
                );
                let is_too_often = self.repeats_too_often(repeat.as_ref()) && *steps_left > 0;
                if is_too_often && is_child {
                    let times = repeat.as_ref().map_or(0, |repeat| repeat.times);
                    return self.fail_to_unify(&format!(
                        "its branch was refused {times} times in a row:\n{output}"
                    ));
                }
                if is_too_often {
                    self.hold_for_no_progress()?;
                    self.held_for(output);
                    return Ok(());
                }
                let checks = self.ticket.checks();
                let prompt = Prompt::ChecksFailed {
                    which: which.clone(),
                    output: output.clone(),
                    remembered: checks.is_some_and(|checks| checks.remembered),
                };
                let story = match which.as_str() {
                    Prompt::TAKING_OVER => format!("the branch was refused:\n{output}"),
                    which => format!("`{which}` failed:\n{output}"),
                };
                self.send_back(prompt, *steps_left, *reopen_at, &story)?;
                self.held_for(output);
                Ok(())
            }
            Event::CommitmentAdded { by, promise } => self.add_commitment(by, promise),
            Event::CommitmentUnmet {
                id,
                output,
                steps_left,
                reopen_at,
                repeat,
            } => self.unmet((*id, output), *steps_left, *reopen_at, repeat.as_ref()),
            Event::CommitmentWaived { id, by, reason } => self.waive_commitment(*id, by, reason),
            Event::CommitmentsHeld { tip } => self.hold_for_commitments(tip),
            Event::CommitmentsApproved { .. } => self.approve_commitments(),
            Event::TestsHeld { which, tests, output } => self.hold_for_tests(which, *tests, output),
            Event::TestsApproved { .. } => self.approve_tests(),
            Event::NoCommits {
                steps_left,
                reopen_at,
                repeat,
            } => {
                self.building()?;
                if self.repeats_too_often(repeat.as_ref()) && *steps_left > 0 {
                    return self.hold_for_no_progress();
                }
                self.send_back(
                    Prompt::NothingCommitted,
                    *steps_left,
                    *reopen_at,
                    "nothing was committed",
                )
            }
            Event::Conflicted {
                paths,
                resolutions_left,
                overtaken,
                repeat,
            } => {
                self.building()?;
                if self.repeats_too_often(repeat.as_ref()) && *resolutions_left > 0 {
                    return self.hold_for_no_progress();
                }
                self.conflict(paths, *resolutions_left, *overtaken)
            }
            Event::CouldNotRun {
                why,
                may_pass,
                retry_at,
            } => {
                self.hold_check(Why::CouldNotRun, why.clone(), *retry_at)?;
                if *may_pass {
                    self.held_until_it_passes();
                }
                Ok(())
            }
            Event::TargetRed {
                which,
                output,
                retry_at,
            } => {
                let how = how_it_ended(output)
                    .map(|how| format!(" ({how})"))
                    .unwrap_or_default();
                let note = format!(
                    "the target branch itself does not pass `{which}`{how}: mend it, and this goes on"
                );
                self.hold_check(Why::TargetRed, note, *retry_at)?;
                self.held_for(output);
                Ok(())
            }
            Event::Diverged { why, retry_at } => self.diverge(why, *retry_at),
            Event::Sensitive { paths, secrets, tip } => {
                let at_work = |s: &Stage| match s {
                    Stage::Building | Stage::Checking(_) | Stage::Landing { .. } => true,
                    Stage::Queued
                    | Stage::InTrain(_)
                    | Stage::Reviewing(_)
                    | Stage::Unified { .. }
                    | Stage::Proposed(_) => false,
                };
                self.stage(at_work, "it is neither being checked nor landing")?;
                let note = format!(
                    "{}: `{}` lets it land",
                    sensitive_words(secrets, paths),
                    approve_command(&self.ticket.id, Some(tip))
                );
                self.free_slot();
                let (paths, secrets, tip) = (paths.clone(), secrets.clone(), tip.clone());
                let why = match secrets.is_empty() {
                    true => Why::Paths { paths, tip },
                    false => Why::Secrets { secrets, paths, tip },
                };
                self.hold(why, note, None);
                Ok(())
            }

            Event::ReviewClaimed { .. } => self.claim_review(),
            Event::Review { fence, event } => self.review(*fence, event),
            Event::ReviewCrashed { fence, left, due } => {
                self.review_again(*fence, Label::EvaluatorError, "", (*left, *due))
            }
            Event::ReviewGaveUp {
                fence,
                why,
                left,
                due,
            } => self.review_again(*fence, Label::EvaluatorIncomplete, why, (*left, *due)),
            Event::ReviewRefused { fence, message } => self.review_refused(*fence, message),
            Event::NobodyReviews { why } => self.nobody_reviews(why),
            Event::LeftToPerson => self.leave_to_person(),
            Event::ApprovalKept { by, of, tip, paths } => self.keep_approval(by, of, tip, paths),
            Event::Approved { fence, agree } => self.approve(*fence, *agree),
            Event::Rejected {
                fence,
                attempts_left,
                reopen_at,
            } => self.reject(*fence, *attempts_left, *reopen_at),
            Event::WorkFailed { fence } => self.fail_work(*fence),
            Event::ReviewEndOrdered { then } => self.end_review(then),
            Event::ReviewApproved { by } => self.approve_in_place(by),
            Event::Returned { by, why, reopen_at } => self.give_back_to_author(by, why, *reopen_at),
            Event::EditReturned {
                steps_left,
                reopen_at,
            } => self.give_back_for_edit(*steps_left, *reopen_at),

            Event::Proposed { request, look_at } => self.propose(request, *look_at),
            Event::LookOrdered => self.order_look(),
            Event::ProposalSeen { seen, look_at } => self.see(seen, *look_at),
            Event::ProposalUnseen {
                why,
                may_pass,
                look_at,
            } => self.fail_look(why, *may_pass, *look_at),
            Event::ChangesRequested { reviews, by, why } => self.change_on_request(reviews, by, why),
            Event::ProposalClosed => self.close_proposal(),

            Event::PartsOver { parts } => self.parts_over(parts),
            Event::Rewound { by, commit, .. } => self.rewind(by, commit),

            Event::Landed { commit } => self.landed(commit),
            Event::TargetMoved => {
                let at_work = |s: &Stage| match s {
                    Stage::Checking(_) | Stage::Reviewing(_) | Stage::Landing { .. } => true,
                    Stage::Proposed(proposal) => proposal.is_looked_at(),
                    Stage::Queued | Stage::Building | Stage::InTrain(_) | Stage::Unified { .. } => false,
                };
                self.stage(at_work, "it is neither being checked, in review nor landing")?;
                self.end_landing(Stage::Queued)
            }
            Event::CheckoutEdited { paths, retry_at } => {
                let wait = Waiting {
                    paths: paths.clone(),
                    retry_at: *retry_at,
                };
                let Stage::Landing { candidate, .. } = &self.landing()?.stage else {
                    return self.no("it is not landing");
                };
                let waits = Stage::Landing {
                    candidate: candidate.clone(),
                    waiting: Some(wait),
                    then: None,
                };
                self.end_landing(waits)
            }
            Event::LandingEndOrdered { then } => {
                self.verify()?;
                if !self.ticket.is_landing() {
                    return self.no("it is not landing at this moment");
                }
                if let Some(wish) = self.wish_after_landing()? {
                    *wish = Some(then.clone());
                }
                Ok(())
            }
            Event::NotLanded => match &self.landing()?.stage {
                Stage::Landing { then: Some(_), .. } => self.end_landing(Stage::Queued),
                Stage::Queued
                | Stage::Building
                | Stage::Checking(_)
                | Stage::InTrain(_)
                | Stage::Reviewing(_)
                | Stage::Proposed(_)
                | Stage::Unified { .. }
                | Stage::Landing { then: None, .. } => self.no("nobody has ended its landing"),
            },
            Event::LandingRetried => {
                let Stage::Landing {
                    candidate,
                    waiting: Some(_),
                    ..
                } = &self.landing()?.stage
                else {
                    return self.no("it does not wait");
                };
                let candidate = candidate.clone();
                self.land(candidate)
            }
        }
    }

    // The guards, named.

    fn expect_open(&self) -> Taken {
        match self.ticket.state {
            State::Open => Ok(()),
            State::New | State::InProgress(_) | State::Verify(_) | State::Done(_) => {
                self.no("it is not open")
            }
        }
    }

    fn expect_free(&self) -> Taken {
        if self.ticket.held.is_some() {
            return self.no("it is held");
        }
        Ok(())
    }

    // The queue.

    fn edit(&mut self, spec: &super::Spec) -> Taken {
        let text_changed = self.ticket.spec.digest != spec.digest;
        self.ticket.spec = spec.clone();
        if text_changed {
            // Another text is another input.
            self.ticket.repeat = None;
            let attempt = self.ticket.attempt();
            if attempt.is_none_or(|attempt| attempt.conversation.runs == 0) {
                // No agent has it, or has read it: the text that the next one gets is the one given out.
                self.ticket.given = attempt.is_some().then(|| spec.digest.clone());
            }
        }
        if text_changed && let Some(attempt) = self.ticket.attempt_mut() {
            *attempt = attempt.after(&attempt::Event::TicketEdited)?.0;
        }
        self.edit_commitments(&spec.commitments)
    }

    fn reopen(&mut self) -> Taken {
        if !self.ticket.is_done() {
            return self.no("it is not done");
        }
        let ticket = &mut self.ticket;
        ticket.state = State::Open;
        // Its parent's attempt is over, or goes on without it: whoever opens it again wants it for itself.
        ticket.delegated = None;
        (ticket.tries, ticket.review_tries, ticket.due) = (0, 0, None);
        ticket.spent.since_grant_micro_usd = 0;
        (ticket.in_line_since, ticket.given) = (None, None);
        ticket.submitted.clear();
        ticket.rejected = None;
        ticket.from = attempt::StartPoint::Target;
        ticket.labels.clear();
        // It begins anew: what its former attempts left is no part of the task, and what a child did stands
        // on work of its parent's, which would land with it.
        ticket.kept.clear();
        ticket.parts.clear();
        ticket.unified.clear();
        ticket.undone.clear();
        ticket.absent.clear();
        ticket.pull_request = None;
        let listed = ticket.spec.commitments.clone();
        ticket.take_from_file(&listed);
        Ok(())
    }

    fn finish(&mut self, done: Done) {
        let ticket = &mut self.ticket;
        // What a person did not want lands in no other ticket's branch either.
        if !matches!(done, Done::Dropped { .. }) {
            ticket.submitted.clear();
        }
        ticket.state = State::Done(done);
        (ticket.held, ticket.due, ticket.repeat, ticket.unheeded) = (None, None, None, None);
        ticket.in_line_since = None;
        ticket.rejected = None;
        (ticket.unconfirmed, ticket.approved_before) = (None, None);
        ticket.labels.clear();
        ticket.tags_given.clear();
        ticket.feedback.clear();
        ticket.answers.clear();
    }

    fn drop_by(&mut self, by: &Actor, reason: &str) -> Taken {
        match &self.ticket.state {
            State::New | State::Open => {}
            State::InProgress(_) => {
                self.working()?;
                self.keep_work();
            }
            State::Verify(_) => {
                if self.ticket.is_landing() {
                    return self.no("it is landing at this moment");
                }
                if self.ticket.held.is_none() && self.ticket.proposal().is_some() {
                    return self.no("its pull request may be merged, and is looked at first");
                }
                self.keep_work();
            }
            // It waits for a person's word.
            State::Done(Done::Failed { .. }) => {}
            State::Done(_) => return self.no("it is done"),
        }
        self.finish(Done::Dropped {
            by: by.clone(),
            reason: reason.to_owned(),
        });
        Ok(())
    }
}
