//! What the world must be like beside the journal: processes, target, files.

use std::collections::BTreeSet;

use model::ticket::{Candidate, FileStatus, Stage, State, Ticket};

use super::{Broken, Checked, Witness, ensure};
use crate::git::By;
use crate::world::World;

impl Witness {
    /// At most one live process per attempt, and none that no attempt waits for.
    pub(super) fn live_processes_belong_to_attempts(&self, world: &World) -> Checked {
        let mut busy = BTreeSet::new();
        let mut talking = BTreeSet::new();
        for process in world.live() {
            let attempt = (&process.ticket, process.number);
            ensure(busy.insert(attempt), "one live process per attempt", || {
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
            let waited = self.tickets.get(&process.ticket).and_then(Ticket::live_run);
            ensure(
                waited == Some(&process.run),
                "a live process belongs to an attempt",
                || format!("{} lives; {} waits for {waited:?}", process.run, process.ticket),
            )?;
        }
        Ok(())
    }

    /// The target's first-parent chain is what landed, in its order, and what others pushed; each landed once, and tested.
    pub(super) fn target_is_what_was_landed(&self, world: &World) -> Checked {
        let mut landed = self.landed.iter();
        let mut merged = BTreeSet::new();
        for at in world.git.chain() {
            let commit = &world.git.commits[at];
            let (ticket, number) = match &commit.by {
                By::Root | By::Foreign => continue,
                By::Crew(ticket, number) => (ticket, *number),
                By::Agent(ticket, _) => {
                    let what = format!("a commit of the agent of {ticket} is on the target");
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
            let told = match landing.and_then(Ticket::candidate) {
                Some(candidate) => Some(is_waived(candidate)),
                None => landed
                    .next()
                    .filter(|(id, _)| *id == commit.id)
                    .map(|(_, waived)| *waived),
            };
            ensure(told.is_some(), "the target is what was landed", || {
                format!(
                    "{} of {ticket} is on the target and was not landed, or out of order",
                    commit.id
                )
            })?;
            let waived = told == Some(true);
            ensure(
                waived || world.passed.contains(&at),
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

    /// A file that crew closed belongs to a ticket that is done.
    pub(super) fn closed_only_after_done(&self, world: &World) -> Checked {
        for (id, file) in &world.files.files {
            if file.status == FileStatus::Closed && file.by_crew {
                let state = self
                    .tickets
                    .get(id)
                    .map_or_else(|| "unknown".to_owned(), Ticket::state_name);
                let done = self.tickets.get(id).is_some_and(Ticket::is_done);
                ensure(done, "closed only after landed", || {
                    format!("crew closed the file of {id}, which is {state}")
                })?;
            }
        }
        Ok(())
    }
}

/// Whether a person let it pass in spite of its checks.
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
    for at in &world.made {
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

/// What a person edited in the checkout is as it was left.
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
