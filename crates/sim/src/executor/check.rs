//! A run of the checks begins: when it ends and how is drawn here, whatever happens to the engine meanwhile.

use engine::Report;
use model::ticket::{CheckOutcome, CheckTask, Effect, Loss};
use model::{RunId, TicketId, Time};

use super::{Executor, PINS};
use crate::Plant;
use crate::chance::Site;
use crate::checks::{Act, CHECK, Check, GRACE, SHAKY, retry};
use crate::commitments;
use crate::git::{By, Git, green};

impl Executor<'_> {
    pub(super) fn start_check(&mut self, ticket: &TicketId, effect: &Effect) -> Report {
        let Effect::StartCheck {
            run,
            task,
            slot,
            commit,
            command,
            plan,
            set_up,
            anew,
            ..
        } = effect
        else {
            return Report::Done;
        };
        let Some(commit) = self.world.git.find(commit) else {
            return Report::TargetMoved;
        };
        let (git, checks) = (&self.world.git, &mut self.world.checks);
        if checks.runs.contains_key(run) {
            return Report::CheckSpawned;
        }
        let command = &command.to_string();
        let is_of_commands = matches!(task, CheckTask::Candidate | CheckTask::Target);
        if is_of_commands && !*anew && checks.is_known(git, commit, command) {
            return Report::PassedBefore;
        }
        if self.plant != Some(Plant::SharedCheckout) {
            checks.clear(*slot);
        }
        if self.half {
            return Report::CheckSpawned;
        }
        let needed = match task {
            CheckTask::SetUp => *set_up,
            CheckTask::Candidate | CheckTask::Commitment | CheckTask::Target => {
                u32::try_from(plan.setup.len()).unwrap_or(u32::MAX)
            }
        };
        if *task == CheckTask::SetUp && *set_up == 0 {
            checks.set_up.insert(*slot, 0);
        }
        if checks.set_up.get(slot).copied().unwrap_or(0) != needed {
            return Report::NotSetUp;
        }
        let finds_faults = [CHECK, SHAKY].contains(&command.as_str()) && *task != CheckTask::SetUp;
        let is_red = |commit: usize| finds_faults && !green(git.tree(commit));
        // A green tree fails it no more often than that is repeated.
        let may_be_flaky = *task == CheckTask::Candidate
            && checks.failures(run, commit, command) < retry(&self.options.settings, command) as usize;
        let really_red = is_red(commit);
        let red = match self.plant {
            Some(Plant::FailedPrefix) if is_in_train(git, commit) => false,
            Some(Plant::OffByOne) if !git.contains(git.target(), commit) => {
                is_red(behind(git, commit).unwrap_or(commit))
            }
            Some(_) | None => really_red,
        };
        let tip = git.commits[commit].parents.get(1).map(|tip| git.id(*tip));
        let mut rng = self.chance.of(run.as_str());
        let longest = if self.world.calm { 500 } else { 20_000 };
        let takes = rng.ms(0, longest);
        let is_flaky = may_be_flaky && rng.percent(40);
        let unmet = *task == CheckTask::Commitment && !tip.is_some_and(|tip| commitments::is_met(&tip));
        let outcome = if unmet && self.plant != Some(Plant::Unmet) {
            CheckOutcome::Failed {
                output: "it is not there".to_owned(),
            }
        } else if (red || is_flaky) && self.plant != Some(Plant::Unchecked) {
            CheckOutcome::Failed {
                output: "1 failed".to_owned(),
            }
        } else {
            CheckOutcome::Passed
        };
        let now = self.world.now;
        let mut acts = vec![(Time(now.0 + takes), Act::End(outcome))];
        if let Some(mut rng) = self.chance.strikes(Site::CheckStruck) {
            let at = Time(now.0 + rng.ms(0, 20_000));
            match rng.below(6) {
                0 | 1 => {
                    // Often for good, as far as the check is concerned.
                    let until = Time(at.0 + rng.ms(0, 1_200_000));
                    acts.extend([(at, Act::Freeze), (until, Act::Thaw)]);
                }
                2 | 3 => {
                    let how = Loss::Signal { signal: 9 };
                    acts = vec![(at, Act::End(CheckOutcome::Lost { how }))];
                }
                4 => {
                    let how = Loss::Vanished;
                    acts = vec![(at, Act::End(CheckOutcome::Lost { how }))];
                }
                _ => {
                    let why = "no such command".to_owned();
                    acts = vec![(at, Act::End(CheckOutcome::CouldNotRun { why }))];
                }
            }
            acts.sort_by_key(|(at, _)| *at);
        }
        let check = Check {
            run: run.clone(),
            ticket: ticket.clone(),
            task: *task,
            slot: *slot,
            commit,
            command: command.clone(),
            set_up: *set_up,
            began: now,
            acts,
            is_false: red != really_red,
            end: None,
            frozen: None,
            stop_by: None,
        };
        self.world.checks.current.insert(*slot, run.clone());
        self.world.checks.runs.insert(run.clone(), check);
        Report::CheckSpawned
    }

    /// Ends a check that runs.
    pub(super) fn stop_check(&mut self, run: &RunId) -> Report {
        let by = Time(self.world.now.0 + self.rng.ms(0, GRACE));
        match self.world.checks.runs.get_mut(run) {
            Some(check) if self.plant == Some(Plant::SharedCheckout) && check.stop_by.is_none() => {
                check.acts.clear();
                check.stop(Time(by.0 + 60_000));
            }
            Some(check) => check.stop(by),
            None => {}
        }
        Report::Stopped
    }
}

/// Whether a merged result stands on another one that has not landed.
fn is_in_train(git: &Git, commit: usize) -> bool {
    let ahead = git.commits[commit].parents.first();
    ahead.is_some_and(|ahead| {
        matches!(git.commits[*ahead].by, By::Crew(..)) && !git.contains(git.target(), *ahead)
    })
}

/// The merged result that stands on another one, where a ref has it.
fn behind(git: &Git, commit: usize) -> Option<usize> {
    let mut pinned = git
        .refs
        .iter()
        .filter(|(name, _)| name.starts_with(PINS))
        .map(|(_, at)| *at);
    pinned.find(|at| git.commits[*at].parents.first() == Some(&commit))
}
