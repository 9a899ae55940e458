//! One simulation: a rough phase with faults and people, then a calm one in which everything must come to rest.

use std::collections::BTreeMap;

use engine::{Core, Input, Loaded, Output, Report, RunEnd};
use model::attempt::Usage;
use model::policy::stall::Sample;
use model::ticket::Effect;
use model::{RunId, TicketId, Time};
use store::{Fault, Journal as _, Ledger, Memory, Ordered, StreamId};

use crate::driver::{Driver, Told};
use crate::files::ticket_of;
use crate::hands::Hands;
use crate::invariant::{Broken, Checked, Witness, ensure};
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
/// How often a step that runs is looked at.
const SAMPLE: i64 = 5_000;
/// How often the core is told that time has passed.
const TICK: i64 = 30_000;

/// What can happen next.
enum Choice {
    Report(usize),
    Perform(Ordered),
    End(RunId),
    Sample(RunId),
    Timer(model::journal::TimerRef),
    Command(store::Asked),
    Look(usize),
    FirstLook,
    Tick,
}

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

    // The rough phase.

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

    /// The engine dies, at times with an effect half performed.
    fn crash_in_the_middle(&mut self) {
        let ready = self
            .driver
            .as_ref()
            .map(|d| d.ready(self.world.now))
            .unwrap_or_default();
        if let Some(one) = self.rng.pick(&ready).cloned()
            && self.rng.percent(60)
        {
            let half = self.rng.percent(50);
            self.hands(half).perform(&one.ticket, &one.effect);
            let part = if half { "half of " } else { "" };
            self.note(|| {
                format!(
                    "performed, never told: {part}{} {}",
                    one.ticket,
                    name(&one.effect)
                )
            });
        }
        self.crash("the engine is killed");
    }

    fn hands(&mut self, half: bool) -> Hands<'_> {
        Hands {
            world: &mut self.world,
            options: &self.options,
            rng: &mut self.rng,
            half,
        }
    }

    fn crash(&mut self, why: &str) {
        let Some(driver) = self.driver.take() else { return };
        let undecided = std::mem::take(&mut self.batch).is_empty();
        self.summary.crashes += 1;
        let now = self.world.now;
        self.boot_at = if self.world.calm || self.rng.percent(50) {
            now
        } else {
            Time(now.0 + self.rng.ms(0, 40_000))
        };
        self.note(|| why.to_owned());
        if self.world.calm {
            return;
        }
        // These tell of what is not there, or not possible, and a later engine may have made it since: only the repository's
        // lock, which an engine holds for as long as its hands work, keeps them from being told late.
        let harmless = |told: &&Told| {
            !matches!(
                told.report,
                Report::StepNotSpawned { .. }
                    | Report::WorkspaceMissing
                    | Report::WorkspaceFailed { .. }
                    | Report::CheckoutEdited { .. }
                    | Report::CouldNotRun { .. }
            )
        };
        // A core whose last decisions never became durable lives on nowhere: its driver was waiting for the journal.
        if undecided && self.rng.percent(self.options.zombie) {
            let first = driver.reports.iter().find(harmless).map(reported);
            let run = driver.watched.keys().find(|run| self.world.end_of(run).is_some());
            let ended = run.and_then(|run| self.run_end(run));
            let input = first.or(ended.map(Input::RunEnded)).unwrap_or(Input::Ticked);
            let at = Time(self.boot_at.0 + self.rng.ms(0, 8_000));
            self.zombie = Some((driver.core, input, at));
        } else if self.rng.percent(30) {
            self.late = driver.reports.iter().filter(harmless).cloned().collect();
        }
    }

    /// An engine that was thought dead decides once more, on what it knew.
    fn zombie_acts(&mut self) -> Checked {
        if self.zombie.as_ref().is_none_or(|(_, _, at)| *at > self.world.now) || self.driver.is_none() {
            return Ok(());
        }
        let Some((mut core, input, _)) = self.zombie.take() else {
            return Ok(());
        };
        let mut output = core.step(input, self.world.now);
        self.spoil(&mut output);
        let facts = facts(&output);
        if output.writes.is_empty() {
            return Ok(());
        }
        let recorded = block_on(self.ledger.record(output.writes));
        self.summary.zombies += 1;
        self.muddied = true;
        self.note(|| match recorded {
            Ok(_) => format!("the old engine wrote: {facts}"),
            Err(error) => format!("the old engine was refused: {error}"),
        });
        // What other tickets have cost meanwhile it cannot know: only the repository's lock keeps it from starting a step.
        self.witness.old_engine = true;
        let checked = self.check();
        self.witness.old_engine = false;
        checked
    }

    fn spoil(&self, output: &mut Output) {
        if let Some(plant) = self.plant {
            let at = |stream: &model::journal::Stream| {
                let row = block_on(self.memory.load(&StreamId(stream.to_string())));
                row.ok().flatten().map_or(0, |row| row.version.0)
            };
            plant.spoil(&mut output.writes, at);
        }
    }

    // The calm phase.

    fn calm_down(&mut self) -> Checked {
        self.note(|| "calm".to_owned());
        if !self.batch.is_empty() {
            self.carry_out()?;
        }
        self.world.calm = true;
        (self.zombie, self.late) = (None, Vec::new());
        people::clear_checkout(&mut self.world);
        people::mend_target(&mut self.world);
        // Else the rest would take as many days as its price has budgets.
        self.options.settings.budget.day_usd = None;
        let memory = self.memory.snapshot();
        self.memory.restore(&memory);
        // What an old engine may have written is known to a new one only.
        self.crash("the engine is started again");
        self.check()
    }

    fn help(&mut self) {
        people::clear_checkout(&mut self.world);
        if let Some(what) = people::mend_target(&mut self.world) {
            self.note(|| what);
        }
        if let Some(what) = people::tidy(&mut self.world, &self.witness, &mut self.rng) {
            self.note(|| what);
        }
        let tickets: Vec<_> = self.witness.tickets.values().cloned().collect();
        let shut = self
            .witness
            .audit
            .project()
            .barred
            .values()
            .any(|bar| bar.until.is_none());
        if let Some(ticket) = tickets.first().filter(|_| shut) {
            self.note(|| "helper: the credentials are renewed".to_owned());
            self.submit(&model::command::Command::Retry {
                ticket: ticket.id.clone(),
            });
        }
        for ticket in tickets {
            let asked = self.helped.get(&ticket.id).copied().unwrap_or(0);
            let Some(command) = people::help(&ticket, asked) else {
                continue;
            };
            *self.helped.entry(ticket.id.clone()).or_default() += 1;
            self.note(|| format!("helper: {command:?}"));
            self.submit(&command);
        }
    }

    fn at_rest(&self) -> bool {
        let Some(driver) = &self.driver else { return false };
        if !driver.is_quiet()
            || driver.first_look.is_some()
            || !self.world.files.looks.is_empty()
            || self.world.live().next().is_some()
            || !self
                .witness
                .tickets
                .values()
                .all(|t| t.is_done() || t.spec.kind == "epic")
        {
            return false;
        }
        let rest = driver.core.rest();
        !rest.moving
            && rest.waits.is_empty()
            && block_on(self.ledger.asked(driver.asked, self.world.now)).is_ok_and(|asked| asked.is_empty())
            && block_on(self.ledger.pending(Time(i64::MAX))).is_ok_and(|pending| pending.is_empty())
    }

    // Both.

    /// One thing happens; when nothing can, time passes, to `until` at most.
    fn turn(&mut self, until: Time) -> Checked {
        if self.driver.is_none() && self.boot_at <= self.world.now {
            return self.boot();
        }
        if self.errand_is_over() {
            self.crash("the command is over");
            (self.errand, self.zombie) = (None, None);
            return Ok(());
        }
        let mut choices = self.choices();
        if choices.is_empty() && !self.batch.is_empty() {
            return self.carry_out();
        }
        if choices.is_empty() {
            let driver = self.driver.as_ref();
            let now = self.world.now;
            let next = driver
                .and_then(|d| d.next(now))
                .into_iter()
                .chain(self.world.next_act())
                .chain(self.world.files.looks.iter().map(|(at, _)| *at))
                .chain(driver.is_none().then_some(self.boot_at))
                .chain(self.late.iter().map(|told| told.at))
                .chain(self.errand.iter().map(|(_, _, patience)| Time(patience.0 + 1)))
                .filter(|at| *at > now)
                .chain([until])
                .min();
            let to = next.unwrap_or(now).min(Time(now.0 + 3_600_000));
            self.world.advance(to.max(Time(now.0 + 1)));
            return Ok(());
        }
        let at = usize::try_from(self.rng.below(choices.len() as u64)).unwrap_or(0);
        self.choose(choices.swap_remove(at))
    }

    fn choices(&self) -> Vec<Choice> {
        let (now, Some(driver)) = (self.world.now, &self.driver) else {
            return Vec::new();
        };
        let mut choices: Vec<Choice> = driver.ready(now).into_iter().map(Choice::Perform).collect();
        let told = driver
            .reports
            .iter()
            .enumerate()
            .filter(|(_, told)| told.at <= now);
        choices.extend(told.map(|(at, _)| Choice::Report(at)));
        for (run, look_at) in &driver.watched {
            if self.world.end_of(run).is_some() {
                choices.push(Choice::End(run.clone()));
            } else if *look_at <= now && self.world.processes.contains_key(run) {
                choices.push(Choice::Sample(run.clone()));
            }
        }
        let due = block_on(self.ledger.due(now)).unwrap_or_default();
        choices.extend(
            due.into_iter()
                .filter(|timer| !driver.fired.contains(timer))
                .map(Choice::Timer),
        );
        let asked = block_on(self.ledger.asked(driver.asked, now)).unwrap_or_default();
        choices.extend(asked.into_iter().next().map(Choice::Command));
        match driver.first_look {
            Some(at) if at <= now => choices.push(Choice::FirstLook),
            Some(_) => {}
            None => {
                // Looks at one file are told in the order in which they were taken.
                let mut seen = std::collections::BTreeSet::new();
                for (at, (tell_at, look)) in self.world.files.looks.iter().enumerate() {
                    if seen.insert(ticket_of(look)) && *tell_at <= now {
                        choices.push(Choice::Look(at));
                    }
                }
            }
        }
        if driver.tick_at <= now || driver.wake_at.is_some_and(|at| at <= now) {
            choices.push(Choice::Tick);
        }
        choices
    }

    fn choose(&mut self, choice: Choice) -> Checked {
        let now = self.world.now;
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        match choice {
            Choice::Perform(one) => {
                let report = self.hands(false).perform(&one.ticket, &one.effect);
                self.note(|| format!("performed: {} {} → {report:?}", one.ticket, name(&one.effect)));
                let longest = if self.world.calm { 300 } else { 5_000 };
                let at = Time(now.0 + self.rng.ms(0, longest));
                if let Some(driver) = &mut self.driver {
                    driver.performed(
                        Told {
                            at,
                            ordered: one,
                            report,
                        },
                        now,
                    );
                }
                self.check()
            }
            Choice::Report(at) => {
                let told = driver.reports.remove(at);
                if let (Effect::WriteFile(_), Report::Done) = (&told.ordered.effect, &told.report) {
                    let ticket = &told.ordered.ticket;
                    if self.world.files.forget_looks(ticket) {
                        self.world.files.see(ticket, now, now);
                    }
                }
                self.tell(reported(&told), Some(told.ordered))
            }
            Choice::End(run) => match self.run_end(&run) {
                Some(end) => self.tell(Input::RunEnded(end), None),
                None => Ok(()),
            },
            Choice::Sample(run) => {
                driver.watched.insert(run.clone(), Time(now.0 + SAMPLE));
                let Some(process) = self.world.processes.get(&run) else {
                    return Ok(());
                };
                let ran = u64::try_from(now.0 - process.began.0).unwrap_or(0);
                let (heard, cpu_ms) = if process.talks { (ran, ran) } else { (1, 1) };
                let sample = Sample {
                    at: now,
                    heard,
                    cpu_ms,
                    children: 0,
                };
                let given_up = process.given_up.clone();
                let sampled = Input::Sampled {
                    run: run.clone(),
                    sample,
                };
                self.tell(sampled, None)?;
                match given_up {
                    Some(failure) => self.tell(Input::GivenUp { run, failure }, None),
                    None => Ok(()),
                }
            }
            Choice::Timer(timer) => {
                driver.fired.insert(timer.clone());
                self.tell(Input::TimerDue(timer), None)
            }
            Choice::Command(asked) => {
                driver.asked = asked.number;
                self.tell(
                    Input::Commanded {
                        id: asked.id,
                        by: asked.by,
                        command: asked.command,
                    },
                    None,
                )
            }
            Choice::Look(at) => {
                let (_, look) = self.world.files.looks.remove(at);
                self.tell(
                    Input::Sighted {
                        seen: vec![look],
                        whole: false,
                    },
                    None,
                )
            }
            Choice::FirstLook => {
                driver.first_look = None;
                self.world.files.looks.clear();
                let looks = self.world.files.see_all(now);
                self.tell(
                    Input::Sighted {
                        seen: looks,
                        whole: true,
                    },
                    None,
                )
            }
            Choice::Tick => {
                (driver.tick_at, driver.wake_at) = (Time(now.0 + TICK), None);
                self.tell(Input::Ticked, None)
            }
        }
    }

    fn run_end(&self, run: &RunId) -> Option<RunEnd> {
        let end = self.world.end_of(run)?.clone();
        let usage = Usage {
            input_tokens: 10,
            output_tokens: 1,
            cost_micro_usd: self.world.processes.get(run).map_or(0, |process| process.cost),
            estimated_micro_usd: 0,
        };
        Some(RunEnd {
            run: run.clone(),
            usage,
            total_micro_usd: None,
            summary: None,
            mode: None,
            end,
        })
    }

    fn tell(&mut self, input: Input, effect: Option<Ordered>) -> Checked {
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        let heard = match &input {
            Input::Reported {
                ticket,
                effect,
                report,
                ..
            } => format!("{ticket} {} → {report:?}", name(effect)),
            Input::Sampled { run, .. } => format!("sampled {run}"),
            Input::Sighted { seen, .. } if seen.len() > 1 => format!("{} files", seen.len()),
            other => format!("{other:?}"),
        };
        if let Input::RunEnded(end) = &input {
            driver.watched.remove(&end.run);
        }
        self.summary.inputs += u32::from(!matches!(input, Input::Sampled { .. }));
        let output = driver.core.step(input, self.world.now);
        let said = facts(&output);
        self.note(|| format!("heard: {heard}{said}"));
        self.batch.push((output, effect));
        if !self.world.calm && self.batch.len() < 6 && self.rng.percent(self.options.batch) {
            return Ok(());
        }
        self.carry_out()
    }

    /// What the engine is started for: the queue, or at times one command that a person gives while no engine is up.
    fn duty(&mut self) -> engine::Duty {
        self.errand = None;
        if self.world.calm || !self.rng.percent(self.options.errands) {
            return engine::Duty::Drain;
        }
        let did = people::command(&self.witness, &mut self.rng);
        let Some(command) = did.command else {
            return engine::Duty::Drain;
        };
        if let model::command::Command::Stop { .. } = command {
            return engine::Duty::Drain;
        }
        let lands = match &command {
            model::command::Command::Merge { ticket } => Some(ticket.clone()),
            _ => None,
        };
        self.late.clear();
        self.submit(&command);
        self.note(|| format!("without an engine: {}", did.what));
        let patience = Time(self.world.now.0 + 60_000);
        if let Some(id) = self.commands.last() {
            self.errand = Some((id.clone(), lands.clone(), patience));
        }
        engine::Duty::Command { lands }
    }

    /// Whether the one command that the engine is up for has been carried out, or its person's patience is over.
    fn errand_is_over(&self) -> bool {
        let (Some((id, lands, patience)), Some(driver)) = (&self.errand, &self.driver) else {
            return false;
        };
        let landing = lands
            .as_ref()
            .and_then(|id| driver.core.ticket(id))
            .is_some_and(|t| {
                let on_its_way = matches!(t.state, model::ticket::State::Verify(_));
                t.held.is_none() && t.deadline().is_none() && on_its_way
            });
        let carried_out = driver.is_quiet()
            && self.batch.is_empty()
            && driver.watched.is_empty()
            && !landing
            && block_on(self.ledger.outcome(id)).is_ok_and(|outcome| outcome.is_some());
        carried_out || self.world.now > *patience
    }

    fn boot(&mut self) -> Checked {
        let now = self.world.now;
        let unreadable = |error: store::Error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        };
        let streams = block_on(self.ledger.streams()).map_err(unreadable)?;
        let pending = block_on(self.ledger.pending(Time(i64::MAX))).map_err(unreadable)?;
        let ordered = pending
            .iter()
            .map(|one| (one.id, one.ticket.clone(), one.effect.clone()))
            .collect();
        let journal = uuid::Uuid::from_u128(u128::from(self.seed));
        let loaded = Loaded {
            streams,
            pending: ordered,
        };
        let mut core = Core::load(self.settings(), journal, loaded).map_err(|error| Broken {
            invariant: "the journal can be read",
            what: error.to_string(),
        })?;
        let first_look = Time(now.0 + self.rng.ms(0, 300));
        let duty = self.duty();
        let output = core.open(now, duty.clone());
        let mut driver = match duty {
            engine::Duty::Drain => Driver::new(core, pending, now, first_look),
            // What was ordered before, and what runs, is for the next engine.
            engine::Duty::Command { .. } => Driver::new(core, Vec::new(), now, first_look).alone(pending),
        };
        driver.reports.append(&mut self.late);
        self.muddied = !driver.reports.is_empty();
        self.driver = Some(driver);
        self.note(|| "the engine starts".to_owned());
        self.batch = vec![(output, None)];
        self.carry_out()
    }

    /// Makes durable what the core decided, as a driver does: all of it in one transaction.
    fn carry_out(&mut self) -> Checked {
        let mut output = Output::default();
        let mut reported = Vec::new();
        for (one, effect) in std::mem::take(&mut self.batch) {
            output.writes.extend(one.writes);
            output.finished.extend(one.finished);
            output.again.extend(one.again);
            output.answers.extend(one.answers);
            output.wake_at = [output.wake_at, one.wake_at].into_iter().flatten().min();
            output.ended |= one.ended;
            reported.extend(effect);
        }
        self.spoil(&mut output);
        let now = self.world.now;
        let strikes = |me: &mut Self| !me.world.calm && me.rng.below(1000) < me.options.crash;
        let struck = !output.writes.is_empty() && strikes(self);
        if struck {
            let fault = if self.rng.percent(50) {
                Fault::Before
            } else {
                Fault::After
            };
            self.memory.fail_append(1, fault);
        }
        let ordered = match block_on(self.ledger.record(output.writes)) {
            Ok(ordered) => ordered,
            Err(error) => {
                if !struck {
                    self.summary.refusals += 1;
                    let alone = self.muddied || self.plant.is_some();
                    ensure(alone, "an engine alone is never refused", || error.to_string())?;
                }
                // What it decided is not what is stored: it is never asked again.
                self.crash(&format!("the journal refused: {error}"));
                self.zombie = None;
                return self.check();
            }
        };
        if strikes(self) {
            self.crash("the engine is killed after a write");
            return self.check();
        }
        let later = output.again.clone();
        let settled = block_on(self.ledger.finish(&output.finished, now))
            .and(
                later
                    .iter()
                    .try_for_each(|(id, at)| block_on(self.ledger.postpone(*id, *at))),
            )
            .and(
                output
                    .answers
                    .iter()
                    .try_for_each(|(id, answer)| block_on(self.ledger.answer(id, answer, now))),
            );
        if let Err(error) = settled {
            let alone = self.muddied || self.plant.is_some();
            ensure(alone, "an engine alone is never refused", || error.to_string())?;
            self.crash(&format!("the journal refused: {error}"));
            return self.check();
        }
        let Some(driver) = &mut self.driver else {
            return Ok(());
        };
        driver.take(ordered);
        if let Some(at) = output.wake_at {
            driver.wake_at = Some(driver.wake_at.map_or(at, |old| old.min(at)));
        }
        for one in reported {
            self.witness.suspect(&one.ticket);
            let again = later.iter().find(|(id, _)| *id == one.id).map(|(_, at)| *at);
            driver.settled(one.id, again);
            let id = store::EffectId {
                seq: store::Seq(one.id.seq),
                index: one.id.index,
            };
            let row = block_on(self.memory.effect(id)).ok().flatten();
            let done = row.is_some_and(|row| row.done_at.is_some());
            ensure(done || again.is_some(), "a report settles its effect", || {
                format!("{} {}", one.ticket, name(&one.effect))
            })?;
        }
        if output.ended {
            self.driver = None;
            let down = if self.world.calm {
                1_000
            } else {
                self.rng.ms(0, 60_000)
            };
            self.boot_at = Time(now.0 + down);
            self.note(|| "the engine has ended".to_owned());
        }
        self.check()
    }

    fn check(&mut self) -> Checked {
        self.witness.is_alone = !self.muddied;
        self.witness.check(&self.ledger, &mut self.world, &self.options)
    }
}

fn reported(told: &Told) -> Input {
    let Ordered { id, ticket, effect } = told.ordered.clone();
    Input::Reported {
        id,
        ticket,
        effect,
        report: told.report.clone(),
    }
}

/// What was decided, for the trace.
fn facts(output: &Output) -> String {
    let mut text = String::new();
    for write in &output.writes {
        for entry in &write.entries {
            text.push_str(&format!("; {} {}", write.stream, entry.fact.name()));
            for effect in &entry.effects {
                text.push_str(&format!(" +{}", name(effect)));
            }
        }
    }
    for refused in &output.refused {
        text.push_str(&format!("; refused: {refused}"));
    }
    for (id, answer) in output
        .writes
        .iter()
        .filter_map(|w| w.answers.as_ref())
        .chain(&output.answers)
    {
        text.push_str(&format!("; {id}: {answer:?}"));
    }
    text
}

/// An effect, in a few words.
fn name(effect: &Effect) -> String {
    use model::attempt::Effect as Step;
    match effect {
        Effect::PrepareWorkspace { agent, number, .. } => format!("prepare {agent}#{number}"),
        Effect::Attempt(Step::StartStep { run, .. }) => format!("start {run}"),
        Effect::Attempt(Step::StopRun { run }) => format!("stop {run}"),
        Effect::Attempt(Step::InspectWorkspace { agent }) => format!("inspect {agent}"),
        Effect::BuildCandidate { round, .. } => format!("build {round}"),
        Effect::RunChecks { .. } => "check".to_owned(),
        Effect::Land { .. } => "land".to_owned(),
        Effect::KeepWork { number, .. } => format!("keep #{number}"),
        Effect::RemoveWorkspace { number, .. } => format!("remove #{number}"),
        Effect::WriteFile(filing) => format!("file {:?}", filing.status),
        Effect::AddNote { .. } => "note".to_owned(),
    }
}
