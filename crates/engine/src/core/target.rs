//! The bare target: no agent is started on one whose checks have not passed.

use std::collections::VecDeque;

use model::target::{Basis, Canary, Target, Verdict};
use model::ticket::{CheckPlan, Stage, State, Ticket, Why};
use model::{Oid, TicketId, Time, project};

use super::{Core, Duty};
use crate::input::{AtRemote, TargetFound, TargetSeen};

/// How many trees that passed are remembered: only the last few may be the target's next one.
const REMEMBERED: usize = 16;
/// How long crew waits, in milliseconds, before it tries again to check a target whose checks could not be
/// run, or asks the remote of a bad one for another commit: twice as long after each further try, up to
/// sixteen times.
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

    /// Whether the next thing for a ticket is to be given to an agent, or a step for which its agent has to
    /// wait for the target.
    pub(super) fn waits_for_target(&self, id: &TicketId) -> bool {
        let ticket = self.ticket(id).filter(|ticket| ticket.held.is_none());
        ticket.is_some_and(|ticket| match &ticket.state {
            State::Open => true,
            State::InProgress(attempt) => attempt.needs_target(),
            State::New | State::Verify(_) | State::Done(_) => false,
        })
    }

    /// Adds to the answer to a person who has set a ticket going that it waits for the target, if it does.
    pub(super) fn with_wait_for_target(&self, id: &TicketId, message: String) -> String {
        let target = self.project().target.as_deref();
        let Some(why) = target
            .and_then(Target::in_the_way)
            .filter(|_| self.waits_for_target(id))
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
            at_remote,
            moved,
        } = seen;
        if let Some(moved) = moved {
            self.target_moved(&commit, moved);
        }
        let doubts = std::mem::take(&mut self.doubts_target);
        self.train_sees_target(&commit);
        // What a set-up leaves behind depends on the commit, such as on its .gitignore.
        if self.hindrances.sees_target(&commit) {
            let is_for_all = |ticket: &Ticket| ticket.failed_set_up().is_some_and(|held| held.for_all);
            self.retry_all(is_for_all, "the target has moved");
        }
        if is_back {
            self.retry_what_may_be_mended("the target branch is back");
        }
        let plan = CheckPlan::of(&self.settings);
        let basis = Basis {
            tree,
            plan,
            environment,
        };
        let remote = self.settings.land.pushes_to().map(str::to_owned);
        let old = self.project().target.as_deref();
        let was_out_of_reach =
            old.is_some_and(|old| matches!(old.verdict, Verdict::OutOfReach { .. }) && !old.anyway);
        match at_remote {
            AtRemote::OutOfReach { why, help, may_pass } if !anyway => {
                let verdict = Verdict::OutOfReach { why, help, may_pass };
                return self.target_out_of_reach((commit, basis), verdict, anew);
            }
            AtRemote::Unasked if was_out_of_reach && !anyway => return,
            AtRemote::Unasked | AtRemote::Free | AtRemote::OutOfReach { .. } => {}
        }
        // A candidate's checks do not show whether they look at the tree: a round has to, by its canaries.
        let is_proven = self.proven.has(&basis) && !canary_due && !doubts;
        let passes = basis.plan.commands.is_empty() || is_proven;
        let has_passed = old.is_some_and(|old| old.verdict == Verdict::Passed);
        let is_same = old.is_some_and(|old| old.basis == basis);
        let round = old.map_or(0, |old| old.round);
        let since = self.now;
        // Earlier verdicts stand where nobody checks.
        let stands = |old: &Target| {
            let is_bad = old.verdict != Verdict::Passed;
            let was_looked_at = !matches!(old.verdict, Verdict::Unchecked | Verdict::OutOfReach { .. });
            anyway || old.is_checking() || was_looked_at && !doubts && !(is_bad && anew)
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
                if old.anyway == anyway && old.verdict == verdict && old.remote == remote {
                    return;
                }
                Target {
                    anyway,
                    verdict,
                    remote,
                    retry_at: old.retry_at.filter(|_| !anyway),
                    ..old.clone()
                }
            }
            Some(_) | None => Target {
                commit,
                since,
                anyway,
                canaries: canaries_for(&basis, old),
                flaky: Vec::new(),
                basis,
                run: None,
                hindered: 0,
                remote,
                looks: 0,
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
        if was_out_of_reach {
            self.retry_what_may_be_mended("work can land on the target again");
        }
    }

    /// Nothing can land on the target, as its remote says: no ticket is given out.
    fn target_out_of_reach(&mut self, (commit, basis): (Oid, Basis), verdict: Verdict, anew: bool) {
        let old = self.project().target.as_deref();
        let was_out_of_reach = old.filter(|old| matches!(old.verdict, Verdict::OutOfReach { .. }));
        let is_known = |old: &&Target| {
            let is_same = old.verdict == verdict && (&old.commit, &old.basis) == (&commit, &basis);
            is_same && !old.anyway && old.retry_at.is_some_and(|at| at > self.now)
        };
        if !anew && old.filter(is_known).is_some() {
            return;
        }
        let next = Target {
            commit,
            since: was_out_of_reach.map_or(self.now, |old| old.since),
            round: old.map_or(0, |old| old.round),
            anyway: false,
            canaries: canaries_for(&basis, old),
            flaky: Vec::new(),
            basis,
            run: None,
            hindered: 0,
            remote: self.settings.land.pushes_to().map(str::to_owned),
            looks: 0,
            retry_at: Some(self.again_after(0)),
            verdict,
        };
        self.target_is(next, "its remote was asked");
    }

    /// When the target is tried or asked for again, after so many times.
    fn again_after(&self, times: u32) -> Time {
        Time(self.now.0 + (AGAIN_AFTER << times.min(MOST_DOUBLINGS)))
    }

    /// Has a target checked anew that a check did not pass, although it counts as one that passes.
    pub(super) fn doubt_target(&mut self) {
        let target = self.project().target.as_deref();
        if self.duty == Duty::Drain && target.is_some_and(|target| target.verdict == Verdict::Passed) {
            self.proven = Proven::default();
            self.doubts_target = true;
            self.out.looks_at_target = true;
        }
    }

    /// Has a target that keeps agents from being started looked at, since a person asks for it: its checks
    /// run again, and its remote is asked for another commit. Gives whether there is such a target.
    pub(super) fn look_at_bad_target(&mut self) -> bool {
        let target = self.project().target.as_deref();
        let is_bad = target.is_some_and(|target| !target.anyway && target.verdict.fault().is_some());
        if is_bad && self.duty == Duty::Drain {
            self.doubts_target = true;
            self.out.looks_at_target = true;
        }
        is_bad && self.duty == Duty::Drain
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
            Verdict::Failed { .. } | Verdict::OutOfReach { .. } => {}
            Verdict::CouldNotRun { .. } => {
                next.hindered = target.hindered + 1;
                next.retry_at = Some(self.again_after(target.hindered));
            }
        }
        if matches!(verdict, Verdict::Failed { .. } | Verdict::Blind { .. }) {
            // Somebody may mend it there.
            next.retry_at = target.remote.as_ref().map(|_| self.again_after(0));
        }
        next.verdict = verdict;
        self.last_runs.target_checked(&next);
        let cause = match next.is_checking() {
            true => "its checks go on",
            false => "its checks have run",
        };
        self.target_is(next, cause);
    }

    /// Begins the checks again that could not be run, and asks the remote of a bad target for another commit,
    /// once it is time.
    pub(super) fn check_target_again(&mut self) {
        let Some(target) = self.project().target.as_deref() else {
            return;
        };
        let Some(retry_at) = target.retry_at else { return };
        if retry_at > self.now {
            self.wake_at(retry_at);
            return;
        }
        let target = target.clone();
        let has_remote = self.settings.land.pushes_to().is_some();
        self.out.looks_at_target |= has_remote;
        match target.verdict {
            Verdict::Failed { .. } | Verdict::Blind { .. } | Verdict::OutOfReach { .. } => {
                let retry_at = has_remote.then(|| self.again_after(target.looks + 1));
                let next = Target {
                    looks: target.looks + 1,
                    retry_at,
                    ..target
                };
                if let Some(at) = retry_at {
                    self.wake_at(at);
                }
                self.target_is(next, "its remote is asked for another commit");
            }
            Verdict::Unchecked | Verdict::Checking { .. } | Verdict::Passed | Verdict::CouldNotRun { .. } => {
                let next = Target {
                    verdict: BEGUN,
                    flaky: Vec::new(),
                    since: self.now,
                    round: target.round + 1,
                    run: None,
                    retry_at: None,
                    ..target
                };
                self.target_is(next, "its checks are tried again");
            }
        }
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

/// The canaries of the target as it was, where the same commands check the next one.
fn canaries_for(basis: &Basis, old: Option<&Target>) -> Vec<Canary> {
    let old = old.filter(|old| old.basis.plan == basis.plan);
    old.map(|old| old.canaries.clone()).unwrap_or_default()
}
