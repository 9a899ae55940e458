//! A ticket's events in words.

use std::collections::BTreeSet;

use super::attempt::of_attempt;
use super::review::{of_kept, of_review};
use crate::attempt::Prompt;
use crate::policy::attention;
use crate::policy::delegation::LEADER_TAG;
use crate::ticket::{
    self, AfterLanding, AfterReview, CheckOutcome, CheckPlan, CheckStop, CheckTask, Released,
};
use crate::{Actor, TicketId};

/// What is new about the tickets that one waits for.
fn waits(before: &BTreeSet<TicketId>, now: &BTreeSet<TicketId>) -> String {
    let list = |ids: Vec<&str>| ids.join(", ");
    let new = list(now.difference(before).map(TicketId::as_str).collect());
    let gone = list(before.difference(now).map(TicketId::as_str).collect());
    match (new.is_empty(), gone.is_empty()) {
        (false, true) => format!("it waits for {new} now"),
        (true, _) => format!("it waits no more for {gone}"),
        (false, false) => format!("it waits for {new} now, and no more for {gone}"),
    }
}

/// Who may have written an edit, beside a person.
fn by_agents(writers: &BTreeSet<TicketId>) -> String {
    let writers: Vec<&str> = writers.iter().map(TicketId::as_str).collect();
    match writers.is_empty() {
        true => String::new(),
        false => format!(
            "; the agent at work on {} may have written that",
            writers.join(" or ")
        ),
    }
}

fn doubted(tags: &BTreeSet<String>) -> String {
    let tags: Vec<&str> = tags.iter().map(String::as_str).collect();
    let follows = match tags.is_empty() {
        true => format!("the tag `{LEADER_TAG}` does not count"),
        false => format!("it is reviewed as work with the tag {} is", tags.join(", ")),
    };
    format!("agents were at work when its file was written, and it may be one of theirs: {follows}")
}

pub(super) fn of_ticket(event: &ticket::Event) -> String {
    use ticket::Event;
    match event {
        Event::Created { spec } => format!("seen in the queue: {}", spec.title),
        Event::Edited {
            spec,
            waited: Some(before),
        } => format!(
            "its file was edited: {}{}",
            waits(&before.deps, &spec.deps),
            by_agents(&before.writers)
        ),
        Event::Edited { waited: None, .. } => "its file was edited".to_owned(),
        Event::WriterDoubted { tags } => doubted(tags),
        Event::VouchedFor { by } => format!("its file is a person's, says {by}"),
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
        Event::TrialFailed {
            which,
            output,
            fewer: None,
        } => format!("the train up to it failed: {which}{}", in_brackets(output)),
        Event::TrialFailed {
            which,
            fewer: Some(tests),
            ..
        } => format!("{which} {tests}, with the train up to it"),
        Event::TrialCancelled => {
            "its checks in the train are ended: their verdict is not needed any more".to_owned()
        }
        Event::Uncoupled { why, .. } => why.story(),
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
        Event::CheckEnded { run, outcome, tests } => {
            // Where the number decided, the outcome says it.
            let has_passed = matches!(outcome, CheckOutcome::Passed | CheckOutcome::Flaky { .. });
            let tests = tests.filter(|_| has_passed);
            format!("run {run} of the checks {}{}", ended(outcome), counted(tests))
        }
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
        Event::CommitmentWaived { id, by, reason } => format!("commitment {id} is waived by {by}: {reason}"),
        Event::CommitmentsHeld { .. } => "its commitments wait for a person's word".to_owned(),
        Event::CommitmentsApproved { by } => format!("its commitments approved by {by}"),
        Event::TestsHeld { which, tests, .. } => format!("{which} passes, but {tests}: a person is asked"),
        Event::TestsApproved { by } => format!("its fewer tests approved by {by}"),
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
            overtaken,
            repeat,
        } => {
            let again = match overtaken {
                true => "does not merge any more, since other work landed first",
                false => "does not merge",
            };
            format!(
                "{again}, {}{}: {}",
                left(*resolutions_left, "resolution"),
                same(repeat.as_ref()),
                paths.join(", ")
            )
        }
        Event::CouldNotRun { why, retry_at, .. } => {
            let (first, rest) = why.split_at(why.find('\n').unwrap_or(why.len()));
            // What was printed follows its colon.
            let (first, colon) = first.strip_suffix(':').map_or((first, ""), |first| (first, ":"));
            format!("{first} (next try not before {retry_at}){colon}{rest}")
        }
        Event::Diverged { why, retry_at } => format!("{why} (looked at again not before {retry_at})"),
        Event::TargetRed { which, output, .. } => {
            format!(
                "the target itself does not pass the check: {which}{}",
                in_brackets(output)
            )
        }
        Event::Sensitive { paths, secrets, .. } => {
            format!("waits for a person: {}", ticket::sensitive_words(secrets, paths))
        }
        Event::ReviewClaimed { agent, .. } => format!("in review by {agent}"),
        Event::Review { event, .. } => of_review(event),
        Event::ReviewCrashed { left: n, .. } => format!("the review ended in errors, {}", left(*n, "try")),
        Event::ReviewGaveUp { why, left: n, .. } => {
            let why = match why.as_str() {
                "" => String::new(),
                why => format!(": {why}"),
            };
            format!("the review ended without a verdict, {}{why}", left(*n, "try"))
        }
        Event::ApprovalKept { by, paths, .. } => of_kept(by, paths),
        Event::ReviewRefused { message, .. } => {
            format!("its gatekeeper's credentials are refused: {message}")
        }
        Event::NobodyReviews { why } => format!("nobody may review it: {why}"),
        Event::LeftToPerson => "it waits for a person, who looks at all work".to_owned(),
        Event::Approved { .. } => "approved in review: to be merged, checked and landed".to_owned(),
        Event::Rejected { attempts_left: n, .. } => {
            format!("rejected in review: back in the queue, {}", left(*n, "attempt"))
        }
        Event::WorkFailed { .. } => "found impossible in review".to_owned(),
        Event::ReviewEndOrdered { then } => {
            let then = match then {
                AfterReview::Approve { by } => format!("{by} approves"),
                AfterReview::Return { by, why } => format!("{by} sends it back: {why}"),
                AfterReview::TellEdit => "its text has changed, and its agent is told first".to_owned(),
                AfterReview::Drop { by, reason } => format!("{by} drops it {reason}"),
            };
            format!("its review is ended: {then}")
        }
        Event::ReviewApproved { by } => format!("approved by {by} in review"),
        Event::Returned { by, why, .. } => format!("sent back by {by}: {why}"),
        Event::EditReturned { .. } => {
            "its text has changed since its agent read it: it goes back to its agent".to_owned()
        }
        Event::Landed { commit } => format!("landed as {}", commit.short()),
        Event::Proposed { request, .. } => {
            format!("proposed in pull request #{}: {}", request.number, request.url)
        }
        Event::PartsOver { parts } => {
            let over: Vec<String> = parts
                .iter()
                .map(|part| {
                    format!(
                        "{} {}",
                        part.ticket,
                        part.result.as_deref().unwrap_or("is not over")
                    )
                })
                .collect();
            format!("its parts are over: {}", over.join("; "))
        }
        Event::Rewound { by, commit, at } => {
            format!(
                "taken back by {by} to {}, its commit at event {at}",
                commit.short()
            )
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
        } if reason.is_empty() => format!("to be dropped by {by} unless it has landed"),
        Event::LandingEndOrdered {
            then: AfterLanding::Drop { by, reason },
        } => format!("to be dropped by {by} unless it has landed: {reason}"),
        Event::LandingEndOrdered {
            then: AfterLanding::Hold { why, retry_at, .. },
        } => format!("it could not be landed: {why} (next try not before {retry_at})"),
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
        Event::SensitiveApproved { by } => format!("approved by {by}"),
        Event::Dropped { by, reason } if reason.is_empty() => format!("dropped by {by}"),
        Event::Dropped { by, reason } => format!("dropped by {by}: {reason}"),
        Event::ClosedByPerson { by } => format!("closed by {by}"),
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
        Event::LeftoversFound { leftovers } => leftovers.words(),
        Event::BudgetSpent { budget } => format!("its budget is spent ({budget}): held"),
        Event::BudgetRaised { .. } => "its budget was raised: it goes on".to_owned(),
        Event::Delegated { delegated } => format!("a part of {}, whose agent has delegated it", delegated.by),
        Event::Unified {
            unmerged: Some(why), ..
        } => format!("done, and not merged: {why}; it lands with its parent if that one's agent merges it"),
        Event::Unified { work, unmerged: None } => {
            let work = work.as_ref().map(|work| format!(" ({})", work.words()));
            let work = work.unwrap_or_default();
            format!("done: its work is its parent's, and lands with that one{work}")
        }
        Event::ChildrenAbsent { absent } if absent.is_empty() => {
            "its branch has the commits of all its children again".to_owned()
        }
        Event::ChildrenAbsent { absent } => {
            let absent: Vec<&str> = absent.iter().map(TicketId::as_str).collect();
            format!("its branch has not the commits of {} any more", absent.join(", "))
        }
        Event::NotUnified { why } => format!("its work is not in its parent's: {why}"),
        Event::LandedWithParent { parent, commit } => {
            format!("landed with {parent} as {}", commit.short())
        }
        Event::TicketMade { ticket, .. } => {
            format!("its agent has made the ticket {}: {}", ticket.id, ticket.title)
        }
        Event::Commented {
            by: Actor::File,
            text,
        } => format!("a note in its file: {text}"),
        Event::Commented { by, text } => format!("note by {by}: {text}"),
    }
}

/// How a failed check ended, as an addition to its command.
fn in_brackets(output: &str) -> String {
    let how = ticket::how_it_ended(output);
    how.map(|how| format!(" ({how})")).unwrap_or_default()
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
        CheckOutcome::FewerTests { tests, .. } => format!("has passed, but {tests}"),
        CheckOutcome::Failed { output } => format!("has failed{}", in_brackets(output)),
        CheckOutcome::CouldNotRun { why } => format!("could not be run: {why}"),
        CheckOutcome::Lost { how } => format!("was lost: it {how}"),
    }
}

/// The number of tests that a run of the checks has run.
fn counted(tests: Option<u64>) -> String {
    match tests {
        None => String::new(),
        Some(0) => ": it ran no tests".to_owned(),
        Some(1) => ": it ran 1 test".to_owned(),
        Some(n) => format!(": it ran {n} tests"),
    }
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
