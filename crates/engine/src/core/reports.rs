//! Reports: the meaning of an effect's outcome for the ticket that ordered it.

use model::attempt::{self, Failure, Usage};
use model::journal::EffectId;
use model::policy::{backoff, no_progress};
use model::ticket::{AfterLanding, Effect, Event, Fingerprint, Released, Repeat, Seen, Stage, State, Ticket};
use model::{Actor, RunId, TicketId};

use super::train::submitted;
use super::{Core, WriteMeta};
use crate::failures::Obstacle;
use crate::{End, Report, RunEnd};

impl Core {
    pub(super) fn reported(&mut self, id: EffectId, ticket: &TicketId, effect: &Effect, report: Report) {
        if let Report::FileMissing = report {
            return self.found_no_file(id, ticket, effect);
        }
        // It may be so for every ticket: no further one is given out then.
        self.out.looks_at_target |= matches!(report, Report::Diverged { .. } | Report::RemoteRefused { .. });
        if let (Effect::WriteFile(filing), Report::Done) = (effect, &report) {
            return self.written(id, ticket, effect, filing);
        }
        // A report of a claim that is over is refused: whatever a late process says, it is no living
        // attempt's.
        if let Some(fence) = effect.fence()
            && self.ticket(ticket).is_none_or(|t| !t.has_claim(fence))
        {
            self.out
                .refused
                .push(format!("{ticket}: a report of an earlier claim"));
            self.failures.ended(ticket, effect);
            self.out.finished.push(id);
            return;
        }
        if let (Report::WorkspaceMissing | Report::StepNotSpawned { .. }, Some(run)) = (&report, effect.run())
        {
            self.failures.ended(ticket, effect);
            self.not_started(id, ticket, run, report);
            return;
        }
        if let Effect::StartCheck { run, .. } = effect
            && self.ticket(ticket).is_none_or(|ticket| !ticket.waits_for(run))
        {
            self.failures.ended(ticket, effect);
            self.out.finished.push(id);
            return;
        }
        if let (
            Effect::BuildCandidate {
                before_conflict: Some(before),
                ..
            },
            Report::Built {
                candidate,
                resolves: Some(paths),
                ..
            },
        ) = (effect, &report)
        {
            self.keep_approval(ticket, (before, &candidate.tip), paths);
        }
        let mut meaning = match (effect, &report) {
            (
                Effect::Land {
                    batch: Some(batch), ..
                },
                Report::BatchInTheWay { entry, paths },
            ) => match self.batch_in_the_way(ticket, batch, (entry, paths)) {
                Some(event) => Meaning::Events(vec![event]),
                None => Meaning::Nothing,
            },
            (
                Effect::Land {
                    batch: Some(batch), ..
                },
                Report::RemoteRefused { why },
            ) if batch.entries.len() > 1 => Meaning::Events(vec![self.batch_refused(ticket, batch, why)]),
            _ => self.meaning(ticket, effect, report),
        };
        if self.gives_up_landing(ticket, effect, &meaning) {
            self.end_failed_landing(ticket, &meaning);
        }
        if let Meaning::Hindered(why) = &mut meaning
            && self.failures.is_hindered_for_long(ticket, effect, self.now)
        {
            // Every ticket waits in the one queue for the target: a ticket that takes so long is held
            // instead.
            meaning = self.could_not_run(ticket, effect, std::mem::take(why));
        }
        let mut events = match meaning {
            Meaning::Events(events) => events,
            Meaning::Nothing => {
                self.failures.ended(ticket, effect);
                self.out.finished.push(id);
                return;
            }
            Meaning::Again(why) => return self.retry_effect(id, ticket, effect, Obstacle::Lasting(why)),
            Meaning::Hindered(why) => return self.retry_effect(id, ticket, effect, Obstacle::Machine(why)),
        };
        if let Effect::Land {
            batch: Some(batch), ..
        } = effect
        {
            self.batch_reported(ticket, batch, &mut events);
        }
        self.failures.ended(ticket, effect);
        let meta = WriteMeta {
            completes: Some(id),
            ..WriteMeta::because(cause(effect))
        };
        if let Err(no) = self.apply(ticket, events, meta) {
            self.out.refused.push(format!("{ticket}: {no}"));
            self.out.finished.push(id);
        }
    }

    /// Whether a landing has failed so often, or for so long, that the other tickets have waited enough.
    fn gives_up_landing(&self, id: &TicketId, effect: &Effect, meaning: &Meaning) -> bool {
        let Effect::Land { .. } = effect else {
            return false;
        };
        let is_wanted = matches!(
            self.ticket(id).and_then(Ticket::stage),
            Some(Stage::Landing {
                waiting: None,
                then: None,
                ..
            })
        );
        is_wanted
            && match meaning {
                Meaning::Again(_) => self.failures.is_to_fail_for_people(id, effect),
                Meaning::Hindered(_) => self.failures.is_hindered_for_long(id, effect, self.now),
                Meaning::Events(_) | Meaning::Nothing => false,
            }
    }

    /// Has a landing ended that failed: the ticket is held with the error, unless the target holds it.
    fn end_failed_landing(&mut self, id: &TicketId, meaning: &Meaning) {
        let (Meaning::Again(why) | Meaning::Hindered(why)) = meaning else {
            return;
        };
        let then = AfterLanding::Hold {
            why: why.clone(),
            may_pass: false,
            retry_at: self.check_again_at(id),
        };
        self.apply_or_note(id, Event::LandingEndOrdered { then }, "landing it failed");
        self.end_batch_of(id);
    }

    /// An effect could not be performed: it is performed again.
    fn retry_effect(&mut self, id: EffectId, ticket: &TicketId, effect: &Effect, obstacle: Obstacle) {
        let retry = self.failures.failed(id, ticket, effect, obstacle, self.now);
        self.out.postponed.push(retry.postponed);
        self.out.warnings.extend(retry.warning);
    }

    /// A step that could not be started is over. One that was being stopped meanwhile is stopped: what it was
    /// stopped for follows.
    fn not_started(&mut self, id: EffectId, ticket: &TicketId, run: &RunId, report: Report) {
        let waited = self.ticket(ticket).is_some_and(|ticket| ticket.waits_for(run));
        let answering = |cause: &str| WriteMeta {
            completes: Some(id),
            ..WriteMeta::because(cause)
        };
        if !waited {
            self.out
                .refused
                .push(format!("{ticket}: a report of an earlier run"));
            self.out.finished.push(id);
            return;
        }
        let told = if let Report::StepNotSpawned { failure } = report {
            let ended = RunEnd {
                run: run.clone(),
                usage: Usage::default(),
                total_micro_usd: None,
                summary: None,
                modes: Vec::new(),
                made: Vec::new(),
                end: End::Failed(failure),
                stated: None,
                left: None,
                unusable: Vec::new(),
                verdict: None,
                commitments: Vec::new(),
            };
            let of_review = self.ticket(ticket).and_then(|ticket| ticket.review_of_run(run));
            if of_review.is_some() {
                self.review_ended(ticket, ended, answering("its review could not be started"))
            } else {
                self.step_ended(ticket, ended, answering("its step could not be started"))
            }
        } else {
            // The workspace is gone, which is nobody's failure, and trying again does not help: start over
            // from the kept work, in another attempt.
            let failure = Failure::new(attempt::Class::KilledByUs, "its workspace is gone");
            let failed = Event::Attempt(self.failed_step(ticket, (Usage::default(), None), failure));
            let next = self.stopped_for(ticket).unwrap_or(Event::Released {
                why: Released::WorkspaceLost {
                    attempts_left: self.attempts_left(ticket),
                    reopen_at: self.reopen_at(ticket),
                },
            });
            self.apply(ticket, [failed, next], answering("its workspace is gone"))
        };
        if let Err(no) = told {
            self.out.refused.push(format!("{ticket}: {no}"));
            self.out.finished.push(id);
        }
    }

    fn meaning(&self, id: &TicketId, effect: &Effect, report: Report) -> Meaning {
        if let Effect::StartCheck { run, .. } = effect
            && let Some(events) = self.check_reported(id, run, &report)
        {
            return Meaning::Events(events);
        }
        if let Some(event) = self.conflicts_ahead(id, &report) {
            return Meaning::Events(vec![event]);
        }
        if let Effect::StartReview { fence, .. } = effect
            && let Some(events) = self.review_reported(id, *fence, &report)
        {
            return Meaning::Events(events);
        }
        let event = |event| Meaning::Events(vec![event]);
        let reopen_at = self.reopen_at(id);
        match report {
            Report::WorkspaceReady { base, earlier_work } => {
                event(Event::Attempt(attempt::Event::WorkspaceReady {
                    base,
                    earlier_work,
                }))
            }
            Report::WorkspaceFailed { why } => {
                let attempts_left = self.attempts_left(id);
                event(Event::Released {
                    why: Released::WorkspaceFailed {
                        why,
                        attempts_left,
                        reopen_at,
                    },
                })
            }
            Report::SetUpFailed {
                why,
                output,
                may_pass,
                for_all,
            } => {
                let attempts = self.ticket(id).map_or(1, |ticket| ticket.attempts);
                // Earlier work of the ticket's own may be at fault.
                let is_bare = matches!(
                    effect,
                    Effect::PrepareWorkspace {
                        from: attempt::StartPoint::Target,
                        ..
                    }
                );
                event(Event::Released {
                    why: Released::SetUpFailed {
                        why,
                        output,
                        may_pass,
                        for_all: for_all && is_bare,
                        retry_at: self.now + backoff::hold(attempts),
                    },
                })
            }
            Report::Unified {
                work,
                unmerged,
                absent,
            } => {
                let missing = self.children_absent(id, absent);
                Meaning::Events(
                    missing
                        .into_iter()
                        .chain([Event::Unified { work, unmerged }])
                        .collect(),
                )
            }
            Report::NotUnified { why } => event(Event::NotUnified { why }),
            Report::StepSpawned => event(Event::Attempt(attempt::Event::WorkerSpawned)),
            Report::Inspected { workspace } => event(Event::Attempt(attempt::Event::Recovered {
                workspace,
                fresh: self.fresh_session(id),
                recoveries_left: self.recoveries_left(id),
                attempts_left: self.attempts_left(id),
                reopen_at,
            })),
            Report::Built {
                candidate,
                untouched,
                leftovers,
                ahead,
                absent,
                ..
            } => {
                let refused = self
                    .brings_work_of_another(id, &ahead)
                    .or_else(|| self.was_rejected(id, &candidate.tip));
                if let Some(why) = refused {
                    return event(self.refused(id, why));
                }
                let is_news = self
                    .ticket(id)
                    .is_some_and(|ticket| ticket.leftovers != leftovers);
                let found = is_news.then_some(Event::LeftoversFound { leftovers });
                let missing = self.children_absent(id, *absent);
                let built = self.candidate_built(id, candidate, &untouched);
                Meaning::Events(found.into_iter().chain(missing).chain(built).collect())
            }
            // Nobody asked for more of it: its person wants it closed.
            Report::NoCommits => event(match self.closed_while_built(id) {
                Some(by) => Event::ClosedByPerson { by },
                None => Event::NoCommits {
                    steps_left: self.steps_left(id),
                    reopen_at,
                    repeat: self.repeat(id, Fingerprint::NothingCommitted),
                },
            }),
            Report::Conflicted {
                paths,
                tip,
                target,
                resolved,
            } => event(self.conflicted(id, paths, (tip, target), resolved)),
            Report::ImportRefused { why } => event(self.refused(id, why)),
            Report::Sensitive { paths, secrets, tip } => event(Event::Sensitive { paths, secrets, tip }),
            Report::CouldNotRun { why } => self.could_not_run(id, effect, why),
            Report::RemoteAway { why } => self.remote_failed(id, effect, why, true),
            Report::RemoteRefused { why } => self.remote_failed(id, effect, why, false),
            Report::Diverged { .. } if self.is_landing_ended(id) => event(Event::NotLanded),
            Report::Diverged { why } => event(Event::Diverged {
                why,
                retry_at: self.check_again_at(id),
            }),
            Report::Hindered { why } => Meaning::Hindered(why),
            Report::Proposed { request } => event(Event::Proposed {
                request,
                look_at: self.now + backoff::proposal(0),
            }),
            Report::ProposalSeen { seen } => event(Event::ProposalSeen {
                look_at: self.look_again_at(id, Some(&seen)),
                seen,
            }),
            Report::ChangesRequested { reviews, by, why } => {
                event(Event::ChangesRequested { reviews, by, why })
            }
            Report::ProposalClosed => event(Event::ProposalClosed),
            Report::Landed { commit } => event(Event::Landed { commit }),
            Report::NotLanded if self.is_landing_ended(id) => event(Event::NotLanded),
            // The landing of a ticket that has left the stage since.
            Report::NotLanded => Meaning::Nothing,
            Report::TargetMoved => event(Event::TargetMoved),
            Report::CheckoutEdited { paths } => event(Event::CheckoutEdited {
                paths,
                retry_at: self.land_again_at(id),
            }),
            Report::WorkKept { work } => event(Event::WorkKept { work }),
            Report::Stopped
            | Report::ConflictsAhead { .. }
            | Report::BatchInTheWay { .. }
            | Report::Done
            | Report::CheckSpawned
            | Report::CheckNotSpawned { .. }
            | Report::PassedBefore
            | Report::NotSetUp
            | Report::FileMissing
            | Report::WorkspaceMissing
            | Report::StepNotSpawned { .. } => Meaning::Nothing,
        }
    }

    /// Who closed the file of a ticket that is being merged for that reason.
    fn closed_while_built(&self, id: &TicketId) -> Option<Actor> {
        let (_, verify) = self.ticket(id).and_then(submitted)?;
        verify.is_closed_while_built().then(|| verify.by.clone())
    }

    /// Whether somebody waits for the end of its landing.
    fn is_landing_ended(&self, id: &TicketId) -> bool {
        let stage = self.ticket(id).and_then(Ticket::stage);
        matches!(stage, Some(Stage::Landing { then: Some(_), .. }))
    }

    /// How often the ticket's submitted work has failed like this.
    pub(crate) fn repeat(&self, id: &TicketId, of: Fingerprint) -> Option<Repeat> {
        Some(no_progress::repeat(self.ticket(id), of))
    }

    /// A failure that stops a check holds the ticket; any other effect is tried again until it works.
    fn could_not_run(&self, id: &TicketId, effect: &Effect, why: String) -> Meaning {
        match effect {
            Effect::BuildCandidate { .. } | Effect::StartCheck { .. } => {
                Meaning::Events(vec![Event::CouldNotRun {
                    why: format!("{}: {why}", effect.undone()),
                    may_pass: false,
                    retry_at: self.check_again_at(id),
                }])
            }
            Effect::LookAtProposal { .. } => self.remote_failed(id, effect, why, false),
            Effect::PrepareWorkspace { .. }
            | Effect::Attempt(_)
            | Effect::StartReview { .. }
            | Effect::RemoveReview { .. }
            | Effect::Land { .. }
            | Effect::KeepWork { .. }
            | Effect::RemoveWorkspace { .. }
            | Effect::WriteFile(_)
            | Effect::Unify { .. }
            | Effect::AddNote { .. }
            | Effect::CreateTicket(_) => Meaning::Again(why),
        }
    }

    /// The remote did not let a ticket be built or landed, and holds nothing of it: the ticket is held and
    /// tried again by itself, so that the others need not wait for that.
    fn remote_failed(&self, id: &TicketId, effect: &Effect, why: String, may_pass: bool) -> Meaning {
        let retry_at = self.check_again_at(id);
        if let Effect::Land { .. } = effect {
            // A person's wish that came meanwhile wins.
            let hold = Event::LandingEndOrdered {
                then: AfterLanding::Hold {
                    why,
                    may_pass,
                    retry_at,
                },
            };
            let hold = (!self.is_landing_ended(id)).then_some(hold);
            return Meaning::Events(hold.into_iter().chain([Event::NotLanded]).collect());
        }
        if let Effect::LookAtProposal { .. } = effect {
            return Meaning::Events(vec![Event::ProposalUnseen {
                why,
                may_pass,
                look_at: self.look_again_at(id, None),
            }]);
        }
        Meaning::Events(vec![Event::CouldNotRun {
            why: format!("{}: {why}", effect.undone()),
            may_pass,
            retry_at,
        }])
    }

    /// When a pull request is looked at again: sooner while things change, or where it was just pushed.
    fn look_again_at(&self, id: &TicketId, seen: Option<&Seen>) -> model::Time {
        let Some((_, proposal)) = self.ticket(id).and_then(Ticket::proposal) else {
            return self.now + backoff::proposal(0);
        };
        let is_new = seen.is_some_and(|seen| proposal.is_news(seen));
        let looks = if is_new { 0 } else { proposal.looks + 1 };
        self.now + backoff::proposal(looks)
    }

    /// When a landing that a person's edits are in the way of is tried again.
    fn land_again_at(&self, id: &TicketId) -> model::Time {
        let since = self.ticket(id).map_or(self.now, |t| t.since);
        self.now + backoff::landing(self.now.since(since))
    }

    /// When a submission that could not be checked is built for again.
    pub(crate) fn check_again_at(&self, id: &TicketId) -> model::Time {
        let mut round = 0;
        if let Some(State::Verify(verify)) = self.ticket(id).map(|t| &t.state) {
            round = verify.round;
        }
        self.now + backoff::hold(round)
    }

    /// The end of a step that failed, with the limits that are left after it. What it used comes with what
    /// the client now calls the session's total.
    pub(super) fn failed_step(
        &self,
        id: &TicketId,
        (usage, total_micro_usd): (Usage, Option<u64>),
        failure: Failure,
    ) -> attempt::Event {
        let attempt = self.ticket(id).and_then(Ticket::attempt);
        let next = model::policy::failure::after(attempt.map(|a| &a.conversation), &failure, self.now);
        attempt::Event::StepFailed {
            usage,
            total_micro_usd,
            retry_at: self.now + next.wait,
            errors_left: next.errors_left,
            repeats_left: next.repeats_left,
            fresh: self.fresh_session(id),
            failure,
        }
    }

    pub(super) fn attempts_left(&self, id: &TicketId) -> u32 {
        let tries = self.ticket(id).map_or(0, |t| t.tries);
        self.settings.run.attempts.saturating_sub(tries)
    }

    pub(super) fn steps_left(&self, id: &TicketId) -> u32 {
        let steps = self
            .ticket(id)
            .and_then(|t| t.attempt())
            .map_or(0, |a| a.conversation.steps);
        self.settings.run.max_steps.saturating_sub(steps)
    }

    fn recoveries_left(&self, id: &TicketId) -> u32 {
        let recoveries = self
            .ticket(id)
            .and_then(|t| t.attempt())
            .map_or(0, |a| a.recoveries);
        self.settings.run.recoveries.saturating_sub(recoveries)
    }

    /// When a ticket that goes back to the queue is given out again.
    pub(super) fn reopen_at(&self, id: &TicketId) -> model::Time {
        let tries = self.ticket(id).map_or(0, |t| t.tries);
        self.now + backoff::reopen(tries)
    }
}

/// The meaning of a report.
enum Meaning {
    Events(Vec<Event>),
    Nothing,
    Again(String),
    Hindered(String),
}

/// The cause of what follows a report, for people who ask how a ticket came to where it is.
fn cause(effect: &Effect) -> &'static str {
    match effect {
        Effect::PrepareWorkspace { .. } => "its workspace was made",
        Effect::Attempt(attempt::Effect::StartStep { .. }) => "its step was started",
        Effect::Attempt(attempt::Effect::StopRun { .. }) => "its run was asked to stop",
        Effect::Attempt(attempt::Effect::InspectWorkspace { .. }) => "its workspace was inspected",
        Effect::Attempt(attempt::Effect::CreateChild { .. }) => "its child was written",
        Effect::Unify { .. } => "its work is its parent's",
        Effect::BuildCandidate { .. } => "its branch was imported and merged",
        Effect::StartCheck { .. } => "the start of its check was tried",
        Effect::StartReview { .. } => "its review was started",
        Effect::RemoveReview { .. } => "the checkout of its review was removed",
        Effect::Land { .. } => "its landing was tried",
        Effect::LookAtProposal { .. } => "its pull request was looked at",
        Effect::KeepWork { .. } | Effect::RemoveWorkspace { .. } => "its workspace was removed",
        Effect::WriteFile(_) | Effect::AddNote { .. } | Effect::CreateTicket(_) => "its file was written",
    }
}
