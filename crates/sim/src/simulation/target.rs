//! The bare target: the looks at it and the runs of its checks, as the shell of an engine makes them.

use engine::driver::Event;
use engine::{AtRemote, Expected, Input, TargetFound, TargetMoved, TargetSeen};
use model::moved::Commit;
use model::target::Verdict;
use model::{RunId, Time};

use super::Simulation;
use crate::checks::CHECK;
use crate::git::{By, Git, green, tree_id};
use crate::invariant::Checked;
use crate::options::Looks;

/// Checks of the target that run.
#[derive(Clone, Debug)]
pub(crate) struct TargetCheck {
    round: u32,
    /// Their reports on their way, the next one first.
    pub(crate) reports: Vec<(Time, TargetFound)>,
}

impl Simulation {
    /// The target is looked at, unless its branch is not there, or the engine is up for a command only.
    pub(super) fn look_at_target(&mut self) -> Checked {
        let Looks::Checked { anyway } = self.options.target else {
            return Ok(());
        };
        let target = self.world.git.target();
        let Some(shell) = &mut self.shell else {
            return Ok(());
        };
        if self.errand.is_some() || self.world.unborn_until.is_some() {
            return Ok(());
        }
        let anew = shell.target.replace(target).is_none();
        shell.wants_look = false;
        let git = &self.world.git;
        let moved = moved(git, &shell.driver.core().expected_target());
        self.came(Event::Input(Input::TargetSeen(TargetSeen {
            commit: git.id(target).clone(),
            tree: tree_id(git.tree(target)),
            environment: String::new(),
            canary_due: target.is_multiple_of(3),
            anyway,
            anew,
            is_back: false,
            at_remote: AtRemote::Free,
            moved: Some(moved),
        })))
    }

    /// True if the target has moved since it was last looked at, or the core wants a look.
    pub(super) fn is_target_due(&self) -> bool {
        let shell = self.shell.as_ref();
        let seen = shell.and_then(|shell| Some((shell.target?, shell.wants_look)));
        seen.is_some_and(|(seen, wanted)| wanted || seen != self.world.git.target())
    }

    /// Begins the checks of the target that the core wants run, ends those that it does not want any more,
    /// and gives the next report that has come.
    pub(super) fn next_of_target_check(&mut self) -> Option<Input> {
        let now = self.world.now;
        let longest = if self.world.calm { 500 } else { 20_000 };
        let shell = self.shell.as_mut()?;
        let wanted = shell.driver.core().target_to_check();
        let is_same = |wanted: &engine::TargetCheck| {
            let running = shell.target_check.as_ref();
            running.is_some_and(|running| running.round == wanted.round)
        };
        match wanted {
            None => shell.target_check = None,
            Some(wanted) if is_same(&wanted) => {}
            Some(wanted) => {
                let mut rng = self.chance.of(&format!("round {} on {now}", wanted.round));
                let commands = wanted.plan.names();
                let command = commands.first().cloned().unwrap_or_default();
                let begins = Time(now.0 + rng.ms(0, longest / 2));
                let ends = Time(begins.0 + rng.ms(0, longest / 2));
                let at = self.world.git.find(&wanted.commit);
                let is_green = at.is_some_and(|at| green(self.world.git.tree(at)));
                let is_red = !is_green && commands.iter().any(|command| command == CHECK);
                let which = command.clone();
                let verdict = match rng.below(100) {
                    0..10 if !self.world.calm => Verdict::CouldNotRun {
                        why: "no room".to_owned(),
                        missing: None,
                        may_pass: true,
                    },
                    10..15 if !self.world.calm => Verdict::Blind { which },
                    _ if is_red => Verdict::Failed {
                        which,
                        output: "1 failed".to_owned(),
                    },
                    _ => Verdict::Passed,
                };
                let runs = Verdict::Checking {
                    command: Some(command),
                    is_canary: matches!(verdict, Verdict::Blind { .. }),
                };
                let found = |verdict| TargetFound {
                    verdict,
                    canaries: Vec::new(),
                    flaky: Vec::new(),
                    run: Some(RunId::of_target(wanted.round, 1)),
                };
                shell.target_check = Some(TargetCheck {
                    round: wanted.round,
                    reports: vec![(begins, found(runs)), (ends, found(verdict))],
                });
            }
        }
        let check = shell.target_check.as_mut()?;
        let has_come = check.reports.first().is_some_and(|(at, _)| *at <= now);
        has_come.then(|| Input::TargetChecked {
            round: check.round,
            found: check.reports.remove(0).1,
        })
    }
}

/// The target against where it is expected.
fn moved(git: &Git, expected: &Expected) -> TargetMoved {
    let known: Vec<(&model::Oid, Option<usize>)> = expected
        .seen
        .iter()
        .chain(&expected.landed)
        .map(|commit| (commit, git.find(commit)))
        .collect();
    let has = |tip: usize, at: &Option<usize>| at.is_some_and(|at| git.contains(tip, at));
    let is_new = |at: &usize| {
        let mut known = known.iter().filter_map(|(_, known)| *known);
        expected.seen.is_some() && !known.any(|known| git.contains(known, *at))
    };
    let foreign = |at: &usize| !matches!(git.commits[*at].by, By::Crew(..));
    let by_hand = git.chain().into_iter().rev().filter(is_new).filter(foreign);
    TargetMoved {
        since: expected.seen.clone(),
        by_hand: by_hand
            .map(|at| Commit {
                commit: git.id(at),
                author: "somebody".to_owned(),
                subject: "a change".to_owned(),
            })
            .collect(),
        from_remote: Vec::new(),
        lost: known
            .iter()
            .filter(|(_, at)| !has(git.target(), at))
            .map(|(commit, _)| (*commit).clone())
            .collect(),
    }
}
