//! One simulation: a rough phase with faults and people, then a calm one in which everything must come to
//! rest.

mod boot;
mod calls;
mod calm;
mod clock;
mod fault;
mod notices;
pub(crate) mod target;
mod turn;

use std::collections::BTreeMap;
use std::time::Duration;

use engine::driver::Event;
use engine::{Core, Input};
use model::{TicketId, Time};
use store::{Ledger, Memory};

use crate::chance::{Chance, Site};
use crate::invariant::{Checked, Witness, ensure};
use crate::options::Options;
use crate::rng::Rng;
use crate::shell::{Delivery, Shell};
use crate::world::World;
use crate::{Case, Failure, Line, Summary, Who, block_on, bound, people};

/// The number of turns that the calm phase may take.
const CALM_TURNS: u32 = 60_000;

/// A simulation under way.
pub(crate) struct Simulation {
    case: Case,
    options: Options,
    chance: Chance,
    world: World,
    ledger: Ledger<Memory>,
    memory: Memory,
    shell: Option<Shell>,
    boot_at: Time,
    /// The engine is up for this command only, and is given up then.
    errand: Option<(String, Time)>,
    /// An engine that was thought dead: its core, its next input, and the time of that.
    zombie: Option<(Core, Input, Time)>,
    /// Reports of an earlier engine's executor, delivered to the present one.
    late: Vec<Delivery>,
    /// Another engine wrote, or reported, since the engine was loaded: it may be refused.
    muddied: bool,
    witness: Witness,
    /// The hook that gets the notices of the journal.
    hook: notices::Hook,
    /// The total time by which the clock was set back.
    set_back: Duration,
    /// True if the trace is kept.
    traced: bool,
    trace: Vec<Line>,
    commands: Vec<String>,
    /// The commands that name the run of a step that was over when they were asked.
    stale: Vec<String>,
    helped: BTreeMap<TicketId, u32>,
    summary: Summary,
}

impl Simulation {
    pub(crate) fn new(case: &Case, traced: bool) -> Self {
        let mut rng = Rng::new(case.seed);
        let mut options = if case.kind {
            Options::kind(&mut rng)
        } else {
            Options::draw(&mut rng)
        };
        options.inputs = case.inputs.unwrap_or(options.inputs);
        options.tickets = case.tickets.unwrap_or(options.tickets);
        for site in &case.off {
            options.rates.set(*site, 0);
        }
        let memory = Memory::new("00000000-0000-4000-8000-000000000000");
        let mut world = World::new(options.begin);
        world.is_check_real = case.plant != Some(crate::Plant::Unchecked);
        people::begin(&mut world, options.tickets, &mut rng);
        Self {
            case: case.clone(),
            chance: Chance::new(case, options.rates),
            options,
            boot_at: world.now,
            world,
            ledger: Ledger::new(memory.clone()),
            memory,
            shell: None,
            errand: None,
            zombie: None,
            late: Vec::new(),
            muddied: false,
            witness: Witness::new(case.plant),
            hook: notices::Hook::default(),
            set_back: Duration::ZERO,
            traced,
            trace: Vec::new(),
            stale: Vec::new(),
            commands: Vec::new(),
            helped: BTreeMap::new(),
            summary: Summary::default(),
        }
    }

    /// Runs both phases.
    pub(crate) fn run(mut self) -> (Result<Summary, Box<Failure>>, Vec<Line>) {
        match self.live() {
            Ok(()) => {
                let summary = &mut self.summary;
                summary.landed = self.witness.landed.len();
                summary.unified = self.witness.unified;
                summary.merged = self.world.merged;
                summary.conflicted = self.world.conflicted;
                summary.put_back = self.world.put_back;
                summary.work_refused = self.world.refusals;
                summary.lost_workspaces = self.world.lost_workspaces;
                summary.broken_up = self.witness.broken_up;
                summary.stirred = self.witness.stirred;
                summary.rewound = self.witness.rewound;
                summary.warned = self.witness.warned;
                summary.spent = self.witness.spent;
                summary.paused = self.witness.paused;
                summary.midnights = self.witness.midnights;
                summary.checks = self.witness.looks;
                summary.passed = self.chance.hits();
                for fault in &self.chance.struck {
                    summary.struck[fault.site as usize] += 1;
                }
                (Ok(self.summary), self.trace)
            }
            Err(broken) => {
                self.note(Who::Broken, || format!("{}: {}", broken.invariant, broken.what));
                let failure = Failure {
                    case: self.case,
                    options: self.options.to_string(),
                    invariant: broken.invariant,
                    what: broken.what,
                    inputs: self.summary.inputs,
                    struck: self.chance.struck,
                    trace: self.trace.clone(),
                };
                (Err(Box::new(failure)), self.trace)
            }
        }
    }

    fn live(&mut self) -> Checked {
        while self.summary.inputs < self.options.inputs {
            self.rough_turn()?;
        }
        self.calm_down()?;
        let (begun, mut help_at) = (self.world.now, self.world.now);
        let tickets = self.world.files.files.len().max(self.witness.tickets.len());
        let bound = bound::of(&self.options.settings, tickets, self.set_back);
        for _ in 0..CALM_TURNS {
            if self.world.now >= help_at {
                self.help();
                help_at = self.world.now + bound::HELP;
            }
            if self.at_rest() {
                (self.summary.calm, self.summary.bound) = (self.world.now.since(begun), bound);
                self.hook_got_all()?;
                return self.witness.check_end(&self.ledger, &self.world, &self.commands);
            }
            if self.world.now > begun + bound {
                break;
            }
            self.turn(help_at)?;
        }
        let open = self.witness.tickets.values().filter(|t| !t.is_done());
        let open = open.map(|t| {
            let why = self.shell.as_ref().and_then(|s| s.driver.core().explain(&t.id));
            format!("{} is {}, {why:?}, {:?}", t.id, t.state_name(), t.state)
        });
        let open: Vec<String> = open.collect();
        ensure(false, "everything comes to rest", || {
            format!(
                "after {:?} of {bound:?}: {}",
                self.world.now.since(begun),
                open.join(" | ")
            )
        })
    }

    fn note(&mut self, who: Who, what: impl FnOnce() -> String) {
        if !self.traced {
            return;
        }
        let at_ms = self.world.now.0 - self.options.begin.0;
        let what = what();
        self.trace.push(Line { at_ms, who, what });
    }

    fn rough_turn(&mut self) -> Checked {
        if let Some(rng) = self.chance.strikes(Site::Person) {
            self.person(rng)?;
        }
        self.world_turns();
        if self.shell.is_some()
            && let Some(rng) = self.chance.strikes(Site::Kill)
        {
            self.crash_in_the_middle(rng);
        }
        if self.chance.order.percent(15) {
            let to = Time(self.world.now.0 + self.chance.order.ms(0, 3_000));
            self.world.advance(to);
        }
        self.zombie_acts()?;
        self.turn(Time(i64::MAX))
    }

    fn person(&mut self, mut rng: Rng) -> Checked {
        if rng.percent(4) {
            return self.raise_budgets();
        }
        let did = people::act(&mut self.world, &self.witness, &mut rng);
        if did.what == "nothing" {
            return Ok(());
        }
        self.note(Who::Person, || did.what.clone());
        if let Some(command) = did.command {
            self.submit(&command);
        }
        Ok(())
    }

    /// Somebody edits the settings; an engine that is up reads them again. The engine first handles the
    /// events that came before: the witness judges them by the settings of before.
    fn raise_budgets(&mut self) -> Checked {
        self.handle()?;
        let budget = &mut self.options.settings.budget;
        for limit in [&mut budget.ticket_usd, &mut budget.day_usd]
            .into_iter()
            .flatten()
        {
            limit.0 += limit.0 / 2;
        }
        self.note(Who::Person, || "the budgets are raised".to_owned());
        let settings = self.settings();
        if let Some(shell) = &mut self.shell {
            shell.events.push(Event::SettingsTouched);
            shell.events.push(Event::SettingsRead(Some(Box::new(settings))));
        }
        Ok(())
    }

    /// The engine's settings.
    fn settings(&self) -> model::settings::Settings {
        let mut settings = self.options.settings.clone();
        if let Some(plant) = self.case.plant {
            plant.settings(&mut settings);
        }
        settings
    }

    fn submit(&mut self, command: &model::command::Command) {
        if self.world.busy_until.is_some() {
            // The person who asked gets the refusal.
            return;
        }
        let id = format!("c-{}", self.commands.len() + 1);
        if block_on(self.ledger.submit(&id, "pat", self.world.now, command)).is_ok() {
            self.commands.push(id);
        }
    }

    fn check(&mut self) -> Checked {
        self.witness.is_alone = !self.muddied;
        let before = self.traced.then(|| self.witness.states());
        self.old_runs_are_not_heard()?;
        let checked = self.witness.check(&self.ledger, &mut self.world, &self.options);
        if let Some(before) = before {
            for (id, now) in self.witness.states() {
                let was = before.get(&id).map_or("new", String::as_str);
                if was != now {
                    self.note(Who::Ticket, || format!("{id}: {was} → {now}"));
                }
            }
        }
        checked
    }
}
