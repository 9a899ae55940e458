//! The end of a step in the engine's words, from those of the client's reader.

use std::time::Duration;

use engine::{End, RunEnd};
use model::attempt::{Class, Failure, Mode, Signal, Usage};
use model::commitment::Promise;
use model::ticket::{CheckCommand, Verdict};
use model::{RunId, Time};

/// The end of a step that came to this outcome. `ended_at`: a wakeup counts from the end of the run that
/// asked for it, not from the time when the engine learns of it. `missing`: the program of a commitment that
/// checks would not find.
///
/// Work whose agent has made a commitment that is refused is not submitted before the agent was told: it
/// takes the commitment for made.
pub(super) fn of_outcome(
    id: &RunId,
    outcome: harness::Outcome,
    ended_at: Time,
    missing: impl Fn(&Promise) -> Option<String>,
) -> RunEnd {
    let mut unusable = outcome.refused_commitments;
    let mut commitments = Vec::new();
    for promise in outcome.commitments.into_iter().map(promise) {
        match missing(&promise) {
            Some(program) => unusable.push(impossible(&promise, &program)),
            None => commitments.push(promise),
        }
    }
    let is_held_back = !unusable.is_empty();
    unusable.extend(outcome.unusable);
    let end = |result| match result {
        Ok(harness::Signal::Done) if is_held_back => End::Finished(Signal::None),
        Ok(signal) => End::Finished(of_signal(signal, ended_at)),
        Err(failure) => End::Failed(of_failure(failure)),
    };
    RunEnd {
        run: id.clone(),
        usage: Usage {
            input_tokens: outcome.usage.input_tokens,
            output_tokens: outcome.usage.output_tokens,
            cost_micro_usd: outcome.usage.cost_micro_usd,
            estimated_micro_usd: if outcome.estimated {
                outcome.usage.cost_micro_usd
            } else {
                0
            },
        },
        total_micro_usd: outcome.total_micro_usd,
        // It is written into the merge and into the ticket's file.
        summary: outcome.summary.map(crate::secrets::said),
        modes: outcome.modes.into_iter().map(mode).collect(),
        made: Vec::new(),
        end: end(outcome.result),
        stated: outcome.stated.map(end),
        verdict: outcome
            .verdict
            .and_then(|given| given.verdict.ok())
            .map(of_verdict),
        left: None,
        unusable,
        commitments,
    }
}

/// Why a commitment is not taken whose program checks would not find: nothing that the agent does makes it
/// pass.
fn impossible(promise: &Promise, program: &str) -> String {
    format!(
        "the commitment “{}” is not taken: checks do not find the program {program} on their PATH",
        text::sanitise::fit(&promise.says, 80)
    )
}

fn of_signal(signal: harness::Signal, ended_at: Time) -> Signal {
    match signal {
        harness::Signal::None => Signal::None,
        harness::Signal::Done => Signal::Done,
        harness::Signal::Blocked { why } => Signal::Blocked { why },
        harness::Signal::Asked { question } => Signal::Asked { question },
        harness::Signal::Wakeup { after_ms, why } => Signal::WakeupSet {
            at: ended_at + Duration::from_millis(after_ms),
            why: if why.is_empty() {
                "it did not say why".to_owned()
            } else {
                why
            },
        },
    }
}

fn of_verdict(verdict: harness::Verdict) -> Verdict {
    match verdict {
        harness::Verdict::Approve {
            acceptance_test,
            met,
            feedback,
        } => Verdict::Approve {
            acceptance_test,
            met,
            feedback,
        },
        harness::Verdict::Reject { reason, feedback } => Verdict::Reject { reason, feedback },
        harness::Verdict::Fail { reason } => Verdict::Fail { reason },
    }
}

/// A commitment of an agent: no shell reads its command.
fn promise(made: harness::Commitment) -> Promise {
    Promise {
        says: made.says,
        run: Some(CheckCommand::Argv(made.run)),
    }
}

pub(super) fn mode(mode: harness::Mode) -> Mode {
    match mode {
        harness::Mode::Execute => Mode::Execute,
        harness::Mode::Delegate => Mode::Delegate,
        harness::Mode::Plan => Mode::Plan,
        harness::Mode::BreakUp => Mode::BreakUp,
        harness::Mode::Unify => Mode::Unify,
    }
}

pub(super) fn of_failure(failure: harness::Failure) -> Failure {
    Failure {
        until: failure
            .until_ms
            .map(|ms| Time(i64::try_from(ms).unwrap_or(i64::MAX))),
        ..Failure::new(class(failure.class), failure.message)
    }
}

fn class(class: harness::Class) -> Class {
    match class {
        harness::Class::Transient => Class::Transient,
        harness::Class::RateLimited => Class::RateLimited,
        harness::Class::Overloaded => Class::Overloaded,
        harness::Class::Auth => Class::Auth,
        harness::Class::SessionInUse => Class::SessionInUse,
        harness::Class::SessionMissing => Class::SessionMissing,
        harness::Class::Timeout => Class::Timeout,
        harness::Class::Crash => Class::Crash,
        harness::Class::Lost => Class::Lost,
        harness::Class::KilledByUs => Class::KilledByUs,
        harness::Class::MalformedOutput => Class::MalformedOutput,
        harness::Class::Budget => Class::Budget,
    }
}

pub(super) fn failed(id: &RunId, class: Class, message: &str) -> RunEnd {
    RunEnd {
        run: id.clone(),
        usage: Usage::default(),
        total_micro_usd: None,
        summary: None,
        modes: Vec::new(),
        made: Vec::new(),
        end: End::Failed(Failure::new(class, message)),
        stated: None,
        verdict: None,
        left: None,
        unusable: Vec::new(),
        commitments: Vec::new(),
    }
}
