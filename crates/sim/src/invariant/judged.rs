//! Invariants of what the train decides: who leaves it, who is sent back, and how often a merged result is
//! checked.

use std::collections::BTreeMap;

use model::settings::Settings;
use model::ticket::{Candidate, CheckOutcome, CheckTask, Event, Loss, State, Ticket, WhyUncoupled};
use model::{AgentName, Oid, RunId, TicketId};

use super::{Checked, ensure};
use crate::checks::{retry, stay};
use crate::git::green;
use crate::world::World;

/// The decisions since the last look at the world.
#[derive(Clone, Debug, Default)]
pub(super) struct Judged {
    /// The merged result on which each ticket was to be merged.
    on: BTreeMap<TicketId, Oid>,
    /// Tickets that left the train for a conflict: with their agent, and what they were to be merged on.
    left: Vec<(TicketId, AgentName, Oid)>,
    /// Tickets that were sent back since their checks failed.
    blamed: Vec<(TicketId, Candidate)>,
    /// Tickets whose approval was kept: with the tip that was approved, and the one that it holds for.
    kept: Vec<(TicketId, Oid, Oid)>,
}

impl Judged {
    /// Takes in an event of a ticket.
    pub(super) fn note(&mut self, id: &TicketId, event: &Event, before: &Ticket) {
        if let Event::Coupled { coupling } = event {
            self.on.insert(id.clone(), coupling.on.clone());
        }
        if let Event::Uncoupled {
            why: WhyUncoupled::Conflict { paths, .. },
            ..
        } = event
            && !paths.is_empty()
        {
            let agent = match &before.state {
                State::Verify(verify) => Some(verify.attempt.claim.agent.clone()),
                State::New | State::Open | State::InProgress(_) | State::Done(_) => None,
            };
            if let (Some(on), Some(agent)) = (self.on.remove(id), agent) {
                self.left.push((id.clone(), agent, on));
            }
        }
        if let Event::ApprovalKept { of, tip, .. } = event {
            self.kept.push((id.clone(), of.clone(), tip.clone()));
        }
        if let Event::ChecksFailed { .. } = event {
            let candidate = before.candidate().cloned();
            self.blamed
                .extend(candidate.map(|candidate| (id.clone(), candidate)));
        }
    }

    /// A ticket leaves the train only for a conflict that there is, only who is at fault is sent back, and an
    /// approved tip changes after its approval only in what was in conflict.
    pub(super) fn is_just(&mut self, world: &World) -> Checked {
        let git = &world.git;
        for (id, agent, on) in std::mem::take(&mut self.left) {
            let tip = git.refs.get(&format!("refs/heads/agent/{agent}-{id}"));
            let (Some(tip), Some(on)) = (tip, git.find(&on)) else {
                continue;
            };
            ensure(
                git.merge(on, *tip).is_err(),
                "an entry leaves the train for a real conflict",
                || format!("{id} merges with {}", git.id(on)),
            )?;
        }
        for (id, of, tip) in std::mem::take(&mut self.kept) {
            let (Some(before), Some(now)) = (git.find(&of), git.find(&tip)) else {
                continue;
            };
            // Somebody may have taken the commit that was merged off the target since.
            let ends: Vec<usize> = std::iter::once(git.target())
                .chain(world.moved_to.iter().copied())
                .collect();
            ensure(
                ends.iter()
                    .any(|end| git.only_resolves(before, now, *end).is_some()),
                "an approval is kept over resolved conflicts alone",
                || format!("{tip} of {id} changes more than was in conflict with {of}"),
            )?;
        }
        for (id, candidate) in std::mem::take(&mut self.blamed) {
            let (Some(commit), Some(target)) = (git.find(&candidate.commit), git.find(&candidate.target))
            else {
                continue;
            };
            // The machine has kept a check of it from being run. Only twice that counts as the work's fault.
            let hindered = world.checks.runs.values().filter(|check| {
                let is_hindered = matches!(
                    check.end,
                    Some(
                        CheckOutcome::CouldNotRun { .. }
                            | CheckOutcome::Lost {
                                how: Loss::Signal { .. }
                            }
                    )
                );
                check.commit == commit && check.task != CheckTask::Target && is_hindered
            });
            if hindered.count() > 1 {
                continue;
            }
            ensure(
                !green(git.tree(commit)) && green(git.tree(target)),
                "only the work at fault is sent back",
                || {
                    format!(
                        "{id} is sent back for {}, on {}: they are {} and {}",
                        candidate.commit,
                        candidate.target,
                        colour(green(git.tree(commit))),
                        colour(green(git.tree(target))),
                    )
                },
            )?;
        }
        Ok(())
    }
}

fn colour(is_green: bool) -> &'static str {
    if is_green { "green" } else { "red" }
}

/// The checks of a merged result that have failed are not run again, unless it is built anew, they are
/// repeated as often as the settings say, or they failed in a batch and run once more on it alone.
pub(super) fn no_failure_is_paid_twice(world: &World, settings: &Settings) -> Checked {
    let mut failed: BTreeMap<_, Vec<&RunId>> = BTreeMap::new();
    let trials = if settings.train.is_single() { 1 } else { 2 };
    for check in world.checks.runs.values() {
        let is_over = matches!(check.end, Some(CheckOutcome::Failed { .. }));
        if let (CheckTask::Candidate, true, Some(stay)) = (check.task, is_over, stay(&check.run))
            && check.frozen.is_none()
        {
            let alike = failed.entry((stay, check.commit, &check.command)).or_default();
            alike.push(&check.run);
            ensure(
                alike.len() <= trials * (1 + retry(settings, &check.command) as usize),
                "a merged result that failed is not tried again",
                || format!("{alike:?} have failed alike"),
            )?;
        }
    }
    Ok(())
}

/// A merged result that a ticket waits for is in a ref, and nothing that a gatekeeper has committed is.
/// Once the target has had a merged result, only the person who takes it off the target answers for that.
pub(super) fn refs_hold_what_they_should<'a>(
    tickets: impl Iterator<Item = &'a Ticket>,
    world: &World,
) -> Checked {
    let git = &world.git;
    let mut seen = vec![false; git.commits.len()];
    for at in git.refs.values() {
        git.mark(*at, &mut seen);
    }
    if let Some(made) = world.reviewed.values().find(|made| seen[**made]) {
        ensure(false, "nothing of a gatekeeper's is taken over", || {
            format!("{} by {:?} is in a ref", git.id(*made), git.commits[*made].by)
        })?;
    }
    for at in &world.moved_to {
        git.mark(*at, &mut seen);
    }
    for ticket in tickets {
        let Some(commit) = ticket
            .candidate()
            .and_then(|candidate| git.find(&candidate.commit))
        else {
            continue;
        };
        ensure(seen[commit], "a candidate that is waited for is in a ref", || {
            format!("{} of {} is out of reach", git.id(commit), ticket.id)
        })?;
    }
    Ok(())
}
