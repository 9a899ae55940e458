//! The bare target: no agent is started on one whose checks have not passed.

use std::collections::VecDeque;

use model::target::{Basis, Target, Verdict};
use model::ticket::{CheckPlan, Event, Stage, State, Ticket, Why};
use model::{Oid, TicketId, Time, project};

use super::{Core, Duty};
use crate::input::{TargetFound, TargetSeen};

/// How many trees that passed are remembered: only the last few may be the target's next one.
const REMEMBERED: usize = 16;
/// How long crew waits, in milliseconds, before it tries again to check a target whose checks could not be
/// run.
const AGAIN_AFTER: i64 = 60_000;

/// The checks before their first run.
const BEGUN: Verdict = Verdict::Checking {
    command: None,
    is_canary: false,
};

/// Checks of the bare target that are to run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TargetCheck {
    /// The target's commit.
    pub commit: Oid,
    /// Its tree.
    pub tree: Oid,
    /// The commands.
    pub plan: CheckPlan,
    /// The number of the attempt to check a target: it numbers the runs.
    pub round: u32,
}

/// The trees on which all commands of a plan have passed, as candidates: one that becomes the target needs no
/// run.
#[derive(Clone, Debug, Default)]
pub(super) struct Proven(VecDeque<(Oid, Vec<String>)>);

impl Proven {
    pub(super) fn note(&mut self, tree: &Oid, commands: &[String]) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((tree.clone(), commands.to_vec()));
    }

    fn has(&self, basis: &Basis) -> bool {
        let mut proven = self.0.iter();
        proven.any(|(tree, commands)| *tree == basis.tree && *commands == basis.plan.commands)
    }
}

impl Core {
    /// The checks of the bare target that are to run now, if any: while a candidate is being checked, they
    /// wait for the checkout.
    #[must_use]
    pub fn target_to_check(&self) -> Option<TargetCheck> {
        let target = self.checking_target()?;
        let is_idle = self.stopping.is_none() && !self.is_a_candidate_checked();
        is_idle.then(|| TargetCheck {
            commit: target.commit.clone(),
            tree: target.basis.tree.clone(),
            plan: target.basis.plan.clone(),
            round: target.round,
        })
    }

    /// The target, while its checks go on: no candidate's checks begin then.
    pub(super) fn checking_target(&self) -> Option<&Target> {
        let target = self.project().target.as_deref()?;
        // A person who starts agents whatever the checks say need not wait for them.
        (self.duty == Duty::Drain && target.is_checking() && !target.anyway).then_some(target)
    }

    /// Whether a candidate has the checkout of checks, or is about to have it.
    fn is_a_candidate_checked(&self) -> bool {
        let is_checked = |ticket: &Ticket| match &ticket.state {
            State::Verify(verify) => matches!(verify.stage, Stage::Building | Stage::Checking(_)),
            State::New | State::Open | State::InProgress(_) | State::Done(_) => false,
        };
        let mut at_work = self.at_work();
        at_work.any(|ticket| ticket.held.is_none() && is_checked(ticket))
    }

    /// The target was looked at. Its checks run, unless there is a verdict on it already.
    pub(super) fn target_seen(&mut self, seen: TargetSeen) {
        let TargetSeen {
            commit,
            tree,
            environment,
            canary_due,
            anyway,
            anew,
        } = seen;
        let plan = CheckPlan {
            setup: self.settings.checks.setup.clone(),
            commands: self.settings.checks.commands.clone(),
        };
        let basis = Basis {
            tree,
            plan,
            environment,
        };
        let old = self.project().target.as_deref();
        // A candidate's checks do not show whether they look at the tree: a round has to, by its canaries.
        let is_proven = self.proven.has(&basis) && !canary_due;
        let passes = basis.plan.commands.is_empty() || is_proven;
        let has_passed = old.is_some_and(|old| old.verdict == Verdict::Passed);
        let is_same = old.is_some_and(|old| old.basis == basis);
        let round = old.map_or(0, |old| old.round);
        let since = self.now;
        let next = match old {
            // Each landing would be another fact, and nobody would learn anything from it.
            Some(old) if passes && has_passed && old.anyway == anyway => return,
            None if passes && !anyway => return,
            // Checks that an engine before this one began go on.
            Some(old) if is_same && (!anew || has_passed || old.is_checking()) => {
                if old.anyway == anyway {
                    return;
                }
                Target {
                    anyway,
                    ..old.clone()
                }
            }
            Some(_) | None => Target {
                commit,
                basis,
                since,
                anyway,
                indifferent: Vec::new(),
                verdict: match passes {
                    true => Verdict::Passed,
                    false => BEGUN,
                },
                round: round + u32::from(!passes),
            },
        };
        self.target_is(next, "the target was looked at");
    }

    /// The checks of the bare target have gone on, or come to a verdict. Nobody waits for an earlier round.
    pub(super) fn target_checked(&mut self, round: u32, found: TargetFound) {
        let Some(target) = self.checking_target().filter(|target| target.round == round) else {
            return;
        };
        let mut indifferent = Vec::new();
        let verdict = match found {
            TargetFound::Running { command, is_canary } => Verdict::Checking {
                command: Some(command),
                is_canary,
            },
            TargetFound::Passed { indifferent: others } => {
                indifferent = others;
                Verdict::Passed
            }
            TargetFound::Blind { which } => Verdict::Blind { which },
            TargetFound::Failed { which, output } => Verdict::Failed { which, output },
            TargetFound::CouldNotRun { why } => Verdict::CouldNotRun {
                why,
                retry_at: Time(self.now.0 + AGAIN_AFTER),
            },
        };
        let since = match &verdict {
            Verdict::Checking { .. } => target.since,
            Verdict::Passed
            | Verdict::Failed { .. }
            | Verdict::Blind { .. }
            | Verdict::CouldNotRun { .. } => self.now,
        };
        let next = Target {
            verdict,
            since,
            indifferent,
            ..target.clone()
        };
        self.target_is(next, "its checks have run");
    }

    /// Begins the checks again that could not be run, once it is time.
    pub(super) fn check_target_again(&mut self) {
        let Some(target) = self.project().target.as_deref() else {
            return;
        };
        let Verdict::CouldNotRun { retry_at, .. } = target.verdict else {
            return;
        };
        // A longer wait is one of a clock that was set back since.
        if retry_at > self.now && retry_at.0 <= self.now.0 + AGAIN_AFTER {
            self.wake_at(retry_at);
            return;
        }
        let next = Target {
            verdict: BEGUN,
            since: self.now,
            round: target.round + 1,
            ..target.clone()
        };
        self.target_is(next, "its checks are tried again");
    }

    fn target_is(&mut self, target: Target, cause: &str) {
        let passes = target.verdict == Verdict::Passed;
        self.ready.touch();
        self.apply_to_project([project::Event::Target(Box::new(target))], cause);
        if passes {
            self.free_what_the_target_held();
        }
    }

    /// Tries the tickets again that are held since the target did not pass.
    fn free_what_the_target_held(&mut self) {
        let is_held = |ticket: &Ticket| {
            let held = ticket.held.as_deref();
            held.is_some_and(|held| held.why == Why::TargetRed)
        };
        let held = self.active_tickets().filter(|(_, ticket)| is_held(ticket));
        let held: Vec<TicketId> = held.map(|(id, _)| id.clone()).collect();
        for id in held {
            self.apply_or_note(&id, Event::RetryDue, "the target passes its checks now");
        }
    }
}
