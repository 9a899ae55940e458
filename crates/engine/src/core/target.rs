//! The bare target: no agent is started on one whose checks have not passed.

use std::collections::VecDeque;

use model::target::{Basis, Target, Verdict};
use model::ticket::{CheckPlan, Stage, State, Ticket, Why};
use model::{Oid, TicketId, Time, project};

use super::{Core, Duty};
use crate::input::{TargetFound, TargetSeen};

/// How many trees that passed are remembered: only the last few may be the target's next one.
const REMEMBERED: usize = 16;
/// How long crew waits, in milliseconds, before it tries again to check a target whose checks could not be
/// run: twice as long after each further try, up to sixteen times.
const AGAIN_AFTER: i64 = 60_000;
const MOST_DOUBLINGS: u32 = 4;

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
pub(super) struct Proven(VecDeque<(Oid, CheckPlan)>);

impl Proven {
    pub(super) fn note(&mut self, tree: &Oid, plan: &CheckPlan) {
        if self.0.len() == REMEMBERED {
            self.0.pop_front();
        }
        self.0.push_back((tree.clone(), plan.clone()));
    }

    fn has(&self, basis: &Basis) -> bool {
        let mut proven = self.0.iter();
        proven.any(|(tree, plan)| *tree == basis.tree && plan.covers(&basis.plan))
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

    /// Whether tickets may be given to agents, and agents that have to wait for the target may be stepped.
    pub(super) fn lets_agents_start(&self) -> bool {
        let target = self.project().target.as_deref();
        target.is_none_or(Target::lets_agents_start)
    }

    /// Adds to the answer to a person who has set a ticket going that it waits for the target, if it does.
    pub(super) fn with_wait_for_target(&self, id: &TicketId, message: String) -> String {
        let is_next = |ticket: &Ticket| match &ticket.state {
            State::Open => true,
            State::InProgress(attempt) => attempt.needs_target(),
            State::New | State::Verify(_) | State::Done(_) => false,
        };
        let ticket = self.ticket(id).filter(|ticket| ticket.held.is_none());
        let target = self.project().target.as_deref();
        let Some(why) = target
            .and_then(Target::in_the_way)
            .filter(|_| ticket.is_some_and(is_next))
        else {
            return message;
        };
        match self.duty {
            Duty::Drain => format!("{message}; the next step waits for the target: {why}"),
            // Nobody has looked at the target since the last engine ended.
            Duty::Command { .. } => {
                format!("{message}; the next step waits for the target, which the next engine checks first")
            }
        }
    }

    /// The target, while its checks go on: no candidate's checks begin then.
    pub(super) fn checking_target(&self) -> Option<&Target> {
        let target = self.project().target.as_deref()?;
        (self.duty == Duty::Drain && target.is_checking()).then_some(target)
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
            is_back,
        } = seen;
        self.train_sees_target(&commit);
        if is_back {
            self.retry_what_may_be_mended("the target branch is back");
        }
        let plan = CheckPlan::of(&self.settings);
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
        // Earlier verdicts stand where nobody checks.
        let stands = |old: &Target| {
            let is_bad = old.verdict != Verdict::Passed;
            anyway || old.is_checking() || !(is_bad && anew || old.verdict == Verdict::Unchecked)
        };
        let next = match old {
            // Each landing would be another fact, and nobody would learn anything from it.
            Some(old) if passes && has_passed && old.anyway == anyway => return,
            None if passes && !anyway => return,
            // Checks that an engine before this one began go on, unless nobody waits for them.
            Some(old) if is_same && stands(old) => {
                let verdict = match anyway && old.is_checking() {
                    true => Verdict::Unchecked,
                    false => old.verdict.clone(),
                };
                if old.anyway == anyway && old.verdict == verdict {
                    return;
                }
                Target {
                    anyway,
                    verdict,
                    retry_at: old.retry_at.filter(|_| !anyway),
                    ..old.clone()
                }
            }
            Some(_) | None => Target {
                commit,
                since,
                anyway,
                canaries: match old {
                    Some(old) if old.basis.plan == basis.plan => old.canaries.clone(),
                    Some(_) | None => Vec::new(),
                },
                flaky: Vec::new(),
                basis,
                run: None,
                hindered: 0,
                retry_at: None,
                verdict: match (passes, anyway) {
                    (true, _) => Verdict::Passed,
                    (false, true) => Verdict::Unchecked,
                    (false, false) => BEGUN,
                },
                round: round + u32::from(!passes && !anyway),
            },
        };
        self.target_is(next, "the target was looked at");
    }

    /// The checks of the bare target have gone on, or come to a verdict. Nobody waits for an earlier round.
    pub(super) fn target_checked(&mut self, round: u32, found: TargetFound) {
        let Some(target) = self.checking_target().filter(|target| target.round == round) else {
            return;
        };
        let TargetFound {
            verdict,
            canaries,
            flaky,
            run,
        } = found;
        let mut next = Target {
            since: self.now,
            run: run.or_else(|| target.run.clone()),
            hindered: 0,
            ..target.clone()
        };
        match &verdict {
            Verdict::Unchecked | Verdict::Checking { .. } => {
                next.since = target.since;
                next.hindered = target.hindered;
            }
            Verdict::Passed | Verdict::Blind { .. } => (next.canaries, next.flaky) = (canaries, flaky),
            Verdict::Failed { .. } => {}
            Verdict::CouldNotRun { .. } => {
                let wait = AGAIN_AFTER << target.hindered.min(MOST_DOUBLINGS);
                next.hindered = target.hindered + 1;
                next.retry_at = Some(Time(self.now.0 + wait));
            }
        }
        next.verdict = verdict;
        let cause = match next.is_checking() {
            true => "its checks go on",
            false => "its checks have run",
        };
        self.target_is(next, cause);
    }

    /// Begins the checks again that could not be run, once it is time.
    pub(super) fn check_target_again(&mut self) {
        let Some(target) = self.project().target.as_deref() else {
            return;
        };
        let Some(retry_at) = target.retry_at else { return };
        if retry_at > self.now {
            self.wake_at(retry_at);
            return;
        }
        let next = Target {
            verdict: BEGUN,
            flaky: Vec::new(),
            since: self.now,
            round: target.round + 1,
            run: None,
            retry_at: None,
            ..target.clone()
        };
        self.target_is(next, "its checks are tried again");
    }

    fn target_is(&mut self, target: Target, cause: &str) {
        let passes = target.verdict == Verdict::Passed;
        self.ready.touch();
        self.apply_to_project([project::Event::Target(Box::new(target))], cause);
        if passes {
            let is_held_for_it = |ticket: &Ticket| {
                let held = ticket.held.as_deref();
                held.is_some_and(|held| held.why == Why::TargetRed)
            };
            self.retry_all(is_held_for_it, "the target passes its checks now");
        }
    }
}
