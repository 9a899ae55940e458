//! One simulation: a rough phase with faults and people, then a calm one in which everything must come to rest.

mod boot;
mod calm;
mod fault;
mod turn;

use std::collections::BTreeMap;

use engine::{Core, Input, Output};
use model::{TicketId, Time};
use store::{Ledger, Memory, Ordered};

use crate::driver::{Driver, Told};
use crate::invariant::{Checked, Witness, ensure};
use crate::options::Options;
use crate::rng::Rng;
use crate::world::World;
use crate::{Failure, Plant, Summary, block_on, people};

/// How long the calm phase may take: as long as the longest chain of backoffs, and some.
const CALM: i64 = 4 * 3_600_000;
/// How many turns it may take.
const CALM_TURNS: u32 = 60_000;
/// How often somebody looks whether the crew needs a person, in the calm phase.
const HELP: i64 = 10_000;

/// A simulation under way.
pub(crate) struct Simulation {
    seed: u64,
    plant: Option<Plant>,
    options: Options,
    rng: Rng,
    world: World,
    ledger: Ledger<Memory>,
    memory: Memory,
    driver: Option<Driver>,
    boot_at: Time,
    /// The engine is up for this command only; the ticket that it lands, and when it is given up.
    errand: Option<(String, Option<TicketId>, Time)>,
    /// An engine that was thought dead: its core, what it is going to hear, and when.
    zombie: Option<(Core, Input, Time)>,
    /// Reports of an earlier engine's hands, told to the present one.
    late: Vec<Told>,
    /// Decisions that are not durable yet: a driver may hear several inputs before it writes.
    batch: Vec<(Output, Option<Ordered>)>,
    /// Someone else wrote, or told, since the engine was loaded: it may be refused.
    muddied: bool,
    witness: Witness,
    trace: Vec<String>,
    commands: Vec<String>,
    helped: BTreeMap<TicketId, u32>,
    summary: Summary,
}

impl Simulation {
    pub(crate) fn new(seed: u64, plant: Option<Plant>) -> Self {
        let mut rng = Rng::new(seed);
        let options = Options::draw(&mut rng);
        let memory = Memory::new("00000000-0000-4000-8000-000000000000");
        let mut world = World::new(options.begin);
        people::begin(&mut world, &mut rng);
        Self {
            seed,
            plant,
            options,
            rng,
            boot_at: world.now,
            world,
            ledger: Ledger(memory.clone()),
            memory,
            driver: None,
            errand: None,
            zombie: None,
            late: Vec::new(),
            batch: Vec::new(),
            muddied: false,
            witness: Witness::default(),
            trace: Vec::new(),
            commands: Vec::new(),
            helped: BTreeMap::new(),
            summary: Summary::default(),
        }
    }

    /// Runs both phases.
    pub(crate) fn run(mut self) -> (Result<Summary, Box<Failure>>, Vec<String>) {
        match self.live() {
            Ok(()) => {
                self.summary.landed = self.witness.landed.len();
                self.summary.warned = self.witness.warned;
                self.summary.spent = self.witness.spent;
                self.summary.paused = self.witness.paused;
                self.summary.midnights = self.witness.midnights;
                (Ok(self.summary), self.trace)
            }
            Err(broken) => {
                self.note(|| format!("BROKEN {}: {}", broken.invariant, broken.what));
                let failure = Failure {
                    seed: self.seed,
                    plant: self.plant,
                    options: format!("{:?}", self.options),
                    invariant: broken.invariant,
                    what: broken.what,
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
        let (deadline, mut help_at) = (self.world.now.0 + CALM, self.world.now);
        for _ in 0..CALM_TURNS {
            if self.world.now >= help_at {
                self.help();
                help_at = Time(self.world.now.0 + HELP);
            }
            if self.at_rest() {
                self.summary.hours = (self.world.now.0 - self.options.begin.0) / 3_600_000;
                return self.witness.check_end(&self.ledger, &self.world, &self.commands);
            }
            if self.world.now.0 > deadline {
                break;
            }
            self.turn(help_at)?;
        }
        let open = self.witness.tickets.values().filter(|t| !t.is_done());
        let open = open.map(|t| {
            let why = self.driver.as_ref().and_then(|d| d.core.explain(&t.id));
            format!("{} is {}, {why:?}, {:?}", t.id, t.state_name(), t.state)
        });
        let open: Vec<String> = open.collect();
        ensure(false, "everything comes to rest", || open.join(" | "))
    }

    fn note(&mut self, line: impl FnOnce() -> String) {
        let at = self.world.now.0 - self.options.begin.0;
        self.trace
            .push(format!("{:>6}.{:03} {}", at / 1000, at % 1000, line()));
    }

    fn rough_turn(&mut self) -> Checked {
        if self.rng.percent(self.options.people) {
            self.person();
        }
        if self.driver.is_some() && self.rng.below(1000) < self.options.crash {
            self.crash_in_the_middle();
        }
        if self.rng.percent(15) {
            let to = Time(self.world.now.0 + self.rng.ms(0, 3_000));
            self.world.advance(to);
        }
        self.zombie_acts()?;
        self.turn(Time(i64::MAX))
    }

    fn person(&mut self) {
        if self.batch.is_empty() && self.rng.percent(4) {
            return self.raise_budgets();
        }
        let did = people::act(&mut self.world, &self.witness, &mut self.rng);
        if did.what == "nothing" {
            return;
        }
        self.note(|| format!("person: {}", did.what));
        if let Some(command) = did.command {
            self.submit(&command);
        }
    }

    /// Somebody edits the settings; an engine that is up reads them again.
    fn raise_budgets(&mut self) {
        let budget = &mut self.options.settings.budget;
        for limit in [&mut budget.ticket_usd, &mut budget.day_usd]
            .into_iter()
            .flatten()
        {
            limit.0 += limit.0 / 2;
        }
        self.note(|| "the budgets are raised".to_owned());
        let settings = self.settings();
        if let Some(driver) = &mut self.driver {
            driver.core.set_settings(settings);
            driver.tick_at = self.world.now;
        }
    }

    /// What the engine is told.
    fn settings(&self) -> model::settings::Settings {
        let mut settings = self.options.settings.clone();
        if let Some(Plant::Spendthrift) = self.plant {
            settings.budget = model::settings::Budget::default();
        }
        settings
    }

    fn submit(&mut self, command: &model::command::Command) {
        let id = format!("c-{}", self.commands.len() + 1);
        if block_on(self.ledger.submit(&id, "pat", self.world.now, command)).is_ok() {
            self.commands.push(id);
        }
    }

    fn check(&mut self) -> Checked {
        self.witness.is_alone = !self.muddied;
        self.witness.check(&self.ledger, &mut self.world, &self.options)
    }
}
