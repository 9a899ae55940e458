//! The calm phase: no faults, and everything comes to rest.

use model::Time;

use super::Simulation;
use crate::invariant::Checked;
use crate::words;
use crate::{Who, block_on, people};

impl Simulation {
    pub(super) fn calm_down(&mut self) -> Checked {
        self.note(Who::World, || "calm: nothing goes wrong any more".to_owned());
        self.handle()?;
        (self.world.calm, self.chance.calm) = (true, true);
        self.world.end_what_passes();
        (self.zombie, self.late) = (None, Vec::new());
        people::clear_checkout(&mut self.world);
        people::mend_target(&mut self.world);
        // Else the rest would take as many days as its price has budgets.
        self.options.settings.budget.day_usd = None;
        let memory = self.memory.snapshot();
        self.memory.restore(&memory);
        // Only a new engine knows the rows that an old engine may have written.
        self.crash("the engine is started again");
        self.check()
    }

    pub(super) fn help(&mut self) {
        people::clear_checkout(&mut self.world);
        if let Some(what) = people::mend_target(&mut self.world) {
            self.note(Who::Person, || what);
        }
        if let Some(what) = people::tidy(&mut self.world, &self.witness, &mut self.chance.order) {
            self.note(Who::Person, || what);
        }
        let tickets: Vec<_> = self.witness.tickets.values().cloned().collect();
        let shut = self
            .witness
            .audit
            .project()
            .paused
            .values()
            .any(|pause| pause.until.is_none());
        if let Some(ticket) = tickets.first().filter(|_| shut) {
            self.note(Who::Person, || "helper: the credentials are renewed".to_owned());
            self.submit(&model::command::Command::Retry {
                ticket: ticket.id.clone(),
            });
        }
        for ticket in tickets {
            let asked = self.helped.get(&ticket.id).copied().unwrap_or(0);
            let has_file = self.world.files.files.contains_key(&ticket.id);
            let Some(command) = people::help(&ticket, has_file, asked) else {
                continue;
            };
            *self.helped.entry(ticket.id.clone()).or_default() += 1;
            self.note(Who::Person, || {
                format!("helps: asks to {}", words::asked(&command))
            });
            self.submit(&command);
        }
    }

    pub(super) fn at_rest(&self) -> bool {
        let Some(shell) = &self.shell else { return false };
        if !shell.is_quiet()
            || !self.hook_is_at_rest()
            || shell.first_look.is_some()
            || !self.world.files.looks.is_empty()
            || self.world.live().next().is_some()
            || self.world.checks.live().next().is_some()
            || !self
                .witness
                .tickets
                .values()
                .all(|t| t.is_done() || t.spec.kind == "epic")
        {
            return false;
        }
        let rest = shell.driver.core().rest();
        !rest.moving
            && rest.waits.is_empty()
            && block_on(self.ledger.asked(shell.driver.inbox(), self.world.now))
                .is_ok_and(|asked| asked.is_empty())
            && block_on(self.ledger.pending(Time(i64::MAX))).is_ok_and(|pending| pending.is_empty())
    }
}
