//! Calls of agents: the watcher of a run takes them from its folder into the inbox.

use model::RunId;
use model::command::{Command, Outcome};

use super::Simulation;
use crate::block_on;
use crate::invariant::{Checked, ensure};

impl Simulation {
    /// Whether something that nobody has seen was called in this run.
    pub(super) fn has_called(&self, run: &RunId) -> bool {
        self.world.busy_until.is_none() && self.world.calls.iter().any(|written| written.run == *run)
    }

    /// Puts the calls of a run into the inbox.
    pub(super) fn take_calls(&mut self, run: &RunId) {
        let taken: Vec<_> = self
            .world
            .calls
            .extract_if(.., |written| written.run == *run)
            .collect();
        for written in taken {
            let named = if written.stale {
                // With the planted fault the engine takes it for one of the step that runs.
                let is_any = self.case.plant == Some(crate::Plant::AnyRun);
                self.run_before(run)
                    .map(|before| if is_any { run.clone() } else { before })
            } else {
                Some(run.clone())
            };
            let Some((named, fence)) = named.and_then(|named| Some((named.clone(), named.fence()?))) else {
                continue;
            };
            let command = Command::Tool {
                run: named,
                fence,
                call: written.call,
            };
            let id = format!("call-{}", self.commands.len() + 1);
            if block_on(self.ledger.submit(&id, "an agent", self.world.now, &command)).is_ok() {
                if written.stale {
                    self.stale.push(id.clone());
                }
                self.commands.push(id);
            }
        }
    }

    /// A run of the same ticket that is over.
    fn run_before(&self, run: &RunId) -> Option<RunId> {
        let ticket = run.ticket();
        let is_before = |other: &&RunId| *other != run && other.ticket() == ticket;
        let mut others = self.world.processes.keys().filter(is_before);
        others.find(|other| self.world.end_of(other).is_some()).cloned()
    }

    /// What is called in the name of a step that is over changes nothing.
    pub(super) fn old_runs_are_not_heard(&mut self) -> Checked {
        for id in &self.stale {
            let outcome = block_on(self.ledger.outcome(id)).ok().flatten();
            let is_taken = matches!(outcome, Some(Outcome::Accepted { .. }));
            ensure(!is_taken, "a call of a step that is over adds no row", || {
                id.clone()
            })?;
        }
        Ok(())
    }
}
