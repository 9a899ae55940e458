//! Facts and orders in words, for people. Text of agents and tickets in them is not sanitised: the frontend
//! does that.

use crate::attempt::{self, AfterStop, Class, Prompt, Signal, Workspace};
use crate::journal::{Fact, State};
use crate::policy::{attention, failure};
use crate::target::{Target, Verdict};
use crate::ticket::{
    self, AfterLanding, AfterReview, CheckOutcome, CheckPlan, CheckStop, CheckTask, FileStatus, Released,
    ReviewEvent, Verdict as TicketVerdict,
};
use crate::{Oid, project};

/// The event, as the end of a sentence that began with the ticket or the project.
#[must_use]
pub fn describe(fact: &Fact) -> String {
    match fact {
        Fact::Project(event) => of_project(event),
        Fact::Ticket(event) => of_ticket(event),
    }
}

/// An event in words, as [`describe`] has it, beside the state after it: that counts failed steps beyond a
/// retry.
#[must_use]
pub fn describe_with(fact: &Fact, after: &State) -> String {
    match (fact, after) {
        (Fact::Ticket(ticket::Event::Attempt(event)), State::Ticket(ticket)) => {
            let attempt = ticket.attempt();
            of_attempt(event, attempt.map(|attempt| attempt.conversation.in_a_row))
        }
        (Fact::Ticket(ticket::Event::CommitmentUnmet { id, .. }), State::Ticket(ticket)) => {
            let promise = ticket.commitment(*id).map(|one| format!(": {}", one.promise));
            describe(fact) + &promise.unwrap_or_default()
        }
        (Fact::Ticket(_) | Fact::Project(_), _) => describe(fact),
    }
}

/// The end of the output of a failed check or set-up, and below that the way in which it ended.
#[must_use]
pub fn printed(fact: &Fact) -> Option<&str> {
    match fact {
        Fact::Ticket(
            ticket::Event::ChecksFailed { output, .. }
            | ticket::Event::CommitmentUnmet { output, .. }
            | ticket::Event::TargetRed { output, .. },
        ) => Some(output.trim_end()),
        Fact::Ticket(ticket::Event::Released {
            why: Released::SetUpFailed { output, .. },
        }) => Some(output.trim_end()),
        Fact::Project(project::Event::Target(target)) => target.verdict.printed(),
        Fact::Ticket(_) | Fact::Project(_) => None,
    }
}

/// How a failed check ended, as an addition to its command.
fn in_brackets(output: &str) -> String {
    let how = ticket::how_it_ended(output);
    how.map(|how| format!(" ({how})")).unwrap_or_default()
}

/// True if a person who watches a run wants a line about it.
#[must_use]
pub fn matters(fact: &Fact) -> bool {
    match fact {
        Fact::Project(event) => match event {
            project::Event::AgentRetired { .. }
            | project::Event::HarnessPaused { .. }
            | project::Event::HarnessFreed { .. }
            | project::Event::DayBudgetLow { .. }
            | project::Event::DayBudgetSpent { .. }
            | project::Event::DayBudgetFree => true,
            project::Event::Target(target) => !matches!(
                target.verdict,
                Verdict::Unchecked | Verdict::Checking { command: None, .. }
            ),
            project::Event::Opened
            | project::Event::Initialized
            | project::Event::AgentsBusy
            | project::Event::AgentsIdle
            | project::Event::Closing
            | project::Event::Closed
            | project::Event::AgentSpawned { .. } => false,
        },
        Fact::Ticket(event) => match event {
            ticket::Event::Attempt(event) => match event {
                attempt::Event::StepFinished { .. }
                | attempt::Event::StepFailed { .. }
                | attempt::Event::StopOrdered { .. }
                | attempt::Event::Answered { .. }
                | attempt::Event::Woken
                | attempt::Event::WokenEarly { .. }
                | attempt::Event::WaitTimedOut
                | attempt::Event::Recovered { .. } => true,
                attempt::Event::WorkspaceReady { .. }
                | attempt::Event::StepStarted { .. }
                | attempt::Event::WorkerSpawned
                | attempt::Event::Retried { .. }
                | attempt::Event::TicketEdited
                | attempt::Event::Submitted
                | attempt::Event::ChecksPassed
                | attempt::Event::Returned { .. } => false,
            },
            ticket::Event::Review { event, .. } => match event {
                ReviewEvent::Failed { .. }
                | ReviewEvent::StopOrdered { .. }
                | ReviewEvent::VerdictNoted { .. } => true,
                ReviewEvent::Started { .. } | ReviewEvent::Spawned | ReviewEvent::Finished { .. } => false,
            },
            ticket::Event::Created { .. }
            | ticket::Event::Edited { .. }
            | ticket::Event::CheckStarted
            | ticket::Event::Coupled { .. }
            | ticket::Event::JoinedTrain { .. }
            | ticket::Event::TrialCancelled
            | ticket::Event::BatchLanding { .. }
            | ticket::Event::BatchPutOff { .. }
            | ticket::Event::CandidateBuilt { .. }
            | ticket::Event::CheckOrdered { .. }
            | ticket::Event::LandingRetried
            | ticket::Event::LookOrdered
            | ticket::Event::ProposalSeen { .. }
            | ticket::Event::LandingEndOrdered { .. }
            | ticket::Event::NotLanded
            | ticket::Event::RetryDue
            | ticket::Event::FileDrifted
            | ticket::Event::FileHeeded => false,
            ticket::Event::CommitmentAdded { .. }
            | ticket::Event::CommitmentUnmet { .. }
            | ticket::Event::CommitmentsHeld { .. }
            | ticket::Event::CommitmentsApproved { .. } => true,
            ticket::Event::CheckEnded { outcome, .. } => matches!(outcome, CheckOutcome::Lost { .. }),
            // The next attempt goes on with the last commit of the one before it.
            ticket::Event::WorkKept { work } => !work.iter().all(ticket::KeptWork::is_attempt),
            ticket::Event::CheckStopOrdered { .. }
            | ticket::Event::Claimed { .. }
            | ticket::Event::Submitted { .. }
            | ticket::Event::Released { .. }
            | ticket::Event::TrialPassed { .. }
            | ticket::Event::TrialFailed { .. }
            | ticket::Event::Uncoupled { .. }
            | ticket::Event::ChecksPassed { .. }
            | ticket::Event::ChecksFailed { .. }
            | ticket::Event::NoCommits { .. }
            | ticket::Event::Conflicted { .. }
            | ticket::Event::CouldNotRun { .. }
            | ticket::Event::TargetRed { .. }
            | ticket::Event::Diverged { .. }
            | ticket::Event::SensitivePaths { .. }
            | ticket::Event::ReviewClaimed { .. }
            | ticket::Event::ReviewCrashed { .. }
            | ticket::Event::ReviewGaveUp { .. }
            | ticket::Event::ReviewRefused { .. }
            | ticket::Event::NobodyReviews { .. }
            | ticket::Event::ReviewEndOrdered { .. }
            | ticket::Event::ReviewApproved { .. }
            | ticket::Event::Returned { .. }
            | ticket::Event::Approved { .. }
            | ticket::Event::Rejected { .. }
            | ticket::Event::WorkFailed { .. }
            | ticket::Event::Landed { .. }
            | ticket::Event::Proposed { .. }
            | ticket::Event::ProposalUnseen { .. }
            | ticket::Event::ChangesRequested { .. }
            | ticket::Event::ProposalClosed
            | ticket::Event::TargetMoved
            | ticket::Event::CheckoutEdited { .. }
            | ticket::Event::RecoveryNotNeeded
            | ticket::Event::RecoveryLanded { .. }
            | ticket::Event::Retried { .. }
            | ticket::Event::Waived { .. }
            | ticket::Event::PathsApproved { .. }
            | ticket::Event::Dropped { .. }
            | ticket::Event::ClosedByPerson
            | ticket::Event::Reopened { .. }
            | ticket::Event::FileUnheeded { .. }
            | ticket::Event::WorkFound
            | ticket::Event::BudgetSpent { .. }
            | ticket::Event::BudgetRaised { .. } => true,
        },
    }
}

fn of_project(event: &project::Event) -> String {
    match event {
        project::Event::Opened => "an engine took the repository".to_owned(),
        project::Event::Initialized => "the engine is up".to_owned(),
        project::Event::AgentsBusy => "there is work under way".to_owned(),
        project::Event::AgentsIdle => "no work is under way".to_owned(),
        project::Event::Closing => "the engine was asked to stop".to_owned(),
        project::Event::Closed => "the engine stopped".to_owned(),
        project::Event::AgentSpawned { name } => format!("agent {name} was spawned"),
        project::Event::AgentRetired { name } => format!("agent {name} was retired"),
        project::Event::HarnessPaused { harness, pause } => match pause.until {
            Some(until) => format!(
                "no step is started on {harness} before {until} ({}): {}",
                pause.class.name(),
                pause.message
            ),
            None => format!("no step is started: {}", attention::refused(harness, pause)),
        },
        project::Event::HarnessFreed { harness, by } => {
            format!("steps are started on {harness} again: {by} asked for it")
        }
        project::Event::DayBudgetLow { budget, .. } => {
            format!("most of the day's budget is spent: {budget}")
        }
        project::Event::DayBudgetSpent { pause } => pause.to_string(),
        project::Event::DayBudgetFree => "the day's budget has room again: steps are started".to_owned(),
        project::Event::Target(target) => of_target(target),
    }
}

fn of_target(target: &Target) -> String {
    let commit = target.commit.short();
    match &target.verdict {
        Verdict::Unchecked => {
            format!("the target is {commit}: agents are started, and its checks are not run")
        }
        Verdict::Checking { command: None, .. } => {
            format!("the target is {commit}: its checks come first")
        }
        Verdict::Checking {
            command: Some(command),
            is_canary: false,
        } => format!("runs on the bare target: {command}"),
        Verdict::Checking {
            command: Some(command),
            is_canary: true,
        } => format!("tries whether it looks at the tree, with broken sources: {command}"),
        Verdict::Passed => {
            let indifferent = target.indifferent();
            let others = match indifferent.is_empty() {
                true => String::new(),
                false => format!("; passed with broken sources too: {}", indifferent.join("; ")),
            };
            format!("the target passes its checks ({commit}){others}")
        }
        Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::CouldNotRun { .. } => {
            let fault = target.verdict.fault().unwrap_or_default();
            let again = target.retry_at.map(|at| format!(" (next try not before {at})"));
            fault + &again.unwrap_or_default()
        }
    }
}

fn of_ticket(event: &ticket::Event) -> String {
    use ticket::Event;
    match event {
        Event::Created { spec } => format!("seen in the queue: {}", spec.title),
        Event::Edited { .. } => "its file was edited".to_owned(),
        Event::Claimed { agent, .. } => format!("given to {agent}"),
        Event::Attempt(event) => of_attempt(event, None),
        Event::Submitted { by, .. } => format!("submitted by {by}"),
        Event::Released { why } => match why {
            Released::Killed { by } => format!("taken back: {by} killed its agent"),
            Released::Reaped { why } => format!("taken back, its agent was given up: {why}"),
            Released::WorkspaceFailed {
                why, attempts_left, ..
            } => {
                format!(
                    "its workspace could not be made, {}: {why}",
                    left(*attempts_left, "attempt")
                )
            }
            Released::SetUpFailed { why, retry_at, .. } => {
                format!("its workspace could not be set up (next try not before {retry_at}): {why}")
            }
            Released::WorkspaceLost { attempts_left, .. } => {
                format!("its workspace is gone, {}", left(*attempts_left, "attempt"))
            }
        },
        Event::CheckStarted => "its turn to be checked".to_owned(),
        Event::Coupled { coupling } => format!(
            "merged in the train on {}, which is {}: place {}",
            coupling.ahead,
            coupling.on.short(),
            coupling.place
        ),
        Event::JoinedTrain { candidate, .. } => {
            format!(
                "in the train, merged on {} as {}",
                candidate.target.short(),
                candidate.commit.short()
            )
        }
        Event::TrialPassed { passed, .. } if passed.is_empty() => {
            "nothing to check: no checks are configured".to_owned()
        }
        Event::TrialPassed { passed, .. } => format!("the train up to it passed: {}", passed.join("; ")),
        Event::TrialFailed { which, output } => {
            format!("the train up to it failed: {which}{}", in_brackets(output))
        }
        Event::TrialCancelled => "its checks in the train are of no use any more".to_owned(),
        Event::Uncoupled { why, .. } => format!("taken out of the train: {}", why.words()),
        Event::BatchLanding { tip, batch, .. } => {
            format!("landing in a batch of {} with {tip}", batch.entries.len())
        }
        Event::BatchPutOff { .. } => {
            "its landing is put off: another entry of its batch cannot land".to_owned()
        }
        Event::CheckOrdered { run, task, .. } => match task {
            CheckTask::SetUp => format!("setting up the checks' checkout: run {run}"),
            CheckTask::Candidate => format!("a check of the merged result: run {run}"),
            CheckTask::Commitment => format!("a commitment is verified on the merged result: run {run}"),
            CheckTask::Target => format!("the same check of the target alone: run {run}"),
        },
        Event::CheckStopOrdered { why } => match why {
            CheckStop::Pause => "its check is being stopped with the engine".to_owned(),
            CheckStop::Frozen => "its check is being stopped: its shim is frozen".to_owned(),
        },
        Event::CheckEnded { run, outcome } => format!("run {run} of the checks {}", ended(outcome)),
        Event::CandidateBuilt { candidate, plan } => {
            let (target, commit) = (candidate.target.short(), candidate.commit.short());
            format!("merged on {target} as {commit}{}", skipped(plan))
        }
        Event::ChecksPassed { passed, .. } if passed.is_empty() => {
            "nothing to check: no checks are configured".to_owned()
        }
        Event::ChecksPassed { passed, .. } => format!("checks passed: {}", passed.join("; ")),
        Event::ChecksFailed {
            which,
            output,
            steps_left,
            repeat,
            ..
        } => {
            let (left, same) = (left(*steps_left, "step"), same(repeat.as_ref()));
            if which == Prompt::TAKING_OVER {
                return format!("the branch was refused, {left}{same}{}", in_brackets(output));
            }
            format!("check failed, {left}{same}: {which}{}", in_brackets(output))
        }
        Event::CommitmentAdded { by, promise } => format!("commitment by {}: {promise}", by.name()),
        Event::CommitmentUnmet {
            id,
            output,
            steps_left,
            repeat,
            ..
        } => {
            let (left, same) = (left(*steps_left, "step"), same(repeat.as_ref()));
            format!("commitment {id} is not met, {left}{same}{}", in_brackets(output))
        }
        Event::CommitmentsHeld { .. } => "its commitments wait for a person's word".to_owned(),
        Event::CommitmentsApproved { by } => format!("its commitments approved by {by}"),
        Event::NoCommits {
            steps_left, repeat, ..
        } => {
            format!(
                "nothing was committed, {}{}",
                left(*steps_left, "step"),
                same(repeat.as_ref())
            )
        }
        Event::Conflicted {
            paths,
            resolutions_left,
            repeat,
        } => {
            format!(
                "does not merge, {}{}: {}",
                left(*resolutions_left, "resolution"),
                same(repeat.as_ref()),
                paths.join(", ")
            )
        }
        Event::CouldNotRun { why, retry_at, .. } => match why.split_once('\n') {
            Some((first, rest)) => format!("{first} (next try not before {retry_at})\n{rest}"),
            None => format!("{why} (next try not before {retry_at})"),
        },
        Event::Diverged { why, retry_at } => format!("{why} (looked at again not before {retry_at})"),
        Event::TargetRed { which, output, .. } => {
            format!(
                "the target itself does not pass the check: {which}{}",
                in_brackets(output)
            )
        }
        Event::SensitivePaths { paths, .. } => {
            format!("touches paths that a person must approve: {}", paths.join(", "))
        }
        Event::ReviewClaimed { agent, .. } => format!("in review by {agent}"),
        Event::Review { event, .. } => of_review(event),
        Event::ReviewCrashed { left: n, .. } => format!("the review ended in errors, {}", left(*n, "try")),
        Event::ReviewGaveUp { left: n, .. } => {
            format!("the review ended without a verdict, {}", left(*n, "try"))
        }
        Event::ReviewRefused { message, .. } => {
            format!("its gatekeeper's credentials are refused: {message}")
        }
        Event::NobodyReviews { why } => format!("nobody may review it: {why}"),
        Event::Approved { .. } => "approved in review: to be merged, checked and landed".to_owned(),
        Event::Rejected { attempts_left: n, .. } => {
            format!("rejected in review: back in the queue, {}", left(*n, "attempt"))
        }
        Event::WorkFailed { .. } => "found impossible in review".to_owned(),
        Event::ReviewEndOrdered { then } => {
            let then = match then {
                AfterReview::Approve { by } => format!("{by} approves"),
                AfterReview::Return { by, why } => format!("{by} sends it back: {why}"),
                AfterReview::Drop { by, reason } => format!("{by} drops it {reason}"),
            };
            format!("its review is ended: {then}")
        }
        Event::ReviewApproved { by } => format!("approved by {by} in a gatekeeper's place"),
        Event::Returned { by, why, .. } => format!("sent back by {by}: {why}"),
        Event::Landed { commit } => format!("landed as {}", commit.short()),
        Event::Proposed { request, .. } => {
            format!("proposed in pull request #{}: {}", request.number, request.url)
        }
        Event::LookOrdered => "its pull request is to be looked at".to_owned(),
        Event::ProposalSeen { seen, .. } => {
            let is = match (seen.is_draft, seen.review) {
                (true, _) => "a draft",
                (false, ticket::ReviewDecision::Open) => "open",
                (false, ticket::ReviewDecision::Approved) => "approved",
                (false, ticket::ReviewDecision::ChangesRequested) => "open, with changes asked for",
            };
            let not = seen.not_merged.as_ref();
            let not = not.map(|why| format!("; it could not be merged: {why}"));
            format!("its pull request is {is}{}", not.unwrap_or_default())
        }
        Event::ProposalUnseen { why, .. } => format!("its pull request could not be looked at: {why}"),
        Event::ChangesRequested { by, why, .. } => {
            format!("{by} asked for changes on its pull request: {why}")
        }
        Event::ProposalClosed => "its pull request was closed without a merge".to_owned(),
        Event::TargetMoved => "the target moved: to be merged and checked again".to_owned(),
        Event::CheckoutEdited { paths, .. } => attention::edits(paths),
        Event::LandingRetried => "landing is tried again".to_owned(),
        Event::LandingEndOrdered {
            then: AfterLanding::Drop { by, reason },
        } => format!("to be dropped by {by} unless it has landed: {reason}"),
        Event::LandingEndOrdered {
            then: AfterLanding::Hold { why, .. },
        } => format!("to be held unless it has landed: {why}"),
        Event::LandingEndOrdered {
            then: AfterLanding::Uncouple,
        } => "its landing is being ended, for another entry of its batch".to_owned(),
        Event::LandingEndOrdered {
            then: AfterLanding::Retry { by },
        } => format!("to be merged anew unless it has landed: {by} asked for it"),
        Event::NotLanded => "its landing was ended: the target does not hold it".to_owned(),
        Event::RecoveryNotNeeded => "not needed: the ticket that it recovers did not fail".to_owned(),
        Event::RecoveryLanded { by, commit, replaces } => {
            let then = match replaces {
                true => "it is closed, and that ticket stands in its place",
                false => "open again, with fresh attempts",
            };
            format!(
                "{by}, which recovers it, has landed as {}: {then}",
                commit.short()
            )
        }
        Event::RetryDue => "tried again by itself".to_owned(),
        Event::Retried { by, .. } => format!("tried again: {by} asked for it"),
        Event::Waived { by, reason } => format!("let pass by {by}: {reason}"),
        Event::PathsApproved { by } => format!("its paths approved by {by}"),
        Event::Dropped { by, reason } if reason.is_empty() => format!("dropped by {by}"),
        Event::Dropped { by, reason } => format!("dropped by {by}: {reason}"),
        Event::ClosedByPerson => "closed by a person".to_owned(),
        Event::Reopened { by } => format!("opened again by {by}"),
        Event::FileDrifted => "its file differed and is written again".to_owned(),
        Event::FileUnheeded { change } => change.words(),
        Event::FileHeeded => "its file is as it should be, or a person has spoken".to_owned(),
        Event::WorkFound => {
            "an engine whose journal is gone had given it to an agent: it is given out again".to_owned()
        }
        Event::WorkKept { work } => {
            let work: Vec<String> = work.iter().map(ticket::KeptWork::words).collect();
            work.join("; ")
        }
        Event::BudgetSpent { budget } => format!("its budget is spent ({budget}): held"),
        Event::BudgetRaised { .. } => "its budget was raised: it goes on".to_owned(),
    }
}

/// `in_a_row`: the number of failed steps in a row after it, where the state is known.
fn of_review(event: &ReviewEvent) -> String {
    match event {
        ReviewEvent::Started { run } => format!("step {run} of its review was ordered"),
        ReviewEvent::Spawned => "its review runs".to_owned(),
        ReviewEvent::StopOrdered { .. } => "its review is being stopped".to_owned(),
        ReviewEvent::Finished { .. } => "the step of its review ended".to_owned(),
        ReviewEvent::Failed { failure, .. } => {
            format!(
                "its review failed ({}): {}",
                failure.class.name(),
                failure.message
            )
        }
        ReviewEvent::VerdictNoted { verdict } => {
            let with = |feedback: &str| match feedback {
                "" => String::new(),
                feedback => format!("; {feedback}"),
            };
            match verdict {
                TicketVerdict::Approve {
                    acceptance_test,
                    feedback,
                } => format!(
                    "its gatekeeper approves, tested by {acceptance_test}{}",
                    with(feedback)
                ),
                TicketVerdict::Reject { reason, feedback } => {
                    format!("its gatekeeper rejects it: {reason}{}", with(feedback))
                }
                TicketVerdict::Fail { reason } => format!("its gatekeeper finds it impossible: {reason}"),
            }
        }
    }
}

fn of_attempt(event: &attempt::Event, in_a_row: Option<u32>) -> String {
    use attempt::Event;
    match event {
        Event::WorkspaceReady {
            base,
            earlier_work: false,
        } => format!("workspace ready on {}", base.short()),
        Event::WorkspaceReady {
            base,
            earlier_work: true,
        } => {
            format!("workspace ready on {}, with earlier work", base.short())
        }
        Event::StepStarted { run, budget, change } => {
            let on = change
                .as_ref()
                .map(|change| format!(", now on {}", change.to.name));
            let warning = budget.map(|budget| format!(", with the warning that {budget} are spent"));
            format!(
                "step started ({run}){}{}",
                on.unwrap_or_default(),
                warning.unwrap_or_default()
            )
        }
        Event::WorkerSpawned => "its process runs".to_owned(),
        Event::StopOrdered { then } => match then {
            AfterStop::Retry { class } => format!("step stopped: {}", class.name()),
            AfterStop::Fail { failure } => {
                format!(
                    "step stopped, its client would try for ever ({}): {}",
                    failure.class.name(),
                    failure.message
                )
            }
            AfterStop::Conclude => {
                "step stopped: it has stated its result, and did not exit within `exit_within`".to_owned()
            }
            AfterStop::Pause => "step stopped with the engine".to_owned(),
            AfterStop::Release { by } => format!("step stopped: the agent was killed by {by}"),
            AfterStop::Reap { why } => format!("step stopped, the agent is given up: {why}"),
            AfterStop::Drop { by, .. } => format!("step stopped: the ticket was dropped by {by}"),
        },
        Event::StepFinished { signal, summary, .. } => {
            let ending = match signal {
                Signal::None => "step finished".to_owned(),
                Signal::Done => "step finished: DONE".to_owned(),
                Signal::Blocked { why } => format!("step finished: BLOCKED: {why}"),
                Signal::Asked { question } => format!("asks: {question}"),
                Signal::WakeupSet { at, why } => format!("sleeps until {at}: {why}"),
            };
            match summary {
                Some(summary) => format!("{ending} ({summary})"),
                None => ending,
            }
        }
        // Nobody's failure: it costs no try.
        Event::StepFailed { failure, .. } if failure.class == Class::KilledByUs => {
            format!("step over: {}", failure.message)
        }
        Event::StepFailed {
            failure,
            errors_left,
            repeats_left,
            retry_at,
            ..
        } => {
            let class = failure.class;
            let errors = failure::ERRORS.saturating_sub(*errors_left);
            let count = failure::in_a_row(class, errors, in_a_row.unwrap_or(errors));
            let count = count.map(|count| format!(", {count}")).unwrap_or_default();
            let again = if *errors_left == 0 || *repeats_left == 0 || class == Class::Auth {
                String::new()
            } else {
                format!(", next try not before {retry_at}")
            };
            format!(
                "step failed ({}{count}{again}): {}",
                class.name(),
                failure.message
            )
        }
        Event::Answered { by, text, .. } => format!("{by} answers: {text}"),
        Event::Woken => "woken: its wait is over".to_owned(),
        Event::WokenEarly { by } => format!("woken before its time by {by}"),
        Event::WaitTimedOut => "nobody answered in time".to_owned(),
        Event::Recovered { workspace, .. } => {
            let found = match workspace {
                Workspace::Missing => "its workspace is gone",
                Workspace::Clean => "its workspace is clean",
                Workspace::Changed => "there is work in its workspace",
            };
            format!("recovered from being stuck: {found}")
        }
        Event::Retried { by, .. } => format!("tried again: {by} asked for it"),
        Event::TicketEdited => "the ticket's text changed: its agent gets the new text".to_owned(),
        Event::Submitted => "submitted".to_owned(),
        Event::ChecksPassed => "its submitted work passed".to_owned(),
        Event::Returned { .. } => "came back to its agent".to_owned(),
    }
}

/// The order, in words.
#[must_use]
pub fn describe_effect(effect: &ticket::Effect) -> String {
    use ticket::Effect;
    match effect {
        Effect::PrepareWorkspace { agent, from, .. } => match from {
            attempt::StartPoint::Target => format!("make the workspace of {agent} on the target"),
            attempt::StartPoint::Revert { commit } => {
                format!(
                    "make the workspace of {agent} with a commit that takes {} back",
                    commit.short()
                )
            }
            attempt::StartPoint::Kept { .. } => {
                format!(
                    "make the workspace of {agent} on the branch that earlier attempts left, or on the target"
                )
            }
        },
        Effect::Attempt(effect) => match effect {
            attempt::Effect::StartStep {
                agent, step, prompt, ..
            } => {
                format!("start step {step} of {agent} ({})", prompt_name(prompt))
            }
            attempt::Effect::StopRun { run } => format!("stop run {run}"),
            attempt::Effect::InspectWorkspace { agent } => format!("look at the workspace of {agent}"),
        },
        Effect::BuildCandidate { round, .. } => format!("save, import and merge the work (round {round})"),
        Effect::StartCheck { command, commit, .. } => format!("run `{command}` on {}", short(commit)),
        Effect::Land {
            candidate,
            batch: Some(batch),
            ..
        } => format!(
            "move the target to {}, with {} tickets",
            short(&candidate.commit),
            batch.entries.len()
        ),
        Effect::StartReview {
            agent,
            step,
            candidate,
            ..
        } => format!(
            "start step {step} of the review of {} by {agent}",
            short(&candidate.commit)
        ),
        Effect::LookAtProposal { url, .. } => format!("look at {url}"),
        Effect::RemoveReview { agent, .. } => format!("remove the checkout of {agent}"),
        Effect::Land { candidate, .. } => format!("move the target to {}", short(&candidate.commit)),
        Effect::KeepWork { number, .. } => {
            format!("keep the work of attempt {number}, remove workspace and branch")
        }
        Effect::RemoveWorkspace { agent, .. } => format!("remove workspace and branch of {agent}"),
        Effect::WriteFile(filing) => {
            let status = match filing.status {
                FileStatus::Open => "open",
                FileStatus::InProgress => "in_progress",
                FileStatus::Closed => "closed",
            };
            let tags: Vec<&str> = filing.tags.iter().map(String::as_str).collect();
            if tags.is_empty() {
                format!("write {status} into its file")
            } else {
                format!("write {status} and {} into its file", tags.join(", "))
            }
        }
        Effect::AddNote { text } => format!("add a note to its file: {text}"),
    }
}

/// The checks that are skipped, as the end of a sentence.
fn skipped(plan: &CheckPlan) -> String {
    if plan.skipped.is_empty() {
        return String::new();
    }
    let names: Vec<String> = plan.skipped.iter().map(ToString::to_string).collect();
    let all = if plan.commands.is_empty() {
        "all checks, "
    } else {
        ""
    };
    format!(
        "; skipped, since it changes none of their paths: {all}{}",
        names.join(", ")
    )
}

/// The end of a run of the checks.
fn ended(outcome: &CheckOutcome) -> String {
    match outcome {
        CheckOutcome::Passed => "has passed".to_owned(),
        CheckOutcome::Flaky { .. } => "has passed when it was repeated, so the check is flaky".to_owned(),
        CheckOutcome::PassedBefore => "is not needed: the same passed before".to_owned(),
        CheckOutcome::NotSetUp => "has to wait: its checkout is not set up".to_owned(),
        CheckOutcome::Failed { output } => format!("has failed{}", in_brackets(output)),
        CheckOutcome::CouldNotRun { why } => format!("could not be run: {why}"),
        CheckOutcome::Lost { how } => format!("was lost: it {how}"),
    }
}

fn prompt_name(prompt: &Prompt) -> &'static str {
    match prompt {
        Prompt::Init => "init",
        Prompt::Resume => "resume",
        Prompt::Step => "step",
        Prompt::Unusable { .. } => "step, a line could not be used",
        Prompt::ChecksFailed { which, .. } if which == Prompt::TAKING_OVER => "branch refused",
        Prompt::ChecksFailed { .. } => "checks failed",
        Prompt::CommitmentUnmet { .. } => "commitment unmet",
        Prompt::NothingCommitted => "nothing committed",
        Prompt::MergeConflict { .. } => "merge conflict",
        Prompt::Returned { .. } => "returned",
        Prompt::LastChance => "last chance",
        Prompt::Answer { .. } => "answer",
        Prompt::Wakeup { .. } => "wakeup",
        Prompt::Unanswered { .. } => "unanswered",
    }
}

fn short(oid: &Oid) -> &str {
    oid.short()
}

/// The number of times that it was the same on unchanged input, from the second time on.
fn same(repeat: Option<&ticket::Repeat>) -> String {
    match repeat {
        Some(repeat) if repeat.times > 1 => {
            let of = repeat.times.saturating_add(repeat.left);
            format!(", the same {} of {of} times", repeat.times)
        }
        Some(_) | None => String::new(),
    }
}

fn left(n: u32, what: &str) -> String {
    match n {
        0 => format!("no {what} left"),
        1 => format!("1 {what} left"),
        n if what == "try" => format!("{n} tries left"),
        n => format!("{n} {what}s left"),
    }
}
