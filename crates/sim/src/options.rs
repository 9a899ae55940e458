//! Options: the draws of a seed before anything happens, which are the engine's settings and the roughness of
//! the world.

use std::fmt;
use std::time::Duration;

use model::money::Usd;
use model::settings::{Check, Review, ReviewWhen, Settings, Train};
use model::{AgentName, Time};

use crate::chance::{Rates, Site};
use crate::checks::{self, CHECK, LINT, SHAKY};
use crate::rng::Rng;

/// The time at which the world begins, unless it is near a midnight or another edge.
const BEGIN: Time = Time(1_800_000_000_000);
/// The last second of a 32-bit clock, in 2038.
const EDGE_2038: Time = Time(2_147_483_647_000);

/// Agents that may delegate: the first names that crew gives, and those that the settings and people name.
const LEADERS: [&str; 10] = [
    "ada", "ann", "barbara", "ben", "cat", "clara", "dennis", "edsger", "zoe0", "zoe1",
];

/// The drawn options of one simulation; printed with a failure.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    /// The engine's settings.
    pub(crate) settings: Settings,
    /// The time at which the world begins: often a little before midnight.
    pub(crate) begin: Time,
    /// Inputs to the core before the world is calm.
    pub(crate) inputs: u32,
    /// Tickets that are there when it begins.
    pub(crate) tickets: u64,
    /// Paths that agents write to.
    pub(crate) paths: u64,
    /// Whether the target is looked at, and its checks are run.
    pub(crate) target: Looks,
    /// The rate at which each thing goes wrong.
    pub(crate) rates: Rates,
}

/// The looks at the bare target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Looks {
    /// None comes through, as where its branch cannot be read.
    Never,
    /// Each engine looks at it, and runs its checks unless agents are started anyway.
    Checked {
        /// Agents are started whatever the checks say.
        anyway: bool,
    },
}

impl Options {
    pub(crate) fn draw(rng: &mut Rng) -> Self {
        let small = |rng: &mut Rng, low, high| u32::try_from(rng.from(low, high)).unwrap_or(1);
        let mut settings = model::samples::settings();
        let mut own = Rng::new(rng.clone().next());
        draw_checks(&mut settings, &mut own);
        let target = match own.below(100) {
            0..45 => Looks::Never,
            45..60 => Looks::Checked { anyway: true },
            _ => Looks::Checked { anyway: false },
        };
        draw_review(&mut settings, &mut own);
        // These numbers are its own, so that the worlds that were drawn before there was a train stay the
        // same.
        let mut of_train = Rng::new(rng.clone().next().wrapping_add(1));
        if of_train.percent(30) {
            settings.train = Train {
                batch: small(&mut of_train, 1, 5),
                slots: small(&mut of_train, 1, 3),
            };
        }
        draw_shaky(&mut settings, &mut Rng::new(rng.clone().next().wrapping_add(3)));
        draw_team(&mut settings, &mut Rng::new(rng.clone().next().wrapping_add(4)));
        settings.run.max_workers = small(rng, 1, 4);
        settings.run.max_steps = small(rng, 1, 6);
        settings.run.attempts = small(rng, 1, 3);
        settings.run.stall_after = Duration::from_secs(rng.from(20, 40));
        settings.run.step_timeout = Duration::from_secs(rng.from(100, 300));
        settings.run.exit_within = Duration::from_secs(rng.from(5, 60));
        settings.run.debounce = Duration::from_millis(rng.below(3) * 250);
        settings.run.conflict_resolutions = small(rng, 0, 3);
        settings.run.recoveries = small(rng, 0, 2);
        settings.agents.count = small(rng, 1, 4);
        if rng.percent(30) {
            settings.run.answer_within = Some(Duration::from_secs(rng.from(5, 120)));
        }
        if rng.percent(30) {
            let names = ["ann", "ben", "cat"].into_iter().take(rng.from(1, 3) as usize);
            settings.agents.names = names.filter_map(|name| AgentName::new(name).ok()).collect();
        }
        settings.budget.ticket_usd = rng.percent(40).then(|| Usd(rng.from(150, 700)));
        settings.budget.day_usd = rng.percent(40).then(|| Usd(rng.from(300, 1_500)));
        let midnight = BEGIN.day().next().begins();
        let begin = match rng.below(100) {
            0..60 => Time(midnight.0 - rng.ms(0, 4 * 60_000)),
            60..70 => Time(EDGE_2038.0 - rng.ms(0, 4 * 60_000)),
            _ => BEGIN,
        };
        let (inputs, tickets) = (small(rng, 105, 150), rng.from(3, 6));
        let mut options = Self {
            settings,
            begin,
            inputs,
            tickets,
            paths: 8,
            target,
            rates: rates(rng),
        };
        let mut of_crowd = Rng::new(rng.clone().next().wrapping_add(2));
        if of_crowd.percent(25) {
            options.crowd(&mut of_crowd);
        }
        options
    }

    /// Makes it a world with many agents at much work that seldom conflicts and waits for nobody's word, so
    /// that branches often wait in the train together.
    fn crowd(&mut self, rng: &mut Rng) {
        let small = |rng: &mut Rng, low, high| u32::try_from(rng.from(low, high)).unwrap_or(1);
        let settings = &mut self.settings;
        settings.train = Train {
            batch: small(rng, 2, 5),
            slots: small(rng, 1, 3),
        };
        settings.checks.commands = vec![CHECK.to_owned()];
        settings.review = Review::default();
        settings.budget = model::settings::Budget::default();
        settings.agents.names.clear();
        settings.agents.count = 6;
        settings.run.max_workers = 6;
        self.tickets = rng.from(7, 10);
        self.paths = 40;
    }

    /// A world in which nothing goes wrong by chance, and nothing costs much.
    pub(crate) fn kind(rng: &mut Rng) -> Self {
        let mut options = Self::draw(rng);
        options.settings.budget = model::settings::Budget::default();
        options.settings.agents.names.clear();
        options.tickets = 2;
        options.rates = Rates::none();
        options
    }
}

/// Draws the commands of the checks. Each tree passes all but one of them.
fn draw_checks(settings: &mut Settings, rng: &mut Rng) {
    let commands: &[&str] = match rng.below(100) {
        0..8 => &[],
        8..50 => &[CHECK],
        50..75 => &[CHECK, LINT],
        _ => &[LINT, CHECK],
    };
    let setup: &[&str] = match rng.below(100) {
        0..60 => &[],
        60..85 => &["make ready"],
        _ => &["make ready", "make more"],
    };
    let list = |all: &[&str]| all.iter().map(|one| (*one).to_owned()).collect();
    (settings.checks.commands, settings.checks.setup) = (list(commands), list(setup));
}

/// Draws whether there is a check that is repeated when it fails: now and then it is the only one.
fn draw_shaky(settings: &mut Settings, rng: &mut Rng) {
    if rng.percent(75) {
        return;
    }
    if rng.percent(40) {
        settings.checks.commands.clear();
    }
    settings.check.push(Check {
        name: SHAKY.to_owned(),
        command: "make shaky".to_owned(),
        retry: if rng.percent(50) { 1 } else { 2 },
        ..Check::default()
    });
}

/// Draws whether work is reviewed, in a share of the worlds.
fn draw_review(settings: &mut Settings, rng: &mut Rng) {
    if rng.percent(65) {
        return;
    }
    let small = |rng: &mut Rng, low, high| u32::try_from(rng.from(low, high)).unwrap_or(1);
    let count = small(rng, 1, 3);
    settings.review = Review {
        when: ReviewWhen::Always,
        harness: None,
        count,
        agree: small(rng, 1, u64::from(count)),
        tries: small(rng, 1, 3),
    };
}

/// Draws how far agents may delegate: now and then all of them may, so that children delegate too.
fn draw_team(settings: &mut Settings, rng: &mut Rng) {
    let small = |rng: &mut Rng, low, high| u32::try_from(rng.from(low, high)).unwrap_or(1);
    let some = usize::try_from(rng.from(1, LEADERS.len() as u64)).unwrap_or(1);
    let leaders = if rng.percent(60) { LEADERS.len() } else { some };
    let leaders = LEADERS.into_iter().take(leaders);
    settings.agents.leaders = leaders.filter_map(|name| AgentName::new(name).ok()).collect();
    settings.delegate.depth = small(rng, 1, 3);
    settings.delegate.breadth = small(rng, 1, 4);
}

fn rates(rng: &mut Rng) -> Rates {
    let mut rates = Rates::none();
    rates.set(Site::Person, rng.from(30, 140));
    let crash = rng.below(4) * 12;
    rates.set(Site::Kill, crash);
    rates.set(Site::AppendLost, crash / 2);
    rates.set(Site::AppendUntold, crash / 2);
    rates.set(Site::KillHalfWay, crash / 3);
    rates.set(Site::KillUntold, crash / 3);
    rates.set(Site::KillAfterWrite, crash);
    rates.set(Site::Sick, rng.below(3) * 60);
    rates.set(
        Site::Clumsy,
        if rng.percent(15) { 950 } else { rng.from(50, 500) },
    );
    rates.set(Site::Errand, rng.below(3) * 120);
    rates.set(Site::Batch, rng.below(3) * 300);
    rates.set(Site::Zombie, rng.below(2) * 400);
    rates.set(Site::Late, 300);
    // The other sites are on or off in a run: each is active in a quarter of them (and strikes often, there).
    for (site, rate) in [
        (Site::KillAtStart, 250),
        (Site::KillWhileNoting, 60),
        (Site::DiskFull, 15),
        (Site::Meddle, 150),
        (Site::Straggler, 250),
        (Site::Flood, 250),
        (Site::SlowExecutor, 100),
        (Site::Twice, 60),
        (Site::EarlyTick, 30),
        (Site::EarlyTimer, 60),
        (Site::Suspended, 20),
        (Site::ClockSet, 15),
        (Site::ClockAtStart, 250),
        (Site::Rewrite, 10),
        (Site::Unborn, 10),
        (Site::Busy, 15),
        (Site::Dropped, 60),
        (Site::Away, 60),
    ] {
        if rng.percent(25) {
            rates.set(site, rate);
        }
    }
    // This site has numbers of its own, so that the worlds drawn before it existed stay the same.
    let mut own = Rng::new(rng.clone().next());
    if own.percent(25) {
        rates.set(Site::Frozen, 150);
    }
    if own.percent(25) {
        rates.set(Site::CheckStruck, 250);
    }
    if own.percent(25) {
        rates.set(Site::Tools, 500);
    }
    for (site, rate) in [
        (Site::Delegates, 500),
        (Site::Parts, 150),
        (Site::Silence, 300),
        (Site::KillUnnoted, 80),
        (Site::Refused, 250),
        (Site::Deleted, 6),
        (Site::InFolder, 20),
    ] {
        if own.percent(30) {
            rates.set(site, rate);
        }
    }
    // A child whose work is refused is rare otherwise.
    if rates.of(Site::Delegates) > 0 && own.percent(50) {
        rates.set(Site::Refused, 600);
    }
    rates
}

impl fmt::Display for Options {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Settings {
            run, agents, budget, ..
        } = &self.settings;
        writeln!(
            f,
            "  it begins at {} with {} tickets; calm after {} inputs",
            self.begin, self.tickets, self.inputs
        )?;
        writeln!(
            f,
            "  agents {} {:?}, {} at once; {} attempts of {} steps, {} conflicts, {} recoveries",
            agents.count,
            agents.names.iter().map(AgentName::as_str).collect::<Vec<_>>(),
            run.max_workers,
            run.attempts,
            run.max_steps,
            run.conflict_resolutions,
            run.recoveries,
        )?;
        writeln!(
            f,
            "  stall {:?}, step {:?}, exit within {:?}, debounce {:?}, answer within {:?}; budget of a ticket {:?}, of a day {:?}",
            run.stall_after,
            run.step_timeout,
            run.exit_within,
            run.debounce,
            run.answer_within,
            budget.ticket_usd,
            budget.day_usd,
        )?;
        let leaders = agents.leaders.iter().map(AgentName::as_str);
        writeln!(
            f,
            "  leaders {:?}, {} deep, {} at once",
            leaders.collect::<Vec<_>>(),
            self.settings.delegate.depth,
            self.settings.delegate.breadth
        )?;
        let Train { batch, slots } = self.settings.train;
        writeln!(f, "  train: batches of {batch}, {slots} checkouts")?;
        let checks = &self.settings.checks;
        writeln!(
            f,
            "  set-up {:?}, checks {:?}, target {:?}",
            checks.setup,
            checks::commands(&self.settings),
            self.target
        )?;
        let review = &self.settings.review;
        writeln!(
            f,
            "  review {:?}: {} gatekeepers, {} agree, {} tries",
            review.when, review.count, review.agree, review.tries
        )?;
        write!(f, "  goes wrong: {}", self.rates)
    }
}
