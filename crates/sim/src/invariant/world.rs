//! Invariants between the journal and the world: processes, target, files.

use std::collections::BTreeSet;

use model::conversation::Conversation;
use model::ticket::{Candidate, Effect, FileStatus, Reviewing, Stage, State, Ticket};
use model::{TicketId, Time};
use store::{Ledger, Memory};

use super::{Broken, Checked, Landed, Witness, ensure};
use crate::block_on;
use crate::checks::{self, Check};
use crate::commitments;
use crate::git::By;
use crate::options::Options;
use crate::world::World;

impl Witness {
    /// At most one live process per attempt, and none that no attempt waits for.
    pub(super) fn live_processes_belong_to_attempts(&self, world: &World) -> Checked {
        let mut busy = BTreeSet::new();
        let mut talking = BTreeSet::new();
        for process in world.live() {
            // An attempt and a review have a fence each, which their runs name.
            let claim = process.run.as_str().rsplit_once('.').map(|(claim, _)| claim);
            ensure(busy.insert(claim), "one live process per attempt", || {
                format!(
                    "attempt {} of {} has two, {} is one",
                    process.number, process.ticket, process.run
                )
            })?;
            ensure(
                talking.insert(&process.session),
                "one live process per session",
                || format!("{} shares its session", process.run),
            )?;
            let ticket = self.tickets.get(&process.ticket);
            ensure(
                ticket.is_some_and(|ticket| ticket.waits_for(&process.run)),
                "a live process belongs to an attempt",
                || {
                    let waited: Vec<_> = ticket.into_iter().flat_map(Ticket::live_runs).collect();
                    format!("{} lives; {} waits for {waited:?}", process.run, process.ticket)
                },
            )?;
        }
        Ok(())
    }

    /// A process whose end somebody has ordered was asked to end, or is about to be.
    pub(super) fn what_is_to_end_is_stopped(&self, ledger: &Ledger<Memory>, world: &World) -> Checked {
        for process in world.live().filter(|process| !process.stopped) {
            let run = &process.run;
            let ticket = self.tickets.get(&process.ticket);
            let is_to_end = ticket.is_some_and(|ticket| {
                let stopping = |of: &Conversation| of.stopping.is_some() && of.live_run() == Some(run);
                let ended = |it: &Reviewing| it.then.is_some() && it.of_run(run).is_some();
                ticket.live_conversations().any(stopping) || ticket.reviewing().is_some_and(ended)
            });
            if !is_to_end {
                continue;
            }
            let rows = block_on(ledger.pending(Time(i64::MAX))).unwrap_or_default();
            let stops = |row: &model::journal::Ordered| matches!(&row.effect, Effect::Attempt(model::attempt::Effect::StopRun { run: of }) if of == run);
            ensure(
                rows.iter().any(stops),
                "a run whose end is ordered is stopped",
                || format!("{run} lives, is to end, and nobody will stop it"),
            )?;
        }
        Ok(())
    }

    /// One check at a time has the checkout, and one that no stage waits for is being stopped.
    pub(super) fn live_checks_belong_to_stages(&self, ledger: &Ledger<Memory>, world: &World) -> Checked {
        let live: Vec<&Check> = world.checks.live().collect();
        let slots: BTreeSet<_> = live.iter().map(|check| check.slot).collect();
        ensure(slots.len() == live.len(), "one check at a time", || {
            let runs: Vec<String> = live.iter().map(|check| check.run.to_string()).collect();
            format!("{} run at once, in {slots:?}", runs.join(" and "))
        })?;
        for check in live {
            let waited = self.tickets.get(&check.ticket);
            if waited.is_some_and(|ticket| ticket.waits_for(&check.run)) {
                continue;
            }
            let rows = block_on(ledger.pending(Time(i64::MAX))).unwrap_or_default();
            let is_stopped = |row: &model::journal::Ordered| matches!(&row.effect, Effect::Attempt(model::attempt::Effect::StopRun { run }) if *run == check.run);
            let ends = check.stop_by.is_some_and(|by| world.now <= by);
            ensure(
                ends || rows.iter().any(is_stopped),
                "a check that nobody waits for ends",
                || {
                    let state = waited.map(Ticket::state_name);
                    format!("{} lives; {} is {state:?}", check.run, check.ticket)
                },
            )?;
        }
        Ok(())
    }

    /// A workspace belongs to the attempt that its ticket is at, or it is about to be kept or removed.
    pub(super) fn workspaces_belong_to_attempts(&self, ledger: &Ledger<Memory>, world: &World) -> Checked {
        for ((agent, id), space) in &world.spaces {
            let ticket = self.tickets.get(id);
            let at = ticket.and_then(Ticket::attempt);
            if at.is_some_and(|attempt| attempt.claim.agent == *agent && attempt.claim.number == space.number)
            {
                continue;
            }
            let rows = block_on(ledger.pending(Time(i64::MAX))).unwrap_or_default();
            let cleared = rows.iter().any(|row| {
                let (Effect::KeepWork { agent: of, number } | Effect::RemoveWorkspace { agent: of, number }) =
                    &row.effect
                else {
                    return false;
                };
                row.ticket == *id && of == agent && *number == space.number
            });
            ensure(cleared, "a workspace belongs to an attempt", || {
                format!(
                    "{agent}-{id} is of attempt {}, and {id} is {:?}",
                    space.number,
                    ticket.map(Ticket::state_name)
                )
            })?;
        }
        Ok(())
    }

    /// Every reference of crew's is of a ticket in the journal.
    pub(super) fn references_belong_to_tickets(&self, world: &World) -> Checked {
        let ids: BTreeSet<&str> = self.tickets.keys().map(TicketId::as_str).collect();
        for name in world.git.refs.keys() {
            let Some(rest) = name.strip_prefix("refs/crew/") else {
                continue;
            };
            let id = rest.split('/').nth(1).unwrap_or_default();
            let known = ids.contains(id);
            ensure(known, "a reference belongs to a ticket", || {
                format!("{name} does not")
            })?;
        }
        Ok(())
    }

    /// The reported cost of its steps is the cost in the ticket. The cost of a step whose end no engine
    /// waited for any more is not in it.
    pub(super) fn costs_add_up(&self, ticket: &Ticket, world: &World) -> Checked {
        let runs = world
            .processes
            .values()
            .filter(|process| process.ticket == ticket.id);
        let most: u64 = runs.map(|process| process.cost).sum();
        let reported: u64 = ticket.spent.days.values().sum();
        ensure(reported <= most, "costs add up", || {
            format!(
                "{} has a cost of {reported}, and its steps have cost {most}",
                ticket.id
            )
        })
    }

    /// The target's first-parent chain has the landed commits, in their order, and those that others pushed;
    /// each landed once, and tested.
    pub(super) fn target_is_what_was_landed(&self, world: &World, options: &Options) -> Checked {
        // Only the person who took a commit back from the target answers for that.
        let there = |landed: &&Landed| {
            let at = world.git.find(&landed.commit);
            at.is_none_or(|at| !world.taken_back.contains(&at))
        };
        let mut landed = self.landed.iter().filter(there);
        let mut merged = BTreeSet::new();
        for at in world.git.chain() {
            let commit = &world.git.commits[at];
            let (ticket, number) = match &commit.by {
                By::Root | By::Foreign => continue,
                By::Crew(ticket, number) => (ticket, *number),
                By::Agent(ticket, _) | By::Gatekeeper(ticket) | By::Person(ticket) => {
                    let what = format!("a commit in a workspace of {ticket} is on the target");
                    return Err(Broken {
                        invariant: "the target is what was landed",
                        what,
                    });
                }
            };
            ensure(merged.insert((ticket, number)), "each attempt lands once", || {
                format!("attempt {number} of {ticket} is merged twice")
            })?;
            let known = self.tickets.get(ticket);
            let landing = known.filter(|t| {
                let State::Verify(verify) = &t.state else {
                    return false;
                };
                matches!(verify.stage, Stage::Landing { .. })
                    && t.candidate().is_some_and(|c| c.commit == commit.id)
            });
            let judged = match landing.and_then(Ticket::candidate) {
                Some(candidate) => Some((&candidate.tip, is_waived(candidate))),
                None => landed
                    .next()
                    .filter(|landed| landed.commit == commit.id)
                    .map(|landed| (&landed.tip, landed.is_waived)),
            };
            ensure(judged.is_some(), "the target is what was landed", || {
                format!(
                    "{} of {ticket} is on the target and was not landed, or out of order",
                    commit.id
                )
            })?;
            let waived = judged.is_some_and(|(_, is_waived)| is_waived);
            // A merge in the middle of a batch was never what the target stood at.
            let was_target = world.moved_to.contains(&at);
            let tip = commit.parents.get(1).map(|tip| world.git.id(*tip));
            ensure(
                judged.map(|(tip, _)| tip) == tip.as_ref(),
                "what landed is the tip that was judged",
                || {
                    format!(
                        "{} of {ticket} brings {tip:?}, and {judged:?} was judged",
                        commit.id
                    )
                },
            )?;
            ensure(
                waived || commitments::of(ticket).is_empty() || tip.as_ref().is_some_and(commitments::is_met),
                "what landed meets its commitments",
                || format!("{} of {ticket} is on the target, and {tip:?} does not", commit.id),
            )?;
            ensure(
                waived || !was_target || world.checks.have_passed(at, &checks::commands(&options.settings)),
                "what landed was tested",
                || {
                    format!(
                        "{} of {ticket} is on the target, and its checks have not passed",
                        commit.id
                    )
                },
            )?;
        }
        let missing = landed.next();
        ensure(missing.is_none(), "landed work is in the target", || {
            format!("{missing:?} is not")
        })
    }

    /// A status that crew itself wrote into a file opens no ticket again: its work would be done, and paid
    /// for, twice.
    pub(super) fn only_people_open_again(&mut self, world: &World) -> Checked {
        for id in std::mem::take(&mut self.reopened) {
            let file = world.files.files.get(&id);
            ensure(
                file.is_none_or(|file| !file.by_crew),
                "only people open a ticket again",
                || format!("{id} was opened again, its file {file:?}"),
            )?;
        }
        Ok(())
    }

    /// A file that crew closed belongs to a ticket that is done, or crew is about to open the file again: an
    /// engine that was writing it could not know that the ticket was opened meanwhile.
    pub(super) fn closed_only_after_done(&self, ledger: &Ledger<Memory>, world: &World) -> Checked {
        for (id, file) in &world.files.files {
            let done = self.tickets.get(id).is_some_and(Ticket::is_done);
            if done || file.status != FileStatus::Closed || !file.by_crew {
                continue;
            }
            let rows = block_on(ledger.pending(Time(i64::MAX))).unwrap_or_default();
            let opened = rows.iter().any(|row| {
                let Effect::WriteFile(filing) = &row.effect else {
                    return false;
                };
                row.ticket == *id && filing.status != FileStatus::Closed
            });
            ensure(opened, "closed only after landed", || {
                let state = self.tickets.get(id).map(Ticket::state_name);
                format!("crew closed the file of {id}, which is {state:?}")
            })?;
        }
        Ok(())
    }
}

/// True if a person let it pass in spite of its checks.
pub(super) fn is_waived(candidate: &Candidate) -> bool {
    candidate
        .passed
        .iter()
        .any(|passed| passed.starts_with("waived by"))
}

/// No commit of an agent, and no change it did not commit, is out of reach.
pub(super) fn work_is_reachable(world: &World) -> Checked {
    let git = &world.git;
    let mut seen = vec![false; git.commits.len()];
    for at in git
        .refs
        .values()
        .chain(world.spaces.values().map(|space| &space.head))
    {
        git.mark(*at, &mut seen);
    }
    for at in world.made.iter().filter(|at| !world.taken_back.contains(at)) {
        ensure(seen[*at], "no commit of an agent is lost", || {
            format!(
                "{} by {:?} is out of reach",
                git.commits[*at].id, git.commits[*at].by
            )
        })?;
    }
    for ((ticket, number, path), content) in &world.unsaved {
        let there = world.spaces.iter().any(|((_, of), space)| {
            of == ticket && space.number == *number && space.dirty.get(path) == Some(content)
        });
        ensure(there, "no uncommitted work is lost", || {
            format!("the change of attempt {number} of {ticket} to {path} is nowhere")
        })?;
    }
    Ok(())
}

/// A person's edits in the checkout are as the person left them.
pub(super) fn edits_are_intact(world: &World) -> Checked {
    for (path, content) in &world.edits {
        ensure(
            world.checkout.get(path) == Some(content),
            "a person's edits are intact",
            || format!("the edit of {path} is gone"),
        )?;
    }
    Ok(())
}
